//! Values of this subsystem as people write them on the command line.

use std::path::PathBuf;

use trueplane_surge::names::PolicyName;
use trueplane_surge::options::OVERFLOWS;
use trueplane_surge::reassembly::Heuristic;
use trueplane_surge::workload::arrivals::Arrivals;
use trueplane_surge::{Capacity, Overflow};
use trueplane_units::Bytes;

use crate::values::{Named, count, named};

impl Named for PolicyName {
    const WHAT: &'static str = "policy";
    const NAMES: &'static [(&'static str, Self)] = &PolicyName::NAMES;
}

impl Named for Arrivals {
    const WHAT: &'static str = "arrivals";
    const NAMES: &'static [(&'static str, Self)] = &Arrivals::NAMES;
}

impl Named for Overflow {
    const WHAT: &'static str = "overflow rule";
    const NAMES: &'static [(&'static str, Self)] = &OVERFLOWS;
}

/// Who chooses the attack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Chooser {
    /// Theory, policy by policy.
    Optimal,
    /// Trying.
    Search,
    /// Nobody: the smallest packet with the largest job.
    Largest,
    /// The application, which has packets for it.
    Own,
}

impl Named for Chooser {
    const WHAT: &'static str = "attack";
    const NAMES: &'static [(&'static str, Self)] = &[
        ("optimal", Chooser::Optimal),
        ("search", Chooser::Search),
        ("largest", Chooser::Largest),
        ("own", Chooser::Own),
    ];
}

/// Who chooses the attack, or what chose it before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Chosen {
    /// One of those.
    By(Chooser),
    /// The study that wrote this file.
    Before(PathBuf),
}

/// `optimal`, `file:FOUND.json` and so on.
pub(super) fn chosen(text: &str) -> Result<Chosen, String> {
    match text.strip_prefix("file:") {
        Some("") => Err(format!("expected a file after file:, got \"{text}\"")),
        Some(path) => Ok(Chosen::Before(path.into())),
        None => named(text).map(Chosen::By).map_err(|error| format!("{error}, file:FOUND.json")),
    }
}

/// What tries regular expressions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Engine {
    /// By backtracking, as most do.
    Backtracking,
    /// In linear time.
    Linear,
}

impl Named for Engine {
    const WHAT: &'static str = "engine";
    const NAMES: &'static [(&'static str, Self)] =
        &[("backtracking", Engine::Backtracking), ("linear", Engine::Linear)];
}

/// What keeps segments that came early.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Design {
    /// A linked list, as in Pigasus.
    List,
    /// A balanced tree.
    Tree,
}

impl Named for Design {
    const WHAT: &'static str = "design";
    const NAMES: &'static [(&'static str, Self)] = &[("list", Design::List), ("tree", Design::Tree)];
}

impl Named for Heuristic {
    const WHAT: &'static str = "heuristic";
    const NAMES: &'static [(&'static str, Self)] =
        &[("ranges", Heuristic::Ranges), ("ranges-and-waiting", Heuristic::RangesAndWaiting)];
}

/// A buffer of packets, `1000`, or of bytes, `64KiB`; neither is zero.
pub(super) fn capacity(text: &str) -> Result<Capacity, String> {
    let packets = count(text).ok().and_then(|packets| usize::try_from(packets).ok()).map(Capacity::Packets);
    let bytes = || text.parse().ok().and_then(|Bytes(bytes)| bytes.checked_mul(8)).map(Capacity::Bits);
    match packets.or_else(bytes) {
        None | Some(Capacity::Packets(0) | Capacity::Bits(0)) => {
            Err(format!("expected a capacity above zero such as 1000 packets or 64KiB, got \"{text}\""))
        }
        Some(capacity) => Ok(capacity),
    }
}

/// Memory above zero.
pub(super) fn memory(text: &str) -> Result<Bytes, String> {
    match text.parse() {
        Ok(Bytes(0)) | Err(_) => Err(format!("expected memory such as 2GiB, got \"{text}\"")),
        Ok(memory) => Ok(memory),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn capacities_are_packets_or_bytes() {
        assert_eq!(capacity("1000"), Ok(Capacity::Packets(1000)));
        assert_eq!(capacity("1K"), Ok(Capacity::Packets(1000)));
        assert_eq!(capacity("64KiB"), Ok(Capacity::Bits(524_288)));
        for bad in ["0", "0B", "-1", "", "many", "1.5", "64bit"] {
            assert!(capacity(bad).is_err(), "{bad}");
        }
    }
}
