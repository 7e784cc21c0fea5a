//! The reassembler as a processor: what a segment costs, and what it is thought to cost.

use std::sync::Arc;

use hashbrown::HashMap;
use trueplane_study::{Error, Observer};
use trueplane_units::{Nanos, choices};

use super::ranges::Ranges;
use super::reassembler::{Counts, Limits, Reassembler};
use crate::application::Application;
use crate::jobs::{Job, Jobs};
use crate::segments::Segment;
use crate::traffic::{Load, Offered};

/// Segments between two reports of progress, and two questions whether to stop.
const REPORT: usize = 1 << 16;

/// Times that reassembly takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReassemblyCosts {
    /// Time that every packet takes, whatever it is; above zero.
    pub base: Nanos,
    /// Time that every step takes.
    pub step: Nanos,
}

impl Default for ReassemblyCosts {
    /// A step takes 5 ns, a cycle of Pigasus at 200 MHz. A packet takes 500 ns, which nobody measured: packets of 750 bytes then make
    /// 12 Gbit/s at most, which is what Atre 2025 §3.6.1 found.
    fn default() -> Self {
        Self { base: Nanos(500), step: Nanos(5) }
    }
}

impl ReassemblyCosts {
    /// Time of a packet that needs `steps` steps.
    fn of(self, steps: u64) -> Nanos {
        self.base.after(Nanos(self.step.0.saturating_mul(steps)))
    }
}

choices! {
    /// Estimate of the steps that a segment takes.
    ///
    /// Counted is what a search takes at most among the ranges that the estimate goes by. For a list that covers merging too, since both
    /// together take a step for each node at most; for a tree a segment that merges many ranges takes more than it was thought to.
    pub enum Heuristic {
        /// One step for each range of its flow when the segment arrives (Atre 2025 §3.5.2).
        ///
        /// It bounds the true number then, but not when the segment is served: a flow whose segments all arrive before the first is served has
        /// none yet, and all of them are thought to be free. A burst gets an attacker past it.
        Ranges = "ranges",
        /// The same, plus one step for each waiting segment of its flow, because each can add a step to the list.
        ///
        /// It bounds the true number if flows are served in order. Otherwise a segment that arrives later and is served earlier can still add to
        /// the list.
        RangesAndWaiting = "ranges-and-waiting",
    }
}

/// TCP reassembly as the server drives it; a packet is the index of a segment.
///
/// A segment without payload, one of UDP among them, never takes a step, and is never thought to. What the server drops or serves late is
/// lost or late for its flow too, so that an order of service can make lists longer.
///
/// Traffic that goes round and round shows a flow the same sequence numbers again. Flows with a SYN in the traffic then start over; the
/// others take what they have seen before for old, which takes no steps.
#[derive(Clone, Debug)]
pub struct Reassembly<R> {
    segments: Arc<[Segment]>,
    reassembler: Reassembler<R>,
    costs: ReassemblyCosts,
    heuristic: Heuristic,
    /// Segments of a flow that wait, where the heuristic asks for it; above zero.
    waiting: HashMap<u64, u64>,
}

impl<R: Ranges> Reassembly<R> {
    /// Reassembly of `segments`, innocent ones and those of an attack in one array, with no flows yet.
    ///
    /// # Errors
    ///
    /// If `limits` make no sense, packets take no time, or there are more than 2³² segments.
    pub fn new(
        segments: Arc<[Segment]>,
        limits: Limits,
        costs: ReassemblyCosts,
        heuristic: Heuristic,
    ) -> Result<Self, Error> {
        if costs.base == Nanos(0) {
            return Err(Error::Parameters("expected packets that take 1 ns or more, got 0 ns".to_owned()));
        }
        if u32::try_from(segments.len()).is_err() {
            return Err(Error::Parameters(format!(
                "expected 2^32 - 1 segments at most, got {}",
                segments.len()
            )));
        }
        let reassembler = Reassembler::new(limits)?;
        Ok(Self { segments, reassembler, costs, heuristic, waiting: HashMap::new() })
    }

    /// Counters so far.
    pub fn counts(&self) -> &Counts {
        self.reassembler.counts()
    }

    /// The segments.
    pub fn segments(&self) -> &Arc<[Segment]> {
        &self.segments
    }

    /// Segment `packet`; none for what was not [`offered`].
    fn segment(&self, packet: u32) -> Option<&Segment> {
        self.segments.get(packet as usize)
    }

    /// A segment of `flow` waits no longer.
    fn leave(&mut self, flow: u64) {
        if let Some(waiting) = self.waiting.get_mut(&flow) {
            *waiting -= 1;
            if *waiting == 0 {
                self.waiting.remove(&flow);
            }
        }
    }
}

impl<R: Ranges> Application for Reassembly<R> {
    type Packet = u32;

    fn estimate(&mut self, packet: u32) -> Nanos {
        let Some(&Segment { flow, length, tcp, .. }) = self.segment(packet) else { return self.costs.base };
        if tcp.is_none() || length == 0 {
            return self.costs.base;
        }
        let mut ranges = self.reassembler.ranges(flow) as u64;
        if self.heuristic == Heuristic::RangesAndWaiting {
            let waiting = self.waiting.entry(flow).or_default();
            ranges += *waiting;
            *waiting += 1;
        }
        self.costs.of(R::search_bound(ranges))
    }

    fn serve(&mut self, packet: u32) -> Nanos {
        let Some(&Segment { flow, length, tcp, .. }) = self.segment(packet) else { return self.costs.base };
        let Some(tcp) = tcp else { return self.costs.base };
        if length > 0 {
            self.leave(flow);
        }
        let steps = self.reassembler.accept(flow, tcp, length, packet, |_| {});
        self.costs.of(steps.total())
    }

    fn abandon(&mut self, packet: u32) {
        if let Some(&Segment { flow, length, tcp: Some(_), .. }) = self.segment(packet)
            && length > 0
        {
            self.leave(flow);
        }
    }
}

/// `segments` as the server is offered them, the first being number `first` of those that the application knows.
pub fn offered(segments: &[Segment], first: u32) -> Arc<[Offered<u32>]> {
    let offer = |(number, segment): (usize, &Segment)| Offered {
        flow: segment.flow,
        bits: segment.bits,
        load: Load::Real(first.wrapping_add(number as u32)),
    };
    segments.iter().enumerate().map(offer).collect()
}

/// Work and estimate of every segment if each is served as it arrives, in order: the joint distribution of size, job and estimate from
/// which the best attack is computed, with the times of the segments.
///
/// # Errors
///
/// If there are no segments or they are out of order, one takes longer than [`crate::jobs::MOST_JOB`], or the observer
/// interrupts.
pub fn profile<R: Ranges>(
    name: &str,
    application: &mut Reassembly<R>,
    observer: &dyn Observer,
) -> Result<Jobs, Error> {
    let segments = Arc::clone(application.segments());
    observer.stage("reassembling", segments.len() as u64);
    let mut jobs = Vec::with_capacity(segments.len());
    for (number, segment) in segments.iter().enumerate() {
        let packet = number as u32;
        let estimate = application.estimate(packet);
        let job = application.serve(packet);
        jobs.push(Job { flow: segment.flow, bits: segment.bits, job, estimate });
        if jobs.len().is_multiple_of(REPORT) {
            observer.advance(REPORT as u64);
            if observer.interrupted() {
                return Err(Error::Interrupted);
            }
        }
    }
    observer.advance((jobs.len() % REPORT) as u64);
    Jobs::new(name, &jobs, Some(segments.iter().map(|segment| segment.at).collect()))
}
