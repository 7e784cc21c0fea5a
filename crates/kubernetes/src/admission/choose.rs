//! The choice: the candidate of each tenant, and which of the candidates is next.

use std::collections::BTreeSet;

use trueplane_fair::Nanos;

use super::Admission;
use super::record::Step;
use super::tenant::{Place, Tenant};

impl Admission {
    /// Admits the next workload, and returns its number; it holds what it needs from `now` on. Call it until it returns none, whenever something has
    /// changed.
    pub fn next(&mut self, now: Nanos) -> Option<u64> {
        let now = self.at(now);
        // What it does to this end is not told.
        let record = self.record.take();
        let next = self.admit_next(now);
        self.record = record;
        self.tell(now, || Step::Next(next));
        next
    }

    fn admit_next(&mut self, now: Nanos) -> Option<u64> {
        self.settle(now);
        if let Some(id) = self.overdue(now) {
            return if self.fits(id) {
                Some(self.admit(id, now))
            } else {
                self.next_of_other_flavors(self.short(id), now)
            };
        }
        let next = if self.backfill { self.scheduler.next_fitting(now) } else { self.scheduler.next(now) };
        match next.expect("time goes on") {
            Some((_, id)) => {
                self.start(id, now);
                Some(id)
            }
            None if !self.backfill && self.flavor < self.resources() => {
                self.next_of_other_flavors(BTreeSet::new(), now)
            }
            None => None,
        }
    }

    /// The candidate `id`, which the scheduler has chosen, holds what it needs from `now` on.
    fn start(&mut self, id: u64, now: Nanos) {
        let known = self.workloads.get_mut(&id).expect("candidates are known");
        known.is_admitted = true;
        let workload = known.workload.clone();
        if let Some(tenant) = self.tenants.get_mut(&workload.tenant) {
            tenant.waiting.remove(&workload.place(id));
            tenant.candidate = None;
            self.tickets.remove(&tenant.ticket);
        }
        self.hold(&workload.tenant, &workload.needs);
        self.got(&workload.tenant, now);
        self.changed.insert(workload.tenant);
    }

    /// Admits a candidate although the scheduler would not choose it now.
    fn admit(&mut self, id: u64, now: Nanos) -> u64 {
        let workload = self.remove(id, now).expect("candidates are known");
        self.got(&workload.tenant, now);
        let is_adopted = self.adopt(id, workload, now);
        debug_assert!(is_adopted, "its tenant is known, and there is room");
        id
    }

    /// Admits the first candidate, in the order of turns, that needs nothing of the flavors of which those before it wait for room. O(t log t).
    fn next_of_other_flavors(&mut self, mut kept: BTreeSet<usize>, now: Nanos) -> Option<u64> {
        let order = self.scheduler.order(now).expect("time goes on");
        for user in order {
            let Some(id) = self.names.get(&user).and_then(|name| self.tenants[name].candidate) else {
                continue;
            };
            let needs = &self.workloads[&id].workload.needs;
            if self.flavors(needs).any(|flavor| kept.contains(&flavor)) {
                continue;
            }
            if self.fits(id) {
                return Some(self.admit(id, now));
            }
            kept.extend(self.short(id));
        }
        None
    }

    /// The flavors of which something is needed.
    fn flavors<'n>(&self, needs: &'n [u64]) -> impl Iterator<Item = usize> + use<'n> {
        let needed = needs.iter().enumerate().filter(|(_, needs)| **needs > 0);
        let flavor = self.flavor;
        needed.map(move |(resource, _)| resource / flavor)
    }

    /// The flavors of which there is too little for the workload.
    fn short(&self, id: u64) -> BTreeSet<usize> {
        let needs = self.workloads[&id].workload.needs.iter().enumerate();
        let is_short = |(resource, needs): (usize, &u64)| {
            let free = self.capacity[resource].saturating_sub(self.held[resource]);
            (*needs > free).then_some(resource / self.flavor)
        };
        needs.filter_map(is_short).collect()
    }

    /// Whether there is room for the workload now.
    fn fits(&self, id: u64) -> bool {
        self.short(id).is_empty()
    }

    /// The candidate that has waited for longer than it has to since it came and since its tenant has got something; of several, the one that came
    /// first. If others may pass what does not fit, the first that fits.
    pub(super) fn overdue(&self, now: Nanos) -> Option<u64> {
        let candidate = |tenant: &Tenant| {
            let (id, longest) = tenant.candidate.zip(tenant.settings.longest_wait)?;
            let created = self.workloads[&id].workload.created;
            let is_overdue = now.since(created.max(tenant.got)) >= longest;
            (is_overdue && (!self.backfill || self.fits(id))).then_some((created, tenant.ticket, id))
        };
        self.tenants.values().filter_map(candidate).min().map(|(.., id)| id)
    }

    /// Marks all tenants as changed. If some could not run before and `may_run_now`, they are looked at again.
    pub(super) fn look_at_all(&mut self, may_run_now: bool) {
        let names: Vec<String> = self.tenants.keys().cloned().collect();
        if may_run_now {
            names.iter().for_each(|name| self.look_again(name));
        }
        self.changed.extend(names);
    }

    /// Puts what was put aside into the queue again, since the cluster or what the tenant may have has grown.
    pub(super) fn look_again(&mut self, name: &str) {
        let Some(tenant) = self.tenants.get_mut(name) else { return };
        let (workloads, capacity, quotas) = (&self.workloads, &self.capacity, &self.quotas);
        let is_possible = |id: &u64| {
            let needs = &workloads[id].workload.needs;
            tenant.never(needs, capacity).is_none() && quotas.never(name, needs).is_none()
        };
        let possible: Vec<Place> =
            tenant.aside.iter().filter(|(_, id)| is_possible(id)).map(|(place, _)| place.clone()).collect();
        for place in possible {
            if let Some(id) = tenant.aside.remove(&place) {
                tenant.waiting.insert(place, id);
            }
        }
    }

    /// Chooses the candidates anew of tenants of which something has changed, and of those in the same trees of quotas.
    pub(super) fn settle(&mut self, now: Nanos) {
        let now = self.at(now);
        let (scheduler, tenants) = (&self.scheduler, &self.tenants);
        let held = |name: &str| tenants.get(name).and_then(|tenant| scheduler.held(tenant.user).ok());
        if self.quotas.build(|name| held(name).unwrap_or_default()) {
            self.look_at_all(true);
        }
        let mut changed = std::mem::take(&mut self.changed);
        for name in &changed {
            self.put_aside(name);
            let wait = self.wait_of(name);
            self.quotas.set_wait(name, wait);
        }
        self.quotas.refresh(&changed);
        changed.extend(self.quotas.families(&changed));
        changed.iter().for_each(|name| self.choose(name, now));
    }

    /// Puts the first workloads of a tenant aside as long as they can never run.
    fn put_aside(&mut self, name: &str) {
        let Some(tenant) = self.tenants.get_mut(name) else { return };
        while let Some((place, id)) = tenant.waiting.pop_first() {
            let needs = &self.workloads[&id].workload.needs;
            if tenant.never(needs, &self.capacity).is_none() && self.quotas.never(name, needs).is_none() {
                tenant.waiting.insert(place, id);
                break;
            }
            tenant.aside.insert(place, id);
        }
    }

    /// What a tenant waits for, unless its own settings keep it from that.
    fn wait_of(&self, name: &str) -> Option<Vec<u64>> {
        let tenant = self.tenants.get(name)?;
        let needs = &self.workloads[tenant.waiting.values().next()?].workload.needs;
        (!self.keeps(tenant, needs)).then(|| needs.clone())
    }

    /// Whether a tenant cannot have `needs` by what is set for itself.
    fn keeps(&self, tenant: &Tenant, needs: &[u64]) -> bool {
        let held = self.scheduler.held(tenant.user).expect("tenants have joined");
        tenant.settings.is_on_hold || tenant.over_limit(held, needs).is_some()
    }

    /// Chooses the candidate of a tenant anew.
    fn choose(&mut self, name: &str, now: Nanos) {
        let Some(tenant) = self.tenants.get(name) else { return };
        let candidate = tenant.waiting.values().next().copied().filter(|id| {
            let needs = &self.workloads[id].workload.needs;
            !self.keeps(tenant, needs)
                && self.quotas.lost_cohort(name).is_none()
                && self.quotas.over(name, needs).is_none()
                && self.quotas.claimed(name, needs).is_none()
        });
        if candidate == tenant.candidate {
            return;
        }
        let Some(tenant) = self.tenants.get_mut(name) else { return };
        if let Some(before) = tenant.candidate {
            self.tickets.remove(&tenant.ticket);
            self.scheduler.withdraw(before, now).expect("candidates wait");
        }
        tenant.candidate = candidate;
        if let Some(id) = candidate {
            let workload = &self.workloads[&id].workload;
            let needs = &workload.needs;
            // Two names rarely have the same ticket.
            let ticket =
                (workload.ticket()..).find(|ticket| self.tickets.insert(*ticket)).unwrap_or_default();
            tenant.ticket = ticket;
            self.scheduler
                .submit_with_ticket(tenant.user, id, needs, ticket, now)
                .expect("it is new and fits the cluster");
        }
    }
}
