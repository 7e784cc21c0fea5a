//! What people see of `sched inversions`: the schedulers side by side, what changes if one thing does, and figures 5 and 6 of the paper.

use trueplane_study::report::Cell;
use trueplane_study::{Measured, Page};
use trueplane_units::{Percent, digits};

use super::compare::has_too_few;
use super::found::{Base, Found, SchedulerRun, TraceFacts, Variation, find};
use super::options::Options;
use super::plots::plots;
use super::verdict::best;
use crate::choice::Arrivals;
use crate::policy::SchedulerName;
use crate::scheduler::HEADROOM_PER_MILLE;
use crate::tally::RankRun;

/// A run with what it is part of.
#[derive(Clone, Copy)]
struct Row<'a> {
    /// None at the base.
    variation: Option<&'a Variation>,
    run: &'a SchedulerRun,
}

impl Row<'_> {
    fn varied(&self) -> Option<&'static str> {
        self.variation.map(|variation| variation.varied.variable().name())
    }

    fn value(&self) -> Option<String> {
        self.variation.map(|variation| variation.varied.value())
    }
}

pub(super) fn present<'f>(options: &Options, found: &'f Found, page: &mut Page) {
    facts(options, found, page);
    warnings(options, found, page);
    for run in &found.schedulers {
        page.numbers(
            format!("inversions / departures under {}", run.scheduler),
            "inversion_share",
            run.classical_share.map(Percent),
            Percent(run.inversion_share),
            Measured::Needs("a switch with this scheduler"),
        );
    }
    let base = || found.schedulers.iter().map(|run| Row { variation: None, run });
    let varied = || {
        let rows = |variation: &'f Variation| {
            variation.schedulers.iter().map(move |run| Row { variation: Some(variation), run })
        };
        found.variations.iter().flat_map(rows)
    };
    side_by_side(found, base().collect(), page);
    if !found.variations.is_empty() {
        variations(found, varied().collect(), page);
    }
    counts(found, base().chain(varied()).collect(), page);
    by_rank("by-rank", "By rank", base().collect(), page);
    by_rank("variations-by-rank", "By rank, with one thing other than above", varied().collect(), page);
    left_out(found, page);
    plots(found).into_iter().for_each(|plot| page.plot(plot));
}

fn facts(options: &Options, found: &Found, page: &mut Page) {
    let base = &found.base;
    if let Some(trace) = &found.trace {
        trace_facts(trace, options, page);
    }
    page.fact("ranks at the base", "ranks", base.ranks.to_string());
    if let Some(span) = base.span {
        page.fact("all ranks below", "span", span);
    }
    page.fact("packets that come", "packets", base.packets);
    page.fact("rate of the line", "rate_bps", base.rate);
    page.fact("load at the base", "load", base.load);
    if let Some(offered) = base.offered_load {
        page.fact("load that came", "offered_load", offered);
    }
    page.fact("queues at the base", "queues", base.queues);
    page.fact("packets in all queues together", "memory_packets", base.queues.saturating_mul(*options.depth));
    if found.schedulers.iter().any(|run| run.scheduler.properties().pushes_down) {
        page.fact("push-down at the base", "push_down", base.push_down.name());
    }
    if let Some(rate) = base.access_rate {
        page.fact("rate of a flow", "access_rate_bps", rate);
    }
    if found.schedulers.iter().any(|run| run.scheduler.properties().has_quantiles) {
        page.fact("headroom of quantiles", "headroom", Percent(f64::from(HEADROOM_PER_MILLE) / 1e3));
    }
}

fn trace_facts(trace: &TraceFacts, options: &Options, page: &mut Page) {
    page.fact("trace", "trace", trace.name.as_str());
    page.fact("packets of the trace", "trace_packets", trace.packets);
    page.fact("time from the first to the last", "trace_span_ns", trace.span);
    // Its times cannot start again.
    if let Some(asked) = options.packets.filter(|asked| **asked > trace.packets)
        && options.arrivals == Arrivals::Trace
    {
        page.warn(format!(
            "The trace has {} packets, fewer than the {} of --packets.",
            trace.packets, *asked
        ));
    }
    if trace.packets_without_length > 0 {
        let title = format!("packets without a length, taken for {} bytes", *options.packet_size);
        page.fact(title, "packets_without_length", trace.packets_without_length);
    }
}

/// Share of packets beyond which drops say more of the line than of schedulers.
const MUCH: f64 = 0.1;

fn warnings(options: &Options, found: &Found, page: &mut Page) {
    if let Some(came) = found.base.came(options.arrivals) {
        let what = if options.arrivals == Arrivals::OnOff { "flows" } else { "packets" };
        page.warn(format!(
            "What came is a load of {}, and not the {} that was asked for: it takes more {what} than these for chance to even out.",
            digits(came, 3),
            digits(found.base.load, 4)
        ));
    }
    let dropped = found.schedulers.iter().map(|run| run.drop_share).fold(0.0, f64::max);
    if options.arrivals == Arrivals::Trace && options.rate.is_none() && dropped > MUCH {
        page.warn(format!(
            "So that the trace is a load of {}, the line has {} only; bursts overflow the buffer, and up to {} of the packets are dropped. Give the rate of your line (--rate).",
            digits(found.base.load, 3),
            found.base.rate,
            Percent(dropped)
        ));
    }
    if has_too_few(found) {
        page.warn("Some schedulers have fewer than 1,000 inversions, which are too few to compare: take a longer or busier trace.");
    }
}

/// A capture with long gaps has hardly any load on average.
fn shown_load(base: &Base) -> String {
    if base.load == 0.0 { "nearly 0".to_owned() } else { digits(base.load, 4) }
}

fn side_by_side(found: &Found, rows: Vec<Row<'_>>, page: &mut Page) {
    // What the inversions of others are relative to, each per packet that left: SP-PIFO's if it is there, else FIFO's.
    let base = found.run(SchedulerName::SpPifo).or_else(|| found.run(SchedulerName::Fifo));
    let base = base.filter(|base| base.inversions > 0);
    let is_expected = found.schedulers.iter().any(|run| run.expected_unpifoness.is_some());
    let expected = if is_expected {
        " (expected: the unpifoness that the model sees in ranks and bounds alone; optimal has the least of it)"
    } else {
        ""
    };
    let title = format!("Inversions, drops and delay at a load of {}{expected}", shown_load(&found.base));
    let to = base.map_or_else(String::new, |base| format!("to {}", base.scheduler));
    page.table("schedulers", title, rows)
        .col("scheduler", "scheduler", |row| row.run.scheduler.name())
        .col("inversions", "inversions", |row| row.run.inversions)
        .col("of departures", "inversion_share", |row| Percent(row.run.inversion_share))
        .col_if(base.is_some(), to, "inversions_relative", |row| {
            base.map(|base| row.run.inversion_share / base.inversion_share)
        })
        .col("unpifoness", "unpifoness_mean", |row| row.run.unpifoness_mean)
        .col("expected", "expected_unpifoness", |row| row.run.expected_unpifoness)
        .col("drops", "drops", |row| row.run.drops)
        .col("of arrivals", "drop_share", |row| Percent(row.run.drop_share))
        .col("mean delay", "mean_delay_ns", |row| Cell::Nanos(row.run.mean_delay_ns))
        .mark(|row| best(found).filter(|best| std::ptr::eq(*best, row.run)).map(|_| "deploy this"));
}

/// Everything but the base; inversions beside those of a FIFO, at the base if there is none here.
fn variations(found: &Found, rows: Vec<Row<'_>>, page: &mut Page) {
    let base = found.run(SchedulerName::Fifo);
    let to_fifo = |row: &Row<'_>| {
        let here = row.variation.and_then(|variation| find(&variation.schedulers, SchedulerName::Fifo));
        let fifo = here.or(base).filter(|fifo| fifo.inversions > 0)?;
        Some(row.run.inversion_share / fifo.inversion_share)
    };
    page.table("variations", "One thing other than above", rows)
        .col("varied", "varied", Row::varied)
        .col("value", "value", Row::value)
        .col("scheduler", "scheduler", |row| row.run.scheduler.name())
        .col("inversions", "inversions", |row| row.run.inversions)
        .col("of departures", "inversion_share", |row| Percent(row.run.inversion_share))
        .col_if(base.is_some(), "to fifo", "inversions_to_fifo", to_fifo)
        .col("unpifoness", "unpifoness_mean", |row| row.run.unpifoness_mean)
        .col("expected", "expected_unpifoness", |row| row.run.expected_unpifoness)
        .col("drops", "drops", |row| row.run.drops)
        .col("of arrivals", "drop_share", |row| Percent(row.run.drop_share))
        .col("mean delay", "mean_delay_ns", |row| Cell::Nanos(row.run.mean_delay_ns))
        .detail();
}

/// Adds the table of the counts of every run and of their standard errors.
fn counts(found: &Found, rows: Vec<Row<'_>>, page: &mut Page) {
    let base = &found.base;
    let bounds = |row: &Row<'_>| {
        let bounds = row.run.bounds.as_ref()?;
        Some(bounds.iter().map(u64::to_string).collect::<Vec<_>>().join(", "))
    };
    page.table("counts", "Counts, standard errors and bounds", rows)
        .col("varied", "varied", Row::varied)
        .col("value", "value", Row::value)
        .col("scheduler", "scheduler", |row| row.run.scheduler.name())
        .col("line", "rate_bps", |row| row.variation.map_or(base.rate, |variation| variation.rate))
        .col("load that came", "offered_load", |row| {
            row.variation.map_or(base.offered_load, |variation| variation.offered_load)
        })
        .col("arrivals", "arrivals", |row| row.run.arrivals)
        .col("departures", "departures", |row| row.run.departures)
        .col("drops", "drops", |row| row.run.drops)
        .col("inversions", "inversions", |row| row.run.inversions)
        .col("error of the share", "inversion_share_error", |row| row.run.inversion_share_error)
        .col("unpifoness", "unpifoness", |row| row.run.unpifoness as f64)
        .col("error of its mean", "unpifoness_mean_error", |row| row.run.unpifoness_mean_error)
        .col("error of the expected", "expected_unpifoness_error", |row| row.run.expected_unpifoness_error)
        .col("bounds at the end", "bounds", bounds)
        .detail();
}

/// A row for every scheduler and every few ranks; no table if there are no such rows.
fn by_rank<'f>(id: &str, title: &str, rows: Vec<Row<'f>>, page: &mut Page) {
    let is_varied = rows.iter().any(|row| row.variation.is_some());
    let ranks = |row: Row<'f>| row.run.by_rank.iter().map(move |rank| (row, rank));
    let rows: Vec<(Row<'f>, &RankRun)> = rows.into_iter().flat_map(ranks).collect();
    if rows.is_empty() {
        return;
    }
    page.table(id, title, rows)
        .col_if(is_varied, "varied", "varied", |(row, _)| row.varied())
        .col_if(is_varied, "value", "value", |(row, _)| row.value())
        .col("scheduler", "scheduler", |(row, _)| row.run.scheduler.name())
        .col("rank", "rank", |(_, rank)| rank.rank)
        .col("ranks", "ranks", |(_, rank)| rank.ranks)
        .col("arrivals", "arrivals", |(_, rank)| rank.arrivals)
        .col("departures", "departures", |(_, rank)| rank.departures)
        .col("drops", "drops", |(_, rank)| rank.drops)
        .col("inversions", "inversions", |(_, rank)| rank.inversions)
        .col("unpifoness", "unpifoness", |(_, rank)| rank.unpifoness as f64)
        .col("mean delay", "mean_delay_ns", |(_, rank)| rank.mean_delay_ns.map(Cell::Nanos))
        .detail();
}

fn left_out(found: &Found, page: &mut Page) {
    if !found.left_out.is_empty() {
        page.table("schedulers-left-out", "Schedulers that were left out", &found.left_out)
            .col("scheduler", "scheduler", |out| out.scheduler.name())
            .col("ranks", "ranks", |out| out.ranks())
            .col("reason: it", "reason", |out| out.why.to_string())
            .whole();
    }
    if let Some(trace) = &found.trace {
        page.left_out("trace", trace.skipped.iter().cloned());
    }
}
