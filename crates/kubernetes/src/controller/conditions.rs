//! Conditions: what the controller writes into tenants and cohorts about how it uses them.

use trueplane_fair::Nanos;

use super::Controller;
use super::order::Order;
use crate::names::TENANT;
use crate::objects::{Kind, Ready};

/// Time until a condition that is not seen is written again.
const AGAIN: u64 = 60_000_000_000;

/// The reason of a tenant of which somebody wants nothing to be admitted.
const ON_HOLD: &str = "OnHold";

impl Controller {
    /// Orders that the conditions of tenants and cohorts be written where they are not what they should be. O(n) for n of both and namespaces.
    pub(super) fn tell_conditions(&mut self, now: Nanos) {
        let Some(admission) = &mut self.admission else { return };
        admission.order(now);
        let tenants = self.tenants.values();
        let tenants = tenants.map(|one| {
            (
                Kind::Tenant,
                one.name.clone(),
                self.tenant_is(&one.name),
                one.ready.clone(),
                one.ready_since.clone(),
            )
        });
        let cohorts = self.cohorts.values();
        let cohorts = cohorts.map(|one| {
            (
                Kind::Cohort,
                one.name.clone(),
                self.cohort_is(&one.name),
                one.ready.clone(),
                one.ready_since.clone(),
            )
        });
        let all: Vec<_> = tenants.chain(cohorts).collect();
        for (kind, name, should, is, since) in all {
            let Some(ready) = should.filter(|should| is.as_ref() != Some(should)) else { continue };
            let written = self.conditions.get(&(kind, name.clone()));
            if written.is_some_and(|at| now.since(*at).0 < AGAIN) {
                continue;
            }
            self.conditions.insert((kind, name.clone()), now);
            if !ready.is_ready && ready.reason != ON_HOLD {
                self.warn(kind, "", &name, "", &ready.message, now);
            }
            let since = since.filter(|_| is.is_some_and(|is| is.is_ready == ready.is_ready));
            self.orders.push_back(Order::Condition { kind, name, ready, since });
        }
    }

    fn tenant_is(&self, name: &str) -> Option<Ready> {
        let object = self.tenants.get(name)?;
        let is_used = self.namespaces.values().any(|one| one.tenant.as_deref() == Some(name));
        let (is_ready, reason, message) = match &object.spec {
            Err(problem) => (false, "Invalid", format!("nothing is admitted: {problem}")),
            Ok(spec) => match &spec.quotas.parent {
                Some(cohort) if self.is_lost(cohort) => (false, "CohortUnusable", lost(cohort)),
                _ if spec.is_on_hold => (false, ON_HOLD, "nothing is admitted, as it is on hold".to_owned()),
                _ if is_used => (true, "Used", "namespaces belong to it".to_owned()),
                _ => (true, "NoNamespace", format!("no namespace has the label {TENANT}={name}")),
            },
        };
        Some(Ready { is_ready, reason: reason.to_owned(), message, generation: object.generation })
    }

    fn cohort_is(&self, name: &str) -> Option<Ready> {
        let object = self.cohorts.get(name)?;
        let (is_ready, reason, message) = match &object.spec {
            Err(problem) => (false, "Invalid", format!("nothing is admitted below it: {problem}")),
            Ok(_) if self.is_lost(name) => (false, "Unusable", lost(name)),
            Ok(_) => (true, "Used", "it is part of a tree".to_owned()),
        };
        Some(Ready { is_ready, reason: reason.to_owned(), message, generation: object.generation })
    }

    fn is_lost(&self, cohort: &str) -> bool {
        self.admission.as_ref().is_some_and(|admission| admission.is_lost(cohort))
    }
}

/// The sentence about a cohort of which nobody can say what it has.
pub(super) fn lost(cohort: &str) -> String {
    format!("nothing is admitted: the cohort {cohort}, or one above it, is below itself or is not valid")
}
