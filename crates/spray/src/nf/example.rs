//! Flows that a function has something to do with: for who makes traffic.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use super::{FunctionName, FunctionOptions};
use crate::FlowId;

impl FunctionOptions {
    /// The flow of this number and protocol that the function `name` works on in the direction in which it begins: from inside to a server, or from
    /// a client to the service. Each number has a flow of its own, if the first prefix inside has 2^17 addresses. O(1).
    ///
    /// Servers are those of 198.18.0.0/15 (RFC 2544), in an order that scatters them, with port 443; and inside, ports from 1024 on.
    pub fn example_flow(&self, name: FunctionName, number: u32, protocol: u8) -> FlowId {
        let server = Ipv4Addr::from_bits(0xc612_0000 | number.wrapping_mul(0x9e37_79b9) >> 15);
        // 15 bits of the number choose a port, and the 17 others a host: all of them, where the first prefix inside has so many.
        let port = 1024 + (number >> 17) as u16;
        let host = number & 0x1_ffff;
        match (name, self.balancer.service.ip()) {
            (FunctionName::Balancer, service @ IpAddr::V4(_)) => {
                let client = Ipv4Addr::from_bits(0xc612_0000 | host);
                FlowId::new(protocol, (client.into(), port), (service, self.balancer.service.port()))
            }
            (FunctionName::Balancer, service) => {
                // RFC 5180: addresses for tests of performance.
                let client = Ipv6Addr::from_bits(0x2001_0002_u128 << 96 | u128::from(host));
                FlowId::new(protocol, (client.into(), port), (service, self.balancer.service.port()))
            }
            _ => {
                let inside = self.nat.inside.first().map_or(0x0a00_0000, |net| {
                    let hosts = u32::MAX.checked_shr(u32::from(net.prefix_len())).unwrap_or(0);
                    net.network().to_bits() | host & hosts
                });
                FlowId::new(protocol, (Ipv4Addr::from_bits(inside).into(), port), (server.into(), 443))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn numbers_have_flows_of_their_own() {
        let options = FunctionOptions::default();
        for &name in FunctionName::ALL {
            // An odd factor makes other numbers of all of them.
            let numbers = (0..20_000_u32).map(|number| number.wrapping_mul(0x9e37_79b9));
            let flows: HashSet<_> = numbers.map(|number| options.example_flow(name, number, 6)).collect();
            assert_eq!(flows.len(), 20_000, "{name}");
        }
    }
}
