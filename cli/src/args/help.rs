//! What `--help` says behind the options.

pub(super) const EXAMPLES: &str = "\
Examples:
  antidrift                      how things stand
  antidrift start draft the report --for 25m --allow code,emacs
  antidrift start --again        as the last session
  antidrift ontask               the window just flagged serves the commitment
  antidrift refocus              it does not: back to task
  antidrift pick                 click a window that serves it
  antidrift pause 10m            leave me alone; antidrift resume ends it early
  antidrift extend 10m           more time
  antidrift complete             ends the session; antidrift review shows it
  antidrift report               how the last days went
  antidrift why                  how the present status came about
  antidrift watch                a live view; in a pipe one line a change

Exit codes: 0 done, 1 refused or output not written, 2 usage, 3 daemon not
reachable, 4 daemon does not answer, 130 cancelled at the terminal. Only JSON
output is stable.";

pub(super) const START_EXAMPLES: &str = "\
Examples:
  antidrift start                on a terminal: asks the few questions
  antidrift start draft the report
  antidrift start @writing chapter 2
                                 with what [presets.writing] says
  antidrift start --again        as the last session
  antidrift start draft the report --for 'until 14:30'
  antidrift start draft the report --for 1h30 --next 'outline section 2'
  antidrift start --coach get the tax return off my desk
  antidrift start --allow code,emacs --allow-domain docs.rs write the parser
  antidrift start -- '- [ ] a text that begins with a dash'";

pub(super) const COMPLETE_HELP: &str = "\
What the session was spent on is shown. How it went can be said now, or later
with antidrift review.

Examples:
  antidrift complete
  antidrift complete --outcome done
  antidrift complete --outcome partial --note 'section 3 is missing'";

pub(super) const END_HELP: &str = "\
The session stays among those that antidrift report tells of.

Examples:
  antidrift end";

pub(super) const DOCTOR_HELP: &str = "\
One line each for the daemon, the display, the judge, popups and the state
directory. The judge is asked about a sample window, also a model that costs
money. The exit status is 1 if anything does not work.

Examples:
  antidrift doctor";

pub(super) const CONFIG_HELP: &str = "\
The file is ~/.config/antidrift/config.toml. A faulty one is named with line
and column, exit status 2. What is shown is what a daemon would make of the
file; one that runs takes it over with antidrift reload. antidriftd does the
work: the one beside this program, else the one on PATH.

Examples:
  antidrift config init
  antidrift config check && antidrift reload
  antidrift config dump | grep judge -A 7";

pub(super) const CONFIG_INIT_HELP: &str = "\
Examples:
  antidrift config init
  antidrift config init --print | less";

pub(super) const CONFIG_CHECK_HELP: &str = "\
A fault is named with line and column, exit status 2.

Examples:
  antidrift config check && antidrift reload
  antidrift config check --config draft.toml";

pub(super) const CONFIG_DUMP_HELP: &str = "\
Examples:
  antidrift config dump
  antidrift config dump | grep judge -A 7";

pub(super) const RELOAD_HELP: &str = "\
A faulty configuration changes nothing: the daemon keeps the one it has and
says what is wrong, with line and column. SIGHUP to antidriftd does the same,
with the word in its log.

Examples:
  antidrift config check && antidrift reload";

pub(super) const ONTASK_HELP: &str = "\
Without an option the daemon allows the window's class, or for browsers,
terminals and other programs that hold many contexts its whole title.

Which window is meant: the focused one if it is flagged as drifting; else, when
this is typed into a terminal, the last one that was flagged in the last 10
minutes and not answered; else the focused one. Inside tmux and over ssh the
terminal is known by its window class only.

Examples:
  antidrift ontask
  antidrift ontask --class            every window of that window's program
  antidrift ontask --class firefox
  antidrift ontask --title 'RFC 9110'
  antidrift ontask --domain docs.rs";

pub(super) const PAUSE_HELP: &str = "\
Nothing is judged and nothing is alerted meanwhile; the time of the session goes
on, and the review counts the pause apart. When its time is over you are told
once.

Examples:
  antidrift pause                     until antidrift resume
  antidrift pause 10m
  antidrift pause until 14:30";

pub(super) const RESUME_HELP: &str = "\
Examples:
  antidrift resume";

pub(super) const EXTEND_HELP: &str = "\
What is given is added to what is left; when the time is up it is counted from
now.

Examples:
  antidrift extend 10m
  antidrift extend until 14:30";

pub(super) const DETOUR_HELP: &str = "\
Every window is on task meanwhile; the time of the session goes on, and the
review counts the detour apart. When its time is over you are called back once,
with the name of the window that you left. antidrift resume ends it early.

Examples:
  antidrift detour 5m look up the flag
  antidrift detour until 14:30 answer the mail";

pub(super) const PREVIEW_HELP: &str = "\
Which window is meant: as for antidrift ontask. The text on standard output is
what would be sent, byte for byte; standard error says to whom.

Examples:
  antidrift preview
  sleep 3; antidrift preview     time to go to the window that you ask about";

pub(super) const COACH_HELP: &str = "\
The coach is a model: backend or command under [coach] in the configuration,
else the judge if that is one. It is told what you typed and the window classes
that are open or had the focus lately. Nothing is started: antidrift start
--coach does that.

Examples:
  antidrift coach get the tax return off my desk
  antidrift start --coach get the tax return off my desk";

pub(super) const WHY_HELP: &str = "\
Which window is meant: as for antidrift ontask. What is printed holds the
window's title.

Examples:
  antidrift why
  sleep 3; antidrift why         time to go to the window that you ask about
  antidrift why --json | jq -r '.steps[] | select(.step==\"rule\").detail'";

pub(super) const REVIEW_HELP: &str = "\
On a terminal you are asked how it went and for a note; what is there already
is there to be edited. Without a terminal, or with --outcome or --note, nobody
is asked. The bar is the session from start to end, each sign for what most of
its time was.

Examples:
  antidrift complete && antidrift review
  antidrift review --outcome partial --note 'section 3 is missing'";

pub(super) const REPORT_HELP: &str = "\
What is told are the sessions that began in these days, as the clock on the wall
has them. [history] in the configuration says what is kept, and for how long.

With --json one object: version (1), from and to (the days), time_zone, totals,
days, drift_by_class, outcomes (done, partial, abandoned, unsaid), and
sessions, the earliest first, as the daemon keeps them. totals and each of days
have sessions, alerts, planned_secs, actual_secs and what the time was spent
on: ontask_secs, drifting_secs, other_secs, detour_secs, paused_secs,
away_secs, down_secs. New members may come.

With --csv a cell that a spreadsheet could take for a formula begins with '.
With --timewarrior and --activitywatch only what was worked on is told: a
pause, and time away, is a gap.

Examples:
  antidrift report
  antidrift report --week --svg week.svg
  antidrift report --days 30 --csv > sessions.csv
  antidrift report --json | jq '.days[] | [.date, .ontask_secs]'
  antidrift report --month --timewarrior > antidrift.data
  antidrift report --activitywatch > bucket.json";

pub(super) const FORGET_HELP: &str = "\
What antidrift report would show is gone then, for good; so are files that the
daemon set aside because they were damaged. A session that is under way stays;
one under review is shown until it is left, and not kept. antidrift start
--again still knows what the last session began with.

Examples:
  antidrift forget
  antidrift forget --yes         without a terminal, too";

pub(super) const STATUS_HELP: &str = "\
With --format or --template one line is printed whatever happens, and nothing
else, since a bar has nowhere to show an error; without a daemon the tooltip
says why. With --max-width titles and other free text give way, the time stays.
Examples for each bar are in contrib/bars.

A template names fields: {state} (down, planning, away, paused, detour,
drifting, overtime, ontask, checking, active, review), {says} (the same in
words), {text} (the commitment), {next}, {time} (left, over as +3 min, or since
the start), {reason}, {title}, {class}. A brace is written twice. What
surrounds the fields is passed on as it is.

Examples:
  antidrift status
  antidrift status --json | jq -r .state.phase
  antidrift status --format waybar
  antidrift status --template '{state}: {text} ({time})'";

pub(super) const CLICK_HELP: &str = "\
Left is the natural answer: back to task while drifting, ten more minutes when
the time is up, on after a pause or detour, out of the review. Middle: this is
on task. Right: end the session. Their numbers 1, 2 and 3 do as well; another
does nothing.

Examples:
  antidrift click left
  antidrift click \"$BLOCK_BUTTON\"   in i3blocks";

pub(super) const WATCH_HELP: &str = "\
On a terminal: a live view; keys b (back to task), t (this is on task), e (end
session), p (pause and resume), + (10 more minutes, when the time is up), q
(quit). While it is in front of its terminal, that terminal is not judged
(within tmux it is). In a pipe: one line a change.
With --format or --template: one line for a bar at each change, and no popups;
see antidrift status --help. A slow bar gets the newest line. With --format
i3blocks a click comes in as the number of its button on standard input.
Alerts are also shown as desktop notifications by notify-send; of several
watches one shows them. How one is answered is up to the notification service,
so none says so itself: in dunst, unless it is set up otherwise, a middle click
is «back to task», and dunstctl context opens a menu of all three answers.

With --json: the daemon's event lines, one object a line, and beside them
{\"event\":\"connected\",…} and {\"event\":\"disconnected\",…}.

Examples:
  antidrift watch
  antidrift watch --json | jq -r 'select(.event==\"state\").data.drift.status'
  antidrift watch --notify-only       for autostart: popups only";

pub(super) const COMPLETIONS_HELP: &str = "\
Window classes and presets are asked of the daemon at the time, if it runs.

Examples:
  source <(antidrift completions bash)        in ~/.bashrc
  source <(antidrift completions zsh)         in ~/.zshrc, after compinit
  antidrift completions fish > ~/.config/fish/completions/antidrift.fish";
