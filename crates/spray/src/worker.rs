//! A core at work (figure 3.4): packets in, each to the handler that it is for, and out with a verdict.
//!
//! The worker is told the time and owns no rings: a driver gives it what arrived and what other cores handed over, and takes from it what is
//! done and what is to be handed over. The simulator is one driver, threads are another, and real interfaces the third.

use std::collections::VecDeque;
use std::sync::Arc;

use serde::Serialize;
use trueplane_units::Nanos;

use crate::function::Fit;
use crate::steering::bucket;
use crate::table::{Table, Tick, Writer};
use crate::{Flows, LocalFlows, MAX_BATCH, NetworkFunction, Packet, Reason, Steering, Verdict};

/// Slots of the flow table that a worker looks at in every [`poll`](Worker::poll), for flows that are over. All slots have been looked at after as
/// many polls as it has hundreds of slots.
const SWEEP: usize = 64;

/// Destination of a worker's packets.
pub trait Outlet {
    /// Takes packets for `core` from the front, as many as its ring has room for, and leaves the others.
    fn hand_over(&mut self, core: usize, packets: &mut VecDeque<Packet>);

    /// Takes a packet that has its verdict.
    fn done(&mut self, packet: Packet);
}

/// Counters of a worker. Identity: `arrived` + `handed_in` = `forwarded` + `transmitted` + Σ `dropped` + `handed_out` + the packets that
/// [wait](Worker::waiting) to be handed over.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// Packets from the dispatcher.
    pub arrived: u64,
    /// Packets from other cores.
    pub handed_in: u64,
    /// Packets to other cores.
    pub handed_out: u64,
    /// Packets that the handler of connection packets got.
    pub connection: u64,
    /// Packets that the handler of regular packets got.
    pub regular: u64,
    /// Verdicts [`Verdict::Forward`].
    pub forwarded: u64,
    /// Verdicts [`Verdict::Transmit`].
    pub transmitted: u64,
    /// Verdicts [`Verdict::Drop`], in the order of [`Reason::ALL`].
    pub dropped: [u64; Reason::ALL.len()],
    /// Entries of the flow table that went because their flows were over.
    pub retired: u64,
}

impl Counts {
    /// Packets dropped for a reason.
    pub fn dropped_for(&self, reason: Reason) -> u64 {
        self.dropped[reason as usize]
    }

    /// Packets with a verdict.
    pub fn done(&self) -> u64 {
        self.forwarded + self.transmitted + self.dropped.iter().sum::<u64>()
    }

    /// Adds another core's.
    pub fn merge(&mut self, other: &Self) {
        self.arrived += other.arrived;
        self.handed_in += other.handed_in;
        self.handed_out += other.handed_out;
        self.connection += other.connection;
        self.regular += other.regular;
        self.forwarded += other.forwarded;
        self.transmitted += other.transmitted;
        self.dropped.iter_mut().zip(other.dropped).for_each(|(sum, more)| *sum += more);
        self.retired += other.retired;
    }

    fn count(&mut self, verdict: Verdict) {
        match verdict {
            Verdict::Forward => self.forwarded += 1,
            Verdict::Transmit(_) => self.transmitted += 1,
            Verdict::Drop(reason) => self.dropped[reason as usize] += 1,
            // Never done: see `Worker::done`.
            Verdict::HandOver => {}
        }
    }
}

/// State that all workers of a function share.
#[derive(Debug)]
pub struct Shared<S> {
    /// Their tables, in the order of cores.
    pub tables: Vec<Arc<Table<S>>>,
    /// Rule that assigns flows to cores.
    pub steering: Steering,
}

/// Packets for one of the handlers.
#[derive(Default)]
struct Batch {
    packets: Vec<Packet>,
    /// The rows of their flows, a bit for each.
    rows: u128,
}

impl Batch {
    /// Adds a packet; whether the batch is full now.
    fn push(&mut self, packet: Packet, row: u128) -> bool {
        self.packets.push(packet);
        self.rows |= row;
        self.packets.len() == MAX_BATCH
    }

    /// All packets, in order, and it is empty.
    fn take(&mut self) -> Vec<Packet> {
        self.rows = 0;
        std::mem::take(&mut self.packets)
    }
}

/// The bit of the row of a packet's flow, the same for both directions; none for what has no flow.
#[inline]
fn row(packet: &Packet) -> u128 {
    packet.flow().map_or(0, |flow| 1 << bucket(flow))
}

/// A core at work.
pub struct Worker<N: NetworkFunction> {
    function: N,
    core: usize,
    state: N::Core,
    writer: Writer<N::State>,
    shared: Arc<Shared<N::State>>,
    /// Packets that wait for room in the ring to each core.
    outgoing: Vec<VecDeque<Packet>>,
    /// The longest such queue.
    patience: usize,
    counts: Counts,
    connection: Batch,
    regular: Batch,
    over: Vec<super::Removed<N::State>>,
    /// Slots that are looked at in a poll.
    sweep: usize,
}

impl<N: NetworkFunction> Worker<N> {
    /// One worker for each of `cores` cores, with tables of these limits each. `patience` packets wait for room in a ring at most, for each ring;
    /// what is more is dropped as [`Reason::RingFull`].
    pub fn team(function: &N, cores: usize, limits: super::Limits, patience: usize, seed: u64) -> Vec<Self>
    where
        N: Clone,
    {
        let steering = Steering::new(cores);
        let cores = steering.cores();
        let limits = if N::FIT == Fit::Stateless { super::Limits::new(1) } else { limits };
        let writers: Vec<_> = (0..cores).map(|_| Writer::new(limits, seed)).collect();
        let tables = writers.iter().map(|writer| Arc::clone(writer.table())).collect();
        let shared = Arc::new(Shared { tables, steering });
        let worker =
            |(core, writer)| Self::new(function.clone(), core, writer, Arc::clone(&shared), patience);
        writers.into_iter().enumerate().map(worker).collect()
    }

    /// The worker of `core`, which writes with `writer`.
    pub fn new(
        function: N,
        core: usize,
        writer: Writer<N::State>,
        shared: Arc<Shared<N::State>>,
        patience: usize,
    ) -> Self {
        let cores = shared.steering.cores();
        Self {
            state: function.init(core, cores),
            function,
            core,
            writer,
            shared,
            outgoing: (0..cores).map(|_| VecDeque::new()).collect(),
            patience,
            counts: Counts::default(),
            connection: Batch::default(),
            regular: Batch::default(),
            over: Vec::new(),
            sweep: SWEEP,
        }
    }

    /// Looks at so many slots of the flow table in every poll for flows that are over, instead of 64: for drivers that poll with a packet or two.
    pub fn set_sweep(&mut self, slots: usize) {
        self.sweep = slots;
    }

    /// Handles what was handed over, then what arrived, and empties both; then looks for flows that are over. Packets of one flow are
    /// handled in the order in which they came, whichever handler they are for; of different flows, batches may overtake each other.
    ///
    /// Everything has left through `outlet` when it returns, but for what waits for room in a ring: call it again, without packets, until
    /// [`waiting`](Self::waiting) is zero.
    pub fn poll(
        &mut self,
        now: Nanos,
        arrived: &mut Vec<Packet>,
        handed: &mut Vec<Packet>,
        outlet: &mut impl Outlet,
    ) {
        self.counts.arrived += arrived.len() as u64;
        self.counts.handed_in += handed.len() as u64;
        // What another core handed over has waited for longer.
        for packet in handed.drain(..) {
            let row = row(&packet);
            self.local(packet, row, now, outlet);
        }
        for packet in arrived.drain(..) {
            if N::FIT == Fit::Sprayed && packet.is_connection() {
                self.pick(packet, now, outlet);
            } else {
                let row = row(&packet);
                if self.connection.rows & row != 0 {
                    self.handle_connection(now, outlet);
                }
                if self.regular.push(packet, row) {
                    self.handle_regular(now, outlet);
                }
            }
        }
        self.handle_connection(now, outlet);
        self.handle_regular(now, outlet);
        // Of what those handed over, some may be for this core.
        self.handle_connection(now, outlet);
        self.flush(outlet);
        self.sweep(now);
    }

    /// Another configuration from now on. Tables and the core's own state stay.
    pub fn reconfigure(&mut self, function: N) {
        self.function = function;
    }

    /// Packets that wait for room in rings.
    pub fn waiting(&self) -> usize {
        self.outgoing.iter().map(VecDeque::len).sum()
    }

    /// Counters of the worker so far.
    pub fn counts(&self) -> &Counts {
        &self.counts
    }

    /// Its number.
    pub fn core(&self) -> usize {
        self.core
    }

    /// State that the function has for this core.
    pub fn state(&self) -> &N::Core {
        &self.state
    }

    /// Its flow table's writing end.
    pub fn writer(&self) -> &Writer<N::State> {
        &self.writer
    }

    /// State that all workers share.
    pub fn shared(&self) -> &Arc<Shared<N::State>> {
        &self.shared
    }

    /// The core picker. A packet without addresses belongs to no flow, and any core will do.
    fn pick(&mut self, mut packet: Packet, now: Nanos, outlet: &mut impl Outlet) {
        // Until a handler says more.
        packet.set_verdict(Verdict::Drop(Reason::Undecided));
        let core = packet.flow().map_or(self.core, |flow| self.shared.steering.designated(flow));
        if core == self.core {
            let row = row(&packet);
            self.local(packet, row, now, outlet);
            return;
        }
        self.outgoing[core].push_back(packet);
        if self.outgoing[core].len() <= self.patience {
            return;
        }
        self.push_out(core, outlet);
        if self.outgoing[core].len() > self.patience
            && let Some(mut packet) = self.outgoing[core].pop_back()
        {
            packet.set_verdict(Verdict::Drop(Reason::RingFull));
            self.done(packet, outlet);
        }
    }

    /// A connection packet for this core.
    fn local(&mut self, packet: Packet, row: u128, now: Nanos, outlet: &mut impl Outlet) {
        if self.regular.rows & row != 0 {
            self.handle_regular(now, outlet);
        }
        if self.connection.push(packet, row) {
            self.handle_connection(now, outlet);
        }
    }

    /// Counts a packet's verdict, and lets it go.
    fn done(&mut self, mut packet: Packet, outlet: &mut impl Outlet) {
        if packet.verdict() == Verdict::HandOver {
            // Only regular packets can be handed over, and only if flows have state.
            packet.set_verdict(Verdict::Drop(Reason::Undecided));
        }
        self.counts.count(packet.verdict());
        outlet.done(packet);
    }

    fn handle_connection(&mut self, now: Nanos, outlet: &mut impl Outlet) {
        if self.connection.packets.is_empty() {
            return;
        }
        let mut packets = self.connection.take();
        self.counts.connection += packets.len() as u64;
        let Shared { tables, steering, .. } = &*self.shared;
        let mut flows = LocalFlows::new(&mut self.writer, tables, steering, self.core, Tick::at(now));
        self.function.connection_packets(&mut packets, &mut flows, &mut self.state, now);
        packets.drain(..).for_each(|packet| self.done(packet, outlet));
        self.connection.packets = packets;
    }

    fn handle_regular(&mut self, now: Nanos, outlet: &mut impl Outlet) {
        if self.regular.packets.is_empty() {
            return;
        }
        let mut packets = self.regular.take();
        self.counts.regular += packets.len() as u64;
        let Shared { tables, steering } = &*self.shared;
        let flows = Flows::new(tables, steering, Tick::at(now));
        self.function.regular_packets(&mut packets, &flows, &mut self.state, now);
        for packet in packets.drain(..) {
            if packet.verdict() == Verdict::HandOver && N::FIT == Fit::Sprayed {
                self.pick(packet, now, outlet);
            } else {
                self.done(packet, outlet);
            }
        }
        self.regular.packets = packets;
    }

    fn flush(&mut self, outlet: &mut impl Outlet) {
        for core in 0..self.outgoing.len() {
            self.push_out(core, outlet);
        }
    }

    fn push_out(&mut self, core: usize, outlet: &mut impl Outlet) {
        let waiting = &mut self.outgoing[core];
        if waiting.is_empty() {
            return;
        }
        let before = waiting.len();
        outlet.hand_over(core, waiting);
        self.counts.handed_out += (before - waiting.len()) as u64;
    }

    fn sweep(&mut self, now: Nanos) {
        if N::FIT == Fit::Stateless || self.writer.is_empty() {
            return;
        }
        self.writer.sweep(self.sweep, Tick::at(now), &mut self.over);
        let Shared { tables, steering, .. } = &*self.shared;
        let before = self.writer.len();
        for removed in self.over.drain(..) {
            let mut flows = LocalFlows::new(&mut self.writer, tables, steering, self.core, Tick::at(now));
            self.function.retire(removed, &mut flows, &mut self.state);
        }
        self.counts.retired += (before.saturating_sub(self.writer.len())) as u64;
    }
}

#[cfg(test)]
mod tests {
    use etherparse::PacketBuilder;

    use super::*;
    use crate::nf::Synthetic;
    use crate::packet::headers::Link;
    use crate::packet::tcp_flags::{ACK, FIN, SYN};
    use crate::{Limits, Timeouts};

    /// Packets that left, in order: flags and verdict.
    #[derive(Default)]
    struct Out(Vec<(u8, Verdict)>);

    impl Outlet for Out {
        fn hand_over(&mut self, _core: usize, _packets: &mut VecDeque<Packet>) {}

        fn done(&mut self, packet: Packet) {
            self.0.push((packet.tcp_flags(), packet.verdict()));
        }
    }

    fn segment(port: u16, flags: u8) -> Packet {
        let step = PacketBuilder::ipv4([10, 0, 0, 1], [192, 0, 2, 1], 64).tcp(port, 80, 0, 1024);
        let step = if flags & SYN != 0 { step.syn() } else { step.ack(1) };
        let step = if flags & FIN != 0 { step.fin() } else { step };
        let mut bytes = Vec::new();
        step.write(&mut bytes, b"").unwrap();
        Packet::new(bytes, Link::Ip)
    }

    #[test]
    fn a_flows_packets_leave_in_their_order() {
        let mut worker = Worker::team(&Synthetic, 1, Limits::new(100), 8, 1).pop().unwrap();
        let mut flags = vec![SYN];
        flags.extend([ACK; 70]);
        flags.push(FIN | ACK);
        flags.extend([ACK; 3]);
        let mut arrived: Vec<_> = flags.iter().map(|&flags| segment(1000, flags)).collect();
        let mut out = Out::default();
        worker.poll(Nanos(0), &mut arrived, &mut Vec::new(), &mut out);
        let expected: Vec<_> = flags.iter().map(|&flags| (flags, Verdict::Forward)).collect();
        assert_eq!(out.0, expected);
        let counts = worker.counts();
        assert_eq!((counts.connection, counts.regular, counts.done()), (2, 73, 75));
    }

    #[test]
    fn what_waits_for_a_full_ring_is_bounded_and_nothing_is_lost_silently() {
        for patience in [0, 3] {
            let mut worker = Worker::team(&Synthetic, 2, Limits::new(100), patience, 1).swap_remove(0);
            // Of the other core: see `docs/findings/spray.md` for the sum of these words.
            let mut arrived: Vec<_> = (0..10).map(|at| segment(1001 + 2 * at, SYN)).collect();
            arrived.retain(|packet| worker.shared().steering.designated(packet.flow().unwrap()) == 1);
            let count = arrived.len();
            assert!(count > 4);
            let mut out = Out::default();
            worker.poll(Nanos(0), &mut arrived, &mut Vec::new(), &mut out);
            assert_eq!(worker.waiting(), patience);
            assert_eq!(worker.counts().dropped_for(Reason::RingFull), (count - patience) as u64);
            assert!(out.0.iter().all(|&(_, verdict)| verdict == Verdict::Drop(Reason::RingFull)));
        }
    }

    #[test]
    fn what_is_retired_is_counted_once() {
        let timeouts = Timeouts { half_open: Nanos(1_000_000_000), ..Timeouts::default() };
        let limits = Limits { timeouts, ..Limits::new(100) };
        let mut worker = Worker::team(&Synthetic, 1, limits, 8, 1).pop().unwrap();
        let mut arrived = vec![segment(1000, SYN), segment(1001, SYN)];
        worker.poll(Nanos(0), &mut arrived, &mut Vec::new(), &mut Out::default());
        for second in 2..10 {
            worker.poll(Nanos(second * 1_000_000_000), &mut Vec::new(), &mut Vec::new(), &mut Out::default());
        }
        assert_eq!((worker.counts().retired, worker.writer().len()), (2, 0));
    }
}
