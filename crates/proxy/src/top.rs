//! The URLs that are asked for most, and those whose requests wait most, in bounded memory.
//!
//! Source: J. Misra, D. Gries, *Finding Repeated Elements*, 1982, in the batched form of Apache DataSketches: when the table is full, the median of all
//! weights is taken from each, and those with nothing left are dropped. No URL is told with more than it has, and those with the most are always there.

use std::cell::Cell;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use hashbrown::HashMap;
use trueplane_units::Nanos;

/// URLs of a table, at most.
const MOST: usize = 2048;
/// Bytes of a URL that are kept.
const LONGEST: usize = 512;
/// Of so many hits one is counted, for all of them.
const SAMPLED: u32 = 16;
/// Time after which a new window begins.
const WINDOW: Nanos = Nanos(1800 * 1_000_000_000);

/// Weights by URL; about.
#[derive(Debug, Default)]
struct Sketch {
    weights: HashMap<Box<[u8]>, u64>,
    /// Weight that any URL may have beyond what is told, at most.
    lost: u64,
}

impl Sketch {
    fn add(&mut self, url: &[u8], weight: u64) {
        let url = &url[..url.len().min(LONGEST)];
        if let Some(known) = self.weights.get_mut(url) {
            *known = known.saturating_add(weight);
            return;
        }
        if self.weights.len() >= MOST {
            self.shrink();
        }
        self.weights.insert(url.into(), weight);
    }

    fn shrink(&mut self) {
        let mut weights: Vec<u64> = self.weights.values().copied().collect();
        let middle = weights.len() / 2;
        let median = *weights.select_nth_unstable(middle).1;
        self.lost = self.lost.saturating_add(median);
        self.weights.retain(|_, weight| {
            *weight = weight.saturating_sub(median);
            *weight > 0
        });
    }
}

/// The weights of one window.
#[derive(Debug, Default)]
struct Window {
    requests: Sketch,
    waits: Sketch,
}

#[derive(Debug, Default)]
struct State {
    now: Window,
    before: Window,
    /// When the window of now began.
    began: Option<Nanos>,
}

/// The URLs that matter most, over the last half hour to hour.
#[derive(Debug, Default)]
pub(crate) struct Top {
    state: Mutex<State>,
}

/// A URL, and about how much there is of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Most {
    pub(crate) url: String,
    pub(crate) weight: u64,
}

impl Top {
    /// A URL was asked for, and found. Most of the time that costs next to nothing.
    pub(crate) fn hit(&self, url: &[u8], now: Nanos) {
        static NEXT: AtomicU32 = AtomicU32::new(1);
        thread_local! {
            // Threads draw numbers of their own, as requests may come in a pattern.
            static STATE: Cell<u32> = Cell::new(NEXT.fetch_add(0x9e37_79b9, Ordering::Relaxed) | 1);
        }
        let drawn = STATE.with(|state| {
            // Marsaglia's xorshift.
            let mut number = state.get();
            number ^= number << 13;
            number ^= number >> 17;
            number ^= number << 5;
            state.set(number);
            number
        });
        if drawn.is_multiple_of(SAMPLED) {
            self.lock(now).now.requests.add(url, u64::from(SAMPLED));
        }
    }

    /// A URL was asked for, and the request waited so long.
    pub(crate) fn waited(&self, url: &[u8], wait: Nanos, now: Nanos) {
        let mut state = self.lock(now);
        state.now.requests.add(url, 1);
        state.now.waits.add(url, wait.0.max(1));
    }

    fn lock(&self, now: Nanos) -> MutexGuard<'_, State> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let began = *state.began.get_or_insert(now);
        if now.since(began) >= WINDOW {
            state.before = std::mem::take(&mut state.now);
            if now.since(began).0 >= 2 * WINDOW.0 {
                state.before = Window::default();
            }
            state.began = Some(now);
        }
        state
    }

    /// The URLs with the most requests, and those with the most waiting in ns.
    pub(crate) fn most(&self, count: usize, now: Nanos) -> (Vec<Most>, Vec<Most>) {
        let state = self.lock(now);
        let most = |of: fn(&Window) -> &Sketch| most_of(count, [of(&state.now), of(&state.before)]);
        (most(|window| &window.requests), most(|window| &window.waits))
    }
}

fn most_of(count: usize, sketches: [&Sketch; 2]) -> Vec<Most> {
    let mut sums: HashMap<&[u8], u64> = HashMap::new();
    for (url, weight) in sketches.iter().flat_map(|sketch| &sketch.weights) {
        let sum = sums.entry(url).or_default();
        *sum = sum.saturating_add(*weight);
    }
    let mut all: Vec<(&[u8], u64)> = sums.into_iter().collect();
    all.sort_unstable_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(b.0)));
    all.truncate(count);
    let text = |url: &[u8]| String::from_utf8_lossy(url).into_owned();
    all.into_iter().map(|(url, weight)| Most { url: text(url), weight }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_most_are_found_among_many() {
        let top = Top::default();
        for number in 0..100_000_u32 {
            // One of ten requests is for one of three URLs.
            let url =
                if number % 10 == 0 { format!("/often/{}", number / 10 % 3) } else { format!("/{number}") };
            top.waited(url.as_bytes(), Nanos(if number % 10 == 0 { 1 } else { 2 }), Nanos(1));
        }
        let (requests, waits) = top.most(3, Nanos(1));
        for most in [requests, waits] {
            let mut urls: Vec<&str> = most.iter().map(|most| most.url.as_str()).collect();
            urls.sort_unstable();
            assert_eq!(urls, ["/often/0", "/often/1", "/often/2"]);
            assert!(most.iter().all(|most| (2500..=3334).contains(&most.weight)), "{most:?}");
        }
        let state = top.state.lock().unwrap();
        assert!(state.now.waits.weights.len() <= MOST && state.now.waits.lost > 0);
    }

    #[test]
    fn hits_are_sampled_and_count_for_all() {
        let top = Top::default();
        (0..16_000).for_each(|_| top.hit(b"/", Nanos(1)));
        let (requests, waits) = top.most(10, Nanos(1));
        assert!((12_000..20_000).contains(&requests[0].weight), "{requests:?}");
        assert!(waits.is_empty());
    }

    #[test]
    fn windows_pass() {
        let top = Top::default();
        top.waited(b"/a", Nanos(5), Nanos(0));
        let at = |windows: u64| Nanos(WINDOW.0 * windows);
        top.waited(b"/a", Nanos(6), at(1));
        assert_eq!(top.most(1, at(1)).1[0].weight, 11);
        assert_eq!(top.most(1, at(2)).1[0].weight, 6);
        assert!(top.most(1, at(9)).1.is_empty());
    }

    #[test]
    fn long_urls_are_cut() {
        let top = Top::default();
        top.waited(&[b'x'; 10_000], Nanos(5), Nanos(0));
        assert_eq!(top.most(1, Nanos(0)).0[0].url.len(), LONGEST);
    }
}
