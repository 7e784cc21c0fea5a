//! The latency of an origin for an object: a function of the object alone, the same in the origin and in the simulation.

use trueplane_cache::latency::mix;
use trueplane_units::Nanos;

use super::options::OriginName;

/// The shape of the Pareto distribution: its mean is three times its least value.
const SHAPE: f64 = 1.5;
/// The largest latency that is drawn, as a multiple of the mean.
const MOST: f64 = 20.0;

/// An origin.
#[derive(Clone, Copy, Debug)]
pub(super) struct Latency {
    pub(super) origin: OriginName,
    /// The latency that was asked for.
    pub(super) base: Nanos,
    /// Mean size of an object, in bytes.
    pub(super) mean_size: f64,
    /// Number from which the draws begin.
    pub(super) seed: u64,
}

impl Latency {
    /// The latency for an object of so many bytes.
    pub(super) fn of(&self, key: u64, size: u64) -> Nanos {
        let factor = match self.origin {
            OriginName::Constant => 1.0,
            OriginName::Size => by_size(size, self.mean_size),
            OriginName::Heavy => heavy(draw(key, self.seed)),
            OriginName::Regions => region(draw(key, self.seed)),
        };
        Nanos((self.base.0 as f64 * factor) as u64)
    }
}

/// A number from 0 up to 1, by the object.
fn draw(key: u64, seed: u64) -> f64 {
    // 53 bits are what a double holds.
    (mix(key.wrapping_add(mix(seed ^ 0x9e37_79b9_7f4a_7c15))) >> 11) as f64 / (1_u64 << 53) as f64
}

fn by_size(size: u64, mean_size: f64) -> f64 {
    if mean_size > 0.0 { 0.5 + 0.5 * size as f64 / mean_size } else { 1.0 }
}

/// The quantile of the Pareto distribution with mean 1.
fn heavy(draw: f64) -> f64 {
    let least = (SHAPE - 1.0) / SHAPE;
    (least * (1.0 - draw).powf(-1.0 / SHAPE)).min(MOST)
}

fn region(draw: f64) -> f64 {
    if draw < 0.5 { 0.25 } else { 4.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn latency(origin: OriginName) -> Latency {
        Latency { origin, base: Nanos(100), mean_size: 1000.0, seed: 1 }
    }

    #[test]
    fn constant_and_size_are_as_worked_by_hand() {
        assert_eq!(latency(OriginName::Constant).of(7, 5), Nanos(100));
        let by_size = latency(OriginName::Size);
        assert_eq!([0, 1000, 3000].map(|size| by_size.of(7, size).0), [50, 100, 200]);
        let sizeless = Latency { mean_size: 0.0, ..by_size };
        assert_eq!(sizeless.of(7, 0), Nanos(100));
    }

    #[test]
    fn the_pareto_distribution_has_its_quantiles() {
        // (1 − 0)^(−2/3) = 1, (1/8)^(−2/3) = 4, both times 1/3.
        assert!((heavy(0.0) - 1.0 / 3.0).abs() < 1e-12);
        assert!((heavy(0.875) - 4.0 / 3.0).abs() < 1e-12);
        assert_eq!(heavy(1.0 - 1e-12), MOST);
        let heavy = latency(OriginName::Heavy);
        let mean = (0..100_000).map(|key| heavy.of(key, 1).0 as f64).sum::<f64>() / 100_000.0;
        assert!((85.0..105.0).contains(&mean), "{mean}");
    }

    #[test]
    fn half_of_the_objects_are_near() {
        let regions = latency(OriginName::Regions);
        let near = (0..10_000).filter(|&key| regions.of(key, 1) == Nanos(25)).count();
        assert!((4_800..5_200).contains(&near), "{near}");
        assert!((0..10_000).all(|key| [25, 400].contains(&regions.of(key, 1).0)));
        let other = Latency { seed: 2, ..regions };
        assert!((0..100).any(|key| regions.of(key, 1) != other.of(key, 1)));
    }
}
