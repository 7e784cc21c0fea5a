//! Limits inside limits.

use trueplane_units::Nanos;

use crate::{Limiter, Step, Verdict};

/// A class inside a tenant: a packet has to pass both limiters, and is charged to both or to neither.
///
/// The verdict is the worse of the two, so that either may mark. Since a packet that one of them drops costs nothing in the
/// other, a class that sends too much does not use up what its tenant's other classes may send, as it would if the limiters
/// stood one after the other. Of several classes each is kept with a copy of the tenant that the driver shares between them:
/// it steps the pair and stores both. Hierarchies nest, since they are limiters.
///
/// What passes in any time is within the bounds of both. Cost: the sum of both. Source: the tenants of Shinde 2020, §3.1.1, with
/// the classes of their traffic inside them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Hierarchy<C, P> {
    /// The inner limit.
    pub class: C,
    /// The outer limit.
    pub tenant: P,
}

impl<C: Limiter + Copy, P: Limiter + Copy> Limiter for Hierarchy<C, P> {
    fn step(&self, bytes: u32, now: Nanos) -> Step<Self> {
        let (class, tenant) = (self.class.step(bytes, now), self.tenant.step(bytes, now));
        let verdict = class.verdict.max(tenant.verdict);
        let refused = Self { class: class.refused, tenant: tenant.refused };
        let admitted = match verdict {
            Verdict::Drop => refused,
            Verdict::Pass | Verdict::Mark => Self { class: class.admitted, tenant: tenant.admitted },
        };
        Step { verdict, admitted, refused }
    }

    fn horizon(&self, now: Nanos) -> Nanos {
        self.class.horizon(now).min(self.tenant.horizon(now))
    }
}

#[cfg(test)]
mod tests {
    use Verdict::{Drop, Mark, Pass};
    use trueplane_units::{BitsPerSec, Bytes};

    use super::super::{SingleRateMeter, TokenBucket};
    use super::*;

    #[test]
    fn a_packet_is_charged_to_both_or_to_neither() {
        let mut pair = Hierarchy {
            class: TokenBucket::new(BitsPerSec(0), Bytes(2_000)),
            tenant: TokenBucket::new(BitsPerSec(0), Bytes(2_500)),
        };
        assert_eq!(pair.offer(1_500, Nanos(0)), Pass);
        // The class refuses, the tenant would not.
        assert_eq!(pair.offer(1_000, Nanos(0)), Drop);
        assert_eq!(pair.tenant.tokens(), Bytes(1_000).into());
        // Another class of the same tenant: here the tenant refuses.
        let mut other = Hierarchy { class: TokenBucket::new(BitsPerSec(0), Bytes(2_000)), ..pair };
        assert_eq!(other.offer(1_001, Nanos(0)), Drop);
        assert_eq!(other.class.tokens(), Bytes(2_000).into());
        assert_eq!(other.offer(1_000, Nanos(0)), Pass);
    }

    #[test]
    fn the_worse_verdict_counts() {
        let mut pair = Hierarchy {
            class: SingleRateMeter::new(BitsPerSec(0), Bytes(1_000), Bytes(2_000)).unwrap(),
            tenant: TokenBucket::new(BitsPerSec(0), Bytes(2_000)),
        };
        assert_eq!([1_000, 1_000, 1_000].map(|bytes| pair.offer(bytes, Nanos(0))), [Pass, Mark, Drop]);
    }
}
