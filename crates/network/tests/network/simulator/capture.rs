//! Captures of links, read back with our own reader and with another parser of headers.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::io::{self, Write};
use std::rc::Rc;

use etherparse::{LaxNetSlice, TransportSlice};
use trueplane_network::Nanos;
use trueplane_network::simulator::{
    Capture, Completed, DropTail, FaultKind, Faults, FlowSpec, LinkFault, MarkingThreshold, Network, Topology,
};
use trueplane_network::transport::preset;
use trueplane_trace::{Trace, TraceOptions};
use trueplane_units::BitsPerSec;

/// A file in memory, which a test can read while a capture has it.
#[derive(Clone, Default)]
struct Shared(Rc<RefCell<Vec<u8>>>);

impl Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.borrow_mut().extend(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The number of the link from the sender to its switch, and of the one back.
const THERE: u32 = 0;
const BACK: u32 = 1;

/// A flow of 5000 bytes over two switches, of which a link is captured. `marks_from` is the number of bytes from which on ports mark.
fn captured(link: u32, marks_from: u64, faults: &[LinkFault]) -> (Vec<u8>, Vec<Completed>) {
    let topology =
        Topology::dumbbell(1, BitsPerSec(1_000_000_000), BitsPerSec(1_000_000_000), Nanos(700)).unwrap();
    let queue = |_| DropTail::new(1 << 20).marking(MarkingThreshold::above(marks_from));
    let network = Network::new(&topology, queue, preset::standard_dctcp(), 120, 5).unwrap();
    let file = Shared::default();
    let capture = Capture::new(link, file.clone());
    let faults = Faults::new(topology.links().len(), faults, 1).unwrap();
    let network = network.capturing(capture.clone()).with_faults(faults);
    let spec = FlowSpec { start: Nanos(3_000_000_007), from: 0, to: 1, bytes: 5_000 };
    let outcome = network.run([spec].into_iter(), Nanos::MAX).unwrap();
    let sent = outcome.ports[link as usize];
    assert_eq!(capture.finish().unwrap(), sent.sent + sent.lost);
    (file.0.take(), outcome.completed)
}

/// What a packet of a capture says.
#[derive(Debug, PartialEq, Eq)]
struct Line {
    time: u64,
    length: u32,
    hosts: [u8; 2],
    ports: [u16; 2],
    sequence: u32,
    ack: Option<u32>,
    window: u16,
    syn: bool,
    ece: bool,
    ecn: u8,
}

/// Reads a capture; both checksums of each packet are right.
fn lines(file: Vec<u8>) -> Vec<Line> {
    let trace = Trace::from_bytes("link.pcap", file, &TraceOptions::default()).unwrap();
    let mut reader = trace.packets().unwrap();
    let mut lines = Vec::new();
    reader
        .read(1_000, |packet| {
            let headers = packet.layers.headers().expect("an Ethernet frame");
            let (Some(net), Some(TransportSlice::Tcp(tcp))) = (&headers.net, &headers.transport) else {
                panic!("no TCP: {headers:?}")
            };
            let LaxNetSlice::Ipv4(ip) = net else { panic!("no IPv4: {net:?}") };
            let header = ip.header().to_header();
            assert_eq!(header.header_checksum, header.calc_header_checksum());
            assert_eq!(u32::from(header.total_len) + 14, packet.length);
            let tcp = tcp.to_header();
            let payload = vec![0; packet.length as usize - 34 - tcp.header_len()];
            assert_eq!(tcp.checksum, tcp.calc_checksum_ipv4(&header, &payload).unwrap());
            lines.push(Line {
                time: packet.time.0,
                length: packet.length,
                hosts: [header.source[3], header.destination[3]],
                ports: [tcp.source_port, tcp.destination_port],
                sequence: tcp.sequence_number,
                ack: tcp.ack.then_some(tcp.acknowledgment_number),
                window: tcp.window_size,
                syn: tcp.syn,
                ece: tcp.ece,
                ecn: header.ecn.value(),
            });
        })
        .unwrap();
    lines
}

/// The link of the sender, in both directions: a handshake, four packets with 1380, 1380, 1380 and 860 bytes, and their acknowledgements.
#[test]
fn a_capture_shows_a_connection() {
    let there = lines(captured(THERE, u64::MAX, &[]).0);
    // Without a least time-out, the sender takes long packets for lost and sends some twice.
    let data: BTreeSet<(u32, u32)> =
        there.iter().filter(|line| line.length > 62).map(|line| (line.sequence, line.length - 54)).collect();
    assert_eq!(data, BTreeSet::from([(1, 1_380), (1_381, 1_380), (2_761, 1_380), (4_141, 860)]));
    assert!(there.iter().all(|line| line.hosts == [1, 2] && line.ports == [1_024, 9]));
    let syn = &there[0];
    assert_eq!((syn.time, syn.length, syn.sequence, syn.ack), (3_000_000_007, 62, 0, None));
    assert_eq!(there.iter().filter(|line| line.syn).count(), 1);
    assert!(there.iter().all(|line| line.window == 65_535), "the sender takes any data");
    let (file, completed) = captured(BACK, u64::MAX, &[]);
    let back = lines(file);
    assert!(back[0].syn && back[0].ack == Some(1) && back.iter().all(|line| line.window > 0));
    assert!(back.iter().all(|line| line.hosts == [2, 1] && line.ports == [9, 1_024]));
    let last = back.iter().find(|line| line.ack == Some(5_001)).unwrap();
    // The last acknowledgement leaves the switch: 120 bytes take 960 ns to the sender, and 700 more for the delay.
    assert_eq!(completed[0].end, Nanos(last.time + 960 + 700));
    let times: Vec<u64> = there.iter().map(|line| line.time).collect();
    assert!(times.is_sorted());
}

#[test]
fn marks_and_echoes_are_there() {
    // The port of the sender marks all packets that wait with others.
    let there = lines(captured(THERE, 0, &[]).0);
    assert!(there.iter().any(|line| line.ecn == 3), "{there:?}");
    let back = lines(captured(BACK, 0, &[]).0);
    assert!(back.iter().any(|line| line.ece), "{back:?}");
    assert!(lines(captured(THERE, u64::MAX, &[]).0).iter().all(|line| line.ecn != 3));
}

/// A capture is at the beginning of the link: what the link loses is there, and there again.
#[test]
fn what_the_link_loses_is_captured() {
    let loss = LinkFault {
        link: THERE,
        from: Nanos(0),
        until: Nanos(3_000_000_010),
        kind: FaultKind::Loss(1_000_000),
    };
    let there = lines(captured(THERE, u64::MAX, &[loss]).0);
    let syns: Vec<u64> = there.iter().filter(|line| line.syn).map(|line| line.time).collect();
    assert_eq!(syns.len(), 2);
    assert_eq!(syns[0], 3_000_000_007);
}

/// A file that takes so many bytes.
struct Full(usize);

impl Write for Full {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 = self.0.checked_sub(bytes.len()).ok_or_else(|| io::Error::other("it is full"))?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn an_error_of_the_file_is_told_at_the_end() {
    let topology =
        Topology::dumbbell(1, BitsPerSec(1_000_000_000), BitsPerSec(1_000_000_000), Nanos(20)).unwrap();
    for bytes in [0, 30, 200] {
        let capture = Capture::new(THERE, Full(bytes));
        let queue = |_| DropTail::new(1 << 20);
        let network = Network::new(&topology, queue, preset::standard_tcp(), 120, 5).unwrap();
        let spec = FlowSpec { start: Nanos(0), from: 0, to: 1, bytes: 5_000 };
        network.capturing(capture.clone()).run([spec].into_iter(), Nanos::MAX).unwrap();
        assert_eq!(capture.finish().unwrap_err().to_string(), "it is full");
    }
}
