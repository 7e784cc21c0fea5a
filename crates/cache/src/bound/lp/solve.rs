//! The flow model as a linear programme.
//!
//! One column for every edge of every object's network, one row for every node (what flows in flows out), and the capacity.
//! The thesis's rows, one for every instant with all that is held then, would have a quadratic number of entries. Here the
//! occupancy of an instant is a column of its own, between 0 and the capacity, and a row says how it differs from the one
//! before: by the stays that begin less those that have ended, so that a stay has two entries however long it is. And only
//! those gaps have a row in which no less is held than in all others: where a stay may have begun since the last such gap,
//! and one may end.

use std::time::Duration;

use highs::{ColProblem, Row};
use trueplane_study::programme::{Failure, minimise};

use super::network::{Edge, walk};
use super::{LpError, MOST_REQUESTS};
use crate::belatedly::path::Branch;
use crate::belatedly::{Instance, Prices};

/// Flow out of a visit's nodes, between 0 and 1 each; the sum is 1 unless the visit is a delayed hit in part.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Flow {
    /// The visit is a hit and the object held until the next.
    pub hit_hold: f64,
    /// It is a hit and the object dropped.
    pub hit_drop: f64,
    /// It is a miss and the object held until the first visit after the fetch.
    pub miss_hold: f64,
    /// It is a miss and the object dropped.
    pub miss_drop: f64,
}

/// An optimum of the linear programme.
#[derive(Clone, Debug)]
pub struct LpSolution {
    /// The least total latency of a fractional schedule, in the unit of latency, as far as floating point goes.
    pub value: f64,
    /// The flows of every visit, in the order of the instance's visits.
    pub flows: Vec<Flow>,
    /// The duals of the capacity, what a unit of it would save in each gap: prices whose own bound is the value, but for
    /// rounding, and holds whatever the solver did.
    pub prices: Prices,
}

/// Solves the linear programme of an instance, within a time if there is a limit. Deterministic, on one thread. Memory: about
/// 1 KB a request. Time grows faster than the requests.
///
/// # Errors
/// If there are more than [`MOST_REQUESTS`], no solution, or none in time.
pub fn solve(instance: &Instance, limit: Option<Duration>) -> Result<LpSolution, LpError> {
    if instance.requests() > MOST_REQUESTS {
        return Err(LpError::TooLong(instance.requests()));
    }
    let rows = Rows::new(instance);
    let scale = Scale::new(instance);
    let mut problem = ColProblem::default();
    let columns = add(instance, &rows, &scale, &mut problem);
    let solved = minimise(problem, limit).map_err(|failure| match failure {
        Failure::OutOfTime => LpError::OutOfTime,
        Failure::Infeasible => LpError::Infeasible(instance.terms.capacity),
        Failure::Stopped(status) => LpError::Solver(status),
    })?;
    let solution = solved.get_solution();
    let mut flows = vec![Flow::default(); instance.requests()];
    for (&(visit, node, hold), &flow) in columns.iter().zip(solution.columns()) {
        let Flow { hit_hold, hit_drop, miss_hold, miss_drop } = &mut flows[visit];
        let place = match (node, hold) {
            (Branch::Hit, true) => hit_hold,
            (Branch::Hit, false) => hit_drop,
            (Branch::Miss, true) => miss_hold,
            (Branch::Miss, false) => miss_drop,
        };
        *place = flow.clamp(0.0, 1.0);
    }
    let mut duals = vec![0.0; instance.requests()];
    for (&gap, &dual) in rows.gaps.iter().zip(solution.dual_columns().iter().skip(columns.len())) {
        // The reduced cost of an occupancy at its upper bound is what more of it would add: less than nothing.
        duals[gap as usize] = (-dual).max(0.0) * scale.latency / scale.size;
    }
    let value = solved.objective_value() * scale.latency;
    Ok(LpSolution { value, flows, prices: fixed_point(&duals, instance.terms.capacity) })
}

/// Scale of the solver's numbers, so that they are about 1: its tolerances are absolute.
struct Scale {
    latency: f64,
    size: f64,
}

impl Scale {
    fn new(instance: &Instance) -> Self {
        let objects = instance.objects();
        let visits = (0..objects).flat_map(|object| instance.visits(object));
        let latency: f64 = visits.map(|visit| visit.delay as f64).sum();
        let size: f64 = (0..objects).map(|object| instance.size(object) as f64).sum();
        let mean = |sum: f64, count: usize| (sum / count.max(1) as f64).max(1.0);
        Self { latency: mean(latency, instance.requests()), size: mean(size, objects) }
    }
}

/// The gaps that have a row in the linear program.
struct Rows {
    /// The gaps with a row for the occupancy.
    gaps: Vec<u32>,
    /// For each gap, the number of rows for gaps before it.
    before: Vec<u32>,
}

impl Rows {
    fn new(instance: &Instance) -> Self {
        let mut begins = vec![false; instance.requests() + 1];
        let mut ends = begins.clone();
        for object in 0..instance.objects() {
            walk(instance, object, |_, _, edges| {
                for (edge, _) in edges.all().filter(|(edge, _)| edge.stays()) {
                    begins[edge.from as usize] = true;
                    ends[edge.to as usize] = true;
                }
            });
        }
        let (mut gaps, mut before, mut begun) = (Vec::new(), Vec::new(), false);
        for (gap, (begins, ends)) in (0..).zip(begins.into_iter().zip(ends)) {
            before.push(gaps.len() as u32);
            begun |= begins;
            if begun && ends {
                gaps.push(gap);
                begun = false;
            }
        }
        before.push(gaps.len() as u32);
        Self { gaps, before }
    }

    /// The row of the first gap of a stay, and the one after its last.
    fn of(&self, edge: Edge) -> (usize, usize) {
        (self.before[edge.from as usize] as usize, self.before[edge.to as usize + 1] as usize)
    }
}

/// A column: the visit among all, its node, and whether the object is held.
type Column = (usize, Branch, bool);

/// Adds all rows and columns to a problem: those of the edges, which are returned, and then those of the occupancies.
fn add(instance: &Instance, rows: &Rows, scale: &Scale, problem: &mut ColProblem) -> Vec<Column> {
    let occupancies: Vec<Row> = rows.gaps.iter().map(|_| problem.add_row(0.0..=0.0)).collect();
    let mut columns = Vec::new();
    for object in 0..instance.objects() {
        let first = instance.range(object).start;
        let size = instance.size(object) as f64 / scale.size;
        let visits = instance.visits(object);
        // The row of each node that can be reached: hits, misses.
        let mut nodes = vec![[None; 2]; visits.len()];
        walk(instance, object, |index, node, _| {
            let source = if index == 0 { 1.0 } else { 0.0 };
            nodes[index][node as usize] = Some(problem.add_row(source..=source));
        });
        walk(instance, object, |index, node, edges| {
            let cost = match node {
                Branch::Hit => instance.hit(visits[index].position),
                Branch::Miss => visits[index].delay,
            };
            let out = nodes[index][node as usize];
            for (edge, hold) in edges.all() {
                let to = if hold { Branch::Hit } else { Branch::Miss };
                let into = nodes.get(edge.next).and_then(|rows| rows[to as usize]);
                let (begin, end) = if edge.stays() { rows.of(edge) } else { (0, 0) };
                let stay = [(begin, -size), (end, size)].into_iter().filter(|_| begin < end);
                let stay = stay.filter_map(|(row, factor)| Some((*occupancies.get(row)?, factor)));
                let flow = out.map(|row| (row, 1.0)).into_iter().chain(into.map(|row| (row, -1.0)));
                problem.add_column(cost as f64 / scale.latency, 0.0.., flow.chain(stay));
                columns.push((first + index, node, hold));
            }
        });
    }
    let most = instance.terms.capacity as f64 / scale.size;
    for (index, &row) in occupancies.iter().enumerate() {
        let next = occupancies.get(index + 1).map(|&next| (next, -1.0));
        problem.add_column(0.0, 0.0..=most, [(row, 1.0)].into_iter().chain(next));
    }
    columns
}

/// Prices in as many bits as there is room for: the revenue of the whole capacity stays below 2^120.
fn fixed_point(duals: &[f64], capacity: u64) -> Prices {
    let revenue = duals.iter().sum::<f64>().max(1.0) * capacity as f64;
    let highest = duals.iter().copied().fold(1.0, f64::max);
    let room = (120.0 - revenue.log2()).min(62.0 - highest.log2());
    let bits = room.clamp(0.0, 32.0) as u32;
    let scale = (1u64 << bits) as f64;
    Prices { bits, gaps: duals.iter().map(|dual| (dual * scale).round() as u64).collect() }
}
