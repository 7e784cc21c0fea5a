//! Keeps a core busy for so many cycles of its time-stamp counter.

use std::hint;

use trueplane_linux::clock;
use trueplane_units::Nanos;

use crate::nf::Busy;

/// Time for which the counter is compared with the clock: their resolutions are a few parts in 10⁵ of it.
const CALIBRATION: Nanos = Nanos(10_000_000);

/// Cycles that a packet takes at most.
pub const MOST_CYCLES: u64 = 10_000_000;

/// Below so many cycles a loop does not pause between two looks at the counter, because a pause takes tens of cycles itself.
const FINE: u64 = 256;

/// The time-stamp counter: cycles at a constant rate, whatever the core's clock is at. Where there is none, nanoseconds.
#[inline]
pub fn counter() -> u64 {
    #[cfg(target_arch = "x86_64")]
    {
        // SAFETY: every processor of this architecture has the instruction, and it touches no memory.
        unsafe { std::arch::x86_64::_rdtsc() }
    }
    #[cfg(not(target_arch = "x86_64"))]
    {
        clock::monotonic().0
    }
}

/// Spends cycles of the [`counter`]. What a look at it takes, some 10 ns, is how exact it is; time in which the system takes the core away
/// counts as well.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cycles;

impl Busy for Cycles {
    #[inline]
    fn spend(&self, cycles: u64) {
        if cycles == 0 {
            return;
        }
        let start = counter();
        while counter().wrapping_sub(start) < cycles {
            if cycles >= FINE {
                hint::spin_loop();
            }
        }
    }
}

/// Frequency of the [`counter`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Frequency(f64);

impl Frequency {
    /// Holds it against the monotonic clock for 10 ms.
    pub fn measure() -> Self {
        let (start, from) = (clock::monotonic(), counter());
        let took = loop {
            let took = clock::monotonic().since(start);
            if took >= CALIBRATION {
                break took;
            }
            hint::spin_loop();
        };
        Self(counter().wrapping_sub(from) as f64 * 1e9 / took.0.max(1) as f64)
    }

    /// The frequency in Hz.
    pub fn hertz(self) -> f64 {
        self.0
    }

    /// Time that this number of cycles takes.
    pub fn time(self, cycles: u64) -> Nanos {
        Nanos((cycles as f64 * 1e9 / self.0.max(1.0)).round() as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cycles_are_spent() {
        for cycles in [0, 100, 100_000] {
            let before = counter();
            Cycles.spend(cycles);
            assert!(counter() - before >= cycles);
        }
    }

    #[test]
    fn cycles_are_held_against_the_clock() {
        let frequency = Frequency::measure();
        // No counter is slower than 1 MHz or faster than 100 GHz, and a second of cycles is a second.
        assert!((1e6..1e11).contains(&frequency.hertz()), "{frequency:?}");
        assert_eq!(frequency.time(frequency.hertz() as u64).0.div_ceil(1_000_000), 1_000);
        assert_eq!(frequency.time(0), Nanos(0));
    }
}
