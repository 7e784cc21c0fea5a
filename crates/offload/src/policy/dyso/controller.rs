//! The control plane: what is written where, and what to do about packets that do not come back.

use std::collections::VecDeque;

use super::ageing::Ageing;
use super::image::Image;
use super::packet::{Packet, Update};
use super::ranking::Ranking;
use super::shape::Shape;
use super::tuning::Tuner;
use crate::Key;

/// Updates that may be remembered although they are no longer under way.
const SPARE: usize = 1024;

/// Settings of a controller. Times are in slots.
#[derive(Clone, Copy, Debug)]
pub struct Terms {
    /// Keys that are counted for each row at most, 1 to [`Ranking::MOST_TRACKED`].
    pub tracked: usize,
    /// After how long an update that was not heard of is sent again, at least 1.
    pub timeout: u64,
    /// The ageing period to begin with, at least 1; brought within the bounds if it is tuned.
    pub ageing: u64,
    /// Slots between two tunings of the ageing period, at least 1; `None`: never. It stays between the 1024th part of this and this.
    pub tuning: Option<u64>,
}

/// The state management of DySO: counts what comes back on control packets, and rewrites a row when a key that missed has become one of its k
/// hottest (§III-B).
///
/// Each row has one update under way at most. It counts as made when a packet with its version is back, and is sent again after a
/// timeout; the switch makes it once however often it comes. As soon as nothing is under way, controller and switch agree.
///
/// Costs: O(k²) a control packet and one [`Ranking::count`] a lookup that it brings. Memory: 10 B for each key counted, 8 B an entry and
/// some 30 B a row.
#[derive(Clone, Debug)]
pub struct Controller {
    shape: Shape,
    timeout: u64,
    ranking: Ranking,
    image: Image,
    rows: Vec<RowState>,
    /// Rows that want an update and have none under way.
    waiting: VecDeque<u32>,
    /// Updates under way by when they are sent again, and some that are no longer under way.
    sent: VecDeque<(u64, Update)>,
    ageing: Ageing,
    tuner: Option<Tuner>,
    next_history_row: u32,
    /// Packets that have come back, to be used again.
    spare: Vec<Packet>,
    /// Rows that have an update under way.
    unsettled: usize,
    updates: u64,
    resent: u64,
    heard: u64,
}

/// State of a row's updates.
#[derive(Clone, Copy, Debug, Default)]
struct RowState {
    /// Version of the last update sent.
    version: u16,
    under_way: bool,
    /// It is waiting, or will as soon as its update is back.
    wants_update: bool,
}

impl Controller {
    /// Knows nothing, and believes the table to be empty.
    pub fn new(shape: Shape, terms: &Terms) -> Self {
        let tuner = terms.tuning.map(|interval| Tuner::new(shape, interval));
        let period = tuner.as_ref().map_or(terms.ageing.max(1), |tuner| tuner.within_bounds(terms.ageing));
        Self {
            shape,
            timeout: terms.timeout.max(1),
            ranking: Ranking::new(shape.rows(), terms.tracked),
            image: Image::new(shape.rows(), shape.chain()),
            rows: vec![RowState::default(); shape.rows() as usize],
            waiting: VecDeque::new(),
            sent: VecDeque::new(),
            ageing: Ageing::new(period, 0),
            tuner,
            next_history_row: 0,
            spare: Vec::new(),
            unsettled: 0,
            updates: 0,
            resent: 0,
            heard: 0,
        }
    }

    /// The control packet that leaves at `now`: it asks for the next row of the history buffer, and carries an update that has to be sent
    /// again, or the update of the row that has waited longest, or none.
    pub fn send(&mut self, now: u64) -> Packet {
        self.pass_time(now);
        let update = self.overdue(now).or_else(|| self.next_update());
        self.packet(update, now)
    }

    /// The same, but without new updates: for a driver that comes to an end and waits until [nothing is under way](Self::is_settled).
    pub fn send_again(&mut self, now: u64) -> Packet {
        self.pass_time(now);
        let update = self.overdue(now);
        self.packet(update, now)
    }

    /// When the first of the updates under way is sent again, if nothing is heard of it by then.
    pub fn resend_due(&mut self) -> Option<u64> {
        while let Some(&(deadline, update)) = self.sent.front() {
            if is_under_way(&self.rows, update) {
                return Some(deadline);
            }
            self.sent.pop_front();
        }
        None
    }

    fn packet(&mut self, update: Option<Update>, now: u64) -> Packet {
        let mut packet = self.spare.pop().unwrap_or_default();
        packet.entries.clear();
        packet.history.clear();
        packet.history_row = self.next_history_row;
        self.next_history_row = (self.next_history_row + 1) % self.shape.history_rows();
        packet.update = update;
        if let Some(update) = update {
            packet.entries.extend_from_slice(self.image.keys(update.row));
            self.remember(update, now);
        }
        packet
    }

    /// An update leaves. Behind one that is not heard of for long, those that have been are taken out now and then, so that there are
    /// never many more than are under way.
    fn remember(&mut self, update: Update, now: u64) {
        if self.sent.len() > 2 * self.unsettled + SPARE {
            self.sent.retain(|&(_, update)| is_under_way(&self.rows, update));
        }
        self.sent.push_back((now.saturating_add(self.timeout), update));
    }

    /// A control packet is back.
    pub fn receive(&mut self, packet: Packet, now: u64) {
        self.pass_time(now);
        if let Some(update) = packet.update {
            self.acknowledge(update);
        }
        packet.history.iter().for_each(|&key| self.count(key));
        self.spare.push(packet);
    }

    /// The keys that the controller believes a row to hold, or to hold as soon as nothing is under way.
    pub fn keys(&self, row: u32) -> &[Key] {
        self.image.keys(row)
    }

    /// Whether no update is under way.
    pub fn is_settled(&self) -> bool {
        self.unsettled == 0
    }

    /// The ageing period, in slots.
    pub fn period(&self) -> u64 {
        self.ageing.period
    }

    /// Updates sent, each counted once.
    pub fn updates(&self) -> u64 {
        self.updates
    }

    /// Updates sent again.
    pub fn resent(&self) -> u64 {
        self.resent
    }

    /// Lookups that came back on control packets.
    pub fn heard(&self) -> u64 {
        self.heard
    }

    fn pass_time(&mut self, now: u64) {
        self.ranking.age_by(self.ageing.due(now));
        if let Some(tuner) = &mut self.tuner {
            let period = tuner.pass_time(now, &self.ranking, &self.image, self.ageing.period);
            self.ageing.change(period);
        }
    }

    fn count(&mut self, key: Key) {
        self.heard += 1;
        let row = self.shape.row_of(key);
        if let Some(tuner) = &mut self.tuner {
            tuner.count(row, key);
        }
        let place = self.ranking.count(row, key);
        if place < self.shape.chain() && !self.image.keys(row).contains(&key) {
            let state = &mut self.rows[row as usize];
            if !state.wants_update && !state.under_way {
                self.waiting.push_back(row);
            }
            state.wants_update = true;
        }
    }

    fn acknowledge(&mut self, update: Update) {
        let Some(state) = self.rows.get_mut(update.row as usize) else { return };
        if state.under_way && state.version == update.version {
            state.under_way = false;
            self.unsettled -= 1;
            if state.wants_update {
                self.waiting.push_back(update.row);
            }
        }
    }

    /// An update that has been under way for too long.
    fn overdue(&mut self, now: u64) -> Option<Update> {
        if self.resend_due()? > now {
            return None;
        }
        self.resent += 1;
        self.sent.pop_front().map(|(_, update)| update)
    }

    /// A new update, of the row that has waited longest among those whose k hottest keys are not in the table.
    fn next_update(&mut self) -> Option<Update> {
        while let Some(row) = self.waiting.pop_front() {
            let state = &mut self.rows[row as usize];
            state.wants_update = false;
            if self.image.set(row, self.ranking.top(row, self.shape.chain())) {
                state.version = state.version.wrapping_add(1);
                state.under_way = true;
                self.unsettled += 1;
                self.updates += 1;
                return Some(Update { row, version: state.version });
            }
        }
        None
    }
}

fn is_under_way(rows: &[RowState], update: Update) -> bool {
    let row = rows[update.row as usize];
    row.under_way && row.version == update.version
}
