//! The tenants that there are, and what they have.

use std::collections::BTreeMap;

use trueplane_fair::cluster::MOST_WEIGHT;
use trueplane_fair::{ClusterError, Nanos, ScheduleError};

use super::Admission;
use super::quotas::CohortSettings;
use super::record::Step;
use super::tenant::{Share, Tenant, TenantError, TenantSettings};

impl Admission {
    /// `name` is a tenant with these settings from `now` on; it may be one already.
    ///
    /// # Errors
    ///
    /// The settings are out of range, or there are too many tenants; nothing has changed.
    pub fn set_tenant(
        &mut self,
        name: &str,
        settings: TenantSettings,
        now: Nanos,
    ) -> Result<(), TenantError> {
        let resources = self.resources();
        if settings.limits.len() != resources {
            return Err(TenantError::Resources { expected: resources, found: settings.limits.len() });
        }
        if !(1..=MOST_WEIGHT).contains(&settings.weight) {
            return Err(TenantError::Weight(settings.weight));
        }
        let at = self.at(now);
        self.tell(now, || Step::Tenant(name.to_owned(), settings.weight));
        if let Some(tenant) = self.tenants.get_mut(name) {
            if tenant.settings.weight != settings.weight {
                self.scheduler.set_weight(tenant.user, settings.weight, at).expect("it has joined");
            }
            if tenant.settings.is_on_hold && !settings.is_on_hold {
                // It could not have got anything before.
                tenant.got = tenant.got.max(at);
            }
            self.quotas.set_tenant(name, settings.quotas.clone());
            tenant.settings = settings;
            self.look_again(name);
            self.changed.insert(name.to_owned());
            return Ok(());
        }
        let user = self.scheduler.join(settings.weight, at).map_err(|error| match error {
            ScheduleError::Cluster(ClusterError::Weight(weight)) => TenantError::Weight(weight),
            _ => TenantError::Tenants,
        })?;
        self.quotas.set_tenant(name, settings.quotas.clone());
        self.tenants.insert(name.to_owned(), Tenant { got: at, ..Tenant::new(user, settings) });
        self.names.insert(user, name.to_owned());
        Ok(())
    }

    /// The cohorts are these, and these tenants lend what they have although they are not there. A cohort that is named and not among them has nothing
    /// of its own, and no parent. Nothing of a tenant is admitted whose cohort is above itself, or is unusable.
    pub fn set_others(
        &mut self,
        cohorts: BTreeMap<String, CohortSettings>,
        absent: BTreeMap<String, CohortSettings>,
    ) {
        self.quotas.set_others(cohorts, absent);
    }

    /// Whether the cohort is above itself or unusable, or below one that is, as of the last call of [`next`](Self::next) or [`order`](Self::order).
    pub fn is_lost(&self, cohort: &str) -> bool {
        self.quotas.is_lost(cohort)
    }

    /// `name` is a tenant no more. Returns whether it has gone: one that has workloads, or is remembered with 1% of the cluster or more, stays, so that
    /// nobody gets rid of what it has had by going and coming back.
    pub fn remove_tenant(&mut self, name: &str, now: Nanos) -> bool {
        let Some(tenant) = self.tenants.get(name) else { return true };
        let user = tenant.user;
        let is_idle = tenant.waiting.is_empty() && tenant.aside.is_empty();
        let commitments = self.scheduler.commitments(user).unwrap_or_default();
        let is_remembered = commitments.iter().any(|&part| part >= 0.01);
        if !is_idle || is_remembered || self.scheduler.leave(user, self.at(now)).is_err() {
            return false;
        }
        self.tell(now, || Step::TenantGone(name.to_owned()));
        self.quotas.set_tenant(name, CohortSettings::default());
        self.tenants.remove(name);
        self.names.remove(&user);
        true
    }

    /// The names of all tenants.
    pub fn tenants(&self) -> impl Iterator<Item = &str> {
        self.tenants.keys().map(String::as_str)
    }

    /// The settings of a tenant.
    pub fn settings(&self, tenant: &str) -> Option<&TenantSettings> {
        self.tenants.get(tenant).map(|tenant| &tenant.settings)
    }

    /// Amounts that a tenant holds, in units.
    pub fn held_by(&self, tenant: &str) -> Option<&[u64]> {
        let tenant = self.tenants.get(tenant)?;
        self.scheduler.held(tenant.user).ok()
    }

    /// Number of workloads of a tenant that wait, also of those that were put aside.
    pub fn waiting(&self, tenant: &str) -> usize {
        self.tenants.get(tenant).map_or(0, |tenant| tenant.waiting.len() + tenant.aside.len())
    }

    /// The numbers of the first workloads of a tenant that wait, at most so many, and of as many that were put aside.
    pub fn first_waiting(&self, tenant: &str, most: usize) -> Vec<u64> {
        let Some(tenant) = self.tenants.get(tenant) else { return Vec::new() };
        tenant.waiting.values().take(most).chain(tenant.aside.values().take(most)).copied().collect()
    }

    /// What a tenant has and has had at the last time told.
    pub fn share(&self, tenant: &str) -> Option<Share> {
        let tenant = self.tenants.get(tenant)?;
        let cluster = self.scheduler.cluster();
        // More than the whole, if nodes have gone.
        let has =
            self.capacity.iter().zip(cluster.capacity()).map(|(&has, &fit)| if has > 0 { has } else { fit });
        let held = self.scheduler.held(tenant.user).ok()?.iter().zip(has);
        let held = held.map(|(&held, capacity)| held as f64 / capacity as f64);
        let both = held.zip(self.scheduler.commitments(tenant.user).ok()?);
        let (held, remembered) = both.max_by(|a, b| (a.0 + a.1).total_cmp(&(b.0 + b.1)))?;
        let weights: u64 = self.tenants.values().map(|tenant| u64::from(tenant.settings.weight)).sum();
        Some(Share { entitled: f64::from(tenant.settings.weight) / weights as f64, held, remembered })
    }
}
