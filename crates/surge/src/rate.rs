//! Rates as people write them: absolute, a share of what the server can serve, or many of them in a sweep.

use std::fmt;
use std::str::FromStr;

use trueplane_study::Error;
use trueplane_units::{BitsPerSec, scale_share, text_value, unexpected};

/// A sweep has so many rates at most.
const MOST_POINTS: u64 = 1000;

/// Rates in a decade of a sweep, if nobody says how many.
const POINTS_PER_DECADE: f64 = 3.0;

/// A rate, or a share of what the server can serve of users.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rate {
    /// Rate in bits per second.
    Absolute(BitsPerSec),
    /// Share of r_max, the throughput on average traffic, in millionths.
    Share(u64),
    /// Rate of the trace, by its timestamps.
    Own,
}

const RATE: &str = "a rate above zero such as 10Gbps, 90% of r_max, or own";

text_value!(Rate, RATE);

impl Rate {
    /// The rate in bits per second, with r_max given in bits per nanosecond; at least 1 bit/s.
    ///
    /// # Errors
    /// If it is that of a trace without times, or one that is too fast to be told.
    pub fn resolve(self, most_rate: f64, own: Option<BitsPerSec>) -> Result<BitsPerSec, Error> {
        match self {
            Rate::Absolute(rate) => Ok(rate),
            Rate::Share(millionths) => {
                let rate = (most_rate * 1e9 * millionths as f64 / 1e6).round();
                if rate < 1e18 {
                    return Ok(BitsPerSec((rate as u64).max(1)));
                }
                Err(Error::Parameters(format!("{self} of r_max is more than can be simulated")))
            }
            Rate::Own => own.ok_or_else(|| {
                Error::Parameters("the rate own needs a trace with times: this workload has none".to_owned())
            }),
        }
    }
}

impl FromStr for Rate {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let text = text.trim();
        let refuse = || unexpected(RATE, text);
        if text == "own" {
            return Ok(Rate::Own);
        }
        if let Some(millionths) = scale_share(text, 1_000_000) {
            // A thousand times what the server can serve, and less.
            return (1..=1_000_000_000)
                .contains(&millionths)
                .then_some(Rate::Share(millionths))
                .ok_or_else(refuse);
        }
        match text.parse() {
            Ok(BitsPerSec(0)) | Err(_) => Err(refuse()),
            Ok(rate) => Ok(Rate::Absolute(rate)),
        }
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Rate::Absolute(rate) => f.pad(&format!("{rate:#}")),
            Rate::Share(millionths) => f.pad(&format!("{}%", *millionths as f64 / 1e4)),
            Rate::Own => f.pad("own"),
        }
    }
}

/// Rates with the same ratio from each to the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sweep {
    /// The lowest rate.
    pub from: Rate,
    /// The highest rate.
    pub to: Rate,
    /// Number of rates; without it, about three in a decade.
    pub points: Option<u64>,
}

const SWEEP: &str = "rates above zero such as 10Mbps, 5% or 1Mbps..10Gbps:9 with 2 to 1000 points";

text_value!(Sweep, SWEEP);

impl Sweep {
    /// The rates, ascending and each once.
    ///
    /// # Errors
    /// If a rate cannot be told, or the last is before the first.
    pub fn resolve(self, most_rate: f64) -> Result<Vec<BitsPerSec>, Error> {
        let [from, to] = [self.from, self.to].map(|rate| rate.resolve(most_rate, None));
        let (from, to) = (from?, to?);
        if from == to {
            return Ok(vec![from]);
        }
        if from > to {
            return Err(Error::Parameters(format!(
                "expected rates from low to high, got {from:#} to {to:#}"
            )));
        }
        let decades = (to.0 as f64 / from.0 as f64).log10();
        let points = self.points.unwrap_or(((decades * POINTS_PER_DECADE).round() as u64).max(1) + 1);
        let steps = (points - 1) as f64;
        let between = |step: u64| {
            let rate = from.0 as f64 * 10f64.powf(decades * step as f64 / steps);
            BitsPerSec((rate.round() as u64).clamp(from.0, to.0))
        };
        let mut rates: Vec<BitsPerSec> = (0..points).map(between).collect();
        rates.dedup();
        Ok(rates)
    }
}

impl FromStr for Sweep {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let text = text.trim();
        let refuse = || unexpected(SWEEP, text);
        let rate = |text: &str| match text.parse() {
            Ok(Rate::Own) | Err(_) => Err(refuse()),
            Ok(rate) => Ok(rate),
        };
        let Some((from, rest)) = text.split_once("..") else {
            let rate = rate(text)?;
            return Ok(Self { from: rate, to: rate, points: None });
        };
        let (to, points) = match rest.split_once(':') {
            None => (rest, None),
            Some((to, points)) => {
                let points = points.parse().ok().filter(|points| (2..=MOST_POINTS).contains(points));
                (to, Some(points.ok_or_else(refuse)?))
            }
        };
        Ok(Self { from: rate(from)?, to: rate(to)?, points })
    }
}

impl fmt::Display for Sweep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { from, to, points } = self;
        match points {
            None if from == to => f.pad(&from.to_string()),
            None => f.pad(&format!("{from}..{to}")),
            Some(points) => f.pad(&format!("{from}..{to}:{points}")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_absolute_or_shares_of_what_can_be_served() {
        let rate = |text: &str| text.parse::<Rate>().unwrap().resolve(2.0, None).unwrap().0;
        assert_eq!([rate("10Mbps"), rate("90%"), rate("0.05%")], [10_000_000, 1_800_000_000, 1_000_000]);
        for bad in ["0bps", "0%", "-1%", "10", "Gbps", "NaN%", "inf", "1e3%", "200000%"] {
            assert!(bad.parse::<Rate>().is_err(), "{bad}");
        }
        assert_eq!("own".parse::<Rate>().unwrap().resolve(1.0, Some(BitsPerSec(7))).unwrap().0, 7);
        assert!(Rate::Own.resolve(1.0, None).is_err());
    }

    #[test]
    fn sweeps_have_even_ratios_and_both_ends() {
        let sweep = |text: &str| {
            text.parse::<Sweep>()
                .unwrap()
                .resolve(1.0)
                .map(|rates| rates.iter().map(|rate| rate.0).collect::<Vec<_>>())
        };
        assert_eq!(sweep("1kbps..1Mbps:4").unwrap(), [1_000, 10_000, 100_000, 1_000_000]);
        assert_eq!(sweep("1Mbps..10Gbps").unwrap().len(), 13);
        assert_eq!(sweep("5%").unwrap(), [50_000_000]);
        assert_eq!(sweep("1bps..3bps:9").unwrap(), [1, 2, 3]);
        assert!(sweep("2bps..1bps").unwrap_err().to_string().contains("from low to high"));
        let near = sweep("400000000001bps..400Gbps").unwrap_err().to_string();
        assert!(near.ends_with("got 400.000000001Gbps to 400Gbps"), "{near}");
        for bad in
            ["", "..", "1Mbps..", "1Mbps..2Mbps:1", "1Mbps..2Mbps:", "1Mbps..2Mbps:9999", "own", "1Mbps:3"]
        {
            assert!(bad.parse::<Sweep>().is_err(), "{bad}");
        }
    }

    #[test]
    fn what_is_shown_is_read_again() {
        for text in ["10Mbps", "0.1%..100%", "1Mbps..10Gbps:13", "400.000000001Gbps"] {
            assert_eq!(text.parse::<Sweep>().unwrap().to_string(), text);
        }
        assert_eq!(["own", "90%"].map(|text| text.parse::<Rate>().unwrap().to_string()), ["own", "90%"]);
    }
}
