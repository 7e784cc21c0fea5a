//! How large everything is.

use crate::{Key, hash};

/// The sizes of table and history buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    rows: u32,
    chain: u32,
    history_rows: u32,
    history_slots: u32,
}

/// The sizes do not make a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidShape {
    /// A table with one row has no vacant entries (see [`Shape::new`]).
    #[error("expected at least 2 rows, got {0}")]
    Rows(u32),
    /// No entries, or more than one pass through a switch can compare.
    #[error("expected 1 to {} entries a row, got {found}", Shape::LONGEST_CHAIN)]
    Chain {
        /// Number of entries asked for.
        found: u32,
    },
    /// No history, or more rows than the table has.
    #[error("expected 1 to {rows} rows of the history buffer, as many as the table has at most, got {found}")]
    HistoryRows {
        /// Rows of the table.
        rows: u32,
        /// Rows of the history buffer.
        found: u32,
    },
    /// No slots, or more than a control packet can carry.
    #[error("expected 1 to {} slots in a row of the history buffer, got {found}", Shape::MOST_SLOTS)]
    HistorySlots {
        /// Number of slots asked for.
        found: u32,
    },
}

impl Shape {
    /// The most entries of a row.
    pub const LONGEST_CHAIN: u32 = 64;
    /// The most slots of a row of the history buffer.
    pub const MOST_SLOTS: u32 = 128;

    /// `rows` × `chain` entries, and a history buffer of `history_rows` × `history_slots` keys.
    ///
    /// # Errors
    /// If one of them is out of its range. Two rows are needed because a vacant entry holds a key of another row, which nobody looks up there:
    /// an entry then needs no bit that says whether it is one.
    pub fn new(rows: u32, chain: u32, history_rows: u32, history_slots: u32) -> Result<Self, InvalidShape> {
        if rows < 2 {
            return Err(InvalidShape::Rows(rows));
        }
        if !(1..=Self::LONGEST_CHAIN).contains(&chain) {
            return Err(InvalidShape::Chain { found: chain });
        }
        if !(1..=rows).contains(&history_rows) {
            return Err(InvalidShape::HistoryRows { rows, found: history_rows });
        }
        if !(1..=Self::MOST_SLOTS).contains(&history_slots) {
            return Err(InvalidShape::HistorySlots { found: history_slots });
        }
        Ok(Self { rows, chain, history_rows, history_slots })
    }

    /// Rows of the table, N.
    pub fn rows(&self) -> u32 {
        self.rows
    }

    /// Entries of a row, k.
    pub fn chain(&self) -> usize {
        self.chain as usize
    }

    /// Rows of the history buffer.
    pub fn history_rows(&self) -> u32 {
        self.history_rows
    }

    /// Keys that a row of the history buffer holds.
    pub fn history_slots(&self) -> usize {
        self.history_slots as usize
    }

    /// The row that `key` belongs to.
    pub fn row_of(&self, key: Key) -> u32 {
        hash::row(hash::mix(key), self.rows)
    }
}
