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

mod claims;
mod quota;
mod tree;

use std::collections::{BTreeMap, BTreeSet};

use claims::Claims;
pub use quota::Quota;
use tree::{NodeId, Tree};

/// What is set for a cohort.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CohortSettings {
    /// The cohort to which it belongs, if it belongs to one.
    pub parent: Option<String>,
    /// What it has of each resource besides what its children lend to it. An empty list is nothing of any.
    pub quotas: Vec<Option<Quota>>,
    /// Whether nothing is to be admitted below it, as nobody can read what is set for it now. Not for tenants.
    pub is_unusable: bool,
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
    /// The same of tenants that are not there, and lend what they have.
    absent: BTreeMap<String, CohortSettings>,
    /// Whether something was set since the trees were built.
    is_old: bool,
    /// The amounts that are used.
    tree: Tree,
    /// What tenants wait for that is their own or their cohort's.
    claims: Claims,
    leaves: BTreeMap<String, NodeId>,
    /// Tenants by the root of their tree. Those of one tree may take quota from each other.
    families: BTreeMap<NodeId, Vec<String>>,
    /// Cohorts that are above themselves, and those below them.
    cyclic: BTreeSet<String>,
    /// Those, and cohorts that are unusable, and those below them.
    lost: BTreeSet<String>,
}

impl Quotas {
    /// Nobody has a quota of so many resources: nothing is limited.
    pub(super) fn new(resources: usize) -> Self {
        Self { resources, ..Self::default() }
    }

    /// The cohorts are these, and these tenants, as far as they are not there, lend what they have. O(n) if nothing is new.
    pub(super) fn set_others(
        &mut self,
        cohorts: BTreeMap<String, CohortSettings>,
        absent: BTreeMap<String, CohortSettings>,
    ) {
        self.is_old |= self.cohorts != cohorts || self.absent != absent;
        (self.cohorts, self.absent) = (cohorts, absent);
    }

    /// The tenant belongs to this cohort and has these quotas.
    pub(super) fn set_tenant(&mut self, name: &str, settings: CohortSettings) {
        if !is_limited(&settings) {
            self.is_old |= self.tenants.remove(name).is_some();
        } else if self.tenants.get(name) != Some(&settings) {
            self.tenants.insert(name.to_owned(), settings);
            self.is_old = true;
        }
    }

    /// Builds the trees anew if something was set. Returns whether it was. `held` tells what a tenant holds. O(n·m) for n tenants and cohorts and m
    /// resources.
    pub(super) fn build<'h>(&mut self, held: impl Fn(&str) -> &'h [u64]) -> bool {
        if !std::mem::take(&mut self.is_old) {
            return false;
        }
        self.find_lost();
        self.tree = Tree::new(self.resources);
        self.leaves.clear();
        self.families.clear();
        let mut cohorts: BTreeMap<String, NodeId> = BTreeMap::new();
        let absent = self
            .absent
            .iter()
            .filter(|(name, settings)| !self.tenants.contains_key(*name) && is_limited(settings));
        let tenants: Vec<(String, CohortSettings)> = self
            .tenants
            .iter()
            .chain(absent)
            .map(|(name, settings)| (name.clone(), settings.clone()))
            .collect();
        for (name, settings) in tenants {
            let parent = settings.parent.as_ref().map(|parent| self.cohort(parent, &mut cohorts));
            let leaf = self.tree.add(parent, &settings.quotas);
            self.leaves.insert(name, leaf);
        }
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
        self.claims = Claims::new(&self.tree);
        true
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

    /// Finds the cohorts that are above themselves or unusable, and those below them. O(n·d) for n cohorts of which each has at most d above it.
    fn find_lost(&mut self) {
        (self.cyclic, self.lost) = (BTreeSet::new(), BTreeSet::new());
        for name in self.cohorts.keys() {
            let mut seen = BTreeSet::new();
            let (mut next, mut is_lost) = (Some(name), false);
            while let Some(cohort) = next {
                if !seen.insert(cohort) {
                    self.cyclic.insert(name.clone());
                    is_lost = true;
                    break;
                }
                let settings = self.cohorts.get(cohort);
                is_lost |= settings.is_some_and(|settings| settings.is_unusable);
                next = settings.and_then(|settings| settings.parent.as_ref());
            }
            if is_lost {
                self.lost.insert(name.clone());
            }
        }
    }

    /// Whether the cohort is above itself or unusable, or below one that is.
    pub(super) fn is_lost(&self, cohort: &str) -> bool {
        self.lost.contains(cohort)
    }

    /// The cohort of the tenant, if it is above itself or unusable, or below one that is. Nothing of the tenant is admitted then.
    pub(super) fn lost_cohort(&self, tenant: &str) -> Option<&str> {
        let parent = self.tenants.get(tenant)?.parent.as_deref();
        parent.filter(|parent| self.lost.contains(*parent))
    }

    /// The tenants that may take quota from some of these, or these from them, and that have quotas.
    pub(super) fn families(&self, tenants: &BTreeSet<String>) -> Vec<String> {
        self.roots(tenants).iter().flat_map(|root| self.families[root].iter().cloned()).collect()
    }

    /// The roots of the trees of these tenants.
    fn roots(&self, tenants: &BTreeSet<String>) -> BTreeSet<NodeId> {
        tenants.iter().filter_map(|name| Some(self.tree.root(*self.leaves.get(name)?))).collect()
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

    /// The tenant waits for these amounts, and can have them as far as its own settings say; or it waits for nothing. It counts from the next
    /// [`refresh`](Self::refresh) on.
    pub(super) fn set_wait(&mut self, tenant: &str, needs: Option<Vec<u64>>) {
        let needs = needs.filter(|_| self.lost_cohort(tenant).is_none());
        if let Some(&leaf) = self.leaves.get(tenant) {
            self.claims.set(leaf, needs);
        }
    }

    /// Finds out what is claimed in the trees of these tenants. O(n·d·m·log d) for n nodes of these trees.
    pub(super) fn refresh(&mut self, tenants: &BTreeSet<String>) {
        for root in self.roots(tenants) {
            let leaves: Vec<NodeId> = self.families[&root].iter().map(|name| self.leaves[name]).collect();
            self.claims.refresh(&self.tree, root, &leaves);
        }
    }

    /// The resource that the tenant would borrow with `needs` and that another one waits for, to which or to whose cohort it belongs, and the name of that
    /// one. O(d³·m), and O(n·d) for n tenants if there is such a resource.
    pub(super) fn claimed(&self, tenant: &str, needs: &[u64]) -> Option<(usize, &str)> {
        let &leaf = self.leaves.get(tenant)?;
        let short = |resource: usize| {
            let shortage = self.claims.short(&self.tree, leaf, resource, needs[resource])?;
            Some((resource, shortage))
        };
        let (resource, shortage) = (0..self.resources).find_map(short)?;
        let is_kept_for = |name: &&String| {
            let other = self.leaves[*name];
            other != leaf && self.claims.is_part(&self.tree, other, resource, shortage)
        };
        let family = &self.families[&self.tree.root(leaf)];
        Some((resource, family.iter().find(is_kept_for).map_or("", String::as_str)))
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

/// Whether a tenant with these settings is limited by anything.
fn is_limited(settings: &CohortSettings) -> bool {
    settings.parent.is_some() || settings.quotas.iter().any(Option::is_some)
}

#[cfg(test)]
mod tests;
