//! What `sched inversions` runs: the base, everything that differs from it in one thing, and the schedulers that can work there.

use std::sync::Arc;

use trueplane_study::{Error, Observer};
use trueplane_units::Factor;

use super::found::{LeftOut, Reason, Variable, Varied};
use super::options::{MOST_OPTIMAL, Options};
use super::workload::{Known, Workload};
use crate::bounds;
use crate::choice::RankChoice;
use crate::policy::{PushDown, SchedulerName};
use crate::port::go_on;

/// One point of the star.
pub(crate) struct Scenario {
    /// Variable that is other than at the base, with its value here; none at the base.
    pub varied: Option<Varied>,
    /// Ranks, and the occurrences of each if that is known.
    pub known: Known,
    /// Number of queues.
    pub queues: u64,
    /// Offered load, as a multiple of the line's rate.
    pub load: Factor,
    /// Amount by which SP-PIFO lowers its bounds.
    pub push_down: PushDown,
    /// Schedulers that run.
    pub schedulers: Vec<SchedulerName>,
    /// Whether what happens is shown rank by rank.
    pub by_rank: bool,
    /// The best bounds, if a scheduler needs them.
    pub optimum: Option<Arc<[u64]>>,
}

/// Everything that is to run, the base first, and who was left out.
pub(crate) struct Scenarios<'a> {
    options: &'a Options,
    observer: &'a dyn Observer,
    /// The base, and everything that differs from it in one thing.
    pub list: Vec<Scenario>,
    /// Schedulers that cannot work with the ranks.
    pub left_out: Vec<LeftOut>,
}

impl<'a> Scenarios<'a> {
    /// Those that `options` asks for.
    ///
    /// # Errors
    /// If a scheduler cannot work with the ranks and that is not to be passed over, or the observer interrupts.
    pub(crate) fn new(
        workload: &Workload<'_>,
        options: &'a Options,
        observer: &'a dyn Observer,
    ) -> Result<Self, Error> {
        let mut all = Self { options, observer, list: Vec::new(), left_out: Vec::new() };
        let (ranks, queues) = (options.ranks(), options.queues());
        let (loads, push_downs) = (options.loads(), options.push_downs());
        let base = workload.known(ranks[0], observer)?;
        let (base_queues, load, push_down) = (queues[0], loads[0], push_downs[0]);
        all.add(None, &base, base_queues, load, push_down)?;
        for &other in &queues[1..] {
            all.add(Some(Varied::Queues(other)), &base, other, load, push_down)?;
        }
        for &other in &push_downs[1..] {
            all.add(Some(Varied::PushDown(other)), &base, base_queues, load, other)?;
        }
        for &other in &loads[1..] {
            all.add(Some(Varied::Load(other)), &base, base_queues, other, push_down)?;
        }
        for &other in &ranks[1..] {
            let known = workload.known(other, observer)?;
            all.add(Some(Varied::Ranks(other)), &known, base_queues, load, push_down)?;
        }
        all.find_optima()?;
        Ok(all)
    }

    fn add(
        &mut self,
        varied: Option<Varied>,
        known: &Known,
        queues: u64,
        load: Factor,
        push_down: PushDown,
    ) -> Result<(), Error> {
        let what = varied.map(Varied::variable);
        let mut schedulers = self.able(known, queues)?;
        schedulers.retain(|scheduler| what != Some(Variable::PushDown) || scheduler.properties().pushes_down);
        let by_rank = matches!(what, None | Some(Variable::PushDown | Variable::Ranks));
        let known = known.clone();
        let scenario =
            Scenario { varied, known, queues, load, push_down, schedulers, by_rank, optimum: None };
        self.list.push(scenario);
        Ok(())
    }

    /// The schedulers that can work with these ranks; those that cannot are left out or refused.
    fn able(&mut self, known: &Known, queues: u64) -> Result<Vec<SchedulerName>, Error> {
        let mut able = Vec::new();
        for &scheduler in self.options.policies.list.iter() {
            let Some(why) = why_not(scheduler, known, queues) else {
                able.push(scheduler);
                continue;
            };
            let ranks = known.choice;
            if !self.options.policies.lenient {
                return Err(Error::Parameters(format!("{scheduler} {why} (--ranks {ranks})")));
            }
            leave_out(&mut self.left_out, scheduler, ranks, why);
        }
        Ok(able)
    }

    /// Finds the best bounds, once for all scenarios with the same ranks and queues. One after the other: they take up to 256 MiB.
    fn find_optima(&mut self) -> Result<(), Error> {
        let mut found: Vec<(RankChoice, u64, Arc<[u64]>)> = Vec::new();
        for scenario in &mut self.list {
            let Some(counts) = &scenario.known.counts else { continue };
            if !scenario.schedulers.contains(&SchedulerName::Optimal) {
                continue;
            }
            let (choice, queues) = (scenario.known.choice, scenario.queues);
            if let Some((.., known)) = found.iter().find(|(ranks, of, _)| (*ranks, *of) == (choice, queues)) {
                scenario.optimum = Some(Arc::clone(known));
                continue;
            }
            go_on(self.observer)?;
            let optimum: Arc<[u64]> = bounds::optimal(counts, queues as usize).into();
            scenario.optimum = Some(Arc::clone(&optimum));
            found.push((choice, queues, optimum));
        }
        go_on(self.observer)
    }
}

/// Why a scheduler cannot work with these ranks, if it cannot.
fn why_not(scheduler: SchedulerName, known: &Known, queues: u64) -> Option<Reason> {
    match &known.counts {
        None if !scheduler.properties().needs_distribution => None,
        None => Some(match known.choice {
            RankChoice::Policy(policy) if !policy.properties().grows => Reason::SpanIsUnknown,
            _ => Reason::RanksGrow,
        }),
        Some(counts)
            if scheduler == SchedulerName::Optimal && counts.len() as u64 * queues > MOST_OPTIMAL =>
        {
            Some(Reason::Memory)
        }
        Some(_) => None,
    }
}

/// Adds to who is left out, once for all ranks for which the reason is the same.
fn leave_out(left_out: &mut Vec<LeftOut>, scheduler: SchedulerName, ranks: RankChoice, why: Reason) {
    match left_out.iter_mut().find(|out| out.scheduler == scheduler && out.why == why) {
        None => left_out.push(LeftOut { scheduler, ranks: vec![ranks], why }),
        Some(out) if out.ranks.contains(&ranks) => (),
        Some(out) => out.ranks.push(ranks),
    }
}

#[cfg(test)]
mod tests {
    use trueplane_units::Parameters as _;

    use super::*;

    /// The optimum is a matter of ranks and queues.
    #[test]
    fn scenarios_share_their_optimum() {
        let given = [("queues", "8,16"), ("load", "0.9,0.5"), ("ranks", "uniform,convex,stfq")];
        let options = Options::given(&given).unwrap();
        let workload = Workload::new(None, &options, &()).unwrap();
        let all = Scenarios::new(&workload, &options, &()).unwrap();
        let optima: Vec<Option<&Arc<[u64]>>> =
            all.list.iter().map(|scenario| scenario.optimum.as_ref()).collect();
        let [Some(base), Some(queues), Some(load), Some(ranks), None] = optima[..] else {
            panic!("{optima:?}")
        };
        assert!(Arc::ptr_eq(base, load));
        assert_eq!((base.len(), queues.len(), base == ranks), (8, 16, false));
    }

    #[test]
    fn who_is_left_out_is_said_once() {
        let given = [
            ("ranks", "stfq,pfabric,fifo,srpt"),
            ("arrivals", "on-off"),
            ("policies", "fixed,all"),
            ("queues", "8,16"),
        ];
        let options = Options::given(&given).unwrap();
        let workload = Workload::new(None, &options, &()).unwrap();
        let all = Scenarios::new(&workload, &options, &()).unwrap();
        let out = all.left_out.iter().filter(|out| out.scheduler == SchedulerName::Fixed);
        let ranks: Vec<String> = out.map(LeftOut::ranks).collect();
        assert_eq!(ranks, ["stfq, fifo", "pfabric, srpt"]);
    }
}
