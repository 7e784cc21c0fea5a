//! What the fuzz target of the programs in the kernel does with an input: offers frames to them on the kernel's test bench, and
//! to the policies in Rust, which must come to the same verdicts, states and counts.
//!
//! `cargo test` does the same with the seeds and with frames that it makes (crates/limit/tests/live/fuzz.rs).

use trueplane_limit::classes::Classes;
use trueplane_limit::classifier::{Classifier, Match};
use trueplane_limit::frame::{ETHERTYPE_IPV4, ETHERTYPE_IPV6, Frame, VLAN_TPIDS};
use trueplane_limit::live::{Bench, Clock, Counter, Subject, Tuning};
use trueplane_limit::policy::{Hierarchy, Nimble};
use trueplane_limit::{Limiter, Verdict};
use trueplane_units::Nanos;

/// Classes of every kind, with buckets that a few packets fill: rules on IPv4 few enough to be tried one by one; enough for tries;
/// and no class for most packets.
pub const SETS: [&str; 3] = [
    "default = 'rest'
[[class]]
name = 'marked'
rate = '1Gbps'
burst = '3kB'
mark = '1kB'
fwmark = [7, 8]
[[class]]
name = 'vlans'
rate = '20Mbps'
burst = '5kB'
mark = '2kB'
vlan = [100, 101]
[[class]]
name = 'tenants'
rate = '10Mbps'
burst = '4kB'
mark = '2kB'
source = '10.0.0.0/16'
each = 24
count = 'each'
inside = 'rest'
[[class]]
name = 'homes'
rate = '50Mbps'
burst = '9kB'
mark = '3kB'
destination = '2001:db8::/48'
each = 56
[[class]]
name = 'rest'
rate = '300Mbps'
burst = '30kB'
mark = '15kB'
source = ['10.0.0.0/8', '2001:db8::/32']
destination = ['192.0.2.0/24', 'fd00::/8']
[[class]]
name = 'host'
rate = '64kbps'
burst = '2kB'
destination = ['192.0.2.1', 'fd00::1']
inside = 'rest'
",
    "default = 'other'
[[class]]
name = 'whole'
rate = '100Mbps'
burst = '20kB'
mark = '9kB'
source = ['10.0.0.0/8', '2001:db8::/32']
[[class]]
name = 'parts'
rate = '30Mbps'
burst = '7kB'
mark = '2kB'
source = ['10.0.0.0/24', '10.0.1.0/25', '10.0.2.0/26', '10.0.3.1', '10.128.0.0/9', '2001:db8:0:1::/64', '2001:db8::1']
inside = 'whole'
[[class]]
name = 'tenants'
rate = '5Mbps'
burst = '6kB'
destination = '10.0.0.0/20'
each = 30
[[class]]
name = 'targets'
rate = '400Mbps'
burst = '3kB'
mark = '64B'
destination = ['192.0.2.0/25', '192.0.2.128/25', '198.51.100.0/24', '128.0.0.0/4', '2000::/3']
[[class]]
name = 'sites'
rate = '1kbps'
burst = '1500B'
source = 'fd00::/56'
each = 64
count = 'each'
[[class]]
name = 'untagged'
rate = '400Gbps'
burst = '60MB'
vlan = 1
[[class]]
name = 'other'
rate = '7777777bps'
burst = '65kB'
mark = '20kB'
",
    "[[class]]
name = 'one'
rate = '1Mbps'
burst = '2kB'
mark = '1kB'
source = '10.0.0.1'
[[class]]
name = 'tag'
rate = '10Mbps'
burst = '2kB'
mark = '100B'
vlan = 4094
",
];

/// A packet, when it comes and to which program.
#[derive(Clone, Debug)]
pub struct Packet<'a> {
    /// [`Subject::Xdp`] or [`Subject::Tc`].
    pub subject: Subject,
    /// The kernel's mark on it, for tc.
    pub fwmark: u32,
    /// When.
    pub now: Nanos,
    /// The size it is taken to have; 0 for its own.
    pub bytes: u32,
    /// Its bytes.
    pub frame: &'a [u8],
}

/// What became of packets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Seen {
    /// By verdict, that of tc for packets that can be marked.
    pub verdicts: [u64; 3],
    /// Those that met no limit.
    pub unclassified: u64,
    /// Those that the test bench does not take: on a wire they are, but here nothing is learnt from them.
    pub refused: u64,
}

/// The programs and the policies side by side.
pub struct Twins {
    bench: Bench,
    classifier: Classifier,
    limiters: Vec<Nimble>,
    counters: Vec<Counter>,
    /// What became of all packets so far.
    pub seen: Seen,
}

impl Twins {
    /// Twins with the classes of this text; the error says in one line what the kernel or privileges lack.
    ///
    /// # Panics
    /// If the text is no classes file.
    pub fn new(text: &str) -> Result<Self, trueplane_linux::Error> {
        let classes = Classes::parse("set", text).unwrap_or_else(|error| panic!("{error}"));
        let bench = Bench::new(&classes, Tuning { clock: Clock::Given, draw_bytes: 0 })?;
        let classifier = Classifier::new(&classes);
        let limiters = classifier.limiters().collect();
        let counters = vec![Counter::default(); classifier.counter_count() as usize + 1];
        Ok(Self { bench, classifier, limiters, counters, seen: Seen::default() })
    }

    /// Empties all buckets.
    pub fn restart(&mut self) {
        for (index, limiter) in (0..).zip(self.classifier.limiters()) {
            if self.limiters[index as usize] != limiter {
                self.bench.set_limiter(index, &limiter).expect("a limiter can be set");
                self.limiters[index as usize] = limiter;
            }
        }
    }

    /// Offers a packet to both.
    pub fn offer(&mut self, packet: &Packet<'_>) {
        let Packet { subject, fwmark, now, bytes, frame } = *packet;
        self.bench.set_given(now, bytes);
        let told = match self.bench.run_frame(subject, frame, fwmark) {
            Ok(told) => told,
            Err(error) => {
                assert!(is_refused(subject, frame), "{packet:?}: {error}");
                self.seen.refused += 1;
                return;
            }
        };
        let bytes = if bytes == 0 { frame.len() as u32 } else { bytes };
        let parsed = Frame::parse(frame);
        let found = self.classifier.classify(&parsed, if subject == Subject::Tc { fwmark } else { 0 });
        let verdict = found.map_or(Verdict::Pass, |found| self.decide(found, bytes, now));
        // XDP cannot mark, nor can anybody mark who does not speak ECN.
        let can_mark = subject == Subject::Tc && parsed.ecn_capable;
        let verdict = if verdict == Verdict::Mark && !can_mark { Verdict::Pass } else { verdict };
        let expected = if verdict == Verdict::Mark { marked(frame) } else { frame.to_vec() };
        assert_eq!(told, (verdict != Verdict::Drop, expected), "{packet:?}");

        let counter = found.map_or(self.classifier.counter_count(), |found| found.counter);
        count(&mut self.counters[counter as usize], verdict, bytes);
        assert_eq!(
            self.bench.counter(counter).expect("it is there"),
            self.counters[counter as usize],
            "{packet:?}"
        );
        let parent = found.and_then(|found| self.classifier.parent(found.limiter));
        for limiter in found.map(|found| found.limiter).into_iter().chain(parent) {
            let found = self.bench.limiter(limiter).expect("it is there");
            assert_eq!(found, self.limiters[limiter as usize], "limiter {limiter}: {packet:?}");
        }
        match found {
            Some(_) => self.seen.verdicts[verdict as usize] += 1,
            None => self.seen.unclassified += 1,
        }
    }

    /// The policy's verdict, and its state after it.
    fn decide(&mut self, found: Match, bytes: u32, now: Nanos) -> Verdict {
        let limiter = found.limiter as usize;
        let Some(parent) = self.classifier.parent(found.limiter) else {
            return self.limiters[limiter].offer(bytes, now);
        };
        let mut pair = Hierarchy { class: self.limiters[limiter], tenant: self.limiters[parent as usize] };
        let verdict = pair.offer(bytes, now);
        (self.limiters[limiter], self.limiters[parent as usize]) = (pair.class, pair.tenant);
        verdict
    }

    /// Compares all limiters and counters, those that no packet should have met too.
    pub fn check_all(&self) {
        for (index, limiter) in (0..).zip(&self.limiters) {
            assert_eq!(self.bench.limiter(index).expect("it is there"), *limiter, "limiter {index}");
        }
        for (index, counter) in (0..).zip(&self.counters) {
            assert_eq!(self.bench.counter(index).expect("it is there"), *counter, "counter {index}");
        }
    }
}

/// Reads `input` as packets and offers them: the first byte chooses among `twins`; then for each packet
///
/// - a byte: bit 0 for tc, bits 1 and 2 for the kernel's mark, bit 3 for a time before the last, bit 4 for a long silence;
/// - two bytes: microseconds since the last, or as many sixteenths of a second;
/// - two bytes: the size it is taken to have, 0 for its own;
/// - a byte: the length of what follows, the frame.
pub fn offer_all(twins: &mut [Twins], input: &[u8]) {
    let Some((&choice, mut rest)) = input.split_first() else { return };
    let index = usize::from(choice) % twins.len();
    let twins = &mut twins[index];
    twins.restart();
    let mut now = 1_000_000_000u64;
    while let Some((&[flags, gap_low, gap_high, low, high, length], behind)) = rest.split_first_chunk() {
        let frame = &behind[..behind.len().min(length.into())];
        rest = &behind[frame.len()..];
        let micros = u64::from(u16::from_le_bytes([gap_low, gap_high]));
        let gap = if flags & 16 == 0 { micros * 1_000 } else { micros * 62_500_000 };
        now = if flags & 8 == 0 { now + gap } else { now.saturating_sub(gap) };
        let bytes = u32::from(u16::from_le_bytes([low, high]));
        let subject = if flags & 1 == 0 { Subject::Xdp } else { Subject::Tc };
        let fwmark = [0, 7, 8, 9][usize::from(flags >> 1 & 3)];
        twins.offer(&Packet { subject, fwmark, now: Nanos(now), bytes, frame });
    }
}

fn count(counter: &mut Counter, verdict: Verdict, bytes: u32) {
    let (packets, sum) = match verdict {
        Verdict::Pass => (&mut counter.passed_packets, &mut counter.passed_bytes),
        Verdict::Mark => (&mut counter.marked_packets, &mut counter.marked_bytes),
        Verdict::Drop => (&mut counter.dropped_packets, &mut counter.dropped_bytes),
    };
    *packets += 1;
    *sum += u64::from(bytes);
}

/// Whether the kernel's test bench refuses the frame: it takes none without a whole Ethernet header, and for tc none whose IP
/// header is cut.
fn is_refused(subject: Subject, frame: &[u8]) -> bool {
    let ether_type = frame.get(12..14).map(|bytes| u16::from_be_bytes([bytes[0], bytes[1]]));
    let header = match ether_type {
        Some(ETHERTYPE_IPV4) if subject == Subject::Tc => 20,
        Some(ETHERTYPE_IPV6) if subject == Subject::Tc => 40,
        _ => 0,
    };
    frame.len() < 14 + header
}

/// The frame with "congestion experienced" in its IP header (RFC 3168), and the checksum that goes with it.
fn marked(frame: &[u8]) -> Vec<u8> {
    let mut frame = frame.to_vec();
    let mut at = 12;
    while VLAN_TPIDS.contains(&u16::from_be_bytes([frame[at], frame[at + 1]])) {
        at += 4;
    }
    let header = &mut frame[at + 2..];
    if header[0] >> 4 == 6 {
        header[1] |= 0x30;
        return frame;
    }
    let before = header[1];
    header[1] |= 3;
    if header[1] == before {
        return frame;
    }
    // RFC 1624. One's complement has two zeros, both right: the kernel's helper for ECN adds to the checksum itself and writes 0xffff,
    // its helper for checksums, which marks behind tags, adds to the sum under it and writes 0.
    let checksum = u16::from_be_bytes([header[10], header[11]]);
    let grown = u16::from(header[1] - before);
    let checksum = if at == 12 { add_carrying(checksum, !grown) } else { !add_carrying(!checksum, grown) };
    header[10..12].copy_from_slice(&checksum.to_be_bytes());
    frame
}

/// The sum of two words in one's complement.
fn add_carrying(left: u16, right: u16) -> u16 {
    let (sum, carried) = left.overflowing_add(right);
    sum + u16::from(carried)
}
