//! Google's `task_events` of 2011 (clusterdata-2011-2): what happened to every task of a cluster in a month.
//!
//! Rows have no header and thirteen cells: time in µs, what is missing, job, index of the task within the job, machine, event, user,
//! class, priority, requests for CPU, memory and disk (as shares of the largest machine), and a constraint. They are in the order of
//! time; those of a whole trace lie in 500 parts.
//!
//! 1. `event`: one row.
//! 2. `runs`: what events make of a task.
//! 3. Here: parts, in their order, and those that are missing.

mod event;
mod runs;

use std::path::{Path, PathBuf};

use trueplane_study::{Error, Observer};
use trueplane_trace::{Rows, TraceError, name_of};

use self::event::Event;
use self::runs::Runs;
use super::builder::whole;
use super::{JobLog, LogOptions};
use crate::workload::reading::{Progress, chosen};
use event::RESOURCES;

pub(super) use self::event::is_event;

/// One file of a directory.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Part {
    number: u64,
    of: u64,
    path: PathBuf,
    bytes: u64,
}

/// Reads one file of events, the first of which is the current row.
///
/// # Errors
///
/// A row is wrong, or the observer interrupts.
pub(super) fn read_file(
    name: String,
    mut rows: Rows,
    options: &LogOptions,
    progress: &mut Progress<'_>,
) -> Result<JobLog, Error> {
    let resources = chosen(&RESOURCES, 2, options).map_err(|problem| rows.error_whole(problem))?;
    let mut runs = Runs::new(name, resources);
    read_rows(&mut rows, &mut runs, progress)?;
    runs.finish()
}

/// Reads the parts that lie in the directory at `path`: files called `part-00003-of-00500.csv`, compressed or not. Other files are none.
///
/// # Errors
///
/// There are no parts, or of more than one whole, or one twice; one of them is wrong, or the observer interrupts.
pub(super) fn read_directory(
    path: &Path,
    options: &LogOptions,
    observer: &dyn Observer,
) -> Result<JobLog, Error> {
    let name = name_of(path);
    let wrong = |problem: String| whole(name.clone(), problem);
    let resources = chosen(&RESOURCES, 2, options).map_err(&wrong)?;
    let parts = parts(path).map_err(|source| TraceError::Io { trace: name.clone(), source })?;
    check(&parts).map_err(&wrong)?;
    let mut progress = Progress::new(observer, parts.iter().map(|part| part.bytes).sum());
    let mut runs = Runs::new(name.clone(), resources);
    let mut expected = 0;
    for part in &parts {
        // Without the last parts, the log is but shorter; without the first, nothing was running.
        if part.number > expected && expected > 0 {
            runs.gap();
        }
        expected = part.number + 1;
        let mut rows = Rows::open(&part.path)?;
        progress.next_file();
        if rows.cells() > 0 {
            read_rows(&mut rows, &mut runs, &mut progress)?;
        }
    }
    let (missing, shown) = missing(&parts);
    if missing > 0 {
        let of = parts.first().map_or(0, |part| part.of);
        runs.leave_out(&format!("parts that are missing: {shown} (of {of})"), missing);
    }
    runs.finish()
}

fn read_rows(rows: &mut Rows, runs: &mut Runs, progress: &mut Progress<'_>) -> Result<(), Error> {
    event::check_width(rows)?;
    rows.keep_width("");
    loop {
        let event = Event::of(rows)?;
        if event.time < runs.now() {
            let what = format!("a time of {} or later (times must not go back)", runs.now().0 / 1_000);
            return Err(rows.expected(&what, 0).into());
        }
        runs.take(event, rows)?;
        progress.row(|| rows.position())?;
        if !rows.advance()? {
            return progress.to(rows.position());
        }
    }
}

/// The parts in the directory at `path`, in their order.
fn parts(path: &Path) -> std::io::Result<Vec<Part>> {
    let mut parts = Vec::new();
    for entry in path.read_dir()? {
        let path = entry?.path();
        if let Some((number, of)) = path.file_name().and_then(|name| numbers(name.to_str()?)) {
            parts.push(Part { number, of, bytes: path.metadata()?.len(), path });
        }
    }
    parts.sort();
    Ok(parts)
}

/// 3 and 500 for `part-00003-of-00500.csv.gz`.
fn numbers(name: &str) -> Option<(u64, u64)> {
    let (number, rest) = name.strip_prefix("part-")?.split_once("-of-")?;
    let (of, kind) = rest.split_once('.')?;
    let is_number =
        |text: &str| (1..=9).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
    let is_csv = kind == "csv" || kind.starts_with("csv.");
    if is_csv && is_number(number) && is_number(of) {
        Some((number.parse().ok()?, of.parse().ok()?))
    } else {
        None
    }
}

/// Whether these are parts of one whole, each once.
fn check(parts: &[Part]) -> Result<(), String> {
    let Some(first) = parts.first() else {
        return Err("expected files such as part-00000-of-00500.csv.gz, found none".to_owned());
    };
    let file =
        |part: &Part| name_of(part.path.file_name().map_or(&part.path, Path::new)).escape_debug().to_string();
    if let Some(other) = parts.iter().find(|part| part.of != first.of) {
        return Err(format!("expected parts of one whole, found {} and {}", file(first), file(other)));
    }
    if let Some(beyond) = parts.iter().find(|part| part.number >= part.of) {
        return Err(format!("expected parts below {}, found {}", beyond.of, file(beyond)));
    }
    match parts.windows(2).find(|pair| pair[0].number == pair[1].number) {
        Some(pair) => {
            Err(format!("expected every part once, found {} and {}", file(&pair[0]), file(&pair[1])))
        }
        None => Ok(()),
    }
}

/// Number of missing parts, and a list of them: `1-3, 7`.
fn missing(parts: &[Part]) -> (u64, String) {
    const SHOWN: usize = 8;
    let of = parts.first().map_or(0, |part| part.of);
    let (mut count, mut shown, mut expected) = (0, Vec::new(), 0);
    for number in parts.iter().map(|part| part.number).chain([of]) {
        if number > expected {
            count += number - expected;
            let last = number - 1;
            shown.push(if last > expected { format!("{expected}-{last}") } else { last.to_string() });
        }
        expected = number + 1;
    }
    let more = shown.len() > SHOWN;
    shown.truncate(SHOWN);
    if more {
        shown.push("…".to_owned());
    }
    (count, shown.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(number: u64, of: u64) -> Part {
        Part { number, of, path: format!("x/part-{number}-of-{of}.csv").into(), bytes: 1 }
    }

    #[test]
    fn parts_are_told_by_their_names() {
        assert_eq!(numbers("part-00003-of-00500.csv.gz"), Some((3, 500)));
        assert_eq!(numbers("part-0-of-1.csv"), Some((0, 1)));
        for name in [
            "part-3.csv",
            "part-3-of-5",
            "part-3-of-5.txt",
            "part--of-5.csv",
            "part-+3-of-5.csv",
            "a-part-3-of-5.csv",
        ] {
            assert_eq!(numbers(name), None, "{name}");
        }
    }

    #[test]
    fn missing_parts_are_named() {
        let found = |numbers: &[u64], of| {
            missing(&numbers.iter().map(|&number| part(number, of)).collect::<Vec<_>>())
        };
        assert_eq!(found(&[0, 1, 2], 3), (0, String::new()));
        assert_eq!(found(&[2, 3, 5], 9), (6, "0-1, 4, 6-8".to_owned()));
        let odd: Vec<u64> = (0..20).map(|number| 2 * number).collect();
        assert_eq!(found(&odd, 40), (20, "1, 3, 5, 7, 9, 11, 13, 15, …".to_owned()));
    }

    #[test]
    fn parts_are_of_one_whole() {
        assert!(check(&[part(0, 2), part(1, 2)]).is_ok());
        let said = |parts: &[Part]| check(parts).unwrap_err();
        assert!(said(&[]).contains("found none"));
        assert_eq!(
            said(&[part(0, 2), part(1, 3)]),
            "expected parts of one whole, found part-0-of-2.csv and part-1-of-3.csv"
        );
        assert_eq!(said(&[part(2, 2)]), "expected parts below 2, found part-2-of-2.csv");
        assert!(said(&[part(0, 2), part(0, 2)]).contains("every part once"));
    }
}
