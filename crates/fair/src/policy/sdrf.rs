//! Stateful dominant resource fairness, and the one without a state.

mod course;
mod waiting;

use trueplane_units::Nanos;

use crate::cluster::WHOLE;
use crate::memory::{Growth, Memory};
use crate::{Cluster, ClusterError, Policy};
use course::{Course, Line};
use waiting::Waiting;

/// SDRF: the least of share and commitment first; without memory DRF: the least dominant share first.
///
/// Priority: max over resources of o + c, where o is what a user holds and c its *commitment*, the moving average of what it held above
/// its own part of the cluster: dc/dt = (max(o − 1/n, 0) − c) / τ. Weights w divide both, and its part is w / Σw (which §4.2.2 mentions
/// and does not work out). Among equals the one whose next task came first is first.
///
/// Between a user's events its commitment runs by itself, and users change places by themselves. They are kept in a [`LiveTree`](trueplane_pqueue::LiveTree), whose
/// clock is growth, which doubles with every half-life: curves are then maxima of straight lines with integer coefficients, and the order is
/// exact. Eq. 4.14 has logarithms there, which rounding may put on the wrong side of now.
///
/// A live tree notes every change of places among all who wait. Who only asks who is first needs far less: a [`KineticTournament`](trueplane_pqueue::KineticTournament) of the same
/// curves. It is used until somebody asks for the [whole order](Policy::keep_order), or its [events](Sdrf::counting).
///
/// Departures: commitments are added up as integers, o rounded to 2⁻⁴⁴ of the cluster and time to 2⁻⁴⁴ of τ. With every 31st half-life
/// the clock starts anew, which rounds commitments down to 2⁻⁸⁸.
///
/// Cost: O(m) for m resources and O(log n) for n users who wait; O(k log n) where k of them have to change places. Every 31 half-lives
/// in which anything happens O(n·m + n log n): a memory that is shorter than the time between tasks costs that for every task.
///
/// Source: Sadok 2018, eq. 4.12 to 4.15; Ghodsi et al., *Dominant Resource Fairness*, NSDI 2011.
#[derive(Clone, Debug)]
pub struct Sdrf {
    cluster: Cluster,
    growth: Option<Growth>,
    /// Share that is a user's own: 1/n.
    fair_share: u64,
    /// Share of every user and resource, over the user's weight.
    shares: Vec<u64>,
    /// (c − ō)·g of every user and resource, which stands still between the user's events.
    offsets: Vec<i128>,
    /// The tickets of the next tasks of those who wait.
    tickets: Vec<u64>,
    waiting: Waiting,
}

impl Sdrf {
    /// Nobody holds anything, and there are no commitments. Events are not counted; see [`Sdrf::counting`].
    pub fn new(cluster: &Cluster, memory: Option<Memory>) -> Self {
        let cells = cluster.users() * cluster.resources();
        Self {
            growth: memory.map(Growth::new),
            fair_share: cluster.fair_share(),
            shares: vec![0; cells],
            offsets: vec![0; cells],
            tickets: vec![0; cluster.users()],
            waiting: Waiting::default(),
            cluster: cluster.clone(),
        }
    }

    /// The same, which also [counts](Policy::events) how often users who wait change places as time passes: the events of figure 4.11.
    pub fn counting(cluster: &Cluster, memory: Option<Memory>) -> Self {
        Self { waiting: Waiting::counting(), ..Self::new(cluster, memory) }
    }

    /// The commitment of `user` for `resource` at the last instant told, as a part of the cluster.
    ///
    /// # Panics
    ///
    /// There is no such user. A resource that is not there is another user's or none.
    pub fn commitment(&self, user: u32, resource: usize) -> f64 {
        let cell = self.row(user) + resource;
        let above = self.overuse(self.shares[cell]) as f64 + self.offsets[cell] as f64 / self.last() as f64;
        above.max(0.0) * f64::from(self.cluster.weight_or_zero(user)) / WHOLE as f64
    }

    /// The users who wait at `now`, the one whose task is next first. O(n log n) for n of them.
    pub(crate) fn order(&mut self, now: Nanos) -> Vec<u32> {
        let instant = self.instant(now);
        self.waiting.order(instant)
    }

    /// Nothing happens, but time passes until `now`. O(1) while nobody changes places.
    pub(crate) fn pass(&mut self, now: Nanos) {
        let instant = self.instant(now);
        self.waiting.advance(instant);
    }

    /// The clock says `now` from here on, whatever it said, and no time has passed: commitments stay what they are, rounded down to 2⁻⁸⁸.
    /// O(n·m) for n users and m resources, and what it takes to put those who wait in order.
    #[cold]
    pub(crate) fn rebase(&mut self, now: Nanos) {
        let Some(growth) = &mut self.growth else { return };
        let (before, after) = growth.rebase(now);
        self.change_clock(before, after);
    }

    /// Commitments are forgotten by `memory` from `now` on; they do not jump. Without a memory there are none. O(n·m) for n users and m
    /// resources, and what it takes to put those who wait in order.
    pub(crate) fn set_memory(&mut self, memory: Option<Memory>, now: Nanos) {
        let before = self.instant(now);
        let remembered = self.growth.is_some();
        self.growth = memory.map(Growth::new);
        let after = self.growth.as_mut().map_or(1, |growth| growth.rebase(now).1);
        if !remembered || memory.is_none() {
            // What is held above a user's part counts from now on.
            for cell in 0..self.offsets.len() {
                self.offsets[cell] = -i128::from(self.overuse(self.shares[cell])) * after as i128;
            }
            return self.rebuild(after);
        }
        self.change_clock(before, after);
    }

    /// The instant that was `before` is `after` from here on.
    fn change_clock(&mut self, before: u128, after: u128) {
        let (before, after) = (before as i128, after as i128);
        for cell in 0..self.offsets.len() {
            let offset = self.offsets[cell];
            // In two parts, so that no product has more than 127 bits.
            let scaled = offset.div_euclid(before) * after + offset.rem_euclid(before) * after / before;
            // A commitment below nothing, by rounding, is none.
            let none = -i128::from(self.overuse(self.shares[cell])) * after;
            self.offsets[cell] = scaled.max(none);
        }
        self.rebuild(after as u128);
    }

    /// One user more, of `weight`; everybody's own part is smaller from `now` on. O(n·m) for n users and m resources, and what it takes
    /// to put those who wait in order.
    ///
    /// # Errors
    ///
    /// The weight is out of range or there are too many users; nothing has changed.
    pub(crate) fn join(&mut self, weight: u32, now: Nanos) -> Result<(), ClusterError> {
        // First of all, as it may refuse it: the clock must not move then.
        self.cluster.join(weight)?;
        self.divide_anew(now);
        Ok(())
    }

    /// `user`, who neither holds anything nor waits, goes away: its commitments are forgotten, and everybody's own part is larger from
    /// `now` on. What the others have committed so far stays with them and is forgotten as ever. O(n·m) for n users and m resources, and
    /// what it takes to put those who wait in order.
    ///
    /// # Errors
    ///
    /// Nobody has that number; nothing has changed.
    pub(crate) fn leave(&mut self, user: u32, now: Nanos) -> Result<(), ClusterError> {
        self.cluster.leave(user)?;
        self.divide_anew(now);
        let cells = self.row(user)..self.row(user) + self.cluster.resources();
        self.offsets[cells].fill(0);
        Ok(())
    }

    /// The cluster has this capacity from `now` on, in which users hold `held`, resource by resource. Shares are parts of the new capacity;
    /// commitments stay the parts of the cluster that they are, and do not jump. O(n·m) for n users and m resources, and what it takes to
    /// put those who wait in order.
    ///
    /// # Errors
    ///
    /// The capacity is none, or has other resources; nothing has changed.
    pub(crate) fn set_capacity(
        &mut self,
        capacity: &[u64],
        held: &[u64],
        now: Nanos,
    ) -> Result<(), ClusterError> {
        self.cluster.set_capacity(capacity)?;
        self.change_all(now, |sdrf| {
            for (user, held) in (0..).zip(held.chunks_exact(capacity.len())) {
                sdrf.resume_holding(user, held);
            }
        });
        Ok(())
    }

    /// `user`, who holds `held`, has another weight from `now` on: its share counts by that, and everybody's own part is another one. Commitments
    /// stay the parts of the cluster that they are, rounded down, and do not jump. O(n·m) for n users and m resources, and what
    /// it takes to put those who wait in order.
    ///
    /// # Errors
    ///
    /// Nobody has that number, or the weight is out of range; nothing has changed.
    pub(crate) fn set_weight(
        &mut self,
        user: u32,
        weight: u32,
        held: &[u64],
        now: Nanos,
    ) -> Result<(), ClusterError> {
        let before = self.cluster.set_weight(user, weight)?;
        self.change_all(now, |sdrf| {
            sdrf.fair_share = sdrf.cluster.fair_share();
            sdrf.resume_holding(user, held);
        });
        let instant = self.last();
        let row = self.row(user);
        for cell in row..row + self.cluster.resources() {
            let over = i128::from(self.overuse(self.shares[cell])) * instant as i128;
            // By weight, it was at most the whole over the weight before: the product fits.
            let committed = (over + self.offsets[cell]).max(0);
            let most = (i128::from(WHOLE) / i128::from(before) + 1) * instant as i128;
            self.offsets[cell] = committed.min(most) * i128::from(before) / i128::from(weight) - over;
        }
        self.rebuild(instant);
        Ok(())
    }

    /// Users have come or gone, so that everybody's own part is another one from `now` on; commitments do not jump.
    fn divide_anew(&mut self, now: Nanos) {
        self.change_all(now, |sdrf| {
            sdrf.fair_share = sdrf.cluster.fair_share();
            sdrf.shares.resize(sdrf.cluster.users() * sdrf.cluster.resources(), 0);
            sdrf.offsets.resize(sdrf.shares.len(), 0);
            sdrf.tickets.resize(sdrf.cluster.users(), 0);
        });
    }

    /// Changes shares, or the part that is a user's own, at `now`, without a jump of commitments.
    fn change_all(&mut self, now: Nanos, change: impl FnOnce(&mut Self)) {
        let instant = self.instant(now);
        let before: Vec<u64> = self.shares.iter().map(|&share| self.overuse(share)).collect();
        change(self);
        for (cell, before) in before.into_iter().enumerate() {
            self.offsets[cell] += self.step(before, self.overuse(self.shares[cell]), instant);
        }
        self.rebuild(instant);
    }

    /// State to keep besides what users hold: the epoch of the clock, and an integer for every user and resource.
    pub(crate) fn remembered(&self) -> (u64, &[i128]) {
        (self.growth.as_ref().map_or(0, Growth::epoch), &self.offsets)
    }

    /// A policy that goes on with what was [remembered](Sdrf::remembered); what users hold is still to be [told](Sdrf::resume_holding).
    pub(crate) fn resume(cluster: &Cluster, growth: Option<Growth>, offsets: Vec<i128>) -> Option<Self> {
        // Before anything is made of a cluster that somebody may have made up.
        let cells = cluster.users().checked_mul(cluster.resources());
        (cells == Some(offsets.len())).then(|| Self { growth, offsets, ..Self::new(cluster, None) })
    }

    /// `user` has been holding `held`; nothing changes by that.
    pub(crate) fn resume_holding(&mut self, user: u32, held: &[u64]) {
        let row = self.row(user);
        for (resource, &amount) in held.iter().enumerate() {
            self.shares[row + resource] = self.cluster.share_of_known(user, resource, amount);
        }
    }

    /// Whether all commitments are between nothing and everything, but for rounding.
    pub(crate) fn is_sound(&self) -> bool {
        if self.growth.is_none() {
            return self.offsets.iter().all(|&offset| offset == 0);
        }
        let instant = self.last() as i128;
        (0..self.cluster.users() as u32).all(|user| {
            let cells = self.row(user)..self.row(user) + self.cluster.resources();
            let Some(whole) = WHOLE.checked_div(self.cluster.weight_or_zero(user).into()) else {
                // It has left, and its commitments are forgotten.
                return self.offsets[cells].iter().all(|&offset| offset == 0);
            };
            // Shares and commitments are by weight, and rounded.
            let most = (i128::from(whole) + 1) * instant + 1;
            cells.into_iter().all(|cell| {
                let (over, offset) = (i128::from(self.overuse(self.shares[cell])), self.offsets[cell]);
                // Within this bound nothing that is computed with it overflows.
                offset.unsigned_abs() <= 1 << 121 && (-1..=most).contains(&(over * instant + offset))
            })
        })
    }

    /// The last instant told.
    fn last(&self) -> u128 {
        self.growth.as_ref().map_or(1, Growth::last)
    }

    /// Returns what to add to an offset when overuse goes from `before` to `after`: commitments do not jump, ō + b / g stays what it is.
    fn step(&self, before: u64, after: u64, instant: u128) -> i128 {
        (i128::from(before) - i128::from(after)) * instant as i128
    }

    /// Index of the first cell of `user`.
    fn row(&self, user: u32) -> usize {
        user as usize * self.cluster.resources()
    }

    /// Excess of a share over the user's own part (eq. 4.7); nothing if nothing is remembered.
    fn overuse(&self, share: u64) -> u64 {
        if self.growth.is_some() { share.saturating_sub(self.fair_share) } else { 0 }
    }

    /// `now` on the clock of growth; starts it anew if need be.
    fn instant(&mut self, now: Nanos) -> u128 {
        let Some(growth) = &mut self.growth else { return 1 };
        let (instant, anew) = growth.at(now);
        if let Some(bits) = anew {
            for offset in &mut self.offsets {
                // Rounded down: twice by a few bits is once by all of them, however often somebody asks.
                *offset >>= bits.min(127);
            }
            self.rebuild(instant);
        }
        instant
    }

    /// The course of `user` from `instant` on.
    fn course(&self, user: u32, instant: u128) -> Course {
        let row = self.row(user);
        let cells = row..row + self.cluster.resources();
        let line = |cell: usize| Line {
            slope: self.shares[cell] + self.overuse(self.shares[cell]),
            offset: self.offsets[cell],
        };
        Course::new(self.tickets[user as usize], cells.map(line), instant)
    }

    /// `user` holds `held` from `instant` on.
    fn settle(&mut self, user: u32, held: &[u64], instant: u128) {
        let row = self.row(user);
        for (resource, &amount) in held.iter().enumerate() {
            let share = self.cluster.share_of_known(user, resource, amount);
            let before = std::mem::replace(&mut self.shares[row + resource], share);
            self.offsets[row + resource] += self.step(self.overuse(before), self.overuse(share), instant);
        }
    }

    /// Puts those who wait in order after a change of everybody.
    fn rebuild(&mut self, instant: u128) {
        let mut waiting = std::mem::take(&mut self.waiting);
        waiting.change_all(instant, |user, course| *course = self.course(user, instant));
        self.waiting = waiting;
    }
}

impl Policy for Sdrf {
    fn wait(&mut self, user: u32, ticket: u64, now: Nanos) {
        let instant = self.instant(now);
        self.tickets[user as usize] = ticket;
        self.waiting.set(user, self.course(user, instant), instant);
    }

    fn rest(&mut self, user: u32, now: Nanos) {
        let instant = self.instant(now);
        self.waiting.remove(user, instant);
    }

    fn hold(&mut self, user: u32, held: &[u64], now: Nanos) {
        let instant = self.instant(now);
        self.settle(user, held, instant);
        if self.waiting.has(user) {
            self.waiting.set(user, self.course(user, instant), instant);
        }
    }

    fn start(&mut self, user: u32, held: &[u64], next: Option<u64>, now: Nanos) {
        let instant = self.instant(now);
        self.settle(user, held, instant);
        match next {
            None => self.waiting.remove(user, instant),
            Some(ticket) => {
                self.tickets[user as usize] = ticket;
                self.waiting.set(user, self.course(user, instant), instant);
            }
        }
    }

    fn first(&mut self, now: Nanos) -> Option<u32> {
        let instant = self.instant(now);
        self.waiting.first(instant)
    }

    fn keep_order(&mut self, now: Nanos) {
        let instant = self.instant(now);
        self.waiting.keep_order(instant);
    }

    fn after(&self, user: u32) -> Option<u32> {
        self.waiting.after(user)
    }

    fn events(&self) -> Option<u64> {
        self.waiting.crossings()
    }
}

#[cfg(test)]
mod tests;
