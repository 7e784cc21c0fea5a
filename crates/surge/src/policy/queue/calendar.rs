//! Ranks that grow without end, such as virtual clocks and rounds.

use std::marker::PhantomData;

use trueplane_pqueue::{BadShape, Partitioned};

use super::RankQueue;

/// The usual length of a tick as a power of two: about a microsecond, if ranks are nanoseconds.
pub const TICK: u32 = 10;

/// Wheels, each with places that are `1 << STEP` times as long as those of the one before.
const WHEELS: u32 = 8;
/// Half a wheel has `1 << HALF` places.
const HALF: u32 = 14;
const STEP: u32 = 6;
/// Number of ticks that the wheels together span.
const REACH: u64 = 1 << (HALF + STEP * (WHEELS - 1));
/// The last tick there is, 146 years from the first if it is a nanosecond: so far nothing overflows.
const LAST_TICK: u64 = 1 << 62;

/// A queue by ranks that grow: a hierarchical timing wheel with a bit for every place, and so with both ends.
///
/// A tick is 2^`TICK` units of rank; ranks of one tick are served in the order in which they came.
///
/// No rank that comes in is below a *floor*, which follows what is served (see `bound` in [`RankQueue::extract_min`]); one that is,
/// counts as the floor. The first wheel has a place for every tick for the next 2^14 ticks from the floor on, or more; the next one
/// for every 2^6 ticks, and reaches 2^6 times as far, and so on. What is too far ahead for a wheel waits in the next, and moves down
/// when the floor comes near enough. So an item moves at most seven times, however far ahead it was, and **is served in the order of
/// its tick, once the floor has come within 2^14 ticks**. If the floor cannot come that near, because everything that waits is
/// far ahead of `bound`, then what is d ticks ahead is served in its order within max(1, d / 2^8) ticks. The worst item is that of
/// the last place, and so largest within the same bound. Ranks more than 2^56 ticks ahead of the floor count as just so far ahead.
///
/// Cost: O(1) amortised; nothing is allocated after construction. Source: Varghese, Lauck, *Hashed and Hierarchical Timing Wheels*,
/// SOSP 1987, scheme 7, over the find-first-set queues of Atre 2025 §4.4.
///
/// Why not a [`RollingWindow`](trueplane_pqueue::RollingWindow), which is one wheel: there a single rank that is far ahead takes the
/// window along when nothing else waits, and all that comes while it waits is served first come, first served. That is for an
/// attacker to send: one job that takes long, in a flow of its own.
#[derive(Clone, Debug)]
pub struct Calendar<I, const TICK: u32 = { self::TICK }> {
    /// No item is at an earlier tick.
    floor: u64,
    /// Two halves of every wheel, used in turn; an item comes with its tick.
    wheels: Partitioned<(u64, I)>,
}

impl<I, const TICK: u32> Calendar<I, TICK> {
    /// Current position: every item, present or still to come, has a rank from here on, or in the same tick.
    pub fn floor(&self) -> u64 {
        self.floor << TICK
    }

    /// The number of the half of `wheel` that has `tick`, since tick 0.
    #[inline]
    fn half(wheel: u32, tick: u64) -> u64 {
        tick >> (STEP * wheel + HALF)
    }

    /// The queue of a half.
    #[inline]
    fn queue(wheel: u32, half: u64) -> usize {
        (2 * u64::from(wheel) + half % 2) as usize
    }

    /// The half of a wheel that is the first with anything in it.
    #[inline]
    fn first_half(&self, wheel: u32) -> Option<u64> {
        let half = Self::half(wheel, self.floor);
        [half, half + 1].into_iter().find(|&half| self.wheels.len_of(Self::queue(wheel, half)) > 0)
    }

    /// The first place of a wheel with anything in it: its queue, and its first tick.
    #[inline]
    fn first_place(&self, wheel: u32) -> Option<(usize, u64)> {
        let half = self.first_half(wheel)?;
        let queue = Self::queue(wheel, half);
        let (place, _) = self.wheels.peek_min(queue)?;
        Some((queue, (half << HALF | place) << (STEP * wheel)))
    }

    /// The queue that has the last item.
    fn last_queue(&self) -> Option<usize> {
        let halves = (0..WHEELS).rev().flat_map(|wheel| {
            let half = Self::half(wheel, self.floor);
            [Self::queue(wheel, half + 1), Self::queue(wheel, half)]
        });
        halves.into_iter().find(|&queue| self.wheels.len_of(queue) > 0)
    }

    /// Adds an item that has its tick.
    #[inline]
    fn put(&mut self, tick: u64, item: I) -> Result<(), I> {
        let tick = tick.clamp(self.floor, self.floor + REACH);
        let mut wheel = 0;
        while Self::half(wheel, tick) - Self::half(wheel, self.floor) > 1 {
            wheel += 1;
        }
        let place = (tick >> (STEP * wheel)) & ((1 << HALF) - 1);
        let inserted = self.wheels.insert(Self::queue(wheel, Self::half(wheel, tick)), place, (tick, item));
        inserted.map(|_| ()).map_err(|refused| refused.into_item().1)
    }

    /// Moves the floor up to `floor`, and what is now near enough down to the wheels that it belongs to.
    #[inline]
    fn advance(&mut self, floor: u64) {
        let before = std::mem::replace(&mut self.floor, floor);
        if Self::half(0, before) != Self::half(0, floor) {
            self.cascade();
        }
    }

    fn cascade(&mut self) {
        for wheel in 1..WHEELS {
            // The wheel before ends here; a place of this one is wholly before it or not at all.
            let end = (Self::half(wheel - 1, self.floor) + 2) << (STEP * (wheel - 1) + HALF);
            while let Some((queue, start)) = self.first_place(wheel) {
                let Some((_, (tick, item))) = (start < end).then(|| self.wheels.extract_min(queue)).flatten()
                else {
                    break;
                };
                let put = self.put(tick, item);
                assert!(put.is_ok(), "there is the room that it has just left");
            }
        }
    }
}

impl<I, const TICK: u32> RankQueue<I> for Calendar<I, TICK> {
    type Rank = u64;
    type Shape = PhantomData<()>;
    /// An item that moves down loses its name; so it has none.
    type Name = ();
    const RERANKS: bool = false;

    fn new(_shape: PhantomData<()>, capacity: usize) -> Result<Self, BadShape> {
        const { assert!(TICK <= 32, "longer ticks have no use") };
        Ok(Self { floor: 0, wheels: Partitioned::new(2 * WHEELS as usize, 1 << HALF, capacity)? })
    }

    fn capacity(&self) -> usize {
        self.wheels.capacity()
    }

    fn len(&self) -> usize {
        self.wheels.len()
    }

    #[inline]
    fn insert(&mut self, rank: u64, item: I) -> Result<(), I> {
        self.put((rank >> TICK).min(LAST_TICK), item)
    }

    #[inline]
    fn extract_min(&mut self, bound: u64) -> Option<I> {
        let bound = (bound >> TICK).min(LAST_TICK);
        loop {
            let (wheel, (queue, start)) =
                (0..WHEELS).find_map(|wheel| Some((wheel, self.first_place(wheel)?)))?;
            let floor = start.min(bound).max(self.floor);
            if wheel == 0 || floor == self.floor {
                let (_, (_, item)) = self.wheels.extract_min(queue)?;
                self.advance(floor);
                return Some(item);
            }
            // It may not be the first of its place: look again when that has moved down.
            self.advance(floor);
        }
    }

    fn peek_max(&self) -> Option<&I> {
        let (_, (_, item)) = self.wheels.peek_max(self.last_queue()?)?;
        Some(item)
    }

    fn extract_max(&mut self) -> Option<I> {
        let (_, (_, item)) = self.wheels.extract_max(self.last_queue()?)?;
        Some(item)
    }

    fn rerank(&mut self, (): (), _from: u64, _to: u64) -> Option<()> {
        None
    }

    fn bytes_per_item() -> usize {
        // An item with its tick and the link behind it, its tag, and a free place.
        size_of::<(Option<(u64, I)>, u32)>() + 16 + 4
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[derive(Clone, Copy, Debug)]
    enum Step {
        /// Inserts a rank this far above the least rank that may come.
        Insert(u64),
        Extract,
        ExtractMax,
        /// Lets this much time pass.
        Wait(u64),
    }

    fn step() -> impl Strategy<Value = Step> {
        // Distances of all lengths up to the reach.
        let distance = (any::<u64>(), 8..64u32).prop_map(|(distance, shift)| distance >> shift);
        prop_oneof![
            4 => distance.clone().prop_map(Step::Insert),
            1 => (0..3u64).prop_map(Step::Insert),
            3 => Just(Step::Extract),
            1 => Just(Step::ExtractMax),
            1 => distance.prop_map(Step::Wait),
        ]
    }

    /// Ranks that come in are at least `floor`; with `bounded`, so far below what is served as time has not come so far.
    fn follow<const TICK: u32>(bounded: bool, steps: &[Step]) {
        let mut calendar = Calendar::<_, TICK>::new(PhantomData, steps.len()).unwrap();
        let (mut naive, mut floor, mut now) = (Vec::<(u64, usize)>::new(), 0u64, 0u64);
        for (number, &step) in steps.iter().enumerate() {
            match step {
                Step::Insert(distance) => {
                    let rank = (floor + distance).min(u64::MAX >> 2);
                    calendar.insert(rank, number).unwrap();
                    naive.push((rank >> TICK, number));
                }
                Step::Extract => {
                    let bound = if bounded { now } else { u64::MAX };
                    let taken = calendar.extract_min(bound);
                    assert_eq!(taken.is_some(), !naive.is_empty());
                    let (Some(taken), Some(&least)) = (taken, naive.iter().min()) else { continue };
                    let place =
                        naive.iter().position(|&(_, item)| item == taken).expect("it came and did not leave");
                    let (found, _) = naive.remove(place);
                    // In ticks; `least` is the oldest of the least.
                    let ahead = least.0 - calendar.floor.min(least.0);
                    if bounded && ahead >= 1 << HALF {
                        assert!(found - least.0 <= ahead >> 8, "{found} {least:?} {ahead}");
                    } else {
                        assert_eq!((found, taken), least);
                    }
                    floor = floor.max((found << TICK).min(bound));
                }
                Step::ExtractMax => {
                    let peeked = calendar.peek_max().copied();
                    let taken = calendar.extract_max();
                    assert_eq!((taken, taken.is_some()), (peeked, !naive.is_empty()));
                    let (Some(taken), Some(&most)) = (taken, naive.iter().max_by_key(|(rank, _)| rank))
                    else {
                        continue;
                    };
                    let place =
                        naive.iter().position(|&(_, item)| item == taken).expect("it came and did not leave");
                    let (found, _) = naive.remove(place);
                    assert!(most.0 - found <= (most.0 - calendar.floor) >> 8);
                }
                Step::Wait(time) => {
                    now = (now + time).min(u64::MAX >> 2);
                }
            }
            assert_eq!(calendar.len(), naive.len());
        }
    }

    proptest! {
        #[test]
        fn ranks_that_grow_are_served_in_the_order_of_their_ticks(
            steps in prop::collection::vec(step(), 1..300),
        ) {
            follow::<0>(false, &steps);
            follow::<3>(false, &steps);
            follow::<11>(false, &steps);
        }

        #[test]
        fn what_is_far_ahead_is_served_in_about_its_order(steps in prop::collection::vec(step(), 1..300)) {
            follow::<0>(true, &steps);
            follow::<3>(true, &steps);
            follow::<11>(true, &steps);
        }
    }

    #[test]
    fn one_rank_that_is_far_ahead_leaves_the_others_in_order() {
        let mut calendar = Calendar::<_, 0>::new(PhantomData, 100).unwrap();
        calendar.insert(1 << 40, 'z').unwrap();
        calendar.insert(1 << 40, 'y').unwrap();
        // Nothing else is there: it is served, but its rank is not where the calendar is.
        assert_eq!(calendar.extract_min(1_000), Some('z'));
        for (rank, item) in [(1_500, 'c'), (1_200, 'b'), (1_100, 'a')] {
            calendar.insert(rank, item).unwrap();
        }
        let order: String = std::iter::from_fn(|| calendar.extract_min(1_000)).collect();
        assert_eq!(order, "abcy");
        assert!(Calendar::<u8>::new(PhantomData, 0).is_err());
    }
}
