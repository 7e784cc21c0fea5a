//! The repeated game: stage after stage, with commitments from what was allocated before (eq. 4.6 in the form of eq. 4.11).
//!
//! After every stage a commitment moves towards what was had beyond the own part f = w / Σw of the resource,
//!
//! > c ← δ·c + (1 − δ)·max(o − f, 0),
//!
//! and the next stage is divided with it. Eq. 4.6 counts the present stage into the commitment that the present stage is divided by;
//! that is circular, and §4.4.1 has it as here.
//!
//! # Sharing incentives (Prop. 6)
//!
//! In one stage a truthful user who has a commitment can get less than its part: of two users the one with a commitment of 1/2 gets
//! 1/4 when both want all. (The proof in §4.8 is of one who never declares more than its part, and so has no commitment.) But x ≥ 1/Σw,
//! as below it no resource is full, and so s ≥ min(D, f − c̃) in every stage; and in the long run it loses nothing:
//!
//! **Theorem.** Whatever the others do, a truthful user who starts without a commitment has, after any number T of stages,
//! Σ_t s_t ≥ Σ_t min(D_t, f): at least what it would have had with f of every resource to itself.
//!
//! *Proof.* Let y_t = max(s_t − f, 0), and C its moving average: C_1 = 0, C_{t+1} = C_t + (1 − δ)(y_t − C_t). As o ≤ s for every
//! resource, c̃_t ≤ C_t. If s_t ≥ f, then D_t ≥ f and s_t − min(D_t, f) = y_t ≥ y_t − C_t. If s_t < f, then y_t = 0 and
//! s_t − min(D_t, f) ≥ −c̃_t ≥ y_t − C_t. Summed up, Σ (y_t − C_t) = (C_{T+1} − C_1) / (1 − δ) ≥ 0. ∎
//!
//! This is in amounts of its dominant resource, on one scale. In the utility of eq. 4.1, which is relative to what it wants in a
//! stage, Prop. 6 does not hold for truthful users over several stages either: in example 1 below A has 1/8 + 3/4 = 7/8, and with half
//! of the resource to itself it would have 1/16 + 1.
//!
//! With weights of stages that do not increase, such as its own discounting, it holds as well (sum by parts). Who starts with the
//! commitment C_1 may be behind by C_1 / (1 − δ), and no more: it is what it had before.
//!
//! # Strategyproofness (Prop. 3)
//!
//! The proof in §4.8 counts what is given up and what is won on one scale, reckons only with declaring less, and leaves out what the
//! others' commitments do. It does not hold, for three reasons (the numbers are tests, `crates/fair/tests/fair/allocation/strategy.rs`):
//!
//! 1. *Scale.* Utility is relative to the demand of the stage (eq. 4.1). δ = 1/2, one resource, two users. A wants 8 and then 1/2, B
//!    nothing and then 1. Truthful, A gets 1 and, with a commitment of 1/4, 3/8: utility 1/8 and 3/4. If A declares 1/2 first, it
//!    gets 1/2 and 1/2: 1/16 and 1. For every discount factor of its own above 1/4 that is more.
//! 2. *Several resources.* A gives up a little of what B needs little of, and B's dominant share, so B's commitment, rises by much.
//!    δ = 1/2: A wants ⟨1, 0⟩, B ⟨1/8, 1⟩, then both ⟨1, 1⟩. Truthful, both get 8/9 and then 1/2. If A declares ⟨7/8, 0⟩, B gets 1, A's
//!    commitment is 3/16, B's 1/4, and A then gets 17/32: 1/72 less and 1/32 more.
//! 3. *Declaring more* with δ < 1/2. δ = 0, one resource, three users. A wants 1/6, nothing, 1; B 1, 1, 1; C 1/3, 1, nothing.
//!    Truthful, A gets 1/6 and at last 13/24. If A declares 1/3 at first, which costs it nothing as it is its part, B has no
//!    commitment in the second stage, gets 1/2 instead of 5/12, has a commitment of 1/6 instead of 1/12 in the third, and A gets 7/12.
//!
//! **Theorem.** On one resource with δ ≥ 1/2, a user whose utility is the amount that it gets up to its demand, on one scale in all
//! stages, never gains by misreporting, whatever the others declare (as long as that does not depend on it) and for every horizon
//! T; nor for a utility that is discounted.
//!
//! *Proof.* Compare its (A's) lie (c′, o′, x′) with the truth (c, o, x). Let g = min(o′, D) − o be its gain in a stage, e⁻ = max(c − c′, 0)
//! for A, e_j = max(c′_j − c_j, 0) for the others j, E = Σ e_j. Show by induction that K_t = −(1 − δ) Σ_{k<t} g_k is at least e⁻ and E,
//! hence never negative, which is the claim.
//!
//! (a) g ≤ max(e⁻, E) ≤ K. By Prop. 2 it gets at most what the truth gets it with c′, and that is at most what it gets it with a
//!     commitment lower by e⁻ and the others' higher by e_j. If then the level is not above x, it gets at most e⁻ more; if it is,
//!     each of the others gets at most e_j less, and it at most E more.
//! (b) e⁻ becomes at most δ·e⁻ + (1 − δ)·max(−g, 0), as o′ − o ≥ g. That is at most K − (1 − δ)·g: clear for g < 0, and for g ≥ 0 it
//!     is at most δK ≤ K − (1 − δ)·g by (a).
//! (c) The next commitment of j, δ·c + (1 − δ)·max(min(D, max(w·x − c, 0)) − f, 0), does not fall in x, nor in c as δ ≥ 1 − δ. So it
//!     rises at most as if c_j rose by e_j and x to max(x, x′). If x′ ≤ x, E becomes at most δE ≤ K − (1 − δ)·g. If x′ > x, let õ_j
//!     be what j gets at x′ with c_j + e_j: õ_j ≤ o′_j, õ_j ≥ o_j − e_j, and Σ (õ_j − o_j) ≤ o − o′ ≤ −g, so that the positive ones
//!     sum up to at most E − g, and E becomes at most δE + (1 − δ)·max(E − g, 0) ≤ K − (1 − δ)·g by (a). ∎

use super::{
    Allocation, AllocationError, Demand, Mechanism, User, allocate, check_commitments, check_resources,
    check_weight, dominant_commitment,
};

/// A repeated game of a fixed set of users, active or not.
#[derive(Clone, Debug, PartialEq)]
pub struct Game {
    mechanism: Mechanism,
    resources: usize,
    delta: f64,
    weights: Vec<f64>,
    total_weight: f64,
    commitments: Vec<Vec<f64>>,
}

impl Game {
    /// A game without a past, for users of these weights.
    ///
    /// `delta`, from 0 to below 1, is what of a commitment is left after a stage: 0 remembers the last stage only. Under
    /// [`Mechanism::Mmf`] and [`Mechanism::Drf`] commitments are kept and not used.
    ///
    /// # Errors
    ///
    /// As [`allocate`]; if `delta` is out of range.
    pub fn new(
        mechanism: Mechanism,
        resources: usize,
        weights: Vec<f64>,
        delta: f64,
    ) -> Result<Self, AllocationError> {
        check_resources(mechanism, resources)?;
        if !(0.0..1.0).contains(&delta) {
            return Err(AllocationError::Delta(delta));
        }
        weights.iter().enumerate().try_for_each(|(user, &weight)| check_weight(user, weight))?;
        let total_weight = weights.iter().sum();
        let commitments = vec![vec![0.0; resources]; weights.len()];
        Ok(Self { mechanism, resources, delta, weights, total_weight, commitments })
    }

    /// The same game with a past: a list of commitments for every user, from 0 to 1 for every resource.
    ///
    /// # Errors
    ///
    /// Not one commitment for every user and resource, or one out of range.
    pub fn with_commitments(mut self, commitments: Vec<Vec<f64>>) -> Result<Self, AllocationError> {
        self.check_users(commitments.len())?;
        for (user, of) in commitments.iter().enumerate() {
            check_commitments(user, self.resources, of)?;
        }
        self.commitments = commitments;
        Ok(self)
    }

    /// Plays a stage: divides the cluster among these demands, one for every user, and remembers who had more than its part. O(n log n + n·m).
    ///
    /// # Errors
    ///
    /// As [`allocate`]; nothing has then changed.
    pub fn play(&mut self, demands: &[Demand]) -> Result<Allocation, AllocationError> {
        self.check_users(demands.len())?;
        let users: Vec<User> = (0..demands.len())
            .map(|user| User {
                weight: self.weights[user],
                demand: demands[user].clone(),
                commitments: self.commitments[user].clone(),
            })
            .collect();
        let allocation = allocate(self.mechanism, self.resources, &users)?;
        for user in 0..users.len() {
            let part = self.part(user);
            for (commitment, share) in self.commitments[user].iter_mut().zip(allocation.shares(user)) {
                let overuse = (share - part).max(0.0);
                *commitment = self.delta * *commitment + (1.0 - self.delta) * overuse;
            }
        }
        Ok(allocation)
    }

    /// Mechanism that divides the cluster.
    pub fn mechanism(&self) -> Mechanism {
        self.mechanism
    }

    /// The part of every resource that is `user`'s own, w / Σw: 1/n if all weigh the same. 0 if there is no such user.
    pub fn part(&self, user: usize) -> f64 {
        self.weights.get(user).map_or(0.0, |weight| weight / self.total_weight)
    }

    /// The commitments of `user` for the next stage, one for every resource; none if there is no such user.
    pub fn commitments(&self, user: usize) -> &[f64] {
        self.commitments.get(user).map_or(&[], Vec::as_slice)
    }

    /// The largest of them (eq. 4.9).
    pub fn dominant_commitment(&self, user: usize) -> f64 {
        dominant_commitment(self.commitments(user))
    }

    fn check_users(&self, found: usize) -> Result<(), AllocationError> {
        let expected = self.weights.len();
        if found == expected { Ok(()) } else { Err(AllocationError::Users { expected, found }) }
    }
}
