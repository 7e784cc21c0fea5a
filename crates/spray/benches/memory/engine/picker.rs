//! Who chooses a packet's core.

use trueplane_units::Nanos;

use trueplane_spray::Steering;
use trueplane_spray::dispatch::{Arrival, Dispatch, DispatchOptions, RoundRobin, dispatcher};
use trueplane_spray::packet::Packet;
use trueplane_spray::system::{StateName, SystemName};

/// Chooses the core of every packet.
pub(crate) enum Picker {
    /// A policy, which sees what a card sees.
    Card(Box<dyn Dispatch>),
    /// Software that sees all of the packet: what an error of ICMP quotes, and the identifier of an echo.
    Designated(Box<Steering>),
}

impl Picker {
    /// The picker of a system.
    ///
    /// Locked: packets in turns to all cores, one table for all of them, and one lock: for every batch of lookups, and for connection packets,
    /// which are handled where they are. Sharded: all packets of a flow to its designated core by software. Scr: packets in turns to all cores,
    /// and all of the state on each of them: every core handles all packets in the same order, those of other cores without work and without
    /// a result.
    pub(crate) fn of(system: SystemName, cores: usize, options: &DispatchOptions) -> Self {
        match system {
            SystemName::Dispatch(name) => Self::Card(dispatcher(name, cores, options)),
            SystemName::State(StateName::Locked | StateName::Scr) => {
                Self::Card(Box::new(RoundRobin::new(cores)))
            }
            SystemName::State(StateName::Sharded) => Self::Designated(Box::new(Steering::new(cores))),
        }
    }

    #[inline]
    pub(crate) fn core(&mut self, packet: &Packet, now: Nanos) -> usize {
        match self {
            Self::Card(policy) => policy.core(&Arrival::of(packet), now),
            Self::Designated(steering) => packet.flow().map_or(0, |flow| steering.designated(flow)),
        }
    }
}
