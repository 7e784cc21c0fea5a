//! Elimination of redundancy: what a link carried before need not be sent again, if the other end remembers it.
//!
//! The state is *global*: any packet may repeat what any other carried. That is the case that fits badly here (table 3.1: read and written with every
//! packet). Each core has a cache of its own and no other core's, so that with n cores a repetition is found only if it comes to the core that
//! had it; packets of one flow that are kept together find their own repetitions, and sprayed ones one n-th of them each.
//!
//! Payloads are remembered in a ring of bytes, and found by *anchors*: places whose fingerprint, of the 64 bytes before, has five zero bits
//! (one in 32 on average, the same places in the same bytes wherever they lie). From an anchor that is known, the match is
//! extended in both directions. Source: N. Spring and D. Wetherall, *A Protocol-Independent Technique for Eliminating Redundant Network Traffic*,
//! SIGCOMM 2000, §3; the fingerprint is the sum of Gear (W. Xia et al., *Ddelta*, 2014) in place of Rabin's.
//!
//! It changes no packet, for that needs a decoder at the other end: it counts what would be saved.

use std::sync::Arc;

use serde::Serialize;
use trueplane_units::Nanos;

use super::options::RedundancyOptions;
use crate::{Fit, Flows, LocalFlows, NetworkFunction, Packet, Verdict};

/// Bytes under a fingerprint: each is shifted out after 64 more.
const WINDOW: usize = 64;
/// Zero bits of an anchor's fingerprint, the highest ones, in which all 64 bytes count.
const ZEROS: u32 = 5;
/// Bytes that replace a match in a packet: a fingerprint of eight bytes, and its extent to the left and right (Spring and Wetherall,
/// §3.1).
const TOKEN: u64 = 12;
/// The largest payload fits into it.
const LEAST_CACHE: usize = 1 << 17;

/// A random number for each value of a byte: SplitMix64 (Steele et al., 2014) from zero.
const GEAR: [u64; 256] = {
    let mut table = [0; 256];
    let (mut at, mut state) = (0, 0_u64);
    while at < 256 {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let word = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        table[at] = word ^ (word >> 31);
        at += 1;
    }
    table
};

/// The function. See the module.
#[derive(Clone, Debug, Default)]
pub struct Redundancy {
    options: Arc<RedundancyOptions>,
}

impl Redundancy {
    /// With this much memory; 128 KiB at least.
    pub fn new(options: &RedundancyOptions) -> Self {
        Self { options: Arc::new(*options) }
    }
}

/// Numbers of bytes that were inspected and that were repeated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Savings {
    /// Bytes of payload.
    pub bytes: u64,
    /// Those of them that were there before.
    pub repeated: u64,
    /// Number of pieces in which they were, of 64 bytes or more each.
    pub matches: u64,
}

impl Savings {
    /// Bytes that would not have to be sent.
    pub fn saved(&self) -> u64 {
        self.repeated.saturating_sub(self.matches * TOKEN)
    }

    /// Adds another core's.
    pub fn merge(&mut self, other: &Self) {
        self.bytes += other.bytes;
        self.repeated += other.repeated;
        self.matches += other.matches;
    }
}

/// Payload that a core remembers.
pub struct Cache {
    ring: Box<[u8]>,
    /// Bytes that were ever put into it.
    end: u64,
    /// Anchors by fingerprint; a later one replaces an earlier one.
    anchors: Box<[Anchor]>,
    savings: Savings,
    /// Anchors of the packet under way.
    found: Vec<(u64, usize)>,
}

#[derive(Clone, Copy, Default)]
struct Anchor {
    fingerprint: u64,
    /// End of the 64 bytes, counted over all bytes that were ever put into the ring; 0 for none.
    end: u64,
}

impl Cache {
    fn new(bytes: usize) -> Self {
        let bytes = bytes.max(LEAST_CACHE);
        let anchors = (bytes >> ZEROS).next_power_of_two();
        Self {
            ring: vec![0; bytes].into(),
            end: 0,
            anchors: vec![Anchor::default(); anchors].into(),
            savings: Savings::default(),
            found: Vec::new(),
        }
    }

    /// Savings of this core so far.
    pub fn savings(&self) -> &Savings {
        &self.savings
    }

    /// Counts what of a payload is there, and remembers it. O(length).
    fn see(&mut self, payload: &[u8]) {
        self.savings.bytes += payload.len() as u64;
        let mut found = std::mem::take(&mut self.found);
        found.clear();
        found.extend(anchors(payload));
        let mut done = 0;
        for &(fingerprint, end) in &found {
            if end <= done {
                continue;
            }
            if let Some((from, to)) = self.extend(payload, fingerprint, end, done) {
                self.savings.repeated += (to - from) as u64;
                self.savings.matches += 1;
                done = to;
            }
        }
        self.remember(payload, &found);
        self.found = found;
    }

    /// The longest match, from `least` on, around the anchor whose bytes end at `end`.
    fn extend(&self, payload: &[u8], fingerprint: u64, end: usize, least: usize) -> Option<(usize, usize)> {
        let anchor = self.anchors[self.place(fingerprint)];
        let oldest = self.end.saturating_sub(self.ring.len() as u64);
        let begin = anchor.end.checked_sub(WINDOW as u64)?;
        if anchor.end == 0 || anchor.fingerprint != fingerprint || begin < oldest {
            return None;
        }
        let same = |at: usize, remembered: u64| payload[at] == self.byte(remembered);
        let window = end.checked_sub(WINDOW)?;
        let verified = (0..WINDOW).all(|at| same(window + at, begin + at as u64));
        if !verified || window < least {
            return None;
        }
        let room = (window - least).min((begin - oldest) as usize);
        let left = (1..=room).take_while(|&back| same(window - back, begin - back as u64)).count();
        let room = (payload.len() - end).min((self.end - anchor.end) as usize);
        let right = (0..room).take_while(|&on| same(end + on, anchor.end + on as u64)).count();
        Some((window - left, end + right))
    }

    fn remember(&mut self, payload: &[u8], found: &[(u64, usize)]) {
        if payload.len() > self.ring.len() {
            return;
        }
        for &(fingerprint, end) in found {
            self.anchors[self.place(fingerprint)] = Anchor { fingerprint, end: self.end + end as u64 };
        }
        let at = (self.end % self.ring.len() as u64) as usize;
        let (first, second) = payload.split_at(payload.len().min(self.ring.len() - at));
        self.ring[at..at + first.len()].copy_from_slice(first);
        self.ring[..second.len()].copy_from_slice(second);
        self.end += payload.len() as u64;
    }

    fn byte(&self, at: u64) -> u8 {
        self.ring[(at % self.ring.len() as u64) as usize]
    }

    /// Index of an anchor, from the bits of its fingerprint below those that are zero in all of them.
    fn place(&self, fingerprint: u64) -> usize {
        let bits = self.anchors.len().trailing_zeros();
        ((fingerprint << ZEROS) >> (64 - bits)) as usize
    }
}

/// The anchors of a payload: fingerprint, and where its bytes end.
fn anchors(payload: &[u8]) -> impl Iterator<Item = (u64, usize)> + '_ {
    let mut fingerprint = 0_u64;
    payload.iter().enumerate().filter_map(move |(at, &byte)| {
        fingerprint = (fingerprint << 1).wrapping_add(GEAR[usize::from(byte)]);
        (at + 1 >= WINDOW && fingerprint >> (64 - ZEROS) == 0).then_some((fingerprint, at + 1))
    })
}

impl NetworkFunction for Redundancy {
    type State = ();
    type Core = Cache;
    const FIT: Fit = Fit::Stateless;

    fn init(&self, _core: usize, _cores: usize) -> Cache {
        Cache::new(self.options.cache)
    }

    /// Not called: a function without state has no connection packets.
    fn connection_packets(
        &self,
        packets: &mut [Packet],
        _flows: &mut LocalFlows<'_, ()>,
        cache: &mut Cache,
        _now: Nanos,
    ) {
        handle(packets, cache);
    }

    fn regular_packets(
        &self,
        packets: &mut [Packet],
        _flows: &Flows<'_, ()>,
        cache: &mut Cache,
        _now: Nanos,
    ) {
        handle(packets, cache);
    }
}

fn handle(packets: &mut [Packet], cache: &mut Cache) {
    for packet in packets {
        cache.see(packet.payload());
        packet.set_verdict(Verdict::Forward);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn object(number: u64, length: usize) -> Vec<u8> {
        use rand_xoshiro::rand_core::{Rng, SeedableRng};
        let mut random = rand_xoshiro::Xoshiro256PlusPlus::seed_from_u64(number);
        let mut bytes = vec![0; length];
        random.fill_bytes(&mut bytes);
        bytes
    }

    #[test]
    fn what_comes_again_is_found_wherever_it_lies() {
        let mut cache = Cache::new(1 << 20);
        cache.see(&object(1, 1400));
        assert_eq!(cache.savings().repeated, 0);
        cache.see(&object(1, 1400));
        assert_eq!((cache.savings().repeated, cache.savings().matches), (1400, 1));
        // 800 bytes of it, between others.
        let mut within = object(2, 301);
        within.extend_from_slice(&object(1, 1400)[500..1300]);
        within.extend_from_slice(&object(3, 99));
        cache.see(&within);
        assert_eq!((cache.savings().repeated, cache.savings().matches), (2200, 2));
        assert_eq!(cache.savings().saved(), 2200 - 24);
    }

    #[test]
    fn what_was_long_ago_is_forgotten() {
        let mut cache = Cache::new(0);
        cache.see(&object(1, 1400));
        (2..200).for_each(|number| cache.see(&object(number, 1400)));
        cache.see(&object(1, 1400));
        assert_eq!(cache.savings().repeated, 0);
        cache.see(&object(150, 1400));
        assert_eq!(cache.savings().repeated, 1400);
        assert_eq!(cache.ring.len(), LEAST_CACHE);
    }

    proptest! {
        #[test]
        fn never_more_than_there_is(payloads in prop::collection::vec((0u64..4, 0usize..3000, 0usize..500), 0..60)) {
            let mut cache = Cache::new(0);
            let mut bytes = 0;
            for (number, length, skip) in payloads {
                let payload = object(number, 3500);
                let payload = &payload[skip..skip + length];
                bytes += payload.len() as u64;
                cache.see(payload);
            }
            let savings = *cache.savings();
            prop_assert_eq!(savings.bytes, bytes);
            prop_assert!(savings.repeated <= bytes && savings.repeated >= savings.matches * WINDOW as u64);
        }
    }
}
