//! The cells of a comparison: every system in every configuration, all of which see each chunk of the workload.

use hashbrown::HashMap;
use rayon::prelude::*;
use trueplane_study::{Error, Observer};
use trueplane_units::Nanos;

use crate::batched::Batched;
use crate::cuckoo::CuckooTable;
use crate::dyso::DysoLoop;
use crate::ideal::{IdealLfu, IdealLru, MOST_FORESEEN};
use crate::options::Options;
use crate::policy::SystemName;
use crate::policy::{Frequency, NetCache, NetCacheOptions, Recency, Tea, TeaOptions};
use crate::table::ExactTable;
use crate::tally::Tally;
use crate::timing::Timing;
use crate::workload::lookups::Lookups;
use crate::{Counts, Key, System, engine};

/// A system in one configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Config {
    pub(crate) system: SystemName,
    /// Of batched systems.
    pub(crate) update_rate: Option<u64>,
    /// Of DySO.
    pub(crate) control_rate: Option<u64>,
    /// Of DySO.
    pub(crate) chain: Option<u64>,
    /// Of NetCache and TEA.
    pub(crate) threshold: Option<u32>,
    /// Of `frequency`.
    pub(crate) ageing: Option<Nanos>,
    /// Whether it is not the one given but near it, run to find out whether that is better.
    pub(crate) is_variation: bool,
}

/// From the given threshold this many times to its half and to its double.
const DOUBLINGS: i32 = 4;
/// From the given ageing period this many times to its quarter and to four times as much.
const QUADRUPLINGS: i32 = 3;
/// No sketch counts any further.
const LARGEST_THRESHOLD: u64 = u16::MAX as u64;

/// All configurations in the order of the report; after each its variations, if the best is looked for.
pub(crate) fn configs(options: &Options) -> Vec<Config> {
    options.systems.iter().flat_map(|&system| configs_of(system, options)).collect()
}

fn configs_of(system: SystemName, options: &Options) -> Vec<Config> {
    let plain = Config {
        system,
        update_rate: None,
        control_rate: None,
        chain: None,
        threshold: matches!(system, SystemName::NetCache | SystemName::Tea)
            .then_some(options.reports.threshold),
        ageing: (system == SystemName::Frequency).then_some(options.ageing),
        is_variation: false,
    };
    if system == SystemName::Dyso {
        let with_rate = |&rate| {
            let of = move |&chain| Config { control_rate: Some(rate), chain: Some(chain), ..plain };
            options.chains.iter().map(of)
        };
        return options.control_rates.iter().flat_map(with_rate).collect();
    }
    if !system.properties().is_batched() {
        return vec![plain];
    }
    let with_rate = |&rate| {
        let given = Config { update_rate: Some(rate), ..plain };
        let variations = if options.best_config { variations(given) } else { Vec::new() };
        [given].into_iter().chain(variations)
    };
    options.update_rates.iter().flat_map(with_rate).collect()
}

/// What else might be better than `given`, nearest first.
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
pub(crate) struct Cell {
    machine: Machine,
    tally: Tally,
}

enum Machine {
    Plain(Box<dyn System + Send>),
    Dyso(Box<DysoLoop>),
}

/// What came of a cell.
pub(crate) struct Ran {
    pub(crate) tally: Tally,
    pub(crate) counts: Counts,
    /// The ageing period at the end, in slots; DySO.
    pub(crate) period: Option<u64>,
}

impl Cell {
    /// Nothing looked up yet; `None` for an offline system.
    ///
    /// # Errors
    /// If the options do not make such a system.
    pub(crate) fn new(config: &Config, options: &Options) -> Result<Option<Self>, Error> {
        let timing = Timing { rate: options.rate };
        let entries = u32::try_from(options.entries).unwrap_or(u32::MAX);
        let sample = u32::try_from(options.reports.sample).unwrap_or(u32::MAX);
        let (seed, interval) = (options.seed, timing.slots(options.reports.interval));
        let threshold = config.threshold.unwrap_or(options.reports.threshold);
        let batches = timing.batches(options.batch, config.update_rate.unwrap_or(1));
        let cuckoo = || CuckooTable::new(entries, options.reports.load_percent);
        let system: Box<dyn System + Send> = match config.system {
            SystemName::IdealLru => Box::new(IdealLru::new(options.entries)),
            SystemName::IdealLfu => Box::new(IdealLfu::new(options.entries)),
            SystemName::Recency => {
                Box::new(Batched::new(Recency::default(), ExactTable::new(entries), batches, options.batch))
            }
            SystemName::Frequency => {
                let policy = Frequency::new(timing.slots(config.ageing.unwrap_or(options.ageing)));
                Box::new(Batched::new(policy, ExactTable::new(entries), batches, options.batch))
            }
            SystemName::NetCache => {
                let delay = timing.slots(options.reports.delay);
                let netcache =
                    NetCacheOptions { delay, ..NetCacheOptions::new(threshold, interval, sample, seed) };
                let policy = NetCache::new(netcache);
                Box::new(Batched::new(policy, cuckoo(), batches, options.batch))
            }
            SystemName::Tea => {
                let policy = Tea::new(TeaOptions { threshold, interval, sample, seed });
                Box::new(Batched::new(policy, cuckoo(), batches, options.batch))
            }
            SystemName::Dyso => {
                let rate = config.control_rate.unwrap_or_default();
                let dyso = DysoLoop::new(options, timing, rate, config.chain.unwrap_or_default())?;
                let machine = Machine::Dyso(Box::new(dyso));
                return Ok(Some(Self { machine, tally: Tally::new(timing, options.warmup) }));
            }
            SystemName::Belady | SystemName::Optimal => return Ok(None),
        };
        Ok(Some(Self { machine: Machine::Plain(system), tally: Tally::new(timing, options.warmup) }))
    }

    fn serve(&mut self, keys: &[Key]) {
        match &mut self.machine {
            Machine::Plain(system) => engine::run(&mut **system, keys, &mut self.tally),
            Machine::Dyso(dyso) => engine::run(&mut **dyso, keys, &mut self.tally),
        }
    }

    /// What came of it.
    ///
    /// # Errors
    /// If DySO's controller and table do not agree in the end.
    pub(crate) fn finish(self) -> Result<Ran, Error> {
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
pub(crate) struct Collected {
    numbers: HashMap<Key, u32>,
    pub(crate) keys: Vec<u32>,
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

    /// How many keys there are, which are forgotten.
    pub(crate) fn forget_names(&mut self) -> usize {
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
pub(crate) fn feed(
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
