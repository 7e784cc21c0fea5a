//! Saves what outlives the process, and goes on with it.

use std::collections::BTreeSet;

use trueplane_fair::{Memory, Nanos, SdrfScheduler};

use super::Admission;
use super::saved::{Saved, SavedError};
use super::tenant::{Tenant, TenantSettings};

impl Admission {
    /// The memory at `now`. O(t·m + w log w) for t tenants, m resources and w workloads.
    pub fn save(&self, now: Nanos) -> Saved {
        let now = self.at(now);
        let mut bare = self.scheduler.clone();
        for tenant in self.tenants.values() {
            if let Some(id) = tenant.candidate {
                bare.withdraw(id, now).expect("candidates wait");
            }
        }
        let running: Vec<u64> = bare.running_tasks().map(|(id, ..)| id).collect();
        for id in running {
            bare.finish(id, now).expect("it runs");
        }
        bare.advance(now).expect("time goes on");
        let tenants = self.tenants.iter().map(|(name, tenant)| (name.clone(), tenant.user));
        let got = self.tenants.iter().map(|(name, tenant)| (name.clone(), tenant.got));
        Saved { tenants: tenants.collect(), got: got.collect(), scheduler: bare.snapshot() }
    }

    /// An admission that goes on with `saved`: the tenants are known, with their weights and without limits, and they hold nothing. The caller
    /// [adopts](Self::adopt) what runs, at the times at which it was admitted. `memory` may be another than before.
    ///
    /// # Errors
    ///
    /// The state is damaged, or does not fit so many resources.
    pub fn restore(
        saved: &Saved,
        resources: usize,
        memory: Option<Memory>,
        backfill: bool,
    ) -> Result<Self, SavedError> {
        let mut scheduler = SdrfScheduler::restore(&saved.scheduler)?;
        let found = scheduler.cluster().resources();
        if found != resources {
            return Err(SavedError::Resources { expected: resources, found });
        }
        if scheduler.waiting() + scheduler.running() > 0 {
            return Err(SavedError::Tasks);
        }
        let cluster = scheduler.cluster();
        let joined: BTreeSet<u32> = (0..cluster.users() as u32).filter(|&user| cluster.has(user)).collect();
        let named: BTreeSet<u32> = saved.tenants.values().copied().collect();
        if joined != named || named.len() != saved.tenants.len() {
            return Err(SavedError::Names);
        }
        let tenant = |(name, &user): (&String, &u32)| {
            let weight = cluster.weight(user).unwrap_or(1);
            let settings = TenantSettings { weight, ..TenantSettings::usual(resources) };
            let got = saved.got.get(name).copied().unwrap_or_default();
            (name.clone(), Tenant { got, ..Tenant::new(user, settings) })
        };
        let tenants = saved.tenants.iter().map(tenant).collect();
        let capacity = cluster.capacity().to_vec();
        if scheduler.memory() != memory {
            let now = scheduler.now();
            scheduler.set_memory(memory, now).expect("no time has passed");
        }
        Ok(Self {
            scheduler,
            capacity,
            tenants,
            names: saved.tenants.iter().map(|(name, &user)| (user, name.clone())).collect(),
            ..Self::new(resources, memory, backfill)
        })
    }

    /// The clock was wrong: it says `now` from here on, and no time has passed.
    pub fn rebase(&mut self, now: Nanos) {
        self.scheduler.rebase(now);
        for tenant in self.tenants.values_mut() {
            tenant.got = tenant.got.min(now);
        }
    }
}
