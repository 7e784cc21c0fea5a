//! The classical model: cores add up, hashing spreads flows evenly, and order does not matter.

use trueplane_spray::dispatch::{DispatchName, PolicyName};
use trueplane_units::Nanos;

use super::senders::{HEADER, SEGMENT};

/// Segments for each acknowledgement: receivers acknowledge every other segment (RFC 5681 §4.2).
const SEGMENTS_PER_ACK: f64 = 2.0;

/// Goodput of a line of so many bits per second, in bits per second.
pub fn line_goodput(line: f64) -> f64 {
    line * f64::from(SEGMENT) / f64::from(SEGMENT + HEADER)
}

/// Goodput of a core that needs so long for each packet, acknowledgements included, in bits per second.
pub fn core_goodput(service: Nanos) -> f64 {
    let packets = 1e9 / service.0 as f64;
    packets / (1.0 + 1.0 / SEGMENTS_PER_ACK) * f64::from(SEGMENT) * 8.0
}

/// Cores that flows use under a policy if hashing spreads them evenly.
pub fn cores_used(policy: DispatchName, flows: u64, cores: usize) -> u64 {
    let of_flow = match policy.policy() {
        PolicyName::Rss | PolicyName::RssPlusPlus | PolicyName::Flowlet => 1,
        // The two directions of a flow are two flows to its hash.
        PolicyName::RssDefault => 2,
        PolicyName::Subset => policy.subset_cores() as u64,
        PolicyName::Spray | PolicyName::RoundRobin | PolicyName::Adaptive => cores as u64,
    };
    (flows * of_flow).min(cores as u64)
}

/// Goodput of all flows together, in bits per second: that of the line, or of the cores that flows use, whichever is less.
pub fn goodput(policy: DispatchName, flows: u64, cores: usize, service: Nanos, line: f64) -> f64 {
    let used = cores_used(policy, flows, cores) as f64;
    line_goodput(line).min(used * core_goodput(service))
}

/// Goodput that so many receive windows of so many bytes allow in a round-trip time without queues, in bits per second.
pub fn window_goodput(flows: u64, window: u64, round_trip: Nanos) -> f64 {
    flows as f64 * window as f64 * 8.0 / (round_trip.0.max(1) as f64 / 1e9)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand: 5 µs for each packet are 200,000 packets a second. Two of three are segments of 1448 bytes: 1.54 Gbit/s. Eight cores could carry
    /// 12.4 Gbit/s, and the line carries 9.41 Gbit/s.
    #[test]
    fn the_model_by_hand() {
        let of = |policy, flows| {
            (goodput(DispatchName::of(policy), flows, 8, Nanos(5_000), 10e9) / 1e7).round() / 100.0
        };
        assert_eq!(of(PolicyName::Rss, 1), 1.54);
        assert_eq!(of(PolicyName::Rss, 4), 6.18);
        assert_eq!(of(PolicyName::Rss, 64), 9.41);
        assert_eq!(of(PolicyName::Spray, 1), 9.41);
        assert_eq!(of(PolicyName::Subset, 1), 3.09);
        // A core that takes no time leaves the line.
        assert_eq!(goodput(DispatchName::of(PolicyName::Rss), 1, 8, Nanos(0), 10e9), line_goodput(10e9));
    }
}
