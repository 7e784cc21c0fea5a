//! Queues of ranks, with both ends and a name for everything in them.
//!
//! 1. [`Quantised`]: ratios, by the first set bit; [`Reranked`]: ratios that change while an item waits.
//! 2. [`Calendar`]: times and rounds, which grow without end, over several of them.
//! 3. [`Exact`]: anything that can be compared, over a balanced tree; what the others are held against.

mod calendar;
mod chunks;
mod exact;
mod quantised;

pub use calendar::{Calendar, TICK};
pub use exact::{Exact, Name};
pub use quantised::{MantissaBits, Quantised, Reranked};

use trueplane_pqueue::BadShape;

/// A queue that finds an item that waits anywhere in it.
pub trait NamedQueue<I>: RankQueue<I> {
    /// The item of this name; `None` if it has left.
    fn find(&self, name: Self::Name) -> Option<&I>;

    /// Takes out the item of this name; `None` if it has left.
    fn remove(&mut self, name: Self::Name) -> Option<I>;
}

/// A queue of items `I` by rank; items of one rank wait in the order in which they came to it.
pub trait RankQueue<I>: Sized {
    /// Rank by which the queue orders items.
    type Rank: Copy;
    /// Precision of the queue, and other choices that do not depend on its contents.
    type Shape: Copy + Default;
    /// Names an item as long as it is there.
    type Name: Copy + PartialEq + std::fmt::Debug;
    /// Whether an item can be given another rank.
    const RERANKS: bool;

    /// A queue for `capacity` items. Memory is reserved, and touched when items come.
    ///
    /// # Errors
    ///
    /// If there can be no such shape or capacity.
    fn new(shape: Self::Shape, capacity: usize) -> Result<Self, BadShape>;

    /// Number of items that the queue has room for.
    fn capacity(&self) -> usize;

    /// Number of items in the queue.
    fn len(&self) -> usize;

    /// Whether it holds none.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Adds an item behind those of the same rank.
    ///
    /// # Errors
    ///
    /// If it is full; nothing has changed, and `item` comes back.
    fn insert(&mut self, rank: Self::Rank, item: I) -> Result<Self::Name, I>;

    /// Takes out the oldest item of the smallest rank.
    ///
    /// `bound` is for ranks that grow: none that comes in later is below both it and the rank that is taken out now.
    fn extract_min(&mut self, bound: u64) -> Option<I>;

    /// The item that [`Self::extract_max`] would take out.
    fn peek_max(&self) -> Option<&I>;

    /// Takes out the oldest item of the largest rank.
    fn extract_max(&mut self) -> Option<I>;

    /// Gives an item another rank, unless that is the same to this queue: then it keeps its place. Returns its name from now on; `None`
    /// if it has left, or the queue cannot do this ([`Self::RERANKS`]).
    fn rerank(&mut self, name: Self::Name, from: Self::Rank, to: Self::Rank) -> Option<Self::Name>;

    /// Bytes for every item in it, however many there are: what a queue of this shape takes anyway is not in it ([`Quantised`]).
    fn bytes_per_item() -> usize;
}
