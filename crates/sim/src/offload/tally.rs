//! Misses over time.

use super::timing::Timing;

/// How finely time is cut: windows of the hundredth part of a second.
pub const WINDOWS_PER_SECOND: u64 = 100;

/// Lookups and misses, all together after the warm-up, and window by window from the start.
#[derive(Clone, Debug)]
pub struct Tally {
    timing: Timing,
    warmup: u64,
    now: u64,
    window_end: u64,
    /// Misses of every window that has begun, the last of them perhaps unfinished. 8 B for each 10 ms.
    windows: Vec<u64>,
    misses: u64,
}

impl Tally {
    /// Nothing yet; what happens in the first `warmup` slots only goes into windows.
    pub fn new(timing: Timing, warmup: u64) -> Self {
        let mut tally = Self { timing, warmup, now: 0, window_end: 0, windows: Vec::new(), misses: 0 };
        tally.begin_window();
        tally
    }

    fn begin_window(&mut self) {
        self.windows.push(0);
        self.window_end = self.start_of(self.windows.len());
    }

    /// The first slot of a window; windows of less than a slot are as long as a slot.
    fn start_of(&self, window: usize) -> u64 {
        let window = window as u64;
        let start = u128::from(window) * u128::from(self.timing.rate) / u128::from(WINDOWS_PER_SECOND);
        u64::try_from(start).unwrap_or(u64::MAX).max(window)
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
        if self.now == self.window_end {
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

    /// First slot, lookups and misses of every `windows` windows taken together, the last ones perhaps fewer, from the start on.
    pub fn series(&self, windows: usize) -> impl Iterator<Item = Window> + '_ {
        let coarse = self.windows.chunks(windows.max(1)).enumerate();
        coarse.filter_map(move |(index, fine)| {
            let first = index * windows.max(1);
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
    /// How many of them missed.
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
}
