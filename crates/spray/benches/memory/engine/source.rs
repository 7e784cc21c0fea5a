//! Where packets come from and go back to.

use trueplane_units::Nanos;

use trueplane_spray::Packet;

/// Answer of a source that is asked for a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    /// It has made one.
    Packet,
    /// It waits for packets that are on their way; asked again when some are back.
    Wait,
    /// Time has passed: before it goes on, all cores have to look at all of their flows for those that are over. Only when nothing is on its
    /// way.
    Sweep,
    /// That was all. Only when nothing is on its way.
    End,
}

/// Makes packets and gets every one of them back: generator and sink in one, so that memory goes round.
pub(crate) trait Source {
    /// Makes `packet` the next one, or says why not.
    fn fill(&mut self, packet: &mut Packet) -> Next;

    /// Sees what became of a packet: its verdict, and how it was changed.
    fn back(&mut self, packet: &Packet);

    /// The time that the functions are told: from now on at least `elapsed` since the run began by the clock, or a time of its own, which never
    /// goes back.
    fn now(&mut self, elapsed: Nanos) -> Nanos;
}
