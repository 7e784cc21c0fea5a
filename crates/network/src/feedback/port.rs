//! A port that draws the ranks of its packets, and counts inversions.

use std::cell::RefCell;
use std::rc::Rc;

use rand::SeedableRng as _;
use rand_xoshiro::Xoshiro256PlusPlus;
use trueplane_sched::distribution::{AliasTable, Distribution};
use trueplane_sched::scheduler::{Examined, Visitor};
use trueplane_sched::waiting::{Tree, Waiting as _};
use trueplane_sched::{Nanos, Packet, Rank};
use trueplane_study::Error;

use crate::simulator::port::{Offered, Waiting};
use crate::simulator::{DropTail, PortQueue};

/// Packets of a rank, by what became of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Packets that came: departures + drops + packets that wait at the end.
    pub arrivals: u64,
    /// Packets that left.
    pub departures: u64,
    /// Packets that were dropped.
    pub drops: u64,
    /// Packets that left while one of lower rank waited.
    pub inversions: u64,
}

impl Counts {
    /// The sum of both.
    #[must_use]
    pub fn with(self, other: Self) -> Self {
        Self {
            arrivals: self.arrivals + other.arrivals,
            departures: self.departures + other.departures,
            drops: self.drops + other.drops,
            inversions: self.inversions + other.inversions,
        }
    }
}

/// Counters of a port.
#[derive(Clone, Debug, Default)]
pub(super) struct Tally {
    /// Counts by rank.
    pub(super) by_rank: Vec<Counts>,
    /// Bytes of all packets that came.
    pub(super) bytes: u64,
    /// Packets that wait.
    pub(super) waiting: u64,
}

/// The queue of a port, of any kind.
pub(super) type Queue = Box<dyn PortQueue>;

/// The port of the acknowledgements, which has room for all.
pub(super) fn roomy() -> Queue {
    Box::new(DropTail::new(u64::MAX))
}

/// A scheduler with ranks that are drawn.
struct Counted<S> {
    scheduler: S,
    ranks: AliasTable,
    random: Xoshiro256PlusPlus,
    waiting: Tree,
    tally: Rc<RefCell<Tally>>,
}

impl<S: Examined> PortQueue for Counted<S> {
    fn offer(&mut self, packet: Waiting, now: Nanos) -> Offered {
        let rank = self.ranks.draw(&mut self.random);
        let mut tally = self.tally.borrow_mut();
        tally.by_rank[rank as usize].arrivals += 1;
        tally.bytes += u64::from(packet.bytes);
        tally.waiting += 1;
        self.waiting.add(rank);
        let Waiting { handle, bytes, flow, .. } = packet;
        let queued = Packet { rank: Rank(rank), flow, bytes, handle, arrival: now };
        let dropped = self.scheduler.enqueue(queued);
        if let Some(dropped) = dropped {
            self.waiting.remove(dropped.rank.0);
            tally.waiting -= 1;
            tally.by_rank[dropped.rank.0 as usize].drops += 1;
        }
        Offered { dropped: dropped.map(|packet| packet.handle), marks: false }
    }

    fn next(&mut self) -> Option<u32> {
        let packet = self.scheduler.dequeue()?;
        let rank = packet.rank.0;
        self.waiting.remove(rank);
        let mut tally = self.tally.borrow_mut();
        tally.waiting -= 1;
        let counts = &mut tally.by_rank[rank as usize];
        counts.departures += 1;
        counts.inversions += u64::from(self.waiting.min().is_some_and(|least| least < rank));
        Some(packet.handle)
    }

    fn len(&self) -> usize {
        self.scheduler.len()
    }
}

/// Puts a scheduler behind ranks of a distribution.
pub(super) struct Counting {
    /// Distribution of the ranks.
    pub(super) ranks: Distribution,
    /// Seed of the ranks.
    pub(super) seed: u64,
    /// Counters of the port.
    pub(super) tally: Rc<RefCell<Tally>>,
}

impl Visitor for Counting {
    type Output = Queue;

    fn visit<S: Examined>(self, scheduler: S) -> Result<Queue, Error> {
        let span = self.ranks.span();
        self.tally.borrow_mut().by_rank = vec![Counts::default(); span as usize];
        Ok(Box::new(Counted {
            scheduler,
            ranks: AliasTable::new(&self.ranks.weights()),
            random: Xoshiro256PlusPlus::seed_from_u64(self.seed),
            waiting: Tree::new(span),
            tally: self.tally,
        }))
    }
}
