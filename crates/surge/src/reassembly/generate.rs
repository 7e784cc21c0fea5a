//! Flows that are made up: innocent ones, a few of whose segments are late, and the attack.

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use trueplane_study::Error;
use trueplane_units::Nanos;

use crate::segments::{MOST_BYTES, Made, Segments, Tcp};

/// The shortest Ethernet frame, with its checksum.
pub const LEAST_FRAME: u32 = 64;

/// Bytes of a frame besides payload: 14 bytes of Ethernet, 20 of IPv4, 20 of TCP without options, 4 of checksum.
pub const HEADERS: u32 = 58;

/// Segments are held in memory: so many of them at most.
pub const MOST_SEGMENTS: u64 = 1 << 28;

/// Innocent flows, drawn.
///
/// Every flow opens with a SYN and sends its segments without loss. Each segment is late with some probability: up to so many later
/// ones of its flow overtake it. Packets of flows are mixed at random, and all flows go on at the same time.
#[derive(Clone, Debug, PartialEq)]
pub struct Innocent {
    /// Number of flows.
    pub flows: u32,
    /// Segments with payload that each sends.
    pub packets: u32,
    /// Frames on the wire in bytes, with their checksum, 64 or more, and how often each comes compared with the others.
    pub sizes: Vec<(u32, u32)>,
    /// Probability that a segment is late, from 0 to 1.
    pub late: f64,
    /// Most later ones that overtake it: 1 to so many, each as likely.
    pub overtaken: u32,
    /// Number from which random draws begin.
    pub seed: u64,
}

impl Default for Innocent {
    /// 1000 flows of 100 segments. Their sizes have two peaks as on the Internet and a mean of 752 bytes; one segment in a hundred is
    /// late, by up to three others.
    fn default() -> Self {
        let sizes = vec![(64, 4), (594, 2), (1518, 4)];
        Self { flows: 1000, packets: 100, sizes, late: 0.01, overtaken: 3, seed: 1 }
    }
}

impl Innocent {
    /// The segments, in the order in which they come; all times are zero.
    ///
    /// # Errors
    ///
    /// If there would be none or too many, a frame is too short or too long, all weights are zero, or `late` is no probability.
    pub fn segments(&self) -> Result<Segments, Error> {
        self.check()?;
        let mut random = Xoshiro256PlusPlus::seed_from_u64(self.seed);
        let mut flows: Vec<Vec<Made>> = (0..self.flows).map(|_| self.flow(&mut random)).collect();
        let mut made = Vec::with_capacity(flows.iter().map(Vec::len).sum());
        while !flows.is_empty() {
            let chosen = random.random_range(0..flows.len());
            made.extend(flows[chosen].pop());
            if flows[chosen].is_empty() {
                flows.swap_remove(chosen);
            }
        }
        Ok(Segments::made("innocent flows", made.into_iter().map(|made| (made, Vec::new()))))
    }

    /// The segments of a flow, the last that comes first.
    fn flow(&self, random: &mut Xoshiro256PlusPlus) -> Vec<Made> {
        // Users have names that an attacker does not choose.
        let name: u64 = random.random();
        let isn: u32 = random.random();
        let mut seq = isn.wrapping_add(1);
        // A late one comes after the one whose place it takes.
        let mut ordered = Vec::with_capacity(self.packets as usize);
        for position in 0..u64::from(self.packets) {
            let frame = self.size(random);
            let delay =
                if random.random_bool(self.late) { random.random_range(1..=self.overtaken) } else { 0 };
            let tcp = Tcp { seq, ..Tcp::default() };
            let made = segment(name, frame, frame - HEADERS, tcp);
            seq = seq.wrapping_add(made.length);
            ordered.push((position + u64::from(delay), delay > 0, made));
        }
        ordered.sort_by_key(|&(position, is_late, _)| (position, is_late));
        let syn = segment(name, LEAST_FRAME, 0, Tcp { seq: isn, syn: true, ..Tcp::default() });
        let mut made: Vec<Made> =
            std::iter::once(syn).chain(ordered.into_iter().map(|late| late.2)).collect();
        made.reverse();
        made
    }

    /// A size, drawn.
    fn size(&self, random: &mut Xoshiro256PlusPlus) -> u32 {
        let total = self.sizes.iter().map(|&(_, weight)| u64::from(weight)).sum();
        let mut drawn = random.random_range(0..total);
        for &(frame, weight) in &self.sizes {
            match drawn.checked_sub(u64::from(weight)) {
                Some(rest) => drawn = rest,
                None => return frame,
            }
        }
        LEAST_FRAME
    }

    fn check(&self) -> Result<(), Error> {
        let wrong = |problem: String| Err(Error::Parameters(problem));
        check_count(self.flows, self.packets)?;
        if let Some((frame, _)) =
            self.sizes.iter().find(|(frame, _)| !(LEAST_FRAME..=MOST_BYTES).contains(frame))
        {
            return wrong(format!("expected frames of {LEAST_FRAME} to {MOST_BYTES} bytes, got {frame}"));
        }
        if self.sizes.iter().all(|&(_, weight)| weight == 0) {
            return wrong("expected sizes of frames with weights above zero, got none".to_owned());
        }
        if !(0.0..=1.0).contains(&self.late) {
            return wrong(format!(
                "expected a probability from 0 to 1 that a segment is late, got {}",
                self.late
            ));
        }
        if self.overtaken == 0 {
            return wrong("expected late segments to be overtaken by 1 or more, got 0".to_owned());
        }
        Ok(())
    }
}

/// The attack on a reassembler: early bytes with a gap before each.
///
/// Every flow opens with a SYN at sequence number ISN, which makes the reassembler wait for ISN + 1. Then come `per_flow` segments with
/// one byte each, at ISN + 2, ISN + 4, …: the i-th, from 0, finds i ranges in the list and passes all of them, so that a flow takes
/// N(N − 1)/2 steps. Flows take turns, packet by packet. Traffic that goes round again starts over with the SYN.
///
/// All packets are 64-byte frames, which hold up to six bytes of payload; one is enough. A SYN from an address that is not the
/// attacker's will do, since the reassembler sees only one direction. Source: Atre 2025 §3.6.1, which counts the same sum for N
/// segments and leaves out the one that opens the flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Attack {
    /// Number of flows that take turns.
    pub flows: u32,
    /// Segments with a byte that each sends before it starts over. With more than half the window in bytes the reassembler drops the
    /// flow, which is then opened by the next segment.
    pub per_flow: u32,
    /// Number from which draws of names and first sequence numbers begin.
    pub seed: u64,
}

impl Attack {
    /// The packets of one round, in the order in which they come; all times are zero.
    ///
    /// # Errors
    ///
    /// If there would be none, or too many.
    pub fn segments(&self) -> Result<Segments, Error> {
        check_count(self.flows, self.per_flow)?;
        let mut random = Xoshiro256PlusPlus::seed_from_u64(self.seed);
        let flows: Vec<(u64, u32)> = (0..self.flows).map(|_| (random.random(), random.random())).collect();
        let turns = (0..=self.per_flow).flat_map(|turn| flows.iter().map(move |&flow| (turn, flow)));
        let made = turns.map(|(turn, (name, isn))| {
            let tcp = Tcp { seq: isn.wrapping_add(turn.wrapping_mul(2)), syn: turn == 0, ..Tcp::default() };
            (segment(name, LEAST_FRAME, u32::from(turn > 0), tcp), Vec::new())
        });
        Ok(Segments::made("attack", made))
    }
}

fn segment(flow: u64, frame: u32, length: u32, tcp: Tcp) -> Made {
    Made { at: Nanos(0), flow, bits: frame * 8, length, tcp: Some(tcp) }
}

fn check_count(flows: u32, packets: u32) -> Result<(), Error> {
    let segments = u64::from(flows) * (u64::from(packets) + 1);
    if flows == 0 || packets == 0 || segments > MOST_SEGMENTS {
        return Err(Error::Parameters(format!(
            "expected flows and packets of each for 1 to {MOST_SEGMENTS} segments in memory, got {flows} flows of {packets}"
        )));
    }
    Ok(())
}
