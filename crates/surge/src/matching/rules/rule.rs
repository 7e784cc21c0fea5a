//! One rule.

use super::super::pattern::Pattern;

/// Bytes that must occur in the payload.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Content {
    /// The bytes; one at least.
    pub bytes: Vec<u8>,
    /// True if ASCII letters may be in either case.
    pub nocase: bool,
}

/// A rule.
#[derive(Clone, Debug, Default)]
pub struct Rule {
    /// Its number, which no other rule has; above zero.
    pub sid: u32,
    /// Its revision; 0 if it does not say.
    pub rev: u32,
    /// Its title; empty if it has none.
    pub msg: String,
    /// Strings that must occur in the payload; one at least.
    pub contents: Vec<Content>,
    /// Expressions that must match somewhere in the payload, in the order in which they are tried.
    pub patterns: Vec<Pattern>,
    /// The line in which it begins, from 1.
    pub line: usize,
}
