//! Shortest jobs first, without reordering flows.

use trueplane_pqueue::MOST_ITEMS;
use trueplane_units::Nanos;

use super::{End, Job, MOST_WORK, Rule};
use crate::ratio::{MOST_MANTISSA_BITS, Ratio};

/// The rule of [`WsjfHoq`](super::WsjfHoq): the rank of a flow is the work ÷ bits of its first packet.
///
/// One packet with much work holds up all that come behind it, and an attacker only has to wait for that. Source: Atre 2025 §3.5.3,
/// which shows it for what is wrong with it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct HeadOfQueue;

impl Rule for HeadOfQueue {
    type Rank = Ratio;
    type State = ();
    type Mark = ();
    const RERANKS: bool = false;

    fn opens(&mut self) {}

    fn arrives(&mut self, (): &mut (), _job: Job<()>) {}

    #[inline]
    fn rank(&self, (): &(), head: Job<()>) -> Ratio {
        Ratio::new(Nanos(head.work), head.bits.into())
    }

    fn leaves(&mut self, (): &mut (), _job: Job<()>, _end: End) {}
}

/// Work and size of what waits of a flow.
///
/// Integers, of which only as much is taken away as was added: below 2^64 for as many packets as can wait, and never below zero.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sums {
    work: u64,
    weight: u64,
}

impl Sums {
    fn add(&mut self, work: u64, weight: u64) {
        self.work += work;
        self.weight += weight;
    }

    fn take(&mut self, work: u64, weight: u64) {
        self.work -= work;
        self.weight -= weight;
    }

    fn ratio(self) -> Ratio {
        Ratio::new(Nanos(self.work), self.weight)
    }
}

/// The rule of [`WsjfInorder`](super::WsjfInorder): the rank of a flow is Σ work ÷ Σ bits of what waits of it.
///
/// Whoever wants his large jobs served has to send as many bits with them, in the same flow. A flow whose rank stays the same keeps its
/// place among those of that rank. Source: Atre 2025 §3.5.3.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct WorkPerBit;

impl Rule for WorkPerBit {
    type Rank = Ratio;
    type State = Sums;
    type Mark = ();
    const RERANKS: bool = true;

    fn opens(&mut self) -> Sums {
        Sums::default()
    }

    #[inline]
    fn arrives(&mut self, sums: &mut Sums, job: Job<()>) {
        sums.add(job.work, job.bits.into());
    }

    #[inline]
    fn rank(&self, sums: &Sums, _head: Job<()>) -> Ratio {
        sums.ratio()
    }

    #[inline]
    fn leaves(&mut self, sums: &mut Sums, job: Job<()>, _end: End) {
        sums.take(job.work, job.bits.into());
    }
}

/// The rule of [`SjfInorder`](super::SjfInorder): the rank of a flow is the mean work of what waits of it.
///
/// SJF is WSJF for packets that are all of one size, whatever size that is. So this is WSJF-Inorder for such packets: Σ work ÷ packets.
/// (Σ work alone would punish a flow for waiting, and so starve whoever sends most; the work of the first packet is head-of-queue.) The
/// paper does not define it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct MeanWork;

/// A packet counts as so many bits, which only says which means have ranks of their own: those from 2^−12 ns to 2^52 ns, and so
/// all from a nanosecond to [`MOST_WORK`].
///
/// [`ShortestJob`](crate::policy::ranked::ShortestJob) has 2^32 for its one packet; a sum of those would soon be too long for the
/// 64-bit division of [`Ratio::quantise`].
const ONE_PACKET: u64 = 1 << 20;

const _: () = assert!(MOST_WORK.0 < 1 << 52, "no mean is above the last rank");
const _: () = assert!(
    MOST_ITEMS * ONE_PACKET < 1 << (63 - MOST_MANTISSA_BITS),
    "as many packets of a flow as can wait never take the division of 128 bits"
);

impl Rule for MeanWork {
    type Rank = Ratio;
    type State = Sums;
    type Mark = ();
    const RERANKS: bool = true;

    fn opens(&mut self) -> Sums {
        Sums::default()
    }

    #[inline]
    fn arrives(&mut self, sums: &mut Sums, job: Job<()>) {
        sums.add(job.work, ONE_PACKET);
    }

    #[inline]
    fn rank(&self, sums: &Sums, _head: Job<()>) -> Ratio {
        sums.ratio()
    }

    #[inline]
    fn leaves(&mut self, sums: &mut Sums, job: Job<()>, _end: End) {
        sums.take(job.work, ONE_PACKET);
    }
}
