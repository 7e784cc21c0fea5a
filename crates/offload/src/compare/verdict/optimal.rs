//! What the bounds come to: whether a better policy could help, and what no policy can do.

use std::cmp::Ordering;

use trueplane_study::metrics::ratio;
use trueplane_study::rounded::{Toward, as_asked};
use trueplane_units::Percent;

use super::super::report::Level;
use super::times;
use crate::comparison::Row;
use crate::policy::SystemName;
use crate::words::{PROMPT, per_second};

/// The two bounds of the optimum at an update rate.
struct Bounds<'a> {
    rate: u64,
    lower: &'a Row,
    upper: Option<u64>,
}

impl Bounds<'_> {
    /// Whether they are farther apart than was asked for; what was to be exact is what it is.
    fn are_wide(&self, level: &Level<'_>) -> bool {
        let (lower, asked) = (self.lower.misses(), level.options.bound.gap);
        let is_wide = |upper: u64| upper > lower && upper as f64 / lower as f64 - 1.0 > asked;
        !level.options.exact && self.upper.is_some_and(is_wide)
    }

    /// How few misses there can be.
    fn said(&self, level: &Level<'_>) -> String {
        let least = Toward::Down.percent(self.lower.miss_ratio());
        let mut said = format!("At {} no {PROMPT} misses less than {least}", per_second(self.rate));
        let Some(upper) = self.upper else { return said };
        let found = Toward::Up.percent(ratio(upper.into(), self.lower.lookups()));
        said += &match upper.cmp(&self.lower.misses()) {
            Ordering::Equal => ", found exactly".to_owned(),
            _ if level.options.exact => format!(", and the linear programme has {found}"),
            _ => format!(" (a schedule with {found} was found)"),
        };
        if self.are_wide(level) {
            let (asked, steps) = (as_asked(level.options.bound.gap), level.options.bound.iterations);
            said += &format!(
                ", and the two are not within {asked} of each other, as was asked for: how much a better policy could save \
                 cannot be told, and more --iterations than {steps} may tell it"
            );
        }
        said
    }
}

impl Level<'_> {
    /// Whether a better policy could help at the slowest and at the fastest update rate.
    pub(super) fn on_optimal(&self) -> Vec<String> {
        let rows = self.given(SystemName::Optimal);
        let mut rates: Vec<u64> = rows.iter().filter_map(|row| row.update_rate).collect();
        rates.dedup();
        if let [slowest, .., fastest] = rates[..] {
            rates = vec![slowest, fastest];
        }
        rates.into_iter().filter_map(|rate| self.on_optimal_at(rate)).collect()
    }

    fn on_optimal_at(&self, rate: u64) -> Option<String> {
        let (lower, upper) = self.optimal(rate)?;
        let bounds = Bounds { rate, lower, upper };
        let parts = [self.on_prompt(&bounds), self.on_netcache(&bounds), self.on_faster(&bounds)];
        let said = parts.into_iter().flatten().fold(bounds.said(self), |said, part| said + &part);
        Some(said + ".")
    }

    /// The row with the fewest misses at a rate, tuned or not.
    fn least(&self, rate: u64, is_one: impl Fn(SystemName) -> bool) -> Option<&Row> {
        let rows = self.rows.iter().copied();
        let rows = rows.filter(|row| row.update_rate == Some(rate) && is_one(row.system));
        rows.min_by_key(|row| row.misses())
    }

    /// What the optimum binds, beside it.
    fn on_prompt(&self, bounds: &Bounds<'_>) -> Option<String> {
        let best =
            self.least(bounds.rate, |system| system.properties().prompt && !system.properties().offline)?;
        let (name, misses) = (self.name(best), Percent(best.miss_ratio()));
        if best.misses() < bounds.lower.misses() {
            return Some(format!("; but {name} misses {misses}: one of the two is wrong"));
        }
        let beside = format!("; {name}, the best of those here, misses {misses}");
        if bounds.are_wide(self) {
            return Some(beside);
        }
        let room = Toward::Up.percent(best.miss_ratio() - bounds.lower.miss_ratio());
        let room = room.trim_end_matches(" %");
        Some(format!("{beside}: a better policy could save {room} points at most"))
    }

    /// That the optimum does not bind NetCache, where that is to be seen.
    fn on_netcache(&self, bounds: &Bounds<'_>) -> Option<String> {
        let netcache = self.least(bounds.rate, |system| system == SystemName::NetCache)?;
        (netcache.misses() < bounds.lower.misses()).then(|| {
            let misses = Percent(netcache.miss_ratio());
            format!(
                "; {} misses less, {misses}, for its reports wait over batches: it inserts what was looked up before that, too",
                self.name(netcache)
            )
        })
    }

    /// That DySO does what no such table can.
    fn on_faster(&self, bounds: &Bounds<'_>) -> Option<String> {
        let dyso = self.speaking(SystemName::Dyso).into_iter().min_by_key(|row| row.misses())?;
        (dyso.misses() < bounds.lower.misses()).then(|| {
            let misses = Percent(dyso.miss_ratio());
            format!("; none could reach {}, with {misses}: it takes a faster loop", self.name(dyso))
        })
    }

    /// What is left to any policy without a loop.
    pub(super) fn on_belady(&self) -> Option<String> {
        let belady = self.belady()?;
        let beside = self.classical().and_then(|classical| {
            let times = times(classical.misses(), belady.misses())?;
            Some(format!("; {} misses {times} as many", classical.system.name()))
        });
        Some(format!(
            "No table that takes a key in at its lookup, or not at all, misses less than belady, which knows the future: {}{}.",
            Percent(belady.miss_ratio()),
            beside.unwrap_or_default()
        ))
    }
}
