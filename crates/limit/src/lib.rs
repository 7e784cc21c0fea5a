#![doc = include_str!("../README.md")]
//!
//! # Modules
//!
//! The classical belief is that TCP shares a link fairly. It does so between *flows*: a tenant that opens ten times as
//! many gets ten times as much, and one that sends UDP takes what it likes. Limiting each tenant inside the network mends
//! that, if a limiter is small enough to have one for everybody: [`policy::Nimble`] takes 16 bytes, so 64 K of them fit into
//! a megabyte of switch memory or of a processor's cache, and a packet touches them once.
//!
//! - [`requests`], [`keyed`]: limits on requests, for one and for every key.
//! - [`Limiter`]: what every policy does, as a function from state to state, so that a driver can commit its result by
//!   assignment (simulator), by compare-and-swap (eBPF) or in one stateful stage (switch).
//! - [`mod@format`]: the four 32-bit words of a Nimble limiter, shared with its twins in other languages.
//! - [`drain`]: draining by multiplication, or by a precomputed table as a switch without multiplication must.
//! - [`policy`]: Nimble, token bucket, GCRA, the meters of RFC 2697 and RFC 2698, and limits inside limits.
//! - [`credit`]: one limiter shared by several cores, and how much too much that lets through.
//!
//! With the feature `classifier`, `frame`, `classes` and `classifier` lead from the bytes of a packet to the limiter that it meets.
//!
//! With the feature `study`, how exact limits are, how small, and what they would have done to real traffic:
//!
//! - `source`: senders that keep to no limit; `limiter`: limiters made from their names.
//! - `precision`: achieved against configured rates.
//! - `replay`: the packets of a capture through the limiters of a classes file; `tally` counts.
//! - `size`: how many limiters fit into a memory.
//!
//! With the feature `live`, `live` puts them into the kernel: the policy as an eBPF program on a network device.
//!
//! Source: Shinde, *Nimble: Scalable Rate-Limiting on Today's Programmable Switches*, 2020, ch. 3.
#![cfg_attr(not(feature = "live"), forbid(unsafe_code))]

#[cfg(feature = "classifier")]
pub mod classes;
#[cfg(feature = "classifier")]
pub mod classifier;
pub mod credit;
pub mod drain;
pub mod format;
#[cfg(feature = "classifier")]
pub mod frame;
pub mod keyed;
pub mod policy;
pub mod requests;
mod wide;

#[cfg(feature = "study")]
pub mod limiter;
#[cfg(feature = "study")]
pub mod precision;
#[cfg(feature = "study")]
pub mod replay;
#[cfg(feature = "study")]
pub mod size;
#[cfg(feature = "study")]
pub mod source;
#[cfg(feature = "study")]
pub mod tally;

#[cfg(all(feature = "live", target_os = "linux"))]
pub mod live;

pub use trueplane_units::{BitsPerSec, Bytes, Nanos};

/// Belief of the classical model, for every report to print beside its findings.
pub const BELIEF: &str = "TCP shares the link fairly, so that no tenant has to be limited";

/// Verdict of a limiter on a packet, from best to worst; meters call these green, yellow and red.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// Within the limit.
    Pass,
    /// Let through, and its sender should slow down (ECN).
    Mark,
    /// Beyond the limit.
    Drop,
}

/// Outcomes for a limiter when a packet arrives.
///
/// Both outcomes are given because the last word may lie elsewhere: with limits inside limits a packet has to pass all of
/// them or is charged to none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step<L> {
    /// Verdict of the limiter.
    pub verdict: Verdict,
    /// The limiter after the packet was let through; equal to `refused` if `verdict` is [`Verdict::Drop`].
    pub admitted: L,
    /// The limiter after the packet was dropped: time has passed and nothing was charged.
    pub refused: L,
}

impl<L> Step<L> {
    /// The limiter after its own verdict was carried out.
    pub fn settled(self) -> L {
        if self.verdict == Verdict::Drop { self.refused } else { self.admitted }
    }
}

/// A rate limiter: decides on one packet at a time, from its size and the time.
pub trait Limiter: Sized {
    /// Returns the verdict on a packet of `bytes` that arrives at `now`, and the limiter after either outcome.
    ///
    /// `now` may lie a little before that of an earlier call, as it happens between cores: then no time has passed.
    fn step(&self, bytes: u32, now: Nanos) -> Step<Self>;

    /// Decides on a packet of `bytes` that arrives at `now`, and takes note of it.
    fn offer(&mut self, bytes: u32, now: Nanos) -> Verdict {
        let step = self.step(bytes, now);
        let verdict = step.verdict;
        *self = step.settled();
        verdict
    }

    /// The shortest wait after which a packet of `bytes`, refused at `now`, passes if nothing else comes meanwhile; zero if it passes
    /// at `now`. [`None`] if no wait up to the [horizon](Self::horizon) is long enough, as for a packet larger than the burst.
    ///
    /// Exact: `offer(bytes, now + wait)` lets it pass or marks it, and one nanosecond earlier it is dropped. Nothing is charged.
    /// Cost: at most 65 steps, or one division for [`policy::Gcra`].
    fn retry_after(&self, bytes: u32, now: Nanos) -> Option<Nanos> {
        let passes = |at: u64| self.step(bytes, Nanos(at)).verdict != Verdict::Drop;
        if passes(now.0) {
            return Some(Nanos(0));
        }
        let horizon = self.horizon(now);
        if horizon <= now || !passes(horizon.0) {
            return None;
        }
        // Up to the horizon waiting never hurts: refused before some instant, let through from it on.
        let (mut refused, mut passed) = (now.0, horizon.0);
        while passed - refused > 1 {
            let middle = refused + (passed - refused) / 2;
            *(if passes(middle) { &mut passed } else { &mut refused }) = middle;
        }
        Some(Nanos(passed).since(now))
    }

    /// The latest instant up to which a later packet of the same size is never worse off; the end of time unless the limiter's clock
    /// wraps.
    fn horizon(&self, now: Nanos) -> Nanos {
        let _ = now;
        Nanos::MAX
    }
}
