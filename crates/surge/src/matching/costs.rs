//! From steps to time.

use trueplane_units::Nanos;

/// Costs of matching a payload: a part for every packet, one for every byte of payload, one for every step of an engine. All are
/// integers, so that results are the same on every machine: in picoseconds where a nanosecond is too long.
///
/// In integers, so that it is the same on every machine: picoseconds where a nanosecond is too long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Costs {
    /// Time for every packet.
    pub base: Nanos,
    /// Time for every byte of payload, in picoseconds: the prefilter.
    pub byte_ps: u64,
    /// Time for every step of the engine, in picoseconds.
    pub step_ps: u64,
}

impl Default for Costs {
    /// 100 ns for a packet. Nothing for a byte, as the prefilter of the thesis is hardware that keeps up with the link
    /// (§3.5.1); the one here, in software, took some 5 ns. 5 ns for a step, which is what
    /// [`Backtracking`](super::engine::Backtracking) took on a core of a shared server.
    fn default() -> Self {
        Self { base: Nanos(100), byte_ps: 0, step_ps: 5_000 }
    }
}

impl Costs {
    /// Time to match a payload of `bytes` bytes in `steps` steps, rounded up to a nanosecond; saturates.
    pub fn job(&self, bytes: u32, steps: u64) -> Nanos {
        let ps = u128::from(bytes) * u128::from(self.byte_ps) + u128::from(steps) * u128::from(self.step_ps);
        self.base.after(Nanos(u64::try_from(ps.div_ceil(1000)).unwrap_or(u64::MAX)))
    }
}
