//! What limits are doing, as a report.

use serde_json::{Value, json};
use trueplane_core::limit::classes::Class;
use trueplane_core::report::{Cell, Column, Report, Table};
use trueplane_core::units::{BitsPerSec, Bytes, Nanos, Percent};

use super::{Attached, Counter};
use crate::clock;
use crate::error::Error;

/// Limiters of one class that are told one by one, those with the most drops.
const BUSIEST: usize = 10;

/// What everybody believes who has no limits.
pub const BELIEF: &str = "TCP shares the link fairly between tenants.";

/// The counters of all classes at one instant.
#[derive(Clone, Debug)]
pub struct Sample {
    /// When, on the monotonic clock.
    pub at: Nanos,
    /// By class, in the order of the classes file.
    pub classes: Vec<Counter>,
    /// Of packets of no class.
    pub unclassified: Counter,
}

impl Sample {
    /// What has been counted by now.
    pub fn take(attached: &Attached) -> Result<Self, Error> {
        let classes = attached.about().classes.classes();
        Ok(Self {
            at: clock::monotonic(),
            classes: (0..classes.len())
                .map(|class| attached.class_counter(class))
                .collect::<Result<_, _>>()?,
            unclassified: attached.unclassified()?,
        })
    }

    fn total(&self) -> Counter {
        let mut total = self.unclassified;
        self.classes.iter().for_each(|&class| total += class);
        total
    }
}

/// What the limits did until `now`, with rates since `before` if there is such a sample.
pub fn report(attached: &Attached, now: &Sample, before: Option<&Sample>) -> Result<Report, Error> {
    let about = attached.about();
    let total = now.total();
    let place = format!("{} ({}, {})", about.device, name(&about.mode), name(&about.direction));
    let verdict = format!(
        "{place}: {} packets arrived, {} of their bytes were dropped and {} marked.",
        total.arrived_packets(),
        Percent(share(total.dropped_bytes, total.arrived_bytes())),
        Percent(share(total.marked_bytes, total.arrived_bytes())),
    );
    let mut tables = vec![class_table(attached, now, before)];
    tables.extend(busiest(attached)?);
    Ok(Report {
        study: "limit.show".into(),
        title: format!("Limits on {}", about.device),
        belief: BELIEF.into(),
        verdict: vec![verdict],
        facts: vec![("device".into(), place)],
        tables,
        plots: Vec::new(),
        document: document(attached, now, before),
    })
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

fn class_table(attached: &Attached, now: &Sample, before: Option<&Sample>) -> Table {
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
    for (index, class) in attached.about().classes.classes().iter().enumerate() {
        let state = State::of(attached, index);
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

/// Of classes that count each limiter, those limiters that dropped most.
fn busiest(attached: &Attached) -> Result<Vec<Table>, Error> {
    let classifier = attached.classifier();
    let mut tables = Vec::new();
    for (index, class) in attached.about().classes.classes().iter().enumerate() {
        let counters = classifier.counters_of(index);
        if counters.len() < 2 {
            continue;
        }
        let mut found = Vec::new();
        for counter in counters {
            let count = attached.counter(counter)?;
            if count.dropped_bytes > 0 {
                found.push((counter, count));
            }
        }
        found.sort_by_key(|(counter, count)| (std::cmp::Reverse(count.dropped_bytes), *counter));
        found.truncate(BUSIEST);
        tables.extend((!found.is_empty()).then(|| busiest_table(attached, class, &found)));
    }
    Ok(tables)
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

fn document(attached: &Attached, now: &Sample, before: Option<&Sample>) -> Value {
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
    let classes = about.classes.classes().iter().enumerate().map(|(index, class)| {
        let state = State::of(attached, index);
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
