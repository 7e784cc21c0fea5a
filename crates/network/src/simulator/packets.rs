//! Packets in the network, in a slab whose places are used again.

use trueplane_units::Nanos;

use crate::transport::segment::{Ecn, Flags, SackBlocks, Segment};

/// Facts of a packet that every hop needs: 32 bytes.
#[derive(Clone, Copy, Debug, Default)]
pub struct Travelling {
    /// Number of its flow and direction: twice the flow's, and one more on the way to the receiver.
    pub key: u64,
    /// Bytes of the flow that were left when it was sent.
    pub remaining: u64,
    /// Place of its flow.
    pub flow: u32,
    /// Node that it is at, or that it arrives at next.
    pub node: u32,
    /// Host that it goes to.
    pub to: u32,
    /// Length on the wire, in bytes.
    pub bytes: u32,
}

impl Travelling {
    /// Whether it goes from the sender to the receiver.
    #[inline]
    pub fn is_data(&self) -> bool {
        self.key & 1 == 1
    }
}

/// A packet in one line of the processor's cache, without its options.
#[derive(Clone, Copy, Debug, Default)]
#[repr(align(64))]
struct Place {
    travelling: Travelling,
    sequence: u64,
    ack: u64,
    length: u32,
    window: u32,
    flags: Flags,
    ecn: Ecn,
    has_options: bool,
}

/// The parts of a segment that few have: SACK blocks, and the time that the simplified ends echo.
#[derive(Clone, Copy, Debug)]
struct Options {
    sack: SackBlocks,
    stamp: Nanos,
}

const NO_OPTIONS: Options = Options { sack: SackBlocks::NONE, stamp: Nanos(0) };

/// A slab of packets. Options, which few packets have, stand apart.
#[derive(Debug, Default)]
pub struct Packets {
    places: Vec<Place>,
    options: Vec<Options>,
    free: Vec<u32>,
}

impl Packets {
    /// Number of packets in the network.
    pub fn len(&self) -> usize {
        self.places.len() - self.free.len()
    }

    /// Whether no packet is in the network.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Most packets that were in the network at once.
    pub fn most(&self) -> usize {
        self.places.len()
    }

    /// Puts a packet in. Returns its place.
    // Inlined, so that each part is written where it stays: a copy of the whole would wait for the parts.
    #[inline(always)]
    pub fn insert(&mut self, travelling: Travelling, segment: &Segment) -> u32 {
        let place = self.free.pop().unwrap_or_else(|| self.grow());
        let has_options = !segment.sack.is_empty() || segment.stamp > Nanos(0);
        let packet = &mut self.places[place as usize];
        packet.travelling = travelling;
        packet.sequence = segment.sequence;
        packet.ack = segment.ack;
        packet.length = segment.length;
        packet.window = segment.window;
        packet.flags = segment.flags;
        packet.ecn = segment.ecn;
        packet.has_options = has_options;
        if has_options {
            self.options[place as usize] = Options { sack: segment.sack, stamp: segment.stamp };
        }
        place
    }

    /// Adds a place.
    #[cold]
    fn grow(&mut self) -> u32 {
        self.places.push(Place::default());
        self.options.push(NO_OPTIONS);
        self.places.len() as u32 - 1
    }

    /// The packet at a place, to be changed.
    #[inline]
    pub fn at(&mut self, place: u32) -> &mut Travelling {
        &mut self.places[place as usize].travelling
    }

    /// The packet at a place.
    #[inline]
    pub fn seen(&self, place: u32) -> &Travelling {
        &self.places[place as usize].travelling
    }

    /// The control bits of the packet at a place.
    #[inline]
    pub fn flags(&self, place: u32) -> Flags {
        self.places[place as usize].flags
    }

    /// Marks the packet at a place, if its transport knows marks.
    #[inline]
    pub fn mark(&mut self, place: u32) {
        let ecn = &mut self.places[place as usize].ecn;
        if *ecn == Ecn::Capable {
            *ecn = Ecn::Experienced;
        }
    }

    /// Takes a packet out, with its segment.
    #[inline]
    pub fn remove(&mut self, place: u32) -> (Travelling, Segment) {
        self.free.push(place);
        self.look(place)
    }

    /// The packet at a place, with its segment.
    #[inline]
    pub fn look(&self, place: u32) -> (Travelling, Segment) {
        let Place { travelling, sequence, ack, length, window, flags, ecn, has_options } =
            self.places[place as usize];
        let Options { sack, stamp } = if has_options { self.options[place as usize] } else { NO_OPTIONS };
        (travelling, Segment { sequence, ack, length, window, flags, ecn, sack, stamp })
    }
}

#[cfg(test)]
mod tests {
    use super::Place;

    #[test]
    fn a_packet_takes_one_line() {
        assert_eq!(size_of::<Place>(), 64);
    }
}
