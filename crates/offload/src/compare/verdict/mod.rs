//! What a comparison comes to, in plain sentences.
//!
//! Where several levels of change were compared, all but the sentence about them is about the largest.

use trueplane_study::metrics::ratio;
use trueplane_study::prose::join;
use trueplane_units::Percent;

use super::report::{Level, period};
use crate::comparison::{Comparison, Outcome, Recovery, Row};
use crate::policy::SystemName;
use crate::words::{at, counted, in_points, name, points, tuned};

mod optimal;
#[cfg(test)]
mod tests;

impl Comparison {
    /// What was found, the most important first.
    pub fn verdict(&self) -> Vec<String> {
        let levels = self.levels();
        let mut sentences = Vec::new();
        match levels.last() {
            Some(level) if level.rows.iter().any(|row| row.lookups() > 0) => {
                sentences.extend(on_levels(&levels));
                sentences.extend(level.on_classical());
                sentences.extend(level.on_rates());
                sentences.extend(level.on_dyso());
                sentences.extend(level.on_optimal());
                sentences.extend(level.on_belady());
                sentences.extend(level.on_recovery());
                sentences.extend(level.on_configurations());
                sentences.extend(level.on_losses());
            }
            Some(_) => sentences.push("There is no lookup after the warm-up to count.".to_owned()),
            None => sentences.push("Nothing was compared.".to_owned()),
        }
        sentences.extend(self.warnings.iter().cloned());
        sentences
    }
}

/// What becomes of every system as the workload changes more; none with a single level of change.
fn on_levels(levels: &[Level<'_>]) -> Option<String> {
    let [calm, .., harsh] = levels else { return None };
    let (few, many) = (calm.change?, harsh.change?);
    let moves = harsh.looped().filter_map(|system| {
        let (before, after) = (calm.fastest(system)?, harsh.fastest(system)?);
        let (before, said) = (Percent(before.miss_ratio()), Percent(after.miss_ratio()));
        Some(format!("from {before} to {said} under {}", name(after, harsh.options)))
    });
    let moves: Vec<String> = moves.collect();
    let what = format!("With {} instead of {few} moved at every change", counted(many, "key"));
    let rest = format!("all else here is about {many}");
    (!moves.is_empty()).then(|| format!("{what}, the miss ratio goes {}; {rest}.", join(&moves)))
}

impl Level<'_> {
    fn name(&self, row: &Row) -> String {
        name(row, self.options)
    }

    /// The rows behind a control loop, as they were asked for.
    fn behind_loops(&self) -> Vec<&Row> {
        self.looped().flat_map(|system| self.speaking(system)).collect()
    }

    /// The classical number beside the truth.
    fn on_classical(&self) -> Option<String> {
        let rows = self.behind_loops();
        let least = rows.iter().min_by_key(|row| row.misses());
        // The last of equal ones would be `max_by_key`'s.
        let most = rows.iter().rev().max_by_key(|row| row.misses());
        let said = |row: &Row| format!("{} ({})", Percent(row.miss_ratio()), self.name(row));
        let classical = self.classical();
        let believed = classical.map(|row| {
            format!(
                "A table that is updated at once misses {} of lookups ({})",
                Percent(row.miss_ratio()),
                row.system.name()
            )
        });
        let (Some(least), Some(most)) = (least, most) else { return believed.map(|said| said + ".") };
        let truth = if least.misses() == most.misses() {
            said(most)
        } else {
            format!("from {} to {}", said(least), said(most))
        };
        let times = classical.and_then(|row| times(most.misses(), row.misses()));
        Some(match believed {
            Some(believed) => {
                let times = times.map_or(String::new(), |times| format!(": up to {times} as many"));
                format!("{believed}; behind a control loop it is {truth}{times}.")
            }
            None => format!("Behind a control loop the table misses {truth} of lookups."),
        })
    }

    /// What every system is above the classical number, at its slowest and at its fastest.
    fn on_rates(&self) -> Option<String> {
        let classical = self.classical()?;
        let mut is_below = false;
        let mut above = |row: &Row| {
            let above = row.miss_ratio() - classical.miss_ratio();
            is_below |= above < 0.0;
            format!("{} {}", in_points(above), at(row, self.options))
        };
        let systems = self.looped().filter_map(|system| {
            let (slow, fast) = self.extremes(system)?;
            let slowest = format!("{} {}", system.name(), above(slow));
            Some(if std::ptr::eq(slow, fast) { slowest } else { format!("{slowest} and {}", above(fast)) })
        });
        let systems: Vec<String> = systems.collect();
        let below = if is_below { BELOW_ZERO } else { "" };
        let base = format!("the {} of {}", Percent(classical.miss_ratio()), classical.system.name());
        (!systems.is_empty())
            .then(|| format!("In percentage points above {base}{below}: {}.", systems.join("; ")))
    }

    /// DySO beside the best table that is updated in batches.
    fn on_dyso(&self) -> Option<String> {
        let dyso = self.speaking(SystemName::Dyso).into_iter().min_by_key(|row| row.misses())?;
        let batched = self.looped().filter(|&system| system != SystemName::Dyso);
        let batched = batched.flat_map(|system| self.given(system)).min_by_key(|row| row.misses())?;
        let (mine, other) = (dyso.miss_ratio(), batched.miss_ratio());
        let difference = match mine.total_cmp(&other) {
            std::cmp::Ordering::Less => format!("{} less than", points(other - mine)),
            std::cmp::Ordering::Equal => "as much as".to_owned(),
            std::cmp::Ordering::Greater => format!("{} more than", points(mine - other)),
        };
        Some(format!(
            "{} misses {}: {difference} the best of the tables that are updated in batches, {}.",
            self.name(dyso),
            Percent(mine),
            self.name(batched)
        ))
    }

    /// How long every system takes to get over a change.
    fn on_recovery(&self) -> Option<String> {
        let mut over = Vec::new();
        for system in self.looped() {
            let Some((slow, fast)) = self.extremes(system) else { continue };
            let rows = if std::ptr::eq(slow, fast) { vec![slow] } else { vec![slow, fast] };
            over.extend(rows.into_iter().filter_map(|row| match row.outcome {
                Outcome::Run { recovery: Some(recovery), .. } => Some((row, recovery)),
                _ => None,
            }));
        }
        let changes = || over.iter().map(|(_, recovery)| recovery.changes);
        let (fewest, most) = (changes().min()?, changes().max()?);
        let of = match (fewest, most) {
            (_, 1) => "the change".to_owned(),
            (fewest, most) if fewest == most => format!("a change (median of {most})"),
            (fewest, most) => format!("a change (median of {fewest} to {most})"),
        };
        let over: Vec<String> =
            over.iter().map(|(row, recovery)| format!("{} {}", self.name(row), time_of(*recovery))).collect();
        Some(format!(
            "After {of} of what is popular, the miss ratio is back within a tenth of its level before the changes: {}.",
            over.join(", ")
        ))
    }

    /// What the best configuration that was found saves.
    fn on_configurations(&self) -> Option<String> {
        let mut saved = Vec::new();
        let mut looked = false;
        for system in self.looped() {
            let gain = |best: &Row| {
                let given = self.given(system).into_iter().find(|row| row.update_rate == best.update_rate)?;
                Some(given.miss_ratio() - best.miss_ratio())
            };
            let gains = self.best(system).into_iter().filter_map(|best| Some((best, gain(best)?)));
            let most = gains.max_by(|a, b| a.1.total_cmp(&b.1));
            looked |= most.is_some();
            saved.extend(most.filter(|(_, gain)| *gain > 0.0).map(|(best, gain)| {
                let threshold = best.threshold.map(|threshold| threshold.to_string());
                let parameter = threshold.or_else(|| period(best).map(|period| period.to_string()));
                let parameter = parameter.map_or(String::new(), |parameter| format!(" of {parameter}"));
                format!(
                    "the best {}{parameter} saves {} {} {}",
                    tuned(system),
                    system.name(),
                    points(gain),
                    at(best, self.options)
                )
            }));
        }
        match (saved.is_empty(), looked) {
            (_, false) => None,
            (true, true) => {
                Some("No other threshold or ageing period that --best-config tried is better.".to_owned())
            }
            (false, true) => Some(format!("Of what --best-config tried, {}.", join(&saved))),
        }
    }

    /// What the loops lost on the way.
    fn on_losses(&self) -> Vec<String> {
        let run = |row: &&'_ Row| match &row.outcome {
            Outcome::Run { counts, .. } => Some(*counts),
            Outcome::Bounds { .. } => None,
        };
        let mut sentences = Vec::new();
        let lost = self.rows.iter().filter_map(|row| {
            let counts = run(row)?;
            let (lost, kept) = (counts.history_lost?, counts.history_recorded?);
            (lost > 0).then(|| (row, ratio(lost.into(), lost.saturating_add(kept))))
        });
        if let Some((row, share)) = lost.max_by(|a, b| a.1.total_cmp(&b.1)) {
            sentences.push(format!(
                "{} of lookups find no room in the history buffer of {}, and its controller never hears of them.",
                Percent(share),
                self.name(row)
            ));
        }
        let failed = self.rows.iter().filter_map(|row| {
            let counts = run(row)?;
            let (failed, sent) = (counts.updates_failed.filter(|&failed| failed > 0)?, counts.updates_sent?);
            Some((row, failed, sent))
        });
        if let Some((row, failed, sent)) = failed.max_by(|a, b| a.1.cmp(&b.1)) {
            sentences.push(format!(
                "Of {} of {}, {failed} found no place in its table.",
                counted(sent, "insertion"),
                self.name(row)
            ));
        }
        let resent = self.rows.iter().filter_map(|row| Some((row, run(row)?.updates_resent?)));
        if let Some((row, resent)) =
            resent.filter(|(_, resent)| *resent > 0).max_by_key(|(_, resent)| *resent)
        {
            sentences.push(format!("{} had to send {} again.", self.name(row), counted(resent, "update")));
        }
        sentences
    }
}

/// What a difference below zero means.
const BELOW_ZERO: &str =
    " (below zero: a policy that knows more than the ideal one, or is choosier, not a loop that helps)";

/// `after 10ms`, and how often not at all.
fn time_of(recovery: Recovery) -> String {
    let Recovery { median, changes, never } = recovery;
    let of = if never == changes { String::new() } else { format!(" in {never} of {changes}") };
    match median {
        Some(median) if never == 0 => format!("after {median}"),
        Some(median) => format!("after {median} (never before the next{of})"),
        None => format!("never before the next{of}"),
    }
}

/// `4.47 times`, of which one is so many times another; none if that is no more than once, as printed, or without end.
fn times(one: u64, other: u64) -> Option<String> {
    let times = ratio(one.into(), other);
    let decimals = if times < 10.0 { 2 } else { 1 };
    let rounded = format!("{times:.decimals$}");
    (times > 1.0 && rounded != "1.00").then(|| format!("{rounded} times"))
}
