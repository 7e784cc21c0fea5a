//! The queues of the shared link.

use proptest::collection::vec;
use proptest::prelude::*;
use trueplane_limit::policy::{Nimble, TokenBucket};
use trueplane_limit::{BitsPerSec, Bytes, Limiter as _, Verdict};
use trueplane_network::Nanos;
use trueplane_network::isolation::deficit::DeficitRoundRobin;
use trueplane_network::isolation::policed::Policed;
use trueplane_network::isolation::record::{Record, Span};
use trueplane_network::isolation::shared::{OfFlow, SharedPort};
use trueplane_network::isolation::tenants::TenantQueue;
use trueplane_network::simulator::port::{Offered, Waiting};
use trueplane_network::simulator::{DropTail, FlowSpec, MarkingThreshold, PortQueue};

fn packet(handle: u32, bytes: u32) -> Waiting {
    Waiting { handle, bytes, flow: 1, remaining: 0 }
}

/// Worked by hand: quanta of 1000 and 2000 bytes, packets of 800.
///
/// | turn of | it may send | it sends | it keeps |
/// |---|---|---|---|
/// | 0 | 1000 | 1 packet | 200 |
/// | 1 | 2000 | 2 packets | 400 |
/// | 0 | 1200 | 1 packet | 400 |
/// | 1 | 2400 | 3 packets | 0 |
#[test]
fn deficits_by_hand() {
    let mut queue = DeficitRoundRobin::new([1_000, 2_000], 100_000, u64::MAX);
    for handle in 0..10 {
        TenantQueue::offer(&mut queue, (handle % 2) as usize, packet(handle, 800), Nanos(0));
    }
    let order: Vec<u32> = std::iter::from_fn(|| queue.next()).collect();
    assert_eq!(order, [0, 1, 3, 2, 5, 7, 9, 4, 6, 8], "the last two have no rival");
    assert!(queue.is_empty());
}

#[test]
fn a_tenant_that_is_alone_borrows_everything_and_saves_nothing() {
    let mut queue = DeficitRoundRobin::new([1_500, 1_500], 1_000_000, u64::MAX);
    for handle in 0..100 {
        TenantQueue::offer(&mut queue, 0, packet(handle, 1_500), Nanos(0));
        assert_eq!(queue.next(), Some(handle));
    }
    for handle in 0..4 {
        TenantQueue::offer(&mut queue, (handle / 2) as usize, packet(handle, 1_500), Nanos(0));
    }
    assert_eq!(
        [queue.next(), queue.next(), queue.next(), queue.next()],
        [Some(0), Some(2), Some(1), Some(3)]
    );
}

#[test]
fn a_full_queue_of_one_tenant_leaves_the_other_alone() {
    let mut queue = DeficitRoundRobin::new([1_500, 1_500], 3_000, 1_500);
    let mut offer = |tenant, handle| TenantQueue::offer(&mut queue, tenant, packet(handle, 1_500), Nanos(0));
    assert_eq!(offer(0, 1), Offered { dropped: None, marks: false });
    assert_eq!(offer(0, 2), Offered { dropped: None, marks: true });
    assert_eq!(offer(0, 3), Offered { dropped: Some(3), marks: false });
    assert_eq!(offer(1, 4), Offered { dropped: None, marks: false });
    assert_eq!([queue.backlog(0), queue.backlog(1), queue.backlog(2)], [Some(3_000), Some(1_500), None]);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    /// While all tenants have packets, what each has sent over its quantum differs by no more than a turn (Shreedhar and Varghese, theorem 1).
    #[test]
    fn backlogged_tenants_are_served_in_proportion(
        quanta in vec(1_500..20_000_u64, 2..5),
        sizes in vec(40..=1_500_u32, 400),
        taken in 0..100_usize,
    ) {
        let mut queue = DeficitRoundRobin::new(quanta.iter().copied(), u64::MAX, u64::MAX);
        let mut tenants = Vec::new();
        for (handle, bytes) in (0_u32..).zip(&sizes) {
            let tenant = handle as usize % quanta.len();
            TenantQueue::offer(&mut queue, tenant, packet(handle, *bytes), Nanos(0));
            tenants.push(tenant);
        }
        prop_assert_eq!(queue.len(), sizes.len());
        let mut sent = vec![0_u64; quanta.len()];
        for _ in 0..taken {
            // Beyond this point a tenant may have nothing left.
            if (0..quanta.len()).any(|tenant| queue.backlog(tenant) == Some(0)) {
                break;
            }
            let handle = queue.next().unwrap() as usize;
            sent[tenants[handle]] += u64::from(sizes[handle]);
        }
        for one in 0..quanta.len() {
            for other in 0..quanta.len() {
                let [one_turns, other_turns] = [one, other].map(|tenant| sent[tenant] as f64 / quanta[tenant] as f64);
                prop_assert!(one_turns - other_turns <= 1.0 + 2.0 * 1_500.0 / 1_500.0, "{sent:?} {quanta:?}");
            }
        }
    }

    /// The port does what the limiter does by itself: the same object, the same verdicts.
    #[test]
    fn limiters_at_the_port_are_the_limiters_themselves(
        steps in vec((0..3_usize, 40..=1_500_u32, 0..2_000_u64), 1..300),
    ) {
        let nimble = Nimble::new(BitsPerSec(5_000_000_000), Bytes(6_000), Some(Bytes(3_000))).unwrap();
        let mut queue = Policed::new([nimble; 2], DropTail::new(u64::MAX));
        let mut alone = [nimble; 2];
        let mut now = 0;
        for (handle, (tenant, bytes, wait)) in (0_u32..).zip(steps) {
            now += wait;
            // The third tenant is not limited.
            let verdict = alone.get_mut(tenant).map_or(Verdict::Pass, |one| one.offer(bytes, Nanos(now)));
            let offered = TenantQueue::offer(&mut queue, tenant, packet(handle, bytes), Nanos(now));
            prop_assert_eq!(offered.dropped.is_some(), verdict == Verdict::Drop);
            prop_assert_eq!(offered.marks, verdict == Verdict::Mark);
            let occupancy = alone.get(tenant).map(|one| one.occupancy().0);
            prop_assert_eq!(queue.backlog(tenant), occupancy);
        }
    }
}

#[test]
fn a_packet_that_the_fifo_drops_is_not_marked_and_was_charged() {
    let bucket = TokenBucket::new(BitsPerSec(0), Bytes(2_000));
    let mut queue = Policed::new([bucket], DropTail::new(1_000));
    let mut offer = |handle| TenantQueue::offer(&mut queue, 0, packet(handle, 1_000), Nanos(0)).dropped;
    assert_eq!([offer(1), offer(2), offer(3)], [None, Some(2), Some(3)]);
    assert_eq!([queue.next(), queue.next()], [Some(1), None]);
    let third = TenantQueue::offer(&mut queue, 0, packet(4, 1_000), Nanos(0));
    assert_eq!(third.dropped, Some(4), "the bucket is empty although one packet has left");
    assert_eq!(TenantQueue::backlog(&queue, 0), None, "a token bucket does not tell");
}

/// A link of 8 Gbit/s: 1000 bytes take 1 µs. The port asks for packets as the simulator does.
#[test]
fn the_port_knows_when_packets_leave() {
    let spec = FlowSpec { start: Nanos(0), from: 0, to: 1, bytes: 10_000 };
    let flows = [OfFlow { tenant: 0, spec }, OfFlow { tenant: 1, spec }];
    let spans =
        [Span { from: Nanos(1_000), until: Nanos(10_000) }, Span { from: Nanos(0), until: Nanos(1_000) }];
    let mut record = Record::new(2, 2, spans, Nanos(1_000));
    let rate = BitsPerSec(8_000_000_000);
    let mut port = SharedPort::new(
        DropTail::new(2_500).marking(MarkingThreshold::above(1_500)),
        &flows,
        rate,
        true,
        &mut record,
    );
    let of = |handle, flow: u64, remaining| Waiting { handle, bytes: 1_000, flow: 2 * flow + 1, remaining };
    // The first leaves at once, the second when the line is free, at 1000. The fourth finds two and is dropped.
    port.offer(of(0, 0, 10_000), Nanos(0));
    assert_eq!(port.next(), Some(0));
    port.offer(of(1, 1, 10_000), Nanos(200));
    port.offer(of(2, 0, 9_000), Nanos(300));
    assert_eq!(port.offer(of(3, 0, 9_000), Nanos(400)).dropped, Some(3));
    assert_eq!([port.next(), port.next()], [Some(1), Some(2)]);
    // The line is idle from 3000 on.
    port.offer(of(4, 1, 4_000), Nanos(5_500));
    assert_eq!(port.next(), Some(4));
    assert_eq!(PortQueue::len(&port), 0);
    let [one, two] = &record.tenants[..] else { panic!("two tenants") };
    assert_eq!((&one.bytes[..4], one.alone_bytes), (&[1_000, 0, 1_000, 0][..], 1_000));
    assert_eq!((two.bytes[1], two.bytes[5], two.measured_bytes), (1_000, 1_000, 2_000));
    assert_eq!([one.all.offered, one.all.sent, one.all.dropped, one.all.marked], [3, 2, 1, 1]);
    assert_eq!([two.measured.offered, two.measured.sent], [1, 2]);
    assert_eq!((record.flows[0].before, record.flows[0].end), (1_000, 1_000));
    assert_eq!((record.flows[1].before, record.flows[1].end), (0, 6_000));
    assert_eq!((record.found.count(), record.found.sum()), (1, 0), "only what comes while all send");
}
