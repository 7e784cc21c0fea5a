//! What people are told: why something waits, and what is wrong.

use trueplane_fair::Nanos;
use trueplane_fair::span::Span;
use trueplane_units::Value as _;

use super::conditions::lost;
use super::known::{Known, Target};
use super::order::Order;
use super::{Controller, Policy};
use crate::admission::{Admission, Why};
use crate::names::TENANT;
use crate::objects::{Item, Kind};

/// Time between two rounds of events about what waits.
const ROUND: u64 = 5_000_000_000;
/// Events in a round, at most: the API server has other things to do.
const MOST_IN_ROUND: usize = 50;
/// Orders that wait, at most, when a warning is added to them: of many of the same mistake the first ones are told.
const MOST_WARNINGS: usize = 200;
/// Letters of a text, at most: the API server takes 1024 bytes.
const MOST_TEXT: usize = 250;
/// Workloads of a tenant of which events tell why they wait: the first ones.
const TOLD_OF_TENANT: usize = 3;

impl Controller {
    /// Tells what is wrong with the namespace, if something is.
    pub(super) fn tell_of_namespace(&mut self, name: &str, now: Nanos) {
        if let Some(problem) = self.namespaces.get(name).and_then(|namespace| namespace.problem.clone()) {
            self.warn(Kind::Namespace, "", name, "", &problem, now);
        }
    }

    /// Tells what is wrong with a pod or a job that is held, if something is.
    pub(super) fn tell_of_item(&mut self, uid: &str, now: Nanos) {
        let Some(known) = self.items.get(uid) else { return };
        if let Some(problem) = self.problem_of(&known.item) {
            self.tell_problem(uid, &problem, now);
        }
    }

    /// What is wrong with a pod or a job that is held, if something is.
    fn problem_of(&self, item: &Item) -> Option<String> {
        if !item.is_held || item.is_over {
            return None;
        }
        // The namespace may not have been shown yet.
        let has_tenant = self.namespaces.get(&item.namespace).is_none_or(|one| one.tenant.is_some());
        let lost = || format!("waits for ever: the namespace {} has no label {TENANT}", item.namespace);
        item.problem.clone().or_else(|| (!has_tenant && !item.is_everywhere).then(lost))
    }

    /// Tells that something is wrong with a pod or a job.
    pub(super) fn tell_problem(&mut self, uid: &str, problem: &str, now: Nanos) {
        let Some(item) = self.items.get(uid).map(|known| &known.item) else { return };
        let (kind, namespace, name) = (item.kind, item.namespace.clone(), item.name.clone());
        self.warn(kind, &namespace, &name, uid, problem, now);
    }

    /// Tells that something is wrong with an object, once. Only the process that leads says so.
    pub(super) fn warn(
        &mut self,
        kind: Kind,
        namespace: &str,
        name: &str,
        uid: &str,
        problem: &str,
        now: Nanos,
    ) {
        let about = if uid.is_empty() { format!("{} {name}", kind.name()) } else { uid.to_owned() };
        let has_room = self.orders.len() < MOST_WARNINGS;
        if !self.leads() || !has_room || !self.told.is_news(&about, problem, now) {
            return;
        }
        self.counters.problems += 1;
        self.orders.push_back(Order::Tell {
            kind,
            namespace: namespace.to_owned(),
            name: name.to_owned(),
            uid: uid.to_owned(),
            is_warning: true,
            reason: "Misconfigured",
            text: problem.chars().take(MOST_TEXT).collect(),
        });
    }

    /// Tells why the first workloads of every tenant wait, if that is news.
    pub(super) fn tell_why(&mut self, now: Nanos) {
        if now < self.told.round {
            return;
        }
        self.told.round = Nanos(now.0.saturating_add(ROUND));
        let Some(admission) = &mut self.admission else { return };
        let order = admission.order(now);
        let mut news = Vec::new();
        for tenant in admission.tenants() {
            for id in admission.first_waiting(tenant, TOLD_OF_TENANT) {
                let Some((about, why)) = self.targets.get(&id).zip(admission.why(id, &order)) else {
                    continue;
                };
                let uid = match about {
                    Target::Item(uid) => Some(uid),
                    // The first pod speaks for its group.
                    Target::Group(namespace, name) => {
                        let group = self.groups.get(&(namespace.clone(), name.clone()));
                        group.and_then(|group| group.members.first())
                    }
                };
                let Some(known) = uid.and_then(|uid| self.items.get(uid)) else { continue };
                if news.len() < MOST_IN_ROUND
                    && why != Why::Nothing
                    && self.told.is_news(&known.item.uid, kind_of(&why), now)
                {
                    news.push((known.item.clone(), self.policy.sentence(admission, tenant, &why)));
                }
            }
        }
        for (item, text) in news {
            self.orders.push_back(Order::Tell {
                kind: item.kind,
                namespace: item.namespace,
                name: item.name,
                uid: item.uid,
                is_warning: false,
                reason: "Waiting",
                text,
            });
        }
    }

    /// Why the pod or job waits, in a sentence: `None` if there is none of that name, or it does not wait.
    pub fn why(&mut self, namespace: &str, name: &str, now: Nanos) -> Option<String> {
        self.set_capacity(now);
        let is_it = |known: &&Known| known.item.namespace == namespace && known.item.name == name;
        let item = self.items.values().find(is_it)?.item.clone();
        let admission = self.admission.as_mut()?;
        let order = admission.order(now);
        let target = Target::Item(item.uid.clone());
        let group = item.group.as_ref().map(|(group, _)| Target::Group(namespace.to_owned(), group.clone()));
        let is_its = |other: &Target| *other == target || Some(other) == group.as_ref();
        let id = self.targets.iter().find(|(_, other)| is_its(other)).map(|(id, _)| *id);
        let Some(id) = id else {
            if let Some(problem) = self.problem_of(&item) {
                return Some(problem);
            }
            let (group, size) = item.group.filter(|_| item.is_held)?;
            let key = (namespace.to_owned(), group.clone());
            let there = self.groups.get(&key).map_or(0, |group| group.members.len());
            return Some(format!("waits for its group {group}: {there} of {size} pods are there"));
        };
        let admission = self.admission.as_ref()?;
        let why = admission.why(id, &order)?;
        let tenant = admission.workload(id)?.tenant.clone();
        Some(self.policy.sentence(admission, &tenant, &why))
    }
}

impl Policy {
    /// Why a workload of `tenant` waits.
    pub(super) fn sentence(&self, admission: &Admission, tenant: &str, why: &Why) -> String {
        let resources = &self.resources;
        let amount = |resource: usize, amount: u64| {
            format!("{} of {}", resources.show(resource, amount), resources.names()[resource])
        };
        match why {
            Why::Cluster { resource, needed, found } => {
                let has = resources.show(*resource, *found);
                format!("needs {}, and the cluster has {has}", amount(*resource, *needed))
            }
            Why::LargerThanLimit { resource, needed, limit } => {
                let may = resources.show(*resource, *limit);
                format!("needs {}, and {tenant} may hold at most {may}", amount(*resource, *needed))
            }
            Why::Tenant { before: 1 } => format!("waits: 1 workload of {tenant} is before it"),
            Why::Tenant { before } => format!("waits: {before} workloads of {tenant} are before it"),
            Why::Limit { resource, limit } => {
                format!("waits, as {tenant} may hold at most {}", amount(*resource, *limit))
            }
            Why::Quota { over, needed } => {
                let left = resources.show(over.resource, over.left);
                let needed = amount(over.resource, *needed);
                match &over.cohort {
                    None => format!("waits: needs {needed}, and {left} are left of the quota of {tenant}"),
                    Some(cohort) => {
                        format!("waits: needs {needed}, and the cohort {cohort} has {left} left for {tenant}")
                    }
                }
            }
            Why::Claimed { resource, tenant: owner } => {
                let name = &resources.names()[*resource];
                format!("waits: it would borrow {name} for which {owner} waits")
            }
            Why::LargerThanQuota { over, needed } => {
                let most = resources.show(over.resource, over.left);
                let needed = amount(over.resource, *needed);
                format!(
                    "needs {needed}, and {tenant} may have at most {most} by its quota and what it may borrow"
                )
            }
            Why::OnHold => format!("waits, as {tenant} is on hold or what is set for it is not valid"),
            Why::Cohort { name } => lost(name),
            Why::Overdue { tenant: other } => {
                format!("waits: a workload of {other} has waited longer than its longestWait and goes first")
            }
            Why::Turn { before } => {
                let shown: Vec<&str> = before.iter().take(3).map(String::as_str).collect();
                let more = before.len() - shown.len();
                let more = if more == 0 { String::new() } else { format!(" and {more} more") };
                format!(
                    "waits, as it is the turn of {}{more}: {}",
                    shown.join(", "),
                    self.usage(admission, tenant)
                )
            }
            Why::Room { resource, needed, free } => {
                let free = resources.show(*resource, *free);
                format!("is next: needs {}, and {free} are free", amount(*resource, *needed))
            }
            Why::Nothing => "is admitted now".to_owned(),
        }
    }

    /// What a tenant has and has had.
    fn usage(&self, admission: &Admission, tenant: &str) -> String {
        let Some(share) = admission.share(tenant) else { return tenant.to_owned() };
        let percent = |part: f64| format!("{:.1}%", part * 100.0);
        let memory = self.memory.and_then(|memory| Span::new(memory.half_life_span()));
        let had = memory.map_or_else(String::new, |half_life| {
            let half_life = half_life.show();
            format!(
                ", and with a half-life of {half_life} it has had {} of the cluster above that",
                percent(share.remembered)
            )
        });
        format!("{tenant} holds {}, its part is {}{had}", percent(share.held), percent(share.entitled))
    }
}

/// What does not change with every number.
fn kind_of(why: &Why) -> &'static str {
    match why {
        Why::Cluster { .. } => "cluster",
        Why::LargerThanLimit { .. } => "larger than the limit",
        Why::Tenant { .. } => "tenant",
        Why::Limit { .. } => "limit",
        Why::Quota { .. } => "quota",
        Why::LargerThanQuota { .. } => "larger than the quota",
        Why::Claimed { .. } => "claimed",
        Why::OnHold => "on hold",
        Why::Cohort { .. } => "cohort",
        Why::Overdue { .. } => "overdue",
        Why::Turn { .. } => "turn",
        Why::Room { .. } => "room",
        Why::Nothing => "nothing",
    }
}
