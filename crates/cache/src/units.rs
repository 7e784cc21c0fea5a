//! Latencies and capacities in words and cells: in time or, where time is slotted, in steps.

use trueplane_study::report::{Cell, Unit};
use trueplane_study::rounded::{Toward, nearest_steps};
use trueplane_trace::Clock;
use trueplane_units::{Bytes, Nanos};

use crate::latency::Latency;
use crate::service::TimeModel;

/// The unit of all latencies of a study: that of its clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Units(pub(crate) Clock);

impl Units {
    fn is_slotted(self) -> bool {
        self.0 == Clock::Steps
    }

    /// The time model that the clock belongs to.
    pub(crate) fn model(self) -> TimeModel {
        if self.is_slotted() { TimeModel::Slotted } else { TimeModel::Continuous }
    }

    /// The unit that ends machine names.
    pub(crate) fn suffix(self) -> &'static str {
        if self.is_slotted() { "steps" } else { "ns" }
    }

    /// A machine name with the unit at its end.
    pub(crate) fn column(self, name: &str) -> String {
        format!("{name}_{}", self.suffix())
    }

    /// The unit of an axis of latencies.
    pub(crate) fn axis(self) -> Unit {
        if self.is_slotted() { Unit::Plain } else { Unit::Nanos }
    }

    /// The label of an axis of latencies; the ticks of times have their units themselves.
    pub(crate) fn label(self, what: &str) -> String {
        if self.is_slotted() { format!("{what} (steps)") } else { what.to_owned() }
    }

    /// The heading of a column of exact sums, which have no unit in their cells.
    pub(crate) fn heading(self, what: &str) -> String {
        format!("{what} ({})", self.suffix())
    }

    /// A latency as a cell.
    pub(crate) fn cell(self, latency: f64) -> Cell {
        if self.is_slotted() { Cell::Steps(latency) } else { Cell::Nanos(latency) }
    }

    /// A sum of latencies as a cell, to the last unit.
    pub(crate) fn total(self, total: impl Into<u128>) -> Cell {
        let total = total.into();
        u64::try_from(total).map_or_else(|_| self.cell(total as f64), Cell::Count)
    }

    /// A bound on a latency as a cell; none if it is not finite.
    pub(crate) fn bound_cell(self, latency: f64, toward: Toward) -> Cell {
        if !latency.is_finite() {
            return Cell::Missing;
        }
        Cell::Bound { printed: self.bound(latency, toward), value: latency }
    }

    /// A bound on a latency in words.
    pub(crate) fn bound(self, latency: f64, toward: Toward) -> String {
        if self.is_slotted() { toward.steps(latency) } else { toward.nanos(latency).to_string() }
    }

    /// A mean latency that is no bound in words, rounded to the nearest as tables do.
    pub(crate) fn mean(self, mean: f64) -> String {
        if self.is_slotted() { nearest_steps(mean) } else { Nanos(mean.round() as u64).to_string() }
    }

    /// A fetch time in words.
    pub(crate) fn latency(self, latency: &Latency) -> String {
        match latency {
            Latency::Constant(Nanos(1)) if self.is_slotted() => "1 step".to_owned(),
            Latency::Constant(steps) if self.is_slotted() => format!("{} steps", steps.0),
            varying => varying.to_string(),
        }
    }
}

/// A capacity that was not asked for as a share in words.
pub(crate) fn capacity(amount: u64, by_bytes: bool) -> String {
    match (amount, by_bytes) {
        (_, true) => Bytes(amount).to_string(),
        (1, false) => "1 object".to_owned(),
        (_, false) => format!("{amount} objects"),
    }
}

/// A name as part of a file name.
pub(crate) fn slug(name: &str) -> String {
    let name = name.replace('%', "pct").replace('µ', "u");
    name.chars().filter(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '-')).collect()
}
