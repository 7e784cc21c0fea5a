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
#[derive(Clone, Copy, Debug)]
pub(crate) struct Summary {
    /// Number of periods: congestion avoidance and the recovery behind it.
    pub(crate) periods: usize,
    /// Mean length of a period, in seconds.
    pub(crate) length: f64,
    /// Mean window in congestion avoidance, in segments.
    pub(crate) mean: f64,
    /// Mean window in each tenth of congestion avoidance, in mean windows.
    pub(crate) shape: [f64; BINS],
}

impl Trace {
    pub(crate) fn new(points: Vec<Point>) -> Self {
        Self { points }
    }

    /// The numbers of the periods after the first: of an even number of them, as long and short ones may take turns.
    pub(crate) fn summary(&self) -> Summary {
        let turns = |to_open: bool| {
            let is_turn = move |at: &usize| {
                self.points[*at].is_open == to_open && self.points[at - 1].is_open != to_open
            };
            (1..self.points.len()).filter(is_turn).collect::<Vec<usize>>()
        };
        let (starts, losses) = (turns(true), turns(false));
        let count = starts.len().saturating_sub(2) / 2 * 2;
        assert!(count > 0, "{} recoveries", starts.len());
        let starts = &starts[starts.len() - 1 - count..];
        let time_of = |at: usize| self.points[at].time;
        let length = (time_of(starts[count]) - time_of(starts[0])) / count as f64;
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
        Summary { periods: count, length, mean: sum / time, shape }
    }
}

/// Window × time between two times.
fn integral(points: &[Point], from: f64, to: f64) -> f64 {
    let within = |time: f64| time.clamp(from, to);
    points.windows(2).map(|pair| pair[0].segments * (within(pair[1].time) - within(pair[0].time))).sum()
}
