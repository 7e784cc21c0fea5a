//! Orders that can be followed by hand.

use trueplane_surge::policy::{Fq, Sjf, SjfInorder, Wsjf, WsjfExact, WsjfHoq, WsjfInorder, WsjfInorderExact};
use trueplane_surge::{Packet, Policy};
use trueplane_units::Nanos;

/// (flow, bits, work) in the order in which they come; the numbers in the order in which they are served.
fn order(mut policy: impl Policy<usize>, packets: &[(u64, u32, u64)]) -> Vec<usize> {
    for (number, &(flow, bits, work)) in packets.iter().enumerate() {
        policy.arrive(Packet { flow, bits, work: Nanos(work) }, number, Nanos(0)).unwrap();
    }
    std::iter::from_fn(|| Some(policy.serve(Nanos(0))?.1)).collect()
}

/// Atre 2025, figure 3.8: packets of 5, 3 and 1 with jobs of 1, and what an attacker needs to come before the last.
#[test]
fn the_figure_of_the_paper() {
    let innocent = [(1, 5, 1), (2, 3, 1), (3, 1, 1)];
    // Scenario 0: the largest first.
    assert_eq!(order(WsjfExact::new(9).unwrap(), &[innocent[2], innocent[0], innocent[1]]), [1, 2, 0]);
    // Scenario 1: a packet of size 2 with a job of 1 comes before the last; one of size 1 with a job of 2 does not.
    let attacked = |packet| [innocent[0], innocent[1], innocent[2], packet];
    assert_eq!(order(Wsjf::new(9).unwrap(), &attacked((9, 2, 1))), [0, 1, 3, 2]);
    assert_eq!(order(Wsjf::new(9).unwrap(), &attacked((9, 1, 2))), [0, 1, 2, 3]);
    // Scenario 2: to come before two of them with a job of 2, it takes more than twice the size of the larger.
    assert_eq!(order(Wsjf::new(9).unwrap(), &attacked((9, 7, 2))), [0, 3, 1, 2]);
    assert_eq!(order(Wsjf::new(9).unwrap(), &attacked((9, 6, 2))), [0, 1, 3, 2]);
    // To SJF the size is nothing.
    assert_eq!(order(Sjf::new(9).unwrap(), &attacked((9, 7, 2))), [0, 1, 2, 3]);
}

/// §3.5.3: one heavy packet at the head of a good flow.
#[test]
fn head_of_queue_stalls_where_in_order_does_not() {
    let mut packets = vec![(1, 1_000, 9_000)];
    packets.extend([(1, 1_000, 1_000); 9]);
    packets.extend([(2, 1_000, 5_000); 3]);
    // Head of queue: 9 ns per bit against 5. In order: 18/10 against 5.
    assert_eq!(order(WsjfHoq::new(99).unwrap(), &packets)[..3], [10, 11, 12]);
    assert_eq!(order(WsjfInorder::new(99).unwrap(), &packets)[..10], [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
    assert_eq!(order(WsjfInorderExact::new(99).unwrap(), &packets)[..10], [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
}

#[test]
fn the_mean_is_what_counts_and_not_the_sum() {
    // Flow 1: 3 packets of 2; flow 2: one of 3; flow 3: 1 and 9. Means 2, 3, 5; then flow 3 has 9.
    let packets = [(3, 8, 1), (3, 8, 9), (2, 8, 3), (1, 8, 2), (1, 8, 2), (1, 8, 2)];
    assert_eq!(order(SjfInorder::new(9).unwrap(), &packets), [3, 4, 5, 2, 0, 1]);
}

#[test]
fn clocks_run_by_the_work_that_is_asked_for() {
    // Tags in µs: flow 1: 50, 100, 150; flow 2: 70, 140; flow 3: 200.
    let packets =
        [(1, 8, 50_000), (1, 8, 50_000), (1, 8, 50_000), (2, 8, 70_000), (2, 8, 70_000), (3, 8, 200_000)];
    assert_eq!(order(Fq::new(9).unwrap(), &packets), [0, 3, 1, 4, 2, 5]);
}

/// Whoever comes begins level with those that wait: he has no credit for having been away, and no debt.
#[test]
fn a_flow_that_comes_back_begins_at_virtual_time() {
    let mut fq = Fq::new(9).unwrap();
    let packet = |flow, work| Packet { flow, bits: 8, work: Nanos(work) };
    for number in 0..5 {
        fq.arrive(packet(1, 100_000), number, Nanos(0)).unwrap();
    }
    assert_eq!([fq.serve(Nanos(0)).unwrap().1, fq.serve(Nanos(0)).unwrap().1], [0, 1]);
    assert_eq!(fq.rule().virtual_time(), 200_000);
    // Flow 1 waits with tags of 300, 400 and 500 µs; flow 2 gets 310 and 420, whatever the time of day is.
    fq.arrive(packet(2, 110_000), 10, Nanos(9_000_000_000)).unwrap();
    fq.arrive(packet(2, 110_000), 11, Nanos(9_000_000_000)).unwrap();
    // What is dropped from its end costs a flow nothing: the next packet gets the same tag.
    assert_eq!(fq.drop_worst(Nanos(0)).unwrap().1, 11);
    fq.arrive(packet(2, 110_000), 12, Nanos(9_000_000_000)).unwrap();
    let order: Vec<u64> = std::iter::from_fn(|| fq.serve(Nanos(0))).map(|(_, number)| number).collect();
    assert_eq!(order, [2, 10, 3, 12, 4]);
}
