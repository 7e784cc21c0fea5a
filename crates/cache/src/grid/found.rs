//! What a grid comes to: its points, and every policy at each.

use trueplane_study::Page;
use trueplane_study::page::Columns;
use trueplane_study::report::Cell;
use trueplane_study::rounded::Toward;
use trueplane_trace::Clock;
use trueplane_units::Bytes;

use crate::bounds::{Bounds, above};
use crate::capacity::Capacity;
use crate::latency::Latency;
use crate::policy::PolicyName;
use crate::trace_facts::TraceFacts;
use crate::units::{Units, capacity};

/// All points of a grid. Latencies are in ns, or in steps where time is slotted.
#[derive(Clone, Debug, PartialEq)]
pub struct Points {
    /// The trace, or as much of it as was asked for.
    pub trace: TraceFacts,
    /// Meaning of the times of requests.
    pub clock: Clock,
    /// Warnings of what makes the results doubtful, in plain sentences.
    pub warnings: Vec<String>,
    /// Number of capacities.
    pub capacities: usize,
    /// One for every latency and capacity of the grid, the capacities of one latency together.
    pub points: Vec<Point>,
}

/// All policies at one latency and capacity.
#[derive(Clone, Debug, PartialEq)]
pub struct Point {
    /// Fetch times.
    pub latency: Latency,
    /// Capacity that was simulated.
    pub capacity: u64,
    /// The capacity is in bytes; otherwise it is in objects.
    pub by_bytes: bool,
    /// Capacity as it was asked for.
    pub asked: Capacity,
    /// Timestamps are too coarse for the latency, so that equal numbers prove nothing.
    pub is_coarse: bool,
    /// Bounds on the total latency of any policy, if they were looked for.
    pub bounds: Option<Bounds>,
    /// Policies, in the order of the plan.
    pub policies: Vec<PolicyRun>,
}

/// One policy at one latency and capacity.
#[derive(Clone, Debug, PartialEq)]
pub struct PolicyRun {
    /// Policy that was simulated.
    pub policy: PolicyName,
    /// Requests that count: hits + delayed hits + misses.
    pub requests: u64,
    /// Requests for resident objects.
    pub hits: u64,
    /// Requests for objects on their way.
    pub delayed_hits: u64,
    /// Requests that began a fetch.
    pub misses: u64,
    /// The exact sum of all latencies.
    pub latency_total: u128,
    /// The mean latency of the refined model.
    pub latency_mean: f64,
    /// Half of the requests have at most this latency, to within 0.1%.
    pub latency_p50: u64,
    /// 99% of the requests have at most this latency.
    pub latency_p99: u64,
    /// 99.9% of the requests have at most this latency.
    pub latency_p999: u64,
    /// Hits of the classical model, where a fetched object is there at once.
    pub classical_hits: u64,
    /// The share of those.
    pub classical_hit_rate: f64,
    /// The prediction of the classical model: hit rate × hit latency + miss rate × miss latency (thesis eq. 2.1).
    pub classical_latency_mean: f64,
    /// Share of the refined mean by which the classical prediction falls short of it; negative if it is too high.
    pub classical_underestimate: f64,
    /// Largest share by which the total latency is above the least possible: the total over the lower bound, less 1. None if there is no
    /// bound, or it is zero.
    pub above_optimum: Option<f64>,
    /// The same at least: the total over the upper bound, less 1; never below 0 where the bound is one of this policy.
    pub above_optimum_at_least: Option<f64>,
    /// Points of the cumulative distribution of latency, for plots.
    pub cdf: Vec<(u64, f64)>,
}

impl Points {
    /// The unit of all latencies.
    pub(crate) fn units(&self) -> Units {
        Units(self.clock)
    }

    /// The trace and what makes it doubtful, on the page.
    pub(crate) fn present(&self, page: &mut Page) {
        for warning in &self.warnings {
            page.warn(warning);
        }
        self.trace.present(self.clock, page);
    }

    /// The name of a point for people.
    pub(crate) fn name(&self, point: &Point) -> String {
        format!("latency {}, capacity {}", self.units().latency(&point.latency), point.capacity_name())
    }

    /// The points at every capacity in turn, by latency.
    pub(crate) fn by_capacity(&self) -> impl Iterator<Item = Vec<&Point>> {
        (0..self.capacities)
            .map(|capacity| self.points.iter().skip(capacity).step_by(self.capacities).collect())
    }

    /// The points at every latency in turn, by capacity.
    pub(crate) fn by_latency(&self) -> impl Iterator<Item = Vec<&Point>> {
        self.points.chunks(self.capacities).map(|points| points.iter().collect())
    }
}

impl Point {
    /// The capacity for people.
    pub(crate) fn capacity_name(&self) -> String {
        let share = match self.asked {
            Capacity::Share(_) => format!(" ({})", self.asked),
            Capacity::Objects(_) | Capacity::Bytes(_) => String::new(),
        };
        capacity(self.capacity, self.by_bytes) + &share
    }

    /// The word for what the capacity counts.
    pub(crate) fn capacity_unit(&self) -> &'static str {
        if self.by_bytes { "bytes" } else { "objects" }
    }

    /// Enters the bounds of the total latency, and how far every policy is from them.
    ///
    /// With `bypass`, the bounds are those of caches that may let fetched objects pass by, of which every policy is one: none is
    /// less than 0 above the optimum, even where it is better than the schedule that was found.
    pub(crate) fn enter_bounds(&mut self, bounds: Bounds, bypass: bool) {
        self.bounds = Some(bounds);
        for policy in &mut self.policies {
            policy.above_optimum = above(policy.latency_total, bounds.lower);
            let least = above(policy.latency_total, bounds.upper);
            policy.above_optimum_at_least = if bypass { least.map(|share| share.max(0.0)) } else { least };
        }
    }

    /// Adds the columns that tell one point of a grid from another.
    pub(crate) fn columns<'p, R>(
        table: Columns<'p, R>,
        units: Units,
        of: impl Fn(&R) -> &Point,
    ) -> Columns<'p, R> {
        let constant = |row: &R| of(row).latency.constant().map(|latency| units.cell(latency.0 as f64));
        let varying = |row: &R| match of(row).latency.constant() {
            Some(_) => None,
            None => Some(of(row).latency.to_string()),
        };
        let amount = |row: &R, by_bytes| Some(of(row).capacity).filter(|_| of(row).by_bytes == by_bytes);
        table
            .col("latency", units.column("latency"), constant)
            .when_any()
            .col("latency", "latency", varying)
            .when_any()
            .col("capacity", "capacity_objects", |row| amount(row, false))
            .when_any()
            .col("capacity", "capacity_bytes", |row| amount(row, true).map(Bytes))
            .when_any()
            .col("asked for", "capacity_asked", |row| of(row).asked.to_string())
    }
}

impl PolicyRun {
    /// Smallest share by which the policy is above the optimum, as a cell.
    pub(crate) fn above_at_least(&self) -> Option<Cell> {
        self.above_optimum_at_least.map(|share| Toward::Down.change_cell(share))
    }

    /// Largest share by which the policy is above the optimum, as a cell.
    pub(crate) fn above_at_most(&self) -> Option<Cell> {
        self.above_optimum.map(|share| Toward::Up.change_cell(share))
    }

    /// The distance of the policy from the optimum, in words; none if there is no bound above zero.
    pub(crate) fn distance(&self) -> Option<String> {
        let (most, least) = (self.above_optimum?, self.above_optimum_at_least?);
        let [most_said, least_said] = [Toward::Up.percent(most), Toward::Down.percent(least)];
        Some(if most < 0.0 {
            // Only where the bound is not one of this policy.
            format!("{} below the optimum", Toward::Down.percent(-most))
        } else if most_said == least_said {
            format!("{most_said} above the optimum")
        } else if least <= 0.0 || least_said == Toward::Down.percent(0.0) {
            format!("at most {most_said} above the optimum")
        } else {
            format!("{least_said} to {most_said} above the optimum")
        })
    }
}
