//! What a BBQ is made of: its parameters, and the memories that follow from them.

use std::fmt;

use crate::BadShape;

/// More priorities than 2^24, those of all partitions together, cannot be asked for.
const MOST_PRIORITY_BITS: u32 = 24;

/// More elements than these cannot be asked for.
const MOST_ELEMENTS: u64 = 1 << 24;

/// The parameters of the hardware.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Shape {
    /// Bits in a bitmap, W: a power of two from 2 to 64.
    pub width: u32,
    /// Levels of the tree, D: at least 1, with W^D priorities of at most 2^24.
    pub levels: u32,
    /// Elements that all partitions hold together, N: from 1 to 2^24. Of a value 2^k − 1 no count needs a bit that only N sets
    /// (§4.3.3).
    pub capacity: u32,
    /// Logical queues, q: a power of two from 1 to W^D.
    pub partitions: u32,
    /// Bits of the data that come with an element: from 1 to 64.
    pub data_bits: u32,
}

/// A [`Shape`] that can be, and what follows from it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    shape: Shape,
    /// Bits of a priority that a level resolves: log2 W.
    level_bits: u32,
    /// Bits of a partition's number: log2 q.
    partition_bits: u32,
}

impl Layout {
    /// Checks the parameters.
    ///
    /// # Errors
    ///
    /// If one of them is outside what [`Shape`] says.
    pub fn new(shape: Shape) -> Result<Self, BadShape> {
        let Shape { width, levels, capacity, partitions, data_bits } = shape;
        power_of_two("a width", width, 2..=64)?;
        let level_bits = width.ilog2();
        let deepest = u64::from(MOST_PRIORITY_BITS / level_bits);
        BadShape::check(&format!("levels of width {width}"), levels.into(), 1..=deepest)?;
        BadShape::check("a capacity", capacity.into(), 1..=MOST_ELEMENTS)?;
        power_of_two("a number of partitions", partitions, 1..=1 << (level_bits * levels))?;
        BadShape::check("a number of data bits", data_bits.into(), 1..=64)?;
        Ok(Self { shape, level_bits, partition_bits: partitions.ilog2() })
    }

    /// The parameters.
    pub fn shape(&self) -> Shape {
        self.shape
    }

    /// Priorities of all partitions together, W^D: so many buckets there are.
    pub fn buckets(&self) -> u32 {
        1 << (self.level_bits * self.shape.levels)
    }

    /// Priorities of each partition, W^D / q: all values of the priority port.
    pub fn span(&self) -> u32 {
        self.buckets() >> self.partition_bits
    }

    /// The first level that has bitmaps; 1 is the root.
    ///
    /// Operations are steered past the levels above it by the number of the partition: their bits do not tell partitions apart, so
    /// that they are left out (§4.4.2, case 2).
    pub fn top(&self) -> u32 {
        self.partition_bits.div_ceil(self.level_bits).max(1)
    }

    /// Entry of a partition: its bitmap at the level [`Self::top`], and the mask of its bits there.
    ///
    /// A bitmap at that level is shared by at most W partitions, each of which has a power of two of adjoining bits.
    pub(super) fn entry(&self, partition: u32) -> (usize, u64) {
        // Bits of the partition's number that choose among those of one bitmap.
        let within = self.partition_bits - (self.top() - 1) * self.level_bits;
        let bits = self.shape.width >> within;
        let ones = u64::MAX >> (u64::BITS - bits);
        let offset = (partition & ((1 << within) - 1)) * bits;
        ((partition >> within) as usize, ones << offset)
    }

    /// Bits of a priority that a level resolves.
    pub(super) fn level_bits(&self) -> u32 {
        self.level_bits
    }

    /// Bits of a pointer to an element.
    pub fn pointer_bits(&self) -> u32 {
        (self.shape.capacity - 1).checked_ilog2().unwrap_or(0) + 1
    }

    /// Bits of a number of elements, from 0 to the capacity.
    pub fn count_bits(&self) -> u32 {
        self.shape.capacity.ilog2() + 1
    }

    /// All memories. Those of the first level are registers in the source.
    pub fn memories(&self) -> Vec<Memory> {
        let (capacity, pointer) = (self.shape.capacity.into(), self.pointer_bits());
        let bits_at = |level: u32| 1u64 << (self.level_bits * level);
        let levels = (self.top()..=self.shape.levels).flat_map(|level| {
            [
                (MemoryName::Bitmap(level), bits_at(level - 1), self.shape.width),
                (MemoryName::Stoc(level), bits_at(level), 1 + self.count_bits()),
            ]
        });
        let rest = [
            (MemoryName::Bucket, self.buckets().into(), 2 * pointer),
            (MemoryName::Next, capacity, pointer),
            (MemoryName::Data, capacity, self.shape.data_bits),
            (MemoryName::FreeList, capacity, pointer),
            (MemoryName::Occupancy, self.shape.partitions.into(), self.count_bits()),
        ];
        levels.chain(rest).map(|(name, words, bits)| Memory { name, words, bits }).collect()
    }
}

/// Refuses `found` unless it is a power of two in `range`.
fn power_of_two(what: &str, found: u32, range: std::ops::RangeInclusive<u32>) -> Result<(), BadShape> {
    if range.contains(&found) && found.is_power_of_two() {
        return Ok(());
    }
    let expected = format!("{what} that is a power of two from {} to {}", range.start(), range.end());
    Err(BadShape { expected, found: found.into() })
}

/// A memory of the hardware.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MemoryName {
    /// The bitmaps of a level: bit i of a word is the i-th subtree below it.
    Bitmap(u32),
    /// The counts of a level, one for each bit: the waterlevel bit above the subtree occupancy counter.
    Stoc(u32),
    /// The last element of every priority above its first.
    Bucket,
    /// Successor of every element.
    Next,
    /// Data of every element.
    Data,
    /// The ring of pointers to free elements.
    FreeList,
    /// Number of elements of every partition.
    Occupancy,
}

impl fmt::Display for MemoryName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            MemoryName::Bitmap(level) => write!(f, "bitmap_l{level}"),
            MemoryName::Stoc(level) => write!(f, "stoc_l{level}"),
            MemoryName::Bucket => f.write_str("bucket"),
            MemoryName::Next => f.write_str("next"),
            MemoryName::Data => f.write_str("data"),
            MemoryName::FreeList => f.write_str("free_list"),
            MemoryName::Occupancy => f.write_str("occupancy"),
        }
    }
}

/// Size of a memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Memory {
    /// Name of the memory.
    pub name: MemoryName,
    /// Number of words.
    pub words: u64,
    /// Bits of each word.
    pub bits: u32,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(width: u32, levels: u32, capacity: u32, partitions: u32) -> Shape {
        Shape { width, levels, capacity, partitions, data_bits: 8 }
    }

    #[test]
    fn partitions_have_the_bits_of_the_figures() {
        // Figure 4.9: two partitions, masks at the root; figure 4.10: eight, steered past it, two to a bitmap.
        let two = Layout::new(shape(4, 2, 15, 2)).unwrap();
        assert_eq!((two.top(), two.span(), two.entry(0), two.entry(1)), (1, 8, (0, 0b0011), (0, 0b1100)));
        let eight = Layout::new(shape(4, 2, 15, 8)).unwrap();
        assert_eq!((eight.top(), eight.span()), (2, 2));
        assert_eq!([2, 3].map(|partition| eight.entry(partition)), [(1, 0b0011), (1, 0b1100)]);
        // As many as bits in the root are masked there; as many as there are priorities have a bit each at the leaves.
        let four = Layout::new(shape(4, 2, 15, 4)).unwrap();
        assert_eq!((four.top(), four.entry(2)), (1, (0, 0b0100)));
        let all = Layout::new(shape(4, 2, 15, 16)).unwrap();
        assert_eq!((all.top(), all.span(), all.entry(6)), (2, 1, (1, 0b0100)));
        let one = Layout::new(shape(64, 1, 15, 1)).unwrap();
        assert_eq!((one.top(), one.entry(0)), (1, (0, u64::MAX)));
    }

    #[test]
    fn memories_are_as_large_as_they_must_be() {
        let sizes = |layout: &Layout| {
            let memories = layout.memories().into_iter();
            memories.map(|memory| (memory.name.to_string(), memory.words, memory.bits)).collect::<Vec<_>>()
        };
        let expected = [
            ("bitmap_l1", 1, 8),
            ("stoc_l1", 8, 11),
            ("bitmap_l2", 8, 8),
            ("stoc_l2", 64, 11),
            ("bitmap_l3", 64, 8),
            ("stoc_l3", 512, 11),
            ("bucket", 512, 20),
            ("next", 1023, 10),
            ("data", 1023, 8),
            ("free_list", 1023, 10),
            ("occupancy", 1, 10),
        ];
        let expected = expected.map(|(name, words, bits)| (name.to_owned(), words, bits));
        assert_eq!(sizes(&Layout::new(shape(8, 3, 1023, 1)).unwrap()), expected);
        // A capacity of 2^k needs one more bit to count, and none to point.
        let power = Layout::new(shape(8, 3, 1024, 1)).unwrap();
        assert_eq!((power.pointer_bits(), power.count_bits()), (10, 11));
        let smallest = Layout::new(shape(2, 1, 1, 2)).unwrap();
        assert_eq!((smallest.pointer_bits(), smallest.count_bits()), (1, 1));
        // Steered past the root, which is not there.
        let steered = sizes(&Layout::new(shape(8, 3, 1023, 16)).unwrap());
        assert_eq!(steered[0], ("bitmap_l2".to_owned(), 8, 8));
    }

    #[test]
    fn impossible_shapes_are_refused() {
        let error = |shape| Layout::new(shape).unwrap_err().to_string();
        let widths = "expected a width that is a power of two from 2 to 64, got";
        assert_eq!(error(shape(0, 1, 1, 1)), format!("{widths} 0"));
        assert_eq!(error(shape(3, 1, 1, 1)), format!("{widths} 3"));
        assert_eq!(error(shape(128, 1, 1, 1)), format!("{widths} 128"));
        assert_eq!(error(shape(8, 9, 1, 1)), "expected levels of width 8 from 1 to 8, got 9");
        assert_eq!(error(shape(8, 0, 1, 1)), "expected levels of width 8 from 1 to 8, got 0");
        assert_eq!(error(shape(8, 1, 0, 1)), "expected a capacity from 1 to 16777216, got 0");
        let partitions = "expected a number of partitions that is a power of two from 1 to 8, got";
        assert_eq!(error(shape(8, 1, 1, 16)), format!("{partitions} 16"));
        assert_eq!(error(shape(8, 1, 1, 3)), format!("{partitions} 3"));
        let wide = Shape { data_bits: 65, ..shape(8, 1, 1, 1) };
        assert_eq!(error(wide), "expected a number of data bits from 1 to 64, got 65");
    }
}
