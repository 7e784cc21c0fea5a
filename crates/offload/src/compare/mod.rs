//! The study: one workload, all systems.

mod checks;
mod grid;
pub mod recovery;
pub mod report;
pub mod verdict;

use trueplane_study::{Error, Observer};

use crate::compare::grid::{Cell, Collected, Config, Ran, configs, feed};
use crate::compare::recovery::recovery;
use crate::comparison::{Comparison, Keys, Outcome, Row};
use crate::ideal::Clairvoyant;
use crate::optimal::{Problem, bound};
use crate::options::Options;
use crate::policy::SystemName;
use crate::tally::Tally;
use crate::timing::Timing;
use crate::workload::Workload;
use crate::{Counts, Key, engine};

#[cfg(test)]
mod tests;

/// Lookups of the offline systems between two reports of progress.
const REPORT: usize = 1 << 16;

/// Runs every system of `options` at every rate and chain over `workload`, once for each of the levels of change that
/// `changes` names (keys that change their popularity at once), or as it is written if there are none.
///
/// The workload is read or drawn once for each level; all cells of the grid see each chunk of it, in parallel, while
/// the next one is got ready. Deterministic, whatever the number of threads. Memory: that of the systems, besides two
/// chunks; the offline systems, which come after the others, hold the workload, 8 B a lookup.
///
/// With [`Options::best_config`] the ageing period of `frequency` is also tried from a 64th to 64 times of the one
/// given, in powers of four, and the threshold of `netcache` and `tea` from a 16th to 16 times, in powers of two; the
/// one with the fewest misses, which may be the one given, has a row of its own after that.
///
/// # Errors
///
/// The options do not fit each other or the workload, which includes a warm-up that leaves nothing to count; the
/// workload cannot be read; the observer interrupts.
pub fn compare(
    workload: &Workload,
    changes: &[u64],
    options: &Options,
    observer: &dyn Observer,
) -> Result<Comparison, Error> {
    checks::check(options)?;
    let levels = if changes.is_empty() {
        vec![workload.clone()]
    } else {
        changes.iter().map(|&keys| workload.with_change(keys)).collect::<Result<_, _>>()?
    };
    levels.iter().try_for_each(|level| checks::check_workload(level, options))?;
    let (mut rows, mut keys, mut skipped, mut warnings) =
        (Vec::new(), Keys::default(), Vec::new(), Vec::new());
    for level in &levels {
        let run =
            Level { workload: level, options, observer, timing: Timing { rate: options.rate } }.run()?;
        for warning in checks::warnings(level, run.lookups, run.keys, options, &run.rows) {
            if !warnings.contains(&warning) {
                warnings.push(warning);
            }
        }
        rows.extend(run.rows);
        (keys, skipped) = (run.keys, run.skipped);
    }
    let workload = workload.name().to_owned();
    Ok(Comparison { options: options.clone(), workload, keys, skipped, warnings, rows })
}

/// One workload and all systems.
struct Level<'a> {
    workload: &'a Workload,
    options: &'a Options,
    observer: &'a dyn Observer,
    timing: Timing,
}

/// What came of it.
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
            if let Some(cell) = Cell::new(config, self.options)? {
                online.push(index);
                cells.push(cell);
            }
        }
        let mut collected = (online.len() < configs.len()).then(Collected::default);
        let mut lookups = self.workload.lookups(self.timing, self.options.seed)?;
        let extent = self.workload.extent(self.timing);
        self.observer.stage("simulating", extent.saturating_mul(cells.len().max(1) as u64));
        let total = feed(&mut *lookups, &mut cells, collected.as_mut(), self.observer)?;
        checks::check_length(self.workload, total, self.options)?;
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
        let recovery = recovery(&ran.tally, self.timing, changes, self.options.warmup);
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
        let mut system = Clairvoyant::new(self.options.entries, keys, distinct, self.options.warmup)?;
        let mut tally = Tally::new(self.timing, self.options.warmup);
        let reports = !self.options.systems.contains(&SystemName::Optimal);
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
        let Options { entries, batch, warmup, .. } = *self.options;
        let batches = self.timing.batches(batch, config.update_rate.unwrap_or_default());
        let problem = Problem::new(keys, entries, batch, batches, warmup)?;
        let (lower, upper) = if self.options.exact {
            self.exact(&problem)?
        } else {
            let found = bound(&problem, &self.options.bound, self.observer)?;
            (found.lower, found.upper)
        };
        Ok(Outcome::Bounds { lookups: problem.lookups(), lower, upper: Some(upper) })
    }

    /// What the prices of the linear programme prove, and its value, which is whole: a schedule has it.
    #[cfg(feature = "lp")]
    fn exact(&self, problem: &Problem) -> Result<(u64, u64), Error> {
        let found = super::optimal::lp::exact(problem, self.observer)?;
        Ok((found.lower, found.lower.max(found.value.round() as u64)))
    }

    #[cfg(not(feature = "lp"))]
    fn exact(&self, _problem: &Problem) -> Result<(u64, u64), Error> {
        Err(Error::Parameters(checks::NO_LP.to_owned()))
    }

    /// A row for every configuration that was given, and, where variations of it were tried, one for the best after it.
    fn rows(&self, outcomes: &[(Config, Outcome)]) -> Vec<Row> {
        let mut rows = Vec::new();
        let mut rest = outcomes;
        while let Some((given, _)) = rest.first() {
            let end = 1 + rest[1..].iter().take_while(|(config, _)| config.is_variation).count();
            let (tried, others) = rest.split_at(end);
            rows.push(self.row(&tried[0], false));
            let can_vary = given.threshold.is_some() || given.ageing.is_some();
            if self.options.best_config && can_vary {
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
