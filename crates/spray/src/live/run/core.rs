//! A core's thread: from its rings to the function and out of the interfaces.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use trueplane_linux::{clock, cores};
use trueplane_units::Nanos;

use super::super::io::{Frame, Port, complete, is_link_control, with_tag};
use super::super::rings::{Giver, Taker};
use super::counts::CoreCounts;
use super::shared::{Shared, Stage};
use crate::packet::headers::Link;
use crate::{MAX_BATCH, NetworkFunction, Outlet, Packet, Verdict, Worker};

/// Looks for packets without any until the thread sleeps: waking it costs its users some microseconds, and looking costs whoever else wants the core.
const PATIENCE: u32 = 8;
/// The longest sleep, after which flows are looked at that may be over.
const SLEEP: Duration = Duration::from_millis(100);
/// Looks at flows after such a sleep.
const SWEEPS: usize = 16;
/// Time between two reports of counters, and between two looks for orders.
const TELL: Nanos = Nanos(50_000_000);
/// Packets that are kept for the next to come.
const POOL: usize = 4096;
/// Longest wait for packets that the kernel was still writing when reception was closed.
const LATE: Nanos = Nanos(200_000_000);

/// A core's thread and all that it owns.
pub(super) struct Core<N: NetworkFunction> {
    pub(super) number: usize,
    pub(super) cpu: usize,
    /// Before all that runs there at ordinary priority.
    pub(super) goes_first: bool,
    pub(super) worker: Worker<N>,
    pub(super) ports: [Port; 2],
    pub(super) takers: Vec<Taker>,
    pub(super) out: Out,
    pub(super) shared: Arc<Shared<N>>,
    pub(super) counts: CoreCounts,
}

impl<N: NetworkFunction> Core<N> {
    /// Works until it is told to stop and everything is done; what it counted.
    pub(super) fn run(mut self) -> CoreCounts {
        // Where it is refused, it runs where the system likes, which is worse but no error.
        if cores::pin(self.cpu) && self.goes_first {
            // A core that waits a millisecond for its turn, while another one works, reorders the packets of a sprayed flow by as much, and TCP
            // sends again what it takes for lost. The thread sleeps when it has no packets, and the kernel keeps some of the time for others
            // (sched_rt_runtime_us).
            cores::go_first();
        }
        self.counts.cpu = self.cpu;
        let _gone = Gone(Arc::clone(&self.shared));
        let (mut arrived, mut handed) = (Vec::with_capacity(2 * MAX_BATCH), Vec::new());
        let (mut idle, mut version, mut next_tell) = (0, 0, Nanos(0));
        let mut drain = Drain::default();
        let mut now = clock::monotonic();
        loop {
            let work = self.receive(&mut arrived) + self.take(&mut handed);
            let is_awake = work > 0 || self.worker.waiting() > 0;
            if is_awake {
                self.worker.poll(now, &mut arrived, &mut handed, &mut self.out);
                self.out.flush(&mut self.ports, &mut self.counts, &self.shared);
            }
            let after = clock::monotonic();
            if work > 0 {
                self.shared.busy_ns[self.number].fetch_add(after.since(now).0, Ordering::Relaxed);
                idle = 0;
            } else {
                idle += 1;
            }
            now = after;
            if now >= next_tell {
                next_tell = now.after(TELL);
                self.tell();
            }
            version = self.reconfigure(version);
            match self.shared.stage() {
                Stage::Running if idle >= PATIENCE && !is_awake => self.sleep(&mut now),
                Stage::Running => {}
                Stage::Draining => {
                    if work == 0 && self.is_drained(&mut drain, now) {
                        self.tell();
                        return self.counts;
                    }
                }
            }
        }
    }

    fn receive(&mut self, arrived: &mut Vec<Packet>) -> usize {
        let Self { ports, counts, out, .. } = self;
        let mut work = 0;
        for (input, port) in ports.iter_mut().enumerate() {
            let count = port.receive(MAX_BATCH, |frame| {
                if frame.is_cut {
                    counts.cut += 1;
                    return;
                }
                counts.partial += u64::from(frame.is_partial);
                let packet = out.packet(&frame, input as u8);
                if is_link_control(&packet) {
                    counts.passed_by += 1;
                    out.queues[1 - input].push(packet);
                } else {
                    arrived.push(packet);
                }
            });
            counts.received[input] += count as u64;
            work += count;
        }
        // What passes by does not wait for a packet that the function gets.
        if work > 0 && arrived.is_empty() {
            out.flush(ports, counts, &self.shared);
        }
        work
    }

    fn take(&mut self, handed: &mut Vec<Packet>) -> usize {
        self.takers.iter_mut().map(|taker| taker.take(MAX_BATCH, handed)).sum()
    }

    /// Another configuration, if there is one since `version`.
    fn reconfigure(&mut self, version: u64) -> u64 {
        let newest = self.shared.version.load(Ordering::Acquire);
        let order = if newest == version { None } else { self.shared.order(self.number).take() };
        if let Some(function) = order {
            self.worker.reconfigure(function);
        }
        newest
    }

    fn sleep(&mut self, now: &mut Nanos) {
        let waker = &self.shared.wakers[self.number];
        waker.announce();
        let is_missed = self.takers.iter().any(|taker| !taker.is_empty());
        if is_missed || self.shared.stage() != Stage::Running {
            waker.stay_awake();
            return;
        }
        let sources: Vec<_> = self.ports.iter().flat_map(Port::descriptors).collect();
        let is_woken = waker.sleep(&sources, SLEEP);
        *now = clock::monotonic();
        if !is_woken {
            for _ in 0..SWEEPS {
                self.worker.poll(*now, &mut Vec::new(), &mut Vec::new(), &mut self.out);
            }
        }
    }

    /// Whether nothing is left to do for good, once nothing comes from interfaces any more.
    fn is_drained(&mut self, drain: &mut Drain, now: Nanos) -> bool {
        if !drain.has_sent {
            let since = *drain.since.get_or_insert(now);
            self.ask_kernel();
            let CoreCounts { offered, kernel_drops, received, .. } = &self.counts;
            let is_late = (0..2).any(|of| offered[of] > received[of] + kernel_drops[of]);
            if self.worker.waiting() > 0 || is_late && now.since(since) < LATE {
                return false;
            }
            drain.has_sent = true;
            self.shared.drained.fetch_add(1, Ordering::AcqRel);
        }
        // All that others had for this core is in its rings now, or has been taken.
        let all = self.shared.drained.load(Ordering::Acquire) == self.shared.wakers.len();
        all && self.takers.iter().all(Taker::is_empty)
    }

    fn ask_kernel(&mut self) {
        for (of, port) in self.ports.iter_mut().enumerate() {
            // A port whose interface is gone has counted all it will.
            if let Ok(more) = port.offered() {
                self.counts.offered[of] += more.packets;
                self.counts.kernel_drops[of] += more.dropped;
            }
        }
    }

    fn tell(&mut self) {
        self.ask_kernel();
        self.counts.busy_ns = self.shared.busy_ns[self.number].load(Ordering::Relaxed);
        self.counts.set_worker(self.worker.counts(), self.worker.writer().len(), self.worker.waiting());
        *self.shared.told(self.number) = self.counts;
    }
}

/// Lets the other cores end where this one's function has panicked.
struct Gone<N: NetworkFunction>(Arc<Shared<N>>);

impl<N: NetworkFunction> Drop for Gone<N> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.drained.fetch_add(1, Ordering::AcqRel);
        }
    }
}

/// Progress of a core with stopping.
#[derive(Default)]
struct Drain {
    since: Option<Nanos>,
    /// It hands nothing over any more.
    has_sent: bool,
}

/// Destinations of a core's packets.
pub(super) struct Out {
    /// Rings to the other cores; none to itself.
    pub(super) givers: Vec<Option<Giver>>,
    /// Cores to which something was handed over since the last flush.
    given: Vec<bool>,
    /// Packets for the interfaces.
    queues: [Vec<Packet>; 2],
    pool: Vec<Packet>,
    /// Packets for an interface that does not exist.
    nowhere: u64,
}

impl Out {
    pub(super) fn new(givers: Vec<Option<Giver>>) -> Self {
        let given = vec![false; givers.len()];
        Self { givers, given, queues: Default::default(), pool: Vec::new(), nowhere: 0 }
    }

    /// A frame as a packet that came by interface `input`.
    fn packet(&mut self, frame: &Frame<'_>, input: u8) -> Packet {
        let mut packet = self.pool.pop().unwrap_or_else(|| Packet::new(Vec::new(), Link::Ethernet));
        packet.refill(Link::Ethernet, |bytes| {
            with_tag(bytes, frame.bytes, frame.tag);
            if frame.is_partial {
                complete(bytes);
            }
        });
        packet.set_input(input);
        packet
    }

    fn keep(&mut self, packet: Packet) {
        if self.pool.len() < POOL {
            self.pool.push(packet);
        }
    }

    /// Sends what is to be sent and wakes whom something was handed over to.
    fn flush<N: NetworkFunction>(
        &mut self,
        ports: &mut [Port; 2],
        counts: &mut CoreCounts,
        shared: &Shared<N>,
    ) {
        for (of, port) in ports.iter_mut().enumerate() {
            let queue = &mut self.queues[of];
            if queue.is_empty() {
                continue;
            }
            let refused = port.send(queue);
            counts.sent[of] += queue.len() as u64 - refused;
            counts.unsent += refused;
            let room = POOL.saturating_sub(self.pool.len());
            self.pool.extend(queue.drain(..).take(room));
        }
        counts.unsent += std::mem::take(&mut self.nowhere);
        for (given, waker) in self.given.iter_mut().zip(&shared.wakers) {
            if std::mem::take(given) {
                waker.wake();
            }
        }
    }
}

impl Outlet for Out {
    fn hand_over(&mut self, core: usize, packets: &mut VecDeque<Packet>) {
        if let Some(Some(giver)) = self.givers.get_mut(core) {
            self.given[core] |= giver.give(packets) > 0;
        }
    }

    fn done(&mut self, packet: Packet) {
        match packet.verdict() {
            Verdict::Forward => self.queues[usize::from(packet.input() == 0)].push(packet),
            Verdict::Transmit(interface) => match self.queues.get_mut(usize::from(interface)) {
                Some(queue) => queue.push(packet),
                None => {
                    self.nowhere += 1;
                    self.keep(packet);
                }
            },
            Verdict::Drop(_) | Verdict::HandOver => self.keep(packet),
        }
    }
}
