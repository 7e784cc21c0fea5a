//! Segments of captures, made byte by byte and real.

use std::path::Path;

use etherparse::{IpFragOffset, IpNumber, Ipv4Header, PacketBuilder};
use trueplane_surge::reassembly::{Counts, Limits, List, Reassembler, Tree};
use trueplane_surge::segments::{Segments, Tcp, Wanted};
use trueplane_trace::{Format, Trace, TraceOptions};
use trueplane_units::Nanos;

const A: [u8; 4] = [10, 0, 0, 1];
const B: [u8; 4] = [10, 0, 0, 2];

fn tcp(seq: u32, payload: &[u8]) -> Vec<u8> {
    let mut frame = Vec::new();
    let builder = PacketBuilder::ethernet2([1; 6], [2; 6]).ipv4(A, B, 64).tcp(1000, 80, seq, 1024);
    builder.write(&mut frame, payload).unwrap();
    frame
}

/// A pcap file of packets `(microseconds, bytes captured, bytes on the wire)`.
fn pcap(packets: &[(u32, &[u8], usize)]) -> Vec<u8> {
    let words = |words: &[u32]| words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<u8>>();
    let mut file = words(&[0xa1b2_c3d4, 0x0004_0002, 0, 0, 65_535, 1]);
    for (micros, data, length) in packets {
        file.extend(words(&[5, *micros, data.len() as u32, *length as u32]));
        file.extend(*data);
    }
    file
}

fn read(file: Vec<u8>, wanted: &Wanted) -> Result<Segments, String> {
    let options = TraceOptions { format: Some(Format::Pcap), ..TraceOptions::default() };
    Trace::from_bytes("t.pcap", file, &options)
        .map_err(trueplane_study::Error::from)
        .and_then(|trace| Segments::read(&trace, wanted, &()))
        .map_err(|error| error.to_string())
}

fn whole(micros: u32, data: &[u8]) -> (u32, &[u8], usize) {
    (micros, data, data.len())
}

#[test]
fn tcp_and_udp_are_read_and_all_else_is_counted() {
    let arp = [&[1; 12][..], &[8, 6], &[0; 28]].concat();
    let data = tcp(17, b"hello");
    let mut udp = Vec::new();
    let builder = PacketBuilder::ethernet2([1; 6], [2; 6]).ipv6([1; 16], [2; 16], 64).udp(5, 53);
    builder.write(&mut udp, b"name").unwrap();
    let mut icmp = Vec::new();
    PacketBuilder::ethernet2([1; 6], [2; 6])
        .ipv4(A, B, 64)
        .icmpv4_echo_request(1, 2)
        .write(&mut icmp, b"")
        .unwrap();
    let mut header = Ipv4Header::new(8, 64, IpNumber::TCP, A, B).unwrap();
    header.fragment_offset = IpFragOffset::try_new(1).unwrap();
    let fragment = [&[1; 12][..], &[8, 0], &header.to_bytes()[..], b"aaaaaaaa"].concat();
    let mut answer = Vec::new();
    let builder = PacketBuilder::ethernet2([1; 6], [2; 6]).single_vlan(5.try_into().unwrap()).ipv4(B, A, 64);
    builder.tcp(80, 1000, 99, 1024).syn().fin().rst().write(&mut answer, b"").unwrap();
    let padded = [&data[..], &[0; 7]].concat();
    let packets = [
        whole(7, &arp),
        whole(9, &data),
        whole(9, &udp),
        whole(11, &icmp),
        whole(12, &fragment),
        whole(13, &answer),
        whole(14, &padded),
        (15, &data[..40], data.len()),
    ];
    let segments = read(pcap(&packets), &Wanted::default()).unwrap();
    let [hello, name, answer, padded] = segments.all() else { panic!("{segments:?}") };
    assert_eq!((hello.at, name.at, padded.at), (Nanos(2_000), Nanos(2_000), Nanos(7_000)));
    assert_eq!(segments.span(), Nanos(5_000));
    assert_eq!((hello.bits, hello.length, segments.payload(hello)), (8 * 59, 5, &b"hello"[..]));
    assert_eq!(hello.tcp, Some(Tcp { seq: 17, ..Tcp::default() }));
    assert_eq!((name.tcp, name.length, segments.payload(name)), (None, 4, &b"name"[..]));
    assert_eq!(answer.tcp, Some(Tcp { seq: 99, syn: true, fin: true, rst: true }));
    assert_eq!((padded.flow, padded.length, padded.bits), (hello.flow, 5, 8 * 66));
    assert!(answer.flow != hello.flow && name.flow != hello.flow);
    let left_out = [
        ("packets that are neither TCP nor UDP", 2),
        ("IP fragments", 1),
        ("packets with a header that is cut short or malformed", 1),
    ];
    assert_eq!(segments.left_out(), left_out.map(|(what, count)| (what.to_owned(), count)));
    assert_eq!((segments.truncated(), segments.name()), (0, "t.pcap"));
}

#[test]
fn what_was_not_captured_has_its_length() {
    let data = tcp(17, &[b'x'; 1000]);
    let mut liar = data.clone();
    liar[16..18].copy_from_slice(&60_000_u16.to_be_bytes());
    // Segmentation left to the network card: a length of zero.
    let mut offloaded = data.clone();
    offloaded[16..18].copy_from_slice(&[0, 0]);
    let packets = [
        (0, &data[..64], data.len()),
        (0, &data[..54], data.len()),
        (0, &liar[..64], data.len()),
        (0, &offloaded[..64], data.len()),
        (0, &data[..], 10),
    ];
    let segments = read(pcap(&packets), &Wanted::default()).unwrap();
    for (segment, captured) in segments.all().iter().zip([10, 0, 10, 10, 1000]) {
        assert_eq!((segment.length, segments.payload(segment).len()), (1000, captured));
        assert_eq!(segment.bits, 8 * 1054);
    }
    assert_eq!(segments.truncated(), 4);
}

#[test]
fn broken_captures_are_one_line() {
    let data = tcp(17, b"hello");
    let file = pcap(&[whole(1, &data), whole(2, &data)]);
    let cut = read(file[..file.len() - 3].to_vec(), &Wanted::default()).unwrap();
    assert_eq!(cut.all().len(), 1);
    assert_eq!(cut.left_out(), [("records cut off by the end of the file".to_owned(), 1)]);
    let cut = file[..file.len() - 80].to_vec();
    let error = read(cut, &Wanted::default()).unwrap_err();
    assert_eq!(error, "t.pcap: no packets found (records cut off by the end of the file: 1)");
    let arp = [&[1; 12][..], &[8, 6], &[0; 28]].concat();
    let error = read(pcap(&[whole(1, &arp)]), &Wanted::default()).unwrap_err();
    assert_eq!(error, "t.pcap: expected TCP or UDP packets, found packets that are neither TCP nor UDP: 1");
    let back = pcap(&[whole(20_000, &data), whole(1, &data)]);
    assert!(read(back, &Wanted::default()).unwrap_err().contains("time goes backwards"));
    assert!(
        read(pcap(&[(1, &data, 1 << 29)]), &Wanted::default()).unwrap_err().contains("longer than any link")
    );
}

#[test]
fn as_much_is_read_as_is_wanted() {
    let data = tcp(17, b"hello");
    let file = pcap(&[whole(1, &data), whole(2, &data), whole(3, &data)]);
    let two = read(file.clone(), &Wanted { packets: 2, ..Wanted::default() }).unwrap();
    assert_eq!(two.all().len(), 2);
    let bare = read(file.clone(), &Wanted { payloads: false, ..Wanted::default() }).unwrap();
    assert!(bare.all().iter().all(|segment| segment.length == 5 && bare.payload(segment).is_empty()));
    let error = read(file, &Wanted { memory: 100, ..Wanted::default() }).unwrap_err();
    assert!(error.starts_with("t.pcap: expected a capture that fits in 100 bytes of memory"), "{error}");
}

/// A real capture, read in full or up to so many packets; `None`, with a word of why, where there is none.
fn real(name: &str, packets: u64) -> Option<Result<Segments, String>> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/packets").join(name);
    if !path.exists() {
        println!("skipped: {} is not there", path.display());
        return None;
    }
    let trace = Trace::open(&path, &TraceOptions { sort: true, ..TraceOptions::default() }).unwrap();
    let segments = Segments::read(&trace, &Wanted { packets, ..Wanted::default() }, &());
    Some(segments.map_err(|error| error.to_string()))
}

fn lists(segments: &Segments, window: u32) -> Counts {
    let limits = Limits { window, ..Limits::default() };
    let mut list = Reassembler::<List>::new(limits).unwrap();
    let mut tree = Reassembler::<Tree>::new(limits).unwrap();
    for segment in segments.all() {
        let Some(tcp) = segment.tcp else { continue };
        let (mut released, mut same) = (0, 0);
        list.accept(segment.flow, tcp, segment.length, 0, |piece| released += piece.length);
        tree.accept(segment.flow, tcp, segment.length, 0, |piece| same += piece.length);
        assert_eq!(released, same);
    }
    *list.counts()
}

/// What makes lists long is an attacker: real flows have a node or a few. Where a capture misses packets, gaps are never filled, and
/// lists grow with the window: to 3 nodes with 16 KiB, and 19 with 1 MiB, in that of netflix.
#[test]
fn lists_of_real_flows_are_short() {
    for name in ["netflix.pcap", "1kxun.pcap", "alexa-app.pcapng", "wechat.pcap"] {
        let Some(segments) = real(name, u64::MAX) else { continue };
        let segments = segments.unwrap();
        for window in [16 << 10, 1 << 20] {
            let counts = lists(&segments, window);
            println!("{name}: {} segments, window {window}: {counts:?}", segments.all().len());
            assert!(counts.in_order > 100 && counts.released > 100_000, "{name}: {counts:?}");
            assert!(counts.longest < 32 && counts.steps < counts.segments, "{name}: {counts:?}");
        }
    }
}

/// This one ends within a packet; all before can be had.
#[test]
fn a_real_capture_that_is_cut() {
    let Some(whole) = real("pgsql.pcap.zst", u64::MAX) else { return };
    let whole = whole.unwrap();
    assert_eq!(whole.left_out(), [("records cut off by the end of the file".to_owned(), 1)]);
    let Some(start) = real("pgsql.pcap.zst", 100) else { return };
    assert_eq!(start.unwrap().all(), &whole.all()[..100]);
}
