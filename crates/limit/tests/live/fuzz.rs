//! Frames of every kind, whole and broken, on the kernel's test bench: the eBPF programs and the policies in Rust must agree on
//! verdict, state and counters. And the seeds of the fuzzer in `fuzz/`, through what its target does.

use std::io::Write as _;
use std::path::Path;

use trueplane_limit::live::Subject;
use trueplane_linux::testnet;
use trueplane_units::Nanos;

// The target's own code; `cargo test` at the root does not build the fuzzer, which wants a nightly compiler.
#[path = "../../fuzz/bpf.rs"]
#[expect(unreachable_pub, reason = "of a library there, a module here")]
mod target;

use target::{Packet, SETS, Twins, offer_all};

/// Frames per set of classes.
const FRAMES: u32 = 6_000;

/// The twins of every set, or one line that says why there are none.
fn twins() -> Option<Vec<Twins>> {
    match SETS.iter().map(|text| Twins::new(text)).collect() {
        Ok(twins) => Some(twins),
        Err(error @ trueplane_linux::Error::Privileges { .. }) => {
            // Past the test harness, which keeps back what the macros print.
            let _ = writeln!(std::io::stderr(), "skipped: {error}");
            None
        }
        Err(error) => panic!("{error}"),
    }
}

/// Deterministic numbers (a congruential generator), good enough to jump about.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, below: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % below
    }

    fn one_in(&mut self, many: usize) -> bool {
        self.below(many) == 0
    }

    fn of<T: Copy>(&mut self, list: &[T]) -> T {
        list[self.below(list.len())]
    }

    fn bytes(&mut self, count: usize) -> Vec<u8> {
        (0..count).map(|_| self.below(256) as u8).collect()
    }

    /// An address in, at the edge of, and outside of the rules' prefixes.
    fn address4(&mut self) -> [u8; 4] {
        let near =
            [self.of(&[10, 10, 10, 192, 198, 9, 11, 0]), 0, self.below(5) as u8, self.below(256) as u8];
        let host = [10, 0, 0, 1];
        let test = [192, 0, 2, self.of(&[0, 1, 127, 128])];
        let wide = [10, self.below(256) as u8, self.below(256) as u8, 1];
        self.of(&[near, near, host, test, wide])
    }

    fn address6(&mut self) -> [u8; 16] {
        let mut address = [0; 16];
        let start: [u8; 4] = self.of(&[[0x20, 1, 0x0d, 0xb8], [0xfd, 0, 0, 0], [0xfe, 0x80, 0, 0]]);
        address[..4].copy_from_slice(&start);
        address[6] = self.of(&[0, 0, 1, 0xff]);
        address[7] = self.below(3) as u8;
        address[15] = self.below(3) as u8;
        address
    }

    /// A frame as it should be, then perhaps spoilt.
    fn frame(&mut self) -> Vec<u8> {
        if self.one_in(20) {
            let count = self.below(200);
            return self.bytes(count);
        }
        let mut frame = self.bytes(12);
        for _ in 0..self.of(&[0, 0, 0, 0, 0, 1, 1, 1, 2, 2, 3, 4]) {
            let tpid: u16 = self.of(&[0x8100, 0x8100, 0x88a8, 0x9100, 0x9200]);
            let vlan: u16 = self.of(&[0, 1, 100, 101, 102, 4094, 4095]);
            let tci = vlan | (self.below(16) as u16) << 12;
            frame.extend([tpid.to_be_bytes(), tci.to_be_bytes()].concat());
        }
        match self.below(12) {
            0..=6 => self.add_ipv4(&mut frame),
            7..=10 => self.add_ipv6(&mut frame),
            _ => self.add_other(&mut frame),
        }
        self.spoil(&mut frame);
        frame
    }

    fn add_ipv4(&mut self, frame: &mut Vec<u8>) {
        let options = if self.one_in(4) { self.below(11) } else { 0 };
        let payload = self.below(100);
        let total = (20 + 4 * options + payload) as u16;
        // Fragments: more to come, in the middle, the last one.
        let fragment: u16 = self.of(&[0, 0, 0x4000, 0x2000, 0x2007, 0x0007]);
        let (ecn, protocol) = (self.below(4) as u8, self.of(&[1, 6, 17, 50]));
        let mut header = vec![0x45 + options as u8, ecn];
        header.extend([total.to_be_bytes(), [0, 1], fragment.to_be_bytes(), [64, protocol], [0, 0]].concat());
        header.extend([self.address4(), self.address4()].concat());
        header.extend(self.bytes(4 * options));
        let sum = header.chunks(2).map(|word| u32::from(word[0]) << 8 | u32::from(word[1])).sum::<u32>();
        let checksum = !((sum & 0xffff) + (sum >> 16)) as u16;
        header[10..12].copy_from_slice(&checksum.to_be_bytes());
        frame.extend([8, 0]);
        frame.extend(header);
        frame.extend(self.bytes(payload));
    }

    fn add_ipv6(&mut self, frame: &mut Vec<u8>) {
        // Hop by hop, routing, fragment, destination options, no more; then UDP, or whatever.
        let extensions: Vec<u8> = (0..self.below(4)).map(|_| self.of(&[0, 43, 44, 60, 59])).collect();
        let last = self.of(&[17, 6, 58]);
        let mut payload = Vec::new();
        for index in 0..extensions.len() {
            payload.push(extensions.get(index + 1).copied().unwrap_or(last));
            let units = self.of(&[0, 0, 0, 1, 31]);
            payload.push(units);
            payload.extend(self.bytes(6 + 8 * usize::from(units)));
        }
        let more = self.below(60);
        payload.extend(self.bytes(more));
        frame.extend([0x86, 0xdd, 0x60, (self.below(4) as u8) << 4, 0, 0]);
        frame.extend((payload.len() as u16).to_be_bytes());
        frame.extend([extensions.first().copied().unwrap_or(last), 64]);
        frame.extend([self.address6(), self.address6()].concat());
        frame.extend(payload);
    }

    fn add_other(&mut self, frame: &mut Vec<u8>) {
        // ARP, MPLS, an 802.3 length, a header of the other family.
        let ether_type: u16 = self.of(&[0x0806, 0x8847, 46, 0x0800, 0x86dd]);
        frame.extend(ether_type.to_be_bytes());
        let first = self.of(&[0x45, 0x46, 0x44, 0x60, 0x00]);
        let count = self.below(80);
        frame.push(first);
        frame.extend(self.bytes(count));
    }

    /// Most stay as they are; others are cut at any byte, have a byte changed, or end in what a header did not announce.
    fn spoil(&mut self, frame: &mut Vec<u8>) {
        match self.below(10) {
            0 | 1 => frame.truncate(self.below(frame.len() + 1)),
            2 => {
                let at = self.below(frame.len());
                frame[at] = self.below(256) as u8;
            }
            // Behind the Ethernet header lie version, header length, total length.
            3 if frame.len() > 20 => {
                let at = self.of(&[12, 13, 14, 16, 17, 18, 20]);
                frame[at] = self.of(&[0, 1, 0x41, 0x4f, 0x81, 0xff]);
            }
            4 => {
                let more = self.below(1_000);
                frame.extend(vec![0; more]);
            }
            _ => {}
        }
    }
}

#[test]
fn programs_and_policies_agree_on_frames_of_every_kind() {
    let _together = testnet::together();
    let Some(mut all) = twins() else { return };
    for (seed, twins) in (1..).zip(&mut all) {
        let mut numbers = Numbers(seed);
        let mut now = 5_000_000_000u64;
        for number in 0..FRAMES {
            let frame = numbers.frame();
            now += match numbers.below(40) {
                0..30 => numbers.below(50_000) as u64,
                30..38 => numbers.below(3_000_000) as u64,
                // Hours, and wrapping of the limiters' clocks.
                _ => numbers.below(20_000) as u64 * 1_000_000_000,
            };
            let late = if numbers.one_in(8) { numbers.below(20_000_000) as u64 } else { 0 };
            let packet = Packet {
                subject: numbers.of(&[Subject::Xdp, Subject::Tc]),
                fwmark: numbers.of(&[0, 0, 0, 7, 8, 9, u32::MAX]),
                now: Nanos(now - late),
                bytes: numbers.of(&[0, 0, 64, 1_500, 9_000, 65_535]),
                frame: &frame,
            };
            twins.offer(&packet);
            if number % 1_000 == 0 {
                twins.check_all();
            }
        }
        twins.check_all();
        let seen = twins.seen;
        // Otherwise the frames have missed what they are for.
        assert!(seen.verdicts.iter().all(|&count| count >= 5), "set {seed}: {seen:?}");
        assert!(seen.refused > 0 && seen.refused < u64::from(FRAMES) / 8, "set {seed}: {seen:?}");
        println!("set {seed}: {seen:?}");
    }
    assert!(all[2].seen.unclassified > u64::from(FRAMES) / 2, "{:?}", all[2].seen);
}

/// The fuzzer found each of the two helpers that mark in turn to write the other zero of one's complement.
#[test]
fn marks_leave_the_checksum_that_the_twin_expects() {
    let _together = testnet::together();
    let Some(mut all) = twins() else { return };
    let twins = &mut all[2];
    let edges = [0, 1, 2, 3, 0xfffc, 0xfffd, 0xfffe, 0xffff];
    let mut offered = 0;
    for checksum in edges.into_iter().chain((0..u16::MAX).step_by(251)) {
        for ecn in [1, 2, 3] {
            for tag in [&[][..], &[0x81, 0, 0, 5]] {
                let header = [0x45, ecn, 0, 20, 0, 1, 0, 0, 64, 17];
                let addresses = [10, 0, 0, 1, 192, 0, 2, 1];
                let parts = [&[2; 12], tag, &[8, 0], &header, &checksum.to_be_bytes(), &addresses];
                let frame = parts.concat();
                twins.restart();
                // Before the first the bucket has drained, so that only the second lifts it above its mark.
                for bytes in [1_500, 1_500] {
                    let now = Nanos(1_000_000_000);
                    twins.offer(&Packet { subject: Subject::Tc, fwmark: 0, now, bytes, frame: &frame });
                }
                offered += 1;
            }
        }
    }
    assert_eq!(twins.seen.verdicts, [offered, offered, 0]);
}

#[test]
fn the_fuzzers_seeds_agree() {
    let _together = testnet::together();
    let Some(mut twins) = twins() else { return };
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/seeds/limit_bpf");
    let mut seeds: Vec<_> = folder.read_dir().unwrap().map(|entry| entry.unwrap().path()).collect();
    seeds.sort();
    assert!(seeds.len() >= 4, "{} seeds: are they all there?", seeds.len());
    for seed in seeds {
        let before: Vec<_> = twins.iter().map(|twins| twins.seen).collect();
        offer_all(&mut twins, &std::fs::read(&seed).unwrap());
        let after: Vec<_> = twins.iter().map(|twins| twins.seen).collect();
        assert_ne!(before, after, "{}: it offers nothing", seed.display());
    }
    twins.iter().for_each(Twins::check_all);
}
