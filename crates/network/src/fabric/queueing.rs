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

/// Mean time that a flow of `bytes` bytes spends beyond its own `bytes`, at this load of the link. None at a load of 1 or more: the queue grows
/// without end.
///
/// Processor sharing: x ÷ (1 − ρ) (Kleinrock 1967). Shortest remaining first: Schrage and Miller (1966), for sizes that are steps; of flows with
/// as many bytes left, the one that is being sent goes on. O(steps).
pub fn mean_delay(sizes: &Sizes, load: f64, discipline: Discipline, bytes: u64) -> Option<f64> {
    if load >= 1.0 {
        return None;
    }
    let size = bytes as f64;
    Some(match discipline {
        Discipline::ProcessorSharing => size * load / (1.0 - load),
        Discipline::ShortestRemainingFirst => shortest_first(sizes, load, size) - size,
    })
}

/// Mean time of a flow of this size: it waits for what goes before it, and is then interrupted by smaller flows.
fn shortest_first(sizes: &Sizes, load: f64, size: f64) -> f64 {
    let starts = load / sizes.mean();
    let steps: Vec<(f64, f64)> = sizes.shares().map(|(bytes, share)| (bytes as f64, share)).collect();
    // Load of the flows below a size, and of those up to it.
    let smaller =
        |than: f64| starts * steps.iter().filter(|(bytes, _)| *bytes < than).map(|(b, p)| b * p).sum::<f64>();
    let up_to = smaller(size)
        + starts * steps.iter().filter(|(bytes, _)| *bytes == size).map(|(b, p)| b * p).sum::<f64>();
    // A larger flow counts with what is left of it once that is no more than this size.
    let squares: f64 = steps.iter().map(|(bytes, share)| bytes.min(size).powi(2) * share).sum();
    let wait = starts * squares / (2.0 * (1.0 - up_to) * (1.0 - smaller(size)));
    // While so many bytes are left, smaller flows interrupt.
    let (mut residence, mut from) = (0.0, 0.0);
    for to in steps.iter().map(|(bytes, _)| *bytes).filter(|bytes| *bytes < size).chain([size]) {
        residence += (to - from) / (1.0 - smaller(to));
        from = to;
    }
    wait + residence
}
