//! A search for the payload that costs most per bit.

use rand::seq::IndexedRandom;
use rand::{Rng, RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use rayon::prelude::*;
use trueplane_study::{Error, Observer};
use trueplane_units::Nanos;

use super::exceeds;
use super::frame::Frame;
use super::recipe::Recipe;
use crate::matching::costs::Costs;
use crate::matching::engine::Counting;
use crate::matching::matcher::{Matcher, Scratch};
use crate::matching::rules::Rule;
use crate::matching::rules::Rules;

/// Changes that lead to nothing better, one after the other, before the search begins anew.
const PATIENCE: u32 = 24;

/// Parameters of the search for payloads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Search {
    /// Payloads that are tried for each rule; above zero.
    pub tries: u32,
    /// Seed of all that is drawn.
    pub seed: u64,
    /// Frame around a payload.
    pub frame: Frame,
}

impl Default for Search {
    /// 400 payloads a rule, in TCP packets on Ethernet.
    fn default() -> Self {
        Self { tries: 400, seed: 1, frame: Frame::default() }
    }
}

/// The worst payload that was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Worst {
    /// Its bytes.
    pub payload: Vec<u8>,
    /// Its size on the wire in bits.
    pub bits: u32,
    /// Steps that its trials take.
    pub steps: u64,
    /// Time that serving it takes.
    pub job: Nanos,
}

impl Worst {
    fn exceeds(&self, other: &Self) -> bool {
        exceeds((self.job, self.bits), (other.job, other.bits))
    }
}

/// Searches for the payload with the most work per bit: for every rule, payloads that go some way into its expressions,
/// repeat a part and then fail, changed by and by as long as that makes them worse. Parts for several rules are mixed.
/// A third of the tries is for leaving out what the worst can do without.
///
/// It knows the expressions but not how an engine goes through them, so it finds what is slow in whatever engine
/// counts. It gives no guarantee: what it finds is a lower bound. The same rules, costs and seed find the same,
/// whatever the number of cores. Time: rules × tries × what a match takes, which the engine's limit bounds.
///
/// # Errors
///
/// If the observer interrupts.
pub fn search<E: Counting>(
    rules: &Rules,
    matcher: &Matcher<E>,
    costs: &Costs,
    search: &Search,
    observer: &dyn Observer,
) -> Result<Worst, Error> {
    observer.stage("attacking", rules.rules().len() as u64 * u64::from(search.tries));
    let climb = |(rule, number): (&Rule, u64)| {
        let mut climber = Climber {
            all: rules.rules(),
            matcher,
            costs,
            frame: search.frame,
            // Each rule has chances of its own, so that cores do not matter.
            rng: Xoshiro256PlusPlus::seed_from_u64(
                search.seed.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(number),
            ),
            scratch: Scratch::default(),
        };
        let worst = climber.attack(rule, search.tries, observer);
        observer.advance(u64::from(search.tries));
        worst
    };
    let numbered: Vec<_> = rules.rules().iter().zip(0..).collect();
    let found: Vec<_> = numbered.into_par_iter().map(climb).collect();
    if observer.interrupted() {
        return Err(Error::Interrupted);
    }
    let worst = found.into_iter().reduce(|worst, found| if found.exceeds(&worst) { found } else { worst });
    worst.ok_or_else(|| Error::Parameters("expected rules to attack, got none".into()))
}

/// Looks for ever worse payloads.
struct Climber<'a, E: Counting, R> {
    all: &'a [Rule],
    matcher: &'a Matcher<E>,
    costs: &'a Costs,
    frame: Frame,
    rng: R,
    scratch: Scratch<E::Scratch>,
}

impl<E: Counting, R: Rng> Climber<'_, E, R> {
    /// The worst of so many payloads that begin with `rule`.
    fn attack(&mut self, rule: &Rule, tries: u32, observer: &dyn Observer) -> Worst {
        let shortening = tries / 3;
        let (recipe, worst) = self.climb(rule, tries - shortening, observer);
        self.shorten(recipe, worst, shortening, observer)
    }

    /// The worst of so many that change by and by.
    fn climb(&mut self, rule: &Rule, tries: u32, observer: &dyn Observer) -> (Recipe, Worst) {
        let longest = self.frame.longest;
        let mut here = Recipe::of(rule, longest, &mut self.rng);
        let mut height = self.measure(&here);
        let mut worst = (here.clone(), height.clone());
        let mut idle = 0;
        for _ in 1..tries {
            if observer.interrupted() {
                break;
            }
            let anew = idle == PATIENCE;
            let next = if anew {
                Recipe::of(rule, longest, &mut self.rng)
            } else {
                let other = if self.rng.random() { self.all.choose(&mut self.rng) } else { None };
                here.changed(other.unwrap_or(rule), longest, &mut self.rng)
            };
            let measured = self.measure(&next);
            idle = if anew || measured.exceeds(&height) { 0 } else { idle + 1 };
            if anew || !height.exceeds(&measured) {
                (here, height) = (next, measured);
            }
            if height.exceeds(&worst.1) {
                worst = (here.clone(), height.clone());
            }
        }
        worst
    }

    /// Leaves out what does not make `worst` worse, in no more than so many tries.
    fn shorten(
        &mut self,
        mut recipe: Recipe,
        mut worst: Worst,
        tries: u32,
        observer: &dyn Observer,
    ) -> Worst {
        let mut left = tries;
        'again: loop {
            for shorter in recipe.shorter() {
                if left == 0 || observer.interrupted() {
                    return worst;
                }
                left -= 1;
                let measured = self.measure(&shorter);
                if measured.exceeds(&worst) {
                    (recipe, worst) = (shorter, measured);
                    continue 'again;
                }
            }
            return worst;
        }
    }

    fn measure(&mut self, recipe: &Recipe) -> Worst {
        let payload = recipe.payload(self.frame.longest);
        let steps = self.matcher.inspect(&payload, &mut self.scratch).steps();
        let bytes = u32::try_from(payload.len()).unwrap_or(u32::MAX);
        Worst { bits: self.frame.bits(payload.len()), steps, job: self.costs.job(bytes, steps), payload }
    }
}
