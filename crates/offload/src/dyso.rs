//! DySO with the network between its controller and the switch.

use trueplane_link::{Arrived, Fate, Faults, Link};
use trueplane_study::Error;
use trueplane_units::{List, Nanos, PerSecond, Positive, Within, parameters};

use crate::pace::Pace;
use crate::policy::dyso::ranking::Ranking;
use crate::policy::dyso::{Controller, Packet, Shape, Switch, Terms};
use crate::timing::Timing;
use crate::value::{Every, History};
use crate::{Counts, Key, System};

/// Keys that are counted for each entry of a row.
const TRACKED_PER_ENTRY: u64 = 4;
/// Packets that were sent again and arrived, or did not, after which something must be wrong with the program.
const PATIENCE: u64 = 100_000_000;

/// The most entries of a row.
const LONGEST_CHAIN: u64 = Shape::LONGEST_CHAIN as u64;

const HEADING: &str = "Control packets (dyso)";

parameters! {
    /// Parameters of DySO.
    #[derive(Clone, Debug)]
    pub struct Dyso {
        /// Control packets per second. A list makes a sweep.
        pub control_rate: Option<List<Positive<PerSecond>>> =>
            { value: "LIST", default_words: "1Mpps,5Mpps, or fewer at a low --rate", heading: HEADING },
        /// Number of entries in each row of the table (k). A list makes a sweep.
        pub chain: List<Within<u64, 1, LONGEST_CHAIN>> => { value: "LIST", default: "4", heading: HEADING },
        /// Size of the history buffer: rows x keys in a row. It cannot have more rows than the table.
        pub history: Option<History> =>
            { value: "ROWSxSLOTS", default_words: "256x8, or fewer rows for a small table", heading: HEADING },
        /// Time of a control packet from the controller to the switch and back. Each of the two ways is a link with the faults of --jitter,
        /// --loss, --reorder and --duplicate.
        pub rtt: Nanos => { value: "TIME", default: "10us", heading: HEADING },
        /// Time after which an update without acknowledgement is sent again.
        pub timeout: Option<Positive<Nanos>> =>
            { value: "TIME", default_words: "three times the sum of --rtt and --jitter", heading: HEADING },
        /// Initial ageing period of dyso.
        pub dyso_ageing: Positive<Nanos> => { value: "TIME", default: "100ms", heading: HEADING },
        /// Time between two changes of the ageing period of dyso, or never.
        pub tuning: Every => { value: "TIME", default: "1s", heading: HEADING },
    }
    including {
        /// Faults of each of the two ways.
        pub faults: Faults,
    }
}

impl Dyso {
    /// Time after which an update that was not heard of is sent again.
    pub fn resend_after(&self) -> Nanos {
        let usual = Nanos(self.rtt.0.saturating_add(self.faults.jitter.0).saturating_mul(3));
        self.timeout.map_or(usual, Within::get)
    }

    /// The history buffer of a table of so many rows.
    pub fn history(&self, rows: u32) -> History {
        self.history.unwrap_or(History { rows: rows.clamp(1, 256), slots: 8 })
    }
}

/// A switch, its controller, and the control packets on their way.
///
/// A packet leaves the controller at every beat of the control rate, is at the switch half a round trip later and back after another half; on
/// each way it may be late by up to the jitter, lost, reordered or duplicated. The controller takes no time to decide (assumption A3 of the paper's
/// appendix), and control packets take no slots from data packets. A packet that the link duplicates on its way back is heard twice, so that
/// what it holds is counted twice: as in the paper, packets have no numbers by which the controller could know a copy.
pub struct DysoLoop {
    switch: Switch,
    controller: Controller,
    beat: Pace,
    to_switch: Link<Packet>,
    to_controller: Link<Packet>,
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
        let (there, jitter) = (timing.slots(dyso.rtt) / 2, timing.slots(dyso.faults.jitter));
        let back = timing.slots(dyso.rtt) - there;
        Ok(Self {
            switch: Switch::new(shape),
            controller,
            beat: timing.pace(control_rate.0),
            to_switch: Link::new(dyso.faults.terms(there, jitter), seed),
            to_controller: Link::new(dyso.faults.terms(back, jitter), seed ^ (1 << 63)),
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
                // A lost one is sent again after the timeout.
                let _ = self.to_switch.send(packet, resend);
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
        if let Some(Arrived { packet, .. }) = self.to_controller.arrive(now) {
            self.controller.receive(packet, now);
            return true;
        }
        let Some(Arrived { mut packet, .. }) = self.to_switch.arrive(now) else { return false };
        self.switch.process(&mut packet);
        if let Fate::Lost(lost) = self.to_controller.send(packet, now) {
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
            // A lost one brought nothing yet.
            let _ = self.to_switch.send(packet, now);
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
    let history = dyso.history(rows);
    Shape::new(rows, narrow(chain), history.rows, history.slots)
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
    use proptest::prelude::*;
    use trueplane_link::Terms;
    use trueplane_units::Parameters;

    use super::{Dyso, DysoLoop, Key, PerSecond, System, Timing};
    use crate::engine;
    use crate::tally::Tally;

    const TIMING: Timing = Timing { rate: 1_000_000 };

    fn dyso(given: &[(&str, &str)]) -> Dyso {
        Dyso::given(&[&[("history", "8x8")], given].concat()).unwrap()
    }

    /// Keys of which some are looked up far more often than others, a tenth of a second of them.
    fn keys() -> Vec<Key> {
        (0..100_000u64).map(|slot| Key(slot * slot % 997 % (1 + slot % 600))).collect()
    }

    fn run(dyso: &Dyso) -> DysoLoop {
        let mut system = DysoLoop::new(dyso, 256, 1, TIMING, PerSecond(200_000), 4).unwrap();
        engine::run(&mut system, &keys(), &mut Tally::new(TIMING, 0));
        system
    }

    /// Faults of the two ways, and the time after which updates are sent again.
    fn hostile() -> impl Strategy<Value = Vec<(&'static str, String)>> {
        let share = || prop_oneof![Just(0u32), Just(1), 0..=90u32].prop_map(|percent| format!("{percent}%"));
        let time = |most: u64| (0..=most).prop_map(|micros| format!("{micros}us"));
        let timeout = prop_oneof![Just(None), (1..100_000u64).prop_map(|micros| Some(format!("{micros}us")))];
        (time(100), time(200), share(), share(), share(), timeout).prop_map(
            |(rtt, jitter, loss, reorder, duplicate, timeout)| {
                let mut given = vec![
                    ("rtt", rtt),
                    ("jitter", jitter),
                    ("loss", loss),
                    ("reorder", reorder),
                    ("duplicate", duplicate),
                ];
                given.extend(timeout.map(|timeout| ("timeout", timeout)));
                given
            },
        )
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        /// The ways are hostile for a tenth of a second, and then have no faults. An update that is under way at that time was sent before
        /// it, so it is sent again after the timeout at most, and is back a round trip later: by then both sides agree, and each update
        /// was made once. From then on nothing is sent again that is not late, as if there had never been a fault.
        #[test]
        fn both_sides_agree_soon_after_the_last_fault(given in hostile(), seed: u64) {
            let given: Vec<_> = given.iter().map(|(name, value)| (*name, value.as_str())).collect();
            let dyso = dyso(&given);
            let mut system = DysoLoop::new(&dyso, 256, seed, TIMING, PerSecond(200_000), 4).unwrap();
            let mut tally = Tally::new(TIMING, 0);
            engine::run(&mut system, &keys(), &mut tally);
            let before = system.counts();
            prop_assert!(before.updates_applied > Some(0) && before.updates_applied <= before.updates_sent);
            prop_assert_eq!(before.history_lost > Some(0), dyso.faults.loss.millionths() > 0);

            let rtt = TIMING.slots(dyso.rtt);
            for (way, delay) in [(&mut system.to_switch, rtt / 2), (&mut system.to_controller, rtt - rtt / 2)] {
                way.set_terms(Terms { delay, ..Terms::default() });
            }
            let (last_fault, timeout) = (tally.now(), TIMING.slots(dyso.resend_after()).max(1));
            system.finish().unwrap();
            prop_assert!(system.now <= last_fault + timeout + rtt, "{} after {last_fault}", system.now);
            let agreed = system.counts();
            prop_assert_eq!(agreed.updates_sent, before.updates_sent);
            prop_assert_eq!(agreed.updates_applied, before.updates_sent);

            // Lookups go on where the clock has come to.
            let idle = usize::try_from(system.now.saturating_sub(tally.now())).unwrap();
            engine::run(&mut system, &vec![Key(0); idle], &mut tally);
            engine::run(&mut system, &keys(), &mut tally);
            if timeout > rtt {
                prop_assert_eq!(system.counts().updates_resent, agreed.updates_resent);
            }
            system.finish().unwrap();
            prop_assert!(system.counts().updates_applied > agreed.updates_applied);
        }
    }

    #[test]
    fn each_fault_is_met_and_survived() {
        let counts = |given: &[(&str, &str)]| {
            let mut system = run(&dyso(given));
            system.finish().unwrap();
            (system.counts(), system.to_switch.counts(), system.to_controller.counts())
        };
        let (quiet, ..) = counts(&[]);
        assert_eq!((quiet.updates_resent, quiet.history_lost), (Some(0), Some(0)));
        let (lossy, there, back) = counts(&[("loss", "90%")]);
        assert!(there.lost > 0 && back.lost > 0 && lossy.updates_resent > Some(0));
        let (_, there, back) = counts(&[("reorder", "30%")]);
        assert!(there.reordered > 0 && back.reordered > 0);
        let (doubled, there, back) = counts(&[("duplicate", "30%"), ("jitter", "50us")]);
        assert!(there.duplicated > 0 && back.duplicated > 0);
        assert_eq!(doubled.updates_applied, doubled.updates_sent);
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
