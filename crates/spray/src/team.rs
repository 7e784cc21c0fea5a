//! The workers of a system, whatever their function.

use std::collections::VecDeque;

use trueplane_units::Nanos;

use crate::nf::{FunctionName, FunctionOptions, OptionsError, Visit, with_function};
use crate::system::{StateName, SystemName};
use crate::{Counts, Fit, Limits, NetworkFunction, Outlet, Packet, Worker};

/// Outlet that keeps a worker's packets in memory.
#[derive(Debug, Default)]
pub(super) struct Tray {
    /// Packets that have a verdict.
    pub(super) done: Vec<Packet>,
    /// Packets for other cores, each with the number of its core.
    pub(super) handed: Vec<(usize, Packet)>,
    /// Free places in each core's ring.
    pub(super) room: Vec<usize>,
}

impl Outlet for Tray {
    fn hand_over(&mut self, core: usize, packets: &mut VecDeque<Packet>) {
        let taken = packets.len().min(self.room[core]);
        self.room[core] -= taken;
        self.handed.extend(packets.drain(..taken).map(|packet| (core, packet)));
    }

    fn done(&mut self, packet: Packet) {
        self.done.push(packet);
    }
}

/// The workers of all cores.
pub(super) trait Team {
    /// Lets the worker of `core` handle packets.
    fn poll(
        &mut self,
        core: usize,
        now: Nanos,
        arrived: &mut Vec<Packet>,
        handed: &mut Vec<Packet>,
        tray: &mut Tray,
    );
    /// Packets of a core that wait for room in rings.
    fn waiting(&self, core: usize) -> usize;
    /// Sum of the counters of all workers.
    fn counts(&self) -> Counts;
    /// Constraint of the function on the distribution of its packets.
    fn fit(&self) -> Fit;
}

struct Workers<N: NetworkFunction> {
    workers: Vec<Worker<N>>,
    /// All cores are one worker, which has the only table.
    shared: bool,
}

impl<N: NetworkFunction> Team for Workers<N> {
    fn poll(
        &mut self,
        core: usize,
        now: Nanos,
        arrived: &mut Vec<Packet>,
        handed: &mut Vec<Packet>,
        tray: &mut Tray,
    ) {
        let core = if self.shared { 0 } else { core };
        self.workers[core].poll(now, arrived, handed, tray);
    }

    fn waiting(&self, core: usize) -> usize {
        self.workers.get(core).map_or(0, Worker::waiting)
    }

    fn counts(&self) -> Counts {
        let mut all = Counts::default();
        self.workers.iter().for_each(|worker| all.merge(worker.counts()));
        all
    }

    fn fit(&self) -> Fit {
        N::FIT
    }
}

/// Slots of a table that a worker looks at in a poll: it polls with a single packet often, and no flow is silent for long.
const SWEEP: usize = 2;

struct Build {
    system: SystemName,
    cores: usize,
    flows: usize,
    patience: usize,
}

impl Visit for Build {
    type Output = Box<dyn Team>;

    fn visit<N: NetworkFunction + Clone + 'static>(self, function: N) -> Box<dyn Team> {
        // A translated flow has two entries; and those that are unconfirmed at once are none too many here.
        let of = |flows: usize| Limits { unconfirmed: flows, ..Limits::new(flows) };
        let all = 4 * self.flows + 1024;
        let team = |cores: usize, flows| Worker::team(&function, cores, of(flows), self.patience, 1);
        let (workers, shared) = match self.system {
            // Replicas that saw the same packets have the same state: one stands for all.
            SystemName::State(StateName::Scr | StateName::Locked) => (team(1, all), true),
            SystemName::State(StateName::Sharded) => (
                (0..self.cores).flat_map(|_| team(1, all.min(8 * self.flows / self.cores + 4096))).collect(),
                false,
            ),
            SystemName::Dispatch(_) => (team(self.cores, all.min(8 * self.flows / self.cores + 4096)), false),
        };
        let mut workers: Vec<Worker<N>> = workers;
        workers.iter_mut().for_each(|worker| worker.set_sweep(SWEEP));
        Box::new(Workers { workers, shared })
    }
}

/// Workers of this function for about so many flows; `patience` packets wait for room in a ring.
pub(super) fn team(
    function: FunctionName,
    options: &FunctionOptions,
    system: SystemName,
    cores: usize,
    flows: usize,
    patience: usize,
) -> Result<Box<dyn Team>, OptionsError> {
    with_function(function, options, Build { system, cores, flows, patience })
}
