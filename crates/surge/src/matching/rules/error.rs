//! What is wrong with a rule, in one line that says where.

use trueplane_study::Error;

/// Most characters of the input that an error shows.
const SHOWN: usize = 40;

/// A file of rules that cannot be read: `attack.rules:3:17: expected a number, got "x"`.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{file}:{line}:{column}: {problem}")]
pub struct RuleError {
    /// The name of the file, control characters escaped.
    pub file: String,
    /// The line, from 1.
    pub line: usize,
    /// The character in the line, from 1.
    pub column: usize,
    /// Expectation, and what was found instead.
    pub problem: String,
}

impl From<RuleError> for Error {
    fn from(error: RuleError) -> Self {
        Error::Parameters(error.to_string())
    }
}

/// A place in a file: line and character, both from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The line.
    pub line: usize,
    /// The character in the line.
    pub column: usize,
}

impl Place {
    /// The place of the byte at `offset`, which is where a character begins.
    pub(super) fn of(text: &str, offset: usize) -> Self {
        let before = &text[..offset];
        let line = before.rfind('\n').map_or(0, |found| found + 1);
        Self { line: 1 + before.matches('\n').count(), column: 1 + before[line..].chars().count() }
    }

    /// `problem` at this place of `file`.
    pub(in super::super) fn error(self, file: &str, problem: impl Into<String>) -> RuleError {
        RuleError { file: escaped(file), line: self.line, column: self.column, problem: problem.into() }
    }
}

/// `text` on one line, in quotes, and not all of it if it is long.
pub(in super::super) fn quoted(text: &str) -> String {
    let end = text.char_indices().nth(SHOWN).map_or(text.len(), |(at, _)| at);
    let more = if end < text.len() { "…" } else { "" };
    format!("\"{}{more}\"", escaped(&text[..end]))
}

/// `text` without control characters.
fn escaped(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for character in text.chars() {
        if character.is_control() {
            shown.extend(character.escape_default());
        } else {
            shown.push(character);
        }
    }
    shown
}
