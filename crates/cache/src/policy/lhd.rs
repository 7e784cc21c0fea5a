//! LHD: evict the object that will give the fewest hits for the space and time it takes.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::SeedableRng;
use trueplane_units::{Nanos, choices};

use super::random::below;
use crate::cost::{Cost, Unit};
use crate::dense::DenseMap;
use crate::{Access, Object, Outcome, Policy, Room, Slot};

/// Candidates drawn at an eviction (LHD §5.1).
const SAMPLES: usize = 64;
/// Age classes tell objects apart by how long ago their last two hits came, on a logarithmic scale (§4.4).
const CLASSES: usize = 16;
/// The weight that the past keeps at every relearning (§5.2).
const DECAY: f32 = 0.9;
/// One newcomer in so many is an explorer, kept to the last age so that long reuse can be seen at all (§4.5).
const EXPLORERS: usize = 100;
/// Far below all densities that are learnt: what is known counts first, and the prior tells the rest apart.
const FAINT: f32 = 1e-9;
/// Fewest requests before the first learning, and between two of them.
const FEWEST: u64 = 1 << 13;
/// Most requests between two learnings.
const MOST: u64 = 1 << 18;
/// The first learning waits for so many requests a resident, as a shorter time says little about long reuse; but not for more than
/// `MOST_BEFORE_FIRST`.
const FIRST: u64 = 16;
const MOST_BEFORE_FIRST: u64 = 1 << 16;
/// Requests per resident object between two learnings.
const BETWEEN: u64 = 64;
/// Ages reach so many times the number of residents, in requests; an object lives about residents / miss ratio.
const REACH: u64 = 32;

choices! {
    /// The way in which LHD looks for its victim.
    pub enum Search {
        /// The worst of 64 objects drawn at random, as LHD is defined.
        Sampled = "sampled",
        /// The worst of all objects, found by looking at every one: O(n) per eviction.
        Exact = "exact",
    }
}

/// Least hit density: an object's expected hits per unit of space and time, learnt from the ages at which objects of its
/// class were hit or evicted.
///
/// Rank: density(class, age) × [`Cost`] / size; the smallest leaves, among equals the one used longest ago. Ages count
/// requests to this cache; delayed hits that take effect together are one hit. Cost: 64 looks an eviction, and a pass
/// over all classes and ages every 64 times as many requests as there are objects.
///
/// Source: N. Beckmann, H. Chen, A. Cidon, *LHD: improving cache hit rate by maximizing hit density*, NSDI 2018.
/// Departures: relearns after 2¹³ to 2¹⁸ requests according to the cache's size, where the original waits for 2²⁰
/// whatever the size; no application classes; ages are grouped by a power of two that grows with the cache; the objects
/// admitted last are no extra candidates; ages of which nothing is known keep the density that they had before anything was
/// learnt, where the original gives them none.
#[derive(Clone, Debug)]
pub struct Lhd<C: Cost = Unit> {
    residents: DenseMap<Life>,
    model: HitDensity,
    /// Requests so far: the clock of ages.
    requests: u64,
    relearn_at: u64,
    explorers: usize,
    draw: Xoshiro256PlusPlus,
    search: Search,
    cost: C,
}

/// State of a resident object in LHD.
#[derive(Clone, Copy, Debug)]
struct Life {
    last: u64,
    /// Expected cost of a miss, per size.
    stake: f64,
    /// The age at its last hit, in requests.
    reuse: u64,
    class: u8,
    explorer: bool,
}

impl<C: Cost> Lhd<C> {
    /// LHD for a cache of about `objects` objects, with its draws from `seed`.
    pub fn new(cost: C, search: Search, objects: u64, seed: u64) -> Self {
        Self {
            residents: DenseMap::default(),
            model: HitDensity::new(objects),
            requests: 0,
            relearn_at: FEWEST,
            explorers: 0,
            draw: Xoshiro256PlusPlus::seed_from_u64(seed),
            search,
            cost,
        }
    }

    /// LHD by sampled search for a cache of about `objects` objects, with the usual cost and a fixed seed for its draws.
    ///
    /// Use [`new`](Self::new) where strangers could gain from knowing which objects are drawn.
    ///
    /// ```
    /// use trueplane_cache::policy::{AggregateDelay, Lhd};
    ///
    /// let hits = <Lhd>::for_objects(10_000); // for the most hits
    /// let delay = Lhd::<AggregateDelay>::for_objects(10_000); // for the least delay
    /// # let _ = (hits, delay);
    /// ```
    pub fn for_objects(objects: u64) -> Self
    where
        C: Default,
    {
        Self::new(C::default(), Search::Sampled, objects, 0)
    }

    fn victim(&mut self) -> Slot {
        let count = self.residents.len();
        let looks = if self.search == Search::Exact { count } else { SAMPLES };
        let mut worst = None;
        for look in 0..looks {
            let position = if self.search == Search::Exact { look } else { below(&mut self.draw, count) };
            let (slot, life) = &self.residents.entries()[position];
            let rank = self.rank(life);
            if worst.is_none_or(|(lowest, _)| rank < lowest) {
                worst = Some((rank, *slot));
            }
        }
        worst.expect("what does not fit alone is not admitted").1
    }

    /// The rank of a candidate, and its last use to break ties; explorers are spared until the last age.
    fn rank(&self, life: &Life) -> (f64, u64) {
        let age = self.model.group(self.requests - life.last);
        if life.explorer && age < self.model.ages - 1 {
            return (f64::INFINITY, life.last);
        }
        (f64::from(self.model.density[self.model.cell(life.class, age)]) * life.stake, life.last)
    }

    /// Expected cost of evicting an object, per size.
    fn stake(&self, slot: Slot, object: Object) -> f64 {
        let stake = self.cost.stake(slot);
        stake.delay as f64 / (stake.windows as f64 * object.size as f64)
    }

    /// Takes a resident object out.
    fn leave(&mut self, slot: Slot, object: Object) -> Life {
        let life = self.residents.remove(slot);
        self.explorers -= usize::from(life.explorer);
        self.cost.evicted(slot, object);
        life
    }

    fn relearn(&mut self) {
        let residents = self.residents.len() as u64;
        self.model.relearn(residents);
        self.relearn_at = self.requests + (BETWEEN * residents).clamp(FEWEST, MOST);
    }
}

impl<C: Cost> Policy for Lhd<C> {
    fn request(&mut self, slot: Slot, object: Object, access: Access, outcome: Outcome) {
        self.cost.request(slot, object, access, outcome);
        self.requests += 1;
        let residents = self.residents.len() as u64;
        if self.requests >= self.relearn_at.max((FIRST * residents).min(MOST_BEFORE_FIRST)) {
            self.relearn();
        }
    }

    fn touch(&mut self, slot: Slot, object: Object, _times: u64, _now: Nanos) {
        let stake = self.stake(slot, object);
        let life = self.residents.value_mut(slot);
        let age = self.requests - life.last;
        self.model.hit(life.class, self.model.group(age));
        self.explorers -= usize::from(life.explorer);
        *life = Life {
            last: self.requests,
            stake,
            reuse: age,
            class: self.model.class(age.saturating_add(life.reuse)),
            explorer: false,
        };
    }

    fn admit(&mut self, slot: Slot, fetch: Nanos, now: Nanos, room: &mut Room<'_>) {
        self.cost.fetched(slot, fetch);
        self.make_room(now, room);
        let explorer =
            self.explorers < self.residents.len() / EXPLORERS && below(&mut self.draw, EXPLORERS) == 0;
        self.explorers += usize::from(explorer);
        let stake = self.stake(slot, room.object(slot));
        self.residents.insert(slot, Life { last: self.requests, stake, reuse: 0, class: 0, explorer });
    }

    fn renewed(&mut self, slot: Slot, fetch: Nanos) {
        self.cost.fetched(slot, fetch);
    }

    fn remove(&mut self, slot: Slot, object: Object, _now: Nanos) {
        self.leave(slot, object);
    }

    fn abandon(&mut self, slot: Slot, object: Object) {
        self.cost.evicted(slot, object);
    }

    fn make_room(&mut self, _now: Nanos, room: &mut Room<'_>) {
        while room.lacking() {
            let victim = self.victim();
            let life = self.leave(victim, room.object(victim));
            self.model.evicted(life.class, self.model.group(self.requests - life.last));
            room.evict(victim);
        }
    }
}

/// The density of a class at an age of which nothing is known: the more, the shorter the reuse that the class stands for, and the
/// less, the longer ago the last use. The original begins with the same, up to the factor.
fn prior(class: usize, age: usize) -> f32 {
    let weight = if class == 0 { 1 } else { CLASSES + 1 - class };
    FAINT * weight as f32 / (age + 1) as f32
}

/// Learned density of hits by class and age of an object.
#[derive(Clone, Debug)]
struct HitDensity {
    /// Ages told apart; the last one stands for all beyond.
    ages: usize,
    /// 2^shift requests make one age.
    shift: u32,
    hits: Vec<f32>,
    evictions: Vec<f32>,
    density: Vec<f32>,
}

impl HitDensity {
    fn new(objects: u64) -> Self {
        let ages = (4 * objects.min(4096)).clamp(64, 4096).next_power_of_two() as usize;
        let cells = CLASSES * ages;
        let density = (0..cells).map(|cell| prior(cell / ages, cell % ages)).collect();
        Self { ages, shift: 0, hits: vec![0.0; cells], evictions: vec![0.0; cells], density }
    }

    fn cell(&self, class: u8, age: usize) -> usize {
        usize::from(class) * self.ages + age
    }

    /// The age that so many requests make.
    fn group(&self, requests: u64) -> usize {
        (requests >> self.shift).min(self.ages as u64 - 1) as usize
    }

    /// The class of an object whose last two hits came so many requests apart; class 0 had none yet.
    fn class(&self, requests: u64) -> u8 {
        ((requests >> self.shift) + 1).ilog2().min(CLASSES as u32 - 2) as u8 + 1
    }

    fn hit(&mut self, class: u8, age: usize) {
        let cell = self.cell(class, age);
        self.hits[cell] += 1.0;
    }

    fn evicted(&mut self, class: u8, age: usize) {
        let cell = self.cell(class, age);
        self.evictions[cell] += 1.0;
    }

    /// Recomputes all densities: hits still to come over life still to come (§4.2), then lets the past fade.
    fn relearn(&mut self, residents: u64) {
        while ((self.ages as u64) << self.shift) < REACH * residents {
            self.coarsen();
        }
        for class in 0..CLASSES {
            let cells = class * self.ages..(class + 1) * self.ages;
            let (mut hits, mut ends, mut life) = (0.0, 0.0, 0.0);
            for cell in cells.rev() {
                hits += self.hits[cell];
                ends += self.hits[cell] + self.evictions[cell];
                life += ends;
                let known = if life > 0.0 { hits / life } else { 0.0 };
                self.density[cell] = known + prior(class, cell % self.ages);
                self.hits[cell] *= DECAY;
                self.evictions[cell] *= DECAY;
            }
        }
    }

    /// Makes every age twice as long.
    fn coarsen(&mut self) {
        self.shift += 1;
        for counters in [&mut self.hits, &mut self.evictions] {
            for class in counters.chunks_exact_mut(self.ages) {
                for age in 0..self.ages / 2 {
                    class[age] = class[2 * age] + class[2 * age + 1];
                }
                class[self.ages / 2..].fill(0.0);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn density_is_hits_to_come_over_life_to_come() {
        let mut model = HitDensity::new(1);
        // Three objects hit at age 1, one evicted at age 3.
        for _ in 0..3 {
            model.hit(0, 1);
        }
        model.evicted(0, 3);
        model.relearn(1);
        // From age 0: 3 hits; lives of 2, 2, 2 and 4 ages, each counted from the age it is in.
        let learnt = model.density[0..4].iter().map(|density| (density * 1e6).round() / 1e6);
        assert_eq!(learnt.collect::<Vec<_>>(), [3.0 / 10.0, 3.0 / 6.0, 0.0, 0.0]);
    }

    #[test]
    fn what_was_hit_soon_is_kept_before_anything_is_learnt() {
        let model = HitDensity::new(100);
        let density = |class, age| model.density[model.cell(class, age)];
        // Class 0 had no hit yet, class 1 the shortest reuse.
        assert!(density(1, 7) > density(2, 7) && density(15, 7) > density(0, 7));
        assert!(density(1, 7) > density(1, 8));
        // An object that was hit at once is worth as much as one without a hit that is 16 times as young.
        assert_eq!(density(1, 15), density(0, 0));
    }

    #[test]
    fn coarser_ages_keep_every_event() {
        let mut model = HitDensity::new(1);
        model.hit(2, 63);
        model.hit(2, 62);
        model.evicted(2, 0);
        model.coarsen();
        let cell = model.cell(2, 31);
        assert_eq!((model.hits[cell], model.hits.iter().sum::<f32>()), (2.0, 2.0));
        assert_eq!(model.group(127), 63);
    }
}
