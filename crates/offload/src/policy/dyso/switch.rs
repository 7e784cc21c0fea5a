//! The data plane: what happens to a packet in one pass through the pipeline.

use super::packet::{Packet, Update};
use super::shape::Shape;
use crate::{Key, hash};

/// Table and history buffer of a switch.
#[derive(Clone, Debug)]
pub struct Switch {
    shape: Shape,
    table: RMat,
    history: History,
    applied: u64,
}

impl Switch {
    /// With nothing in it.
    pub fn new(shape: Shape) -> Self {
        Self { shape, table: RMat::new(&shape), history: History::new(&shape), applied: 0 }
    }

    /// A data packet: looks `key` up and records it. Whether the table answers. O(k).
    #[inline]
    pub fn lookup(&mut self, key: Key) -> bool {
        let hash = hash::mix(key);
        // Rows of both tables nest, so that all rows of the table have their share of the buffer: 64 to one if there are 64 times as many.
        self.history.record(hash::row(hash, self.shape.history_rows()), key);
        self.table.answers(hash::row(hash, self.shape.rows()), key)
    }

    /// A control packet: writes its row, and takes along a row of the history buffer, which is then empty.
    ///
    /// A row that was written by the same or a later update stays as it is: a packet that was believed lost, and sent again, may come
    /// late. A packet that names a row that there is not, or more keys than a row has entries, changes nothing.
    pub fn process(&mut self, packet: &mut Packet) {
        if let Some(update) = packet.update
            && self.table.write(update, &packet.entries)
        {
            self.applied += 1;
        }
        packet.history.clear();
        self.history.export(packet.history_row, &mut packet.history);
    }

    /// Sizes of the table and of the history buffer.
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// The table.
    pub fn table(&self) -> &RMat {
        &self.table
    }

    /// Updates that changed a row.
    pub fn applied(&self) -> u64 {
        self.applied
    }

    /// Lookups that entered the history buffer.
    pub fn recorded(&self) -> u64 {
        self.history.recorded
    }

    /// Lookups that found their row of it full.
    pub fn lost(&self) -> u64 {
        self.history.offered - self.history.recorded
    }

    /// Lookups that are in it now.
    pub fn unread(&self) -> u64 {
        self.history.used.iter().map(|&used| u64::from(used)).sum()
    }
}

/// A hash table with a row of k entries for each hash: Algorithm 1.
#[derive(Clone, Debug)]
pub struct RMat {
    /// Row by row. A vacant entry holds a key that belongs to another row.
    entries: Vec<Key>,
    /// The version of the last update of each row.
    versions: Vec<u16>,
    chain: usize,
    vacant: Vacant,
}

impl RMat {
    fn new(shape: &Shape) -> Self {
        let vacant = Vacant::new(shape);
        let entries = (0..shape.rows()).flat_map(|row| vec![vacant.of(row); shape.chain()]).collect();
        Self { entries, versions: vec![0; shape.rows() as usize], chain: shape.chain(), vacant }
    }

    /// Answers a LOOKUP: whether the row has the key.
    #[inline]
    fn answers(&self, row: u32, key: Key) -> bool {
        let start = row as usize * self.chain;
        let entries = &self.entries[start..start + self.chain];
        // All are compared, as a pipeline does: at which of them the key is cannot be foretold.
        entries.iter().fold(false, |found, &entry| found | (entry == key))
    }

    /// UPDATE, unless it is an old one; whether it was made.
    fn write(&mut self, update: Update, keys: &[Key]) -> bool {
        let row = update.row as usize;
        let Some(version) = self.versions.get_mut(row) else { return false };
        // Serial number arithmetic (RFC 1982): later means less than half the circle ahead.
        let is_later = update.version.wrapping_sub(*version).cast_signed() > 0;
        if !is_later || keys.len() > self.chain {
            return false;
        }
        *version = update.version;
        let (written, rest) = self.entries[row * self.chain..][..self.chain].split_at_mut(keys.len());
        written.copy_from_slice(keys);
        rest.fill(self.vacant.of(update.row));
        true
    }

    /// The keys that a row answers; none if there is no such row.
    pub fn keys(&self, row: u32) -> impl Iterator<Item = Key> {
        let entries = self.entries.chunks(self.chain).nth(row as usize).unwrap_or_default();
        entries.iter().copied().filter(move |&key| key != self.vacant.of(row))
    }
}

/// Keys that stand in vacant entries.
#[derive(Clone, Copy, Debug)]
struct Vacant {
    /// Belongs to `row`.
    first: Key,
    row: u32,
    /// Belongs to another.
    second: Key,
}

impl Vacant {
    fn new(shape: &Shape) -> Self {
        let first = Key(0);
        let row = shape.row_of(first);
        let second = (1..).map(Key).find(|&key| shape.row_of(key) != row).unwrap_or(first);
        Self { first, row, second }
    }

    fn of(self, row: u32) -> Key {
        if row == self.row { self.second } else { self.first }
    }
}

/// Keys looked up, row by row, until a control packet takes them along: first in, first kept.
#[derive(Clone, Debug)]
struct History {
    /// Row by row, with one place more than there are slots: for what is lost.
    keys: Vec<Key>,
    used: Vec<u8>,
    slots: usize,
    offered: u64,
    recorded: u64,
}

impl History {
    fn new(shape: &Shape) -> Self {
        let (rows, slots) = (shape.history_rows() as usize, shape.history_slots());
        Self { keys: vec![Key(0); rows * (slots + 1)], used: vec![0; rows], slots, offered: 0, recorded: 0 }
    }

    /// Does a RECORD of the key in the row.
    #[inline]
    fn record(&mut self, row: u32, key: Key) {
        let row = row as usize;
        let used = usize::from(self.used[row]);
        // Without a branch: nobody foretells whether there is room.
        let has_room = used < self.slots;
        self.keys[row * (self.slots + 1) + used] = key;
        self.used[row] += u8::from(has_room);
        self.offered += 1;
        self.recorded += u64::from(has_room);
    }

    /// Does an EXPORT of the row.
    fn export(&mut self, row: u32, out: &mut Vec<Key>) {
        let row = row as usize;
        if let Some(used) = self.used.get_mut(row) {
            out.extend_from_slice(&self.keys[row * (self.slots + 1)..][..usize::from(*used)]);
            *used = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape() -> Shape {
        Shape::new(4, 2, 2, 3).unwrap()
    }

    /// So many keys of one row.
    fn keys_of(row: u32, count: usize) -> Vec<Key> {
        (0..).map(Key).filter(|&key| shape().row_of(key) == row).take(count).collect()
    }

    fn write(switch: &mut Switch, row: u32, version: u16, entries: &[Key]) {
        let update = Some(Update { row, version });
        switch.process(&mut Packet { update, entries: entries.to_vec(), ..Packet::default() });
    }

    #[test]
    fn nobody_finds_a_vacant_entry() {
        let mut switch = Switch::new(shape());
        assert!((0..10_000).all(|key| !switch.lookup(Key(key))));
    }

    #[test]
    fn a_late_duplicate_does_not_undo_an_update() {
        let keys = keys_of(2, 4);
        let mut switch = Switch::new(shape());
        write(&mut switch, 2, 1, &keys[..2]);
        write(&mut switch, 2, 2, &keys[2..3]);
        write(&mut switch, 2, 1, &keys[..2]);
        write(&mut switch, 2, 2, &keys[..2]);
        let found: Vec<bool> = keys.iter().map(|&key| switch.lookup(key)).collect();
        assert_eq!(found, [false, false, true, false]);
        assert_eq!(switch.table().keys(2).collect::<Vec<_>>(), keys[2..3]);
        assert_eq!(switch.applied(), 2);
    }

    #[test]
    fn versions_go_round() {
        let keys = keys_of(1, 2);
        let mut switch = Switch::new(shape());
        for update in 1..=70_000u32 {
            write(&mut switch, 1, update as u16, &keys[(update % 2) as usize..][..1]);
        }
        assert_eq!((switch.applied(), switch.lookup(keys[0]), switch.lookup(keys[1])), (70_000, true, false));
    }

    #[test]
    fn history_is_first_in_first_kept_and_read_once() {
        let mut switch = Switch::new(shape());
        // Rows 0 and 1 of the table share row 0 of the buffer.
        let keys = [keys_of(0, 2), keys_of(1, 3)].concat();
        assert!(!keys.iter().any(|&key| switch.lookup(key)));
        assert_eq!((switch.recorded(), switch.lost(), switch.unread()), (3, 2, 3));
        let mut packet = Packet::default();
        switch.process(&mut packet);
        assert_eq!(packet.history, keys[..3]);
        switch.process(&mut packet);
        assert_eq!((packet.history, switch.unread()), (vec![], 0));
    }

    #[test]
    fn a_packet_that_makes_no_sense_changes_nothing() {
        let mut switch = Switch::new(shape());
        write(&mut switch, 4, 1, &[Key(1)]);
        write(&mut switch, 0, 1, &keys_of(0, 3));
        let mut packet = Packet { history_row: 2, history: vec![Key(1)], ..Packet::default() };
        switch.process(&mut packet);
        assert_eq!((switch.applied(), packet.history), (0, vec![]));
    }
}
