//! The Standard Workload Format of the Parallel Workloads Archive.
//!
//! Lines that begin with a semicolon are comments; every other one is a job of eighteen numbers, of which −1 is not known. A job needs the
//! processors that it got, or those that it asked for if the log does not say.
//!
//! Source: Feitelson, *The Standard Workload Format*, version 2.2.

use trueplane_study::Error;
use trueplane_trace::{Rows, TraceError};
use trueplane_units::Nanos;

use super::builder::{Builder, MOST_AMOUNT, MOST_TIME};
use super::{BILLION, JobLog, LogOptions, Task, decimal};
use crate::workload::csv::user_of;
use crate::workload::reading::{NEED_NOTHING, NEVER_RAN, Progress, chosen, too_many};

/// Fields of a job.
const FIELDS: usize = 18;
const SUBMIT: usize = 1;
const WAIT: usize = 2;
const RUN: usize = 3;
const PROCESSORS: usize = 4;
/// Memory used by each processor, in KB.
const MEMORY: usize = 6;
const ASKED_PROCESSORS: usize = 7;
/// Memory asked for each processor, in KB.
const ASKED_MEMORY: usize = 9;

/// How the job ended. Of a job that was stopped and went on, 1 or 0 is said of the whole, and 2 to 4 of its parts.
const STATUS: usize = 10;

const PARTS: &str = "parts of jobs, which another line has as a whole";

/// Fields that can say whose a job is.
const OWNERS: [(&str, usize); 4] = [("user", 11), ("group", 12), ("queue", 14), ("partition", 15)];

/// Resources that can be read; only the first by default, as few logs have the second, which is in GiB.
const RESOURCES: [&str; 2] = ["cpu", "memory"];

const UNKNOWN: &[u8] = b"-1";

/// Whether the first row is a job, as there is no header.
pub(super) fn is_job(rows: &Rows) -> bool {
    let is_number = |place| rows.cell(place) == UNKNOWN || decimal::parse(rows.cell(place), 0).is_some();
    rows.cells() == FIELDS && (0..FIELDS).all(is_number)
}

/// Reads the log of `rows`, whose current row is the first job.
///
/// # Errors
///
/// A row is wrong, or the observer interrupts.
pub(super) fn read(
    name: String,
    mut rows: Rows,
    options: &LogOptions,
    progress: &mut Progress<'_>,
) -> Result<JobLog, Error> {
    let numbers = chosen(&RESOURCES, 1, options).map_err(|problem| rows.error_whole(problem))?;
    let wanted = options.user.as_deref().unwrap_or("user");
    let owner =
        OWNERS.iter().find(|(name, _)| *name == wanted).map(|&(_, place)| place).ok_or_else(|| {
            let wanted = wanted.escape_debug();
            rows.error_whole(format!(
                "expected --user to be one of user, group, queue, partition, got \"{wanted}\""
            ))
        })?;
    if rows.cells() != FIELDS {
        return Err(rows.error(format!("expected {FIELDS} numbers, found {}", rows.cells())).into());
    }
    rows.keep_width(" in the Standard Workload Format");
    let names = numbers.iter().map(|&number| RESOURCES[number].to_owned()).collect();
    let mut builder = Builder::new(name, names);
    let mut amounts = vec![0; numbers.len()];
    loop {
        progress.row(|| rows.position())?;
        let submitted = time(&rows, SUBMIT)?.ok_or_else(|| rows.expected("a submit time", SUBMIT))?;
        let [wait, run] = [time(&rows, WAIT)?, time(&rows, RUN)?];
        let processors = match amount(&rows, PROCESSORS)? {
            Some(processors) => Some(processors),
            None => amount(&rows, ASKED_PROCESSORS)?,
        };
        for (amount_of, &number) in amounts.iter_mut().zip(&numbers) {
            let processors = processors.unwrap_or(0);
            *amount_of = if number == 0 { processors } else { memory(&rows, processors)? };
        }
        let is_part = matches!(rows.cell(STATUS), b"2" | b"3" | b"4");
        match (run, builder.demand(&amounts)) {
            _ if is_part => builder.leave_out(PARTS),
            (None, _) => builder.leave_out(NEVER_RAN),
            (Some(_), None) => builder.leave_out(NEED_NOTHING),
            (Some(duration), Some(demand)) => {
                let user = builder.user(user_of(&rows, owner)?);
                let task = Task { submitted, duration, user, demand };
                let pushed = match wait {
                    Some(wait) => builder.push_started(task, submitted.after(wait), progress.rows()),
                    None => builder.push(task, progress.rows()),
                };
                pushed.ok_or_else(|| too_many(&rows))?;
            }
        }
        if !rows.advance()? {
            break;
        }
    }
    progress.to(rows.position())?;
    builder.finish(Nanos(0))
}

/// A time in seconds; none if it is not known.
fn time(rows: &Rows, place: usize) -> Result<Option<Nanos>, TraceError> {
    if rows.cell(place) == UNKNOWN {
        return Ok(None);
    }
    let nanos = decimal::parse(rows.cell(place), 9).and_then(|nanos| u64::try_from(nanos).ok()).map(Nanos);
    match nanos.filter(|&nanos| nanos <= MOST_TIME) {
        Some(nanos) => Ok(Some(nanos)),
        None => Err(rows.expected("seconds from 0 to 146 years, or -1", place)),
    }
}

/// Billionths of what a field counts; none if it is not known.
fn amount(rows: &Rows, place: usize) -> Result<Option<u128>, TraceError> {
    if rows.cell(place) == UNKNOWN {
        return Ok(None);
    }
    let amount = decimal::parse(rows.cell(place), 9).filter(|&amount| amount <= MOST_AMOUNT);
    amount.map(Some).ok_or_else(|| rows.expected("a number from 0 to 10^18, or -1", place))
}

/// The memory of a job on so many billionths of a processor, in billionths of a GiB.
fn memory(rows: &Rows, processors: u128) -> Result<u128, TraceError> {
    let each = match amount(rows, ASKED_MEMORY)? {
        Some(each) => Some(each),
        None => amount(rows, MEMORY)?,
    };
    let whole = each.unwrap_or(0).checked_mul(processors / BILLION).map(|kilobytes| kilobytes >> 20);
    whole
        .filter(|&whole| whole <= MOST_AMOUNT)
        .ok_or_else(|| rows.expected("less memory in all", ASKED_MEMORY))
}
