//! Claims: what tenants wait for that is their own or their cohort's, and which tenants leave it to them.
//!
//! A tenant that waits has a *level*: the lowest node, from the tenant upwards, that would use no more than its subtree quota with what the tenant waits
//! for. A tenant whose own quota is enough has itself as its level. One that borrows only what others of its cohort lend, or what the cohort itself has,
//! has the cohort as its level.
//!
//! - If the level of a tenant is above that of another one, it would borrow what the other one waits for. It leaves the other one that much.
//! - Tenants of one level take turns, as what they wait for belongs to all of them. To those whose levels are above, they count as no more than what is
//!   left of the quota of their level.
//! - A tenant whose level is a root is left nothing, as nobody else's level is above that.
//!
//! Example: a cohort `team` with 10 cores has the tenants `a` and `b` without a quota of their own. A tenant `c` is in the cohort `all`, above `team`. If `a`
//! waits for 6 cores, its level is `team`, and `c` leaves it 6. If `a` and `b` wait for 6 each, `c` leaves them 10.

use std::collections::BTreeMap;

use super::tree::{NodeId, Tree};

/// A tenant that waits for something below a root.
#[derive(Clone, Debug)]
struct Claim {
    needs: Vec<u64>,
    level: NodeId,
    /// Amounts that it would take of its level.
    taken: Vec<u64>,
}

/// The claims of all tenants.
#[derive(Clone, Debug, Default)]
pub(super) struct Claims {
    /// What tenants wait for, if nothing but quotas and turns keeps it from them.
    waits: BTreeMap<NodeId, Vec<u64>>,
    claims: BTreeMap<NodeId, Claim>,
    /// Of each node and resource, what is claimed below the node and what of that the node would use.
    below: Vec<u64>,
    /// Of each node and resource, what tenants of this level would take.
    at: Vec<u64>,
}

impl Claims {
    /// Nobody waits.
    pub(super) fn new(tree: &Tree) -> Self {
        let none = vec![0; tree.nodes() * tree.resources()];
        Self { below: none.clone(), at: none, ..Self::default() }
    }

    /// The tenant waits for this, or for nothing. It counts from the next [`refresh`](Self::refresh) on.
    pub(super) fn set(&mut self, leaf: NodeId, needs: Option<Vec<u64>>) {
        match needs {
            Some(needs) => drop(self.waits.insert(leaf, needs)),
            None => drop(self.waits.remove(&leaf)),
        }
    }

    /// Finds the claims in a tree anew, whose tenants are `leaves`. O(n·d·m) for n nodes, a depth of d and m resources.
    pub(super) fn refresh(&mut self, tree: &Tree, root: NodeId, leaves: &[NodeId]) {
        let nodes = tree.nodes_of(root);
        for &node in nodes {
            for resource in 0..tree.resources() {
                let place = tree.place(node, resource);
                (self.below[place], self.at[place]) = (0, 0);
            }
        }
        for leaf in leaves {
            self.claims.remove(leaf);
            let Some(needs) = self.waits.get(leaf) else { continue };
            let Some(level) = level(tree, *leaf, needs).filter(|level| *level != root) else { continue };
            let taken: Vec<u64> = (0..needs.len())
                .map(|resource| tree.arriving(*leaf, resource, needs[resource], level))
                .collect();
            for (resource, taken) in taken.iter().enumerate() {
                let at = &mut self.at[tree.place(level, resource)];
                *at = at.saturating_add(*taken);
            }
            self.claims.insert(*leaf, Claim { needs: needs.clone(), level, taken });
        }
        // Children come after their parents.
        for &node in nodes.iter().rev() {
            let Some(parent) = tree.parent(node) else { continue };
            for resource in 0..tree.resources() {
                let passed = tree.passed(node, resource, 0, self.reserved(tree, node, resource));
                let below = &mut self.below[tree.place(parent, resource)];
                *below = below.saturating_add(passed);
            }
        }
    }

    /// What the node would use for claims at it and below it.
    fn reserved(&self, tree: &Tree, node: NodeId, resource: usize) -> u64 {
        let place = tree.place(node, resource);
        with_level(tree, node, resource, self.below[place], self.at[place])
    }

    /// The node that would have too little of the resource for what is claimed below it, if the tenant had so much more; none if the tenant leaves
    /// others what they claim. O(d).
    pub(super) fn short(&self, tree: &Tree, leaf: NodeId, resource: usize, amount: u64) -> Option<NodeId> {
        if amount == 0 || !tree.is_limited(leaf, resource) || tree.is_within(leaf, resource, amount) {
            return None;
        }
        let own = self.claims.get(&leaf);
        // It rises to the node at which it borrows from nobody, behind the claims below that node. Its own claim does not count.
        let (mut node, mut amount, mut reserved) = (leaf, amount, 0);
        let mut claimed = loop {
            if !tree.may_use(node, resource, amount.saturating_add(reserved)) {
                return Some(node);
            }
            let Some(parent) = tree.parent(node) else { return Some(node) };
            let with_own = tree.passed(node, resource, 0, self.reserved(tree, node, resource));
            let without = tree.passed(node, resource, 0, reserved);
            amount = tree.passed(node, resource, reserved, amount);
            let place = tree.place(parent, resource);
            let below = self.below[place].saturating_sub(with_own).saturating_add(without);
            node = parent;
            if tree.is_within(node, resource, below.saturating_add(amount)) {
                break below.saturating_add(amount);
            }
            let own = own.filter(|own| own.level == node).map_or(0, |own| own.taken[resource]);
            reserved = with_level(tree, node, resource, below, self.at[place].saturating_sub(own));
        };
        // There may be too little above that node, for it and for the claims.
        while let Some(parent) = tree.parent(node) {
            claimed = tree.passed(node, resource, 0, claimed);
            node = parent;
            if claimed > 0 && !tree.may_use(node, resource, claimed) {
                return Some(node);
            }
        }
        None
    }

    /// Whether the tenant claims some of the resource that is in the tree below `node`, or at it.
    pub(super) fn is_below(&self, tree: &Tree, leaf: NodeId, resource: usize, node: NodeId) -> bool {
        let claim = self.claims.get(&leaf).filter(|claim| claim.needs[resource] > 0);
        claim.is_some_and(|claim| tree.is_at_or_above(node, claim.level))
    }
}

/// What a node would use for what is claimed below it, and for what tenants of its level would take of what is left of its quota.
fn with_level(tree: &Tree, node: NodeId, resource: usize, below: u64, at: u64) -> u64 {
    below.saturating_add(at.min(tree.left_of_quota(node, resource, below)))
}

/// The lowest node that borrows nothing of any resource if the tenant has `needs` more; none if the quotas do not allow that it has. O(d·m).
fn level(tree: &Tree, leaf: NodeId, needs: &[u64]) -> Option<NodeId> {
    let mut highest = leaf;
    for (resource, &needs) in needs.iter().enumerate() {
        if needs == 0 || !tree.is_limited(leaf, resource) {
            continue;
        }
        let (mut node, mut amount) = (leaf, needs);
        while !tree.is_within(node, resource, amount) {
            if !tree.may_use(node, resource, amount) {
                return None;
            }
            amount = tree.passed(node, resource, 0, amount);
            node = tree.parent(node)?;
        }
        // Parents come before their children.
        highest = highest.min(node);
    }
    Some(highest)
}
