//! Packets at random times.

use rand::RngExt as _;
use rand_distr::{Distribution as _, Exp1};
use rand_xoshiro::Xoshiro256PlusPlus;
use trueplane_units::Nanos;

use super::{Character, FRACTION_BITS, Imagined, stream, whole};
use crate::port::Traffic;
use crate::rank::PacketMeta;

/// A Poisson process of packets of one length, without end: exponential gaps, each packet of a flow drawn evenly among some.
///
/// With service of a constant length this is the M/D/1 queue of the textbooks.
pub struct Poisson {
    packet: PacketMeta,
    flows: u32,
    random: Xoshiro256PlusPlus,
    character: Option<Character>,
    /// The mean gap, and when the next packet comes, in fractions of a nanosecond.
    mean: f64,
    next: u128,
}

impl Poisson {
    /// Packets of `flows` flows; with `by_policy`, packets also get what rank policies look at.
    pub fn new(imagined: &Imagined, flows: u32, by_policy: bool) -> Self {
        let mean = f64::from(imagined.packet_bytes) * 8e9 / imagined.offered.0.max(1) as f64;
        Self {
            packet: PacketMeta { bytes: imagined.packet_bytes, ..PacketMeta::default() },
            flows: flows.max(1),
            random: stream(imagined.seed, 0),
            character: by_policy.then(|| Character::new(imagined.seed, imagined.slack)),
            mean: mean * (1u64 << FRACTION_BITS) as f64,
            next: 0,
        }
    }
}

impl Traffic for Poisson {
    #[inline]
    fn next(&mut self) -> Option<(Nanos, PacketMeta)> {
        let gap: f64 = Exp1.sample(&mut self.random);
        self.next += (self.mean * gap) as u128;
        let now = whole(self.next)?;
        let flow = self.random.random_range(0..self.flows).into();
        let mut packet = PacketMeta { flow, ..self.packet };
        if let Some(character) = &mut self.character {
            let (class, slack) = character.of(flow);
            packet.class = class;
            packet.slack = slack;
            packet.deadline = now.after(slack);
            packet.excess_wait_ns = character.excess_wait_ns();
        }
        Some((now, packet))
    }
}
