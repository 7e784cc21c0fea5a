//! What people see of `spray reordering`: the three numbers and tables.

use trueplane_study::report::Cell;
use trueplane_study::{Measured, Page};
use trueplane_units::{BitsPerSec, Percent};

use super::found::{Found, Row};
use super::options::Options;
use super::verdict::best;

/// The most quantities for which there are three numbers.
const MOST_NUMBERS: usize = 9;

pub(super) fn present(options: &Options, found: &Found, page: &mut Page) {
    if options.duration.0 < 2 * options.least_timeout.0 {
        page.warn(format!(
            "A flow that times out waits for {}, and a run is only {} long: raise --duration.",
            *options.least_timeout, *options.duration
        ));
    }
    numbers(found, page);
    goodputs(found, page);
    order(found, page);
    counts(found, page);
}

/// A rate as a whole number.
fn rate(bits: f64) -> BitsPerSec {
    BitsPerSec(bits.round() as u64)
}

/// The goodputs of the first case, which has the fewest flows unless the user says otherwise.
fn numbers(found: &Found, page: &mut Page) {
    let Some(case) = found.rows.first().map(|row| row.case) else { return };
    for row in found.rows.iter().filter(|row| row.case == case).take(MOST_NUMBERS) {
        page.numbers(
            format!("goodput under {} with {}: {}", row.policy, row.recovery, case.in_words()),
            "goodput_bps",
            rate(row.classical),
            rate(row.goodput.mean),
            Measured::Needs("a middlebox with these cores between two hosts with these senders"),
        );
    }
}

fn goodputs(found: &Found, page: &mut Page) {
    let best = best(found);
    page.table("goodputs", "Goodput of all flows together, and what reordering does to senders", &found.rows)
        .col("cycles", "cycles", |row| row.case.cycles)
        .col("flows", "flows", |row| row.case.flows)
        .col("policy", "policy", |row| row.policy.to_string())
        .col("recovery", "recovery", |row| Cell::name(row.recovery))
        .col("goodput", "goodput_bps", |row| rate(row.goodput.mean))
        .col("against classical", "classical_change", |row| Cell::Change(row.ratio() - 1.0))
        .col("Jain", "jain", |row| row.jain.mean)
        .col("reordered", "reordered", |row| Percent(row.counts.reordered_share()))
        .col("sent again for nothing", "spurious", |row| Percent(row.counts.spurious_share()))
        .col("time-outs", "timeouts", |row| row.counts.timeouts)
        .col("drops", "drops", |row| row.packets.dropped)
        .mark(|row| best.filter(|(policy, _)| *policy == row.policy).map(|_| "deploy this"));
}

/// The columns that say which row it is.
macro_rules! keyed {
    ($table:expr) => {
        $table
            .col("cycles", "cycles", |row: &&Row| row.case.cycles)
            .col("flows", "flows", |row| row.case.flows)
            .col("policy", "policy", |row| row.policy.to_string())
            .col("recovery", "recovery", |row| Cell::name(row.recovery))
    };
}

fn order(found: &Found, page: &mut Page) {
    keyed!(page.table("order", "Order of arrival, cores, and extremes over runs", &found.rows))
        .col("classical", "classical_goodput_bps", |row| rate(row.classical))
        .col("least goodput", "goodput_min_bps", |row| rate(row.goodput.min))
        .col("most goodput", "goodput_max_bps", |row| rate(row.goodput.max))
        .col("least Jain", "jain_min", |row| row.jain.min)
        .col("most Jain", "jain_max", |row| row.jain.max)
        .col("late by 3 or more", "late_by_3", |row| Percent(row.counts.far_share()))
        .col("mean extent", "extent_mean", |row| row.counts.mean_extent())
        .col("most extent", "extent_max", |row| row.counts.most_extent)
        .col("acknowledgements for each segment", "acks_per_segment", |row| row.counts.acks_per_segment())
        .col("sent again", "sent_again_share", |row| Percent(row.counts.sent_again_share()))
        .col("cores used", "cores_used", |row| row.cores_used.mean)
        .col("packets of the busiest core", "busiest_share", |row| Percent(row.busiest.mean))
        .detail();
}

fn counts(found: &Found, page: &mut Page) {
    keyed!(page.table("counts", "Segments with data, and packets, in all runs together", &found.rows))
        .col("segments sent", "segments_sent", |row| row.counts.sent)
        .col("sent again", "sent_again", |row| row.counts.sent_again)
        .col("arrived", "segments_arrived", |row| row.counts.arrived)
        .col("brought nothing new", "segments_spurious", |row| row.counts.spurious)
        .col("reordered", "segments_reordered", |row| row.counts.reordered)
        .col("acknowledgements", "acks", |row| row.counts.acks)
        .col("packets sent", "packets_sent", |row| row.packets.sent)
        .col("delivered", "packets_delivered", |row| row.packets.delivered)
        .col("dropped", "packets_dropped", |row| row.packets.dropped)
        .col("on their way at the end", "packets_on_their_way", |row| row.packets.on_their_way)
        .detail();
}
