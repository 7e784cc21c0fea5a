//! Help texts: `-h` fits on a screen, `--help` has everything.
//!
//! `-h` shows the flags that have no heading of their own, one example, and how many more flags there are. Where all flags fit, it shows them
//! all. Examples are never wrapped inside a word of the shell, so that they survive copy and paste.

use clap::{Arg, ArgAction, Command};

use crate::terminal::NO_BREAK;

/// A command with as many flags, or fewer, shows all of them in `-h`.
const FEW: usize = 9;

/// Columns that the lines of an example take at most.
const WIDTH: usize = 78;

/// Gives the whole command line its help texts.
pub(crate) fn with_texts(root: Command) -> Command {
    let version = Arg::new("version").short('V').long("version").action(ArgAction::Version);
    dress(root.disable_version_flag(true).arg(version.help("Print the version")))
}

/// Gives a command, and all commands below it, their help texts.
fn dress(command: Command) -> Command {
    let help = Arg::new("help").short('h').long("help").action(ArgAction::Help).hide_short_help(true);
    let help = help.help("Print all flags; -h prints the most common ones").help_heading("Output");
    let command = command.disable_help_flag(true).arg(help).mut_args(told);
    if command.has_subcommands() { command.mut_subcommands(dress) } else { leaf(command) }
}

/// Makes the short text of a flag its long one, too, if it has no other. Manual pages show only the long texts of flags that `-h` hides.
fn told(arg: Arg) -> Arg {
    match (arg.get_long_help(), arg.get_help().cloned()) {
        (None, Some(help)) => arg.long_help(help),
        _ => arg,
    }
}

/// The help texts of a command that does something.
fn leaf(command: Command) -> Command {
    let is_few = command.get_arguments().filter(|arg| !is_own(arg) && !arg.is_hide_set()).count() <= FEW;
    let command = if is_few { command.mut_args(shown) } else { command };
    let text = command.get_after_help().map(ToString::to_string).unwrap_or_default();
    let examples: Vec<String> = text.lines().filter_map(|line| line.strip_prefix("  ")).map(folded).collect();
    let more = more(&command);
    // An example may need another command before it. The shortest says most to a newcomer.
    let name = format!("{NO_BREAK}{}", command.get_name());
    let of_it = examples.iter().filter(|example| example.contains(&name));
    let shortest = of_it.min_by_key(|example| example.chars().count());
    let Some(first) = shortest.or(examples.first()) else { return command };
    let first = format!("Example:\n{first}{more}");
    command.after_help(first).after_long_help(format!("Examples:\n{}", examples.join("\n")))
}

/// Whether the flag is one that every command has.
fn is_own(arg: &Arg) -> bool {
    matches!(arg.get_id().as_str(), "help" | "version" | "color")
}

fn shown(arg: Arg) -> Arg {
    if is_own(&arg) { arg } else { arg.hide_short_help(false) }
}

/// The number of flags that only `--help` shows, and their headings.
fn more(command: &Command) -> String {
    let hidden = command.get_arguments().filter(|arg| arg.is_hide_short_help_set() && !arg.is_hide_set());
    let hidden: Vec<&Arg> = hidden.filter(|arg| !is_own(arg)).collect();
    let mut headings: Vec<&str> = Vec::new();
    for heading in hidden.iter().filter_map(|arg| arg.get_help_heading()) {
        if !headings.contains(&heading) {
            headings.push(heading);
        }
    }
    match hidden.len() {
        0 => String::new(),
        1 => "\n\n--help shows one more flag.".to_owned(),
        count => format!("\n\n--help shows {count} more flags: {}.", headings.join(", ").to_lowercase()),
    }
}

/// An example over as many lines as it needs: the shell joins lines that end in a backslash. A flag and its value stay together.
fn folded(example: &str) -> String {
    let mut groups: Vec<String> = Vec::new();
    for word in example.split_whitespace() {
        match groups.last_mut() {
            Some(flag) if flag.starts_with("--") && !flag.contains(NO_BREAK) && !word.starts_with('-') => {
                *flag += &format!("{NO_BREAK}{word}");
            }
            _ => groups.push(word.to_owned()),
        }
    }
    let mut lines = vec![NO_BREAK.repeat(MARGIN)];
    for group in groups {
        let line = lines.last().map_or(0, |line| line.chars().count());
        // Two columns for what joins the lines.
        if line + 1 + group.chars().count() + 2 > WIDTH && line > INDENT {
            lines.push(NO_BREAK.repeat(INDENT));
        }
        if let Some(line) = lines.last_mut() {
            let gap = if line.ends_with(NO_BREAK) { "" } else { NO_BREAK };
            *line += &format!("{gap}{group}");
        }
    }
    lines.join(&format!("{NO_BREAK}\\\n"))
}

/// Columns before an example.
const MARGIN: usize = 2;
/// Columns before the second line of an example.
const INDENT: usize = 6;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::terminal::printed;

    #[test]
    fn long_examples_are_joined_by_the_shell() {
        let example = "trueplane cache compare examples/cdn-200k.csv.zst --latency 10ms,100ms --capacity 1%,5% --report out";
        let text = printed(&folded(example));
        assert_eq!(text.lines().count(), 2);
        assert!(text.lines().all(|line| line.len() <= WIDTH), "{text}");
        let joined: Vec<&str> = text.split_whitespace().filter(|word| *word != "\\").collect();
        assert_eq!(joined.join(" "), example);
        assert_eq!(printed(&folded("trueplane demo")), "  trueplane demo");
    }
}
