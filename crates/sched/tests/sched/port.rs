//! The output port, worked out by hand.

use trueplane_sched::policy::{Fifo, Pifo};
use trueplane_sched::port::{Port, Ranks, Tally, Traffic};
use trueplane_sched::rank::PacketMeta;
use trueplane_sched::scheduler::Examined;
use trueplane_sched::tally::ByRank;
use trueplane_sched::waiting::{Map, Tree, Waiting};
use trueplane_sched::{Banked, Packet, Scheduler};
use trueplane_units::{BitsPerSec, Nanos, Rank};

/// Packets from a list of times and ranks, all of 1500 bytes.
struct Listed<'a>(std::slice::Iter<'a, (u64, u64)>);

impl Traffic for Listed<'_> {
    fn next(&mut self) -> Option<(Nanos, PacketMeta)> {
        // The rank travels as the flow.
        let &(time, rank) = self.0.next()?;
        Some((Nanos(time), PacketMeta { flow: rank, bytes: 1500, ..PacketMeta::default() }))
    }
}

/// The flow is the rank.
struct ByFlow;

impl Ranks for ByFlow {
    fn rank(&mut self, packet: &PacketMeta, _now: Nanos) -> Rank {
        Rank(packet.flow)
    }
}

/// What happened, event by event: `+5` comes, `-5` is dropped, `5@0` begins to be sent.
#[derive(Default)]
struct Log(Vec<String>);

impl<S> Tally<S> for Log {
    fn arrives(&mut self, packet: &Packet) {
        self.0.push(format!("+{}", packet.rank.0));
    }

    fn drops(&mut self, packet: &Packet) {
        self.0.push(format!("-{}", packet.rank.0));
    }

    fn departs(&mut self, packet: &Packet, start: Nanos, smallest: Option<u64>) {
        let over = smallest.map_or(String::new(), |smallest| format!("<{smallest}"));
        self.0.push(format!("{}@{}{over}", packet.rank.0, start.0));
    }
}

fn log<S: Scheduler>(scheduler: S, waiting: impl Waiting, packets: &[(u64, u64)], rate: u64) -> Vec<String> {
    let port = Port::new(BitsPerSec(rate), scheduler, waiting, Log::default());
    let ended = port.run(Listed(packets.iter()), ByFlow, &());
    ended.expect("nobody interrupts").0.0
}

/// At 12 Gbps a packet takes a microsecond.
const WORKED: [(u64, u64); 6] = [(0, 5), (0, 2), (100, 9), (100, 1), (100, 0), (1000, 3)];

/// By hand, with room for three: both packets of time 0 are there when the port first chooses, and the last packet comes at the
/// very instant at which it chooses again, before a place is free.
#[test]
fn a_port_does_what_was_worked_out_by_hand() {
    let fifo = || Banked::new(1, 3, Fifo).unwrap();
    let expected =
        ["+5", "+2", "5@0<2", "+9", "+1", "+0", "-0", "+3", "-3", "2@1000<1", "9@2000<1", "1@3000"];
    assert_eq!(log(fifo(), Tree::new(10), &WORKED, 12_000_000_000), expected);
    assert_eq!(log(fifo(), Map::default(), &WORKED, 12_000_000_000), expected);
    let expected =
        ["+5", "+2", "2@0<5", "+9", "+1", "+0", "-9", "+3", "-5", "0@1000<1", "1@2000<3", "3@3000"];
    assert_eq!(log(Pifo::new(3).unwrap(), Tree::new(10), &WORKED, 12_000_000_000), expected);
}

#[test]
fn what_was_worked_out_by_hand_is_counted() {
    fn counted<S: Examined>(scheduler: S) -> ByRank {
        let port =
            Port::new(BitsPerSec(12_000_000_000), scheduler, Tree::new(10), ByRank::new(Some(&[1; 10])));
        port.run(Listed(WORKED.iter()), ByFlow, &()).expect("nobody interrupts").0
    }
    let fifo = counted(Banked::new(1, 3, Fifo).unwrap());
    let total = fifo.total();
    assert_eq!((total.arrivals, total.departures, total.drops), (6, 4, 2));
    assert_eq!((total.inversions, total.unpifoness, total.delay_ns), (3, 3 + 1 + 8, 1000 + 1900 + 2900));
    let of = |rank: usize| fifo.bins()[rank].clone();
    assert_eq!((of(9).inversions, of(9).unpifoness, of(9).mean_delay_ns), (1, 8, Some(1900.0)));
    assert_eq!((of(0).drops, of(3).drops, of(3).departures), (1, 1, 0));
    // Of two of ten ranks, all as frequent, the difference is 165 / 100 if the larger comes first.
    assert_eq!(fifo.expected_unpifoness(), Some(1.65));
    let pifo = counted(Pifo::new(3).unwrap()).total();
    assert_eq!((pifo.inversions, pifo.unpifoness, pifo.delay_ns), (0, 0, 900 + 1900 + 2000));
}

#[test]
fn an_odd_rate_is_kept_to_the_last_nanosecond() {
    // 12,000 bits at 7 Gbps are 1714 2/7 ns.
    let packets: Vec<(u64, u64)> = (0..8).map(|_| (0, 1)).collect();
    let events = log(Banked::new(1, 8, Fifo).unwrap(), Tree::new(2), &packets, 7_000_000_000);
    let starts: Vec<&str> = events[8..].iter().filter_map(|event| event.split(['@', '<']).nth(1)).collect();
    assert_eq!(starts, ["0", "1714", "3428", "5142", "6857", "8571", "10285", "12000"]);
}
