//! PCRE2, compiled to machine code where it can be.

use std::fmt::Write;

use pcre2::bytes::{Regex, RegexBuilder};
use regex_syntax::hir::Look;

use super::Engine;
use crate::matching::pattern::{ByteSet, Node, Pattern};

/// PCRE2 does not read limits that have as many bits as its own integers.
const HIGHEST: u32 = 4_000_000_000;

/// The engine of Snort and Suricata: backtracking, with short cuts.
///
/// It gets the pattern as [`Node`]s written anew, so that `^`, `$` and flags mean the same to all engines. Its limit
/// counts what PCRE2 counts, which are fewer and larger steps than those of [`Backtracking`](super::Backtracking), and
/// others when it is compiled to machine code. Of its short cuts the one that matters most to an attacker is that it
/// looks first whether a byte is there that every match must have: `id=(a+)+;` blows up on `id=aaaaaaaaaaaa!;`, and not
/// without the semicolon. Beyond the limit, and if its memory does not suffice, it says that nothing matches.
#[derive(Clone, Debug)]
pub struct Pcre2(Regex);

impl Pcre2 {
    /// Start and end of the first match; `None` if there is none or the engine gave up.
    pub fn find(&self, payload: &[u8]) -> Option<(usize, usize)> {
        self.0.find(payload).ok()?.map(|found| (found.start(), found.end()))
    }
}

impl Engine for Pcre2 {
    type Scratch = ();

    fn compile(pattern: &Pattern, limit: u32) -> Result<Self, String> {
        let mut source = format!("(*LIMIT_MATCH={})", limit.min(HIGHEST));
        write(pattern.node(), &mut source);
        let regex = RegexBuilder::new().jit_if_available(true).build(&source);
        regex.map(Self).map_err(|error| error.to_string())
    }

    fn matches(&self, payload: &[u8], (): &mut ()) -> bool {
        self.0.is_match(payload).unwrap_or(false)
    }
}

/// Writes `node` in PCRE2's syntax, with every byte in hexadecimal.
fn write(node: &Node, source: &mut String) {
    match node {
        Node::Byte(set) => write_set(set, source),
        Node::Look(look) => source.push_str(match look {
            Look::Start => r"\A",
            Look::End => r"\z",
            // PCRE2's own `^` is not after a line feed that ends the payload.
            Look::StartLF => r"(?:\A|(?<=\n))",
            Look::EndLF => r"(?=\n|\z)",
            Look::WordAscii => r"\b",
            Look::WordAsciiNegate => r"\B",
            // A pattern has no others.
            _ => "(*FAIL)",
        }),
        Node::Concat(nodes) => nodes.iter().for_each(|node| write(node, source)),
        Node::Alternate(nodes) => {
            source.push_str("(?:");
            for (number, node) in nodes.iter().enumerate() {
                source.push_str(if number == 0 { "" } else { "|" });
                write(node, source);
            }
            source.push(')');
        }
        Node::Repeat { node, min, max, greedy } => {
            source.push_str("(?:");
            write(node, source);
            let max = max.map_or(String::new(), |max| max.to_string());
            // Writing to a string does not fail.
            let _ = write!(source, "){{{min},{max}}}{}", if *greedy { "" } else { "?" });
        }
    }
}

fn write_set(set: &ByteSet, source: &mut String) {
    if set.is_empty() {
        source.push_str("(*FAIL)");
        return;
    }
    source.push('[');
    for byte in set.bytes() {
        let _ = write!(source, "\\x{{{byte:02x}}}");
    }
    source.push(']');
}
