//! What can be wrong with a trace, in one line that says where.

use std::borrow::Cow;
use std::fmt;
use std::io::{self, ErrorKind};

/// A trace could not be read.
#[derive(Debug, thiserror::Error)]
pub enum TraceError {
    /// The trace, or a request to read it, is wrong: `trace.csv:17: expected a timestamp, got "abc"`.
    #[error("{}{place}: {problem}", escaped(trace))]
    Input {
        /// The name of the trace.
        trace: String,
        /// Place in the trace.
        place: Place,
        /// Description of what was expected and what was found.
        problem: String,
    },
    /// The trace could not be opened or read: `trace.csv: No such file or directory`.
    #[error("{}: {}", escaped(trace), without_code(source))]
    Io {
        /// The name of the trace.
        trace: String,
        /// Error of the operating system.
        source: io::Error,
    },
}

impl TraceError {
    /// Whether the fault lies with what was given (the trace, its name, the options) and not with the machine.
    pub fn is_input(&self) -> bool {
        match self {
            TraceError::Input { .. } => true,
            TraceError::Io { source, .. } => matches!(
                source.kind(),
                ErrorKind::NotFound
                    | ErrorKind::PermissionDenied
                    | ErrorKind::IsADirectory
                    | ErrorKind::NotADirectory
                    | ErrorKind::InvalidInput
                    | ErrorKind::InvalidFilename
            ),
        }
    }
}

/// A place within a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// The trace as a whole.
    Whole,
    /// A line, counted from 1; for a record that spans lines, its first.
    Line(u64),
    /// The bytes, counted from 0 and uncompressed, that come before the faulty record.
    Byte(u64),
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::Whole => Ok(()),
            Place::Line(line) => write!(f, ":{line}"),
            Place::Byte(byte) => write!(f, ": byte {byte}"),
        }
    }
}

/// `name` on one line: a file may have line breaks in its name, and worse.
fn escaped(name: &str) -> Cow<'_, str> {
    if !name.chars().any(char::is_control) {
        return Cow::Borrowed(name);
    }
    let mut shown = String::new();
    for character in name.chars() {
        if character.is_control() {
            shown.extend(character.escape_default());
        } else {
            shown.push(character);
        }
    }
    Cow::Owned(shown)
}

/// The message of `error` without the ` (os error 2)` that only a programmer wants.
pub fn without_code(error: &io::Error) -> String {
    let text = error.to_string();
    text.rfind(" (os error ").map_or(text.clone(), |end| text[..end].to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_error_is_one_line_that_says_where() {
        let at =
            |place| TraceError::Input { trace: "t.csv".into(), place, problem: "odd".into() }.to_string();
        assert_eq!(at(Place::Whole), "t.csv: odd");
        assert_eq!(at(Place::Line(17)), "t.csv:17: odd");
        assert_eq!(at(Place::Byte(48)), "t.csv: byte 48: odd");
        let missing = TraceError::Io { trace: "t.csv".into(), source: io::Error::from_raw_os_error(2) };
        assert_eq!(missing.to_string(), "t.csv: No such file or directory");
        assert!(missing.is_input());
        let odd =
            TraceError::Input { trace: "a\n\x1bé.csv".into(), place: Place::Line(1), problem: "odd".into() };
        assert_eq!(odd.to_string(), "a\\n\\u{1b}é.csv:1: odd");
        let broken = TraceError::Io { trace: "t.csv".into(), source: io::Error::from_raw_os_error(5) };
        assert!(!broken.is_input());
    }
}
