//! Innocent and attack packets, and when they come.

use std::sync::Arc;

use trueplane_units::Nanos;

/// Names of the attacker's flows begin here, where no number that users have does.
pub const FIRST_ATTACK_FLOW: u64 = 1 << 63;

/// Work of serving a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Load<P> {
    /// Fixed work, with a fixed estimate.
    Given {
        /// Time that serving the packet takes.
        job: Nanos,
        /// Time that the scheduler expects.
        estimate: Nanos,
    },
    /// Work that the application determines for this packet.
    Real(P),
}

/// A packet, but for the time when it comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Offered<P> {
    /// Name of its flow.
    pub flow: u64,
    /// Its size on the wire, in bits; above zero.
    pub bits: u32,
    /// Load that serving the packet is.
    pub load: Load<P>,
}

/// Arrival times of packets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Pace {
    /// Packet k, from 0 on, arrives at ⌊k × `nanos` ÷ `packets`⌋.
    Even {
        /// Number of packets that arrive in `nanos`; above zero.
        packets: u64,
        /// Time in which they arrive, in ns.
        nanos: u64,
    },
    /// Number k at the k-th of these, which never fall.
    At(Arc<[Nanos]>),
}

/// Packets that an attacker has.
#[derive(Clone, Debug)]
pub struct Pool<P> {
    /// The packets.
    pub packets: Arc<[Offered<P>]>,
    /// True if every packet that is sent is a flow of its own, whatever the packets say.
    pub fresh_flows: bool,
}

impl<P> Pool<P> {
    /// No packets.
    pub fn none() -> Self {
        Self { packets: Arc::from([]), fresh_flows: false }
    }
}

/// Packets that come in an order of their own, round and round if there are more to come than there are.
#[derive(Clone, Debug)]
pub struct Traffic<P> {
    /// The packets; not none, unless `count` is 0.
    pub packets: Arc<[Offered<P>]>,
    /// Times at which packets come.
    pub pace: Pace,
    /// Number of packets that come.
    pub count: u64,
    /// Whether every packet that comes is a flow of its own: its name is that of the packet plus how many came before. Otherwise flows
    /// are those of the packets.
    pub fresh_flows: bool,
}

impl<P: Copy> Traffic<P> {
    /// No packets.
    pub fn none() -> Self {
        Self {
            packets: Arc::from([]),
            pace: Pace::Even { packets: 1, nanos: 0 },
            count: 0,
            fresh_flows: false,
        }
    }

    /// Arrival time of packet `number`; `None` if there is none.
    #[inline]
    pub fn at(&self, number: u64) -> Option<Nanos> {
        if number >= self.count {
            return None;
        }
        match &self.pace {
            Pace::Even { packets, nanos } => {
                // Dividing 128 bits takes longer than all the rest of an arrival.
                let at = number.checked_mul(*nanos).map_or_else(
                    || u64::try_from(u128::from(number) * u128::from(*nanos) / u128::from(*packets)),
                    |product| Ok(product / packets),
                );
                Some(Nanos(at.unwrap_or(u64::MAX)))
            }
            Pace::At(times) => times.get(usize::try_from(number).ok()?).copied(),
        }
    }

    /// Packet `number`, which is less than the count.
    #[inline]
    pub fn packet(&self, number: u64) -> Offered<P> {
        let offered = self.packets[(number % self.packets.len() as u64) as usize];
        let flow = if self.fresh_flows { offered.flow + number } else { offered.flow };
        Offered { flow, ..offered }
    }
}
