//! The path of a packet through a network function.

use std::collections::VecDeque;

use etherparse::PacketBuilder;
use rand_xoshiro::rand_core::Rng;
use trueplane_spray::nf::{FunctionName, FunctionOptions, Visit, with_function};
use trueplane_spray::packet::headers::Link;
use trueplane_spray::{Limits, MAX_BATCH, NetworkFunction, Outlet, Packet, Verdict, Worker};
use trueplane_units::Nanos;

use crate::counted::{hot_path, random};

/// Number of connections.
const FLOWS: u32 = 1000;

/// One core, whole batches; copying the frame into the buffer is counted.
pub(crate) fn nat(operations: usize) {
    with_function(FunctionName::Nat, &FunctionOptions::default(), Through { operations })
        .expect("the defaults are good");
}

struct Through {
    operations: usize,
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
    type Output = ();

    fn visit<N: NetworkFunction + Clone + 'static>(self, function: N) {
        let limits = Limits { unconfirmed: 1 << 12, ..Limits::new(1 << 12) };
        let mut worker = Worker::team(&function, 1, limits, 64, 7).pop().expect("one core has one worker");
        let (mut arrived, mut handed, mut kept) = (Vec::new(), Vec::new(), Kept(Vec::new()));
        for client in 0..FLOWS {
            arrived.push(Packet::new(segment(client, true), Link::Ethernet));
            worker.poll(Nanos(0), &mut arrived, &mut handed, &mut kept);
        }
        assert!(kept.0.iter().all(|packet| packet.verdict() == Verdict::Forward), "a SYN was not forwarded");
        let mut random = random();
        let client = || (random.next_u64() % u64::from(FLOWS)) as u32;
        let frames: Vec<_> =
            std::iter::repeat_with(client).take(1 << 12).map(|client| segment(client, false)).collect();
        let mut free: Vec<_> = (0..2 * MAX_BATCH).map(|_| Packet::new(Vec::new(), Link::Ethernet)).collect();
        let before = worker.counts().forwarded;
        let rounds = self.operations.div_ceil(MAX_BATCH);
        hot_path(|| {
            for frames in frames.chunks_exact(MAX_BATCH).cycle().take(rounds) {
                for frame in frames {
                    let Some(mut packet) = free.pop() else { break };
                    packet.refill(Link::Ethernet, |bytes| frame.clone_into(bytes));
                    arrived.push(packet);
                }
                kept.0.clear();
                worker.poll(Nanos(1), &mut arrived, &mut handed, &mut kept);
                free.append(&mut kept.0);
            }
        });
        assert_eq!(worker.counts().forwarded - before, (rounds * MAX_BATCH) as u64);
    }
}

/// A client's segment: a SYN, or one with data.
fn segment(client: u32, is_syn: bool) -> Vec<u8> {
    let [_, a, b, c] = client.to_be_bytes();
    let step = PacketBuilder::ethernet2([2; 6], [4; 6]).ipv4([10, a, b, c], [192, 0, 2, 1], 64);
    let step = step.tcp(1024 + (client % 50_000) as u16, 80, client, 1024);
    let step = if is_syn { step.syn() } else { step.ack(1) };
    let mut bytes = Vec::new();
    step.write(&mut bytes, &client.to_be_bytes()[..if is_syn { 0 } else { 4 }])
        .expect("memory takes what is written");
    bytes
}
