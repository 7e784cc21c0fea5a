//! Which object a session is for, and how the answer changes with time.

use rand::seq::SliceRandom;
use rand::{Rng, RngExt};
use rand_distr::{Distribution, Zipf};

use super::profile::{Catalogue, InvalidProfile, Objects, Profile, ensure_objects};

/// Source of the keys of new sessions and single requests. Keys are numbered in the order in which objects come into being; among those
/// that are there from the start, a key says nothing about popularity.
pub(super) enum Keys {
    /// Every session is for a new object: flows.
    Fresh {
        /// The next key.
        next: u64,
    },
    /// Sessions are for objects of a catalogue.
    Ranked(Ranking),
}

/// A catalogue in use: the objects by rank. 8 B per object.
pub(super) struct Ranking {
    by_rank: Vec<u64>,
    rank: Zipf<f64>,
    next_key: u64,
    births: Pacer,
    swaps: Pacer,
}

/// Turns a rate per request into whole events, evenly spaced.
struct Pacer {
    rate: f64,
    due: f64,
}

impl Pacer {
    fn new(rate: f64) -> Self {
        Self { rate, due: 0.0 }
    }

    fn tick(&mut self) -> bool {
        self.due += self.rate;
        let fires = self.due >= 1.0;
        if fires {
            self.due -= 1.0;
        }
        fires
    }
}

impl Keys {
    pub(super) fn new(profile: &Profile, requests: u64, rng: &mut impl Rng) -> Result<Self, InvalidProfile> {
        match &profile.catalogue {
            None => Ok(Keys::Fresh { next: 0 }),
            Some(catalogue) => Ranking::new(catalogue, requests, rng).map(Keys::Ranked),
        }
    }

    /// The object of a session that starts now.
    pub(super) fn draw(&mut self, rng: &mut impl Rng) -> u64 {
        match self {
            Keys::Fresh { next } => {
                let key = *next;
                *next += 1;
                key
            }
            Keys::Ranked(ranking) => ranking.draw(rng),
        }
    }

    /// Lets the popularities drift; to be called once per request.
    pub(super) fn drift(&mut self, rng: &mut impl Rng) {
        if let Keys::Ranked(ranking) = self {
            ranking.drift(rng);
        }
    }
}

impl Ranking {
    fn new(catalogue: &Catalogue, requests: u64, rng: &mut impl Rng) -> Result<Self, InvalidProfile> {
        let objects = match catalogue.objects {
            Objects::Count(count) => count,
            Objects::OnePer(requests_per_object) => requests.div_ceil(requests_per_object).max(1),
        };
        ensure_objects(objects)?;
        let rank = Zipf::new(objects as f64, catalogue.alpha).map_err(|_| InvalidProfile::OutOfRange {
            parameter: "alpha",
            expected: "0 to 16",
            found: catalogue.alpha,
        })?;
        let mut by_rank: Vec<u64> = (0..objects).collect();
        by_rank.shuffle(rng);
        let (births, swaps) = (Pacer::new(catalogue.births), Pacer::new(catalogue.swaps));
        Ok(Self { by_rank, rank, next_key: objects, births, swaps })
    }

    fn draw(&self, rng: &mut impl Rng) -> u64 {
        let rank = self.rank.sample(rng) as usize;
        self.by_rank[rank.clamp(1, self.by_rank.len()) - 1]
    }

    fn drift(&mut self, rng: &mut impl Rng) {
        if self.births.tick() {
            let place = rng.random_range(0..self.by_rank.len());
            self.by_rank[place] = self.next_key;
            self.next_key += 1;
        }
        if self.swaps.tick() {
            let first = rng.random_range(0..self.by_rank.len());
            let second = rng.random_range(0..self.by_rank.len());
            self.by_rank.swap(first, second);
        }
    }
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;
    use rand_xoshiro::Xoshiro256PlusPlus;

    use super::*;

    #[test]
    fn births_and_swaps_come_at_their_rates() {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
        let catalogue = Catalogue { objects: Objects::Count(50), alpha: 1.0, births: 0.25, swaps: 0.0 };
        let mut ranking = Ranking::new(&catalogue, 0, &mut rng).unwrap();
        for _ in 0..1_000 {
            ranking.drift(&mut rng);
        }
        assert_eq!(ranking.next_key, 50 + 250);
        // Fifty objects were replaced 250 times over: next to none of the first are left.
        assert!(ranking.by_rank.iter().filter(|&&key| key < 50).count() < 5);

        let catalogue = Catalogue { births: 0.0, swaps: 0.5, ..catalogue };
        let mut ranking = Ranking::new(&catalogue, 0, &mut rng).unwrap();
        let before = ranking.by_rank.clone();
        for _ in 0..1_000 {
            ranking.drift(&mut rng);
        }
        assert_ne!(ranking.by_rank, before);
        ranking.by_rank.sort_unstable();
        assert_eq!(ranking.by_rank, (0..50).collect::<Vec<u64>>());
    }

    #[test]
    fn the_catalogue_scales_with_the_trace() {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
        let catalogue = Catalogue { objects: Objects::OnePer(32), alpha: 1.0, births: 0.0, swaps: 0.0 };
        let size = |requests, rng: &mut Xoshiro256PlusPlus| {
            Ranking::new(&catalogue, requests, rng).unwrap().by_rank.len()
        };
        assert_eq!(size(0, &mut rng), 1);
        assert_eq!(size(320, &mut rng), 10);
        assert_eq!(size(321, &mut rng), 11);
    }
}
