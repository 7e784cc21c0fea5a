//! Runs every policy without an attack and under the attack at every rate, all of it for every rate of users and every seed.

use std::sync::{Mutex, PoisonError};

use trueplane_study::cases::over;
use trueplane_study::{Error, Observer};

use super::attacks::threats;
use super::batches::batches;
use super::case::{Case, Studied};
use super::found::Found;
use super::options::{AttackChoice, Options};
use super::prepare::Prepared;
use super::rows;
use super::sent::{Threat, Threats};
use super::single::{Cost, Run};
use crate::server::Log;
use crate::tally::Tally;
use crate::workload::open::Opened;
use crate::workload::source::Source;

/// Runs the study. `log` is told the departures of the one run under attack; there must be only one then.
///
/// Deterministic, whatever the number of threads: every run draws its own arrivals from its seed.
///
/// # Errors
/// If the options do not fit each other or the workload, the workload cannot be read, there are departures of several runs to log, a run
/// takes more memory than there is, `log` fails, or the observer interrupts.
pub fn run(options: &Options, observer: &dyn Observer, log: Option<&mut Log<'_>>) -> Result<Found, Error> {
    options.check()?;
    // Before the workload, which may be long: a file of attacks may not be there.
    let choice = options.attack.choice()?;
    chosen(&options.open(observer)?, options, &choice, observer, log)
}

/// Runs the study on a workload that is open, whatever the options say of the workload.
///
/// # Errors
/// As [`run`].
pub fn on(
    opened: &Opened,
    options: &Options,
    observer: &dyn Observer,
    log: Option<&mut Log<'_>>,
) -> Result<Found, Error> {
    chosen(opened, options, &options.attack.choice()?, observer, log)
}

fn chosen(
    opened: &Opened,
    options: &Options,
    choice: &AttackChoice,
    observer: &dyn Observer,
    log: Option<&mut Log<'_>>,
) -> Result<Found, Error> {
    match opened {
        Opened::Iid(source) => on_source(source, options, choice, observer, log),
        Opened::Recorded(source) => on_source(source, options, choice, observer, log),
        Opened::List(source) => on_source(source, options, choice, observer, log),
        Opened::Tree(source) => on_source(source, options, choice, observer, log),
        Opened::Matching(source) => on_source(source, options, choice, observer, log),
    }
}

fn on_source<S: Source>(
    source: &S,
    options: &Options,
    choice: &AttackChoice,
    observer: &dyn Observer,
    log: Option<&mut Log<'_>>,
) -> Result<Found, Error> {
    let prepared = Prepared::new(source, options, observer)?;
    let attacked = prepared.innocent.len() * options.policies.len() * prepared.attack.len();
    if log.is_some() && (attacked != 1 || prepared.seeds.len() != 1) {
        return Err(Error::Parameters(format!(
            "--departures is for one policy, one rate of users, one attack rate and one seed: these are {attacked} of them with {} seeds",
            prepared.seeds.len()
        )));
    }
    let threats = threats(source, &prepared, options, choice, observer)?;
    let cases = cases(&prepared, options, &threats);
    let studied = Studied { source, options, prepared: &prepared, threats: &threats };
    let log = Mutex::new(log);
    let tallies = studied.run(&cases, observer, &log)?;
    let mut found = rows::found(&studied, &cases, &tallies);
    if !options.exact_ranks {
        let cases = studied.exact_cases(&found);
        let tallies = studied.run(&cases, observer, &log)?;
        found.rounding = rows::rounding(&studied, &found, &cases, &tallies);
    }
    Ok(found)
}

/// All runs: for every rate of users and policy first those without an attack.
fn cases<S: Source>(prepared: &Prepared<S>, options: &Options, threats: &Threats<S>) -> Vec<Case> {
    let mut cases = Vec::new();
    let seeds = 0..prepared.seeds.len();
    let (mut threat, exact) = (0, options.exact_ranks);
    for innocent in 0..prepared.innocent.len() {
        for policy in 0..options.policies.len() {
            let calm = |seed| Case { policy, innocent, seed, threat: None, exact };
            cases.extend(seeds.clone().map(calm));
            for _ in &prepared.attack {
                let of = |seed| Case { policy, innocent, seed, threat: Some(threat), exact };
                cases.extend(seeds.clone().map(of));
                threat += 1;
            }
        }
    }
    debug_assert_eq!(threat, threats.len(), "threats are in this order");
    cases
}

impl<S: Source> Studied<'_, S> {
    fn of(&self, case: Case) -> Run<'_, S> {
        Run {
            source: self.source,
            options: self.options,
            users: &self.prepared.users[case.innocent][case.seed],
            policy: self.options.policies[case.policy],
            exact: case.exact,
            sent: case.threat.map(|threat| &self.threats[threat].sent),
            seed: self.prepared.seeds[case.seed],
        }
    }

    /// The policies with ranks at their worst once more, with exact ranks: without the attack, and under it.
    fn exact_cases(&self, found: &Found) -> Vec<Case> {
        let mut cases = Vec::new();
        for worst in found.worst() {
            // Rows are in the order of threats.
            let Some(threat) = found.rows.iter().position(|row| std::ptr::eq(row, worst)) else { continue };
            let Threat { policy, innocent, .. } = self.threats[threat];
            let number = self.options.policies.iter().position(|other| *other == policy);
            let Some(number) = number.filter(|_| policy.properties().ranked) else { continue };
            for threat in [None, Some(threat)] {
                let of = |seed| Case { policy: number, innocent, seed, threat, exact: true };
                cases.extend((0..self.prepared.seeds.len()).map(of));
            }
        }
        cases
    }

    /// Runs `cases`, as many side by side as there are threads and as the memory holds.
    fn run(
        &self,
        cases: &[Case],
        observer: &dyn Observer,
        log: &Mutex<Option<&mut Log<'_>>>,
    ) -> Result<Vec<Tally>, Error> {
        let costs: Vec<Cost> = cases.iter().map(|case| self.of(*case).cost()).collect::<Result<_, _>>()?;
        observer.stage("simulating", costs.iter().map(|cost| cost.arrivals).sum());
        let memory = self.options.memory.0.saturating_sub(self.prepared.bytes);
        let needed: Vec<u64> = costs.iter().map(|cost| cost.bytes).collect();
        let mut tallies = Vec::with_capacity(cases.len());
        for batch in batches(&needed, rayon::current_num_threads(), memory) {
            let of = |case: &Case| {
                let run = self.of(*case);
                // There is a log only if there is one run under attack.
                let mut kept = log.lock().unwrap_or_else(PoisonError::into_inner);
                let log = if case.threat.is_some() { kept.take() } else { None };
                drop(kept);
                match log {
                    Some(log) => run.run(memory, observer, log),
                    None => run.run(memory, observer, &mut |_| Ok(())),
                }
            };
            tallies.extend(over(&cases[batch], observer, of)?);
        }
        Ok(tallies)
    }
}
