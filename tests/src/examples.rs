//! The examples in help texts: what they run, as a shell would read them.

/// The command lines among a help's examples that run `program`, each split into words.
///
/// An example has two blanks before it; what is said of it is set off by two or more, and goes on in
/// lines that are indented further. Panics for one that does not run the program.
#[track_caller]
pub fn lines(help: &str, program: &str) -> Vec<Vec<String>> {
    let Some((_, examples)) = help.split_once("Examples:\n") else { return Vec::new() };
    let examples = examples.lines().take_while(|line| !line.is_empty());
    let mut found = Vec::new();
    for line in examples.filter(|line| !line.starts_with("   ")) {
        let before = found.len();
        found.extend(simple(line.trim_start()).into_iter().filter(|words| words[0] == program));
        assert!(found.len() > before, "an example does not run {program}: {line}");
    }
    found
}

/// The simple commands of a line, without what is assigned before them. A redirection's file counts
/// as one, too.
fn simple(line: &str) -> Vec<Vec<String>> {
    let mut commands = vec![Vec::new()];
    let (mut word, mut quote) = (None::<String>, None);
    let mut chars = line.chars().peekable();
    while let Some(c) = chars.next() {
        match quote {
            Some(open) if c == open => quote = None,
            Some(_) => word.get_or_insert_default().push(c),
            None if c == '\'' || c == '"' => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            None if c == ' ' || "&|;()<>".contains(c) => {
                commands.last_mut().unwrap().extend(word.take());
                if c != ' ' {
                    commands.push(Vec::new());
                } else if chars.peek() == Some(&' ') {
                    break;
                }
            }
            None => word.get_or_insert_default().push(c),
        }
    }
    assert_eq!(quote, None, "a quote stays open: {line}");
    commands.last_mut().unwrap().extend(word);
    for command in &mut commands {
        let assigned = command.iter().take_while(|word| word.contains('=')).count();
        command.drain(..assigned);
    }
    commands.retain(|command| !command.is_empty());
    commands
}
