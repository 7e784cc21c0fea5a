//! Quotas: how much is whose own, who lends it to whom, and how much may be borrowed.
//!
//! Tenants are the leaves of trees, and cohorts are the inner nodes. What a node does not keep for itself, it lends to its parent, whose other
//! children may borrow it. As in Kueue (KEP-79, "hierarchical cohorts"):
//!
//! - *Subtree quota* of a node: its nominal quota and what its children lend to it.
//! - *Guaranteed* to a node: its subtree quota above its lending limit. Nobody else can have it.
//! - *Usage* of a node: for a tenant what it holds, for a cohort what its children use above what is guaranteed to them.
//! - A root may use its subtree quota. Every other node may use its subtree quota and its borrowing limit.
//!
//! Example: a cohort has the tenants `a` with 10 cores, of which it lends at most 4, and `b` with 6. The subtree quota of `a` is 10, and 6 of them
//! are guaranteed. That of the cohort is 4 + 6 = 10. So `b` alone may hold 10, and `a` alone 6 + 10 = 16. If `b` holds 10, 6 are left for `a`.

mod quota;
mod tree;

use std::collections::{BTreeMap, BTreeSet};

pub use quota::Quota;
use tree::{NodeId, Tree};

/// What is set for a cohort.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CohortSettings {
    /// The cohort to which it belongs, if it belongs to one.
    pub parent: Option<String>,
    /// What it has of each resource besides what its children lend to it. An empty list is nothing of any.
    pub quotas: Vec<Option<Quota>>,
}

/// Why the quotas do not allow something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OverQuota {
    /// The resource.
    pub resource: usize,
    /// Amount that the tenant could have now, in units.
    pub left: u64,
    /// The cohort of which nothing more can be had; none if it is the tenant itself that may have no more.
    pub cohort: Option<String>,
}

/// The quotas of all tenants and cohorts, and what is used of them.
#[derive(Clone, Debug, Default)]
pub(super) struct Quotas {
    resources: usize,
    cohorts: BTreeMap<String, CohortSettings>,
    /// The cohort and the quotas of tenants that have any of both.
    tenants: BTreeMap<String, CohortSettings>,
    tree: Tree,
    leaves: BTreeMap<String, NodeId>,
    /// Tenants by the root of their tree. Those of one tree may take quota from each other.
    families: BTreeMap<NodeId, Vec<String>>,
    /// Cohorts that are above themselves, and those below them.
    cyclic: BTreeSet<String>,
}

impl Quotas {
    /// Nobody has a quota of so many resources: nothing is limited.
    pub(super) fn new(resources: usize) -> Self {
        Self { resources, ..Self::default() }
    }

    /// The cohorts are these. Returns whether that is a change. `held` tells what a tenant holds.
    pub(super) fn set_cohorts<'h>(
        &mut self,
        cohorts: BTreeMap<String, CohortSettings>,
        held: impl Fn(&str) -> &'h [u64],
    ) -> bool {
        let is_new = self.cohorts != cohorts;
        if is_new {
            self.cohorts = cohorts;
            self.build(held);
        }
        is_new
    }

    /// The tenant belongs to this cohort and has these quotas. Returns whether that is a change. `held` tells what a tenant holds.
    pub(super) fn set_tenant<'h>(
        &mut self,
        name: &str,
        settings: CohortSettings,
        held: impl Fn(&str) -> &'h [u64],
    ) -> bool {
        let is_limited = settings.parent.is_some() || settings.quotas.iter().any(Option::is_some);
        let is_new = match self.tenants.get(name) {
            Some(before) => !is_limited || *before != settings,
            None => is_limited,
        };
        if is_new {
            if is_limited {
                self.tenants.insert(name.to_owned(), settings);
            } else {
                self.tenants.remove(name);
            }
            self.build(held);
        }
        is_new
    }

    /// Builds the trees anew. O(n·m) for n tenants and cohorts and m resources.
    fn build<'h>(&mut self, held: impl Fn(&str) -> &'h [u64]) {
        self.cyclic = self.find_cyclic();
        self.tree = Tree::new(self.resources);
        self.leaves.clear();
        self.families.clear();
        let mut cohorts: BTreeMap<String, NodeId> = BTreeMap::new();
        let tenants = std::mem::take(&mut self.tenants);
        for (name, settings) in &tenants {
            let parent = settings.parent.as_ref().map(|parent| self.cohort(parent, &mut cohorts));
            let leaf = self.tree.add(parent, &settings.quotas);
            self.leaves.insert(name.clone(), leaf);
        }
        self.tenants = tenants;
        // A cohort without a tenant lends what it has, too.
        let names: Vec<String> = self.cohorts.keys().cloned().collect();
        for name in &names {
            self.cohort(name, &mut cohorts);
        }
        self.tree.sum();
        for (name, &leaf) in &self.leaves {
            self.families.entry(self.tree.root(leaf)).or_default().push(name.clone());
            self.tree.take(leaf, held(name));
        }
    }

    /// The node of a cohort, which is made with those above it if there is none yet. One without settings has nothing of its own.
    fn cohort(&mut self, name: &str, known: &mut BTreeMap<String, NodeId>) -> NodeId {
        // From the cohort up to one that is known, and then down again.
        let mut missing = Vec::new();
        let mut next = Some(name.to_owned());
        let mut parent = None;
        while let Some(name) = next.take() {
            if let Some(&node) = known.get(&name) {
                parent = Some(node);
                break;
            }
            let settings = self.cohorts.get(&name).cloned().unwrap_or_default();
            // Nothing is admitted below a cycle; where it is cut does not matter.
            next = settings.parent.filter(|_| !self.cyclic.contains(&name));
            missing.push((name, settings.quotas));
        }
        while let Some((name, quotas)) = missing.pop() {
            let node = self.tree.add(parent, &quotas);
            known.insert(name, node);
            parent = Some(node);
        }
        parent.expect("the cohort itself is known or was missing")
    }

    /// Cohorts that are above themselves, and those below them. O(n·d) for n cohorts of which each has at most d above it.
    fn find_cyclic(&self) -> BTreeSet<String> {
        let is_cyclic = |name: &&String| {
            let mut seen = BTreeSet::from([*name]);
            let mut next = self.cohorts.get(*name);
            while let Some(parent) = next.and_then(|settings| settings.parent.as_ref()) {
                if !seen.insert(parent) {
                    return true;
                }
                next = self.cohorts.get(parent);
            }
            false
        };
        self.cohorts.keys().filter(is_cyclic).cloned().collect()
    }

    /// Whether the cohort is above itself, or below one that is.
    pub(super) fn is_cyclic(&self, cohort: &str) -> bool {
        self.cyclic.contains(cohort)
    }

    /// The cohort of the tenant, if it is above itself or below one that is. Nothing of the tenant is admitted then.
    pub(super) fn lost_cohort(&self, tenant: &str) -> Option<&str> {
        let parent = self.tenants.get(tenant)?.parent.as_deref();
        parent.filter(|parent| self.cyclic.contains(*parent))
    }

    /// The tenants that may take quota from each other with this one; itself is among them.
    pub(super) fn family(&self, tenant: &str) -> Vec<String> {
        let family = self.leaves.get(tenant).and_then(|&leaf| self.families.get(&self.tree.root(leaf)));
        family.cloned().unwrap_or_else(|| vec![tenant.to_owned()])
    }

    /// The tenant holds so much more from here on. O(d·m).
    pub(super) fn take(&mut self, tenant: &str, amounts: &[u64]) {
        if let Some(&leaf) = self.leaves.get(tenant) {
            self.tree.take(leaf, amounts);
        }
    }

    /// The tenant holds so much less from here on. O(d·m).
    pub(super) fn give(&mut self, tenant: &str, amounts: &[u64]) {
        if let Some(&leaf) = self.leaves.get(tenant) {
            self.tree.give(leaf, amounts);
        }
    }

    /// Why the tenant cannot have `needs` now, if the quotas are why. O(d·m) for d cohorts above it and m resources.
    pub(super) fn over(&self, tenant: &str, needs: &[u64]) -> Option<OverQuota> {
        let &leaf = self.leaves.get(tenant)?;
        let needed = |resource: &usize| needs[*resource] > 0;
        let (resource, (left, node)) = (0..self.resources)
            .filter(needed)
            .map(|resource| (resource, self.tree.available(leaf, resource)))
            .find(|(resource, (left, _))| needs[*resource] > *left)?;
        Some(OverQuota { resource, left, cohort: self.name_of(tenant, leaf, node) })
    }

    /// Whether the tenant would borrow some of the resource with `needs`.
    pub(super) fn borrows(&self, tenant: &str, needs: &[u64], resource: usize) -> bool {
        let Some(&leaf) = self.leaves.get(tenant) else { return false };
        needs[resource] > self.tree.own(leaf, resource)
    }

    /// Whether the tenant could have `needs` without borrowing. O(d·m).
    pub(super) fn is_own(&self, tenant: &str, needs: &[u64]) -> bool {
        (0..self.resources).all(|resource| !self.borrows(tenant, needs, resource))
    }

    /// Why the tenant could not have `needs` even if nobody used anything, if the quotas are why. O(d·m).
    pub(super) fn never(&self, tenant: &str, needs: &[u64]) -> Option<OverQuota> {
        let &leaf = self.leaves.get(tenant)?;
        let (resource, (left, node)) = (0..self.resources)
            .map(|resource| (resource, self.tree.most(leaf, resource)))
            .find(|(resource, (most, _))| needs[*resource] > *most)?;
        Some(OverQuota { resource, left, cohort: self.name_of(tenant, leaf, node) })
    }

    /// The name of the cohort that is `node`, so many steps above the tenant.
    fn name_of(&self, tenant: &str, leaf: NodeId, node: NodeId) -> Option<String> {
        let mut name = None;
        let mut next = self.tenants.get(tenant)?.parent.clone();
        for _ in 0..self.tree.steps(leaf, node) {
            name = next.take();
            next = name.as_ref().and_then(|name| self.cohorts.get(name)?.parent.clone());
        }
        name
    }
}

#[cfg(test)]
mod tests;
