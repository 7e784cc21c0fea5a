//! A function with work: so many busy cycles for each packet, besides what the function itself costs (§3.4).

use trueplane_units::Nanos;

use crate::{Fit, Flows, LocalFlows, NetworkFunction, Packet, Removed, Verdict};

/// Keeps a core busy.
pub trait Busy: Send + Sync {
    /// Works for so many cycles.
    fn spend(&self, cycles: u64);
}

/// Does nothing: for drivers that know what work costs and need not do it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Idle;

impl Busy for Idle {
    fn spend(&self, _cycles: u64) {}
}

/// Any function, and so many busy cycles for every packet that it gives a verdict: where that happens, on whichever core. A packet that is
/// handed over costs nothing where it came from.
#[derive(Clone, Copy, Debug)]
pub struct Laden<N, B> {
    /// The function that is given work.
    pub function: N,
    /// Cycles of work for each packet.
    pub cycles: u64,
    /// Means of keeping a core busy.
    pub busy: B,
}

impl<N, B: Busy> Laden<N, B> {
    fn work(&self, packets: usize) {
        if self.cycles > 0 {
            (0..packets).for_each(|_| self.busy.spend(self.cycles));
        }
    }
}

impl<N: NetworkFunction, B: Busy> NetworkFunction for Laden<N, B> {
    type State = N::State;
    type Core = N::Core;
    const FIT: Fit = N::FIT;

    fn init(&self, core: usize, cores: usize) -> Self::Core {
        self.function.init(core, cores)
    }

    fn connection_packets(
        &self,
        packets: &mut [Packet],
        flows: &mut LocalFlows<'_, Self::State>,
        core: &mut Self::Core,
        now: Nanos,
    ) {
        self.function.connection_packets(packets, flows, core, now);
        self.work(packets.len());
    }

    fn regular_packets(
        &self,
        packets: &mut [Packet],
        flows: &Flows<'_, Self::State>,
        core: &mut Self::Core,
        now: Nanos,
    ) {
        self.function.regular_packets(packets, flows, core, now);
        self.work(packets.iter().filter(|packet| packet.verdict() != Verdict::HandOver).count());
    }

    fn retire(
        &self,
        flow: Removed<Self::State>,
        flows: &mut LocalFlows<'_, Self::State>,
        core: &mut Self::Core,
    ) {
        self.function.retire(flow, flows, core);
    }
}
