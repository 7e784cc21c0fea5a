//! A scheduler to be built into a system: tasks by name, every mistake an error, and a state that outlives the process.
//!
//! The [front page](crate) has an example.

mod error;
mod snapshot;

use std::collections::BTreeMap;

pub use error::ScheduleError;
pub use snapshot::SnapshotError;

use trueplane_units::Nanos;

use crate::policy::Sdrf;
use crate::{Cluster, ClusterError, Demands, Memory, Scheduler};

/// Shares a cluster among users by [`Sdrf`], or by DRF if nothing is remembered.
///
/// Tasks have names, which are numbers that the caller chooses; a name may come again when its task has ended. Time is the caller's, in
/// nanoseconds from any fixed moment, and does not go back; [`rebase`](SdrfScheduler::rebase) says that the clock has been set. No call that
/// returns an error changes anything. Users may join and leave, and the capacity and weights may change at any time. A user who holds nothing
/// costs the others only its part, and keeps its commitments; a user who leaves has none any more. A call that names a user who has not joined returns
/// [`ScheduleError::UnknownUser`].
///
/// Cost: as [`Scheduler`], and O(log t) for t tasks. Memory: a task, its name twice, and what it needs.
#[derive(Clone, Debug)]
pub struct SdrfScheduler {
    scheduler: Scheduler<Sdrf, Needs>,
    memory: Option<Memory>,
    /// The users of the tasks that wait.
    waiting: BTreeMap<u64, u32>,
    /// The tasks that run, and whose they are.
    running: BTreeMap<u64, (u32, Task)>,
    now: Nanos,
}

/// Tickets of the caller are below this.
const TICKETS: u64 = 1 << 62;

/// A task and what it needs.
#[derive(Clone, Debug)]
struct Task {
    name: u64,
    needs: Box<[u64]>,
}

/// Tasks that know what they need.
#[derive(Clone, Copy, Debug)]
struct Needs;

impl Demands for Needs {
    type Task = Task;

    fn of<'a>(&'a self, task: &'a Task) -> &'a [u64] {
        &task.needs
    }
}

impl SdrfScheduler {
    /// An empty cluster of so much of every resource, without users. What is held above a user's part is remembered by `memory`; without
    /// it this is DRF.
    ///
    /// # Errors
    ///
    /// There is no resource, or nothing of one, or more than 2⁶³.
    pub fn new(capacity: Vec<u64>, memory: Option<Memory>) -> Result<Self, ClusterError> {
        let cluster = Cluster::new(capacity, Vec::new())?;
        let sdrf = Sdrf::new(&cluster, memory);
        Ok(Self {
            scheduler: Scheduler::new(cluster, sdrf, Needs, false),
            memory,
            waiting: BTreeMap::new(),
            running: BTreeMap::new(),
            now: Nanos(0),
        })
    }

    /// One user more, of this weight; everybody's own part is smaller from now on. Returns its number, which may be that of a user who
    /// has [left](SdrfScheduler::leave). O(n) for n users.
    ///
    /// # Errors
    ///
    /// Time went back, or the weight is not within 1 and [`MOST_WEIGHT`](super::cluster::MOST_WEIGHT).
    pub fn join(&mut self, weight: u32, now: Nanos) -> Result<u32, ScheduleError> {
        self.check(now)?;
        let user = self.scheduler.join(weight, now)?;
        self.tell(now);
        Ok(user)
    }

    /// `user` goes away: everybody's own part is larger from now on, and its number is given to a user who joins later. Its commitments are
    /// forgotten; those of the others do not jump. O(n + t) for n users and t tasks that run.
    ///
    /// Who comes back later is somebody new, without commitments. Where users could leave and join to get rid of theirs, let them stay
    /// while they rest.
    ///
    /// # Errors
    ///
    /// Time went back, nobody has joined as `user`, or it has tasks: those that wait are to be [withdrawn](SdrfScheduler::withdraw) before,
    /// and those that run to be [finished](SdrfScheduler::finish).
    pub fn leave(&mut self, user: u32, now: Nanos) -> Result<(), ScheduleError> {
        self.check(now)?;
        self.known(user)?;
        if self.running.values().any(|(owner, _)| *owner == user) {
            return Err(ClusterError::HasTasks(user).into());
        }
        self.scheduler.leave(user, now)?;
        self.tell(now);
        Ok(())
    }

    /// `user` wants a task that needs `needs` of the resources to run.
    ///
    /// # Errors
    ///
    /// Time went back, nobody has joined as `user`, a task of that name waits or runs, or it could never run.
    pub fn submit(&mut self, user: u32, task: u64, needs: &[u64], now: Nanos) -> Result<(), ScheduleError> {
        self.check_new(user, task, needs, now)?;
        self.tell(now);
        self.waiting.insert(task, user);
        self.scheduler.submit(user, Task { name: task, needs: needs.into() }, now);
        Ok(())
    }

    /// Does the same as [`submit`](SdrfScheduler::submit) with a `ticket` of the caller: where users are equal, the one whose next task has
    /// the smallest ticket is first, and the tasks of a user start in the order of their tickets. Two processes that see the same tasks in
    /// different orders so agree on who is next. Use this for every task or for none. O(t) for the t tasks of `user` with a larger ticket.
    ///
    /// # Errors
    ///
    /// As [`submit`](SdrfScheduler::submit); or the ticket is 2⁶² or more, or that of another task of `user` that waits.
    pub fn submit_with_ticket(
        &mut self,
        user: u32,
        task: u64,
        needs: &[u64],
        ticket: u64,
        now: Nanos,
    ) -> Result<(), ScheduleError> {
        self.check_new(user, task, needs, now)?;
        if ticket >= TICKETS || self.scheduler.has_ticket(user, ticket) {
            return Err(ScheduleError::Ticket(ticket));
        }
        self.tell(now);
        self.waiting.insert(task, user);
        self.scheduler.submit_with_ticket(user, Task { name: task, needs: needs.into() }, ticket, now);
        Ok(())
    }

    /// A task that needs `needs` runs for `user` from now on, though it was not its turn: it was found running, as after a restart.
    ///
    /// # Errors
    ///
    /// As [`submit`](SdrfScheduler::submit); or it needs more than is free ([`ScheduleError::NoRoom`]; first
    /// [raise](SdrfScheduler::set_capacity) the capacity).
    pub fn adopt(&mut self, user: u32, task: u64, needs: &[u64], now: Nanos) -> Result<(), ScheduleError> {
        self.check_new(user, task, needs, now)?;
        let adopted = Task { name: task, needs: needs.into() };
        if !self.scheduler.adopt(user, &adopted, now) {
            return Err(ScheduleError::NoRoom(task));
        }
        self.tell(now);
        self.running.insert(task, (user, adopted));
        Ok(())
    }

    /// Whether a new task may come.
    fn check_new(&self, user: u32, task: u64, needs: &[u64], now: Nanos) -> Result<(), ScheduleError> {
        self.check(now)?;
        self.known(user)?;
        let cluster = self.scheduler.cluster();
        if needs.len() != cluster.resources() {
            return Err(ScheduleError::Resources { expected: cluster.resources(), found: needs.len() });
        }
        if let Some(resource) = (0..needs.len()).find(|&i| needs[i] > cluster.capacity()[i]) {
            let capacity = cluster.capacity()[resource];
            return Err(ScheduleError::TooLarge { resource, capacity, found: needs[resource] });
        }
        if self.waiting.contains_key(&task) || self.running.contains_key(&task) {
            return Err(ScheduleError::NameTaken(task));
        }
        Ok(())
    }

    /// The task to start now, and whose it is; it runs from now on. Call it until it returns `None` whenever a task was submitted or has
    /// ended.
    ///
    /// `None` if nobody waits, or the next task of the first user does not fit. The second holds although the task of another user would
    /// fit: what is free is kept for the first user, whose large task would wait for ever if small ones kept passing it.
    /// [`next_fitting`](SdrfScheduler::next_fitting) lets them pass.
    ///
    /// # Errors
    ///
    /// Time went back.
    pub fn next(&mut self, now: Nanos) -> Result<Option<(u32, u64)>, ScheduleError> {
        self.check(now)?;
        self.tell(now);
        let started = self.scheduler.start(now);
        Ok(started.map(|started| self.run(started)))
    }

    /// Does the same as [`next`](SdrfScheduler::next), but passes over users whose next task does not fit. `None` if no user's next task fits.
    ///
    /// Less stays free, and a large task can wait for as long as smaller ones keep coming: use it where tasks are small compared to the
    /// cluster, or only while the first user has waited for less time than you are ready to let it wait. Every user's own tasks keep their order.
    /// O(n·m) for n users who wait and m resources.
    ///
    /// # Errors
    ///
    /// Time went back.
    pub fn next_fitting(&mut self, now: Nanos) -> Result<Option<(u32, u64)>, ScheduleError> {
        self.check(now)?;
        self.tell(now);
        let started = self.scheduler.start_fitting(now);
        Ok(started.map(|started| self.run(started)))
    }

    /// Notes that a task of a user has started; returns whose it is and its name.
    fn run(&mut self, (user, task): (u32, Task)) -> (u32, u64) {
        let name = task.name;
        self.waiting.remove(&name);
        self.running.insert(name, (user, task));
        (user, name)
    }

    /// Tells the time and starts nothing: [`commitments`](SdrfScheduler::commitments) are those at `now` from then on.
    ///
    /// # Errors
    ///
    /// Time went back.
    pub fn advance(&mut self, now: Nanos) -> Result<(), ScheduleError> {
        self.check(now)?;
        self.tell(now);
        Ok(())
    }

    /// Says that the clock, whatever it said, says `now`: after a restart with a clock that starts anew, or once a wrong time was corrected.
    ///
    /// The time between the last one told and `now` counts as nothing, in whichever direction it lies. [Commitments](Self::commitments)
    /// stay what they are, rounded down to 2⁻⁸⁸ of the cluster, and tasks that wait keep their order. If the last time was wrong, and far
    /// in the future, commitments have been brought up to it: what was held above a user's part counts as held so long. O(n·m) for n users
    /// and m resources, and what it takes to put those who wait in order.
    pub fn rebase(&mut self, now: Nanos) {
        self.scheduler.rebase(now);
        self.now = now;
    }

    /// Commitments are forgotten by `memory` from `now` on, with another half-life for instance; they stay what they are at `now`. Without a
    /// memory there are none, and this is DRF. O(n·m) for n users and m resources, and what it takes to put those who wait in order.
    ///
    /// # Errors
    ///
    /// Time went back.
    pub fn set_memory(&mut self, memory: Option<Memory>, now: Nanos) -> Result<(), ScheduleError> {
        self.check(now)?;
        self.scheduler.set_memory(memory, now);
        self.memory = memory;
        self.tell(now);
        Ok(())
    }

    /// By what commitments are forgotten; `None` if there are none.
    pub fn memory(&self) -> Option<Memory> {
        self.memory
    }

    /// `user` has another weight from `now` on. Call [`next`](SdrfScheduler::next) after it.
    ///
    /// What the user holds counts by the new weight from now on, and everybody's own part changes with the sum of all weights. Commitments
    /// are parts of the cluster and stay what they are at `now`: they do not jump. O(n·m) for n users and m resources.
    ///
    /// # Errors
    ///
    /// Time went back, nobody has joined as `user`, or the weight is not within 1 and [`MOST_WEIGHT`](super::cluster::MOST_WEIGHT).
    pub fn set_weight(&mut self, user: u32, weight: u32, now: Nanos) -> Result<(), ScheduleError> {
        self.check(now)?;
        self.known(user)?;
        self.scheduler.set_weight(user, weight, now)?;
        self.tell(now);
        Ok(())
    }

    /// The cluster has this capacity from `now` on: machines have come or gone. Call [`next`](SdrfScheduler::next) after it.
    ///
    /// What users hold counts as a share of the new capacity from now on. Commitments are parts of the cluster and stay what they are at
    /// `now`: they do not jump, and follow the new shares as time passes. O(n·m + t) for n users, m resources and t tasks that wait.
    ///
    /// # Errors
    ///
    /// Time went back; there are more or fewer resources than before; a capacity is 0 or above 2⁶³; a waiting task needs more
    /// ([`ScheduleError::NeededByWaiting`]; first [withdraw](SdrfScheduler::withdraw) it); or running tasks hold more (first
    /// [finish](SdrfScheduler::finish) or [requeue](SdrfScheduler::requeue) the tasks on machines that have gone).
    pub fn set_capacity(&mut self, capacity: &[u64], now: Nanos) -> Result<(), ScheduleError> {
        self.check(now)?;
        self.scheduler.set_capacity(capacity, now).map_err(|error| self.name_needing(capacity, error))?;
        self.tell(now);
        Ok(())
    }

    /// A capacity that is refused for a task that waits is refused by the name of that task, the first of [`Self::waiting_tasks`].
    fn name_needing(&self, capacity: &[u64], error: ClusterError) -> ScheduleError {
        let ClusterError::Needed { .. } = error else { return error.into() };
        let too_small = self.waiting_tasks().find_map(|(task, _, needs)| {
            let resource = (0..needs.len()).find(|&resource| needs[resource] > capacity[resource])?;
            let (needed, found) = (needs[resource], capacity[resource]);
            Some(ScheduleError::NeededByWaiting { task, resource, needed, found })
        });
        too_small.unwrap_or(error.into())
    }

    /// A task that runs has stopped without an end, as its machine has died, and waits again: before all other tasks of its user. Returns
    /// whose it is.
    ///
    /// Where users are equal it counts as the first of all tasks to be submitted. Of several tasks the one that is put back last is the
    /// first to start.
    ///
    /// # Errors
    ///
    /// Time went back, or no task of that name runs.
    pub fn requeue(&mut self, task: u64, now: Nanos) -> Result<u32, ScheduleError> {
        self.check(now)?;
        let (user, stopped) = self.running.remove(&task).ok_or(ScheduleError::NotRunning(task))?;
        self.tell(now);
        self.waiting.insert(task, user);
        self.scheduler.requeue(user, stopped, now);
        Ok(user)
    }

    /// A task that runs has ended, well or not. Returns whose it was.
    ///
    /// # Errors
    ///
    /// Time went back, or no task of that name runs.
    pub fn finish(&mut self, task: u64, now: Nanos) -> Result<u32, ScheduleError> {
        self.check(now)?;
        let (user, task) = self.running.remove(&task).ok_or(ScheduleError::NotRunning(task))?;
        self.tell(now);
        self.scheduler.finish(user, &task, now);
        Ok(user)
    }

    /// A task that waits is not to run any more. Returns whose it was. O(t) for the t tasks of its own that wait.
    ///
    /// # Errors
    ///
    /// Time went back, or no task of that name waits.
    pub fn withdraw(&mut self, task: u64, now: Nanos) -> Result<u32, ScheduleError> {
        self.check(now)?;
        let user = self.waiting.remove(&task).ok_or(ScheduleError::NotWaiting(task))?;
        self.tell(now);
        self.scheduler.withdraw(user, |other| other.name == task, now);
        Ok(user)
    }

    /// The cluster and its users.
    pub fn cluster(&self) -> &Cluster {
        self.scheduler.cluster()
    }

    /// Amount of every resource that `user` holds.
    ///
    /// # Errors
    ///
    /// Nobody has joined as `user`.
    pub fn held(&self, user: u32) -> Result<&[u64], ScheduleError> {
        self.known(user)?;
        Ok(self.scheduler.held(user))
    }

    /// Number of tasks that wait.
    pub fn waiting(&self) -> usize {
        self.waiting.len()
    }

    /// Number of tasks that run.
    pub fn running(&self) -> usize {
        self.running.len()
    }

    /// The commitment of `user` for every resource at the last time told, as parts of the cluster. [`advance`](SdrfScheduler::advance) tells
    /// the time.
    ///
    /// # Errors
    ///
    /// Nobody has joined as `user`.
    pub fn commitments(&self, user: u32) -> Result<Vec<f64>, ScheduleError> {
        self.known(user)?;
        let commitment = |resource| self.scheduler.policy().commitment(user, resource);
        Ok((0..self.cluster().resources()).map(commitment).collect())
    }

    /// The users who have tasks that wait, the one whose task is next first. O(n log n) for n of them.
    ///
    /// # Errors
    ///
    /// Time went back.
    pub fn order(&mut self, now: Nanos) -> Result<Vec<u32>, ScheduleError> {
        self.check(now)?;
        self.tell(now);
        Ok(self.scheduler.order(now))
    }

    /// The last time told; zero at first.
    pub fn now(&self) -> Nanos {
        self.now
    }

    /// The tasks that run, in the order of their names: name, user, and what it needs. For who has been away: what has ended meanwhile is
    /// to be [finished](SdrfScheduler::finish).
    pub fn running_tasks(&self) -> impl Iterator<Item = (u64, u32, &[u64])> {
        self.running.iter().map(|(&name, (user, task))| (name, *user, &*task.needs))
    }

    /// The tasks that wait, user by user and in the order in which they are to start: name, user, and what it needs.
    pub fn waiting_tasks(&self) -> impl Iterator<Item = (u64, u32, &[u64])> {
        self.scheduler.queued().map(|(user, _, task)| (task.name, user, &*task.needs))
    }

    /// The clock of commitments goes with every call, so that a snapshot never finds it behind.
    fn tell(&mut self, now: Nanos) {
        self.now = now;
        self.scheduler.pass(now);
    }

    fn known(&self, user: u32) -> Result<(), ScheduleError> {
        if self.cluster().has(user) { Ok(()) } else { Err(ScheduleError::UnknownUser(user)) }
    }

    fn check(&self, now: Nanos) -> Result<(), ScheduleError> {
        if now < self.now {
            return Err(ScheduleError::Backwards { last: self.now.0, found: now.0 });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
