//! FIFOs for every rank, in chunks: what is many in a queue lies together in memory.

use std::fmt;

use trueplane_pqueue::{BadShape, MOST_ITEMS, OccupancyTree};

/// Items in a chunk.
const ITEMS: usize = 8;

/// The find-first-set queue without names.
///
/// [`Hffs`](trueplane_pqueue::Hffs) links every item to the next, and what it does to an item in a long queue waits for memory: for the
/// last of its rank when it comes, and for itself when it goes. Here a rank has chunks of eight, of which only the first and the last
/// are touched; those fit in a cache, whatever waits. What nobody can have any more is an item in the middle.
///
/// Cost: O(1), amortised over the growth of its memory.
///
/// Memory: the items, and a fixed part that depends on ranks and not on the capacity. That is 12 bytes and some bits for every rank; and
/// less than two chunks for every rank of which any waits, as its first and its last are not full. Chunks of packets with 16 bytes more,
/// for one, have 328 bytes: 43 MB if something waits of each of 65,536 ranks, which an attacker can bring about.
#[derive(Clone)]
pub(super) struct Chunks<I> {
    capacity: usize,
    occupancy: OccupancyTree<3>,
    ranks: Box<[Ends]>,
    chunks: Vec<Chunk<I>>,
    free: Vec<u32>,
}

#[derive(Clone)]
struct Chunk<I> {
    items: [Option<I>; ITEMS],
    /// Index of the next chunk of the rank; without meaning in the last one.
    next: u32,
}

/// The first and the last chunk of a rank; what stands in an empty one means nothing.
#[derive(Clone, Copy, Debug, Default)]
struct Ends {
    first: u32,
    last: u32,
    /// The place of the first item in the first chunk.
    start: u16,
    /// The one behind that of the last item in the last chunk.
    end: u16,
}

/// The number of items of each rank, without the memory that they lie in.
impl<I> fmt::Debug for Chunks<I> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { capacity, occupancy, .. } = self;
        f.debug_struct("Chunks")
            .field("capacity", capacity)
            .field("occupancy", occupancy)
            .finish_non_exhaustive()
    }
}

impl<I> Chunks<I> {
    /// For `capacity` items of ranks below `span`.
    pub(super) fn new(span: u64, capacity: usize) -> Result<Self, BadShape> {
        BadShape::check("a capacity", capacity as u64, 1..=MOST_ITEMS)?;
        let (occupancy, ranks) = (OccupancyTree::new(span)?, vec![Ends::default(); span as usize].into());
        Ok(Self { capacity, occupancy, ranks, chunks: Vec::new(), free: Vec::new() })
    }

    pub(super) fn capacity(&self) -> usize {
        self.capacity
    }

    pub(super) fn occupancy(&self) -> &OccupancyTree<3> {
        &self.occupancy
    }

    /// Adds an item to the end of a rank below the span; it comes back if there is no room.
    #[inline]
    pub(super) fn push(&mut self, rank: u64, item: I) -> Result<(), I> {
        if self.occupancy.len() == self.capacity {
            return Err(item);
        }
        let mut ends = self.ranks[rank as usize];
        if self.occupancy.count(rank) == 0 {
            let chunk = self.allocate();
            ends = Ends { first: chunk, last: chunk, start: 0, end: 0 };
        } else if usize::from(ends.end) == ITEMS {
            let chunk = self.allocate();
            self.chunks[ends.last as usize].next = chunk;
            (ends.last, ends.end) = (chunk, 0);
        }
        self.chunks[ends.last as usize].items[usize::from(ends.end)] = Some(item);
        ends.end += 1;
        self.ranks[rank as usize] = ends;
        self.occupancy.add(rank);
        Ok(())
    }

    /// The first item of a rank of which any waits.
    pub(super) fn front(&self, rank: u64) -> Option<&I> {
        let ends = self.ranks.get(rank as usize)?;
        self.chunks.get(ends.first as usize)?.items[usize::from(ends.start)].as_ref()
    }

    /// Takes out the first item of a rank.
    #[inline]
    pub(super) fn pop(&mut self, rank: u64) -> Option<I> {
        if !self.occupancy.remove(rank) {
            return None;
        }
        let ends = &mut self.ranks[rank as usize];
        let first = ends.first;
        let chunk = &mut self.chunks[first as usize];
        let item = chunk.items[usize::from(ends.start)].take();
        ends.start += 1;
        let at_end = usize::from(ends.start) == ITEMS;
        if at_end {
            (ends.first, ends.start) = (chunk.next, 0);
        }
        if at_end || self.occupancy.count(rank) == 0 {
            self.free.push(first);
        }
        item
    }

    #[inline]
    fn allocate(&mut self) -> u32 {
        self.free.pop().unwrap_or_else(|| {
            self.chunks.push(Chunk { items: std::array::from_fn(|_| None), next: 0 });
            self.chunks.len() as u32 - 1
        })
    }

    /// Bytes for an item in a full chunk: without the fixed part.
    pub(super) fn bytes_per_item() -> usize {
        (size_of::<Chunk<I>>() + size_of::<u32>()).div_ceil(ITEMS)
    }
}
