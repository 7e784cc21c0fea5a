//! All objects under prices, and a little undecided: the relaxed problem, smoothed.
//!
//! Each object takes its cheapest path. Where two ways cost the same, the least change of a price throws it from one to the
//! other, and a search for prices would never come to rest. So the smaller of two costs is replaced by the smallest w·a +
//! (1 − w)·b − d·w·(1 − w) over the shares w of 0 to 1: ways whose costs differ by less than d share the object ([`Softness`]).
//! The result is never above the smaller cost, so that it is a lower bound all the same.

use trueplane_study::dual::{Lanes, Relaxation, Scarce, Softness};

use crate::belatedly::Instance;
use crate::belatedly::path::{Branch, Costs, Priced, Ways};

/// Evaluates prices again and again.
pub(super) struct Relaxed<'a> {
    instance: &'a Instance,
    lanes: Lanes<Lane>,
    /// A unit of size in the unit of [`Lane::changes`].
    unit: f64,
}

/// Working memory of one thread.
struct Lane {
    /// Difference between the size held at a gap and at the gap before, in whole parts of the capacity: integers have the same sum in any
    /// order.
    changes: Vec<i64>,
    costs: Vec<Costs<f64>>,
    /// For each visit of an object, the share that stays in the cache after a hit and after a miss; and the share of the object that
    /// comes to the visit as a hit and as a miss.
    stays: Vec<Shares>,
    there: Vec<Shares>,
}

#[derive(Clone, Copy, Default)]
struct Shares {
    hit: f64,
    miss: f64,
}

impl<'a> Relaxed<'a> {
    /// Prepares for the current number of threads.
    pub(super) fn new(instance: &'a Instance) -> Self {
        let longest = (0..instance.objects()).map(|object| instance.visits(object).len()).max().unwrap_or(0);
        let lane = || Lane {
            changes: vec![0; instance.requests() + 2],
            costs: vec![Costs::default(); longest + 1],
            stays: vec![Shares::default(); longest],
            there: vec![Shares::default(); longest + 1],
        };
        // All that could ever be held, in units of the capacity, must fit into 62 bits.
        let most: f64 = (0..instance.objects()).map(|object| instance.size(object) as f64).sum();
        let full = (most / instance.terms.capacity as f64).max(1.0);
        Self {
            instance,
            lanes: Lanes::new(instance.objects(), |object| instance.range(object), lane),
            unit: (62.0 - full.log2().ceil()).min(44.0).exp2() / instance.terms.capacity as f64,
        }
    }
}

/// What is scarce is the capacity, at every gap.
impl Relaxation for Relaxed<'_> {
    fn evaluate(&mut self, scarce: &mut [Scarce], soft: Softness) -> f64 {
        let Self { instance, lanes, unit } = self;
        let Scarce { sums, excess, .. } = &mut scarce[0];
        // Up to and with each gap.
        let prefix = &sums[1..];
        let clear = |lane: &mut Lane| lane.changes.fill(0);
        let cost = lanes.solve(clear, |lane, object| lane.object(instance, object, prefix, soft, *unit));
        let whole = *unit * instance.terms.capacity as f64;
        let mut held = 0;
        for (gap, excess) in excess.iter_mut().enumerate() {
            held += lanes.counted(|lane| lane.changes[gap]);
            *excess = held as f64 / whole - 1.0;
        }
        cost
    }
}

impl Lane {
    /// Adds one object; returns what it costs.
    fn object(
        &mut self,
        instance: &Instance,
        object: usize,
        prefix: &[f64],
        soft: Softness,
        unit: f64,
    ) -> f64 {
        let visits = instance.visits(object);
        let stays = &mut self.stays;
        Priced::new(instance, object, prefix, 1.0).solve(&mut self.costs, |index, branch, ways| {
            let (cost, stay) = match ways {
                Ways::Either { held, dropped } => soft.choose(held, dropped),
                Ways::Held(cost) => (cost, 1.0),
                Ways::Dropped(cost) => (cost, 0.0),
            };
            match branch {
                Branch::Hit => stays[index].hit = stay,
                Branch::Miss => stays[index].miss = stay,
            }
            cost
        });
        if visits.len() > 1 || !instance.terms.bypass {
            self.follow(instance, object, unit * instance.size(object) as f64);
        }
        self.costs[0].miss
    }

    /// Adds what is held of an object of `size`.
    fn follow(&mut self, instance: &Instance, object: usize, size: f64) {
        let visits = instance.visits(object);
        let Self { changes, stays, there, .. } = self;
        there[..visits.len()].fill(Shares::default());
        there[0].miss = 1.0;
        for (index, visit) in visits.iter().enumerate() {
            let Shares { hit, miss } = there[index];
            if hit > 0.0 && index + 1 < visits.len() {
                let stays = hit * stays[index].hit;
                let held = (stays * size) as i64;
                changes[visit.position as usize + 1] += held;
                changes[visits[index + 1].position as usize + 1] -= held;
                there[index + 1].hit += stays;
                there[index + 1].miss += hit - stays;
            }
            if miss > 0.0 {
                let (ready, back) = (visit.ready as usize, visit.back as usize);
                let mut gone = miss;
                if let Some(next) = visits.get(back) {
                    let stays = miss * stays[index].miss;
                    let held = (stays * size) as i64;
                    changes[ready] += held;
                    changes[next.position as usize + 1] -= held;
                    gone = miss - stays;
                    there[back].hit += stays;
                    there[back].miss += gone;
                }
                if instance.forced(object, visit) {
                    let held = (gone * size) as i64;
                    changes[ready] += held;
                    changes[ready + 1] -= held;
                }
            }
        }
    }
}
