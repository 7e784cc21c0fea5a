//! A policy that is watched.

use std::collections::BTreeMap;

use trueplane_fair::{Cluster, Policy};
use trueplane_units::Nanos;

use super::naive::Model;
use super::table::Row;

/// Hands everything on, and holds every order to what has been said and to a model.
pub(crate) struct Spy {
    name: &'static str,
    policy: Box<dyn Policy>,
    model: Box<dyn Model>,
    period: u64,
    clock: u64,
    waiting: BTreeMap<u32, u64>,
    held: Vec<Vec<u64>>,
    /// The order when it was asked for last.
    pub(crate) order: Vec<u32>,
}

impl Spy {
    pub(crate) fn new(row: Row, cluster: &Cluster) -> Self {
        Self {
            name: row.name,
            policy: row.policy,
            model: row.model,
            period: row.period,
            clock: 0,
            waiting: BTreeMap::new(),
            held: vec![vec![0; cluster.resources()]; cluster.users()],
            order: Vec::new(),
        }
    }

    /// Time passes in the model, one period after another.
    fn pass(&mut self, now: Nanos) {
        loop {
            let end = (self.clock / self.period + 1) * self.period;
            self.model.elapse(&self.held, end.min(now.0) - self.clock);
            if end > now.0 {
                break;
            }
            self.model.end(&self.held);
            self.clock = end;
        }
        self.clock = now.0;
    }

    fn check(&self) {
        let name = self.name;
        let mut users = self.order.clone();
        users.sort_unstable();
        assert!(
            users.iter().eq(self.waiting.keys()),
            "{name}: everybody who waits is in the order, once: {users:?}"
        );
        for pair in self.order.windows(2) {
            let [one, other] = [pair[0], pair[1]];
            let Some(order) = self.model.compare(&self.held, one as usize, other as usize) else { continue };
            let equals = self.waiting[&one].cmp(&self.waiting[&other]);
            assert!(order.then(equals).is_lt(), "{name} at {}: {one} is before {other}", self.clock);
        }
    }
}

impl Policy for Spy {
    fn wait(&mut self, user: u32, ticket: u64, now: Nanos) {
        self.pass(now);
        self.waiting.insert(user, ticket);
        self.policy.wait(user, ticket, now);
    }

    fn rest(&mut self, user: u32, now: Nanos) {
        self.pass(now);
        self.waiting.remove(&user);
        self.policy.rest(user, now);
    }

    fn hold(&mut self, user: u32, held: &[u64], now: Nanos) {
        self.pass(now);
        let before = std::mem::replace(&mut self.held[user as usize], held.to_vec());
        self.model.hold(user as usize, &before, held);
        self.policy.hold(user, held, now);
    }

    fn start(&mut self, user: u32, held: &[u64], next: Option<u64>, now: Nanos) {
        self.pass(now);
        let _ = match next {
            Some(ticket) => self.waiting.insert(user, ticket),
            None => self.waiting.remove(&user),
        };
        let before = std::mem::replace(&mut self.held[user as usize], held.to_vec());
        self.model.hold(user as usize, &before, held);
        self.policy.start(user, held, next, now);
    }

    fn first(&mut self, now: Nanos) -> Option<u32> {
        self.pass(now);
        let first = self.policy.first(now);
        let more = self.waiting.len() + 1;
        self.order = std::iter::successors(first, |&user| self.policy.after(user)).take(more).collect();
        self.check();
        first
    }

    fn after(&self, user: u32) -> Option<u32> {
        self.policy.after(user)
    }

    fn keep_order(&mut self, now: Nanos) {
        self.policy.keep_order(now);
    }

    fn events(&self) -> Option<u64> {
        self.policy.events()
    }
}
