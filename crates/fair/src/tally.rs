//! What is counted while a cluster runs.
//!
//! Two questions about fairness are asked of every run. The classical one is of an instant: do those who wait hold equal shares *now*?
//! The other is of the whole time: have users had equal shares *in the long run*? Both have Jain's index, (Σx)² / (n·Σx²) of n users'
//! weighted dominant shares x, for an answer: 1 if all are equal, 1/n if one has everything.

use trueplane_study::Error;
use trueplane_study::metrics::Distribution;
use trueplane_units::Nanos;

use crate::Cluster;
use crate::cluster::WHOLE;
use crate::engine::{Probe, Started};
use crate::shares::SharesOverTime;

/// Receiver of the tasks that start.
pub type Sink<'a> = Box<dyn FnMut(&Started) -> Result<(), Error> + Send + 'a>;

/// From when to when a run is watched.
#[derive(Clone, Copy, Debug)]
pub struct Bounds<'a> {
    /// The first submission.
    pub start: Nanos,
    /// Up to when some things are counted only.
    pub horizon: Nanos,
    /// The tasks, in increasing order, of which it is not known when they end: whether by the horizon is not asked.
    pub censored: &'a [u32],
}

/// One user's part of a run.
#[derive(Clone, Debug, Default)]
pub struct UserTally {
    /// Tasks of its own in the log.
    pub submitted: u64,
    /// Tasks of the user that are larger than the cluster.
    pub skipped: u64,
    /// Tasks of the user that started.
    pub started: u64,
    /// Tasks of the user that ended.
    pub completed: u64,
    /// Tasks of the user that ended by the horizon, but for those of which the log does not know when they end.
    pub completed_by_horizon: u64,
    /// Total wait of the user's tasks that started, in ns.
    pub waited: u128,
    /// ∫ weighted dominant share dt up to the horizon, in ns times 1/[`WHOLE`] of the cluster.
    pub held: u128,
    /// Its weighted dominant share, in 1/[`WHOLE`].
    share: u64,
    /// Since when.
    since: Nanos,
    /// Whether a task of its own waits.
    waits: bool,
}

impl UserTally {
    /// The mean wait of all that started, in ns.
    pub fn mean_wait(&self) -> f64 {
        trueplane_study::metrics::ratio(self.waited, self.started)
    }
}

/// Shares of the users who wait: what Jain's index of an instant is made of. In integers, so that whoever comes and goes leaves nothing.
#[derive(Clone, Copy, Debug, Default)]
struct Waiting {
    users: u64,
    sum: u128,
    squares: u128,
}

impl Waiting {
    fn add(&mut self, share: u64) {
        self.users += 1;
        self.sum += u128::from(share);
        self.squares += u128::from(share) * u128::from(share);
    }

    fn remove(&mut self, share: u64) {
        self.users -= 1;
        self.sum -= u128::from(share);
        self.squares -= u128::from(share) * u128::from(share);
    }

    /// Jain's index; 1 if nobody holds anything.
    fn index(&self) -> f64 {
        if self.squares == 0 {
            return 1.0;
        }
        let sum = self.sum as f64;
        sum * sum / (self.users as f64 * self.squares as f64)
    }
}

/// Jain's index of shares that need not be whole: (Σx)² / (n·Σx²); none of no users, or if nobody has anything.
pub fn jain(shares: impl IntoIterator<Item = f64>) -> Option<f64> {
    let (mut users, mut sum, mut squares) = (0u64, 0.0, 0.0);
    for share in shares {
        users += 1;
        sum += share;
        squares += share * share;
    }
    (squares > 0.0).then(|| sum * sum / (users as f64 * squares))
}

/// Counts of a run.
pub struct Tally<'a> {
    /// User by user.
    pub users: Vec<UserTally>,
    /// Waits of all tasks that started, in ns.
    pub waits: Distribution,
    /// Starts in the instant of the submission.
    pub at_once: u64,
    /// Starts that passed the task of a user before them in order.
    pub backfilled: u64,
    /// Time at which the last task ended.
    pub last_end: Nanos,
    /// ∫ use dt up to the horizon for every resource, in its units times ns.
    pub used: Vec<u128>,
    /// The time up to the horizon in which two users or more waited, in ns.
    pub contended: u64,
    /// The same up to the end of the last task.
    pub contended_to_end: u64,
    /// The waits of the tasks that are submitted at the first instant of all, in ns.
    pub waited_of_first: u128,
    /// The shares of some users over time.
    pub over_time: SharesOverTime,
    /// ∫ Jain's index dt over that time.
    jain: f64,
    waiting: Waiting,
    capacity: Vec<u64>,
    /// The share that is one unit of a resource, in 1/[`WHOLE`].
    unit: Vec<f64>,
    /// One by weight, user by user.
    per_weight: Vec<f64>,
    bounds: Bounds<'a>,
    now: Nanos,
    sink: Option<Sink<'a>>,
}

impl<'a> Tally<'a> {
    /// Nothing yet of a run.
    pub fn new(
        cluster: &Cluster,
        bounds: Bounds<'a>,
        over_time: SharesOverTime,
        sink: Option<Sink<'a>>,
    ) -> Self {
        let unit = cluster.capacity().iter().map(|&capacity| WHOLE as f64 / capacity as f64);
        let start = bounds.start;
        let weights = (0..cluster.users()).map(|user| f64::from(cluster.weight_or_zero(user as u32)));
        Self {
            users: vec![UserTally { since: start, ..UserTally::default() }; cluster.users()],
            waits: Distribution::default(),
            at_once: 0,
            backfilled: 0,
            last_end: start,
            used: vec![0; cluster.resources()],
            contended: 0,
            contended_to_end: 0,
            waited_of_first: 0,
            over_time,
            jain: 0.0,
            waiting: Waiting::default(),
            capacity: cluster.capacity().to_vec(),
            unit: unit.collect(),
            per_weight: weights.map(f64::recip).collect(),
            bounds,
            now: start,
            sink,
        }
    }

    /// The mean over time of Jain's index of the weighted dominant shares that the users who wait hold at the same instant, over all
    /// instants up to the horizon at which two or more wait; none if there are none.
    ///
    /// This is what the belief speaks of: who does not wait has what it asked for, and those who wait should hold the same.
    pub fn jain_now(&self) -> Option<f64> {
        (self.contended > 0).then(|| self.jain / self.contended as f64)
    }

    /// `user` holds `held` from `now` on, and waits or not.
    fn change(&mut self, user: u32, held: &[u64], waits: bool, now: Nanos) {
        let share = held.iter().zip(&self.unit).map(|(&amount, unit)| amount as f64 * unit);
        let share = (share.fold(0.0, f64::max) * self.per_weight[user as usize]) as u64;
        let state = &mut self.users[user as usize];
        if state.waits {
            self.waiting.remove(state.share);
        }
        if waits {
            self.waiting.add(share);
        }
        if now > state.since {
            let until = now.min(self.bounds.horizon);
            state.held += u128::from(state.share) * u128::from(until.since(state.since).0);
            self.over_time.add(user, state.share, state.since, now);
        }
        (state.share, state.since, state.waits) = (share, now, waits);
    }
}

impl Probe for Tally<'_> {
    fn pass(&mut self, free: &[u64], now: Nanos) {
        let span = now.min(self.bounds.horizon).since(self.now).0;
        if self.waiting.users >= 2 {
            self.contended_to_end += now.since(self.now).0;
        }
        self.now = now;
        if span == 0 {
            return;
        }
        for ((used, capacity), free) in self.used.iter_mut().zip(&self.capacity).zip(free) {
            *used += u128::from(capacity - free) * u128::from(span);
        }
        if self.waiting.users >= 2 {
            self.contended += span;
            self.jain += self.waiting.index() * span as f64;
        }
    }

    fn submit(&mut self, user: u32, _now: Nanos) {
        let state = &mut self.users[user as usize];
        state.submitted += 1;
        if !state.waits {
            state.waits = true;
            self.waiting.add(state.share);
        }
    }

    fn skip(&mut self, user: u32) {
        let state = &mut self.users[user as usize];
        state.submitted += 1;
        state.skipped += 1;
    }

    fn start(&mut self, task: &Started, held: &[u64], still_waits: bool) -> Result<(), Error> {
        let wait = task.start.since(task.submitted).0;
        let state = &mut self.users[task.user as usize];
        state.started += 1;
        state.waited += u128::from(wait);
        self.waits.record(wait);
        self.at_once += u64::from(wait == 0);
        self.backfilled += u64::from(task.passed);
        self.last_end = self.last_end.max(task.end);
        // It runs to its end whatever comes.
        if task.end <= self.bounds.horizon && self.bounds.censored.binary_search(&task.task).is_err() {
            state.completed_by_horizon += 1;
        }
        if task.submitted == self.bounds.start {
            self.waited_of_first += u128::from(wait);
        }
        self.change(task.user, held, still_waits, task.start);
        self.sink.as_mut().map_or(Ok(()), |sink| sink(task))
    }

    fn end(&mut self, user: u32, held: &[u64], now: Nanos) {
        self.users[user as usize].completed += 1;
        self.change(user, held, self.users[user as usize].waits, now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jains_index_is_one_for_equals_and_one_nth_for_one_who_has_all() {
        assert_eq!(jain([0.2, 0.2, 0.2]), Some(1.0));
        assert_eq!(jain([0.0, 0.0, 0.0, 0.7]), Some(0.25));
        assert_eq!(jain([]), None);
        assert_eq!(jain([0.0]), None);
    }

    #[test]
    fn an_instant_is_equal_among_those_who_wait() {
        let cluster = Cluster::new(vec![10, 100], vec![1, 2, 1]).unwrap();
        let over_time = SharesOverTime::new(&[], 3, Nanos(0), Nanos(100), 10);
        let bounds = Bounds { start: Nanos(0), horizon: Nanos(100), censored: &[] };
        let mut tally = Tally::new(&cluster, bounds, over_time, None);
        tally.submit(0, Nanos(0));
        tally.submit(1, Nanos(0));
        tally.change(0, &[2, 10], true, Nanos(0));
        tally.change(1, &[1, 40], true, Nanos(0));
        tally.change(2, &[7, 0], false, Nanos(0));
        // 0.2 of the first; 0.4 of the second by a weight of 2: equal. The third does not wait.
        tally.pass(&[0, 50], Nanos(50));
        assert!((tally.jain_now().unwrap() - 1.0).abs() < 1e-9);
        tally.change(1, &[0, 0], true, Nanos(50));
        tally.pass(&[1, 90], Nanos(150));
        assert!((tally.jain_now().unwrap() - 0.75).abs() < 1e-9, "half of the time 1, half of it 1/2");
        assert_eq!((tally.contended, tally.contended_to_end), (100, 150));
        assert_eq!((tally.contended, tally.used.as_slice()), (100, &[950, 3000][..]));
        tally.change(0, &[0, 0], false, Nanos(150));
        let held = tally.users[0].held as f64 / WHOLE as f64;
        assert!((held - 20.0).abs() < 1e-9, "0.2 for the 100 ns up to the horizon: {held}");
    }
}
