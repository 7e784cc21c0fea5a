//! `trueplane explain`: what a word means, out of the glossary and of what parameters say of the names that can be chosen.

mod glossary;
mod names;

use std::fmt::Write as _;

use crate::failure::Failure;
use crate::output::print;
use crate::terminal::folded;
use glossary::{Entry, entries};
use names::{Chosen, chosen};

/// Explain a word: a term, a policy, a system, a format.
///
/// Case, hyphens and spaces do not matter. Without a word, the command lists all terms. The page docs/glossary.md has the same text.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  trueplane explain delayed-hit\n  trueplane explain lru-mad\n  trueplane explain"
)]
pub(crate) struct Args {
    /// Word to explain, or several words of one term
    #[arg(value_name = "TERM", num_args = 0..)]
    term: Vec<String>,
}

impl Args {
    pub(crate) fn run(self) -> Result<(), Failure> {
        let term = self.term.join(" ");
        print(&folded(&if term.is_empty() { list() } else { explained(&term)? }))
    }
}

/// All terms, each with its first sentence.
fn list() -> String {
    let entries = entries();
    let width = entries.iter().map(|entry| entry.term.chars().count()).max().unwrap_or(0);
    let mut text = String::new();
    for Entry { term, text: meaning } in &entries {
        let first = meaning.split_inclusive(". ").next().unwrap_or_default().trim();
        // Writing to a `String` cannot fail.
        let _ = writeln!(text, "{term:width$}  {first}");
    }
    text + "\nMore on a term: trueplane explain TERM. Names of policies, systems and formats are explained, too.\n"
}

/// What is known of a term.
fn explained(term: &str) -> Result<String, Failure> {
    let wanted = plain(term);
    let mut parts: Vec<String> = Vec::new();
    parts.extend(
        entries()
            .iter()
            .filter(|entry| plain(entry.term) == wanted)
            .map(|Entry { term, text }| format!("{term}\n\n{text}\n")),
    );
    parts.extend(chosen().iter().filter(|chosen| plain(chosen.name) == wanted).map(Chosen::to_string));
    if parts.is_empty() {
        return Err(Failure::input(format!(
            "{term}: expected a term{} (trueplane explain lists all)",
            nearest(&wanted)
        )));
    }
    Ok(parts.join("\n"))
}

/// The words that were perhaps meant: `, such as SP-PIFO or PIFO`.
fn nearest(wanted: &str) -> String {
    let (entries, chosen) = (entries(), chosen());
    let known = entries.iter().map(|entry| entry.term).chain(chosen.iter().map(|chosen| chosen.name));
    let near = known.map(|term| (distance(wanted, &plain(term)), term));
    // Another letter makes another word of three.
    let most = MOST_EDITS.min(wanted.chars().count() / 3);
    let mut near: Vec<(usize, &str)> = near.filter(|(distance, _)| *distance <= most).collect();
    near.sort_unstable();
    let mut terms: Vec<&str> = near.into_iter().map(|(_, term)| term).collect();
    terms.dedup_by_key(|term| plain(term));
    terms.truncate(MOST_TERMS);
    match terms.as_slice() {
        [] => String::new(),
        terms => format!(", such as {}", terms.join(" or ")),
    }
}

/// Letters by which a mistyped word may differ.
const MOST_EDITS: usize = 2;
/// Words that an error proposes.
const MOST_TERMS: usize = 3;

/// A term as it is compared: its letters and digits alone.
fn plain(term: &str) -> String {
    let folded = term.to_lowercase().replace('é', "e").replace('á', "a");
    folded.chars().filter(|c| c.is_alphanumeric()).collect()
}

/// Letters that have to be changed, added or taken away to make one word of the other. A word that begins with the other is near.
fn distance(one: &str, other: &str) -> usize {
    if one.chars().count() >= 3 && other != one && other.starts_with(one) {
        return 1;
    }
    let other: Vec<char> = other.chars().collect();
    let mut costs: Vec<usize> = (0..=other.len()).collect();
    for (row, letter) in (1..).zip(one.chars()) {
        let mut diagonal = std::mem::replace(&mut costs[0], row);
        for (column, &counterpart) in (1..).zip(&other) {
            let changed = diagonal + usize::from(letter != counterpart);
            diagonal = costs[column];
            costs[column] = changed.min(diagonal + 1).min(costs[column - 1] + 1);
        }
    }
    costs[other.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn case_hyphens_and_accents_do_not_matter() {
        for term in ["delayed hit", "Delayed-Hit", "DELAYEDHIT"] {
            assert!(explained(term).unwrap().starts_with("delayed hit\n\nA request for an object"), "{term}");
        }
        assert_eq!(explained("belady").unwrap().lines().next(), Some("Bélády"));
        assert!(explained("rmax").unwrap().starts_with("r_max"));
    }

    #[test]
    fn names_that_can_be_chosen_are_explained_with_their_commands() {
        let text = explained("lru-mad").unwrap();
        assert!(text.contains("trueplane cache compare --policies"), "{text}");
        for chosen in chosen() {
            let text = explained(chosen.name).unwrap();
            assert!(text.contains(&chosen.about), "{}: {text}", chosen.name);
        }
    }

    #[test]
    fn a_mistyped_term_is_found() {
        let refusal = explained("delayed hitt").unwrap_err().to_string();
        assert_eq!(
            refusal,
            "delayed hitt: expected a term, such as delayed hit (trueplane explain lists all)"
        );
        assert_eq!(
            explained("displacement").unwrap_err().to_string().matches("displacement factor").count(),
            1
        );
        assert!(!explained("xyzzyxyzzy").unwrap_err().to_string().contains("such as"));
    }

    #[test]
    fn distances_are_numbers_of_edits() {
        for (one, other, edits) in
            [("pifo", "pifo", 0), ("pifo", "fifo", 1), ("mad", "madly", 1), ("ab", "ba", 2), ("", "abc", 3)]
        {
            assert_eq!(distance(one, other), edits, "{one} {other}");
        }
    }
}
