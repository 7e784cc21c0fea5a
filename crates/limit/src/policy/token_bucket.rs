//! The token bucket.

use trueplane_units::{BitsPerSec, Bytes, Nanos};

use super::Nanobits;
use crate::{Limiter, Step, Verdict};

/// Token bucket: tokens come in at the rate, as many as the burst are kept, and a packet needs its size in tokens.
///
/// With `T` the tokens and `t` the time since the last packet, `T ← min(T + rate × t, burst)`; a packet of `n` bytes passes if
/// `n ≤ T`, and takes `n`. What passes in any time `t` is at most burst + rate × `t`: a packet is never larger than the burst,
/// which is where this bucket is stricter than [`Nimble`](super::Nimble). It starts full and never marks.
///
/// Unit: [`Nanobits`]. Cost: O(1), 48 bytes, one 64-bit multiplication to 128 bits. Source: RFC 2697 §3 with no excess burst, which
/// is what the Linux queueing discipline `tbf` does. Departures: packets that find no token are dropped instead of queued, and
/// there is no peak rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct TokenBucket {
    rate: BitsPerSec,
    burst: Nanobits,
    tokens: Nanobits,
    last: Nanos,
}

impl TokenBucket {
    /// A full bucket at time zero.
    pub fn new(rate: BitsPerSec, burst: Bytes) -> Self {
        Self { rate, burst: burst.into(), tokens: burst.into(), last: Nanos(0) }
    }

    /// Tokens as of the last packet.
    pub fn tokens(&self) -> Nanobits {
        self.tokens
    }
}

impl Limiter for TokenBucket {
    #[inline]
    fn step(&self, bytes: u32, now: Nanos) -> Step<Self> {
        let earned = Nanobits::earned(self.rate, now.since(self.last));
        let tokens = self.tokens.plus(earned).min(self.burst);
        let refused = Self { tokens, last: self.last.max(now), ..*self };
        match tokens.minus(bytes.into()) {
            Some(tokens) => Step { verdict: Verdict::Pass, admitted: Self { tokens, ..refused }, refused },
            None => Step { verdict: Verdict::Drop, admitted: refused, refused },
        }
    }
}

#[cfg(test)]
mod tests {
    use Verdict::{Drop, Pass};

    use super::*;

    #[test]
    fn a_fraction_of_a_bit_is_not_lost() {
        // 3 bit/s: a byte takes 2,666,666,666 2/3 ns.
        let mut bucket = TokenBucket::new(BitsPerSec(3), Bytes(2));
        assert_eq!(bucket.offer(2, Nanos(0)), Pass);
        assert_eq!(bucket.offer(1, Nanos(1_333_333_333)), Drop);
        assert_eq!(bucket.offer(1, Nanos(2_666_666_666)), Drop);
        assert_eq!(bucket.offer(1, Nanos(2_666_666_667)), Pass);
        // What came in during the third of a nanosecond that it waited too long is still there.
        assert_eq!(bucket.tokens(), Nanobits(1));
    }

    #[test]
    fn years_of_idleness_fill_the_bucket_and_no_more() {
        let mut bucket = TokenBucket::new(BitsPerSec(u64::MAX), Bytes(64 << 30));
        assert_eq!(bucket.offer(u32::MAX, Nanos::MAX), Pass);
        let left = (64u64 << 30) - u64::from(u32::MAX);
        assert_eq!(bucket.tokens(), Bytes(left).into());
    }

    #[test]
    fn a_packet_larger_than_the_burst_never_passes() {
        let mut bucket = TokenBucket::new(BitsPerSec(1_000_000_000), Bytes(1_499));
        assert_eq!(bucket.offer(1_500, Nanos(0)), Drop);
        assert_eq!(bucket.offer(1_500, Nanos::MAX), Drop);
    }
}
