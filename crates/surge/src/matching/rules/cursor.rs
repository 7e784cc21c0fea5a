//! A place in the text of a file of rules, and what comes after it.

use super::error::{Place, quoted};

/// Description of an error, and its offset in the text.
pub(super) type Fault = (usize, String);

/// A place in the text.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cursor<'a> {
    text: &'a str,
    at: usize,
    /// The number of the line, from 1.
    line: usize,
    /// Offset of the end of the line, which is kept so that it is not searched for with every character.
    end: usize,
    /// An offset on the line, and the characters before it: columns are counted from here.
    counted: (usize, usize),
}

/// Offset of the end of the line that contains the offset `at`.
fn end_of_line(text: &str, at: usize) -> usize {
    text[at..].find('\n').map_or(text.len(), |found| at + found)
}

impl<'a> Cursor<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self { text, at: 0, line: 1, end: end_of_line(text, 0), counted: (0, 0) }
    }

    /// The offset in the text.
    pub(super) fn at(&self) -> usize {
        self.at
    }

    /// The line and the column. O(what is between the last place on the line that was asked for and this one).
    pub(super) fn place(&mut self) -> Place {
        let (from, before) = self.counted;
        self.counted = (self.at, before + self.text[from..self.at].chars().count());
        Place { line: self.line, column: 1 + self.counted.1 }
    }

    /// The text that is left.
    pub(super) fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    /// The text that is left on this line. O(1).
    pub(super) fn line(&self) -> &'a str {
        let line = &self.text[self.at..self.end];
        line.strip_suffix('\r').unwrap_or(line)
    }

    /// Whether the text is at an end.
    pub(super) fn is_done(&self) -> bool {
        self.at == self.text.len()
    }

    /// Goes to the next line.
    pub(super) fn next_line(&mut self) {
        self.at = self.text.len().min(self.end + 1);
        self.end = end_of_line(self.text, self.at);
        self.line += 1;
        self.counted = (self.at, 0);
    }

    /// Passes over spaces, and over line breaks that a backslash makes spaces.
    pub(super) fn spaces(&mut self) {
        loop {
            let rest = self.rest();
            let after = rest.trim_start_matches([' ', '\t']);
            self.at += rest.len() - after.len();
            if !after.starts_with("\\\n") && !after.starts_with("\\\r\n") {
                return;
            }
            self.next_line();
        }
    }

    /// Passes over `token` if it comes.
    pub(super) fn take(&mut self, token: &str) -> bool {
        let comes = self.line().starts_with(token);
        if comes {
            self.at += token.len();
        }
        comes
    }

    /// Passes over spaces, and `token`, which must come.
    pub(super) fn require(&mut self, token: &str) -> Result<(), Fault> {
        self.spaces();
        if self.take(token) { Ok(()) } else { Err(self.expected(&format!("\"{token}\""))) }
    }

    /// Takes the next character of this line.
    pub(super) fn character(&mut self) -> Option<char> {
        let character = self.line().chars().next()?;
        self.at += character.len_utf8();
        Some(character)
    }

    /// Takes what comes on this line as long as `belongs` says so.
    pub(super) fn while_(&mut self, belongs: impl Fn(char) -> bool) -> &'a str {
        let line = self.line();
        let taken = &line[..line.find(|character| !belongs(character)).unwrap_or(line.len())];
        self.at += taken.len();
        taken
    }

    /// Takes a word, to the next space.
    pub(super) fn word(&mut self) -> &'a str {
        self.while_(|character| !character.is_whitespace())
    }

    /// `what` was expected here.
    pub(super) fn expected(&self, what: &str) -> Fault {
        let mut next = *self;
        let line = self.line();
        // What a reader would call the next thing: a word, or one character.
        let word = next.while_(|character| character.is_ascii_alphanumeric() || "_.-$!/".contains(character));
        let found = if word.is_empty() { line.chars().next().map_or(0, char::len_utf8) } else { word.len() };
        let found = if line.is_empty() { "the end of the line".into() } else { quoted(&line[..found]) };
        (self.at, format!("expected {what}, got {found}"))
    }
}
