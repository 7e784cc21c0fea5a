//! An attack as a few numbers, and the packets that these stand for.

use std::fmt;
use std::num::NonZeroU64;
use std::str::FromStr;
use std::sync::Arc;

use rand::RngExt as _;
use rand_xoshiro::Xoshiro256PlusPlus;
use trueplane_study::Error;
use trueplane_units::Nanos;

use crate::theory::Attack;
use crate::traffic::{FIRST_ATTACK_FLOW, Load, Offered, Pace, Pool, Traffic};

/// A mixture has at most so many kinds of packets.
pub(in super::super) const MOST_PARTS: usize = 3;

/// Packets of one part take turns with so many flows at most; so many names each part has.
const MOST_FLOWS: u64 = 1 << 32;

const FRESH: &str = "one for every packet";
const OWN: &str = "their own";

/// Space of the packets that an attacker can send.
#[derive(Clone, Debug)]
pub struct Space<P> {
    bits: (u32, u32),
    most_job: Nanos,
    pool: Pool<P>,
}

/// Flows to which the packets of a part belong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Flows {
    /// A new flow for every packet.
    Fresh,
    /// This many flows in turn.
    Few(NonZeroU64),
    /// The flows that the packets of the pool have.
    Own,
}

/// Text of the flows in documents.
impl fmt::Display for Flows {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Flows::Fresh => f.pad(FRESH),
            Flows::Few(count) => f.pad(&count.to_string()),
            Flows::Own => f.pad(OWN),
        }
    }
}

impl FromStr for Flows {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            FRESH => Ok(Flows::Fresh),
            OWN => Ok(Flows::Own),
            _ => {
                let few = text.parse().ok().filter(|count: &NonZeroU64| count.get() <= MOST_FLOWS);
                few.map(Flows::Few)
                    .ok_or_else(|| format!("expected \"{FRESH}\", \"{OWN}\" or \"1\" to \"{MOST_FLOWS}\""))
            }
        }
    }
}

/// Kind of an attack packet.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    /// Made. A search makes only jobs that the scheduler knows.
    Made {
        /// Its size.
        bits: u32,
        /// Its job.
        job: Nanos,
        /// Time that the scheduler expects.
        estimate: Nanos,
    },
    /// Number so and so of the pool, again and again. What an application makes of a packet hangs on those before it: if they are
    /// real, those after it follow in turn.
    Pool(usize),
}

/// One kind of packets in a mixture.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Part {
    /// Packets of this kind in a round, from 1 on.
    pub packets: u32,
    /// Kind of packets.
    pub kind: Kind,
    /// Flows to which the packets belong.
    pub flows: Flows,
}

/// An attack: a mixture, sent in bursts.
#[derive(Clone, Debug, PartialEq)]
pub struct Pattern {
    /// The mixture; not empty.
    pub parts: Vec<Part>,
    /// Number of bursts; 1 and a duty of 1 is an even rate.
    pub bursts: u32,
    /// Share of the time in which it sends, above 0 and at most 1.
    pub duty: f64,
    /// Place of a burst in its period: 0 at the start, 1 at the end.
    pub phase: f64,
}

impl Pattern {
    /// Packets that are all the same, at an even rate and each a flow of its own.
    pub fn alike(Attack { bits, job, estimate }: Attack) -> Self {
        let part = Part { packets: 1, kind: Kind::Made { bits, job, estimate }, flows: Flows::Fresh };
        Self { parts: vec![part], bursts: 1, duty: 1.0, phase: 0.0 }
    }

    /// The attack that it is [`alike`](Self::alike) to; `None` if it is more than that.
    pub fn as_alike(&self) -> Option<Attack> {
        match *self.parts {
            [Part { kind: Kind::Made { bits, job, estimate }, flows: Flows::Fresh, .. }]
                if self.bursts == 1 && self.duty >= 1.0 =>
            {
                Some(Attack { bits, job, estimate })
            }
            _ => None,
        }
    }

    /// The packets that bring at most `rate` bits per nanosecond until `end`, and at most `most` of them.
    pub fn traffic<P: Copy>(&self, space: &Space<P>, rate: f64, end: Nanos, most: u64) -> Traffic<P> {
        let mut budget = (rate * end.0 as f64) as u64;
        let (mut packets, mut sent) = (Vec::new(), 0u64);
        'rounds: loop {
            let before = packets.len();
            for (index, part) in self.parts.iter().enumerate() {
                for _ in 0..part.packets {
                    let Some(offered) = part.packet(space, index as u64, sent) else { continue };
                    if u64::from(offered.bits) > budget || packets.len() as u64 == most {
                        break 'rounds;
                    }
                    budget -= u64::from(offered.bits);
                    packets.push(offered);
                    sent += 1;
                }
            }
            if packets.len() == before {
                break;
            }
        }
        let count = packets.len() as u64;
        let times: Arc<[Nanos]> = (0..count).map(|number| self.at(number, count, end)).collect();
        Traffic { packets: packets.into(), pace: Pace::At(times), count, fresh_flows: false }
    }

    /// Time at which packet `number` of `count` is sent.
    fn at(&self, number: u64, count: u64, end: Nanos) -> Nanos {
        let progress = number as f64 / count as f64 * f64::from(self.bursts);
        let (burst, within) = (progress.floor(), progress.fract());
        let offset = self.phase * (1.0 - self.duty) + within * self.duty;
        Nanos(((burst + offset) / f64::from(self.bursts) * end.0 as f64) as u64)
    }
}

impl Part {
    /// The packet number `sent` of an attack, made by its part number `index`; `None` if the pool has none.
    fn packet<P: Copy>(&self, space: &Space<P>, index: u64, sent: u64) -> Option<Offered<P>> {
        let offered = match self.kind {
            Kind::Made { bits, job, estimate } => {
                Offered { flow: 0, bits, load: Load::Given { job, estimate } }
            }
            Kind::Pool(first) => {
                let number = |number: u64| {
                    let packets = &space.pool.packets;
                    packets.get(number.checked_rem(packets.len() as u64)? as usize).copied()
                };
                let first = first as u64;
                match number(first)? {
                    offered @ Offered { load: Load::Given { .. }, .. } => offered,
                    _ => number(first.wrapping_add(sent))?,
                }
            }
        };
        let flow = match self.flows {
            Flows::Fresh => FIRST_ATTACK_FLOW + sent,
            // Parts do not share flows, nor with those of their own packet each.
            Flows::Few(flows) => FIRST_ATTACK_FLOW + (1 << 62) + (index << 32) + sent % flows,
            Flows::Own => offered.flow,
        };
        Some(Offered { flow, ..offered })
    }
}

impl<P> Space<P> {
    /// Packets of sizes from the first to the second of `bits` with jobs up to `most_job`, 0 if no job can be chosen; and those of `pool`,
    /// which the attacker has and can send as they are.
    ///
    /// # Errors
    /// If there is no such size, or nothing to send.
    pub fn new(bits: (u32, u32), most_job: Nanos, pool: Pool<P>) -> Result<Self, Error> {
        if bits.0 == 0 || bits.0 > bits.1 {
            let (least, most) = bits;
            return Err(Error::Parameters(format!(
                "expected sizes of attack packets above zero, the smallest first, got {least} to {most} bits"
            )));
        }
        if most_job == Nanos(0) && pool.packets.is_empty() {
            return Err(Error::Parameters("expected a longest attack job above zero, got 0".to_owned()));
        }
        Ok(Self { bits, most_job, pool })
    }

    /// Any attack: sizes and jobs evenly over their logarithms, as nobody knows the order of magnitude that matters.
    pub(super) fn draw(&self, random: &mut Xoshiro256PlusPlus) -> Pattern {
        let parts = random.random_range(1..=MOST_PARTS);
        let parts = (0..parts).map(|_| self.draw_part(random)).collect();
        let (bursts, duty) = if random.random_range(0..2) == 0 {
            (1, 1.0)
        } else {
            (1 << random.random_range(0..=8), random.random_range(0.05..=1.0))
        };
        Pattern { parts, bursts, duty, phase: random.random_range(0.0..=1.0) }
    }

    fn draw_part(&self, random: &mut Xoshiro256PlusPlus) -> Part {
        let (pool, made) = (!self.pool.packets.is_empty(), self.most_job > Nanos(0));
        let kind = if pool && (!made || random.random_range(0..2) == 0) {
            Kind::Pool(random.random_range(0..self.pool.packets.len()))
        } else {
            let bits = magnitude(u64::from(self.bits.0), u64::from(self.bits.1), random);
            let job = Nanos(magnitude(1, self.most_job.0.max(1), random));
            Kind::Made { bits: bits as u32, job, estimate: job }
        };
        Part { packets: 1 << random.random_range(0..4), kind, flows: self.draw_flows(kind, random) }
    }

    /// Draws the flows of a part. The work of a packet from the pool may depend on its flow; one whose job is given can belong to any
    /// flow but a user's.
    fn draw_flows(&self, kind: Kind, random: &mut Xoshiro256PlusPlus) -> Flows {
        let Pool { packets, fresh_flows } = &self.pool;
        let real = |number: usize| matches!(packets.get(number), Some(Offered { load: Load::Real(_), .. }));
        match random.random_range(0..3) {
            _ if matches!(kind, Kind::Pool(number) if real(number)) && *fresh_flows => Flows::Fresh,
            _ if matches!(kind, Kind::Pool(number) if real(number)) => Flows::Own,
            0 => Flows::Few(NonZeroU64::MIN.saturating_add((1 << random.random_range(0..=12)) - 1)),
            _ => Flows::Fresh,
        }
    }

    /// Something like `parent`.
    pub(super) fn vary(&self, parent: &Pattern, random: &mut Xoshiro256PlusPlus) -> Pattern {
        let mut pattern = parent.clone();
        let chosen = random.random_range(0..pattern.parts.len());
        match random.random_range(0..8) {
            0 if pattern.parts.len() < MOST_PARTS => pattern.parts.push(self.draw_part(random)),
            1 if pattern.parts.len() > 1 => {
                pattern.parts.swap_remove(chosen);
            }
            2 => pattern.parts[chosen].flows = self.draw_flows(pattern.parts[chosen].kind, random),
            3 => pattern.parts[chosen].packets = 1 << random.random_range(0..4),
            4 => (pattern.bursts, pattern.duty) = (1, 1.0),
            5 => {
                pattern.bursts = 1 << random.random_range(0..=8);
                pattern.duty = random.random_range(0.05..=1.0);
                pattern.phase = random.random_range(0.0..=1.0);
            }
            _ => self.vary_kind(&mut pattern.parts[chosen].kind, random),
        }
        pattern
    }

    /// A little or a lot more or less.
    fn vary_kind(&self, kind: &mut Kind, random: &mut Xoshiro256PlusPlus) {
        match kind {
            Kind::Pool(first) => *first = random.random_range(0..self.pool.packets.len().max(1)),
            Kind::Made { bits, job, estimate } => {
                let reach: f64 = [0.02, 0.2, 1.5][random.random_range(0..3)];
                let mut factor = || random.random_range(-reach..=reach).exp();
                let size = (f64::from(*bits) * factor()).round();
                *bits = size.clamp(f64::from(self.bits.0), f64::from(self.bits.1)) as u32;
                *job =
                    Nanos((job.0 as f64 * factor()).round().clamp(1.0, self.most_job.0.max(1) as f64) as u64);
                // Nobody knows what the scheduler would make of another job.
                *estimate = *job;
            }
        }
    }
}

/// A whole number between the two, its logarithm even.
fn magnitude(least: u64, most: u64, random: &mut Xoshiro256PlusPlus) -> u64 {
    let logarithm = random.random_range((least as f64).ln()..=(most as f64).ln());
    (logarithm.exp().round() as u64).clamp(least, most)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sent<P: Copy>(kind: Kind, pool: &[Offered<P>]) -> Vec<Offered<P>> {
        let space = Space::new((512, 12_000), Nanos(1), Pool { packets: pool.into(), fresh_flows: false })
            .expect("it makes sense");
        let parts = vec![Part { packets: 2, kind, flows: Flows::Own }];
        let pattern = Pattern { parts, bursts: 1, duty: 1.0, phase: 0.0 };
        pattern.traffic(&space, 1.0, Nanos(2_048), u64::MAX).packets.to_vec()
    }

    #[test]
    fn a_packet_of_a_given_job_is_sent_again_and_real_ones_in_turn() {
        let given = |flow| {
            let load: Load<u8> = Load::Given { job: Nanos(9), estimate: Nanos(flow) };
            Offered { flow, bits: 512, load }
        };
        assert_eq!(sent(Kind::Pool(1), &[given(1), given(2), given(3)]), [given(2); 4]);
        let real = |flow| Offered { flow, bits: 512, load: Load::Real(flow) };
        assert_eq!(sent(Kind::Pool(1), &[1, 2, 3].map(real)), [2, 3, 1, 2].map(real));
    }

    #[test]
    fn an_attack_keeps_its_estimate() {
        let attack = Attack { bits: 512, job: Nanos(50), estimate: Nanos(7) };
        let alike = Pattern::alike(attack);
        assert_eq!(alike.as_alike(), Some(attack));
        assert_eq!(Pattern { bursts: 2, ..alike }.as_alike(), None);
        let Attack { bits, job, estimate } = attack;
        let packets = sent::<u8>(Kind::Made { bits, job, estimate }, &[]);
        assert_eq!(packets, [Offered { flow: 0, bits, load: Load::Given { job, estimate } }; 4]);
    }
}
