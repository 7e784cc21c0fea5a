//! The crate as somebody uses it who has read its documentation: an API-key limiter in front of a service.

use std::fmt::Debug;

use serde::Serialize;
use serde::de::DeserializeOwned;
use trueplane_limit::credit::Credit;
use trueplane_limit::keyed::KeyedLimiter;
use trueplane_limit::policy::{Gcra, Hierarchy, Nimble, SingleRateMeter, TokenBucket, TwoRateMeter};
use trueplane_limit::requests::{Quota, QuotaError, Refused, RequestLimiter, RetryAfter};
use trueplane_limit::{Limiter, Verdict};
use trueplane_units::{BitsPerSec, Bytes, Nanos};

/// What a value that is held and saved can do.
const fn is_kept<T: Clone + Debug + Send + Sync + Serialize + DeserializeOwned>() {}

/// What an error can do.
const fn is_error<T: std::error::Error + Send + Sync + 'static>() {}

const _: () = {
    is_kept::<RequestLimiter>();
    is_kept::<KeyedLimiter<String>>();
    is_kept::<Quota>();
    is_kept::<Nimble>();
    is_kept::<Gcra>();
    is_kept::<TokenBucket>();
    is_kept::<SingleRateMeter>();
    is_kept::<TwoRateMeter>();
    is_kept::<Hierarchy<Nimble, TokenBucket>>();
    is_kept::<Credit>();
    is_error::<QuotaError>();
    is_error::<Refused>();
    is_error::<RetryAfter>();
    is_error::<trueplane_limit::format::FormatError>();
    is_error::<trueplane_limit::policy::SingleRateError>();
    is_error::<trueplane_limit::policy::TwoRateError>();
};

const SECOND: u64 = 1_000_000_000;

/// An answer of a service: its status and headers.
#[derive(Debug, PartialEq)]
struct Answer {
    status: u16,
    headers: Vec<(&'static str, u64)>,
}

/// Answers a request, or says when to come back.
fn answer(limiter: &mut KeyedLimiter<String>, key: &str, now: Nanos) -> Answer {
    let checked = limiter.check(key, now);
    let mut headers = vec![
        ("RateLimit-Remaining", limiter.remaining(key, now).into()),
        ("RateLimit-Reset", limiter.reset_after(key, now).0.div_ceil(SECOND)),
    ];
    let status = match checked {
        Ok(()) => 200,
        Err(Refused::RetryAfter(wait)) => {
            headers.push(("Retry-After", wait.seconds()));
            429
        }
        Err(_) => 503,
    };
    Answer { status, headers }
}

#[test]
fn a_service_with_api_keys() {
    // Ten requests a minute, three at once.
    let quota = Quota::per_minute(10).with_burst(3);
    let mut limiter = KeyedLimiter::new(quota, 2).unwrap();
    let statuses =
        [0, 0, 0, 0, 1].map(|seconds| answer(&mut limiter, "alice", Nanos(seconds * SECOND)).status);
    assert_eq!(statuses, [200, 200, 200, 429, 429]);
    let refused = answer(&mut limiter, "alice", Nanos(2 * SECOND));
    let headers = vec![("RateLimit-Remaining", 0), ("RateLimit-Reset", 16), ("Retry-After", 4)];
    assert_eq!(refused, Answer { status: 429, headers });
    assert_eq!(answer(&mut limiter, "alice", Nanos(6 * SECOND)).status, 200);
    // Somebody else is not concerned, and a third key finds no room until one of them has been idle.
    assert_eq!(answer(&mut limiter, "bob", Nanos(6 * SECOND)).status, 200);
    assert_eq!(answer(&mut limiter, "carol", Nanos(6 * SECOND)).status, 503);
    assert_eq!(answer(&mut limiter, "carol", Nanos(13 * SECOND)).status, 200);
    // The service starts anew, and nobody has gained by it.
    let saved = serde_json::to_string(&limiter).unwrap();
    let mut limiter: KeyedLimiter<String> = serde_json::from_str(&saved).unwrap();
    assert_eq!(limiter.len(), 2);
    let statuses = [13, 13, 13].map(|seconds| answer(&mut limiter, "alice", Nanos(seconds * SECOND)).status);
    assert_eq!(statuses, [200, 429, 429]);
}

#[test]
fn requests_that_cost_more_than_one() {
    let mut limiter = RequestLimiter::new(Quota::per_second(100).with_burst(50)).unwrap();
    assert_eq!(limiter.check_n(30, Nanos(0)), Ok(()));
    assert_eq!(limiter.check_n(30, Nanos(0)), Err(Refused::RetryAfter(RetryAfter(Nanos(SECOND / 10)))));
    assert_eq!(limiter.check_n(51, Nanos(0)), Err(Refused::BeyondBurst { requests: 51, burst: 50 }));
    assert_eq!((limiter.remaining(Nanos(0)), limiter.reset_after(Nanos(0))), (20, Nanos(3 * SECOND / 10)));
}

#[test]
fn bytes_that_wait_instead_of_being_dropped() {
    // 8 Mbit/s: a packet of 1,500 B takes 1.5 ms.
    let mut bucket = TokenBucket::new(BitsPerSec(8_000_000), Bytes(1_500));
    assert_eq!(bucket.offer(1_500, Nanos(0)), Verdict::Pass);
    assert_eq!(bucket.retry_after(1_500, Nanos(500_000)), Some(Nanos(1_000_000)));
    assert_eq!(bucket.retry_after(1_501, Nanos(500_000)), None);
    let saved = serde_json::to_string(&bucket).unwrap();
    assert_eq!(serde_json::from_str::<TokenBucket>(&saved).unwrap(), bucket);
}
