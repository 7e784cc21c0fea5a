//! First come, first served.

use std::collections::BTreeMap;

use trueplane_units::Nanos;

use crate::Policy;

/// First come, first served: whose next task was submitted first is next, whoever holds what.
///
/// Cost: O(log n) for n users who wait. What operators have who configure nothing.
#[derive(Clone, Debug, Default)]
pub struct Fifo {
    /// The tickets of users who wait.
    tickets: Vec<Option<u64>>,
    order: BTreeMap<u64, u32>,
}

impl Policy for Fifo {
    fn wait(&mut self, user: u32, ticket: u64, now: Nanos) {
        self.rest(user, now);
        if self.tickets.len() <= user as usize {
            self.tickets.resize(user as usize + 1, None);
        }
        self.tickets[user as usize] = Some(ticket);
        self.order.insert(ticket, user);
    }

    fn rest(&mut self, user: u32, _now: Nanos) {
        if let Some(ticket) = self.tickets.get_mut(user as usize).and_then(Option::take) {
            self.order.remove(&ticket);
        }
    }

    fn hold(&mut self, _user: u32, _held: &[u64], _now: Nanos) {}

    fn first(&mut self, _now: Nanos) -> Option<u32> {
        self.order.first_key_value().map(|(_, &user)| user)
    }

    fn after(&self, user: u32) -> Option<u32> {
        let ticket = self.tickets.get(user as usize).copied().flatten()?;
        self.order.range(ticket + 1..).next().map(|(_, &user)| user)
    }
}
