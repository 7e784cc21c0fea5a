//! Trees for a number of priorities: narrow ones with many levels are smaller, wide ones with few answer sooner.

use serde::Serialize;

use super::design::{Design, Extras, Queue};
use super::measured::{Speed, speed};
use crate::BadShape;
use crate::bbq::{MOST_PARTITIONS, Memories, Shape};

/// Widths that are looked at. Two has as many levels as a priority has bits.
const WIDTHS: [u32; 5] = [4, 8, 16, 32, 64];

/// The most priorities that a tree has: 2^24.
const MOST_PRIORITIES: u64 = 1 << 24;

/// A tree that has the priorities.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Proposal {
    /// Width W: children of a node.
    pub width: u32,
    /// Depth D: levels of the tree.
    pub levels: u32,
    /// Priorities of each partition.
    pub priorities: u32,
    /// Cycles from a request to its response; 0 where elements are on the ports.
    pub latency_cycles: u32,
    /// Clock and area.
    #[serde(flatten)]
    pub speed: Speed,
    /// Whether it is the one that is taken.
    pub chosen: bool,
}

/// The trees for so many priorities of each partition, by width, and the design with the one that is taken: of those with the fewest
/// priorities, as each takes memory, the one with the fewest LUTs. Width and levels of `shape` do not count.
///
/// # Errors
///
/// There are no priorities, or more than 2^24 with those of all partitions; or no tree can have the rest of the shape.
pub fn propose(
    priorities: u64,
    queue: Queue,
    shape: Shape,
    memories: Memories,
    extras: Extras,
) -> Result<(Design, Vec<Proposal>), BadShape> {
    let partitions = u64::from(shape.partitions);
    if !partitions.is_power_of_two() || partitions > MOST_PARTITIONS.into() {
        let expected = format!("a number of partitions that is a power of two up to {MOST_PARTITIONS}");
        return Err(BadShape { expected, found: partitions });
    }
    BadShape::check("a number of priorities", priorities, 1..=MOST_PRIORITIES / partitions)?;
    // A window is two partitions of its tree, and has all priorities of it.
    let all = priorities * partitions;
    let (mut found, mut refused) = (Vec::new(), None);
    for width in WIDTHS {
        let levels = (1..=24).find(|&levels| u64::from(width).pow(levels) >= all).unwrap_or(24);
        if u64::from(width).pow(levels) > MOST_PRIORITIES {
            continue;
        }
        let design = match Design::new(queue, Shape { width, levels, ..shape }, memories, extras) {
            Ok(design) => design,
            Err(error) => {
                refused.get_or_insert(error);
                continue;
            }
        };
        let proposal = Proposal {
            width,
            levels,
            priorities: design.span(),
            latency_cycles: design.latency(),
            speed: speed(&design),
            chosen: false,
        };
        found.push((design, proposal));
    }
    let best = found.iter().enumerate().min_by_key(|(_, (_, of))| (of.priorities, of.speed.comb));
    match (best.map(|(at, _)| at), refused) {
        (Some(best), _) => {
            found[best].1.chosen = true;
            let design = found[best].0.clone();
            Ok((design, found.into_iter().map(|(_, proposal)| proposal).collect()))
        }
        (None, Some(error)) => Err(error),
        (None, None) => unreachable!("64 has a power from any such number up to 2^24"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shapes(priorities: u64, partitions: u32) -> Result<(Design, Vec<Proposal>), String> {
        let shape = Shape { width: 1, levels: 0, capacity: 16383, partitions, data_bits: 16 };
        let extras = Extras { priority_bits: 32, upper_width: 8, upper_levels: 2 };
        propose(priorities, Queue::Bbq, shape, Memories { lanes: 1, ..Memories::default() }, extras)
            .map_err(|error| error.to_string())
    }

    #[test]
    fn the_narrow_tree_is_taken_and_the_wide_one_is_shown() {
        let (design, found) = shapes(32_768, 1).unwrap();
        let shape = design.circuit().layout().shape();
        assert_eq!((shape.width, shape.levels, design.span()), (8, 5, 32_768));
        let of = |width| found.iter().find(|of| of.width == width).unwrap();
        assert_eq!((of(32).levels, of(32).priorities, of(32).speed.measured), (3, 32_768, true));
        assert!(of(8).chosen && of(8).speed.comb < of(32).speed.comb);
        assert!(of(8).latency_cycles > of(32).latency_cycles);
        assert_eq!(found.iter().filter(|of| of.chosen).count(), 1);
    }

    /// A tree of 512 priorities leaves a window of ten bits one bit to grow in, one of 1,024 none.
    #[test]
    fn trees_that_cannot_be_are_left_out() {
        let shape = Shape { width: 1, levels: 0, capacity: 1023, partitions: 1, data_bits: 16 };
        let window = |priority_bits| {
            let extras = Extras { priority_bits, upper_width: 8, upper_levels: 2 };
            propose(512, Queue::Window, shape, Memories::default(), extras)
        };
        let (design, found) = window(10).unwrap();
        assert_eq!((design.circuit().layout().shape().width, found.len()), (8, 1));
        assert!(window(9).is_err());
    }

    #[test]
    fn partitions_and_limits_count() {
        let (design, _) = shapes(64, 8).unwrap();
        assert_eq!(design.span(), 64);
        // Four levels of 64 are the only tree that is as large without being larger than 2^24.
        assert_eq!(shapes(1 << 24, 1).unwrap().1.len(), 4);
        assert!(shapes(0, 1).is_err() && shapes((1 << 24) + 1, 1).is_err());
        assert!(shapes(1 << 23, 4).unwrap_err().contains("from 1 to 4194304"));
        for partitions in [0, 3, 1 << 25] {
            let refused = shapes(1, partitions).unwrap_err();
            assert!(refused.starts_with("expected a number of partitions"), "{refused}");
        }
    }
}
