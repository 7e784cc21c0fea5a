//! The tables of the pages of a subsystem that tests recompute.

use std::path::Path;

/// The cells of the table of `docs/concepts/PAGE.md` or `docs/findings/PAGE.md` that follows the comment `<!-- test: CLAIM -->`, without its heading.
pub fn rows(page: &str, claim: &str) -> Vec<Vec<String>> {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
    let read = |folder| std::fs::read_to_string(docs.join(format!("{folder}/{page}.md"))).unwrap_or_default();
    let text = read("concepts") + &read("findings");
    let claim = format!("<!-- test: {claim} -->\n");
    let (_, table) = text.split_once(&claim).expect("a page claims it");
    let lines = table.lines().take_while(|line| line.starts_with('|')).skip(2);
    let cells =
        |line: &str| line.split('|').map(|cell| cell.trim().trim_matches(['`', '*']).to_owned()).collect();
    // Without what is before the first bar and after the last.
    lines.map(cells).map(|cells: Vec<_>| cells[1..cells.len() - 1].to_vec()).collect()
}
