//! What a packet costs the processor, and what it is thought to cost before it is served.

use trueplane_units::Nanos;

/// A processor whose packets take unequal time.
///
/// Its state changes with every packet that it serves, in the order of service.
pub trait Application {
    /// Name by which the application knows a packet.
    type Packet: Copy;

    /// Estimate of the work of a packet, when it arrives.
    fn estimate(&mut self, packet: Self::Packet) -> Nanos;

    /// Serves the packet: how long it really takes.
    fn serve(&mut self, packet: Self::Packet) -> Nanos;

    /// Estimate of the work of a packet that arrives again after it was served; its first estimate was `estimate`.
    ///
    /// No different, unless the application learns from what it serves.
    fn again(&mut self, packet: Self::Packet, estimate: Nanos) -> Nanos {
        let _ = packet;
        estimate
    }

    /// Tells it that a packet which it gave an estimate for will not be served.
    fn abandon(&mut self, packet: Self::Packet) {
        let _ = packet;
    }
}

/// An application with no packets of its own: every cost is given with the packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Given;

/// There is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Never {}

impl Application for Given {
    type Packet = Never;

    fn estimate(&mut self, packet: Never) -> Nanos {
        match packet {}
    }

    fn serve(&mut self, packet: Never) -> Nanos {
        match packet {}
    }
}
