//! What queueing theory says of flows that share a link: M/G/1 with processor sharing, and with the shortest remaining time first.
//!
//! Times are in bytes: the time in which the link sends a byte is one. Flows come as a Poisson process, and a flow is served as if all its bytes
//! were there at once.

use crate::simulator::Sizes;

/// A way to share a link between flows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Discipline {
    /// All flows get equal shares of the link: what TCP is believed to do.
    ProcessorSharing,
    /// The flow with the fewest bytes left gets the whole link: what pFabric does with exact priorities.
    ShortestRemainingFirst,
}

/// Mean times of flows on a link, by their sizes.
#[derive(Clone, Debug)]
pub struct MeanTimes {
    /// Each size that occurs, with the mean time of its flows, in ascending order.
    times: Vec<(u64, f64)>,
}

impl MeanTimes {
    /// The times at this load of the link. None at a load of 1 or more: the queue grows without end.
    ///
    /// Processor sharing: x ÷ (1 − ρ) (Kleinrock 1967). Shortest remaining first: Schrage and Miller (1966), for sizes that are steps; of flows
    /// with as many bytes left, the one that is being sent goes on. O(sizes).
    pub fn new(sizes: &Sizes, load: f64, discipline: Discipline) -> Option<Self> {
        if load >= 1.0 {
            return None;
        }
        let times = match discipline {
            Discipline::ProcessorSharing => {
                sizes.shares().map(|(bytes, _)| (bytes, bytes as f64 / (1.0 - load))).collect()
            }
            Discipline::ShortestRemainingFirst => shortest_first(sizes, load),
        };
        Some(Self { times })
    }

    /// Mean time of the flows of a size; that of the next larger size if it does not occur, and of the largest if there is none.
    pub fn of(&self, bytes: u64) -> f64 {
        let place = self.times.partition_point(|(size, _)| *size < bytes);
        self.times.get(place).or(self.times.last()).map_or(0.0, |(_, time)| *time)
    }
}

/// A flow waits for what goes before it, and is then interrupted by smaller flows.
fn shortest_first(sizes: &Sizes, load: f64) -> Vec<(u64, f64)> {
    let starts = load / sizes.mean();
    let mut times = Vec::new();
    // Of smaller flows: their load, the sum of their squares, and their share of the flows.
    let (mut smaller, mut squares, mut share) = (0.0, 0.0, 0.0);
    // While so many bytes are left, smaller flows interrupt.
    let (mut residence, mut from) = (0.0, 0.0);
    for (bytes, part) in sizes.shares() {
        let size = bytes as f64;
        let up_to = smaller + starts * size * part;
        // A larger flow counts with what is left of it once that is no more than this size.
        let work = squares + size * size * (1.0 - share);
        let wait = starts * work / (2.0 * (1.0 - up_to) * (1.0 - smaller));
        residence += (size - from) / (1.0 - smaller);
        times.push((bytes, wait + residence));
        from = size;
        smaller = up_to;
        squares += size * size * part;
        share += part;
    }
    times
}
