//! The index: bitmaps, and a subtree occupancy counter for each of their bits.

use super::layout::Layout;

/// From which end is served.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    Min,
    Max,
}

/// A subtree occupancy counter (§4.2.2), and whether it is 2 or more (§4.3.3).
#[derive(Clone, Copy, Debug, Default)]
struct Stoc {
    count: u32,
    waterlevel: bool,
}

impl Stoc {
    /// Counts one more.
    fn add(&mut self) {
        self.waterlevel = self.count >= 1;
        self.count += 1;
    }

    /// Counts one less; whether none is left is known from the waterlevel bit, before any arithmetic.
    fn take(&mut self) -> bool {
        let emptied = !self.waterlevel;
        self.waterlevel = self.count >= 3;
        self.count -= 1;
        emptied
    }
}

#[derive(Clone, Debug)]
struct Level {
    bitmaps: Box<[u64]>,
    stocs: Box<[Stoc]>,
}

/// The levels from [`Layout::top`] on. Addresses have the address of the parent above the bit in it, so that those of the leaves are
/// the numbers of the buckets.
#[derive(Clone, Debug)]
pub(super) struct Tree {
    layout: Layout,
    levels: Box<[Level]>,
}

impl Tree {
    pub(super) fn new(layout: Layout) -> Self {
        let level = |number: u32| {
            let bits = 1usize << (layout.level_bits() * number);
            let bitmaps = vec![0; bits >> layout.level_bits()].into();
            Level { bitmaps, stocs: vec![Stoc::default(); bits].into() }
        };
        let levels = (layout.top()..=layout.shape().levels).map(level).collect();
        Self { layout, levels }
    }

    /// Counts an element of `bucket` at every level, and tells whether it is the only one there.
    pub(super) fn enqueue(&mut self, bucket: u32) -> bool {
        let bits = self.layout.level_bits();
        let mut only = false;
        let heights = (0..self.levels.len() as u32).rev();
        for (height, level) in heights.zip(&mut self.levels) {
            let address = (bucket >> (bits * height)) as usize;
            let bitmap = &mut level.bitmaps[address >> bits];
            let bit = 1 << (address & ((1 << bits) - 1));
            // The leaves have the last word.
            only = *bitmap & bit == 0;
            *bitmap |= bit;
            level.stocs[address].add();
        }
        only
    }

    /// Finds the first bucket of `partition` from one end, and counts one element less at every level on the way; `None` if there
    /// is nothing in it.
    pub(super) fn dequeue(&mut self, partition: u32, end: End) -> Option<u32> {
        let (mut address, mut mask) = self.layout.entry(partition);
        if self.levels[0].bitmaps[address] & mask == 0 {
            return None;
        }
        for level in &mut self.levels {
            let bitmap = &mut level.bitmaps[address];
            let bit = find(*bitmap & mask, end);
            address = (address << self.layout.level_bits()) | bit as usize;
            if level.stocs[address].take() {
                *bitmap &= !(1 << bit);
            }
            // Only the first bitmap has other partitions in it.
            mask = u64::MAX;
        }
        Some(address as u32)
    }

    /// A bitmap of the level `number`.
    pub(super) fn bitmap(&self, number: u32, address: usize) -> Option<u64> {
        self.level(number)?.bitmaps.get(address).copied()
    }

    /// A count of the level `number`, with its waterlevel bit above.
    pub(super) fn stoc(&self, number: u32, address: usize) -> Option<u64> {
        let Stoc { count, waterlevel } = *self.level(number)?.stocs.get(address)?;
        Some((u64::from(waterlevel) << self.layout.count_bits()) | u64::from(count))
    }

    fn level(&self, number: u32) -> Option<&Level> {
        self.levels.get(number.checked_sub(self.layout.top())? as usize)
    }

    /// Number of elements in `bucket`.
    pub(super) fn count(&self, bucket: usize) -> u32 {
        self.levels.last().expect("a tree has levels").stocs[bucket].count
    }

    /// Fails with what is wrong, if anything is.
    pub(super) fn check(&self) -> Result<(), String> {
        let width = self.layout.shape().width as usize;
        for (number, level) in (self.layout.top()..).zip(&self.levels) {
            for (address, stoc) in level.stocs.iter().enumerate() {
                let bit = level.bitmaps[address / width] >> (address % width) & 1 == 1;
                if bit != (stoc.count > 0) || stoc.waterlevel != (stoc.count >= 2) {
                    return Err(format!("level {number}, address {address}: bit {bit} over {stoc:?}"));
                }
                let Some(below) = self.level(number + 1) else { continue };
                let sum: u32 = below.stocs[address * width..][..width].iter().map(|stoc| stoc.count).sum();
                if sum != stoc.count {
                    return Err(format!("level {number}, address {address}: {stoc:?}, and {sum} below"));
                }
            }
        }
        Ok(())
    }
}

/// The first set bit of a word that is not 0, from one end.
fn find(word: u64, end: End) -> u32 {
    match end {
        End::Min => word.trailing_zeros(),
        End::Max => word.ilog2(),
    }
}
