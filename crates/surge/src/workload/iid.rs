//! Packets that are drawn, each by itself: `iid:size=normal:4000bit:400bit,job=normal:4us:500ns,packets=200K,flows=100`.

use std::str::FromStr;

use rand::{RngExt as _, SeedableRng as _};
use rand_distr::{Distribution as _, Exp1, StandardNormal};
use rand_xoshiro::Xoshiro256PlusPlus;
use trueplane_units::{Nanos, scale_decimal};

use super::size::Size;
use crate::jobs::MOST_JOB;
use crate::traffic::{Load, Offered};

/// Without a number, so many packets are drawn.
pub const USUAL_PACKETS: u64 = 200_000;

/// At most so many packets are drawn.
pub const MOST_PACKETS: u64 = 1 << 30;

/// Without a number, so many flows send.
pub const USUAL_FLOWS: u32 = 100;

/// At most so many flows send.
pub const MOST_FLOWS: u32 = 1 << 24;

/// Distribution of a quantity, in whole bits or nanoseconds: draws are rounded, and repeated if they are below one or above the maximum.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Distribution {
    /// Always the same.
    Constant(u64),
    /// Evenly from the first to the second.
    Uniform(u64, u64),
    /// Normal, with this mean and standard deviation.
    Normal(u64, u64),
    /// Exponential, with this mean.
    Exponential(u64),
    /// Its logarithm is normal: the median, and the standard deviation of the natural logarithm.
    LogNormal(u64, f64),
    /// Pareto between two bounds, with this exponent: P(X > x) falls as x to the minus exponent.
    Pareto(u64, u64, f64),
}

impl Distribution {
    /// Draws a value from 1 to `most`.
    ///
    /// One in three draws or more is taken: parameters are within that span.
    fn draw(self, most: u64, random: &mut Xoshiro256PlusPlus) -> u64 {
        loop {
            let value = match self {
                Distribution::Constant(value) => return value,
                Distribution::Uniform(least, most) => return random.random_range(least..=most),
                Distribution::Normal(mean, deviation) => {
                    let normal: f64 = StandardNormal.sample(random);
                    mean as f64 + normal * deviation as f64
                }
                Distribution::Exponential(mean) => {
                    let exponential: f64 = Exp1.sample(random);
                    mean as f64 * exponential
                }
                Distribution::LogNormal(median, sigma) => {
                    let normal: f64 = StandardNormal.sample(random);
                    median as f64 * (normal * sigma).exp()
                }
                Distribution::Pareto(least, most, exponent) => {
                    // The inverse of its distribution function, which is cut off at `most`.
                    let cut = 1.0 - (least as f64 / most as f64).powf(exponent);
                    least as f64 * (1.0 - random.random::<f64>() * cut).powf(-1.0 / exponent)
                }
            }
            .round();
            if (1.0..=most as f64).contains(&value) {
                return value as u64;
            }
        }
    }

    /// Reads `normal:4000bit:400bit`, or a plain quantity for a constant.
    fn parse(text: &str, unit: Unit) -> Result<Self, String> {
        let refuse = || format!("expected {}, got \"{text}\"", unit.expected());
        let (name, parameters) = text.split_once(':').unwrap_or(("constant", text));
        let parameters: Vec<&str> = parameters.split(':').collect();
        let quantity = |text: &str| unit.parse(text).ok_or_else(refuse);
        let number = |text: &str| parse_number(text).ok_or_else(refuse);
        let parsed = match (name, parameters.as_slice()) {
            ("constant", [value]) => Distribution::Constant(quantity(value)?),
            ("uniform", [least, most]) => Distribution::Uniform(quantity(least)?, quantity(most)?),
            ("normal", [mean, deviation]) => Distribution::Normal(quantity(mean)?, quantity(deviation)?),
            ("exponential", [mean]) => Distribution::Exponential(quantity(mean)?),
            ("lognormal", [median, sigma]) => Distribution::LogNormal(quantity(median)?, number(sigma)?),
            ("pareto", [least, most, exponent]) => {
                Distribution::Pareto(quantity(least)?, quantity(most)?, number(exponent)?)
            }
            _ => return Err(refuse()),
        };
        match parsed {
            Distribution::Uniform(least, most) | Distribution::Pareto(least, most, _) if least > most => {
                Err(format!("expected bounds that do not fall, got \"{text}\""))
            }
            _ => Ok(parsed),
        }
    }
}

/// Unit of a distribution.
#[derive(Clone, Copy, PartialEq)]
enum Unit {
    Bits,
    Nanos,
}

impl Unit {
    /// One or more, or nothing.
    fn parse(self, text: &str) -> Option<u64> {
        match self {
            Unit::Bits => text.parse::<Size>().ok().map(|size| u64::from(size.bits())),
            Unit::Nanos => {
                text.parse::<Nanos>().ok().filter(|job| (Nanos(1)..=MOST_JOB).contains(job)).map(|job| job.0)
            }
        }
    }

    fn expected(self) -> String {
        let (some, more, range) = match self {
            Unit::Bits => ("64B", "1500B", "sizes from 1bit to 512MiB"),
            Unit::Nanos => ("4us", "1ms", "times from 1ns to 1min"),
        };
        format!(
            "a distribution such as {some}, uniform:{some}:{more}, normal:MEAN:DEVIATION, exponential:MEAN, \
             lognormal:MEDIAN:SIGMA or pareto:LEAST:MOST:EXPONENT of {range}"
        )
    }
}

/// A plain number from 0.001 to 10.
fn parse_number(text: &str) -> Option<f64> {
    let thousandths = scale_decimal(text, 1_000).filter(|thousandths| (1..=10_000).contains(thousandths))?;
    Some(thousandths as f64 / 1e3)
}

/// Packets whose sizes, jobs and flows are drawn independently of each other and of other packets.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Iid {
    /// Sizes in bits.
    pub size: Distribution,
    /// Jobs in nanoseconds.
    pub job: Distribution,
    /// Number of packets.
    pub packets: u64,
    /// Flows, evenly among which packets are drawn.
    pub flows: u32,
}

impl Default for Iid {
    /// That of issue and thesis: a bit per nanosecond.
    fn default() -> Self {
        Self {
            size: Distribution::Normal(4_000, 400),
            job: Distribution::Normal(4_000, 500),
            packets: USUAL_PACKETS,
            flows: USUAL_FLOWS,
        }
    }
}

impl Iid {
    /// The packets of a seed, always the same.
    pub fn draw<P>(&self, seed: u64) -> Vec<Offered<P>> {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let offered = |_| {
            let bits = self.size.draw(u32::MAX.into(), &mut random);
            let job = Nanos(self.job.draw(MOST_JOB.0, &mut random));
            let flow = random.random_range(0..self.flows).into();
            Offered {
                flow,
                bits: u32::try_from(bits).unwrap_or(u32::MAX),
                load: Load::Given { job, estimate: job },
            }
        };
        (0..self.packets).map(offered).collect()
    }
}

/// Reads what follows `iid:`.
impl FromStr for Iid {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let mut iid = Self::default();
        for part in text.split(',').map(str::trim).filter(|part| !part.is_empty()) {
            let expected =
                || format!("expected size=…, job=…, packets=… or flows=… after iid:, got \"{part}\"");
            let (name, value) = part.split_once('=').ok_or_else(expected)?;
            let within = |most: u64, what: &str| {
                let number = count(value.trim()).filter(|count| (1..=most).contains(count));
                number
                    .ok_or_else(|| format!("expected 1 to {most} {what} such as {name}=100, got \"{value}\""))
            };
            let wrong = |error: String| format!("{name}: {error}");
            match name.trim() {
                "size" => iid.size = Distribution::parse(value.trim(), Unit::Bits).map_err(wrong)?,
                "job" => iid.job = Distribution::parse(value.trim(), Unit::Nanos).map_err(wrong)?,
                "packets" => iid.packets = within(MOST_PACKETS, "packets")?,
                "flows" => {
                    let flows = within(MOST_FLOWS.into(), "flows")?;
                    iid.flows = u32::try_from(flows).unwrap_or(MOST_FLOWS);
                }
                _ => return Err(expected()),
            }
        }
        Ok(iid)
    }
}

/// A count with an optional `K` or `M`.
pub(super) fn count(text: &str) -> Option<u64> {
    let scales = [("K", 1_000), ("k", 1_000), ("M", 1_000_000), ("", 1)];
    let (number, scale) =
        scales.into_iter().find_map(|(suffix, scale)| Some((text.strip_suffix(suffix)?, scale)))?;
    scale_decimal(number, scale).filter(|_| scale > 1 || !number.contains('.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mean(distribution: &str, unit: Unit) -> (f64, u64, u64) {
        let distribution = Distribution::parse(distribution, unit).unwrap();
        let mut random = Xoshiro256PlusPlus::seed_from_u64(7);
        let most = if unit == Unit::Bits { u32::MAX.into() } else { MOST_JOB.0 };
        let drawn: Vec<u64> = (0..200_000).map(|_| distribution.draw(most, &mut random)).collect();
        let sum: u64 = drawn.iter().sum();
        (sum as f64 / drawn.len() as f64, *drawn.iter().min().unwrap(), *drawn.iter().max().unwrap())
    }

    #[test]
    fn distributions_have_their_means_and_bounds() {
        for (text, expected) in [
            ("64B", 512.0),
            ("constant:64B", 512.0),
            ("uniform:100b:200b", 150.0),
            ("normal:4000b:400b", 4000.0),
            ("exponential:4000b", 4000.0),
            // e^(σ²/2) times the median.
            ("lognormal:4000b:0.5", 4532.6),
            // Between 1000 and 100,000 with exponent 2: 2 · 1000 · (1 − 1/100) / (1 − 1/100²).
            ("pareto:1000b:100000b:2", 1980.2),
        ] {
            let (found, least, most) = mean(text, Unit::Bits);
            assert!((found / expected - 1.0).abs() < 0.01, "{text}: {found}");
            match Distribution::parse(text, Unit::Bits).unwrap() {
                Distribution::Uniform(from, to) => assert_eq!((least, most), (from, to)),
                Distribution::Pareto(from, to, _) => assert!(least >= from && most <= to),
                _ => assert!(least >= 1),
            }
        }
        // Cut off below one, which moves the mean: nothing is negative or zero.
        assert_eq!(mean("normal:1ns:10ns", Unit::Nanos).1, 1);
        assert_eq!(mean("exponential:1ns", Unit::Nanos).1, 1);
    }

    #[test]
    fn workloads_are_read() {
        let parsed = |text: &str| text.parse::<Iid>();
        assert_eq!(parsed(""), Ok(Iid::default()));
        let text = "size=pareto:64B:1500B:1.2, job=lognormal:1us:2,packets=1M,flows=7";
        let expected = Iid {
            size: Distribution::Pareto(512, 12_000, 1.2),
            job: Distribution::LogNormal(1_000, 2.0),
            packets: 1_000_000,
            flows: 7,
        };
        assert_eq!(parsed(text), Ok(expected));
        for (bad, said) in [
            ("size", "expected size=…, job=…, packets=… or flows=… after iid:, got \"size\""),
            ("sizes=64B", "got \"sizes=64B\""),
            ("size=64", "size: expected a distribution such as 64B"),
            ("size=normal:64B", "got \"normal:64B\""),
            ("size=normal:64B:0B", "got \"normal:64B:0B\""),
            ("size=zipf:1B:2B", "got \"zipf:1B:2B\""),
            ("size=uniform:2B:1B", "expected bounds that do not fall"),
            ("job=4", "job: expected a distribution such as 4us"),
            ("job=61s", "times from 1ns to 1min, got \"61s\""),
            ("job=lognormal:1us:-1", "got \"lognormal:1us:-1\""),
            ("job=pareto:1us:2us:0", "got \"pareto:1us:2us:0\""),
            ("job=exponential:NaN", "got \"exponential:NaN\""),
            ("packets=0", "expected 1 to 1073741824 packets such as packets=100, got \"0\""),
            ("packets=1.5", "got \"1.5\""),
            ("flows=-1", "expected 1 to 16777216 flows"),
        ] {
            let error = parsed(bad).expect_err(bad);
            assert!(error.contains(said), "{bad}: {error}");
        }
    }

    #[test]
    fn one_seed_is_one_sample() {
        let iid = Iid { packets: 1_000, ..Iid::default() };
        let drawn = |seed| iid.draw::<()>(seed);
        assert_eq!(drawn(1), drawn(1));
        assert_ne!(drawn(1), drawn(2));
        assert!(drawn(1).iter().all(|packet| packet.flow < 100));
    }
}
