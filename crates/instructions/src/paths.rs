//! The hot paths: for each subsystem, what it does for every packet, request or task.
//!
//! Every path checks its answer, outside of what is counted.

use std::collections::VecDeque;

use rand_xoshiro::rand_core::Rng;
use trueplane_cache::policy::{AggregateDelay, Lru};
use trueplane_cache::{Access, Directory, Key, Object, Outcome};
use trueplane_fair::policy::Sdrf;
use trueplane_fair::{Cluster, Memory, Policy as _};
use trueplane_limit::policy::Nimble;
use trueplane_limit::{Limiter, Verdict};
use trueplane_offload::policy::dyso::{Controller, Shape, Switch, Terms};
use trueplane_pqueue::{Hffs, Overflow};
use trueplane_sched::policy::{PushDown, SpPifo};
use trueplane_sched::{Banked, Scheduler};
use trueplane_surge::policy::Wsjf;
use trueplane_surge::{Bounded, Capacity};
use trueplane_units::{BitsPerSec, Bytes, Nanos, Rank};

use crate::counted::{hot_path, random, skewed};
use crate::packets;

/// A hot path.
pub(crate) struct PathOfCode {
    /// Name of the subsystem.
    pub(crate) name: &'static str,
    /// Description of one operation.
    pub(crate) operation: &'static str,
    /// Number of operations for which `run` is called.
    pub(crate) operations: usize,
    /// Runs the path so many times.
    pub(crate) run: fn(usize),
}

/// One for every subsystem.
pub(crate) const PATHS: &[PathOfCode] = &[
    PathOfCode {
        name: "cache",
        operation: "a request to a cache with LRU-MAD, and the end of its fetch",
        operations: 200_000,
        run: cache,
    },
    PathOfCode {
        name: "fair",
        operation: "one task starts and one ends under SDRF, 600 users wait",
        operations: 50_000,
        run: fair,
    },
    PathOfCode {
        name: "limit",
        operation: "a packet at one of 4096 Nimble limiters",
        operations: 1_000_000,
        run: limit,
    },
    PathOfCode {
        name: "offload",
        operation: "a lookup in DySO's table of 4096 entries, every tenth with a control packet",
        operations: 200_000,
        run: offload,
    },
    PathOfCode {
        name: "pqueue",
        operation: "an insert into and an extract from an HFFS queue of 1000 items",
        operations: 1_000_000,
        run: pqueue,
    },
    PathOfCode {
        name: "sched",
        operation: "a packet through SP-PIFO on 8 queues",
        operations: 1_000_000,
        run: sched,
    },
    PathOfCode {
        name: "spray",
        operation: "a packet of an established connection through the NAT",
        operations: 200_000,
        run: packets::nat,
    },
    PathOfCode {
        name: "surge",
        operation: "a packet through a full buffer under WSJF",
        operations: 500_000,
        run: surge,
    },
];

/// Fetches take 100 requests; 1000 of 10,000 objects fit.
fn cache(operations: usize) {
    const FETCH: u64 = 100;
    let keys = skewed(operations, 10_000);
    let mut cache = Directory::new(Lru::with_cost(AggregateDelay::default()), 1000);
    let mut fetches = VecDeque::new();
    let mut counts = [0usize; 3];
    hot_path(|| {
        for (&key, now) in keys.iter().zip(0..) {
            while let Some(&(slot, end)) = fetches.front().filter(|&&(_, end)| end <= now) {
                fetches.pop_front();
                let _ = cache.fetched(slot, Nanos(FETCH), Nanos(end));
            }
            let (outcome, slot) = cache.request(Object { key: Key(key), size: 1 }, Access::at(Nanos(now)));
            if outcome == Outcome::Miss {
                fetches.push_back((slot, now + FETCH));
            }
            counts[outcome as usize] += 1;
        }
    });
    assert_eq!(counts.iter().sum::<usize>(), operations);
    assert!(counts.iter().all(|&count| count > 0), "hits, delayed hits and misses happen: {counts:?}");
    assert_eq!(cache.used(), 1000);
}

/// 600 of 2400 users wait, and each has four tasks running.
fn fair(operations: usize) {
    const WAITING: u32 = 600;
    const RUNNING: usize = 4 * WAITING as usize;
    /// Time between two tasks.
    const GAP: u64 = 83_000_000;
    const TASK: [u64; 2] = [1 << 18, 1 << 17];
    let cluster = Cluster::new(vec![1 << 30; 2], vec![1; 2400]).expect("a cluster");
    let mut policy = Sdrf::new(&cluster, Some(Memory::forgetting(1e-3).expect("a memory")));
    (0..WAITING).for_each(|user| policy.wait(user, user.into(), Nanos(0)));
    let mut held = vec![[0u64; 2]; WAITING as usize];
    let mut running = VecDeque::new();
    let mut step = |number: u64| {
        let now = Nanos(number * GAP);
        let first = policy.first(now).expect("all wait");
        let amounts = &mut held[first as usize];
        *amounts = [amounts[0] + TASK[0], amounts[1] + TASK[1]];
        policy.hold(first, amounts, now);
        running.push_back(first);
        if running.len() > RUNNING {
            let last = running.pop_front().expect("tasks run");
            let amounts = &mut held[last as usize];
            *amounts = [amounts[0] - TASK[0], amounts[1] - TASK[1]];
            policy.hold(last, amounts, now);
        }
    };
    let full = RUNNING as u64;
    (0..full).for_each(&mut step);
    hot_path(|| (full..full + operations as u64).for_each(&mut step));
    assert_eq!(held.iter().map(|amounts| amounts[0] / TASK[0]).sum::<u64>(), full);
    assert!(held.iter().all(|amounts| amounts[0] > 0), "everybody gets a share");
}

/// Twice as much comes as passes.
fn limit(operations: usize) {
    const LIMITERS: usize = 4096;
    /// Time between two packets.
    const GAP: u64 = 10;
    let mut random = random();
    let next = || (random.next_u64() as usize % LIMITERS, 64 + (random.next_u64() % 1437) as u32);
    let packets: Vec<(usize, u32)> = std::iter::repeat_with(next).take(operations).collect();
    // 782 bytes are the mean.
    let rate = BitsPerSec(782 * 8 * 1_000_000_000 / (2 * GAP * LIMITERS as u64));
    let nimble = Nimble::new(rate, Bytes(6000), Some(Bytes(3000))).expect("within the format");
    let mut limiters = vec![nimble; LIMITERS];
    let (mut passed, mut sent) = (0u64, 0u64);
    hot_path(|| {
        for (&(limiter, bytes), number) in packets.iter().zip(0..) {
            let verdict = limiters[limiter].offer(bytes, Nanos(number * GAP));
            sent += u64::from(bytes);
            passed += u64::from(if verdict == Verdict::Drop { 0 } else { bytes });
        }
    });
    let most = sent / 2 + 6000 * LIMITERS as u64;
    assert!(passed > sent / 3 && passed <= most, "{passed} of {sent} bytes passed");
}

/// Rows of four entries, and a history of 64 rows.
fn offload(operations: usize) {
    let keys = skewed(operations, 20_000);
    let shape = Shape::new(1024, 4, 64, 16).expect("a shape");
    let terms = Terms { tracked: 16, timeout: 1000, ageing: 10_000, tuning: None };
    let (mut switch, mut controller) = (Switch::new(shape), Controller::new(shape, &terms));
    let mut hits = 0;
    hot_path(|| {
        for (&key, now) in keys.iter().zip(0..) {
            hits += usize::from(switch.lookup(trueplane_offload::Key(key)));
            if now % 10 == 0 {
                let mut packet = controller.send(now);
                switch.process(&mut packet);
                controller.receive(packet, now);
            }
        }
    });
    assert!(hits > operations / 10 && hits < operations, "{hits} hits");
    assert_eq!(controller.updates(), switch.applied());
}

/// A standing backlog of 1000 items with priorities below 2¹⁸.
fn pqueue(operations: usize) {
    const SPAN: u64 = 1 << 18;
    let mut random = random();
    let priorities: Vec<u64> =
        std::iter::repeat_with(|| random.next_u64() % SPAN).take(operations + 1000).collect();
    let mut queue: Hffs<u32> = Hffs::new(SPAN, 1001, Overflow::Refuse).expect("a shape");
    let insert =
        |queue: &mut Hffs<u32>, priority| queue.insert(priority, 0).is_ok_and(|dropped| dropped.is_none());
    let (backlog, rest) = priorities.split_at(1000);
    assert!(backlog.iter().all(|&priority| insert(&mut queue, priority)));
    let (mut inserted, mut extracted) = (0, 0u64);
    hot_path(|| {
        for &priority in rest {
            inserted += usize::from(insert(&mut queue, priority));
            extracted += queue.extract_min().map_or(0, |(priority, _)| priority);
        }
    });
    let left: u64 = std::iter::from_fn(|| queue.extract_min()).map(|(priority, _)| priority).sum();
    assert_eq!((inserted, extracted + left), (operations, priorities.iter().sum()));
}

/// Ranks from 0 to 99; eleven packets come where ten leave.
fn sched(operations: usize) {
    let mut random = random();
    let ranks: Vec<u64> = std::iter::repeat_with(|| random.next_u64() % 100).take(operations).collect();
    let mut port = Banked::new(8, 10, SpPifo::new(8, PushDown::Cost).expect("queues")).expect("a shape");
    let (mut sent, mut dropped) = (0, 0);
    hot_path(|| {
        for (&rank, number) in ranks.iter().zip(0u64..) {
            let packet = trueplane_sched::Packet {
                rank: Rank(rank),
                flow: 0,
                bytes: 1500,
                handle: 0,
                arrival: Nanos(number),
            };
            dropped += usize::from(port.enqueue(packet).is_some());
            if number % 11 != 0 {
                sent += usize::from(port.dequeue().is_some());
            }
        }
    });
    assert_eq!(sent + dropped + port.len(), operations);
    assert!(dropped > 0, "the port is saturated");
}

/// Twice as many packets come as are served.
fn surge(operations: usize) {
    let mut random = random();
    let mut even = || 2000 + (random.next_u64() % 4001) as u32;
    let packets: Vec<_> = (0..operations as u64)
        .map(|flow| trueplane_surge::Packet { flow, bits: even(), work: Nanos(even().into()) })
        .collect();
    let policy = Wsjf::new(1025).expect("a capacity");
    let mut buffer =
        Bounded::new(policy, Some(Capacity::Packets(1024)), trueplane_surge::Overflow::DropWorst)
            .expect("room");
    let (mut served, mut dropped, mut refused) = (0, 0, 0);
    hot_path(|| {
        for (&packet, now) in packets.iter().zip(0..) {
            refused += usize::from(buffer.arrive(packet, (), Nanos(now), |_, ()| dropped += 1).is_err());
            if now % 2 == 0 {
                served += usize::from(buffer.serve(Nanos(now)).is_some());
            }
        }
    });
    let left = std::iter::from_fn(|| buffer.serve(Nanos(operations as u64))).count();
    assert_eq!((refused, served + dropped + left), (0, operations));
    assert!(dropped > operations / 3, "the buffer is full");
}
