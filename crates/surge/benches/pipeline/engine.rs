//! Generator, scheduler and worker, with everything counted.
//!
//! The thesis has a network card and three cores: scheduler, worker, profiler. Here two are enough. The scheduler's thread does the card's
//! work as well: packets have times, and it puts into the ring what has come since it last looked, which takes a few ns a packet; the
//! profiler is each thread's own counting.

use std::collections::VecDeque;
use std::hint;
use std::panic::resume_unwind;
use std::sync::{Barrier, OnceLock};
use std::thread::{self, ScopedJoinHandle};
use std::time::Instant;

use rtrb::{Consumer, Producer, RingBuffer};
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
use trueplane_surge::tally::Class;
use trueplane_surge::{Bounded, Policy};
use trueplane_units::Nanos;

use super::traffic::{Task, Traffic};

/// Packets that the scheduler takes off the ring before it looks at the clock again, as poll-mode drivers do.
const BURST: usize = 32;

/// Looks for something to do without any until the thread lets others run: it may have its core for itself or not.
const PATIENCE: u32 = 4096;

/// Fate of the packets of one class, in numbers of packets: arrived = served + dropped + lost + left.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Fate {
    /// Packets that arrived before the end.
    pub(super) arrived: u64,
    /// Packets whose service ended by the end.
    pub(super) served: u64,
    /// Packets that were dropped because the buffer was full.
    pub(super) dropped: u64,
    /// Packets that found no free descriptor in the receive ring.
    pub(super) lost: u64,
    /// Packets that were in the ring, the buffer, the hand-over or in service at the end.
    pub(super) left: u64,
}

/// Fates of the packets of users and of the attacker.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Tally {
    /// Fate of the users' packets.
    pub(super) innocent: Fate,
    /// Fate of the attacker's packets.
    pub(super) attack: Fate,
}

impl Tally {
    #[inline]
    fn of(&mut self, task: Task) -> &mut Fate {
        match task.class {
            Class::Innocent => &mut self.innocent,
            Class::Attack => &mut self.attack,
        }
    }
}

/// A scheduler at work: a receive ring, a bounded buffer in any order of service, and the best packet to the worker.
///
/// It is told the time and reads no clock, so that tests run it in a time of their own. The ring is what a network card would do: a packet
/// takes a free descriptor at the time when it comes, whatever the scheduler does, or is lost; the scheduler frees descriptors by taking
/// packets. That is worked out when the scheduler next looks, from the times of the packets, and exactly so, for descriptors become free
/// at no other time.
#[derive(Debug)]
pub(super) struct Scheduler<P> {
    traffic: Traffic,
    ring: VecDeque<Task>,
    descriptors: usize,
    buffer: Bounded<P>,
    giver: Producer<Task>,
    end: Nanos,
    tally: Tally,
}

impl<P: Policy<Task>> Scheduler<P> {
    /// A scheduler of the packets that come before `end`, with a ring of so many descriptors; the worker takes packets from `giver`.
    pub(super) fn new(
        traffic: Traffic,
        buffer: Bounded<P>,
        descriptors: usize,
        giver: Producer<Task>,
        end: Nanos,
    ) -> Self {
        let ring = VecDeque::with_capacity(descriptors);
        Self { traffic, ring, descriptors, buffer, giver, end, tally: Tally::default() }
    }

    /// Does what there is to do at `now`, which never goes back: takes at most [`BURST`] packets, and hands over what is asked for after each.
    ///
    /// Returns how many packets it took off the ring, and how many it handed over.
    #[inline]
    pub(super) fn step(&mut self, now: Nanos) -> (usize, usize) {
        self.receive(now);
        // The worker may have waited since the last time.
        let mut handed = self.hand_over(now);
        for taken in 0..BURST {
            let Some(task) = self.ring.pop_front() else { return (taken, handed) };
            let (packet, tally) = (self.traffic.packet(task), &mut self.tally);
            let arrived = self.buffer.arrive(packet, task, now, |_, task| tally.of(task).dropped += 1);
            if let Err(task) = arrived {
                // A policy that is smaller than its buffer.
                self.tally.of(task).dropped += 1;
            }
            handed += self.hand_over(now);
        }
        (BURST, handed)
    }

    /// Puts what has come by `now` into the ring.
    #[inline]
    fn receive(&mut self, now: Nanos) {
        let before = now.after(Nanos(1)).min(self.end);
        while let Some(task) = self.traffic.next_before(before) {
            let fate = self.tally.of(task);
            fate.arrived += 1;
            if self.ring.len() < self.descriptors {
                self.ring.push_back(task);
            } else {
                fate.lost += 1;
            }
        }
    }

    /// Hands over as many packets as the worker asks for, if there are so many.
    #[inline]
    fn hand_over(&mut self, now: Nanos) -> usize {
        let mut handed = 0;
        while !self.giver.is_full() {
            let Some((_, task)) = self.buffer.serve(now) else { break };
            self.giver.push(task).expect("it has room, and no one else gives");
            handed += 1;
        }
        handed
    }

    /// Ends it: what has come by the end, and what of it has not been handed over.
    pub(super) fn finish(mut self) -> Tally {
        self.receive(self.end);
        let in_buffer = std::iter::from_fn(|| self.buffer.serve(self.end)).map(|(_, task)| task);
        for task in in_buffer.chain(self.ring) {
            self.tally.of(task).left += 1;
        }
        self.tally
    }
}

/// What the worker served, in time since the run began.
#[derive(Clone, Copy, Debug)]
pub(super) struct Served {
    warm_up: Nanos,
    end: Nanos,
    /// Packets that were served by the end, and those whose service had not ended, or not begun.
    tally: Tally,
    /// Innocent bits whose service ended while goodput was measured.
    good_bits: u64,
}

impl Served {
    /// Nothing yet. A run goes to `end`, and goodput is measured from `warm_up` on.
    pub(super) fn new(warm_up: Nanos, end: Nanos) -> Self {
        Self { warm_up, end, tally: Tally::default(), good_bits: 0 }
    }

    /// Counts a packet of so many bits, whose service ended then if it ever began.
    #[inline]
    pub(super) fn add(&mut self, task: Task, bits: u32, ended: Option<Nanos>) {
        let Some(ended) = ended.filter(|&ended| ended <= self.end) else {
            self.tally.of(task).left += 1;
            return;
        };
        self.tally.of(task).served += 1;
        if task.class == Class::Innocent && ended >= self.warm_up {
            self.good_bits += u64::from(bits);
        }
    }

    /// What became of all packets, with those of the scheduler, and innocent bits per second.
    pub(super) fn finish(&self, scheduled: &Tally) -> (Tally, f64) {
        let plus = |one: Fate, other: Fate| Fate {
            arrived: one.arrived + other.arrived,
            served: one.served + other.served,
            dropped: one.dropped + other.dropped,
            lost: one.lost + other.lost,
            left: one.left + other.left,
        };
        let tally = Tally {
            innocent: plus(self.tally.innocent, scheduled.innocent),
            attack: plus(self.tally.attack, scheduled.attack),
        };
        (tally, self.good_bits as f64 * 1e9 / self.end.since(self.warm_up).0.max(1) as f64)
    }
}

/// Use of time by the scheduler.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Effort {
    /// Packets that it took off the ring, each into the buffer and out of it.
    pub(super) packets: u64,
    /// Time in which it had something to do: from a look at the clock to the next if a packet moved between them. Receiving, and the clock
    /// itself, are in it.
    pub(super) busy: Nanos,
    /// The longest time from one look at the clock to the next: that others took its core away is seen here.
    pub(super) stall: Nanos,
}

/// The machine and its time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Settings {
    /// Descriptors of the receive ring.
    pub(super) ring: usize,
    /// Packets that are chosen before the worker is done with the last. With one the choice is up to one job old when service begins, and
    /// the worker never waits if a job takes longer than the way to the other core and back; every packet more makes it older by a job.
    pub(super) depth: usize,
    /// Time from the start to the measurement of goodput, in which the buffer fills up to its steady state.
    pub(super) warm_up: Nanos,
    /// Time for which goodput is measured.
    pub(super) duration: Nanos,
}

/// Counters and rates of a run.
#[derive(Clone, Copy, Debug)]
pub(super) struct Run {
    /// Fates of the packets, warming up included.
    pub(super) tally: Tally,
    /// Innocent bits per second whose service ended while goodput was measured.
    pub(super) goodput_bps: f64,
    /// Use of time by the scheduler.
    pub(super) scheduler: Effort,
}

/// The worker's job.
#[derive(Clone, Copy, Debug)]
pub(super) enum Work<F> {
    /// Passes the time that the packet says, as exactly as a look at the clock takes: some 20 to 40 ns.
    Spin,
    /// Does something with the packet.
    Real(F),
}

/// Runs scheduler and worker on two threads until their time is over, and a job that is then in service.
///
/// # Panics
///
/// If the work does.
pub(super) fn run<P: Policy<Task> + Send>(
    traffic: &Traffic,
    buffer: Bounded<P>,
    settings: &Settings,
    work: Work<impl FnMut(Task) + Send>,
) -> Run {
    let end = settings.warm_up.after(settings.duration);
    let (giver, taker) = RingBuffer::new(settings.depth);
    let scheduler = Scheduler::new(traffic.clone(), buffer, settings.ring, giver, end);
    let served = Served::new(settings.warm_up, end);
    let (start, cores) = (Start { ready: Barrier::new(2), clock: OnceLock::new() }, cores());
    let ((scheduled, effort), served) = thread::scope(|scope| {
        let worker = scope.spawn(|| serve(taker, traffic, served, work, start.begin(cores.first())));
        let scheduling = scope.spawn(|| schedule(scheduler, start.begin(cores.last())));
        (joined(scheduling), joined(worker))
    });
    let (tally, goodput_bps) = served.finish(&scheduled);
    Run { tally, goodput_bps, scheduler: effort }
}

fn joined<T>(handle: ScopedJoinHandle<'_, T>) -> T {
    handle.join().unwrap_or_else(|panic| resume_unwind(panic))
}

/// The cores that threads may run on; none if the system does not say.
pub(super) fn cores() -> Vec<usize> {
    let set = sched_getaffinity(None).unwrap_or_default();
    (0..CpuSet::MAX_CPU).filter(|&core| set.is_set(core)).collect()
}

/// Lets both threads begin at once.
struct Start {
    ready: Barrier,
    clock: OnceLock<Clock>,
}

impl Start {
    /// Goes to this core and waits for the other thread.
    fn begin(&self, core: Option<&usize>) -> Clock {
        if let Some(&core) = core {
            let mut set = CpuSet::new();
            set.set(core);
            // A thread that cannot go there runs where the system likes, which is worse but no error.
            let _ = sched_setaffinity(None, &set);
        }
        self.ready.wait();
        *self.clock.get_or_init(Clock::new)
    }
}

/// The time since it was made.
#[derive(Clone, Copy, Debug)]
pub(super) struct Clock(Instant);

impl Clock {
    /// A clock at 0.
    #[expect(clippy::disallowed_methods, reason = "threads of a benchmark go by the clock")]
    pub(super) fn new() -> Self {
        Self(Instant::now())
    }

    /// The time since then.
    #[inline]
    pub(super) fn now(&self) -> Nanos {
        self.0.elapsed().into()
    }
}

/// The scheduler's thread. The worker ends when this one has: then nobody is at the other end of the hand-over.
fn schedule<P: Policy<Task>>(mut scheduler: Scheduler<P>, clock: Clock) -> (Tally, Effort) {
    let (mut effort, mut idle) = (Effort::default(), 0);
    let mut now = clock.now();
    while now < scheduler.end {
        let (taken, handed) = scheduler.step(now);
        let is_idle = taken + handed == 0;
        rest(is_idle, &mut idle);
        let after = clock.now();
        let took = after.since(now);
        effort.packets += taken as u64;
        if !is_idle {
            effort.busy = effort.busy.after(took);
        }
        effort.stall = effort.stall.max(took);
        now = after;
    }
    (scheduler.finish(), effort)
}

/// The worker's thread.
fn serve(
    mut taker: Consumer<Task>,
    traffic: &Traffic,
    mut served: Served,
    mut work: Work<impl FnMut(Task)>,
    clock: Clock,
) -> Served {
    // When the last job ended, if the next was there by then: so nothing between two jobs is lost.
    let (mut free, mut idle) = (None, 0);
    loop {
        let is_over = taker.is_abandoned();
        let Ok(task) = taker.pop() else {
            if is_over {
                return served;
            }
            free = None;
            rest(true, &mut idle);
            hint::spin_loop();
            continue;
        };
        rest(false, &mut idle);
        let (packet, start) = (traffic.packet(task), free.unwrap_or_else(|| clock.now()));
        // The scheduler may take a while to see that it is over.
        free = (start < served.end).then(|| match &mut work {
            Work::Spin => spin(&clock, start.after(packet.work)),
            Work::Real(work) => {
                work(task);
                clock.now()
            }
        });
        served.add(task, packet.bits, free);
    }
}

/// Passes the time until then, and returns when that is.
#[inline]
fn spin(clock: &Clock, until: Nanos) -> Nanos {
    loop {
        let now = clock.now();
        if now >= until {
            return now;
        }
        hint::spin_loop();
    }
}

/// Lets other threads run after so many looks for something to do without any.
#[inline]
fn rest(is_idle: bool, idle: &mut u32) {
    *idle = if is_idle { *idle + 1 } else { 0 };
    if *idle == PATIENCE {
        *idle = 0;
        thread::yield_now();
    }
}
