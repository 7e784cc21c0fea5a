//! Ratios within a promised factor, at the cost of a few words.

use trueplane_pqueue::{BadShape, Handle, Hffs, Overflow, Refused};

use super::chunks::Chunks;
use super::{NamedQueue, RankQueue};
use crate::ratio::{MOST_MANTISSA_BITS, Ratio};

/// Precision of ranks: exact within a factor of 1 + 2^−M, with M up to [`MOST_MANTISSA_BITS`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MantissaBits(pub u32);

/// 10: within a thousandth; the queue's 65,536 places take 0.8 MB.
impl Default for MantissaBits {
    fn default() -> Self {
        Self(10)
    }
}

/// A queue by [`Ratio::quantise`].
///
/// Cost: O(1) amortised, whoever chose the ranks. Source: Atre 2025 §3.5.4, over [`OccupancyTree`](trueplane_pqueue::OccupancyTree).
///
/// Memory: [`RankQueue::bytes_per_item`] for every item, and a fixed part, which no figure for an item covers: 12 bytes for every
/// rank, of which there are 64 · 2^M; and, as items of a rank lie in chunks of eight, the room of up to 14 more items for each rank
/// of which any waits. With items of 40 bytes that is 43 MB at most for M = 10, and 172 MB for M = 12.
#[derive(Clone, Debug)]
pub struct Quantised<I> {
    mantissa_bits: u32,
    queue: Chunks<I>,
}

/// Refuses more bits than there can be.
fn check(MantissaBits(mantissa_bits): MantissaBits) -> Result<u32, BadShape> {
    BadShape::check("bits of a mantissa", mantissa_bits.into(), 0..=MOST_MANTISSA_BITS.into())?;
    Ok(mantissa_bits)
}

impl<I> RankQueue<I> for Quantised<I> {
    type Rank = Ratio;
    type Shape = MantissaBits;
    type Name = ();
    const RERANKS: bool = false;

    fn new(mantissa_bits: MantissaBits, capacity: usize) -> Result<Self, BadShape> {
        let mantissa_bits = check(mantissa_bits)?;
        Ok(Self { mantissa_bits, queue: Chunks::new(Ratio::span(mantissa_bits), capacity)? })
    }

    fn capacity(&self) -> usize {
        self.queue.capacity()
    }

    fn len(&self) -> usize {
        self.queue.occupancy().len()
    }

    #[inline]
    fn insert(&mut self, rank: Ratio, item: I) -> Result<(), I> {
        self.queue.push(rank.quantise(self.mantissa_bits), item)
    }

    #[inline]
    fn extract_min(&mut self, _bound: u64) -> Option<I> {
        self.queue.pop(self.queue.occupancy().min()?)
    }

    fn peek_max(&self) -> Option<&I> {
        self.queue.front(self.queue.occupancy().max()?)
    }

    fn extract_max(&mut self) -> Option<I> {
        self.queue.pop(self.queue.occupancy().max()?)
    }

    fn rerank(&mut self, (): (), _from: Ratio, _to: Ratio) -> Option<()> {
        None
    }

    fn bytes_per_item() -> usize {
        Chunks::<I>::bytes_per_item()
    }
}

/// The same with a name for every item that waits: for ranks that change, and for items that leave from anywhere.
///
/// Cost: O(1) in the worst case, and a wait for memory or two more. Source: Atre 2025 §3.5.4, over [`Hffs`].
#[derive(Clone, Debug)]
pub struct Reranked<I> {
    mantissa_bits: u32,
    queue: Hffs<I>,
}

impl<I> RankQueue<I> for Reranked<I> {
    type Rank = Ratio;
    type Shape = MantissaBits;
    type Name = Handle;
    const RERANKS: bool = true;

    fn new(mantissa_bits: MantissaBits, capacity: usize) -> Result<Self, BadShape> {
        let mantissa_bits = check(mantissa_bits)?;
        Ok(Self { mantissa_bits, queue: Hffs::new(Ratio::span(mantissa_bits), capacity, Overflow::Refuse)? })
    }

    fn capacity(&self) -> usize {
        self.queue.capacity()
    }

    fn len(&self) -> usize {
        self.queue.len()
    }

    #[inline]
    fn insert(&mut self, rank: Ratio, item: I) -> Result<Self::Name, I> {
        let inserted = self.queue.insert_named(rank.quantise(self.mantissa_bits), item);
        inserted
            .map(|inserted| inserted.handle.expect("a queue that refuses when it is full displaces nothing"))
            .map_err(Refused::into_item)
    }

    #[inline]
    fn extract_min(&mut self, _bound: u64) -> Option<I> {
        Some(self.queue.extract_min()?.1)
    }

    fn peek_max(&self) -> Option<&I> {
        Some(self.queue.peek_max()?.1)
    }

    fn extract_max(&mut self) -> Option<I> {
        Some(self.queue.extract_max()?.1)
    }

    #[inline]
    fn rerank(&mut self, name: Self::Name, from: Ratio, to: Ratio) -> Option<Self::Name> {
        if from.quantise(self.mantissa_bits) == to.quantise(self.mantissa_bits) {
            return Some(name);
        }
        let (_, item) = self.queue.remove(name)?;
        self.insert(to, item).ok()
    }

    /// Bytes for every item, as documented at [`Hffs`].
    fn bytes_per_item() -> usize {
        // An item with the link behind it, its tag, and a free place.
        size_of::<(Option<I>, u32)>() + 16 + 4
    }
}

/// Cost: O(1) in the worst case.
impl<I> NamedQueue<I> for Reranked<I> {
    fn find(&self, name: Handle) -> Option<&I> {
        Some(self.queue.find(name)?.1)
    }

    fn remove(&mut self, name: Handle) -> Option<I> {
        Some(self.queue.remove(name)?.1)
    }
}
