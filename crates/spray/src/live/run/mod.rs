//! A network function between two interfaces, on some cores.
//!
//! 1. [`start`]: threads, one for each core, each with a way to and from either interface.
//! 2. [`Run`]: its counters, another configuration while it runs, its end.
//! 3. [`CoreCounts`], [`Snapshot`]: what is counted, and what has to be equal.
//! 4. [`control`]: asking it from another process; [`Signals`]: the end, and another configuration.
//!
//! The function is a bump in the wire: what comes in by one interface and is forwarded leaves by the other, with the Ethernet addresses that it had.
//! What is between neighbours (ARP, neighbour discovery) passes by unseen. The interfaces should have no addresses of their own and
//! not be forwarded between by the kernel, which sees their packets as well.
//!
//! A thread that waits for its turn on a processor that it shares reorders what is sprayed; [`Settings::realtime`] has threads go first
//! (`SCHED_FIFO`, sched(7), at the lowest priority).

pub mod control;
mod core;
mod counts;
mod shared;
mod signals;
mod waker;

use std::any::Any;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use trueplane_linux::error::Error;
use trueplane_linux::{Device, clock};
use trueplane_units::Nanos;

use self::core::{Core, Out};
use self::shared::Shared;
use super::busy::Cycles;
use super::io::{Interface, Opening, Port, Selector};
use super::rings::ring;
use crate::dispatch::{DispatchName, Load};
use crate::nf::{FunctionName, FunctionOptions, Laden, Visit, with_function};
use crate::{Fit, Limits, NetworkFunction, Worker};

pub use self::counts::{CoreCounts, Snapshot};
pub use self::signals::{Signal, Signals};
pub use super::io::IoBackend;

/// Packets that wait between two cores.
const RING: usize = 1024;
/// Packets that wait for room there.
const WAITING: usize = 1024;
/// Longest time that a packet takes from the socket's filter into the ring.
const SETTLE: Duration = Duration::from_millis(2);

/// Settings of a run.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The function.
    pub function: FunctionName,
    /// Busy cycles for each packet, besides what the function takes.
    pub cycles: u64,
    /// Interface 0, the inner one, and interface 1.
    pub devices: [Device; 2],
    /// I/O backend.
    pub backend: IoBackend,
    /// The processors to run on, one thread each.
    pub cpus: Vec<usize>,
    /// Dispatch policy.
    pub dispatch: DispatchName,
    /// Each core's flow table.
    pub limits: Limits,
    /// Frames of each core's ring on each interface, a power of two.
    pub ring_frames: usize,
    /// Keys the flow tables.
    pub seed: u64,
    /// Have each thread that has a processor for itself go before all that runs there at ordinary priority, if the system allows it.
    pub realtime: bool,
}

/// A function that runs. Dropped, it stops as with [`stop`](Self::stop).
pub struct Run {
    team: Box<dyn Team>,
    selector: Selector,
    /// Until all threads have ended.
    interfaces: Vec<Interface>,
    settings: Settings,
    began: Nanos,
    looked: Nanos,
    busy_ns: Vec<u64>,
    reloads: u64,
}

/// Starts a function with its options. When it returns, packets are handled.
///
/// # Errors
///
/// The options do not fit the function, the function not the dispatch policy, the interfaces are not there or the kernel refuses.
pub fn start(settings: &Settings, options: &FunctionOptions) -> Result<Run, Error> {
    let cores = settings.cpus.len();
    if settings.devices[0] == settings.devices[1] {
        return Err(Error::Request(format!("expected two interfaces, got {} twice", settings.devices[0])));
    }
    let frames = settings.ring_frames;
    if !frames.is_power_of_two() || !(64..=1 << 16).contains(&frames) {
        return Err(Error::Request(format!(
            "expected 64 to 65536 frames in a ring, a power of two, got {frames}"
        )));
    }
    let build = Build { settings };
    let team = with_function(settings.function, options, build).map_err(|error| refused(&error))?;
    let mut team = team?;
    let selector = Selector::load(settings.backend, settings.dispatch, cores)?;
    let opening = Opening { backend: settings.backend, cores, frames };
    let mut interfaces = Vec::new();
    for (side, device) in settings.devices.iter().enumerate() {
        interfaces.push(Interface::open(device, side, &selector, opening)?);
    }
    let [inner, outer] = &mut interfaces[..] else {
        return Err(Error::Request("expected two interfaces".into()));
    };
    if inner.mtu != outer.mtu {
        let [one, other] = &settings.devices;
        return Err(Error::Request(format!(
            "expected interfaces of one MTU, got {} on {one} and {} on {other}; set one with ip link set DEVICE mtu BYTES",
            inner.mtu, outer.mtu
        )));
    }
    let pairs = inner.ports.drain(..).zip(outer.ports.drain(..));
    team.start(pairs.map(|(inner, outer)| [inner, outer]).collect())?;
    let now = clock::monotonic();
    Ok(Run {
        team,
        selector,
        interfaces,
        settings: settings.clone(),
        began: now,
        looked: now,
        busy_ns: vec![0; cores],
        reloads: 0,
    })
}

fn refused(error: &dyn std::fmt::Display) -> Error {
    Error::Request(error.to_string())
}

impl Run {
    /// Counters of the run, at most a twentieth of a second old.
    pub fn snapshot(&self) -> Snapshot {
        self.snapshot_of(self.team.counts())
    }

    fn snapshot_of(&self, cores: Vec<CoreCounts>) -> Snapshot {
        Snapshot { cores, reloads: self.reloads, elapsed_ns: clock::monotonic().since(self.began).0 }
    }

    /// Settings of the run.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// The interface that is not there any more, if one is not: nothing comes by it again, even if there is another of its name.
    pub fn gone(&self) -> Option<&Device> {
        let gone = self.interfaces.iter().position(|interface| !interface.is_there())?;
        self.settings.devices.get(gone)
    }

    /// Status of the run.
    pub fn status(&self) -> control::Status {
        control::Status {
            process: std::process::id(),
            function: self.settings.function,
            dispatch: self.settings.dispatch,
            backend: self.settings.backend,
            interfaces: self.settings.devices.clone().map(|device| device.to_string()),
            counts: self.snapshot(),
        }
    }

    /// Time between two calls of [`tend`](Self::tend), if it is to be called at all.
    pub fn period(&self) -> Option<Duration> {
        self.selector.is_told().then_some(Duration::from_millis(1))
    }

    /// Tells the dispatch policy how much every core had to do since the last time, if it wants to know.
    ///
    /// # Errors
    ///
    /// The program's variables are not mapped.
    pub fn tend(&mut self) -> Result<(), Error> {
        if !self.selector.is_told() {
            return Ok(());
        }
        let now = clock::monotonic();
        let period = now.since(self.looked).0.max(1) as f64;
        let busy_ns = self.team.busy_ns();
        let busy = busy_ns.iter().zip(&self.busy_ns).map(|(now, before)| (now - before) as f64 / period);
        let loads: Vec<Load> = busy.map(|busy| Load { queued: 0, busy: busy.min(1.0) }).collect();
        (self.looked, self.busy_ns) = (now, busy_ns);
        self.selector.observe(&loads, now)
    }

    /// Replaces the function's configuration between two batches, on every core; no packet is lost by it.
    ///
    /// # Errors
    ///
    /// The options do not fit the function, and the old ones stay.
    pub fn reload(&mut self, options: &FunctionOptions) -> Result<(), Error> {
        let function =
            with_function(self.settings.function, options, Make).map_err(|error| refused(&error))?;
        self.team.reconfigure(function);
        self.reloads += 1;
        Ok(())
    }

    /// Closes the sockets, lets what has arrived be finished, and ends the threads; what was counted. [`Snapshot::check`] holds.
    ///
    /// # Errors
    ///
    /// The kernel refuses, or a thread has panicked.
    pub fn stop(mut self) -> Result<Snapshot, Error> {
        let counts = self.end()?;
        Ok(self.snapshot_of(counts))
    }

    fn end(&mut self) -> Result<Vec<CoreCounts>, Error> {
        let mut closed = self.selector.close();
        for interface in &self.interfaces {
            let one = interface.close(&self.selector).map_err(Error::io("close packet sockets"));
            closed = closed.and(one);
        }
        // What passed the filters before is in the rings by then.
        thread::sleep(SETTLE);
        let counts = self.team.end();
        closed?;
        counts
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        // Nobody is there to be told; `stop` tells.
        let _ = self.end();
    }
}

/// The threads of a run, whatever the function's type.
trait Team: Send {
    /// Starts the threads, one for each pair of ports.
    fn start(&mut self, ports: Vec<[Port; 2]>) -> Result<(), Error>;
    fn counts(&self) -> Vec<CoreCounts>;
    fn busy_ns(&self) -> Vec<u64>;
    /// A function of the same type.
    fn reconfigure(&mut self, function: Box<dyn Any>);
    /// Finishes what has arrived and ends the threads.
    fn end(&mut self) -> Result<Vec<CoreCounts>, Error>;
}

/// A team of one type of function.
struct TeamOf<N: NetworkFunction> {
    /// The processor of each thread, and whether it goes first there.
    seats: Vec<(usize, bool)>,
    cycles: u64,
    workers: Vec<Worker<Laden<N, Cycles>>>,
    shared: Arc<Shared<Laden<N, Cycles>>>,
    threads: Vec<JoinHandle<CoreCounts>>,
}

/// Makes a team.
struct Build<'s> {
    settings: &'s Settings,
}

impl Visit for Build<'_> {
    type Output = Result<Box<dyn Team>, Error>;

    fn visit<N: NetworkFunction + Clone + 'static>(self, function: N) -> Self::Output {
        let Settings { cycles, cpus, dispatch, limits, seed, realtime, .. } = self.settings;
        let whole = dispatch.keeps_flows_whole(cpus.len());
        if let (Fit::WholeFlows(why), false) = (N::FIT, whole) {
            return Err(Error::Request(format!(
                "{} cannot be run with {dispatch}: {why}",
                self.settings.function
            )));
        }
        let function = Laden { function, cycles: *cycles, busy: Cycles };
        let workers = Worker::team(&function, cpus.len(), *limits, WAITING, *seed);
        let shared = Shared::new(cpus.len()).map_err(Error::io("wake threads"))?;
        let shared = Arc::new(shared);
        // Two that go first on one processor would wait for each other.
        let goes_first = |cpu| *realtime && cpus.iter().filter(|&&other| other == cpu).count() == 1;
        let seats = cpus.iter().map(|&cpu| (cpu, goes_first(cpu))).collect();
        Ok(Box::new(TeamOf { seats, cycles: *cycles, workers, shared, threads: Vec::new() }))
    }
}

/// Makes a function of whatever type it is.
struct Make;

impl Visit for Make {
    type Output = Box<dyn Any>;

    fn visit<N: NetworkFunction + Clone + 'static>(self, function: N) -> Self::Output {
        Box::new(function)
    }
}

impl<N: NetworkFunction + Clone + 'static> Team for TeamOf<N> {
    fn start(&mut self, ports: Vec<[Port; 2]>) -> Result<(), Error> {
        let cores = ports.len();
        let mut givers: Vec<Vec<_>> = (0..cores).map(|_| (0..cores).map(|_| None).collect()).collect();
        let mut takers: Vec<Vec<_>> = (0..cores).map(|_| Vec::new()).collect();
        for (from, givers) in givers.iter_mut().enumerate() {
            for (to, place) in givers.iter_mut().enumerate().filter(|(to, _)| *to != from) {
                let (giver, taker) = ring(RING);
                *place = Some(giver);
                takers[to].push(taker);
            }
        }
        let parts = self.workers.drain(..).zip(ports).zip(givers.into_iter().zip(takers));
        for (number, ((worker, ports), (givers, takers))) in parts.enumerate() {
            let core = Core {
                number,
                cpu: self.seats[number].0,
                goes_first: self.seats[number].1,
                worker,
                ports,
                takers,
                out: Out::new(givers),
                shared: Arc::clone(&self.shared),
                counts: CoreCounts::default(),
            };
            let builder = thread::Builder::new().name(format!("spray {number}"));
            match builder.spawn(move || core.run()) {
                Ok(thread) => self.threads.push(thread),
                Err(error) => {
                    // Those that run must not wait for those that do not.
                    self.shared.drained.fetch_add(cores - number, Ordering::AcqRel);
                    return Err(Error::io("start a thread")(error));
                }
            }
        }
        Ok(())
    }

    fn counts(&self) -> Vec<CoreCounts> {
        (0..self.seats.len()).map(|core| *self.shared.told(core)).collect()
    }

    fn busy_ns(&self) -> Vec<u64> {
        self.shared.busy_ns.iter().map(|busy| busy.load(Ordering::Relaxed)).collect()
    }

    fn reconfigure(&mut self, function: Box<dyn Any>) {
        // It was made by the same name.
        let Ok(function) = function.downcast::<N>() else { return };
        for core in 0..self.seats.len() {
            let function = Laden { function: (*function).clone(), cycles: self.cycles, busy: Cycles };
            *self.shared.order(core) = Some(function);
        }
        self.shared.version.fetch_add(1, Ordering::Release);
        self.shared.wake_all();
    }

    fn end(&mut self) -> Result<Vec<CoreCounts>, Error> {
        self.shared.drain();
        let ended: Vec<_> = self.threads.drain(..).map(JoinHandle::join).collect();
        let panicked = |_| Error::Request("a core's thread has panicked".to_owned());
        ended.into_iter().map(|counts| counts.map_err(panicked)).collect()
    }
}
