//! Which rules a payload may match: those whose contents all occur in it.

use std::collections::HashMap;

use aho_corasick::{AhoCorasick, MatchKind};

use crate::matching::rules::Content;
use crate::matching::rules::Rules;

/// Finds all contents of all rules in one pass (the multi-string matcher of §3.5.1).
///
/// Time: O(bytes + occurrences of contents + rules that have one of them), whatever the number of rules. Two automata
/// at most: one for the contents with `nocase`, one for the others.
#[derive(Debug)]
pub struct Prefilter {
    automata: Vec<Automaton>,
    /// The rules with each content, and where those of the first content begin, of the second, …
    rules: Vec<u32>,
    begins: Vec<usize>,
    /// Number of different contents that each rule needs.
    needs: Vec<u32>,
}

/// An automaton for contents whose numbers begin with `first`.
#[derive(Debug)]
struct Automaton {
    strings: AhoCorasick,
    first: usize,
}

/// Memory that a search needs and leaves for the next; its contents mean nothing.
#[derive(Clone, Debug, Default)]
pub struct Seen {
    /// The search in which a content was last seen, and how many contents of a rule were, in which search.
    contents: Vec<u64>,
    rules: Vec<(u64, u32)>,
    search: u64,
}

impl Prefilter {
    /// A prefilter for `rules`.
    ///
    /// # Errors
    ///
    /// If the contents are too many and too long for an automaton, with the reason.
    pub fn new(rules: &Rules) -> Result<Self, String> {
        // Contents with `nocase` that differ by case alone are the same.
        let name = |content: &Content| Content {
            bytes: if content.nocase { content.bytes.to_ascii_lowercase() } else { content.bytes.clone() },
            nocase: content.nocase,
        };
        let mut contents: HashMap<Content, Vec<u32>> = HashMap::new();
        let mut needs = Vec::with_capacity(rules.rules().len());
        for (rule, number) in rules.rules().iter().zip(0..) {
            let mut needed = 0;
            for content in &rule.contents {
                let with = contents.entry(name(content)).or_default();
                // The same content twice is no more than once.
                if with.last() != Some(&number) {
                    with.push(number);
                    needed += 1;
                }
            }
            needs.push(needed);
        }
        let mut contents: Vec<_> = contents.into_iter().collect();
        contents.sort_unstable_by(|(a, _), (b, _)| (a.nocase, &a.bytes).cmp(&(b.nocase, &b.bytes)));
        let exact = contents.partition_point(|(content, _)| !content.nocase);
        let mut automata = Vec::new();
        for (first, end) in [(0, exact), (exact, contents.len())] {
            if first < end {
                let strings = AhoCorasick::builder()
                    .match_kind(MatchKind::Standard)
                    .ascii_case_insensitive(first == exact)
                    .build(contents[first..end].iter().map(|(content, _)| &content.bytes))
                    .map_err(|error| error.to_string())?;
                automata.push(Automaton { strings, first });
            }
        }
        let mut begins = vec![0];
        let mut with = Vec::new();
        for (_, rules) in &contents {
            with.extend_from_slice(rules);
            begins.push(with.len());
        }
        Ok(Self { automata, rules: with, begins, needs })
    }

    /// Puts the candidates for `payload`, by their numbers in the file from 0 and in that order, in place of what
    /// `candidates` holds.
    pub fn candidates(&self, payload: &[u8], seen: &mut Seen, candidates: &mut Vec<u32>) {
        candidates.clear();
        seen.contents.resize(self.begins.len() - 1, 0);
        seen.rules.resize(self.needs.len(), (0, 0));
        seen.search += 1;
        for Automaton { strings, first } in &self.automata {
            for found in strings.find_overlapping_iter(payload) {
                let content = first + found.pattern().as_usize();
                if std::mem::replace(&mut seen.contents[content], seen.search) == seen.search {
                    continue;
                }
                for rule in &self.rules[self.begins[content]..self.begins[content + 1]] {
                    let (search, count) = &mut seen.rules[*rule as usize];
                    if std::mem::replace(search, seen.search) != seen.search {
                        *count = 0;
                    }
                    *count += 1;
                    if *count == self.needs[*rule as usize] {
                        candidates.push(*rule);
                    }
                }
            }
        }
        candidates.sort_unstable();
    }
}
