//! What users and attacker send, and when it comes.

use std::sync::Arc;

use trueplane_units::{BitsPerSec, Nanos};

use super::super::Error;
use super::tally::{Class, Ticket};
use crate::Packet;

/// A source sends at most so many different packets.
pub const MOST_PACKETS: usize = 1 << 20;

/// A source sends at most so fast.
pub const MOST_RATE: BitsPerSec = BitsPerSec(10_000_000_000_000);

/// Packets that are sent round and round, with the same time from each to the next.
#[derive(Clone, Debug)]
pub struct Source {
    /// The packets: their sizes are above zero, and `work` is what the scheduler is told.
    pub packets: Arc<[Packet]>,
    /// Rate over one round; 0 sends nothing.
    pub rate: BitsPerSec,
}

impl Source {
    /// Sends nothing.
    pub fn none() -> Self {
        Self { packets: Arc::from([]), rate: BitsPerSec(0) }
    }

    fn check(&self, whose: &str) -> Result<(), Error> {
        if self.rate.0 == 0 {
            return Ok(());
        }
        let count = self.packets.len();
        if !(1..=MOST_PACKETS).contains(&count) {
            return Err(Error::request(format!(
                "expected 1 to {MOST_PACKETS} packets of {whose}, got {count}"
            )));
        }
        if self.rate > MOST_RATE {
            return Err(Error::request(format!(
                "expected {whose} to send at most {MOST_RATE:#}, got {:#}",
                self.rate
            )));
        }
        match self.packets.iter().position(|packet| packet.bits == 0) {
            None => Ok(()),
            Some(number) => Err(Error::request(format!("packet {number} of {whose} has no bits"))),
        }
    }
}

/// Traffic that arrives at the processor, from users and the attacker.
#[derive(Clone, Debug)]
pub struct Traffic {
    innocent: Source,
    attack: Source,
}

impl Traffic {
    /// Both together.
    ///
    /// # Errors
    ///
    /// If a source that sends has no packets, or too many, or one of no bits, or is faster than [`MOST_RATE`].
    pub fn new(innocent: Source, attack: Source) -> Result<Self, Error> {
        innocent.check("users")?;
        attack.check("the attacker")?;
        Ok(Self { innocent, attack })
    }

    /// The packet of a ticket, as the scheduler knows it.
    #[inline]
    pub fn packet(&self, ticket: Ticket) -> Packet {
        let source = match ticket.class() {
            Class::Innocent => &self.innocent,
            Class::Attack => &self.attack,
        };
        source.packets[ticket.index()]
    }

    /// Its packets from time 0 on.
    pub(super) fn arrivals(&self) -> Arrivals {
        Arrivals { innocent: Stream::new(&self.innocent), attack: Stream::new(&self.attack) }
    }
}

/// The packets in the order in which they come; of two at the same time, that of the user first.
#[derive(Clone, Debug)]
pub(super) struct Arrivals {
    innocent: Stream,
    attack: Stream,
}

impl Arrivals {
    /// The next packet, if it comes before this time.
    #[inline]
    pub(super) fn next_before(&mut self, before: Nanos) -> Option<Ticket> {
        let (class, stream) = if self.innocent.at <= self.attack.at {
            (Class::Innocent, &mut self.innocent)
        } else {
            (Class::Attack, &mut self.attack)
        };
        (stream.at < before.0).then(|| Ticket::new(class, stream.advance()))
    }
}

/// Time and index of the next packet of a source.
#[derive(Clone, Debug)]
struct Stream {
    /// Time of the next packet in ns, and its fraction in units of 2^−64 ns. One word is exact enough: after an hour of packets the error
    /// is below 1 ns.
    at: u64,
    fraction: u64,
    step: u64,
    step_fraction: u64,
    index: u32,
    count: u32,
}

impl Stream {
    fn new(source: &Source) -> Self {
        // Checked: both fit with room to spare.
        let count = u32::try_from(source.packets.len()).unwrap_or(u32::MAX);
        let bits: u128 = source.packets.iter().map(|packet| u128::from(packet.bits)).sum();
        let per_packet = u128::from(source.rate.0) * u128::from(count);
        let never = Self { at: u64::MAX, fraction: 0, step: 0, step_fraction: 0, index: 0, count };
        let Some(step) = (bits * 1_000_000_000).checked_div(per_packet) else { return never };
        let rest = bits * 1_000_000_000 % per_packet;
        let step = u64::try_from(step).unwrap_or(u64::MAX);
        // Rounded up, so that what comes at a whole nanosecond does not come one too early. It is below 2^64 as the divisor is.
        Self { at: 0, step, step_fraction: (rest << 64).div_ceil(per_packet) as u64, ..never }
    }

    /// Goes on to the next packet; returns which it was.
    #[inline]
    fn advance(&mut self) -> u32 {
        let (fraction, carry) = self.fraction.overflowing_add(self.step_fraction);
        self.fraction = fraction;
        self.at = self.at.saturating_add(self.step).saturating_add(u64::from(carry));
        let index = self.index;
        self.index = if index + 1 == self.count { 0 } else { index + 1 };
        index
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(sizes: &[u32], rate: u64) -> Source {
        let packet = |&bits: &u32| Packet { flow: 0, bits, work: Nanos(1) };
        Source { packets: sizes.iter().map(packet).collect(), rate: BitsPerSec(rate) }
    }

    #[test]
    fn packets_come_evenly_at_their_rate() {
        // 1000 bits on average at 3 Gbit/s: every 333.3… ns; of the attacker one every 1000 ns.
        let traffic = Traffic::new(source(&[500, 1500], 3_000_000_000), source(&[512], 512_000_000)).unwrap();
        let mut arrivals = traffic.arrivals();
        let mut seen = Vec::new();
        for now in 0..=2_000 {
            while let Some(ticket) = arrivals.next_before(Nanos(now + 1)) {
                seen.push((now, ticket.class(), ticket.index()));
            }
        }
        use Class::{Attack, Innocent};
        let expected = [
            (0, Innocent, 0),
            (0, Attack, 0),
            (333, Innocent, 1),
            (666, Innocent, 0),
            (1_000, Innocent, 1),
            (1_000, Attack, 0),
        ];
        assert_eq!(seen[..6], expected);
        let mut arrivals = traffic.arrivals();
        let count =
            |arrivals: &mut Arrivals, end| std::iter::from_fn(|| arrivals.next_before(Nanos(end))).count();
        assert_eq!(count(&mut arrivals, 3_000_000_000), 9_000_000 + 3_000_000);
    }

    #[test]
    fn what_cannot_be_sent_is_refused() {
        assert!(
            Traffic::new(Source::none(), Source::none())
                .unwrap()
                .arrivals()
                .next_before(Nanos::MAX)
                .is_none()
        );
        let refusal = |innocent| Traffic::new(innocent, Source::none()).unwrap_err().to_string();
        assert_eq!(refusal(source(&[], 1)), "expected 1 to 1048576 packets of users, got 0");
        assert_eq!(refusal(source(&[1, 0], 1)), "packet 1 of users has no bits");
        assert_eq!(
            refusal(source(&[1], u64::MAX)),
            "expected users to send at most 10Tbps, got 18446744073709551615bps"
        );
    }
}
