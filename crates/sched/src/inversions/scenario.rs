//! What `sched inversions` runs: the base, everything that differs from it in one thing, and the schedulers that can work there.

use std::sync::Arc;

use trueplane_study::{Error, Observer};

use super::document::LeftOut;
use crate::bounds;
use crate::choice::RankChoice;
use crate::options::{MOST_OPTIMAL, Options};
use crate::policy::PushDown;
use crate::policy::SchedulerName;
use crate::port::go_on;
use crate::workload::{Known, Workload};

/// One point of the star.
pub(crate) struct Scenario {
    /// What is other than at the base, and what it is here; none at the base.
    pub varied: Option<(&'static str, String)>,
    /// Where ranks come from.
    pub known: Known,
    /// Number of queues.
    pub queues: u64,
    /// What comes, in millionths of what the line can send.
    pub load: u64,
    /// How SP-PIFO pushes down.
    pub push_down: PushDown,
    /// Who runs.
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
        let base = workload.known(options.ranks[0], observer)?;
        let (queues, load, push_down) = (options.queues[0], options.loads[0], options.push_downs[0]);
        all.add(None, &base, queues, load, push_down)?;
        for &other in &options.queues[1..] {
            all.add(Some(("queues", other.to_string())), &base, other, load, push_down)?;
        }
        for &other in &options.push_downs[1..] {
            let name = other.name().to_owned();
            all.add(Some(("push-down", name)), &base, queues, load, other)?;
        }
        for &other in &options.loads[1..] {
            all.add(Some(("load", format!("{}", other as f64 / 1e6))), &base, queues, other, push_down)?;
        }
        for &other in &options.ranks[1..] {
            let known = workload.known(other, observer)?;
            all.add(Some(("ranks", other.to_string())), &known, queues, load, push_down)?;
        }
        all.find_optima()?;
        Ok(all)
    }

    fn add(
        &mut self,
        varied: Option<(&'static str, String)>,
        known: &Known,
        queues: u64,
        load: u64,
        push_down: PushDown,
    ) -> Result<(), Error> {
        let what = varied.as_ref().map(|(varied, _)| *varied);
        let mut schedulers = self.able(known, queues)?;
        schedulers.retain(|scheduler| what != Some("push-down") || scheduler.properties().pushes_down);
        let by_rank = matches!(what, None | Some("push-down" | "ranks"));
        let known = known.clone();
        let scenario =
            Scenario { varied, known, queues, load, push_down, schedulers, by_rank, optimum: None };
        self.list.push(scenario);
        Ok(())
    }

    /// The schedulers that can work with these ranks; those that cannot are left out or refused.
    fn able(&mut self, known: &Known, queues: u64) -> Result<Vec<SchedulerName>, Error> {
        let mut able = Vec::new();
        for &scheduler in &self.options.schedulers {
            let Some(why) = why_not(scheduler, known, queues) else {
                able.push(scheduler);
                continue;
            };
            let (name, ranks) = (scheduler.name(), known.choice.to_string());
            if !self.options.lenient {
                return Err(Error::Parameters(format!("{name} {why} (--ranks {ranks})")));
            }
            leave_out(&mut self.left_out, name, ranks, why);
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
fn why_not(scheduler: SchedulerName, known: &Known, queues: u64) -> Option<&'static str> {
    match &known.counts {
        None if !scheduler.properties().needs_distribution => None,
        None => Some(match known.choice {
            RankChoice::Policy(policy) if !policy.properties().grows => {
                "needs ranks below a span that is known beforehand, and these are only known to have an end"
            }
            _ => "needs ranks below a known span, and these grow",
        }),
        Some(counts)
            if scheduler == SchedulerName::Optimal && counts.len() as u64 * queues > MOST_OPTIMAL =>
        {
            Some("takes too much memory for so many queues and ranks")
        }
        Some(_) => None,
    }
}

/// Adds to who is left out, once for all ranks for which the reason is the same.
fn leave_out(left_out: &mut Vec<LeftOut>, scheduler: &'static str, ranks: String, why: &'static str) {
    match left_out.iter_mut().find(|out| out.scheduler == scheduler && out.why == why) {
        None => left_out.push(LeftOut { scheduler, ranks, why }),
        Some(out) if out.ranks.split(", ").any(|other| other == ranks) => (),
        Some(out) => {
            out.ranks.push_str(", ");
            out.ranks.push_str(&ranks);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The optimum is a matter of ranks and queues.
    #[test]
    fn scenarios_share_their_optimum() {
        let options = Options {
            queues: vec![8, 16],
            loads: vec![900_000, 500_000],
            ranks: vec!["uniform".parse().unwrap(), "convex".parse().unwrap(), "stfq".parse().unwrap()],
            ..Options::default()
        };
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
        let ranks = ["stfq", "pfabric", "fifo", "srpt"].map(|ranks| ranks.parse().unwrap());
        let options = Options {
            ranks: ranks.into(),
            arrivals: crate::choice::Arrivals::OnOff,
            schedulers: vec![SchedulerName::Fixed],
            queues: vec![8, 16],
            ..Options::default()
        };
        let workload = Workload::new(None, &options, &()).unwrap();
        let all = Scenarios::new(&workload, &options, &()).unwrap();
        let ranks: Vec<&str> = all.left_out.iter().map(|out| out.ranks.as_str()).collect();
        assert_eq!(ranks, ["stfq, fifo", "pfabric, srpt"]);
    }
}
