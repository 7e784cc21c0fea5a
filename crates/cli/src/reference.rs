//! The generated part of the documentation: all commands with their flags, and the JSON Schema of every study's document.

use std::fs;
use std::path::{Path, PathBuf};

use trueplane_studies::{ForStudies, each};
use trueplane_study::{Study, schema};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference")
}

/// Holds a generated file to what is generated now, or writes it (`make golden`).
fn check(name: &str, text: &str) {
    let path = folder().join(name);
    if std::env::var_os("GOLDEN").is_some_and(|how| how == "write") {
        fs::create_dir_all(path.parent().expect("it is in a folder")).expect("the folder can be made");
        fs::write(&path, text).expect("the file can be written");
    }
    let written = fs::read_to_string(&path).unwrap_or_default();
    assert!(written == text, "docs/reference/{name} is not what the code says: run `make golden`");
}

/// The page of all commands; without what meets Linux it would lack some.
#[cfg(feature = "live")]
mod page {
    use std::fmt::Write as _;

    use clap::{Arg, Command};

    use super::check;
    use crate::walk::commands;

    #[test]
    fn the_page_of_commands_is_up_to_date() {
        let mut page = String::from(
            "# Commands\n\n\
             This page is generated from the declarations of the parameters; `trueplane COMMAND --help` says the same.\n",
        );
        for (path, command) in commands() {
            page += &section(&path.join(" "), &command);
        }
        check("commands.md", &page);
    }

    fn section(words: &str, command: &Command) -> String {
        let about =
            command.get_long_about().or(command.get_about()).map(ToString::to_string).unwrap_or_default();
        let mut section = format!("\n## trueplane {words}\n\n{}\n\n", about.trim());
        let flags: Vec<&Arg> = command.get_arguments().filter(|arg| !arg.is_hide_set()).collect();
        let flags = flags.iter().filter(|arg| !matches!(arg.get_id().as_str(), "help" | "version"));
        section += "| parameter | value | default | meaning |\n|---|---|---|---|\n";
        for arg in flags {
            let names = arg.get_value_names().filter(|_| arg.get_action().takes_values());
            let value = names.map_or_else(String::new, |names| format!("`{}`", in_table(&names.join(" "))));
            let name = match arg.get_long() {
                Some(long) => format!("`--{long}`"),
                None => value.clone(),
            };
            let default: Vec<_> =
                arg.get_default_values().iter().map(|text| text.to_string_lossy()).collect();
            let default = match default.as_slice() {
                [] => String::new(),
                texts if arg.get_action().takes_values() => format!("`{}`", in_table(&texts.join(" "))),
                _ => String::new(),
            };
            let help = arg.get_long_help().or(arg.get_help()).map(ToString::to_string).unwrap_or_default();
            let help = in_table(&lines(&help));
            // Writing to a `String` cannot fail.
            let _ = writeln!(section, "| {name} | {value} | {default} | {help} |");
        }
        section
    }

    /// The paragraphs of a help text, and its names that can be chosen, each in a line of Markdown.
    fn lines(help: &str) -> String {
        let lines = help.lines().filter(|line| !line.is_empty());
        let line = |line: &str| match line.strip_prefix("  ").and_then(|row| row.split_once(' ')) {
            Some((name, about)) => format!("`{name}`: {}", about.trim_start()),
            None => line.to_owned(),
        };
        lines.map(line).collect::<Vec<_>>().join("<br>")
    }

    /// A text as a cell of a table of Markdown.
    fn in_table(text: &str) -> String {
        text.replace('|', "\\|").replace('\n', " ")
    }
}

/// Writes or checks the schema of every study.
struct Schemas;

impl ForStudies for Schemas {
    fn study<S: Study>(&mut self) {
        check(&format!("schema/{}.json", S::NAME), &format!("{:#}\n", schema::of::<S>()));
    }
}

#[test]
fn the_schemas_of_documents_are_up_to_date() {
    each(&mut Schemas);
    check("schema/live.json", &format!("{:#}\n", schema::of_live_commands()));
}
