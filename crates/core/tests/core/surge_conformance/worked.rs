//! Orders that can be followed by hand.

use trueplane_core::surge::policy::{
    Fq, Sjf, SjfInorder, Wsjf, WsjfExact, WsjfHoq, WsjfInorder, WsjfInorderExact,
};
use trueplane_core::surge::{Packet, Policy};
use trueplane_core::units::Nanos;

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

#[test]
fn a_clock_that_is_ahead_is_remembered_and_one_that_is_not_is_not() {
    let mut fq = Fq::new(2_000).unwrap();
    let packet = |flow, work| Packet { flow, bits: 512, work: Nanos(work) };
    // A thousand flows that ask for a second each, and take nothing.
    for flow in 0..1_000 {
        fq.arrive(packet(flow, 1_000_000_000), 0, Nanos(flow)).unwrap();
        assert!(fq.serve(Nanos(flow)).is_some());
    }
    assert_eq!(fq.rule().idle_flows(), 1_000);
    // One of them comes again, and goes behind one that is new.
    fq.arrive(packet(7, 10_000), 1, Nanos(2_000)).unwrap();
    assert_eq!(fq.rule().idle_flows(), 999);
    fq.arrive(packet(1_007, 500_000_000), 2, Nanos(2_000)).unwrap();
    assert_eq!([fq.serve(Nanos(3_000)).unwrap().1, fq.serve(Nanos(3_000)).unwrap().1], [2, 1]);
    // A flow whose only packet is dropped has its clock set back.
    fq.arrive(packet(2_000, 1_000_000), 3, Nanos(4_000)).unwrap();
    assert_eq!(fq.drop_worst(Nanos(4_000)).unwrap().1, 3);
    assert_eq!(fq.rule().idle_flows(), 1_001);
    // Two seconds later nothing of this is left, after half as many flows have come.
    for flow in 0..501 {
        fq.arrive(packet(5_000 + flow, 0), 4, Nanos(2_000_000_000)).unwrap();
        assert!(fq.serve(Nanos(2_000_000_000)).is_some());
    }
    assert_eq!(fq.rule().idle_flows(), 0);
}

#[test]
fn no_more_clocks_are_remembered_than_packets_can_wait() {
    let mut fq = Fq::new(100).unwrap();
    let packet = |flow, work| Packet { flow, bits: 512, work: Nanos(work) };
    let mut ask = |flows: std::ops::Range<u64>, work| {
        for flow in flows {
            fq.arrive(packet(flow, work), 0, Nanos(0)).unwrap();
            assert!(fq.serve(Nanos(0)).is_some());
            assert!(fq.rule().idle_flows() <= 100);
        }
        assert_eq!(fq.rule().idle_flows(), 100);
        // Flow 7 comes again beside one that is new: which is first?
        fq.arrive(packet(7, 1_000), 7, Nanos(0)).unwrap();
        fq.arrive(packet(u64::MAX, 2_000), 8, Nanos(0)).unwrap();
        let first = fq.drop_worst(Nanos(0)).and(fq.serve(Nanos(0)));
        first.map(|(_, number)| number)
    };
    // Those that are ahead by less are not worth a place.
    assert_eq!(ask(0..100, 1_000_000), Some(8));
    assert_eq!(ask(100..1_000, 100_000), Some(8));
    // Those that are ahead by more take all places: flow 7 begins again like one that is new.
    assert_eq!(ask(1_000..1_300, 2_000_000), Some(7));
}
