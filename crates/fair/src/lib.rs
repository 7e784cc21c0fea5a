#![doc = include_str!("../README.md")]
//!
//! # Modules
//!
//! 1. [`allocation`]: what everybody would get if tasks were divisible.
//! 2. [`cluster`]: resources, users and their weights; a share as an integer.
//! 3. [`Memory`]: how fast commitments are forgotten.
//! 4. [`Policy`], [`policy`]: who is next.
//! 5. [`scheduler`]: tasks that cannot be divided: who waits, what is held, what fits (Algorithm 1).
//! 6. [`embedded`]: the same with names, errors and a state that can be kept, to be built into a system.
//!
//! With the feature `study`, a cluster on your own log of jobs:
//!
//! 1. `workload`: logs of tasks, read and generated.
//! 2. `options`, `capacity`, `weights`, `delta`, `span`: what is asked for; `order` makes the policy of a name.
//! 3. `engine`: submissions and ends, one after the other, and who starts in between; `tally` and `shares` count; `setup`: one of them,
//!    ready to run.
//! 4. `facts`, `outcome`, `comparison`: what is known of a log, what a run comes to, who gains and who loses by it.
//! 5. `simulate`: one log under several orders.
//! 6. `sweep`: SDRF against DRF for several sizes of the cluster and several memories.
//! 7. `recommend`: several schedulers with several half-lives, and what to configure.
//! 8. `allocate`: the division of a cluster among given demands.
//!
//! Source: Sadok, *Improving software middleboxes and datacenter task schedulers*, 2018, chapter 4; Ghodsi et al., *Dominant Resource
//! Fairness*, NSDI 2011.
#![forbid(unsafe_code)]

pub mod allocation;
pub mod cluster;
pub mod embedded;
mod memory;
pub mod policy;
pub mod scheduler;

#[cfg(feature = "study")]
pub mod allocate;
#[cfg(feature = "study")]
pub mod capacity;
#[cfg(feature = "study")]
pub mod comparison;
#[cfg(feature = "study")]
pub mod delta;
#[cfg(feature = "study")]
pub mod engine;
#[cfg(feature = "study")]
pub mod facts;
#[cfg(feature = "study")]
pub mod options;
#[cfg(feature = "study")]
pub mod order;
#[cfg(feature = "study")]
pub mod outcome;
#[cfg(feature = "study")]
pub mod recommend;
#[cfg(feature = "study")]
mod setup;
#[cfg(feature = "study")]
pub mod shares;
#[cfg(feature = "study")]
pub mod simulate;
#[cfg(feature = "study")]
pub mod span;
#[cfg(feature = "study")]
pub mod sweep;
#[cfg(feature = "study")]
pub mod tally;
#[cfg(feature = "study")]
pub mod weights;
#[cfg(feature = "study")]
mod words;
#[cfg(feature = "study")]
pub mod workload;

pub use cluster::{Cluster, ClusterError};
pub use embedded::{ScheduleError, SdrfScheduler, SnapshotError};
pub use memory::{Memory, MemoryError};
pub use scheduler::{Demands, Scheduler};

pub use trueplane_units::Nanos;

/// The belief that this crate holds against what really happens.
pub const BELIEF: &str = "shares that are equal now are fair";

/// An order of users who wait for a cluster; users are numbered from zero, as in [`Cluster`].
///
/// `now` never goes back from one call to the next.
pub trait Policy {
    /// `user` has tasks that wait, and the first of them has this `ticket`. No two tasks that wait have the same, and the one with the
    /// smaller ticket came first. Said again whenever it is another one.
    fn wait(&mut self, user: u32, ticket: u64, now: Nanos);

    /// `user` has no task that waits any more.
    fn rest(&mut self, user: u32, now: Nanos);

    /// Tells that the holdings of `user` have changed: a task of its own has started or ended. `held` has an amount for every resource.
    fn hold(&mut self, user: u32, held: &[u64], now: Nanos);

    /// The first task of `user` that waited has started: it holds `held` now, and `next` is the ticket of its next one, if there is one.
    /// The same as one of [`Policy::wait`] and [`Policy::rest`] and then [`Policy::hold`], for a policy that does it at once.
    fn start(&mut self, user: u32, held: &[u64], next: Option<u64>, now: Nanos) {
        match next {
            Some(ticket) => self.wait(user, ticket, now),
            None => self.rest(user, now),
        }
        self.hold(user, held, now);
    }

    /// Returns the user whose task is next at `now`, among those who wait.
    fn first(&mut self, now: Nanos) -> Option<u32>;

    /// Returns the user after `user`, who waits, in the order at the time of the last call of [`Policy::first`].
    fn after(&self, user: u32) -> Option<u32>;

    /// The whole order will be asked for, by [`Policy::after`]: a policy that keeps less than it may keep it from now on.
    fn keep_order(&mut self, _now: Nanos) {}

    /// Number of times that the order of two users who wait changed by itself, as time passed; zero for a policy whose users only move when
    /// something happens to them, and `None` for one that does not count it.
    fn events(&self) -> Option<u64> {
        Some(0)
    }
}

/// One that is only known at run time.
impl<P: Policy + ?Sized> Policy for Box<P> {
    fn wait(&mut self, user: u32, ticket: u64, now: Nanos) {
        (**self).wait(user, ticket, now);
    }

    fn rest(&mut self, user: u32, now: Nanos) {
        (**self).rest(user, now);
    }

    fn hold(&mut self, user: u32, held: &[u64], now: Nanos) {
        (**self).hold(user, held, now);
    }

    fn start(&mut self, user: u32, held: &[u64], next: Option<u64>, now: Nanos) {
        (**self).start(user, held, next, now);
    }

    fn first(&mut self, now: Nanos) -> Option<u32> {
        (**self).first(now)
    }

    fn after(&self, user: u32) -> Option<u32> {
        (**self).after(user)
    }

    fn keep_order(&mut self, now: Nanos) {
        (**self).keep_order(now);
    }

    fn events(&self) -> Option<u64> {
        (**self).events()
    }
}
