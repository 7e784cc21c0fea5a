//! `trueplane doctor`: what this machine can do, what is missing, and how to get it.

mod checks;
mod machine;

use serde_json::json;

use crate::failure::Failure;
use crate::output::print;
use crate::terminal::{self, folded};
use checks::{Check, checks};
use machine::Machine;

/// Show what this machine can do, what is missing, and how to get it.
///
/// All simulations run on any machine. Commands that use the kernel need Linux, privileges and other programs. This command checks for them, and
/// changes nothing. The exit status is 0 even if something is missing.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  trueplane doctor\n  trueplane doctor --json")]
pub(crate) struct Args {
    /// Print one JSON document and nothing else
    #[arg(long)]
    json: bool,
}

impl Args {
    pub(crate) fn run(self) -> Result<(), Failure> {
        let checks = checks(&Machine::this());
        print(&if self.json { document(&checks) } else { painted(&folded(&text(&checks))) })
    }
}

fn document(checks: &[Check]) -> String {
    let checks: Vec<_> = checks.iter().map(Check::json).collect();
    format!("{:#}\n", json!({ "command": "doctor", "version": env!("CARGO_PKG_VERSION"), "checks": checks }))
}

/// The state of what is there and of what is not, in as many columns.
const OK: &str = "ok     ";
const MISSING: &str = "missing";

/// The text with its states in colour, if colours are wanted.
fn painted(text: &str) -> String {
    if !terminal::colors(terminal::is_stdout()) {
        return text.to_owned();
    }
    let paint = |line: &str| match [(OK, "32"), (MISSING, "33")]
        .into_iter()
        .find(|(state, _)| line.starts_with(state))
    {
        Some((state, code)) => format!("\x1b[{code}m{state}\x1b[0m{}\n", &line[state.len()..]),
        None => format!("{line}\n"),
    };
    text.lines().map(paint).collect()
}

fn text(checks: &[Check]) -> String {
    let width = checks.iter().map(|check| check.name.len()).max().unwrap_or(0);
    let line = |Check { name, is_ok, found, needed_by, remedy }: &Check| {
        let state = if *is_ok { OK } else { MISSING };
        let remedy = if *is_ok || remedy.is_empty() { String::new() } else { format!("; get it: {remedy}") };
        let found = if found.is_empty() { String::new() } else { format!("{found}; ") };
        format!("{state}  {name:width$}  {found}for {needed_by}{remedy}\n")
    };
    // What is there comes first.
    let (there, missing): (Vec<&Check>, Vec<&Check>) = checks.iter().partition(|check| check.is_ok);
    let lines: String = there.into_iter().chain(missing).map(line).collect();
    format!("trueplane {} on this machine\n\n{lines}", env!("CARGO_PKG_VERSION"))
}
