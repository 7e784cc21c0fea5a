//! The scheduler of `trueplane fair simulate`, told what the controller was told: it says the same order.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use trueplane_fair::{Memory, Nanos, SdrfScheduler};
use trueplane_kubernetes::admission::{Step, Workload};

/// How the order of a recording and that of the scheduler agree.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Agreement {
    /// Times at which the controller looked who is next and found somebody.
    pub(crate) found: usize,
    /// Those at which the scheduler says the same one.
    pub(crate) same: usize,
    /// Times at which the controller looked and found nobody.
    pub(crate) nobody: usize,
    /// Those at which the scheduler says nobody, too.
    pub(crate) same_nobody: usize,
}

/// A tenant of whose workloads the scheduler knows the first one.
#[derive(Debug, Default)]
struct Tenant {
    user: u32,
    /// The workloads that wait, by the second of their creation and their name.
    waiting: BTreeMap<(Nanos, String, u64), Workload>,
    /// The one that the scheduler knows, and its ticket.
    first: Option<(u64, u64)>,
}

/// The scheduler, and what it was told.
#[derive(Debug)]
struct Replay {
    scheduler: SdrfScheduler,
    tenants: BTreeMap<String, Tenant>,
    /// The workloads that wait.
    waiting: HashMap<u64, Workload>,
    tickets: BTreeSet<u64>,
}

/// Asks the scheduler each time that the controller looked. Where tenants are equal, the one whose workload was created in an earlier second is first, and in
/// one second a checksum of the name decides, as in the controller. If the scheduler says another one than the controller, that is counted, and it goes on
/// with what the controller did.
pub(crate) fn compare(steps: &[(Nanos, Step)], half_life_seconds: u64) -> Agreement {
    let memory = Memory::half_life(Nanos(half_life_seconds * 1_000_000_000)).unwrap();
    let mut replay = Replay {
        scheduler: SdrfScheduler::new(vec![1; 2], Some(memory)).unwrap(),
        tenants: BTreeMap::new(),
        waiting: HashMap::new(),
        tickets: BTreeSet::new(),
    };
    let mut agreement = Agreement::default();
    for (now, step) in steps {
        let now = *now;
        match step {
            Step::Capacity(amounts) => {
                let amounts: Vec<u64> = amounts.iter().map(|&amount| amount.max(1)).collect();
                replay.scheduler.set_capacity(&amounts, now).unwrap();
                let names: Vec<String> = replay.tenants.keys().cloned().collect();
                names.iter().for_each(|name| replay.choose(name, now));
            }
            Step::Tenant(name, weight) => {
                if !replay.tenants.contains_key(name) {
                    let user = replay.scheduler.join(*weight, now).unwrap();
                    replay.tenants.insert(name.clone(), Tenant { user, ..Tenant::default() });
                }
            }
            Step::Submitted(id, one) => replay.wait(*id, one.clone(), now),
            Step::Adopted(id, one) => replay.hold(*id, one, now),
            Step::Removed(id) => {
                if replay.leave(*id, now).is_none() {
                    replay.scheduler.finish(*id, now).unwrap();
                }
            }
            Step::Next(next) => {
                let said = replay.next(now);
                agreement.found += usize::from(next.is_some());
                agreement.same += usize::from(next.is_some() && said.as_ref().map(|one| one.0) == *next);
                agreement.nobody += usize::from(next.is_none());
                agreement.same_nobody += usize::from(next.is_none() && said.is_none());
                if let Some((id, one)) = said.filter(|(id, _)| Some(*id) != *next) {
                    replay.scheduler.finish(id, now).unwrap();
                    replay.wait(id, one, now);
                    if let Some(id) = next {
                        let one = replay.leave(*id, now).unwrap();
                        replay.hold(*id, &one, now);
                    }
                } else if let Some(one) = next.and_then(|id| replay.leave(id, now)) {
                    replay.hold(next.unwrap(), &one, now);
                }
            }
        }
    }
    agreement
}

impl Replay {
    fn wait(&mut self, id: u64, one: Workload, now: Nanos) {
        let (tenant, place) = (one.tenant.clone(), (one.created, one.name.clone(), id));
        self.tenants.get_mut(&tenant).unwrap().waiting.insert(place, one.clone());
        self.waiting.insert(id, one);
        self.choose(&tenant, now);
    }

    fn hold(&mut self, id: u64, one: &Workload, now: Nanos) {
        self.scheduler.adopt(self.tenants[&one.tenant].user, id, &one.needs, now).unwrap();
    }

    /// It does not wait any more; returns it if it did.
    fn leave(&mut self, id: u64, now: Nanos) -> Option<Workload> {
        let one = self.waiting.remove(&id)?;
        let tenant = self.tenants.get_mut(&one.tenant).unwrap();
        tenant.waiting.remove(&(one.created, one.name.clone(), id));
        self.choose(&one.tenant, now);
        Some(one)
    }

    /// The workload whose turn it is; it holds what it needs from `now` on.
    fn next(&mut self, now: Nanos) -> Option<(u64, Workload)> {
        let (_, id) = self.scheduler.next(now).unwrap()?;
        let one = self.waiting.remove(&id).unwrap();
        let tenant = self.tenants.get_mut(&one.tenant).unwrap();
        tenant.waiting.remove(&(one.created, one.name.clone(), id));
        let (_, ticket) = tenant.first.take().unwrap();
        self.tickets.remove(&ticket);
        self.choose(&one.tenant, now);
        Some((id, one))
    }

    /// Tells the scheduler of the first workload of a tenant that fits the cluster.
    fn choose(&mut self, name: &str, now: Nanos) {
        let tenant = self.tenants.get_mut(name).unwrap();
        let capacity = self.scheduler.cluster().capacity().to_vec();
        let fits = |one: &&Workload| one.needs.iter().zip(&capacity).all(|(needs, has)| needs <= has);
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
