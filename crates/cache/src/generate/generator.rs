//! The event loop: sessions in progress, merged with the arrivals of new ones.

use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;

use rand::{Rng, RngExt, SeedableRng};
use rand_distr::{Distribution, Exp1, Poisson, StandardNormal};
use rand_xoshiro::{SplitMix64, Xoshiro256PlusPlus};
use trueplane_trace::Request;
use trueplane_units::Nanos;

use super::catalogue::Keys;
use super::profile::{InvalidProfile, Profile, Sessions, Sizes};

/// A synthetic trace: exactly so many requests, in time order, the same for the same profile and seed.
///
/// Memory: 8 B per object of the catalogue and 32 B per session in progress, however long the trace is.
/// Cost per request: O(log sessions in progress).
pub struct Generator {
    rng: Xoshiro256PlusPlus,
    left: u64,
    keys: Keys,
    sizes: SizeOf,
    sessions: Option<Sessions>,
    /// Time at which the next session or single request begins, and the mean time between two of them in ns.
    next_arrival: u64,
    mean_arrival: f64,
    /// The chance that what begins is a session.
    session_chance: f64,
    /// Sessions that have requests to come, the earliest on top.
    in_progress: BinaryHeap<Session>,
}

/// A session that has at least one request to come.
struct Session {
    /// Time of the session's next request.
    next: u64,
    key: u64,
    size: u64,
    /// Requests to come.
    left: u32,
}

impl Generator {
    /// A trace of `requests` requests that follows `profile`.
    ///
    /// # Errors
    ///
    /// When a parameter of the profile is outside its range, or its sessions would not fit in memory.
    pub fn new(profile: &Profile, requests: u64, seed: u64) -> Result<Self, InvalidProfile> {
        profile.check()?;
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
        let keys = Keys::new(profile, requests, &mut rng)?;

        let share = profile.sessions.as_ref().map_or(0.0, |sessions| sessions.share);
        let length = profile.sessions.as_ref().map_or(1.0, |sessions| sessions.length.mean());
        // Per request of the trace: how many sessions begin, and how many single requests.
        let (session_rate, single_rate) = (share / length, 1.0 - share);
        let mean_arrival = profile.irt.0 as f64 / (session_rate + single_rate);

        let mut generator = Self {
            left: requests,
            keys,
            sizes: SizeOf { sizes: profile.sizes, seed },
            sessions: profile.sessions.clone(),
            next_arrival: exponential(mean_arrival, &mut rng),
            mean_arrival,
            session_chance: session_rate / (session_rate + single_rate),
            in_progress: BinaryHeap::new(),
            rng,
        };
        generator.enter_steady_state(profile.irt);
        Ok(generator)
    }

    /// Adds the sessions that began before time 0 and still go on, as many and as far advanced as at any other time.
    fn enter_steady_state(&mut self, irt: Nanos) {
        let Some(sessions) = &self.sessions else { return };
        // No count follows from a mean of zero; then there is nothing to add.
        let Ok(count) = Poisson::new(sessions.in_progress(irt)) else { return };
        let count = count.sample(&mut self.rng) as usize;
        // The gap that time 0 falls into is a pause more often than others are: the longer, the likelier.
        let pause_chance = sessions.pause_chance() * sessions.pause.0 as f64 / sessions.mean_gap();
        let mut under_way = Vec::with_capacity(count);
        for _ in 0..count {
            let key = self.keys.draw(&mut self.rng);
            let left = sessions.length.draw_remaining(&mut self.rng);
            // What remains of an exponential time is distributed like the whole.
            let mean = if self.rng.random_bool(pause_chance) { sessions.pause } else { sessions.gap };
            let next = exponential(mean.0 as f64, &mut self.rng);
            under_way.push(Session { next, key, size: self.sizes.of(key), left });
        }
        self.in_progress = BinaryHeap::from(under_way);
    }

    /// The next request of the session that is due first. Ends the session with its last request.
    fn continue_session(&mut self) -> Option<Request> {
        let sessions = self.sessions.as_ref()?;
        let mut session = self.in_progress.peek_mut()?;
        let request = self.sizes.request(Nanos(session.next), session.key, session.size, &mut self.rng);
        session.left -= 1;
        if session.left == 0 {
            PeekMut::pop(session);
        } else {
            session.next = session.next.saturating_add(sessions.draw_gap(&mut self.rng));
        }
        Some(request)
    }

    /// The first request of a session, or a single request.
    fn arrive(&mut self) -> Request {
        let now = self.next_arrival;
        self.next_arrival = now.saturating_add(exponential(self.mean_arrival, &mut self.rng));
        let key = self.keys.draw(&mut self.rng);
        let size = self.sizes.of(key);
        if let Some(sessions) = &self.sessions
            && self.rng.random_bool(self.session_chance)
        {
            let left = sessions.length.draw(&mut self.rng) - 1;
            if left > 0 {
                let next = now.saturating_add(sessions.draw_gap(&mut self.rng));
                self.in_progress.push(Session { next, key, size, left });
            }
        }
        self.sizes.request(Nanos(now), key, size, &mut self.rng)
    }
}

impl Iterator for Generator {
    type Item = Request;

    fn next(&mut self) -> Option<Request> {
        self.left = self.left.checked_sub(1)?;
        self.keys.drift(&mut self.rng);
        let session_is_due = self.in_progress.peek().is_some_and(|session| session.next <= self.next_arrival);
        let continued = if session_is_due { self.continue_session() } else { None };
        Some(continued.unwrap_or_else(|| self.arrive()))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = usize::try_from(self.left);
        (left.unwrap_or(usize::MAX), left.ok())
    }
}

impl Sessions {
    /// The time to the next request of a session, in ns.
    fn draw_gap(&self, rng: &mut impl Rng) -> u64 {
        let mean = if rng.random_bool(self.pause_chance()) { self.pause } else { self.gap };
        exponential(mean.0 as f64, rng)
    }
}

/// An exponential time with this mean, to the nearest ns.
fn exponential(mean: f64, rng: &mut impl Rng) -> u64 {
    let unit: f64 = Exp1.sample(rng);
    (unit * mean).round() as u64
}

/// The sizes of objects, found again from their keys instead of being kept.
struct SizeOf {
    sizes: Sizes,
    seed: u64,
}

impl SizeOf {
    /// The size of the object `key`; 0 where it is the requests that have sizes.
    fn of(&self, key: u64) -> u64 {
        let Sizes::LogNormal { median, sigma, most, unit } = self.sizes else { return 0 };
        // One generator per object, a multiplication apart so that neighbouring seeds do not share their objects.
        let mut rng = SplitMix64::seed_from_u64(self.seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ key);
        let normal: f64 = StandardNormal.sample(&mut rng);
        let bytes = median.0 as f64 * (sigma * normal).exp();
        let units = ((bytes / unit.0 as f64).ceil() as u64).clamp(1, most.0 / unit.0);
        units * unit.0
    }

    fn request(&self, time: Nanos, key: u64, object: u64, rng: &mut impl Rng) -> Request {
        let size = match self.sizes {
            Sizes::LogNormal { .. } => object,
            Sizes::Packets => match rng.random_range(0..10) {
                0..4 => 64,
                4..8 => 1514,
                _ => rng.random_range(64..=1514),
            },
        };
        Request { time, key, size, fetch: Nanos(0) }
    }
}

/// Sessions compare by when they are due, the earliest the greatest, as [`BinaryHeap`] wants it.
impl Ord for Session {
    fn cmp(&self, other: &Self) -> Ordering {
        other.next.cmp(&self.next)
    }
}

impl PartialOrd for Session {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Session {
    fn eq(&self, other: &Self) -> bool {
        self.next == other.next
    }
}

impl Eq for Session {}

#[cfg(test)]
mod tests;
