//! The rows of `offload size`.

use trueplane_units::{BitsPerSec, Bytes, PerSecond, choices};

/// A table and its history buffer.
#[derive(Clone, Debug, PartialEq)]
pub struct Layout {
    /// Entries in a row, k.
    pub chain: u32,
    /// Rows of the table, N.
    pub rows: u64,
    /// Register arrays. Each is read or written once by a packet, in one stage of the pipeline.
    pub arrays: Vec<Array>,
    /// Control packet that the controller sends and gets back.
    pub packet: Packet,
}

choices! {
    /// The contents of a register array.
    pub enum Contents {
        /// Keys of entries.
        Keys = "keys",
        /// Values of entries.
        Values = "values",
        /// Versions of rows.
        Versions = "versions",
        /// Keys in the history buffer.
        HistoryKeys = "history keys",
        /// Numbers of keys in the rows of the history buffer.
        HistoryFill = "history fill",
    }
}

/// Register arrays of one kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Array {
    /// Contents of the registers.
    pub contents: Contents,
    /// Number of arrays of this kind.
    pub arrays: u64,
    /// Registers of each array.
    pub registers: u64,
    /// Bits of a register.
    pub width: u64,
}

/// A control packet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Packet {
    /// Bits of the row to write and its version, k keys and values, the row of the history buffer, the number of keys in it, and these.
    pub payload_bits: u64,
    /// Length of the Ethernet frame: with header, padding and checksum.
    pub frame: Bytes,
    /// Length with what a frame takes of the line beside itself.
    pub wire: Bytes,
    /// Bandwidth that control packets take on each of the two ways, at each rate.
    pub bandwidths: Vec<(PerSecond, BitsPerSec)>,
}

impl Array {
    /// Bits of each array. There are at most 2³² registers, 2⁷ arrays and 2¹⁶ bits: nothing overflows.
    pub fn bits(&self) -> u64 {
        self.registers * self.width
    }

    /// Bits of all arrays of this kind.
    pub fn total_bits(&self) -> u64 {
        self.arrays * self.bits()
    }
}

impl Packet {
    /// Bytes of the payload, rounded up.
    pub fn payload(&self) -> Bytes {
        Bytes(self.payload_bits.div_ceil(8))
    }
}

impl Layout {
    /// All entries, N × k.
    pub fn entries(&self) -> u64 {
        self.rows * u64::from(self.chain)
    }

    /// Bits of keys and values: the classical number.
    pub fn table_bits(&self) -> u64 {
        let is_table = |array: &&Array| matches!(array.contents, Contents::Keys | Contents::Values);
        let table = self.arrays.iter().filter(is_table);
        table.map(Array::total_bits).sum()
    }

    /// Bits of all arrays.
    pub fn total_bits(&self) -> u64 {
        self.arrays.iter().map(Array::total_bits).sum()
    }

    /// The share by which all arrays are above keys and values.
    pub fn overhead(&self) -> f64 {
        trueplane_study::metrics::ratio(self.total_bits().into(), self.table_bits()) - 1.0
    }
}
