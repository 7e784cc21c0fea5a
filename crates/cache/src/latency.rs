//! How long the backing store takes.

use std::fmt;

use rand_distr::{Distribution, LogNormal};
use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::SeedableRng;
use trueplane_trace::Request;
use trueplane_units::Nanos;

/// The fetch time of a miss, a function of the request alone: every policy that misses on the same request waits
/// equally long, and so do two runs.
#[derive(Clone, Debug, PartialEq)]
pub enum Latency {
    /// The same for all: Z of the thesis, in the unit of the clock.
    Constant(Nanos),
    /// Objects are spread over origins by a hash of their keys; each origin has a latency of its own.
    Origins(Vec<Nanos>),
    /// Drawn anew for every request from a log-normal distribution.
    LogNormal {
        /// Half of the fetches are faster.
        median: Nanos,
        /// The standard deviation of the logarithm.
        sigma: f64,
        /// Number from which the draws begin.
        seed: u64,
    },
    /// The fetch time that the trace tells of the request.
    Trace,
}

impl Latency {
    /// The fetch time of the `index`-th request of the trace, should it miss.
    pub fn of(&self, request: &Request, index: u64) -> Nanos {
        match self {
            Latency::Constant(latency) => *latency,
            Latency::Origins(origins) => origins[spread(request.key, origins.len())],
            Latency::LogNormal { median, sigma, seed } => {
                let mut draw = SplitMix64::seed_from_u64(seed ^ mix(index));
                let factor = LogNormal::new(0.0, *sigma).map_or(1.0, |normal| normal.sample(&mut draw));
                Nanos((median.0 as f64 * factor) as u64)
            }
            Latency::Trace => request.fetch,
        }
    }

    /// The fetch time, if it is the same for all.
    pub fn constant(&self) -> Option<Nanos> {
        match self {
            Latency::Constant(latency) => Some(*latency),
            _ => None,
        }
    }
}

impl fmt::Display for Latency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Latency::Constant(latency) => latency.fmt(f),
            Latency::Origins(origins) => {
                let list: Vec<String> = origins.iter().map(Nanos::to_string).collect();
                write!(f, "origins:{}", list.join(","))
            }
            Latency::LogNormal { median, sigma, .. } => write!(f, "lognormal:{median},{sigma}"),
            Latency::Trace => f.write_str("trace"),
        }
    }
}

/// A bijective mix of 64 bits: the finaliser of SplitMix64 (Steele, Lea, Flood, OOPSLA 2014).
pub fn mix(value: u64) -> u64 {
    let value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}

/// Spreads keys evenly over `ways` ≥ 1: the upper half of mix(key + 2^64/φ) × `ways`.
pub fn spread(key: u64, ways: usize) -> usize {
    ((u128::from(mix(key.wrapping_add(0x9e37_79b9_7f4a_7c15))) * ways as u128) >> 64) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(key: u64) -> Request {
        Request { time: Nanos(0), key, size: 1, fetch: Nanos(9) }
    }

    #[test]
    fn origins_get_a_third_of_the_objects_each() {
        let latency = Latency::Origins(vec![Nanos(68), Nanos(103), Nanos(226)]);
        for origin in [68, 103, 226] {
            let objects = (0..30_000).filter(|&key| latency.of(&request(key), 0).0 == origin).count();
            assert!((9_700..10_300).contains(&objects), "{objects} objects at {origin}");
        }
    }

    #[test]
    fn lognormal_draws_belong_to_the_request_and_have_the_median() {
        let latency = Latency::LogNormal { median: Nanos(1_000_000), sigma: 0.3, seed: 1 };
        let mut draws: Vec<u64> = (0..10_001).map(|index| latency.of(&request(5), index).0).collect();
        assert_eq!(draws[17], latency.of(&request(99), 17).0);
        draws.sort_unstable();
        // One standard deviation above the median lie e^0.3 = 1.35 and 84.1% of the draws.
        assert!((980_000..1_020_000).contains(&draws[5_000]), "{}", draws[5_000]);
        assert!((1_310_000..1_390_000).contains(&draws[8_413]), "{}", draws[8_413]);
    }
}
