//! Ports and prefixes, as people write them.

use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::str::FromStr;

use ipnet::{IpNet, Ipv4Net};
use trueplane_units::text_value;

/// Ports from a first to a last one: `1024-65535`, `80`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PortRange {
    /// The first, 1 at least.
    pub first: u16,
    /// The last, not before the first.
    pub last: u16,
}

impl PortRange {
    /// Whether a port is one of them.
    #[inline]
    pub fn contains(&self, port: u16) -> bool {
        (self.first..=self.last).contains(&port)
    }
}

impl fmt::Display for PortRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { first, last } = self;
        if first == last { write!(f, "{first}") } else { write!(f, "{first}-{last}") }
    }
}

/// Expected form of a text, and the text that was found.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected {expected}, got \"{found}\"")]
pub struct ParseError {
    pub(super) expected: &'static str,
    pub(super) found: String,
}

impl ParseError {
    pub(super) fn new(expected: &'static str, found: &str) -> Self {
        Self { expected, found: found.escape_debug().to_string() }
    }
}

impl FromStr for PortRange {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        let (first, last) = text.split_once('-').unwrap_or((text, text));
        let port = |text: &str| text.parse::<u16>().ok().filter(|&port| port > 0);
        match (port(first), port(last)) {
            (Some(first), Some(last)) if first <= last => Ok(Self { first, last }),
            _ => Err(ParseError::new(PORTS, text)),
        }
    }
}

const PORTS: &str = "a port or a range of ports such as 1024-65535";

text_value!(PortRange, PORTS);

/// A prefix of IPv4; an address without a length is one by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Prefix(pub Ipv4Net);

const PREFIX: &str = "an address or a prefix of IPv4 such as 203.0.113.0/28";

impl fmt::Display for Prefix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl FromStr for Prefix {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        parse_v4_prefix(text).map(Self)
    }
}

text_value!(Prefix, PREFIX);

/// An address and a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Endpoint(pub SocketAddr);

const ENDPOINT: &str = "an address and a port such as 198.51.100.1:80";

impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl FromStr for Endpoint {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        text.parse().map(Self).map_err(|_| ParseError::new(ENDPOINT, text))
    }
}

text_value!(Endpoint, ENDPOINT);

/// Reads a prefix; an address without a length is one by itself.
///
/// # Errors
///
/// Neither.
pub fn parse_prefix(text: &str) -> Result<IpNet, ParseError> {
    let alone = || text.parse::<IpAddr>().ok().map(IpNet::from);
    let prefix = text.parse().ok().or_else(alone);
    prefix.ok_or_else(|| ParseError::new("an address or a prefix such as 10.0.0.0/8", text))
}

/// Reads a prefix of IPv4; an address without a length is one by itself.
///
/// # Errors
///
/// Neither.
pub fn parse_v4_prefix(text: &str) -> Result<Ipv4Net, ParseError> {
    match parse_prefix(text) {
        Ok(IpNet::V4(net)) => Ok(net),
        _ => Err(ParseError::new(PREFIX, text)),
    }
}
