//! How long a scheduler remembers, and a clock on which what it remembers is straight.

use trueplane_units::Nanos;

/// Half-life of what a scheduler remembers: the time in which commitments halve.
///
/// The thesis says it by δ, what is left of a commitment after a second (Δt = 1 s): a half-life is −ln 2 / ln δ seconds, and τ = half-life
/// / ln 2 (eq. 4.12). δ = 1 − 10⁻⁶ is 8.02 days.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Memory {
    half_life: Nanos,
}

/// That of the thesis: δ = 1 − 10⁻⁶.
impl Default for Memory {
    fn default() -> Self {
        Self { half_life: Nanos(693_146_833_986_297) }
    }
}

/// There is no such memory.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum MemoryError {
    /// What is forgotten in one second is not between 0 and 1, or makes a half-life out of range. Holds the argument of
    /// [`Memory::forgetting`].
    #[error(
        "expected a part forgotten in one second between 0 and 1, with a half-life from 1 ns to 584 years, found {0}"
    )]
    Forgotten(f64),
    /// The half-life is nothing.
    #[error("expected a half-life above zero")]
    HalfLife,
}

impl Memory {
    /// δ = 1 − `forgotten`, of what is remembered after one second: 10⁻⁶ for δ = 1 − 10⁻⁶.
    ///
    /// By what is forgotten, as a number close to 1 cannot say how close.
    ///
    /// # Errors
    ///
    /// `forgotten` is not between 0 and 1, both excluded, or the half-life is below 1 ns or above 584 years.
    pub fn forgetting(forgotten: f64) -> Result<Self, MemoryError> {
        // ln δ = ln(1 − forgotten), without losing what is small.
        let nanos = -std::f64::consts::LN_2 / libm::log1p(-forgotten) * 1e9;
        if forgotten > 0.0 && forgotten < 1.0 && (1.0..u64::MAX as f64).contains(&nanos) {
            Ok(Self { half_life: Nanos(nanos.round() as u64) })
        } else {
            Err(MemoryError::Forgotten(forgotten))
        }
    }

    /// A memory of this half-life.
    ///
    /// # Errors
    ///
    /// It is zero.
    pub fn half_life(half_life: Nanos) -> Result<Self, MemoryError> {
        if half_life.0 == 0 { Err(MemoryError::HalfLife) } else { Ok(Self { half_life }) }
    }

    /// After which time half is left.
    pub fn half_life_span(self) -> Nanos {
        self.half_life
    }

    /// 1 − δ: what is forgotten in one second.
    pub fn forgotten_per_second(self) -> f64 {
        -libm::expm1(-std::f64::consts::LN_2 * 1e9 / self.half_life.0 as f64)
    }
}

/// The clock on which commitments are straight lines: *growth*, which doubles with every half-life.
///
/// What decays by half in a half-life is a constant divided by growth: c(t) = ō + b / g(t) while a user's overuse ō does not change. The
/// order of two users, whose priorities have the form a + b / g, is so the order of a·g + b, which are straight lines in g; if a, b and g
/// are integers, so is everything that has to be compared.
///
/// An instant is a whole number from 2⁴⁴ to 2⁷⁶: time is known to 2⁻⁴⁴ of τ (57 ns at δ = 1 − 10⁻⁶). With every 31st half-life the clock
/// has to start anew; by the time and not by who asks, so that what is rounded then does not depend on how often somebody asks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Growth {
    half_life: u64,
    /// The half-life with which the clock started.
    epoch: u64,
    /// The last instant: rounding never lets the clock go back.
    last: u128,
    /// Time of the last instant, which many calls may share.
    asked: Option<Nanos>,
}

/// Growth at the start of an epoch.
const START_BITS: u32 = 44;

/// Half-lives in an epoch.
const EPOCH: u64 = 31;

impl Growth {
    pub(super) fn new(memory: Memory) -> Self {
        Self { half_life: memory.half_life.0, epoch: 0, last: 1 << START_BITS, asked: None }
    }

    pub(super) fn epoch(&self) -> u64 {
        self.epoch
    }

    /// The last instant asked for.
    pub(super) fn last(&self) -> u128 {
        self.last
    }

    /// The instant of `now`, which is not before those asked for earlier; if the epoch is over by then, by how many bits a new one has
    /// started, by which all that stood still is now smaller.
    // Every task asks for it, several times; what sets the clock is not to make this a call.
    #[inline]
    pub(super) fn at(&mut self, now: Nanos) -> (u128, Option<u64>) {
        if self.asked == Some(now) {
            return (self.last, None);
        }
        self.asked = Some(now);
        let (halvings, rest) = ((now.0 / self.half_life).max(self.epoch), now.0 % self.half_life);
        let mut anew = None;
        if halvings - self.epoch >= EPOCH {
            let epoch = halvings / EPOCH * EPOCH;
            anew = Some(epoch - self.epoch);
            self.epoch = epoch;
            self.last = 1 << START_BITS;
        }
        let mantissa = libm::exp2(rest as f64 / self.half_life as f64) * (1u64 << START_BITS) as f64;
        self.last = self.last.max((mantissa as u128) << (halvings - self.epoch));
        (self.last, anew)
    }

    /// The clock says `now` from here on, whatever it said. Returns the instants before and after, between which no time passes; the one
    /// after is below 2⁴⁵, as an epoch starts here.
    #[cold]
    pub(super) fn rebase(&mut self, now: Nanos) -> (u128, u128) {
        let before = self.last;
        self.epoch = now.0 / self.half_life;
        (self.last, self.asked) = (1 << START_BITS, None);
        (before, self.at(now).0)
    }

    /// The clock as it was in `epoch`, at `now`.
    pub(super) fn resume(memory: Memory, epoch: u64, now: Nanos) -> Option<Self> {
        let mut growth = Self { epoch, ..Self::new(memory) };
        let halvings = now.0 / growth.half_life;
        if epoch > halvings || halvings - epoch >= EPOCH {
            return None;
        }
        growth.at(now);
        Some(growth)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delta_and_half_life_say_the_same() {
        let memory = Memory::forgetting(1e-6).unwrap();
        assert_eq!(memory, Memory::default());
        assert!((memory.half_life_span().0 as f64 / (8.0226 * 86_400e9) - 1.0).abs() < 1e-4);
        assert!((memory.forgotten_per_second() - 1e-6).abs() < 1e-18);
        assert_eq!(Memory::forgetting(0.5).unwrap(), Memory::half_life(Nanos(1_000_000_000)).unwrap());
        assert!(Memory::forgetting(1e-9).is_ok());
        for wrong in [0.0, 1.0, -0.1, f64::NAN, 1e-12, f64::INFINITY] {
            let said = Memory::forgetting(wrong).unwrap_err().to_string();
            assert!(said.ends_with(&format!("found {wrong}")), "{said}");
        }
        assert_eq!(Memory::half_life(Nanos(0)), Err(MemoryError::HalfLife));
    }

    #[test]
    fn growth_doubles_with_every_half_life_and_starts_anew() {
        let mut growth = Growth::new(Memory::half_life(Nanos(1000)).unwrap());
        assert_eq!(growth.at(Nanos(0)), (1 << 44, None));
        assert_eq!(growth.at(Nanos(1000)), (1 << 45, None));
        let (half, _) = growth.at(Nanos(1500));
        assert!((half as f64 / 2f64.powf(45.5) - 1.0).abs() < 1e-13);
        assert_eq!(growth.at(Nanos(30_000)), (1 << 74, None));
        assert_eq!(growth.at(Nanos(33_000)), (1 << 46, Some(31)));
        assert_eq!(growth.at(Nanos(34_000)), (1 << 47, None));
        assert_eq!(growth.at(Nanos(u64::MAX)).1, Some(u64::MAX / 1000 / 31 * 31 - 31));
        let mut last = 0;
        let mut growth = Growth::new(Memory::forgetting(1e-6).unwrap());
        for now in (0..10_000_000).step_by(1000) {
            let (instant, _) = growth.at(Nanos(now));
            assert!(instant >= last);
            last = instant;
        }
    }
}
