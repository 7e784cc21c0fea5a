//! The orders, worked out anew for everybody at every step, period by period.

use std::cmp::Ordering;

use trueplane_fair::Cluster;

/// What a user holds of each resource, for every user.
pub(crate) type Held = [Vec<u64>];

/// Who goes before whom.
pub(crate) trait Model {
    /// `span` nanoseconds pass with what is held, all of them in one period.
    fn elapse(&mut self, _held: &Held, _span: u64) {}

    /// A period ends.
    fn end(&mut self, _held: &Held) {}

    /// `user` had `before` and has `after`.
    fn hold(&mut self, _user: usize, _before: &[u64], _after: &[u64]) {}

    /// The keys of two users; none if they are too close to each other to tell.
    fn compare(&self, held: &Held, one: usize, other: usize) -> Option<Ordering>;
}

/// Everybody is equal.
pub(crate) struct Fifo;

impl Model for Fifo {
    fn compare(&self, _held: &Held, _one: usize, _other: usize) -> Option<Ordering> {
        Some(Ordering::Equal)
    }
}

/// The least dominant share.
pub(crate) struct Drf(pub(crate) Cluster);

impl Model for Drf {
    fn compare(&self, held: &Held, one: usize, other: usize) -> Option<Ordering> {
        let share = |user: usize| {
            self.0.dominant_share(user as u32, &held[user]).expect("a user who holds what fits")
        };
        Some(share(one).cmp(&share(other)))
    }
}

fn about(one: f64, other: f64) -> Option<Ordering> {
    if one == 0.0 && other == 0.0 {
        return Some(Ordering::Equal);
    }
    // What decays one period after another gets stuck at the end of what floating point has.
    if one.max(other) < 1e-290 {
        return None;
    }
    ((one - other).abs() > 1e-9 * one.max(other)).then(|| one.total_cmp(&other))
}

fn sum(amounts: &[u64], rates: &[f64]) -> f64 {
    amounts.iter().zip(rates).map(|(&amount, rate)| amount as f64 * rate).sum()
}

/// Kueue's admission fair sharing.
pub(crate) struct Kueue {
    pub(crate) cluster: Cluster,
    /// Weight times units of a resource.
    pub(crate) rates: Vec<f64>,
    pub(crate) lost: f64,
    pub(crate) penalty: bool,
    pub(crate) usage: Vec<f64>,
}

impl Model for Kueue {
    fn end(&mut self, held: &Held) {
        for (usage, held) in self.usage.iter_mut().zip(held) {
            *usage = (1.0 - self.lost) * *usage + self.lost * sum(held, &self.rates);
        }
    }

    fn hold(&mut self, user: usize, before: &[u64], after: &[u64]) {
        if self.penalty {
            let more = sum(after, &self.rates) - sum(before, &self.rates);
            self.usage[user] += self.lost * more.max(0.0);
        }
    }

    fn compare(&self, _held: &Held, one: usize, other: usize) -> Option<Ordering> {
        let key = |user: usize| self.usage[user] / f64::from(self.cluster.weight(user as u32).unwrap());
        about(key(one), key(other))
    }
}

/// The same in whole thousandths of a unit.
pub(crate) struct Thousandths {
    pub(crate) cluster: Cluster,
    pub(crate) units: Vec<f64>,
    pub(crate) weights: Vec<f64>,
    pub(crate) lost: f64,
    pub(crate) usage: Vec<Vec<u64>>,
}

impl Thousandths {
    fn cut(&self, resource: usize, amount: u64) -> u64 {
        (amount as f64 * (self.units[resource] * 1e3)) as u64
    }
}

impl Model for Thousandths {
    fn end(&mut self, held: &Held) {
        for (user, held) in held.iter().enumerate() {
            for (resource, &amount) in held.iter().enumerate() {
                let gain = (self.cut(resource, amount) as f64 * self.lost) as u64;
                let usage = &mut self.usage[user][resource];
                *usage = (*usage as f64 * (1.0 - self.lost)) as u64 + gain;
            }
        }
    }

    fn hold(&mut self, user: usize, before: &[u64], after: &[u64]) {
        for resource in 0..after.len() {
            let more =
                self.cut(resource, after[resource]).saturating_sub(self.cut(resource, before[resource]));
            self.usage[user][resource] += (more as f64 * self.lost) as u64;
        }
    }

    fn compare(&self, _held: &Held, one: usize, other: usize) -> Option<Ordering> {
        let key = |user: usize| {
            let used = self.usage[user].iter().zip(&self.weights);
            used.map(|(&used, weight)| used as f64 * weight / 1e3).sum::<f64>()
                / f64::from(self.cluster.weight(user as u32).unwrap())
        };
        if self.usage[one] == self.usage[other]
            && self.cluster.weight(one as u32) == self.cluster.weight(other as u32)
        {
            return Some(Ordering::Equal);
        }
        about(key(one), key(other))
    }
}

/// Slurm's fair-share factor, as a number or as a whole one.
pub(crate) struct Slurm {
    pub(crate) cluster: Cluster,
    pub(crate) rates: Vec<f64>,
    pub(crate) kept: f64,
    pub(crate) weight: Option<u32>,
    /// Before the current period, and in it.
    pub(crate) usage: Vec<f64>,
    pub(crate) current: Vec<f64>,
}

impl Slurm {
    fn over_share(&self, user: usize) -> f64 {
        let all: u32 = (0..self.cluster.users()).map(|user| self.cluster.weight(user as u32).unwrap()).sum();
        let total: f64 = self.usage.iter().sum();
        let used = if total > 0.0 { self.usage[user] / total } else { 0.0 };
        used * f64::from(all) / f64::from(self.cluster.weight(user as u32).unwrap())
    }
}

impl Model for Slurm {
    fn elapse(&mut self, held: &Held, span: u64) {
        for (current, held) in self.current.iter_mut().zip(held) {
            *current += sum(held, &self.rates) * (span as f64 / 1e9);
        }
    }

    fn end(&mut self, _held: &Held) {
        for (usage, current) in self.usage.iter_mut().zip(&mut self.current) {
            *usage = self.kept * *usage + std::mem::take(current);
        }
    }

    fn compare(&self, _held: &Held, one: usize, other: usize) -> Option<Ordering> {
        let Some(weight) = self.weight else { return about(self.over_share(one), self.over_share(other)) };
        // A factor next to a whole number may be cut to either.
        let priority = |user: usize| {
            let exact = f64::from(weight) * (-self.over_share(user)).exp2();
            let [low, high] = [exact - 1e-6, exact + 1e-6].map(|near| (near.max(1.0) as u32).min(weight));
            (low == high).then_some(low)
        };
        Some(priority(other)?.cmp(&priority(one)?))
    }
}

/// Credits, with the level of the donors searched by halving.
pub(crate) struct Karma {
    pub(crate) cluster: Cluster,
    pub(crate) guaranteed: i128,
    pub(crate) free: i128,
    pub(crate) credits: Vec<i128>,
}

impl Karma {
    fn share(&self, held: &Held, user: usize) -> i128 {
        self.cluster.dominant_share(user as u32, &held[user]).expect("a user who holds what fits").into()
    }

    fn weight(&self, user: usize) -> i128 {
        self.cluster.weight(user as u32).unwrap().into()
    }
}

impl Model for Karma {
    fn end(&mut self, held: &Held) {
        let users = self.credits.len();
        let above: Vec<i128> = (0..users).map(|user| self.share(held, user) - self.guaranteed).collect();
        let lent: i128 = (0..users).map(|user| above[user].max(0) * self.weight(user)).sum();
        for (credits, above) in self.credits.iter_mut().zip(&above) {
            *credits += self.free - (*above).max(0);
        }
        let earned = |level: i128, user: usize| (level - self.credits[user]).clamp(0, (-above[user]).max(0));
        let spent =
            |level: i128| (0..users).map(|user| earned(level, user) * self.weight(user)).sum::<i128>();
        let (mut low, mut high) = (-(1i128 << 100), 1i128 << 100);
        if spent(high) <= lent {
            low = high;
        }
        while high - low > 1 {
            let middle = low + (high - low) / 2;
            if spent(middle) <= lent { low = middle } else { high = middle }
        }
        let earned: Vec<i128> = (0..users).map(|user| earned(low, user)).collect();
        for (credits, earned) in self.credits.iter_mut().zip(earned) {
            *credits += earned;
        }
    }

    fn compare(&self, held: &Held, one: usize, other: usize) -> Option<Ordering> {
        let key = |user: usize| {
            let above = self.share(held, user) - self.guaranteed;
            (above >= 0, above.max(0) - self.credits[user])
        };
        Some(key(one).cmp(&key(other)))
    }
}

/// Commitments by eq. 4.12, from one event to the next.
pub(crate) struct Sdrf {
    pub(crate) cluster: Cluster,
    /// In nanoseconds.
    pub(crate) half_life: f64,
    pub(crate) commitments: Vec<Vec<f64>>,
}

impl Sdrf {
    fn share(&self, held: &Held, user: usize, resource: usize) -> f64 {
        self.cluster.share(user as u32, resource, held[user][resource]).unwrap() as f64
    }
}

impl Model for Sdrf {
    fn elapse(&mut self, held: &Held, span: u64) {
        let kept = (-(span as f64) / self.half_life).exp2();
        let own = self.cluster.fair_share() as f64;
        for user in 0..held.len() {
            for resource in 0..self.cluster.resources() {
                let above = (self.share(held, user, resource) - own).max(0.0);
                let commitment = &mut self.commitments[user][resource];
                *commitment = (1.0 - kept) * above + kept * *commitment;
            }
        }
    }

    fn compare(&self, held: &Held, one: usize, other: usize) -> Option<Ordering> {
        let key = |user: usize| {
            let resources = 0..self.cluster.resources();
            resources
                .map(|resource| self.share(held, user, resource) + self.commitments[user][resource])
                .fold(0.0, f64::max)
        };
        let (one, other) = (key(one), key(other));
        // It keeps commitments to 2⁻⁴⁴ of these units, of which the cluster has 2⁴⁴; what is smaller is nothing.
        ((one - other).abs() > 1e-6 || one == 0.0 && other == 0.0).then(|| about(one, other))?
    }
}
