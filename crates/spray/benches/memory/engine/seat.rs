//! What a thread drives: a [`Worker`], with what the system puts around it.

use std::collections::VecDeque;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};

use trueplane_units::Nanos;

use super::mark;
use trueplane_spray::live::busy::Cycles;
use trueplane_spray::nf::{Busy as _, Laden};
use trueplane_spray::system::{StateName, SystemName};
use trueplane_spray::table::FlowState;
use trueplane_spray::worker::Shared;
use trueplane_spray::{Counts, Limits, NetworkFunction, Outlet, Packet, Steering, Table, Worker, Writer};

/// A function with its work, shared by all threads.
type Loaded<N> = Laden<Arc<N>, Cycles>;

/// A thread with packets takes the turn of the table's owner, who looks for flows that are over, in one of so many polls; one without in all.
const OWNER_TURN: u64 = 8;

/// One thread's part.
pub(crate) enum Seat<N: NetworkFunction> {
    /// A table of its own; what belongs to other cores is handed over.
    Own(Worker<Loaded<N>>),
    /// A table of all threads.
    Locked(Locked<N>),
    /// All of the state.
    Replica(Replica<N>),
}

/// Parameters of a team.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape {
    pub(crate) cores: usize,
    /// Limits of all tables together, but for replicas, of which each has as much.
    pub(crate) limits: Limits,
    pub(crate) patience: usize,
    pub(crate) cycles: u64,
    pub(crate) seed: u64,
}

impl Shape {
    /// Limits of each of so many tables.
    fn share(&self) -> Limits {
        let share = |flows: usize| flows.div_ceil(self.cores.max(1));
        Limits { flows: share(self.limits.flows), unconfirmed: share(self.limits.unconfirmed), ..self.limits }
    }
}

impl<N: NetworkFunction> Seat<N> {
    /// One seat for each core.
    pub(crate) fn team(system: SystemName, function: &Arc<N>, shape: &Shape) -> Vec<Self> {
        let laden = |cycles| Laden { function: Arc::clone(function), cycles, busy: Cycles };
        match system {
            SystemName::Dispatch(_) => {
                let team = Worker::team(
                    &laden(shape.cycles),
                    shape.cores,
                    shape.share(),
                    shape.patience,
                    shape.seed,
                );
                team.into_iter().map(Self::Own).collect()
            }
            SystemName::State(StateName::Sharded) => {
                let seat = |core| Self::Own(sharded(laden(shape.cycles), core, shape));
                (0..shape.cores).map(seat).collect()
            }
            SystemName::State(StateName::Locked) => {
                Locked::team(&laden(shape.cycles), shape).into_iter().map(Self::Locked).collect()
            }
            SystemName::State(StateName::Scr) => {
                // The work is the seat's, which does not do it for other cores' packets.
                let worker = || Worker::team(&laden(0), 1, shape.limits, shape.patience, shape.seed).pop();
                let seat = |worker| {
                    Self::Replica(Replica { worker, group: Vec::new(), cycles: shape.cycles, polls: 0 })
                };
                (0..shape.cores).filter_map(|_| worker()).map(seat).collect()
            }
        }
    }

    /// Handles what came; see [`Worker::poll`].
    pub(crate) fn poll(
        &mut self,
        now: Nanos,
        arrived: &mut Vec<Packet>,
        handed: &mut Vec<Packet>,
        outlet: &mut impl Outlet,
    ) {
        match self {
            Self::Own(worker) => worker.poll(now, arrived, handed, outlet),
            Self::Locked(seat) => seat.poll(now, arrived, outlet),
            Self::Replica(seat) => seat.poll(arrived, outlet),
        }
    }

    /// Packets that wait for room in rings.
    pub(crate) fn waiting(&self) -> usize {
        match self {
            Self::Own(worker) => worker.waiting(),
            Self::Locked(_) | Self::Replica(_) => 0,
        }
    }

    /// Number of sweeps for flows that are over.
    pub(crate) fn sweeps(&self, polls: u64) -> u64 {
        match self {
            Self::Own(_) => polls,
            Self::Locked(seat) => seat.sweeps,
            Self::Replica(seat) => seat.polls,
        }
    }

    /// Counters of the thread. The counters of the owner of a table that all share are among those of the first thread.
    pub(crate) fn counts(&self) -> Counts {
        match self {
            Self::Own(worker) => *worker.counts(),
            Self::Replica(seat) => *seat.worker.counts(),
            Self::Locked(seat) => {
                let mut counts = *seat.worker.counts();
                if seat.worker.core() == 1 {
                    counts.merge(owned(&seat.owner).counts());
                }
                counts
            }
        }
    }

    /// Bytes of its table.
    pub(crate) fn bytes(&self) -> usize {
        match self {
            Self::Own(worker) => worker.writer().table().bytes(),
            Self::Replica(seat) => seat.worker.writer().table().bytes(),
            Self::Locked(seat) => owned(&seat.owner).writer().table().bytes(),
        }
    }

    /// Contents of its table, if no thread before has the same one.
    pub(crate) fn contents(&self) -> Option<Contents> {
        match self {
            Self::Own(worker) => Some(Contents::of(worker.writer().table())),
            Self::Replica(seat) => Some(Contents::of(seat.worker.writer().table())),
            Self::Locked(seat) if seat.worker.core() == 1 => {
                Some(Contents::of(owned(&seat.owner).writer().table()))
            }
            Self::Locked(_) => None,
        }
    }
}

/// A table at the end of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Contents {
    /// Its flows.
    pub(crate) flows: usize,
    /// Its memory.
    pub(crate) bytes: usize,
    /// A sum over flows, their phases and states: tables with the same flows have the same.
    pub(crate) digest: u64,
}

impl Contents {
    fn of<S: FlowState>(table: &Table<S>) -> Self {
        let empty = Self { bytes: table.bytes(), ..Self::default() };
        table.flows().fold(empty, |sum, (flow, phase, state)| {
            let mut hasher = DefaultHasher::new();
            (flow, phase, state.to_words()).hash(&mut hasher);
            Self { flows: sum.flows + 1, digest: sum.digest.wrapping_add(hasher.finish()), ..sum }
        })
    }
}

/// A worker that finds its own table wherever it looks: there is nobody to hand over to, and nothing to read elsewhere.
fn sharded<N: NetworkFunction>(function: N, core: usize, shape: &Shape) -> Worker<N> {
    let writer = Writer::new(shape.share(), shape.seed);
    let tables = vec![Arc::clone(writer.table()); shape.cores];
    let shared = Shared { tables, steering: Steering::new(shape.cores), lock: None };
    Worker::new(function, core, writer, Arc::new(shared), shape.patience)
}

/// A thread of those who share a table: it hands connection packets over to the table's owner, as always, but the owner is a lock away
/// instead of a ring, and works on this thread.
pub(crate) struct Locked<N: NetworkFunction> {
    /// The number 0 is the owner's.
    worker: Worker<Loaded<N>>,
    owner: Arc<Mutex<Worker<Loaded<N>>>>,
    handed: Vec<Packet>,
    polls: u64,
    sweeps: u64,
}

impl<N: NetworkFunction> Locked<N> {
    fn team(function: &Loaded<N>, shape: &Shape) -> Vec<Self> {
        let writer = Writer::new(shape.limits, shape.seed);
        let tables = vec![Arc::clone(writer.table())];
        let shared = Arc::new(Shared { tables, steering: Steering::new(1), lock: Some(Mutex::new(())) });
        let new = |core, writer| Worker::new(function.clone(), core, writer, Arc::clone(&shared), usize::MAX);
        let owner = Arc::new(Mutex::new(new(0, writer)));
        let seat = |core| Self {
            worker: new(core, Writer::new(Limits::new(1), shape.seed)),
            owner: Arc::clone(&owner),
            handed: Vec::new(),
            polls: 0,
            sweeps: 0,
        };
        (1..=shape.cores).map(seat).collect()
    }

    fn poll(&mut self, now: Nanos, arrived: &mut Vec<Packet>, outlet: &mut impl Outlet) {
        let is_idle = arrived.is_empty();
        self.polls += 1;
        let mut in_place = InPlace { owner: &self.owner, now, handed: &mut self.handed, outlet };
        self.worker.poll(now, arrived, &mut Vec::new(), &mut in_place);
        if is_idle || self.polls.is_multiple_of(OWNER_TURN) {
            let owner = match self.owner.try_lock() {
                Ok(owner) => owner,
                Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
                // Then it is at work anyway.
                Err(TryLockError::WouldBlock) => return,
            };
            own(owner, now, &mut Vec::new(), outlet);
            self.sweeps += 1;
        }
    }
}

fn owned<T>(owner: &Mutex<T>) -> MutexGuard<'_, T> {
    owner.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The owner's turn, during which nobody reads.
fn own<N: NetworkFunction>(
    mut owner: MutexGuard<'_, Worker<N>>,
    now: Nanos,
    handed: &mut Vec<Packet>,
    outlet: &mut impl Outlet,
) {
    let shared = Arc::clone(owner.shared());
    let _nobody_reads = shared.lock.as_ref().map(owned);
    owner.poll(now, &mut Vec::new(), handed, outlet);
}

/// Hands over by doing it.
struct InPlace<'a, N: NetworkFunction, O> {
    owner: &'a Mutex<Worker<N>>,
    now: Nanos,
    handed: &'a mut Vec<Packet>,
    outlet: &'a mut O,
}

impl<N: NetworkFunction, O: Outlet> Outlet for InPlace<'_, N, O> {
    fn hand_over(&mut self, _core: usize, packets: &mut VecDeque<Packet>) {
        self.handed.extend(packets.drain(..));
        own(owned(self.owner), self.now, self.handed, self.outlet);
    }

    fn done(&mut self, packet: Packet) {
        self.outlet.done(packet);
    }
}

/// A thread that has all of the state. Packets come in groups, which are the same for all threads and end with the time at which they are
/// handled. So what a replica does, looking for flows that are over included, is the same function of the same sequence on every core.
pub(crate) struct Replica<N: NetworkFunction> {
    worker: Worker<Loaded<N>>,
    group: Vec<Packet>,
    cycles: u64,
    polls: u64,
}

impl<N: NetworkFunction> Replica<N> {
    fn poll(&mut self, arrived: &mut Vec<Packet>, outlet: &mut impl Outlet) {
        for packet in arrived.drain(..) {
            let Some(now) = mark::time(&packet) else {
                self.group.push(packet);
                continue;
            };
            self.polls += 1;
            let mut working = Working { cycles: self.cycles, outlet };
            self.worker.poll(now, &mut self.group, &mut Vec::new(), &mut working);
            outlet.done(packet);
        }
    }
}

/// Does the work for those packets that are this core's.
struct Working<'a, O> {
    cycles: u64,
    outlet: &'a mut O,
}

impl<O: Outlet> Outlet for Working<'_, O> {
    fn hand_over(&mut self, core: usize, packets: &mut VecDeque<Packet>) {
        self.outlet.hand_over(core, packets);
    }

    fn done(&mut self, packet: Packet) {
        if !mark::is_history(&packet) {
            Cycles.spend(self.cycles);
        }
        self.outlet.done(packet);
    }
}
