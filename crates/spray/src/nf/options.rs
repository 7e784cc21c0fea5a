//! What functions can be told.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use ipnet::Ipv4Net;
use trueplane_units::Nanos;

use super::parse::{ParseError, PortRange};
use super::rules::{Rules, RulesError};

/// Options of all network functions; each option has a default.
#[derive(Clone, Debug, Default)]
pub struct FunctionOptions {
    /// The translator of addresses. A flood to one server takes all ports to it, unless ports × public addresses ÷ cores are more than the
    /// unconfirmed flows that a core may have: see [`nat`](super::nat).
    pub nat: NatOptions,
    /// The firewall's rules; all flows may begin, without any.
    pub rules: Rules,
    /// The load balancer.
    pub balancer: BalancerOptions,
    /// The traffic monitor.
    pub monitor: MonitorOptions,
    /// The elimination of redundancy.
    pub redundancy: RedundancyOptions,
    /// The search for patterns.
    pub dpi: DpiOptions,
}

/// A function cannot work with its options: why, in one line.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct OptionsError(pub(super) String);

/// Options of a [`Nat`](super::Nat).
#[derive(Clone, Debug)]
pub struct NatOptions {
    /// Public addresses, all of these prefixes, 1024 at most.
    pub public: Vec<Ipv4Net>,
    /// Public ports, and identifiers of queries of ICMP.
    pub ports: PortRange,
    /// Prefixes whose source addresses are translated.
    pub inside: Vec<Ipv4Net>,
    /// Decides the order in which ports are used.
    pub seed: u64,
}

impl Default for NatOptions {
    /// 203.0.113.1 (RFC 5737) with ports 1024 to 65535; private addresses (RFC 1918) are inside.
    fn default() -> Self {
        let net = |a, b, c, d, length| Ipv4Net::new_assert(Ipv4Addr::new(a, b, c, d), length);
        Self {
            public: vec![net(203, 0, 113, 1, 32)],
            ports: PortRange { first: 1024, last: 65535 },
            inside: vec![net(10, 0, 0, 0, 8), net(172, 16, 0, 0, 12), net(192, 168, 0, 0, 16)],
            seed: 1,
        }
    }
}

/// Options of a [`Balancer`](super::Balancer).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BalancerOptions {
    /// Address and port to which clients connect, with TCP and UDP.
    pub service: SocketAddr,
    /// The backends, of the service's family.
    pub backends: Vec<Backend>,
    /// Rows of Maglev's table: a prime, of a hundred times as many as there are backends or more for shares that differ by 1% at most.
    pub rows: u32,
    /// Decides which flows go together.
    pub seed: u64,
}

impl Default for BalancerOptions {
    /// 198.51.100.1:80 (RFC 5737), four backends from 10.0.0.11:80 on, and 65,537 rows as in the paper's §5.3.
    fn default() -> Self {
        let backend =
            |last| Backend { address: SocketAddr::from(([10, 0, 0, last], 80)), weight: 1, up: true };
        Self {
            service: SocketAddr::from(([198, 51, 100, 1], 80)),
            backends: (11..15).map(backend).collect(),
            rows: 65537,
            seed: 1,
        }
    }
}

/// A server behind a [`Balancer`](super::Balancer).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Backend {
    /// Address and port of the server.
    pub address: SocketAddr,
    /// Its share, compared with others'; 0 for none.
    pub weight: u32,
    /// Whether it can serve.
    pub up: bool,
}

impl Backend {
    /// Reads `address[:port][ weight]`; without a port, that of the service, and without a weight, 1. It is up.
    ///
    /// # Errors
    ///
    /// It is not that.
    pub fn parse(text: &str, port: u16) -> Result<Self, ParseError> {
        let error = || ParseError::new("a backend such as 10.0.0.11:80, with a weight after a space", text);
        let mut words = text.split_whitespace();
        let first = words.next().ok_or_else(error)?;
        let alone = || first.parse().ok().map(|address: IpAddr| SocketAddr::new(address, port));
        let address = first.parse().ok().or_else(alone).ok_or_else(error)?;
        let weight = words.next().map_or(Ok(1), |word| word.parse::<u16>().map_err(|_| error()))?;
        if words.next().is_some() {
            return Err(error());
        }
        Ok(Self { address, weight: u32::from(weight), up: true })
    }

    /// Reads a file of backends, one a line, with comments after `#`.
    ///
    /// # Errors
    ///
    /// A line is no backend.
    pub fn parse_file(file: &str, text: &str, port: u16) -> Result<Vec<Self>, RulesError> {
        let lines = text
            .lines()
            .enumerate()
            .map(|(line, text)| (line + 1, text.split_once('#').map_or(text, |(before, _)| before).trim()));
        let backends = lines.filter(|(_, text)| !text.is_empty()).map(|(line, text)| {
            Self::parse(text, port).map_err(|error| RulesError {
                file: file.to_owned(),
                line,
                expected: error.expected,
                found: format!("\"{}\"", error.found),
            })
        });
        backends.collect()
    }
}

/// Options of a [`Monitor`](super::Monitor).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MonitorOptions {
    /// Flows that each core counts at a time.
    pub flows: usize,
    /// Time of silence after which another flow may take a flow's place.
    pub idle: Nanos,
}

impl Default for MonitorOptions {
    /// 65,536 flows, a minute.
    fn default() -> Self {
        Self { flows: 65_536, idle: Nanos(60_000_000_000) }
    }
}

/// Options of [`Redundancy`](super::Redundancy).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RedundancyOptions {
    /// Bytes of payload that each core remembers.
    pub cache: usize,
}

impl Default for RedundancyOptions {
    /// 4 MiB.
    fn default() -> Self {
        Self { cache: 4 << 20 }
    }
}

/// Options of [`Dpi`](super::Dpi).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DpiOptions {
    /// The patterns, none empty.
    pub patterns: Vec<Vec<u8>>,
    /// Whether the rest of a flow is dropped in which one was found; it is only counted otherwise.
    pub refuse: bool,
    /// Flows that each core follows at a time.
    pub flows: usize,
    /// Time of silence after which another flow may take a flow's place.
    pub idle: Nanos,
}

impl Default for DpiOptions {
    /// Three patterns of attacks on web servers, which are refused; 65,536 flows, a minute.
    fn default() -> Self {
        Self {
            patterns: ["/etc/passwd", "<script>alert(", "UNION SELECT"].map(Vec::from).into(),
            refuse: true,
            flows: 65_536,
            idle: Nanos(60_000_000_000),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::parse::{parse_prefix, parse_v4_prefix};
    use super::*;

    #[test]
    fn texts_are_read_or_refused_in_one_line() {
        assert_eq!("80".parse(), Ok(PortRange { first: 80, last: 80 }));
        assert_eq!("1024-65535".parse::<PortRange>().unwrap().to_string(), "1024-65535");
        for wrong in ["", "0", "80-70", "1-65536", "a", "1-2-3"] {
            assert!(wrong.parse::<PortRange>().is_err(), "{wrong}");
        }
        assert_eq!(parse_v4_prefix("203.0.113.1").unwrap().to_string(), "203.0.113.1/32");
        assert_eq!(parse_prefix("2001:db8::/32").unwrap().to_string(), "2001:db8::/32");
        assert_eq!(
            parse_v4_prefix("::1").unwrap_err().to_string(),
            "expected an address or a prefix of IPv4 such as 203.0.113.0/28, got \"::1\""
        );
    }
}
