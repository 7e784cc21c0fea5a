//! Compares systems: processing rates first, then latency at a share of the smallest of them.

mod report;

use std::net::SocketAddr;
use std::sync::Arc;

use rayon::prelude::*;
use trueplane_study::{Error, Observer};

use crate::Fit;
use crate::belief::busy_cores;
use crate::captured::{Capture, Replayed};
use crate::engine::{Engine, Ledger, Machine, Ran};
use crate::generated::{Generated, Wanted};
use crate::nf::{FunctionName, FunctionOptions};
use crate::options::{MOST_CORES, Options, Sizes, SystemName};
use crate::source::Source;
use crate::team::{fit, team};

/// The part of a run that is not counted: a third to find a rate, of which policies that adapt take a period or two; then a tenth.
const WARM: (u64, u64) = (3, 10);

/// The longest run, in seconds of simulated time; picoseconds of much more do not fit.
const LONGEST: u64 = 3600;

/// The most packets of a run: those of a flow are counted with 32 bits.
const MOST_PACKETS: u64 = 1_000_000_000;

/// Flows that tables make room for, besides those at a time: what ended is forgotten soon.
const MOST_ENDED: u64 = 1 << 20;

/// To find latencies, one packet comes for so many to find the rate, over a longer time.
const FEWER: u64 = 5;

/// Mean and extremes over runs.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Spread {
    /// The mean.
    pub mean: f64,
    /// The smallest.
    pub min: f64,
    /// The largest.
    pub max: f64,
}

impl Spread {
    fn of(values: impl Iterator<Item = f64> + Clone) -> Self {
        let count = values.clone().count().max(1) as f64;
        Self {
            mean: values.clone().sum::<f64>() / count,
            min: values.clone().fold(f64::INFINITY, f64::min),
            max: values.fold(f64::NEG_INFINITY, f64::max),
        }
    }
}

/// What is compared with each other: the same function on the same machine with the same flows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cell {
    /// The function.
    pub function: FunctionName,
    /// Cores.
    pub cores: usize,
    /// Flows at a time; of a capture, all that it has.
    pub flows: u64,
    /// Cycles of work for each packet.
    pub cycles: u64,
}

/// One system in one cell.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// Where.
    pub cell: Cell,
    /// What.
    pub system: SystemName,
    /// Packets a second that get through.
    pub rate: Spread,
    /// Packets a second that one core gets through, times the cores, but no more than are offered.
    pub believed: f64,
    /// What hashing has to be expected to get through: as many cores' rates as have any flow. Flows that do not end, one direction each.
    pub hashed: Option<f64>,
    /// The share of packets that overtook others of their flow, at the processing rate.
    pub reordered: Spread,
    /// The share of packets that come right after three later ones, at the processing rate.
    pub late: Spread,
    /// Jain's index over flows' shares of what they offered, at the processing rate.
    pub jain: Spread,
    /// Packets a second that were offered to measure latency.
    pub load: f64,
    /// The 99th percentile of latency at that load, in nanoseconds.
    pub p99: Spread,
    /// Half of all latencies are above.
    pub median: Spread,
    /// The share of packets that overtook others, at that load.
    pub reordered_at_load: Spread,
    /// The share that came right after three later ones, at that load.
    pub late_at_load: Spread,
    /// The share of handled packets that were handed over, at the processing rate.
    pub handed: f64,
    /// The share of handled packets that were dropped with a verdict, at the processing rate.
    pub dropped: f64,
}

/// What came of a comparison.
#[derive(Clone, Debug)]
pub struct Comparison {
    /// What was compared.
    pub options: Options,
    /// The capture, if it was one, and what of it could not be read.
    pub capture: Option<(String, Vec<(String, u64)>)>,
    /// By function, cores, flows, cycles, and then system, each in the order of the options.
    pub rows: Vec<Row>,
}

/// Runs every system in every cell; results do not depend on the number of threads. A capture takes the place of generated flows.
///
/// # Errors
///
/// A function cannot work with its options, or not under one of the systems; a list is empty or too long; or the observer interrupts.
pub fn compare(
    options: &Options,
    capture: Option<Arc<Capture>>,
    observer: &dyn Observer,
) -> Result<Comparison, Error> {
    check(options)?;
    let study = Study { options, capture, cells: cells(options, None), observer };
    let study = match &study.capture {
        Some(capture) => Study { cells: cells(options, Some(capture.flows() as u64)), ..study },
        None => study,
    };
    let rates = study.pass("processing rates", |_| None)?;
    let lowest = study.lowest(&rates);
    let latencies = study.pass("latencies", |cell| Some(lowest[cell] * options.load))?;
    let rows = study.rows(&rates, &latencies, &lowest);
    let name = study.capture.as_ref().map(|capture| (capture.name().to_owned(), capture.skipped().to_vec()));
    Ok(Comparison { options: options.clone(), capture: name, rows })
}

fn cells(options: &Options, flows: Option<u64>) -> Vec<Cell> {
    let flows = flows.map_or(options.flows.clone(), |flows| vec![flows]);
    let mut cells = Vec::new();
    for &function in &options.functions {
        for &cores in &options.cores {
            for &flows in &flows {
                cells.extend(options.cycles.iter().map(|&cycles| Cell { function, cores, flows, cycles }));
            }
        }
    }
    cells
}

fn check(options: &Options) -> Result<(), Error> {
    let refuse = |problem: String| Err(Error::Parameters(problem));
    if let Some(cores) = options.cores.iter().find(|&&cores| cores == 0 || cores > MOST_CORES) {
        return refuse(format!("--cores {cores}: expected 1 to {MOST_CORES}"));
    }
    if !(1..=MOST_PACKETS).contains(&options.packets) {
        return refuse(format!("--packets {}: expected 1 to {MOST_PACKETS}", options.packets));
    }
    for &function in &options.functions {
        let fit = fit(function, &options.function).map_err(|error| Error::Parameters(error.to_string()))?;
        let Fit::WholeFlows(why) = fit else { continue };
        for &cores in options.cores.iter().filter(|&&cores| cores > 1) {
            let unfit = |system: &&SystemName| !system.suits_whole_flows(cores, &options.dispatch);
            if let Some(system) = options.systems.iter().find(unfit) {
                return refuse(format!("--nf {function} cannot run under --dispatch {system}: {why}"));
            }
        }
    }
    Ok(())
}

/// A run: the number of its cell, of its system and its own.
type Job = (usize, usize, u32);

struct Study<'a> {
    options: &'a Options,
    capture: Option<Arc<Capture>>,
    cells: Vec<Cell>,
    observer: &'a dyn Observer,
}

impl Study<'_> {
    /// All runs of one kind, in the order of cells, systems and runs. `load` says how many packets a second a cell is offered; none: the full rate.
    fn pass(&self, name: &str, load: impl Fn(usize) -> Option<f64> + Sync) -> Result<Vec<Ran>, Error> {
        let Options { systems, runs, .. } = self.options;
        let jobs: Vec<Job> = (0..self.cells.len())
            .flat_map(|cell| (0..systems.len()).map(move |system| (cell, system)))
            .flat_map(|(cell, system)| (0..*runs).map(move |run| (cell, system, run)))
            .collect();
        self.observer.stage(name, jobs.len() as u64);
        let run = |&job: &Job| {
            let ran = self.run(job, load(job.0));
            self.observer.advance(1);
            ran
        };
        jobs.par_iter().map(run).collect()
    }

    fn machine(&self, cell: Cell, system: SystemName, seed: u64) -> Machine {
        let options = self.options;
        Machine {
            system,
            dispatch: options.dispatch,
            cores: cell.cores,
            cycles: cell.cycles,
            costs: options.costs,
            service: options.service,
            ring: options.ring,
            clock: options.clock,
            card_gap: options.card_limit.map(gap),
            seed,
        }
    }

    fn run(&self, (cell, system, run): Job, load: Option<f64>) -> Result<Ran, Error> {
        let (options, cell) = (self.options, self.cells[cell]);
        let system = options.systems[system];
        // All systems and cells see the same flows in the same run.
        let seed = options.seed.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(run.into());
        let machine = self.machine(cell, system, seed);
        let (packets, rate) = match load {
            Some(load) => ((options.packets / FEWER).max(1), load.max(1.0) as u64),
            None => (options.packets, options.rate),
        };
        self.check_span(cell, &machine, packets, rate)?;
        let mut source = self.source(cell, &machine, packets, gap(rate), seed);
        let span = source.ends() - source.begins();
        let window = match load {
            Some(_) => (source.begins() + span / WARM.1, u64::MAX),
            None => (source.begins() + span / WARM.0, source.ends()),
        };
        let flows = self.entries(cell, packets);
        let team = team(cell.function, &options.function, system, cell.cores, flows, options.ring)
            .map_err(|error| Error::Parameters(error.to_string()))?;
        let ran = Engine::new(machine, team, &mut *source, window).run(load.is_some(), self.observer)?;
        let Ledger { offered, card, ring, done, queued } = ran.ledger;
        if offered == card + ring + done + queued {
            return Ok(ran);
        }
        Err(Error::Internal(format!(
            "{system}: of {offered} packets {done} were handled, {} dropped and {queued} left",
            card + ring
        )))
    }

    /// Refuses a run that takes too long, before anything of it is made.
    fn check_span(&self, cell: Cell, machine: &Machine, packets: u64, rate: u64) -> Result<(), Error> {
        let opening = match &self.capture {
            Some(_) => 0,
            None => (2 * u128::from(cell.flows) + 8) * 2 * u128::from(machine.longest()),
        };
        let packets = packets.max(self.capture.as_ref().map_or(0, |capture| capture.len() as u64));
        let seconds = (opening + u128::from(packets) * u128::from(gap(rate))) / 1_000_000_000_000;
        if seconds <= LONGEST.into() {
            return Ok(());
        }
        Err(Error::Parameters(format!(
            "expected runs of {LONGEST} s of simulated time at most, got one of {seconds} s ({packets} packets of {} flows, {rate} a second, {} cycles each)",
            cell.flows, cell.cycles
        )))
    }

    /// How many flows come in a run.
    fn entries(&self, cell: Cell, packets: u64) -> usize {
        let mean = match &self.options.sizes {
            _ if self.capture.is_some() => u64::MAX,
            Sizes::Forever => u64::MAX,
            Sizes::Packets(packets) => packets.saturating_add(2),
            Sizes::Drawn(_) => 5,
        };
        usize::try_from(cell.flows + (packets / mean).min(MOST_ENDED)).unwrap_or(usize::MAX)
    }

    fn source(&self, cell: Cell, machine: &Machine, packets: u64, gap: u64, seed: u64) -> Box<dyn Source> {
        match &self.capture {
            Some(capture) => Box::new(Replayed::new(Arc::clone(capture), packets, gap)),
            None => Box::new(Generated::new(Wanted {
                flows: usize::try_from(cell.flows).unwrap_or(usize::MAX),
                sizes: self.options.sizes.clone(),
                packets,
                gap,
                opening_gap: 2 * machine.longest(),
                arrivals: self.options.arrivals,
                destination: destination(cell.function, &self.options.function),
                seed,
            })),
        }
    }

    /// The runs of a system in a cell.
    fn runs<'r>(&self, all: &'r [Ran], cell: usize, system: usize) -> &'r [Ran] {
        let runs = self.options.runs as usize;
        let begin = (cell * self.options.systems.len() + system) * runs;
        &all[begin..begin + runs]
    }

    /// The smallest rate of a cell's systems, for each cell.
    fn lowest(&self, rates: &[Ran]) -> Vec<f64> {
        let mean = |cell, system| Spread::of(self.runs(rates, cell, system).iter().map(|ran| ran.rate)).mean;
        let systems = 0..self.options.systems.len();
        (0..self.cells.len())
            .map(|cell| systems.clone().map(|system| mean(cell, system)).fold(f64::INFINITY, f64::min))
            // Where nothing gets through, nothing has a latency: any rate does.
            .map(|lowest| if lowest > 0.0 { lowest } else { self.options.rate as f64 })
            .collect()
    }

    fn rows(&self, rates: &[Ran], latencies: &[Ran], lowest: &[f64]) -> Vec<Row> {
        let mut rows = Vec::new();
        for (at, &cell) in self.cells.iter().enumerate() {
            for (index, &system) in self.options.systems.iter().enumerate() {
                let (full, part) = (self.runs(rates, at, index), self.runs(latencies, at, index));
                rows.push(self.row(cell, system, full, part, lowest[at] * self.options.load));
            }
        }
        rows
    }

    fn row(&self, cell: Cell, system: SystemName, full: &[Ran], part: &[Ran], load: f64) -> Row {
        let spread = |runs: &[Ran], of: &dyn Fn(&Ran) -> f64| {
            Spread::of(runs.iter().map(of).collect::<Vec<_>>().into_iter())
        };
        let offered = self.options.rate as f64;
        let one = 1e12 / self.machine(cell, system, 0).alone() as f64;
        let forever = self.capture.is_none() && self.options.sizes == Sizes::Forever;
        let share = |of: &dyn Fn(&Ran) -> u64| {
            let done: u64 = full.iter().map(|ran| ran.counts.done()).sum();
            full.iter().map(of).sum::<u64>() as f64 / done.max(1) as f64
        };
        Row {
            cell,
            system,
            rate: spread(full, &|ran| ran.rate),
            believed: (one * cell.cores as f64).min(offered),
            hashed: forever.then(|| expected(cell, one, offered)),
            reordered: spread(full, &|ran| ran.tally.reordered()),
            late: spread(full, &|ran| ran.tally.late()),
            jain: spread(full, &|ran| ran.tally.jain()),
            load,
            p99: spread(part, &|ran| ran.tally.p99() as f64),
            median: spread(part, &|ran| ran.tally.median() as f64),
            reordered_at_load: spread(part, &|ran| ran.tally.reordered()),
            late_at_load: spread(part, &|ran| ran.tally.late()),
            handed: share(&|ran| ran.counts.handed_out),
            dropped: share(&|ran| ran.counts.dropped.iter().sum()),
        }
    }
}

/// What hashing gets through of flows that are offered equally: a core with k of n flows the smaller of its own rate and k/n of the offer. Exactly, since k is
/// binomial.
fn expected(cell: Cell, one: f64, offered: f64) -> f64 {
    let (n, m) = (cell.flows as f64, cell.cores as f64);
    if offered / n >= one || cell.cores == 1 {
        return (busy_cores(cell.flows, cell.cores) * one).min(offered);
    }
    let odds = 1.0 / (m - 1.0);
    let mut log = n * (1.0 - 1.0 / m).ln();
    let mut sum = 0.0;
    for k in 0..=cell.flows {
        sum += log.exp() * one.min(k as f64 / n * offered);
        log += ((n - k as f64) / (k as f64 + 1.0) * odds).ln();
    }
    m * sum
}

/// Picoseconds between packets.
fn gap(rate: u64) -> u64 {
    (1_000_000_000_000 / rate.max(1)).max(1)
}

/// Where packets for a function have to go to.
fn destination(function: FunctionName, options: &FunctionOptions) -> Option<([u8; 4], u16)> {
    match (function, options.balancer.service) {
        (FunctionName::Balancer, SocketAddr::V4(service)) => Some((service.ip().octets(), service.port())),
        _ => None,
    }
}
