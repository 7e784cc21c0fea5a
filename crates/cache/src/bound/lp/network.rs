//! The flow network of one object, visit by visit.
//!
//! A visit has two nodes, hit and miss, and two edges out of each: the object is held until the visit that the edge leads
//! to, which is then a hit, or it is dropped, and that visit is a miss. These are the thesis's edges after pruning and
//! merging (§2.4.3): a drop is an eviction and the miss that follows from it in one, and of the cache's nodes only those
//! where something is decided are left.

use crate::belatedly::Instance;
use crate::belatedly::path::Branch;

/// An edge of the network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Edge {
    /// The visit it leads to, counted among the object's own; their number is the sink.
    pub(super) next: usize,
    /// The gaps, both inclusive, in which the object takes its place; `from > to` if there are none.
    pub(super) from: u32,
    /// The last of them.
    pub(super) to: u32,
}

impl Edge {
    fn absent(next: usize) -> Self {
        Self { next, from: 1, to: 0 }
    }

    /// Whether the object takes its place at all.
    pub(super) fn stays(self) -> bool {
        self.from <= self.to
    }
}

/// Edges that can follow a visit.
#[derive(Clone, Copy, Debug)]
pub(super) struct Edges {
    /// The object is held, where that is possible.
    pub(super) hold: Option<Edge>,
    /// It is dropped, unless it must be there.
    pub(super) drop: Option<Edge>,
}

impl Edges {
    /// Each edge, and whether the object is held on it.
    pub(super) fn all(self) -> impl Iterator<Item = (Edge, bool)> {
        let hold = self.hold.map(|edge| (edge, true));
        hold.into_iter().chain(self.drop.map(|edge| (edge, false)))
    }
}

/// The edges out of a node.
pub(super) fn edges(instance: &Instance, object: usize, index: usize, node: Branch) -> Edges {
    let visits = instance.visits(object);
    let visit = &visits[index];
    let (from, next) = match node {
        Branch::Hit => (visit.position + 1, index + 1),
        Branch::Miss => (visit.ready, visit.back as usize),
    };
    let holdable = visits.get(next).filter(|_| instance.fits(object));
    let forced = node == Branch::Miss && instance.forced(object, visit);
    let drop = if forced { Edge { next, from, to: from } } else { Edge::absent(next) };
    let must_hit = node == Branch::Miss && instance.hits_next(object, visit);
    Edges {
        hold: holdable.map(|visit| Edge { next, from, to: visit.position }),
        drop: (!must_hit).then_some(drop),
    }
}

/// The nodes of an object that can be reached from its first request, a miss: calls `reach` for each with its edges, in
/// the order of time.
pub(super) fn walk(instance: &Instance, object: usize, mut reach: impl FnMut(usize, Branch, Edges)) {
    let visits = instance.visits(object).len();
    // Every node before `visits`, hits first; the sink is beyond.
    let mut reached = vec![[false, false]; visits + 1];
    reached[0][1] = true;
    for index in 0..visits {
        for (side, node) in [(0, Branch::Hit), (1, Branch::Miss)] {
            if reached[index][side] {
                let edges = edges(instance, object, index, node);
                for (edge, held) in edges.all() {
                    reached[edge.next][usize::from(!held)] = true;
                }
                reach(index, node, edges);
            }
        }
    }
}
