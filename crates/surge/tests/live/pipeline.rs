//! The pipeline: in a time of its own, where everything can be said exactly, and on real threads, where only identities can.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use trueplane_linux::testnet;
use trueplane_surge::live::Error;
use trueplane_surge::live::pipeline::handover::Handover;
use trueplane_surge::live::pipeline::scheduler::Scheduler;
use trueplane_surge::live::pipeline::service::{Really, Served, Spin};
use trueplane_surge::live::pipeline::tally::{Class, Tally, Task, Ticket};
use trueplane_surge::live::pipeline::traffic::{Source, Traffic};
use trueplane_surge::live::pipeline::{Settings, run};
use trueplane_surge::live::queue::Queue;
use trueplane_surge::live::rivals::{Heap, TwoEnded};
use trueplane_surge::policy::{Fcfs, Wsjf, WsjfExact};
use trueplane_surge::{Bounded, Capacity, Packet, Policy};
use trueplane_units::{BitsPerSec, Nanos};

/// Users at 0.9 of what can be served of them, 10,000 bits and 1 µs on average, and 64 bytes that take 10 µs.
fn traffic(attack_bps: u64) -> Traffic {
    let innocent = |bits, work| Packet { flow: 0, bits, work: Nanos(work) };
    let packets =
        [innocent(10_000, 1_000), innocent(9_000, 1_100), innocent(11_000, 900), innocent(10_000, 1_000)];
    let attack = Packet { flow: 1, bits: 512, work: Nanos(10_000) };
    Traffic::new(
        Source { packets: packets.into(), rate: BitsPerSec(9_000_000_000) },
        Source { packets: Arc::from([attack]), rate: BitsPerSec(attack_bps) },
    )
    .expect("it makes sense")
}

/// A pipeline in a time of its own.
#[derive(Clone, Copy)]
struct Bench {
    buffer: usize,
    ring: usize,
    depth: usize,
    /// What the scheduler takes to look, and for a packet.
    look: u64,
    packet: u64,
}

const USUAL: Bench = Bench { buffer: 1024, ring: 1024, depth: 1, look: 30, packet: 50 };
const WARM_UP: Nanos = Nanos(10_000_000);
const END: Nanos = Nanos(40_000_000);

impl Bench {
    fn run(self, queue: Queue, attack_bps: u64) -> (Tally, f64) {
        let room = self.buffer + 1;
        match queue {
            Queue::Heap => self.simulate(queue, Heap::new(room), attack_bps),
            Queue::TwoEnded => self.simulate(queue, TwoEnded::new(room), attack_bps),
            Queue::Ffs => self.simulate(queue, Wsjf::new(room).expect("a shape"), attack_bps),
            Queue::Fcfs => self.simulate(queue, Fcfs::new(room), attack_bps),
        }
    }

    /// The scheduler as it is, and a worker that needs exactly as long as it should.
    fn simulate<P: Policy<Ticket>>(self, queue: Queue, policy: P, attack_bps: u64) -> (Tally, f64) {
        let traffic = traffic(attack_bps);
        let buffer =
            Bounded::new(policy, Some(Capacity::Packets(self.buffer)), queue.properties().overflow).unwrap();
        let mut scheduler = Scheduler::new(&traffic, buffer, self.ring, END);
        let mut handover = Handover::new(self.depth);
        let (mut giver, mut taker) = handover.ends();
        let mut served = Served::new(WARM_UP, END);
        let mut serving: Option<(Task, Nanos, Nanos)> = None;
        let begin = |ticket, start: Nanos| {
            let packet = traffic.packet(ticket);
            (Task { ticket, packet }, start, start.after(packet.work))
        };
        let mut now = Nanos(0);
        while now < END {
            while let Some((task, start, end)) = serving.filter(|&(_, _, end)| end <= now) {
                served.add(&task, start, end);
                serving = taker.take().map(|ticket| begin(ticket, end));
            }
            let (taken, _) = scheduler.step(now, &mut giver);
            serving = serving.or_else(|| taker.take().map(|ticket| begin(ticket, now)));
            now = now.after(Nanos(self.look + self.packet * taken as u64));
        }
        if let Some((task, start, end)) = serving {
            served.add(&task, start, end.max(END.after(Nanos(1))));
        }
        let mut tally = scheduler.finish(&mut taker);
        tally.merge(&served.tally);
        assert_conserved(&tally, attack_bps, END);
        (tally, served.good_bits as f64 * 1e9 / END.since(WARM_UP).0 as f64)
    }
}

/// That every packet arrived once, and that something became of each.
#[track_caller]
fn assert_conserved(tally: &Tally, attack_bps: u64, end: Nanos) {
    for (class, fate, bits, rate) in [
        (Class::Innocent, tally.innocent, 10_000, 9_000_000_000),
        (Class::Attack, tally.attack, 512, attack_bps),
    ] {
        assert_eq!(fate.accounted(), fate.arrived, "{class:?}");
        // One at 0, and one whenever bits / rate have passed, before the end.
        let expected = (u128::from(end.0) * u128::from(rate)).div_ceil(bits * 1_000_000_000);
        assert_eq!(u128::from(fate.arrived.packets), expected, "{class:?}");
    }
}

#[test]
fn without_an_attack_everything_is_served() {
    let _together = testnet::together();
    for &queue in Queue::ALL {
        let (tally, goodput) = USUAL.run(queue, 0);
        assert_eq!((tally.innocent.dropped.packets, tally.innocent.lost.packets), (0, 0), "{}", queue.name());
        assert!(
            tally.innocent.left.packets < 10 && (8.9e9..9.1e9).contains(&goodput),
            "{}: {goodput}",
            queue.name()
        );
        assert_eq!(tally.attack, trueplane_surge::live::pipeline::tally::Fate::default());
    }
}

#[test]
fn a_flood_of_the_worst_packets_shuts_out_users_unless_the_worst_are_dropped() {
    let _together = testnet::together();
    let flood = 1_000_000_000;
    let goodput =
        [Queue::Heap, Queue::TwoEnded, Queue::Ffs, Queue::Fcfs].map(|queue| USUAL.run(queue, flood).1 / 9e9);
    let [heap, two_ended, ffs, fcfs] = goodput;
    assert!(heap < 0.2 && fcfs < 0.2, "{goodput:?}");
    assert!(two_ended > 0.95 && ffs > 0.95, "{goodput:?}");
    // What the heap drops are users' packets as well; the others find those that are not.
    let dropped = |queue: Queue| USUAL.run(queue, flood).0.innocent.dropped.packets;
    assert!(dropped(Queue::Heap) > 20_000);
    assert_eq!([dropped(Queue::TwoEnded), dropped(Queue::Ffs)], [0, 0]);
}

#[test]
fn a_scheduler_that_is_too_slow_for_the_flood_loses_users_at_the_ring() {
    let _together = testnet::together();
    // 2.9 million packets a second come; it can do 1.25 million.
    let slow = Bench { packet: 800, ..USUAL };
    let (tally, goodput) = slow.run(Queue::TwoEnded, 1_000_000_000);
    assert!(tally.innocent.lost.packets > 10_000 && goodput < 0.7 * 9e9, "{tally:?} {goodput}");
    let (heap, _) = USUAL.run(Queue::Ffs, 1_000_000_000);
    assert_eq!(heap.innocent.lost.packets, 0);
    // Without the flood it is fast enough.
    let (tally, goodput) = slow.run(Queue::TwoEnded, 0);
    assert!(tally.innocent.lost.packets == 0 && goodput > 8.9e9);
}

#[test]
fn every_packet_is_accounted_for_and_the_answer_is_always_the_same() {
    let _together = testnet::together();
    for &queue in Queue::ALL {
        for attack_bps in [3, 10_000_000, 2_000_000_000] {
            for (buffer, ring, depth, packet) in
                [(1, 1, 1, 50), (7, 2, 3, 700), (100, 5, 64, 2_000), (5_000, 33, 2, 0)]
            {
                let bench = Bench { buffer, ring, depth, packet, ..USUAL };
                // It asserts conservation.
                let found = bench.run(queue, attack_bps);
                assert_eq!(bench.run(queue, attack_bps), found);
            }
        }
    }
}

/// The order of service of two bad packets and one of a user that comes while the first is in service.
fn order(depth: usize) -> Vec<usize> {
    let good = Packet { flow: 0, bits: 10_000, work: Nanos(1_000) };
    let bad = Packet { flow: 1, bits: 512, work: Nanos(10_000) };
    // One every 3.7 µs.
    let packets = Source { packets: Arc::from([bad, bad, good]), rate: BitsPerSec(1_000_000_000) };
    let traffic = Traffic::new(packets, Source::none()).unwrap();
    let buffer = Bounded::new(WsjfExact::new(10).unwrap(), None, Queue::Ffs.properties().overflow).unwrap();
    let mut scheduler = Scheduler::new(&traffic, buffer, 10, Nanos(11_000));
    let mut handover = Handover::new(depth);
    let (mut giver, mut taker) = handover.ends();
    for now in [0, 4_000, 8_000] {
        scheduler.step(Nanos(now), &mut giver);
    }
    let mut order = Vec::new();
    while let Some(ticket) = taker.take() {
        order.push(ticket.index());
        scheduler.step(Nanos(10_000), &mut giver);
    }
    order
}

#[test]
fn what_waits_in_the_hand_over_cannot_be_overtaken() {
    assert_eq!(order(1), [0, 2, 1]);
    assert_eq!(order(2), [0, 1, 2]);
}

fn settings() -> Settings {
    Settings { ring: 256, depth: 1, warm_up: Nanos(5_000_000), duration: Nanos(15_000_000), pin: false }
}

#[test]
fn threads_account_for_every_packet() {
    let _alone = testnet::alone();
    for &queue in Queue::ALL {
        for attack_bps in [0, 100_000_000] {
            let found =
                queue.run(64, &traffic(attack_bps), &settings(), Spin, &AtomicBool::new(false)).unwrap();
            assert_conserved(&found.tally, attack_bps, Nanos(20_000_000));
            let served = found.tally.total().served.packets;
            // At most one job was not over at the end.
            assert!(served <= found.served.jobs && found.served.jobs <= served + 1, "{}", queue.name());
            assert!(found.served.busy >= found.served.told, "a job is not over before its time");
            assert!(found.served.good_bits <= found.tally.innocent.served.bits);
            assert!(found.scheduler.packets >= served);
        }
    }
}

#[test]
fn real_work_is_done_for_every_packet_that_is_served() {
    let _alone = testnet::alone();
    let (mut innocent, mut attack) = (0u64, 0u64);
    let work = Really(|task: &Task| match task.ticket.class() {
        Class::Innocent => innocent += 1,
        Class::Attack => attack += 1,
    });
    let buffer =
        Bounded::new(Fcfs::new(100), Some(Capacity::Packets(100)), Queue::Fcfs.properties().overflow)
            .unwrap();
    let found = run(&traffic(50_000_000), buffer, &settings(), work, &AtomicBool::new(false)).unwrap();
    assert_conserved(&found.tally, 50_000_000, Nanos(20_000_000));
    assert_eq!(innocent + attack, found.served.jobs);
    let served = found.served.tally;
    assert!(served.innocent.served.packets <= innocent && served.attack.served.packets <= attack);
}

#[test]
fn a_run_can_be_interrupted() {
    // Long, but that it is not.
    let settings = Settings { duration: Nanos(u64::MAX), ..settings() };
    let buffer = Bounded::new(Fcfs::new(100), None, Queue::Fcfs.properties().overflow).unwrap();
    let found = run(&traffic(0), buffer, &settings, Spin, &AtomicBool::new(true));
    assert!(matches!(found, Err(Error::Interrupted)));
}
