//! How a pod or a job stands, and what follows when it changes.

use trueplane_fair::Nanos;

use super::Controller;
use super::known::{Known, Opening, Standing, Target};
use crate::admission::{MOST_AMOUNT, Workload};
use crate::objects::Item;

/// The state of a group.
struct GroupState {
    /// When it was admitted as a whole, and how many of its pods that are there were admitted then.
    admitted: Option<(Nanos, u32)>,
    /// Number of its pods that are open and have not ended.
    open: usize,
}

/// What a pod or a job should be.
enum Role {
    Nothing,
    Foreign(String),
    Waits(String),
    Holds(String),
    Passes,
}

impl Controller {
    fn role(&self, item: &Item, standing: &Standing) -> Role {
        if item.is_over {
            return Role::Nothing;
        }
        if let Some(job) = self.job_of(item) {
            // What a job holds counts as a whole.
            match job.standing {
                Standing::Holds { .. } if item.is_held && !job.item.is_held => return Role::Passes,
                Standing::Holds { .. } => return Role::Nothing,
                // It was suspended, and its pods are about to end.
                Standing::Waits { .. } if item.is_held => return Role::Nothing,
                _ => {}
            }
        }
        if item.is_held && item.is_everywhere {
            return Role::Passes;
        }
        let tenant = self.namespaces.get(&item.namespace).and_then(|namespace| namespace.tenant.clone());
        match (tenant, &item.node) {
            (Some(tenant), _) if item.is_held => Role::Waits(tenant),
            (Some(tenant), node) if !item.is_everywhere => {
                // Whose gate somebody has taken off by hand will have a node soon.
                let waited = !matches!(standing, Standing::Nothing | Standing::Foreign { .. });
                let holds = node.is_some() || item.started.is_some() || item.admitted.is_some();
                if holds || waited { Role::Holds(tenant) } else { Role::Nothing }
            }
            (_, Some(node)) => Role::Foreign(node.clone()),
            _ => Role::Nothing,
        }
    }

    /// Lets the item stand as it should from `now` on.
    pub(super) fn place(&mut self, uid: &str, now: Nanos) {
        if self.admission.is_none() {
            return;
        }
        let Some(known) = self.items.get(uid) else { return };
        let (item, standing) = (known.item.clone(), known.standing.clone());
        let stays = match (self.role(&item, &standing), &standing) {
            (Role::Nothing, Standing::Nothing) => true,
            (Role::Foreign(node), Standing::Foreign { node: before, needs }) => {
                node == *before && *needs == self.needs_of(&item)
            }
            // The API server does not know yet that it was opened.
            (Role::Waits(tenant), Standing::Holds { workload, opening: Some(_) }) => {
                self.is_of(*workload, &tenant)
            }
            (Role::Waits(tenant), Standing::Waits { workload }) => {
                self.is_of(*workload, &tenant) && self.has_not_changed(*workload, &item)
            }
            (Role::Holds(tenant), Standing::Holds { workload, opening }) => {
                // What is written needs no other try.
                let is_written = opening.is_some();
                let stays = self.is_of(*workload, &tenant) && self.has_not_changed(*workload, &item);
                if stays && is_written {
                    self.stand(uid, Standing::Holds { workload: *workload, opening: None });
                }
                stays
            }
            (Role::Passes, Standing::Passes { .. }) => true,
            _ => false,
        };
        if !stays {
            self.move_to_role(uid, &item, &standing, now);
        }
        if item.kind.is_job() {
            self.place_pods_of(uid, now);
        }
    }

    fn move_to_role(&mut self, uid: &str, item: &Item, standing: &Standing, now: Nanos) {
        let waited = matches!(standing, Standing::Waits { .. } | Standing::Member { .. });
        let role = self.role(item, standing);
        self.leave(uid, now);
        match role {
            Role::Nothing => {}
            Role::Foreign(node) => {
                let needs = self.needs_of(item);
                let sum = self.foreign.entry(node.clone()).or_insert_with(|| vec![0; needs.len()]);
                sum.iter_mut().zip(&needs).for_each(|(sum, needs)| *sum = sum.saturating_add(*needs));
                self.stand(uid, Standing::Foreign { node, needs });
                self.is_capacity_old = true;
            }
            Role::Waits(tenant) => self.wait(uid, item, tenant, now),
            Role::Holds(tenant) => {
                if waited {
                    self.counters.opened_by_hand += 1;
                }
                self.adopt(uid, item, tenant, now);
            }
            Role::Passes => {
                let opening = Opening::new(now, false);
                self.stand(uid, Standing::Passes { opening });
                self.open(uid);
            }
        }
    }

    /// It waits from `now` on, by itself or with its group.
    fn wait(&mut self, uid: &str, item: &Item, tenant: String, now: Nanos) {
        if item.problem.is_some() {
            // It waits until somebody sets it right.
            return self.stand(uid, Standing::Nothing);
        }
        let not_before = self.items.get(uid).map_or(Nanos(0), |known| known.not_before);
        if now < not_before {
            return self.stand(uid, Standing::Nothing);
        }
        // One that was refused has given its room to others: it waits by itself.
        if let Some((group, size)) = item.group.as_ref().filter(|_| not_before == Nanos(0)) {
            let key = (item.namespace.clone(), group.clone());
            let state = self.group_state(&key, now);
            match state.admitted {
                // Somebody has opened a part of the group, and was interrupted.
                Some((at, count)) if item.created <= at && count < *size => {
                    return self.open_with_group(uid, item, tenant, at, now);
                }
                // It takes the place of one that has ended.
                _ if state.open > 0 && state.admitted.is_some() => {}
                _ => {
                    self.groups.entry(key.clone()).or_default().members.insert(uid.to_owned());
                    self.stand(uid, Standing::Member { group: group.clone() });
                    return self.gather(&key, &tenant, now);
                }
            }
        }
        let workload = self.number(Target::Item(uid.to_owned()));
        self.stand(uid, Standing::Waits { workload });
        let submitted = self.workload_of(item, tenant);
        if let Some(admission) = &mut self.admission
            && !admission.submit(workload, submitted)
        {
            self.stand(uid, Standing::Nothing);
        }
    }

    /// How a group is, by those of its pods that are there. O(g) for the g pods of the group.
    fn group_state(&self, key: &(String, String), now: Nanos) -> GroupState {
        /// Clocks of two processes differ by less than this; a time further ahead was not written by one of them.
        const SKEW: u64 = 300_000_000_000;
        let mut state = GroupState { admitted: None, open: 0 };
        for known in self.pods_of_group.get(key).into_iter().flatten().filter_map(|uid| self.items.get(uid)) {
            let opening = match known.standing {
                Standing::Holds { opening, .. } => opening,
                _ => None,
            };
            let is_open = !known.item.is_over && (opening.is_some() || !known.item.is_held);
            state.open += usize::from(is_open);
            let written = known.item.admitted_with_group.filter(|_| !known.item.is_held);
            let with_group = opening.filter(|one| one.with_group).map(|one| one.at).or(written);
            if let Some(at) = with_group.filter(|at| at.0 <= now.0.saturating_add(SKEW)) {
                state.admitted = match state.admitted {
                    Some((latest, _)) if latest > at => state.admitted,
                    Some((latest, count)) if latest == at => Some((latest, count + 1)),
                    _ => Some((at, 1)),
                };
            }
        }
        state
    }

    /// It holds what it needs from `now` on, and is opened, as its group was admitted `at` a time before.
    fn open_with_group(&mut self, uid: &str, item: &Item, tenant: String, at: Nanos, now: Nanos) {
        self.adopt(uid, item, tenant, now);
        if let Some(known) = self.items.get_mut(uid)
            && let Standing::Holds { opening, .. } = &mut known.standing
        {
            *opening = Some(Opening::new(at, true));
            self.open(uid);
        }
    }

    /// It holds what it needs from `now` on.
    pub(super) fn adopt(&mut self, uid: &str, item: &Item, tenant: String, now: Nanos) {
        let workload = self.number(Target::Item(uid.to_owned()));
        let adopted = self.workload_of(item, tenant);
        let Some(admission) = &mut self.admission else { return };
        if let Some(at) = item.admitted {
            admission.got(&adopted.tenant, at);
        }
        if admission.adopt(workload, adopted, now) {
            self.stand(uid, Standing::Holds { workload, opening: None });
        } else {
            self.targets.remove(&workload);
            self.stand(uid, Standing::Nothing);
        }
    }

    /// It stands for nothing from `now` on.
    pub(super) fn leave(&mut self, uid: &str, now: Nanos) {
        let Some(known) = self.items.get_mut(uid) else { return };
        let standing = std::mem::replace(&mut known.standing, Standing::Nothing);
        let item = &known.item;
        match standing {
            Standing::Nothing | Standing::Passes { .. } => {}
            Standing::Foreign { node, needs } => {
                self.is_capacity_old = true;
                if let Some(sum) = self.foreign.get_mut(&node) {
                    sum.iter_mut().zip(&needs).for_each(|(sum, needs)| *sum = sum.saturating_sub(*needs));
                    if sum.iter().all(|&sum| sum == 0) {
                        self.foreign.remove(&node);
                    }
                }
            }
            Standing::Waits { workload } | Standing::Holds { workload, .. } => {
                self.targets.remove(&workload);
                if let Some(admission) = &mut self.admission {
                    admission.remove(workload, now);
                }
            }
            Standing::Member { group } => {
                let key = (item.namespace.clone(), group);
                if let Some(group) = self.groups.get_mut(&key) {
                    group.members.remove(uid);
                }
                let tenant = self.namespaces.get(&key.0).and_then(|namespace| namespace.tenant.clone());
                self.gather(&key, &tenant.unwrap_or_default(), now);
            }
        }
    }

    /// Submits the group if all its pods are there, and withdraws it if some are missing.
    fn gather(&mut self, key: &(String, String), tenant: &str, now: Nanos) {
        let Some(group) = self.groups.get(key) else { return };
        if let Some(workload) = group.workload {
            self.targets.remove(&workload);
            if let Some(admission) = &mut self.admission {
                admission.remove(workload, now);
            }
        }
        if group.members.is_empty() {
            self.groups.remove(key);
            return;
        }
        // Pods that were to take the place of others have no others any more: they belong to the group again.
        let pods = self.pods_of_group.get(key).into_iter().flatten();
        let alone: Vec<(String, u64)> = pods
            .filter_map(|uid| match self.items.get(uid)?.standing {
                Standing::Waits { workload } => Some((uid.clone(), workload)),
                _ => None,
            })
            .collect();
        for (uid, workload) in alone {
            self.targets.remove(&workload);
            if let Some(admission) = &mut self.admission {
                admission.remove(workload, now);
            }
            self.stand(&uid, Standing::Member { group: key.1.clone() });
            if let Some(group) = self.groups.get_mut(key) {
                group.members.insert(uid);
            }
        }
        // Those that somebody has opened by hand are there, too.
        let open = self.group_state(key, now).open;
        let Some(group) = self.groups.get(key) else { return };
        let members: Vec<&Item> =
            group.members.iter().filter_map(|uid| self.items.get(uid)).map(|known| &known.item).collect();
        let size = members.iter().filter_map(|item| item.group.as_ref()).map(|(_, size)| *size).max();
        let whole =
            (members.len() + open >= size.unwrap_or(1) as usize).then(|| whole(&members, key, tenant));
        let number = whole.is_some().then(|| self.number(Target::Group(key.0.clone(), key.1.clone())));
        if let Some((number, whole)) = number.zip(whole)
            && let Some(admission) = &mut self.admission
        {
            admission.submit(number, whole);
        }
        if let Some(group) = self.groups.get_mut(key) {
            group.workload = number;
        }
    }

    /// Looks again at the pods of a job.
    pub(super) fn place_pods_of(&mut self, job: &str, now: Nanos) {
        let pods = self.pods_of_job.get(job).cloned().unwrap_or_default();
        for pod in pods {
            self.place(&pod, now);
        }
    }

    pub(super) fn stand(&mut self, uid: &str, standing: Standing) {
        if let Some(known) = self.items.get_mut(uid) {
            known.standing = standing;
        }
    }

    /// A new number for what waits or holds something.
    pub(super) fn number(&mut self, target: Target) -> u64 {
        let number = self.next_id;
        self.next_id += 1;
        self.targets.insert(number, target);
        number
    }

    /// What a pod or a job is for the admission.
    pub(super) fn workload_of(&self, item: &Item, tenant: String) -> Workload {
        let needs = self.needs_of(item).iter().map(|&amount| amount.min(MOST_AMOUNT)).collect();
        let (priority, created) = (item.priority, item.created);
        let kind = item.kind.name();
        Workload { tenant, needs, priority, created, name: format!("{kind} {}", item.full_name()) }
    }

    /// Amounts that it needs: those of the flavor for which it asks, and once it has a node, of the flavor of the node.
    fn needs_of(&self, item: &Item) -> Vec<u64> {
        match item.node.as_ref().and_then(|node| self.nodes.get(node)) {
            Some(node) => self.policy.resources.moved(&item.needs, node.flavor),
            None => item.needs.clone(),
        }
    }

    /// The job, or the set of jobs, to which a pod belongs, if that is for us.
    pub(super) fn job_of(&self, item: &Item) -> Option<&Known> {
        let job = item.job.as_ref().and_then(|job| self.items.get(job));
        job.filter(|job| job.item.namespace == item.namespace)
    }

    fn is_of(&self, workload: u64, tenant: &str) -> bool {
        let workload = self.admission.as_ref().and_then(|admission| admission.workload(workload));
        workload.is_some_and(|workload| workload.tenant == tenant)
    }

    /// Whether the workload still is what the item is now.
    fn has_not_changed(&self, workload: u64, item: &Item) -> bool {
        let workload = self.admission.as_ref().and_then(|admission| admission.workload(workload));
        workload.is_some_and(|workload| *workload == self.workload_of(item, workload.tenant.clone()))
    }
}

/// What a whole group is for the admission: the sum of its pods. It has come when the last of them has.
fn whole(members: &[&Item], key: &(String, String), tenant: &str) -> Workload {
    let resources = members.first().map_or(0, |item| item.needs.len());
    let sum =
        |resource: usize| members.iter().map(|item| item.needs[resource]).fold(0u64, u64::saturating_add);
    Workload {
        tenant: tenant.to_owned(),
        needs: (0..resources).map(sum).collect(),
        priority: members.iter().map(|item| item.priority).max().unwrap_or(0),
        created: members.iter().map(|item| item.created).max().unwrap_or_default(),
        name: format!("Group {}/{}", key.0, key.1),
    }
}
