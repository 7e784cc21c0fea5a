//! Workers without threads: who hands over to whom, and when that arrives, a seed decides.

use std::collections::VecDeque;

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use trueplane_spray::{
    Counts, FlowId, Limits, NetworkFunction, Outlet, Packet, Reason, Steering, Verdict, Worker,
};
use trueplane_units::Nanos;

pub(crate) struct Team<N: NetworkFunction> {
    pub(crate) workers: Vec<Worker<N>>,
    pub(crate) now: Nanos,
    /// What waits for a core, by who handed it over.
    rings: Vec<Vec<VecDeque<Packet>>>,
    done: Vec<Packet>,
    random: Xoshiro256PlusPlus,
}

struct Out<'a> {
    from: usize,
    rings: &'a mut [Vec<VecDeque<Packet>>],
    done: &'a mut Vec<Packet>,
}

impl Outlet for Out<'_> {
    fn hand_over(&mut self, core: usize, packets: &mut VecDeque<Packet>) {
        self.rings[core][self.from].append(packets);
    }

    fn done(&mut self, packet: Packet) {
        self.done.push(packet);
    }
}

impl<N: NetworkFunction + Clone> Team<N> {
    pub(crate) fn new(function: &N, cores: usize, limits: Limits, seed: u64) -> Self {
        Self {
            workers: Worker::team(function, cores, limits, 1024, seed),
            now: Nanos(0),
            rings: (0..cores).map(|_| (0..cores).map(|_| VecDeque::new()).collect()).collect(),
            done: Vec::new(),
            random: Xoshiro256PlusPlus::seed_from_u64(seed),
        }
    }

    /// A number below `limit`.
    pub(crate) fn below(&mut self, limit: usize) -> usize {
        (self.random.next_u64() % limit as u64) as usize
    }

    /// Packets arrive at a core, which also finds some of what the others have handed to it.
    pub(crate) fn arrive(&mut self, core: usize, mut packets: Vec<Packet>) {
        let mut handed = Vec::new();
        let cores = self.rings.len();
        let first = self.below(cores);
        for from in (0..cores).map(|at| (first + at) % cores) {
            let count = self.below(self.rings[core][from].len() + 1);
            handed.extend(self.rings[core][from].drain(..count));
        }
        let mut out = Out { from: core, rings: &mut self.rings, done: &mut self.done };
        self.workers[core].poll(self.now, &mut packets, &mut handed, &mut out);
    }

    /// Until nothing is under way: all that is done since the last time.
    pub(crate) fn settle(&mut self) -> Vec<Packet> {
        while self.rings.iter().flatten().any(|ring| !ring.is_empty()) {
            let core = self.below(self.workers.len());
            self.arrive(core, Vec::new());
        }
        assert!(self.workers.iter().all(|worker| worker.waiting() == 0));
        std::mem::take(&mut self.done)
    }

    /// One packet, from a core on which it arrives until it is done.
    pub(crate) fn pass(&mut self, core: usize, packet: Packet) -> Packet {
        self.arrive(core, vec![packet]);
        let mut done = self.settle();
        assert_eq!(done.len(), 1, "one verdict for one packet");
        done.remove(0)
    }

    /// The same on a core that the seed chooses.
    pub(crate) fn pass_anywhere(&mut self, packet: Packet) -> Packet {
        let core = self.below(self.workers.len());
        self.pass(core, packet)
    }

    /// Time passes, and all cores look at all of their slots.
    pub(crate) fn wait(&mut self, span: Nanos) {
        self.now = self.now.after(span);
        let slots = self.workers.iter().map(|worker| worker.writer().table().bytes() / 64).max().unwrap();
        for core in 0..self.workers.len() {
            (0..=slots / 64).for_each(|_| self.arrive(core, Vec::new()));
        }
    }

    /// The core on which a card that hashes would put a flow.
    pub(crate) fn hashed(&self, flow: &FlowId) -> usize {
        Steering::new(self.workers.len()).designated(flow)
    }

    pub(crate) fn flows(&self) -> usize {
        self.workers.iter().map(|worker| worker.writer().len()).sum()
    }

    pub(crate) fn reconfigure(&mut self, function: &N) {
        self.workers.iter_mut().for_each(|worker| worker.reconfigure(function.clone()));
    }

    /// All counts together, after the identities of each.
    pub(crate) fn counts(&self) -> Counts {
        let mut sum = Counts::default();
        for worker in &self.workers {
            let counts = worker.counts();
            let waiting = worker.waiting() as u64;
            assert_eq!(counts.arrived + counts.handed_in, counts.done() + counts.handed_out + waiting);
            worker.writer().check().unwrap();
            sum.merge(counts);
        }
        assert_eq!(sum.handed_in, sum.handed_out);
        assert_eq!(sum.dropped_for(Reason::Undecided), 0, "every packet has a verdict");
        sum
    }
}

pub(crate) fn dropped(packet: &Packet) -> Option<Reason> {
    match packet.verdict() {
        Verdict::Drop(reason) => Some(reason),
        _ => None,
    }
}

pub(crate) fn forwarded(packet: &Packet) -> bool {
    packet.verdict() == Verdict::Forward
}
