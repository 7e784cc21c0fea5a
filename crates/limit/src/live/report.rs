//! What limits are doing, as a report.

use std::cmp::Reverse;

use trueplane_linux::clock;
use trueplane_linux::device::Device;
use trueplane_linux::error::Error;
use trueplane_study::Page;
use trueplane_study::report::Report;
use trueplane_study::study::{Words, page_report};
use trueplane_units::{BitsPerSec, Bytes, Nanos, Percent};

use super::{Attached, Clock, Counter, Direction, Mode, Tuning};
use crate::BELIEF;

/// Limiters of one class that are told one by one, those with the most drops.
const BUSIEST: usize = 10;

/// The counters of all classes at one instant.
#[derive(Clone, Debug)]
pub struct Sample {
    /// Time of the sample, on the monotonic clock.
    pub at: Nanos,
    /// The kernel's number of the program that counted.
    pub program_id: u32,
    /// Counts of every class, in the order of the classes file.
    pub classes: Vec<Counter>,
    /// Counters of every class that dropped most, if it has one for each limiter.
    pub busiest: Vec<Vec<(u32, Counter)>>,
    /// Counts of packets of no class.
    pub unclassified: Counter,
}

impl Sample {
    /// Reads all counters.
    pub fn take(attached: &Attached) -> Result<Self, Error> {
        let mut sample = Self {
            at: clock::monotonic(),
            program_id: attached.about().program_id,
            classes: Vec::new(),
            busiest: Vec::new(),
            unclassified: attached.unclassified()?,
        };
        for class in 0..attached.about().classes.classes().len() {
            let counters = attached.classifier().counters_of(class);
            let is_one_of_many = counters.len() > 1;
            let (mut sum, mut busiest) = (Counter::default(), Vec::new());
            attached.each_counter(counters, |index, counter| {
                sum += counter;
                if is_one_of_many && counter.dropped_bytes > 0 {
                    busiest.push((index, counter));
                    // Now and then, so that a million of them are not kept.
                    if busiest.len() == 100 * BUSIEST {
                        keep_busiest(&mut busiest);
                    }
                }
            })?;
            keep_busiest(&mut busiest);
            sample.classes.push(sum);
            sample.busiest.push(busiest);
        }
        Ok(sample)
    }

    fn total(&self) -> Counter {
        let mut total = self.unclassified;
        self.classes.iter().for_each(|&class| total += class);
        total
    }
}

/// Reports what the limits did until `now`, with rates since `before` if there is such a sample.
pub fn report(attached: &Attached, now: &Sample, before: Option<&Sample>) -> Report {
    let about = attached.about();
    let total = now.total();
    let verdict = format!(
        "{} ({}, {}): {} packets arrived, {} of their bytes were dropped and {} marked.",
        about.device,
        about.mode,
        about.direction,
        total.arrived_packets(),
        Percent(share(total.dropped_bytes, total.arrived_bytes())),
        Percent(share(total.marked_bytes, total.arrived_bytes())),
    );
    let mut page = Page::default();
    place(&about.device, about.mode, about.direction, &about.tuning, &mut page);
    page.fact("monotonic clock", "time_ns", now.at);
    let rows = rows(attached, now, before);
    classes(&rows, &mut page);
    bytes(&rows, &mut page);
    for (class, busiest) in about.classes.classes().iter().zip(&now.busiest) {
        if !busiest.is_empty() {
            busiest_of(attached, &class.name, busiest, &mut page);
        }
    }
    let title = format!("Limits on {}", about.device);
    page_report(
        Words { name: "limit.show", title, belief: BELIEF, verdict: vec![verdict], advice: String::new() },
        &[],
        page,
    )
}

/// The facts of where limits are and how exact.
pub fn place(device: &Device, mode: Mode, direction: Direction, tuning: &Tuning, page: &mut Page) {
    page.fact("device", "device", device.to_string());
    page.fact("mode", "mode", mode.name());
    page.fact("direction", "direction", direction.name());
    match tuning.clock {
        Clock::Exact => page.fact("packets per clock reading", "clock_every", 1u64),
        Clock::Amortised { every } => page.fact("packets per clock reading", "clock_every", every),
        Clock::Given => {}
    }
    if tuning.draw_bytes > 0 {
        page.fact("credit of each core", "credit_bytes", Bytes(tuning.draw_bytes.into()));
    }
}

fn share(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

/// A class, or the packets of none.
struct Row {
    class: String,
    state: Option<State>,
    counter: Counter,
    /// Rates of arriving and of admitted packets since the sample before.
    rates: Option<[BitsPerSec; 2]>,
}

/// Settings and occupancy of a class's limiters; they may differ since somebody set one of many.
struct State {
    limiters: usize,
    rate: BitsPerSec,
    burst: Bytes,
    mark: Option<Bytes>,
    /// Occupancy of the fullest limiter.
    occupancy: Bytes,
}

impl State {
    fn of(attached: &Attached, class: usize) -> Self {
        let limiters = attached.classifier().limiters_of(class);
        let first = attached.limiter(limiters.start);
        Self {
            limiters: limiters.len(),
            rate: BitsPerSec(first.rate.bits_per_sec().round() as u64),
            burst: first.burst(),
            mark: first.rate.mark(),
            occupancy: limiters.map(|limiter| attached.occupancy(limiter)).max().unwrap_or_default(),
        }
    }
}

/// The classes in the order of their file, then the packets of none.
fn rows(attached: &Attached, now: &Sample, before: Option<&Sample>) -> Vec<Row> {
    let rates = |counter: Counter, earlier: fn(&Sample, usize) -> Counter, class: usize| {
        before.map(|before| {
            let (span, passed) = (now.at.since(before.at), counter - earlier(before, class));
            [passed.arrived_bytes(), passed.admitted_bytes()].map(|bytes| BitsPerSec::of(Bytes(bytes), span))
        })
    };
    let classes = attached.about().classes.classes().iter().enumerate().map(|(index, class)| Row {
        class: class.name.clone(),
        state: Some(State::of(attached, index)),
        counter: now.classes[index],
        rates: rates(now.classes[index], |before, class| before.classes[class], index),
    });
    let others = Row {
        class: "(no class)".to_owned(),
        state: None,
        counter: now.unclassified,
        rates: rates(now.unclassified, |before, _| before.unclassified, 0),
    };
    classes.chain([others]).collect()
}

fn classes(rows: &[Row], page: &mut Page) {
    let is_watched = rows.iter().any(|row| row.rates.is_some());
    let state = |row: &&Row| row.state.as_ref().map(|state| (state.rate, state.burst));
    page.table("classes", "Classes", rows)
        .col("class", "class", |row| row.class.clone())
        .col("limiters", "limiters", |row| row.state.as_ref().map(|state| state.limiters))
        .col("rate", "rate_bps", |row| state(row).map(|(rate, _)| rate))
        .col("burst", "burst_bytes", |row| state(row).map(|(_, burst)| burst))
        .col("mark above", "mark_bytes", |row| row.state.as_ref().and_then(|state| state.mark))
        .col("fullest", "occupancy_bytes", |row| row.state.as_ref().map(|state| state.occupancy))
        .col("packets", "arrived_packets", |row| row.counter.arrived_packets())
        .col("passed", "passed_packets", |row| row.counter.passed_packets)
        .col("marked", "marked_packets", |row| row.counter.marked_packets)
        .col("dropped", "dropped_packets", |row| row.counter.dropped_packets)
        .col("dropped bytes", "dropped_share", |row| {
            Percent(share(row.counter.dropped_bytes, row.counter.arrived_bytes()))
        })
        .col_if(is_watched, "arriving", "arriving_bps", |row| row.rates.map(|[arriving, _]| arriving))
        .col_if(is_watched, "admitted", "admitted_bps", |row| row.rates.map(|[_, admitted]| admitted))
        .whole();
}

fn bytes(rows: &[Row], page: &mut Page) {
    page.table("bytes", "Classes in bytes", rows)
        .col("class", "class", |row| row.class.clone())
        .col("bytes", "arrived_bytes", |row| Bytes(row.counter.arrived_bytes()))
        .col("passed", "passed_bytes", |row| Bytes(row.counter.passed_bytes))
        .col("marked", "marked_bytes", |row| Bytes(row.counter.marked_bytes))
        .col("dropped", "dropped_bytes", |row| Bytes(row.counter.dropped_bytes))
        .detail();
}

/// Those that dropped most, most first.
fn keep_busiest(found: &mut Vec<(u32, Counter)>) {
    found.sort_by_key(|(index, counter)| (Reverse(counter.dropped_bytes), *index));
    found.truncate(BUSIEST);
}

fn busiest_of(attached: &Attached, class: &str, found: &[(u32, Counter)], page: &mut Page) {
    page.table(format!("busiest-{class}"), format!("Most dropped of {class}"), found)
        .col("limiter", "limiter", |(index, _)| {
            attached.classifier().counter_name(*index).unwrap_or_default()
        })
        .col("packets", "arrived_packets", |(_, counter)| counter.arrived_packets())
        .col("dropped", "dropped_packets", |(_, counter)| counter.dropped_packets)
        .col("dropped bytes", "dropped_bytes", |(_, counter)| Bytes(counter.dropped_bytes))
        .whole();
}
