//! Facts and tables of `offload compare`.

use trueplane_study::metrics::ratio;
use trueplane_study::page::Columns;
use trueplane_study::report::Cell;
use trueplane_study::rounded::{Toward, as_asked};
use trueplane_study::{Measured, Page};
use trueplane_units::Percent;

use super::found::{Found, Outcome, Row};
use super::level::{Level, PROMPT, levels};
use super::options::Options;
use super::plots::{WINDOWS, plots};
use super::verdict::best;
use crate::Counts;
use crate::policy::SystemName;
use crate::tally::Window;

/// A row has at most so many windows of a length in the tables over time: finer ones are left out where they are more.
const MOST_WINDOWS: usize = 1_000;

pub(super) fn present(options: &Options, found: &Found, page: &mut Page) {
    let levels = levels(options, found);
    facts(options, found, page);
    found.warnings.iter().for_each(|warning| page.warn(warning));
    levels.iter().flat_map(open_bounds).for_each(|warning| page.warn(warning));
    if let Some(level) = levels.last() {
        numbers(level, page);
    }
    misses(options, found, &levels, page);
    loops(found, page);
    bounds(found, page);
    for (window, length) in WINDOWS {
        over_time(options, found, window, length, page);
    }
    plots(options, found).into_iter().for_each(|plot| page.plot(plot));
}

fn facts(options: &Options, found: &Found, page: &mut Page) {
    let timing = options.timing();
    let lookups = found.rows.first().map_or(0, Row::lookups);
    page.fact("lookups", "lookups", lookups);
    page.fact("duration", "duration_ns", timing.nanos(lookups));
    if found.warmup > 0 {
        page.fact("warm-up before", "warmup_lookups", found.warmup);
    }
    let estimated = if found.keys.one_in > 1 { ", estimated" } else { "" };
    if let Some(distinct) = found.keys.distinct {
        page.fact(format!("keys{estimated}"), "keys", distinct);
    }
    if let Some(collided) = found.keys.collided {
        page.fact(format!("keys that share their hash{estimated}"), "keys_collided", collided);
    }
    if found.keys.one_in > 1 {
        page.fact("estimated from one hash in", "keys_one_in", found.keys.one_in);
    }
    if options.has(SystemName::Dyso) {
        page.fact("dyso resends after", "resend_after_ns", options.dyso.resend_after());
    }
    page.left_out("trace", found.skipped.iter().cloned());
}

/// Says where the search for the optimum ended before its bounds were as close as was asked for.
fn open_bounds(level: &Level<'_>) -> Vec<String> {
    let search = &level.options.search;
    let wide = level.given(SystemName::Optimal).into_iter().filter(|row| level.is_open(row));
    let said = wide.map(|row| {
        format!(
            "The bounds of optimal {} are not within {} of each other, as was asked for: more --iterations than {} may \
             tell how much a better policy could save.",
            level.at(row),
            as_asked(search.gap.0),
            *search.iterations
        )
    });
    said.collect()
}

/// Every system at its fastest rate, at the largest level of change.
fn numbers(level: &Level<'_>, page: &mut Page) {
    let classical = level.classical().map(|row| Percent(row.miss_ratio()));
    for row in level.looped().filter_map(|system| level.fastest(system)) {
        page.numbers(
            format!("miss ratio of {}", level.name(row)),
            "miss_ratio",
            classical,
            Percent(row.miss_ratio()),
            Measured::Needs("a switch with this system"),
        );
    }
}

/// Every row beside the classical number and Bélády's.
fn misses(options: &Options, found: &Found, levels: &[Level<'_>], page: &mut Page) {
    let level = |row: &Row| levels.iter().find(|level| level.change == row.change);
    let beside = |row: &Row, base: Option<&Row>| {
        let base = base.filter(|base| base.misses() > 0 && base.system != row.system);
        base.map_or(Cell::Missing, |base| Cell::Change(ratio(row.misses().into(), base.misses()) - 1.0))
    };
    let best = best(options, found, levels);
    let table = page.table("misses", title(options), &found.rows);
    named(table)
        .col("lookups", "lookups", |row| row.lookups())
        .col("misses", "misses", |row| row.misses())
        .col("miss ratio", "miss_ratio", |row| match row.outcome {
            Outcome::Bounds { .. } => Toward::Down.ratio_cell(row.miss_ratio()),
            Outcome::Run { .. } => Cell::Ratio(row.miss_ratio()),
        })
        .col("a schedule has", "miss_ratio_upper", |row| {
            // What was found exactly is said once.
            let upper = row.upper().filter(|&upper| !options.search.exact || upper > row.misses());
            upper.map_or(Cell::Missing, |upper| Toward::Up.ratio_cell(ratio(upper.into(), row.lookups())))
        })
        .when_any()
        .col("beside the classical", "misses_beside_classical", |row| {
            beside(row, level(row).and_then(Level::classical))
        })
        .when_any()
        .col("beside belady", "misses_beside_belady", |row| beside(row, level(row).and_then(Level::belady)))
        .when_any()
        .col("recovery", "recovery_ns", |row| row.recovery().and_then(|of| of.median))
        .when_any()
        .col("of changes", "recovery_changes", |row| row.recovery().map(|of| of.changes))
        .when_any()
        .col("never over", "recovery_never", |row| row.recovery().map(|of| of.never))
        .when_any()
        .mark(|row| best.filter(|best| std::ptr::eq(*best, *row)).map(|_| "deploy this"));
}

/// Title of the table: the quantity that is counted, and its meaning for the optimum if that is there.
fn title(options: &Options) -> String {
    let title = "Lookups that the table does not answer".to_owned();
    if !options.has(SystemName::Optimal) {
        return title;
    }
    let fewest = if options.search.exact { "the fewest there can be" } else { "a lower bound" };
    format!("{title}; optimal: {fewest} for a {PROMPT}")
}

/// Adds a table of the counts of the control loops.
fn loops(found: &Found, page: &mut Page) {
    let has_loop = |row: &&Row| row.counts() != Counts::default() || row.period().is_some();
    let rows: Vec<&Row> = found.rows.iter().filter(has_loop).collect();
    if rows.is_empty() {
        return;
    }
    named(page.table("loops", "What the control loops did, the warm-up too", rows))
        .col("updates sent", "updates_sent", |row| row.counts().updates_sent)
        .when_any()
        .col("applied", "updates_applied", |row| row.counts().updates_applied)
        .when_any()
        .col("sent again", "updates_resent", |row| row.counts().updates_resent)
        .when_any()
        .col("no place", "updates_failed", |row| row.counts().updates_failed)
        .when_any()
        .col("history recorded", "history_recorded", |row| row.counts().history_recorded)
        .when_any()
        .col("found no room", "history_full", |row| row.counts().history_full)
        .when_any()
        .col("lost under way", "history_lost", |row| row.counts().history_lost)
        .when_any()
        .col("last ageing period", "period_final_ns", |row| row.period())
        .when_any();
}

/// The bounds of the optimum as numbers of misses.
fn bounds(found: &Found, page: &mut Page) {
    let rows: Vec<&Row> = found.rows.iter().filter(|row| row.upper().is_some()).collect();
    if !rows.is_empty() {
        named(page.table("bounds", "Between what the least number of misses lies", rows))
            .col("no schedule has fewer", "misses_lower", |row| row.misses())
            .col("a schedule has", "misses_upper", |row| row.upper())
            .detail();
    }
}

/// Misses of every row in windows of so many hundredths of a second, from the start on, the warm-up too.
fn over_time(options: &Options, found: &Found, window: u64, length: &str, page: &mut Page) {
    let windows = |(index, row): (usize, &Row)| -> Vec<(usize, Window)> {
        // A long run has no short windows.
        let windows = row.tally().into_iter().flat_map(|tally| tally.series(window as usize));
        let windows: Vec<_> = windows.map(|window| (index, window)).take(MOST_WINDOWS + 1).collect();
        if windows.len() > MOST_WINDOWS { Vec::new() } else { windows }
    };
    let windows: Vec<(usize, Window)> = found.rows.iter().enumerate().flat_map(windows).collect();
    if windows.is_empty() {
        return;
    }
    let timing = options.timing();
    page.table(format!("windows-{length}"), format!("Misses in windows of {length}"), windows)
        .col("row of misses, from 0", "row", |(row, _)| *row)
        .col("begins", "start_ns", |(_, window)| timing.nanos(window.start))
        .col("lookups", "lookups", |(_, window)| window.lookups)
        .col("misses", "misses", |(_, window)| window.misses)
        .col("miss ratio", "miss_ratio", |(_, window)| Percent(window.miss_ratio()))
        .detail();
}

/// Adds what tells a row from the others.
fn named<'p, 'r>(table: Columns<'p, &'r Row>) -> Columns<'p, &'r Row> {
    table
        .col("keys moved", "change", |row| row.change)
        .when_any()
        .col("system", "system", |row| row.system.name())
        .col("updates a second", "update_rate_per_s", |row| row.update_rate.map(|rate| rate.0))
        .when_any()
        .col("control packets a second", "control_rate_per_s", |row| row.control_rate.map(|rate| rate.0))
        .when_any()
        .col("k", "chain", |row| row.chain)
        .when_any()
        .col("threshold", "threshold", |row| row.threshold)
        .when_any()
        .col("tuned", "best", |row| {
            row.best.then(|| format!("best {}", row.system.properties().tuning.name()))
        })
        .when_any()
}
