//! Limiters made from a name, a rate, a burst and a marking threshold, and what the studies ask of all of them.

use std::fmt;

use trueplane_study::Error;
use trueplane_units::{BitsPerSec, Bytes, Nanos};

use crate::Limiter;
use crate::drain::{Drain, DrainTable, Tabled};
use crate::policy::{Gcra, Nimble, PolicyName, SingleRateMeter, TokenBucket, TwoRateMeter};

/// Settings from which a limiter is made.
///
/// What the policies have beside them: a token bucket and GCRA never mark. A single-rate meter's committed burst is the marking
/// threshold, and its excess burst the rest of the burst. A two-rate meter's peak rate and burst are rate and burst, its
/// committed rate is half of the rate and its committed burst the marking threshold. Without a threshold neither meter marks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Rate at which it drains.
    pub rate: BitsPerSec,
    /// Bytes that it holds.
    pub burst: Bytes,
    /// Occupancy above which packets are marked; never if there is none.
    pub mark: Option<Bytes>,
}

/// A limiter as the studies keep it.
pub trait Kept: Limiter + Copy + Send {
    /// Occupancy of the bucket as of the last packet, if the policy can tell.
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
    /// Result of the visit.
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
