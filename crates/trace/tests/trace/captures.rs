//! Packet captures, made byte by byte.

use std::collections::HashSet;

use trueplane_trace::PacketKey;

use super::*;

/// An Ethernet frame with a UDP packet between `ports`.
fn frame(ports: (u16, u16)) -> Vec<u8> {
    let mut frame = Vec::new();
    let builder = etherparse::PacketBuilder::ethernet2([1; 6], [2; 6]).ipv4([10, 0, 0, 1], [10, 0, 0, 2], 64);
    builder.udp(ports.0, ports.1).write(&mut frame, b"data").unwrap();
    frame
}

/// An Ethernet frame that is no IP.
fn arp() -> Vec<u8> {
    [&[1; 12][..], &[8, 6], &[0; 28]].concat()
}

fn words(words: &[u32], is_big_endian: bool) -> Vec<u8> {
    let bytes = |word: &u32| if is_big_endian { word.to_be_bytes() } else { word.to_le_bytes() };
    words.iter().flat_map(bytes).collect()
}

/// A pcap file whose packets are dated `(seconds, fraction)`; every original length is 1500.
fn pcap(magic: u32, is_big_endian: bool, packets: &[(u32, u32, Vec<u8>)]) -> Vec<u8> {
    let version = if is_big_endian { 0x0002_0004 } else { 0x0004_0002 };
    let mut file = words(&[magic, version, 0, 0, 65_535, 1], is_big_endian);
    for (seconds, fraction, data) in packets {
        file.extend(words(&[*seconds, *fraction, data.len() as u32, 1500], is_big_endian));
        file.extend(data);
    }
    file
}

fn block(kind: u32, body: &[u8], is_big_endian: bool) -> Vec<u8> {
    let padded = body.len().next_multiple_of(4);
    let length = padded as u32 + 12;
    let mut block = words(&[kind, length], is_big_endian);
    block.extend(body);
    block.resize(8 + padded, 0);
    block.extend(words(&[length], is_big_endian));
    block
}

/// A pcapng file with one interface that has `options`.
fn pcapng(options: &[u8], is_big_endian: bool) -> Vec<u8> {
    let words = |list: &[u32]| words(list, is_big_endian);
    let (version, link) = if is_big_endian { (0x0001_0000, 0x0001_0000) } else { (1, 1) };
    let section = words(&[0x1a2b_3c4d, version, u32::MAX, u32::MAX]);
    let interface = [&words(&[link, 0])[..], options].concat();
    [block(0x0a0d_0d0a, &section, is_big_endian), block(1, &interface, is_big_endian)].concat()
}

fn enhanced(ticks: u64, data: &[u8], is_big_endian: bool) -> Vec<u8> {
    let (high, low) = ((ticks >> 32) as u32, ticks as u32);
    let head = words(&[0, high, low, data.len() as u32, 1500], is_big_endian);
    block(6, &[&head[..], data].concat(), is_big_endian)
}

fn strict() -> TraceOptions {
    TraceOptions { strict: true, ..options() }
}

fn times(file: &[u8]) -> Result<Vec<u64>, String> {
    let requests = triples("t.pcap", file, &options(), Clock::Timestamps)?;
    Ok(requests.iter().map(|request| request.0).collect())
}

#[test]
fn pcap_of_every_kind() {
    for is_big_endian in [false, true] {
        for (magic, second) in [(0xa1b2_c3d4, 1_000_000), (0xa1b2_3c4d, S as u32)] {
            let packets = [(1, 0, frame((1, 2))), (1, second / 2, frame((3, 4))), (2, 0, frame((1, 2)))];
            let file = pcap(magic, is_big_endian, &packets);
            let requests = triples("no name", file, &options(), Clock::Timestamps).unwrap();
            let [a, b, c] = requests[..] else { panic!("{requests:?}") };
            assert_eq!((a.0, b.0, c.0), (S, 3 * S / 2, 2 * S));
            assert!(a.1 == c.1 && a.1 != b.1);
            assert_eq!(a.2, 1500);
        }
    }
}

#[test]
fn packets_that_are_no_requests_are_counted() {
    let file = pcap(0xa1b2_c3d4, false, &[(1, 0, arp()), (1, 0, frame((1, 2))), (0, 0, vec![0; 9])]);
    let trace = Trace::from_bytes("t", file, &options()).unwrap();
    let (requests, skipped) = read(&trace, Clock::Steps).unwrap();
    assert_eq!((requests.len(), requests[0].time), (1, Nanos(1)));
    let malformed = "packets with a header that is cut short or malformed";
    assert_eq!(skipped, [("packets that are not IP".to_owned(), 1), (malformed.to_owned(), 1)]);
    let error = times(&pcap(0xa1b2_c3d4, false, &[(1, 0, arp())])).unwrap_err();
    assert_eq!(error, "t.pcap: no requests found (packets that are not IP: 1)");
}

#[test]
fn the_key_is_chosen() {
    let file = pcap(0xa1b2_c3d4, false, &[(1, 0, frame((1, 2))), (1, 0, frame((3, 2)))]);
    let keys = |packet_key| {
        let requests = triples(
            "t",
            file.clone(),
            &TraceOptions { packet_key: Some(packet_key), ..options() },
            Clock::Steps,
        );
        requests.unwrap().iter().map(|request| request.1).collect::<HashSet<_>>()
    };
    assert_eq!(keys(PacketKey::Flow).len(), 2);
    assert_eq!(keys(PacketKey::Source).len(), 1);
    assert_ne!(keys(PacketKey::Source), keys(PacketKey::Destination));
}

#[test]
fn pcapng_clocks() {
    for is_big_endian in [false, true] {
        let option = |code: u16, value: &[u8]| {
            let half = |number: u16| {
                if is_big_endian { number.to_be_bytes() } else { number.to_le_bytes() }
            };
            let mut option = [half(code), half(value.len() as u16)].concat();
            option.extend(value);
            option.resize(option.len().next_multiple_of(4), 0);
            option
        };
        let offset = if is_big_endian { 5_i64.to_be_bytes() } else { 5_i64.to_le_bytes() };
        for (options, ticks, expected) in [
            (vec![], 1_500_000, 3 * S / 2),
            (option(9, &[9]), 3 * S / 2, 3 * S / 2),
            (option(9, &[3]), 1_500, 3 * S / 2),
            (option(9, &[12]), 1_500_000_000_000, 3 * S / 2),
            (option(9, &[0x80 | 10]), 1_536, 3 * S / 2),
            (option(14, &offset), 1_500_000, 13 * S / 2),
        ] {
            let file = [pcapng(&options, is_big_endian), enhanced(ticks, &frame((1, 2)), is_big_endian)];
            assert_eq!(times(&file.concat()), Ok(vec![expected]), "{options:?}");
        }
    }
}

#[test]
fn simple_and_obsolete_packet_blocks() {
    let data = frame((1, 2));
    let simple = block(3, &[&words(&[data.len() as u32], false)[..], &data].concat(), false);
    let file = [pcapng(&[], false), block(2, &[0; 20], false), simple].concat();
    let trace = Trace::from_bytes("t", file.clone(), &options()).unwrap();
    let (requests, skipped) = read(&trace, Clock::Steps).unwrap();
    assert_eq!((requests[0].time, requests[0].size), (Nanos(1), data.len() as u64));
    assert_eq!(skipped, [("packets in obsolete packet blocks".to_owned(), 1)]);
    let error = times(&file).unwrap_err();
    let expected = "packet without a timestamp (a simple packet block); use --time slotted";
    assert_eq!(error, format!("t.pcap: byte 80: {expected}"));
}

#[test]
fn damage_is_told_with_its_place() {
    let file = pcap(0xa1b2_c3d4, false, &[(2, 0, frame((1, 2))), (1, 0, frame((1, 2)))]);
    assert_eq!(
        times(&file).unwrap_err(),
        "t.pcap: byte 86: time goes backwards, from 2s to 1s; --sort accepts that"
    );
    for (length, expected) in [
        (0, "no requests found"),
        (3, "byte 0: record cut short: expected 4 bytes, found 3"),
        (20, "byte 0: record cut short: expected 24 bytes, found 20"),
        (24, "no requests found"),
        (30, "no requests found (records cut off by the end of the file: 1)"),
        (85, "no requests found (records cut off by the end of the file: 1)"),
    ] {
        assert_eq!(times(&file[..length]).unwrap_err(), format!("t.pcap: {expected}"));
    }
    for (length, expected) in [
        (30, "byte 24: record cut short: expected 16 bytes, found 6"),
        (85, "byte 24: record cut short: expected 62 bytes, found 61"),
    ] {
        let error = triples("t.pcap", &file[..length], &strict(), Clock::Timestamps).unwrap_err();
        assert_eq!(error, format!("t.pcap: {expected}"));
    }
    let mut huge = file;
    huge[32..36].copy_from_slice(&u32::MAX.to_le_bytes());
    let expected = "record of 4294967311 bytes, more than 16 MiB; is this a capture?";
    assert_eq!(times(&huge).unwrap_err(), format!("t.pcap: byte 24: {expected}"));
    assert_eq!(
        times(b"no capture, but long enough").unwrap_err(),
        "t.pcap: byte 0: expected a pcap or pcapng header"
    );
    let section = pcapng(&[], false);
    for (length, expected) in [(7, 12), (11, 12), (12, 28), (27, 28)] {
        let expected = format!("t.pcap: byte 0: record cut short: expected {expected} bytes, found {length}");
        assert_eq!(times(&section[..length]).unwrap_err(), expected);
    }
    assert_eq!(
        triples("t.pcap", &section[..30], &strict(), Clock::Timestamps).unwrap_err(),
        "t.pcap: byte 28: record cut short: expected 12 bytes, found 2"
    );
    let stray = [&section[..28], &enhanced(0, &frame((1, 2)), false)].concat();
    assert_eq!(times(&stray).unwrap_err(), "t.pcap: byte 28: packet of interface 0, of which there are 0");
}

/// Lengths that `pcap-parser` 0.17 subtracts from without looking, and those that it looks at.
#[test]
fn pcapng_blocks_shorter_than_a_block_are_refused() {
    for is_big_endian in [false, true] {
        let start = pcapng(&[], is_big_endian);
        let place = start.len();
        for kind in [1, 2, 3, 4, 5, 6, 9, 10, 0xbad, 0x4000_0bad, 0x8000_0001, 0x1234_5678] {
            for length in 0..12 {
                let short = words(&[kind, length, length, 0], is_big_endian);
                assert_eq!(
                    times(&[&start[..], &short].concat()).unwrap_err(),
                    format!("t.pcap: byte {place}: expected a pcapng block, got {length} other bytes"),
                    "block type {kind:#x}"
                );
            }
        }
    }
}

/// Times of the packets of a capture, and what is counted besides.
fn packets(file: &[u8], options: &TraceOptions) -> Result<(Vec<u64>, Skipped), String> {
    let options = TraceOptions { format: Some(Format::Pcap), ..options.clone() };
    let read = || {
        let mut reader = Trace::from_bytes("t.pcap", file.to_vec(), &options)?.packets()?;
        let mut times = Vec::new();
        while reader.read(3, |packet| times.push(packet.time.0))? {}
        Ok((times, reader.skipped().to_vec()))
    };
    read().map_err(|error: TraceError| error.to_string())
}

/// Cut anywhere within its last record: both readers go on without it and count it, and a strict one refuses.
#[test]
fn a_last_record_that_is_cut_off_is_left_out() {
    let data = frame((1, 2));
    let pcap_file = |packets: u32| {
        let packets: Vec<_> = (1..=packets).map(|second| (second, 0, data.clone())).collect();
        pcap(0xa1b2_c3d4, false, &packets)
    };
    let pcapng_file = |is_big_endian, packets: u64| {
        let packets = (1..=packets).flat_map(|second| enhanced(second * 1_000_000, &data, is_big_endian));
        [pcapng(&[], is_big_endian), packets.collect()].concat()
    };
    let cut = vec![("records cut off by the end of the file".to_owned(), 1)];
    for (two, three) in [
        (pcap_file(2), pcap_file(3)),
        (pcapng_file(false, 2), pcapng_file(false, 3)),
        (pcapng_file(true, 2), pcapng_file(true, 3)),
    ] {
        let whole = (vec![S, 2 * S], Vec::new());
        assert_eq!(packets(&two, &strict()).unwrap(), whole);
        for length in two.len() + 1..three.len() {
            let file = &three[..length];
            assert_eq!(packets(file, &options()).unwrap(), (whole.0.clone(), cut.clone()), "{length}");
            let trace = Trace::from_bytes("t", file.to_vec(), &options()).unwrap();
            for clock in [Clock::Timestamps, Clock::Steps] {
                let (requests, skipped) = read(&trace, clock).unwrap();
                assert_eq!((requests.len(), &skipped), (2, &cut), "{length}");
            }
            let place = format!("t.pcap: byte {}: record cut short: expected ", two.len());
            assert!(packets(file, &strict()).unwrap_err().starts_with(&place), "{length}");
        }
    }
}

/// Otherwise one wrong length could make megabytes of packets vanish.
#[test]
fn a_cut_record_that_is_too_long_is_damage() {
    let mut file = pcap(0xa1b2_c3d4, false, &[(1, 0, frame((1, 2))), (2, 0, vec![0; 1 << 20])]);
    file.pop();
    let error = "t.pcap: byte 86: record cut short: expected 1048592 bytes, found 1048591";
    assert_eq!(
        (times(&file).unwrap_err(), packets(&file, &options()).unwrap_err()),
        (error.into(), error.into())
    );
    // However little of it is there: a wrong length in a small capture must not pass for its end.
    file.truncate(file.len() - (1000 << 10));
    assert!(times(&file).unwrap_err().contains("record cut short: expected 1048592 bytes"));
}

/// As captures of several queues have them.
#[test]
fn small_steps_back_are_sorted() {
    let micros = [5_000, 20_000, 12_000, 20_000, 11_000, 10_000, 30_000, 24_999, 90_000];
    let packet = |(index, micros): (usize, &u32)| (1, *micros, frame((index as u16, 2)));
    let file = pcap(0xa1b2_c3d4, false, &micros.iter().enumerate().map(packet).collect::<Vec<_>>());
    let sort = TraceOptions { sort: true, ..options() };
    let sorted = triples("t", file.clone(), &sort, Clock::Timestamps).unwrap();
    assert_eq!(triples("t", file.clone(), &options(), Clock::Timestamps).unwrap(), sorted);
    let times: Vec<u64> = sorted.iter().map(|request| request.0).collect();
    assert!(times.is_sorted());
    assert_eq!(packets(&file, &options()).unwrap(), (times, Vec::new()));
    let back = "t.pcap: byte 148: time goes backwards, from 1.02s to 1.012s; --sort accepts that";
    assert_eq!(packets(&file, &strict()).unwrap_err(), back);
    assert_eq!(triples("t.pcap", file, &strict(), Clock::Timestamps).unwrap_err(), back);
    let far = pcap(0xa1b2_c3d4, false, &[(1, 10_000, frame((1, 2))), (0, 999_999, frame((1, 2)))]);
    let back = "t.pcap: byte 86: time goes backwards, from 1.01s to 0.999999s; --sort accepts that";
    assert_eq!(packets(&far, &options()).unwrap_err(), back);
    assert_eq!(triples("t.pcap", far, &options(), Clock::Timestamps).unwrap_err(), back);
}
