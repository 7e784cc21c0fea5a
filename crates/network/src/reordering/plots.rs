//! The curves of figures 3.6b (goodput by cycles), 3.7b (by flows) and 3.9 (fairness), and what reordering makes senders do.

use trueplane_spray::dispatch::{DispatchName, PolicyName};
use trueplane_study::Page;
use trueplane_study::report::{Axis, Plot, Series, Unit, color_of};

use super::found::{Found, Row};
use super::options::Options;

/// A picture of one number.
struct Picture {
    id: &'static str,
    title: &'static str,
    note: &'static str,
    number: fn(&Row) -> f64,
    /// The classical number beside it, if there is one.
    classical: Option<fn(&Row) -> f64>,
    label: &'static str,
    unit: Unit,
}

/// The first one leads.
const PICTURES: [Picture; 3] = [
    Picture {
        id: "goodput",
        title: "Goodput of all flows together",
        note: "Dashed: the classical model, in which order does not matter. A picture for each loss recovery.",
        number: |row| row.goodput.mean,
        classical: Some(|row| row.classical),
        label: "goodput",
        unit: Unit::BitsPerSec,
    },
    Picture {
        id: "spurious",
        title: "Segments that arrived although the receiver had them",
        note: "They were sent again for nothing, because packets came late.",
        number: |row| row.counts.spurious_share(),
        classical: None,
        label: "segments that brought nothing new",
        unit: Unit::Percent,
    },
    Picture {
        id: "jain",
        title: "Fairness between flows",
        note: "Jain's index is 1 if all flows have the same goodput.",
        number: |row| row.jain.mean,
        classical: None,
        label: "Jain's index",
        unit: Unit::Plain,
    },
];

pub(super) fn draw(options: &Options, found: &Found, page: &mut Page) {
    let cases = found.cases();
    let mut flows: Vec<u64> = cases.iter().map(|case| case.flows).collect();
    flows.sort_unstable();
    flows.dedup();
    // The axis is what there is more of.
    let by_cycles = cases.len() / flows.len().max(1) > flows.len();
    for (place, picture) in PICTURES.iter().enumerate() {
        let plot = Plot {
            id: picture.id.to_owned(),
            title: picture.title.to_owned(),
            note: picture.note.to_owned(),
            x: Axis {
                label: if by_cycles { "cycles for each packet" } else { "flows" }.to_owned(),
                unit: Unit::Plain,
                log: !by_cycles,
            },
            y: Axis { label: picture.label.to_owned(), unit: picture.unit, log: false },
            series: series(options, found, picture, by_cycles),
        };
        if place == 0 { page.lead(plot) } else { page.plot(plot) }
    }
}

fn series(options: &Options, found: &Found, picture: &Picture, by_cycles: bool) -> Vec<Series> {
    let held = if by_cycles { options.flows.distinct().len() } else { options.cycles.distinct().len() };
    let mut all: Vec<Series> = Vec::new();
    let mut add = |name: String, panel: String, point: (f64, f64), like: Series| match all
        .iter_mut()
        .find(|series| series.name == name && series.panel == panel)
    {
        Some(series) => series.points.push(point),
        None => all.push(Series { name, panel, points: vec![point], ..like }),
    };
    for row in &found.rows {
        let (x, other) = match by_cycles {
            true => (row.case.cycles, format!("flows: {}", row.case.flows)),
            false => (row.case.flows, format!("cycles: {}", row.case.cycles)),
        };
        let recovery = (options.recovery.len() > 1).then(|| row.recovery.name().to_owned());
        let parts = [recovery, (held > 1).then_some(other)];
        let panel = parts.into_iter().flatten().collect::<Vec<_>>().join(", ");
        let color = color(row.policy);
        let point = (x as f64, (picture.number)(row));
        add(row.policy.to_string(), panel.clone(), point, Series { color, ..Series::default() });
        if let Some(classical) = picture.classical {
            let point = (x as f64, classical(row));
            let like = Series { color, dashed: true, muted: true, ..Series::default() };
            add(format!("{}: classical", row.policy), panel, point, like);
        }
    }
    for series in &mut all {
        series.points.sort_by(|one, other| one.0.total_cmp(&other.0));
    }
    all
}

/// The colour of a policy, as in other reports on spraying.
fn color(policy: DispatchName) -> Option<usize> {
    match policy.subset_cores() {
        cores if cores > 2 => Some(PolicyName::ALL.len() + cores),
        _ => color_of(policy.policy()),
    }
}
