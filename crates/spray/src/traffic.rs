//! What comes to a machine, as people write it.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;
use std::sync::Arc;

use trueplane_study::Error;
use trueplane_units::{
    BitsPerSec, Datum, PerSecond, Shape, Share, Value, choices, parameters, text_value, unexpected,
};

use crate::sizes::FlowSizes;

const HEADING: &str = "Traffic";

parameters! {
    /// Parameters of the traffic.
    #[derive(Clone, Debug)]
    pub struct TrafficOptions {
        /// Offered rate to find the processing rate, in packets or bits per second. In bits per second, it is the rate of a line that is full of
        /// frames of 64 bytes.
        pub rate: PacketRate => { value: "RATE", default: "10Gbps", heading: HEADING },
        /// Load at which latency is measured, as a share of the smallest rate: 70% or 0.7. The smallest rate is that of the slowest system.
        pub load: Share<1_000, 999_000, 1> => { value: "LOAD", default: "70%", heading: HEADING },
        /// Packets of a flow between SYN and FIN: forever, a number, web-search or a file. In web-search, most flows are short and a few are
        /// very long. A CSV file has the columns bytes and cumulative share. A capture has its own.
        pub sizes: Sizes => { value: "SIZES", default: "forever", heading: HEADING },
        /// Arrival process of the packets. A capture has its own times.
        pub arrivals: Arrivals => { value: "HOW", default: "even", heading: HEADING },
    }
}

choices! {
    /// Arrival process of generated packets.
    pub enum Arrivals {
        /// At equal distances.
        Even = "even",
        /// As a Poisson process.
        Poisson = "poisson",
    }
}

/// Bits of a frame of 64 bytes on the wire, with preamble and gap (IEEE 802.3).
const SMALLEST_FRAME: u64 = 8 * (64 + 20);
/// The fewest packets a second: a core that handles a packet in a few hundred cycles would never be busy, and a number without a unit that is
/// less lacks one.
const LEAST_RATE: u64 = 1_000;
/// The most packets a second: one in ten picoseconds.
const MOST_RATE: u64 = 100_000_000_000;

/// Rate in packets a second, `14.88Mpps` or `20K`, or in frames of 64 bytes on a line: `10Gbps`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PacketRate(u64);

const RATE: &str = "a rate of 1Kpps or more such as 14.88Mpps, 20K or 10Gbps";

impl PacketRate {
    /// The number of packets a second.
    pub fn packets(self) -> u64 {
        self.0
    }
}

impl Value for PacketRate {
    const UNIT: &'static str = "pps";
    const SHAPE: Shape = Shape::NUMBER;

    fn expected() -> String {
        RATE.to_owned()
    }

    fn parse(text: &str) -> Result<Self, String> {
        let frames = |BitsPerSec(bits)| bits / SMALLEST_FRAME;
        let packets = match text.ends_with("bps") {
            true => text.parse().ok().map(frames),
            false => text.parse().ok().map(|PerSecond(packets)| packets),
        };
        let packets = packets.filter(|packets| (LEAST_RATE..=MOST_RATE).contains(packets));
        packets.map(Self).ok_or_else(|| unexpected(RATE, text))
    }

    fn show(&self) -> String {
        PerSecond(self.0).show()
    }

    fn datum(&self) -> Datum {
        Datum::Integer(self.0)
    }
}

/// Lengths of flows as the user gives them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sizes {
    /// Flows do not end.
    Forever,
    /// Number of packets, at least one.
    Packets(u64),
    /// Flow sizes of a web search workload.
    WebSearch,
    /// Flow sizes from a CSV file.
    File(PathBuf),
}

const FOREVER: &str = "forever";
const WEB_SEARCH: &str = "web-search";
const SIZES: &str = "forever, a number of packets above zero, web-search or a CSV file such as ./sizes.csv";

impl fmt::Display for Sizes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Forever => f.write_str(FOREVER),
            Self::Packets(packets) => packets.fmt(f),
            Self::WebSearch => f.write_str(WEB_SEARCH),
            Self::File(path) => path.display().fmt(f),
        }
    }
}

impl FromStr for Sizes {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match (text, u64::parse(text)) {
            (FOREVER, _) => Ok(Self::Forever),
            (WEB_SEARCH, _) => Ok(Self::WebSearch),
            (_, Ok(packets)) if packets > 0 => Ok(Self::Packets(packets)),
            // A word without either is a misspelt name.
            (path, Err(_)) if path.contains(['.', '/']) => Ok(Self::File(path.into())),
            _ => Err(unexpected(SIZES, text)),
        }
    }
}

text_value!(Sizes, SIZES);

impl Sizes {
    /// Reads the file, if it is one.
    ///
    /// # Errors
    ///
    /// The file cannot be read, or is not what it should be.
    pub fn read(&self) -> Result<Lengths, Error> {
        Ok(match self {
            Self::Forever => Lengths::Forever,
            Self::Packets(packets) => Lengths::Packets(*packets),
            Self::WebSearch => Lengths::Drawn(Arc::new(FlowSizes::web_search())),
            Self::File(path) => Lengths::Drawn(Arc::new(FlowSizes::read(path)?)),
        })
    }
}

/// Numbers of packets of generated flows, SYN and FIN not counted.
#[derive(Clone, Debug, PartialEq)]
pub enum Lengths {
    /// Flows do not end.
    Forever,
    /// Number of packets, at least one.
    Packets(u64),
    /// Drawn from a distribution of bytes, in segments of 1460.
    Drawn(Arc<FlowSizes>),
}

#[cfg(test)]
mod tests {
    use trueplane_units::Parameters as _;

    use super::*;

    #[test]
    fn rates_are_of_packets_or_of_a_line() {
        let rate = |text| PacketRate::parse(text).map(PacketRate::packets);
        assert_eq!(["10Gbps", "14.88Mpps", "20K"].map(rate), [Ok(14_880_952), Ok(14_880_000), Ok(20_000)]);
        assert!(
            ["0", "", "pps", "bps", "1T", "-1Mpps", "100bps", "10", "999pps"]
                .iter()
                .all(|bad| rate(bad).is_err())
        );
        let line = PacketRate::parse("10Gbps").unwrap();
        assert_eq!(PacketRate::parse(&line.show()), Ok(line));
    }

    #[test]
    fn loads_and_sizes_are_read_as_they_are_written() {
        let load = |text: &str| TrafficOptions::given(&[("load", text)]).map(|options| options.load.ratio());
        assert_eq!(["70%", "0.7"].map(load), [Ok(0.7), Ok(0.7)]);
        assert!(["0%", "100%", "70", "x%"].iter().all(|bad| load(bad).is_err()));
        for sizes in ["forever", "20", "web-search", "./sizes", "sizes.csv"] {
            assert_eq!(Sizes::parse(sizes).unwrap().show(), sizes);
        }
        assert!(["0", "", "_", "-1", "1e99", "for-ever"].iter().all(|bad| Sizes::parse(bad).is_err()));
        assert!(Sizes::File("no-such-file.csv".into()).read().is_err());
    }
}
