//! What `surge compare` is asked to do, and what of it makes no sense.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use trueplane_study::Error;
use trueplane_units::{BitsPerSec, Bytes, Nanos, scale_share};

use crate::jobs::MOST_JOB;
use crate::names::PolicyName;
use crate::replay::Replay;
use crate::workload::arrivals::Arrivals;
use crate::workload::size::Size;
use crate::{Capacity, Overflow};

/// Packets are thought to be at least as long as this on a link, in bits, if those of users are not shorter.
pub const USUAL_LEAST_BITS: u32 = 512;

/// At most so many seeds.
pub const MOST_SEEDS: u32 = 1000;

/// A sweep has so many rates at most.
const MOST_POINTS: u64 = 1000;

/// Rates in a decade of a sweep, if nobody says how many.
const POINTS_PER_DECADE: f64 = 3.0;

/// A rate, or a share of what the server can serve of users.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rate {
    /// In bits per second.
    Absolute(BitsPerSec),
    /// In millionths of r_max, the throughput on average traffic.
    Share(u64),
    /// That of the trace, by its times.
    Own,
}

/// Not a rate.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected a rate above zero such as 10Gbps, or 90% of r_max, got \"{0}\"")]
pub struct ParseRateError(String);

impl Rate {
    /// In bits per second, with r_max given in bits per nanosecond; at least 1 bit/s.
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
    type Err = ParseRateError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let text = text.trim();
        let refuse = || ParseRateError(text.to_owned());
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
            Rate::Absolute(rate) => f.pad(&rate.to_string()),
            Rate::Share(millionths) => f.pad(&format!("{}%", *millionths as f64 / 1e4)),
            Rate::Own => f.pad("own"),
        }
    }
}

/// Rates with the same ratio from each to the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sweep {
    /// The first.
    pub from: Rate,
    /// The last.
    pub to: Rate,
    /// How many; none: about three in a decade.
    pub points: Option<u64>,
}

/// Not a sweep of rates.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "expected rates above zero such as 10Mbps, 5% or 1Mbps..10Gbps:9 with 2 to {MOST_POINTS} points, got \"{0}\""
)]
pub struct ParseSweepError(String);

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
    type Err = ParseSweepError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let text = text.trim();
        let refuse = || ParseSweepError(text.to_owned());
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

/// What the attacker sends.
#[derive(Clone, Debug, PartialEq)]
pub enum AttackChoice {
    /// The best attack on each policy, by theory, of those that are sent evenly for a long time.
    Optimal,
    /// The smallest packet with the largest job, whatever the policy.
    Largest,
    /// The worst of so many that are tried, beginning with the best by theory.
    Search {
        /// How many.
        trials: u32,
    },
    /// Packets that the application has for it.
    Own,
    /// What an earlier study sent against each policy at each pair of rates.
    Replay(Arc<Replay>),
    /// By hand.
    Given {
        /// The size of every packet.
        size: Size,
        /// How long each takes.
        job: Nanos,
        /// How long the scheduler thinks that each takes.
        estimate: Nanos,
    },
}

impl AttackChoice {
    /// The name that reports use.
    pub fn name(&self) -> &'static str {
        match self {
            AttackChoice::Optimal => "optimal",
            AttackChoice::Largest => "largest",
            AttackChoice::Search { .. } => "search",
            AttackChoice::Own => "own",
            AttackChoice::Replay(_) => "from a file",
            AttackChoice::Given { .. } => "by hand",
        }
    }
}

/// What to simulate.
#[derive(Clone, Debug)]
pub struct Options {
    /// How fast users send.
    pub innocent: Vec<Rate>,
    /// How fast the attacker does.
    pub attack_rates: Vec<Sweep>,
    /// The orders of service.
    pub policies: Vec<PolicyName>,
    /// Ranks as they are, over a heap, instead of rounded for a find-first-set queue.
    pub exact_ranks: bool,
    /// When packets come.
    pub arrivals: Arrivals,
    /// How much may wait; none: everything.
    pub capacity: Option<Capacity>,
    /// What goes when the buffer is full.
    pub overflow: Overflow,
    /// How many seeds; none: three where something is drawn, else one.
    pub seeds: Option<u32>,
    /// The first of them.
    pub seed: u64,
    /// Memory for packets, waiting and not, of all runs at a time.
    pub memory: Bytes,
    /// What the attacker sends.
    pub attack: AttackChoice,
    /// The smallest packet that is planned for him; none: 64 bytes, or that of users if it is smaller.
    pub smallest_packet: Option<Size>,
    /// The largest job that is planned for him; none: that of users.
    pub largest_job: Option<Nanos>,
    /// What users and attacker send together, at most.
    pub link: Option<BitsPerSec>,
}

impl Default for Options {
    fn default() -> Self {
        let sweep = Sweep { from: Rate::Share(1_000), to: Rate::Share(1_000_000), points: None };
        Self {
            innocent: vec![Rate::Share(900_000)],
            attack_rates: vec![sweep],
            policies: PolicyName::NAMES.map(|(_, policy)| policy).into(),
            exact_ranks: false,
            arrivals: Arrivals::Even,
            capacity: None,
            overflow: Overflow::DropWorst,
            seeds: None,
            seed: 1,
            memory: Bytes(2 << 30),
            attack: AttackChoice::Optimal,
            smallest_packet: None,
            largest_job: None,
            link: None,
        }
    }
}

impl Options {
    /// Refuses what cannot be simulated, as far as that can be told without the workload.
    ///
    /// # Errors
    /// In one line, what was expected and what was found.
    pub fn check(&self) -> Result<(), Error> {
        let refuse = |message: String| Err(Error::Parameters(message));
        if self.innocent.is_empty() || self.attack_rates.is_empty() || self.policies.is_empty() {
            return refuse("expected at least one value of every list".to_owned());
        }
        if let Some(seeds) = self.seeds
            && !(1..=MOST_SEEDS).contains(&seeds)
        {
            return refuse(format!("expected 1 to {MOST_SEEDS} seeds, got {seeds}"));
        }
        if matches!(self.capacity, Some(Capacity::Packets(0) | Capacity::Bits(0))) {
            return refuse("expected a capacity above zero".to_owned());
        }
        if self.attack == (AttackChoice::Search { trials: 0 }) {
            return refuse("expected a search of at least one attack".to_owned());
        }
        if let Some(job) = self.largest_job
            && !(Nanos(1)..=MOST_JOB).contains(&job)
        {
            return refuse(format!("expected a largest job of 1ns to 1min, got {job:#}"));
        }
        match self.attack {
            AttackChoice::Given { job, estimate, .. } if job.max(estimate) > MOST_JOB => {
                refuse(format!("expected an attack with jobs of up to 1min, got {:#}", job.max(estimate)))
            }
            _ => Ok(()),
        }
    }

    /// The seeds, where something is drawn (`random`) or not.
    ///
    /// # Errors
    /// If several seeds are asked for and nothing is drawn.
    pub fn seeds(&self, random: bool) -> Result<Vec<u64>, Error> {
        let random = random || self.arrivals == Arrivals::Poisson;
        let seeds = match self.seeds {
            Some(seeds) if seeds > 1 && !random => {
                return Err(Error::Parameters(format!(
                    "{seeds} seeds would all give the same: nothing is drawn for this workload with --arrivals {}",
                    self.arrivals.name()
                )));
            }
            Some(seeds) => seeds,
            None if random => 3,
            None => 1,
        };
        Ok((0..u64::from(seeds)).map(|number| self.seed.wrapping_add(number)).collect())
    }
}

/// The name of what goes when the buffer is full, as flags and reports use it.
pub fn overflow_name(overflow: Overflow) -> &'static str {
    OVERFLOWS.iter().find(|(_, known)| *known == overflow).map_or("", |(name, _)| name)
}

/// What can go when the buffer is full, with the names that flags and reports use.
pub const OVERFLOWS: [(&str, Overflow); 2] =
    [("worst", Overflow::DropWorst), ("newcomer", Overflow::DropNewcomer)];

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
    fn an_attacker_has_no_longer_jobs_than_users_may_have() {
        let said = |options: Options| options.check().unwrap_err().to_string();
        let largest = |job| Options { largest_job: Some(Nanos(job)), ..Options::default() };
        assert!(largest(MOST_JOB.0).check().is_ok());
        assert_eq!(said(largest(61_000_000_000)), "expected a largest job of 1ns to 1min, got 61s");
        let just_beyond = largest(MOST_JOB.0 + 1);
        assert_eq!(said(just_beyond), "expected a largest job of 1ns to 1min, got 60.000000001s");
        assert_eq!(said(largest(0)), "expected a largest job of 1ns to 1min, got 0ns");
        let given = |job, estimate| {
            let (size, job, estimate) = ("64B".parse().unwrap(), Nanos(job), Nanos(estimate));
            Options { attack: AttackChoice::Given { size, job, estimate }, ..Options::default() }
        };
        assert!(given(MOST_JOB.0, 1).check().is_ok());
        assert!(said(given(1, MOST_JOB.0 + 1)).ends_with("up to 1min, got 60.000000001s"));
        for options in [given(61_000_000_000, 1), given(1, 61_000_000_000)] {
            assert_eq!(said(options), "expected an attack with jobs of up to 1min, got 61s");
        }
    }

    #[test]
    fn several_seeds_need_something_to_draw() {
        let even = Options { seeds: Some(2), ..Options::default() };
        assert_eq!(even.seeds(true).unwrap(), [1, 2]);
        assert!(even.seeds(false).unwrap_err().to_string().starts_with("2 seeds would all give the same"));
        let poisson = Options { arrivals: Arrivals::Poisson, seed: u64::MAX, ..even };
        assert_eq!(poisson.seeds(false).unwrap(), [u64::MAX, 0]);
        let usual = Options::default();
        assert_eq!([usual.seeds(true), usual.seeds(false)].map(|seeds| seeds.unwrap().len()), [3, 1]);
    }
}
