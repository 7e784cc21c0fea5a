//! What the fuzz target of the tier on disk does with an input: read it as a segment, and as the head of a record, and check what no input may break.
//!
//! `cargo test` does the same with the seeds (crates/proxy/tests/proxy/seeds.rs).

use std::io::Cursor;

use trueplane_proxy::disk::format::{Place, RECORD_HEADER, read_record, read_segment};
use trueplane_proxy::disk::stored::{StoredHead, Variation};

/// The number of the segment that seeds are, and the tag of their key.
const NUMBER: u32 = 1;
const TAG: u64 = 2;

/// Reads `bytes`. Number of records that are whole.
pub fn check(bytes: &[u8]) -> usize {
    head(bytes);
    let length = bytes.len() as u64;
    let records = read_segment(&mut Cursor::new(bytes), length, NUMBER, TAG).expect("memory can be read");
    let Some(records) = records else { return 0 };
    assert!(records.end <= length);
    let mut whole = 0;
    for entry in records.entries {
        let (first, length) = (entry.offset as usize, entry.length as usize);
        assert!(length >= RECORD_HEADER && (first + length) as u64 <= records.end);
        let place = Place { segment: NUMBER, offset: entry.offset };
        let Some(record) = read_record(&bytes[first..first + length], place) else { continue };
        assert_eq!(
            record.header.bytes(place),
            bytes[first..first + RECORD_HEADER],
            "what is read was written"
        );
        head(record.head);
        whole += 1;
    }
    whole
}

/// What is read of a head is what is written of it.
fn head(bytes: &[u8]) {
    if let Some(head) = StoredHead::read(bytes) {
        let again = head.bytes().expect("it was that long");
        assert_eq!(StoredHead::read(&again), Some(head));
    }
    if let Some(variation) = Variation::read(bytes) {
        let again = variation.bytes().expect("it was that long");
        assert_eq!(Variation::read(&again), Some(variation));
    }
}
