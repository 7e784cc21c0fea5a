//! Equal shares of the server's time for flows that wait.

use super::{End, Job, Rule};

/// The rule of [`Fq`](super::Fq): self-clocked fair queueing. All flows that wait get the same amount of work done.
///
/// A packet gets a tag when it comes: `max(v, tag of the packet before it in its flow) + work`. The flow whose first packet has the
/// least tag is served. The virtual time v is the tag of the packet that was served last, and never falls. If a packet is dropped from
/// the end of its flow, the next one is tagged as if the dropped one had never come.
///
/// **Fairness.** Take two flows i and j, and a time during which packets of both always wait. The work that is done for i and the work
/// that is done for j differ by at most Lᵢ + Lⱼ, where L is the longest job of a flow. Proof: let s be the tag of a flow's first packet
/// minus its work. When that packet became the first, v was at least s, so s ≤ v. The least tag of all is at least v, so v ≤ s + L.
/// Hence sᵢ − sⱼ is always between −Lᵢ and Lⱼ. As long as packets of a flow wait, its s grows by exactly the work that is done for it, so
/// the difference of the work is the change of sᵢ − sⱼ, which is at most Lᵢ + Lⱼ. With ranks rounded to ticks, each flow can be a tick
/// further off: the bound is Lᵢ + Lⱼ + 2 ticks.
///
/// **Delay.** A packet of `work` that finds its flow empty waits for at most `work + Lⱼ` of each other flow j.
///
/// Nothing has to be remembered of a flow of which nothing waits: the tag of its last packet is not above v. But an attacker may have as
/// many flows as he likes, and against that no fair queue does anything (Atre 2025 §3.4.2).
///
/// - Source: Golestani, *A Self-Clocked Fair Queueing Scheme for Broadband Applications*, INFOCOM 1994, with equal weights, and work
///   in the place of bytes.
/// - Departures: ranks are rounded to ticks; [`FqExact`](super::FqExact) compares tags as they are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SelfClocked {
    virtual_time: u64,
}

impl SelfClocked {
    /// The tag of the packet that was served last, in nanoseconds of work per flow.
    pub fn virtual_time(&self) -> u64 {
        self.virtual_time
    }
}

/// The tag of the last packet of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tag(u64);

impl Rule for SelfClocked {
    type Rank = u64;
    type State = Tag;
    type Mark = u64;
    const RERANKS: bool = false;

    #[inline]
    fn opens(&mut self) -> Tag {
        Tag(self.virtual_time)
    }

    #[inline]
    fn arrives(&mut self, last: &mut Tag, job: Job<()>) -> u64 {
        last.0 = last.0.max(self.virtual_time).saturating_add(job.work);
        last.0
    }

    #[inline]
    fn rank(&self, _last: &Tag, head: Job<u64>) -> u64 {
        head.mark
    }

    #[inline]
    fn leaves(&mut self, last: &mut Tag, job: Job<u64>, end: End) {
        match end {
            // Within a tick, one with a larger tag may have been served before.
            End::Head => self.virtual_time = self.virtual_time.max(job.mark),
            End::Tail => last.0 = job.mark.saturating_sub(job.work),
        }
    }

    fn bound(&self) -> u64 {
        self.virtual_time
    }
}
