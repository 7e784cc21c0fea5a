//! The study: what the limits of a classes file would have done to the packets of a capture.
//!
//! A replay is open-loop: packets come when they came, though their senders would have slowed down if some had been dropped or
//! marked. It tells what limits do to the traffic as it is, and which classes they touch.

pub mod found;
mod report;

use hashbrown::HashSet;
use trueplane_study::{Error, Observer};
use trueplane_trace::{Layers, Packet, Trace};
use trueplane_units::{BitsPerSec, Bytes, Nanos};

use crate::classes::Classes;
use crate::classifier::{Classifier, Match};
use crate::drain::Drain;
use crate::frame::{ETHERTYPE_IPV4, ETHERTYPE_IPV6, Frame, VLAN_TPIDS};
use crate::limiter::{Kept, Settings, Visitor, with_limiter};
use crate::policy::PolicyName;
use crate::tally::{Bin, Counts, Series, share};
use crate::{Step, Verdict};
use found::{ClassRun, LimiterRun, Replay, UNCLASSIFIED};

/// Records between two reports of progress, and two questions whether to stop.
const REPORT: usize = 1 << 12;

/// More bins than these, of all classes together, are refused: 400 MB.
const MOST_BINS: usize = 1 << 22;

/// How to replay.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// The limiters.
    pub policy: PolicyName,
    /// How Nimble drains.
    pub drain: Drain,
    /// Rates over time are counted in bins of this length.
    pub bin: Nanos,
    /// How many times faster than captured, in millionths.
    pub speedup: u64,
}

/// Replays the capture `trace` against `classes`.
///
/// Deterministic. Memory: proportional to limiters, flows and bins; to packets as well if the trace is sorted.
///
/// # Errors
/// If the trace cannot be read or is no capture, has no packets, or has more bins than can be kept; if the observer interrupts.
pub fn replay(
    trace: &Trace,
    classes: &Classes,
    options: &Options,
    observer: &dyn Observer,
) -> Result<Replay, Error> {
    with_limiter(options.policy, options.drain, Replaying { trace, classes, options, observer })
}

/// What of a packet the limiters and the counts need.
#[derive(Clone, Copy)]
struct Arrival {
    time: Nanos,
    length: u32,
    matched: Option<Match>,
    flow: Option<u64>,
    ecn_capable: bool,
}

struct Replaying<'a> {
    trace: &'a Trace,
    classes: &'a Classes,
    options: &'a Options,
    observer: &'a dyn Observer,
}

impl Visitor for Replaying<'_> {
    type Output = Replay;

    fn visit<L: Kept>(self, make: impl Fn(&Settings) -> Result<L, Error>) -> Result<Replay, Error> {
        let Self { trace, classes, options, observer } = self;
        let mut run = Run::new(classes, options, make)?;
        let mut reader = trace.packets()?;
        observer.stage("replaying", trace.bytes());
        let sorts = reader.may_go_back();
        let (mut waiting, mut buffer, mut position) = (Vec::new(), Vec::new(), 0);
        let mut result = Ok(());
        loop {
            let more = reader.read(REPORT, |packet| {
                let arrival = arrival(packet, &run.classifier, &mut buffer);
                if sorts {
                    waiting.push(arrival);
                } else if result.is_ok() {
                    result = run.arrive(&arrival);
                }
            })?;
            std::mem::replace(&mut result, Ok(()))?;
            observer.advance(reader.position() - position);
            position = reader.position();
            if observer.interrupted() {
                return Err(Error::Interrupted);
            }
            if !more {
                break;
            }
        }
        waiting.sort_by_key(|arrival: &Arrival| arrival.time);
        for chunk in waiting.chunks(REPORT) {
            if observer.interrupted() {
                return Err(Error::Interrupted);
            }
            chunk.iter().try_for_each(|arrival| run.arrive(arrival))?;
        }
        Ok(run.finish(trace.name(), reader.skipped()))
    }
}

/// Classifies a packet.
fn arrival(packet: &Packet<'_>, classifier: &Classifier, buffer: &mut Vec<u8>) -> Arrival {
    let frame = frame_of(packet.layers, buffer);
    Arrival {
        time: packet.time,
        length: packet.length,
        // The kernel's marks are not in captures.
        matched: classifier.classify(&frame, 0),
        flow: packet.flow(),
        ecn_capable: frame.ecn_capable,
    }
}

/// What the classifier knows of a packet, whatever link it was captured on.
fn frame_of(layers: Layers<'_>, buffer: &mut Vec<u8>) -> Frame {
    match layers {
        Layers::Ethernet(frame) => Frame::parse(frame),
        Layers::Ip(packet) => Frame::parse_ip(packet),
        // As if the frame were there; addresses of Ethernet do not matter.
        Layers::EtherType(ether_type, payload) => {
            let is_read =
                VLAN_TPIDS.contains(&ether_type) || matches!(ether_type, ETHERTYPE_IPV4 | ETHERTYPE_IPV6);
            if !is_read {
                return Frame::default();
            }
            buffer.clear();
            buffer.extend([0; 12]);
            buffer.extend(ether_type.to_be_bytes());
            buffer.extend(payload);
            Frame::parse(buffer)
        }
        Layers::Other => Frame::default(),
    }
}

/// A limiter and what became of its packets.
struct Limited<L> {
    limiter: L,
    /// When it last met a packet.
    last: Nanos,
    outer: Option<u32>,
    class: u32,
    counts: Counts,
    occupancy_max: Option<Bytes>,
}

impl<L: Kept> Limited<L> {
    /// What would become of a packet at `now`, after whatever silence.
    ///
    /// Only a limiter that meets a packet makes up for its refreshes, so that a silence costs nothing by itself.
    fn step(&mut self, bytes: u32, now: Nanos) -> Step<L> {
        self.limiter.refresh(self.last, now);
        self.last = now;
        self.limiter.step(bytes, now)
    }
}

/// A class while the packets come.
#[derive(Default)]
struct ClassState {
    counts: Counts,
    series: Series,
    flows: HashSet<u64>,
    dropped_by_outer: u64,
    unmarkable: u64,
}

/// A replay on its way.
struct Run<'a, L> {
    classes: &'a Classes,
    options: &'a Options,
    classifier: Classifier,
    limiters: Vec<Limited<L>>,
    /// Those of the file, then the packets of none.
    states: Vec<ClassState>,
    first: Option<Nanos>,
    now: Nanos,
    longest_silence: Nanos,
    bins: usize,
}

impl<'a, L: Kept> Run<'a, L> {
    fn new(
        classes: &'a Classes,
        options: &'a Options,
        make: impl Fn(&Settings) -> Result<L, Error>,
    ) -> Result<Self, Error> {
        let classifier = Classifier::new(classes);
        let mut limiters = Vec::with_capacity(classifier.limiter_count() as usize);
        for (index, class) in (0u32..).zip(classes.classes()) {
            let limiter = make(&Settings { rate: class.rate, burst: class.burst, mark: class.mark })?;
            let range = classifier.limiters_of(index as usize);
            limiters.extend(range.map(|at| Limited {
                limiter,
                last: Nanos(0),
                outer: classifier.parent(at),
                class: index,
                counts: Counts::default(),
                occupancy_max: limiter.occupancy(),
            }));
        }
        let states = (0..=classes.classes().len()).map(|_| ClassState::default()).collect();
        Ok(Self {
            classes,
            options,
            classifier,
            limiters,
            states,
            first: None,
            now: Nanos(0),
            longest_silence: Nanos(0),
            bins: 0,
        })
    }

    /// Carries one packet through its limits.
    fn arrive(&mut self, arrival: &Arrival) -> Result<(), Error> {
        let since_first = arrival.time.since(*self.first.get_or_insert(arrival.time));
        let scaled = u128::from(since_first.0) * 1_000_000 / u128::from(self.options.speedup.max(1));
        let now = Nanos(u64::try_from(scaled).unwrap_or(u64::MAX));
        self.longest_silence = self.longest_silence.max(now.since(self.now));
        self.now = now;
        let class = arrival.matched.map_or(self.states.len() - 1, |matched| matched.class as usize);
        let verdict = match arrival.matched {
            Some(matched) => self.limit(matched, arrival, now),
            None => Verdict::Pass,
        };
        let state = &mut self.states[class];
        state.counts.add(verdict, arrival.length);
        state.flows.extend(arrival.flow);
        self.bin(class, now).counts.add(verdict, arrival.length);
        if let Some(matched) = arrival.matched {
            self.note_occupancy(matched.limiter, now);
            if let Some(outer) = self.limiters[matched.limiter as usize].outer {
                self.note_occupancy(outer, now);
            }
        }
        if self.bins > MOST_BINS {
            let message =
                format!("more than {MOST_BINS} bins of {}; choose a longer --bin", self.options.bin);
            return Err(Error::Parameters(message));
        }
        Ok(())
    }

    /// The verdict of a packet's limiter and of the one around it: both are charged, or neither.
    fn limit(&mut self, matched: Match, arrival: &Arrival, now: Nanos) -> Verdict {
        let index = matched.limiter as usize;
        let step = self.limiters[index].step(arrival.length, now);
        let outer = self.limiters[index].outer.map(|outer| outer as usize);
        let outer = outer.map(|outer| (outer, self.limiters[outer].step(arrival.length, now)));
        let worst = outer.as_ref().map_or(step.verdict, |(_, outer)| outer.verdict.max(step.verdict));
        let state = &mut self.states[matched.class as usize];
        if worst == Verdict::Drop && step.verdict != Verdict::Drop {
            state.dropped_by_outer += 1;
        }
        // Whoever does not understand marks gets none.
        let verdict = match worst {
            Verdict::Mark if !arrival.ecn_capable => {
                state.unmarkable += 1;
                Verdict::Pass
            }
            worst => worst,
        };
        let drops = verdict == Verdict::Drop;
        if let Some((outer, step)) = outer {
            self.limiters[outer].limiter = if drops { step.refused } else { step.admitted };
        }
        let limited = &mut self.limiters[index];
        limited.limiter = if drops { step.refused } else { step.admitted };
        limited.counts.add(verdict, arrival.length);
        verdict
    }

    fn bin(&mut self, class: usize, now: Nanos) -> &mut Bin {
        let (bin, is_new) = self.states[class].series.at(now.0 / self.options.bin.0.max(1));
        self.bins += usize::from(is_new);
        bin
    }

    fn note_occupancy(&mut self, limiter: u32, now: Nanos) {
        let limited = &mut self.limiters[limiter as usize];
        let Some(occupancy) = limited.limiter.occupancy() else { return };
        limited.occupancy_max = limited.occupancy_max.max(Some(occupancy));
        let class = limited.class as usize;
        let bin = self.bin(class, now);
        bin.occupancy_max_bytes = bin.occupancy_max_bytes.max(occupancy.0);
    }

    fn finish(mut self, trace: &str, skipped: &[(String, u64)]) -> Replay {
        let mut counts = Counts::default();
        for state in &self.states {
            counts.merge(&state.counts);
        }
        let flows = self.states.iter().map(|state| state.flows.len() as u64).sum();
        let states = std::mem::take(&mut self.states);
        let classes: Vec<ClassRun> = states
            .into_iter()
            .enumerate()
            .map(|(index, state)| self.class_run(index, state, &counts, flows))
            .collect();
        let mut replay = Replay {
            study: "limit.replay",
            version: env!("CARGO_PKG_VERSION"),
            trace: trace.to_owned(),
            skipped: skipped.to_vec(),
            policy: self.options.policy.name(),
            drain: self.options.drain.to_string(),
            speedup: self.options.speedup as f64 / 1e6,
            span_ns: self.now.0,
            longest_silence_ns: self.longest_silence.0,
            bin_ns: self.options.bin.0,
            counts,
            flows,
            classes,
            verdict: Vec::new(),
        };
        replay.verdict = super::verdict::on_replay(&replay);
        replay
    }

    fn class_run(&self, index: usize, state: ClassState, all: &Counts, flows: u64) -> ClassRun {
        let class = self.classes.classes().get(index);
        let limiters = self.classifier.limiters_of(index);
        let own = &self.limiters[limiters.start as usize..limiters.end as usize];
        let mean = |bytes: u64| (self.now.0 > 0).then(|| BitsPerSec::of(Bytes(bytes), self.now).0);
        // The packets of a trace that is shorter than a bin came within the trace, not within the bin.
        let bin = if self.now.0 > 0 { self.options.bin.min(self.now) } else { self.options.bin };
        let peak = |bytes: Bytes| BitsPerSec::of(bytes, bin).0;
        let ClassState { counts, series, flows: own_flows, dropped_by_outer, unmarkable } = state;
        ClassRun {
            class: class.map_or_else(|| UNCLASSIFIED.to_owned(), |class| class.name.clone()),
            inside: class.and_then(|class| class.inside.clone()),
            rate_bps: class.map(|class| class.rate.0),
            burst_bytes: class.map(|class| class.burst.0),
            mark_bytes: class.and_then(|class| class.mark).map(|mark| mark.0),
            flows: own_flows.len() as u64,
            dropped_by_outer_packets: dropped_by_outer,
            unmarkable_packets: unmarkable,
            offered_mean_bps: mean(counts.arrived_bytes),
            offered_peak_bps: peak(series.peak(|bin| bin.counts.arrived_bytes)),
            admitted_mean_bps: mean(counts.admitted_bytes()),
            admitted_peak_bps: peak(series.peak(|bin| bin.counts.admitted_bytes())),
            share_offered: share(counts.arrived_bytes, all.arrived_bytes),
            share_admitted: share(counts.admitted_bytes(), all.admitted_bytes()),
            share_by_flows: share(own_flows.len() as u64, flows),
            occupancy_max_bytes: own
                .iter()
                .filter_map(|limited| limited.occupancy_max)
                .max()
                .map(|bytes| bytes.0),
            limiters: if own.len() > 1 { self.limiter_runs(limiters) } else { Vec::new() },
            over_time: series,
            counts,
        }
    }

    /// The limiters among these that met a packet.
    fn limiter_runs(&self, limiters: std::ops::Range<u32>) -> Vec<LimiterRun> {
        let used = limiters.filter(|&at| self.limiters[at as usize].counts.arrived_packets > 0);
        used.map(|at| LimiterRun {
            limiter: self.classifier.limiter_name(at).unwrap_or_default(),
            counts: self.limiters[at as usize].counts,
            occupancy_max_bytes: self.limiters[at as usize].occupancy_max.map(|bytes| bytes.0),
        })
        .collect()
    }
}

#[cfg(test)]
mod tests;
