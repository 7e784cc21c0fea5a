//! The record of a replay: counts of classes, limiters and bins while packets come, and rows at the end.

use std::ops::Range;

use hashbrown::HashSet;
use trueplane_link::Counts as LinkCounts;
use trueplane_study::Error;
use trueplane_units::{BitsPerSec, Bytes, Nanos};

use super::arrival::Arrival;
use super::found::{ClassRun, Found, LimiterRun, UNCLASSIFIED};
use super::limits::{Limits, Outcome};
use super::options::Options;
use crate::Verdict;
use crate::classes::Classes;
use crate::classifier::Classifier;
use crate::limiter::Settings;
use crate::tally::{Bin, Counts, Series, share};

/// More bins than these, of all classes together, are refused: 400 MB.
const MOST_BINS: usize = 1 << 22;

/// A class while the packets come.
#[derive(Default)]
struct OfClass {
    counts: Counts,
    series: Series,
    flows: HashSet<u64>,
    dropped_by_outer: u64,
    unmarkable: u64,
}

/// A limiter while the packets come.
struct OfLimiter {
    class: u32,
    counts: Counts,
    occupancy_max: Option<Bytes>,
}

/// A replay on its way.
pub(super) struct Record<'a> {
    options: &'a Options,
    classes: &'a Classes,
    classifier: &'a Classifier,
    of_limiters: Vec<OfLimiter>,
    /// Those of the file, then the packets of none.
    of_classes: Vec<OfClass>,
    first: Option<Nanos>,
    now: Nanos,
    longest_silence: Nanos,
    bins: usize,
}

impl<'a> Record<'a> {
    pub(super) fn new(
        options: &'a Options,
        classes: &'a Classes,
        classifier: &'a Classifier,
        limits: &dyn Limits,
    ) -> Self {
        let mut of_limiters = Vec::with_capacity(classifier.limiter_count() as usize);
        for (class, _) in (0u32..).zip(classes.classes()) {
            of_limiters.extend(classifier.limiters_of(class as usize).map(|at| OfLimiter {
                class,
                counts: Counts::default(),
                occupancy_max: limits.occupancy(at),
            }));
        }
        let of_classes = (0..=classes.classes().len()).map(|_| OfClass::default()).collect();
        let (first, now, longest_silence, bins) = (None, Nanos(0), Nanos(0), 0);
        Self { options, classes, classifier, of_limiters, of_classes, first, now, longest_silence, bins }
    }

    /// Carries one packet, which arrives at `time` on the clock of the limits, through them. The record's own times begin with the first packet.
    pub(super) fn arrive(
        &mut self,
        arrival: &Arrival,
        time: Nanos,
        limits: &mut dyn Limits,
    ) -> Result<(), Error> {
        let now = time.since(*self.first.get_or_insert(time));
        self.longest_silence = self.longest_silence.max(now.since(self.now));
        self.now = now;
        let untouched = Outcome { verdict: Verdict::Pass, dropped_by_outer: false, unmarkable: false };
        let outcome = arrival.matched.map_or(untouched, |matched| limits.offer(matched, arrival, time));
        let class = arrival.matched.map_or(self.of_classes.len() - 1, |matched| matched.class as usize);
        let of_class = &mut self.of_classes[class];
        of_class.counts.add(outcome.verdict, arrival.length);
        of_class.flows.extend(arrival.flow);
        of_class.dropped_by_outer += u64::from(outcome.dropped_by_outer);
        of_class.unmarkable += u64::from(outcome.unmarkable);
        self.bin(class, now).counts.add(outcome.verdict, arrival.length);
        if let Some(matched) = arrival.matched {
            self.of_limiters[matched.limiter as usize].counts.add(outcome.verdict, arrival.length);
            let outer = self.classifier.parent(matched.limiter);
            for limiter in [Some(matched.limiter), outer].into_iter().flatten() {
                self.note_occupancy(limiter, limits.occupancy(limiter), now);
            }
        }
        if self.bins > MOST_BINS {
            return Err(Error::Parameters(format!(
                "more than {MOST_BINS} bins of {}; choose a longer --bin",
                *self.options.bin
            )));
        }
        Ok(())
    }

    fn bin(&mut self, class: usize, now: Nanos) -> &mut Bin {
        let (bin, is_new) = self.of_classes[class].series.at(now.0 / self.options.bin.0);
        self.bins += usize::from(is_new);
        bin
    }

    fn note_occupancy(&mut self, limiter: u32, occupancy: Option<Bytes>, now: Nanos) {
        let Some(occupancy) = occupancy else { return };
        let of_limiter = &mut self.of_limiters[limiter as usize];
        of_limiter.occupancy_max = of_limiter.occupancy_max.max(Some(occupancy));
        let class = of_limiter.class as usize;
        let bin = self.bin(class, now);
        bin.occupancy_max_bytes = bin.occupancy_max_bytes.max(occupancy.0);
    }

    /// The rows; `link` counts what came over the link, if there is one.
    pub(super) fn finish(mut self, left_out: &[(String, u64)], link: LinkCounts) -> Found {
        let mut counts = Counts::default();
        for of_class in &self.of_classes {
            counts.merge(&of_class.counts);
        }
        let flows = self.of_classes.iter().map(|of_class| of_class.flows.len() as u64).sum();
        let of_classes = std::mem::take(&mut self.of_classes).into_iter().enumerate();
        Found {
            left_out: left_out.to_vec(),
            link,
            span: self.now,
            longest_silence: self.longest_silence,
            classes: of_classes
                .map(|(index, of_class)| self.class_run(index, of_class, &counts, flows))
                .collect(),
            counts,
            flows,
        }
    }

    fn class_run(&self, index: usize, of_class: OfClass, all: &Counts, flows: u64) -> ClassRun {
        let class = self.classes.classes().get(index);
        let limiters = self.classifier.limiters_of(index);
        let own = &self.of_limiters[limiters.start as usize..limiters.end as usize];
        let mean = |bytes: u64| (self.now.0 > 0).then(|| BitsPerSec::of(Bytes(bytes), self.now));
        // The packets of a trace that is shorter than a bin came within the trace, not within the bin.
        let bin = if self.now.0 > 0 { self.options.bin.get().min(self.now) } else { *self.options.bin };
        let peak = |bytes: Bytes| BitsPerSec::of(bytes, bin);
        let OfClass { counts, series, flows: own_flows, dropped_by_outer, unmarkable } = of_class;
        ClassRun {
            class: class.map_or_else(|| UNCLASSIFIED.to_owned(), |class| class.name.clone()),
            inside: class.and_then(|class| class.inside.clone()),
            limit: class.map(|class| Settings { rate: class.rate, burst: class.burst, mark: class.mark }),
            flows: own_flows.len() as u64,
            dropped_by_outer,
            unmarkable,
            offered_mean: mean(counts.arrived_bytes),
            offered_peak: peak(series.peak(|bin| bin.counts.arrived_bytes)),
            admitted_mean: mean(counts.admitted_bytes()),
            admitted_peak: peak(series.peak(|bin| bin.counts.admitted_bytes())),
            share_offered: share(counts.arrived_bytes, all.arrived_bytes),
            share_admitted: share(counts.admitted_bytes(), all.admitted_bytes()),
            share_by_flows: share(own_flows.len() as u64, flows),
            occupancy_max: own.iter().filter_map(|limiter| limiter.occupancy_max).max(),
            limiters: if own.len() > 1 { self.limiter_runs(limiters) } else { Vec::new() },
            over_time: series,
            counts,
        }
    }

    /// The limiters among these that met a packet.
    fn limiter_runs(&self, limiters: Range<u32>) -> Vec<LimiterRun> {
        let used = limiters.filter(|&at| self.of_limiters[at as usize].counts.arrived_packets > 0);
        used.map(|at| LimiterRun {
            limiter: self.classifier.limiter_name(at).unwrap_or_default(),
            counts: self.of_limiters[at as usize].counts,
            occupancy_max: self.of_limiters[at as usize].occupancy_max,
        })
        .collect()
    }
}
