//! A walk over all flags of all commands: what must hold for every one of them.

use std::collections::BTreeMap;

use clap::{Arg, ArgAction, Command, Parser as _};

use crate::failure::Failure;
use crate::terminal::printed;
use crate::{Cli, shells};

/// Values that no flag takes, except for those that take any text.
const NEVER: [&str; 5] = ["_", "-1", "-5ms", "1e99", ""];

/// Words for values that may be any text but an empty one.
const ANY_TEXT: &[&str] = &[
    "CHAR",
    "COLUMN",
    "CONTEXT",
    "DIR",
    "FILE",
    "IFACE",
    "NAMES",
    "NAMESPACE",
    "NETNS",
    "OBJECT",
    "TAG",
    "WEIGHTS",
];

/// Every command that does something, with the words that lead to it.
fn leaves(command: &Command, path: &[String], to: &mut Vec<(Vec<String>, Command)>) {
    let subcommands: Vec<&Command> =
        command.get_subcommands().filter(|sub| sub.get_name() != "help").collect();
    if subcommands.is_empty() {
        to.push((path.to_vec(), command.clone()));
    }
    for sub in subcommands {
        leaves(sub, &[path, &[sub.get_name().to_owned()]].concat(), to);
    }
}

/// All commands.
pub(crate) fn commands() -> Vec<(Vec<String>, Command)> {
    let mut root = crate::command();
    root.build();
    let mut all = Vec::new();
    leaves(&root, &[], &mut all);
    all
}

/// The flags of a command that take a value.
fn flags(command: &Command) -> impl Iterator<Item = &Arg> {
    // A word after `--csv` is not its value.
    let is_flag = |arg: &&Arg| arg.get_long().is_some() && takes_value(arg) && !arg.is_require_equals_set();
    command.get_arguments().filter(is_flag)
}

fn takes_value(arg: &Arg) -> bool {
    matches!(arg.get_action(), ArgAction::Set | ArgAction::Append)
}

fn value_name(arg: &Arg) -> String {
    arg.get_value_names().map_or_else(String::new, |names| names.join(" "))
}

#[test]
fn no_two_flags_have_nearly_the_same_name() {
    let mut spellings: BTreeMap<String, BTreeMap<String, String>> = BTreeMap::new();
    for (path, command) in commands() {
        for long in command.get_arguments().filter_map(Arg::get_long) {
            let plain = long.replace('-', "");
            spellings.entry(plain).or_default().entry(long.to_owned()).or_insert_with(|| path.join(" "));
        }
    }
    let twins: Vec<_> = spellings.values().filter(|spellings| spellings.len() > 1).collect();
    assert!(twins.is_empty(), "{twins:#?}");
}

/// Words that are no flags, each with the word that all commands have for the same thing.
const OTHER_WORDS: [(&str, &str); 22] = [
    ("algorithm", "policy"),
    ("algorithms", "policies"),
    ("capacities", "capacity"),
    ("deltas", "delta"),
    ("device", "dev"),
    ("dispatch", "policy"),
    ("file", "out or output"),
    ("iface", "dev"),
    ("interface", "dev"),
    ("jobs", "JOBS, without a flag"),
    ("latencies", "latency"),
    ("loads", "load"),
    ("namespace", "netns"),
    ("packet", "packet-size"),
    ("random-seed", "seed"),
    ("rates", "rate"),
    ("scheduler", "policy"),
    ("schedulers", "policies"),
    ("system", "policy"),
    ("systems", "policies"),
    ("trace", "TRACE, without a flag"),
    ("warm-up", "warmup"),
];

#[test]
fn one_thing_has_one_flag() {
    let mut wrong = Vec::new();
    for (path, command) in commands() {
        for long in command.get_arguments().filter_map(Arg::get_long) {
            // Kubernetes has namespaces, too, and all of its tools call them so.
            let is_kubernetes = path[0] == "fair" && long == "namespace";
            let other = OTHER_WORDS.iter().find(|(word, _)| *word == long && !is_kubernetes);
            wrong.extend(other.map(|(word, instead)| format!("{path:?} --{word}: say {instead}")));
        }
        for arg in flags(&command) {
            let is_list = value_name(arg) == LIST;
            if arg.get_long() == Some("policies") && !is_list || arg.get_long() == Some("policy") && is_list {
                wrong.push(format!("{path:?}: --policies takes a list, --policy a single one"));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// The word for several values of a flag that takes one elsewhere.
const LIST: &str = "LIST";

/// Flags whose values are of different kinds, and why they have one name.
const DIFFERENT_KINDS: [(&str, &str); 6] = [
    ("burst", "a bucket holds bytes; a user of a cluster submits tasks at a time"),
    ("gap", "of two bounds it is a share; between two packets or tasks it is a time"),
    ("out", "what is made may be a file or a folder; beside --in it is an interface"),
    ("ports", "of a circuit they are counted; of a translator they are a range of numbers"),
    ("resources", "a generator makes so many; a log has them by name"),
    ("window", "of packets it is their number; of a capture it is a time"),
];

#[test]
fn flags_of_one_name_take_values_of_one_kind() {
    let mut kinds: BTreeMap<String, BTreeMap<String, String>> = BTreeMap::new();
    for (path, command) in commands() {
        for arg in flags(&command).filter(|arg| value_name(arg) != LIST) {
            let long = arg.get_long().unwrap_or_default().to_owned();
            kinds.entry(long).or_default().entry(value_name(arg)).or_insert_with(|| path.join(" "));
        }
    }
    let is_excepted = |long: &str| DIFFERENT_KINDS.iter().any(|(name, _)| *name == long);
    let wrong: Vec<_> = kinds.iter().filter(|(long, kinds)| kinds.len() > 1 && !is_excepted(long)).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
    // Without the feature `live` some commands have no flags.
    if cfg!(feature = "live") {
        let needless = DIFFERENT_KINDS.iter().find(|(long, _)| kinds.get(*long).map_or(0, BTreeMap::len) < 2);
        assert_eq!(needless, None);
    }
}

#[test]
fn every_value_has_a_word_and_every_flag_a_sentence() {
    let mut missing = Vec::new();
    for (path, command) in commands() {
        for arg in flags(&command) {
            let long = arg.get_long().unwrap_or_default();
            let help = arg.get_help().map(ToString::to_string).unwrap_or_default();
            // clap makes up a word from the name of the field.
            if value_name(arg) == arg.get_id().as_str().to_uppercase() && arg.get_id().as_str().contains('_')
                || help.is_empty()
            {
                missing.push(format!("{} --{long} <{}>", path.join(" "), value_name(arg)));
            }
        }
    }
    assert!(missing.is_empty(), "{missing:#?}");
}

/// The error of a command with these words behind its name.
fn refusal(path: &[String], words: &[&str]) -> Option<String> {
    let given = ["trueplane"].into_iter().chain(path.iter().map(String::as_str)).chain(words.iter().copied());
    let error = Cli::try_parse_from(crate::words(given.map(Into::into))).err();
    error.map(|error| Failure::flags(&error).to_string())
}

#[test]
fn every_flag_refuses_nonsense_in_one_line() {
    let mut taken = Vec::new();
    for (path, command) in commands() {
        // A value that may be left out is any text.
        for arg in flags(&command).filter(|arg| !arg.is_require_equals_set()) {
            let flag = format!("--{}", arg.get_long().unwrap_or_default());
            let is_any_text = ANY_TEXT.contains(&value_name(arg).as_str());
            for value in NEVER.iter().filter(|value| value.is_empty() || !is_any_text) {
                let message = refusal(&path, &[&flag, value]);
                let is_refusal = |message: &String| {
                    let says_what =
                        message.starts_with(&format!("{flag} ")) && message.contains(": expected ");
                    let says_it = message.contains(&format!("got \"{value}\"")) || value.is_empty();
                    says_what && says_it && !message.contains('\n')
                };
                if !message.as_ref().is_some_and(is_refusal) {
                    taken.push(format!("{} {flag} {value:?}: {message:?}", path.join(" ")));
                }
            }
        }
    }
    assert!(taken.is_empty(), "{} are taken or refused in other words:\n{}", taken.len(), taken.join("\n"));
}

/// Names and words that help texts list are taken, and words that they do not list are refused.
#[test]
fn help_lists_what_is_taken() {
    let mut wrong = Vec::new();
    for (path, command) in commands() {
        for arg in flags(&command) {
            let flag = format!("--{}", arg.get_long().unwrap_or_default());
            let help = arg.get_long_help().map(ToString::to_string).unwrap_or_default();
            let rows = help.lines().filter_map(|line| line.strip_prefix("  ")?.split_whitespace().next());
            let names: Vec<&str> = rows.collect();
            if names.is_empty() {
                continue;
            }
            let words = ["all", "online", "none"].into_iter().filter(|word| !names.contains(word));
            let refused = |name: &str| {
                let message = refusal(&path, &[&flag, &name.replace(":K", ":2")]);
                message.is_some_and(|message| message.starts_with(&format!("{flag} ")))
            };
            wrong.extend(
                names.iter().filter(|name| refused(name)).map(|name| format!("{path:?} {flag} {name}")),
            );
            wrong.extend(
                words.filter(|word| !refused(word)).map(|word| format!("{path:?} {flag} {word} is taken")),
            );
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Lines that `-h` takes at most on a terminal of this width.
const MOST_LINES: usize = 30;
const COLUMNS: usize = 100;

#[test]
fn short_help_fits_on_a_screen() {
    let mut long = Vec::new();
    for (path, command) in commands() {
        let text = command.term_width(COLUMNS).render_help().to_string();
        let lines = text.trim_end().lines().count();
        if lines > MOST_LINES {
            long.push(format!("{}: {lines}\n{text}", path.join(" ")));
        }
    }
    let root = crate::command().term_width(COLUMNS).render_help().to_string();
    assert!(root.lines().count() <= MOST_LINES, "{root}");
    assert!(long.is_empty(), "{} are too long:\n{}", long.len(), long.join("\n"));
}

#[test]
fn every_command_has_an_example_that_can_be_pasted() {
    // However narrow the terminal is.
    const NARROW: usize = 50;
    for (path, command) in commands() {
        // Without the feature `live` some commands only say how to get them.
        let about = command.get_about().map(ToString::to_string).unwrap_or_default();
        if about.starts_with("Not in this build") {
            continue;
        }
        let mut command = command.term_width(NARROW);
        let name = format!("trueplane {}", path.join(" "));
        for text in [command.render_help(), command.render_long_help()] {
            let text = printed(&text.to_string()).replace("\\\n", " ");
            let (_, examples) = text.split_once("Example").unwrap_or_else(|| panic!("{name} has no example"));
            let single = examples.split_whitespace().collect::<Vec<_>>().join(" ");
            assert!(single.contains(&name), "{name} has no example:\n{text}");
            let lines = examples.lines().skip(1).take_while(|line| !line.is_empty());
            for line in lines {
                // What the parser breaks goes on without an indent.
                assert!(line.starts_with("  "), "an example of {name} is broken:\n{text}");
            }
        }
    }
}

#[test]
fn every_command_has_a_manual_page() {
    let folder = tempfile::tempdir().unwrap();
    let mut root = crate::command();
    root.build();
    let pages = shells::write_pages(&root, "trueplane", folder.path()).unwrap();
    assert!(pages > commands().len(), "{pages}");
    for (path, command) in commands() {
        let name = format!("trueplane-{}", path.join("-"));
        let page = std::fs::read_to_string(folder.path().join(format!("{name}.1"))).unwrap();
        for long in command.get_arguments().filter(|arg| !arg.is_hide_set()).filter_map(Arg::get_long) {
            assert!(page.contains(&long.replace('-', "\\-")), "{name} does not mention --{long}");
        }
        for entry in page.split("\n.TP\n").skip(1) {
            let text = entry.lines().nth(1).unwrap_or_default();
            assert!(!text.is_empty() && !text.starts_with('.'), "{name} has no text for\n{entry}");
        }
    }
}
