//! A cluster as one pool of resources, and who shares it.

use std::collections::BTreeSet;

/// A share of the whole cluster is counted in 2⁻⁴⁴ of it.
pub const SHARE_BITS: u32 = 44;

/// The share that is the whole cluster.
pub const WHOLE: u64 = 1 << SHARE_BITS;

/// The largest weight of a user.
pub const MOST_WEIGHT: u32 = 1 << 16;

/// One pool of resources, and the weights of all its users, active or not.
///
/// Amounts are whole numbers of a unit that the caller chooses for every resource.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cluster {
    capacity: Vec<u64>,
    /// Weights by number; zero for a number that nobody has.
    weights: Vec<u32>,
    total_weight: u64,
    /// The numbers of users who left, which are given out again.
    vacant: BTreeSet<u32>,
}

/// Why there is no such cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ClusterError {
    /// There is nothing to share.
    #[error("expected at least one resource")]
    NoResources,
    /// A resource of which there is nothing, or more than can be counted.
    #[error(
        "expected a capacity from 1 to 2^63 units of every resource, found {found} of resource {resource}"
    )]
    Capacity {
        /// Index of the resource.
        resource: usize,
        /// Capacity that was given.
        found: u64,
    },
    /// A user with a weight out of range.
    #[error("expected weights from 1 to {MOST_WEIGHT}, found {0}")]
    Weight(u32),
    /// More users than can be numbered.
    #[error("expected fewer than 2^32 - 1 users")]
    Users,
    /// Nobody has that number.
    #[error("expected a user who has joined, found number {0}")]
    UnknownUser(u32),
    /// A new capacity has more or fewer resources than the cluster.
    #[error("expected a capacity of {expected} resources, found {found}")]
    Resources {
        /// Number of resources of the cluster.
        expected: usize,
        /// Number of resources of the new capacity.
        found: usize,
    },
    /// A new capacity is too small for the tasks there are.
    #[error(
        "expected a capacity of at least {needed} of resource {resource}, which tasks need, found {found}"
    )]
    Needed {
        /// Index of the resource.
        resource: usize,
        /// Amount that all running tasks hold or that one waiting task needs, whichever is larger, in units.
        needed: u64,
        /// Capacity that was given, in units.
        found: u64,
    },
    /// A user who wants to leave has tasks.
    #[error("expected a user without tasks, found user {0}, who has some that wait or run")]
    HasTasks(u32),
}

impl Cluster {
    /// A cluster of so much of every resource, for users of these weights.
    ///
    /// # Errors
    ///
    /// There is no resource, nothing of one or more than 2⁶³ of it, a weight is not within 1 and [`MOST_WEIGHT`], or there are too many
    /// users.
    pub fn new(capacity: Vec<u64>, weights: Vec<u32>) -> Result<Self, ClusterError> {
        check_capacity(&capacity)?;
        let mut cluster = Self { capacity, weights: Vec::new(), total_weight: 0, vacant: BTreeSet::new() };
        for weight in weights {
            cluster.join(weight)?;
        }
        Ok(cluster)
    }

    /// One user more; returns its number: the lowest of those whose users have [left](Self::leave), or else the next one.
    ///
    /// # Errors
    ///
    /// The weight is not within 1 and [`MOST_WEIGHT`], or there are too many users; nothing has changed.
    pub fn join(&mut self, weight: u32) -> Result<u32, ClusterError> {
        check_weight(weight)?;
        let next = u32::try_from(self.weights.len()).ok().filter(|&user| user < u32::MAX);
        let user = self.vacant.pop_first().or(next).ok_or(ClusterError::Users)?;
        if user as usize == self.weights.len() {
            self.weights.push(0);
        }
        self.weights[user as usize] = weight;
        self.total_weight += u64::from(weight);
        Ok(user)
    }

    /// A cluster whose users have these weights, or have left if that is zero.
    ///
    /// # Errors
    ///
    /// As [`Cluster::new`].
    pub(crate) fn resume(capacity: Vec<u64>, weights: Vec<u32>) -> Result<Self, ClusterError> {
        let left: Vec<u32> =
            (0..).zip(&weights).filter(|(_, weight)| **weight == 0).map(|(user, _)| user).collect();
        let weights = weights.into_iter().map(|weight| weight.max(1)).collect();
        let mut cluster = Self::new(capacity, weights)?;
        for user in left {
            cluster.leave(user)?;
        }
        Ok(cluster)
    }

    /// Changes the capacity. What users hold is not known here: the caller sees to it that it fits.
    ///
    /// # Errors
    ///
    /// There are more or fewer resources than before, nothing of one or more than 2⁶³ of it; nothing has changed.
    pub(crate) fn set_capacity(&mut self, capacity: &[u64]) -> Result<(), ClusterError> {
        if capacity.len() != self.resources() {
            return Err(ClusterError::Resources { expected: self.resources(), found: capacity.len() });
        }
        check_capacity(capacity)?;
        self.capacity.copy_from_slice(capacity);
        Ok(())
    }

    /// `user` goes away; its number is given out again.
    ///
    /// # Errors
    ///
    /// Nobody has that number; nothing has changed.
    pub fn leave(&mut self, user: u32) -> Result<(), ClusterError> {
        if !self.has(user) {
            return Err(ClusterError::UnknownUser(user));
        }
        self.total_weight -= u64::from(self.weights[user as usize]);
        self.weights[user as usize] = 0;
        self.vacant.insert(user);
        Ok(())
    }

    /// Gives `user` another weight; returns the one before.
    ///
    /// # Errors
    ///
    /// Nobody has that number, or the weight is not within 1 and [`MOST_WEIGHT`]; nothing has changed.
    pub fn set_weight(&mut self, user: u32, weight: u32) -> Result<u32, ClusterError> {
        check_weight(weight)?;
        let before = self.weight(user).ok_or(ClusterError::UnknownUser(user))?;
        self.weights[user as usize] = weight;
        self.total_weight = self.total_weight - u64::from(before) + u64::from(weight);
        Ok(before)
    }

    /// Whether somebody has this number.
    pub fn has(&self, user: u32) -> bool {
        self.weights.get(user as usize).is_some_and(|&weight| weight > 0)
    }

    /// Capacity of every resource, in units.
    pub fn capacity(&self) -> &[u64] {
        &self.capacity
    }

    /// Number of resources.
    pub fn resources(&self) -> usize {
        self.capacity.len()
    }

    /// How many numbers users have or had: all of them are below this. Those who left count until others have their numbers.
    pub fn users(&self) -> usize {
        self.weights.len()
    }

    /// The weight of `user`; `None` if nobody has that number.
    pub fn weight(&self, user: u32) -> Option<u32> {
        self.weights.get(user as usize).copied().filter(|&weight| weight > 0)
    }

    /// The weight of `user`, zero if nobody has that number.
    pub(crate) fn weight_or_zero(&self, user: u32) -> u32 {
        self.weights.get(user as usize).copied().unwrap_or(0)
    }

    /// Whether a task that needs `demand` could run if nothing else did.
    pub fn can_hold(&self, demand: &[u64]) -> bool {
        demand.iter().zip(&self.capacity).all(|(demand, capacity)| demand <= capacity)
    }

    /// The part of `resource` that `amount` of it is, divided by the weight of `user`, in units of [`WHOLE`], rounded to the nearest.
    ///
    /// A function of the fraction alone: who holds a third of one resource and who holds a third of another have the same share, to
    /// the bit, in whatever steps they came to it. `None` if nobody has that number, there is no such resource, or `amount` is above the
    /// capacity.
    pub fn share(&self, user: u32, resource: usize, amount: u64) -> Option<u64> {
        let exists =
            self.has(user) && self.capacity.get(resource).is_some_and(|&capacity| amount <= capacity);
        exists.then(|| self.share_of_known(user, resource, amount))
    }

    /// Does the same for a user and a resource that exist, and an amount that fits; the user may have left if the amount is zero.
    pub(crate) fn share_of_known(&self, user: u32, resource: usize, amount: u64) -> u64 {
        let whole = u128::from(self.capacity[resource]) * u128::from(self.weights[user as usize].max(1));
        let scaled = u128::from(amount) << SHARE_BITS;
        ((scaled + whole / 2) / whole) as u64
    }

    /// The largest of the shares of `held`, by weight: the *dominant share* of `user` (§4.2.1). `None` if nobody has that number, or `held`
    /// is not an amount within the capacity for every resource.
    pub fn dominant_share(&self, user: u32, held: &[u64]) -> Option<u64> {
        let fits = held.len() == self.resources() && self.can_hold(held);
        (fits && self.has(user)).then(|| self.dominant_share_of_known(user, held))
    }

    /// Does the same for a user who exists and amounts that fit.
    pub(crate) fn dominant_share_of_known(&self, user: u32, held: &[u64]) -> u64 {
        let shares = held.iter().enumerate();
        shares.map(|(resource, &amount)| self.share_of_known(user, resource, amount)).max().unwrap_or(0)
    }

    /// The part of the cluster that is a user's own, divided by its weight: 1/n if all weigh the same. In units of [`WHOLE`], rounded as
    /// [`Cluster::share`] is, so that who holds exactly its part holds exactly this.
    pub fn fair_share(&self) -> u64 {
        self.part_of_fair_share(1, 1)
    }

    /// `part`/`of` of what is a user's own, over its weight, rounded once. Both are at most 2⁵³, and `part` is not above `of`.
    pub(crate) fn part_of_fair_share(&self, part: u64, of: u64) -> u64 {
        let whole = u128::from(of) * u128::from(self.total_weight.max(1));
        let scaled = u128::from(part) << SHARE_BITS;
        ((scaled + whole / 2) / whole) as u64
    }
}

fn check_weight(weight: u32) -> Result<(), ClusterError> {
    if (1..=MOST_WEIGHT).contains(&weight) { Ok(()) } else { Err(ClusterError::Weight(weight)) }
}

/// Whether a cluster can have this capacity.
fn check_capacity(capacity: &[u64]) -> Result<(), ClusterError> {
    if capacity.is_empty() {
        return Err(ClusterError::NoResources);
    }
    match capacity.iter().position(|&amount| amount == 0 || amount > 1 << 63) {
        Some(resource) => Err(ClusterError::Capacity { resource, found: capacity[resource] }),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_fraction_is_the_same_share() {
        let cluster = Cluster::new(vec![9, 18, 3_000_000], vec![1, 2]).unwrap();
        assert_eq!(cluster.share(0, 0, 3), cluster.share(0, 1, 6));
        assert_eq!(cluster.share(0, 0, 3), cluster.share(0, 2, 1_000_000));
        assert_eq!(cluster.share(1, 0, 6), cluster.share(0, 0, 3));
        assert_eq!(cluster.share(0, 0, 9), Some(WHOLE));
        assert_eq!(cluster.dominant_share(0, &[1, 6, 0]), cluster.share(0, 1, 6));
        assert_eq!(cluster.fair_share(), WHOLE.div_ceil(3) - 1);
        assert!(cluster.can_hold(&[9, 18, 0]));
        assert!(!cluster.can_hold(&[9, 19, 0]));
    }

    #[test]
    fn who_holds_her_part_holds_no_more_than_it() {
        for users in 1..=700 {
            let cluster = Cluster::new(vec![users, 3 * users], vec![1; users as usize]).unwrap();
            assert_eq!(
                [cluster.share(0, 0, 1), cluster.share(0, 1, 3)],
                [Some(cluster.fair_share()); 2],
                "{users} users"
            );
        }
        for weight in 1..=700 {
            let cluster = Cluster::new(vec![u64::from(weight) + 8], vec![weight, 8]).unwrap();
            let shares = [cluster.share(0, 0, u64::from(weight)), cluster.share(1, 0, 8)];
            assert_eq!(shares, [Some(cluster.fair_share()); 2], "weight {weight}");
        }
    }

    #[test]
    fn numbers_of_users_who_left_are_given_out_again() {
        let mut cluster = Cluster::new(vec![12], vec![1, 2, 3]).unwrap();
        assert_eq!(cluster.leave(3), Err(ClusterError::UnknownUser(3)));
        assert_eq!((cluster.leave(1), cluster.leave(0)), (Ok(()), Ok(())));
        assert_eq!(cluster.leave(0), Err(ClusterError::UnknownUser(0)));
        assert_eq!((cluster.users(), cluster.has(0), cluster.has(2)), (3, false, true));
        assert_eq!(cluster.fair_share(), (WHOLE + 1) / 3);
        assert_eq!((cluster.join(4), cluster.join(5), cluster.join(6)), (Ok(0), Ok(1), Ok(3)));
        assert_eq!(cluster, Cluster::new(vec![12], vec![4, 5, 3, 6]).unwrap());
    }

    #[test]
    fn what_nobody_has_is_none() {
        let mut cluster = Cluster::new(vec![9, 18], vec![1, 2]).unwrap();
        assert_eq!((cluster.weight(1), cluster.weight(2), cluster.weight(u32::MAX)), (Some(2), None, None));
        assert_eq!(
            (cluster.share(2, 0, 1), cluster.share(0, 2, 1), cluster.share(0, 0, 10)),
            (None, None, None)
        );
        for held in [&[1, 1, 1][..], &[1], &[10, 1], &[]] {
            assert_eq!(cluster.dominant_share(0, held), None);
        }
        assert_eq!(cluster.dominant_share(2, &[1, 1]), None);
        assert!(cluster.dominant_share(1, &[9, 1]).is_some());
        cluster.leave(1).unwrap();
        assert_eq!(
            (cluster.weight(1), cluster.share(1, 0, 1), cluster.dominant_share(1, &[0, 0])),
            (None, None, None)
        );
    }

    #[test]
    fn what_is_no_cluster_is_refused() {
        assert_eq!(Cluster::new(vec![], vec![1]), Err(ClusterError::NoResources));
        assert_eq!(Cluster::new(vec![4, 0], vec![]), Err(ClusterError::Capacity { resource: 1, found: 0 }));
        assert_eq!(Cluster::new(vec![4], vec![1, 0]), Err(ClusterError::Weight(0)));
        assert_eq!(Cluster::new(vec![4], vec![70_000]), Err(ClusterError::Weight(70_000)));
    }
}
