//! The engine of the benchmark `pipeline`: in a time of its own, where everything can be said exactly, and on real threads, where only
//! identities can.

#[path = "../../benches/pipeline/engine.rs"]
mod engine;
#[path = "../../benches/pipeline/rivals.rs"]
mod rivals;
#[path = "../../benches/pipeline/traffic.rs"]
mod traffic;

use std::sync::Arc;

use engine::{Fate, Run, Scheduler, Served, Settings, Tally, Work, cores, run};
use proptest::prelude::*;
use rivals::{OneEnded, TwoEnded};
use rtrb::RingBuffer;
use traffic::{Source, Task, Traffic};
use trueplane_surge::policy::{Fcfs, Wsjf, WsjfExact};
use trueplane_surge::tally::Class;
use trueplane_surge::{Bounded, Capacity, Overflow, Packet, Policy};
use trueplane_units::{BitsPerSec, Nanos};

const USERS: u64 = 9_000_000_000;

/// Users at 0.9 of what can be served of them, 10,000 bits and 1 µs on average, and 64 bytes that take 10 µs.
fn traffic(attack_bps: u64) -> Traffic {
    let users = [(10_000, 1_000), (9_000, 1_100), (11_000, 900), (10_000, 1_000)];
    let users = users.map(|(bits, work)| Packet { flow: 0, bits, work: Nanos(work) });
    let attack = Packet { flow: 1, bits: 512, work: Nanos(10_000) };
    Traffic {
        innocent: Source::new(users.into(), BitsPerSec(USERS)).unwrap(),
        attack: Source::new(Arc::from([attack]), BitsPerSec(attack_bps)).unwrap(),
    }
}

/// That every packet arrived once, and that something became of each.
#[track_caller]
fn assert_conserved(tally: &Tally, attack_bps: u64, end: Nanos) {
    for (fate, bits, rate) in [(tally.innocent, 10_000, USERS), (tally.attack, 512, attack_bps)] {
        assert_eq!(fate.served + fate.dropped + fate.lost + fate.left, fate.arrived);
        // One at 0, and one whenever bits / rate have passed, before the end.
        let expected = (u128::from(end.0) * u128::from(rate)).div_ceil(bits * 1_000_000_000);
        assert_eq!(u128::from(fate.arrived), expected);
    }
}

/// A pipeline in a time of its own.
#[derive(Clone, Copy)]
struct Bench {
    buffer: usize,
    ring: usize,
    depth: usize,
    /// What the scheduler takes for a packet; to look it takes 30 ns.
    packet: u64,
}

const USUAL: Bench = Bench { buffer: 1024, ring: 1024, depth: 1, packet: 50 };
const FLOOD: u64 = 1_000_000_000;
const WARM_UP: Nanos = Nanos(10_000_000);
const END: Nanos = Nanos(40_000_000);

impl Bench {
    /// Heap, min-max heap, find-first-set queue, and first come, first served.
    fn all(self, attack_bps: u64) -> [(Tally, f64); 4] {
        use Overflow::{DropNewcomer, DropWorst};
        let room = self.buffer + 1;
        [
            self.simulate(OneEnded::new(room), DropNewcomer, attack_bps),
            self.simulate(TwoEnded::new(room), DropWorst, attack_bps),
            self.simulate(Wsjf::new(room).unwrap(), DropWorst, attack_bps),
            self.simulate(Fcfs::new(room), DropNewcomer, attack_bps),
        ]
    }

    /// The scheduler as it is, and a worker that needs exactly as long as it should.
    fn simulate<P: Policy<Task>>(self, policy: P, overflow: Overflow, attack_bps: u64) -> (Tally, f64) {
        let traffic = traffic(attack_bps);
        let buffer = Bounded::new(policy, Some(Capacity::Packets(self.buffer)), overflow).unwrap();
        let (giver, mut taker) = RingBuffer::new(self.depth);
        let mut scheduler = Scheduler::new(traffic.clone(), buffer, self.ring, giver, END);
        let mut served = Served::new(WARM_UP, END);
        let mut serving: Option<(Task, Nanos)> = None;
        let begin = |task, start: Nanos| (task, start.after(traffic.packet(task).work));
        let mut now = Nanos(0);
        while now < END {
            while let Some((task, end)) = serving.filter(|&(_, end)| end <= now) {
                served.add(task, traffic.packet(task).bits, Some(end));
                serving = taker.pop().ok().map(|task| begin(task, end));
            }
            let (taken, _) = scheduler.step(now);
            serving = serving.or_else(|| taker.pop().ok().map(|task| begin(task, now)));
            now = now.after(Nanos(30 + self.packet * taken as u64));
        }
        let scheduled = scheduler.finish();
        let left = serving.map(|(task, _)| task).into_iter().chain(std::iter::from_fn(|| taker.pop().ok()));
        left.for_each(|task| served.add(task, 0, None));
        let (tally, goodput_bps) = served.finish(&scheduled);
        assert_conserved(&tally, attack_bps, END);
        (tally, goodput_bps)
    }
}

#[test]
fn without_an_attack_everything_is_served() {
    for (tally, goodput) in USUAL.all(0) {
        assert_eq!((tally.innocent.dropped, tally.innocent.lost, tally.attack), (0, 0, Fate::default()));
        assert!(tally.innocent.left < 10 && (8.9e9..9.1e9).contains(&goodput), "{goodput}");
    }
}

#[test]
fn a_flood_of_the_worst_packets_shuts_out_users_unless_the_worst_are_dropped() {
    let all = USUAL.all(FLOOD);
    let [heap, two_ended, ffs, fcfs] = all.map(|(_, goodput)| goodput / 9e9);
    assert!(heap < 0.2 && fcfs < 0.2, "{heap} {fcfs}");
    assert!(two_ended > 0.95 && ffs > 0.95, "{two_ended} {ffs}");
    // What the heap drops are users' packets as well; the others find those that are not.
    let [heap, two_ended, ffs, _] = all.map(|(tally, _)| tally.innocent.dropped);
    assert!(heap > 20_000);
    assert_eq!([two_ended, ffs], [0, 0]);
}

#[test]
fn a_scheduler_that_is_too_slow_for_the_flood_loses_users_at_the_ring() {
    // 2.9 million packets a second come; it can do 1.25 million.
    let slow = |attack_bps| Bench { packet: 800, ..USUAL }.all(attack_bps)[1];
    let (tally, goodput) = slow(FLOOD);
    assert!(tally.innocent.lost > 10_000 && goodput < 0.7 * 9e9, "{tally:?} {goodput}");
    // Without the flood it is fast enough.
    let (tally, goodput) = slow(0);
    assert!(tally.innocent.lost == 0 && goodput > 8.9e9);
}

#[test]
fn every_packet_is_accounted_for_and_the_answer_is_always_the_same() {
    for attack_bps in [3, 10_000_000, 2_000_000_000] {
        for (buffer, ring, depth, packet) in
            [(1, 1, 1, 50), (7, 2, 3, 700), (100, 5, 64, 2_000), (5_000, 33, 2, 0)]
        {
            let bench = Bench { buffer, ring, depth, packet };
            // It asserts conservation.
            assert_eq!(bench.all(attack_bps), bench.all(attack_bps));
        }
    }
}

#[test]
fn what_waits_in_the_hand_over_cannot_be_overtaken() {
    let good = Packet { flow: 0, bits: 10_000, work: Nanos(1_000) };
    let bad = Packet { flow: 1, bits: 512, work: Nanos(10_000) };
    // Two bad packets, and one of a user that comes while the first is in service: one every 3.7 µs.
    let order = |depth| {
        let innocent = Source::new(Arc::from([bad, bad, good]), BitsPerSec(1_000_000_000)).unwrap();
        let traffic = Traffic { innocent, attack: Source::new(Arc::from([]), BitsPerSec(0)).unwrap() };
        let buffer = Bounded::new(WsjfExact::new(10).unwrap(), None, Overflow::DropWorst).unwrap();
        let (giver, mut taker) = RingBuffer::new(depth);
        let mut scheduler = Scheduler::new(traffic, buffer, 10, giver, Nanos(11_000));
        for now in [0, 4_000, 8_000] {
            scheduler.step(Nanos(now));
        }
        let mut order = Vec::new();
        while let Ok(task) = taker.pop() {
            order.push(task.index);
            scheduler.step(Nanos(10_000));
        }
        order
    };
    assert_eq!(order(1), [0, 2, 1]);
    assert_eq!(order(2), [0, 1, 2]);
}

#[test]
fn threads_account_for_every_packet_and_real_work_is_done_for_each() {
    let settings = Settings { ring: 256, depth: 1, warm_up: Nanos(5_000_000), duration: Nanos(15_000_000) };
    let buffer =
        || Bounded::new(Fcfs::new(100), Some(Capacity::Packets(100)), Overflow::DropNewcomer).unwrap();
    let (before, mut worked) = (cores(), [0, 0]);
    for attack_bps in [0, 100_000_000] {
        let spun = run(&traffic(attack_bps), buffer(), &settings, Work::Spin::<fn(Task)>);
        let work = |task: Task| worked[usize::from(task.class == Class::Attack)] += 1;
        let real = run(&traffic(attack_bps), buffer(), &settings, Work::Real(work));
        for Run { tally, scheduler, goodput_bps } in [spun, real] {
            assert_conserved(&tally, attack_bps, Nanos(20_000_000));
            assert!(scheduler.packets >= tally.innocent.served + tally.attack.served);
            assert!(goodput_bps <= 1e9 * 11_000.0 * tally.innocent.served as f64 / 15e6);
        }
        assert!(real.tally.innocent.served <= worked[0] && real.tally.attack.served <= worked[1]);
    }
    assert_eq!(cores(), before, "only its own threads are kept on cores");
}

#[test]
fn what_cannot_be_sent_is_refused() {
    let packet = Packet { flow: 0, bits: 1, work: Nanos(1) };
    let refusal =
        |packets: &[Packet], rate| Source::new(packets.into(), BitsPerSec(rate)).unwrap_err().to_string();
    assert_eq!(refusal(&[], 1), "expected packets to send");
    assert_eq!(
        refusal(&[packet], u64::MAX),
        "expected a rate of at most 10Tbps, got 18446744073709551615bps"
    );
}

proptest! {
    /// Many packets of equal ratios, and room for all or few of them.
    #[test]
    fn heaps_serve_in_the_exact_order_and_refuse_what_has_no_room(
        packets in prop::collection::vec((1..9u32, 1..13u64), 1..300),
        capacity in 1..400usize,
    ) {
        fn history<P: Policy<usize>>(mut policy: P, packets: &[(u32, u64)]) -> Vec<usize> {
            let mut seen = Vec::new();
            for (number, &(bits, work)) in packets.iter().enumerate() {
                let packet = Packet { flow: 0, bits, work: Nanos(work) };
                seen.extend(policy.arrive(packet, number, Nanos(0)).err());
                if number % 3 == 0 {
                    seen.extend(policy.serve(Nanos(0)).map(|(_, item)| item));
                }
            }
            seen.extend(std::iter::from_fn(|| policy.serve(Nanos(0))).map(|(_, item)| item));
            seen
        }
        let exact = history(WsjfExact::new(capacity).unwrap(), &packets);
        prop_assert_eq!(&history(OneEnded::new(capacity), &packets), &exact);
        prop_assert_eq!(&history(TwoEnded::new(capacity), &packets), &exact);
    }

    #[test]
    fn a_heap_with_two_ends_drops_the_newest_of_the_worst(
        packets in prop::collection::vec((1..9u32, 1..13u64), 1..100),
    ) {
        let mut heap = TwoEnded::new(packets.len());
        for (number, &(bits, work)) in packets.iter().enumerate() {
            let packet = Packet { flow: 0, bits, work: Nanos(work) };
            prop_assert!(Policy::arrive(&mut heap, packet, number, Nanos(0)).is_ok());
        }
        // Ratios over 840, which every number of bits divides.
        let worst = (0..packets.len()).max_by_key(|&number| {
            let (bits, work) = packets[number];
            (work * 840 / u64::from(bits), number)
        });
        prop_assert_eq!(heap.drop_worst(Nanos(0)).map(|(_, number)| number), worst);
    }
}
