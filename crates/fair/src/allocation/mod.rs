//! What everybody gets if tasks were divisible: max-min fairness and dominant resource fairness, with and without a memory.
//!
//! A cluster is 1 of every resource. A user wants amounts θ_r of them, always in the same proportion: what counts is its *dominant
//! share* s, the share of the resource it needs the largest share of (eq. 4.3), and an allocation is s · θ̃_r with θ̃ its demand
//! divided by its largest entry (eq. 4.4). All four mechanisms are one: water rises to the level x in tanks, one for every user, whose
//! base is what it has committed itself to use less,
//!
//! > s(x) = min(D, max(0, w·x − c̃)),
//!
//! with D its dominant demand, w its weight and c̃ the largest of its commitments (eq. 4.9), until a resource is full (eq. 4.10).
//! A level is therefore (share + commitment) / weight. [DRF](Mechanism::Drf) (eq. 4.5) is [SDRF](Mechanism::Sdrf) without
//! commitments; [MMF](Mechanism::Mmf) and [SMMF](Mechanism::Smmf) (eq. 4.8) are these two on one resource.
//!
//! **Demands of zero.** When a resource is full, those who need it stop, satisfied or not, and the water rises on for those who do not
//! need it, until nobody is left: at most as many rounds as there are resources. This is how Parkes, Procaccia and Shah extend DRF
//! (*Beyond Dominant Resource Fairness*, §4), whose proofs are for users without end of tasks; the tests here search for misreports with
//! finite demands and commitments too. The thesis (§4.1, footnote 1) has no zeros: who needs nothing of a resource is said to need ε of
//! it. By the letter of eq. 4.10 it is then stopped by a resource that it does not use, and what it wanted lies idle: for
//! ε → 0 that is not Pareto optimal (Prop. 5), as soon as ε is 0. Here no resource idles that somebody unsatisfied could use alone.
//! Who has no demand at all gets nothing, and is still one of those whose weights make up the whole.
//!
//! 1. [`allocate`]: one stage.
//! 2. [`game`]: stage after stage, with commitments from what was allocated before; what of strategyproofness and sharing incentives
//!    (Props 3 and 6) holds there, and what does not.
//!
//! Source: Sadok 2018, §§4.2 and 4.3; Ghodsi et al., NSDI 2011; Parkes, Procaccia, Shah, EC 2012 and TEAC 3(1), 2015.

mod filling;
pub mod game;
mod sum;

pub use game::Game;

pub use self::filling::{Bottleneck, End, TOLERANCE};
use filling::{Filled, Tank, fill};
use trueplane_units::choices;

/// Weights are within this and its inverse, far from where a quotient of two of them overflows.
pub const MOST_WEIGHT: f64 = 1e100;

/// Properties of a mechanism that are known without running it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Properties {
    /// Whether it takes commitments into account.
    pub stateful: bool,
    /// Whether it divides one resource only.
    pub one_resource: bool,
}

choices! {
    /// Mechanism that divides a cluster among users.
    pub enum Mechanism: Properties {
        /// Max-min fairness on one resource: makes the smallest share as large as possible, then the second smallest, and so on.
        Mmf = "mmf" { stateful: false, one_resource: true },
        /// Stateful max-min fairness (eq. 4.8): the same for the sum of share and commitment.
        Smmf = "smmf" { stateful: true, one_resource: true },
        /// Dominant resource fairness (eq. 4.5): max-min fairness of dominant shares.
        Drf = "drf" { stateful: false, one_resource: false },
        /// Stateful dominant resource fairness (eq. 4.10): the same for the sum of dominant share and dominant commitment.
        Sdrf = "sdrf" { stateful: true, one_resource: false },
    }
}

/// Demand of a user, in shares of the cluster, an entry for every resource.
#[derive(Clone, Debug, PartialEq)]
pub enum Demand {
    /// Total of every resource, which may be more than there is.
    Total(Vec<f64>),
    /// Any number of tasks that need so much each; only the proportion counts.
    Endless(Vec<f64>),
}

impl Demand {
    /// The amounts, of all tasks or of one.
    pub fn amounts(&self) -> &[f64] {
        match self {
            Demand::Total(amounts) | Demand::Endless(amounts) => amounts,
        }
    }

    /// The resource that the largest share of is needed (eq. 4.3), the first of several, and that share; none if nothing is needed.
    pub fn dominant(&self) -> Option<(usize, f64)> {
        let mut largest = None;
        for (resource, &amount) in self.amounts().iter().enumerate() {
            if amount > largest.map_or(0.0, |(_, most)| most) {
                largest = Some((resource, amount));
            }
        }
        largest
    }

    /// The dominant demand: infinite for tasks without end, zero if nothing is needed.
    pub fn wanted(&self) -> f64 {
        match (self, self.dominant()) {
            (_, None) => 0.0,
            (Demand::Total(_), Some((_, most))) => most,
            (Demand::Endless(_), Some(_)) => f64::INFINITY,
        }
    }

    /// Value of `shares` to a user with this demand: the dominant share up to which they hold the right amount of everything, at most what
    /// is wanted; for a total this is the utility of eq. 4.1 times the dominant demand. What is not needed does not count.
    pub fn worth(&self, shares: &[f64]) -> f64 {
        let Some((_, most)) = self.dominant() else { return 0.0 };
        let needed = self.amounts().iter().zip(shares).filter(|(amount, _)| **amount > 0.0);
        needed.map(|(amount, share)| share / (amount / most)).fold(self.wanted(), f64::min)
    }
}

/// A user in one stage.
#[derive(Clone, Debug, PartialEq)]
pub struct User {
    /// Weight of the user: its claim in proportion to those of all; above zero. 1 for everybody if all are alike.
    pub weight: f64,
    /// Demand of the user.
    pub demand: Demand,
    /// Its commitment c_r for every resource, in shares of it, from 0 to 1; [`Mechanism::Mmf`] and [`Mechanism::Drf`] do not look at
    /// them.
    pub commitments: Vec<f64>,
}

/// Why there is no allocation; users and resources are counted from zero.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum AllocationError {
    /// There is nothing to divide.
    #[error("expected at least one resource")]
    NoResources,
    /// Max-min fairness is of one resource.
    #[error("{} divides one resource, found {found}", .mechanism.name())]
    OneResource {
        /// Mechanism that was asked for.
        mechanism: Mechanism,
        /// Number of resources found.
        found: usize,
    },
    /// Not as many users as the game has.
    #[error("expected demands of {expected} users, found {found}")]
    Users {
        /// Number of users of the game.
        expected: usize,
        /// Number of demands found.
        found: usize,
    },
    /// A list that does not have one entry for every resource.
    #[error("user {user}: expected {expected} {what}, one for every resource, found {found}")]
    Length {
        /// Index of the user whose list has another length.
        user: usize,
        /// Demands or commitments.
        what: &'static str,
        /// Number of resources.
        expected: usize,
        /// Number of entries found.
        found: usize,
    },
    /// A weight out of range.
    #[error("user {user}: expected a weight above zero, from 1e-100 to 1e100, found {found:?}")]
    Weight {
        /// Index of the user with this weight.
        user: usize,
        /// The weight.
        found: f64,
    },
    /// A demand that is not an amount.
    #[error(
        "user {user}: expected a demand for resource {resource} that is finite and not below zero, found {found:?}"
    )]
    Demand {
        /// Index of the user with this demand.
        user: usize,
        /// Index of the resource of this demand.
        resource: usize,
        /// The demand.
        found: f64,
    },
    /// A commitment that no history leads to.
    #[error("user {user}: expected a commitment for resource {resource} from 0 to 1, found {found:?}")]
    Commitment {
        /// Index of the user with this commitment.
        user: usize,
        /// Index of the resource of this commitment.
        resource: usize,
        /// The commitment.
        found: f64,
    },
    /// A memory out of range.
    #[error("expected δ from 0 to below 1, found {0:?}")]
    Delta(f64),
}

/// One user's part of an allocation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Outcome {
    /// The resource it needs the largest share of, the first of several; none if it wants nothing.
    pub dominant: Option<usize>,
    /// The share of it that it got.
    pub dominant_share: f64,
    /// The commitment that counted against it: the largest of its own, or zero without a memory.
    pub commitment: f64,
    /// The water level at which it stopped: (share + commitment) / weight, unless the water never reached its base. 0 if it wants
    /// nothing.
    pub level: f64,
    /// Why it got no more.
    pub end: End,
}

/// Allocation of all users.
#[derive(Clone, Debug, PartialEq)]
pub struct Allocation {
    resources: usize,
    shares: Vec<f64>,
    /// Outcome of every user.
    pub outcomes: Vec<Outcome>,
    /// Used share of every resource, from 0 to 1.
    pub used: Vec<f64>,
    /// Bottlenecks that stopped those who are not satisfied, in the order in which they were full; empty if all are.
    pub bottlenecks: Vec<Bottleneck>,
    /// Number of times that the water stopped for somebody: resources that are full at the same level are one round.
    pub rounds: usize,
}

impl Allocation {
    /// The share o_r of every resource that `user` got; empty for one that there is not.
    pub fn shares(&self, user: usize) -> &[f64] {
        let start = user.saturating_mul(self.resources);
        self.shares.get(start..start.saturating_add(self.resources)).unwrap_or_default()
    }

    /// Number of resources.
    pub fn resources(&self) -> usize {
        self.resources
    }
}

/// Divides `resources` resources among `users` in one stage.
///
/// Exact but for rounding ([`TOLERANCE`]): the levels at which tanks begin to fill or are full are sorted, and in the piece between two
/// of them in which a resource is full its level is the solution of a linear equation. Time O(n log n + n·m), memory O(n·m).
///
/// # Errors
///
/// Something is not a number of the kind it should be, lists differ in length, there is no resource, or several for max-min fairness.
pub fn allocate(
    mechanism: Mechanism,
    resources: usize,
    users: &[User],
) -> Result<Allocation, AllocationError> {
    check(mechanism, resources, users)?;
    let mut shares = Vec::with_capacity(users.len() * resources);
    for user in users {
        // Ratios first; they become shares when it is known how far it got.
        let most = user.demand.dominant().map_or(1.0, |(_, most)| most);
        shares.extend(user.demand.amounts().iter().map(|amount| amount / most));
    }
    let commitment = |user: &User| match mechanism.properties().stateful {
        true => dominant_commitment(&user.commitments),
        false => 0.0,
    };
    let tanks: Vec<Tank<'_>> = users
        .iter()
        .zip(shares.chunks_exact(resources))
        .map(|(user, ratios)| Tank {
            weight: user.weight,
            base: commitment(user),
            depth: user.demand.wanted(),
            ratios,
        })
        .collect();
    let Filled { stops, bottlenecks, used, rounds } = fill(&tanks, resources);
    let outcomes: Vec<Outcome> = stops
        .iter()
        .zip(users)
        .map(|(stop, user)| Outcome {
            dominant: user.demand.dominant().map(|(resource, _)| resource),
            dominant_share: stop.share,
            commitment: commitment(user),
            level: stop.level,
            end: stop.end,
        })
        .collect();
    for (row, stop) in shares.chunks_exact_mut(resources).zip(&stops) {
        row.iter_mut().for_each(|share| *share *= stop.share);
    }
    Ok(Allocation { resources, shares, outcomes, used, bottlenecks, rounds })
}

/// The largest of a user's commitments (eq. 4.9).
pub fn dominant_commitment(commitments: &[f64]) -> f64 {
    commitments.iter().copied().fold(0.0, f64::max)
}

fn check(mechanism: Mechanism, resources: usize, users: &[User]) -> Result<(), AllocationError> {
    check_resources(mechanism, resources)?;
    for (index, user) in users.iter().enumerate() {
        check_weight(index, user.weight)?;
        check_demand(index, resources, &user.demand)?;
        check_commitments(index, resources, &user.commitments)?;
    }
    Ok(())
}

fn check_resources(mechanism: Mechanism, resources: usize) -> Result<(), AllocationError> {
    match resources {
        0 => Err(AllocationError::NoResources),
        1 => Ok(()),
        found if mechanism.properties().one_resource => {
            Err(AllocationError::OneResource { mechanism, found })
        }
        _ => Ok(()),
    }
}

fn check_weight(user: usize, weight: f64) -> Result<(), AllocationError> {
    let range = MOST_WEIGHT.recip()..=MOST_WEIGHT;
    if range.contains(&weight) { Ok(()) } else { Err(AllocationError::Weight { user, found: weight }) }
}

fn check_length(
    user: usize,
    what: &'static str,
    expected: usize,
    found: usize,
) -> Result<(), AllocationError> {
    if expected == found { Ok(()) } else { Err(AllocationError::Length { user, what, expected, found }) }
}

fn check_demand(user: usize, resources: usize, demand: &Demand) -> Result<(), AllocationError> {
    check_length(user, "demands", resources, demand.amounts().len())?;
    let wrong = |amount: &f64| !(amount.is_finite() && *amount >= 0.0);
    match demand.amounts().iter().position(wrong) {
        Some(resource) => Err(AllocationError::Demand { user, resource, found: demand.amounts()[resource] }),
        None => Ok(()),
    }
}

fn check_commitments(user: usize, resources: usize, commitments: &[f64]) -> Result<(), AllocationError> {
    check_length(user, "commitments", resources, commitments.len())?;
    match commitments.iter().position(|commitment| !(0.0..=1.0).contains(commitment)) {
        Some(resource) => Err(AllocationError::Commitment { user, resource, found: commitments[resource] }),
        None => Ok(()),
    }
}
