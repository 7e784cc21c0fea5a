//! What travels between controller and switch.

use crate::Key;

/// A control packet: on its way there it may carry a row to write, on its way back it carries what was looked up.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Packet {
    /// The row to write, if any.
    pub update: Option<Update>,
    /// Keys to write: at most as many as a row has entries; the others become vacant.
    pub entries: Vec<Key>,
    /// The row of the history buffer to read and clear.
    pub history_row: u32,
    /// Keys that were in the history row, in the order of the lookups. Empty until the switch has seen the packet.
    pub history: Vec<Key>,
}

/// Row that is written, and the number of its update.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Update {
    /// The row of the table.
    pub row: u32,
    /// Counts the updates of this row, modulo 2¹⁶. A packet that is sent again has the same.
    pub version: u16,
}
