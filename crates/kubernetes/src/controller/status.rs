//! How the controller does.

use serde::{Deserialize, Serialize};
use trueplane_fair::Nanos;

use super::Controller;
use super::counters::Counters;
use crate::admission::Admission;

/// The status of a tenant.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TenantStatus {
    /// Its name.
    pub name: String,
    /// Its weight.
    pub weight: u32,
    /// Part of the cluster that it is entitled to.
    pub entitled: f64,
    /// Part of the cluster that it holds, of the resource that decides when it is its turn.
    pub held: f64,
    /// Part of the cluster that it has had of that resource above what it is entitled to, as remembered.
    pub remembered: f64,
    /// Workloads that wait.
    pub waiting: u64,
    /// Its place in the order of turns, from 1; none if nothing of it can have its turn now.
    pub turn: Option<u32>,
    /// Why the first of its workloads waits, in a sentence; empty if nothing waits.
    pub why: String,
    /// Workloads that were admitted since the process leads.
    pub admitted: u64,
    /// Amounts that it holds, as people write them, in the order of resources.
    pub amounts: Vec<String>,
}

/// The status of everything.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Status {
    /// Time of the status, in nanoseconds since 1970.
    pub at_ns: u64,
    /// Whether the process leads.
    pub leads: bool,
    /// The resources that count.
    pub resources: Vec<String>,
    /// Amounts that there are, as people write them.
    pub capacity: Vec<String>,
    /// Amounts that tenants hold.
    pub held: Vec<String>,
    /// The tenants, in the order in which it is their turn; those who do not wait come last, by name.
    pub tenants: Vec<TenantStatus>,
    /// Numbers of what has happened.
    pub counters: Counters,
}

impl Controller {
    /// The status of everything at `now`.
    pub fn status(&mut self, now: Nanos) -> Status {
        self.set_capacity(now);
        let resources = self.policy.resources.clone();
        let mut status = Status {
            at_ns: now.0,
            leads: self.leads(),
            resources: resources.names().to_vec(),
            capacity: Vec::new(),
            held: Vec::new(),
            tenants: Vec::new(),
            counters: self.counters,
        };
        let Some(admission) = &mut self.admission else { return status };
        let show = |amounts: &[u64]| -> Vec<String> {
            amounts.iter().enumerate().map(|(resource, &amount)| resources.show(resource, amount)).collect()
        };
        let order = admission.order(now);
        status.capacity = show(admission.capacity());
        status.held = show(admission.held());
        let others = admission.tenants().filter(|name| !order.iter().any(|other| other == name));
        let names: Vec<String> = order.iter().cloned().chain(others.map(str::to_owned)).collect();
        for (place, name) in (1u32..).zip(names) {
            let first = admission.first_waiting(&name, 1).first().copied();
            let why = first.and_then(|id| admission.why(id, &order));
            let (Some(share), Some(settings)) = (admission.share(&name), admission.settings(&name)) else {
                continue;
            };
            status.tenants.push(TenantStatus {
                weight: settings.weight,
                entitled: share.entitled,
                held: share.held,
                remembered: share.remembered,
                waiting: admission.waiting(&name) as u64,
                turn: (place as usize <= order.len()).then_some(place),
                why: why.map_or_else(String::new, |why| self.policy.sentence(admission, &name, &why)),
                admitted: self.admitted.get(&name).copied().unwrap_or_default(),
                amounts: show(admission.held_by(&name).unwrap_or_default()),
                name,
            });
        }
        status
    }

    /// The names of resources of which no usable node has anything.
    pub fn missing(&mut self, now: Nanos) -> Vec<String> {
        self.set_capacity(now);
        let capacity = self.admission.iter().flat_map(Admission::capacity);
        let names = self.policy.resources.names().iter();
        names.zip(capacity).filter(|(_, amount)| **amount == 0).map(|(name, _)| name.clone()).collect()
    }
}
