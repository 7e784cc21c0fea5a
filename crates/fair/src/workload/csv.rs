//! Logs of rows with named columns, read and written.

use std::io::{self, Write};

use hashbrown::HashSet;
use trueplane_study::Error;
use trueplane_trace::{Rows, TimeUnit, TraceError, column_name};
use trueplane_units::Nanos;

use super::Partial;
use super::builder::{Builder, MOST_AMOUNT, MOST_TIME};
use super::reading::{NEED_NOTHING, NEVER_RAN};
use super::{BILLION, JobLog, LogOptions, Task, decimal};
use crate::workload::reading::{Progress, too_many};

/// Names of the column that says when a task was submitted, without the suffix of a unit.
const SUBMIT: [&str; 3] = ["submit", "submitted", "submit_time"];
/// Names of the column that says when a task started.
const START: [&str; 3] = ["start", "started", "start_time"];
/// Names of the column that says when a task finished.
const FINISH: [&str; 4] = ["finish", "finished", "finish_time", "end_time"];
/// Names of the column that says how long a task ran.
const DURATION: [&str; 3] = ["duration", "run_time", "runtime"];
/// Names of the column that says which user a task belongs to.
const USER: [&str; 1] = ["user"];
/// Names of columns that identify a task.
const IGNORED: [&str; 6] = ["task", "task_id", "job", "job_id", "id", "name"];
/// Names of columns of numbers that are no amounts of a resource.
const NO_RESOURCES: [&str; 20] = [
    "attempt",
    "attempts",
    "class",
    "exit_code",
    "group",
    "host",
    "machine",
    "node",
    "partition",
    "pool",
    "priority",
    "queue",
    "retries",
    "retry",
    "scheduling_class",
    "state",
    "status",
    "weight",
    "exit_status",
    "machine_id",
];
/// A file with more columns is taken for something else.
const MOST_COLUMNS: usize = 4096;

const UNENDED: &str = "tasks that have not ended";

/// A column of times.
#[derive(Clone, Copy, Debug)]
struct Time {
    place: usize,
    what: &'static str,
    unit: TimeUnit,
    /// Decimals of the unit down to nanoseconds.
    places: u32,
}

/// Source of a task's duration.
#[derive(Clone, Copy, Debug)]
struct Ends {
    start: Option<Time>,
    end: End,
}

/// Column that tells the end of a task.
#[derive(Clone, Copy, Debug)]
enum End {
    Duration(Time),
    Finish(Time),
}

/// Columns of the file by their meaning.
#[derive(Debug)]
struct Columns {
    submit: Time,
    ends: Ends,
    user: usize,
    resources: Vec<(String, usize)>,
    /// The names of columns that say something else, if nobody said which are resources.
    unread: Vec<String>,
}

impl Columns {
    /// Those that the header, the current row, names.
    fn of(rows: &Rows, options: &LogOptions) -> Result<Self, TraceError> {
        if rows.cells() > MOST_COLUMNS {
            return Err(
                rows.error(format!("expected {MOST_COLUMNS} columns at most, found {}", rows.cells()))
            );
        }
        let names: Vec<(String, Option<TimeUnit>)> =
            (0..rows.cells()).map(|place| rows.name(place)).collect();
        let find = |aliases: &[&str]| names.iter().position(|(name, _)| aliases.contains(&name.as_str()));
        let time = |what: &'static str, aliases: &[&str]| {
            let place = find(aliases)?;
            let unit = options.time_unit.or(names[place].1).unwrap_or(TimeUnit::Seconds);
            Some(Time { place, what, unit, places: unit.nanos().ilog10() })
        };
        let missing = |what: &str| rows.expected_in_row(&format!("a header with a column {what}"));
        let submit = time("a submit time", &SUBMIT).ok_or_else(|| missing("submit"))?;
        let end = match (time("a duration", &DURATION), time("a finish time", &FINISH)) {
            (Some(duration), _) => End::Duration(duration),
            (None, Some(finish)) => End::Finish(finish),
            (None, None) => return Err(missing("duration or finish")),
        };
        let user = match &options.user {
            Some(name) => place_of(rows, name)?,
            None => find(&USER).ok_or_else(|| missing("user (or say --user with the column)"))?,
        };
        let (resources, unread) = match &options.resources {
            Some(names) => {
                let named = |name: &String| Ok((name.clone(), place_of(rows, name)?));
                (names.iter().map(named).collect::<Result<_, _>>()?, Vec::new())
            }
            None => others(rows, user, &names),
        };
        let ends = Ends { start: time("a start time", &START), end };
        let columns = Self { submit, ends, user, resources, unread };
        columns.check(rows, &names)?;
        Ok(columns)
    }

    /// Refuses headers that say something twice, and those without resources.
    fn check(&self, rows: &Rows, names: &[(String, Option<TimeUnit>)]) -> Result<(), TraceError> {
        let mut seen = HashSet::with_capacity(rows.cells());
        let is_twice = |cell: &&[u8]| !cell.is_empty() && !seen.insert(cell.to_ascii_lowercase());
        if let Some(cell) = (0..rows.cells()).map(|place| rows.cell(place)).find(is_twice) {
            let name = String::from_utf8_lossy(cell).escape_debug().to_string();
            return Err(rows.error(format!("expected one column {name}, found two")));
        }
        let known: [(&[&str], &str); 5] = [
            (&SUBMIT, "submit"),
            (&START, "start"),
            (&FINISH, "finish"),
            (&DURATION, "duration"),
            (&USER, "user"),
        ];
        for (aliases, name) in known {
            if names.iter().filter(|(name, _)| aliases.contains(&name.as_str())).count() > 1 {
                return Err(rows.error(format!("expected one column {name}, found two")));
            }
        }
        match self.resources.iter().find(|(name, _)| name.is_empty()) {
            Some(_) => Err(rows.error("expected the name of a resource in every other cell of the header, got \"\"")),
            None if self.resources.is_empty() => Err(rows.error(
                "expected a header with a column for every resource besides submit, duration and user, found none",
            )),
            None => Ok(()),
        }
    }
}

/// The columns that are resources where nobody says which are, and the names of those that nothing is made of.
fn others(
    rows: &Rows,
    user: usize,
    names: &[(String, Option<TimeUnit>)],
) -> (Vec<(String, usize)>, Vec<String>) {
    let text = |place: usize| String::from_utf8_lossy(rows.cell(place)).into_owned();
    let resources = (0..rows.cells()).filter(|&place| place != user && !is_reserved(&names[place].0));
    let unread = (0..rows.cells()).filter(|&place| place != user && is_unread(&names[place].0));
    (resources.map(|place| (text(place), place)).collect(), unread.map(text).collect())
}

/// Whether a column of this name is no resource by itself.
fn is_reserved(name: &str) -> bool {
    is_unread(name)
        || [&SUBMIT[..], &START, &FINISH, &DURATION, &USER].iter().any(|names| names.contains(&name))
}

/// Whether a column of this name says nothing that is asked for.
fn is_unread(name: &str) -> bool {
    IGNORED.contains(&name) || NO_RESOURCES.contains(&name)
}

/// The place of the column called `name`.
pub(super) fn place_of(rows: &Rows, name: &str) -> Result<usize, TraceError> {
    let found = (0..rows.cells()).find(|&place| rows.cell(place).eq_ignore_ascii_case(name.as_bytes()));
    let what = || format!("a header with a column {}", name.escape_debug());
    found.ok_or_else(|| rows.expected_in_row(&what()))
}

/// Whether a cell says nothing.
pub(super) fn is_absent(cell: &[u8]) -> bool {
    matches!(cell, b"" | b"-") || cell.eq_ignore_ascii_case(b"nan")
}

/// The time of a row.
fn time(rows: &Rows, column: Time) -> Result<Nanos, TraceError> {
    let number =
        decimal::parse(rows.cell(column.place), column.places).and_then(|nanos| u64::try_from(nanos).ok());
    let nanos = match number {
        Some(nanos) => Nanos(nanos),
        None => rows.time(column.what, column.place, column.unit)?,
    };
    if nanos > MOST_TIME {
        return Err(rows.expected(&format!("{} of 146 years at most", column.what), column.place));
    }
    Ok(nanos)
}

/// Reads a time like [`time`]; `None` where the cell says nothing.
fn time_if_any(rows: &Rows, column: Time) -> Result<Option<Nanos>, TraceError> {
    if is_absent(rows.cell(column.place)) { Ok(None) } else { time(rows, column).map(Some) }
}

/// The billionths in the cell at `place`, 10^`places` of which are one of what it counts; `None` if it says nothing. What is not a number
/// was computed and went wrong, and is refused.
pub(super) fn amount(rows: &Rows, name: &str, place: usize, places: u32) -> Result<Option<u128>, TraceError> {
    let cell = rows.cell(place);
    match decimal::parse(cell, places) {
        Some(amount) if amount <= MOST_AMOUNT => Ok(Some(amount)),
        None if matches!(cell, b"" | b"-") => Ok(None),
        found => {
            let is_word = found.is_none() && !is_absent(cell) && !cell.iter().any(u8::is_ascii_digit);
            let hint = if is_word { " (or say --resources with the columns that are resources)" } else { "" };
            Err(rows.expected(&format!("an amount of {} from 0 to 10^18{hint}", name.escape_debug()), place))
        }
    }
}

/// The name of whom the task of the row is.
pub(super) fn user_of(rows: &Rows, place: usize) -> Result<&str, TraceError> {
    let name = std::str::from_utf8(rows.cell(place)).ok().filter(|name| !name.is_empty());
    name.ok_or_else(|| rows.expected("the name of a user", place))
}

/// A task's time on the cluster.
struct Ran {
    /// When it started, if the log records it.
    start: Option<Nanos>,
    duration: Nanos,
}

/// Returns when and how long the task of the row ran; `Err` inside says why that is not known.
fn ran(rows: &Rows, ends: Ends, submitted: Nanos) -> Result<Result<Ran, &'static str>, TraceError> {
    let started = match ends.start {
        None => None,
        Some(column) => match time_if_any(rows, column)? {
            Some(time) if time < submitted => return Err(before(rows, column, submitted, "submitted")),
            None if matches!(ends.end, End::Finish(_)) => return Ok(Err(NEVER_RAN)),
            time => time,
        },
    };
    let duration = match ends.end {
        End::Duration(column) => time_if_any(rows, column)?,
        End::Finish(column) => match time_if_any(rows, column)? {
            Some(time) if time < started.unwrap_or(submitted) => {
                let what = if started.is_some() { "started" } else { "submitted" };
                return Err(before(rows, column, started.unwrap_or(submitted), what));
            }
            time => time.map(|time| time.since(started.unwrap_or(submitted))),
        },
    };
    Ok(duration.map(|duration| Ran { start: started, duration }).ok_or(UNENDED))
}

/// That a time lies before another one.
#[cold]
fn before(rows: &Rows, column: Time, earlier: Nanos, what: &str) -> TraceError {
    let mut text = String::new();
    decimal::write(&mut text, u128::from(earlier.0) * (BILLION / u128::from(column.unit.nanos())));
    rows.expected(&format!("{} of {text} or later, when the task was {what}", column.what), column.place)
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
    let columns = Columns::of(&rows, options)?;
    rows.keep_width(" as in the header");
    let resources = columns.resources.iter().map(|(name, _)| name.clone()).collect();
    let mut builder = Builder::new(name, resources);
    if !columns.unread.is_empty() {
        let named: Vec<String> = columns.unread.iter().map(|name| name.escape_debug().to_string()).collect();
        let what = format!("columns that are not read unless --resources names them: {}", named.join(", "));
        builder.leave_out_many(&what, columns.unread.len() as u64);
    }
    let mut amounts = vec![0; columns.resources.len()];
    while rows.advance()? {
        progress.row(|| rows.position())?;
        let submitted = time(&rows, columns.submit)?;
        let ran = ran(&rows, columns.ends, submitted)?;
        let user = user_of(&rows, columns.user)?;
        let mut is_missing = false;
        for (amount_of, (name, place)) in amounts.iter_mut().zip(&columns.resources) {
            let found = amount(&rows, name, *place, 9)?;
            is_missing |= found.is_none();
            *amount_of = found.unwrap_or(0);
        }
        match (ran, builder.demand(&amounts)) {
            (Err(reason), _) => builder.leave_out(reason),
            (Ok(_), None) => builder.leave_out(NEED_NOTHING),
            (Ok(Ran { start, duration }), Some(demand)) => {
                let user = builder.user(user);
                let task = Task { submitted, duration, user, demand };
                let pushed = match start {
                    Some(start) => builder.push_started(task, start, progress.rows()),
                    None => builder.push(task, progress.rows()),
                };
                pushed.ok_or_else(|| too_many(&rows))?;
                if is_missing {
                    builder.cut(Partial::Need);
                }
            }
        }
    }
    progress.to(rows.position())?;
    builder.finish(Nanos(0))
}

/// Writes `log` as CSV with the columns `submit`, `duration`, `user` and one for every resource; times are seconds.
///
/// [`super::load()`] reads it as the same log, but for what was left out and the log's name.
///
/// # Errors
///
/// If `out` cannot be written to, or a name cannot be written so that it would be read as the same ([`io::ErrorKind::InvalidData`]):
/// a user has none, or a resource's means something else or has quotes or delimiters in it.
pub fn write_csv(log: &JobLog, mut out: impl Write) -> io::Result<()> {
    let wrong = |what: &str, name: &str| {
        let problem = format!("expected {what} that a column can have, got \"{}\"", name.escape_debug());
        io::Error::new(io::ErrorKind::InvalidData, problem)
    };
    for (place, name) in log.resources.iter().enumerate() {
        let is_odd = name.is_empty() || name.trim() != name || name.contains([',', ';', '"']);
        let is_twice = log.resources[..place].iter().any(|other| other.eq_ignore_ascii_case(name));
        if is_odd
            || is_twice
            || name.contains(char::is_control)
            || is_reserved(&column_name(name.as_bytes()).0)
        {
            return Err(wrong("a name of a resource", name));
        }
    }
    let users: Vec<String> = log.users.iter().map(|name| quote(name)).collect();
    if let Some(empty) = log.users.iter().find(|name| name.is_empty()) {
        return Err(wrong("a name of a user", empty));
    }
    let mut text = format!("submit,duration,user,{}\n", log.resources.join(","));
    for task in &log.tasks {
        decimal::write(&mut text, task.submitted.0.into());
        text.push(',');
        decimal::write(&mut text, task.duration.0.into());
        text.push(',');
        text.push_str(&users[task.user as usize]);
        for &amount in &*log.demands[task.demand as usize] {
            text.push(',');
            decimal::write(&mut text, amount);
        }
        text.push('\n');
        if text.len() > 1 << 16 {
            out.write_all(text.as_bytes())?;
            text.clear();
        }
    }
    out.write_all(text.as_bytes())?;
    out.flush()
}

/// `name` as a cell.
fn quote(name: &str) -> String {
    let is_plain = |character: char| character.is_alphanumeric() || "-_.:@/+=".contains(character);
    if name.chars().all(is_plain) { name.to_owned() } else { format!("\"{}\"", name.replace('"', "\"\"")) }
}
