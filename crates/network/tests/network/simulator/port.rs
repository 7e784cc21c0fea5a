//! Queues of ports.

use proptest::collection::vec;
use proptest::prelude::*;
use trueplane_network::Nanos;
use trueplane_network::simulator::port::{Offered, Waiting};
use trueplane_network::simulator::{DropTail, Marked, MarkingThreshold, PortQueue, Ranked};
use trueplane_sched::policy::{Afq, Pifo, PushDown, SpPifo};
use trueplane_sched::rank::{PFabric, PacketMeta, RankPolicy, Stfq};
use trueplane_sched::{Banked, Packet, Scheduler};

fn waiting(handle: u32, bytes: u32) -> Waiting {
    Waiting { handle, bytes, flow: 1, remaining: 0 }
}

#[test]
fn a_fifo_holds_and_marks_by_bytes() {
    let mut fifo = DropTail::new(3_000).marking(MarkingThreshold::above(2_000));
    let offer = |fifo: &mut DropTail, handle, bytes| {
        let Offered { dropped, marks } = fifo.offer(waiting(handle, bytes), Nanos(0));
        (dropped, marks)
    };
    assert_eq!(offer(&mut fifo, 1, 1_500), (None, false));
    assert_eq!(offer(&mut fifo, 2, 500), (None, false), "2000 bytes are not above the threshold");
    assert_eq!(offer(&mut fifo, 3, 1_001), (Some(3), false), "one byte too many");
    assert_eq!(offer(&mut fifo, 4, 1_000), (None, true));
    assert_eq!([fifo.next(), fifo.next()], [Some(1), Some(2)]);
    assert_eq!(offer(&mut fifo, 5, 1_000), (None, false), "what has left makes room");
    assert_eq!([fifo.next(), fifo.next(), fifo.next()], [Some(4), Some(5), None]);
    assert!(fifo.is_empty());
}

/// What waits already decides, and not the packet that comes.
#[test]
fn a_fifo_can_mark_by_what_waits_already() {
    let mut fifo = DropTail::new(5_000).marking(MarkingThreshold::behind(2_000));
    let marks = [1_999, 1_500, 1_000].map(|bytes| fifo.offer(waiting(1, bytes), Nanos(0)).marks);
    assert_eq!(marks, [false, false, true]);
    fifo.next();
    fifo.next();
    let marks = [1_000, 1].map(|bytes| fifo.offer(waiting(1, bytes), Nanos(0)).marks);
    assert_eq!(marks, [false, true], "2000 bytes wait for the second");
}

proptest! {
    /// A scheduler that drops what waits marks by the bytes that are left: beside a list of what waits.
    #[test]
    fn a_scheduler_marks_by_the_bytes_that_wait(steps in steps(), threshold in 1..6_000_u64, is_above in any::<bool>()) {
        let rule = if is_above { MarkingThreshold::above(threshold) } else { MarkingThreshold::behind(threshold) };
        let mut port = Marked::new(Ranked::new(Pifo::new(5).unwrap(), PFabric), rule);
        let mut naive: Vec<(u32, u32)> = Vec::new();
        for (handle, step) in (0..).zip(steps) {
            let Some((flow, bytes, remaining)) = step else {
                let left = port.next();
                prop_assert_eq!(left.is_none(), naive.is_empty());
                naive.retain(|(known, _)| Some(*known) != left);
                continue;
            };
            let before: u64 = naive.iter().map(|(_, bytes)| u64::from(*bytes)).sum();
            let marks = if is_above { before + u64::from(bytes) > threshold } else { before >= threshold };
            let packet = Waiting { handle, bytes, flow, remaining };
            // Twice in a row: what finds the port idle and is sent at once leaves nothing behind.
            if naive.is_empty() {
                let offered = port.pass(packet, Nanos(0));
                prop_assert_eq!(offered, Offered { dropped: None, marks });
            }
            let offered = port.offer(packet, Nanos(0));
            prop_assert_eq!(offered.marks, marks);
            naive.push((handle, bytes));
            naive.retain(|(known, _)| Some(*known) != offered.dropped);
            prop_assert_eq!(port.len(), naive.len());
        }
    }
}

/// A step: a packet of a flow with so much left comes, or one leaves.
type Step = Option<(u64, u32, u64)>;

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let packet = (0..4_u64, 1..1_500_u32, 0..50_u64);
    vec(prop_oneof![3 => packet.prop_map(Some), 2 => Just(None)], 0..200)
}

/// The queue of a port does what the scheduler does by itself, with its rank and the times of arrival.
fn same<S: Scheduler + Clone, P: RankPolicy + Clone>(
    scheduler: &S,
    policy: &P,
    steps: &[Step],
) -> Result<(), TestCaseError> {
    let mut port = Ranked::new(scheduler.clone(), policy.clone());
    let (mut scheduler, mut policy) = (scheduler.clone(), policy.clone());
    for (index, step) in (0_u32..).zip(steps) {
        let arrival = Nanos(1_000_000 - u64::from(index));
        let handle = |packet: Packet| packet.handle;
        match *step {
            Some((flow, bytes, remaining)) => {
                let meta = PacketMeta { flow, bytes, remaining_bytes: remaining, ..PacketMeta::default() };
                let rank = policy.rank(&meta, arrival);
                let packet = Packet { rank, flow, bytes, handle: index, arrival };
                let waiting = Waiting { handle: index, bytes, flow, remaining };
                let passes = port.is_empty() && bytes % 2 == 0;
                let expected = scheduler.enqueue(packet).map(handle);
                let offered = if passes { port.pass(waiting, arrival) } else { port.offer(waiting, arrival) };
                prop_assert_eq!(offered, Offered { dropped: expected, marks: false });
                if passes && let Some(packet) = scheduler.dequeue() {
                    policy.departs(packet.rank);
                }
            }
            None => {
                let expected = scheduler.dequeue();
                if let Some(packet) = expected {
                    policy.departs(packet.rank);
                }
                prop_assert_eq!(port.next(), expected.map(handle));
            }
        }
        prop_assert_eq!(port.len(), scheduler.len());
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn ports_do_what_their_schedulers_do(steps in steps()) {
        let sp_pifo = Banked::new(4, 3, SpPifo::new(4, PushDown::Cost).unwrap()).unwrap();
        same(&Pifo::new(8).unwrap(), &PFabric, &steps)?;
        same(&Pifo::new(8).unwrap(), &Stfq::new(64).unwrap(), &steps)?;
        same(&sp_pifo, &PFabric, &steps)?;
        same(&sp_pifo, &Stfq::new(64).unwrap(), &steps)?;
        same(&Afq::new(4, 3, 320).unwrap(), &PFabric, &steps)?;
    }
}
