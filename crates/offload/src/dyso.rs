//! DySO with the network between its controller and the switch.

use trueplane_study::Error;
use trueplane_units::{List, Nanos, PerSecond, Positive, Within, parameters};

use crate::channel::Way;
use crate::pace::Pace;
use crate::policy::dyso::ranking::Ranking;
use crate::policy::dyso::{Controller, Shape, Switch, Terms};
use crate::timing::Timing;
use crate::value::{Every, History, Share};
use crate::{Counts, Key, System};

/// Keys that are counted for each entry of a row.
const TRACKED_PER_ENTRY: u64 = 4;
/// Packets that were sent again and arrived, or did not, after which something must be wrong with the program.
const PATIENCE: u64 = 100_000_000;

/// The largest loss in millionths. One in a hundred updates then comes back, and simulations still end.
const LARGEST_LOSS: u32 = 900_000;
/// The most entries of a row.
const LONGEST_CHAIN: u64 = Shape::LONGEST_CHAIN as u64;

const HEADING: &str = "Control packets (dyso)";

parameters! {
    /// Parameters of DySO.
    #[derive(Clone, Debug)]
    pub struct Dyso {
        /// Control packets a second. A list makes a sweep.
        pub control_rate: List<Positive<PerSecond>> => { value: "LIST", default: "1Mpps,5Mpps", heading: HEADING },
        /// Entries in a row of the table, k. A list makes a sweep.
        pub chain: List<Within<u64, 1, LONGEST_CHAIN>> => { value: "LIST", default: "4", heading: HEADING },
        /// History buffer: rows x keys in a row.
        pub history: History => { value: "ROWSxSLOTS", default: "256x8", heading: HEADING },
        /// Time that a control packet takes from the controller to the switch and back.
        pub rtt: Nanos => { value: "TIME", default: "10us", heading: HEADING },
        /// Time by which a control packet may be late, at random, on each of the two ways.
        pub jitter: Nanos => { value: "TIME", default: "0ns", heading: HEADING },
        /// Share of control packets that are lost, on each of the two ways.
        pub loss: Share<0, LARGEST_LOSS, 1> => { value: "PERCENT", default: "0%", heading: HEADING },
        /// Time after which an update that was not acknowledged is sent again.
        pub timeout: Option<Positive<Nanos>> =>
            { value: "TIME", default_words: "three times --rtt and --jitter", heading: HEADING },
        /// Ageing period that dyso begins with.
        pub dyso_ageing: Positive<Nanos> => { value: "TIME", default: "100ms", heading: HEADING },
        /// Time after which dyso tunes its ageing period, or never.
        pub tuning: Every => { value: "TIME", default: "1s", heading: HEADING },
    }
}

impl Dyso {
    /// Time after which an update that was not heard of is sent again.
    pub fn resend_after(&self) -> Nanos {
        let usual = Nanos(self.rtt.0.saturating_add(self.jitter.0).saturating_mul(3));
        self.timeout.map_or(usual, Within::get)
    }
}

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
    /// With an empty table of so many entries, and `control_rate` control packets a second.
    ///
    /// # Errors
    /// If the entries do not make a table with rows of `chain` entries.
    pub fn new(
        dyso: &Dyso,
        entries: u64,
        seed: u64,
        timing: Timing,
        control_rate: PerSecond,
        chain: u64,
    ) -> Result<Self, Error> {
        let shape = shape(dyso, entries, chain)?;
        let controller = Controller::new(shape, &terms(dyso, timing, chain));
        let (there, jitter) = (timing.slots(dyso.rtt) / 2, timing.slots(dyso.jitter));
        let (back, loss) = (timing.slots(dyso.rtt) - there, dyso.loss.millionths());
        Ok(Self {
            switch: Switch::new(shape),
            controller,
            beat: timing.pace(control_rate.0),
            to_switch: Way::new(there, jitter, loss, seed),
            to_controller: Way::new(back, jitter, loss, seed ^ (1 << 63)),
            dropped: 0,
            now: 0,
        })
    }

    /// The ageing period in use, in slots.
    pub fn period(&self) -> u64 {
        self.controller.period()
    }

    /// Goes on without lookups and without new updates until none is under way, sending what is overdue, and holds the table against what the controller
    /// believes, entry by entry.
    ///
    /// # Errors
    /// If they differ, which would be a fault of the program.
    pub fn finish(&mut self) -> Result<(), Error> {
        let mut left = PATIENCE;
        while !self.controller.is_settled() {
            let resend = self.controller.resend_due().unwrap_or(u64::MAX).max(self.now);
            let arrival = self.to_switch.due().min(self.to_controller.due());
            if arrival <= resend {
                self.carry(arrival);
            } else {
                self.now = resend;
                let packet = self.controller.send_again(resend);
                self.to_switch.depart(packet, resend);
            }
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

    /// Moves the packet that has arrived by `now`; whether there is one.
    fn carry(&mut self, now: u64) -> bool {
        self.now = now;
        if let Some(packet) = self.to_controller.arrival(now) {
            self.controller.receive(packet, now);
            return true;
        }
        let Some(mut packet) = self.to_switch.arrival(now) else { return false };
        self.switch.process(&mut packet);
        if let Some(lost) = self.to_controller.depart(packet, now) {
            self.dropped += lost.history.len() as u64;
        }
        true
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
        if !self.carry(now) && self.beat.due() <= now {
            self.beat.advance();
            let packet = self.controller.send(now);
            self.to_switch.depart(packet, now);
        }
    }

    fn counts(&self) -> Counts {
        Counts {
            updates_sent: Some(self.controller.updates()),
            updates_applied: Some(self.switch.applied()),
            updates_resent: Some(self.controller.resent()),
            updates_failed: None,
            history_recorded: Some(self.switch.recorded()),
            history_full: Some(self.switch.lost()),
            history_lost: Some(self.dropped),
        }
    }
}

/// The table with rows of `chain` entries.
fn shape(dyso: &Dyso, entries: u64, chain: u64) -> Result<Shape, Error> {
    let narrow = |number: u64| u32::try_from(number).unwrap_or(u32::MAX);
    let rows = narrow(entries / chain.max(1));
    Shape::new(rows, narrow(chain), dyso.history.rows, dyso.history.slots)
        .map_err(|error| Error::Parameters(format!("dyso: {error}")))
}

fn terms(dyso: &Dyso, timing: Timing, chain: u64) -> Terms {
    Terms {
        tracked: usize::try_from(chain * TRACKED_PER_ENTRY).unwrap_or(usize::MAX).min(Ranking::MOST_TRACKED),
        timeout: timing.slots(dyso.resend_after()),
        ageing: timing.slots(*dyso.dyso_ageing),
        tuning: dyso.tuning.0.map(|interval| timing.slots(interval)),
    }
}

#[cfg(test)]
mod tests {
    use trueplane_units::Parameters;

    use super::*;
    use crate::engine;
    use crate::tally::Tally;

    const TIMING: Timing = Timing { rate: 1_000_000 };

    fn dyso(given: &[(&str, &str)]) -> Dyso {
        Dyso::given(&[&[("history", "8x8")], given].concat()).unwrap()
    }

    /// Looks up keys of which some are looked up far more often than others, a tenth of a second of them.
    fn run(dyso: &Dyso) -> DysoLoop {
        let mut system = DysoLoop::new(dyso, 256, 1, TIMING, PerSecond(200_000), 4).unwrap();
        let keys = (0..100_000u64).map(|slot| Key(slot * slot % 997 % (1 + slot % 600)));
        engine::run(&mut system, &keys.collect::<Vec<_>>(), &mut Tally::new(TIMING, 0));
        system
    }

    #[test]
    fn both_sides_agree_in_the_end_whatever_is_lost() {
        for (loss, jitter, timeout) in [
            ("0%", "0ns", None),
            ("1%", "0ns", None),
            ("30%", "50us", Some("1us")),
            ("90%", "0ns", None),
            ("50%", "0ns", Some("1h")),
        ] {
            let mut given = vec![("loss", loss), ("jitter", jitter)];
            given.extend(timeout.map(|timeout| ("timeout", timeout)));
            let mut system = run(&dyso(&given));
            let before = system.counts();
            assert!(before.updates_applied > Some(0) && before.updates_applied <= before.updates_sent);
            assert_eq!(before.history_lost > Some(0), loss != "0%");
            system.finish().unwrap();
            let after = system.counts();
            assert_eq!(
                (after.updates_sent, after.updates_applied),
                (before.updates_sent, before.updates_sent)
            );
        }
    }

    #[test]
    fn a_packet_takes_its_round_trip() {
        let first = |rtt| {
            let dyso = dyso(&[("history", "1x8"), ("rtt", rtt)]);
            let mut system = DysoLoop::new(&dyso, 256, 1, TIMING, PerSecond(TIMING.rate), 4).unwrap();
            (0..100).find(|&now| {
                while system.due() <= now {
                    system.control(now);
                }
                system.lookup(Key(1))
            })
        };
        // The packet that leaves at slot 1 takes along what was looked up until it is at the switch. Once it is back the next
        // one, which leaves right then if none has left at that slot, carries the update.
        assert_eq!(["0ns", "1us", "3us", "10us"].map(first), [Some(2), Some(2), Some(5), Some(16)]);
    }
}
