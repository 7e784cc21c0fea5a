//! Senders that keep to no limit: packets of given sizes, evenly, at random or in bursts.

use std::fmt;
use std::str::FromStr;

use rand::distr::{Distribution, Uniform};
use rand::{RngExt, SeedableRng};
use rand_distr::Exp1;
use rand_xoshiro::Xoshiro256PlusPlus;
use trueplane_units::{BitsPerSec, Bytes, Nanos, choices, text_value, unexpected};

/// The smallest packet that can be asked for, in bytes.
pub const SMALLEST_PACKET: u32 = 1;

/// The largest packet that can be asked for, in bytes: what IP can say.
pub const LARGEST_PACKET: u32 = 65_535;

/// A burst sends so many times faster than its source does on average.
const PEAK: u64 = 4;

/// Times are kept in this fraction of a nanosecond, so that even packets of a few bytes at terabits keep their pace.
const FRACTION_BITS: u32 = 32;

/// Lengths of packets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PacketSizes {
    /// All sizes from the first to the last, equally frequent.
    Range(u32, u32),
    /// These, equally frequent.
    List(Vec<u32>),
}

fn expected() -> String {
    format!(
        "packet sizes from {SMALLEST_PACKET} to {LARGEST_PACKET} bytes such as 1500, 64..1500 or 64,512,1500"
    )
}

text_value!(PacketSizes, expected());

impl PacketSizes {
    /// Their mean, in bytes.
    pub fn mean(&self) -> f64 {
        match self {
            PacketSizes::Range(least, most) => (f64::from(*least) + f64::from(*most)) / 2.0,
            PacketSizes::List(sizes) => {
                sizes.iter().map(|&size| f64::from(size)).sum::<f64>() / sizes.len().max(1) as f64
            }
        }
    }

    /// The largest of them, in bytes.
    pub fn largest(&self) -> u32 {
        match self {
            PacketSizes::Range(_, most) => *most,
            PacketSizes::List(sizes) => sizes.iter().copied().max().unwrap_or(0),
        }
    }

    #[inline]
    fn draw(&self, random: &mut Xoshiro256PlusPlus) -> u32 {
        match self {
            PacketSizes::Range(least, most) => random.random_range(*least..=*most),
            PacketSizes::List(sizes) => sizes[random.random_range(0..sizes.len())],
        }
    }
}

impl FromStr for PacketSizes {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let refuse = || unexpected(expected(), text);
        let size = |text: &str| {
            let text = text.trim();
            let bytes: u32 = text.strip_suffix('B').unwrap_or(text).parse().map_err(|_| refuse())?;
            if (SMALLEST_PACKET..=LARGEST_PACKET).contains(&bytes) { Ok(bytes) } else { Err(refuse()) }
        };
        match text.split_once("..") {
            Some((least, most)) => {
                let (least, most) = (size(least)?, size(most)?);
                if least <= most { Ok(PacketSizes::Range(least, most)) } else { Err(refuse()) }
            }
            None => text.split(',').map(size).collect::<Result<_, _>>().map(PacketSizes::List),
        }
    }
}

impl fmt::Display for PacketSizes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PacketSizes::Range(least, most) => write!(f, "{least}..{most}"),
            PacketSizes::List(sizes) => {
                let sizes: Vec<String> = sizes.iter().map(ToString::to_string).collect();
                f.write_str(&sizes.join(","))
            }
        }
    }
}

choices! {
    /// The times at which packets come.
    pub enum Pace {
        /// Constant bit rate: the gap after each packet is the time that it takes at the offered rate.
        Cbr = "cbr",
        /// Exponentially distributed gaps, as in a Poisson process.
        Poisson = "poisson",
        /// Bursts at four times the offered rate, each with a silence after it until the mean is right again.
        ///
        /// A silence is up to three quarters of what the burst bridges: what is lost in a longer one no limiter can give back.
        Bursty = "bursty",
    }
}

/// The packets of a sender, without end.
pub struct Source {
    pace: Pace,
    sizes: PacketSizes,
    offered: BitsPerSec,
    random: Xoshiro256PlusPlus,
    /// Time of the next packet, in fractions of a nanosecond.
    next: u128,
    /// Mean number of bytes in a burst.
    burst: u64,
    /// Bytes that are left of the burst, and those that it has in all.
    left: u64,
    whole: u64,
}

impl Source {
    /// A sender at the rate `offered` to a limiter of the rate `limit` and the burst `burst`, which only
    /// [`Pace::Bursty`] looks at.
    ///
    /// The same seed gives the same packets.
    pub fn new(
        pace: Pace,
        sizes: &PacketSizes,
        offered: BitsPerSec,
        (limit, burst): (BitsPerSec, Bytes),
        seed: u64,
    ) -> Self {
        // Silent for 1 − 1/PEAK of the time that the burst takes at the offered rate, during which half of the limiter's
        // burst drains.
        let silence = u128::from(burst.0) / 2 * u128::from(offered.0) / u128::from(limit.0.max(1));
        let mean = silence * u128::from(PEAK) / u128::from(PEAK - 1);
        Self {
            pace,
            sizes: sizes.clone(),
            offered,
            random: Xoshiro256PlusPlus::seed_from_u64(seed),
            next: 0,
            burst: u64::try_from(mean).unwrap_or(u64::MAX).clamp(1, 1 << 40),
            left: 0,
            whole: 0,
        }
    }

    /// The time that `bytes` take at `rate`, in fractions of a nanosecond.
    #[inline]
    fn span(bytes: u64, rate: u64) -> u128 {
        ((u128::from(bytes) * 8 * 1_000_000_000) << FRACTION_BITS) / u128::from(rate.max(1))
    }

    /// The time from the start of a packet of `bytes` to that of the next one.
    #[inline]
    fn gap(&mut self, bytes: u32) -> u128 {
        let offered = self.offered.0;
        match self.pace {
            Pace::Cbr => Self::span(bytes.into(), offered),
            Pace::Poisson => {
                let mean = self.sizes.mean() * 8e9 / offered.max(1) as f64;
                let draw: f64 = Exp1.sample(&mut self.random);
                (mean * draw * (1u64 << FRACTION_BITS) as f64) as u128
            }
            Pace::Bursty => {
                let at_peak = Self::span(bytes.into(), offered.saturating_mul(PEAK));
                self.left = self.left.saturating_sub(bytes.into());
                if self.left > 0 {
                    return at_peak;
                }
                let sent = self.whole;
                self.begin_burst();
                at_peak + Self::span(sent, offered) - Self::span(sent, offered.saturating_mul(PEAK))
            }
        }
    }

    fn begin_burst(&mut self) {
        let (least, most) = (self.burst.div_ceil(2), self.burst + self.burst / 2);
        let drawn = Uniform::new_inclusive(least, most).map_or(least, |sizes| sizes.sample(&mut self.random));
        self.whole = drawn.max(1);
        self.left = self.whole;
    }
}

impl Iterator for Source {
    /// Its time and its bytes.
    type Item = (Nanos, u32);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        if self.whole == 0 {
            self.begin_burst();
        }
        let bytes = self.sizes.draw(&mut self.random);
        let time = Nanos(u64::try_from(self.next >> FRACTION_BITS).ok()?);
        self.next += self.gap(bytes);
        Some((time, bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMIT: BitsPerSec = BitsPerSec(1_000_000_000);
    const BURST: Bytes = Bytes(150_000);

    fn source(pace: Pace, sizes: &str, load: u64) -> Source {
        let offered = BitsPerSec(LIMIT.0 * load);
        Source::new(pace, &sizes.parse().unwrap(), offered, (LIMIT, BURST), 1)
    }

    #[test]
    fn sizes_are_one_a_range_or_a_list() {
        assert_eq!("1500".parse(), Ok(PacketSizes::List(vec![1500])));
        assert_eq!("64..1500".parse(), Ok(PacketSizes::Range(64, 1500)));
        assert_eq!("64, 512,1500B".parse(), Ok(PacketSizes::List(vec![64, 512, 1500])));
        for bad in ["", "0", "65536", "1500..64", "64..", "64,,1500", "a", "-1", "64...1500"] {
            assert!(bad.parse::<PacketSizes>().is_err(), "{bad}");
        }
        assert_eq!("64..1500".parse::<PacketSizes>().unwrap().mean(), 782.0);
        assert_eq!("64,512".parse::<PacketSizes>().unwrap().largest(), 512);
        assert_eq!("64,512".parse::<PacketSizes>().unwrap().to_string(), "64,512");
    }

    #[test]
    fn every_pace_offers_its_rate_on_average() {
        for &pace in Pace::ALL {
            for sizes in ["64", "64..1500", "64,9000"] {
                let (mut bytes, mut end) = (0, Nanos(0));
                for (time, size) in source(pace, sizes, 2).take_while(|(time, _)| time.0 < 200_000_000) {
                    assert!(time >= end);
                    (bytes, end) = (bytes + u64::from(size), time);
                }
                let share = BitsPerSec::of(Bytes(bytes), end).0 as f64 / (2 * LIMIT.0) as f64;
                assert!((share - 1.0).abs() < 0.02, "{pace:?} {sizes}: {share}");
            }
        }
    }

    #[test]
    fn packets_of_a_constant_rate_come_to_the_nanosecond() {
        // 1500 B at 2 Gbps.
        let times: Vec<u64> = source(Pace::Cbr, "1500", 2).take(4).map(|(time, _)| time.0).collect();
        assert_eq!(times, [0, 6_000, 12_000, 18_000]);
        // 64 B at 300 Gbps: 1.7067 ns apart, which add up to 5.12 ms but for what is cut off below 2⁻³² ns each.
        let offered = BitsPerSec(300_000_000_000);
        let mut fast = Source::new(Pace::Cbr, &"64".parse().unwrap(), offered, (LIMIT, BURST), 1);
        assert_eq!(fast.nth(3_000_000), Some((Nanos(5_119_999), 64)));
    }

    #[test]
    fn silences_are_shorter_than_the_burst_bridges() {
        for load in [1, 2, 5] {
            let times: Vec<u64> =
                source(Pace::Bursty, "64..1500", load).take(50_000).map(|(time, _)| time.0).collect();
            let longest = times.windows(2).map(|pair| pair[1] - pair[0]).max().unwrap();
            // 150 kB at 1 Gbps are 1.2 ms.
            assert!((500_000..950_000).contains(&longest), "{longest}");
        }
    }

    #[test]
    fn a_seed_stands_for_its_packets() {
        let packets = |pace| source(pace, "64..1500", 2).take(100).collect::<Vec<_>>();
        assert_eq!(packets(Pace::Poisson), packets(Pace::Poisson));
        assert_ne!(packets(Pace::Poisson), packets(Pace::Bursty));
    }
}
