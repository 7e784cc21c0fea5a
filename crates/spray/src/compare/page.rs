//! What people see of `spray compare`: the three numbers and tables.

use trueplane_study::report::Cell;
use trueplane_study::{Measured, Page};
use trueplane_units::Percent;

use super::found::{Found, Row};
use super::verdict::best;
use crate::belief::busiest_share;

/// The most quantities for which there are three numbers.
const MOST_NUMBERS: usize = 8;

pub(super) fn present(found: &Found, page: &mut Page) {
    numbers(found, page);
    if let Some(warning) = found.silences.warning() {
        page.warn(warning);
    }
    if found.rows.iter().any(|row| row.lost.is_some()) {
        page.warn("Packets come over a link: what is reordered is so by the link and the system together.");
    }
    page.left_out("capture", found.skipped.iter().cloned());
    systems(found, page);
    details(found, page);
}

/// The rates of all systems in the case in which hashing disappoints most.
fn numbers(found: &Found, page: &mut Page) {
    let worst = found.worst_hashing().map(|row| row.case);
    let Some(case) = worst.or(found.rows.first().map(|row| row.case)) else { return };
    for row in found.rows.iter().filter(|row| row.case == case).take(MOST_NUMBERS) {
        page.numbers(
            format!("packets/s of {} under {}: {}", case.function, row.system, case.in_words()),
            "rate_pps",
            whole(row.classical),
            whole(row.rate.mean),
            Measured::By("trueplane spray experiment"),
        );
    }
}

/// A rate as a whole number.
fn whole(rate: f64) -> u64 {
    rate.round() as u64
}

fn systems(found: &Found, page: &mut Page) {
    let best = best(found);
    page.table("systems", "Processing rate, and latency at a load that all of them bear", &found.rows)
        .col("function", "nf", |row| Cell::name(row.case.function))
        .col("cores", "cores", |row| row.case.cores)
        .col("flows", "flows", |row| row.case.flows)
        .col("cycles", "cycles", |row| row.case.cycles)
        .col("dispatch", "dispatch", |row| row.system.to_string())
        .col("packets/s", "rate_pps", |row| whole(row.rate.mean))
        .col("against classical", "classical_change", |row| Cell::Change(row.rate.mean / row.classical - 1.0))
        .col("p99", "p99_ns", |row| Cell::Nanos(row.p99.mean))
        .col("reordered", "reordered", |row| Percent(row.reordered.mean))
        .col("late by 3", "late_by_3", |row| Percent(row.late.mean))
        .col("Jain", "jain", |row| row.jain.mean)
        .mark(|row| best.filter(|best| std::ptr::eq(*best, *row)).map(|_| "gains most"));
}

fn details(found: &Found, page: &mut Page) {
    let title = "Extremes over runs, the classical rate and what is to be expected of hashing";
    let busiest = |row: &&Row| Percent(busiest_share(row.case.flows, row.case.cores));
    page.table("details", title, &found.rows)
        .col("function", "nf", |row| Cell::name(row.case.function))
        .col("cores", "cores", |row| row.case.cores)
        .col("flows", "flows", |row| row.case.flows)
        .col("cycles", "cycles", |row| row.case.cycles)
        .col("dispatch", "dispatch", |row| row.system.to_string())
        .col("least packets/s", "rate_min_pps", |row| whole(row.rate.min))
        .col("most packets/s", "rate_max_pps", |row| whole(row.rate.max))
        .col("classical", "classical_rate_pps", |row| whole(row.classical))
        .col("expected of hashing", "hashing_expected_pps", |row| row.hashed.map(whole))
        .col("busiest core by hashing", "hashing_busiest_share", busiest)
        .col("load", "load_pps", |row| whole(row.load))
        .col("median", "median_ns", |row| Cell::Nanos(row.median.mean))
        .col("least p99", "p99_min_ns", |row| Cell::Nanos(row.p99.min))
        .col("most p99", "p99_max_ns", |row| Cell::Nanos(row.p99.max))
        .col("reordered at load", "reordered_at_load", |row| Percent(row.reordered_at_load.mean))
        .col("late by 3 at load", "late_by_3_at_load", |row| Percent(row.late_at_load.mean))
        .col("least Jain", "jain_min", |row| row.jain.min)
        .col("most Jain", "jain_max", |row| row.jain.max)
        .col("handed over", "handed_over", |row| Percent(row.handed))
        .col("dropped", "dropped", |row| Percent(row.dropped))
        .col("lost on the link", "link_lost", |row| row.lost.map(Percent))
        .when_any()
        .col("duplicated on the link", "link_duplicated", |row| row.duplicated.map(Percent))
        .when_any()
        .detail();
}
