//! The cells of a comparison: every system in every configuration, all of which see each chunk of the workload.

use hashbrown::HashMap;
use rayon::prelude::*;
use trueplane_study::{Error, Observer};
use trueplane_units::{Nanos, PerSecond};

use super::options::{LARGEST_THRESHOLD, Options};
use crate::batched::Batched;
use crate::cuckoo::CuckooTable;
use crate::dyso::DysoLoop;
use crate::ideal::{IdealLfu, IdealLru, MOST_FORESEEN};
use crate::policy::{
    Control, Frequency, NetCache, NetCacheOptions, Recency, SystemName, Tea, TeaOptions, Tuning,
};
use crate::table::ExactTable;
use crate::tally::Tally;
use crate::workload::lookups::Lookups;
use crate::{Counts, Key, System, engine};

/// A system in one configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Config {
    pub(super) system: SystemName,
    /// Update rate of batched systems, in entries a second; none for other systems.
    pub(super) update_rate: Option<PerSecond>,
    /// Control rate of DySO, in packets a second; none for other systems.
    pub(super) control_rate: Option<PerSecond>,
    /// Length of DySO's chains, in entries; none for other systems.
    pub(super) chain: Option<u64>,
    /// Threshold of NetCache and TEA, in misses; none for other systems.
    pub(super) threshold: Option<u32>,
    /// Ageing period of `frequency`; none for other systems.
    pub(super) ageing: Option<Nanos>,
    /// Whether it is not the one given but near it, run to find out whether that is better.
    pub(super) is_variation: bool,
}

/// From the given threshold this many times to its half and to its double.
const DOUBLINGS: i32 = 4;
/// From the given ageing period this many times to its quarter and to four times as much.
const QUADRUPLINGS: i32 = 3;

/// All configurations in the order of the report; after each its variations, if the best is looked for.
pub(super) fn configs(options: &Options) -> Vec<Config> {
    options.policies.0.iter().flat_map(|&system| configs_of(system, options)).collect()
}

fn configs_of(system: SystemName, options: &Options) -> Vec<Config> {
    let (batches, properties) = (&options.batches, system.properties());
    let plain = Config {
        system,
        update_rate: None,
        control_rate: None,
        chain: None,
        threshold: (properties.tuning == Tuning::Threshold).then_some(*batches.threshold),
        ageing: (properties.tuning == Tuning::Ageing).then_some(*batches.ageing),
        is_variation: false,
    };
    match properties.control {
        Control::Instant => vec![plain],
        Control::Packets => {
            let chains = options.chains();
            let with_rate = |rate| {
                let of = move |&chain: &u64| Config { control_rate: Some(rate), chain: Some(chain), ..plain };
                chains.iter().map(of)
            };
            options.control_rates().into_iter().flat_map(with_rate).collect()
        }
        Control::Batches => {
            let with_rate = |rate| {
                let given = Config { update_rate: Some(rate), ..plain };
                let variations = if batches.best_config { variations(given) } else { Vec::new() };
                [given].into_iter().chain(variations)
            };
            options.update_rates().into_iter().flat_map(with_rate).collect()
        }
    }
}

/// Configurations that might be better than `given`, nearest first.
fn variations(given: Config) -> Vec<Config> {
    let scaled = |value: u64, base: u64, exponent: i32| {
        let factor = base.pow(exponent.unsigned_abs());
        if exponent < 0 { value / factor } else { value.saturating_mul(factor) }
    };
    let steps = |most: i32| (1..=most).flat_map(|step| [-step, step]);
    let thresholds = given.threshold.into_iter().flat_map(|threshold| {
        steps(DOUBLINGS)
            .map(move |step| scaled(threshold.into(), 2, step))
            .filter(|threshold| (1..=LARGEST_THRESHOLD).contains(threshold))
            .map(|threshold| Config { threshold: Some(threshold as u32), is_variation: true, ..given })
    });
    let periods = given.ageing.into_iter().flat_map(|ageing| {
        steps(QUADRUPLINGS)
            .map(move |step| scaled(ageing.0, 4, step))
            .filter(|&ageing| ageing > 0)
            .map(|ageing| Config { ageing: Some(Nanos(ageing)), is_variation: true, ..given })
    });
    thresholds.chain(periods).collect()
}

/// A simulation in progress.
pub(super) struct Cell {
    machine: Machine,
    tally: Tally,
}

enum Machine {
    Plain(Box<dyn System + Send>),
    Dyso(Box<DysoLoop>),
}

/// Outcome of a cell.
pub(super) struct Ran {
    pub(super) tally: Tally,
    pub(super) counts: Counts,
    /// The ageing period at the end, in slots; DySO.
    pub(super) period: Option<u64>,
}

impl Cell {
    /// Nothing looked up yet; `None` for an offline system. The first `warmup` lookups are not counted.
    ///
    /// # Errors
    /// If the options do not make such a system.
    pub(super) fn new(config: &Config, options: &Options, warmup: u64) -> Result<Option<Self>, Error> {
        let (timing, given) = (options.timing(), &options.batches);
        let entries = u32::try_from(*options.entries).unwrap_or(u32::MAX);
        let sample = u32::try_from(*given.sample).unwrap_or(u32::MAX);
        let (seed, interval) = (options.seed, timing.slots(*given.interval));
        let threshold = config.threshold.unwrap_or(*given.threshold);
        let batch = options.batch();
        let batches = timing.batches(batch, config.update_rate.map_or(1, |rate| rate.0));
        let cuckoo = || CuckooTable::new(entries, given.load.percent());
        let tally = Tally::new(timing, warmup);
        let system: Box<dyn System + Send> = match config.system {
            SystemName::IdealLru => Box::new(IdealLru::new(*options.entries)),
            SystemName::IdealLfu => Box::new(IdealLfu::new(*options.entries)),
            SystemName::Recency => {
                Box::new(Batched::new(Recency::default(), ExactTable::new(entries), batches, batch))
            }
            SystemName::Frequency => {
                let policy = Frequency::new(timing.slots(config.ageing.unwrap_or(*given.ageing)));
                Box::new(Batched::new(policy, ExactTable::new(entries), batches, batch))
            }
            SystemName::NetCache => {
                let delay = timing.slots(given.report_delay);
                let netcache =
                    NetCacheOptions { delay, ..NetCacheOptions::new(threshold, interval, sample, seed) };
                let policy = NetCache::new(netcache);
                Box::new(Batched::new(policy, cuckoo(), batches, batch))
            }
            SystemName::Tea => {
                let policy = Tea::new(TeaOptions { threshold, interval, sample, seed });
                Box::new(Batched::new(policy, cuckoo(), batches, batch))
            }
            SystemName::Dyso => {
                let rate = config.control_rate.unwrap_or_default();
                let chain = config.chain.unwrap_or_default();
                let dyso = DysoLoop::new(&options.dyso, *options.entries, seed, timing, rate, chain)?;
                return Ok(Some(Self { machine: Machine::Dyso(Box::new(dyso)), tally }));
            }
            SystemName::Belady | SystemName::Optimal => return Ok(None),
        };
        Ok(Some(Self { machine: Machine::Plain(system), tally }))
    }

    fn serve(&mut self, keys: &[Key]) {
        match &mut self.machine {
            Machine::Plain(system) => engine::run(&mut **system, keys, &mut self.tally),
            Machine::Dyso(dyso) => engine::run(&mut **dyso, keys, &mut self.tally),
        }
    }

    /// Ends the simulation and returns its outcome.
    ///
    /// # Errors
    /// If DySO's controller and table do not agree in the end.
    pub(super) fn finish(self) -> Result<Ran, Error> {
        let tally = self.tally;
        Ok(match self.machine {
            Machine::Plain(system) => Ran { tally, counts: system.counts(), period: None },
            Machine::Dyso(mut dyso) => {
                // What is sent and made only to get to the end is not part of the run.
                let (counts, period) = (dyso.counts(), Some(dyso.period()));
                dyso.finish()?;
                Ran { tally, counts, period }
            }
        })
    }
}

/// The lookups of a workload, its keys numbered in the order in which they first appear. 4 B a lookup, and while it
/// collects about 20 B a key.
#[derive(Default)]
pub(super) struct Collected {
    numbers: HashMap<Key, u32>,
    pub(super) keys: Vec<u32>,
    /// Lookups, of which no more than [`MOST_FORESEEN`] are kept.
    lookups: u64,
}

impl Collected {
    fn add(&mut self, keys: &[Key]) {
        self.lookups += keys.len() as u64;
        if self.lookups > MOST_FORESEEN {
            // Too many for what they are kept for, which is an error in the end.
            self.keys = Vec::new();
            return;
        }
        self.keys.extend(keys.iter().map(|&key| {
            // There are no more keys than lookups.
            let next = self.numbers.len() as u32;
            *self.numbers.entry(key).or_insert(next)
        }));
    }

    /// Forgets the names of the keys, and returns their number.
    pub(super) fn forget_names(&mut self) -> usize {
        std::mem::take(&mut self.numbers).len()
    }
}

/// Serves all cells what `lookups` hands over, in parallel, while it gets the next chunk; `collected`, if it is there,
/// collects that. How many lookups there were.
///
/// Deterministic, whatever the number of threads. Memory: two chunks besides the cells.
///
/// # Errors
/// If the workload cannot be read, or is too long to be collected; if the observer interrupts.
pub(super) fn feed(
    lookups: &mut dyn Lookups,
    cells: &mut [Cell],
    mut collected: Option<&mut Collected>,
    observer: &dyn Observer,
) -> Result<u64, Error> {
    let (mut current, mut following) = (Vec::new(), Vec::new());
    let (mut total, mut position) = (0, 0);
    let mut more = lookups.next_chunk(&mut current)?;
    while more {
        let units = lookups.position() - position;
        position += units;
        total += current.len() as u64;
        let serve = |cell: &mut Cell| {
            if !observer.interrupted() {
                cell.serve(&current);
                observer.advance(units);
            }
        };
        let work = || {
            let collect = || collected.iter_mut().for_each(|collected| collected.add(&current));
            rayon::join(collect, || cells.par_iter_mut().for_each(serve));
        };
        let (read, ()) = rayon::join(|| lookups.next_chunk(&mut following), work);
        if observer.interrupted() {
            return Err(Error::Interrupted);
        }
        if collected.is_some() && total > MOST_FORESEEN {
            return Err(crate::ideal::too_long(total));
        }
        if position != total {
            // Bytes of a trace are done, and nobody wants to know how many of them.
            observer.tell(&format!("{:.1} M lookups", total as f64 / 1e6));
        }
        more = read?;
        std::mem::swap(&mut current, &mut following);
    }
    Ok(total)
}
