//! Why a command ended without doing what it was asked to, in one line.

use std::fmt;
use std::io::{IsTerminal as _, Write as _};
use std::process::ExitCode;

use trueplane_study::Error;

use crate::terminal::{colors, printed};

/// A message and an exit status.
#[derive(Debug)]
pub(crate) struct Failure {
    message: String,
    status: u8,
}

impl Failure {
    /// The input or the flags are wrong: status 2.
    pub(crate) fn input(message: impl Into<String>) -> Self {
        Self { message: message.into(), status: 2 }
    }

    /// Stopped by Ctrl-C: status 130, as shells give to what SIGINT ends.
    pub(crate) fn interrupted() -> Self {
        Self { message: Error::Interrupted.to_string(), status: 130 }
    }

    /// Anything else: status 1.
    pub(crate) fn other(message: impl Into<String>) -> Self {
        Self { message: message.into(), status: 1 }
    }

    /// The flags, as the parser puts it: its first paragraph on one line, without its label; or the help, if there were
    /// none.
    pub(crate) fn flags(error: &clap::Error) -> Self {
        let text = printed(&error.render().to_string());
        if error.kind() == clap::error::ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
            return Self::input(format!("expected a command\n\n{}", text.trim_end()));
        }
        let paragraph = text.split("\n\n").next().unwrap_or_default();
        let tip = text.lines().map(str::trim).find(|line| line.starts_with("tip: a similar"));
        let words = paragraph
            .split_whitespace()
            .chain(tip.map(|_| ";"))
            .chain(tip.into_iter().flat_map(str::split_whitespace));
        let line = words.collect::<Vec<_>>().join(" ").replace(" ; tip: ", "; ");
        let line = line.strip_prefix("error: ").unwrap_or(&line);
        let line = match error.kind() {
            clap::error::ErrorKind::ValueValidation => reason_first(line),
            clap::error::ErrorKind::InvalidValue => without_value(line),
            clap::error::ErrorKind::UnknownArgument => after_csv(line),
            _ => line.to_owned(),
        };
        Self::input(format!("{line} (see --help)"))
    }

    /// Prints the message and becomes the exit status.
    pub(crate) fn report(self) -> ExitCode {
        ExitCode::from(self.print())
    }

    /// Prints the message; what the exit status is to be.
    pub(crate) fn print(self) -> u8 {
        // Whoever closed stderr does not want to know.
        let mut stderr = std::io::stderr();
        let label = if colors(stderr.is_terminal()) { "\x1b[1;31merror:\x1b[0m" } else { "error:" };
        // A name or a value may hold what would steer the terminal.
        let is_harmless = |c: char| !c.is_control() || c == '\n';
        let message: String =
            self.to_string().chars().map(|c| if is_harmless(c) { c } else { ' ' }).collect();
        let _ = writeln!(stderr, "{label} {message}");
        self.status
    }
}

/// A refused value with the reason first: `invalid value '0' for '--queues <N>': expected 1 to 4096, got "0"` becomes
/// `--queues <N>: expected 1 to 4096, got "0"`. A reason that does not repeat the value gets it.
fn reason_first(line: &str) -> String {
    let parts = line
        .strip_prefix("invalid value '")
        .and_then(|rest| rest.split_once("' for '"))
        .and_then(|(value, rest)| Some((value, rest.split_once("': ")?)));
    match parts {
        Some((_, (flag, reason))) if reason.contains("got ") => format!("{flag}: {reason}"),
        Some((value, (flag, reason))) => format!("{flag}: {reason}, got \"{value}\""),
        None => line.to_owned(),
    }
}

/// A flag that has no value, or an empty one, in the same shape: `--report <DIR>: expected a value, got none`.
fn without_value(line: &str) -> String {
    let flag = line.strip_prefix("a value is required for '").and_then(|rest| rest.split_once('\''));
    flag.map_or_else(|| line.to_owned(), |(flag, _)| format!("{flag}: expected a value, got none"))
}

/// What stands after --csv and is no input is perhaps meant for the name of a table, which takes an equals sign.
fn after_csv(line: &str) -> String {
    let mut words = std::env::args().skip_while(|word| word != "--csv").skip(1);
    match words.next() {
        Some(next) if line == format!("unexpected argument '{next}' found") => {
            format!("{line}; to name a table, give --csv={next}")
        }
        _ => line.to_owned(),
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.message)
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        let message = error.to_string();
        match error {
            Error::Trace(trace) if trace.is_input() => Self::input(message),
            Error::Parameters(_) => Self::input(message),
            Error::Interrupted => Self::interrupted(),
            Error::Trace(_) | Error::Internal(_) | Error::Unfinished(_) => Self::other(message),
        }
    }
}

#[cfg(feature = "live")]
impl From<trueplane_linux::Error> for Failure {
    fn from(error: trueplane_linux::Error) -> Self {
        let message = error.to_string();
        match error {
            trueplane_linux::Error::Request(_) => Self::input(message),
            trueplane_linux::Error::Privileges { .. } | trueplane_linux::Error::Kernel { .. } => {
                Self::other(message)
            }
        }
    }
}
