//! How a rank compares with those that came lately, which AIFO and PACKS decide by.

use trueplane_pqueue::BadShape;
use trueplane_units::Rank;

/// The longest window: the products of [`Share::fits`] then stay within 64 bits.
const MOST_WINDOW: u64 = 1 << 20;

/// The ranks of the last arrivals, a ring.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Window {
    ranks: Box<[u64]>,
    /// Index of the place for the next rank.
    next: usize,
    /// Number of ranks in the ring; all, once it was full.
    filled: usize,
    /// 1000 × (1 − k), where k is the share of the buffer that everybody may use.
    strict_per_mille: u64,
}

/// Share of the last ranks that were smaller: a quantile as a fraction, and the headroom with which it is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Share {
    /// `smaller` × 1000 × (1 − k).
    smaller: u64,
    /// All of them × 1000.
    all: u64,
}

impl Window {
    /// The last `window` arrivals; `headroom_per_mille` is k × 1000.
    pub(super) fn new(window: usize, headroom_per_mille: u32) -> Result<Self, BadShape> {
        BadShape::check("a window in packets", window as u64, 1..=MOST_WINDOW)?;
        BadShape::check("a headroom per mille", headroom_per_mille.into(), 0..=999)?;
        let strict_per_mille = 1_000 - u64::from(headroom_per_mille);
        Ok(Self { ranks: vec![0; window].into(), next: 0, filled: 0, strict_per_mille })
    }

    /// The quantile of a rank among the arrivals that were noted.
    ///
    /// A linear count, without branches, so that it is done several ranks at a time.
    pub(super) fn share(&self, rank: Rank) -> Share {
        let smaller: u64 = self.ranks[..self.filled].iter().map(|&other| u64::from(other < rank.0)).sum();
        Share { smaller: smaller * self.strict_per_mille, all: 1_000 * self.filled as u64 }
    }

    /// Notes an arrival.
    pub(super) fn add(&mut self, rank: Rank) {
        self.ranks[self.next] = rank.0;
        self.next = if self.next + 1 == self.ranks.len() { 0 } else { self.next + 1 };
        self.filled = self.ranks.len().min(self.filled + 1);
    }

    /// The quantile of a rank that arrives now among the arrivals before it, of which it becomes one.
    pub(super) fn arrive(&mut self, rank: Rank) -> Share {
        let share = self.share(rank);
        self.add(rank);
        share
    }

    /// Whether no more than the headroom of the buffer is taken.
    pub(super) fn is_within_headroom(&self, waiting: usize, capacity: usize) -> bool {
        waiting as u64 * 1_000 <= (1_000 - self.strict_per_mille) * capacity as u64
    }
}

impl Share {
    /// Whether the quantile is at most 1/(1 − k) × `free`/`capacity`, exactly; both count packets, [`MOST_ITEMS`] at most.
    ///
    /// A rank is the smallest of all as long as nothing came before it.
    ///
    /// [`MOST_ITEMS`]: trueplane_pqueue::MOST_ITEMS
    #[inline]
    pub(super) fn fits(self, free: usize, capacity: usize) -> bool {
        self.smaller * capacity as u64 <= self.all * free as u64
    }

    /// The same, below and not at most.
    #[inline]
    pub(super) fn fits_strictly(self, free: usize, capacity: usize) -> bool {
        self.smaller * (capacity as u64) < self.all * free as u64
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_headroom_raises_what_fits() {
        // The median fits a quarter of the buffer, if half of the buffer is for everybody: 0.5 ≤ 1/(1 − 0.5) × 0.25.
        for (headroom, fits) in [(0, false), (499, false), (500, true), (999, true)] {
            let mut window = Window::new(4, headroom).unwrap();
            for rank in [9, 1, 2, 8, 9] {
                window.arrive(Rank(rank));
            }
            assert_eq!(window.arrive(Rank(5)).fits(1, 4), fits, "{headroom}");
        }
    }

    #[test]
    fn the_largest_window_and_buffer_stay_within_64_bits() {
        let most_items = trueplane_pqueue::MOST_ITEMS as usize;
        let share = Share { smaller: MOST_WINDOW * 1_000, all: MOST_WINDOW * 1_000 };
        assert!(share.fits(most_items, most_items) && !share.fits(most_items - 1, most_items));
    }

    #[test]
    fn windows_of_nothing_and_headrooms_of_everything_are_errors() {
        let message = |window, headroom| Window::new(window, headroom).unwrap_err().to_string();
        assert_eq!(message(0, 100), "expected a window in packets from 1 to 1048576, got 0");
        assert_eq!(message(20, 1_000), "expected a headroom per mille from 0 to 999, got 1000");
    }

    proptest! {
        #[test]
        fn the_quantile_is_of_the_last_arrivals(
            length in 1..9usize,
            ranks in prop::collection::vec(0..10u64, 1..40),
            (free, capacity) in (1..20usize).prop_flat_map(|capacity| (0..=capacity, Just(capacity))),
            headroom in 0..=999u32,
        ) {
            let mut window = Window::new(length, headroom).unwrap();
            for (index, &rank) in ranks.iter().enumerate() {
                let last = &ranks[index.saturating_sub(length)..index];
                let smaller = last.iter().filter(|&&other| other < rank).count();
                let [smaller, most] =
                    [smaller * capacity * (1_000 - headroom as usize), last.len() * free * 1_000];
                let share = window.arrive(Rank(rank));
                prop_assert_eq!(share.fits(free, capacity), smaller <= most);
                prop_assert_eq!(share.fits_strictly(free, capacity), smaller < most);
                let within = (capacity - free) * 1_000 <= capacity * headroom as usize;
                prop_assert_eq!(window.is_within_headroom(capacity - free, capacity), within);
            }
        }
    }
}
