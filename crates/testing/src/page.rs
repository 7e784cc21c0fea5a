//! The tables of a page of `docs/concepts` that tests recompute.

use std::path::Path;

/// The cells of the table of `docs/concepts/PAGE.md` that follows the comment `<!-- test: CLAIM -->`, without its heading.
pub fn rows(page: &str, claim: &str) -> Vec<Vec<String>> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../docs/concepts/{page}.md"));
    let text = std::fs::read_to_string(path).expect("the page is there");
    let claim = format!("<!-- test: {claim} -->\n");
    let (_, table) = text.split_once(&claim).expect("the page claims it");
    let lines = table.lines().take_while(|line| line.starts_with('|')).skip(2);
    let cells =
        |line: &str| line.split('|').map(|cell| cell.trim().trim_matches(['`', '*']).to_owned()).collect();
    // Without what is before the first bar and after the last.
    lines.map(cells).map(|cells: Vec<_>| cells[1..cells.len() - 1].to_vec()).collect()
}
