//! The exact way: the problem as a linear programme, which HiGHS solves.
//!
//! It is the reference for [`bound`](super::bound()). Its vertices are whole, as those of a flow of entries, so that
//! its value is the optimum. Floating-point errors of the solver do no harm: the bound that counts is what the
//! prices, taken from the programme's duals, prove in integers.
//!
//! Columns say what share of a key stays, is evicted or enters at each of its visits and in the gap behind it, as in
//! `path`. A key that is never in the table is what all of them are measured against, so that it needs none. How many
//! keys are in the table is a column of its own for every interval, at most the capacity, and a row says how it
//! differs from the one before: a stay has two entries however long it is.

use highs::{ColProblem, Row};
use trueplane_study::programme::minimise;
use trueplane_study::{Error, Observer};

use super::path::is_candidate;
use super::prices::Prices;
use super::problem::{Problem, Visit};

/// As many visits, keys in intervals in which they are looked up, are taken: a vertex of a larger programme is a long
/// way off.
pub const MOST_VISITS: usize = 100_000;

/// The optimum of the linear programme.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Relaxation {
    /// The least number of misses, as far as floating point goes.
    pub value: f64,
    /// Lower bound that its prices prove, in integers: no schedule has fewer misses.
    pub lower: u64,
}

/// Finds the optimum by solving the linear programme. The observer can interrupt before the solver begins, and not
/// later. Deterministic, on one thread.
///
/// # Errors
/// If there are more than [`MOST_VISITS`]; if the observer interrupts; if the solver gives up.
pub fn exact(problem: &Problem, observer: &dyn Observer) -> Result<Relaxation, Error> {
    let visits = problem.all_visits().len();
    if visits > MOST_VISITS {
        return Err(Error::Parameters(format!(
            "optimal: the linear programme takes at most {MOST_VISITS} keys in batch intervals and there are {visits}: take fewer lookups or longer batches"
        )));
    }
    if observer.interrupted() {
        return Err(Error::Interrupted);
    }
    observer.stage("solving", 0);
    let mut programme = Programme::new(problem);
    (0..problem.keys()).for_each(|key| programme.add(problem.visits(key)));
    let solved = minimise(programme.columns, None)
        .map_err(|failure| Error::Unfinished(format!("optimal: the linear programme {failure}")))?;
    // The reduced cost of what is at its upper bound is what more of it would add: less than nothing.
    let solution = solved.get_solution();
    let mut prices = solution.dual_columns().iter().map(|dual| (-dual).max(0.0));
    let entries: Vec<f64> = prices.by_ref().take(problem.intervals).collect();
    let insertions: Vec<f64> = prices.take(problem.intervals).collect();
    let lower = Prices::fixed(&entries, &insertions).lower(problem).unwrap_or(0);
    let misses: u64 = problem.all_visits().iter().map(|visit| u64::from(visit.lookups)).sum();
    Ok(Relaxation { value: solved.objective_value() + (misses + problem.certain) as f64, lower })
}

/// The programme under construction. Its first columns are what is used in each interval: entries, and then insertions.
struct Programme {
    columns: ColProblem,
    /// Rows for the keys in the table in each interval less those in the one before, and a row behind them.
    entries: Vec<Row>,
    /// Rows for the keys inserted in each interval.
    insertions: Vec<Row>,
}

impl Programme {
    fn new(problem: &Problem) -> Self {
        let mut columns = ColProblem::default();
        let mut rows = |count| (0..count).map(|_| columns.add_row(0.0..=0.0)).collect::<Vec<Row>>();
        let (entries, insertions) = (rows(problem.intervals), rows(problem.intervals));
        let end = columns.add_row::<f64, _>(..);
        let entries: Vec<Row> = entries.into_iter().chain([end]).collect();
        for pair in entries.windows(2) {
            columns.add_column(0.0, 0.0..=problem.capacity as f64, [(pair[0], 1.0), (pair[1], -1.0)]);
        }
        for &row in &insertions {
            columns.add_column(0.0, 0.0..=problem.batch as f64, [(row, 1.0)]);
        }
        Self { columns, entries, insertions }
    }

    /// Adds the columns of a key.
    fn add(&mut self, visits: &[Visit]) {
        // The row that says that no more comes to the next visit than leaves it.
        let mut arrival = None;
        for (index, &Visit { interval, lookups, late }) in visits.iter().enumerate() {
            let now = self.stay(interval, interval + 1);
            let (departure, once) = (self.columns.add_row(0.0..), self.columns.add_row(..=1.0));
            let present = [(departure, 1.0), (once, 1.0)].into_iter().chain(now);
            if let Some(arrival) = arrival {
                let evicted = f64::from(late) - f64::from(lookups);
                self.columns.add_column(evicted, 0.0.., [(arrival, -1.0)]);
                let keep = present.clone().chain([(arrival, -1.0)]);
                self.columns.add_column(-f64::from(lookups), 0.0.., keep);
            }
            if is_candidate(visits, index) {
                let toll = (self.insertions[interval as usize], -1.0);
                self.columns.add_column(0.0, 0.0.., present.chain([toll]));
            }
            arrival = Some(departure);
            if let Some(next) = visits.get(index + 1).filter(|next| next.interval != interval + 1) {
                let stay = self.stay(interval + 1, next.interval);
                let (there, once) = (self.columns.add_row(0.0..), self.columns.add_row(..=1.0));
                let present = [(there, 1.0), (once, 1.0)].into_iter().chain(stay);
                self.columns.add_column(0.0, 0.0.., present.clone().chain([(departure, -1.0)]));
                let toll = (self.insertions[interval as usize + 1], -1.0);
                self.columns.add_column(0.0, 0.0.., present.chain([toll]));
                arrival = Some(there);
            }
        }
    }

    /// Coefficients of a key that is in the table in the intervals from `from` to the one before `to`.
    fn stay(&self, from: u32, to: u32) -> [(Row, f64); 2] {
        [(self.entries[from as usize], -1.0), (self.entries[to as usize], 1.0)]
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::tests::{small, zipf};
    use super::super::{BoundLimits, bound};
    use super::*;
    use crate::pace::Pace;

    proptest! {
        #[test]
        fn the_programme_has_the_optimum(small in small()) {
            let (optimum, problem) = (small.optimum(), small.problem());
            let found = exact(&problem, &()).unwrap();
            prop_assert!((found.value - optimum as f64).abs() < 1e-4, "{found:?} {optimum}");
            prop_assert_eq!(found.lower, optimum);
        }
    }

    #[test]
    fn prices_come_close_to_the_programme() {
        let problem = Problem::new(&zipf(6_000, 800, 8), 40, 6, Pace::new(150, 1), 600).unwrap();
        let found = exact(&problem, &()).unwrap();
        let bound = bound(&problem, &BoundLimits { iterations: 300, gap: 0.0 }, &()).unwrap();
        assert!(bound.lower <= found.lower && found.lower <= bound.upper, "{found:?} {bound:?}");
        assert!((found.value - found.lower as f64).abs() < 0.5, "{found:?}");
        assert!(found.lower as f64 <= bound.lower as f64 * 1.005, "{found:?} {bound:?}");
    }

    #[test]
    fn what_is_too_large_is_refused() {
        let keys: Vec<u32> = (0..2).flat_map(|_| 0..MOST_VISITS as u32).collect();
        let problem = Problem::new(&keys, 1, 1, Pace::new(MOST_VISITS as u64, 1), 0).unwrap();
        let refused = exact(&problem, &()).unwrap_err().to_string();
        assert!(refused.contains("at most 100000 keys in batch intervals and there are 200000"), "{refused}");
    }
}
