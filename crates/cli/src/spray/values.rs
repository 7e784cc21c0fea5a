//! Values of `trueplane spray …` as people write them.

use std::path::Path;
use std::sync::Arc;

use trueplane_spray::options::{MOST_CORES, MOST_CYCLES, Sizes};
use trueplane_spray::sizes::FlowSizes;
use trueplane_units::{BitsPerSec, scale_decimal, scale_share};

use crate::failure::Failure;
use crate::values::count;

/// Bits of a frame of 64 bytes on the wire, with preamble and gap (IEEE 802.3).
const SMALLEST_FRAME: u64 = 8 * (64 + 20);
/// The most packets a second: one in ten picoseconds.
const MOST_RATE: u64 = 100_000_000_000;

/// So many packets a second, `14.88Mpps` or `20K`, or frames of 64 bytes on a line: `10Gbps`.
pub(super) fn rate(text: &str) -> Result<u64, String> {
    let packets = match text.strip_suffix("pps").filter(|_| !text.ends_with("bps")) {
        Some(number) => count(number).ok(),
        None if text.ends_with("bps") => text.parse().ok().map(|BitsPerSec(bits)| bits / SMALLEST_FRAME),
        None => count(text).ok(),
    };
    packets
        .filter(|packets| (1..=MOST_RATE).contains(packets))
        .ok_or_else(|| format!("expected a rate such as 14.88Mpps, 20K or 10Gbps, got \"{text}\""))
}

/// Cycles a second: `2GHz`.
pub(super) fn clock(text: &str) -> Result<u64, String> {
    let scales = [("GHz", 1_000_000_000), ("MHz", 1_000_000)];
    let hertz = scales
        .into_iter()
        .find_map(|(unit, scale)| scale_decimal(text.strip_suffix(unit)?, scale))
        .filter(|hertz| (1_000_000..=100_000_000_000).contains(hertz));
    hertz.ok_or_else(|| format!("expected a clock such as 2GHz or 2400MHz, got \"{text}\""))
}

/// A number of cores.
pub(super) fn cores(text: &str) -> Result<usize, String> {
    text.parse()
        .ok()
        .filter(|cores| (1..=MOST_CORES).contains(cores))
        .ok_or_else(|| format!("expected 1 to {MOST_CORES} cores, got \"{text}\""))
}

/// Cycles of work.
pub(super) fn cycles(text: &str) -> Result<u64, String> {
    let cycles = count(text)?;
    if cycles <= MOST_CYCLES {
        return Ok(cycles);
    }
    Err(format!("expected at most {MOST_CYCLES} cycles, got \"{text}\""))
}

/// Flows at a time.
pub(super) fn flows(text: &str) -> Result<u64, String> {
    let flows = count(text)?;
    if (1..=1 << 20).contains(&flows) {
        return Ok(flows);
    }
    Err(format!("expected 1 to {} flows, got \"{text}\"", 1 << 20))
}

/// A share above zero and below one: `70%`.
pub(super) fn load(text: &str) -> Result<f64, String> {
    let share = scale_share(text, 100_000_000);
    let share = share.map(|millionths| millionths as f64 / 1e8).filter(|share| *share > 0.0 && *share < 1.0);
    share.ok_or_else(|| format!("expected a load above 0% and below 100% such as 70%, got \"{text}\""))
}

/// How long flows are: `forever`, packets, `web-search`, or a file.
pub(super) fn sizes(text: &str) -> Result<Sizes, Failure> {
    match (text, count(text)) {
        ("forever", _) => Ok(Sizes::Forever),
        ("web-search", _) => Ok(Sizes::Drawn(Arc::new(FlowSizes::web_search()))),
        (_, Ok(0)) => Err(Failure::input("--sizes 0: expected one packet at least")),
        (_, Ok(packets)) => Ok(Sizes::Packets(packets)),
        (path, Err(_)) => Ok(Sizes::Drawn(Arc::new(FlowSizes::read(Path::new(path))?))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_of_packets_or_of_a_line() {
        assert_eq!(["10Gbps", "14.88Mpps", "20K"].map(rate), [Ok(14_880_952), Ok(14_880_000), Ok(20_000)]);
        assert!(["0", "", "pps", "bps", "1T", "-1Mpps", "100bps"].iter().all(|bad| rate(bad).is_err()));
    }

    #[test]
    fn ranges_are_kept() {
        assert_eq!(["2GHz", "2400MHz"].map(clock), [Ok(2_000_000_000), Ok(2_400_000_000)]);
        assert!(["2", "0GHz", "GHz", "1kHz"].iter().all(|bad| clock(bad).is_err()));
        assert_eq!([cores("1"), cores("128")], [Ok(1), Ok(128)]);
        assert!(["0", "129", "x"].iter().all(|bad| cores(bad).is_err()));
        assert_eq!([cycles("10K"), flows("1M")], [Ok(10_000), Ok(1_000_000)]);
        assert!(cycles("2G").is_err() && flows("0").is_err() && flows("2M").is_err());
        assert_eq!(load("70%"), Ok(0.7));
        assert!(["0%", "100%", "70", "x%"].iter().all(|bad| load(bad).is_err()));
        assert!(sizes("0").is_err() && sizes("no-such-file.csv").is_err());
    }
}
