//! A run: the scheduler on one thread, the worker on another, for a given time.

use std::hint;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Barrier, OnceLock};
use std::thread::{self, ScopedJoinHandle};

use trueplane_linux::{clock, cores};
use trueplane_units::Nanos;

use super::super::Error;
use super::handover::{Giver, Handover, Taker};
use super::scheduler::Scheduler;
use super::service::{Served, Work};
use super::tally::{Tally, Task, Ticket};
use super::traffic::Traffic;
use crate::{Bounded, Policy};

/// Looks for something to do without any until the thread lets others run: it may have its core for itself or not.
const PATIENCE: u32 = 4096;

/// The machine and its time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Descriptors of the receive ring.
    pub ring: usize,
    /// Slots of the [hand-over](super::handover).
    pub depth: usize,
    /// Time from the start to the measurement of goodput, in which the buffer fills up to its steady state.
    pub warm_up: Nanos,
    /// Time for which goodput is measured.
    pub duration: Nanos,
    /// Keep each thread on a core of its own, if there are two.
    pub pin: bool,
}

impl Settings {
    /// Time at which the run ends.
    fn end(&self) -> Nanos {
        self.warm_up.after(self.duration)
    }
}

/// Use of time by the scheduler.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Effort {
    /// Packets that it took off the ring, each into the buffer and out of it.
    pub packets: u64,
    /// Time in which it had something to do, in ns: from a look at the clock to the next if a packet moved between them. Receiving, and
    /// the clock itself, are in it.
    pub busy_ns: u64,
    /// The longest time from one look at the clock to the next, in ns: that others took its core away is seen here.
    pub stall_ns: u64,
}

/// Counters and rates of a run.
#[derive(Clone, Copy, Debug)]
pub struct Run {
    /// Fates of the packets, warming up included.
    pub tally: Tally,
    /// Innocent bits per second whose service ended while goodput was measured.
    pub goodput_bps: f64,
    /// Use of time by the scheduler.
    pub scheduler: Effort,
    /// Service by the worker.
    pub served: Served,
}

/// Runs a pipeline on two threads until its time is over, and a job that is then in service.
///
/// # Errors
///
/// If threads cannot be had; if `interrupted` was raised.
///
/// # Panics
///
/// If the work does.
pub fn run<P, W>(
    traffic: &Traffic,
    buffer: Bounded<P>,
    settings: &Settings,
    work: W,
    interrupted: &AtomicBool,
) -> Result<Run, Error>
where
    P: Policy<Ticket> + Send,
    W: Work + Send,
{
    let end = settings.end();
    let mut handover = Handover::new(settings.depth);
    let (mut giver, mut taker) = handover.ends();
    let mut scheduler = Scheduler::new(traffic, buffer, settings.ring, end);
    let shared = Shared::new();
    let cores = if settings.pin { cores::allowed() } else { Vec::new() };
    let (first, second) =
        if let [first, .., last] = cores[..] { (Some(first), Some(last)) } else { (None, None) };

    let (effort, served) = thread::scope(|scope| {
        let worker = spawn(scope, "worker", || {
            let served = Served::new(settings.warm_up, end);
            serve(traffic, &mut taker, served, work, &shared, shared.begin(first))
        })?;
        // The worker waits for the scheduler to begin, which no error of its own may keep it from.
        let scheduling = spawn(scope, "scheduler", || {
            let _ends = Ends(&shared.over);
            schedule(&mut scheduler, &mut giver, end, shared.begin(second), interrupted)
        });
        let scheduling = scheduling.inspect_err(|_| {
            shared.over.store(true, Ordering::Release);
            shared.begin(None);
        })?;
        Ok::<_, Error>((joined(scheduling), joined(worker)))
    })?;
    if interrupted.load(Ordering::Relaxed) {
        return Err(Error::Interrupted);
    }
    let mut tally = scheduler.finish(&mut taker);
    tally.merge(&served.tally);
    let goodput_bps = served.good_bits as f64 * 1e9 / settings.duration.0.max(1) as f64;
    Ok(Run { tally, goodput_bps, scheduler: effort, served })
}

fn spawn<'scope, T: Send + 'scope>(
    scope: &'scope thread::Scope<'scope, '_>,
    name: &str,
    body: impl FnOnce() -> T + Send + 'scope,
) -> Result<ScopedJoinHandle<'scope, T>, Error> {
    let spawned = thread::Builder::new().name(name.to_owned()).spawn_scoped(scope, body);
    Ok(spawned.map_err(trueplane_linux::Error::io(format!("start the {name}'s thread")))?)
}

fn joined<T>(handle: ScopedJoinHandle<'_, T>) -> T {
    handle.join().unwrap_or_else(|panic| resume_unwind(panic))
}

/// State that both threads share.
struct Shared {
    /// Both are there.
    ready: Barrier,
    /// Start time of the run on the monotonic clock; the first thread that is there sets it.
    origin: OnceLock<Nanos>,
    /// The scheduler has ended.
    over: AtomicBool,
}

impl Shared {
    fn new() -> Self {
        Self { ready: Barrier::new(2), origin: OnceLock::new(), over: AtomicBool::new(false) }
    }

    /// Goes to its core if it has one, and waits for the other thread; returns when the run began.
    fn begin(&self, core: Option<usize>) -> Nanos {
        if let Some(core) = core {
            // Without, it runs where the system likes, which is worse but no error.
            cores::pin(core);
        }
        self.ready.wait();
        *self.origin.get_or_init(clock::monotonic)
    }
}

/// Tells the worker that the scheduler has ended, however it did.
struct Ends<'s>(&'s AtomicBool);

impl Drop for Ends<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Release);
    }
}

/// The scheduler's thread.
fn schedule<P: Policy<Ticket>>(
    scheduler: &mut Scheduler<'_, P>,
    giver: &mut Giver<'_>,
    end: Nanos,
    origin: Nanos,
    interrupted: &AtomicBool,
) -> Effort {
    let (mut effort, mut idle) = (Effort::default(), 0);
    let mut now = clock::monotonic().since(origin);
    while now < end && !interrupted.load(Ordering::Relaxed) {
        let (taken, handed) = scheduler.step(now, giver);
        idle = if taken + handed > 0 { 0 } else { idle + 1 };
        if idle == PATIENCE {
            idle = 0;
            thread::yield_now();
        }
        let after = clock::monotonic().since(origin);
        let took = after.since(now).0;
        effort.packets += taken as u64;
        if taken + handed > 0 {
            effort.busy_ns += took;
        }
        effort.stall_ns = effort.stall_ns.max(took);
        now = after;
    }
    effort
}

/// The worker's thread.
fn serve<W: Work>(
    traffic: &Traffic,
    taker: &mut Taker<'_>,
    mut served: Served,
    mut work: W,
    shared: &Shared,
    origin: Nanos,
) -> Served {
    // When the last job ended, if the next was there by then: so nothing between two jobs is lost.
    let (mut free, mut idle) = (None, 0);
    while !shared.over.load(Ordering::Acquire) {
        let Some(ticket) = taker.take() else {
            (free, idle) = (None, idle + 1);
            if idle == PATIENCE {
                idle = 0;
                thread::yield_now();
            }
            hint::spin_loop();
            continue;
        };
        idle = 0;
        let task = Task { ticket, packet: traffic.packet(ticket) };
        let start = free.unwrap_or_else(clock::monotonic);
        // The scheduler may take a while to see that it is over.
        if served.is_over(start.since(origin)) {
            served.leave(&task);
            continue;
        }
        let end = work.work(&task, start);
        served.add(&task, start.since(origin), end.since(origin));
        free = Some(end);
    }
    served
}
