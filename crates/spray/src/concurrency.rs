//! How many flows a capture has at a time (figure 3.2).

use hashbrown::{HashMap, HashSet};
use serde::Serialize;
use trueplane_study::metrics::Distribution;
use trueplane_study::report::{Axis, Cell, Column, Plot, Report, Series, Table, Unit};
use trueplane_study::{Error, Observer};
use trueplane_trace::{Place, Trace, TraceError};
use trueplane_units::{Bytes, Nanos, Percent};

use crate::belief::busy_cores;
use crate::captured::read;
use crate::{FlowId, Packet};

/// What to look at.
#[derive(Clone, Debug)]
pub struct Options {
    /// How long flows are at a time together: longer than any packet stays in a middlebox.
    pub window: Nanos,
    /// Flows with more bytes are large.
    pub large: Bytes,
    /// Machines to tell what it means for.
    pub cores: Vec<usize>,
    /// All protocols, and not TCP alone.
    pub all_protocols: bool,
}

impl Default for Options {
    /// §3.1: 150 µs, 10 MB.
    fn default() -> Self {
        Self {
            window: Nanos(150_000),
            large: Bytes(10_000_000),
            cores: vec![2, 4, 8, 16],
            all_protocols: false,
        }
    }
}

/// Numbers of flows in windows.
#[derive(Clone, Debug, Serialize)]
pub struct Flows {
    /// Which flows: all, or large ones.
    pub flows: &'static str,
    /// How many there are.
    pub count: u64,
    /// The share of all bytes that they have.
    pub bytes: f64,
    /// Windows with a packet of any of them.
    pub windows: u64,
    /// How many flows half of these windows have at most.
    pub median: u64,
    /// How many flows all but one in a hundred have at most.
    pub p99: u64,
    /// The most.
    pub most: u64,
    /// How many flows, and the share of windows with no more.
    pub cdf: Vec<(u64, f64)>,
    /// For each number of cores, the share of them that hashing can be expected to use in a window.
    pub cores_used: Vec<f64>,
}

/// What was found.
#[derive(Clone, Debug, Serialize)]
pub struct Concurrency {
    /// `spray.concurrency`.
    pub study: &'static str,
    /// The version of trueplane.
    pub version: &'static str,
    /// The capture.
    pub capture: String,
    /// How long a window is.
    pub window_ns: u64,
    /// Flows with more bytes are large.
    pub large_bytes: u64,
    /// Packets that count.
    pub packets: u64,
    /// Windows from the first of them to the last.
    pub windows: u64,
    /// Numbers of cores.
    pub cores: Vec<usize>,
    /// All flows; then large ones, if there are any.
    pub rows: Vec<Flows>,
    /// What it means.
    pub verdict: Vec<String>,
    #[serde(skip)]
    skipped: Vec<(String, u64)>,
}

struct Seen {
    time: Nanos,
    flow: u32,
}

/// Counts the flows of a capture in each window; both directions of a connection are one. Memory: 16 bytes for each packet. O(n log n).
///
/// # Errors
///
/// The trace is no capture, is broken, holds no packet that counts, or the observer interrupts.
pub fn concurrency(trace: &Trace, options: &Options, observer: &dyn Observer) -> Result<Concurrency, Error> {
    let (mut packets, mut numbers, mut bytes) = (Vec::new(), HashMap::<FlowId, u32>::new(), Vec::new());
    let mut spare = Packet::new(Vec::new(), Default::default());
    let skipped = read(trace, observer, |time, length, frame, link| {
        spare.refill(link, |bytes| {
            bytes.clear();
            bytes.extend_from_slice(frame);
        });
        let Some(flow) = spare.flow().filter(|flow| options.all_protocols || flow.protocol() == 6) else {
            return;
        };
        let next = numbers.len() as u32;
        let flow = *numbers.entry(flow.canonical()).or_insert(next);
        if flow == next {
            bytes.push(0);
        }
        bytes[flow as usize] += u64::from(length);
        packets.push(Seen { time, flow });
    })?;
    packets.sort_by_key(|packet| packet.time);
    let (Some(first), Some(last)) = (packets.first(), packets.last()) else {
        let what = if options.all_protocols { "IP" } else { "TCP" };
        let problem = format!("expected packets of {what}, found none");
        return Err(TraceError::Input { trace: trace.name().to_owned(), place: Place::Whole, problem }.into());
    };
    let window = options.window.0.max(1);
    let windows = (last.time.0 - first.time.0) / window + 1;
    let is_large = |flow: u32| bytes[flow as usize] > options.large.0;
    let all = count("all", &packets, &bytes, window, options, |_| true);
    let large = count("large", &packets, &bytes, window, options, is_large);
    let rows: Vec<Flows> = [Some(all), (large.count > 0).then_some(large)].into_iter().flatten().collect();
    let verdict = verdict(&rows, options);
    Ok(Concurrency {
        study: "spray.concurrency",
        version: env!("CARGO_PKG_VERSION"),
        capture: trace.name().to_owned(),
        window_ns: window,
        large_bytes: options.large.0,
        packets: packets.len() as u64,
        windows,
        cores: options.cores.clone(),
        rows,
        verdict,
        skipped,
    })
}

fn count(
    name: &'static str,
    packets: &[Seen],
    bytes: &[u64],
    window: u64,
    options: &Options,
    counts: impl Fn(u32) -> bool,
) -> Flows {
    let start = packets.first().map_or(0, |packet| packet.time.0);
    let mut numbers = Distribution::default();
    let mut used = vec![0.0; options.cores.len()];
    let mut flows = HashSet::new();
    for inside in packets.chunk_by(|a, b| (a.time.0 - start) / window == (b.time.0 - start) / window) {
        flows.clear();
        flows.extend(inside.iter().map(|packet| packet.flow).filter(|&flow| counts(flow)));
        if flows.is_empty() {
            continue;
        }
        numbers.record(flows.len() as u64);
        for (used, &cores) in used.iter_mut().zip(&options.cores) {
            *used += busy_cores(flows.len() as u64, cores) / cores as f64;
        }
    }
    let windows = numbers.count();
    let own = |flow: &usize| counts(*flow as u32);
    let (count, sum) =
        (0..bytes.len()).filter(own).fold((0, 0), |(count, sum), flow| (count + 1, sum + bytes[flow]));
    Flows {
        flows: name,
        count,
        bytes: sum as f64 / bytes.iter().sum::<u64>().max(1) as f64,
        windows,
        median: numbers.quantile(0.5),
        p99: numbers.quantile(0.99),
        most: numbers.quantile(1.0),
        cdf: numbers.cumulative(),
        cores_used: used.into_iter().map(|used| used / windows.max(1) as f64).collect(),
    }
}

fn verdict(rows: &[Flows], options: &Options) -> Vec<String> {
    let mut sentences = Vec::new();
    for row in rows {
        let which = if row.flows == "all" { "" } else { "large " };
        let share = if row.flows == "all" {
            String::new()
        } else {
            format!(" (they have {} of the bytes)", Percent(row.bytes))
        };
        sentences.push(format!(
            "In half of the windows of {} with any packet of them there are {} {which}flows at most, in 99 of 100 {}{share}.",
            options.window, row.median, row.p99
        ));
        let most = options.cores.iter().zip(&row.cores_used).max_by_key(|(cores, _)| **cores);
        if let Some((cores, used)) = most {
            sentences.push(format!(
                "Hashing can be expected to use {} of {cores} cores for {}.",
                Percent(*used),
                if which.is_empty() { "all flows" } else { "large flows alone" }
            ));
        }
    }
    sentences
}

impl Concurrency {
    /// Everything that was found, for people and machines.
    pub fn report(&self) -> Report {
        let fact = |name: &str, value: String| (name.to_owned(), value);
        let mut facts = vec![
            fact("capture", self.capture.clone()),
            fact("window", Nanos(self.window_ns).to_string()),
            fact("large", format!("more than {}", Bytes(self.large_bytes))),
            fact("packets", self.packets.to_string()),
            fact("windows", self.windows.to_string()),
        ];
        facts.extend(self.skipped.iter().map(|(what, count)| fact(what, count.to_string())));
        Report {
            study: self.study.to_owned(),
            title: "Flows at a time".to_owned(),
            belief: "With very many connections, hashing uses all cores.".to_owned(),
            verdict: self.verdict.clone(),
            facts,
            tables: vec![self.table(), self.cores_table()],
            plots: self.plot().into_iter().collect(),
            document: serde_json::to_value(self).expect("a study is plain data"),
            ..Report::default()
        }
    }

    fn table(&self) -> Table {
        let columns = [
            ("flows", "flows"),
            ("number", "count"),
            ("bytes", "bytes"),
            ("windows with any", "windows"),
            ("median", "median"),
            ("p99", "p99"),
            ("most", "most"),
        ];
        let cells = |row: &Flows| {
            vec![
                Cell::text(row.flows),
                Cell::Count(row.count),
                Cell::Ratio(row.bytes),
                Cell::Count(row.windows),
                Cell::Count(row.median),
                Cell::Count(row.p99),
                Cell::Count(row.most),
            ]
        };
        Table {
            id: "concurrency".to_owned(),
            title: "Flows in a window".to_owned(),
            columns: columns.map(|(title, name)| Column::new(title, name)).into(),
            rows: self.rows.iter().map(cells).collect(),
            detail: false,
        }
    }

    fn cores_table(&self) -> Table {
        let mut columns = vec![Column::new("cores", "cores")];
        columns.extend(
            self.rows
                .iter()
                .map(|row| Column::new(format!("{} flows", row.flows), format!("used_{}", row.flows))),
        );
        let cells = |(at, &cores): (usize, &usize)| {
            let used = self.rows.iter().map(|row| Cell::Ratio(row.cores_used[at]));
            std::iter::once(Cell::Count(cores as u64)).chain(used).collect()
        };
        Table {
            id: "cores".to_owned(),
            title: "The share of cores that hashing can be expected to use".to_owned(),
            columns,
            rows: self.cores.iter().enumerate().map(cells).collect(),
            detail: false,
        }
    }

    fn plot(&self) -> Option<Plot> {
        let series = self.rows.iter().map(|row| Series {
            name: format!("{} flows", row.flows),
            points: row.cdf.iter().map(|&(flows, share)| (flows as f64, share)).collect(),
            ..Series::default()
        });
        Some(Plot {
            id: "flows_at_a_time".to_owned(),
            title: "Flows at a time".to_owned(),
            note: "The share of windows with so many flows at most.".to_owned(),
            x: Axis { label: "flows".to_owned(), unit: Unit::Plain, log: false },
            y: Axis { label: "windows".to_owned(), unit: Unit::Percent, log: false },
            series: series.collect(),
        })
    }
}
