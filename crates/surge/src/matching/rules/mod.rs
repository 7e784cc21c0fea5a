//! Rules in a file: a subset of the syntax of Suricata and Snort.
//!
//! One rule a line; a line that begins with `#` is a comment, and a backslash at its end (between options, not inside
//! quotation marks) makes a rule go on in the next line:
//!
//! ```text
//! # What to do, protocol, from where, to where; then the options.
//! alert tcp any any -> $HOME_NET 80 (msg:"nested quantifiers"; content:"id="; nocase; pcre:"/id=(a+)+$/i"; sid:1;
//! rev:2;)
//! ```
//!
//! The header must have its shape (`alert`, `drop` or `reject`; `tcp`, `udp`, `ip` or `any`; addresses; ports; `->` or
//! `<>`), but
//! **a rule matches by the bytes of the payload alone**, whatever its header says. The options are
//!
//! | option | meaning |
//! |---|---|
//! | `content:"…"` | bytes that must occur in the payload; between bars in hexadecimal (`\|0d 0a\|`), `" \ ; : \|` after a backslash. One at least; of several, all must occur, in any order, and they may overlap |
//! | `nocase` | the content before it may have its ASCII letters in either case |
//! | `pcre:"/…/flags"` | a regular expression that must match somewhere in the payload; of several, all must; see [`Pattern`](super::pattern::Pattern) |
//! | `sid:n` | the number of the rule: required, and no other rule's |
//! | `rev:n`, `msg:"…"` | its revision and its title |
//! | `gid`, `classtype`, `metadata`, `priority`, `reference`, `target` | passed over |
//!
//! Everything else is an error, as what it says (`depth`, `flow`, a negated content) would change what a rule matches.
//! Because headers are not looked at, a rule may match here what it would not in an intrusion detector, never the other
//! way round.

mod cursor;
mod error;
mod header;
mod options;
mod rule;

use std::collections::HashMap;

pub use rule::{Content, Rule};

pub(super) use error::quoted;
pub use error::{Place, RuleError};

use cursor::{Cursor, Fault};

/// The rules of a file, in its order; one at least.
#[derive(Clone, Debug)]
pub struct Rules {
    file: String,
    rules: Vec<Rule>,
}

impl Rules {
    /// Reads `text`, which comes from the file called `file`. O(length) and, for regular expressions, what [`Pattern`](super::pattern::Pattern)
    /// says.
    ///
    /// # Errors
    ///
    /// At the first thing that is no rule as above; if a `sid` comes twice; if there is no rule.
    pub fn parse(file: &str, text: &[u8]) -> Result<Self, RuleError> {
        let text = str::from_utf8(text).map_err(|error| {
            let (good, bad) = text.split_at(error.valid_up_to());
            let good = String::from_utf8_lossy(good);
            let found = bad.first().map_or(0, |byte| *byte);
            Place::of(&good, good.len()).error(file, format!("expected UTF-8 text, got byte 0x{found:02x}"))
        })?;
        // Editors put it there, and it is none of the first rule's business.
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let rules = read(text).map_err(|(at, problem)| Place::of(text, at).error(file, problem))?;
        Ok(Self { file: file.into(), rules })
    }

    /// The rules, in the order of the file.
    pub fn rules(&self) -> &[Rule] {
        &self.rules
    }

    /// Name of the file.
    pub fn file(&self) -> &str {
        &self.file
    }
}

/// Reads a file.
fn read(text: &str) -> Result<Vec<Rule>, Fault> {
    let mut cursor = Cursor::new(text);
    let (mut rules, mut lines) = (Vec::new(), HashMap::new());
    while !cursor.is_done() {
        cursor.spaces();
        if !cursor.line().is_empty() && !cursor.line().starts_with('#') {
            let line = cursor.place().line;
            header::header(&mut cursor)?;
            let (rule, at) = options::options(&mut cursor, line)?;
            if let Some(line) = lines.insert(rule.sid, rule.line) {
                return Err((
                    at,
                    format!("expected a sid of its own, got {}, which line {line} has", rule.sid),
                ));
            }
            rules.push(rule);
            cursor.spaces();
            if !cursor.line().is_empty() {
                return Err(cursor.expected("the end of the line"));
            }
        }
        cursor.next_line();
    }
    if rules.is_empty() {
        return Err((0, "expected a rule, got none".into()));
    }
    Ok(rules)
}
