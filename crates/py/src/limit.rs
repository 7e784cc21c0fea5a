//! Limiters: of bytes by a rate, and of requests by a quota for every key.

use numpy::{IntoPyArray as _, PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;
use trueplane_limit::keyed::KeyedLimiter;
use trueplane_limit::limiter::Kept;
use trueplane_limit::policy::{Gcra, Nimble, TokenBucket};
use trueplane_limit::requests::{Quota, Refused};
use trueplane_units::{BitsPerSec, Bytes, Nanos, Value as _};

use crate::arrays::{at, bytes_of, check_length, check_times, in_chunks};
use crate::errors;

/// A limiter whose policy is known only at run time.
trait Offered: Send + Sync {
    /// The verdicts on packets: 0 passes, 1 is marked, 2 is dropped.
    fn offer(&mut self, sizes: &[u32], times: &[u64]) -> Vec<u8>;

    fn retry_after(&self, bytes: u32, now: Nanos) -> Option<Nanos>;

    fn occupancy(&self) -> Option<Bytes>;
}

struct Driven<L> {
    limiter: L,
    last: Nanos,
}

impl<L: Kept + Sync> Offered for Driven<L> {
    fn offer(&mut self, sizes: &[u32], times: &[u64]) -> Vec<u8> {
        let verdict = |(index, &now)| {
            let now = Nanos(now);
            self.limiter.refresh(self.last, now);
            self.last = now;
            self.limiter.offer(at(sizes, index), now) as u8
        };
        times.iter().enumerate().map(verdict).collect()
    }

    fn retry_after(&self, bytes: u32, now: Nanos) -> Option<Nanos> {
        let mut limiter = self.limiter;
        limiter.refresh(self.last, now);
        limiter.retry_after(bytes, now)
    }

    fn occupancy(&self) -> Option<Bytes> {
        self.limiter.occupancy()
    }
}

/// A limiter of bytes.
#[pyclass(module = "trueplane._native")]
pub(crate) struct Limiter {
    limiter: Box<dyn Offered>,
    last: u64,
}

#[pymethods]
impl Limiter {
    /// An empty bucket of this policy that drains at `rate`, holds `burst`, and marks above `mark`.
    #[new]
    #[pyo3(signature = (policy, rate, burst, mark=None))]
    fn new(policy: &str, rate: &str, burst: &str, mark: Option<&str>) -> PyResult<Self> {
        let wrong = |name: &str, message: String| errors::parameter(format!("{name}: {message}"));
        let rate = BitsPerSec::parse(rate).map_err(|message| wrong("rate", message))?;
        let bytes = |name: &str, text: &str| Bytes::parse(text).map_err(|message| wrong(name, message));
        let burst = bytes("burst", burst)?;
        let mark = mark.map(|mark| bytes("mark", mark)).transpose()?;
        let last = Nanos(0);
        let limiter: Box<dyn Offered> = match policy {
            "nimble" => {
                let limiter =
                    Nimble::new(rate, burst, mark).map_err(|error| errors::parameter(error.to_string()))?;
                Box::new(Driven { limiter, last })
            }
            "token-bucket" | "gcra" if mark.is_some() => {
                return Err(wrong("mark", format!("expected nimble to mark, got {policy}")));
            }
            "token-bucket" => Box::new(Driven { limiter: TokenBucket::new(rate, burst), last }),
            "gcra" => Box::new(Driven { limiter: Gcra::new(rate, burst), last }),
            other => {
                return Err(wrong(
                    "policy",
                    format!("expected nimble, token-bucket or gcra, got \"{other}\""),
                ));
            }
        };
        Ok(Self { limiter, last: 0 })
    }

    /// The verdict on a packet: 0 if it passes, 1 if it is marked, 2 if it is dropped.
    fn offer(&mut self, bytes: u64, now: u64) -> PyResult<u8> {
        let bytes = bytes_of("size", bytes)?;
        check_times(&[now], self.last, "packet")?;
        self.last = now;
        Ok(self.limiter.offer(&[bytes], &[now])[0])
    }

    /// The verdicts on many packets.
    #[expect(clippy::needless_pass_by_value, reason = "arguments of Python come by value")]
    fn offer_many<'py>(
        &mut self,
        py: Python<'py>,
        sizes: PyReadonlyArray1<'py, u64>,
        times: PyReadonlyArray1<'py, u64>,
    ) -> PyResult<Bound<'py, PyArray1<u8>>> {
        let times = times.as_slice()?;
        check_length("sizes", sizes.as_slice()?.len(), times.len(), true)?;
        let sizes =
            sizes.as_slice()?.iter().map(|&bytes| bytes_of("size", bytes)).collect::<PyResult<Vec<u32>>>()?;
        check_times(times, self.last, "packet")?;
        let mut verdicts = Vec::with_capacity(times.len());
        in_chunks(py, times.len(), |range| {
            self.last = times[range.end - 1];
            let sizes = if sizes.len() == 1 { &sizes[..] } else { &sizes[range.clone()] };
            verdicts.extend(self.limiter.offer(sizes, &times[range]));
        })?;
        Ok(verdicts.into_pyarray(py))
    }

    /// The shortest wait in nanoseconds after which a packet passes that came at `now`; none if no wait is long enough.
    fn retry_after(&self, bytes: u64, now: u64) -> PyResult<Option<u64>> {
        let bytes = bytes_of("size", bytes)?;
        check_times(&[now], self.last, "packet")?;
        Ok(self.limiter.retry_after(bytes, Nanos(now)).map(|wait| wait.0))
    }

    /// What is in the bucket as of the last packet, in bytes, if the policy can tell.
    fn occupancy(&self) -> Option<u64> {
        self.limiter.occupancy().map(|bytes| bytes.0)
    }
}

/// A limiter of requests for every key.
#[pyclass(module = "trueplane._native")]
pub(crate) struct RequestLimiter(KeyedLimiter<String>);

/// Whether requests pass, and the wait until they would, if there is one.
fn decision(checked: Result<(), Refused>) -> (bool, Option<u64>) {
    match checked {
        Ok(()) => (true, Some(0)),
        Err(Refused::RetryAfter(wait)) => (false, Some(wait.0.0)),
        Err(_) => (false, None),
    }
}

#[pymethods]
impl RequestLimiter {
    /// So many requests in every period, `burst` of them at once, for up to `keys` keys that are not idle.
    #[new]
    fn new(requests: u32, period: u64, burst: u32, keys: usize) -> PyResult<Self> {
        let quota = Quota { requests, period: Nanos(period), burst };
        let limiter = KeyedLimiter::new(quota, keys).map_err(|error| errors::parameter(error.to_string()))?;
        Ok(Self(limiter))
    }

    fn __len__(&self) -> usize {
        self.0.iter().count()
    }

    /// Whether `requests` of this key pass together, and the wait in nanoseconds until they would, if there is one.
    fn check(&mut self, key: &str, requests: u32, now: u64) -> (bool, Option<u64>) {
        decision(self.0.check_n(key, requests, Nanos(now)))
    }

    /// The number of requests of this key that would pass together at `now`.
    fn remaining(&self, key: &str, now: u64) -> u32 {
        self.0.remaining(key, Nanos(now))
    }

    /// Whether each of many requests passes.
    #[expect(clippy::needless_pass_by_value, reason = "arguments of Python come by value")]
    fn check_many<'py>(
        &mut self,
        py: Python<'py>,
        keys: Vec<String>,
        times: PyReadonlyArray1<'py, u64>,
    ) -> PyResult<Bound<'py, PyArray1<bool>>> {
        let times = times.as_slice()?;
        check_length("times", times.len(), keys.len(), false)?;
        let mut passed = Vec::with_capacity(keys.len());
        in_chunks(py, keys.len(), |range| {
            passed.extend(range.map(|index| self.0.check(keys[index].as_str(), Nanos(times[index])).is_ok()));
        })?;
        Ok(passed.into_pyarray(py))
    }
}
