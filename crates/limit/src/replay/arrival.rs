//! From a packet of a capture to what limits and counts need of it.

use trueplane_trace::{Layers, Packet};
use trueplane_units::Nanos;

use crate::classifier::{Classifier, Match};
use crate::frame::{ETHERTYPE_IPV4, ETHERTYPE_IPV6, Frame, VLAN_TPIDS};

/// Facts of a packet that the limiters and the counts need.
#[derive(Clone, Copy, Debug)]
pub(super) struct Arrival {
    /// Time in the capture.
    pub(super) time: Nanos,
    pub(super) length: u32,
    pub(super) matched: Option<Match>,
    pub(super) flow: Option<u64>,
    pub(super) ecn_capable: bool,
}

impl Arrival {
    /// Classifies a packet; `buffer` is room to work in.
    pub(super) fn of(packet: &Packet<'_>, classifier: &Classifier, buffer: &mut Vec<u8>) -> Self {
        let frame = frame_of(packet.layers, buffer);
        Self {
            time: packet.time,
            length: packet.length,
            // The kernel's marks are not in captures.
            matched: classifier.classify(&frame, 0),
            flow: packet.flow(),
            ecn_capable: frame.ecn_capable,
        }
    }
}

/// Frame of a packet for the classifier, whatever link it was captured on.
fn frame_of(layers: Layers<'_>, buffer: &mut Vec<u8>) -> Frame {
    match layers {
        Layers::Ethernet(frame) => Frame::parse(frame),
        Layers::Ip(packet) => Frame::parse_ip(packet),
        // As if the frame were there; addresses of Ethernet do not matter.
        Layers::EtherType(ether_type, payload) => {
            let is_read =
                VLAN_TPIDS.contains(&ether_type) || matches!(ether_type, ETHERTYPE_IPV4 | ETHERTYPE_IPV6);
            if !is_read {
                return Frame::default();
            }
            buffer.clear();
            buffer.extend([0; 12]);
            buffer.extend(ether_type.to_be_bytes());
            buffer.extend(payload);
            Frame::parse(buffer)
        }
        Layers::Other => Frame::default(),
    }
}
