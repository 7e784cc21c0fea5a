//! Rules of a firewall, one a line; the first that matches decides.
//!
//! ```text
//! # What to do, protocol (any, if none is named), from where, to where.
//! allow tcp from 10.0.0.0/8 to any:80,443,8000-8010
//! deny from any:1-1023 to [2001:db8::/32]:53
//! allow icmp from any to 192.0.2.1
//! # What becomes of what no rule matches: deny, if it is not said.
//! default deny
//! ```
//!
//! A place is `any`, an address or a prefix, and ports after a colon; IPv6 with ports stands in brackets. `any` has both families. A rule with ports
//! does not match what has none: ICMP (`icmp` is ICMPv6 as well), other protocols.

use std::fmt;

use ipnet::IpNet;

use crate::FlowId;
use crate::nf::parse::{ParseError, PortRange, parse_prefix};
use crate::packet::headers::protocol::{ICMP, ICMPV6, TCP, UDP};

/// Action of a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// The flow may begin.
    Allow,
    /// It may not.
    Deny,
}

/// The protocols of a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Protocol {
    Tcp,
    Udp,
    Icmp,
    Any,
}

impl Protocol {
    fn matches(self, number: u8) -> bool {
        match self {
            Self::Tcp => number == TCP,
            Self::Udp => number == UDP,
            Self::Icmp => number == ICMP || number == ICMPV6,
            Self::Any => true,
        }
    }
}

/// One end of a flow.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Place {
    /// None for any.
    prefix: Option<IpNet>,
    /// Empty for any.
    ports: Vec<PortRange>,
}

impl Place {
    fn matches(&self, flow: &FlowId, address: std::net::IpAddr, port: u16) -> bool {
        let has_ports = matches!(flow.protocol(), TCP | UDP);
        self.prefix.is_none_or(|prefix| prefix.contains(&address))
            && (self.ports.is_empty() || has_ports && self.ports.iter().any(|range| range.contains(port)))
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Rule {
    action: Action,
    protocol: Protocol,
    from: Place,
    to: Place,
}

impl Rule {
    fn matches(&self, flow: &FlowId) -> bool {
        self.protocol.matches(flow.protocol())
            && self.from.matches(flow, flow.source(), flow.source_port())
            && self.to.matches(flow, flow.destination(), flow.destination_port())
    }
}

/// Rules in their order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rules {
    rules: Vec<Rule>,
    default: Action,
}

impl Default for Rules {
    /// Allows every flow that begins properly.
    fn default() -> Self {
        Self { rules: Vec::new(), default: Action::Allow }
    }
}

/// Error in a file of rules, with its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RulesError {
    /// The file.
    pub file: String,
    /// The line, from 1.
    pub line: usize,
    /// Expected input.
    pub expected: &'static str,
    /// Input that was found instead.
    pub found: String,
}

impl fmt::Display for RulesError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The name of a file may have line breaks.
        let Self { file, line, expected, found } = self;
        write!(f, "{}:{line}: expected {expected}, got {found}", file.escape_debug())
    }
}

impl std::error::Error for RulesError {}

impl Rules {
    /// Reads `text`, which comes from the file of this name. O(length).
    ///
    /// # Errors
    ///
    /// A line is neither a rule nor a default, or it is a second default.
    pub fn parse(file: &str, text: &str) -> Result<Self, RulesError> {
        let (mut rules, mut default) = (Vec::new(), None);
        for (line, text) in text.lines().enumerate() {
            let text = text.split_once('#').map_or(text, |(before, _)| before);
            let mut words = Words { words: text.split_whitespace().collect(), at: 0 };
            let read = match words.next() {
                None => continue,
                Some("default") if default.is_some() => {
                    Err(Fault { expected: "one default at most", found: "\"default\"".to_owned() })
                }
                Some("default") => words.action().map(|action| default = Some(action)),
                Some(first) => words.rule(first).map(|rule| rules.push(rule)),
            };
            let read = read.and_then(|()| words.end());
            read.map_err(|Fault { expected, found }| RulesError {
                file: file.to_owned(),
                line: line + 1,
                expected,
                found,
            })?;
        }
        Ok(Self { rules, default: default.unwrap_or(Action::Deny) })
    }

    /// Action of the first rule that matches a flow which begins in this direction. O(rules).
    pub fn decide(&self, flow: &FlowId) -> Action {
        self.rules.iter().find(|rule| rule.matches(flow)).map_or(self.default, |rule| rule.action)
    }

    /// Number of rules, without the default.
    pub fn len(&self) -> usize {
        self.rules.len()
    }

    /// Whether there is nothing but the default.
    pub fn is_empty(&self) -> bool {
        self.rules.is_empty()
    }
}

/// Expected and actual input.
struct Fault {
    expected: &'static str,
    found: String,
}

impl From<ParseError> for Fault {
    fn from(error: ParseError) -> Self {
        Self { expected: error.expected, found: format!("\"{}\"", error.found) }
    }
}

/// The words of a line.
struct Words<'a> {
    words: Vec<&'a str>,
    at: usize,
}

impl<'a> Words<'a> {
    fn next(&mut self) -> Option<&'a str> {
        let word = self.words.get(self.at).copied();
        self.at += 1;
        word
    }

    /// Reads the next word by `read`.
    fn expect<T>(
        &mut self,
        expected: &'static str,
        read: impl FnOnce(&str) -> Option<T>,
    ) -> Result<T, Fault> {
        let word = self.next();
        word.and_then(read).ok_or_else(|| Fault { expected, found: quoted(word) })
    }

    fn end(&mut self) -> Result<(), Fault> {
        match self.next() {
            None => Ok(()),
            more => Err(Fault { expected: "the end of the line", found: quoted(more) }),
        }
    }

    fn action(&mut self) -> Result<Action, Fault> {
        self.expect("allow or deny", action)
    }

    fn rule(&mut self, first: &str) -> Result<Rule, Fault> {
        let action = action(first)
            .ok_or_else(|| Fault { expected: "allow, deny or default", found: quoted(Some(first)) })?;
        let protocol = match self.words.get(self.at) {
            Some(&"from") => Protocol::Any,
            _ => self.expect("tcp, udp, icmp, any or from", protocol)?,
        };
        self.expect("from", |word| (word == "from").then_some(()))?;
        let from = self.place()?;
        self.expect("to", |word| (word == "to").then_some(()))?;
        let to = self.place()?;
        let has_ports = !from.ports.is_empty() || !to.ports.is_empty();
        if protocol == Protocol::Icmp && has_ports {
            return Err(Fault { expected: "icmp without ports", found: "ports".to_owned() });
        }
        if let (Some(a), Some(b)) = (from.prefix, to.prefix)
            && a.addr().is_ipv4() != b.addr().is_ipv4()
        {
            return Err(Fault { expected: "both places of one family", found: format!("{a} and {b}") });
        }
        Ok(Rule { action, protocol, from, to })
    }

    fn place(&mut self) -> Result<Place, Fault> {
        let expected = "any, or a prefix such as 10.0.0.0/8, and ports after a colon";
        let Some(word) = self.next() else { return Err(Fault { expected, found: quoted(None) }) };
        let fault = || Fault { expected, found: quoted(Some(word)) };
        let (prefix, ports) = if let Some(rest) = word.strip_prefix('[') {
            let (prefix, ports) = rest.split_once(']').ok_or_else(fault)?;
            let ports =
                if ports.is_empty() { None } else { Some(ports.strip_prefix(':').ok_or_else(fault)?) };
            (prefix, ports)
        } else if word.matches(':').count() == 1 {
            word.split_once(':').map_or((word, None), |(prefix, ports)| (prefix, Some(ports)))
        } else {
            // IPv6 without ports, or no colon at all.
            (word, None)
        };
        let prefix = match prefix {
            "any" => None,
            prefix => Some(parse_prefix(prefix).map_err(|_| fault())?.trunc()),
        };
        let each = |ports: &str| ports.split(',').map(str::parse).collect::<Result<Vec<_>, ParseError>>();
        Ok(Place { prefix, ports: ports.map_or(Ok(Vec::new()), each)? })
    }
}

fn action(word: &str) -> Option<Action> {
    match word {
        "allow" => Some(Action::Allow),
        "deny" => Some(Action::Deny),
        _ => None,
    }
}

fn protocol(word: &str) -> Option<Protocol> {
    match word {
        "tcp" => Some(Protocol::Tcp),
        "udp" => Some(Protocol::Udp),
        "icmp" => Some(Protocol::Icmp),
        "any" => Some(Protocol::Any),
        _ => None,
    }
}

/// A word as an error shows it.
fn quoted(word: Option<&str>) -> String {
    word.map_or("the end of the line".to_owned(), |word| format!("\"{}\"", word.escape_debug()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flow(protocol: u8, from: &str, to: &str) -> FlowId {
        let end = |text: &str| {
            let address: std::net::SocketAddr = text.parse().unwrap();
            (address.ip(), address.port())
        };
        FlowId::new(protocol, end(from), end(to))
    }

    #[test]
    fn the_first_rule_that_matches_decides() {
        let rules = Rules::parse(
            "rules",
            "# comment\n\ndeny tcp from any to 192.0.2.0/24:22 # no shells\nallow tcp from 10.0.0.0/8:1024-65535 to any:80,443,8000-8010\n\
             allow icmp from any to any\nallow udp from [2001:db8::/32]:53 to any\nallow from 2001:db8::1 to ::/0\n",
        )
        .unwrap();
        assert_eq!(rules.len(), 5);
        let decide = |protocol, from, to| rules.decide(&flow(protocol, from, to));
        assert_eq!(decide(6, "10.1.1.1:2000", "192.0.2.1:22"), Action::Deny);
        assert_eq!(decide(6, "10.1.1.1:2000", "192.0.2.1:443"), Action::Allow);
        assert_eq!(decide(6, "10.1.1.1:2000", "192.0.2.1:8010"), Action::Allow);
        assert_eq!(decide(6, "10.1.1.1:2000", "192.0.2.1:8011"), Action::Deny);
        assert_eq!(decide(6, "10.1.1.1:1000", "192.0.2.1:443"), Action::Deny);
        assert_eq!(decide(6, "11.1.1.1:2000", "192.0.2.1:443"), Action::Deny);
        assert_eq!(decide(1, "11.1.1.1:7", "192.0.2.1:0"), Action::Allow);
        assert_eq!(decide(58, "[::2]:7", "[::1]:0"), Action::Allow);
        assert_eq!(decide(17, "[2001:db8::2]:53", "[::1]:9"), Action::Allow);
        assert_eq!(decide(17, "[2001:db8::2]:54", "[::1]:9"), Action::Deny);
        assert_eq!(decide(132, "[2001:db8::1]:0", "[::1]:0"), Action::Allow);
        assert_eq!(Rules::default().decide(&flow(6, "1.1.1.1:1", "2.2.2.2:2")), Action::Allow);
    }

    #[test]
    fn what_is_wrong_is_said_in_one_line() {
        for (text, said) in [
            ("permit any", "r:1: expected allow, deny or default, got \"permit\""),
            ("\nallow", "r:2: expected tcp, udp, icmp, any or from, got the end of the line"),
            ("allow gre from any to any", "r:1: expected tcp, udp, icmp, any or from, got \"gre\""),
            ("allow tcp any", "r:1: expected from, got \"any\""),
            (
                "allow tcp from 10.0.0.0/33 to any",
                "r:1: expected any, or a prefix such as 10.0.0.0/8, and ports after a colon, got \"10.0.0.0/33\"",
            ),
            (
                "allow tcp from any:http to any",
                "r:1: expected a port or a range of ports such as 1024-65535, got \"http\"",
            ),
            ("allow tcp from any to any now", "r:1: expected the end of the line, got \"now\""),
            ("allow icmp from any to any:7", "r:1: expected icmp without ports, got ports"),
            ("default allow\ndefault deny", "r:2: expected one default at most, got \"default\""),
            ("default maybe", "r:1: expected allow or deny, got \"maybe\""),
            (
                "deny from 10.0.0.0/8 to ::1",
                "r:1: expected both places of one family, got 10.0.0.0/8 and ::1/128",
            ),
            (
                "deny from [::1 to any",
                "r:1: expected any, or a prefix such as 10.0.0.0/8, and ports after a colon, got \"[::1\"",
            ),
        ] {
            assert_eq!(Rules::parse("r", text).unwrap_err().to_string(), said, "{text}");
        }
    }
}
