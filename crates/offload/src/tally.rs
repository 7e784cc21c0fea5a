//! Misses over time.

use crate::timing::Timing;

/// Windows in a second at the finest.
pub const WINDOWS_PER_SECOND: u64 = 100;

/// No more windows than these, a little below three hours of the finest …
pub(super) const MOST_WINDOWS: usize = 1_000_000;
/// … then so many in a row become one.
const MERGED: usize = 10;

/// Lookups and misses, all together after the warm-up, and window by window from the start.
///
/// Window w, from 0, has the lookups from w hundredths of a second on; where there are fewer than a hundred lookups a
/// second many have none. After the first million windows every ten of them become one of ten times the width, and so
/// on. Memory: 8 B a window, so at most 8 MB, however long it lasts.
#[derive(Clone, Debug)]
pub struct Tally {
    timing: Timing,
    warmup: u64,
    now: u64,
    window_end: u64,
    /// Width of a window, in hundredths of a second: a power of ten.
    width: u64,
    /// Misses of every window that has begun, the last of them perhaps unfinished.
    windows: Vec<u64>,
    misses: u64,
}

impl Tally {
    /// Nothing yet; what happens in the first `warmup` slots only goes into windows.
    pub fn new(timing: Timing, warmup: u64) -> Self {
        let windows = Vec::new();
        let mut tally = Self { timing, warmup, now: 0, window_end: 0, width: 1, windows, misses: 0 };
        tally.begin_window();
        tally
    }

    /// Begins the window of the next lookup, after those that it leaves empty.
    fn begin_window(&mut self) {
        while self.window_end <= self.now {
            if self.windows.len() == MOST_WINDOWS {
                self.windows = self.windows.chunks(MERGED).map(|fine| fine.iter().sum()).collect();
                self.width *= MERGED as u64;
            }
            self.windows.push(0);
            self.window_end = self.start_of(self.windows.len());
        }
    }

    /// The first slot that is not before a window.
    fn start_of(&self, window: usize) -> u64 {
        let hundredths = window as u128 * u128::from(self.width);
        let start = (hundredths * u128::from(self.timing.rate)).div_ceil(u128::from(WINDOWS_PER_SECOND));
        u64::try_from(start).unwrap_or(u64::MAX)
    }

    /// Width of the windows, in hundredths of a second: one, or a power of ten if it has lasted long.
    pub fn window(&self) -> u64 {
        self.width
    }

    /// The slot of the next lookup.
    pub fn now(&self) -> u64 {
        self.now
    }

    /// Up to which slot lookups may be added at once: the end of the window or of the warm-up.
    pub fn until(&self) -> u64 {
        if self.now < self.warmup { self.window_end.min(self.warmup) } else { self.window_end }
    }

    /// Adds the next `slots` lookups, of which `misses` missed, that end by [`until`](Self::until).
    pub fn add(&mut self, slots: u64, misses: u64) {
        if let Some(window) = self.windows.last_mut() {
            *window += misses;
        }
        if self.now >= self.warmup {
            self.misses += misses;
        }
        self.now += slots;
        if self.now >= self.window_end {
            self.begin_window();
        }
    }

    /// Lookups after the warm-up.
    pub fn lookups(&self) -> u64 {
        self.now.saturating_sub(self.warmup)
    }

    /// Misses after the warm-up.
    pub fn misses(&self) -> u64 {
        self.misses
    }

    /// First slot, lookups and misses of windows of so many hundredths of a second, from the start on, the last one
    /// perhaps shorter; those without a lookup are left out. Nothing at all if no such windows can be made of those
    /// that there are: of no length, or not of a multiple of [`window`](Self::window).
    pub fn series(&self, hundredths: usize) -> impl Iterator<Item = Window> + '_ {
        let width = usize::try_from(self.width).unwrap_or(usize::MAX);
        let can_be_made = hundredths > 0 && hundredths.is_multiple_of(width);
        let together = if can_be_made { hundredths / width } else { 1 };
        let fine = if can_be_made { self.windows.as_slice() } else { &[] };
        fine.chunks(together).enumerate().filter_map(move |(index, fine)| {
            let first = index * together;
            let (start, end) = (self.start_of(first), self.start_of(first + fine.len()).min(self.now));
            (start < end).then(|| Window { start, lookups: end - start, misses: fine.iter().sum() })
        })
    }
}

/// A stretch of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// Its first slot.
    pub start: u64,
    /// Lookups, one a slot; at least one.
    pub lookups: u64,
    /// Lookups that missed.
    pub misses: u64,
}

impl Window {
    /// The share of lookups that missed.
    pub fn miss_ratio(&self) -> f64 {
        self.misses as f64 / self.lookups as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_and_warmup_cut_time() {
        let mut tally = Tally::new(Timing { rate: 1000 }, 15);
        let mut steps = Vec::new();
        while tally.now() < 47 {
            let slots = (tally.until() - tally.now()).min(47 - tally.now());
            tally.add(slots, slots / 2);
            steps.push(slots);
        }
        assert_eq!(steps, [10, 5, 5, 10, 10, 7]);
        assert_eq!((tally.lookups(), tally.misses()), (32, 2 + 5 + 5 + 3));
        let series: Vec<_> =
            tally.series(2).map(|window| (window.start, window.lookups, window.misses)).collect();
        assert_eq!(series, [(0, 20, 5 + 2 + 2), (20, 20, 10), (40, 7, 3)]);
        let all: u64 = tally.series(1).map(|window| window.lookups).sum();
        assert_eq!(all, 47);
    }

    /// A tally of so many lookups, every `nth` of which misses.
    fn steady(rate: u64, lookups: u64, nth: u64) -> Tally {
        let mut tally = Tally::new(Timing { rate }, 0);
        while tally.now() < lookups {
            let (now, until) = (tally.now(), tally.until().min(lookups));
            tally.add(until - now, until.div_ceil(nth) - now.div_ceil(nth));
        }
        tally
    }

    #[test]
    fn windows_begin_with_their_time_however_rare_lookups_are() {
        let starts = |tally: &Tally, hundredths| {
            tally.series(hundredths).map(|window| (window.start, window.lookups)).collect::<Vec<_>>()
        };
        // Three lookups a second, at 0, 333 ms, 667 ms and so on: each is alone in its 10 ms, three are in a second.
        let tally = steady(3, 8, 2);
        assert_eq!(starts(&tally, 1), (0..8).map(|slot| (slot, 1)).collect::<Vec<_>>());
        assert_eq!(starts(&tally, 100), [(0, 3), (3, 3), (6, 2)]);
        assert_eq!(starts(&tally, 40), [(0, 2), (2, 1), (3, 1), (4, 1), (5, 1), (6, 2)]);
        // 2.5 lookups in a window: at 0, 4 and 8 ms, at 12 and 16 ms.
        assert_eq!(starts(&steady(250, 10, 1), 1), [(0, 3), (3, 2), (5, 3), (8, 2)]);
    }

    #[test]
    fn windows_stay_as_many_as_fit_however_long_it_lasts() {
        // A lookup a second: the million windows are full after 10,000 s, and again after 100,000 s.
        for (lookups, width) in [(9_999, 1), (10_000, 10), (99_999, 10), (100_000, 100), (300_000, 100)] {
            let tally = steady(1, lookups, 4);
            assert!(tally.windows.len() <= MOST_WINDOWS);
            assert_eq!(tally.window(), width, "{lookups}");
            assert_eq!(tally.series(1).count() as u64, if width == 1 { lookups } else { 0 });
            let seconds: Vec<_> = tally.series(100).collect();
            assert_eq!(seconds.len() as u64, lookups);
            let expected =
                |slot: u64| Window { start: slot, lookups: 1, misses: slot.is_multiple_of(4).into() };
            assert!((0..).zip(&seconds).all(|(slot, &window)| window == expected(slot)), "{lookups}");
            assert_eq!(tally.misses(), lookups.div_ceil(4));
        }
    }
}
