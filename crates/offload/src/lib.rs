#![doc = include_str!("../README.md")]
//!
//! ## The modules
//!
//! From the bottom up:
//!
//! 1. This file: what a [`System`] is, a data plane and its controller as one.
//! 2. [`hash`]: where a key belongs, the same in a program and in a switch.
//! 3. [`pace`]: when things fall due that happen so often a second, exactly.
//! 4. [`table`], [`cuckoo`]: tables that are changed entry by entry; [`batched`]: how a controller does so, batch by batch.
//! 5. [`policy`]: one system a file.
//!
//! Time is in slots: one lookup, one slot. Everything is in integers.
//!
//! With the feature `study`, what a table answers while its control loop is behind:
//!
//! 1. `value`: values of parameters; `timing`, `tally`: slots as seconds, and misses over time.
//! 2. `engine`: drives a system through a workload; `workload`: what is looked up.
//! 3. `dyso`: DySO with the network between controller and switch, a link each way.
//! 4. `ideal`: the classical belief, and Bélády, without a control loop.
//! 5. `optimal`: the least number of misses that a controller with a control loop could have had.
//! 6. `compare`: all of them, cell by cell of a grid; `size`: what DySO's registers take.
#![forbid(unsafe_code)]

pub mod batched;
pub mod cuckoo;
pub mod hash;
pub mod pace;
pub mod policy;
pub mod table;

#[cfg(feature = "study")]
pub mod compare;
#[cfg(feature = "study")]
pub mod dyso;
#[cfg(feature = "study")]
pub mod engine;
#[cfg(feature = "study")]
pub mod ideal;
#[cfg(feature = "study")]
pub mod optimal;
#[cfg(feature = "study")]
pub mod size;
#[cfg(feature = "study")]
pub mod tally;
#[cfg(feature = "study")]
pub mod timing;
#[cfg(feature = "study")]
pub mod value;
#[cfg(feature = "study")]
pub mod workload;

/// Key that is looked up: a number, or a 64-bit hash of whatever the application calls it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Key(pub u64);

/// A table in a switch together with whatever keeps it up to date.
///
/// The driver asks [`due`](Self::due), looks up as many keys as there are slots until then, one a slot, and calls
/// [`control`](Self::control). What is due at a slot happens before the lookup of that slot.
pub trait System {
    /// The packet of the next slot looks `key` up; whether the table answers.
    fn lookup(&mut self, key: Key) -> bool;

    /// The slot at which the control loop has something to do next; `u64::MAX` if it never has. Never earlier than what
    /// [`control`](Self::control) was last called with: at one slot there may be several things to do.
    fn due(&self) -> u64;

    /// Does one thing that is due at `now`.
    fn control(&mut self, now: u64);

    /// Counts so far.
    fn counts(&self) -> Counts;

    /// Looks up one key a slot, with nothing due in between; how many the table did not answer.
    fn misses(&mut self, keys: &[Key]) -> u64 {
        keys.iter().map(|&key| u64::from(!self.lookup(key))).sum()
    }
}

/// Counts of control loops; `None` for those that a system does not have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Changes that the controller has decided: entries to insert, or rows to write (DySO).
    pub updates_sent: Option<u64>,
    /// Changes that the table has made, each counted once: those sent less those that failed or are still under way.
    pub updates_applied: Option<u64>,
    /// Changes sent once more because nothing was heard of them.
    pub updates_resent: Option<u64>,
    /// Insertions for which a cuckoo table had no place.
    pub updates_failed: Option<u64>,
    /// Lookups that entered the history buffer.
    pub history_recorded: Option<u64>,
    /// Lookups that found their row of the history buffer full.
    pub history_full: Option<u64>,
    /// Lookups that left the buffer on a control packet that never came back.
    pub history_lost: Option<u64>,
}
