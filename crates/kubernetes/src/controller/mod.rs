//! What the cluster is, and what to do about it: decides by what it is shown, and says what to write. It connects to nothing.
//!
//! Everything is shown to it: pods, jobs, nodes, namespaces, tenants and cohorts, and whether it leads. While it leads, it counts what tenants hold and who is
//! next ([`Admission`]), and its [`work`](Controller::work) are orders for whoever has a connection.
//!
//! What counts as held by a tenant: its pods that were admitted, and those that run although they never were held. Pods of namespaces without a
//! tenant, and those that belong to a node or a DaemonSet, are taken off the capacity.

mod conditions;
mod counters;
mod history;
mod known;
mod order;
mod place;
mod status;
mod tell;
mod tenants;
mod told;
mod work;

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::hash::Hash;

use trueplane_fair::{Memory, Nanos};

use crate::admission::{Admission, CohortSettings, Record, Saved, SavedError};
use crate::objects::{CohortObject, Item, Kind, Namespace, Node, TenantObject, TenantSpec};
use crate::resources::ResourceNames;
pub use counters::Counters;
use known::{Group, Known, Standing, Target};
pub use order::{Order, Outcome};
pub use status::{Status, TenantStatus};
use told::Told;

/// What the controller is to do.
#[derive(Clone, Debug)]
pub struct Policy {
    /// The resources that count.
    pub resources: ResourceNames,
    /// After which time half of what a tenant had above its part is forgotten; without it nothing is remembered.
    pub memory: Option<Memory>,
    /// Whether workloads of other tenants may pass one that does not fit.
    pub backfill: bool,
    /// Whoever is told what happens, if somebody is.
    pub record: Option<Record>,
}

/// Decides by what it is shown.
#[derive(Debug)]
pub struct Controller {
    policy: Policy,
    /// While it leads.
    admission: Option<Admission>,
    namespaces: BTreeMap<String, Namespace>,
    tenants: BTreeMap<String, TenantObject>,
    cohorts: BTreeMap<String, CohortObject>,
    /// What could last be read of tenants of which nothing can be read now.
    kept_tenants: BTreeMap<String, TenantSpec>,
    /// What could last be read of cohorts of which nothing can be read now.
    kept_cohorts: BTreeMap<String, CohortSettings>,
    /// When a condition was last ordered to be written, by kind and name.
    conditions: HashMap<(Kind, String), Nanos>,
    nodes: BTreeMap<String, Node>,
    items: HashMap<String, Known>,
    /// The unique numbers of pods by that of their job.
    pods_of_job: HashMap<String, BTreeSet<String>>,
    /// The unique numbers of pods by the name of their node.
    pods_of_node: HashMap<String, BTreeSet<String>>,
    /// The unique numbers of pods by the namespace and name of their group.
    pods_of_group: HashMap<(String, String), BTreeSet<String>>,
    /// The groups of which pods wait, by namespace and name.
    groups: BTreeMap<(String, String), Group>,
    /// Amounts that pods without a tenant use of each node.
    foreign: BTreeMap<String, Vec<u64>>,
    targets: HashMap<u64, Target>,
    next_id: u64,
    orders: VecDeque<Order>,
    /// Writes that are to be tried again, by time.
    retries: BTreeSet<(Nanos, String)>,
    told: Told,
    counters: Counters,
    /// Workloads that were admitted, by tenant, since the controller began to lead.
    admitted: BTreeMap<String, u64>,
    /// Whether the capacity may have changed since it was told.
    is_capacity_old: bool,
}

impl Controller {
    /// A controller that has been shown nothing, and does not lead.
    pub fn new(policy: Policy) -> Self {
        Self {
            policy,
            admission: None,
            namespaces: BTreeMap::new(),
            tenants: BTreeMap::new(),
            cohorts: BTreeMap::new(),
            kept_tenants: BTreeMap::new(),
            kept_cohorts: BTreeMap::new(),
            conditions: HashMap::new(),
            nodes: BTreeMap::new(),
            items: HashMap::new(),
            pods_of_job: HashMap::new(),
            pods_of_node: HashMap::new(),
            pods_of_group: HashMap::new(),
            groups: BTreeMap::new(),
            foreign: BTreeMap::new(),
            targets: HashMap::new(),
            next_id: 0,
            orders: VecDeque::new(),
            retries: BTreeSet::new(),
            told: Told::default(),
            counters: Counters::default(),
            admitted: BTreeMap::new(),
            is_capacity_old: true,
        }
    }

    /// What the controller is to do.
    pub fn policy(&self) -> &Policy {
        &self.policy
    }

    /// Whether it leads.
    pub fn leads(&self) -> bool {
        self.admission.is_some()
    }

    /// It leads from `now` on, after everything has been shown: it goes on with what was `saved`, if anything was, and with what the pods and jobs
    /// themselves tell of when they were admitted and ended.
    ///
    /// # Errors
    ///
    /// What was saved is damaged, or of other resources; it does not lead then.
    pub fn lead(&mut self, saved: Option<&Saved>, now: Nanos) -> Result<(), SavedError> {
        let Policy { resources, memory, backfill, .. } = &self.policy;
        let count = resources.names().len();
        let admission = match saved {
            Some(saved) => Admission::restore(saved, count, *memory, *backfill)?,
            None => Admission::new(count, *memory, *backfill),
        };
        let mut admission = admission.with_flavors_of(resources.of_flavor());
        if admission.now() > now {
            admission.rebase(now);
            self.counters.clock_jumps += 1;
        }
        self.rest();
        self.begin(admission, saved.is_some(), now);
        Ok(())
    }

    /// It leads no more, and forgets all that it was shown.
    pub fn forget_all(&mut self) {
        let counters = self.counters;
        *self = Self::new(self.policy.clone());
        self.counters = counters;
    }

    /// It leads no more, and forgets what it has counted.
    fn rest(&mut self) {
        self.admission = None;
        self.groups.clear();
        self.foreign.clear();
        self.targets.clear();
        self.orders.clear();
        self.retries.clear();
        self.told = Told::default();
        self.conditions.clear();
        self.admitted.clear();
        self.items.values_mut().for_each(|known| known.standing = Standing::Nothing);
    }

    /// What is to be saved, while it leads.
    pub fn save(&self, now: Nanos) -> Option<Saved> {
        self.admission.as_ref().map(|admission| admission.save(now))
    }

    /// Time has passed: tenants without a namespace go as soon as they have no workloads.
    pub fn tick(&mut self, now: Nanos) {
        self.set_tenants(now);
        self.tell_conditions(now);
    }

    /// The node is so from `now` on.
    pub fn show_node(&mut self, node: Node, now: Nanos) {
        if self.nodes.get(&node.name) == Some(&node) {
            return;
        }
        let (name, flavor) = (node.name.clone(), node.flavor);
        self.is_capacity_old = true;
        let before = self.nodes.insert(name.clone(), node).map(|before| before.flavor);
        if before == Some(flavor) || self.policy.resources.of_flavor() == self.policy.resources.names().len()
        {
            return;
        }
        // What was put on it counts in its flavor.
        let pods = self.pods_of_node.get(&name).cloned().unwrap_or_default();
        for pod in pods {
            self.place(&pod, now);
        }
    }

    /// The node is gone.
    pub fn forget_node(&mut self, name: &str) {
        if self.nodes.remove(name).is_some() {
            self.is_capacity_old = true;
        }
    }

    /// The pod or job is so from `now` on.
    pub fn show_item(&mut self, item: Item, now: Nanos) {
        let uid = item.uid.clone();
        let standing = match self.items.get(&uid) {
            Some(known) if known.item == item => return,
            Some(known) if (&known.item.group, &known.item.problem) == (&item.group, &item.problem) => {
                known.standing.clone()
            }
            Some(known) => {
                // What is being opened stays so.
                if !matches!(known.standing, Standing::Holds { .. } | Standing::Passes { .. }) {
                    self.leave(&uid, now);
                }
                self.items[&uid].standing.clone()
            }
            None => Standing::Nothing,
        };
        self.unindex(&uid);
        if let Some(job) = &item.job {
            self.pods_of_job.entry(job.clone()).or_default().insert(uid.clone());
        }
        if let Some(node) = &item.node {
            self.pods_of_node.entry(node.clone()).or_default().insert(uid.clone());
        }
        if let Some((group, _)) = &item.group {
            let key = (item.namespace.clone(), group.clone());
            self.pods_of_group.entry(key).or_default().insert(uid.clone());
        }
        let not_before = self.items.get(&uid).map_or(Nanos(0), |known| known.not_before);
        self.items.insert(uid.clone(), Known { item, standing, not_before });
        if self.leads() {
            self.tell_of_item(&uid, now);
            self.place(&uid, now);
        }
    }

    /// Forgets to which job, node and group it belongs.
    fn unindex(&mut self, uid: &str) {
        let Some(known) = self.items.get(uid) else { return };
        let item = &known.item;
        if let Some(job) = &item.job {
            remove_from(&mut self.pods_of_job, job, uid);
        }
        if let Some(node) = &item.node {
            remove_from(&mut self.pods_of_node, node, uid);
        }
        if let Some((group, _)) = &item.group {
            remove_from(&mut self.pods_of_group, &(item.namespace.clone(), group.clone()), uid);
        }
    }

    /// The pod or job is gone.
    pub fn forget_item(&mut self, uid: &str, now: Nanos) {
        self.leave(uid, now);
        self.unindex(uid);
        if let Some(known) = self.items.remove(uid)
            && known.item.kind.is_job()
        {
            self.place_pods_of(uid, now);
        }
        self.told.forget(uid);
    }

    /// All that is there of a kind was shown, and has these names or unique numbers: what is not among them is gone.
    pub fn shown_all(&mut self, kind: Kind, there: &BTreeSet<String>, now: Nanos) {
        match kind {
            Kind::Namespace => {
                gone(&self.namespaces, there).iter().for_each(|name| self.forget_namespace(name, now));
            }
            Kind::Node => {
                gone(&self.nodes, there).iter().for_each(|name| self.forget_node(name));
            }
            Kind::Tenant => {
                gone(&self.tenants, there).iter().for_each(|name| self.forget_tenant(name, now));
            }
            Kind::Cohort => {
                gone(&self.cohorts, there).iter().for_each(|name| self.forget_cohort(name, now));
            }
            Kind::Definition => {}
            Kind::Pod | Kind::Job | Kind::JobSet => {
                let is_gone = |known: &&Known| known.item.kind == kind && !there.contains(&known.item.uid);
                let gone: BTreeSet<String> =
                    self.items.values().filter(is_gone).map(|known| known.item.uid.clone()).collect();
                gone.iter().for_each(|uid| self.forget_item(uid, now));
            }
        }
    }

    /// Tells the capacity if it may have changed: what usable nodes have, without what foreign pods use there. O(n) for n nodes.
    fn set_capacity(&mut self, now: Nanos) {
        let Some(admission) = &mut self.admission else { return };
        if !std::mem::replace(&mut self.is_capacity_old, false) {
            return;
        }
        let mut capacity = vec![0u64; self.policy.resources.names().len()];
        for node in self.nodes.values().filter(|node| node.is_usable) {
            let used = self.foreign.get(&node.name);
            for (resource, sum) in capacity.iter_mut().enumerate() {
                let used = used.map_or(0, |used| used[resource]);
                *sum = sum.saturating_add(node.amounts[resource].saturating_sub(used));
            }
        }
        admission.set_capacity(&capacity, now);
    }
}

/// The names of what is known and not there any more.
fn gone<T>(known: &BTreeMap<String, T>, there: &BTreeSet<String>) -> Vec<String> {
    known.keys().filter(|name| !there.contains(*name)).cloned().collect()
}

/// Takes a unique number out of an index.
fn remove_from<K: Eq + Hash>(index: &mut HashMap<K, BTreeSet<String>>, key: &K, uid: &str) {
    if let Some(pods) = index.get_mut(key) {
        pods.remove(uid);
        if pods.is_empty() {
            index.remove(key);
        }
    }
}

#[cfg(test)]
mod tests;
