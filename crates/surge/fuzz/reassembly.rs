//! What the fuzz target of the reassembler does with an input: takes it for segments, and holds the list, the tree and a table of
//! bytes against each other; then takes it for a capture.
//!
//! `cargo test` does the same with the seeds and with drawn segments (crates/surge/tests/surge/reassembly).

use std::collections::{BTreeMap, HashMap};

use trueplane_study::Error;
use trueplane_surge::reassembly::{
    Heuristic, Limits, List, Ranges, Reassembler, Reassembly, ReassemblyCosts, Steps, Tree, profile,
};
use trueplane_surge::segments::{Segments, Tcp, Wanted};
use trueplane_trace::{Format, Trace, TraceOptions};

/// A segment that a reassembler is given.
#[derive(Clone, Debug)]
pub struct Given {
    /// Its flow.
    pub flow: u64,
    /// Its header.
    pub tcp: Tcp,
    /// Its payload.
    pub payload: Vec<u8>,
}

/// A reassembler that anyone can see is right: it holds early bytes in a table, one by one.
#[derive(Default)]
pub struct Naive {
    flows: HashMap<u64, NaiveFlow>,
}

/// A flow of it.
struct NaiveFlow {
    /// Sequence number of byte 0 of the stream.
    zero: u32,
    /// Bytes released.
    next: u64,
    early: BTreeMap<u64, u8>,
    end: Option<u64>,
}

impl NaiveFlow {
    fn new(zero: u32) -> Self {
        Self { zero, next: 0, early: BTreeMap::new(), end: None }
    }

    /// Where in the stream `seq` is, counted from the byte that is waited for: the nearest byte that has this number.
    fn ahead(&self, seq: u32) -> i64 {
        let awaited = self.zero.wrapping_add(self.next as u32);
        let distance = i64::from(seq) - i64::from(awaited);
        match distance {
            ..-0x8000_0000 => distance + 0x1_0000_0000,
            0x8000_0000.. => distance - 0x1_0000_0000,
            near => near,
        }
    }
}

impl Naive {
    /// Takes a segment: what follows in its stream.
    pub fn accept(&mut self, given: &Given, window: u32) -> Vec<u8> {
        let Given { flow: name, tcp, payload } = given;
        let window = i64::from(window);
        if tcp.rst {
            if self.flows.get(name).is_some_and(|flow| (0..=window).contains(&flow.ahead(tcp.seq))) {
                self.flows.remove(name);
            }
            return Vec::new();
        }
        let mut seq = tcp.seq;
        if tcp.syn {
            seq = seq.wrapping_add(1);
            self.flows.insert(*name, NaiveFlow::new(seq));
        } else if payload.is_empty() && !self.flows.contains_key(name) {
            return Vec::new();
        }
        let flow = self.flows.entry(*name).or_insert_with(|| NaiveFlow::new(seq));
        let first = flow.ahead(seq);
        let end = first + payload.len() as i64;
        if tcp.fin && flow.end.is_none() && end >= 0 && (end <= window || first == 0) {
            flow.end = Some(flow.next + end as u64);
        }
        let limit = flow.end.unwrap_or(u64::MAX);
        let places = (first..).map(|place| flow.next.checked_add_signed(place));
        let new: Vec<(u64, u8)> = places
            .zip(payload)
            .filter_map(|(place, byte)| Some((place?, *byte)))
            .filter(|(place, _)| (flow.next..limit).contains(place))
            .collect();
        if first > 0 && !new.is_empty() && end > window {
            self.flows.remove(name);
            return Vec::new();
        }
        for (place, byte) in new {
            flow.early.entry(place).or_insert(byte);
        }
        let mut released = Vec::new();
        while let Some(byte) = flow.early.remove(&flow.next) {
            released.push(byte);
            flow.next += 1;
        }
        if flow.end.is_some_and(|end| flow.next >= end) {
            self.flows.remove(name);
        }
        released
    }

    /// Stretches of early bytes without a gap.
    pub fn ranges(&self, name: u64) -> usize {
        let Some(flow) = self.flows.get(&name) else { return 0 };
        flow.early.keys().filter(|place| !flow.early.contains_key(&(**place - 1))).count()
    }
}

/// One reassembler at work.
struct Run<R> {
    reassembler: Reassembler<R>,
}

impl<R: Ranges> Run<R> {
    fn new(limits: Limits) -> Self {
        Self { reassembler: Reassembler::new(limits).expect("limits that make sense") }
    }

    /// Takes segment `number`: what it releases.
    fn accept(&mut self, all: &[Given], number: usize) -> (Vec<u8>, Steps) {
        let Given { flow, tcp, payload } = &all[number];
        let mut released = Vec::new();
        let steps = self.reassembler.accept(*flow, *tcp, payload.len() as u32, number as u32, |piece| {
            let bytes = &all[piece.tag as usize].payload[piece.skip as usize..][..piece.length as usize];
            released.extend_from_slice(bytes);
        });
        (released, steps)
    }
}

/// Lets list and tree take all segments: they release the same and hold the same, within the limits; and if there is room for everything,
/// what the naive one releases and holds. The list takes no more steps than it has nodes.
pub fn compare(all: &[Given], limits: Limits) {
    let has_room = limits.flows >= all.len() && limits.pieces > 2 * all.len();
    let (mut list, mut tree) = (Run::<List>::new(limits), Run::<Tree>::new(limits));
    let mut naive = Naive::default();
    let mut bytes = 0;
    for (number, given) in all.iter().enumerate() {
        let ranges = list.reassembler.ranges(given.flow) as u64;
        let (released, steps) = list.accept(all, number);
        assert!(steps.total() <= ranges, "{steps:?} among {ranges} ranges");
        let (same, steps) = tree.accept(all, number);
        assert!(steps.search <= Tree::search_bound(ranges), "{steps:?} among {ranges} ranges");
        assert_eq!(released, same, "segment {number}");
        bytes += released.len() as u64;
        let (list, tree) = (&list.reassembler, &tree.reassembler);
        assert_eq!(list.ranges(given.flow), tree.ranges(given.flow));
        assert_eq!((list.flows(), list.pieces()), (tree.flows(), tree.pieces()));
        assert!(list.flows() <= limits.flows && list.pieces() <= limits.pieces);
        if has_room {
            assert_eq!(released, naive.accept(given, limits.window), "segment {number}");
            assert_eq!(list.ranges(given.flow), naive.ranges(given.flow));
            assert_eq!(list.flows(), naive.flows.len());
        }
    }
    let counts = list.reassembler.counts();
    let kinds = [counts.empty, counts.old, counts.in_order, counts.early, counts.beyond];
    assert_eq!((counts.segments, counts.released), (all.len() as u64, bytes));
    assert_eq!(counts.segments, kinds.iter().sum::<u64>());
    assert_eq!(
        *counts,
        trueplane_surge::reassembly::Counts { steps: counts.steps, ..*tree.reassembler.counts() }
    );
}

/// Takes `bytes` for segments of three flows around the end of the sequence numbers: five bytes each, then compares.
pub fn reassemble(bytes: &[u8]) {
    let all: Vec<Given> = bytes
        .as_chunks::<5>()
        .0
        .iter()
        .enumerate()
        .map(|(number, &[kind, low, high, far, length])| {
            let near = u32::from(u16::from_be_bytes([high, low]) % 2048);
            let far = if far >= 0xf0 { u32::from(far) << 24 } else { 0 };
            let tcp = Tcp {
                seq: (u32::MAX - 1024).wrapping_add(near).wrapping_add(far),
                syn: kind >> 2 & 0xf == 1,
                fin: kind >> 2 & 0xf == 2,
                rst: kind >> 2 & 0xf == 3,
            };
            Given { flow: u64::from(kind & 3), tcp, payload: vec![number as u8; usize::from(length)] }
        })
        .collect();
    compare(&all, Limits { window: 512, flows: all.len() + 1, pieces: 2 * all.len() + 1 });
    compare(&all, Limits { window: 512, flows: 2, pieces: 4 });
}

/// Reads `bytes` as a capture and reassembles it: whether it is one. An error is one line.
pub fn reassemble_capture(bytes: &[u8]) -> bool {
    let options = TraceOptions { format: Some(Format::Pcap), ..TraceOptions::default() };
    let read = Trace::from_bytes("fuzz", bytes.to_vec(), &options)
        .map_err(Error::from)
        .and_then(|trace| Segments::read(&trace, &Wanted::default(), &()));
    let segments = match read {
        Ok(segments) => segments,
        Err(error) => {
            assert!(!error.to_string().contains(['\n', '\r']), "{error:?}");
            return false;
        }
    };
    for segment in segments.all() {
        assert!(segment.bits >= 8 && segments.payload(segment).len() <= segment.length as usize);
        assert!(segment.length <= segment.bits / 8);
    }
    let costs = ReassemblyCosts::default();
    let mut application =
        Reassembly::<List>::new(segments.shared(), Limits::default(), costs, Heuristic::Ranges)
            .expect("limits that make sense");
    let jobs = profile("fuzz", &mut application, &()).expect("segments in order");
    assert!(jobs.iter().all(|job| job.job <= job.estimate && job.job >= costs.base));
    true
}
