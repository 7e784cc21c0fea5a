//! The limiters by name, made from a rate, a burst and a marking threshold, and what the studies ask of all of them.

use std::fmt;
use std::str::FromStr;

use trueplane_study::Error;
use trueplane_units::{BitsPerSec, Bytes, Nanos, scale_share};

use crate::Limiter;
use crate::drain::{DrainTable, Tabled};
use crate::policy::{Gcra, Nimble, SingleRateMeter, TokenBucket, TwoRateMeter};

/// A limiter by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PolicyName {
    /// Nimble's leaky bucket in 16 bytes.
    Nimble,
    /// The token bucket.
    TokenBucket,
    /// The generic cell rate algorithm.
    Gcra,
    /// The single-rate meter, RFC 2697.
    SrTcm,
    /// The two-rate meter, RFC 2698.
    TrTcm,
}

impl PolicyName {
    /// Every policy with the name that flags and reports use.
    pub const NAMES: [(&'static str, PolicyName); 5] = [
        ("nimble", PolicyName::Nimble),
        ("token-bucket", PolicyName::TokenBucket),
        ("gcra", PolicyName::Gcra),
        ("srtcm", PolicyName::SrTcm),
        ("trtcm", PolicyName::TrTcm),
    ];

    /// The name.
    pub fn name(self) -> &'static str {
        Self::NAMES.iter().find(|(_, policy)| *policy == self).map_or("", |(name, _)| name)
    }
}

/// How Nimble finds out what has drained since the last packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Drain {
    /// By multiplication.
    Exact,
    /// From a table whose entries err by at most so many millionths.
    Table(u32),
}

/// Not a way to drain.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected exact, or a maximum error from 0.1% to 50% such as 6%, got \"{0}\"")]
pub struct ParseDrainError(String);

impl Drain {
    /// The maximum error, as a ratio.
    pub fn error_max(self) -> f64 {
        match self {
            Drain::Exact => 0.0,
            Drain::Table(millionths) => f64::from(millionths) / 1e6,
        }
    }
}

impl FromStr for Drain {
    type Err = ParseDrainError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let text = text.trim();
        if text == "exact" {
            return Ok(Drain::Exact);
        }
        let millionths = scale_share(text, 1_000_000);
        let millionths = millionths.filter(|millionths| (1_000..=500_000).contains(millionths));
        match millionths.and_then(|millionths| u32::try_from(millionths).ok()) {
            Some(millionths) => Ok(Drain::Table(millionths)),
            None => Err(ParseDrainError(text.to_owned())),
        }
    }
}

impl fmt::Display for Drain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Drain::Exact => f.pad("exact"),
            Drain::Table(millionths) => f.pad(&format!("{}%", f64::from(*millionths) / 10_000.0)),
        }
    }
}

/// What a limiter is made from.
///
/// What the policies have beside them: a token bucket and GCRA never mark. A single-rate meter's committed burst is the marking
/// threshold, and its excess burst the rest of the burst. A two-rate meter's peak rate and burst are rate and burst, its
/// committed rate is half of the rate and its committed burst the marking threshold. Without a threshold neither meter marks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// How fast it drains.
    pub rate: BitsPerSec,
    /// What it holds.
    pub burst: Bytes,
    /// Marked above this.
    pub mark: Option<Bytes>,
}

/// A limiter as the studies keep it.
pub trait Kept: Limiter + Copy + Send {
    /// What is in the bucket as of the last packet, if the policy can tell.
    fn occupancy(&self) -> Option<Bytes> {
        None
    }

    /// Called before a packet at `now`, after the last one at `last`: makes up for the refreshes that were due in between.
    fn refresh(&mut self, _last: Nanos, _now: Nanos) {}
}

impl Kept for Nimble {
    fn occupancy(&self) -> Option<Bytes> {
        Some(Nimble::occupancy(self))
    }

    fn refresh(&mut self, last: Nanos, now: Nanos) {
        self.refresh_between(last, now);
    }
}

impl Kept for Tabled<'_> {
    fn occupancy(&self) -> Option<Bytes> {
        Some(self.nimble.occupancy())
    }

    fn refresh(&mut self, last: Nanos, now: Nanos) {
        self.nimble.refresh_between(last, now);
    }
}

impl Kept for TokenBucket {}
impl Kept for Gcra {}
impl Kept for SingleRateMeter {}
impl Kept for TwoRateMeter {}

/// Does something with a kind of limiter that is only known at run time.
pub trait Visitor {
    /// What comes of it.
    type Output;

    /// Does it with limiters that `make` makes.
    ///
    /// # Errors
    /// Whatever `make` has to say against the settings.
    fn visit<L: Kept>(self, make: impl Fn(&Settings) -> Result<L, Error>) -> Result<Self::Output, Error>;
}

/// Lets `visitor` work with the limiters of this name, drained like this.
///
/// # Errors
/// Those of the visitor.
pub fn with_limiter<V: Visitor>(policy: PolicyName, drain: Drain, visitor: V) -> Result<V::Output, Error> {
    match policy {
        PolicyName::Nimble => match drain {
            Drain::Exact => visitor.visit(|settings| {
                Nimble::new(settings.rate, settings.burst, settings.mark).map_err(parameters)
            }),
            Drain::Table(millionths) => {
                let table = DrainTable::new(millionths).map_err(parameters)?;
                visitor.visit(|settings| {
                    let nimble = Nimble::new(settings.rate, settings.burst, settings.mark);
                    Ok(Tabled { nimble: nimble.map_err(parameters)?, table: &table })
                })
            }
        },
        PolicyName::TokenBucket => {
            visitor.visit(|settings| Ok(TokenBucket::new(settings.rate, settings.burst)))
        }
        PolicyName::Gcra => visitor.visit(|settings| Ok(Gcra::new(settings.rate, settings.burst))),
        PolicyName::SrTcm => visitor.visit(|settings| {
            let committed = settings.mark.map_or(settings.burst, |mark| mark.min(settings.burst));
            let excess = Bytes(settings.burst.0 - committed.0);
            SingleRateMeter::new(settings.rate, committed, excess).map_err(parameters)
        }),
        PolicyName::TrTcm => visitor.visit(|settings| {
            let peak = (settings.rate, settings.burst);
            let committed = settings
                .mark
                .map_or(peak, |mark| (BitsPerSec(settings.rate.0 / 2), mark.min(settings.burst)));
            TwoRateMeter::new(peak, committed).map_err(parameters)
        }),
    }
}

fn parameters(error: impl fmt::Display) -> Error {
    Error::Parameters(error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drains_are_exact_or_have_an_error() {
        assert_eq!("exact".parse(), Ok(Drain::Exact));
        assert_eq!("6%".parse(), Ok(Drain::Table(60_000)));
        assert_eq!("0.5%".parse::<Drain>().unwrap().to_string(), "0.5%");
        for bad in ["", "6", "0%", "0.01%", "51%", "100%", "-1%", "table"] {
            assert!(bad.parse::<Drain>().is_err(), "{bad}");
        }
    }
}
