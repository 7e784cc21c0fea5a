//! The bytes of records and footers, by hand, and what is read of those that are broken.

use std::io::Cursor;

use proptest::prelude::*;

use trueplane_units::Nanos;
use twox_hash::{XxHash3_64, XxHash3_128};

use super::super::format::*;

const PLACE: Place = Place { segment: 0x0403_0201, offset: 32 };

fn record(name: &[u8], head: &[u8], body: &[u8], place: Place) -> Vec<u8> {
    let payload = [name, head, body].concat();
    let header = RecordHeader {
        kind: Kind::Object,
        digest: [0x1817_1615_1413_1211, 0x2827_2625_2423_2221],
        name: name.len() as u32,
        head: head.len() as u32,
        body: body.len() as u32,
        took: Nanos(1_000_000),
        payload: checksum(&payload),
    };
    [&header.bytes(place)[..], &payload].concat()
}

#[test]
fn a_record_by_hand() {
    let bytes = record(b"na", b"h", b"bod", PLACE);
    let expected = [
        &b"TPRC\x01\0\0\0"[..],
        &[0x11, 0x12, 0x13, 0x14, 0x15, 0x16, 0x17, 0x18, 0x21, 0x22, 0x23, 0x24, 0x25, 0x26, 0x27, 0x28],
        &[2, 0, 0, 0, 1, 0, 0, 0, 3, 0, 0, 0],
        &[1, 2, 3, 4, 32, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
        &[0x40, 0x42, 0x0f, 0, 0, 0, 0, 0],
    ];
    assert_eq!(bytes[..64], expected.concat());
    assert_eq!(bytes[64..80], XxHash3_128::oneshot(b"nahbod").to_le_bytes());
    assert_eq!(bytes[80..88], XxHash3_64::oneshot(&bytes[..80]).to_le_bytes());
    assert_eq!(&bytes[88..], b"nahbod");
    let read = read_record(&bytes, PLACE).unwrap();
    assert_eq!((read.name, read.head, read.body), (&b"na"[..], &b"h"[..], &b"bod"[..]));
    // At another place it is none.
    assert!(read_record(&bytes, Place { offset: 33, ..PLACE }).is_none());
}

#[test]
fn a_footer_by_hand() {
    let cost = Cost::of(Nanos(1_000_000));
    // 1000 µs are 1.953125 × 2⁹: exponent 136, and a mantissa of 0.953125.
    assert_eq!((cost.0, cost.nanos()), (0x447a, 1_000_000.0));
    let entry = Entry { key: 0x0807_0605_0403_0201, offset: 32, length: 94, cost, kind: Kind::Varies };
    let bytes = footer(&Records { entries: vec![entry], end: 126, is_sealed: false }, 7, 9);
    let expected = [
        &[1, 2, 3, 4, 5, 6, 7, 8, 32, 0, 0, 0, 94, 0, 0, 0, 0x7a, 0x44, 3, 0, 0, 0, 0, 0][..],
        b"TPFOOTR1",
        &[1, 0, 0, 0, 126, 0, 0, 0, 7, 0, 0, 0, 0, 0, 0, 0],
    ];
    assert_eq!(bytes[..48], expected.concat());
    assert_eq!(bytes[48..], XxHash3_64::oneshot_with_seed(9, &bytes[..48]).to_le_bytes());
}

/// A segment of number 5 with these bodies, without its footer; and its records.
fn segment(bodies: &[&[u8]]) -> (Vec<u8>, Records) {
    let mut bytes = segment_header(5, 9).to_vec();
    let mut entries = Vec::new();
    for body in bodies {
        let place = Place { segment: 5, offset: bytes.len() as u32 };
        let record = record(b"name", b"head", body, place);
        entries.push(RecordHeader::read(&record, place).unwrap().entry(place));
        bytes.extend(record);
    }
    let end = bytes.len() as u64;
    (bytes, Records { entries, end, is_sealed: false })
}

fn read(bytes: &[u8]) -> Option<Records> {
    read_segment(&mut Cursor::new(bytes), bytes.len() as u64, 5, 9).unwrap()
}

/// The bodies that somebody would get who reads all records.
fn bodies(bytes: &[u8]) -> Vec<(u32, Vec<u8>)> {
    let records = read(bytes).unwrap_or_default();
    let body = |entry: &Entry| {
        let place = Place { segment: 5, offset: entry.offset };
        let record = bytes.get(entry.offset as usize..(entry.offset + entry.length) as usize)?;
        Some((entry.offset, read_record(record, place)?.body.to_vec()))
    };
    records.entries.iter().filter_map(body).collect()
}

#[test]
fn no_flipped_bit_and_no_cut_makes_a_wrong_body() {
    let (open, records) = segment(&[b"one", b"", b"three"]);
    assert_eq!(read(&open), Some(records.clone()));
    let sealed = [&open[..], &footer(&records, 5, 9)].concat();
    assert_eq!(read(&sealed), Some(Records { is_sealed: true, ..records }));
    let right = bodies(&sealed);
    assert_eq!((right.len(), bodies(&open)), (3, right.clone()));
    for bytes in [open, sealed] {
        for at in 0..bytes.len() {
            for bit in 0..8 {
                let mut wrong = bytes.clone();
                wrong[at] ^= 1 << bit;
                assert!(bodies(&wrong).iter().all(|body| right.contains(body)), "bit {bit} of byte {at}");
            }
            assert!(bodies(&bytes[..at]).iter().all(|body| right.contains(body)), "cut at {at}");
        }
    }
}

/// Whoever does not know the key's tag can make no footer that is believed; and a footer with a wrong bit still tells where the records end.
#[test]
fn a_footer_of_another_key_is_none_but_one_that_is_broken_costs_nothing() {
    let (open, records) = segment(&[b"one", b"two"]);
    let forged = Records { entries: records.entries[..1].to_vec(), ..records.clone() };
    let with_forged = [&open[..], &footer(&forged, 5, 8)].concat();
    assert_eq!(read(&with_forged), Some(records.clone()));
    let mut broken = [&open[..], &footer(&records, 5, 9)].concat();
    let last = broken.len() - 1;
    broken[last] ^= 1;
    assert_eq!(read(&broken), Some(Records { is_sealed: true, ..records }));
}

#[test]
fn a_file_that_is_larger_than_any_segment_is_none() {
    let (open, _) = segment(&[b"one"]);
    assert_eq!(read_segment(&mut Cursor::new(open), MOST_SEGMENT + 1, 5, 9).unwrap(), None);
}

proptest! {
    #[test]
    fn records_are_read_as_they_were_written(
        name: Vec<u8>, head: Vec<u8>, body: Vec<u8>, segment: u32, offset: u32,
    ) {
        let place = Place { segment, offset };
        let bytes = record(&name, &head, &body, place);
        let read = read_record(&bytes, place).unwrap();
        prop_assert_eq!((read.name, read.head, read.body), (&name[..], &head[..], &body[..]));
        let mut parts = Checksum::default();
        [&name, &head, &body].into_iter().for_each(|part| parts.add(part));
        prop_assert_eq!(parts.end(), read.header.payload);
    }

    #[test]
    fn costs_are_exact_to_a_hundredth(took in 1_000..u64::from(u32::MAX) * 1000) {
        let cost = Cost::of(Nanos(took)).nanos();
        prop_assert!((cost - took as f64).abs() <= took as f64 / 100.0);
    }

    #[test]
    fn a_scan_ends_at_the_first_record_that_is_not_whole(
        bodies in proptest::collection::vec(any::<Vec<u8>>(), 0..5), cut in 0..100_usize,
    ) {
        let all: Vec<&[u8]> = bodies.iter().map(|body| &body[..]).collect();
        let (bytes, records) = segment(&all);
        let length = bytes.len().saturating_sub(cut);
        let is_whole = |entry: &&Entry| (entry.offset + entry.length) as usize <= length;
        let whole = records.entries.iter().filter(is_whole).count();
        let read = read(&bytes[..length]).unwrap_or_default();
        prop_assert_eq!(read.entries.len(), if length < SEGMENT_HEADER { 0 } else { whole });
    }
}
