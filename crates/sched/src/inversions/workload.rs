//! The packets of one scenario, made anew for every scheduler and always the same.

use std::sync::Arc;

use trueplane_study::{Error, Observer};
use trueplane_trace::Trace;
use trueplane_units::{BitsPerSec, Factor, Nanos, Within};

use super::options::{Options, USUAL_PACKETS, USUAL_RATE};
use crate::choice::{Arrivals, RankChoice};
use crate::distribution::AliasTable;
use crate::port::{Ranks, Traffic, go_on};
use crate::rank::RankName;
use crate::tally::ByRank;
use crate::traffic::on_off::OnOff;
use crate::traffic::poisson::Poisson;
use crate::traffic::ranks::{Drawn, Listed, Policy};
use crate::traffic::recorded::{Recording, Wanted};
use crate::traffic::{CLASSES, First, Imagined};

/// Packets whose classes are counted beforehand; [`BETWEEN`] lie between two questions whether to stop.
const SAMPLE: u64 = 1 << 24;
const BETWEEN: u64 = 1 << 14;

/// A trace that would have to be sent on a slower line to have the load that is asked for is mostly gaps.
const SLOWEST: BitsPerSec = BitsPerSec(1_000);

/// More flows that send at a time, on average, are refused: 80 bytes of memory each, for every run.
const MOST_SENDING: u64 = 1 << 20;

/// Source of the packets.
pub(super) struct Workload<'a> {
    options: &'a Options,
    /// Packets of the trace, if there is one.
    pub recording: Option<Recording>,
}

/// Ranks, and the occurrences of each if that is known.
#[derive(Clone)]
pub(super) struct Known {
    /// Source of the ranks.
    pub choice: RankChoice,
    /// Occurrences of each rank; none if the source is endless.
    pub counts: Option<Arc<[u64]>>,
    table: Option<Arc<AliasTable>>,
}

impl<'a> Workload<'a> {
    /// Reads the trace, if there is one.
    ///
    /// # Errors
    /// If it cannot be read, has not what is needed, or does not tell how fast its line should be; if the observer interrupts.
    pub(super) fn new(
        trace: Option<&Trace>,
        options: &'a Options,
        observer: &dyn Observer,
    ) -> Result<Self, Error> {
        let wanted = Wanted {
            ranks: options.ranks().contains(&RankChoice::Trace),
            times: options.arrivals == Arrivals::Trace,
            packets: options.packets.map_or(u64::MAX, Within::get),
            packet_bytes: *options.packet_size,
            seed: options.seed,
            slack: options.slack,
        };
        let recording = trace.map(|trace| Recording::read(trace, &wanted, observer)).transpose()?;
        let workload = Self { options, recording };
        workload.check()?;
        Ok(workload)
    }

    fn check(&self) -> Result<(), Error> {
        match (self.options.arrivals, &self.recording) {
            (Arrivals::Trace, Some(recording)) => self.check_times(recording),
            (Arrivals::OnOff, _) => {
                self.options.loads().into_iter().try_for_each(|load| self.check_flows(load))
            }
            _ => Ok(()),
        }
    }

    /// Refuses times that tell nothing of the line, and requests where flows are needed.
    fn check_times(&self, recording: &Recording) -> Result<(), Error> {
        let refuse = |problem: String| Err(Error::Parameters(format!("{}: {problem}", recording.name)));
        let policies = self.options.ranks().iter().any(|choice| matches!(choice, RankChoice::Policy(_)));
        if policies && !recording.is_capture {
            return refuse(
                "rank policies need a capture, pcap or pcapng: other traces have no flows".to_owned(),
            );
        }
        if self.options.rate.is_some() {
            return Ok(());
        }
        let span = recording.span();
        if span == Nanos(0) {
            let problem = "all packets come at one instant, which makes no load: give the line a --rate";
            return refuse(problem.to_owned());
        }
        for load in self.options.loads() {
            let rate = self.rate(load);
            if rate < SLOWEST {
                let span = days(span);
                return refuse(format!(
                    "its packets span {span}, over which a load of {load} takes a line of less than {SLOWEST}: give the line a --rate, or cut the gaps out of the trace"
                ));
            }
        }
        Ok(())
    }

    /// Refuses flows that send so slowly that too many of them have to at a time.
    fn check_flows(&self, load: Factor) -> Result<(), Error> {
        let (offered, access) = (self.imagined(load).offered, self.access(load));
        let sending = offered.0 / access.0.max(1);
        if sending <= MOST_SENDING {
            return Ok(());
        }
        Err(Error::Parameters(format!(
            "expected at most {MOST_SENDING} flows that send at a time; a load of {} on a line of {} is {sending} flows of {access} (--access-rate)",
            load,
            self.rate(load)
        )))
    }

    /// Number of packets.
    pub(super) fn packets(&self) -> u64 {
        let recorded = self.recording.as_ref().map(|recording| recording.packets.len() as u64);
        match (self.options.arrivals, recorded) {
            (Arrivals::Trace, Some(recorded)) => recorded,
            (_, recorded) => self.options.packets.map(Within::get).or(recorded).unwrap_or(USUAL_PACKETS),
        }
    }

    /// Rate of the line at which the load is `load` millionths of it.
    pub(super) fn rate(&self, load: Factor) -> BitsPerSec {
        match (self.options.rate.map(Within::get), &self.recording) {
            (None, Some(recording)) if self.options.arrivals == Arrivals::Trace => {
                // In one division, so that a slow line is as right as a fast one.
                let bits = u128::from(recording.bytes().0) * 8_000_000_000 * 1_000_000;
                let time = u128::from(recording.span().0.max(1)) * u128::from(load.millionths());
                BitsPerSec(u64::try_from(bits / time).unwrap_or(u64::MAX).max(1))
            }
            (rate, _) => rate.unwrap_or(USUAL_RATE),
        }
    }

    /// The load that this comes to, to a millionth: as asked for, or what a trace makes of the line.
    pub(super) fn load(&self, load: Factor) -> f64 {
        let millionths = match &self.recording {
            Some(recording) if self.options.arrivals == Arrivals::Trace => {
                let bits = recording.bytes().0 as f64 * 8e9;
                let found = bits / (recording.span().0.max(1) as f64 * self.rate(load).0.max(1) as f64);
                (found * 1e6).round()
            }
            _ => load.millionths() as f64,
        };
        millionths / 1e6
    }

    /// Rate at which an on-off flow sends while it is on.
    pub(super) fn access(&self, load: Factor) -> BitsPerSec {
        self.options.access_rate.map_or_else(|| BitsPerSec((self.rate(load).0 / 10).max(1)), Within::get)
    }

    fn imagined(&self, load: Factor) -> Imagined {
        let offered = u128::from(self.rate(load).0) * u128::from(load.millionths()) / 1_000_000;
        Imagined {
            seed: self.options.seed,
            packet_bytes: *self.options.packet_size,
            offered: BitsPerSec(u64::try_from(offered).unwrap_or(u64::MAX).max(1)),
            slack: self.options.slack,
        }
    }

    /// Whether packets come as a Poisson process.
    pub(super) fn is_poisson(&self) -> bool {
        self.options.arrivals == Arrivals::Poisson
    }

    /// The packets of a Poisson process.
    pub(super) fn poisson(&self, load: Factor, by_policy: bool) -> First<Poisson> {
        let traffic = Poisson::new(&self.imagined(load), *self.options.flows, by_policy);
        First { traffic, left: self.packets() }
    }

    /// The packets, whatever they are.
    pub(super) fn traffic(&self, load: Factor) -> Box<dyn Traffic> {
        let left = self.packets();
        match (self.options.arrivals, &self.recording) {
            (Arrivals::Trace, Some(recording)) => Box::new(First { traffic: recording.traffic(), left }),
            (Arrivals::OnOff, _) => {
                let traffic = OnOff::new(&self.imagined(load), *self.options.flow_size, self.access(load));
                Box::new(First { traffic, left })
            }
            _ => Box::new(self.poisson(load, true)),
        }
    }

    /// Returns the ranks of `choice`, with the occurrences of each if they are known.
    ///
    /// # Errors
    /// If the observer interrupts.
    pub(super) fn known(&self, choice: RankChoice, observer: &dyn Observer) -> Result<Known, Error> {
        let (counts, table): (Option<Arc<[u64]>>, _) = match choice {
            RankChoice::Drawn(distribution) => {
                let weights = distribution.weights();
                let table = AliasTable::new(&weights);
                (Some(weights.into()), Some(Arc::new(table)))
            }
            RankChoice::Trace => (self.recording.as_ref().map(|recording| counts_of(&recording.ranks)), None),
            RankChoice::Policy(RankName::Class) => (Some(self.counts_by_class(observer)?), None),
            RankChoice::Policy(_) => (None, None),
        };
        Ok(Known { choice, counts, table })
    }

    /// Occurrences of each class among the first [`SAMPLE`] packets, whatever the load.
    fn counts_by_class(&self, observer: &dyn Observer) -> Result<Arc<[u64]>, Error> {
        let mut counts = vec![0; CLASSES.into()];
        let mut traffic = self.traffic(self.options.loads()[0]);
        for number in 0..SAMPLE {
            if number.is_multiple_of(BETWEEN) {
                go_on(observer)?;
            }
            let Some((_, packet)) = traffic.next() else { break };
            counts[usize::from(packet.class)] += 1;
        }
        Ok(counts.into())
    }

    /// The ranks of `known`.
    pub(super) fn ranks(&self, known: &Known) -> Box<dyn Ranks> {
        match (known.choice, self.drawn(known), &self.recording) {
            (RankChoice::Policy(policy), _, _) => Box::new(Policy(policy.make())),
            (_, Some(drawn), _) => Box::new(drawn),
            (_, None, recording) => Box::new(Listed::new(
                recording.as_ref().map_or_else(Arc::default, |recording| Arc::clone(&recording.ranks)),
            )),
        }
    }

    /// The ranks of `known`, if they are drawn.
    pub(super) fn drawn(&self, known: &Known) -> Option<Drawn> {
        known.table.as_ref().map(|table| Drawn::new(Arc::clone(table), self.options.seed))
    }
}

impl Known {
    /// Makes the counters for these ranks.
    pub(super) fn tally(&self) -> ByRank {
        match (self.counts.as_deref(), self.choice) {
            (None, RankChoice::Policy(policy)) if !policy.properties().grows => ByRank::folding(),
            (counts, _) => ByRank::new(counts),
        }
    }
}

/// A length of time that may be years.
fn days(span: Nanos) -> String {
    const DAY: f64 = 86_400e9;
    let days = span.0 as f64 / DAY;
    if days < 2.0 { span.to_string() } else { format!("{days:.0} days") }
}

/// Occurrences of each rank of a list, up to the largest.
fn counts_of(ranks: &[u64]) -> Arc<[u64]> {
    let span = ranks.iter().max().map_or(1, |&most| most + 1);
    let mut counts = vec![0; span as usize];
    ranks.iter().for_each(|&rank| counts[rank as usize] += 1);
    counts.into()
}
