//! The pictures of `offload compare`: figures 3, 4, 8, 9, 10, 11 and 12 of the paper from the user's own workload.

use trueplane_study::metrics::ratio;
use trueplane_study::report::{Axis, Plot, Series, Unit};
use trueplane_units::PerSecond;

use super::found::{Found, Row};
use super::level::{Level, PROMPT, levels};
use super::options::Options;
use crate::policy::{Control, SystemName};
use crate::tally::{Tally, WINDOWS_PER_SECOND};
use crate::timing::Timing;

/// A curve over time has at most so many points.
const MOST_POINTS: usize = 500;

/// A picture is made for every level of change up to so many, and for the largest only if there are more.
const MOST_LEVELS: usize = 3;

/// Lengths of windows in hundredths of a second, each with its name.
pub(super) const WINDOWS: [(u64, &str); 3] =
    [(WINDOWS_PER_SECOND, "1s"), (WINDOWS_PER_SECOND / 10, "100ms"), (WINDOWS_PER_SECOND / 100, "10ms")];

/// The pictures for which the rows have what they need.
pub(super) fn plots(options: &Options, found: &Found) -> Vec<Plot> {
    let levels = levels(options, found);
    let shown = if levels.len() > MOST_LEVELS { &levels[levels.len() - 1..] } else { &levels[..] };
    let mut plots = Vec::new();
    for level in shown {
        let mut of_level = vec![level.update_rates_optimal(), level.update_rates()];
        let tuned = SystemName::ALL.iter().filter(|system| system.properties().has_reports());
        of_level.extend(tuned.map(|&system| level.configurations(system)));
        of_level.extend([level.chains(), level.control_rates()]);
        plots.extend(of_level.into_iter().flatten().map(|plot| level.named(plot, levels.len())));
    }
    plots.extend(changes(&levels));
    if let Some(level) = levels.last() {
        let over_time = WINDOWS.iter().filter_map(|&(window, name)| level.over_time(window, name));
        plots.extend(over_time.map(|plot| level.named(plot, levels.len())));
    }
    plots
}

/// Figure 9: from a quiet workload to one that changes a lot.
fn changes(levels: &[Level<'_>]) -> Option<Plot> {
    let of: Vec<(f64, &Level<'_>)> =
        levels.iter().filter_map(|level| Some((level.change? as f64, level))).collect();
    if of.len() < 2 {
        return None;
    }
    let systems = SystemName::ALL.iter().filter(|system| !system.properties().offline);
    let curves = systems.filter_map(|&system| {
        let points: Vec<(f64, &Row)> =
            of.iter().filter_map(|(change, level)| Some((*change, level.fastest(system)?))).collect();
        let (_, row) = *points.first()?;
        let points = points.iter().map(|(change, row)| (*change, row.miss_ratio())).collect();
        Some(curve(of.first()?.1.name(row), system, points))
    });
    Some(Plot {
        id: "changes".to_owned(),
        title: "Misses by how much of the workload changes".to_owned(),
        note: format!(
            "Every system at its fastest rate. Dashed: a table that is updated at once.{}",
            levels.first().map_or(String::new(), Level::chain_note)
        ),
        x: axis("keys moved at every change", Unit::Plain, false),
        y: axis("miss ratio", Unit::Percent, false),
        series: curves.collect(),
    })
}

impl Level<'_> {
    /// The plot with the level of change in its name, if there are several.
    fn named(&self, plot: Plot, levels: usize) -> Plot {
        match self.change {
            Some(change) if levels > 1 => Plot {
                id: format!("{}-at-{change}", plot.id),
                title: format!("{}, keys moved at every change: {change}", plot.title),
                ..plot
            },
            _ => plot,
        }
    }

    /// Figure 3: what the update rate does even to whoever knows the future. None without Bélády or a sweep.
    fn update_rates_optimal(&self) -> Option<Plot> {
        let belady = self.belady().filter(|belady| belady.misses() > 0)?;
        let rows: Vec<&Row> = self.given(SystemName::Optimal);
        let over = |misses: u64| ratio(misses.into(), belady.misses());
        let lower = rows.iter().filter_map(|row| Some((row.update_rate?.0 as f64, over(row.misses()))));
        let upper = rows.iter().filter_map(|row| Some((row.update_rate?.0 as f64, over(row.upper()?))));
        let (lower, upper): (Vec<_>, Vec<_>) = (lower.collect(), upper.collect());
        if lower.len() < 2 {
            return None;
        }
        let (least, between) = if self.options.search.exact {
            ("the fewest", ", found exactly")
        } else {
            ("none has fewer", " lie between the two curves (dashed: a schedule that was found)")
        };
        let mut series = vec![curve(least.to_owned(), SystemName::Optimal, lower)];
        if !upper.is_empty() && !self.options.search.exact {
            let found = curve("a schedule has".to_owned(), SystemName::Optimal, upper);
            series.push(Series { dashed: true, ..found });
        }
        Some(Plot {
            id: "update-rate-optimal".to_owned(),
            title: "What slow updates cost even with knowledge of the future".to_owned(),
            note: format!(
                "The fewest misses of a {PROMPT}{between}; 1 is Bélády's, which takes a key in at its lookup or not \
                 at all. Values just below 1 are possible: a batch may install a key after its lookup, and no entry was held for it in the meantime."
            ),
            x: axis("entries replaced a second", Unit::Plain, true),
            y: axis("misses, as a multiple of Bélády's", Unit::Plain, false),
            series,
        })
    }

    /// Figure 4: the optimum and the policies that there are. None without a sweep of update rates.
    fn update_rates(&self) -> Option<Plot> {
        let rates = self.options.update_rates();
        let (least, most) = (rates.iter().min()?.0 as f64, rates.iter().max()?.0 as f64);
        let base = self.belady().or_else(|| self.classical()).filter(|base| base.misses() > 0);
        let over =
            |row: &Row| base.map_or(row.miss_ratio(), |base| ratio(row.misses().into(), base.misses()));
        let batched = SystemName::ALL.iter().filter(|system| system.properties().is_batched());
        let mut series: Vec<Series> = batched
            .map(|&system| {
                let points = self.given(system).into_iter();
                let points = points.filter_map(|row| Some((row.update_rate?.0 as f64, over(row))));
                let bound = if system == SystemName::Optimal { self.at_least() } else { "" };
                curve(format!("{system}{bound}"), system, points.collect())
            })
            .filter(|series| !series.points.is_empty())
            .collect();
        if least == most || series.is_empty() {
            return None;
        }
        let flat = SystemName::ALL.iter().filter(|system| {
            let properties = system.properties();
            properties.is_classical() || (properties.has_loop() && !properties.is_batched())
        });
        series.extend(flat.filter_map(|&system| {
            let row = self.fastest(system)?;
            Some(curve(self.name(row), system, vec![(least, over(row)), (most, over(row))]))
        }));
        Some(Plot {
            id: "update-rate".to_owned(),
            title: "What slow updates cost".to_owned(),
            note: format!(
                "Dashed: a table that is updated at once. DySO does not work in batches.{}{}",
                self.prompt_note(),
                self.chain_note()
            ),
            x: axis("entries replaced a second", Unit::Plain, true),
            y: base.map_or_else(
                || axis("miss ratio", Unit::Percent, false),
                |base| {
                    axis(&format!("misses, as a multiple of {}'s", base.system.name()), Unit::Plain, false)
                },
            ),
            series,
        })
    }

    /// Figure 8: what better parameters, knowledge of the future and a faster loop would do for a system as it is. None if there is
    /// nothing to hold against it.
    fn configurations(&self, system: SystemName) -> Option<Plot> {
        let vanilla: Vec<&Row> = self.given(system).into_iter().filter(|row| row.misses() > 0).collect();
        let against = |other: &dyn Fn(PerSecond) -> Option<u64>| -> Vec<(f64, f64)> {
            let point = |row: &&Row| {
                let rate = row.update_rate?;
                Some((rate.0 as f64, ratio(other(rate)?.into(), row.misses())))
            };
            vanilla.iter().filter_map(point).collect()
        };
        let best = self.best(system);
        let best =
            against(&|rate| best.iter().find(|row| row.update_rate == Some(rate)).map(|row| row.misses()));
        let dyso = self.fastest(SystemName::Dyso);
        let with_dyso = against(&|_| dyso.map(Row::misses));
        let optimal = against(&|rate| self.optimal(rate).map(Row::misses));
        let given =
            against(&|rate| vanilla.iter().find(|row| row.update_rate == Some(rate)).map(|row| row.misses()));
        let mut series = vec![
            Series { dashed: true, ..curve("as given".to_owned(), system, given) },
            curve("best threshold".to_owned(), system, best),
            curve(dyso.map_or(String::new(), |row| self.name(row)), SystemName::Dyso, with_dyso),
            curve(format!("optimal{}", self.at_least()), SystemName::Optimal, optimal),
        ];
        series.retain(|series| !series.points.is_empty());
        let bound = if system == SystemName::NetCache { self.prompt_note() } else { String::new() };
        (series.len() > 1).then(|| Plot {
            id: format!("configurations-{system}"),
            title: format!("What would make {system} better"),
            note: format!(
                "Below 1, fewer lookups miss than with {system} as it was given.{bound}{}",
                self.chain_note()
            ),
            x: axis("entries replaced a second", Unit::Plain, true),
            y: axis(&format!("misses, as a multiple of {system}'s"), Unit::Plain, false),
            series,
        })
    }

    /// Words behind the name of the optimum in a legend.
    fn at_least(&self) -> &'static str {
        if self.options.search.exact { "" } else { ", at least" }
    }

    /// Note on the systems that the optimum does not bind, as the end of a sentence; empty without it or without NetCache.
    fn prompt_note(&self) -> String {
        let has = |system| !self.given(system).is_empty();
        let both = has(SystemName::Optimal) && has(SystemName::NetCache);
        let note =
            || format!(" optimal is a {PROMPT}; netcache's reports may be older, and it may miss less.");
        if both { note() } else { String::new() }
    }

    /// Figure 11: longer chains. None without a sweep of them.
    fn chains(&self) -> Option<Plot> {
        let series = self.dyso_over(
            |row| row.chain,
            |row| Some(row.control_rate?.0),
            |rate| format!("dyso at {}", PerSecond(rate)),
        );
        series.map(|(shortest, series)| Plot {
            id: "chains".to_owned(),
            title: "What longer chains do for dyso".to_owned(),
            note: "The table has the same number of entries, in fewer rows.".to_owned(),
            x: axis("entries in a row, k", Unit::Plain, true),
            y: axis(&format!("misses, as a share of those with k = {shortest}"), Unit::Percent, false),
            series,
        })
    }

    /// Figure 12: more control packets. None without a sweep of them.
    fn control_rates(&self) -> Option<Plot> {
        let series = self.dyso_over(
            |row| Some(row.control_rate?.0),
            |row| row.chain,
            |chain| format!("dyso with k = {chain}"),
        );
        series.map(|(slowest, series)| Plot {
            id: "control-rate".to_owned(),
            title: "What more control packets do for dyso".to_owned(),
            note: "A control packet writes a row of the table and brings a row of the history back."
                .to_owned(),
            x: axis("control packets a second", Unit::Plain, true),
            y: axis(&format!("misses, as a share of those at {}", PerSecond(slowest)), Unit::Percent, false),
            series,
        })
    }

    /// DySO's misses over `x`, as a share of those at the least `x`, with a curve for every `of`; and the least `x`.
    fn dyso_over(
        &self,
        x: impl Fn(&Row) -> Option<u64>,
        of: impl Fn(&Row) -> Option<u64>,
        name: impl Fn(u64) -> String,
    ) -> Option<(u64, Vec<Series>)> {
        let rows = self.given(SystemName::Dyso);
        let mut values: Vec<u64> = rows.iter().filter_map(|row| x(row)).collect();
        values.sort_unstable();
        values.dedup();
        let [least, _, ..] = values[..] else { return None };
        let mut curves: Vec<u64> = rows.iter().filter_map(|row| of(row)).collect();
        curves.sort_unstable();
        curves.dedup();
        let series = curves.into_iter().enumerate().filter_map(|(index, value)| {
            let mut rows: Vec<&Row> = rows.iter().copied().filter(|row| of(row) == Some(value)).collect();
            rows.sort_by_key(|row| x(row));
            let base = rows.first().filter(|row| x(row) == Some(least) && row.misses() > 0)?.misses();
            let point = |row: &&Row| Some((x(row)? as f64, ratio(row.misses().into(), base)));
            let points = rows.iter().filter_map(point).collect();
            Some(Series { name: name(value), points, color: Some(index), ..Series::default() })
        });
        let series: Vec<Series> = series.collect();
        (!series.is_empty()).then_some((least, series))
    }

    /// Figure 10: misses over time, in windows of so many hundredths of a second. None if the run has fewer than two of them.
    fn over_time(&self, window: u64, length: &str) -> Option<Plot> {
        let timing = self.options.timing();
        let systems = SystemName::ALL.iter().filter_map(|&system| self.fastest(system));
        let tallies = systems.filter_map(|row| Some((row, row.tally()?)));
        let mut together = 1;
        let series = tallies.map(|(row, tally)| {
            let (points, worst_of) = thinned(tally, window as usize, timing);
            together = worst_of;
            curve(self.name(row), row.system, points)
        });
        let series: Vec<Series> = series.filter(|series| series.points.len() > 1).collect();
        if series.is_empty() {
            return None;
        }
        let mut note = "Every system at its fastest rate, from the first lookup on. Dashed: a table that is updated at once.".to_owned();
        note += &self.chain_note();
        if together > 1 {
            note += &format!(" Of every {together} windows in a row the one with the most misses is drawn.");
        }
        Some(Plot {
            id: format!("over-time-{length}"),
            title: format!("Misses over time, in windows of {length}"),
            note,
            x: axis("time", Unit::Nanos, false),
            y: axis("miss ratio", Unit::Percent, false),
            series,
        })
    }
}

/// The miss ratios of windows by the middle of their time, the worst of every so many in a row if there are too many; and of how many.
fn thinned(tally: &Tally, window: usize, timing: Timing) -> (Vec<(f64, f64)>, usize) {
    let windows: Vec<(f64, f64)> = tally
        .series(window)
        .map(|of| (timing.seconds(of.start + of.lookups / 2) * 1e9, of.miss_ratio()))
        .collect();
    let together = windows.len().div_ceil(MOST_POINTS).max(1);
    let worst = |windows: &[(f64, f64)]| windows.iter().copied().max_by(|a, b| a.1.total_cmp(&b.1));
    (windows.chunks(together).filter_map(worst).collect(), together)
}

fn axis(label: &str, unit: Unit, log: bool) -> Axis {
    Axis { label: label.to_owned(), unit, log }
}

/// A curve in the colour of its system, the same in every picture; dashed if the system has no control loop to wait for.
fn curve(name: String, system: SystemName, points: Vec<(f64, f64)>) -> Series {
    Series {
        name,
        points,
        dashed: system.properties().control == Control::Instant,
        color: Some(system as usize),
        ..Series::default()
    }
}
