//! Experiments with real connections through the synthetic function, in network namespaces of their own: what figures 3.6b, 3.7b, 3.8 and 3.9 show of
//! a card and eight cores, shown of this kernel and this machine.
//!
//! Variants take turns within each round, so that whatever else the machine does meets all of them; every run is told. Senders and receivers share
//! the machine's cores with the function.

use std::time::Duration;

use trueplane_linux::testnet::{Iperf, IperfRun, Probe, Requirement, Spliced, Transport};
use trueplane_linux::{cores, testnet};
use trueplane_spray::Limits;
use trueplane_spray::dispatch::{DispatchName, PolicyName};
use trueplane_spray::live::io::IoBackend;
use trueplane_spray::live::run;
use trueplane_spray::live::run::start;
use trueplane_spray::nf::{FunctionName, FunctionOptions};
use trueplane_study::Page;
use trueplane_study::prose::brief;
use trueplane_study::report::{Axis, Cell, Plot, Report, Series, Unit};
use trueplane_study::study::{Words, page_report};
use trueplane_units::{BitsPerSec, Nanos, Percent, Setting, choices};

/// Error of an experiment. Every message is one line.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The test network.
    #[error(transparent)]
    Network(#[from] testnet::Error),
    /// The function.
    #[error(transparent)]
    Run(#[from] trueplane_linux::Error),
    /// Packets are missing: a mistake in this program.
    #[error("packets are missing, or there are too many: {0}")]
    Lost(String),
    /// The observer stopped it.
    #[error("interrupted")]
    Interrupted,
}

choices! {
    /// An experiment by name.
    pub enum Experiment {
        /// Goodput of one flow, by the cycles that each packet costs (figure 3.6b).
        Cycles = "cycles",
        /// Goodput of several flows, and how evenly they share it (figures 3.7b and 3.9).
        Flows = "flows",
        /// Time that a question waits, alone and beside a flow (after figure 3.8).
        Latency = "latency",
    }
}

impl Experiment {
    /// Requirements of the experiments on the machine; see [`testnet::check`].
    pub const REQUIREMENTS: [Requirement; 3] = [Requirement::Bpf, Requirement::Ethtool, Requirement::Iperf3];
}

/// Settings of the experiments.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Dispatch policies to compare.
    pub dispatches: Vec<DispatchName>,
    /// Cycles for each packet, in [`Experiment::Cycles`]; the last one in the others.
    pub cycles: Vec<u64>,
    /// Flows, in [`Experiment::Flows`].
    pub flows: Vec<u32>,
    /// Measurements of each variant.
    pub rounds: u32,
    /// Length of each measurement, in seconds.
    pub seconds: u32,
    /// Cores of the function.
    pub cores: usize,
    /// Sockets by which packets come to the function and go.
    pub backend: IoBackend,
    /// Whether its threads go before all else, as in [`run::Settings`].
    pub realtime: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            dispatches: vec![
                DispatchName::of(PolicyName::Rss),
                DispatchName::of(PolicyName::Spray),
                DispatchName::of(PolicyName::Adaptive),
            ],
            cycles: vec![0, 2_000, 5_000, 10_000],
            flows: vec![1, 2, 4, 8, 16],
            rounds: 3,
            seconds: 2,
            cores: 2,
            backend: IoBackend::Packet,
            realtime: false,
        }
    }
}

/// One measurement.
#[derive(Clone, Debug)]
pub struct Point {
    /// Experiment that it belongs to.
    pub experiment: Experiment,
    /// Policy by which packets were shared out.
    pub dispatch: DispatchName,
    /// Busy cycles for each packet.
    pub cycles: u64,
    /// Flows of TCP that sent as much as they could.
    pub flows: u32,
    /// Number of the repetition, from 0.
    pub round: u32,
    /// Goodput of all flows together.
    pub goodput: BitsPerSec,
    /// Segments that were sent again.
    pub retransmits: u64,
    /// Jain's index over them: 1 if all got the same.
    pub jain: f64,
    /// Round trip that 99 % of questions do not exceed.
    pub rtt_p99: Option<Nanos>,
    /// Packets for which rings had no room.
    pub kernel_drops: u64,
    /// Share of the time in which each core had packets.
    pub busy: Vec<f64>,
    /// Load of the machine in the minute before.
    pub load: f64,
}

/// Whoever watches experiments.
pub trait Observer {
    /// The next measurement begins; `false` to stop before it.
    fn step(&self, what: &str) -> bool;
}

impl Observer for () {
    fn step(&self, _: &str) -> bool {
        true
    }
}

/// Measures everything.
///
/// # Errors
///
/// The network cannot be had, the function does not run, packets are missing, or the observer stopped it.
pub fn conduct(
    experiment: Experiment,
    settings: &Settings,
    observer: &dyn Observer,
) -> Result<Vec<Point>, Error> {
    let net = Spliced::new()?;
    let heaviest = settings.cycles.last().copied().unwrap_or(0);
    let variants: Vec<(u64, u32)> = match experiment {
        Experiment::Cycles => settings.cycles.iter().map(|&cycles| (cycles, 1)).collect(),
        Experiment::Flows => settings.flows.iter().map(|&flows| (heaviest, flows)).collect(),
        Experiment::Latency => vec![(heaviest, 0), (heaviest, 1)],
    };
    let mut points = Vec::new();
    for round in 0..settings.rounds {
        for &(cycles, flows) in &variants {
            for &dispatch in &settings.dispatches {
                let what = format!("round {}: {flows} flows, {cycles} cycles, {dispatch}", round + 1);
                if !observer.step(&what) {
                    return Err(Error::Interrupted);
                }
                points.push(measure(&net, settings, (experiment, dispatch, cycles, flows, round))?);
            }
        }
    }
    Ok(points)
}

fn measure(
    net: &Spliced,
    settings: &Settings,
    (experiment, dispatch, cycles, flows, round): (Experiment, DispatchName, u64, u32, u32),
) -> Result<Point, Error> {
    let allowed = cores::allowed();
    let run = start(
        &run::Settings {
            function: FunctionName::Synthetic,
            cycles,
            devices: [net.as_device(Spliced::INNER), net.as_device(Spliced::OUTER)],
            cpus: (0..settings.cores).map(|core| allowed[core % allowed.len().max(1)]).collect(),
            backend: settings.backend,
            dispatch,
            limits: Limits::new(4096),
            ring_frames: 2048,
            seed: u64::from(round),
            realtime: settings.realtime,
        },
        &FunctionOptions::default(),
    )?;
    let load = load();
    let tended = Tended::new(run);
    let sending = match flows {
        0 => None,
        flows => Some(Iperf::tcp(settings.seconds).flows(flows).start(&net.left, &net.right)?),
    };
    let asked = match experiment {
        Experiment::Latency => {
            let duration = Duration::from_secs(u64::from(settings.seconds)) * 3 / 4;
            let probe = Probe { transport: Transport::Udp, duration, gap: Duration::from_micros(500) };
            Some(probe.run(&net.left, &net.right)?)
        }
        _ => None,
    };
    let report = sending.map(IperfRun::finish).transpose()?;
    let counts = tended.stop()?;
    counts.check().map_err(Error::Lost)?;
    let busy = |core: &run::CoreCounts| core.busy_ns as f64 / counts.elapsed_ns.max(1) as f64;
    let shares: Vec<f64> = report.iter().flat_map(|report| &report.flows).map(|flow| flow.0 as f64).collect();
    Ok(Point {
        experiment,
        dispatch,
        cycles,
        flows,
        round,
        goodput: report.as_ref().map_or(BitsPerSec(0), |report| report.goodput),
        retransmits: report.as_ref().map_or(0, |report| report.retransmits),
        jain: jain(&shares),
        rtt_p99: asked.map(|asked| Nanos(asked.rtt_ns.quantile(0.99))),
        kernel_drops: counts.total().kernel_drops.iter().sum(),
        busy: counts.cores.iter().map(busy).collect(),
        load,
    })
}

/// Jain's index: the square of the sum over the sum of squares and the number; 1 of nothing.
fn jain(shares: &[f64]) -> f64 {
    let (sum, squares) =
        shares.iter().fold((0.0, 0.0), |(sum, squares), share| (sum + share, squares + share * share));
    if squares == 0.0 { 1.0 } else { sum * sum / (shares.len() as f64 * squares) }
}

/// The machine's load of the last minute.
fn load() -> f64 {
    let text = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    text.split_whitespace().next().and_then(|load| load.parse().ok()).unwrap_or(0.0)
}

/// A run whose dispatch policy is told what it wants to know, by a thread.
struct Tended {
    thread: std::thread::JoinHandle<Result<run::Snapshot, trueplane_linux::Error>>,
    is_over: std::sync::Arc<std::sync::atomic::AtomicBool>,
}

impl Tended {
    fn new(mut run: run::Run) -> Self {
        use std::sync::atomic::Ordering;
        let is_over = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
        let over = std::sync::Arc::clone(&is_over);
        let thread = std::thread::spawn(move || {
            let period = run.period().unwrap_or(Duration::from_millis(20));
            while !over.load(Ordering::Relaxed) {
                std::thread::sleep(period);
                run.tend()?;
            }
            run.stop()
        });
        Self { thread, is_over }
    }

    fn stop(self) -> Result<run::Snapshot, trueplane_linux::Error> {
        self.is_over.store(true, std::sync::atomic::Ordering::Relaxed);
        self.thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    }
}

/// All measurements on one page; `parameters` are those that people gave.
pub fn report(points: &[Point], settings: &Settings, parameters: &[Setting]) -> Report {
    let mut page = Page::default();
    page.fact("cores of the machine", "machine_cores", cores::allowed().len());
    page.table("runs", "All runs", points)
        .col("experiment", "experiment", |point| Cell::name(point.experiment))
        .col("dispatch", "dispatch", |point| point.dispatch.to_string())
        .col("cycles", "cycles", |point| point.cycles)
        .col("flows", "flows", |point| point.flows)
        .col("round", "round", |point| point.round + 1)
        .col("goodput", "goodput_bps", |point| point.goodput)
        .col("sent again", "retransmits", |point| point.retransmits)
        .col("Jain", "jain", |point| point.jain)
        .col("p99", "rtt_p99_ns", |point| point.rtt_p99)
        .col("lost", "kernel_drops", |point| point.kernel_drops)
        .col("load", "load", |point| point.load);
    let cores = points
        .iter()
        .zip(1u64..)
        .flat_map(|(point, run)| point.busy.iter().enumerate().map(move |(core, &busy)| (run, core, busy)));
    page.table("cores", "Time in which each core had packets", cores)
        .col("row of all runs", "run", |&(run, ..)| run)
        .col("core", "core", |&(_, core, _)| core)
        .col("busy", "busy_share", |&(_, _, busy)| Percent(busy))
        .detail();
    plots(points, settings, &mut page);
    let words = Words {
        name: "spray.experiment",
        title: "Spraying real connections".to_owned(),
        belief: "A flow needs one core, and cores together do as much as each does alone.",
        verdict: verdict(points),
    };
    page_report(words, parameters, page)
}

/// The figures of which there are any points.
fn plots(points: &[Point], settings: &Settings, page: &mut Page) {
    let axis = |label: &str, unit| Axis { label: label.to_owned(), unit, log: false };
    let goodput = |point: &Point| point.goodput.0 as f64;
    let by_cycles = |point: &Point| (point.experiment == Experiment::Cycles).then_some(point.cycles as f64);
    let by_flows = |point: &Point| (point.experiment == Experiment::Flows).then_some(f64::from(point.flows));
    let plot = |id: &str, title: &str, x: Axis, y: Axis, series| Plot {
        id: id.to_owned(),
        title: title.to_owned(),
        note: "The median of each variant's rounds.".to_owned(),
        x,
        y,
        series,
    };
    let all = [
        plot(
            "cycles",
            "What one flow gets (3.6b)",
            axis("cycles per packet", Unit::Plain),
            axis("goodput", Unit::BitsPerSec),
            curves(points, settings, by_cycles, goodput),
        ),
        plot(
            "flows",
            "What flows get together (3.7b)",
            axis("flows", Unit::Plain),
            axis("goodput", Unit::BitsPerSec),
            curves(points, settings, by_flows, goodput),
        ),
        plot(
            "jain",
            "How evenly (3.9)",
            axis("flows", Unit::Plain),
            axis("Jain's index", Unit::Plain),
            curves(points, settings, by_flows, |point| point.jain),
        ),
    ];
    let has_points = |plot: &Plot| plot.series.iter().any(|series| !series.points.is_empty());
    all.into_iter().filter(has_points).for_each(|plot| page.plot(plot));
}

/// Sentences about the gain of a single flow by spraying, for each number of cycles.
fn verdict(points: &[Point]) -> Vec<String> {
    let of = |dispatch, cycles| {
        let chosen = |point: &&Point| {
            point.experiment == Experiment::Cycles && point.dispatch == dispatch && point.cycles == cycles
        };
        median(&points.iter().filter(chosen).map(|point| point.goodput.0 as f64).collect::<Vec<_>>())
    };
    let mut cycles: Vec<u64> = points.iter().map(|point| point.cycles).collect();
    cycles.sort_unstable();
    cycles.dedup();
    let gain = |cycles: u64| {
        let (hashed, sprayed) = (
            of(DispatchName::of(PolicyName::Rss), cycles)?,
            of(DispatchName::of(PolicyName::Spray), cycles)?,
        );
        Some(format!(
            "At {cycles} cycles a packet, one flow gets {:.2} times as much sprayed as hashed.",
            sprayed / hashed
        ))
    };
    brief(cycles.into_iter().filter_map(gain).map(|sentence| (0, sentence)).collect())
}

/// One curve for each policy, of the medians of `y` where there is an x.
fn curves(
    points: &[Point],
    settings: &Settings,
    x: impl Fn(&Point) -> Option<f64>,
    y: impl Fn(&Point) -> f64,
) -> Vec<Series> {
    let curve = |dispatch: &DispatchName| {
        let own: Vec<(f64, f64)> = points
            .iter()
            .filter(|point| point.dispatch == *dispatch)
            .filter_map(|point| Some((x(point)?, y(point))))
            .collect();
        let mut places: Vec<f64> = own.iter().map(|point| point.0).collect();
        places.sort_by(f64::total_cmp);
        places.dedup();
        let at = |place: f64| {
            median(&own.iter().filter(|point| point.0 == place).map(|point| point.1).collect::<Vec<_>>())
        };
        let points = places.into_iter().filter_map(|place| Some((place, at(place)?))).collect();
        Series { name: dispatch.to_string(), points, ..Series::default() }
    };
    settings.dispatches.iter().map(curve).collect()
}

/// None of none.
fn median(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| trueplane_study::metrics::median(values))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jains_index_is_one_for_equals_and_one_over_n_for_a_tyrant() {
        assert!((jain(&[3.0; 4]) - 1.0).abs() < 1e-12);
        assert!((jain(&[5.0, 0.0, 0.0, 0.0]) - 0.25).abs() < 1e-12);
        assert!((jain(&[]) - 1.0).abs() < 1e-12);
    }
}
