//! Packets with what serving them took, as somebody measured or counted it: `jobs.csv`.
//!
//! ```csv
//! packet_bytes,flow,job_ns,estimate_ns,time_ns
//! 1514,10.0.0.1:443,2100,2500,0
//! 64,17,900000,950000,1200
//! ```
//!
//! The header is required and names the columns, in any order: `packet_bytes`, `flow`, `job_ns`, and where there are such,
//! `estimate_ns` (what the scheduler thinks that the packet takes; without it the job itself) and `time_ns` (when it comes, from any
//! zero; it must not go back). A flow is any text: a whole number stands for itself, all else for its SipHash-2-4.
//!
//! ```
//! use trueplane_surge::jobs::{Jobs, MOST_JOB};
//!
//! let text = b"packet_bytes,flow,job_ns\n1500,web,4000\n64,other,90\n".to_vec();
//! let jobs = Jobs::from_bytes("jobs.csv", text, 1_000_000, &())?;
//! assert_eq!(jobs.packets()[1].bits, 512);
//!
//! let refused = Jobs::from_bytes("jobs.csv", b"packet_bytes,flow,job_ns\n64,web,-1\n".to_vec(), 10, &()).unwrap_err();
//! let limit = MOST_JOB.0;
//! assert_eq!(refused.to_string(), format!("jobs.csv:2: expected a job_ns of 1 to {limit}, got \"-1\""));
//! # Ok::<(), trueplane_study::Error>(())
//! ```

use std::io::{self, Write};
use std::path::Path;
use std::sync::Arc;

use trueplane_study::{Error, Observer};
use trueplane_trace::{NO_TEXT, Table, TableColumn, TraceError};
use trueplane_units::{Nanos, Within};

use crate::application::Never;
use crate::policy::per_flow::MOST_WORK;
use crate::segments::MOST_BYTES;
use crate::traffic::{Load, Offered, Pace, Traffic};

/// The longest job that is believed: a minute. A longer one is taken for a wrong unit.
///
/// No workload has longer ones, be they read, drawn or given by hand: for policies by flows they would count as
/// [`MOST_WORK`], for others as what they are.
pub const MOST_JOB: Nanos = Nanos(60_000_000_000);

/// Permitted duration of a job.
pub type JobTime = Within<Nanos, 1, { MOST_JOB.0 }>;

const _: () = assert!(MOST_JOB.0 <= MOST_WORK.0, "to all policies a job is as long as it is");

/// Rows between two reports of progress, and two questions whether to stop.
const REPORT: usize = 1 << 16;

/// The columns, in the order in which they are written.
const COLUMNS: [TableColumn; 5] = [
    TableColumn { name: "packet_bytes", required: true },
    TableColumn { name: "flow", required: true },
    TableColumn { name: "job_ns", required: true },
    TableColumn { name: "estimate_ns", required: false },
    TableColumn { name: "time_ns", required: false },
];

const PACKET_BYTES: usize = 0;
const FLOW: usize = 1;
const JOB: usize = 2;
const ESTIMATE: usize = 3;
const TIME: usize = 4;

/// Packets, the time that each takes, and perhaps when they come.
#[derive(Clone, Debug)]
pub struct Jobs {
    name: String,
    packets: Arc<[Offered<Never>]>,
    times: Option<Arc<[Nanos]>>,
    has_estimates: bool,
}

/// A packet and what it takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Job {
    /// The name of its flow.
    pub flow: u64,
    /// Its size on the wire, in bits: a multiple of 8.
    pub bits: u32,
    /// Time that the packet takes.
    pub job: Nanos,
    /// Time that the scheduler thinks the packet takes.
    pub estimate: Nanos,
}

impl Jobs {
    /// Reads the jobs of the file at `path`, `-` being standard input, gzip, zstd and xz undone; `most` at most, of about 40 bytes each.
    ///
    /// # Errors
    ///
    /// There is no such file, it is not as it should be, has no rows or more than `most`, or the observer interrupts.
    pub fn read(path: &Path, most: u64, observer: &dyn Observer) -> Result<Self, Error> {
        let name = if path == Path::new("-") { "stdin".to_owned() } else { path.display().to_string() };
        Self::gather(name, Table::open(path, &COLUMNS).map_err(told_of_captures)?, most, observer)
    }

    /// The jobs that `bytes` hold, called `name` in errors.
    ///
    /// # Errors
    ///
    /// As [`Jobs::read`].
    pub fn from_bytes(name: &str, bytes: Vec<u8>, most: u64, observer: &dyn Observer) -> Result<Self, Error> {
        Self::gather(
            name.to_owned(),
            Table::from_bytes(name, bytes, &COLUMNS).map_err(told_of_captures)?,
            most,
            observer,
        )
    }

    /// Jobs that come from a program, with the times at which they come if there are any, which never fall.
    ///
    /// # Errors
    ///
    /// If they could not be read from a file: there are none, sizes, jobs or estimates are out of range, or times fall or are not as many
    /// as jobs. Packets whose bits are no whole bytes can be used but not written.
    pub fn new(name: &str, jobs: &[Job], times: Option<Vec<Nanos>>) -> Result<Self, Error> {
        let wrong = |number: usize, problem: String| {
            Error::Parameters(format!("{name}: job {}: {problem}", number + 1))
        };
        if jobs.is_empty() {
            return Err(Error::Parameters(format!("{name}: expected jobs, found none")));
        }
        for (number, job) in jobs.iter().enumerate() {
            let range = Nanos(1)..=MOST_JOB;
            if job.bits == 0 || job.bits > MOST_BYTES * 8 {
                return Err(wrong(
                    number,
                    format!("expected 1 to {} bits, got {}", MOST_BYTES * 8, job.bits),
                ));
            }
            if let Some(time) = [job.job, job.estimate].into_iter().find(|time| !range.contains(time)) {
                return Err(wrong(number, format!("expected 1 to {} ns, got {}", MOST_JOB.0, time.0)));
            }
        }
        if let Some(times) = &times
            && (times.len() != jobs.len() || !times.is_sorted())
        {
            return Err(Error::Parameters(format!(
                "{name}: expected {} times that never go back, got {} times",
                jobs.len(),
                times.len()
            )));
        }
        let load = |job: &Job| Load::Given { job: job.job, estimate: job.estimate };
        let packets = jobs.iter().map(|job| Offered { flow: job.flow, bits: job.bits, load: load(job) });
        Ok(Self {
            name: name.to_owned(),
            packets: packets.collect(),
            times: times.map(Into::into),
            has_estimates: jobs.iter().any(|job| job.job != job.estimate),
        })
    }

    fn gather(name: String, mut table: Table, most: u64, observer: &dyn Observer) -> Result<Self, Error> {
        observer.stage("reading", table.bytes());
        let (mut packets, mut times) = (Vec::new(), Vec::new());
        let mut position = 0;
        while table.advance()? {
            if packets.len() as u64 == most {
                let problem = format!(
                    "expected {most} jobs at most, which fit in the memory, found more: raise --memory"
                );
                return Err(table.error(problem).into());
            }
            packets.push(offered(&table)?);
            if table.has(TIME) {
                times.push(time_after(&table, times.last().copied())?);
            }
            if packets.len().is_multiple_of(REPORT) {
                observer.advance(table.position() - position);
                position = table.position();
                if observer.interrupted() {
                    return Err(Error::Interrupted);
                }
            }
        }
        observer.advance(table.position() - position);
        if packets.is_empty() {
            return Err(table
                .error_whole("expected a job in every line after the header, found none")
                .into());
        }
        let first = times.first().copied().unwrap_or_default();
        times.iter_mut().for_each(|time| *time = time.since(first));
        let times = table.has(TIME).then(|| times.into());
        Ok(Self { name, packets: packets.into(), times, has_estimates: table.has(ESTIMATE) })
    }

    /// The name of the file.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The packets, in the order of the file; not none.
    pub fn packets(&self) -> &Arc<[Offered<Never>]> {
        &self.packets
    }

    /// Arrival times of the jobs, the first at zero; `None` if they are not given.
    pub fn times(&self) -> Option<&Arc<[Nanos]>> {
        self.times.as_ref()
    }

    /// Whether what the scheduler thinks is given, and not the job itself.
    pub fn has_estimates(&self) -> bool {
        self.has_estimates
    }

    /// The jobs, one after the other.
    pub fn iter(&self) -> impl Iterator<Item = Job> + '_ {
        self.packets.iter().map(|packet| match packet.load {
            Load::Given { job, estimate } => Job { flow: packet.flow, bits: packet.bits, job, estimate },
            Load::Real(never) => match never {},
        })
    }

    /// The packets at the times of the file, each once; `None` if it has none.
    pub fn at_their_times(&self) -> Option<Traffic<Never>> {
        let times = Arc::clone(self.times.as_ref()?);
        let count = self.packets.len() as u64;
        Some(Traffic { packets: Arc::clone(&self.packets), pace: Pace::At(times), count, fresh_flows: false })
    }

    /// Writes them as they are read, with estimates and times if there are any. A flow is written as its number, so that reading
    /// gives back the same.
    ///
    /// # Errors
    ///
    /// If `out` cannot be written to, or a packet has bits that are no whole bytes ([`io::ErrorKind::InvalidData`]).
    pub fn write(&self, mut out: impl Write) -> io::Result<()> {
        let columns = COLUMNS.iter().enumerate().filter(|&(column, _)| match column {
            ESTIMATE => self.has_estimates,
            TIME => self.times.is_some(),
            _ => true,
        });
        let names: Vec<&str> = columns.map(|(_, column)| column.name).collect();
        writeln!(out, "{}", names.join(","))?;
        for (number, job) in self.iter().enumerate() {
            if job.bits % 8 != 0 {
                let problem = format!("job {}: expected whole bytes, got {} bits", number + 1, job.bits);
                return Err(io::Error::new(io::ErrorKind::InvalidData, problem));
            }
            write!(out, "{},{},{}", job.bits / 8, job.flow, job.job.0)?;
            if self.has_estimates {
                write!(out, ",{}", job.estimate.0)?;
            }
            if let Some(time) = self.times.as_ref().and_then(|times| times.get(number)) {
                write!(out, ",{}", time.0)?;
            }
            writeln!(out)?;
        }
        out.flush()
    }
}

/// The error of a file that is no text, which may well be a capture, with a word on how those are read.
fn told_of_captures(error: TraceError) -> TraceError {
    match error {
        TraceError::Input { trace, place, problem } if problem == NO_TEXT => {
            let problem = format!(
                "{problem}; for a capture say surge compare with reassembly:FILE, or match:FILE and --rules"
            );
            TraceError::Input { trace, place, problem }
        }
        error => error,
    }
}

/// The packet of a row.
fn offered(table: &Table) -> Result<Offered<Never>, TraceError> {
    let within = |column: usize, most: u64| {
        table.whole(column).filter(|number| (1..=most).contains(number)).ok_or_else(|| {
            let name = COLUMNS[column].name;
            let article = if column == ESTIMATE { "an" } else { "a" };
            table.expected(&format!("{article} {name} of 1 to {most}"), column)
        })
    };
    let bytes = within(PACKET_BYTES, u64::from(MOST_BYTES))?;
    let flow = table.key(FLOW).ok_or_else(|| table.expected("the name of a flow", FLOW))?;
    let job = Nanos(within(JOB, MOST_JOB.0)?);
    let estimate = if table.has(ESTIMATE) { Nanos(within(ESTIMATE, MOST_JOB.0)?) } else { job };
    Ok(Offered { flow, bits: bytes as u32 * 8, load: Load::Given { job, estimate } })
}

/// The time of a row, which comes after one of `last`.
fn time_after(table: &Table, last: Option<Nanos>) -> Result<Nanos, TraceError> {
    let Some(time) = table.whole(TIME).map(Nanos) else {
        return Err(table.expected("a time_ns, a whole number below 2^64", TIME));
    };
    match last {
        Some(last) if time < last => {
            let what = format!("a time_ns of {} or later (times must not go back)", last.0);
            Err(table.expected(&what, TIME))
        }
        _ => Ok(time),
    }
}
