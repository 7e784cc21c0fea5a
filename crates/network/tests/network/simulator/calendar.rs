//! The calendar against a sorted map.

use std::collections::BTreeMap;

use proptest::collection::vec;
use proptest::prelude::*;
use trueplane_network::Nanos;
use trueplane_network::simulator::calendar::{Calendar, Event};

/// What is done: events are added so much later, or taken.
#[derive(Clone, Debug)]
enum Step {
    Add(u64),
    Take,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        2 => (0..40_u64).prop_map(Step::Add),
        2 => (0..17_000_u64).prop_map(Step::Add),
        1 => (15_000..18_000_u64).prop_map(Step::Add),
        2 => (0..5_000_000_u64).prop_map(Step::Add),
        1 => (4_190_000..4_220_000_u64).prop_map(Step::Add),
        1 => (0..40_000_000_000_u64).prop_map(Step::Add),
        1 => Just(Step::Add(u64::MAX / 1_000)),
        8 => Just(Step::Take),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn events_come_in_the_order_of_time_and_then_of_addition(steps in vec(step(), 0..400)) {
        let (mut calendar, mut model) = (Calendar::new(), BTreeMap::new());
        let mut now = 0;
        for (added, step) in (0_u32..).zip(steps) {
            match step {
                Step::Add(later) => {
                    let event = Event { time: Nanos(now + later), what: added, stamp: !added };
                    calendar.add(event);
                    model.insert((now + later, added), event);
                }
                Step::Take => {
                    let expected = model.pop_first().map(|(_, event)| event);
                    prop_assert_eq!(calendar.take(), expected);
                    now = expected.map_or(now, |event| event.time.0);
                }
            }
            prop_assert_eq!(calendar.len(), model.len());
        }
        while let Some((_, event)) = model.pop_first() {
            prop_assert_eq!(calendar.take(), Some(event));
        }
        prop_assert_eq!(calendar.take(), None);
    }
}

#[test]
fn an_event_has_sixteen_bytes() {
    assert_eq!(size_of::<Event>(), 16);
}

/// Also where many share a nanosecond, and where one waited beyond a ring and the other came to the ring at once.
#[test]
fn events_of_one_time_keep_their_order() {
    let event = |time, what| Event { time: Nanos(time), what, stamp: 0 };
    let mut calendar = Calendar::new();
    (0..200).for_each(|what| calendar.add(event(1_000 + u64::from(what % 3), what)));
    let taken: Vec<u32> = std::iter::from_fn(|| calendar.take()).map(|event| event.what).collect();
    let expected: Vec<u32> = (0..3).flat_map(|rest| (0..200).filter(move |what| what % 3 == rest)).collect();
    assert_eq!(taken, expected);

    // From any distance at which the first of two is beyond one of the rings, and any time that brings it into it.
    let distances = (16_300..16_500).chain(4_210_000..4_213_000);
    for (distance, step) in
        distances.flat_map(|distance| [1, 63, 64, 65, 1_023, 1_024, 3_000].map(|step| (distance, step)))
    {
        let mut calendar = Calendar::new();
        calendar.add(event(distance, 1));
        calendar.add(event(step, 0));
        assert_eq!(calendar.take(), Some(event(step, 0)));
        calendar.add(event(distance, 2));
        assert_eq!([calendar.take(), calendar.take()], [Some(event(distance, 1)), Some(event(distance, 2))]);
    }
}
