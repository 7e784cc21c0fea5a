//! The systems side by side on the same packets: how fast, whether their verdicts agree, and what a flood leaves of each.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use trueplane_units::Nanos;

use super::document::{Compare, Machine, Parameters, Row};
use super::flood::Flood;
use super::options::{Options, Sample, Traffic};
use super::script::{self, Script};
use super::steady::Steady;
use super::{Error, Settings, run, verdict};
use crate::nf::{Visit, with_function};
use crate::system::{StateName, SystemName};
use crate::{Fit, NetworkFunction};

/// The part of a run in which it warms up.
const WARM_UP: u64 = 10;

/// SYNs of the flood for each packet of a connection.
const FLOOD_EVERY: u64 = 20;

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
        let splits = |system: &&SystemName| !system.suits_whole_flows(options.cores);
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
            run(
                SystemName::State(StateName::Sharded),
                &function,
                &mut script,
                &settings,
                observer.interrupted(),
            )?;
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

fn once<N: NetworkFunction + 'static>(
    system: SystemName,
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
