//! A kinetic tournament: the top of an upper envelope of curves that move with time.
//!
//! A heap keeps an order that holds until somebody changes a key. Here every key changes by itself: an object's rank
//! falls the longer it is not used, each at its own speed. A kinetic structure stores with every comparison the
//! instant until which its outcome holds (its *certificate*) and repeats only those that have expired.
//!
//! This one is a complete binary tree over array positions: each node remembers which curve below it is on top and
//! the earliest certificate below it. Where any two curves cross at most once, as straight lines do, a curve costs
//! O(log n) to change and the expired certificates O(log² n) amortised; in practice a handful of comparisons.
//!
//! Source: J. Basch, L. Guibas, J. Hershberger, *Data structures for mobile data*, SODA 1997.

use crate::curve::{Curve, Instant};

const NOBODY: u32 = u32::MAX;

#[derive(Clone, Copy, Debug)]
struct Node<I> {
    /// The leaf on top of everything below.
    winner: u32,
    /// Instant at which the comparison at this node must be repeated.
    certificate: I,
    /// The earliest certificate at or below this node.
    earliest: I,
}

/// Finds the curve on top among a changing set of them, each under a small integer chosen by the caller.
///
/// Time must not go backwards from call to call. Memory: 24 B and one curve per position, twice that while positions
/// are not a power of two.
#[derive(Clone, Debug)]
pub struct KineticTournament<C: Curve> {
    curves: Vec<Option<C>>,
    /// Node 1 is the root, node n's children are 2n and 2n + 1, and the leaves' parents come last.
    nodes: Vec<Node<C::Instant>>,
    len: usize,
}

impl<C: Curve> Default for KineticTournament<C> {
    fn default() -> Self {
        Self { curves: Vec::new(), nodes: Vec::new(), len: 0 }
    }
}

impl<C: Curve> KineticTournament<C> {
    /// The number of curves.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are no curves.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The curve at `position`.
    pub fn curve(&self, position: u32) -> Option<&C> {
        self.curves.get(position as usize)?.as_ref()
    }

    /// Puts `curve` at `position`, in the place of the one there.
    pub fn set(&mut self, position: u32, curve: C, now: C::Instant) {
        if position as usize >= self.curves.len() {
            self.widen(position as usize + 1, now);
        }
        self.len += usize::from(self.curves[position as usize].replace(curve).is_none());
        self.replay(position, now);
    }

    /// Takes out the curve at `position`, if there is one.
    pub fn remove(&mut self, position: u32, now: C::Instant) -> Option<C> {
        let curve = self.curves.get_mut(position as usize)?.take()?;
        self.len -= 1;
        self.replay(position, now);
        Some(curve)
    }

    /// Positions are below this.
    pub fn positions(&self) -> u32 {
        self.curves.len() as u32
    }

    /// Changes all curves at once, as where their clock starts anew: `now` may be before the instants of earlier calls. O(n).
    pub fn change_all(&mut self, now: C::Instant, mut change: impl FnMut(u32, &mut C)) {
        for (position, curve) in (0..).zip(&mut self.curves) {
            if let Some(curve) = curve {
                change(position, curve);
            }
        }
        for node in (1..self.nodes.len()).rev() {
            self.decide(node, now);
        }
    }

    /// The position of the curve that beats all others at `now`.
    pub fn top(&mut self, now: C::Instant) -> Option<u32> {
        if self.nodes.is_empty() {
            return None;
        }
        self.refresh(1, now);
        let winner = self.nodes[1].winner;
        (winner != NOBODY).then_some(winner)
    }

    /// The winner below the child `child` of some node, and the earliest certificate there.
    fn below(&self, child: usize) -> (u32, C::Instant) {
        if child < self.nodes.len() {
            return (self.nodes[child].winner, self.nodes[child].earliest);
        }
        let leaf = child - self.nodes.len();
        (if self.curves[leaf].is_some() { leaf as u32 } else { NOBODY }, Instant::NEVER)
    }

    /// Returns the winner of two leaves, and the instant until which it wins.
    fn play(&self, left: u32, right: u32, now: C::Instant) -> (u32, C::Instant) {
        let (Some(a), Some(b)) = (self.curve(left), self.curve(right)) else {
            return (if left == NOBODY { right } else { left }, Instant::NEVER);
        };
        if a.beats(b, now) { (left, a.holds_until(b, now)) } else { (right, b.holds_until(a, now)) }
    }

    /// Repeats the comparison at `node` from what its children say.
    fn decide(&mut self, node: usize, now: C::Instant) {
        let (left, left_earliest) = self.below(2 * node);
        let (right, right_earliest) = self.below(2 * node + 1);
        let (winner, certificate) = self.play(left, right, now);
        let earliest = certificate.min(left_earliest).min(right_earliest);
        self.nodes[node] = Node { winner, certificate, earliest };
    }

    /// Repeats the comparisons that a new curve at `position` may change: those that it won or wins now.
    fn replay(&mut self, position: u32, now: C::Instant) {
        let mut node = (self.nodes.len() + position as usize) / 2;
        let mut concerned = true;
        while node > 0 {
            let before = self.nodes[node];
            if concerned {
                self.decide(node, now);
                concerned = before.winner == position || self.nodes[node].winner != before.winner;
            } else {
                let earliest = self.below(2 * node).1.min(self.below(2 * node + 1).1).min(before.certificate);
                self.nodes[node].earliest = earliest;
                if earliest == before.earliest {
                    return;
                }
            }
            node /= 2;
        }
    }

    /// Repeats every comparison below `node` whose certificate has expired by `now`.
    fn refresh(&mut self, node: usize, now: C::Instant) {
        if node >= self.nodes.len() || self.nodes[node].earliest > now {
            return;
        }
        self.refresh(2 * node, now);
        self.refresh(2 * node + 1, now);
        self.decide(node, now);
    }

    /// Makes room for `positions` curves.
    fn widen(&mut self, positions: usize, now: C::Instant) {
        let leaves = positions.next_power_of_two().max(2);
        self.curves.resize_with(leaves, || None);
        self.nodes =
            vec![Node { winner: NOBODY, certificate: Instant::NEVER, earliest: Instant::NEVER }; leaves];
        for node in (1..leaves).rev() {
            self.decide(node, now);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::curve::tests::Line;

    #[test]
    fn the_top_changes_as_lines_cross() {
        let mut tournament = KineticTournament::default();
        tournament.set(0, Line { slope: 1, offset: 10, name: 0 }, 0);
        tournament.set(4, Line { slope: 3, offset: 0, name: 4 }, 0);
        assert_eq!(tournament.top(4), Some(0)); // 14 against 12
        assert_eq!(tournament.top(5), Some(0)); // 15 against 15: the lower position
        assert_eq!(tournament.top(6), Some(4)); // 16 against 18
        tournament.remove(4, 6);
        assert_eq!((tournament.top(6), tournament.len()), (Some(0), 1));
        tournament.remove(0, 6);
        assert_eq!(tournament.top(7), None);
        assert_eq!(KineticTournament::<Line>::default().top(0), None);
    }

    #[derive(Clone, Debug)]
    enum Step {
        Set(u32, i64, i64),
        Remove(u32),
        Wait(u64),
    }

    fn step() -> impl Strategy<Value = Step> {
        prop_oneof![
            4 => (0..40u32, -9..9i64, -200..200i64).prop_map(|(name, slope, offset)| Step::Set(name, slope, offset)),
            1 => (0..40u32).prop_map(Step::Remove),
            3 => (0..12u64).prop_map(Step::Wait),
        ]
    }

    proptest! {
        #[test]
        fn the_top_is_the_naive_maximum_at_every_instant(steps in prop::collection::vec(step(), 1..200)) {
            let mut tournament = KineticTournament::default();
            let mut naive: Vec<Line> = Vec::new();
            let mut now = 0;
            for step in steps {
                match step {
                    Step::Set(name, slope, offset) => {
                        let line = Line { slope, offset, name };
                        naive.retain(|old| old.name != name);
                        naive.push(line);
                        tournament.set(name, line, now);
                    }
                    Step::Remove(name) => {
                        let expected = naive.iter().position(|old| old.name == name).map(|i| naive.swap_remove(i));
                        prop_assert_eq!(tournament.remove(name, now), expected);
                    }
                    Step::Wait(span) => now += span,
                }
                let expected = naive.iter().max_by_key(|line| line.at(now)).map(|line| line.name);
                prop_assert_eq!(tournament.top(now), expected);
                prop_assert_eq!(tournament.len(), naive.len());
            }
        }
    }
}
