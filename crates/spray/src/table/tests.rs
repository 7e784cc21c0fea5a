use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};

use proptest::prelude::*;
use trueplane_units::Nanos;

use super::*;

/// The `n`th of as many flows as are needed.
fn flow(n: u32) -> FlowId {
    FlowId::new(6, (n.to_be_bytes().into(), 1000), ([192, 0, 2, 1].into(), 80))
}

fn tick(seconds: u64) -> Tick {
    Tick::at(Nanos(seconds * 1_000_000_000))
}

fn writer(flows: usize, unconfirmed: usize) -> Writer<u64> {
    Writer::new(Limits { unconfirmed, ..Limits::new(flows) }, 1)
}

#[derive(Clone, Debug)]
enum Step {
    Insert(u32, bool),
    Remove(u32),
    Regular(u32),
}

fn any_step(flows: u32) -> impl Strategy<Value = Step> {
    prop_oneof![
        3 => (0..flows, any::<bool>()).prop_map(|(n, confirmed)| Step::Insert(n, confirmed)),
        2 => (0..flows).prop_map(Step::Remove),
        1 => (0..flows).prop_map(Step::Regular),
    ]
}

/// What a table has to do, in the simplest form: flows, and those of them that no regular packet has confirmed, in the order in which they came.
#[derive(Default)]
struct Model {
    flows: HashMap<u32, (u64, bool)>,
    waiting: Vec<u32>,
}

impl Model {
    /// Inserts; the flow that had to go.
    fn insert(&mut self, n: u32, state: u64, confirmed: bool, limits: &Limits) -> Result<Option<u32>, Full> {
        if let Some(there) = self.flows.get_mut(&n) {
            there.0 = state;
            return Ok(None);
        }
        let crowded = self.flows.len() >= limits.flows || self.waiting.len() >= limits.unconfirmed;
        let displaced = crowded.then(|| self.waiting.first().copied()).flatten();
        if let Some(oldest) = displaced {
            self.remove(oldest);
        }
        self.place(n, state, confirmed, limits)?;
        Ok(displaced)
    }

    fn place(&mut self, n: u32, state: u64, confirmed: bool, limits: &Limits) -> Result<(), Full> {
        if self.flows.len() >= limits.flows {
            return Err(Full);
        }
        self.flows.insert(n, (state, confirmed));
        if !confirmed {
            self.waiting.push(n);
        }
        Ok(())
    }

    fn remove(&mut self, n: u32) -> Option<u64> {
        self.waiting.retain(|&waits| waits != n);
        self.flows.remove(&n).map(|(state, _)| state)
    }

    fn regular(&mut self, n: u32) -> Option<u64> {
        let there = self.flows.get_mut(&n)?;
        there.1 = true;
        self.waiting.retain(|&waits| waits != n);
        Some(self.flows[&n].0)
    }
}

/// Inserts a flow in the way of `LocalFlows`, and returns the number of the flow that was displaced.
fn insert(writer: &mut Writer<u64>, n: u32, state: u64, confirmed: bool) -> Result<Option<u32>, Full> {
    let displaced = if writer.find(&flow(n)).is_some() { None } else { writer.make_room()? };
    if let Some(displaced) = &displaced {
        writer.remove(&displaced.flow);
    }
    writer.insert(flow(n), Phase::HalfOpen, state, confirmed, tick(0))?;
    let number = |removed: Removed<u64>| match removed.flow.source() {
        std::net::IpAddr::V4(address) => address.to_bits(),
        std::net::IpAddr::V6(_) => unreachable!("the flows of these tests are of IPv4"),
    };
    Ok(displaced.map(number))
}

proptest! {
    #[test]
    fn a_table_is_a_map_with_a_queue(
        steps in prop::collection::vec(any_step(40), 1..400),
        flows in 1usize..30,
        unconfirmed in 1usize..30,
    ) {
        let (mut writer, mut model) = (writer(flows, unconfirmed), Model::default());
        let limits = *writer.limits();
        for (state, step) in (1..).zip(steps) {
            match step {
                Step::Insert(n, confirmed) if limits.unconfirmed <= 4 => {
                    prop_assert_eq!(insert(&mut writer, n, state, confirmed), model.insert(n, state, confirmed, &limits));
                }
                // Who waits is looked at now and then: then a flow may go while not quite as many wait, but always the oldest.
                Step::Insert(n, confirmed) => {
                    let (new, oldest) = (!model.flows.contains_key(&n), model.waiting.first().copied());
                    let full = model.flows.len() >= limits.flows;
                    let inserted = insert(&mut writer, n, state, confirmed);
                    if let Ok(Some(displaced)) = inserted {
                        prop_assert!(new && oldest == Some(displaced));
                        model.remove(displaced);
                    }
                    prop_assert_eq!(inserted.is_err(), new && full && oldest.is_none());
                    if inserted.is_ok() && new {
                        prop_assert_eq!(model.place(n, state, confirmed, &limits), Ok(()));
                    } else if let Some(there) = model.flows.get_mut(&n) {
                        there.0 = state;
                    }
                    prop_assert!(model.waiting.len() <= limits.unconfirmed);
                }
                Step::Remove(n) => prop_assert_eq!(writer.remove(&flow(n)), model.remove(n)),
                Step::Regular(n) => {
                    prop_assert_eq!(writer.table().find(&flow(n), Some(tick(0))), model.regular(n));
                }
            }
            prop_assert_eq!(writer.len(), model.flows.len());
        }
        prop_assert_eq!(writer.check(), Ok(()));
        for n in 0..40 {
            prop_assert_eq!(writer.find(&flow(n)).map(|(_, state)| state), model.flows.get(&n).map(|there| there.0));
        }
        let mut listed: Vec<_> = writer.table().flows().map(|(flow, _, state)| (flow, state)).collect();
        let mut expected: Vec<_> = model.flows.iter().map(|(&n, &(state, _))| (flow(n), state)).collect();
        listed.sort_unstable();
        expected.sort_unstable();
        prop_assert_eq!(listed, expected);
    }
}

#[test]
fn a_flood_displaces_only_what_nobody_confirmed() {
    let mut writer = writer(1000, 250);
    let bytes = writer.table().bytes();
    for n in 0..700 {
        assert_eq!(insert(&mut writer, n, 0, false), Ok(None));
        writer.table().find(&flow(n), Some(tick(0)));
    }
    for n in 1000..200_000 {
        insert(&mut writer, n, 0, false).unwrap();
        // Somebody who completes the handshake in time.
        if n % 1000 == 0 && n <= 50_000 {
            writer.table().find(&flow(n), Some(tick(0)));
        }
    }
    assert!((0..700).all(|n| writer.find(&flow(n)).is_some_and(|(phase, _)| phase == Phase::Established)));
    assert!((1000..=50_000).step_by(1000).all(|n| writer.find(&flow(n)).is_some()));
    assert_eq!((writer.check(), writer.table().bytes()), (Ok(()), bytes));
}

#[test]
fn a_table_of_confirmed_flows_refuses() {
    let mut writer = writer(3, 3);
    for n in 0..3 {
        insert(&mut writer, n, 0, true).unwrap();
    }
    assert_eq!(insert(&mut writer, 9, 0, false), Err(Full));
    assert_eq!(insert(&mut writer, 1, 7, false), Ok(None), "what is there can be changed");
    writer.remove(&flow(2));
    assert_eq!(insert(&mut writer, 9, 0, false), Ok(None));
}

#[test]
fn silence_ends_flows_by_their_phase() {
    let mut writer = writer(10, 10);
    let phases = [Phase::HalfOpen, Phase::Established, Phase::Closing, Phase::Datagram, Phase::Query];
    for (n, phase) in (0..).zip(phases) {
        writer.insert(flow(n), phase, 0, false, tick(0)).unwrap();
    }
    let over_at = |writer: &mut Writer<u64>, seconds| {
        let mut over = Vec::new();
        writer.sweep(usize::MAX, tick(seconds), &mut over);
        let mut phases: Vec<_> = over.iter().map(|removed| writer.find(&removed.flow).unwrap().0).collect();
        phases.sort_unstable_by_key(|&phase| phase as u8);
        phases
    };
    assert_eq!(over_at(&mut writer, 60), []);
    assert_eq!(over_at(&mut writer, 61), [Phase::Query]);
    assert_eq!(over_at(&mut writer, 241), [Phase::HalfOpen, Phase::Closing, Phase::Query]);
    // A regular packet makes the half-open flow an established one.
    writer.table().find(&flow(0), Some(tick(200)));
    assert_eq!(over_at(&mut writer, 241), [Phase::Closing, Phase::Query]);
    assert_eq!(
        over_at(&mut writer, 7441),
        [Phase::Established, Phase::Closing, Phase::Datagram, Phase::Query]
    );
    writer.touch(&flow(3), tick(7441));
    assert!(!writer.is_idle(&flow(3), tick(7441)) && writer.is_idle(&flow(1), tick(7441)));
    assert!(writer.is_idle(&flow(77), tick(0)), "a flow that is not there");
}

#[test]
fn readers_see_what_was_written_and_nothing_else() {
    // Flows that stay are found at every moment, with one of the states that they had; flows that come and go have theirs or are not there.
    let (staying, passing) = (64, 512);
    let mut writer = writer(600, 600);
    for n in 0..staying {
        writer.insert(flow(n), Phase::Established, u64::from(n), true, tick(0)).unwrap();
    }
    let (table, over) = (Arc::clone(writer.table()), AtomicBool::new(false));
    std::thread::scope(|scope| {
        let reader = scope.spawn(|| {
            let mut lookups = 0u64;
            while !over.load(Ordering::Relaxed) || lookups == 0 {
                for n in 0..staying {
                    let state = table.find(&flow(n), Some(tick(1))).expect("it stays");
                    assert_eq!(state % 1000, u64::from(n));
                    lookups += 1;
                }
                for n in staying..staying + passing {
                    assert!(table.find(&flow(n), None).is_none_or(|state| state % 1000 == u64::from(n)));
                }
            }
            lookups
        });
        for round in 1..400 {
            for n in staying..staying + passing {
                writer
                    .insert(flow(n), Phase::Established, u64::from(n) + 1000 * round, true, tick(0))
                    .unwrap();
            }
            for n in 0..staying {
                let state = u64::from(n) + 1000 * round;
                writer.insert(flow(n), Phase::Established, state, true, tick(0)).unwrap();
            }
            (staying..staying + passing).for_each(|n| assert!(writer.remove(&flow(n)).is_some()));
        }
        over.store(true, Ordering::Relaxed);
        assert!(reader.join().unwrap() > 0);
    });
    assert_eq!(writer.check(), Ok(()));
}

#[test]
fn flows_that_are_confirmed_or_gone_make_room_for_those_that_wait() {
    let mut writer = writer(1000, 4);
    (1..5).for_each(|n| assert_eq!(insert(&mut writer, n, 0, false), Ok(None)));
    for n in 2..5 {
        writer.table().find(&flow(n), Some(tick(0)));
    }
    assert_eq!(insert(&mut writer, 5, 0, false), Ok(None), "one of four waits");
    // Gone and here again: the youngest, not the oldest.
    writer.remove(&flow(1));
    for n in [6, 1, 7] {
        assert_eq!(insert(&mut writer, n, 0, false), Ok(None));
    }
    assert_eq!(insert(&mut writer, 8, 0, false), Ok(Some(5)));
    assert_eq!(insert(&mut writer, 9, 0, false), Ok(Some(6)));
    assert_eq!(insert(&mut writer, 10, 0, false), Ok(Some(1)));
}

#[test]
fn no_choice_of_addresses_makes_flows_lie_together() {
    // The upper half of the source undoes the lower half of the destination, wherever these two would meet before a secret does.
    let crafted = |n: u64| {
        let source = u128::from(n) << 64 | 7;
        let destination = 0x2001_0db8_u128 << 96 | u128::from(n.rotate_left(32) ^ 0x5555);
        FlowId::v6(6, (source, 1000), (destination, 80))
    };
    let mut writer = writer(4000, 4000);
    (0..4000).for_each(|n| writer.insert(crafted(n), Phase::HalfOpen, n, true, tick(0)).unwrap());
    let table = writer.table();
    let mut buckets: Vec<_> = (0..4000).map(|n| table.home(&crafted(n)).bucket).collect();
    buckets.sort_unstable();
    buckets.dedup();
    // 4000 balls in 750 bins: as good as all are hit.
    assert!(buckets.len() > table.buckets.len() * 95 / 100, "{} of {}", buckets.len(), table.buckets.len());
}
