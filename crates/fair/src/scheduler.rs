//! Tasks that cannot be divided: who waits, what is held, what fits.
//!
//! Algorithm 1 for any [`Policy`]: whenever a task comes or ends, the next task of the user who is first starts, and again, until
//! nobody waits or that task does not fit. Then nobody starts, so that a large task is not passed by small ones for ever. With
//! *backfill* the first user in order whose next task fits starts it.
//!
//! Every user's tasks start in the order in which they were submitted, but for those that are [put back](Scheduler::requeue).
//!
//! Source: Sadok 2018, §4.4.2, Algorithm 1.

use std::collections::VecDeque;

use trueplane_units::Nanos;

use crate::policy::Sdrf;
use crate::{Cluster, ClusterError, Memory, Policy};

/// Needs of tasks.
pub trait Demands {
    /// Name by which the caller knows a task.
    type Task;

    /// Returns the needs of `task`: an amount for every resource, none above the cluster's capacity.
    fn of<'a>(&'a self, task: &'a Self::Task) -> &'a [u64];
}

/// The ticket of the first task to be submitted. Tasks that are put back have smaller ones.
const FIRST_TICKET: u64 = 1 << 63;

/// Shares a cluster among users by a policy.
///
/// A task that starts or ends costs O(m) for m resources and what the policy takes; with backfill also O(m) for every user who waits.
/// Memory: a task and 8 bytes for each that waits.
#[derive(Clone, Debug)]
pub struct Scheduler<P, D: Demands> {
    cluster: Cluster,
    policy: P,
    demands: D,
    backfill: bool,
    queues: Vec<VecDeque<(u64, D::Task)>>,
    /// Amounts that every user holds, resource by resource.
    held: Vec<u64>,
    free: Vec<u64>,
    waiting: u64,
    /// The ticket of the next task to be submitted.
    tickets: u64,
    /// The smallest ticket so far: that of the last task that was put back.
    earliest: u64,
}

impl<P: Policy, D: Demands> Scheduler<P, D> {
    /// An empty cluster.
    pub fn new(cluster: Cluster, policy: P, demands: D, backfill: bool) -> Self {
        Self {
            queues: (0..cluster.users()).map(|_| VecDeque::new()).collect(),
            held: vec![0; cluster.users() * cluster.resources()],
            free: cluster.capacity().to_vec(),
            waiting: 0,
            tickets: FIRST_TICKET,
            earliest: FIRST_TICKET,
            cluster,
            policy,
            demands,
            backfill,
        }
    }

    /// The cluster.
    pub fn cluster(&self) -> &Cluster {
        &self.cluster
    }

    /// The policy.
    pub fn policy(&self) -> &P {
        &self.policy
    }

    /// Amount of every resource that `user` holds.
    ///
    /// # Panics
    ///
    /// Nobody has ever had that number.
    pub fn held(&self, user: u32) -> &[u64] {
        let resources = self.cluster.resources();
        &self.held[user as usize * resources..][..resources]
    }

    /// Amount of every resource that nobody holds.
    pub fn free(&self) -> &[u64] {
        &self.free
    }

    /// Number of tasks that wait.
    pub fn waiting(&self) -> u64 {
        self.waiting
    }

    /// Number of tasks of `user` that wait.
    ///
    /// # Panics
    ///
    /// Nobody has ever had that number.
    pub fn waiting_of(&self, user: u32) -> usize {
        self.queues[user as usize].len()
    }

    /// `user`, who is one of the cluster's, wants `task` to run. O(1) if it has others that wait.
    ///
    /// # Panics
    ///
    /// Nobody has ever had that number.
    pub fn submit(&mut self, user: u32, task: D::Task, now: Nanos) {
        let queue = &mut self.queues[user as usize];
        queue.push_back((self.tickets, task));
        if queue.len() == 1 {
            self.policy.wait(user, self.tickets, now);
        }
        self.tickets += 1;
        self.waiting += 1;
    }

    /// The same with a `ticket` of the caller: where users are equal for the policy, the one whose next task has the smallest ticket is first,
    /// and the tasks of a user start in the order of their tickets. All that wait need different ones, below 2⁶². Use this for every task or
    /// for none: those of [`submit`](Scheduler::submit) and [`requeue`](Scheduler::requeue) come after all these. O(t) for the t tasks of
    /// `user` with a larger ticket.
    ///
    /// # Panics
    ///
    /// Nobody has ever had that number.
    pub fn submit_with_ticket(&mut self, user: u32, task: D::Task, ticket: u64, now: Nanos) {
        let queue = &mut self.queues[user as usize];
        let place = queue.partition_point(|(other, _)| *other < ticket);
        queue.insert(place, (ticket, task));
        if place == 0 {
            self.policy.wait(user, ticket, now);
        }
        self.waiting += 1;
    }

    /// `task` of `user` runs from `now` on, though it was not its turn: it was found running. Returns whether it fits; if not, nothing has
    /// changed.
    ///
    /// # Panics
    ///
    /// Nobody has ever had that number.
    pub fn adopt(&mut self, user: u32, task: &D::Task, now: Nanos) -> bool {
        let fits = self.take(user, task);
        if fits {
            let resources = self.cluster.resources();
            let held = &self.held[user as usize * resources..][..resources];
            self.policy.hold(user, held, now);
        }
        fits
    }

    /// Starts the next task, if it fits, and says whose it is. To be called until it starts none, whenever tasks have come or ended.
    ///
    /// Without backfill it returns `None` as well if the next task of the first user does not fit, though that of another user would: a large
    /// task would wait for ever behind small ones that keep passing it.
    pub fn start(&mut self, now: Nanos) -> Option<(u32, D::Task)> {
        self.start_next(self.backfill, now)
    }

    /// Starts the next task of the first user in order whose next task fits, and says whose it is, as [`start`](Scheduler::start) does with
    /// backfill. A large task can wait for as long as smaller ones keep coming.
    pub fn start_fitting(&mut self, now: Nanos) -> Option<(u32, D::Task)> {
        self.start_next(true, now)
    }

    #[inline]
    fn start_next(&mut self, backfill: bool, now: Nanos) -> Option<(u32, D::Task)> {
        if backfill {
            self.policy.keep_order(now);
        }
        let mut user = self.policy.first(now)?;
        while !self.fits(user) {
            if !backfill {
                return None;
            }
            user = self.policy.after(user)?;
        }
        let (_, task) = self.queues[user as usize].pop_front()?;
        self.waiting -= 1;
        let resources = self.cluster.resources();
        let held = &mut self.held[user as usize * resources..][..resources];
        for (resource, amount) in self.demands.of(&task).iter().enumerate() {
            held[resource] += amount;
            self.free[resource] -= amount;
        }
        let next = self.queues[user as usize].front().map(|&(ticket, _)| ticket);
        self.policy.start(user, held, next, now);
        Some((user, task))
    }

    /// `task` of `user`, which was [started](Scheduler::start) before and has not ended, has ended. What else it may be is not looked at:
    /// who does not know it has to keep books, as [`embedded`](super::embedded) does.
    pub fn finish(&mut self, user: u32, task: &D::Task, now: Nanos) {
        let resources = self.cluster.resources();
        let held = &mut self.held[user as usize * resources..][..resources];
        for (resource, amount) in self.demands.of(task).iter().enumerate() {
            held[resource] -= amount;
            self.free[resource] += amount;
        }
        self.policy.hold(user, held, now);
    }

    /// `task` of `user`, which was [started](Scheduler::start) before and has not ended, has stopped and waits again, before all other
    /// tasks of `user`. Where users are equal for the policy it counts as the first of all to be submitted.
    ///
    /// As with [`finish`](Scheduler::finish), what else it may be is not looked at.
    pub fn requeue(&mut self, user: u32, task: D::Task, now: Nanos) {
        self.finish(user, &task, now);
        self.earliest -= 1;
        self.queues[user as usize].push_front((self.earliest, task));
        self.waiting += 1;
        self.policy.wait(user, self.earliest, now);
    }

    /// The first task of `user` that waits and is `the_one` is not to run any more. O(t) for the t tasks of its own that wait.
    pub fn withdraw(&mut self, user: u32, the_one: impl Fn(&D::Task) -> bool, now: Nanos) -> Option<D::Task> {
        let queue = &mut self.queues[user as usize];
        let place = queue.iter().position(|(_, task)| the_one(task))?;
        let (_, task) = queue.remove(place)?;
        self.waiting -= 1;
        match queue.front() {
            None => self.policy.rest(user, now),
            Some(&(ticket, _)) if place == 0 => self.policy.wait(user, ticket, now),
            Some(_) => {}
        }
        Some(task)
    }

    /// All tasks that wait: whose, the ticket, and what.
    pub(super) fn queued(&self) -> impl Iterator<Item = (u32, u64, &D::Task)> {
        (0..)
            .zip(&self.queues)
            .flat_map(|(user, queue)| queue.iter().map(move |(ticket, task)| (user, *ticket, task)))
    }

    /// `user` holds what `task` needs, if that is free; whether it is. The policy is still to be told.
    fn take(&mut self, user: u32, task: &D::Task) -> bool {
        let needs = self.demands.of(task);
        if needs.iter().zip(&self.free).any(|(amount, free)| amount > free) {
            return false;
        }
        let held = &mut self.held[user as usize * needs.len()..][..needs.len()];
        for (resource, amount) in needs.iter().enumerate() {
            held[resource] += amount;
            self.free[resource] -= amount;
        }
        true
    }

    fn fits(&self, user: u32) -> bool {
        self.queues[user as usize].front().is_some_and(|(_, task)| {
            self.demands.of(task).iter().zip(&self.free).all(|(amount, free)| amount <= free)
        })
    }
}

impl<D: Demands> Scheduler<Sdrf, D> {
    /// One user more; everybody's own part is smaller from `now` on. O(n) for n users.
    ///
    /// # Errors
    ///
    /// The weight is out of range or there are too many users; nothing has changed.
    pub fn join(&mut self, weight: u32, now: Nanos) -> Result<u32, ClusterError> {
        // Both have the same users, so that neither refuses whom the other takes.
        self.policy.join(weight, now)?;
        let user = self.cluster.join(weight)?;
        self.queues.resize_with(self.cluster.users(), VecDeque::new);
        self.held.resize(self.cluster.users() * self.cluster.resources(), 0);
        Ok(user)
    }

    /// `user` goes away: its commitments are forgotten, everybody's own part is larger from `now` on, and its number is given to one who
    /// [joins](Scheduler::join) later. O(n·m) for n users and m resources.
    ///
    /// Who comes back later as somebody new has no commitments. Let a user rest instead of leave if that is not wanted: who holds nothing
    /// costs the others only its part.
    ///
    /// # Errors
    ///
    /// Nobody has that number, or the user has tasks that wait or hold something; nothing has changed. Running tasks that need nothing
    /// are not seen: they have to have ended.
    pub fn leave(&mut self, user: u32, now: Nanos) -> Result<(), ClusterError> {
        if !self.cluster.has(user) {
            return Err(ClusterError::UnknownUser(user));
        }
        if self.waiting_of(user) > 0 || self.held(user).iter().any(|&amount| amount > 0) {
            return Err(ClusterError::HasTasks(user));
        }
        self.policy.leave(user, now)?;
        self.cluster.leave(user)
    }

    /// `user` has another weight from `now` on. What it holds counts by that, and everybody's own part is another one; commitments, which are
    /// parts of the cluster, do not jump. O(n·m) for n users and m resources, and what it takes to put users in order.
    ///
    /// # Errors
    ///
    /// Nobody has that number, or the weight is out of range; nothing has changed.
    pub fn set_weight(&mut self, user: u32, weight: u32, now: Nanos) -> Result<(), ClusterError> {
        if !self.cluster.has(user) {
            return Err(ClusterError::UnknownUser(user));
        }
        let resources = self.cluster.resources();
        let held = &self.held[user as usize * resources..][..resources];
        self.policy.set_weight(user, weight, held, now)?;
        self.cluster.set_weight(user, weight)?;
        Ok(())
    }

    /// The cluster has this capacity from `now` on. Shares of what users hold are parts of the new capacity; commitments, which are parts of
    /// the cluster, do not jump. O(n·m + t) for n users, m resources and t tasks that wait, and what it takes to put users in order.
    ///
    /// # Errors
    ///
    /// There are more or fewer resources than before, nothing of one or more than 2⁶³ of it, less than running tasks hold or than a waiting
    /// task needs; nothing has changed.
    pub fn set_capacity(&mut self, capacity: &[u64], now: Nanos) -> Result<(), ClusterError> {
        // How much must remain. A capacity of other resources is refused further down.
        let old = self.cluster.capacity();
        let mut needed: Vec<u64> = old.iter().zip(&self.free).map(|(old, free)| old - free).collect();
        let held = needed.clone();
        for (_, task) in self.queues.iter().flatten() {
            for (needed, &amount) in needed.iter_mut().zip(self.demands.of(task)) {
                *needed = amount.max(*needed);
            }
        }
        if capacity.len() == needed.len()
            && let Some(resource) = (0..needed.len()).find(|&resource| capacity[resource] < needed[resource])
        {
            return Err(ClusterError::Needed {
                resource,
                needed: needed[resource],
                found: capacity[resource],
            });
        }
        // Both take the same capacities, so that neither refuses what the other takes.
        self.policy.set_capacity(capacity, &self.held, now)?;
        self.cluster.set_capacity(capacity)?;
        self.free = capacity.iter().zip(held).map(|(capacity, held)| capacity - held).collect();
        Ok(())
    }

    /// Whether a task of `user` that waits has this ticket.
    pub(super) fn has_ticket(&self, user: u32, ticket: u64) -> bool {
        self.queues[user as usize].binary_search_by_key(&ticket, |(other, _)| *other).is_ok()
    }

    /// The users who wait, the one whose task is next first.
    pub(super) fn order(&mut self, now: Nanos) -> Vec<u32> {
        self.policy.order(now)
    }

    /// Commitments are forgotten by `memory` from `now` on.
    pub(super) fn set_memory(&mut self, memory: Option<Memory>, now: Nanos) {
        self.policy.set_memory(memory, now);
    }

    /// Nothing happens, but time passes until `now`.
    pub(super) fn pass(&mut self, now: Nanos) {
        self.policy.pass(now);
    }

    /// The clock says `now` from here on, and no time has passed.
    pub(super) fn rebase(&mut self, now: Nanos) {
        self.policy.rebase(now);
    }

    /// `task` of `user` has been running; whether it fits.
    pub(super) fn resume(&mut self, user: u32, task: &D::Task) -> bool {
        let fits = self.take(user, task);
        if fits {
            let resources = self.cluster.resources();
            self.policy.resume_holding(user, &self.held[user as usize * resources..][..resources]);
        }
        fits
    }
}
