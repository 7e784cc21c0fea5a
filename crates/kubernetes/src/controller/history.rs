//! The past of the cluster, as far as its objects tell it: what whoever leads anew needs to go on as if nothing had happened.

use std::collections::HashMap;

use trueplane_fair::Nanos;

use super::Controller;
use super::known::Target;
use crate::admission::Admission;
use crate::objects::Item;

/// Something that happened.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    /// What had started before has ended.
    End,
    /// Something has started; it has ended since, or not.
    Start {
        /// Whether it has ended.
        has_ended: bool,
    },
}

impl Controller {
    /// Leads with `admission`. What happened since its last time is told to it in its order, and then everything is as it was shown. If nothing was
    /// saved, the past begins with the oldest pod that is still there.
    pub(super) fn begin(&mut self, mut admission: Admission, was_saved: bool, now: Nanos) {
        let past = self.past(now);
        let earliest = past.first().map_or(now, |(time, ..)| *time);
        let since = if was_saved { admission.now() } else { earliest.min(now) };
        if !was_saved {
            admission.rebase(since);
        }
        admission.record(self.policy.record.clone());
        self.admission = Some(admission);
        self.set_tenants(since);
        let mut everything: Vec<String> = self.items.keys().cloned().collect();
        // Jobs first: pods of a job that holds what they need hold nothing by themselves.
        everything.sort_unstable_by_key(|uid| (!self.items[uid].item.kind.is_job(), uid.clone()));
        self.place_foreign(&everything, since);
        self.is_capacity_old = true;
        self.set_capacity(since);
        let mut ended: HashMap<String, u64> = HashMap::new();
        for (time, event, uid) in past {
            let Some(known) = self.items.get(&uid) else { continue };
            let item = known.item.clone();
            let Some(tenant) = self.tenant_of(&item) else { continue };
            match event {
                Event::Start { has_ended: false } => self.adopt(&uid, &item, tenant, time.max(since)),
                Event::Start { has_ended: true } if item.ended.is_some_and(|end| end > since) => {
                    let number = self.number(Target::Item(uid.clone()));
                    self.targets.remove(&number);
                    let workload = self.workload_of(&item, tenant);
                    if let (Some(at), Some(admission)) = (item.admitted, &mut self.admission) {
                        admission.got(&workload.tenant, at);
                    }
                    if let Some(admission) = &mut self.admission
                        && admission.adopt(number, workload, time.max(since))
                    {
                        ended.insert(uid, number);
                    }
                }
                Event::Start { has_ended: true } => {}
                Event::End => {
                    if let (Some(number), Some(admission)) = (ended.remove(&uid), &mut self.admission) {
                        admission.remove(number, time.max(since));
                    }
                }
            }
        }
        for uid in &everything {
            self.tell_of_item(uid, now);
            self.place(uid, now);
        }
        let namespaces: Vec<String> = self.namespaces.keys().cloned().collect();
        namespaces.iter().for_each(|name| self.tell_of_namespace(name, now));
        self.set_tenants(now);
        self.set_capacity(now);
    }

    /// What happened until `now`, in its order.
    fn past(&self, now: Nanos) -> Vec<(Nanos, Event, String)> {
        let mut past = Vec::new();
        for known in self.items.values() {
            let item = &known.item;
            if item.is_held
                || item.is_everywhere
                || self.is_part_of_job(item)
                || self.tenant_of(item).is_none()
            {
                continue;
            }
            let Some(start) = item.admitted.or(item.started) else { continue };
            let start = start.max(item.created).min(now);
            match item.ended.map(|end| end.min(now)).filter(|_| item.is_over) {
                Some(end) if end > start => {
                    past.push((start, Event::Start { has_ended: true }, item.uid.clone()));
                    past.push((end, Event::End, item.uid.clone()));
                }
                None if !item.is_over => {
                    past.push((start, Event::Start { has_ended: false }, item.uid.clone()));
                }
                // It has held nothing for any time, or nobody knows for how long.
                _ => {}
            }
        }
        past.sort_unstable();
        past
    }

    fn place_foreign(&mut self, uids: &[String], now: Nanos) {
        for uid in uids {
            let is_foreign = |item: &Item| item.node.is_some() && self.tenant_of(item).is_none();
            let known = self.items.get(uid);
            if known.is_some_and(|known| known.item.is_everywhere || is_foreign(&known.item)) {
                self.place(uid, now);
            }
        }
    }

    fn is_part_of_job(&self, item: &Item) -> bool {
        self.job_of(item)
            .is_some_and(|job| !job.item.is_held && (!job.item.is_over || job.item.ended.is_some()))
    }

    fn tenant_of(&self, item: &Item) -> Option<String> {
        self.namespaces.get(&item.namespace)?.tenant.clone()
    }
}
