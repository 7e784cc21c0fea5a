//! Slurm's accounting, as `sacct --parsable2` prints it.
//!
//! A job is a task; its steps are left out. It needs what was allocated (`AllocTRES`), or what it asked for (`ReqTRES`) if nothing was. A job that
//! has not ended runs until the last time that the log has.
//!
//! Source: the manual page of sacct, sections "Job accounting fields" and `--parsable2`; times are local, as Slurm prints them.

use trueplane_study::Error;
use trueplane_trace::{Rows, TimeUnit, TraceError};
use trueplane_units::Nanos;

use super::Partial;
use super::builder::{Builder, MOST_AMOUNT, MOST_TIME};
use super::{JobLog, LogOptions, Task, decimal};
use crate::workload::csv::{place_of, user_of};
use crate::workload::reading::{NEED_NOTHING, NEVER_RAN, Progress, chosen, too_many};

const STEPS: &str = "steps of jobs";
const BACKWARDS: &str = "tasks whose times run backwards";

/// Resources that can be read; those before the last by default. Memory is in GiB.
const RESOURCES: [&str; 4] = ["cpu", "memory", "gpu", "node"];

/// The number of the GPUs.
const GPU: usize = 2;

/// Names of the resources in a list of TRES.
const NAMES: [&str; 4] = ["cpu", "mem", "gres/gpu", "node"];

/// Whether the header, the current row, is one of sacct.
pub(super) fn is_header(rows: &Rows) -> bool {
    let has = |name: &str| place_of(rows, name).is_ok();
    // Other programs hardly separate by bars.
    rows.has_bars() || (has("JobID") && has("Submit") && (has("AllocTRES") || has("ReqTRES")))
}

/// Columns of the file by their meaning.
struct Columns {
    job: usize,
    user: usize,
    submit: usize,
    start: usize,
    end: usize,
    /// Column of what was allocated, if there is one.
    allocated: Option<usize>,
    /// What a job needs: the first that says something.
    needs: Vec<usize>,
}

/// Reads the log of `rows`, whose header is the current one.
///
/// # Errors
///
/// A row or the header is wrong, or the observer interrupts.
pub(super) fn read(
    name: String,
    mut rows: Rows,
    options: &LogOptions,
    progress: &mut Progress<'_>,
) -> Result<JobLog, Error> {
    let numbers = chosen(&RESOURCES, 3, options).map_err(|problem| rows.error_whole(problem))?;
    let needs: Vec<usize> =
        ["AllocTRES", "ReqTRES"].iter().filter_map(|name| place_of(&rows, name).ok()).collect();
    if needs.is_empty() {
        return Err(lacks(&rows, "AllocTRES").into());
    }
    let column = |name: &str| place_of(&rows, name).map_err(|_| lacks(&rows, name));
    let columns = Columns {
        job: column("JobID").or_else(|error| place_of(&rows, "JobIDRaw").map_err(|_| error))?,
        user: column(options.user.as_deref().unwrap_or("User"))?,
        submit: column("Submit")?,
        start: column("Start")?,
        end: column("End")?,
        allocated: place_of(&rows, "AllocTRES").ok(),
        needs,
    };
    rows.keep_width(" as in the header");
    let names = numbers.iter().map(|&number| RESOURCES[number].to_owned()).collect();
    let mut builder = Builder::new(name, names);
    if options.resources.is_none() {
        builder.drop_unused();
    }
    let mut amounts = vec![0; numbers.len()];
    let mut last = Nanos(0);
    while rows.advance()? {
        progress.row(|| rows.position())?;
        if rows.cell(columns.job).contains(&b'.') {
            builder.leave_out(STEPS);
            continue;
        }
        let submitted =
            time(&rows, columns.submit)?.ok_or_else(|| rows.expected("a submit time", columns.submit))?;
        let [start, end] = [time(&rows, columns.start)?, time(&rows, columns.end)?];
        last = [Some(submitted), start, end].into_iter().flatten().fold(last, Nanos::max);
        let Some(start) = start else {
            builder.leave_out(NEVER_RAN);
            continue;
        };
        // Older versions say so of jobs that were cancelled while they waited.
        let has_nothing = columns.allocated.is_some_and(|place| rows.cell(place).is_empty());
        if has_nothing && end == Some(start) {
            builder.leave_out(NEVER_RAN);
            continue;
        }
        if start < submitted || end.is_some_and(|end| end < start) {
            builder.leave_out(BACKWARDS);
            continue;
        }
        needed(&rows, &columns.needs, &numbers, &mut amounts)?;
        let Some(demand) = builder.demand(&amounts) else {
            builder.leave_out(NEED_NOTHING);
            continue;
        };
        let user = builder.user(user_of(&rows, columns.user)?);
        let duration = end.map_or(Nanos(0), |end| end.since(start));
        let task = Task { submitted, duration, user, demand };
        let index = builder.push_started(task, start, progress.rows()).ok_or_else(|| too_many(&rows))?;
        if end.is_none() {
            builder.outlasts(index, start);
            builder.cut(Partial::End);
        }
    }
    progress.to(rows.position())?;
    builder.finish(last)
}

/// That the header lacks a column.
fn lacks(rows: &Rows, name: &str) -> TraceError {
    let columns = "sacct -aXP -o JobID,User,Submit,Start,End,AllocTRES";
    rows.expected_in_row(&format!("a header with the column {}, as {columns} prints it", name.escape_debug()))
}

/// The time in a cell; none where sacct knows none.
fn time(rows: &Rows, place: usize) -> Result<Option<Nanos>, TraceError> {
    if matches!(rows.cell(place), b"" | b"Unknown" | b"None" | b"N/A") {
        return Ok(None);
    }
    let time = rows.time("a time such as 2026-01-31T12:00:00, Unknown or None", place, TimeUnit::Seconds)?;
    if time > MOST_TIME { Err(rows.expected("a time before 2116", place)) } else { Ok(Some(time)) }
}

/// Fills in what the job of the row needs, from the first of `places` that says something.
fn needed(rows: &Rows, places: &[usize], numbers: &[usize], amounts: &mut [u128]) -> Result<(), TraceError> {
    amounts.fill(0);
    // Some versions count GPUs by their types only.
    let (mut all, mut by_type) = (None, 0u128);
    let gpu = numbers.iter().position(|&number| number == GPU);
    let Some(&place) = places.iter().find(|&&place| !rows.cell(place).is_empty()) else { return Ok(()) };
    let wrong =
        || rows.expected("a list of TRES such as cpu=4,mem=16G,gres/gpu=1 without negative amounts", place);
    for part in rows.cell(place).split(|&byte| byte == b',') {
        let Some(at) = part.iter().position(|&byte| byte == b'=') else { return Err(wrong()) };
        let (name, amount) = (&part[..at], &part[at + 1..]);
        let found = numbers.iter().position(|&number| NAMES[number].as_bytes() == name);
        if let Some(found) = found {
            let is_memory = name == b"mem";
            let amount = if is_memory { memory(amount) } else { decimal::parse(amount, 9) };
            amounts[found] = amount.filter(|&amount| amount <= MOST_AMOUNT).ok_or_else(wrong)?;
            if Some(found) == gpu {
                all = gpu;
            }
        } else if gpu.is_some() && name.starts_with(b"gres/gpu:") {
            by_type =
                decimal::parse(amount, 9).and_then(|amount| by_type.checked_add(amount)).ok_or_else(wrong)?;
        }
    }
    if let (Some(gpu), None) = (gpu, all) {
        amounts[gpu] = Some(by_type).filter(|&amount| amount <= MOST_AMOUNT).ok_or_else(wrong)?;
    }
    Ok(())
}

/// An amount of memory in billionths of a GiB: a number of MiB, or with a suffix.
fn memory(text: &[u8]) -> Option<u128> {
    let (number, suffix) = match text.split_last()? {
        (b'K' | b'M' | b'G' | b'T' | b'P', number) => (number, text[text.len() - 1]),
        _ => (text, b'M'),
    };
    let billionths = decimal::parse(number, 9)?;
    match suffix {
        b'K' => Some(billionths >> 20),
        b'M' => Some(billionths >> 10),
        b'G' => Some(billionths),
        b'T' => billionths.checked_mul(1 << 10),
        _ => billionths.checked_mul(1 << 20),
    }
}
