//! The oldest segment is reclaimed when the disk is full.

use std::io;

use bytes::Bytes;

use super::Writer;
use crate::disk::format::{Entry, Kind, Place, read_record};
use crate::disk::index::{Index, Slot};
use crate::disk::log::Log;
use crate::disk::segment::{New, read_at};
use crate::disk::shared::Count;

/// Percentage of a segment that may be written again when it is reclaimed.
const REWRITTEN: u64 = 30;
/// Slots that are taken out while the index is locked.
const SLOTS_AT_ONCE: usize = 1000;

impl Writer {
    /// Removes a segment. Of what is in it, the objects stay that have saved the most waiting per byte, and more than the mean: they are written again.
    pub(super) fn reclaim(&mut self, log: &mut Log, number: u32) -> io::Result<()> {
        let place = |offset| Place { segment: number, offset };
        let mut slots: Vec<Slot> = Vec::new();
        let records = log.records(number).ok().flatten().unwrap_or_default();
        for entries in records.entries.chunks(SLOTS_AT_ONCE) {
            let index = self.shared.index();
            let live =
                |entry: &Entry| index.slots.find(entry.key).filter(|slot| slot.place == place(entry.offset));
            slots.extend(entries.iter().filter_map(live));
        }
        let saved: f64 = slots.iter().map(Slot::saved).sum();
        let bytes: u64 = slots.iter().map(|slot| u64::from(slot.length)).sum();
        self.admission.reclaimed(saved, bytes);
        let mean = saved / bytes.max(1) as f64;
        slots.retain(|slot| slot.hits > 0 && (slot.kind == Kind::Varies || slot.density() > mean));
        // Without what a URL varies by, its variants are not found.
        let rank = |slot: &Slot| if slot.kind == Kind::Varies { f64::INFINITY } else { slot.density() };
        slots.sort_by(|one, other| rank(other).total_cmp(&rank(one)));
        let mut room = log.segment() * REWRITTEN / 100;
        for slot in slots {
            let length = u64::from(slot.length);
            if length <= room && log.has_room(length) {
                room -= length;
                self.write_again(log, &slot)?;
            }
        }
        self.remove_segment(log, number)
    }

    fn write_again(&mut self, log: &mut Log, slot: &Slot) -> io::Result<()> {
        let read = read_at(log.path(), slot.place, slot.length).map(Bytes::from).unwrap_or_default();
        let Some(record) = read_record(&read, slot.place) else {
            self.shared.counts.add(Count::Broken, 1);
            return Ok(());
        };
        let body = [read.slice_ref(record.body)];
        let again = New {
            kind: record.header.kind,
            digest: record.header.digest,
            name: record.name,
            head: record.head,
            body: &body,
            took: record.header.took,
        };
        let is_there =
            |index: &Index| index.slots.find(slot.key).is_some_and(|other| other.place == slot.place);
        self.put(log, &again, is_there).map(drop)
    }

    /// Removes a segment, and then the slots of what is in it: a removal that comes meanwhile finds the slot, and is written.
    pub(super) fn remove_segment(&self, log: &mut Log, number: u32) -> io::Result<()> {
        let records = log.records(number).ok().flatten();
        self.shared.index().gone = number;
        log.remove(number)?;
        let Some(records) = records else {
            self.shared.index().slots.remove_segment(number);
            return Ok(());
        };
        for entries in records.entries.chunks(SLOTS_AT_ONCE) {
            let mut index = self.shared.index();
            for entry in entries {
                index.slots.remove_from(entry.key, Place { segment: number, offset: entry.offset });
            }
        }
        Ok(())
    }
}
