//! The systems side by side on the same packets: how fast, whether their verdicts agree, and what a flood leaves of each.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use serde::Serialize;
use trueplane_units::Nanos;

use super::document::{Compare, Machine, Parameters, Row};
use super::flood::Flood;
use super::script::{self, Order, Script};
use super::steady::{MOST_FLOWS, Steady};
use super::{Error, Overload, Run, Settings, System, run, verdict};
use crate::nf::{FunctionName, FunctionOptions, Visit, with_function};
use crate::{Fit, Limits, NetworkFunction};

/// A packet costs at most so many cycles.
pub const MOST_CYCLES: u64 = 10_000_000;

/// At most so many repetitions.
pub const MOST_RUNS: u32 = 100;

/// The part of a run in which it warms up.
const WARM_UP: u64 = 10;

/// SYNs of the flood for each packet of a connection.
const FLOOD_EVERY: u64 = 20;

/// What is sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Traffic {
    /// Open flows that send data in turns.
    #[default]
    Steady,
    /// Connections from SYN to FIN, UDP, echoes; verdicts are compared with those of one core.
    Connections,
    /// SYNs, each from another address, between the packets of connections.
    Flood,
}

impl Traffic {
    /// Every traffic with its name.
    pub const NAMES: [(&'static str, Self); 3] =
        [("steady", Self::Steady), ("connections", Self::Connections), ("flood", Self::Flood)];
}

/// What to measure.
#[derive(Clone, Debug)]
pub struct Options {
    /// The function.
    pub function: FunctionName,
    /// What it is told.
    pub function_options: FunctionOptions,
    /// The systems; the first is what the others are compared with.
    pub systems: Vec<System>,
    /// Threads that handle packets.
    pub cores: usize,
    /// What is sent.
    pub traffic: Traffic,
    /// Flows at a time.
    pub flows: u32,
    /// Cycles of work for each packet, one after the other.
    pub cycles: Vec<u64>,
    /// Packets of a run, about: connections are not cut.
    pub packets: u64,
    /// Runs of each system.
    pub repeat: u32,
    /// Flows that tables have room for; none: four times as many as there are, 131,072 at least.
    pub table: Option<usize>,
    /// Places of the ring to each core.
    pub ring: usize,
    /// What becomes of packets that find it full.
    pub overload: Overload,
    /// Where random draws begin.
    pub seed: u64,
}

impl Options {
    fn check(&self) -> Result<(), Error> {
        let within = |what: &str, value: u64, most: u64| {
            if (1..=most).contains(&value) {
                return Ok(());
            }
            Err(Error::request(format!("expected 1 to {most} {what}, got {value}")))
        };
        within("flows", self.flows.into(), MOST_FLOWS.into())?;
        within("runs", self.repeat.into(), MOST_RUNS.into())?;
        within("packets", self.packets, 1 << 40)?;
        within("flows in a table", self.room() as u64, 1 << 26)?;
        match self.cycles.iter().find(|&&cycles| cycles > MOST_CYCLES) {
            Some(cycles) => {
                Err(Error::request(format!("expected at most {MOST_CYCLES} cycles, got {cycles}")))
            }
            None => Ok(()),
        }
    }

    /// Flows in tables.
    fn room(&self) -> usize {
        self.table.unwrap_or_else(|| (4 * self.flows as usize).max(1 << 17))
    }

    fn settings(&self, cycles: u64) -> Settings {
        let room = self.room();
        Settings {
            limits: Limits::new(room),
            seed: self.seed,
            cycles,
            ring: self.ring,
            overload: self.overload,
            pin: true,
            ..Settings::new(self.cores, room)
        }
    }

    /// Connections that have about so many packets.
    fn script(&self) -> script::Options {
        const DATA: u16 = 16;
        // Of the kinds of connections, this many packets on average: measured, and nothing depends on it.
        let each = 19;
        script::Options {
            seed: self.seed,
            connections: u32::try_from(self.packets / each).unwrap_or(u32::MAX).max(1),
            at_a_time: self.flows,
            data: DATA,
            order: Order::Free,
        }
    }
}

/// Who wants to know how far it is, and may stop it.
pub trait Observer {
    /// So many runs are to come.
    fn begin(&self, runs: u64);

    /// One of them is done.
    fn advance(&self);

    /// Raised to stop it.
    fn interrupted(&self) -> &AtomicBool;
}

/// Runs every system so often; they take turns, so that a machine that is busy for a while is so for all of them.
///
/// # Errors
///
/// What makes no sense of the options; a function that cannot be sprayed under a system that does; if threads cannot be had; if the observer
/// stops it.
///
/// # Panics
///
/// If the function does.
pub fn compare(options: &Options, observer: &dyn Observer) -> Result<Compare, Error> {
    options.check()?;
    let study = Study { options, observer };
    let made = with_function(options.function, &options.function_options, study);
    made.map_err(|error| Error::request(error.to_string()))?
}

struct Study<'a> {
    options: &'a Options,
    observer: &'a dyn Observer,
}

impl Visit for Study<'_> {
    type Output = Result<Compare, Error>;

    fn visit<N: NetworkFunction + Clone + 'static>(self, function: N) -> Self::Output {
        let Self { options, observer } = self;
        let splits = |system: &&System| system.splits_flows(options.cores);
        if let (Fit::WholeFlows(why), Some(system)) = (N::FIT, options.systems.iter().find(splits)) {
            let function = options.function;
            return Err(Error::request(format!("{function} cannot run under {system}: {why}")));
        }
        let (function, systems) = (Arc::new(function), &options.systems);
        let reference = options.traffic == Traffic::Connections;
        let runs = options.cycles.len() * systems.len() * options.repeat as usize;
        observer.begin((runs + usize::from(reference)) as u64);
        let alone = if reference {
            let mut script = Script::new(&options.script());
            let settings = Settings { cores: 1, cycles: 0, ..options.settings(0) };
            run(System::Sharded, &function, &mut script, &settings, observer.interrupted())?;
            observer.advance();
            Some(script.outcome().clone())
        } else {
            None
        };
        let mut rows: Vec<Row> = Vec::new();
        for &cycles in &options.cycles {
            let mut group: Vec<Row> =
                systems.iter().map(|&system| Row::new(system, cycles, options)).collect();
            for _ in 0..options.repeat {
                for (row, &system) in group.iter_mut().zip(systems) {
                    row.add(&once(system, &function, cycles, options, alone.as_ref(), observer)?);
                    observer.advance();
                }
            }
            let base = group.first().map(|row| row.rates_pps.clone()).unwrap_or_default();
            group.iter_mut().for_each(|row| row.finish(&base));
            rows.append(&mut group);
        }
        let mut found = Compare {
            study: "spray.memory",
            version: env!("CARGO_PKG_VERSION"),
            belief: BELIEF,
            parameters: Parameters::new(options, options.room()),
            machine: Machine::look(),
            rows,
            verdict: Vec::new(),
        };
        found.verdict = verdict::on_compare(&found);
        Ok(found)
    }
}

/// What is believed of cores.
pub const BELIEF: &str = "hashing flows to cores spreads the load: n cores do n times the work of one";

/// What one run says.
#[derive(Clone, Debug, Default)]
pub(super) struct Sample {
    pub(super) run: Run,
    /// Packets forwarded per second.
    pub(super) rate: f64,
    pub(super) packets: u64,
    pub(super) forwarded: u64,
    pub(super) reordered: Option<u64>,
    pub(super) identical: Option<bool>,
    pub(super) established: Option<(u64, u64)>,
}

fn once<N: NetworkFunction + 'static>(
    system: System,
    function: &Arc<N>,
    cycles: u64,
    options: &Options,
    alone: Option<&script::Outcome>,
    observer: &dyn Observer,
) -> Result<Sample, Error> {
    let settings = options.settings(cycles);
    let interrupted = observer.interrupted();
    let rate = |forwarded: u64, took: Nanos| forwarded as f64 * 1e9 / took.0.max(1) as f64;
    Ok(match options.traffic {
        Traffic::Steady => {
            let warm_up = options.packets / WARM_UP;
            let mut source = Steady::new(options.flows, options.packets, warm_up, options.seed);
            let run = run(system, function, &mut source, &settings, interrupted)?;
            let of = source.outcome();
            Sample {
                rate: of.rate(),
                packets: of.packets,
                forwarded: of.forwarded,
                reordered: Some(of.reordered),
                run,
                ..Sample::default()
            }
        }
        Traffic::Connections => {
            let mut source = Script::new(&options.script());
            let run = run(system, function, &mut source, &settings, interrupted)?;
            let of = source.outcome();
            let is_same = |alone: &script::Outcome| {
                of.first_difference(alone).is_none() && of.wrong == 0 && of.collisions == 0
            };
            Sample {
                rate: rate(of.forwarded, run.elapsed),
                packets: of.packets,
                forwarded: of.forwarded,
                identical: alone.map(is_same),
                run,
                ..Sample::default()
            }
        }
        Traffic::Flood => {
            let mut source = Flood::new(options.flows, options.packets, FLOOD_EVERY);
            let run = run(system, function, &mut source, &settings, interrupted)?;
            let of = source.outcome();
            Sample {
                rate: rate(of.forwarded(), run.elapsed),
                packets: of.opening + of.flood + of.established,
                forwarded: of.forwarded(),
                established: Some((of.established, of.established_forwarded)),
                run,
                ..Sample::default()
            }
        }
    })
}
