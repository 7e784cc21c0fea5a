//! The scheduler of `trueplane fair simulate`, told what the controller was told: it says the same order.

use std::collections::HashMap;

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

/// Asks the scheduler each time that the controller looked. It has all workloads that wait, and not only the first one of each tenant; tickets order those of
/// a tenant as the controller does, by the second of their creation and their name. If it says another one than the controller, that is counted, and it goes on with what
/// the controller did.
pub(crate) fn compare(steps: &[(Nanos, Step)], half_life_seconds: u64) -> Agreement {
    let memory = Memory::half_life(Nanos(half_life_seconds * 1_000_000_000)).unwrap();
    let tickets = tickets(steps);
    let mut scheduler = SdrfScheduler::new(vec![1; 2], Some(memory)).unwrap();
    let mut users: HashMap<String, u32> = HashMap::new();
    // Nothing fits a cluster without capacity: the scheduler refuses what the controller puts aside.
    let (mut waiting, mut aside): (HashMap<u64, &Workload>, HashMap<u64, &Workload>) = Default::default();
    let mut agreement = Agreement::default();
    for (now, step) in steps {
        let now = *now;
        match step {
            Step::Capacity(amounts) => {
                let amounts: Vec<u64> = amounts.iter().map(|&amount| amount.max(1)).collect();
                scheduler.set_capacity(&amounts, now).unwrap();
                for (id, one) in std::mem::take(&mut aside) {
                    scheduler
                        .submit_with_ticket(users[&one.tenant], id, &one.needs, tickets[&id], now)
                        .unwrap();
                    waiting.insert(id, one);
                }
            }
            Step::Tenant(name, weight) => {
                if !users.contains_key(name) {
                    users.insert(name.clone(), scheduler.join(*weight, now).unwrap());
                }
            }
            Step::Submitted(id, one) => {
                let submitted =
                    scheduler.submit_with_ticket(users[&one.tenant], *id, &one.needs, tickets[id], now);
                if submitted.is_ok() {
                    waiting.insert(*id, one)
                } else {
                    aside.insert(*id, one)
                };
            }
            Step::Adopted(id, one) => scheduler.adopt(users[&one.tenant], *id, &one.needs, now).unwrap(),
            Step::Removed(id) => {
                if waiting.remove(id).is_some() {
                    scheduler.withdraw(*id, now).unwrap();
                } else if aside.remove(id).is_none() {
                    scheduler.finish(*id, now).unwrap();
                }
            }
            Step::Next(next) => {
                let said = scheduler.next(now).unwrap().map(|(_, id)| id);
                agreement.found += usize::from(next.is_some());
                agreement.same += usize::from(next.is_some() && said == *next);
                agreement.nobody += usize::from(next.is_none());
                agreement.same_nobody += usize::from(next.is_none() && said.is_none());
                if let Some(id) = said.filter(|_| said != *next) {
                    let one = waiting[&id];
                    scheduler.finish(id, now).unwrap();
                    scheduler
                        .submit_with_ticket(users[&one.tenant], id, &one.needs, tickets[&id], now)
                        .unwrap();
                }
                if let Some(id) = next {
                    let one = waiting.remove(id).unwrap();
                    if said != *next {
                        scheduler.withdraw(*id, now).unwrap();
                        scheduler.adopt(users[&one.tenant], *id, &one.needs, now).unwrap();
                    }
                }
            }
        }
    }
    agreement
}

/// Tickets in the order of seconds of creation and names.
fn tickets(steps: &[(Nanos, Step)]) -> HashMap<u64, u64> {
    let mut all: Vec<(Nanos, &str, u64)> = Vec::new();
    for (_, step) in steps {
        if let Step::Submitted(id, one) = step {
            all.push((one.created, &one.name, *id));
        }
    }
    all.sort_unstable();
    (0..).zip(all).map(|(ticket, (.., id))| (id, ticket)).collect()
}
