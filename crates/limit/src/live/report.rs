//! What limits are doing, as a report.

use std::cmp::Reverse;

use serde_json::{Value, json};
use trueplane_linux::clock;
use trueplane_linux::error::Error;
use trueplane_study::report::{Cell, Column, Report, Table};
use trueplane_units::{BitsPerSec, Bytes, Nanos, Percent};

use super::{Attached, Counter};
use crate::BELIEF;
use crate::classes::Class;

/// Limiters of one class that are told one by one, those with the most drops.
const BUSIEST: usize = 10;

/// The counters of all classes at one instant.
#[derive(Clone, Debug)]
pub struct Sample {
    /// When, on the monotonic clock.
    pub at: Nanos,
    /// The kernel's number of the program that counted.
    pub program_id: u32,
    /// By class, in the order of the classes file.
    pub classes: Vec<Counter>,
    /// By class, those of its counters that dropped most, if it has one for each limiter.
    pub busiest: Vec<Vec<(u32, Counter)>>,
    /// Of packets of no class.
    pub unclassified: Counter,
}

impl Sample {
    /// What has been counted by now.
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

/// What the limits did until `now`, with rates since `before` if there is such a sample.
pub fn report(attached: &Attached, now: &Sample, before: Option<&Sample>) -> Report {
    let about = attached.about();
    let total = now.total();
    let place = format!("{} ({}, {})", about.device, name(&about.mode), name(&about.direction));
    let verdict = format!(
        "{place}: {} packets arrived, {} of their bytes were dropped and {} marked.",
        total.arrived_packets(),
        Percent(share(total.dropped_bytes, total.arrived_bytes())),
        Percent(share(total.marked_bytes, total.arrived_bytes())),
    );
    let states: Vec<State> =
        (0..about.classes.classes().len()).map(|class| State::of(attached, class)).collect();
    let mut tables = vec![class_table(attached, &states, now, before)];
    let classes = about.classes.classes().iter().zip(&now.busiest);
    let busiest = classes.filter(|(_, busiest)| !busiest.is_empty());
    tables.extend(busiest.map(|(class, busiest)| busiest_table(attached, class, busiest)));
    Report {
        study: "limit.show".into(),
        title: format!("Limits on {}", about.device),
        belief: BELIEF.into(),
        verdict: vec![verdict],
        facts: vec![("device".into(), place)],
        tables,
        plots: Vec::new(),
        document: document(attached, &states, now, before),
        ..Report::default()
    }
}

/// The name that serde gives a value.
fn name(value: &impl serde::Serialize) -> String {
    serde_json::to_value(value).ok().and_then(|value| value.as_str().map(str::to_owned)).unwrap_or_default()
}

fn share(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

/// What a class's limiters are set to and hold; they may differ since somebody set one of many.
struct State {
    rate: BitsPerSec,
    burst: Bytes,
    mark: Option<Bytes>,
    /// Of the fullest one.
    occupancy: Bytes,
}

impl State {
    fn of(attached: &Attached, class: usize) -> Self {
        let limiters = attached.classifier().limiters_of(class);
        let first = attached.limiter(limiters.start);
        Self {
            rate: BitsPerSec(first.rate.bits_per_sec().round() as u64),
            burst: first.burst(),
            mark: first.rate.mark(),
            occupancy: limiters.map(|limiter| attached.occupancy(limiter)).max().unwrap_or_default(),
        }
    }
}

fn class_table(attached: &Attached, states: &[State], now: &Sample, before: Option<&Sample>) -> Table {
    let mut columns = vec![
        Column::new("class", "class"),
        Column::new("limiters", "limiters"),
        Column::new("rate", "rate_bps"),
        Column::new("burst", "burst_bytes"),
        Column::new("mark above", "mark_bytes"),
        Column::new("fullest", "occupancy_bytes"),
        Column::new("packets", "arrived_packets"),
        Column::new("passed", "passed_packets"),
        Column::new("marked", "marked_packets"),
        Column::new("dropped", "dropped_packets"),
        Column::new("dropped bytes", "dropped_share"),
    ];
    if before.is_some() {
        columns.push(Column::new("arriving", "arriving_bps"));
        columns.push(Column::new("admitted", "admitted_bps"));
    }
    let counts = |counter: &Counter| {
        [
            Cell::Count(counter.arrived_packets()),
            Cell::Count(counter.passed_packets),
            Cell::Count(counter.marked_packets),
            Cell::Count(counter.dropped_packets),
            Cell::Ratio(share(counter.dropped_bytes, counter.arrived_bytes())),
        ]
    };
    let rates = |now_counter: Counter, before_counter: Option<Counter>| {
        let since = before.map(|before| now.at.since(before.at)).zip(before_counter);
        since.into_iter().flat_map(move |(span, earlier)| {
            let passed = now_counter - earlier;
            [passed.arrived_bytes(), passed.admitted_bytes()]
                .map(|bytes| Cell::Rate(BitsPerSec::of(Bytes(bytes), span)))
        })
    };
    let mut rows = Vec::new();
    for ((index, class), state) in attached.about().classes.classes().iter().enumerate().zip(states) {
        let mut row = vec![
            Cell::text(&class.name),
            Cell::Count(attached.classifier().limiters_of(index).len() as u64),
            Cell::Rate(state.rate),
            Cell::Bytes(state.burst),
            state.mark.map_or(Cell::Missing, Cell::Bytes),
            Cell::Bytes(state.occupancy),
        ];
        row.extend(counts(&now.classes[index]));
        row.extend(rates(now.classes[index], before.map(|before| before.classes[index])));
        rows.push(row);
    }
    let mut row = vec![Cell::text("(no class)")];
    row.extend(std::iter::repeat_n(Cell::Missing, 5));
    row.extend(counts(&now.unclassified));
    row.extend(rates(now.unclassified, before.map(|before| before.unclassified)));
    rows.push(row);
    Table { id: "classes".into(), title: "Classes".into(), columns, rows, detail: false }
}

/// Those that dropped most, most first.
fn keep_busiest(found: &mut Vec<(u32, Counter)>) {
    found.sort_by_key(|(index, counter)| (Reverse(counter.dropped_bytes), *index));
    found.truncate(BUSIEST);
}

fn busiest_table(attached: &Attached, class: &Class, found: &[(u32, Counter)]) -> Table {
    let row = |(index, count): &(u32, Counter)| {
        vec![
            Cell::text(attached.classifier().counter_name(*index).unwrap_or_default()),
            Cell::Count(count.arrived_packets()),
            Cell::Count(count.dropped_packets),
            Cell::Bytes(Bytes(count.dropped_bytes)),
        ]
    };
    Table {
        id: format!("busiest-{}", class.name),
        title: format!("Most dropped of {}", class.name),
        columns: vec![
            Column::new("limiter", "limiter"),
            Column::new("packets", "arrived_packets"),
            Column::new("dropped", "dropped_packets"),
            Column::new("dropped bytes", "dropped_bytes"),
        ],
        rows: found.iter().map(row).collect(),
        detail: false,
    }
}

fn document(attached: &Attached, states: &[State], now: &Sample, before: Option<&Sample>) -> Value {
    let about = attached.about();
    let counted = |counter: Counter, earlier: Option<Counter>| {
        let mut value = json!(counter);
        if let (Some(before), Some(earlier)) = (before, earlier) {
            let span = now.at.since(before.at);
            let passed = counter - earlier;
            value["arriving_bps"] = json!(BitsPerSec::of(Bytes(passed.arrived_bytes()), span));
            value["admitted_bps"] = json!(BitsPerSec::of(Bytes(passed.admitted_bytes()), span));
        }
        value
    };
    let classes = about.classes.classes().iter().enumerate().zip(states).map(|((index, class), state)| {
        let mut value = counted(now.classes[index], before.map(|before| before.classes[index]));
        value["class"] = json!(class.name);
        value["limiters"] = json!(attached.classifier().limiters_of(index).len());
        value["rate_bps"] = json!(state.rate);
        value["burst_bytes"] = json!(state.burst);
        value["mark_bytes"] = json!(state.mark);
        value["occupancy_bytes"] = json!(state.occupancy);
        value
    });
    json!({
        "study": "limit.show",
        "device": about.device.to_string(),
        "mode": about.mode,
        "direction": about.direction,
        "tuning": about.tuning,
        "time_ns": now.at,
        "classes": classes.collect::<Vec<_>>(),
        "unclassified": counted(now.unclassified, before.map(|before| before.unclassified)),
    })
}
