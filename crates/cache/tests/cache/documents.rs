//! What the documents say of the policies is what there is.

use std::fs;
use std::path::Path;

use trueplane_cache::policy::PolicyName;

fn read(path: &str) -> String {
    fs::read_to_string(Path::new("../..").join(path)).expect("the document is there")
}

/// The names in the first column of the table that has this head.
fn named<'a>(page: &'a str, head: &str) -> Vec<&'a str> {
    let table = page.split_once(&format!("\n{head}")).expect("the table is there").1;
    let rows = table.lines().skip(2).take_while(|line| line.starts_with('|'));
    let cells = rows.filter_map(|row| row.split('|').nth(1));
    cells.flat_map(|cell| cell.split(", ").map(|name| name.trim().trim_matches('`'))).collect()
}

#[test]
fn the_tables_name_every_policy() {
    let page = read("docs/findings/cache.md");
    let names: Vec<&str> = PolicyName::ALL.iter().map(|policy| policy.name()).collect();
    for head in ["| name | source | departure |", "| above the optimum, at most | OLTP, "] {
        assert_eq!(named(&page, head), names, "{head}");
    }
}

#[test]
fn the_documents_count_the_policies() {
    let online = PolicyName::ALL.iter().filter(|policy| !policy.properties().offline).count();
    // The page says the number in a word.
    assert_eq!(online, 12);
    assert!(read("docs/findings/cache.md").contains("prints all twelve"));
    let all = format!("{} policies under the classical and the delayed-hits model", PolicyName::ALL.len());
    assert!(read("docs/README.md").contains(&all), "{all}");
}
