//! Packets in the network, in a slab whose places are used again.

use crate::transport::Segment;

/// Facts of a packet that every hop needs: 32 bytes.
#[derive(Clone, Copy, Debug)]
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

/// A slab of packets. Segments, which only hosts read, stand apart.
#[derive(Debug, Default)]
pub struct Packets {
    places: Vec<Travelling>,
    segments: Vec<Segment>,
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
    #[inline]
    pub fn insert(&mut self, packet: Travelling, segment: Segment) -> u32 {
        match self.free.pop() {
            Some(place) => {
                self.places[place as usize] = packet;
                self.segments[place as usize] = segment;
                place
            }
            None => {
                self.places.push(packet);
                self.segments.push(segment);
                self.places.len() as u32 - 1
            }
        }
    }

    /// The packet at a place.
    #[inline]
    pub fn at(&mut self, place: u32) -> &mut Travelling {
        &mut self.places[place as usize]
    }

    /// The segment of the packet at a place.
    #[inline]
    pub fn segment(&mut self, place: u32) -> &mut Segment {
        &mut self.segments[place as usize]
    }

    /// Takes a packet out.
    #[inline]
    pub fn remove(&mut self, place: u32) -> Travelling {
        self.free.push(place);
        self.places[place as usize]
    }
}
