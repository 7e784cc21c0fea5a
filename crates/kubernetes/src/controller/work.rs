//! The work: who is admitted, what is tried again, and what follows from its outcome.

use trueplane_fair::Nanos;

use super::Controller;
use super::known::{Opening, Standing, Target};
use super::order::{Order, Outcome};
use crate::objects::Item;

/// The first pause before a write is tried again; it doubles with every failure.
const FIRST_PAUSE: u64 = 200_000_000;
/// The longest pause.
const LONGEST_PAUSE: u64 = 30_000_000_000;
/// What was written and is not seen for this long is written once more: writing it twice is as writing it once.
const UNSEEN: u64 = 60_000_000_000;

/// So many refusals in a row let an item give its room to others.
const MOST_REFUSALS: u32 = 5;
/// Time until an item that was refused waits again.
const REFUSED_PAUSE: u64 = 120_000_000_000;

impl Controller {
    /// Admits what can be admitted at `now`, and returns what is to be written. Call it when something was shown or [done](Self::done), and every second at
    /// least: what failed is tried again after a while.
    pub fn work(&mut self, now: Nanos) -> Vec<Order> {
        self.set_capacity(now);
        while let Some(id) = self.admission.as_mut().and_then(|admission| admission.next(now)) {
            self.admit(id, now);
        }
        while let Some((time, _)) = self.retries.first()
            && *time <= now
        {
            let Some((_, uid)) = self.retries.pop_first() else { break };
            self.open(&uid);
            // One that the server did not allow waits for its turn again.
            self.place(&uid, now);
        }
        self.tell_why(now);
        self.orders.drain(..).collect()
    }

    /// Notes the outcome of the order to open `uid`.
    pub fn done(&mut self, uid: &str, outcome: &Outcome, now: Nanos) {
        // The watch may have told of it before.
        match outcome {
            Outcome::Done => self.counters.opened += 1,
            Outcome::Again(_) => self.counters.tried_again += 1,
            Outcome::Conflict => self.counters.conflicts += 1,
            Outcome::Gone => self.counters.gone += 1,
            Outcome::Refused => self.counters.refused += 1,
        }
        let Some(opening) = self.items.get_mut(uid).and_then(|known| match &mut known.standing {
            Standing::Holds { opening, .. } => opening.as_mut(),
            Standing::Passes { opening } => Some(opening),
            _ => None,
        }) else {
            return;
        };
        let pause = match outcome {
            Outcome::Done => {
                opening.failures = 0;
                UNSEEN
            }
            // The watch tells when it goes; what it holds ends then.
            Outcome::Gone => UNSEEN,
            Outcome::Again(_) | Outcome::Conflict | Outcome::Refused => {
                opening.failures = opening.failures.saturating_add(1);
                let pause = FIRST_PAUSE << opening.failures.min(10).saturating_sub(1);
                let asked = match outcome {
                    Outcome::Again(Some(asked)) => u64::try_from(asked.as_nanos()).unwrap_or(u64::MAX),
                    _ => 0,
                };
                pause.max(asked).min(LONGEST_PAUSE)
            }
        };
        opening.refusals += u32::from(*outcome == Outcome::Refused);
        if opening.refusals >= MOST_REFUSALS {
            return self.give_up(uid, now);
        }
        self.retries.insert((Nanos(now.0.saturating_add(pause)), uid.to_owned()));
    }

    /// The server does not allow that the item be opened: others have its room, and it waits again after a while.
    fn give_up(&mut self, uid: &str, now: Nanos) {
        self.leave(uid, now);
        let until = Nanos(now.0.saturating_add(REFUSED_PAUSE));
        if let Some(known) = self.items.get_mut(uid) {
            known.not_before = until;
        }
        self.tell_problem(uid, "the API server does not allow that it be opened", now);
        self.retries.insert((until, uid.to_owned()));
    }

    /// The workload `id` is admitted at `now`.
    fn admit(&mut self, id: u64, now: Nanos) {
        let tenant = self.admission.as_ref().and_then(|admission| admission.workload(id));
        let tenant = tenant.map(|workload| workload.tenant.clone()).unwrap_or_default();
        *self.admitted.entry(tenant.clone()).or_default() += 1;
        match self.targets.get(&id).cloned() {
            None => {}
            Some(Target::Item(uid)) => self.holds(&uid, id, Opening::new(now, false)),
            Some(Target::Group(namespace, name)) => {
                let key = (namespace, name);
                self.targets.remove(&id);
                let members = self.groups.remove(&key).map(|group| group.members).unwrap_or_default();
                let mut parts = Vec::new();
                for uid in &members {
                    let Some(known) = self.items.get(uid) else { continue };
                    let workload = self.workload_of(&known.item, tenant.clone());
                    parts.push((uid.clone(), self.number(Target::Item(uid.clone())), workload));
                }
                let split = parts.iter().map(|(_, number, workload)| (*number, workload.clone())).collect();
                if let Some(admission) = &mut self.admission {
                    admission.split(id, split, now);
                }
                // A clock behind that of the API server must not make its pods seem to have come later.
                let created =
                    members.iter().filter_map(|uid| self.items.get(uid)).map(|known| known.item.created);
                let at = created.max().unwrap_or_default().max(now);
                for (uid, number, _) in parts {
                    self.holds(&uid, number, Opening::new(at, true));
                }
            }
        }
    }

    /// The item holds what it needs as workload `id`, and is to be opened.
    fn holds(&mut self, uid: &str, id: u64, opening: Opening) {
        self.stand(uid, Standing::Holds { workload: id, opening: Some(opening) });
        self.told.forget(uid);
        self.open(uid);
    }

    /// Orders that the item be opened, if it is to be.
    pub(super) fn open(&mut self, uid: &str) {
        let Some(known) = self.items.get(uid) else { return };
        let (Standing::Holds { opening: Some(opening), .. } | Standing::Passes { opening }) = &known.standing
        else {
            return;
        };
        let Item { kind, namespace, name, uid, is_held, .. } = &known.item;
        if *is_held {
            let (kind, namespace, name) = (*kind, namespace.clone(), name.clone());
            self.orders.push_back(Order::Open {
                kind,
                namespace,
                name,
                uid: uid.clone(),
                at: opening.at,
                with_group: opening.with_group,
            });
        }
    }
}
