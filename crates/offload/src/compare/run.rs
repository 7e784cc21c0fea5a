//! Runs all systems over a workload.

use trueplane_study::{Error, Observer};
use trueplane_units::{Parameters, Warmup};

use super::found::{Found, Outcome, Row};
use super::grid::{Cell, Collected, Config, Ran, configs, feed};
use super::options::Options;
use super::recovery::recovery;
use super::{limits, warnings};
use crate::ideal::Clairvoyant;
use crate::optimal::{BoundLimits, Problem, bound};
use crate::policy::{SystemName, Tuning};
use crate::tally::Tally;
use crate::timing::Timing;
use crate::workload::Workload;
use crate::workload::lookups::Keys;
use crate::{Counts, Key, engine};

/// Lookups of the offline systems between two reports of progress.
const REPORT: usize = 1 << 16;

/// Opens the workload, and runs all systems over it.
pub(super) fn run(options: &Options, observer: &dyn Observer) -> Result<Found, Error> {
    let workload = Workload::open(options.workload.text(), &options.reading.options())?;
    match options.reading.first_given() {
        Some(flag) if workload.zipf().is_some() => Err(Error::Parameters(format!(
            "{flag}: it says how to read a trace, and {} is no trace",
            options.workload
        ))),
        _ => compare(&workload, options, observer),
    }
}

/// Runs every system of `options` at every rate and chain over `workload`, once for each of the levels of change that are asked for (keys
/// that change their popularity at once), or as it is written if there are none.
///
/// The workload is read or drawn once for each level; all cells of the grid see each chunk of it, in parallel, while
/// the next one is got ready. Deterministic, whatever the number of threads. Memory: that of the systems, besides two
/// chunks; the offline systems, which come after the others, hold the workload, 8 B a lookup.
///
/// With `--best-config` the ageing period of `frequency` is also tried from a 64th to 64 times of the one
/// given, in powers of four, and the threshold of `netcache` and `tea` from a 16th to 16 times, in powers of two; the
/// one with the fewest misses, which may be the one given, has a row of its own after that.
///
/// # Errors
///
/// The options do not fit each other or the workload, which includes a warm-up that leaves nothing to count; the
/// workload cannot be read; the observer interrupts.
pub(super) fn compare(
    workload: &Workload,
    options: &Options,
    observer: &dyn Observer,
) -> Result<Found, Error> {
    options.check()?;
    let changes = options.levels();
    let levels = if changes.is_empty() {
        vec![workload.clone()]
    } else {
        changes.iter().map(|&keys| workload.with_change(keys)).collect::<Result<_, _>>()?
    };
    levels.iter().try_for_each(|level| limits::check_workload(level, options))?;
    let mut found = Found {
        keys: Keys::default(),
        skipped: Vec::new(),
        warnings: Vec::new(),
        warmup: 0,
        rows: Vec::new(),
    };
    for workload in &levels {
        let warmup = warmup(workload, options, observer)?;
        let level = Level { workload, options, observer, timing: options.timing(), warmup }.run()?;
        for warning in warnings::warnings(workload, level.lookups, level.keys, options, &level.rows) {
            if !found.warnings.contains(&warning) {
                found.warnings.push(warning);
            }
        }
        found.rows.extend(level.rows);
        (found.keys, found.skipped, found.warmup) = (level.keys, level.skipped, warmup);
    }
    Ok(found)
}

/// The number of lookups at the start of a workload that are not counted. For a share of a trace the trace is read once more.
fn warmup(workload: &Workload, options: &Options, observer: &dyn Observer) -> Result<u64, Error> {
    let timing = options.timing();
    if let Some(lookups) = workload.len_hint(timing) {
        return Ok(options.warmup(lookups));
    }
    if !matches!(options.warmup, Warmup::Share(_)) {
        // A number and a time are the same, however many lookups there are.
        return Ok(options.warmup(0));
    }
    observer.stage("counting", workload.extent(timing));
    let mut reading = workload.lookups(timing, options.seed)?;
    let (mut chunk, mut lookups, mut position) = (Vec::new(), 0, 0);
    while reading.next_chunk(&mut chunk)? {
        lookups += chunk.len() as u64;
        observer.advance(reading.position() - position);
        position = reading.position();
        observer.go_on()?;
    }
    Ok(options.warmup(lookups))
}

/// One workload and all systems.
struct Level<'a> {
    workload: &'a Workload,
    options: &'a Options,
    observer: &'a dyn Observer,
    timing: Timing,
    /// Lookups at the start that are not counted.
    warmup: u64,
}

/// Outcome of all systems at one level of change.
struct Outcomes {
    rows: Vec<Row>,
    keys: Keys,
    skipped: Vec<(String, u64)>,
    lookups: u64,
}

impl Level<'_> {
    fn run(&self) -> Result<Outcomes, Error> {
        let configs = configs(self.options);
        let (mut online, mut cells) = (Vec::new(), Vec::new());
        for (index, config) in configs.iter().enumerate() {
            if let Some(cell) = Cell::new(config, self.options, self.warmup)? {
                online.push(index);
                cells.push(cell);
            }
        }
        let mut collected = (online.len() < configs.len()).then(Collected::default);
        let mut lookups = self.workload.lookups(self.timing, self.options.seed)?;
        let extent = self.workload.extent(self.timing);
        self.observer.stage("simulating", extent.saturating_mul(cells.len().max(1) as u64));
        let total = feed(&mut *lookups, &mut cells, collected.as_mut(), self.observer)?;
        limits::check_length(self.workload, total, self.options)?;
        let (mut keys, skipped) = (lookups.keys(), lookups.skipped().to_vec());
        drop(lookups);

        let mut outcomes: Vec<Option<Outcome>> = vec![None; configs.len()];
        for (index, cell) in online.into_iter().zip(cells) {
            outcomes[index] = Some(self.outcome(&configs[index], cell.finish()?));
        }
        if let Some(mut collected) = collected {
            let distinct = collected.forget_names();
            // Counted and not estimated, but by hashes.
            keys = Keys {
                distinct: keys.distinct.filter(|_| keys.one_in <= 1).or(Some(distinct as u64)),
                ..keys
            };
            self.offline(&configs, &collected.keys, distinct, &mut outcomes)?;
        }
        let outcomes: Vec<(Config, Outcome)> = configs
            .into_iter()
            .zip(outcomes)
            .filter_map(|(config, outcome)| Some((config, outcome?)))
            .collect();
        Ok(Outcomes { rows: self.rows(&outcomes), keys, skipped, lookups: total })
    }

    fn outcome(&self, config: &Config, ran: Ran) -> Outcome {
        let changes = self.workload.changes(self.timing);
        let recovery = recovery(&ran.tally, self.timing, changes, self.warmup);
        let period = ran.period.map(|slots| self.timing.nanos(slots)).or(config.ageing);
        Outcome::Run { tally: ran.tally, counts: ran.counts, period, recovery }
    }

    /// Runs the systems that know all of `keys` beforehand.
    fn offline(
        &self,
        configs: &[Config],
        keys: &[u32],
        distinct: usize,
        outcomes: &mut [Option<Outcome>],
    ) -> Result<(), Error> {
        let find = |system| configs.iter().position(move |config| config.system == system);
        let bounds = || {
            let optimal =
                configs.iter().enumerate().filter(|(_, config)| config.system == SystemName::Optimal);
            optimal
                .map(|(index, config)| Ok((index, self.bounds(config, keys)?)))
                .collect::<Result<Vec<_>, Error>>()
        };
        let belady = find(SystemName::Belady);
        if belady.is_some() && find(SystemName::Optimal).is_none() {
            self.observer.stage("looking ahead", keys.len() as u64);
        }
        let clairvoyant = || belady.map(|_| self.belady(keys, distinct)).transpose();
        // The search for bounds uses all threads, and reports; Bélády's algorithm uses one.
        let (ran, bounds) = rayon::join(clairvoyant, bounds);
        if let (Some(index), Some(ran)) = (belady, ran?) {
            outcomes[index] = Some(self.outcome(&configs[index], ran));
        }
        for (index, bounds) in bounds? {
            outcomes[index] = Some(bounds);
        }
        Ok(())
    }

    fn belady(&self, keys: &[u32], distinct: usize) -> Result<Ran, Error> {
        let mut system = Clairvoyant::new(*self.options.entries, keys, distinct, self.warmup)?;
        let mut tally = Tally::new(self.timing, self.warmup);
        let reports = !self.options.has(SystemName::Optimal);
        let mut named = Vec::with_capacity(REPORT);
        for chunk in keys.chunks(REPORT) {
            if self.observer.interrupted() {
                return Err(Error::Interrupted);
            }
            named.clear();
            named.extend(chunk.iter().map(|&key| Key(key.into())));
            engine::run(&mut system, &named, &mut tally);
            if reports {
                self.observer.advance(chunk.len() as u64);
            }
        }
        Ok(Ran { tally, counts: Counts::default(), period: None })
    }

    fn bounds(&self, config: &Config, keys: &[u32]) -> Result<Outcome, Error> {
        let (options, search) = (self.options, &self.options.search);
        let batch = options.batch();
        let batches = self.timing.batches(batch, config.update_rate.unwrap_or_default().0);
        let problem = Problem::new(keys, *options.entries, batch, batches, self.warmup)?;
        let (lower, upper) = if search.exact {
            self.exact(&problem)?
        } else {
            let limits = BoundLimits { iterations: *search.iterations, gap: search.gap.0 };
            let found = bound(&problem, &limits, self.observer)?;
            (found.lower, found.upper)
        };
        Ok(Outcome::Bounds { lookups: problem.lookups(), lower, upper: Some(upper) })
    }

    /// Bound that the prices of the linear programme prove, and the programme's value, which is whole: a schedule has it.
    #[cfg(feature = "lp")]
    fn exact(&self, problem: &Problem) -> Result<(u64, u64), Error> {
        let found = crate::optimal::lp::exact(problem, self.observer)?;
        Ok((found.lower, found.lower.max(found.value.round() as u64)))
    }

    #[cfg(not(feature = "lp"))]
    fn exact(&self, _problem: &Problem) -> Result<(u64, u64), Error> {
        Err(Error::Parameters(super::options::NO_LP.to_owned()))
    }

    /// A row for every configuration that was given, and, where variations of it were tried, one for the best after it.
    fn rows(&self, outcomes: &[(Config, Outcome)]) -> Vec<Row> {
        let mut rows = Vec::new();
        let mut rest = outcomes;
        while let Some((given, _)) = rest.first() {
            let end = 1 + rest[1..].iter().take_while(|(config, _)| config.is_variation).count();
            let (tried, others) = rest.split_at(end);
            rows.push(self.row(&tried[0], false));
            let can_vary = given.system.properties().tuning != Tuning::None;
            if self.options.batches.best_config && can_vary {
                let all = tried.iter().map(|tried| self.row(tried, true));
                // Of equals the first, which is the one given or next to it.
                rows.extend(all.min_by_key(Row::misses));
            }
            rest = others;
        }
        rows
    }

    fn row(&self, (config, outcome): &(Config, Outcome), best: bool) -> Row {
        let Config { system, update_rate, control_rate, chain, threshold, .. } = *config;
        let change = self.workload.change();
        Row { system, change, update_rate, control_rate, chain, best, threshold, outcome: outcome.clone() }
    }
}
