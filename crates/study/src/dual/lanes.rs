//! Small problems, shared among threads.

use std::ops::Range;

use rayon::prelude::*;

/// Problems are dealt with in so many parts, whatever the number of threads: sums come out the same.
const PARTS: usize = 64;

/// Many small problems, and working memory of type `L` for each thread that solves them.
///
/// Costs are sums of floating-point numbers, so their order is fixed: by part, whatever the number of threads. What threads count in their
/// own memory must be integers, which have the same sum in any order.
#[derive(Debug)]
pub struct Lanes<L> {
    lanes: Vec<L>,
    parts: Vec<Part>,
}

/// Some consecutive problems and what they cost.
#[derive(Debug)]
struct Part {
    problems: Range<usize>,
    cost: f64,
}

impl<L: Send> Lanes<L> {
    /// Memory for the current number of threads, and `problems` in parts with about as much work in each: `work` has the range of a
    /// problem's pieces among those of all.
    pub fn new(problems: usize, work: impl Fn(usize) -> Range<usize>, lane: impl Fn() -> L) -> Self {
        let all = problems.checked_sub(1).map_or(0, |last| work(last).end);
        let each = all.div_ceil(PARTS).max(1);
        let (mut parts, mut first) = (Vec::new(), 0);
        for problem in 0..problems {
            if work(problem).end - work(first).start >= each || problem + 1 == problems {
                parts.push(Part { problems: first..problem + 1, cost: 0.0 });
                first = problem + 1;
            }
        }
        let lanes = rayon::current_num_threads().clamp(1, PARTS);
        Self { lanes: (0..lanes).map(|_| lane()).collect(), parts }
    }

    /// Clears the memory of every thread, solves all problems, and returns what they cost together.
    pub fn solve(
        &mut self,
        clear: impl Fn(&mut L) + Sync,
        solve: impl Fn(&mut L, usize) -> f64 + Sync,
    ) -> f64 {
        let lanes = self.lanes.len();
        let mut shares: Vec<Vec<&mut Part>> = (0..lanes).map(|_| Vec::new()).collect();
        for (index, part) in self.parts.iter_mut().enumerate() {
            shares[index % lanes].push(part);
        }
        self.lanes.par_iter_mut().zip(shares).for_each(|(lane, parts)| {
            clear(lane);
            for part in parts {
                part.cost = part.problems.clone().map(|problem| solve(lane, problem)).sum();
            }
        });
        self.parts.iter().map(|part| part.cost).sum()
    }

    /// Sum over threads of what each has counted.
    #[inline]
    pub fn counted(&self, count: impl Fn(&L) -> i64) -> i64 {
        self.lanes.iter().map(count).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_problem_is_solved_once_and_sums_do_not_depend_on_threads() {
        // Problem n has n pieces.
        let work = |problem: usize| problem * (problem + 1) / 2 - problem..problem * (problem + 1) / 2;
        let on = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| {
                let mut lanes = Lanes::new(1000, work, || 0i64);
                let solve = |lane: &mut i64, problem: usize| {
                    *lane += problem as i64;
                    1.0 / (problem as f64 + 1.0)
                };
                let cost = lanes.solve(|lane| *lane = 0, solve);
                assert_eq!(cost.to_bits(), lanes.solve(|lane| *lane = 0, solve).to_bits());
                (cost.to_bits(), lanes.counted(|lane| *lane))
            })
        };
        assert_eq!((on(1), on(1).1), (on(3), 499_500));
        assert_eq!(Lanes::new(0, work, || ()).solve(|()| (), |(), _| 1.0), 0.0);
    }
}
