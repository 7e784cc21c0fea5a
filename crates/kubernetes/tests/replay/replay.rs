//! The scheduler of `trueplane fair simulate`, told what the controller was told: it says the same order.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap};

use trueplane_fair::{Nanos, SdrfScheduler};
use trueplane_kubernetes::admission::{Saved, Step, Workload};

/// How the order of a recording and that of the scheduler agree.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Agreement {
    /// Times at which the controller began to lead.
    pub(crate) terms: usize,
    /// Times at which the controller looked who is next and found somebody.
    pub(crate) found: usize,
    /// Those at which the scheduler says the same one.
    pub(crate) same: usize,
    /// Times at which the controller looked and found nobody.
    pub(crate) nobody: usize,
    /// Those at which the scheduler says nobody, too.
    pub(crate) same_nobody: usize,
}

impl Agreement {
    /// Whether both said the same each time.
    pub(crate) fn is_whole(&self) -> bool {
        (self.same, self.same_nobody) == (self.found, self.nobody)
    }
}

/// The place of a workload among those of its tenant.
type Place = (Reverse<i32>, Nanos, String, u64);

fn place(id: u64, one: &Workload) -> Place {
    (Reverse(one.priority), one.created, one.name.clone(), id)
}

/// A tenant of whose workloads the scheduler knows the first one.
#[derive(Debug, Default)]
struct Tenant {
    user: u32,
    /// The workloads that wait.
    waiting: BTreeMap<Place, Workload>,
    /// The one that the scheduler knows, and its ticket.
    first: Option<(u64, u64)>,
}

/// The scheduler, and what it was told since the controller began to lead.
#[derive(Debug)]
struct Replay {
    scheduler: SdrfScheduler,
    /// What the cluster has, and what all tenants hold, which may be more.
    capacity: Vec<u64>,
    held: Vec<u64>,
    tenants: BTreeMap<String, Tenant>,
    /// The workloads that wait.
    waiting: HashMap<u64, Workload>,
    /// What those need that hold something.
    holding: HashMap<u64, Vec<u64>>,
    tickets: BTreeSet<u64>,
}

/// Asks the scheduler each time that the controller looked. Where tenants are equal, the one whose workload was created in an earlier second is first, and in
/// one second a checksum of the name decides, as in the controller. If the scheduler says another one than the controller, that is counted, and it goes on
/// with what the controller did. When the controller begins to lead anew, the scheduler goes on with what was saved, too.
pub(crate) fn compare(steps: &[(Nanos, Step)]) -> Agreement {
    let mut agreement = Agreement::default();
    let mut replay: Option<Replay> = None;
    for (now, step) in steps {
        if let Step::Began(saved) = step {
            agreement.terms += 1;
            replay = Some(Replay::begin(saved));
            continue;
        }
        replay.as_mut().expect("a recording begins with what was saved").take(step, *now, &mut agreement);
    }
    agreement
}

impl Replay {
    fn begin(saved: &Saved) -> Self {
        let scheduler = SdrfScheduler::restore(&saved.scheduler).unwrap();
        let capacity = scheduler.cluster().capacity().to_vec();
        let tenant = |(name, &user): (&String, &u32)| (name.clone(), Tenant { user, ..Tenant::default() });
        Self {
            held: vec![0; capacity.len()],
            capacity,
            tenants: saved.tenants.iter().map(tenant).collect(),
            waiting: HashMap::new(),
            holding: HashMap::new(),
            tickets: BTreeSet::new(),
            scheduler,
        }
    }

    fn take(&mut self, step: &Step, now: Nanos, agreement: &mut Agreement) {
        match step {
            Step::Began(_) => unreachable!("it is a replay of its own"),
            Step::Capacity(amounts) => self.set_capacity(amounts, now),
            Step::Tenant(name, weight) => {
                if let Some(tenant) = self.tenants.get(name) {
                    if self.scheduler.cluster().weight(tenant.user) != Some(*weight) {
                        self.scheduler.set_weight(tenant.user, *weight, now).unwrap();
                    }
                } else {
                    let user = self.scheduler.join(*weight, now).unwrap();
                    self.tenants.insert(name.clone(), Tenant { user, ..Tenant::default() });
                }
            }
            Step::TenantGone(name) => {
                let tenant = self.tenants.remove(name).unwrap();
                self.scheduler.leave(tenant.user, now).unwrap();
            }
            Step::Submitted(id, one) => self.wait(*id, one.clone(), now),
            Step::Adopted(id, one) => self.adopt(*id, one, now),
            Step::Removed(id) => {
                if self.leave(*id, now).is_none() {
                    self.finish(*id, now);
                }
            }
            Step::Next(next) => {
                let said = self.next(now);
                agreement.found += usize::from(next.is_some());
                agreement.same += usize::from(next.is_some() && said.as_ref().map(|one| one.0) == *next);
                agreement.nobody += usize::from(next.is_none());
                agreement.same_nobody += usize::from(next.is_none() && said.is_none());
                if let Some((id, one)) = said.filter(|(id, _)| Some(*id) != *next) {
                    self.finish(id, now);
                    self.wait(id, one, now);
                    if let Some(id) = next {
                        let one = self.leave(*id, now).unwrap();
                        self.adopt(*id, &one, now);
                    }
                } else if let Some((id, one)) = next.and_then(|id| Some((id, self.leave(id, now)?))) {
                    self.adopt(id, &one, now);
                }
            }
        }
    }

    fn set_capacity(&mut self, amounts: &[u64], now: Nanos) {
        // What waits fits the scheduler at every moment.
        self.capacity.iter_mut().zip(amounts).for_each(|(before, &after)| *before = after.max(*before));
        self.fit(now);
        self.capacity = amounts.to_vec();
        let names: Vec<String> = self.tenants.keys().cloned().collect();
        names.iter().for_each(|name| self.choose(name, now));
        self.fit(now);
    }

    /// Gives the scheduler the capacity; what is held, where that is more.
    fn fit(&mut self, now: Nanos) {
        let both = self.capacity.iter().zip(&self.held);
        let fitting: Vec<u64> = both.map(|(&has, &held)| has.max(held).max(1)).collect();
        if fitting != self.scheduler.cluster().capacity() {
            self.scheduler.set_capacity(&fitting, now).unwrap();
        }
    }

    fn wait(&mut self, id: u64, one: Workload, now: Nanos) {
        let tenant = one.tenant.clone();
        self.tenants.get_mut(&tenant).unwrap().waiting.insert(place(id, &one), one.clone());
        self.waiting.insert(id, one);
        self.choose(&tenant, now);
    }

    /// It holds what it needs, whoever else may wait.
    fn adopt(&mut self, id: u64, one: &Workload, now: Nanos) {
        self.hold(id, one);
        self.fit(now);
        self.scheduler.adopt(self.tenants[&one.tenant].user, id, &one.needs, now).unwrap();
    }

    fn hold(&mut self, id: u64, one: &Workload) {
        self.held.iter_mut().zip(&one.needs).for_each(|(held, needs)| *held += needs);
        self.holding.insert(id, one.needs.clone());
    }

    fn finish(&mut self, id: u64, now: Nanos) {
        self.scheduler.finish(id, now).unwrap();
        let needs = self.holding.remove(&id).unwrap();
        self.held.iter_mut().zip(&needs).for_each(|(held, needs)| *held -= needs);
        self.fit(now);
    }

    /// It does not wait any more; returns it if it did.
    fn leave(&mut self, id: u64, now: Nanos) -> Option<Workload> {
        let one = self.waiting.remove(&id)?;
        let tenant = self.tenants.get_mut(&one.tenant).unwrap();
        tenant.waiting.remove(&place(id, &one));
        self.choose(&one.tenant, now);
        Some(one)
    }

    /// The workload whose turn it is; it holds what it needs from `now` on.
    fn next(&mut self, now: Nanos) -> Option<(u64, Workload)> {
        let (_, id) = self.scheduler.next(now).unwrap()?;
        let one = self.waiting.remove(&id).unwrap();
        self.hold(id, &one);
        let tenant = self.tenants.get_mut(&one.tenant).unwrap();
        tenant.waiting.remove(&place(id, &one));
        let (_, ticket) = tenant.first.take().unwrap();
        self.tickets.remove(&ticket);
        self.choose(&one.tenant, now);
        Some((id, one))
    }

    /// Tells the scheduler of the first workload of a tenant that fits the cluster.
    fn choose(&mut self, name: &str, now: Nanos) {
        let tenant = self.tenants.get_mut(name).unwrap();
        let capacity = &self.capacity;
        let fits = |one: &&Workload| one.needs.iter().zip(capacity).all(|(needs, has)| needs <= has);
        let first = tenant.waiting.iter().find(|(_, one)| fits(one)).map(|((.., id), one)| (*id, one));
        if first.as_ref().map(|first| first.0) == tenant.first.map(|first| first.0) {
            return;
        }
        if let Some((id, ticket)) = tenant.first.take() {
            self.tickets.remove(&ticket);
            self.scheduler.withdraw(id, now).unwrap();
        }
        if let Some((id, one)) = first {
            let checksum = u64::from(crc32fast::hash(one.name.as_bytes()) >> 4);
            let ticket = (one.created.0 / 1_000_000_000) << 28 | checksum;
            let ticket = (ticket..).find(|ticket| self.tickets.insert(*ticket)).unwrap();
            tenant.first = Some((id, ticket));
            self.scheduler.submit_with_ticket(tenant.user, id, &one.needs, ticket, now).unwrap();
        }
    }
}
