//! The live tree: all of a changing set of curves in order, while they move.
//!
//! Every element knows until when it comes before the one behind it (its *certificate*). While no certificate has expired the order
//! holds, and nothing is looked at however many elements there are; when some have, only the elements that have changed places with
//! a neighbour are put where they belong.
//!
//! **Why the order is right.** [`LiveTree::advance`] takes out both of every two neighbours whose certificate has expired and who
//! stand the wrong way round *at the new instant*, then looks at the two who are neighbours now, and so on until nobody is left who
//! does not come before the next. What is left is so in order, and those taken out are inserted one by one into an order that is right.
//! (Two who have only changed places with each other, as nearly always, do so without being taken out.)
//! Elements that have met several times since, or that three or more of met in between, need no thought. (Looking only at the pairs whose
//! certificates have expired would not do: let a < x < y < b, x and y change places and go far away, and a and b meet between them.
//! Neither a and x nor y and b have ever met.) Of every pair taken out one at least had to move, so that at most twice as many are put in
//! again as is necessary: O(k log n) for k of them, whatever the number of crossings.
//!
//! Source: Sadok 2018, §4.4.3, where the elements are in a red-black tree, and so are the events. Here those are two arrays: a B-tree of
//! two levels and a tree of minima. [`KineticTournament`](super::KineticTournament) stands on the same [`Curve`]s and knows only the
//! first.

mod alarms;
mod order;

use crate::curve::{Curve, Instant};
use alarms::Alarms;
use order::Order;

/// Keeps curves in order, each under a small integer chosen by the caller: the one that [beats](Curve::beats) all others first.
///
/// Time must not go backwards from call to call. First and last: O(1) while no certificate expires. Insertion, removal and change: O(log
/// n) comparisons, where certificates expire O(k log n) for k elements that must move. Memory: one curve, two instants and 12 bytes for
/// each number up to the largest, twice that at worst.
#[derive(Clone, Debug)]
pub struct LiveTree<C: Curve> {
    curves: Vec<Option<C>>,
    order: Order,
    /// Until when each comes before the next.
    certificates: Alarms<C::Instant>,
    len: usize,
    crossings: u64,
    /// Working memory: whom to look at, and who has to be put in again.
    suspects: Vec<u32>,
    loose: Vec<u32>,
}

impl<C: Curve> Default for LiveTree<C> {
    fn default() -> Self {
        Self {
            curves: Vec::new(),
            order: Order::default(),
            certificates: Alarms::default(),
            len: 0,
            crossings: 0,
            suspects: Vec::new(),
            loose: Vec::new(),
        }
    }
}

impl<C: Curve> LiveTree<C> {
    /// The number of elements.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The curve of `element`.
    pub fn curve(&self, element: u32) -> Option<&C> {
        self.curves.get(element as usize)?.as_ref()
    }

    /// Number of pairs of neighbours that were found the wrong way round, as time passed or all changed: the events of figure 4.11.
    pub fn crossings(&self) -> u64 {
        self.crossings
    }

    /// Puts `element` in, or gives it another curve if it is there.
    pub fn set(&mut self, element: u32, curve: C, now: C::Instant) {
        self.advance(now);
        if self.curves.len() <= element as usize {
            self.curves.resize_with(element as usize + 1, || None);
        }
        if self.curves[element as usize].replace(curve).is_none() {
            self.len += 1;
        } else {
            let (before, after) = self.order.neighbours(element);
            if before.is_none_or(|before| self.holds(before, element, now))
                && after.is_none_or(|after| self.holds(element, after, now))
            {
                self.certify_around(before, element, after, now);
                return;
            }
            self.order.remove(element);
            self.certify(before, after, now);
        }
        self.place(element, now);
    }

    /// Takes out `element`, if it is there.
    pub fn remove(&mut self, element: u32, now: C::Instant) -> Option<C> {
        self.curves.get(element as usize)?.as_ref()?;
        self.advance(now);
        let (before, after) = self.order.neighbours(element);
        self.order.remove(element);
        self.certificates.set(element, Instant::NEVER);
        self.certify(before, after, now);
        self.len -= 1;
        self.curves[element as usize].take()
    }

    /// Returns the first element at `now`.
    pub fn first(&mut self, now: C::Instant) -> Option<u32> {
        self.advance(now);
        self.order.first()
    }

    /// Returns the last element at `now`.
    pub fn last(&mut self, now: C::Instant) -> Option<u32> {
        self.advance(now);
        self.order.last()
    }

    /// Returns the element after `element` in the order at the time of the last call that had one; none if it is the last or not there.
    pub fn after(&self, element: u32) -> Option<u32> {
        if self.order.contains(element) { self.order.neighbours(element).1 } else { None }
    }

    /// All elements in the order at the time of the last call that had one.
    pub fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        self.order.iter()
    }

    /// Brings the order to `now`.
    pub fn advance(&mut self, now: C::Instant) {
        if self.certificates.earliest() > now {
            return;
        }
        self.certificates.due(now, &mut self.suspects);
        while let Some(element) = self.suspects.pop() {
            if !self.order.contains(element) {
                continue;
            }
            let (before, after) = self.order.neighbours(element);
            let Some(next) = after else {
                self.certificates.set(element, Instant::NEVER);
                continue;
            };
            if self.holds(element, next, now) {
                self.certify(Some(element), after, now);
                continue;
            }
            self.crossings += 1;
            let (_, beyond) = self.order.neighbours(next);
            if before.is_none_or(|before| self.holds(before, next, now))
                && beyond.is_none_or(|beyond| self.holds(element, beyond, now))
            {
                self.order.swap(element);
                self.certify_around(before, next, Some(element), now);
                self.certify(Some(element), beyond, now);
                continue;
            }
            for element in [element, next] {
                self.order.remove(element);
                self.certificates.set(element, Instant::NEVER);
                self.loose.push(element);
            }
            // Whoever was before them has another neighbour, with whom nothing is certified.
            self.suspects.extend(before);
        }
        while let Some(element) = self.loose.pop() {
            self.place(element, now);
        }
    }

    /// Changes all curves at once, as where their clock starts anew: `now` may be before the instants of earlier calls.
    pub fn change_all(&mut self, now: C::Instant, mut change: impl FnMut(u32, &mut C)) {
        for (element, curve) in (0..).zip(&mut self.curves) {
            if let Some(curve) = curve {
                change(element, curve);
            }
        }
        for element in self.order.iter() {
            self.certificates.set(element, now);
        }
        self.advance(now);
    }

    fn at(&self, element: u32) -> &C {
        self.curves[element as usize].as_ref().expect("who is in the order has a curve")
    }

    fn holds(&self, left: u32, right: u32, now: C::Instant) -> bool {
        self.at(left).beats(self.at(right), now)
    }

    /// Puts `element`, which is not in the order, into it.
    fn place(&mut self, element: u32, now: C::Instant) {
        let curves = &self.curves;
        if let Some(curve) = &curves[element as usize] {
            self.order.insert(element, |other| {
                curves[other as usize].as_ref().is_some_and(|other| other.beats(curve, now))
            });
        }
        let (before, after) = self.order.neighbours(element);
        self.certify_around(before, element, after, now);
    }

    fn certify_around(&mut self, before: Option<u32>, element: u32, after: Option<u32>, now: C::Instant) {
        self.certify(before, Some(element), now);
        self.certify(Some(element), after, now);
    }

    /// Until when `left` comes before its neighbour `right`.
    fn certify(&mut self, left: Option<u32>, right: Option<u32>, now: C::Instant) {
        let Some(left) = left else { return };
        let until = right.map_or(Instant::NEVER, |right| self.at(left).holds_until(self.at(right), now));
        debug_assert!(until > now, "a certificate is for some time");
        self.certificates.set(left, until);
    }
}

#[cfg(test)]
mod tests;
