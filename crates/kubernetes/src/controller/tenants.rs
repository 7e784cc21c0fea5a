//! Tenants: which there are, and what is set for them by namespaces, tenants and cohorts.

use std::collections::{BTreeMap, BTreeSet};

use trueplane_fair::Nanos;

use super::Controller;
use super::known::Known;
use crate::admission::TenantSettings;
use crate::objects::{CohortObject, Kind, Namespace, TenantObject, cohorts};

impl Controller {
    /// The namespace is so from `now` on.
    pub fn show_namespace(&mut self, mut namespace: Namespace, now: Nanos) {
        let name = namespace.name.clone();
        // What cannot be read does not change what was said before.
        if let (Some(_), Some(before)) = (&namespace.problem, self.namespaces.get(&name)) {
            namespace.weight = namespace.weight.or(before.weight);
            namespace.limits = namespace.limits.or_else(|| before.limits.clone());
        }
        if self.namespaces.get(&name) == Some(&namespace) {
            return;
        }
        let before = self.namespaces.insert(name.clone(), namespace).and_then(|before| before.tenant);
        self.tell_of_namespace(&name, now);
        self.namespace_changed(&name, before.as_deref(), now);
    }

    /// The namespace is gone.
    pub fn forget_namespace(&mut self, name: &str, now: Nanos) {
        if let Some(before) = self.namespaces.remove(name) {
            self.namespace_changed(name, before.tenant.as_deref(), now);
        }
    }

    fn namespace_changed(&mut self, name: &str, tenant_before: Option<&str>, now: Nanos) {
        let tenant = self.namespaces.get(name).and_then(|namespace| namespace.tenant.clone());
        self.set_tenants(now);
        if tenant.as_deref() != tenant_before {
            let is_there = |known: &&Known| known.item.namespace == name;
            let mut moved: Vec<String> =
                self.items.values().filter(is_there).map(|known| known.item.uid.clone()).collect();
            moved.sort_unstable();
            for uid in moved {
                self.tell_of_item(&uid, now);
                self.place(&uid, now);
            }
            self.set_tenants(now);
        }
    }

    /// The tenant is set so from `now` on.
    pub fn show_tenant(&mut self, tenant: TenantObject, now: Nanos) {
        let name = tenant.name.clone();
        let before = self.tenants.insert(name.clone(), tenant);
        self.settings_changed(
            Kind::Tenant,
            &name,
            before.is_none_or(|before| before.spec != self.tenants[&name].spec),
            now,
        );
    }

    /// Nothing is set for the tenant from `now` on but what namespaces say.
    pub fn forget_tenant(&mut self, name: &str, now: Nanos) {
        let is_news = self.tenants.remove(name).is_some();
        self.settings_changed(Kind::Tenant, name, is_news, now);
    }

    /// The cohort is set so from `now` on.
    pub fn show_cohort(&mut self, cohort: CohortObject, now: Nanos) {
        let name = cohort.name.clone();
        let before = self.cohorts.insert(name.clone(), cohort);
        self.settings_changed(
            Kind::Cohort,
            &name,
            before.is_none_or(|before| before.spec != self.cohorts[&name].spec),
            now,
        );
    }

    /// Nothing is set for the cohort from `now` on.
    pub fn forget_cohort(&mut self, name: &str, now: Nanos) {
        let is_news = self.cohorts.remove(name).is_some();
        self.settings_changed(Kind::Cohort, name, is_news, now);
    }

    fn settings_changed(&mut self, kind: Kind, name: &str, is_news: bool, now: Nanos) {
        if is_news {
            // What was written about what was set before says nothing about this.
            self.conditions.remove(&(kind, name.to_owned()));
            self.set_tenants(now);
            self.tell_conditions(now);
        }
    }

    /// Tells the tenants and their settings: those of their own objects, else what namespaces say. A tenant without a namespace goes as soon as it
    /// has no workloads.
    pub(super) fn set_tenants(&mut self, now: Nanos) {
        let Some(admission) = &mut self.admission else { return };
        let resources = self.policy.resources.names().len();
        admission.set_cohorts(cohorts(self.cohorts.values()), now);
        let mut wanted: BTreeMap<&str, TenantSettings> = BTreeMap::new();
        let mut said = BTreeSet::new();
        for namespace in self.namespaces.values() {
            let Some(tenant) = namespace.tenant.as_deref() else { continue };
            let settings = wanted.entry(tenant).or_insert_with(|| TenantSettings::usual(resources));
            // The first namespace by name that says something has the last word.
            if let Some(weight) = namespace.weight
                && said.insert((tenant, "weight"))
            {
                settings.weight = weight;
            }
            if let Some(limits) = &namespace.limits
                && said.insert((tenant, "limits"))
            {
                settings.limits.clone_from(limits);
            }
        }
        for (tenant, settings) in &mut wanted {
            match self.tenants.get(*tenant).map(|object| &object.spec) {
                None => {}
                Some(Ok(spec)) => {
                    settings.weight = spec.weight;
                    settings.quotas = spec.quotas.clone();
                    settings.longest_wait = spec.longest_wait;
                    settings.is_on_hold = spec.is_on_hold;
                }
                // Nobody knows what it may have.
                Some(Err(_)) => settings.is_on_hold = true,
            }
        }
        for (tenant, settings) in &wanted {
            if admission.settings(tenant) != Some(settings)
                && admission.set_tenant(tenant, settings.clone(), now).is_err()
            {
                self.counters.problems += 1;
            }
        }
        let gone: Vec<String> =
            admission.tenants().filter(|name| !wanted.contains_key(name)).map(str::to_owned).collect();
        for name in gone {
            admission.remove_tenant(&name, now);
        }
    }
}
