//! One row of `task_events`.

use trueplane_trace::{Rows, TraceError};
use trueplane_units::Nanos;

use crate::workload::csv::amount;
use crate::workload::decimal;

const TIME: usize = 0;
const JOB: usize = 2;
const INDEX: usize = 3;
const KIND: usize = 5;
const USER: usize = 6;
const CPU: usize = 9;
const WIDTH: usize = 13;

/// The time of what happens after the trace.
const AFTER: u64 = (1 << 63) - 1;

/// Kind of an event in the life of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Submit,
    Schedule,
    Evict,
    Fail,
    Finish,
    Kill,
    Lost,
    UpdatePending,
    UpdateRunning,
}

/// Kinds of events in the order of their numbers in the trace.
const KINDS: [Kind; 9] = [
    Kind::Submit,
    Kind::Schedule,
    Kind::Evict,
    Kind::Fail,
    Kind::Finish,
    Kind::Kill,
    Kind::Lost,
    Kind::UpdatePending,
    Kind::UpdateRunning,
];

/// A task: its job, and its index within the job.
pub(super) type TaskName = (u64, u32);

/// That something happened to a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Event {
    /// When; zero for what was before the trace, [`Nanos::MAX`] for what is after it.
    pub(super) time: Nanos,
    pub(super) task: TaskName,
    pub(super) kind: Kind,
}

/// Whether the row is an event and no header.
pub(in crate::workload) fn is_event(rows: &Rows) -> bool {
    rows.cells() == WIDTH
        && decimal::parse(rows.cell(TIME), 0).is_some()
        && decimal::parse(rows.cell(KIND), 0).is_some()
}

/// Refuses a first row that has not as many cells as an event.
pub(super) fn check_width(rows: &Rows) -> Result<(), TraceError> {
    if rows.cells() == WIDTH {
        return Ok(());
    }
    Err(rows.error(format!("expected {WIDTH} columns, found {}", rows.cells())))
}

impl Event {
    /// The event of the row.
    #[inline]
    pub(super) fn of(rows: &Rows) -> Result<Self, TraceError> {
        let time = match whole(rows.cell(TIME)) {
            Some(AFTER) => Some(Nanos::MAX),
            time => time.and_then(micros),
        };
        let time = time.ok_or_else(|| rows.expected("a time in microseconds", TIME))?;
        let job = whole(rows.cell(JOB)).ok_or_else(|| rows.expected("the number of a job", JOB))?;
        let index = whole(rows.cell(INDEX)).and_then(|index| u32::try_from(index).ok());
        let index = index.ok_or_else(|| rows.expected("the index of a task", INDEX))?;
        let kind = whole(rows.cell(KIND)).and_then(|kind| KINDS.get(usize::try_from(kind).ok()?).copied());
        let kind = kind.ok_or_else(|| rows.expected("an event type from 0 to 8", KIND))?;
        Ok(Self { time, task: (job, index), kind })
    }
}

/// Decimal digits only.
#[inline]
fn whole(cell: &[u8]) -> Option<u64> {
    if !cell.iter().all(u8::is_ascii_digit) {
        return None;
    }
    decimal::parse(cell, 0).and_then(|number| u64::try_from(number).ok())
}

/// Returns the user of the row's task; `None` where that is missing.
pub(super) fn user_of(rows: &Rows) -> Result<Option<&str>, TraceError> {
    let cell = std::str::from_utf8(rows.cell(USER)).map_err(|_| rows.expected("the name of a user", USER))?;
    Ok(Some(cell).filter(|name| !name.is_empty()))
}

/// Reads the needs of the row's task of `resources`; `false` where some of them are missing.
pub(super) fn needs_of(rows: &Rows, resources: &[usize], amounts: &mut [u128]) -> Result<bool, TraceError> {
    for (amount_of, &resource) in amounts.iter_mut().zip(resources) {
        let place = CPU + resource;
        match amount(rows, RESOURCES[resource], place, 9)? {
            Some(amount) => *amount_of = amount,
            None => return Ok(false),
        }
    }
    Ok(true)
}

/// The resources that can be asked for, the usual two first.
pub(super) const RESOURCES: [&str; 3] = ["cpu", "memory", "disk"];

/// Time in µs as nanoseconds; `None` if that is too long.
pub(super) fn micros(number: u64) -> Option<Nanos> {
    number.checked_mul(1_000).map(Nanos).filter(|&time| time <= crate::workload::builder::MOST_TIME)
}
