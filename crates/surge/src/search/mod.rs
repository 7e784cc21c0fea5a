//! The worst attack that can be found without a formula: by trying.
//!
//! An attacker who knows nothing of the order of service, of the estimates or of the application can still send, look at what becomes
//! of the others, and send something a little different. So does this: a population of attacks, of which the best are varied, over sizes,
//! jobs, flows, bursts and mixtures. It finds what a formula has overlooked, and shows it as packets; it proves nothing where it
//! finds nothing.
//!
//! 1. [`pattern`]: an attack as a few numbers, and the packets that these stand for.
//! 2. [`Search`]: the trials.

pub mod pattern;

use rand::{RngExt as _, SeedableRng as _};
use rand_xoshiro::Xoshiro256PlusPlus;

pub use pattern::{Flows, Part, Pattern, Space};

use trueplane_study::{Error, Observer};

/// Most attacks in one generation, which are tried at the same time; where there are few trials, it is an eighth of them.
const GENERATION: usize = 16;

/// Number of the best attacks that are kept as parents.
const PARENTS: usize = 4;

/// Parameters of the search for attacks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Search {
    /// Number of attacks to try.
    pub trials: usize,
    /// Seed of all that is drawn.
    pub seed: u64,
}

/// The worst attack that was found.
#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    /// The attack.
    pub pattern: Pattern,
    /// Harm of the attack by its trial: the larger, the worse.
    pub harm: f64,
    /// Harm of the first attack that was tried: the first that was known.
    pub first: f64,
    /// Number of attacks that were tried.
    pub trials: usize,
}

impl Search {
    /// Tries attacks from `space`, those of `known` first, and returns the one with the largest harm: `harms` returns the harm of each
    /// attack of a generation.
    ///
    /// The same seed gives the same answer, whatever the number of threads: a generation is drawn before any of it is tried.
    ///
    /// # Errors
    ///
    /// What `harms` returns; if the observer interrupts; if there is nothing to try.
    pub fn worst<P>(
        &self,
        space: &Space<P>,
        known: &[Pattern],
        observer: &dyn Observer,
        harms: impl Fn(&[Pattern]) -> Result<Vec<f64>, Error>,
    ) -> Result<Found, Error> {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(self.seed);
        let mut parents: Vec<(f64, Pattern)> = Vec::new();
        let mut known = known.iter();
        let (mut tried, mut first) = (0, None);
        while tried < self.trials {
            let size = (self.trials / 8).clamp(1, GENERATION).min(self.trials - tried);
            let generation: Vec<Pattern> = (0..size)
                .map(|_| known.next().cloned().unwrap_or_else(|| self.propose(space, &parents, &mut random)))
                .collect();
            observer.go_on()?;
            let results = harms(&generation)?;
            first = first.or(results.first().copied());
            tried += size;
            observer.advance(size as u64);
            parents.extend(results.into_iter().zip(generation));
            // Stable: of equals, the one that was found first stays.
            parents.sort_by(|a, b| b.0.total_cmp(&a.0));
            parents.truncate(PARENTS);
        }
        let (harm, pattern) = parents
            .into_iter()
            .next()
            .ok_or_else(|| Error::Parameters("expected at least one attack to try, got 0".into()))?;
        Ok(Found { pattern, harm, first: first.unwrap_or(harm), trials: tried })
    }

    /// Something new, or something like what did harm: the first generation and a quarter of the others are new.
    fn propose<P>(
        &self,
        space: &Space<P>,
        parents: &[(f64, Pattern)],
        random: &mut Xoshiro256PlusPlus,
    ) -> Pattern {
        if parents.is_empty() || random.random_range(0..4) == 0 {
            return space.draw(random);
        }
        let (_, parent) = &parents[random.random_range(0..parents.len())];
        space.vary(parent, random)
    }
}
