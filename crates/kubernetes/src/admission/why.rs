//! Why a workload waits.

use trueplane_fair::Nanos;

use super::Admission;
use super::quotas::OverQuota;

/// Why a workload waits. A resource is its index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Why {
    /// It needs more than the cluster has.
    Cluster {
        /// The resource.
        resource: usize,
        /// Amount that it needs, in units.
        needed: u64,
        /// Amount that there is, in units.
        found: u64,
    },
    /// It needs more than its tenant may hold, even if the tenant had nothing else.
    LargerThanLimit {
        /// The resource.
        resource: usize,
        /// Amount that it needs, in units.
        needed: u64,
        /// The limit, in units.
        limit: u64,
    },
    /// Others of its tenant are before it.
    Tenant {
        /// Number of workloads of its tenant that are before it.
        before: usize,
    },
    /// With it, its tenant would hold more than it may.
    Limit {
        /// The resource.
        resource: usize,
        /// The limit, in units.
        limit: u64,
    },
    /// With it, its tenant would hold more than its quota and what it may borrow.
    Quota {
        /// The resource of which it is too much, and whose quota that is.
        over: OverQuota,
        /// Amount that it needs, in units.
        needed: u64,
    },
    /// It would borrow what another tenant waits for, to which or to whose cohort that belongs.
    Claimed {
        /// The resource.
        resource: usize,
        /// The other tenant.
        tenant: String,
    },
    /// It needs more than its tenant could have by its quota and all that it may borrow.
    LargerThanQuota {
        /// The resource of which it is too much. What is left of it is what there would be if nobody used anything.
        over: OverQuota,
        /// Amount that it needs, in units.
        needed: u64,
    },
    /// Nothing of its tenant is to be admitted.
    OnHold,
    /// The cohort of its tenant, or one above that, is below itself or is not valid.
    Cohort {
        /// Its name.
        name: String,
    },
    /// A workload of another tenant has waited for longer than it has to, and is before all others.
    Overdue {
        /// The tenant of that workload.
        tenant: String,
    },
    /// Other tenants are before its own.
    Turn {
        /// Their names, the first one first.
        before: Vec<String>,
    },
    /// It is the next one, and what is free is not enough.
    Room {
        /// The resource.
        resource: usize,
        /// Amount that it needs, in units.
        needed: u64,
        /// Amount that is free, in units.
        free: u64,
    },
    /// Nothing keeps it: it is admitted by the next call of [`Admission::next`].
    Nothing,
}

impl Admission {
    /// The tenants whose candidates wait, the first one first. O(t log t) for t tenants.
    pub fn order(&mut self, now: Nanos) -> Vec<String> {
        self.settle(now);
        let order = self.scheduler.order(self.at(now)).expect("time goes on");
        order.iter().filter_map(|user| self.names.get(user).cloned()).collect()
    }

    /// Why the workload `id` waits, given the [order](Self::order) of tenants; `None` if it does not wait. O(w) for the w workloads of its tenant.
    pub fn why(&self, id: u64, order: &[String]) -> Option<Why> {
        let known = self.workloads.get(&id).filter(|known| !known.is_admitted)?;
        let needs = &known.workload.needs;
        let tenant = self.tenants.get(&known.workload.tenant)?;
        if let Some(resource) = tenant.never(needs, &self.capacity) {
            let (needed, found) = (needs[resource], self.capacity[resource]);
            return Some(match tenant.settings.limits[resource] {
                Some(limit) if needed > limit => Why::LargerThanLimit { resource, needed, limit },
                _ => Why::Cluster { resource, needed, found },
            });
        }
        let name = &known.workload.tenant;
        if let Some(over) = self.quotas.never(name, needs) {
            let needed = needs[over.resource];
            return Some(Why::LargerThanQuota { over, needed });
        }
        let before = tenant.waiting.range(..known.workload.place(id)).count();
        if before > 0 {
            return Some(Why::Tenant { before });
        }
        let held = self.scheduler.held(tenant.user).ok()?;
        if let Some(resource) = tenant.over_limit(held, needs) {
            let limit = tenant.settings.limits[resource].unwrap_or_default();
            return Some(Why::Limit { resource, limit });
        }
        if tenant.settings.is_on_hold {
            return Some(Why::OnHold);
        }
        if let Some(cohort) = self.quotas.lost_cohort(name) {
            return Some(Why::Cohort { name: cohort.to_owned() });
        }
        if let Some(over) = self.quotas.over(name, needs) {
            let needed = needs[over.resource];
            return Some(Why::Quota { over, needed });
        }
        if let Some((resource, owner)) = self.quotas.claimed(name, needs) {
            return Some(Why::Claimed { resource, tenant: owner.to_owned() });
        }
        let first = self.overdue(self.scheduler.now()).and_then(|first| self.workloads.get(&first));
        let other = first.filter(|first| first.workload.tenant != *name);
        if let Some(first) = other.filter(|_| !self.backfill) {
            return Some(Why::Overdue { tenant: first.workload.tenant.clone() });
        }
        let is_first = first.is_some() && other.is_none();
        let before = order.iter().take_while(|other| *other != name && !is_first);
        let before: Vec<String> = before.cloned().collect();
        if !before.is_empty() {
            return Some(Why::Turn { before });
        }
        let free = |resource: usize| self.capacity[resource].saturating_sub(self.held[resource]);
        let short = (0..needs.len()).find(|&resource| needs[resource] > free(resource));
        Some(short.map_or(Why::Nothing, |resource| Why::Room {
            resource,
            needed: needs[resource],
            free: free(resource),
        }))
    }
}
