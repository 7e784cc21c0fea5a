//! Whether bursty objects are those that the latency-optimal schedule treats better than Bélády (thesis figure 2.10).
//!
//! Bélády maximises hits and does not see that one miss of a bursty object makes many requests wait. So the thesis sets the
//! burstiness of every object ([`scan`](crate::scan)) against what its requests wait under either schedule. Here the relative
//! difference is (ours − Bélády's) / the larger of the two, from −1 (it waits under Bélády only) to 1 (under ours
//! only), so that an object that waits hardly at all under one of them does not outweigh all others in a correlation.

use trueplane_study::report::Cell;
use trueplane_study::{Error, Observer};
use trueplane_trace::CHUNK;
use trueplane_units::Nanos;

use super::problem::{Problem, Scenario};
use super::search::Solution;
use crate::Outcome;
use crate::engine::{Engine, Shape};
use crate::oracle::OracleBuilder;
use crate::policy::Belady;
use crate::scan::burstiness_of;

/// Objects with fewer requests than these have too few times between them to speak of bursts.
pub const FEWEST_REQUESTS: usize = 4;

/// The width of a bin is 2 / this: scores lie between −1 and 1.
const BINS: usize = 20;

/// Burstiness against the difference to Bélády, over the objects with at least [`FEWEST_REQUESTS`] requests that count, not all
/// at one instant, that wait at all under one of both.
#[derive(Clone, Debug)]
pub struct Correlation {
    /// Objects were left out that have fewer requests.
    pub fewest_requests: usize,
    /// Number of objects.
    pub objects: u64,
    /// Pearson's correlation of score and difference, every object weighed by its requests; none if all objects have the same
    /// score or the same difference.
    pub pearson_weighted: Option<f64>,
    /// The objects by score, empty bins left out.
    pub bins: Vec<Bin>,
}

/// Objects of about the same burstiness.
#[derive(Clone, Debug)]
pub struct Bin {
    /// The lowest score.
    pub from: f64,
    /// The score where the next bin begins.
    pub to: f64,
    /// Objects in it.
    pub objects: u64,
    /// Their requests that count.
    pub requests: u64,
    /// The mean of their differences, weighed by requests.
    pub difference_mean: f64,
    /// Their total latency under the schedule found.
    pub schedule_total: u64,
    /// Their total latency under Bélády.
    pub belady_total: u64,
}

/// An object as a point of the figure.
#[derive(Clone, Copy, Debug)]
struct Point {
    score: f64,
    requests: u64,
    schedule: u64,
    belady: u64,
}

impl Point {
    fn difference(&self) -> f64 {
        (self.schedule as f64 - self.belady as f64) / self.schedule.max(self.belady) as f64
    }
}

/// Sets the burstiness of the objects against the difference of the solution to Bélády, which is simulated.
/// O(n log n).
///
/// # Errors
/// If the trace is too long to foresee; if the observer interrupts.
pub fn correlate(
    problem: &Problem,
    scenario: &Scenario,
    solution: &Solution,
    observer: &dyn Observer,
) -> Result<Correlation, Error> {
    let belady = belady(problem, scenario, observer)?;
    let instance = &problem.instance;
    let points = (0..instance.objects()).filter_map(|object| {
        // What is not counted waits for nothing, and would water the differences down.
        let counted = |position: u32| u64::from(position) >= instance.terms.warmup;
        let positions = instance.visits(object).iter().map(|visit| visit.position);
        let positions: Vec<u32> = positions.filter(|&position| counted(position)).collect();
        let times = positions.iter().map(|&position| problem.requests[position as usize].time);
        let schedule = solution.schedule.follow(instance, object, |_, _| ());
        let point = Point {
            score: if positions.len() < FEWEST_REQUESTS { None } else { burstiness_of(times) }?,
            requests: positions.len() as u64,
            schedule,
            belady: belady[object],
        };
        (point.schedule.max(point.belady) > 0).then_some(point)
    });
    Ok(Correlation::of(&points.collect::<Vec<_>>()))
}

/// Total wait of the requests for every object under Bélády.
fn belady(problem: &Problem, scenario: &Scenario, observer: &dyn Observer) -> Result<Vec<u64>, Error> {
    observer.stage("comparing with Bélády", problem.requests.len() as u64);
    let mut oracle = OracleBuilder::new(vec![scenario.latency.clone()]);
    oracle.push(&problem.requests).map_err(|error| Error::Parameters(error.to_string()))?;
    let oracle = oracle.finish(observer)?;
    let instance = &problem.instance;
    let mut objects = vec![0u32; problem.requests.len()];
    for object in 0..instance.objects() {
        for visit in instance.visits(object) {
            objects[visit.position as usize] = object as u32;
        }
    }
    let shape = Shape { capacity: instance.terms.capacity, by_bytes: problem.by_bytes, sets: 1 };
    let mut engine = Engine::new(|_| Belady::default(), &shape, scenario.clock);
    let mut waits = vec![0; instance.objects()];
    let mut index = 0;
    for chunk in problem.requests.chunks(CHUNK) {
        for request in chunk {
            let future = oracle.future(index, Some(0));
            let (outcome, wait) = engine.request(request, future, || scenario.latency.of(request, index));
            let wait = if outcome == Outcome::Hit { scenario.hit_latency } else { wait };
            let counted = if index < instance.terms.warmup { Nanos(0) } else { wait };
            waits[objects[index as usize] as usize] += counted.0;
            index += 1;
        }
        observer.advance(chunk.len() as u64);
        if observer.interrupted() {
            return Err(Error::Interrupted);
        }
    }
    Ok(waits)
}

impl Correlation {
    fn of(points: &[Point]) -> Self {
        Self {
            fewest_requests: FEWEST_REQUESTS,
            objects: points.len() as u64,
            pearson_weighted: pearson(points),
            bins: bins(points),
        }
    }

    /// The correlation in a sentence; none if there is none to speak of.
    pub fn sentence(&self) -> Option<String> {
        let weighted = self.pearson_weighted?;
        let what = match weighted {
            r if r <= -0.1 => "The burstier an object, the less its requests wait compared with Bélády",
            r if r < 0.1 => "Bursts have little to do with what requests wait compared with Bélády",
            _ => "The burstier an object, the more its requests wait compared with Bélády",
        };
        // In the digits of the facts.
        let (weighted, objects) = (Cell::from(weighted), Cell::from(self.objects));
        Some(format!("{what}: a correlation of {weighted}, weighted by requests, over {objects} objects."))
    }
}

fn bins(points: &[Point]) -> Vec<Bin> {
    let mut all: Vec<Vec<&Point>> = vec![Vec::new(); BINS];
    for point in points {
        let place = ((point.score + 1.0) / 2.0 * BINS as f64) as usize;
        all[place.min(BINS - 1)].push(point);
    }
    let width = 2.0 / BINS as f64;
    let filled = all.iter().enumerate().filter(|(_, points)| !points.is_empty());
    filled
        .map(|(place, points)| {
            let requests: u64 = points.iter().map(|point| point.requests).sum();
            let weighed: f64 = points.iter().map(|point| point.difference() * point.requests as f64).sum();
            // Written so that a bin's bounds are the numbers that people expect: -0.3 rather than -0.30000000000000004.
            let edge = |place: usize| (place as f64 * width - 1.0) * 1e6;
            Bin {
                from: edge(place).round() / 1e6,
                to: edge(place + 1).round() / 1e6,
                objects: points.len() as u64,
                requests,
                difference_mean: weighed / requests as f64,
                schedule_total: points.iter().map(|point| point.schedule).sum(),
                belady_total: points.iter().map(|point| point.belady).sum(),
            }
        })
        .collect()
}

/// Pearson's correlation of scores and differences, weighed by requests; none where it is not defined.
fn pearson(points: &[Point]) -> Option<f64> {
    let sum = |value: &dyn Fn(&Point) -> f64| -> f64 {
        points.iter().map(|point| point.requests as f64 * value(point)).sum()
    };
    let whole = sum(&|_| 1.0);
    if whole <= 0.0 {
        return None;
    }
    let (x, y) = (sum(&|point| point.score) / whole, sum(&Point::difference) / whole);
    let xy = sum(&|point| (point.score - x) * (point.difference() - y));
    let xx = sum(&|point| (point.score - x).powi(2));
    let yy = sum(&|point| (point.difference() - y).powi(2));
    // What is all equal differs from its mean by rounding only.
    let spread = 1e-18 * whole;
    (xx > spread && yy > spread).then(|| xy / (xx * yy).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn point(score: f64, requests: u64, schedule: u64, belady: u64) -> Point {
        Point { score, requests, schedule, belady }
    }

    #[test]
    fn differences_are_relative_to_the_larger() {
        let differences = [(5, 10), (10, 5), (0, 7), (7, 0), (3, 3)];
        let differences = differences.map(|(schedule, belady)| point(0.0, 4, schedule, belady).difference());
        assert_eq!(differences, [-0.5, 0.5, -1.0, 1.0, 0.0]);
    }

    #[test]
    fn correlations_are_those_of_straight_lines() {
        let falling = [point(-0.5, 4, 10, 10), point(0.0, 9, 6, 8), point(0.5, 5, 5, 10)];
        let correlation = Correlation::of(&falling);
        let r = correlation.pearson_weighted;
        assert!((r.unwrap() + 1.0).abs() < 1e-12, "{r:?}");
        assert_eq!(
            correlation.sentence().unwrap(),
            "The burstier an object, the less its requests wait compared with Bélády: a correlation of -1, weighted by requests, over 3 objects."
        );
        let flat = [point(0.1, 4, 3, 3), point(0.4, 4, 8, 8)];
        assert_eq!(Correlation::of(&flat).pearson_weighted, None);
        assert_eq!(Correlation::of(&[]).sentence(), None);
    }

    #[test]
    fn weights_count_an_object_as_often_as_it_is_asked_for() {
        let points = [point(-0.2, 1, 3, 9), point(0.3, 3, 8, 9), point(0.9, 2, 9, 2)];
        let one = |of: Point| Point { requests: 1, ..of };
        let repeated: Vec<Point> = points
            .iter()
            .flat_map(|&point| std::iter::repeat_n(one(point), point.requests as usize))
            .collect();
        let once = points.map(one);
        let [weighed, repeated, once] =
            [&points[..], &repeated, &once].map(|points| Correlation::of(points).pearson_weighted.unwrap());
        assert!((weighed - repeated).abs() < 1e-12);
        assert!((weighed - once).abs() > 1e-3);
    }

    #[test]
    fn bins_hold_every_object_once() {
        let points = [point(-1.0, 4, 1, 2), point(0.31, 6, 2, 2), point(0.39, 2, 1, 4), point(1.0, 5, 9, 3)];
        let bins = bins(&points);
        let edges: Vec<(f64, f64, u64)> = bins.iter().map(|bin| (bin.from, bin.to, bin.objects)).collect();
        assert_eq!(edges, [(-1.0, -0.9, 1), (0.3, 0.4, 2), (0.9, 1.0, 1)]);
        assert_eq!((bins[1].requests, bins[1].schedule_total, bins[1].belady_total), (8, 3, 6));
        assert_eq!(bins[1].difference_mean, (0.0 * 6.0 - 0.75 * 2.0) / 8.0);
    }
}
