//! Orders that stand still between the ends of periods.

use std::collections::BTreeSet;

use trueplane_units::Nanos;

use crate::Policy;

/// Accounts of all users, brought up to date at the end of every period and when something happens to a user.
pub trait Ledger {
    /// Its place in the order: the smallest goes first.
    type Key: Ord + Copy;

    /// `period` periods have ended since the start. What users hold has not changed since it was told.
    fn pass(&mut self, period: u64);

    /// `user` holds `held` from `now` on, which lies in the period after the last one that was told to have ended.
    fn hold(&mut self, user: u32, held: &[u64], now: Nanos);

    /// The place of `user`.
    fn key(&self, user: u32) -> Self::Key;
}

/// A policy that looks at its [`Ledger`] only when a period has ended, for all users, and when something happens, for the one to whom
/// it happens. The first period begins at time zero of the caller's clock. Among equals it goes by the ticket of the task that waits
/// longest, then by the number of the user.
///
/// Cost: O(log n) for n users who wait, and O(n log n) when periods have ended, once for however many, besides what the ledger takes.
/// Users are those of the cluster for which it was made; others are not served.
#[derive(Clone, Debug)]
pub struct Periodic<L: Ledger> {
    ledger: L,
    period: Nanos,
    ended: u64,
    /// Place and ticket of every user who waits.
    waiting: Vec<Option<(L::Key, u64)>>,
    order: BTreeSet<(L::Key, u64, u32)>,
    events: u64,
}

impl<L: Ledger> Periodic<L> {
    /// `period` is not zero.
    pub(super) fn over(ledger: L, period: Nanos, users: usize) -> Self {
        Self { ledger, period, ended: 0, waiting: vec![None; users], order: BTreeSet::new(), events: 0 }
    }

    /// The accounts, as they were when something happened last.
    pub fn ledger(&self) -> &L {
        &self.ledger
    }

    fn pass(&mut self, now: Nanos) {
        let period = now.0 / self.period.0;
        if period <= self.ended {
            return;
        }
        self.ended = period;
        self.ledger.pass(period);
        let mut order: Vec<_> = std::mem::take(&mut self.order)
            .into_iter()
            .map(|(_, ticket, user)| (self.ledger.key(user), ticket, user))
            .collect();
        for &(key, ticket, user) in &order {
            self.waiting[user as usize] = Some((key, ticket));
        }
        self.events += sort(&mut order);
        self.order = order.into_iter().collect();
    }
}

impl<L: Ledger> Policy for Periodic<L> {
    fn wait(&mut self, user: u32, ticket: u64, now: Nanos) {
        self.pass(now);
        self.rest(user, now);
        if let Some(waiting) = self.waiting.get_mut(user as usize) {
            let key = self.ledger.key(user);
            *waiting = Some((key, ticket));
            self.order.insert((key, ticket, user));
        }
    }

    fn rest(&mut self, user: u32, _now: Nanos) {
        if let Some((key, ticket)) = self.waiting.get_mut(user as usize).and_then(Option::take) {
            self.order.remove(&(key, ticket, user));
        }
    }

    fn hold(&mut self, user: u32, held: &[u64], now: Nanos) {
        self.pass(now);
        let Some(waiting) = self.waiting.get_mut(user as usize) else { return };
        self.ledger.hold(user, held, now);
        let Some((before, ticket)) = *waiting else { return };
        let key = self.ledger.key(user);
        if key != before {
            *waiting = Some((key, ticket));
            self.order.remove(&(before, ticket, user));
            self.order.insert((key, ticket, user));
        }
    }

    fn first(&mut self, now: Nanos) -> Option<u32> {
        self.pass(now);
        self.order.first().map(|&(_, _, user)| user)
    }

    fn after(&self, user: u32) -> Option<u32> {
        let (key, ticket) = self.waiting.get(user as usize).copied().flatten()?;
        // No two tickets are equal, so that whoever follows has a larger triple.
        let place = (key, ticket, user);
        self.order
            .range((std::ops::Bound::Excluded(place), std::ops::Bound::Unbounded))
            .next()
            .map(|&(_, _, user)| user)
    }

    fn events(&self) -> Option<u64> {
        Some(self.events)
    }
}

/// Sorts `items`, and says how many pairs of them were the wrong way round. O(n log n).
fn sort<T: Ord + Copy>(items: &mut [T]) -> u64 {
    if items.len() < 2 {
        return 0;
    }
    let (left, right) = items.split_at_mut(items.len() / 2);
    let mut wrong = sort(left) + sort(right);
    let (mut from_left, mut from_right) = (left.iter().peekable(), right.iter().peekable());
    let mut merged = Vec::with_capacity(left.len() + right.len());
    loop {
        match (from_left.peek(), from_right.peek()) {
            (Some(l), Some(r)) if r < l => {
                wrong += from_left.len() as u64;
                merged.extend(from_right.next());
            }
            (Some(_), _) => merged.extend(from_left.next()),
            (None, Some(_)) => merged.extend(from_right.next()),
            (None, None) => break,
        }
    }
    items.copy_from_slice(&merged);
    wrong
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whose turn it is changes with every period.
    #[derive(Clone, Debug)]
    struct Turns(u64);

    impl Ledger for Turns {
        type Key = u64;

        fn pass(&mut self, period: u64) {
            self.0 = period;
        }

        fn hold(&mut self, _user: u32, _held: &[u64], _now: Nanos) {}

        fn key(&self, user: u32) -> u64 {
            (u64::from(user) + self.0) % 3
        }
    }

    #[test]
    fn an_order_changes_when_a_period_ends_and_not_before() {
        let mut policy = Periodic::over(Turns(0), Nanos(10), 3);
        for user in 0..3 {
            policy.wait(user, 7 - u64::from(user), Nanos(0));
        }
        assert_eq!((policy.first(Nanos(9)), policy.after(0), policy.after(2)), (Some(0), Some(1), None));
        assert_eq!((policy.first(Nanos(10)), policy.after(2), policy.after(1)), (Some(2), Some(0), None));
        assert_eq!(policy.events(), Some(2), "2 has passed 0 and 1");
        // Two periods at once: places 0, 1, 2 of users 0, 1, 2 as at the beginning.
        assert_eq!((policy.first(Nanos(35)), policy.events()), (Some(0), Some(4)));
        policy.rest(0, Nanos(35));
        assert_eq!((policy.first(Nanos(35)), policy.after(2), policy.after(0)), (Some(1), None, None));
        // Nobody knows it.
        policy.wait(3, 9, Nanos(36));
        policy.hold(3, &[], Nanos(36));
        assert_eq!(policy.after(2), None);
    }

    #[test]
    fn pairs_that_were_the_wrong_way_round_are_counted() {
        let mut items = [5, 1, 4, 1, 3];
        assert_eq!(sort(&mut items), 6);
        assert_eq!(items, [1, 1, 3, 4, 5]);
    }
}
