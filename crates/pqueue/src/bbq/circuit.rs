//! The circuit in `rtl/bbq`: what the parameters of `tp_bbq` come to.
//!
//! The memories of [`Layout::memories`] are those of the source. The circuit keeps all bits of a node in one word, and in block RAM all counts, reads
//! links from the element two behind, and takes free elements from the lists: so its memories are other ones, told here.

use std::fmt;

use super::{Layout, Shape};
use crate::BadShape;

/// Tables of up to so many words are kept in LUT RAM, unless said otherwise.
pub const LUT_WORDS: u32 = 16;

/// More partitions than these the circuit does not have: each has a count of its own in registers, and all of them are on a port.
pub const MOST_PARTITIONS: u32 = 4096;

/// Hardware in which a table is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kept {
    /// Registers, outside any RAM.
    Registers,
    /// LUT RAM, or whatever can be read within a cycle.
    Lut,
    /// Block RAM, read through its output register.
    Block,
    /// Block RAM, read without its output register.
    BlockUnregistered,
}

impl fmt::Display for Kept {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Kept::Registers => "registers",
            Kept::Lut => "LUT RAM",
            Kept::Block => "block RAM",
            Kept::BlockUnregistered => "block RAM, unregistered",
        })
    }
}

/// A table of the circuit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Table {
    /// Name of the table.
    pub name: String,
    /// Number of words.
    pub words: u64,
    /// Bits of each word.
    pub bits: u32,
    /// Hardware in which the table is kept.
    pub kept: Kept,
}

/// How the circuit uses its memories.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Memories {
    /// Cycles in which a link is read: 1 or 2.
    pub lanes: u32,
    /// Words of the largest table in LUT RAM.
    pub lut_words: u32,
    /// Whether there are registers on the way to block RAMs and behind them, which tables of many of them need.
    pub stages: bool,
}

impl Default for Memories {
    fn default() -> Self {
        Self { lanes: 2, lut_words: LUT_WORDS, stages: false }
    }
}

/// The circuit with its parameters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Circuit {
    layout: Layout,
    memories: Memories,
}

impl Circuit {
    /// With a shape, and memories used like this.
    ///
    /// # Errors
    ///
    /// If one of the parameters is outside what [`Shape`] says, there are other lanes, or more than [`MOST_PARTITIONS`].
    pub fn new(shape: Shape, memories: Memories) -> Result<Self, BadShape> {
        BadShape::check("a number of lanes", memories.lanes.into(), 1..=2)?;
        let layout = Layout::new(shape)?;
        BadShape::check(
            "a number of partitions of a circuit",
            shape.partitions.into(),
            1..=MOST_PARTITIONS.into(),
        )?;
        Ok(Self { layout, memories })
    }

    /// Layout of the BBQ that the circuit is.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// Memories as the circuit uses them.
    pub fn memories(&self) -> Memories {
        self.memories
    }

    /// The first level that is built. Those above are left out where the partitions divide the tree between two levels.
    fn first_level(&self) -> u32 {
        let partition_bits = self.layout.shape().partitions.ilog2();
        match partition_bits % self.layout.level_bits() {
            0 => partition_bits / self.layout.level_bits() + 1,
            _ => 1,
        }
    }

    fn kept(&self, words: u64) -> Kept {
        match words {
            1 => Kept::Registers,
            _ if words <= self.memories.lut_words.into() => Kept::Lut,
            _ => Kept::Block,
        }
    }

    /// Nodes of each level that is built.
    fn levels(&self) -> impl Iterator<Item = (u32, u64)> + '_ {
        let nodes = |level: u32| (level, 1 << (self.layout.level_bits() * (level - 1)));
        (self.first_level()..=self.layout.shape().levels).map(nodes)
    }

    /// Cycles from a request to its response.
    pub fn latency(&self) -> u32 {
        let cycles = |words| match self.kept(words) {
            Kept::Registers => 2,
            Kept::Lut => 3,
            Kept::Block | Kept::BlockUnregistered => 4 + u32::from(self.memories.stages),
        };
        let buckets = self.layout.buckets().into();
        // On the way to the data, and to and behind the records that are in block RAM.
        let in_lists = match (self.memories.stages, self.kept(buckets)) {
            (false, _) => 0,
            (true, Kept::Block) => 2,
            (true, _) => 1,
        };
        let front = if self.layout.shape().partitions == 1 { 1 } else { 2 };
        let tree: u32 = self.levels().map(|(_, nodes)| cycles(nodes)).sum();
        front + tree + cycles(buckets) + 2 + in_lists
    }

    /// All tables, but for the registers between stages.
    pub fn tables(&self) -> Vec<Table> {
        let Shape { width, capacity, partitions, data_bits, .. } = self.layout.shape();
        let (pointer, count) = (self.layout.pointer_bits(), self.layout.count_bits());
        let table = |name: String, words: u64, bits: u32| Table { name, words, bits, kept: self.kept(words) };
        // In block RAM a bitmap and which counts are above 1, and a word with all counts of a node; elsewhere which are above 2 as well, and a
        // word in LUT RAM for each count, which also says whether it is above 1 and above 3.
        let bits = |level, nodes| {
            let each = if self.kept(nodes) == Kept::Block { 2 } else { 3 };
            table(format!("bits_l{level}"), nodes, each * width)
        };
        let counts = |level, nodes| {
            let name = format!("counts_l{level}");
            if self.kept(nodes) == Kept::Block {
                return table(name, nodes, width * count);
            }
            Table { kept: Kept::Lut, ..table(name, nodes * u64::from(width), count + 2) }
        };
        let levels = self.levels().flat_map(|(level, nodes)| [bits(level, nodes), counts(level, nodes)]);
        let capacity = capacity.into();
        let links = if self.memories.lanes == 1 { Kept::BlockUnregistered } else { Kept::Block };
        let rest = [
            table("buckets".into(), self.layout.buckets().into(), 2 * self.memories.lanes * pointer),
            Table { name: "links".into(), words: capacity, bits: pointer, kept: links },
            Table { name: "data".into(), words: capacity, bits: data_bits, kept: Kept::Block },
            Table { name: "occupancy".into(), words: partitions.into(), bits: count, kept: Kept::Registers },
        ];
        levels.chain(rest).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn circuit(width: u32, levels: u32, capacity: u32, partitions: u32) -> Circuit {
        let shape = Shape { width, levels, capacity, partitions, data_bits: 16 };
        Circuit::new(shape, Memories::default()).unwrap()
    }

    #[test]
    fn latencies_are_those_of_the_stages() {
        // The front 1, the root 2, eight nodes in LUT RAM 3, 64 in block RAM 4, 512 buckets 4, and 2 for the data.
        assert_eq!(circuit(8, 3, 1023, 1).latency(), 16);
        // Masked at the root: one more for the partitions' counts.
        assert_eq!(circuit(8, 3, 1023, 4).latency(), 17);
        // Steered past the root by eight partitions, which is then left out; not by 16, which share nodes.
        assert_eq!(circuit(8, 3, 1023, 8).latency(), 15);
        assert_eq!(circuit(8, 3, 1023, 16).latency(), 17);
        // A partition for every bucket: no tree at all.
        assert_eq!(circuit(8, 3, 1023, 512).latency(), 8);
        assert_eq!(circuit(2, 2, 3, 1).latency(), 1 + 2 + 3 + 3 + 2);
        let staged = |width, levels, capacity| {
            let shape = circuit(width, levels, capacity, 1).layout().shape();
            Circuit::new(shape, Memories { stages: true, ..Memories::default() }).unwrap().latency()
        };
        // One more for each level in block RAM, and three more for the lists.
        assert_eq!(staged(8, 3, 1023), 20);
        assert_eq!(staged(8, 5, 16_383), 30);
        // Nothing but the data is in block RAM.
        assert_eq!(staged(2, 2, 3), 12);
    }

    #[test]
    fn tables_are_as_large_as_they_must_be() {
        let sizes: Vec<_> =
            circuit(8, 3, 1023, 1).tables().into_iter().map(|of| (of.name, of.words, of.bits)).collect();
        let expected = [
            ("bits_l1", 1, 24),
            ("counts_l1", 8, 12),
            ("bits_l2", 8, 24),
            ("counts_l2", 64, 12),
            ("bits_l3", 64, 16),
            ("counts_l3", 64, 80),
            ("buckets", 512, 40),
            ("links", 1023, 10),
            ("data", 1023, 16),
            ("occupancy", 1, 10),
        ];
        assert_eq!(sizes, expected.map(|(name, words, bits)| (name.to_owned(), words, bits)));
        let lanes = |lanes| {
            Circuit::new(circuit(8, 3, 1023, 1).layout().shape(), Memories { lanes, ..Memories::default() })
        };
        assert_eq!(lanes(1).unwrap().tables()[6].bits, 20);
        assert_eq!(lanes(3).unwrap_err().to_string(), "expected a number of lanes from 1 to 2, got 3");
    }
}
