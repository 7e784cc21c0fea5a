//! Flows: the five-tuple and its direction.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Bit of the last word that says that the addresses are of IPv6.
const V6: u64 = 2;
/// Bit of the last word that is set in every flow, so that no flow is all zeros.
const SOME: u64 = 1;

/// One direction of a connection: protocol, addresses and ports, in five words of 64 bits.
///
/// A query of ICMP has its identifier in place of the port on the side that asked, and 0 on the other, so that a request and its answer
/// are the two directions of one flow. What has no ports has zeros.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FlowId {
    words: [u64; 5],
}

impl FlowId {
    /// The flow from `source` to `destination`, each an address and a port.
    ///
    /// An address of IPv4 that is written in IPv6 (`::ffff:192.0.2.1`) is one of IPv6. Both ends have to be of one family; of two families
    /// the flow is one of IPv6 between `::a.b.c.d` and the other, which no packet has.
    pub fn new(protocol: u8, source: (IpAddr, u16), destination: (IpAddr, u16)) -> Self {
        let both_v4 = source.0.is_ipv4() && destination.0.is_ipv4();
        let bits = |address| match address {
            IpAddr::V4(address) => u128::from(Ipv4Addr::to_bits(address)),
            IpAddr::V6(address) => Ipv6Addr::to_bits(address),
        };
        let family = if both_v4 { SOME } else { SOME | V6 };
        Self::from_bits(protocol, family, (bits(source.0), source.1), (bits(destination.0), destination.1))
    }

    /// The same for IPv4 in bits.
    #[inline]
    pub(super) fn v4(protocol: u8, source: (u32, u16), destination: (u32, u16)) -> Self {
        Self::from_bits(protocol, SOME, (source.0.into(), source.1), (destination.0.into(), destination.1))
    }

    /// The same for IPv6 in bits.
    #[inline]
    pub(super) fn v6(protocol: u8, source: (u128, u16), destination: (u128, u16)) -> Self {
        Self::from_bits(protocol, SOME | V6, source, destination)
    }

    #[inline]
    fn from_bits(protocol: u8, family: u64, source: (u128, u16), destination: (u128, u16)) -> Self {
        let last =
            u64::from(source.1) << 48 | u64::from(destination.1) << 32 | u64::from(protocol) << 8 | family;
        let halves = |bits: u128| ((bits >> 64) as u64, bits as u64);
        let ((a, b), (c, d)) = (halves(source.0), halves(destination.0));
        Self { words: [a, b, c, d, last] }
    }

    /// The words: source (two, big-endian), destination (two), and ports, protocol and family. The last is never zero; its bits 16 to
    /// 31 and 2 to 7 always are.
    #[inline]
    pub(super) fn words(&self) -> &[u64; 5] {
        &self.words
    }

    /// The flow of these words, which were those of a flow.
    #[inline]
    pub(super) fn from_words(words: [u64; 5]) -> Self {
        Self { words }
    }

    /// The other direction. An involution.
    #[inline]
    #[must_use]
    pub fn reversed(&self) -> Self {
        let [a, b, c, d, last] = self.words;
        let ports = last >> 48 << 32 | (last >> 32 & 0xffff) << 48;
        Self { words: [c, d, a, b, ports | last & 0xffff_ffff] }
    }

    /// The same name for both directions of a flow: the smaller one.
    #[inline]
    #[must_use]
    pub fn canonical(&self) -> Self {
        (*self).min(self.reversed())
    }

    /// Whether this is the direction that stands for both.
    #[inline]
    pub fn is_canonical(&self) -> bool {
        *self <= self.reversed()
    }

    /// The number of the protocol (IANA).
    #[inline]
    pub fn protocol(&self) -> u8 {
        (self.words[4] >> 8) as u8
    }

    /// Whether the addresses are of IPv6.
    #[inline]
    pub fn is_v6(&self) -> bool {
        self.words[4] & V6 != 0
    }

    /// The address of the sender.
    #[inline]
    pub fn source(&self) -> IpAddr {
        self.address(0)
    }

    /// The address of the receiver.
    #[inline]
    pub fn destination(&self) -> IpAddr {
        self.address(2)
    }

    /// The port of the sender.
    #[inline]
    pub fn source_port(&self) -> u16 {
        (self.words[4] >> 48) as u16
    }

    /// The port of the receiver.
    #[inline]
    pub fn destination_port(&self) -> u16 {
        (self.words[4] >> 32) as u16
    }

    /// This flow from another sender of the same family.
    #[must_use]
    pub fn with_source(&self, address: IpAddr, port: u16) -> Self {
        Self::new(self.protocol(), (address, port), (self.destination(), self.destination_port()))
    }

    /// This flow to another receiver of the same family.
    #[must_use]
    pub fn with_destination(&self, address: IpAddr, port: u16) -> Self {
        Self::new(self.protocol(), (self.source(), self.source_port()), (address, port))
    }

    #[inline]
    fn address(&self, at: usize) -> IpAddr {
        if self.is_v6() {
            Ipv6Addr::from_bits(u128::from(self.words[at]) << 64 | u128::from(self.words[at + 1])).into()
        } else {
            Ipv4Addr::from_bits(self.words[at + 1] as u32).into()
        }
    }
}

impl fmt::Display for FlowId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let end = |address: IpAddr, port| std::net::SocketAddr::new(address, port);
        let (source, destination) =
            (end(self.source(), self.source_port()), end(self.destination(), self.destination_port()));
        match self.protocol() {
            6 => write!(f, "tcp {source} > {destination}"),
            17 => write!(f, "udp {source} > {destination}"),
            other => write!(f, "protocol {other} {source} > {destination}"),
        }
    }
}

impl fmt::Debug for FlowId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn any_flow() -> impl Strategy<Value = FlowId> {
        (any::<u8>(), any::<bool>(), any::<[u128; 2]>(), any::<[u16; 2]>()).prop_map(
            |(protocol, v6, a, ports)| {
                let address = |bits: u128| -> IpAddr {
                    if v6 {
                        Ipv6Addr::from_bits(bits).into()
                    } else {
                        Ipv4Addr::from_bits(bits as u32).into()
                    }
                };
                FlowId::new(protocol, (address(a[0]), ports[0]), (address(a[1]), ports[1]))
            },
        )
    }

    proptest! {
        #[test]
        fn fields_and_directions(flow in any_flow()) {
            let back = flow.reversed();
            prop_assert_eq!((back.source(), back.source_port()), (flow.destination(), flow.destination_port()));
            prop_assert_eq!((back.protocol(), back.is_v6()), (flow.protocol(), flow.is_v6()));
            prop_assert_eq!(back.reversed(), flow);
            prop_assert_eq!(back.canonical(), flow.canonical());
            prop_assert!(flow.is_canonical() || back.is_canonical());
            prop_assert_eq!(
                FlowId::new(flow.protocol(), (flow.source(), flow.source_port()), (flow.destination(), flow.destination_port())),
                flow
            );
            prop_assert_eq!(FlowId::from_words(*flow.words()), flow);
            prop_assert_eq!(flow.words()[4] & 0xffff_00fc, 0);
            prop_assert_ne!(flow.words()[4], 0);
        }
    }

    #[test]
    fn flows_are_written_as_people_write_them() {
        let flow = FlowId::new(6, ([10, 0, 0, 1].into(), 1234), ([192, 0, 2, 1].into(), 80));
        assert_eq!(flow.to_string(), "tcp 10.0.0.1:1234 > 192.0.2.1:80");
    }
}
