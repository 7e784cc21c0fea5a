//! What people see of `spray concurrency`.

use trueplane_study::report::{Axis, Cell, Plot, Series, Unit};
use trueplane_study::{Measured, Page};
use trueplane_units::Percent;

use super::found::Found;
use super::options::Options;

pub(super) fn present(options: &Options, found: &Found, page: &mut Page) {
    page.fact("packets that count", "packets", found.packets);
    page.fact("windows", "windows", found.windows);
    let packets = found.packets_in_window();
    page.fact("packets in a window with any", "packets_in_window", packets);
    if found.is_idle() {
        page.warn(format!(
            "This capture is almost idle: {packets:.1} packets in a window of {} that has any, so that no way of dispatch could use more cores. Capture a busy link, or give a longer --window.",
            *options.window
        ));
    }
    numbers(options, found, page);
    if let Some(warning) = found.silences.warning() {
        page.warn(warning);
    }
    page.left_out("capture", found.skipped.iter().cloned());
    page.table("concurrency", "Flows in a window", &found.rows)
        .col("flows", "flows", |row| Cell::name(row.which))
        .col("number", "count", |row| row.count)
        .col("of all bytes", "byte_share", |row| Percent(row.bytes))
        .col("windows with any", "windows", |row| row.windows)
        .col("median", "median", |row| row.median)
        .col("p99", "p99", |row| row.p99)
        .col("most", "most", |row| row.most);
    cores(options, found, page);
    page.plot(windows(found));
}

/// The most quantities for which there are three numbers.
const MOST_NUMBERS: usize = 8;

fn numbers(options: &Options, found: &Found, page: &mut Page) {
    let Some(all) = found.rows.first() else { return };
    for (cores, used) in options.cores().into_iter().zip(&all.cores_used).take(MOST_NUMBERS) {
        page.numbers(
            format!("share of {cores} cores that hashing uses in a window"),
            "used_share",
            Percent(1.0),
            Percent(*used),
            Measured::By("trueplane spray run --policy rss, and spray show"),
        );
    }
}

fn cores(options: &Options, found: &Found, page: &mut Page) {
    let cores = options.cores();
    let title = "The share of cores that hashing can be expected to use";
    let mut table = page.table("cores", title, 0..cores.len()).col("cores", "cores", |at| cores[*at]);
    for row in &found.rows {
        let which = row.which;
        table =
            table.col(format!("{which} flows"), format!("used_{which}"), |at| Percent(row.cores_used[*at]));
    }
}

fn windows(found: &Found) -> Plot {
    let series = found.rows.iter().map(|row| Series {
        name: format!("{} flows", row.which),
        points: row.cdf.iter().map(|&(flows, share)| (flows as f64, share)).collect(),
        steps: true,
        ..Series::default()
    });
    Plot {
        id: "flows_at_a_time".to_owned(),
        title: "Flows at a time".to_owned(),
        note: "The share of windows with so many flows at most.".to_owned(),
        x: Axis { label: "flows".to_owned(), unit: Unit::Plain, log: false },
        y: Axis { label: "windows".to_owned(), unit: Unit::Percent, log: false },
        series: series.collect(),
    }
}
