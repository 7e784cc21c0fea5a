//! A run: the threads, from the first packet to the last one's return.

use std::collections::VecDeque;
use std::hint;
use std::panic::resume_unwind;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::{self, ScopedJoinHandle};
use std::time::Duration;

use trueplane_linux::{clock, cores};
use trueplane_units::Nanos;

use super::dispatcher::{Dispatched, Dispatcher, Line, Step};
use super::source::Source;
use trueplane_spray::dispatch::{DispatchName, DispatchOptions, dispatcher};
use trueplane_spray::live::busy::{Cycles, counter};
use trueplane_spray::live::rings::{Giver, Taker, ring};
use trueplane_spray::nf::Laden;
use trueplane_spray::{Counts, Limits, MAX_BATCH, NetworkFunction, Outlet, Packet, Worker};

/// Looks for something to do without any until a thread lets others run, where each has a core for itself.
const PATIENCE: u32 = 4096;

/// The same where they share cores.
const SHARED_PATIENCE: u32 = 32;

/// A thread without packets polls at every so many looks, for flows that are over.
const IDLE_POLLS: u32 = 16;

/// Time for which the dispatcher sleeps when rings are full and threads share cores: short against the 512 µs that full rings bridge at 1
/// µs of work a packet, long against the few µs of a core's time that waking up takes. The kernel adds some 50 µs.
const NAP: Duration = Duration::from_micros(150);

/// Slots of 64 bytes that a poll looks at.
const SLOTS_PER_POLL: usize = 64;

/// Treatment of a packet that finds no room.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Overload {
    /// The dispatcher waits, with all packets behind it: no packet is lost, and what is measured is what the cores can do.
    #[default]
    Wait,
    /// It is dropped and counted, as a card does.
    Drop,
}

/// The threads and what is between them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Settings {
    /// Threads that handle packets.
    pub(crate) cores: usize,
    /// Flows in all tables together.
    pub(crate) limits: Limits,
    /// Decides which flows lie together in tables.
    pub(crate) seed: u64,
    /// Cycles of work for each packet.
    pub(crate) cycles: u64,
    /// Places of the ring to each core.
    pub(crate) ring: usize,
    /// Places of the ring from each core to each other.
    pub(crate) handover: usize,
    /// Packets that wait for room in such a ring before more are dropped; none: as many as there are.
    pub(crate) patience: Option<usize>,
    /// Treatment of packets that find the ring to their core full.
    pub(crate) overload: Overload,
    /// Keep each thread of a core there, as far as there are cores.
    pub(crate) pin: bool,
    /// Parameters of dispatch policies.
    pub(crate) dispatch: DispatchOptions,
}

impl Settings {
    /// Settings for `cores` cores and a capacity of `flows` flows.
    pub(crate) fn new(cores: usize, flows: usize) -> Self {
        Self {
            cores,
            limits: Limits::new(flows),
            seed: 1,
            cycles: 0,
            ring: 512,
            handover: 256,
            patience: None,
            overload: Overload::Wait,
            pin: false,
            dispatch: DispatchOptions::default(),
        }
    }

    /// Limits of the table of each core.
    fn share(&self) -> Limits {
        let share = |flows: usize| flows.div_ceil(self.cores);
        Limits { flows: share(self.limits.flows), unconfirmed: share(self.limits.unconfirmed), ..self.limits }
    }
}

/// Runs `source` through `function` until it ends and all packets are back.
///
/// **Why nobody waits for ever.** The memory of packets is made at the beginning, and the ring from each core to the sink has room for all of
/// it: no core ever waits for the sink. A core that finds the ring to another core full keeps the packets, up to its patience, and goes
/// on. So cores always come to empty the rings to them, and the dispatcher, which alone waits, takes back what is done while it does.
///
/// # Panics
///
/// If a function or the source does; if packets are missing, or there are too many.
pub(crate) fn run<N: NetworkFunction + 'static>(
    dispatch: DispatchName,
    function: &Arc<N>,
    source: &mut impl Source,
    settings: &Settings,
) -> Run {
    // Rings full, and a batch at each end.
    let packets = settings.cores * (settings.ring + 2 * MAX_BATCH);
    let (lines, places) = connect(settings, packets);
    let policy = dispatcher(dispatch, settings.cores, &settings.dispatch);
    let mut dispatcher = Dispatcher::new(source, policy, lines, packets, settings.overload == Overload::Drop);
    let laden = Laden { function: Arc::clone(function), cycles: settings.cycles, busy: Cycles };
    let patience = settings.patience.unwrap_or(usize::MAX);
    let team = Worker::team(&laden, settings.cores, settings.share(), patience, settings.seed);
    let bytes = |worker: &Worker<_>| worker.writer().table().bytes();
    let polls = team.iter().map(bytes).max().unwrap_or(0) / (64 * SLOTS_PER_POLL) + 1;
    let shared = Shared::new(settings);

    let (begun, used) = (clock::monotonic(), clock::thread_time());
    let (elapsed, ended) = thread::scope(|scope| {
        let over = Over(&shared);
        let mut threads = Vec::new();
        for ((core, worker), place) in team.into_iter().enumerate().zip(places) {
            let shared = &shared;
            threads.push(scope.spawn(move || serve(core, worker, place, shared)));
        }
        drive(&mut dispatcher, &shared, begun, 2 * polls as u64);
        let elapsed = clock::monotonic().since(begun);
        drop(over);
        let ended: Vec<_> = threads.into_iter().map(joined).collect();
        (elapsed, ended)
    });
    let run = Run {
        elapsed,
        cores: ended.iter().map(|ended| ended.counts).collect(),
        busy: ended.iter().map(|ended| ended.busy).collect(),
        flows: ended.iter().map(|ended| ended.flows).collect(),
        dispatcher: clock::thread_time().since(used),
        dispatched: dispatcher.tally,
    };
    run.check();
    run
}

/// Counters and times of a run.
#[derive(Clone, Debug)]
pub(crate) struct Run {
    /// Time from the first packet to the last one's return.
    pub(crate) elapsed: Nanos,
    /// Counters of the dispatcher.
    pub(crate) dispatched: Dispatched,
    /// Counters of each core.
    cores: Vec<Counts>,
    /// Time for which the thread of each core had work.
    pub(crate) busy: Vec<Nanos>,
    /// CPU time of the dispatcher's thread, which is generator and sink as well.
    pub(crate) dispatcher: Nanos,
    /// Flows in the table of each core at the end.
    pub(crate) flows: Vec<usize>,
}

impl Run {
    /// Sum of the counters of all cores.
    pub(crate) fn counts(&self) -> Counts {
        self.cores.iter().fold(Counts::default(), |mut sum, core| {
            sum.merge(core);
            sum
        })
    }

    /// Checks that every packet was sent or refused, arrived, was handed over as often as it was handed in, got one verdict, and came back.
    fn check(&self) {
        let (of, counts) = (&self.dispatched, self.counts());
        let sum = |counts: &[u64]| counts.iter().sum::<u64>();
        let sent = sum(&of.sent);
        assert_eq!(of.offered, sent + of.refused, "packets offered, and sent or refused");
        assert_eq!(sent, of.returned, "packets sent and come back");
        assert_eq!(sent, counts.arrived, "packets sent and arrived");
        assert_eq!(counts.handed_out, counts.handed_in, "packets handed out and in");
        assert_eq!(counts.arrived, counts.done(), "packets arrived and done");
    }
}

/// Ring ends of a thread.
struct Place {
    arrived: Taker,
    handed: Vec<Taker>,
    outlets: Outlets,
}

/// Rings into which a thread puts packets.
struct Outlets {
    /// Rings to the other cores; none to its own.
    cores: Vec<Option<Giver>>,
    done: Giver,
    finished: VecDeque<Packet>,
}

impl Outlet for Outlets {
    fn hand_over(&mut self, core: usize, packets: &mut VecDeque<Packet>) {
        if let Some(Some(giver)) = self.cores.get_mut(core) {
            giver.give(packets);
        }
    }

    #[inline]
    fn done(&mut self, packet: Packet) {
        self.finished.push_back(packet);
    }
}

/// A ring between every two threads that have to do with each other. `all` packets are in memory.
fn connect(settings: &Settings, all: usize) -> (Vec<Line>, Vec<Place>) {
    let cores = settings.cores;
    let mut takers: Vec<Vec<Taker>> = (0..cores).map(|_| Vec::new()).collect();
    let mut givers = Vec::new();
    for from in 0..cores {
        let to = |(to, takers): (usize, &mut Vec<Taker>)| {
            (to != from).then(|| {
                let (giver, taker) = ring(settings.handover);
                takers.push(taker);
                giver
            })
        };
        givers.push(takers.iter_mut().enumerate().map(to).collect::<Vec<_>>());
    }
    let ends = givers.into_iter().zip(takers).map(|(cores, handed)| {
        let ((giver, arrived), (done, taker)) = (ring(settings.ring), ring(all));
        let outlets = Outlets { cores, done, finished: VecDeque::new() };
        (Line::new(giver, taker), Place { arrived, handed, outlets })
    });
    ends.unzip()
}

/// A word on a cache line of its own.
#[derive(Debug, Default)]
#[repr(align(128))]
struct Apart(AtomicU64);

/// State that all threads share.
struct Shared {
    /// The time that functions are told.
    now: Apart,
    /// All threads of cores are to end.
    over: AtomicBool,
    /// One of them has panicked.
    failed: AtomicBool,
    /// Cycles in which each had work.
    worked: Vec<Apart>,
    /// Number of sweeps of each thread for flows that are over.
    sweeps: Vec<Apart>,
    patience: u32,
    shares_cores: bool,
    /// Processors to which threads are pinned, in turn; empty if they are not pinned.
    cores: Vec<usize>,
}

impl Shared {
    fn new(settings: &Settings) -> Self {
        let apart = || (0..settings.cores).map(|_| Apart::default()).collect();
        let allowed = cores::allowed();
        let shares_cores = allowed.len() <= settings.cores;
        Self {
            now: Apart::default(),
            over: AtomicBool::new(false),
            failed: AtomicBool::new(false),
            worked: apart(),
            sweeps: apart(),
            patience: if shares_cores { SHARED_PATIENCE } else { PATIENCE },
            shares_cores,
            cores: if settings.pin { allowed } else { Vec::new() },
        }
    }

    fn tell(&self, now: Nanos) {
        self.now.0.store(now.0, Ordering::Release);
    }
}

/// Tells the threads to end, however the dispatcher did.
struct Over<'s>(&'s Shared);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.over.store(true, Ordering::Release);
    }
}

/// Tells the dispatcher that a thread has panicked, so that it does not wait for it.
struct Failed<'s>(&'s Shared);

impl Drop for Failed<'_> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.failed.store(true, Ordering::Release);
        }
    }
}

fn joined<T>(handle: ScopedJoinHandle<'_, T>) -> T {
    handle.join().unwrap_or_else(|panic| resume_unwind(panic))
}

/// The dispatcher's thread, until all packets are back.
fn drive<S: Source>(dispatcher: &mut Dispatcher<'_, S>, shared: &Shared, begun: Nanos, polls: u64) {
    let mut idle = 0u32;
    while !shared.failed.load(Ordering::Acquire) {
        let now = dispatcher.source.now(clock::monotonic().since(begun));
        shared.tell(now);
        let step = dispatcher.step(now);
        dispatcher.observe(now, shared.worked.iter().map(|worked| worked.0.load(Ordering::Relaxed)));
        match step {
            Step::Moved => {
                idle = 0;
                continue;
            }
            Step::Full if shared.shares_cores => thread::sleep(NAP),
            Step::Full | Step::Waits => {}
            Step::Sweep => {
                // The source has let time pass.
                let now = dispatcher.source.now(clock::monotonic().since(begun));
                shared.tell(now);
                sweep(shared, polls);
            }
            Step::End => return,
        }
        idle += 1;
        if idle.is_multiple_of(shared.patience) {
            thread::yield_now();
        }
        hint::spin_loop();
    }
}

/// Waits until every core has polled so often since now, or one has panicked.
fn sweep(shared: &Shared, polls: u64) {
    let so_far = || shared.sweeps.iter().map(|sweeps| sweeps.0.load(Ordering::Acquire));
    // A poll may be under way that began with the time before.
    let until: Vec<u64> = so_far().map(|sweeps| sweeps + polls + 2).collect();
    while so_far().zip(&until).any(|(sweeps, &until)| sweeps < until)
        && !shared.failed.load(Ordering::Acquire)
    {
        thread::yield_now();
    }
}

/// Results of a thread that has ended.
struct Ended {
    counts: Counts,
    busy: Nanos,
    flows: usize,
}

/// The thread of a core.
fn serve<N: NetworkFunction>(core: usize, mut worker: Worker<N>, mut place: Place, shared: &Shared) -> Ended {
    let _failed = Failed(shared);
    if let Some(&core) = shared.cores.get(core % shared.cores.len().max(1)) {
        // Without, it runs where the system likes, which is worse but no error.
        cores::pin(core);
    }
    let (mut arrived, mut handed) = (Vec::with_capacity(MAX_BATCH), Vec::with_capacity(MAX_BATCH));
    let (mut idle, mut polls, mut worked) = (0u32, 0u64, 0u64);
    let begun = (clock::monotonic(), counter());
    while !shared.over.load(Ordering::Acquire) {
        place.arrived.take(MAX_BATCH, &mut arrived);
        for from in &mut place.handed {
            from.take(MAX_BATCH, &mut handed);
        }
        let has_work = !arrived.is_empty()
            || !handed.is_empty()
            || worker.waiting() > 0
            || !place.outlets.finished.is_empty();
        if !has_work {
            idle = idle.wrapping_add(1);
            if idle.is_multiple_of(shared.patience) {
                thread::yield_now();
            }
            if !idle.is_multiple_of(IDLE_POLLS) {
                hint::spin_loop();
                continue;
            }
        }
        let start = counter();
        let now = Nanos(shared.now.0.load(Ordering::Acquire));
        worker.poll(now, &mut arrived, &mut handed, &mut place.outlets);
        place.outlets.done.give(&mut place.outlets.finished);
        polls += 1;
        shared.sweeps[core].0.store(polls, Ordering::Release);
        if has_work {
            idle = 0;
            worked += counter().wrapping_sub(start);
            shared.worked[core].0.store(worked, Ordering::Relaxed);
        }
    }
    let (took, cycles) = (clock::monotonic().since(begun.0), counter().wrapping_sub(begun.1).max(1));
    let busy = Nanos((took.0 as f64 * (worked as f64 / cycles as f64).min(1.0)) as u64);
    Ended { counts: *worker.counts(), busy, flows: worker.writer().len() }
}
