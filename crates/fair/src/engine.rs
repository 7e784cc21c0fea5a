//! A cluster from its first task to the end of its last, under one policy.
//!
//! There are two kinds of events: a task of the log is submitted, or one that runs ends. All that happens at one instant happens
//! before anybody is served, ends first; then tasks start, by Algorithm 1 ([`Scheduler::start`]), until none does. A task that takes no
//! time ends at the instant in which it starts, after those that start with it, and then the cluster is served once more.
//!
//! A policy is told the time since the first submission, so that periods and memories begin with it: a log that is shifted by any time
//! has the same schedule, shifted.
//!
//! What is measured is left to a [`Probe`].

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use trueplane_study::{Error, Observer};
use trueplane_units::Nanos;

use crate::workload::Pool;
use crate::{Cluster, Policy, Scheduler};

/// A task that starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Started {
    /// Index of the task in the log.
    pub task: u32,
    /// User that submitted the task: an index into [`JobLog::users`](crate::workload::JobLog::users).
    pub user: u32,
    /// Time of submission.
    pub submitted: Nanos,
    /// Time of the start.
    pub start: Nanos,
    /// Time of the end.
    pub end: Nanos,
    /// Whether it passes the task of a user who was before its own in order, and did not fit.
    pub passed: bool,
}

/// Sees all that happens in a cluster. Times never go back.
pub trait Probe {
    /// From the last such time to `now` nothing changed; `free` is what nobody held meanwhile.
    fn pass(&mut self, free: &[u64], now: Nanos);

    /// A task of `user` is submitted at `now`.
    fn submit(&mut self, user: u32, now: Nanos);

    /// A task is submitted that is larger than the cluster: it is skipped.
    fn skip(&mut self, user: u32);

    /// A task starts; then its user holds `held`, and others of its own wait or not.
    ///
    /// # Errors
    ///
    /// Whatever is to end the simulation.
    fn start(&mut self, task: &Started, held: &[u64], still_waits: bool) -> Result<(), Error>;

    /// A task of `user` ends at `now`; then it holds `held`.
    fn end(&mut self, user: u32, held: &[u64], now: Nanos);
}

/// No task starts later than this after the first submission, 146 years: neither the clock nor the sum of two waits overflows then.
const LONGEST: Nanos = Nanos(1 << 62);

/// Events between two reports of progress, and two questions whether to stop.
const REPORT: u64 = 1 << 13;

/// Runs the tasks of `pool` on `cluster`, which has as many users as their log, until all have ended; returns how often the
/// order of users changed by itself ([`Policy::events`]), if the policy counts that.
///
/// A task costs what the policy takes three times (submitted, started, ended), and O(log n) for n tasks that run. Memory: 16 bytes for
/// every task that runs, 16 for every one that waits. The observer is told of every task once.
///
/// # Errors
///
/// The observer interrupts, the probe ends it, a task would start after 146 years, or the policy names nobody though tasks wait and none runs.
pub fn run<P: Policy>(
    pool: &Pool<'_>,
    cluster: Cluster,
    policy: P,
    backfill: bool,
    probe: &mut impl Probe,
    observer: &dyn Observer,
) -> Result<Option<u64>, Error> {
    let origin = pool.log().tasks.first().map_or(Nanos(0), |task| task.submitted);
    let policy = Noted { policy, origin, first: None };
    let mut run = Run {
        pool,
        scheduler: Scheduler::new(cluster, policy, pool, backfill),
        ends: BinaryHeap::new(),
        submitted: 0,
        finished: 0,
    };
    let mut reported = 0;
    while let Some(now) = run.next() {
        probe.pass(run.scheduler.free(), now);
        run.finish(now, probe);
        run.submit(now, probe);
        run.serve(now, probe)?;
        if run.finished - reported >= REPORT {
            if observer.interrupted() {
                return Err(Error::Interrupted);
            }
            observer.advance(run.finished - reported);
            reported = run.finished;
        }
    }
    observer.advance(run.finished - reported);
    match run.scheduler.waiting() {
        0 => Ok(run.scheduler.policy().events()),
        waiting => Err(Error::Parameters(format!("the policy starts nobody, though {waiting} tasks wait"))),
    }
}

/// A simulation on its way.
struct Run<'a, P> {
    pool: &'a Pool<'a>,
    scheduler: Scheduler<Noted<P>, &'a Pool<'a>>,
    /// End and index of every task that runs, the earliest end first.
    ends: BinaryHeap<Reverse<(Nanos, u32)>>,
    /// Tasks of the log that have been submitted.
    submitted: usize,
    /// Tasks that have ended or were skipped.
    finished: u64,
}

impl<P: Policy> Run<'_, P> {
    /// The next instant at which something happens.
    fn next(&self) -> Option<Nanos> {
        let end = self.ends.peek().map(|&Reverse((end, _))| end);
        let submission = self.pool.log().tasks.get(self.submitted).map(|task| task.submitted);
        match (end, submission) {
            (Some(end), Some(submission)) => Some(end.min(submission)),
            (end, submission) => end.or(submission),
        }
    }

    /// Ends what ends at `now`.
    fn finish(&mut self, now: Nanos, probe: &mut impl Probe) {
        while let Some(&Reverse((end, task))) = self.ends.peek() {
            if end > now {
                break;
            }
            self.ends.pop();
            let user = self.pool.log().tasks[task as usize].user;
            self.scheduler.finish(user, &task, now);
            self.finished += 1;
            probe.end(user, self.scheduler.held(user), now);
        }
    }

    /// Submits what is submitted at `now`.
    fn submit(&mut self, now: Nanos, probe: &mut impl Probe) {
        while let Some(task) = self.pool.log().tasks.get(self.submitted) {
            if task.submitted > now {
                break;
            }
            // A log has fewer than 2^32 tasks.
            let index = self.submitted as u32;
            self.submitted += 1;
            if self.pool.is_too_large(index) {
                self.finished += 1;
                probe.skip(task.user);
            } else {
                self.scheduler.submit(task.user, index, now);
                probe.submit(task.user, now);
            }
        }
    }

    /// Returns the end of a task that starts at `now`.
    fn end_of(&self, duration: Nanos, now: Nanos) -> Result<Nanos, Error> {
        let first = self.pool.log().tasks.first().map_or(now, |task| task.submitted);
        let end = now.0.checked_add(duration.0).filter(|_| now.since(first) < LONGEST);
        end.map(Nanos).ok_or_else(|| {
            let problem =
                "tasks would wait for more than 146 years: expected more --capacity, or shorter tasks";
            Error::Parameters(format!("{}: {problem}", self.pool.log().name))
        })
    }

    /// Starts what can start at `now`.
    fn serve(&mut self, now: Nanos, probe: &mut impl Probe) -> Result<(), Error> {
        while let Some((user, index)) = self.scheduler.start(now) {
            let task = self.pool.log().tasks[index as usize];
            let started = Started {
                task: index,
                user,
                submitted: task.submitted,
                start: now,
                end: self.end_of(task.duration, now)?,
                passed: self.scheduler.policy().first != Some(user),
            };
            self.ends.push(Reverse((started.end, index)));
            probe.start(&started, self.scheduler.held(user), self.scheduler.waiting_of(user) > 0)?;
        }
        Ok(())
    }
}

/// A policy of which is known whom it last said to be first: with backfill, that is who was passed, if another starts.
struct Noted<P> {
    policy: P,
    /// Time at which the policy's clock begins.
    origin: Nanos,
    first: Option<u32>,
}

impl<P: Policy> Policy for Noted<P> {
    fn wait(&mut self, user: u32, ticket: u64, now: Nanos) {
        self.policy.wait(user, ticket, now.since(self.origin));
    }

    fn rest(&mut self, user: u32, now: Nanos) {
        self.policy.rest(user, now.since(self.origin));
    }

    fn hold(&mut self, user: u32, held: &[u64], now: Nanos) {
        self.policy.hold(user, held, now.since(self.origin));
    }

    fn start(&mut self, user: u32, held: &[u64], next: Option<u64>, now: Nanos) {
        self.policy.start(user, held, next, now.since(self.origin));
    }

    fn first(&mut self, now: Nanos) -> Option<u32> {
        self.first = self.policy.first(now.since(self.origin));
        self.first
    }

    fn after(&self, user: u32) -> Option<u32> {
        self.policy.after(user)
    }

    fn keep_order(&mut self, now: Nanos) {
        self.policy.keep_order(now.since(self.origin));
    }

    fn events(&self) -> Option<u64> {
        self.policy.events()
    }
}
