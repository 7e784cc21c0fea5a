//! Tenants: which there are, and what is set for them by namespaces, tenants and cohorts.

use std::collections::{BTreeMap, BTreeSet};

use trueplane_fair::Nanos;

use super::Controller;
use super::known::Known;
use crate::admission::{Admission, CohortSettings, TenantSettings};
use crate::objects::{CohortObject, Kind, Namespace, TenantObject};

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

    /// The tenant is set so from `now` on. What cannot be read leaves its quotas as they were, and nothing of it is admitted.
    pub fn show_tenant(&mut self, tenant: TenantObject, now: Nanos) {
        let name = tenant.name.clone();
        let before = self.tenants.insert(name.clone(), tenant).map(|before| before.spec);
        let is_news = before.as_ref() != Some(&self.tenants[&name].spec);
        keep(&mut self.kept_tenants, &name, before, self.tenants[&name].spec.is_ok());
        self.settings_changed(Kind::Tenant, &name, is_news, now);
    }

    /// Nothing is set for the tenant from `now` on but what namespaces say.
    pub fn forget_tenant(&mut self, name: &str, now: Nanos) {
        let is_news = self.tenants.remove(name).is_some();
        self.kept_tenants.remove(name);
        self.settings_changed(Kind::Tenant, name, is_news, now);
    }

    /// The cohort is set so from `now` on. What cannot be read leaves its quotas as they were, and nothing below it is admitted.
    pub fn show_cohort(&mut self, cohort: CohortObject, now: Nanos) {
        let name = cohort.name.clone();
        let before = self.cohorts.insert(name.clone(), cohort).map(|before| before.spec);
        let is_news = before.as_ref() != Some(&self.cohorts[&name].spec);
        keep(&mut self.kept_cohorts, &name, before, self.cohorts[&name].spec.is_ok());
        self.settings_changed(Kind::Cohort, &name, is_news, now);
    }

    /// Nothing is set for the cohort from `now` on.
    pub fn forget_cohort(&mut self, name: &str, now: Nanos) {
        let is_news = self.cohorts.remove(name).is_some();
        self.kept_cohorts.remove(name);
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
    /// has no workloads; what its object sets counts until then, and lends to others afterwards.
    pub(super) fn set_tenants(&mut self, now: Nanos) {
        let resources = self.policy.resources.names().len();
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
        let leaving: Vec<String> = self
            .admission
            .iter()
            .flat_map(Admission::tenants)
            .filter(|name| !wanted.contains_key(name))
            .map(str::to_owned)
            .collect();
        for name in &leaving {
            wanted.insert(name, TenantSettings::usual(resources));
        }
        for (tenant, settings) in &mut wanted {
            let Some(object) = self.tenants.get(*tenant) else { continue };
            if let Some(spec) = object.spec.as_ref().ok().or_else(|| self.kept_tenants.get(*tenant)) {
                settings.weight = spec.weight;
                settings.quotas = spec.quotas.clone();
                settings.longest_wait = spec.longest_wait;
                settings.is_on_hold = spec.is_on_hold;
            }
            // Nobody knows what it may have.
            settings.is_on_hold |= object.spec.is_err();
        }
        let (cohorts, quotas) = (self.cohort_settings(), self.quotas_of_tenants());
        let Some(admission) = &mut self.admission else { return };
        admission.set_others(cohorts, quotas);
        for (tenant, settings) in &wanted {
            if admission.settings(tenant) != Some(settings)
                && admission.set_tenant(tenant, settings.clone(), now).is_err()
            {
                self.counters.problems += 1;
            }
        }
        for name in leaving {
            admission.remove_tenant(&name, now);
        }
    }

    /// What is set for cohorts. One that cannot be read is unusable, and keeps what could last be read of it.
    fn cohort_settings(&self) -> BTreeMap<String, CohortSettings> {
        let settings = |(name, object): (&String, &CohortObject)| {
            let settings = match &object.spec {
                Ok(settings) => settings.clone(),
                Err(_) => {
                    let kept = self.kept_cohorts.get(name).cloned().unwrap_or_default();
                    CohortSettings { is_unusable: true, ..kept }
                }
            };
            (name.clone(), settings)
        };
        self.cohorts.iter().map(settings).collect()
    }

    /// The quotas of all tenants that have an object.
    fn quotas_of_tenants(&self) -> BTreeMap<String, CohortSettings> {
        let spec = |(name, object): (&String, &TenantObject)| {
            let spec = object.spec.as_ref().ok().or_else(|| self.kept_tenants.get(name))?;
            Some((name.clone(), spec.quotas.clone()))
        };
        self.tenants.iter().filter_map(spec).collect()
    }
}

/// Keeps what could last be read of an object of which nothing can be read now.
fn keep<T>(kept: &mut BTreeMap<String, T>, name: &str, before: Option<Result<T, String>>, is_readable: bool) {
    if is_readable {
        kept.remove(name);
    } else if let Some(Ok(before)) = before {
        kept.insert(name.to_owned(), before);
    }
}
