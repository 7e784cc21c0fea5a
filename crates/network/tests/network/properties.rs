//! Whatever is lost, duplicated, marked or reordered: the checks of `path` hold at each step, and the connection ends.

use proptest::collection::vec;
use proptest::prelude::*;
use trueplane_network::Nanos;
use trueplane_network::transport::{Receiver, ReceiverSettings, Segment};

use crate::path::{Fate, Faults, Path, Reads, carry};
use crate::senders;

fn fate() -> impl Strategy<Value = Fate> {
    prop_oneof![
        6 => Just(Fate::Arrives),
        3 => Just(Fate::Lost),
        2 => (1..100_000_u64).prop_map(|late| Fate::Late(Nanos(late))),
        1 => (1..3_000_000_u64).prop_map(|late| Fate::Late(Nanos(late))),
        1 => (1..100_000_u64).prop_map(|late| Fate::Twice(Nanos(late))),
        2 => Just(Fate::Marked),
    ]
}

/// The fates of the first segments; all that come later arrive.
fn faults(fates: Vec<Fate>) -> Box<Faults<'static>> {
    Box::new(move |index, _: &Segment| fates.get(index).copied().unwrap_or(Fate::Arrives))
}

fn reads() -> impl Strategy<Value = Option<Reads>> {
    let reads = (0..5_000_000_u64, 1_000_000..5_000_000_u64, 1..9_000_u64);
    prop::option::weighted(
        0.3,
        reads.prop_map(|(first, every, bytes)| Reads { first: Nanos(first), every: Nanos(every), bytes }),
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn bytes_arrive_once_and_in_order(
        kind in 0..senders::all().len(),
        bytes in prop_oneof![0..40_000_u64, 0..4_u64],
        buffer in prop_oneof![Just(65_535_u32), 600..9_000_u32],
        sends_sack: bool,
        delay in prop::option::of(1..2_000_000_u64),
        gap in 1..30_000_u64,
        forth in vec(fate(), 0..60),
        back in vec(fate(), 0..40),
        reads in reads(),
    ) {
        let kind = &senders::all()[kind];
        let settings = ReceiverSettings {
            reads_at_once: reads.is_none(),
            sends_sack,
            delay: delay.map(Nanos),
            ..ReceiverSettings::immediate(buffer, 1_000)
        };
        let receiver = Receiver::new(settings, kind.echo());
        let path = Path { gap: Nanos(gap), forth: faults(forth), back: faults(back), reads, ..Path::default() };
        carry(&kind.name, kind.sender(), receiver, bytes, path);
    }
}
