//! Theorem 3 for every sample path: what WSJF can lose in a run of any length, whatever comes when.
//!
//! The theorem of the paper is for the long run and random users. Here is what holds for one run: packets of users that come as they
//! come, an attacker who sends what and when he likes, a server that finishes what it began, and a count that ends at a time T.
//!
//! **Claim.** Let users bring the load ρ ≤ 1 and the attacker A bits by T. Without a bound on the buffer, WSJF that knows every job
//! leaves at most ρ A + E bits of users unfinished at T, where E depends on the users and the longest jobs only:
//! E = ∫ (σ(z) + b(z) + e(z)) / z² dz. Here b(z) is the longest job with more than z work per bit, e(z) the longest of users with at
//! most z, and σ(z) by how much the work of users with at most z exceeds ρ times the length of an interval that ends at T, at most.
//!
//! **Proof.** Look at packets with at most z work per bit only. Let t be the last time by T at which none of them was there. From t on the
//! server works on them alone, but for what it may have to finish first, at most b(z). So of the work I of users and A(z) of
//! the attacker that came since t, at most I + A(z) − (T − t) + b(z) is left, and if a packet of users is in service at T, its work
//! in full is at most e(z) more. The attacker's served work S is not left, hence the unfinished packets of users have the work
//! Q(z) ≤ I − (T − t) + S + b(z) + e(z). By I ≤ ρ (T − t) + σ(z) and S ≤ T − t this is at most ρ S + σ(z) + b(z) + e(z). A packet of
//! work q and z per bit has q / z bits, so that ∫ Q(z) / z² dz are the bits that are left, and ∫ A(z) / z² dz those of the attacker. ∎
//!
//! Ranks that are rounded down to a grid whose steps are a factor of 1 + ε apart make classes by the rounded z: then the bits of users
//! are at most work / z, and those of the attacker at least work / (1 + ε) z, so that 1 + ε times A takes the place of A.
//!
//! For ρ > 1, or where it is less: without the attack at least I − (T − t) are left too, so that the attack displaces at most A + ∫
//! (b(z) + e(z)) / z² dz bits.

use trueplane_units::Nanos;

use crate::ratio::Ratio;

/// A packet of a user that came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrival {
    /// Time at which it came.
    pub at: Nanos,
    /// Its size; above zero.
    pub bits: u32,
    /// Time that it takes; above zero.
    pub job: Nanos,
}

/// Bound on the loss of a run under WSJF.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Allowance {
    /// ρ: work of users that came, as a share of the time.
    pub load: f64,
    /// E: bits that may be left besides ρ times the attack's, if ρ is at most 1.
    pub edge: f64,
    /// Bits that may be displaced besides as many as the attack's.
    pub plain: f64,
    /// 1 + ε: by so much a packet of the attack may seem to have less work per bit than it has.
    pub stretch: f64,
}

impl Allowance {
    /// Bound for a run until `end`, which is above zero, with the packets of `users` in order of arrival, and attack packets of these
    /// sizes and jobs.
    ///
    /// O(n log n) in the packets of both.
    pub fn new(users: &[Arrival], attack: &[(u32, Nanos)], end: Nanos) -> Self {
        Self::by(users, attack, end, 1.0, |bits, job| job.0 as f64 / f64::from(bits))
    }

    /// The same where ranks are rounded to `mantissa_bits` bits ([`Ratio::quantise`]).
    pub fn rounded(users: &[Arrival], attack: &[(u32, Nanos)], end: Nanos, mantissa_bits: u32) -> Self {
        let stretch = 1.0 + (-f64::from(mantissa_bits)).exp2();
        Self::by(users, attack, end, stretch, |bits, job| {
            let rank = Ratio::new(job, bits.into()).quantise(mantissa_bits);
            let rounded = Ratio::of_rank(rank, mantissa_bits);
            rounded.work().0 as f64 / rounded.bits() as f64
        })
    }

    /// Bound with the work per bit that `ratio` returns.
    fn by(
        users: &[Arrival],
        attack: &[(u32, Nanos)],
        end: Nanos,
        stretch: f64,
        ratio: impl Fn(u32, Nanos) -> f64,
    ) -> Self {
        let ratios: Vec<f64> = users.iter().map(|user| ratio(user.bits, user.job)).collect();
        let attack = attack.iter().map(|(bits, job)| (ratio(*bits, *job), job.0));
        let work: u128 = users.iter().map(|user| u128::from(user.job.0)).sum();
        let load = work as f64 / end.0 as f64;
        let mut order: Vec<usize> = (0..users.len()).collect();
        order.sort_unstable_by(|a, b| ratios[*a].total_cmp(&ratios[*b]));
        let dearer =
            Longest::new(ratios.iter().copied().zip(users.iter().map(|user| user.job.0)).chain(attack));
        let mut excess = Excess::new(users, load, end);
        let (mut edge, mut plain, mut longest) = (0.0, 0.0, 0u64);
        for (place, index) in order.iter().enumerate() {
            let user = &users[*index];
            excess.count(*index, user.job);
            longest = longest.max(user.job.0);
            // All functions of z are constant from here to the next packet of users, or less after a packet of the attack.
            let from = ratios[*index];
            let to = order.get(place + 1).map_or(f64::INFINITY, |next| ratios[*next]);
            let width = 1.0 / from - 1.0 / to;
            let jobs = (dearer.above(from) + longest) as f64;
            plain += jobs * width;
            edge += (jobs + excess.most()) * width;
        }
        Self { load, edge, plain, stretch }
    }

    /// Bits that an attack of `bits` bits displaces at most.
    pub fn most(&self, bits: u64) -> f64 {
        let bits = self.stretch * bits as f64;
        if self.load > 1.0 {
            bits + self.plain
        } else {
            (bits + self.plain).min(self.load * bits + self.edge)
        }
    }
}

/// The longest job of those with more work per bit than some.
struct Longest {
    /// Work per bit, ascending, and the longest job from there on.
    jobs: Vec<(f64, u64)>,
}

impl Longest {
    fn new(jobs: impl Iterator<Item = (f64, u64)>) -> Self {
        let mut jobs: Vec<(f64, u64)> = jobs.collect();
        jobs.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
        let mut longest = 0;
        for (_, job) in jobs.iter_mut().rev() {
            longest = longest.max(*job);
            *job = longest;
        }
        Self { jobs }
    }

    fn above(&self, ratio: f64) -> u64 {
        let place = self.jobs.partition_point(|(other, _)| *other <= ratio);
        self.jobs.get(place).map_or(0, |(_, job)| *job)
    }
}

/// The largest excess of the counted work over ρ times the time, of all intervals that end at T and begin with an arrival.
///
/// A tree over the arrivals: each node has what was added to all its leaves, and the largest leaf below it.
struct Excess {
    leaves: usize,
    added: Vec<f64>,
    largest: Vec<f64>,
}

impl Excess {
    fn new(users: &[Arrival], load: f64, end: Nanos) -> Self {
        let leaves = users.len().next_power_of_two();
        let mut largest = vec![f64::NEG_INFINITY; 2 * leaves];
        for (leaf, user) in largest[leaves..].iter_mut().zip(users) {
            *leaf = -load * end.0.saturating_sub(user.at.0) as f64;
        }
        for node in (1..leaves).rev() {
            largest[node] = largest[2 * node].max(largest[2 * node + 1]);
        }
        Self { leaves, added: vec![0.0; 2 * leaves], largest }
    }

    /// Counts the job of arrival `index`: it is in every interval that begins with it or before.
    fn count(&mut self, index: usize, job: Nanos) {
        let job = job.0 as f64;
        let mut node = self.leaves + index;
        self.largest[node] += job;
        self.added[node] += job;
        while node > 1 {
            // Everything to the left of a right child is before the arrival.
            if node % 2 == 1 {
                self.largest[node - 1] += job;
                self.added[node - 1] += job;
            }
            node /= 2;
            self.largest[node] = self.largest[2 * node].max(self.largest[2 * node + 1]) + self.added[node];
        }
    }

    fn most(&self) -> f64 {
        self.largest[1].max(0.0)
    }
}
