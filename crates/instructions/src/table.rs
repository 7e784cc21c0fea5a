//! The committed table.

use std::fs;
use std::path::Path;
use std::process::Command;

/// Instructions of one hot path.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    pub(crate) name: &'static str,
    /// Description of one operation.
    pub(crate) operation: &'static str,
    /// Instructions of an operation, on average.
    pub(crate) instructions: f64,
}

/// Path of the table from the root of the repository.
const PATH: &str = "docs/instructions.md";
/// Largest relative change that is no change: hash tables and allocators vary a little.
const TOLERANCE: f64 = 0.02;

/// The table as text.
fn text(compiler: &str, rows: &[Row]) -> String {
    let mut text = format!(
        "# Instruction counts\n\n\
        `make instructions` writes this page. It counts the instructions of eight hot paths with callgrind, so that a slowdown shows as a \
        diff on any machine. One operation is one packet, request or task, without the set-up. \
        The counts hold for {compiler} with `--profile bench` on x86-64. \
        They are no times: an instruction that waits for memory counts as much as one that does not.\n\n\
        | path | one operation | instructions |\n|---|---|---:|\n"
    );
    for Row { name, operation, instructions } in rows {
        text.push_str(&format!("| {name} | {operation} | {instructions:.1} |\n"));
    }
    text
}

/// Writes the table.
pub(crate) fn write(root: &Path, rows: &[Row]) -> Result<(), String> {
    let text = text(&compiler()?, rows);
    print!("{text}");
    fs::write(root.join(PATH), text).map_err(|error| format!("{PATH}: {error}"))
}

/// Compares with the committed table.
///
/// # Errors
/// If a path takes another number of instructions, or the table lacks it.
pub(crate) fn check(root: &Path, rows: &[Row]) -> Result<(), String> {
    let committed = fs::read_to_string(root.join(PATH)).map_err(|error| format!("{PATH}: {error}"))?;
    let compiler = compiler()?;
    if !committed.contains(&format!(" {compiler} ")) || !cfg!(target_arch = "x86_64") {
        println!(
            "skipped: {PATH} is from another compiler or machine than {compiler} on {}",
            std::env::consts::ARCH
        );
        return Ok(());
    }
    let differences: Vec<String> = rows.iter().filter_map(|row| difference(&committed, row)).collect();
    if differences.is_empty() {
        println!("{} paths take as many instructions as {PATH} says", rows.len());
        return Ok(());
    }
    Err(format!("{}; if that is meant, run `make instructions` and commit {PATH}", differences.join("; ")))
}

/// Difference between the committed table and a count; `None` if there is none.
fn difference(committed: &str, row: &Row) -> Option<String> {
    let begin = format!("| {} |", row.name);
    let cells =
        committed.lines().find(|line| line.starts_with(&begin)).map(|line| line.split('|').map(str::trim));
    let Some(before) = cells.and_then(|mut cells| cells.nth(3)?.parse::<f64>().ok()) else {
        return Some(format!("{PATH} has no count for {}", row.name));
    };
    let now = row.instructions;
    let is_same = (now - before).abs() <= TOLERANCE * before;
    (!is_same).then(|| format!("{} takes {now:.1} instructions, {PATH} says {before:.1}", row.name))
}

/// The compiler, such as `rustc 1.95.0`.
fn compiler() -> Result<String, String> {
    let output =
        Command::new("rustc").arg("--version").output().map_err(|error| format!("rustc: {error}"))?;
    let text = String::from_utf8_lossy(&output.stdout);
    let mut words = text.split_whitespace();
    match (words.next(), words.next()) {
        (Some(name), Some(version)) => Ok(format!("{name} {version}")),
        _ => Err("rustc does not tell its version".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(instructions: f64) -> Row {
        Row { name: "limit", operation: "a packet", instructions }
    }

    #[test]
    fn a_path_that_takes_longer_is_found() {
        let committed = text("rustc 1.0.0", &[row(50.0)]);
        assert_eq!(difference(&committed, &row(50.9)), None);
        assert_eq!(
            difference(&committed, &row(51.1)).as_deref(),
            Some("limit takes 51.1 instructions, docs/instructions.md says 50.0")
        );
        assert!(
            difference(&committed, &row(48.0)).is_some(),
            "a table that is out of date hides the next slowdown"
        );
    }

    #[test]
    fn a_path_that_the_table_lacks_is_found() {
        let other = Row { name: "lim", ..row(50.0) };
        let committed = text("rustc 1.0.0", &[row(50.0)]);
        assert_eq!(
            difference(&committed, &other).as_deref(),
            Some("docs/instructions.md has no count for lim")
        );
    }
}
