//! The segments of a tier, whose bytes together are never more than they may be.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use rustix::io::Errno;

use super::folder::{Folder, Key, OTHERS};
use super::format::{ENTRY, Entry, MOST_SEGMENT, RECORD_HEADER, Records, SEGMENT_HEADER, TRAILER};
use super::index::Slots;
use super::segment::{New, Segment, length_with, records_of};

/// Segments that a tier has, about.
const SEGMENTS: u64 = 64;
/// Bytes of a segment, at least.
const LEAST_SEGMENT: u64 = 1 << 20;

/// Bytes of all files, and of a segment, at most.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    pub(super) size: u64,
    pub(super) segment: u64,
}

impl Limits {
    pub(super) fn new(size: u64) -> Self {
        Self { size, segment: (size / SEGMENTS).clamp(LEAST_SEGMENT, MOST_SEGMENT) }
    }

    /// Bytes of sealed segments, at most: beside them there is room for the one that is written, and for the next one.
    fn sealed(&self) -> u64 {
        self.size.saturating_sub(2 * self.segment + OTHERS)
    }
}

/// The segments.
pub(super) struct Log {
    folder: Folder,
    limits: Limits,
    /// Bytes of each segment that is full.
    sealed: BTreeMap<u32, u64>,
    current: Segment,
}

impl Log {
    /// Goes on with a folder, and fills `slots` with what is in it.
    pub(super) fn open(folder: Folder, limits: Limits, slots: &mut Slots) -> io::Result<Self> {
        let (path, tag) = (folder.path().to_owned(), folder.key().tag());
        let mut found = whole_segments(&folder)?;
        // The last one is gone on with if there is room in it.
        let has_room = |last: &Remaining| length_with(&last.records, RECORD_HEADER as u64) <= limits.segment;
        let goes_on = found.last().is_some_and(has_room);
        let last = found.last().map_or(0, |last| last.number);
        let continued = if goes_on { found.pop() } else { None };
        // One without a footer gets it.
        found.iter_mut().for_each(|one| one.length = one.sealed_length());
        let mut bytes: u64 = found.iter().map(|one| one.length).sum();
        let mut sealed = BTreeMap::new();
        for one in found {
            if bytes > limits.sealed() {
                folder.remove(one.number)?;
                bytes -= one.length;
                continue;
            }
            slots.replay(&one.records.entries, one.number);
            if !one.records.is_sealed {
                let mut full = Segment::go_on(&path, one.number, tag, one.records)?;
                make_room_for(&folder, &mut sealed, slots, || full.seal())?;
            }
            sealed.insert(one.number, one.length);
        }
        let current = match continued {
            Some(one) => {
                slots.replay(&one.records.entries, one.number);
                Segment::go_on(&path, one.number, tag, one.records)?
            }
            None => {
                let number = next(last)?;
                make_room_for(&folder, &mut sealed, slots, || Segment::create(&path, number, tag))?
            }
        };
        Ok(Self { folder, limits, sealed, current })
    }

    pub(super) fn key(&self) -> Key {
        self.folder.key()
    }

    pub(super) fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Bytes of all segments, footers that are not written yet included.
    pub(super) fn bytes(&self) -> u64 {
        self.sealed.values().sum::<u64>() + self.current.written()
    }

    /// Whether a record of so many bytes could stand in an empty segment.
    pub(super) fn may_hold(&self, record: u64) -> bool {
        length_with(&Records { end: SEGMENT_HEADER as u64, ..Records::default() }, record)
            <= self.limits.segment
    }

    /// Whether there is room for a record of so many bytes in the segment that is written.
    pub(super) fn has_room(&self, record: u64) -> bool {
        self.current.length_with(record) <= self.limits.segment
    }

    /// Writes a record for which there is room.
    pub(super) fn append(&mut self, new: &New<'_>) -> io::Result<(u32, Entry)> {
        Ok((self.current.number, self.current.append(new)?))
    }

    /// Begins the next segment. What is [in excess](Self::excess) then must be removed before another one is begun.
    pub(super) fn turn(&mut self) -> io::Result<()> {
        // The one that is full is on the disk before the next one is there: only the last segment is ever without a footer.
        let length = self.current.seal()?;
        let next = Segment::create(self.folder.path(), next(self.current.number)?, self.key().tag())?;
        let full = std::mem::replace(&mut self.current, next);
        self.sealed.insert(full.number, length);
        Ok(())
    }

    /// Whether a part of a record that could not be written stands behind the others.
    pub(super) fn is_torn(&self) -> bool {
        self.current.is_torn
    }

    /// The oldest segment that is full.
    pub(super) fn oldest(&self) -> Option<u32> {
        self.sealed.keys().next().copied()
    }

    /// The oldest segment, if all together are more than may stay.
    pub(super) fn excess(&self) -> Option<u32> {
        let is_too_much = self.sealed.values().sum::<u64>() > self.limits.sealed();
        self.oldest().filter(|_| is_too_much)
    }

    /// Bytes of a segment that may be written again when it is reclaimed.
    pub(super) fn segment(&self) -> u64 {
        self.limits.segment
    }

    /// The records of a sealed segment; none if it is one no longer.
    pub(super) fn records(&self, number: u32) -> io::Result<Option<Records>> {
        let records = records_of(self.folder.path(), number, self.key().tag())?;
        Ok(records.filter(|records| records.is_sealed))
    }

    pub(super) fn remove(&mut self, number: u32) -> io::Result<()> {
        self.folder.remove(number)?;
        self.sealed.remove(&number);
        Ok(())
    }

    /// Removes all files of segments; nothing is to be written then before the folder is opened anew.
    pub(super) fn unlink(&self) -> io::Result<()> {
        self.folder.clear()
    }

    /// Removes everything that was written.
    pub(super) fn clear(&mut self) -> io::Result<()> {
        self.folder.clear()?;
        self.sealed.clear();
        self.current = Segment::create(self.folder.path(), next(self.current.number)?, self.key().tag())?;
        Ok(())
    }

    /// Seals the last segment, at the end.
    pub(super) fn close(mut self) -> io::Result<()> {
        self.current.seal().map(drop)
    }
}

/// Whether something failed for want of room.
pub(super) fn is_full(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded)
}

/// Writes something at the start. As long as there is no room for it, the oldest segments go.
fn make_room_for<T>(
    folder: &Folder,
    sealed: &mut BTreeMap<u32, u64>,
    slots: &mut Slots,
    mut write: impl FnMut() -> io::Result<T>,
) -> io::Result<T> {
    loop {
        let error = match write() {
            Err(error) if is_full(&error) => error,
            done => return done,
        };
        let Some((oldest, _)) = sealed.pop_first() else { return Err(error) };
        folder.remove(oldest)?;
        slots.remove_segment(oldest);
    }
}

/// A segment as it was found.
struct Remaining {
    number: u32,
    length: u64,
    records: Records,
}

impl Remaining {
    /// Bytes that it has with a footer.
    fn sealed_length(&self) -> u64 {
        match self.records.is_sealed {
            true => self.length,
            false => self.records.end + (self.records.entries.len() * ENTRY + TRAILER) as u64,
        }
    }
}

/// The segments of a folder, the oldest first. Those before one that is broken, unreadable or missing are removed with it: it may have said that what they hold
/// is no longer so.
fn whole_segments(folder: &Folder) -> io::Result<Vec<Remaining>> {
    let mut left = folder.segments()?;
    let mut found: Vec<Remaining> = Vec::new();
    while let Some((number, length)) = left.pop() {
        let is_next = found.last().is_none_or(|after| number + 1 == after.number);
        let records = match records_of(folder.path(), number, folder.key().tag()) {
            // The disk will not read it another time either.
            Err(error) if error.raw_os_error() == Some(Errno::IO.raw_os_error()) => None,
            records => records?,
        };
        match records {
            Some(records) if is_next && (records.is_sealed || found.is_empty()) => {
                found.push(Remaining { number, length, records });
            }
            // It was just made when the process ended.
            None if length < SEGMENT_HEADER as u64 => folder.remove(number)?,
            _ => {
                left.push((number, length));
                left.drain(..).try_for_each(|(number, _)| folder.remove(number))?;
            }
        }
    }
    found.reverse();
    Ok(found)
}

/// The number of the next segment.
fn next(number: u32) -> io::Result<u32> {
    number.checked_add(1).ok_or_else(|| io::Error::other("all numbers of segments are used"))
}
