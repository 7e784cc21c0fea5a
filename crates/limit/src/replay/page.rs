//! What people see of `limit replay`: what became of every class, when, and what TCP's fairness would have come to.

use std::cmp::Reverse;

use trueplane_study::report::{Axis, Plot, Series, Unit};
use trueplane_study::{Measured, Page};
use trueplane_units::{BitsPerSec, Bytes, Nanos, Percent};

use super::found::{ClassRun, Found};
use super::options::Options;
use super::verdict::on_silence;
use crate::limiter::Settings;
use crate::tally::{Bin, Counts};

/// More classes than these cannot be told apart in one picture.
const MOST_DRAWN: usize = 6;

/// The three numbers are told of at most so many classes.
const MOST_NUMBERS: usize = 8;

/// Pictures have at most so many points along the time.
const MOST_POINTS: u64 = 1000;

/// A limit above the highest rate by more than this would make all curves flat, and is not drawn.
const HIGHEST_LIMIT: f64 = 2.0;

/// Colours of what was sent, of what was let through and of the limit.
const OFFERED: usize = 6;
const ADMITTED: usize = 0;
const LIMIT: usize = 1;

/// The table of bins has at most so many rows.
const MOST_ROWS: usize = 50_000;

pub(super) fn present(options: &Options, found: &Found, page: &mut Page) {
    page.fact("packets", "arrived_packets", found.counts.arrived_packets);
    page.fact("bytes on the wire", "arrived_bytes", Bytes(found.counts.arrived_bytes));
    page.fact("flows", "flows", found.flows);
    page.fact("time", "span_ns", found.span);
    page.fact("longest silence", "longest_silence_ns", found.longest_silence);
    if found.link.sent > 0 {
        page.fact("sent over the link", "link_sent_packets", found.link.sent);
        page.fact("lost on the link", "link_lost_packets", found.link.lost);
        page.fact("duplicated on the link", "link_duplicated_packets", found.link.duplicated);
        page.fact("reordered on the link", "link_reordered_packets", found.link.reordered);
    }
    if found.span == Nanos(0) && found.counts.arrived_packets > 1 {
        page.warn("All packets come at one instant: there are no rates, and every limit sees one burst.");
    }
    if let Some(sentence) = on_silence(found) {
        page.warn(sentence);
    }
    // The packets of no class only if there are any.
    let shown = || found.classes.iter().filter(|class| class.is_class() || class.counts.arrived_packets > 0);
    let mut by_bytes: Vec<&ClassRun> = shown().collect();
    by_bytes.sort_by_key(|class| Reverse(class.counts.arrived_bytes));
    let sending = by_bytes.iter().filter(|class| class.counts.arrived_packets > 0);
    for class in sending.take(MOST_NUMBERS) {
        page.numbers(
            format!("share of {}", class.class),
            "share",
            Percent(class.share_by_flows),
            Percent(class.share_admitted),
            Measured::By("trueplane limit show"),
        );
    }
    fairness(found, shown(), page);
    outcomes(shown(), page);
    counts(found, page);
    limiters(found, page);
    over_time(options, found, page);
    page.left_out("capture", found.left_out.iter().cloned());
    // A class with packets only of those inside it has bins too.
    by_bytes.retain(|class| !class.over_time.bins().is_empty());
    plots(options, found, &by_bytes, page);
}

/// The classical number beside what happened and what the limits make of it.
fn fairness<'f>(found: &Found, classes: impl Iterator<Item = &'f ClassRun>, page: &mut Page) {
    let all = found.counts.arrived_bytes as f64;
    page.table(
        "fairness",
        "What TCP's fairness would give (classical), what classes took, and what the limits let through (refined)",
        classes,
    )
    .col("class", "class", |class| class.class.clone())
    .col("flows", "flows", |class| class.flows)
    .col("classical", "share_by_flows", |class| Percent(class.share_by_flows))
    .col("classical bytes", "fair_bytes", |class| Bytes((class.share_by_flows * all).round() as u64))
    .col("took", "share_offered", |class| Percent(class.share_offered))
    .col("taken bytes", "arrived_bytes", |class| Bytes(class.counts.arrived_bytes))
    .col("refined", "share_admitted", |class| Percent(class.share_admitted))
    .col("refined bytes", "admitted_bytes", |class| Bytes(class.counts.admitted_bytes()));
}

fn outcomes<'f>(classes: impl Iterator<Item = &'f ClassRun>, page: &mut Page) {
    let limit = |class: &ClassRun| class.limit;
    page.table("classes", "What the limits would have done", classes)
        .col("class", "class", |class| class.class.clone())
        .col("limit", "rate_bps", |class| limit(class).map(|limit| limit.rate))
        .col("offered mean", "offered_mean_bps", |class| class.offered_mean)
        .col("offered peak", "offered_peak_bps", |class| class.offered_peak)
        .col("let through mean", "admitted_mean_bps", |class| class.admitted_mean)
        .col("let through peak", "admitted_peak_bps", |class| class.admitted_peak)
        .col("packets", "arrived_packets", |class| class.counts.arrived_packets)
        .col("passed", "passed_packets", |class| class.counts.passed_packets)
        .col("marked", "marked_packets", |class| class.counts.marked_packets)
        .col("dropped", "dropped_packets", |class| class.counts.dropped_packets)
        .col("dropped bytes", "dropped_bytes", |class| Bytes(class.counts.dropped_bytes))
        .col("of its bytes", "drop_share", |class| Percent(class.counts.drop_share()))
        .col("fullest", "occupancy_max_bytes", |class| class.occupancy_max)
        .col("burst", "burst_bytes", |class| limit(class).map(|limit| limit.burst));
}

/// All that was counted of every class, also of the packets of none.
fn counts(found: &Found, page: &mut Page) {
    let limit = |class: &ClassRun, of: fn(Settings) -> Option<Bytes>| class.limit.and_then(of);
    let counted = |of: fn(&Counts) -> u64| move |class: &&ClassRun| Bytes(of(&class.counts));
    page.table("counts", "Every class in packets and bytes", &found.classes)
        .col("class", "class", |class| class.class.clone())
        .col("inside", "inside", |class| class.inside.clone())
        .col("marked above", "mark_bytes", |class| limit(class, |limit| limit.mark))
        .col("packets", "arrived_packets", |class| class.counts.arrived_packets)
        .col("passed", "passed_packets", |class| class.counts.passed_packets)
        .col("marked", "marked_packets", |class| class.counts.marked_packets)
        .col("dropped", "dropped_packets", |class| class.counts.dropped_packets)
        .col("refused by the class around it", "dropped_by_outer_packets", |class| class.dropped_by_outer)
        .col("due a mark, no ECN", "unmarkable_packets", |class| class.unmarkable)
        .col("bytes", "arrived_bytes", counted(|counts| counts.arrived_bytes))
        .col("passed bytes", "passed_bytes", counted(|counts| counts.passed_bytes))
        .col("marked bytes", "marked_bytes", counted(|counts| counts.marked_bytes))
        .col("dropped bytes", "dropped_bytes", counted(|counts| counts.dropped_bytes))
        .detail();
}

/// The limiters of classes that have several, if there are any.
fn limiters(found: &Found, page: &mut Page) {
    let all: Vec<_> = found.classes.iter().flat_map(|class| &class.limiters).collect();
    if all.is_empty() {
        return;
    }
    page.table("limiters", "Limiters of classes that have one for each prefix", all)
        .col("limiter", "limiter", |limiter| limiter.limiter.clone())
        .col("packets", "arrived_packets", |limiter| limiter.counts.arrived_packets)
        .col("passed", "passed_packets", |limiter| limiter.counts.passed_packets)
        .col("marked", "marked_packets", |limiter| limiter.counts.marked_packets)
        .col("dropped", "dropped_packets", |limiter| limiter.counts.dropped_packets)
        .col("bytes", "arrived_bytes", |limiter| Bytes(limiter.counts.arrived_bytes))
        .col("passed bytes", "passed_bytes", |limiter| Bytes(limiter.counts.passed_bytes))
        .col("marked bytes", "marked_bytes", |limiter| Bytes(limiter.counts.marked_bytes))
        .col("dropped bytes", "dropped_bytes", |limiter| Bytes(limiter.counts.dropped_bytes))
        .col("fullest", "occupancy_max_bytes", |limiter| limiter.occupancy_max)
        .detail();
}

/// Every class in every bin in which something happened, by time, so that a long capture loses its end and no class.
fn over_time(options: &Options, found: &Found, page: &mut Page) {
    let of_class = |class| move |bin| (class, bin);
    let mut bins: Vec<(&ClassRun, &Bin)> =
        found.classes.iter().flat_map(|class| class.over_time.bins().iter().map(of_class(class))).collect();
    bins.sort_by_key(|(_, bin)| bin.bin);
    if bins.len() > MOST_ROWS {
        page.warn(format!(
            "The table over time has the first {MOST_ROWS} of {} rows; a longer --bin makes fewer.",
            bins.len()
        ));
        bins.truncate(MOST_ROWS);
    }
    page.table("over-time", format!("Over time, in bins of {}", *options.bin), bins)
        .col("class", "class", |(class, _)| class.class.clone())
        .col("time", "time_ns", |(_, bin)| Nanos(bin.bin.saturating_mul(options.bin.0)))
        .col("packets", "arrived_packets", |(_, bin)| bin.counts.arrived_packets)
        .col("passed", "passed_packets", |(_, bin)| bin.counts.passed_packets)
        .col("marked", "marked_packets", |(_, bin)| bin.counts.marked_packets)
        .col("dropped", "dropped_packets", |(_, bin)| bin.counts.dropped_packets)
        .col("bytes", "arrived_bytes", |(_, bin)| Bytes(bin.counts.arrived_bytes))
        .col("passed bytes", "passed_bytes", |(_, bin)| Bytes(bin.counts.passed_bytes))
        .col("marked bytes", "marked_bytes", |(_, bin)| Bytes(bin.counts.marked_bytes))
        .col("dropped bytes", "dropped_bytes", |(_, bin)| Bytes(bin.counts.dropped_bytes))
        .col("fullest", "occupancy_max_bytes", |(_, bin)| Bytes(bin.occupancy_max_bytes))
        .detail();
}

/// The classes that sent most, first.
fn plots(options: &Options, found: &Found, classes: &[&ClassRun], page: &mut Page) {
    let note = if classes.len() > MOST_DRAWN {
        format!(" Only the {MOST_DRAWN} classes that sent most are drawn.")
    } else {
        String::new()
    };
    let drawn = &classes[..classes.len().min(MOST_DRAWN)];
    let time = Time::of(options, found);
    page.plot(time.rates(drawn, &note));
    if let Some(plot) = time.occupancies(drawn, &note) {
        page.plot(plot);
    }
}

/// The horizontal axis of all pictures.
struct Time {
    bins: u64,
    /// Bins that are drawn as one.
    width: u64,
    bin: Nanos,
}

impl Time {
    fn of(options: &Options, found: &Found) -> Self {
        let bins = found.span.0 / options.bin.0 + 1;
        Self { bins, width: bins.div_ceil(MOST_POINTS), bin: *options.bin }
    }

    fn axis() -> Axis {
        Axis { label: "time since the first packet".to_owned(), unit: Unit::Nanos, log: false }
    }

    /// The length of what is drawn as one point.
    fn step(&self) -> Nanos {
        Nanos(self.bin.0.saturating_mul(self.width))
    }

    /// A value for each point, from all of its bins.
    fn points(
        &self,
        class: &ClassRun,
        add: impl Fn(u64, &Bin) -> u64,
        value: impl Fn(u64) -> f64,
    ) -> Vec<(f64, f64)> {
        let coarse = class.over_time.coarse(self.bins, self.width, add);
        let step = self.step().0 as f64;
        coarse.into_iter().enumerate().map(|(index, sum)| (index as f64 * step, value(sum))).collect()
    }

    /// How the bins of a step become one point, as the end of a sentence.
    fn most(&self) -> String {
        match self.width {
            1 => format!("in bins of {}", self.bin),
            width => format!("the highest of every {width} bins of {}", self.bin),
        }
    }

    /// A picture for every class, with the limit that its peaks are held against.
    fn rates(&self, classes: &[&ClassRun], note: &str) -> Plot {
        let rate = |bytes: u64| BitsPerSec::of(Bytes(bytes), self.bin).0 as f64;
        let end = self.bins.saturating_mul(self.bin.0) as f64;
        let peaks = classes.iter().map(|class| class.offered_peak.0).max();
        let highest = peaks.unwrap_or(0) as f64 * HIGHEST_LIMIT;
        let mut series = Vec::new();
        for class in classes {
            let curve = |name: &str, points, color| Series {
                name: name.to_owned(),
                panel: class.class.clone(),
                points,
                color: Some(color),
                ..Series::default()
            };
            let offered = self.points(class, |most, bin| most.max(bin.counts.arrived_bytes), rate);
            let admitted = self.points(class, |most, bin| most.max(bin.counts.admitted_bytes()), rate);
            series.push(Series { steps: true, dashed: true, ..curve("offered", offered, OFFERED) });
            series.push(Series { steps: true, ..curve("let through", admitted, ADMITTED) });
            // A class with a limiter for each prefix has no limit of its own.
            let limit = class.limit.filter(|_| class.limiters.is_empty());
            if let Some(level) = limit.map(|limit| limit.rate.0 as f64).filter(|level| *level <= highest) {
                let line = vec![(0.0, level), (end, level)];
                series.push(Series { is_limit: true, ..curve("limit", line, LIMIT) });
            }
        }
        let has_own = classes.iter().any(|class| !class.limiters.is_empty());
        let own = if has_own { " The limits of each address of a class are not drawn." } else { "" };
        Plot {
            id: "rates".to_owned(),
            title: format!("Rates over time, {}", self.most()),
            note: format!(
                "Dashed: what was sent. Solid: what the limits let through. Dotted: the limit, which a burst may exceed for a while; one that is far above all rates is not drawn.{own}{note}"
            ),
            x: Self::axis(),
            y: Axis { label: "rate".to_owned(), unit: Unit::BitsPerSec, log: false },
            series,
        }
    }

    /// None, if the policy cannot tell.
    fn occupancies(&self, classes: &[&ClassRun], note: &str) -> Option<Plot> {
        let curves = classes.iter().enumerate().filter(|(_, class)| class.occupancy_max.is_some());
        let series: Vec<Series> = curves
            .map(|(index, class)| Series {
                name: class.class.clone(),
                steps: true,
                points: self.points(
                    class,
                    |most, bin| most.max(bin.occupancy_max_bytes),
                    |bytes| bytes as f64,
                ),
                color: Some(index),
                ..Series::default()
            })
            .collect();
        (!series.is_empty()).then(|| Plot {
            id: "occupancy".to_owned(),
            title: "How full the fullest bucket of every class is".to_owned(),
            note: format!("The most, {}; what would overflow the burst is dropped.{note}", self.most()),
            x: Self::axis(),
            y: Axis { label: "occupancy (bytes)".to_owned(), unit: Unit::Plain, log: false },
            series,
        })
    }
}
