#![doc = include_str!("../README.md")]
//!
//! # Map of the modules
//!
//! 1. [`PriorityQueue`] and [`DoubleEnded`]: what a queue does, and what it does when it is full ([`Overflow`]).
//! 2. [`occupancy`]: the tree of bits and counts under everything here.
//! 3. [`hffs`]: the hierarchical find-first-set queue; [`partitioned`]: several of them over one memory; [`window`]: one whose
//!    priorities grow without end; [`timers`]: deadlines, near or far.
//! 4. [`bank`]: FIFOs in strict priority, which is what switches have.
//! 5. [`bbq`]: the hardware queue, bit for bit, as vectors for its twin in RTL.
//! 6. What these are held against: [`pifo`] (sorted, exact), [`heap`] (comparisons), [`pieo`] (the first that may leave),
//!    [`gradient`] (an index by algebra, nearly right).
//!
//! For priorities that are no integers, and for those that change by themselves:
//!
//! - [`curve`]: values that change with time by themselves; [`kinetic`]: which of them comes first; [`live_tree`]: all in order.
//! - [`product`]: exact comparison of long products, which ranks that are fractions need.
//!
//! With the feature `study`, `rtl` says what a circuit takes, how many of them a switch needs, and has the files to build it from.
//!
//! Sources: Atre, *Taming Model Incongruities in Networked Systems*, 2025, §3.5.4, §4.2, §4.4, §4.5; Saeed et al., *Eiffel*,
//! NSDI 2019; Shrivastav, *Fast, Scalable, and Programmable Packet Scheduler in Hardware* (PIEO), SIGCOMM 2019.
#![forbid(unsafe_code)]

pub mod bank;
pub mod bbq;
pub mod curve;
mod few;
pub mod gradient;
pub mod heap;
pub mod hffs;
pub mod kinetic;
pub mod live_tree;
mod methods;
pub mod occupancy;
pub mod partitioned;
pub mod pieo;
pub mod pifo;
pub mod product;
#[cfg(feature = "study")]
pub mod rtl;
mod slab;
pub mod timers;
pub mod window;

use std::fmt;

pub use bank::FifoBank;
pub use bbq::Bbq;
pub use curve::{Curve, Instant};
pub use gradient::Gradient;
pub use heap::Heap;
pub use hffs::Hffs;
pub use kinetic::KineticTournament;
pub use live_tree::LiveTree;
pub use occupancy::OccupancyTree;
pub use partitioned::Partitioned;
pub use pieo::Pieo;
pub use pifo::Pifo;
pub use slab::Handle;
pub use timers::TimerQueue;
pub use window::RollingWindow;

/// A queue that serves the smallest priority first, and items of one priority in the order in which they came.
pub trait PriorityQueue<T> {
    /// Number of items that the queue can hold.
    fn capacity(&self) -> usize;

    /// Number of items in the queue.
    fn len(&self) -> usize;

    /// Whether it holds none.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Adds `item`, at the end of those of the same priority.
    ///
    /// Returns the one that had to go for it, if the queue was full and its [`Overflow`] rule says so; that may be `item` itself.
    ///
    /// # Errors
    ///
    /// Nothing has changed and `item` comes back, if the queue is full and refuses, or has no place for the priority.
    fn insert(&mut self, priority: u64, item: T) -> Result<Option<(u64, T)>, Refused<T>>;

    /// The smallest priority, and the item that [`Self::extract_min`] would return.
    fn peek_min(&self) -> Option<(u64, &T)>;

    /// Takes out the oldest item of the smallest priority.
    fn extract_min(&mut self) -> Option<(u64, T)>;
}

/// A queue that also serves from the other end.
pub trait DoubleEnded<T>: PriorityQueue<T> {
    /// The largest priority, and the item that [`Self::extract_max`] would return.
    fn peek_max(&self) -> Option<(u64, &T)>;

    /// Takes out the oldest item of the largest priority.
    fn extract_max(&mut self) -> Option<(u64, T)>;
}

/// A queue cannot be asked for room for more items than these.
pub const MOST_ITEMS: u64 = 1 << 28;

/// Rule for a newcomer to a full queue.
///
/// The worst item is the one that [`DoubleEnded::extract_max`] would return: the oldest of the largest priority. Each rule is so a
/// sequence of operations that hardware has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Overflow {
    /// Refuses it with [`Refused::Full`].
    #[default]
    Refuse,
    /// Drops the worst item, whatever the newcomer is.
    DropWorst,
    /// Drops the worst item for a newcomer of a smaller priority, and any other newcomer.
    ///
    /// What is waiting was never worse than what was dropped: under this rule nobody can displace others by sending more of what is
    /// worse than theirs (SurgeProtector, §3.5.4).
    DropIfWorst,
}

/// Why an item could not be added; it comes back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Refused<T> {
    /// The queue is full.
    Full(T),
    /// The queue has no place for this priority.
    OutOfSpan(T),
}

impl<T> Refused<T> {
    /// The item.
    pub fn into_item(self) -> T {
        match self {
            Refused::Full(item) | Refused::OutOfSpan(item) => item,
        }
    }
}

impl<T> fmt::Display for Refused<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Refused::Full(_) => "the queue is full",
            Refused::OutOfSpan(_) => "the queue has no place for this priority",
        })
    }
}

impl<T: fmt::Debug> std::error::Error for Refused<T> {}

/// A queue cannot have this shape.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected {expected}, got {found}")]
pub struct BadShape {
    /// Description of the values that are possible.
    pub expected: String,
    /// Value that was asked for.
    pub found: u64,
}

impl BadShape {
    /// Refuses `found` unless it is in `range`.
    pub fn check(what: &str, found: u64, range: std::ops::RangeInclusive<u64>) -> Result<(), Self> {
        if range.contains(&found) {
            return Ok(());
        }
        Err(Self { expected: format!("{what} from {} to {}", range.start(), range.end()), found })
    }

    /// Refuses `found` if it is less than `least`.
    pub fn check_least(what: &str, found: u64, least: u64) -> Result<(), Self> {
        if found >= least {
            return Ok(());
        }
        Err(Self { expected: format!("{what} of {least} or more"), found })
    }
}
