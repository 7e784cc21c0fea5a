//! The curves of figures 3.6a, 3.7a, 3.8 and 3.9, and reordering, where there are enough points for a curve.

use trueplane_study::Page;
use trueplane_study::report::{Axis, Plot, Series, Unit, color_of};

use super::found::{Case, Found, Row};
use super::options::Options;
use crate::dispatch::PolicyName;
use crate::system::{StateName, SystemName};

/// A picture of one number.
struct Picture {
    id: &'static str,
    title: &'static str,
    /// Over cycles, or else over flows.
    by_cycles: bool,
    number: fn(&Row) -> f64,
    label: &'static str,
    unit: Unit,
}

const PICTURES: [Picture; 5] = [
    Picture {
        id: "rate_by_cycles",
        title: "Processing rate by work",
        by_cycles: true,
        number: |row| row.rate.mean,
        label: "packets/s",
        unit: Unit::Plain,
    },
    Picture {
        id: "rate_by_flows",
        title: "Processing rate by flows",
        by_cycles: false,
        number: |row| row.rate.mean,
        label: "packets/s",
        unit: Unit::Plain,
    },
    Picture {
        id: "p99_by_cycles",
        title: "99th percentile of latency by work",
        by_cycles: true,
        number: |row| row.p99.mean,
        label: "latency",
        unit: Unit::Nanos,
    },
    Picture {
        id: "jain_by_flows",
        title: "Fairness by flows",
        by_cycles: false,
        number: |row| row.jain.mean,
        label: "Jain's index",
        unit: Unit::Plain,
    },
    Picture {
        id: "reordered_by_flows",
        title: "Reordering by flows",
        by_cycles: false,
        number: |row| row.reordered.mean,
        label: "packets reordered",
        unit: Unit::Percent,
    },
];

pub(super) fn draw(options: &Options, found: &Found, page: &mut Page) {
    for picture in PICTURES {
        let series = series(options, found, &picture);
        if series.iter().all(|series| series.points.len() <= 1) {
            continue;
        }
        let (at, held) =
            if picture.by_cycles { ("cycles for each packet", "flows") } else { ("flows", "cycles") };
        page.plot(Plot {
            id: picture.id.to_owned(),
            title: picture.title.to_owned(),
            note: format!(
                "A curve for each system, a picture for each function, number of cores and of {held}."
            ),
            x: Axis { label: at.to_owned(), unit: Unit::Plain, log: !picture.by_cycles },
            y: Axis { label: picture.label.to_owned(), unit: picture.unit, log: false },
            series,
        });
    }
}

fn series(options: &Options, found: &Found, picture: &Picture) -> Vec<Series> {
    let (functions, cores) = (options.nf.len(), options.cores().len());
    let held = if picture.by_cycles { options.flows().len() } else { options.cycles().len() };
    let mut all: Vec<Series> = Vec::new();
    for row in &found.rows {
        let Case { function, cores: of, flows, cycles } = row.case;
        let (x, held_at) = match picture.by_cycles {
            true => (cycles, format!("flows: {flows}")),
            false => (flows, format!("cycles: {cycles}")),
        };
        let several = |count: usize, text: String| (count > 1).then_some(text);
        let parts = [
            several(functions, function.to_string()),
            several(cores, format!("cores: {of}")),
            several(held, held_at),
        ];
        let panel = parts.into_iter().flatten().collect::<Vec<_>>().join(", ");
        let name = row.system.to_string();
        let point = (x as f64, (picture.number)(row));
        match all.iter_mut().find(|series| series.name == name && series.panel == panel) {
            Some(series) => series.points.push(point),
            None => {
                let color = color_of_system(row.system);
                all.push(Series { name, panel, points: vec![point], color, ..Series::default() });
            }
        }
    }
    for series in &mut all {
        series.points.sort_by(|a, b| a.0.total_cmp(&b.0));
    }
    all
}

/// The colour of a system, the same in every picture of every report.
fn color_of_system(system: SystemName) -> Option<usize> {
    const POLICIES: usize = PolicyName::ALL.len();
    const STATES: usize = StateName::ALL.len();
    match system {
        SystemName::Dispatch(name) if name.subset_cores() > 2 => {
            Some(POLICIES + STATES + name.subset_cores())
        }
        SystemName::Dispatch(name) => color_of(name.policy()),
        SystemName::State(name) => color_of(name).map(|index| POLICIES + index),
    }
}
