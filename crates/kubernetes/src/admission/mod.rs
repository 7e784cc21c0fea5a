//! Who is admitted next: tenants, what they hold, and the workloads that wait.
//!
//! SDRF chooses the tenant ([`SdrfScheduler`], as in `trueplane fair simulate`). What is around it:
//!
//! 1. Of every tenant, one workload is a candidate: that of the highest priority, and of equal ones the one that was created first.
//! 2. A workload that needs more than the cluster has, or more than its tenant's limit, is put aside until that changes.
//! 3. A tenant whose candidate would take it over its limit waits, and the other tenants do not wait for it.
//! 4. The same holds for a candidate that the [quotas](Quota) of its tenant and of the cohorts above it do not allow. While a tenant waits for its own
//!    quota, or for that of a cohort above it, the tenants that would borrow it leave it that much.
//! 5. If the candidate of a tenant has waited for the longest wait of the tenant, and the tenant got nothing meanwhile, it is before all others.
//! 6. The capacity may fall below what tenants hold, as when nodes disappear. Then nothing more of that resource is given out.
//!
//! Nothing here knows Kubernetes, reads a clock or has a random number: the same calls give the same answers.

mod choose;
mod persist;
mod quotas;
mod record;
mod saved;
mod tenant;
mod tenants;
mod why;
mod workload;

use std::collections::{BTreeMap, BTreeSet};

pub use quotas::{CohortSettings, OverQuota, Quota};
pub use record::{Record, Step};
pub use saved::{Saved, SavedError};
pub use tenant::{Share, TenantError, TenantSettings};
pub use why::Why;
pub use workload::Workload;

use trueplane_fair::{Memory, Nanos, SdrfScheduler};

use quotas::Quotas;
use tenant::Tenant;

/// The largest amount of a resource that one workload counts as, in units. More counts as this much.
pub const MOST_AMOUNT: u64 = 1 << 44;

/// The largest capacity of a resource, and the most that all tenants hold of it, in units.
const MOST_CAPACITY: u64 = 1 << 62;

/// A workload and how it is.
#[derive(Clone, Debug)]
struct Known {
    workload: Workload,
    is_admitted: bool,
}

/// Decides who is admitted next.
///
/// Times are nanoseconds from a fixed moment. A time before one that was told earlier counts as that one.
///
/// A workload costs O(log n) for n workloads, and what the policy takes; with quotas also O(t·d·m) for t tenants in a tree of depth d and m
/// resources. A change of the capacity costs O(t·d·m + w) for t tenants and w workloads that were put aside. Several changes before the next call of
/// [`next`](Self::next) cost as much as one.
#[derive(Clone, Debug)]
pub struct Admission {
    scheduler: SdrfScheduler,
    capacity: Vec<u64>,
    /// Amounts that all tenants hold.
    held: Vec<u64>,
    backfill: bool,
    tenants: BTreeMap<String, Tenant>,
    /// The names of tenants by their numbers in the scheduler.
    names: BTreeMap<u32, String>,
    workloads: BTreeMap<u64, Known>,
    /// The tickets of candidates.
    tickets: BTreeSet<u64>,
    quotas: Quotas,
    /// Tenants of which something has changed since candidates were chosen.
    changed: BTreeSet<String>,
    /// Number of resources of a flavor. What does not fit keeps room only of the flavors that it needs.
    flavor: usize,
    /// Whoever is told what happens.
    record: Option<Record>,
}

impl Admission {
    /// Nobody has anything, and the cluster has nothing of `resources` resources. Without a `memory` this is DRF. With `backfill`, the
    /// workloads of other tenants pass one that does not fit, which may then wait for long.
    ///
    /// # Panics
    ///
    /// There are no resources.
    pub fn new(resources: usize, memory: Option<Memory>, backfill: bool) -> Self {
        let scheduler = SdrfScheduler::new(vec![1; resources], memory).expect("at least one resource");
        Self {
            scheduler,
            capacity: vec![0; resources],
            held: vec![0; resources],
            backfill,
            tenants: BTreeMap::new(),
            names: BTreeMap::new(),
            workloads: BTreeMap::new(),
            tickets: BTreeSet::new(),
            quotas: Quotas::new(resources),
            changed: BTreeSet::new(),
            flavor: resources,
            record: None,
        }
    }

    /// The resources are those of several flavors, so many of each. A workload that is next and does not fit keeps room for itself, but not of the
    /// flavors of which it needs nothing, or has enough.
    ///
    /// # Panics
    ///
    /// The number of resources is no multiple of that.
    #[must_use]
    pub fn with_flavors_of(mut self, resources: usize) -> Self {
        assert!(
            resources > 0 && self.resources().is_multiple_of(resources),
            "expected as many of each flavor"
        );
        self.flavor = resources;
        self
    }

    /// Number of resources.
    pub fn resources(&self) -> usize {
        self.capacity.len()
    }

    /// Amounts that there are of the resources, in units.
    pub fn capacity(&self) -> &[u64] {
        &self.capacity
    }

    /// Amounts that all tenants hold, in units. They may be more than the capacity.
    pub fn held(&self) -> &[u64] {
        &self.held
    }

    /// The last time told.
    pub fn now(&self) -> Nanos {
        self.scheduler.now()
    }

    /// The cluster has this capacity from `now` on, in units. It may be less than what tenants hold.
    ///
    /// # Panics
    ///
    /// There are more or fewer resources than before.
    pub fn set_capacity(&mut self, capacity: &[u64], now: Nanos) {
        assert_eq!(capacity.len(), self.capacity.len(), "expected as many resources as before");
        let new: Vec<u64> = capacity.iter().map(|&amount| amount.min(MOST_CAPACITY)).collect();
        if new == self.capacity {
            return;
        }
        self.tell(now, || Step::Capacity(new.clone()));
        let has_grown = new.iter().zip(&self.capacity).any(|(new, old)| new > old);
        // Candidates fit the scheduler's capacity at every moment, those of before and those of after.
        self.capacity.iter_mut().zip(&new).for_each(|(old, &new)| *old = new.max(*old));
        self.fit(now);
        self.capacity = new;
        self.look_at_all(has_grown);
        self.settle(now);
        self.fit(now);
    }

    /// `workload` wants to run; `id` is a number that no other has. Returns whether its tenant is known; if not, nothing has changed.
    ///
    /// # Panics
    ///
    /// The number is taken, or the workload needs more or fewer resources than there are.
    pub fn submit(&mut self, id: u64, mut workload: Workload) -> bool {
        self.check(id, &mut workload);
        if !self.tenants.contains_key(&workload.tenant) {
            return false;
        }
        self.tell(self.now(), || Step::Submitted(id, workload.clone()));
        let Some(tenant) = self.tenants.get_mut(&workload.tenant) else { return false };
        tenant.waiting.insert(workload.place(id), id);
        self.changed.insert(workload.tenant.clone());
        self.workloads.insert(id, Known { workload, is_admitted: false });
        true
    }

    /// `workload` holds what it needs from `now` on, although it was not its turn: it was found running. Returns whether its tenant is known and
    /// whether it can be counted; if not, nothing has changed.
    ///
    /// # Panics
    ///
    /// As [`submit`](Self::submit).
    pub fn adopt(&mut self, id: u64, mut workload: Workload, now: Nanos) -> bool {
        self.check(id, &mut workload);
        let now = self.at(now);
        let Some(tenant) = self.tenants.get(&workload.tenant) else { return false };
        let user = tenant.user;
        if self.held.iter().zip(&workload.needs).any(|(held, needs)| held + needs > MOST_CAPACITY) {
            return false;
        }
        self.tell(now, || Step::Adopted(id, workload.clone()));
        self.hold(&workload.tenant, &workload.needs);
        self.fit(now);
        self.scheduler.adopt(user, id, &workload.needs, now).expect("it fits, as the capacity was raised");
        self.changed.insert(workload.tenant.clone());
        self.workloads.insert(id, Known { workload, is_admitted: true });
        true
    }

    /// The workload `id`, which was admitted as a whole, is these `parts` from here on, whose numbers are new and whose needs have its sum.
    /// Each ends by itself.
    ///
    /// # Panics
    ///
    /// As [`submit`](Self::submit).
    pub fn split(&mut self, id: u64, parts: Vec<(u64, Workload)>, now: Nanos) {
        self.remove(id, now);
        for (part, workload) in parts {
            self.adopt(part, workload, now);
        }
    }

    /// The workload `id` has ended, or does not want to run any more. Returns it, if it is known.
    pub fn remove(&mut self, id: u64, now: Nanos) -> Option<Workload> {
        let Known { workload, is_admitted } = self.workloads.remove(&id)?;
        self.tell(now, || Step::Removed(id));
        let now = self.at(now);
        if is_admitted {
            self.scheduler.finish(id, now).expect("it runs");
            self.held.iter_mut().zip(&workload.needs).for_each(|(held, needs)| *held -= needs);
            self.quotas.give(&workload.tenant, &workload.needs);
            self.fit(now);
        } else if let Some(tenant) = self.tenants.get_mut(&workload.tenant) {
            let place = workload.place(id);
            tenant.waiting.remove(&place);
            tenant.aside.remove(&place);
            if tenant.candidate == Some(id) {
                tenant.candidate = None;
                self.tickets.remove(&tenant.ticket);
                self.scheduler.withdraw(id, now).expect("it waits");
            }
        }
        self.changed.insert(workload.tenant.clone());
        Some(workload)
    }

    /// The workload of a number.
    pub fn workload(&self, id: u64) -> Option<&Workload> {
        self.workloads.get(&id).map(|known| &known.workload)
    }

    /// Checks what the caller promises, and bounds amounts.
    fn check(&self, id: u64, workload: &mut Workload) {
        assert_eq!(workload.needs.len(), self.capacity.len(), "expected as many amounts as resources");
        assert!(!self.workloads.contains_key(&id), "expected a number that no workload has, got {id}");
        for amount in &mut workload.needs {
            *amount = (*amount).min(MOST_AMOUNT);
        }
    }

    /// `now`, or the last time told if that is later.
    fn at(&self, now: Nanos) -> Nanos {
        now.max(self.scheduler.now())
    }

    /// The tenant got something at `now`: its next workload waits from then on at the earliest. [`next`](Self::next) notes that by itself.
    pub fn got(&mut self, tenant: &str, now: Nanos) {
        if let Some(tenant) = self.tenants.get_mut(tenant) {
            tenant.got = tenant.got.max(now);
        }
    }

    fn hold(&mut self, tenant: &str, needs: &[u64]) {
        self.held.iter_mut().zip(needs).for_each(|(held, needs)| *held += needs);
        self.quotas.take(tenant, needs);
    }

    /// Tells `record` what is remembered, and what happens from now on. Call it before anybody holds or waits for anything.
    pub fn record(&mut self, record: Option<Record>) {
        self.record = record;
        self.tell(self.now(), || Step::Began(self.save(self.now())));
    }

    /// Tells of a step, if somebody listens.
    fn tell(&self, now: Nanos, step: impl FnOnce() -> Step) {
        if let Some(record) = &self.record {
            // Who does not listen any more misses it.
            drop(record.send((self.at(now), step())));
        }
    }

    /// Gives the scheduler the capacity; what is held, where that is more.
    fn fit(&mut self, now: Nanos) {
        let now = self.at(now);
        let fitting: Vec<u64> =
            self.capacity.iter().zip(&self.held).map(|(&has, &held)| has.max(held).max(1)).collect();
        if fitting != self.scheduler.cluster().capacity() {
            self.scheduler.set_capacity(&fitting, now).expect("what is held and every candidate fits");
        }
    }
}

#[cfg(test)]
mod tests;
