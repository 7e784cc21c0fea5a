//! What a network function is.

use std::sync::Arc;

use trueplane_units::Nanos;

use crate::table::{FlowState, Removed};
use crate::{Flows, LocalFlows, Packet};

/// Constraint of a network function on the distribution of its packets to cores.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fit {
    /// Its packets may go to any core: it writes the state of flows with connection packets only.
    Sprayed,
    /// It has no state of flows at all: connection packets are handled where they arrive, as regular ones, and there are no tables.
    Stateless,
    /// It writes the state of a flow with every packet, so that a flow's packets have to stay on one core: why.
    WholeFlows(&'static str),
}

/// A network function: written once, run on any number of cores, on real interfaces, in memory and in simulation.
///
/// The value itself is the configuration, which all cores share and none changes; a [`Worker`](super::Worker) can exchange it between two batches.
/// What changes is either a flow's state (in tables that one core writes and all read), or a core's own ([`Core`](Self::Core), which no
/// other core sees).
///
/// Batches have [`MAX_BATCH`](super::MAX_BATCH) packets at most. A handler says of every packet what becomes of it
/// ([`Packet::set_verdict`]); of which it says nothing is dropped as [`Undecided`](super::Reason::Undecided).
pub trait NetworkFunction: Send + Sync {
    /// The state of a flow.
    type State: FlowState + Send + Sync + 'static;
    /// State that each core has for itself: a share of the ports, counters.
    type Core: Send + 'static;

    /// Constraint of the function on the distribution of its packets.
    const FIT: Fit = Fit::Sprayed;

    /// Initial state of core `core` of `cores`.
    fn init(&self, core: usize, cores: usize) -> Self::Core;

    /// Handles packets with SYN, FIN or RST, and what [regular packets](Self::regular_packets) handed over, on the designated core of their
    /// flows. Those of one flow come in the order in which they were handed over.
    fn connection_packets(
        &self,
        packets: &mut [Packet],
        flows: &mut LocalFlows<'_, Self::State>,
        core: &mut Self::Core,
        now: Nanos,
    );

    /// Handles all other packets, on any core.
    fn regular_packets(
        &self,
        packets: &mut [Packet],
        flows: &Flows<'_, Self::State>,
        core: &mut Self::Core,
        now: Nanos,
    );

    /// A flow of this core is over: it has been silent for too long. The function removes it, with its other direction and whatever else
    /// belongs to it; or leaves it, if the other direction is not silent.
    fn retire(
        &self,
        flow: Removed<Self::State>,
        flows: &mut LocalFlows<'_, Self::State>,
        core: &mut Self::Core,
    ) {
        let _ = core;
        if let Some(flow) = flows.claim(&flow.flow) {
            flows.remove_local_flow(flow);
        }
    }
}

/// A shared function is one.
impl<N: NetworkFunction> NetworkFunction for Arc<N> {
    type State = N::State;
    type Core = N::Core;
    const FIT: Fit = N::FIT;

    fn init(&self, core: usize, cores: usize) -> Self::Core {
        (**self).init(core, cores)
    }

    fn connection_packets(
        &self,
        packets: &mut [Packet],
        flows: &mut LocalFlows<'_, Self::State>,
        core: &mut Self::Core,
        now: Nanos,
    ) {
        (**self).connection_packets(packets, flows, core, now);
    }

    fn regular_packets(
        &self,
        packets: &mut [Packet],
        flows: &Flows<'_, Self::State>,
        core: &mut Self::Core,
        now: Nanos,
    ) {
        (**self).regular_packets(packets, flows, core, now);
    }

    fn retire(
        &self,
        flow: Removed<Self::State>,
        flows: &mut LocalFlows<'_, Self::State>,
        core: &mut Self::Core,
    ) {
        (**self).retire(flow, flows, core);
    }
}
