//! What is counted at the server.

use std::fmt;

use trueplane_units::Nanos;

/// Sender of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Class {
    /// A user.
    Innocent,
    /// The attacker.
    Attack,
}

/// Packets and their bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Amount {
    /// Number of packets.
    pub packets: u64,
    /// Their bits together.
    pub bits: u64,
}

impl Amount {
    /// One packet more.
    #[inline]
    pub fn add(&mut self, bits: u32) {
        self.packets += 1;
        self.bits += u64::from(bits);
    }
}

/// Fate of the packets of one class: arrived = served + dropped + left.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Fate {
    /// Packets that came before the end.
    pub arrived: Amount,
    /// Packets whose service ended by the end.
    pub served: Amount,
    /// Packets that had to go because the buffer was full.
    pub dropped: Amount,
    /// Packets that wait at the end, or are in service.
    pub left: Amount,
    /// Time that those took that were served.
    pub work: Nanos,
    /// Time that the scheduler thought those would take.
    pub estimated: Nanos,
}

impl Fate {
    /// Counts a packet whose service ended.
    #[inline]
    pub fn serve(&mut self, bits: u32, work: Nanos, estimate: Nanos) {
        self.served.add(bits);
        self.work = self.work.after(work);
        self.estimated = self.estimated.after(estimate);
    }

    /// Mean time that the served packets took, and mean of their estimates; zero if none was served.
    pub fn mean_work(&self) -> (Nanos, Nanos) {
        let mean = |sum: Nanos| Nanos(sum.0.checked_div(self.served.packets).unwrap_or_default());
        (mean(self.work), mean(self.estimated))
    }
}

/// Counters of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Packets of users.
    pub innocent: Fate,
    /// Packets of the attacker.
    pub attack: Fate,
    /// Time at which the run ended: innocent arrivals last so long.
    pub end: Nanos,
    /// Time for which the server worked.
    pub busy: Nanos,
    /// Most packets that waited at once.
    pub backlog: u64,
}

impl Tally {
    /// The fate of a class.
    #[inline]
    pub fn of(&mut self, class: Class) -> &mut Fate {
        match class {
            Class::Innocent => &mut self.innocent,
            Class::Attack => &mut self.attack,
        }
    }

    /// Innocent bits per second whose service ended while innocent packets came.
    pub fn goodput_bps(&self) -> f64 {
        self.innocent.served.bits as f64 * 1e9 / self.end.0 as f64
    }
}

/// A packet that was served.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Departure {
    /// Its number in its traffic.
    pub number: u64,
    /// Sender of the packet.
    pub class: Class,
    /// Time at which its service began.
    pub start: Nanos,
    /// Time at which its service ended.
    pub end: Nanos,
}

impl Departure {
    /// The names of what a departure is written as.
    pub const COLUMNS: &str = "index,class,start_ns,end_ns";
}

/// A line of CSV: users are class I, the attacker is class A.
impl fmt::Display for Departure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { number, class, start, end } = self;
        let class = if *class == Class::Innocent { 'I' } else { 'A' };
        write!(f, "{number},{class},{},{}", start.0, end.0)
    }
}
