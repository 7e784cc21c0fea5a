//! Limits on requests: so many a period, exact to the nanosecond, with what HTTP headers say of them.
//!
//! ```
//! use std::time::Duration;
//!
//! use trueplane_limit::requests::{Quota, RequestLimiter};
//! use trueplane_units::Nanos;
//!
//! // 100 requests a minute, 20 of them at once.
//! let quota = Quota { requests: 100, period: Nanos(60_000_000_000), burst: 20 };
//! let mut limiter = RequestLimiter::new(quota)?;
//! let now = Nanos(1_000_000_000);
//! for _ in 0..20 {
//!     limiter.check(now)?;
//! }
//! let refused = limiter.check(now).unwrap_err();
//! assert_eq!(refused.0, Nanos(600_000_000)); // a hundredth of a minute
//! assert_eq!(refused.seconds(), 1); // for the header Retry-After
//! assert_eq!(Duration::from(refused), Duration::from_millis(600)); // to sleep
//! assert!(limiter.check(now.after(refused.0)).is_ok());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::time::Duration;

use serde::{Deserialize, Serialize};
use trueplane_units::Nanos;

use crate::policy::schedule::Schedule;

/// Requests that are allowed: `requests` in every `period` in the long run, `burst` at once after an idle time.
///
/// In any time `t` at most burst + `t` × requests ÷ period pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Quota {
    /// Requests in a period, at least 1.
    pub requests: u32,
    /// Length of the period, above zero.
    pub period: Nanos,
    /// Requests that may come at once, at least 1.
    pub burst: u32,
}

/// Why there is no such quota.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum QuotaError {
    /// No request would ever pass.
    #[error("expected a quota of at least 1 request in a period, got 0")]
    NoRequests,
    /// The period has no length.
    #[error("expected a period above 0ns, got 0ns")]
    NoPeriod,
    /// No request would fit.
    #[error("expected a burst of at least 1 request, got 0")]
    NoBurst,
    /// A [`KeyedLimiter`](crate::keyed::KeyedLimiter) would refuse every key.
    #[error("expected at least 1 key, got 0")]
    NoKeys,
}

impl Quota {
    /// A quota of `requests` in every second, as many of them at once.
    pub const fn per_second(requests: u32) -> Self {
        Self { requests, period: Nanos(1_000_000_000), burst: requests }
    }

    /// A quota of `requests` in every minute, as many of them at once.
    pub const fn per_minute(requests: u32) -> Self {
        Self { requests, period: Nanos(60_000_000_000), burst: requests }
    }

    /// A quota of `requests` in every hour, as many of them at once.
    pub const fn per_hour(requests: u32) -> Self {
        Self { requests, period: Nanos(3_600_000_000_000), burst: requests }
    }

    /// A quota of `requests` in every day of 24 hours, as many of them at once.
    pub const fn per_day(requests: u32) -> Self {
        Self { requests, period: Nanos(86_400_000_000_000), burst: requests }
    }

    /// The same rate with another burst.
    pub const fn with_burst(self, burst: u32) -> Self {
        Self { burst, ..self }
    }

    /// The quota itself if requests pass under it.
    ///
    /// # Errors
    /// If one of its numbers is zero.
    pub fn checked(self) -> Result<Self, QuotaError> {
        match self {
            Self { requests: 0, .. } => Err(QuotaError::NoRequests),
            Self { period: Nanos(0), .. } => Err(QuotaError::NoPeriod),
            Self { burst: 0, .. } => Err(QuotaError::NoBurst),
            quota => Ok(quota),
        }
    }

    /// The quota in whole numbers: `requests` units are earned in a nanosecond, and a request costs as many units as its period has
    /// nanoseconds. Neither has a remainder, so that nothing is ever rounded. All products are below 2⁹⁷.
    #[inline]
    pub(crate) fn schedule(self) -> Schedule {
        Schedule { rate: self.requests.into(), burst: self.cost(self.burst) }
    }

    /// Units that `requests` cost.
    #[inline]
    pub(crate) fn cost(self, requests: u32) -> u128 {
        u128::from(requests) * u128::from(self.period.0)
    }
}

/// A refusal that ends: the time after which the same request passes if no other comes meanwhile, exact to the nanosecond.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, thiserror::Error)]
#[error("too many requests; retry after {0:#}")]
pub struct RetryAfter(pub Nanos);

impl RetryAfter {
    /// Whole seconds to wait, rounded up, as the HTTP header `Retry-After` counts them (RFC 9110 §10.2.3).
    pub fn seconds(self) -> u64 {
        self.0.0.div_ceil(1_000_000_000)
    }
}

/// The whole wait, to the nanosecond.
impl From<RetryAfter> for Duration {
    fn from(RetryAfter(wait): RetryAfter) -> Self {
        wait.into()
    }
}

/// Why requests are refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Refused {
    /// They pass later.
    #[error(transparent)]
    RetryAfter(#[from] RetryAfter),
    /// They never pass, for they are more than the burst.
    #[error("expected at most {burst} requests at once, got {requests}")]
    BeyondBurst {
        /// Requests that were asked for together.
        requests: u32,
        /// Requests that the quota allows at once.
        burst: u32,
    },
    /// The key is new, and a [`KeyedLimiter`](crate::keyed::KeyedLimiter) has as many keys as it may have.
    #[error("expected at most {keys} keys in use, and all of them are")]
    Full {
        /// Keys that the limiter may have.
        keys: usize,
    },
}

/// A limiter of requests under one [`Quota`], by virtual scheduling (GCRA).
///
/// The state is one number, the theoretical arrival time, kept in units of which the quota earns and a request costs a whole number, so
/// that verdicts are exact. Unlike a window that is counted and reset, it never lets twice the quota through around a
/// boundary.
///
/// Time is the caller's: nanoseconds from any fixed moment, such as the start of the process. A request whose `now` lies before that
/// of an earlier one is held against its own time, which can only be stricter. Saved state ([`serde`]) goes on if the clock does, and
/// otherwise after [`rebased`](Self::rebased).
///
/// Cost: O(1), 32 bytes. Source: ITU-T I.371 Annex A, as [`Gcra`](crate::policy::Gcra), whose arithmetic this is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Saved")]
pub struct RequestLimiter {
    quota: Quota,
    /// Theoretical arrival time, times the requests of a period.
    #[serde(with = "crate::wide")]
    tat: u128,
}

/// A limiter as it is saved, whose quota nobody has checked.
#[derive(Deserialize)]
struct Saved {
    quota: Quota,
    #[serde(with = "crate::wide")]
    tat: u128,
}

impl TryFrom<Saved> for RequestLimiter {
    type Error = QuotaError;

    fn try_from(saved: Saved) -> Result<Self, QuotaError> {
        Ok(Self { quota: saved.quota.checked()?, tat: saved.tat })
    }
}

impl RequestLimiter {
    /// A limiter that has been idle for ever.
    ///
    /// # Errors
    /// If one of the quota's numbers is zero.
    pub fn new(quota: Quota) -> Result<Self, QuotaError> {
        Ok(Self { quota: quota.checked()?, tat: 0 })
    }

    /// A limiter in the middle of its life; the quota is a checked one.
    pub(crate) fn resume(quota: Quota, tat: u128) -> Self {
        Self { quota, tat }
    }

    /// The quota.
    pub fn quota(&self) -> Quota {
        self.quota
    }

    /// Takes a request at `now`, and counts it if it passes.
    ///
    /// # Errors
    /// If it does not: the time to wait. Nothing is counted then.
    pub fn check(&mut self, now: Nanos) -> Result<(), RetryAfter> {
        self.admit(1, now)
    }

    /// Takes `requests` at `now` that pass together or not at all; also for a request that costs as much as several.
    ///
    /// # Errors
    /// If they do not pass: the time to wait, or that they are more than the burst. Nothing is counted then.
    pub fn check_n(&mut self, requests: u32, now: Nanos) -> Result<(), Refused> {
        let burst = self.quota.burst;
        if requests > burst {
            return Err(Refused::BeyondBurst { requests, burst });
        }
        Ok(self.admit(requests, now)?)
    }

    /// Requests that would pass together at `now`: the header field `RateLimit` calls them remaining.
    pub fn remaining(&self, now: Nanos) -> u32 {
        let schedule = self.quota.schedule();
        let left =
            schedule.burst.saturating_sub(schedule.backlog(self.tat, now)) / u128::from(self.quota.period.0);
        // The burst has 32 bits, and no more than it is left.
        left as u32
    }

    /// The time from `now` until the whole burst is there again if no request comes; zero if it is.
    pub fn reset_after(&self, now: Nanos) -> Nanos {
        self.quota.schedule().fresh(self.tat).unwrap_or(Nanos::MAX).since(now)
    }

    /// Whether the limiter decides from `now` on as one that has never met a request.
    pub fn is_idle(&self, now: Nanos) -> bool {
        self.quota.schedule().backlog(self.tat, now) == 0
    }

    /// The limiter for a clock that says `now` where the other one said `then`. What was used stays used.
    #[must_use]
    pub fn rebased(self, then: Nanos, now: Nanos) -> Self {
        let schedule = self.quota.schedule();
        Self { tat: schedule.arrival(now).saturating_add(schedule.backlog(self.tat, then)), ..self }
    }

    /// The limiter under another quota, which is a checked one: requests that count as used at `now` stay used, up to the new burst.
    pub(crate) fn under(self, quota: Quota, now: Nanos) -> Self {
        let backlog = self.quota.schedule().backlog(self.tat, now);
        let (period, other) = (u128::from(self.quota.period.0), u128::from(quota.period.0));
        // In two parts, so that no product has more than 128 bits; what is less than a unit is used up.
        let used = (backlog / period).saturating_mul(other) + (backlog % period * other).div_ceil(period);
        let schedule = quota.schedule();
        Self { quota, tat: schedule.arrival(now).saturating_add(used.min(schedule.burst)) }
    }

    /// Whether no more than the burst counts as used at `now`, as after any request.
    pub(crate) fn is_within_burst(&self, now: Nanos) -> bool {
        let schedule = self.quota.schedule();
        schedule.backlog(self.tat, now) <= schedule.burst
    }

    /// Theoretical arrival time in units of the quota.
    pub(crate) fn tat(&self) -> u128 {
        self.tat
    }

    /// Takes `requests`, which are no more than the burst.
    fn admit(&mut self, requests: u32, now: Nanos) -> Result<(), RetryAfter> {
        let (schedule, cost) = (self.quota.schedule(), self.quota.cost(requests));
        match schedule.admit(self.tat, cost, now) {
            Some(tat) => {
                self.tat = tat;
                Ok(())
            }
            // Beyond the end of time, 584 years after zero, nobody waits.
            None => Err(RetryAfter(schedule.earliest(self.tat, cost).unwrap_or(Nanos::MAX).since(now))),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn quotas() -> impl Strategy<Value = Quota> {
        let number = || prop_oneof![1..100u32, 1..=u32::MAX];
        let period = prop_oneof![1..100u64, 1..1_000_000_000_000u64];
        (number(), period, number()).prop_map(|(requests, period, burst)| Quota {
            requests,
            period: Nanos(period),
            burst,
        })
    }

    /// Gaps and numbers of requests that come together, as parts of what the quota earns.
    fn arrivals() -> impl Strategy<Value = Vec<(u64, u32)>> {
        let gap = (0..50u32, any::<u64>()).prop_map(|(shift, gap)| gap >> 14 >> shift);
        let requests = prop_oneof![3 => Just(1), 2 => 0..20u32, 1 => any::<u32>()];
        prop::collection::vec((gap, requests), 1..80)
    }

    proptest! {
        /// Admitted at the instant that was told, refused one nanosecond before.
        #[test]
        fn the_wait_is_exact(quota in quotas(), arrivals in arrivals()) {
            let mut limiter = RequestLimiter::new(quota).unwrap();
            let mut now = Nanos(0);
            for (gap, requests) in arrivals {
                now = now.after(Nanos(gap));
                let before = limiter;
                match limiter.check_n(requests, now) {
                    Ok(()) => prop_assert!(requests <= before.remaining(now)),
                    Err(Refused::BeyondBurst { .. }) => prop_assert!(requests > quota.burst),
                    Err(Refused::RetryAfter(RetryAfter(wait))) => {
                        prop_assert_eq!(limiter, before);
                        prop_assert!(wait.0 > 0 && requests > before.remaining(now));
                        let then = now.after(wait);
                        if then == Nanos::MAX {
                            break;
                        }
                        prop_assert!(before.clone().check_n(requests, then).is_ok());
                        let early = RetryAfter(Nanos(1)).into();
                        prop_assert_eq!(before.clone().check_n(requests, Nanos(then.0 - 1)), Err(early));
                    }
                    Err(other) => prop_assert!(false, "{}", other),
                }
            }
        }

        /// Whatever the times, no interval lets through more than burst + rate × time.
        #[test]
        fn no_interval_lets_through_more_than_the_quota(quota in quotas(), arrivals in arrivals()) {
            let mut limiter = RequestLimiter::new(quota).unwrap();
            let (mut now, mut passed) = (Nanos(0), Vec::new());
            for (gap, requests) in arrivals {
                now = now.after(Nanos(gap));
                if limiter.check_n(requests, now).is_ok() {
                    passed.push((now, u128::from(requests)));
                }
            }
            let period = u128::from(quota.period.0);
            for first in 0..passed.len() {
                let mut sum = 0;
                for &(now, requests) in &passed[first..] {
                    sum += requests;
                    let earned = u128::from(now.since(passed[first].0).0) * u128::from(quota.requests);
                    prop_assert!(sum * period <= u128::from(quota.burst) * period + earned);
                }
            }
        }

        /// Remaining requests pass together and one more does not; after the reset the whole burst is there, and not before.
        #[test]
        fn headers_tell_what_is_so(quota in quotas(), arrivals in arrivals()) {
            let mut limiter = RequestLimiter::new(quota).unwrap();
            let mut now = Nanos(0);
            for (gap, requests) in arrivals {
                now = now.after(Nanos(gap));
                let _ = limiter.check_n(requests, now);
                let remaining = limiter.remaining(now);
                prop_assert!(limiter.clone().check_n(remaining, now).is_ok());
                prop_assert!(remaining == quota.burst || limiter.clone().check_n(remaining + 1, now).is_err());
                let reset = limiter.reset_after(now);
                prop_assert_eq!(limiter.is_idle(now), reset == Nanos(0));
                if now.after(reset) == Nanos::MAX {
                    break;
                }
                prop_assert_eq!(limiter.remaining(now.after(reset)), quota.burst);
                prop_assert!(reset.0 == 0 || !limiter.is_idle(Nanos(now.0 + reset.0 - 1)));
            }
        }
    }

    #[test]
    fn a_third_of_a_nanosecond_is_not_lost() {
        // 3 requests in 10 ns: one in 3 1/3 ns. Who asks in every nanosecond gets the burst and 30 in 100 ns.
        let mut limiter = RequestLimiter::new(Quota { requests: 3, period: Nanos(10), burst: 2 }).unwrap();
        let passed: Vec<u64> =
            (0..=100).flat_map(|now| [now, now]).filter(|&now| limiter.check(Nanos(now)).is_ok()).collect();
        assert_eq!(passed.len(), 2 + 30);
        assert_eq!(passed[..6], [0, 0, 4, 7, 10, 14]);
    }

    #[test]
    fn quotas_that_let_nothing_through_are_refused() {
        let quota = Quota::per_minute(5);
        assert_eq!(RequestLimiter::new(Quota { requests: 0, ..quota }), Err(QuotaError::NoRequests));
        assert_eq!(RequestLimiter::new(Quota { period: Nanos(0), ..quota }), Err(QuotaError::NoPeriod));
        assert_eq!(RequestLimiter::new(quota.with_burst(0)), Err(QuotaError::NoBurst));
        let text = r#"{"quota":{"requests":5,"period":0,"burst":5},"tat":[0,7]}"#;
        let error = serde_json::from_str::<RequestLimiter>(text).unwrap_err();
        assert!(error.to_string().starts_with("expected a period above 0ns, got 0ns"), "{error}");
    }

    #[test]
    fn the_ends_of_time_do_not_overflow() {
        let most = Quota { requests: u32::MAX, period: Nanos::MAX, burst: u32::MAX };
        for quota in [most, Quota { requests: 1, ..most }] {
            let mut limiter = RequestLimiter::new(quota).unwrap();
            for now in [Nanos(0), Nanos::MAX, Nanos(1), Nanos::MAX] {
                let _ = (limiter.check_n(u32::MAX, now), limiter.check(now));
                let _ = (limiter.remaining(now), limiter.reset_after(now));
            }
        }
    }
}
