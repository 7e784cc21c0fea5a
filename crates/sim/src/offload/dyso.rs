//! DySO with the network between its controller and the switch.

use std::collections::VecDeque;

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use trueplane_core::offload::pace::Pace;
use trueplane_core::offload::policy::dyso::ranking::Ranking;
use trueplane_core::offload::policy::dyso::{Controller, Packet, Shape, Switch, Terms};
use trueplane_core::offload::{Counts, Key, System};
use trueplane_core::units::Nanos;

use super::options::{Dyso, Options};
use super::timing::Timing;
use crate::Error;

/// For each entry of a row so many keys are counted.
const TRACKED_PER_ENTRY: u64 = 4;
/// A million, the denominator of losses.
const MILLION: u32 = 1_000_000;
/// After so many control packets without a new update something is wrong with the program: an update goes unheard every time.
const PATIENCE: u64 = 100_000_000;

/// A switch, its controller, and the control packets on their way.
///
/// A packet leaves the controller at every beat of the control rate, is at the switch half a round trip later and back after another half; on
/// each way it may be late by up to the jitter, and lost. The controller takes no time to decide (assumption A3 of the paper's
/// appendix), and control packets take no slots from data packets.
pub struct DysoLoop {
    switch: Switch,
    controller: Controller,
    beat: Pace,
    to_switch: Way,
    to_controller: Way,
    dropped: u64,
    now: u64,
}

impl DysoLoop {
    /// With an empty table, and `control_rate` control packets a second.
    ///
    /// # Errors
    /// If the entries do not make a table with rows of `chain` entries.
    pub fn new(options: &Options, timing: Timing, control_rate: u64, chain: u64) -> Result<Self, Error> {
        let shape = shape(options, chain)?;
        let dyso = &options.dyso;
        let controller = Controller::new(shape, &terms(dyso, timing, chain));
        let way = |seed| Way {
            packets: VecDeque::new(),
            delay: timing.slots(dyso.round_trip) / 2,
            jitter: timing.slots(dyso.jitter),
            loss_ppm: dyso.loss_ppm,
            rng: Xoshiro256PlusPlus::seed_from_u64(options.seed ^ seed),
        };
        Ok(Self {
            switch: Switch::new(shape),
            controller,
            beat: timing.pace(control_rate),
            to_switch: way(0),
            to_controller: way(1 << 63),
            dropped: 0,
            now: 0,
        })
    }

    /// The ageing period in use, in slots.
    pub fn period(&self) -> u64 {
        self.controller.period()
    }

    /// Goes on without lookups and without new updates until none is under way, and holds the table against what the controller
    /// believes, entry by entry.
    ///
    /// # Errors
    /// If they differ, which would be a fault of the program.
    pub fn finish(&mut self) -> Result<(), Error> {
        let mut left = PATIENCE;
        while !self.controller.is_settled() {
            self.step(self.due(), Controller::send_again);
            left = left
                .checked_sub(1)
                .ok_or_else(|| Error::Unfinished("DySO's last updates do not arrive".to_owned()))?;
        }
        let table = self.switch.table();
        for row in 0..self.switch.shape().rows() {
            let (mut held, mut believed) =
                (table.keys(row).collect::<Vec<_>>(), self.controller.keys(row).to_vec());
            held.sort_unstable();
            believed.sort_unstable();
            if held != believed {
                return Err(Error::Internal(format!("DySO's controller and table disagree on row {row}")));
            }
        }
        let made = (self.controller.updates(), self.switch.applied());
        if made.0 != made.1 {
            return Err(Error::Internal(format!("DySO sent {} updates, and {} were made", made.0, made.1)));
        }
        Ok(())
    }

    /// Moves the packet that is due first, which is due by `now`.
    fn step(&mut self, now: u64, send: fn(&mut Controller, u64) -> Packet) {
        self.now = now;
        if let Some(packet) = self.to_controller.arrival(now) {
            self.controller.receive(packet, now);
        } else if let Some(mut packet) = self.to_switch.arrival(now) {
            self.switch.process(&mut packet);
            if let Some(lost) = self.to_controller.depart(packet, now) {
                self.dropped += lost.history.len() as u64;
            }
        } else if self.beat.due() <= now {
            self.beat.advance();
            let packet = send(&mut self.controller, now);
            self.to_switch.depart(packet, now);
        }
    }
}

impl System for DysoLoop {
    fn lookup(&mut self, key: Key) -> bool {
        self.switch.lookup(key)
    }

    fn due(&self) -> u64 {
        self.beat.due().min(self.to_switch.due()).min(self.to_controller.due()).max(self.now)
    }

    fn control(&mut self, now: u64) {
        self.step(now, Controller::send);
    }

    fn counts(&self) -> Counts {
        Counts {
            updates_sent: Some(self.controller.updates()),
            updates_applied: Some(self.switch.applied()),
            updates_resent: Some(self.controller.resent()),
            updates_failed: None,
            history_recorded: Some(self.switch.recorded()),
            history_lost: Some(self.switch.lost()),
            history_dropped: Some(self.dropped),
        }
    }
}

/// The table of `options` with rows of `chain` entries.
fn shape(options: &Options, chain: u64) -> Result<Shape, Error> {
    let narrow = |number: u64| u32::try_from(number).unwrap_or(u32::MAX);
    let rows = narrow(options.entries / chain.max(1));
    let history_rows = options.dyso.history_rows.min(rows);
    Shape::new(rows, narrow(chain), history_rows, options.dyso.history_slots)
        .map_err(|error| Error::Parameters(format!("dyso: {error}")))
}

fn terms(dyso: &Dyso, timing: Timing, chain: u64) -> Terms {
    let timeout = dyso.timeout.unwrap_or(Nanos((dyso.round_trip.0 + dyso.jitter.0).saturating_mul(3)));
    Terms {
        tracked: usize::try_from(chain * TRACKED_PER_ENTRY).unwrap_or(usize::MAX).min(Ranking::MOST_TRACKED),
        timeout: timing.slots(timeout),
        ageing: timing.slots(dyso.ageing),
        tuning: dyso.tuning.map(|interval| timing.slots(interval)),
    }
}

/// One way between controller and switch.
struct Way {
    /// By when they arrive; at the same time, in the order in which they left.
    packets: VecDeque<(u64, Packet)>,
    /// In slots.
    delay: u64,
    jitter: u64,
    loss_ppm: u32,
    rng: Xoshiro256PlusPlus,
}

impl Way {
    /// Sends a packet at `now`; it is given back if it is lost.
    fn depart(&mut self, packet: Packet, now: u64) -> Option<Packet> {
        if self.loss_ppm > 0 && self.rng.random_range(0..MILLION) < self.loss_ppm {
            return Some(packet);
        }
        let late = if self.jitter > 0 { self.rng.random_range(0..=self.jitter) } else { 0 };
        let arrival = now.saturating_add(self.delay).saturating_add(late);
        // From the back, where its place is but for jitter.
        let behind = self.packets.iter().rev().take_while(|(other, _)| *other > arrival).count();
        self.packets.insert(self.packets.len() - behind, (arrival, packet));
        None
    }

    fn due(&self) -> u64 {
        self.packets.front().map_or(u64::MAX, |&(arrival, _)| arrival)
    }

    /// A packet that has arrived by `now`.
    fn arrival(&mut self, now: u64) -> Option<Packet> {
        if self.due() > now {
            return None;
        }
        self.packets.pop_front().map(|(_, packet)| packet)
    }
}
