//! Files of segments: one that is written, record behind record, until it is full and gets its footer.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::FileExt as _;
use std::path::Path;

use bytes::Bytes;
use trueplane_units::Nanos;

use super::folder::{private, segment_path};
use super::format::{
    Checksum, Digest, ENTRY, Entry, Kind, Place, RECORD_HEADER, RecordHeader, Records, SEGMENT_HEADER,
    TRAILER, footer, read_segment, segment_header,
};
#[cfg(test)]
use super::hook;

/// Bytes that are written at once.
const BUFFER: usize = 1 << 20;
/// Bytes that are written before it waits until they are on the disk: a removal that comes meanwhile does not wait for all bytes of a segment.
const UNSYNCED: usize = 8 << 20;

/// A record that is to be written.
pub(super) struct New<'a> {
    pub(super) kind: Kind,
    pub(super) digest: Digest,
    pub(super) name: &'a [u8],
    pub(super) head: &'a [u8],
    pub(super) body: &'a [Bytes],
    pub(super) took: Nanos,
}

impl New<'_> {
    /// Bytes of its record; none if they are more than any segment has.
    pub(super) fn length(&self) -> Option<u32> {
        let body: usize = self.body.iter().map(Bytes::len).sum();
        u32::try_from(RECORD_HEADER + self.name.len() + self.head.len() + body).ok()
    }

    fn header(&self) -> RecordHeader {
        let mut payload = Checksum::default();
        payload.add(self.name);
        payload.add(self.head);
        self.body.iter().for_each(|part| payload.add(part));
        let count = |bytes: usize| u32::try_from(bytes).unwrap_or(u32::MAX);
        RecordHeader {
            kind: self.kind,
            digest: self.digest,
            name: count(self.name.len()),
            head: count(self.head.len()),
            body: count(self.body.iter().map(Bytes::len).sum()),
            took: self.took,
            payload: payload.end(),
        }
    }
}

/// A segment that is written.
pub(super) struct Segment {
    pub(super) number: u32,
    tag: u64,
    /// Whether a part of a record that could not be written stands behind the others.
    pub(super) is_torn: bool,
    file: File,
    records: Records,
    buffer: Vec<u8>,
    /// Bytes that have been written since it last waited for the disk.
    unsynced: usize,
    #[cfg(test)]
    folder: std::path::PathBuf,
}

impl Segment {
    /// Makes an empty one.
    pub(super) fn create(folder: &Path, number: u32, tag: u64) -> io::Result<Self> {
        let path = segment_path(folder, number);
        let file = private(&mut OpenOptions::new()).write(true).create_new(true).open(&path)?;
        let records = Records { end: SEGMENT_HEADER as u64, ..Records::default() };
        let mut segment = Self {
            number,
            tag,
            is_torn: false,
            file,
            records,
            buffer: Vec::new(),
            unsynced: 0,
            #[cfg(test)]
            folder: folder.to_owned(),
        };
        let mut begin = || {
            segment.write(&segment_header(number, tag), 0)?;
            // The header, and the name in its folder, are there after a loss of power, too.
            segment.file.sync_data()?;
            File::open(folder)?.sync_all()
        };
        match begin() {
            Ok(()) => Ok(segment),
            Err(error) => {
                // Another try has the same number.
                let _ = std::fs::remove_file(&path);
                Err(error)
            }
        }
    }

    /// Goes on with one whose records are known. Whatever is behind them is cut off.
    pub(super) fn go_on(folder: &Path, number: u32, tag: u64, records: Records) -> io::Result<Self> {
        let path = segment_path(folder, number);
        let file = OpenOptions::new().write(true).open(&path)?;
        file.set_len(records.end)?;
        Ok(Self {
            number,
            tag,
            is_torn: false,
            file,
            records: Records { is_sealed: false, ..records },
            buffer: Vec::new(),
            unsynced: 0,
            #[cfg(test)]
            folder: folder.to_owned(),
        })
    }

    /// Bytes that it takes when another record of so many bytes is in it, and its footer.
    pub(super) fn length_with(&self, record: u64) -> u64 {
        length_with(&self.records, record)
    }

    /// Bytes that have been written.
    pub(super) fn written(&self) -> u64 {
        self.records.end
    }

    /// Writes a record.
    pub(super) fn append(&mut self, new: &New<'_>) -> io::Result<Entry> {
        let entry = self.put(new);
        if entry.is_err() {
            // A part of it must not stand behind a shorter record, where it could pass for one.
            self.is_torn = self.file.set_len(self.records.end).is_err();
        }
        entry
    }

    fn put(&mut self, new: &New<'_>) -> io::Result<Entry> {
        let full = || io::Error::from(io::ErrorKind::FileTooLarge);
        let place =
            Place { segment: self.number, offset: u32::try_from(self.records.end).map_err(|_| full())? };
        let header = new.header();
        let mut at = self.records.end;
        let mut buffer = std::mem::take(&mut self.buffer);
        buffer.clear();
        buffer.extend(header.bytes(place));
        for part in [new.name, new.head].into_iter().chain(new.body.iter().map(|part| &part[..])) {
            for part in part.chunks(BUFFER) {
                buffer.extend(part);
                if buffer.len() >= BUFFER {
                    self.write(&buffer, at)?;
                    at += buffer.len() as u64;
                    buffer.clear();
                }
            }
        }
        self.write(&buffer, at)?;
        self.buffer = buffer;
        let entry = header.entry(place);
        self.records.entries.push(entry);
        self.records.end += header.length();
        Ok(entry)
    }

    /// Writes the footer, and waits until all is on the disk. Nothing is to be written then. Returns the bytes of the file.
    pub(super) fn seal(&mut self) -> io::Result<u64> {
        let footer = footer(&self.records, self.number, self.tag);
        self.write(&footer, self.records.end)?;
        self.file.sync_data()?;
        Ok(self.records.end + footer.len() as u64)
    }

    fn write(&mut self, bytes: &[u8], at: u64) -> io::Result<()> {
        #[cfg(test)]
        hook::of(&self.folder).writes()?;
        self.file.write_all_at(bytes, at)?;
        self.unsynced += bytes.len();
        if self.unsynced >= UNSYNCED {
            self.file.sync_data()?;
            self.unsynced = 0;
        }
        Ok(())
    }
}

impl std::fmt::Debug for Segment {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Segment").field("number", &self.number).finish_non_exhaustive()
    }
}

/// Bytes that a segment with these records takes when another one of so many bytes is in it, and its footer.
pub(super) fn length_with(records: &Records, record: u64) -> u64 {
    let entries = records.entries.len() as u64 + 1;
    records.end + record + entries * ENTRY as u64 + TRAILER as u64
}

/// Reads the records of a segment; none if its file is none of this key.
pub(super) fn records_of(folder: &Path, number: u32, tag: u64) -> io::Result<Option<Records>> {
    let mut file = File::open(segment_path(folder, number))?;
    let length = file.metadata()?.len();
    read_segment(&mut file, length, number, tag)
}

/// Reads the bytes of a record.
pub(super) fn read_at(folder: &Path, place: Place, length: u32) -> io::Result<Vec<u8>> {
    #[cfg(test)]
    hook::of(folder).reads()?;
    let file = File::open(segment_path(folder, place.segment))?;
    let mut bytes = vec![0; length as usize];
    file.read_exact_at(&mut bytes, place.offset.into())?;
    Ok(bytes)
}
