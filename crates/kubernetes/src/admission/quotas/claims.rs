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
//! - A claim passes the nodes between its tenant and its level, and counts there, too: each of them may have a borrowing limit.
//!
//! Example: a cohort `team` with 10 cores has the tenants `a` and `b` without a quota of their own. A tenant `c` is in the cohort `all`, above `team`. If `a`
//! waits for 6 cores, its level is `team`, and `c` leaves it 6. If `a` and `b` wait for 6 each, `c` leaves them 10.
//!
//! Example of a limit: the cohort `team` has 10 cores, of which its tenant `c` holds 8. Below it, the cohort `pair` has nothing of its own and borrows at
//! most 6, and its tenants are `a` and `b`. If `a` waits for 2 cores, its level is `team`. If `b` waits for 5, it borrows from above `team`, so its level is
//! higher. It leaves `a` 2 of the 6 cores that `pair` may borrow: it can have 4, and not 5.

use std::collections::BTreeMap;

use super::tree::{NodeId, Tree};

/// A tenant that waits for something below a root.
#[derive(Clone, Debug)]
struct Claim {
    needs: Vec<u64>,
    level: NodeId,
}

/// Where a resource does not suffice for a tenant and for what others claim.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shortage {
    /// The node that may not use so much.
    node: NodeId,
    /// Claims count whose level is below this one; all of them if there is none.
    level: Option<NodeId>,
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
    /// Of each node and resource, what claims of tenants below the node would take of it on their way to a level above it, by that level.
    through: Vec<BTreeMap<NodeId, u64>>,
}

impl Claims {
    /// Nobody waits.
    pub(super) fn new(tree: &Tree) -> Self {
        let none = vec![0; tree.nodes() * tree.resources()];
        let through = vec![BTreeMap::new(); none.len()];
        Self { below: none.clone(), at: none, through, ..Self::default() }
    }

    /// The tenant waits for this, or for nothing. It counts from the next [`refresh`](Self::refresh) on.
    pub(super) fn set(&mut self, leaf: NodeId, needs: Option<Vec<u64>>) {
        match needs {
            Some(needs) => drop(self.waits.insert(leaf, needs)),
            None => drop(self.waits.remove(&leaf)),
        }
    }

    /// Finds the claims in a tree anew, whose tenants are `leaves`. O(n·d·m·log d), and memory of O(n·d·m), for n nodes, a depth of d and m resources.
    pub(super) fn refresh(&mut self, tree: &Tree, root: NodeId, leaves: &[NodeId]) {
        let nodes = tree.nodes_of(root);
        for &node in nodes {
            for resource in 0..tree.resources() {
                let place = tree.place(node, resource);
                (self.below[place], self.at[place]) = (0, 0);
                self.through[place].clear();
            }
        }
        for leaf in leaves {
            self.claims.remove(leaf);
            let Some(needs) = self.waits.get(leaf) else { continue };
            let Some(level) = level(tree, *leaf, needs).filter(|level| *level != root) else { continue };
            for (resource, &needed) in needs.iter().enumerate() {
                let (mut node, mut taken) = (*leaf, needed);
                while taken > 0
                    && node != level
                    && let Some(parent) = tree.parent(node)
                {
                    let through = self.through[tree.place(node, resource)].entry(level).or_default();
                    *through = through.saturating_add(taken);
                    taken = tree.passed(node, resource, 0, taken);
                    node = parent;
                }
                let at = &mut self.at[tree.place(level, resource)];
                *at = at.saturating_add(taken);
            }
            self.claims.insert(*leaf, Claim { needs: needs.clone(), level });
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

    /// Where the resource does not suffice for the tenant and for what others claim, if the tenant had so much more; none if the tenant leaves others what
    /// they claim. O(d³) for a depth of d.
    pub(super) fn short(&self, tree: &Tree, leaf: NodeId, resource: usize, amount: u64) -> Option<Shortage> {
        if amount == 0 || !tree.is_limited(leaf, resource) || tree.is_within(leaf, resource, amount) {
            return None;
        }
        // The tenant rises to the node at which it borrows from nobody, behind the claims below that node. The higher the node, the more claims are below it.
        let mut next = tree.parent(leaf);
        while let Some(level) = next {
            let behind = match self.rise(tree, leaf, resource, amount, level) {
                Ok(behind) => behind,
                Err(node) => return Some(Shortage { node, level: Some(level) }),
            };
            if tree.is_within(level, resource, behind) {
                let node = first_refusal(tree, level, resource, behind)?;
                return Some(Shortage { node, level: Some(level) });
            }
            next = tree.parent(level);
        }
        Some(Shortage { node: tree.root(leaf), level: None })
    }

    /// What `level` would use for the tenant and for all that is claimed below it. An error is the lowest node below it that may not use what the tenant and the
    /// claims would take there. The tenant's own claim does not count.
    fn rise(
        &self,
        tree: &Tree,
        leaf: NodeId,
        resource: usize,
        amount: u64,
        level: NodeId,
    ) -> Result<u64, NodeId> {
        let own = self.claims.get(&leaf);
        let mut own_taken = own.map_or(0, |own| own.needs[resource]);
        // At each node: what the tenant takes, and what is claimed there without the tenant's own claim, and with it.
        let (mut node, mut amount, mut reserved, mut with_own) =
            (leaf, amount, 0u64, self.reserved(tree, leaf, resource));
        loop {
            // Levels are above the node: the highest has the lowest number.
            let through = self.through[tree.place(node, resource)].iter().filter(|(at, _)| **at > level);
            let mut before = through.fold(reserved, |sum, (_, taken)| sum.saturating_add(*taken));
            if own.is_some_and(|own| own.level < node && own.level > level) {
                before = before.saturating_sub(own_taken);
            }
            if !tree.may_use(node, resource, amount.saturating_add(before)) {
                return Err(node);
            }
            let Some(parent) = tree.parent(node) else { return Err(node) };
            let passed = |before: u64, more: u64| tree.passed(node, resource, before, more);
            let place = tree.place(parent, resource);
            let below =
                self.below[place].saturating_sub(passed(0, with_own)).saturating_add(passed(0, reserved));
            (amount, own_taken) = (passed(before, amount), passed(0, own_taken));
            node = parent;
            if node == level {
                return Ok(below.saturating_add(amount));
            }
            let own = own.filter(|own| own.level == node).map_or(0, |_| own_taken);
            reserved = with_level(tree, node, resource, below, self.at[place].saturating_sub(own));
            with_own = self.reserved(tree, node, resource);
        }
    }

    /// Whether the tenant claims some of what does not suffice.
    pub(super) fn is_part(&self, tree: &Tree, leaf: NodeId, resource: usize, shortage: Shortage) -> bool {
        self.claims.get(&leaf).is_some_and(|claim| {
            claim.needs[resource] > 0
                && tree.is_at_or_above(shortage.node, leaf)
                && shortage
                    .level
                    .is_none_or(|level| claim.level != level && tree.is_at_or_above(level, claim.level))
        })
    }
}

/// The first node above `node` that may not use what arrives there, if `node` uses so much more.
fn first_refusal(tree: &Tree, mut node: NodeId, resource: usize, mut amount: u64) -> Option<NodeId> {
    while let Some(parent) = tree.parent(node) {
        amount = tree.passed(node, resource, 0, amount);
        node = parent;
        if amount > 0 && !tree.may_use(node, resource, amount) {
            return Some(node);
        }
    }
    None
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
