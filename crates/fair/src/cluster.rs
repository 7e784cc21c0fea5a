//! A cluster as one pool of resources, and who shares it.

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
    weights: Vec<u32>,
    total_weight: u64,
}

/// Why there is no such cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
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
}

impl Cluster {
    /// A cluster of so much of every resource, for users of these weights.
    ///
    /// # Errors
    ///
    /// There is no resource, nothing of one or more than 2⁶³ of it, a weight is not within 1 and [`MOST_WEIGHT`], or there are too many
    /// users.
    pub fn new(capacity: Vec<u64>, weights: Vec<u32>) -> Result<Self, ClusterError> {
        if capacity.is_empty() {
            return Err(ClusterError::NoResources);
        }
        if let Some(resource) = capacity.iter().position(|&amount| amount == 0 || amount > 1 << 63) {
            return Err(ClusterError::Capacity { resource, found: capacity[resource] });
        }
        let mut cluster = Self { capacity, weights: Vec::new(), total_weight: 0 };
        for weight in weights {
            cluster.join(weight)?;
        }
        Ok(cluster)
    }

    /// One user more; returns its number.
    ///
    /// # Errors
    ///
    /// The weight is not within 1 and [`MOST_WEIGHT`], or there are too many users; nothing has changed.
    pub fn join(&mut self, weight: u32) -> Result<u32, ClusterError> {
        if weight == 0 || weight > MOST_WEIGHT {
            return Err(ClusterError::Weight(weight));
        }
        let user = u32::try_from(self.weights.len())
            .ok()
            .filter(|&user| user < u32::MAX)
            .ok_or(ClusterError::Users)?;
        self.weights.push(weight);
        self.total_weight += u64::from(weight);
        Ok(user)
    }

    /// Capacity of every resource, in units.
    pub fn capacity(&self) -> &[u64] {
        &self.capacity
    }

    /// Number of resources.
    pub fn resources(&self) -> usize {
        self.capacity.len()
    }

    /// Number of users.
    pub fn users(&self) -> usize {
        self.weights.len()
    }

    /// The weight of `user`.
    pub fn weight(&self, user: u32) -> u32 {
        self.weights[user as usize]
    }

    /// Whether a task that needs `demand` could run if nothing else did.
    pub fn can_hold(&self, demand: &[u64]) -> bool {
        demand.iter().zip(&self.capacity).all(|(demand, capacity)| demand <= capacity)
    }

    /// The part of `resource` that `amount` of it is, divided by the weight of `user`, in units of [`WHOLE`], rounded to the nearest.
    ///
    /// A function of the fraction alone: who holds a third of one resource and who holds a third of another have the same share, to
    /// the bit, in whatever steps they came to it. `amount` is at most the capacity.
    pub fn share(&self, user: u32, resource: usize, amount: u64) -> u64 {
        let whole = u128::from(self.capacity[resource]) * u128::from(self.weights[user as usize]);
        let scaled = u128::from(amount) << SHARE_BITS;
        ((scaled + whole / 2) / whole) as u64
    }

    /// The largest of the shares of `held`, by weight: the *dominant share* of `user` (§4.2.1).
    pub fn dominant_share(&self, user: u32, held: &[u64]) -> u64 {
        held.iter()
            .enumerate()
            .map(|(resource, &amount)| self.share(user, resource, amount))
            .max()
            .unwrap_or(0)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_fraction_is_the_same_share() {
        let cluster = Cluster::new(vec![9, 18, 3_000_000], vec![1, 2]).unwrap();
        assert_eq!(cluster.share(0, 0, 3), cluster.share(0, 1, 6));
        assert_eq!(cluster.share(0, 0, 3), cluster.share(0, 2, 1_000_000));
        assert_eq!(cluster.share(1, 0, 6), cluster.share(0, 0, 3));
        assert_eq!(cluster.share(0, 0, 9), WHOLE);
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
                [cluster.fair_share(); 2],
                "{users} users"
            );
        }
        for weight in 1..=700 {
            let cluster = Cluster::new(vec![u64::from(weight) + 8], vec![weight, 8]).unwrap();
            let shares = [cluster.share(0, 0, u64::from(weight)), cluster.share(1, 0, 8)];
            assert_eq!(shares, [cluster.fair_share(); 2], "weight {weight}");
        }
    }

    #[test]
    fn what_is_no_cluster_is_refused() {
        assert_eq!(Cluster::new(vec![], vec![1]), Err(ClusterError::NoResources));
        assert_eq!(Cluster::new(vec![4, 0], vec![]), Err(ClusterError::Capacity { resource: 1, found: 0 }));
        assert_eq!(Cluster::new(vec![4], vec![1, 0]), Err(ClusterError::Weight(0)));
        assert_eq!(Cluster::new(vec![4], vec![70_000]), Err(ClusterError::Weight(70_000)));
    }
}
