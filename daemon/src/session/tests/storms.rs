//! Titles that change a thousand times a second: what that may cost has a bound, whatever they say.

use super::{
    super::{cache, embedded as opinions},
    *,
};

const FRAME: Duration = Duration::from_millis(1);
/// Ten seconds of changes.
const FRAMES: usize = 10_000;

/// Counts in a title, which is what a spinner makes of it at most.
fn frame(n: usize) -> String {
    format!("{} build", ['⠋', '⠙', '⠹', '⠸'][n % 4])
}

/// Words that no rule takes for decoration.
fn words(n: usize) -> String {
    let letter = |place: usize| char::from(b'a' + u8::try_from(n / place % 26).unwrap());
    format!("{}{}{} and the like", letter(1), letter(26), letter(676))
}

/// Shows each title for a moment; a judge that is asked answers at once.
fn storm(world: &mut World, window: impl Fn(usize) -> Window) {
    for n in 0..FRAMES {
        world.see(window(n));
        if world.running.is_some() {
            world.judge(true, "");
        }
        world.pass(FRAME);
    }
}

#[test]
fn f32_a_spinner_fills_neither_the_cache_nor_the_stream() {
    let mut world = World::started();
    let window = |n| Window { title: frame(n), ..program("XTerm") };
    world.see(window(0));
    world.pass(secs(2));
    world.judge(true, "");
    world.states.clear();
    storm(&mut world, window);
    assert_eq!((world.asked.len(), world.session.cache.len()), (1, 1));
    // once a second
    assert!((9..=11).contains(&world.states.len()), "{} states", world.states.len());
}

#[test]
fn a_storm_of_titles_in_a_browser_is_judged_once_a_debounce_at_most() {
    let mut world = World::started();
    storm(&mut world, |n| page(&words(n)));
    assert!((1..=2).contains(&world.asked.len()), "{:?}", world.asked);
    assert!((1..=2).contains(&world.session.cache.len()), "{}", world.session.cache.len());
    // A storm is one place, and its title is shown about once a second.
    assert!((9..=30).contains(&world.states.len()), "{} states", world.states.len());
    let last = words(FRAMES - 1);
    world.pass(secs(1));
    let shown = world.state().window.unwrap().title;
    assert!(shown.starts_with(&last), "{shown:?}, not {last:?}");
}

/// Two windows take turns, so that every frame is a change of window: none of them settles.
#[test]
fn a_storm_over_two_windows_asks_nobody() {
    let mut world = World::started();
    storm(&mut world, |n| Window {
        id: 7 + u32::try_from(n % 2).unwrap(),
        title: words(n),
        ..program(["XTerm", "gimp"][n % 2])
    });
    assert_eq!((world.asked.len(), world.session.cache.len()), (0, 0));
}

/// The other way to fill a cache: titles that each rest until they are judged.
#[test]
fn titles_that_rest_fill_the_cache_to_its_bound_and_no_further() {
    let mut world = World::started();
    for n in 0..cache::MAX_ENTRIES + 50 {
        world.see(page(&words(n)));
        world.pass(secs(11));
        if world.running.is_some() {
            world.judge(true, "");
        }
    }
    assert_eq!(world.asked.len(), cache::MAX_ENTRIES + 50);
    assert_eq!(world.session.cache.len(), cache::MAX_ENTRIES);
}

#[test]
fn the_embedded_judge_keeps_a_bounded_number_of_opinions() {
    let mut world = World::with(embedded::before_a_model(), None);
    world.start("x", &["code"]);
    let mut most = 0;
    for n in 0..3 * opinions::MAX_OPINIONS {
        world.see(page(&words(n)));
        world.pass(secs(3));
        if world.running.is_some() {
            world.judge(true, "");
        }
        most = most.max(world.session.embedded.len());
    }
    assert_eq!(most, opinions::MAX_OPINIONS);
}
