//! Counts the instructions of the eight hot paths, and keeps the table `docs/instructions.md`.
//!
//! A clock tells different times on different machines, and on a busy one. A count of instructions is the same everywhere for the same
//! compiler, so that the table can be committed and a slowdown shows as a diff. Valgrind's callgrind runs this program once for every path
//! and counts what runs below [`counted::hot_path`]: the set-up is not counted.
//!
//! `make instructions` writes the table. `make instructions-check` counts again and fails where a path takes more than 2% more or fewer
//! instructions than the table says, if the table is from the same compiler.
#![forbid(unsafe_code)]

mod counted;
mod packets;
mod paths;
mod table;

use std::path::Path;
use std::process::{Command, ExitCode};

use crate::paths::{PATHS, PathOfCode};
use crate::table::Row;

const USAGE: &str = "usage: trueplane-instructions [--check]";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let work = match arguments[..] {
        [] => table::write,
        ["--check"] => table::check,
        ["run", name] if PATHS.iter().any(|path| path.name == name) => {
            PATHS.iter().filter(|path| path.name == name).for_each(|path| (path.run)(path.operations));
            return ExitCode::SUCCESS;
        }
        _ => {
            eprintln!("{USAGE}");
            return ExitCode::from(2);
        }
    };
    let rows: Result<Vec<Row>, String> = PATHS.iter().map(count).collect();
    let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
    match rows.and_then(|rows| work(root, &rows)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("instructions: {message}");
            ExitCode::FAILURE
        }
    }
}

/// Runs a path under callgrind.
fn count(path: &PathOfCode) -> Result<Row, String> {
    let failed = |error: std::io::Error| format!("cannot count {}: {error}", path.name);
    let folder = tempfile::tempdir().map_err(failed)?;
    let counts = folder.path().join("counts");
    let mut command = Command::new("valgrind");
    command.args(["--quiet", "--tool=callgrind", "--toggle-collect=*hot_path*"]);
    command.arg(format!("--callgrind-out-file={}", counts.display()));
    command.arg(std::env::current_exe().map_err(failed)?).args(["run", path.name]);
    let status = command.status().map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => "valgrind is missing; run scripts/setup long".to_owned(),
        _ => failed(error),
    })?;
    if !status.success() {
        return Err(format!("{} ended with {status} under valgrind", path.name));
    }
    let text = std::fs::read_to_string(counts).map_err(failed)?;
    let total = text.lines().find_map(|line| line.strip_prefix("summary: ")?.trim().parse::<u64>().ok());
    let total = total.filter(|&total| total > 0);
    let total = total.ok_or_else(|| format!("callgrind counted nothing for {}", path.name))?;
    Ok(Row {
        name: path.name,
        operation: path.operation,
        instructions: total as f64 / path.operations as f64,
    })
}
