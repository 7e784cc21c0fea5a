//! What the fuzz target of files for functions does with an input: read it as rules of a firewall and as backends of a load balancer.
//!
//! `cargo test` does the same with the seeds (crates/spray/tests/spray/rules.rs).

use trueplane_spray::FlowId;
use trueplane_spray::nf::rules::Action;
use trueplane_spray::nf::{Backend, Balancer, BalancerOptions, Rules, RulesError};

/// Flows that rules decide about: protocol, source and destination.
const FLOWS: [(u8, &str, &str); 6] = [
    (6, "10.1.1.1:2000", "192.0.2.1:443"),
    (17, "203.0.113.9:53", "10.1.1.1:2000"),
    (1, "10.1.1.1:7", "192.0.2.1:0"),
    (6, "[2001:db8::1]:2000", "[2001:db8::2]:22"),
    (58, "[2001:db8::1]:7", "[::1]:0"),
    (132, "[2001:db8::1]:0", "192.0.2.1:0"),
];

/// As many lines of an input are compared with rules of their own.
const MOST_LINES: usize = 64;

/// Reads `text` as rules, and says whether it is a file of them.
///
/// # Panics
///
/// If an error is not one line that names a line of the text, or the rules decide otherwise than the first of their lines that matches.
pub fn read_rules(text: &str) -> bool {
    let rules = match Rules::parse("fuzz", text) {
        Ok(rules) => rules,
        Err(error) => return refused(text, &error),
    };
    let lines: Vec<&str> = text.lines().collect();
    if lines.len() > MOST_LINES {
        return true;
    }
    for (protocol, from, to) in FLOWS {
        let end = |text: &str| {
            let address: std::net::SocketAddr = text.parse().expect("an address with a port");
            (address.ip(), address.port())
        };
        let flow = FlowId::new(protocol, end(from), end(to));
        // Only where a rule matches, its default does not matter.
        let decision = |line: &&str| {
            let under = |default: &str| {
                Rules::parse("fuzz", &format!("{line}\ndefault {default}")).map(|rules| rules.decide(&flow))
            };
            let (allowed, denied) = (under("allow").ok()?, under("deny").ok()?);
            (allowed == denied).then_some(allowed)
        };
        let default = || lines.iter().find(|line| line.split_whitespace().next() == Some("default"));
        let last = default().map(|line| Rules::parse("fuzz", line).map(|rules| rules.decide(&flow)));
        let last = last.map_or(Action::Deny, |decided| decided.expect("a line of what was read"));
        assert_eq!(rules.decide(&flow), lines.iter().find_map(decision).unwrap_or(last), "{flow:?}");
    }
    true
}

/// Reads `text` as backends, and says whether it is a file of them.
///
/// # Panics
///
/// If an error is not one line that names a line of the text, or a backend is not read back as it is written.
pub fn read_backends(text: &str) -> bool {
    let backends = match Backend::parse_file("fuzz", text, 80) {
        Ok(backends) => backends,
        Err(error) => return refused(text, &error),
    };
    for backend in &backends {
        let written = format!("{} {}", backend.address, backend.weight);
        assert_eq!(Backend::parse(&written, 1).as_ref(), Ok(backend), "{written}");
    }
    if let Err(error) = Balancer::new(&BalancerOptions { backends, rows: 251, ..BalancerOptions::default() })
    {
        assert!(!error.to_string().contains(['\n', '\r']), "{error}");
    }
    true
}

/// Checks an error, and says that the text is no file of this kind.
fn refused(text: &str, error: &RulesError) -> bool {
    let message = error.to_string();
    assert!(!message.contains(['\n', '\r']), "{message:?}");
    assert!((1..=text.lines().count()).contains(&error.line), "{message:?}");
    false
}
