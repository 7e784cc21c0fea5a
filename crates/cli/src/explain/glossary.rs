//! The glossary: `docs/glossary.md`, read as terms and their meanings.

/// The page, whose headings of the second level are the terms.
const PAGE: &str = include_str!("glossary.md");

/// A term and what it means.
pub(super) struct Entry {
    /// The term as it is written.
    pub(super) term: &'static str,
    /// The paragraphs, each in one line, with an empty line between them.
    pub(super) text: String,
}

/// All terms, in the order of the page.
pub(super) fn entries() -> Vec<Entry> {
    let sections = PAGE.split("\n## ").skip(1);
    sections
        .map(|section| {
            let (term, text) = section.split_once('\n').unwrap_or((section, ""));
            let paragraphs = text.trim().split("\n\n").map(|paragraph| paragraph.replace('\n', " "));
            Entry { term: term.trim(), text: paragraphs.collect::<Vec<_>>().join("\n\n") }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terms_are_sorted_and_each_has_a_text() {
        let entries = entries();
        assert!(entries.len() >= 40, "{}", entries.len());
        for Entry { term, text } in &entries {
            assert!(text.len() > 40 && text.ends_with(['.', ')']), "{term}: {text}");
        }
        let letters = |term: &str| super::super::plain(term);
        for pair in entries.windows(2) {
            assert!(
                letters(pair[0].term) < letters(pair[1].term),
                "{} before {}",
                pair[0].term,
                pair[1].term
            );
        }
    }
}
