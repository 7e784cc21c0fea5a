//! How fast one core is: lookups in a flow table, and whole packets through network functions.
//!
//! One thread. Checked: every lookup finds the state of its flow; every packet is forwarded, and the counts say so.

use std::collections::VecDeque;
use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;

use etherparse::PacketBuilder;
use trueplane_spray::nf::{FunctionName, FunctionOptions, Visit, with_function};
use trueplane_spray::packet::headers::Link;
use trueplane_spray::{
    FlowId, Flows, Limits, MAX_BATCH, NetworkFunction, Outlet, Packet, Phase, Steering, Tick, Verdict,
    Worker, Writer,
};
use trueplane_units::Nanos;

const LOOKUPS: usize = 1 << 22;
const PACKETS: usize = 1 << 22;
const ROUNDS: usize = 3;

fn main() {
    println!("{:34} {:>10} {:>14}", "flow table", "ns/lookup", "to one by one");
    for flows in [10_000, 100_000, 1_000_000] {
        lookups(flows);
    }
    println!("\n{:34} {:>10} {:>14}", "function, flows", "ns/packet", "M packets/s");
    for function in
        [FunctionName::Synthetic, FunctionName::Nat, FunctionName::Firewall, FunctionName::Monitor]
    {
        for flows in [1_000, 30_000] {
            let nanos = with_function(function, &FunctionOptions::default(), Through { flows })
                .expect("the defaults are good");
            println!("{:34} {nanos:10.1} {:14.1}", format!("{function}, {flows} flows"), 1e3 / nanos);
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "a bench is a driver")]
fn now() -> Instant {
    Instant::now()
}

/// The shortest time of several rounds, in ns for each of `count`.
fn shortest(count: usize, mut round: impl FnMut()) -> f64 {
    let times = (0..ROUNDS).map(|_| {
        let begin = now();
        round();
        begin.elapsed().as_nanos() as f64 / count as f64
    });
    times.fold(f64::INFINITY, f64::min)
}

/// The `n`th client's segment; a SYN, or one with data.
fn segment(n: u32, syn: bool) -> Vec<u8> {
    let [_, a, b, c] = n.to_be_bytes();
    let step = PacketBuilder::ethernet2([2; 6], [4; 6]).ipv4([10, a, b, c], [192, 0, 2, 1], 64);
    let step = step.tcp(1024 + (n % 50_000) as u16, 80, n, 1024);
    let step = if syn { step.syn() } else { step.ack(1) };
    let mut bytes = Vec::new();
    step.write(&mut bytes, &n.to_be_bytes()[..if syn { 0 } else { 4 }])
        .expect("memory takes what is written");
    bytes
}

/// Numbers below `count` in an order without a pattern.
fn scattered(count: u32) -> impl Iterator<Item = u32> {
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    std::iter::repeat_with(move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (((state >> 32) * u64::from(count)) >> 32) as u32
    })
}

fn lookups(flows: u32) {
    let limits = Limits::new(flows as usize);
    let mut writer = Writer::new(limits, 7);
    let packets: Vec<_> = (0..flows).map(|n| Packet::new(segment(n, false), Link::Ethernet)).collect();
    let ids: Vec<FlowId> = packets.iter().filter_map(|packet| packet.flow().copied()).collect();
    for (id, n) in ids.iter().zip(0..) {
        writer.insert(*id, Phase::Established, n, true, Tick::default()).expect("there is room");
    }
    let (tables, steering) = ([Arc::clone(writer.table())], Steering::new(1));
    let view = Flows::new(&tables, &steering, Tick::default());
    let order: Vec<u32> = scattered(flows).take(LOOKUPS).collect();
    let expected: u64 = order.iter().map(|&n| u64::from(n)).sum();
    let one_by_one = shortest(LOOKUPS, || {
        let sum: u64 = order.iter().filter_map(|&n| view.get_flow(&ids[n as usize])).sum();
        assert_eq!(sum, expected);
    });
    let batched = shortest(LOOKUPS, || {
        let batches = order.chunks(MAX_BATCH);
        let found = batches.flat_map(|batch| view.get_flows_by(batch, |&n| ids.get(n as usize)));
        assert_eq!(found.flatten().sum::<u64>(), expected);
    });
    println!("{:34} {one_by_one:10.1}", format!("{flows} flows, get_flow"));
    println!("{:34} {batched:10.1} {:14.2}", format!("{flows} flows, get_flows"), batched / one_by_one);
}

/// Regular packets of established connections through a function on one core.
struct Through {
    flows: u32,
}

/// Keeps packets, to send them again.
struct Kept(Vec<Packet>);

impl Outlet for Kept {
    fn hand_over(&mut self, _core: usize, _packets: &mut VecDeque<Packet>) {
        unreachable!("there is one core");
    }

    fn done(&mut self, packet: Packet) {
        self.0.push(packet);
    }
}

impl Visit for Through {
    type Output = f64;

    fn visit<N: NetworkFunction + Clone + 'static>(self, function: N) -> f64 {
        let limits = Limits { unconfirmed: 1 << 17, ..Limits::new(1 << 17) };
        let mut worker = Worker::team(&function, 1, limits, 64, 7).pop().expect("one core has one worker");
        let (mut arrived, mut handed, mut kept) = (Vec::new(), Vec::new(), Kept(Vec::new()));
        for n in 0..self.flows {
            arrived.push(Packet::new(segment(n, true), Link::Ethernet));
            worker.poll(Nanos(0), &mut arrived, &mut handed, &mut kept);
        }
        assert!(kept.0.iter().all(|packet| packet.verdict() == Verdict::Forward), "a SYN was not forwarded");
        let frames: Vec<_> = scattered(self.flows).take(1 << 14).map(|n| segment(n, false)).collect();
        let mut free: Vec<_> = (0..2 * MAX_BATCH).map(|_| Packet::new(Vec::new(), Link::Ethernet)).collect();
        let before = worker.counts().forwarded;
        let nanos = shortest(PACKETS, || {
            for round in 0..PACKETS / MAX_BATCH {
                for at in 0..MAX_BATCH {
                    let Some(mut packet) = free.pop() else { break };
                    let frame = &frames[(round * MAX_BATCH + at) % frames.len()];
                    packet.refill(Link::Ethernet, |bytes| frame.clone_into(bytes));
                    arrived.push(packet);
                }
                kept.0.clear();
                worker.poll(Nanos(1), &mut arrived, &mut handed, &mut kept);
                free.append(&mut kept.0);
            }
        });
        assert_eq!(worker.counts().forwarded - before, (ROUNDS * PACKETS) as u64);
        black_box(nanos)
    }
}
