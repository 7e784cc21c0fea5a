//! The bytes of a tier on disk: pure functions, which are fuzzed. All numbers are little-endian.
//!
//! A segment is a file: a header, records one behind the other, and, once it is full, a footer.
//!
//! | bytes of the header of a segment | what |
//! |---|---|
//! | 0–7 | `TPSEGMT1` |
//! | 8–11 | number of the segment, from 1 on: a larger one is younger |
//! | 12–15 | 0 |
//! | 16–23 | tag of the key by which names are hashed |
//! | 24–31 | XXH3-64 of bytes 0–23 |
//!
//! | bytes of a record | what |
//! |---|---|
//! | 0–3 | `TPRC` |
//! | 4 | kind: 1 an object, 2 a removal, 3 the fields that a URL varies by |
//! | 5–7 | 0 |
//! | 8–23 | SipHash-2-4-128 of the name |
//! | 24–27, 28–31, 32–35 | bytes of the name, the head and the body |
//! | 36–39, 40–43 | number of the segment, and the record's first byte in it |
//! | 44–55 | 0 |
//! | 56–63 | nanoseconds that the origin took for it |
//! | 64–79 | XXH3-128 of the payload |
//! | 80–87 | XXH3-64 of bytes 0–79 |
//! | 88– | payload: name, head, body |
//!
//! | bytes of the footer | what |
//! |---|---|
//! | 24 for each record | first 8 bytes of the digest; first byte and bytes of the record, 4 each; the cost in 2 bytes; the kind; 5 bytes that are 0 |
//! | the last 32 | `TPFOOTR1`; number of records and first byte of the footer, 4 each; number of the segment, and 0, 4 each; XXH3-64 of the footer up to here, with the key's tag as its seed |
//!
//! The cost is the upper half of the origin's time in microseconds, as an IEEE 754 number of 32 bits.

use std::io::{self, Read, Seek, SeekFrom};

use trueplane_units::Nanos;
use twox_hash::{XxHash3_64, XxHash3_128};

/// Bytes of the header of a segment.
pub const SEGMENT_HEADER: usize = 32;
/// Bytes of a record before its payload.
pub const RECORD_HEADER: usize = 88;
/// Bytes of a record's entry in a footer.
pub const ENTRY: usize = 24;
/// Bytes of a footer behind its entries.
pub const TRAILER: usize = 32;
/// Bytes of a segment, at most.
pub const MOST_SEGMENT: u64 = 256 << 20;

const SEGMENT_MAGIC: &[u8; 8] = b"TPSEGMT1";
const RECORD_MAGIC: &[u8; 4] = b"TPRC";
const FOOTER_MAGIC: &[u8; 8] = b"TPFOOTR1";

/// A name in 128 bits; the first half finds it in memory.
pub type Digest = [u64; 2];

/// The kind of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A response under its name.
    Object = 1,
    /// The removal of what was written under a name before.
    Removed = 2,
    /// The fields that the responses to a URL vary by.
    Varies = 3,
}

impl Kind {
    fn of(byte: u8) -> Option<Self> {
        [Self::Object, Self::Removed, Self::Varies].into_iter().find(|kind| *kind as u8 == byte)
    }
}

/// The time that an origin took, in 16 bits: exact to a hundredth.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cost(pub u16);

impl Cost {
    /// A time as a cost.
    pub fn of(took: Nanos) -> Self {
        Self(((took.0 as f32 / 1000.0).to_bits() >> 16) as u16)
    }

    /// The time in nanoseconds.
    pub fn nanos(self) -> f64 {
        let micros = f64::from(f32::from_bits(u32::from(self.0) << 16));
        // What a file says may be no number at all.
        if micros.is_finite() && micros > 0.0 { micros * 1000.0 } else { 0.0 }
    }
}

/// The part of a record before its payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordHeader {
    /// Its kind.
    pub kind: Kind,
    /// The name, hashed.
    pub digest: Digest,
    /// Bytes of the name.
    pub name: u32,
    /// Bytes of the head.
    pub head: u32,
    /// Bytes of the body.
    pub body: u32,
    /// The time that the origin took.
    pub took: Nanos,
    /// The checksum of the payload.
    pub payload: u128,
}

/// The place of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// Number of the segment.
    pub segment: u32,
    /// Its first byte there.
    pub offset: u32,
}

/// A record as a footer tells it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The first half of the digest.
    pub key: u64,
    /// Its first byte in the segment.
    pub offset: u32,
    /// Bytes of all of it.
    pub length: u32,
    /// The cost of a miss.
    pub cost: Cost,
    /// Its kind.
    pub kind: Kind,
}

/// A record that is whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record<'a> {
    /// The part before the payload.
    pub header: RecordHeader,
    /// The name.
    pub name: &'a [u8],
    /// The head.
    pub head: &'a [u8],
    /// The body.
    pub body: &'a [u8],
}

/// The records of a segment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Records {
    /// The records, in order.
    pub entries: Vec<Entry>,
    /// The first byte behind them.
    pub end: u64,
    /// Whether a footer told them, or is there with a bit that is wrong.
    pub is_sealed: bool,
}

/// Computes the checksum of a payload that comes in parts.
#[derive(Clone, Default)]
pub struct Checksum(XxHash3_128);

impl std::fmt::Debug for Checksum {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Checksum").finish_non_exhaustive()
    }
}

impl Checksum {
    /// Adds a part.
    pub fn add(&mut self, part: &[u8]) {
        self.0.write(part);
    }

    /// The checksum of all parts.
    pub fn end(&self) -> u128 {
        self.0.finish_128()
    }
}

/// The checksum of a payload.
pub fn checksum(payload: &[u8]) -> u128 {
    XxHash3_128::oneshot(payload)
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    bytes.get(at..at + 4).and_then(|bytes| bytes.try_into().ok()).map_or(0, u32::from_le_bytes)
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    bytes.get(at..at + 8).and_then(|bytes| bytes.try_into().ok()).map_or(0, u64::from_le_bytes)
}

/// The header of a segment.
pub fn segment_header(number: u32, tag: u64) -> [u8; SEGMENT_HEADER] {
    let mut bytes = [0; SEGMENT_HEADER];
    bytes[..8].copy_from_slice(SEGMENT_MAGIC);
    bytes[8..12].copy_from_slice(&number.to_le_bytes());
    bytes[16..24].copy_from_slice(&tag.to_le_bytes());
    let checksum = XxHash3_64::oneshot(&bytes[..24]);
    bytes[24..].copy_from_slice(&checksum.to_le_bytes());
    bytes
}

impl RecordHeader {
    /// Bytes of the whole record.
    pub fn length(&self) -> u64 {
        RECORD_HEADER as u64 + u64::from(self.name) + u64::from(self.head) + u64::from(self.body)
    }

    /// Its bytes at a place.
    pub fn bytes(&self, place: Place) -> [u8; RECORD_HEADER] {
        let mut bytes = [0; RECORD_HEADER];
        let mut put = |at: usize, part: &[u8]| bytes[at..at + part.len()].copy_from_slice(part);
        put(0, RECORD_MAGIC);
        put(4, &[self.kind as u8]);
        put(8, &self.digest[0].to_le_bytes());
        put(16, &self.digest[1].to_le_bytes());
        for (at, number) in
            [(24, self.name), (28, self.head), (32, self.body), (36, place.segment), (40, place.offset)]
        {
            put(at, &number.to_le_bytes());
        }
        put(56, &self.took.0.to_le_bytes());
        put(64, &self.payload.to_le_bytes());
        let checksum = XxHash3_64::oneshot(&bytes[..80]);
        bytes[80..].copy_from_slice(&checksum.to_le_bytes());
        bytes
    }

    /// Reads what was written at a place; none if it is not what was written there.
    pub fn read(bytes: &[u8], place: Place) -> Option<Self> {
        let bytes = bytes.get(..RECORD_HEADER)?;
        let is_whole =
            bytes.starts_with(RECORD_MAGIC) && u64_at(bytes, 80) == XxHash3_64::oneshot(&bytes[..80]);
        let is_here = u32_at(bytes, 36) == place.segment && u32_at(bytes, 40) == place.offset;
        if !is_whole || !is_here {
            return None;
        }
        Some(Self {
            kind: Kind::of(bytes[4])?,
            digest: [u64_at(bytes, 8), u64_at(bytes, 16)],
            name: u32_at(bytes, 24),
            head: u32_at(bytes, 28),
            body: u32_at(bytes, 32),
            took: Nanos(u64_at(bytes, 56)),
            payload: u128::from(u64_at(bytes, 64)) | u128::from(u64_at(bytes, 72)) << 64,
        })
    }

    /// Its entry at a place.
    pub fn entry(&self, place: Place) -> Entry {
        let length = u32::try_from(self.length()).unwrap_or(u32::MAX);
        Entry {
            key: self.digest[0],
            offset: place.offset,
            length,
            cost: Cost::of(self.took),
            kind: self.kind,
        }
    }
}

/// Reads a record that was written at a place, and nothing behind it; none if a bit of it is wrong.
pub fn read_record(bytes: &[u8], place: Place) -> Option<Record<'_>> {
    let header = RecordHeader::read(bytes, place)?;
    if header.length() != bytes.len() as u64 {
        return None;
    }
    let payload = &bytes[RECORD_HEADER..];
    if checksum(payload) != header.payload {
        return None;
    }
    let (name, rest) = payload.split_at(header.name as usize);
    let (head, body) = rest.split_at(header.head as usize);
    Some(Record { header, name, head, body })
}

/// The footer of a segment with these records, written with the key of this tag: whoever does not know that can make none.
pub fn footer(records: &Records, number: u32, tag: u64) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(records.entries.len() * ENTRY + TRAILER);
    for entry in &records.entries {
        bytes.extend(entry.key.to_le_bytes());
        bytes.extend(entry.offset.to_le_bytes());
        bytes.extend(entry.length.to_le_bytes());
        bytes.extend(entry.cost.0.to_le_bytes());
        bytes.extend([entry.kind as u8, 0, 0, 0, 0, 0]);
    }
    bytes.extend(FOOTER_MAGIC);
    bytes.extend((records.entries.len() as u32).to_le_bytes());
    bytes.extend((records.end as u32).to_le_bytes());
    bytes.extend(number.to_le_bytes());
    bytes.extend([0; 4]);
    bytes.extend(XxHash3_64::oneshot_with_seed(tag, &bytes).to_le_bytes());
    bytes
}

/// Reads the records of a segment of so many bytes: from its footer, or else one after the other up to the first that is not whole. None if it is not the
/// segment of this number, written with the key of this tag.
///
/// Without a footer, only the headers of records are looked at: what is wrong in a payload is found when that is read. If the records end just where a footer
/// for them would begin, they are all there, and a bit of the footer is wrong: the segment counts as sealed.
///
/// # Errors
///
/// It cannot be read.
pub fn read_segment(
    source: &mut (impl Read + Seek),
    length: u64,
    number: u32,
    tag: u64,
) -> io::Result<Option<Records>> {
    let mut header = [0; SEGMENT_HEADER];
    if !(SEGMENT_HEADER as u64..=MOST_SEGMENT).contains(&length) {
        return Ok(None);
    }
    source.seek(SeekFrom::Start(0))?;
    source.read_exact(&mut header)?;
    if header != segment_header(number, tag) {
        return Ok(None);
    }
    if let Some(records) = read_footer(source, length, number, tag)? {
        return Ok(Some(records));
    }
    let mut records = scan(source, length, number)?;
    let entries = (records.entries.len() * ENTRY + TRAILER) as u64;
    records.is_sealed = !records.entries.is_empty() && records.end + entries == length;
    Ok(Some(records))
}

fn read_footer(
    source: &mut (impl Read + Seek),
    length: u64,
    number: u32,
    tag: u64,
) -> io::Result<Option<Records>> {
    if length < (SEGMENT_HEADER + TRAILER) as u64 {
        return Ok(None);
    }
    let mut trailer = [0; TRAILER];
    source.seek(SeekFrom::Start(length - TRAILER as u64))?;
    source.read_exact(&mut trailer)?;
    let (count, end) = (u64::from(u32_at(&trailer, 8)), u64::from(u32_at(&trailer, 12)));
    let is_footer = trailer.starts_with(FOOTER_MAGIC) && u32_at(&trailer, 16) == number;
    if !is_footer || end < SEGMENT_HEADER as u64 || end + count * ENTRY as u64 + TRAILER as u64 != length {
        return Ok(None);
    }
    let mut bytes = vec![0; (length - end) as usize];
    source.seek(SeekFrom::Start(end))?;
    source.read_exact(&mut bytes)?;
    let until = bytes.len() - 8;
    if u64_at(&bytes, until) != XxHash3_64::oneshot_with_seed(tag, &bytes[..until]) {
        return Ok(None);
    }
    let entry = |bytes: &[u8]| {
        let (offset, length) = (u32_at(bytes, 8), u32_at(bytes, 12));
        let is_inside = u64::from(offset) + u64::from(length) <= end && length >= RECORD_HEADER as u32;
        let cost = Cost(u16::from_le_bytes([bytes[16], bytes[17]]));
        let kind = Kind::of(bytes[18]).filter(|_| is_inside)?;
        Some(Entry { key: u64_at(bytes, 0), offset, length, cost, kind })
    };
    let entries = bytes[..until + 8 - TRAILER].chunks_exact(ENTRY).map(entry).collect::<Option<_>>();
    Ok(entries.map(|entries| Records { entries, end, is_sealed: true }))
}

fn scan(source: &mut (impl Read + Seek), length: u64, number: u32) -> io::Result<Records> {
    let mut records = Records { entries: Vec::new(), end: SEGMENT_HEADER as u64, is_sealed: false };
    let mut source = io::BufReader::with_capacity(1 << 16, source);
    source.seek(SeekFrom::Start(records.end))?;
    let mut header = [0; RECORD_HEADER];
    while records.end + RECORD_HEADER as u64 <= length {
        source.read_exact(&mut header)?;
        let Ok(offset) = u32::try_from(records.end) else { break };
        let place = Place { segment: number, offset };
        let Some(read) = RecordHeader::read(&header, place) else { break };
        if records.end + read.length() > length || read.length() > u64::from(u32::MAX) {
            break;
        }
        records.entries.push(read.entry(place));
        records.end += read.length();
        source.seek_relative((read.length() - RECORD_HEADER as u64) as i64)?;
    }
    Ok(records)
}
