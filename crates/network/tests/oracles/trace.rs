//! What is compared of two windows over time.

/// Bins of a period whose shape is compared.
pub(crate) const BINS: usize = 10;

/// A congestion window at a time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Point {
    /// Time in seconds.
    pub(crate) time: f64,
    /// Congestion window in segments.
    pub(crate) segments: f64,
    /// No loss is being repaired.
    pub(crate) is_open: bool,
}

/// A window over time, which holds from each point to the next.
#[derive(Debug)]
pub(crate) struct Trace {
    points: Vec<Point>,
}

/// A trace in numbers.
#[derive(Clone, Debug)]
pub(crate) struct Summary {
    /// Length of each period, which is congestion avoidance and the recovery behind it, in seconds.
    pub(crate) lengths: Vec<f64>,
    /// Mean window in congestion avoidance, in segments.
    pub(crate) mean: f64,
    /// Mean window in each tenth of congestion avoidance, in mean windows.
    pub(crate) shape: [f64; BINS],
}

impl Summary {
    /// Median length of a period, in seconds.
    pub(crate) fn period(&self) -> f64 {
        let mut lengths = self.lengths.clone();
        lengths.sort_by(f64::total_cmp);
        lengths[lengths.len() / 2]
    }

    /// Mean length of a period, in seconds.
    pub(crate) fn mean_period(&self) -> f64 {
        self.lengths.iter().sum::<f64>() / self.lengths.len() as f64
    }
}

impl Trace {
    pub(crate) fn new(points: Vec<Point>) -> Self {
        Self { points }
    }

    /// What follows a time in seconds.
    pub(crate) fn after(&self, start: f64) -> Self {
        Self { points: self.points.iter().filter(|point| point.time >= start).copied().collect() }
    }

    /// The numbers of the whole periods after the first.
    pub(crate) fn summary(&self) -> Summary {
        let turns = |to_open: bool| {
            let is_turn = move |at: &usize| {
                self.points[*at].is_open == to_open && self.points[at - 1].is_open != to_open
            };
            (1..self.points.len()).filter(is_turn).collect::<Vec<usize>>()
        };
        let (starts, losses) = (turns(true), turns(false));
        assert!(starts.len() > 2, "{} recoveries", starts.len());
        let starts = &starts[1..];
        let count = starts.len() - 1;
        let time_of = |at: usize| self.points[at].time;
        let lengths = starts.windows(2).map(|pair| time_of(pair[1]) - time_of(pair[0])).collect();
        let (mut sum, mut time, mut shape) = (0.0, 0.0, [0.0; BINS]);
        for &start in &starts[..count] {
            let loss = losses.iter().find(|&&loss| loss > start).copied().unwrap_or(start);
            let (avoidance, from, to) = (&self.points[start..=loss], time_of(start), time_of(loss));
            let window_time = integral(avoidance, from, to);
            sum += window_time;
            time += to - from;
            for (bin, share) in shape.iter_mut().enumerate() {
                let at = |bin: usize| from + (to - from) * bin as f64 / BINS as f64;
                *share +=
                    integral(avoidance, at(bin), at(bin + 1)) / window_time * BINS as f64 / count as f64;
            }
        }
        Summary { lengths, mean: sum / time, shape }
    }
}

/// Window × time between two times.
fn integral(points: &[Point], from: f64, to: f64) -> f64 {
    let within = |time: f64| time.clamp(from, to);
    points.windows(2).map(|pair| pair[0].segments * (within(pair[1].time) - within(pair[0].time))).sum()
}
