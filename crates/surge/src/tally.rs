//! What is counted at the server.

use serde::Serialize;
use trueplane_units::Nanos;

/// Who sent a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Class {
    /// A user.
    Innocent,
    /// The attacker.
    Attack,
}

/// Packets and their bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Amount {
    /// How many packets.
    pub packets: u64,
    /// How many bits.
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

/// What became of the packets of one class: arrived = served + dropped + left.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Fate {
    /// Came before the end.
    pub arrived: Amount,
    /// Their service ended by the end.
    pub served: Amount,
    /// Had to go because the buffer was full.
    pub dropped: Amount,
    /// Wait at the end, or are in service.
    pub left: Amount,
    /// How long those took that were served.
    #[serde(rename = "work_ns")]
    pub work: Nanos,
    /// How long the scheduler thought that those take.
    #[serde(rename = "estimated_ns")]
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

    /// How long a packet that was served took on average, and was thought to take; zero if none was.
    pub fn mean_work(&self) -> (Nanos, Nanos) {
        let mean = |sum: Nanos| Nanos(sum.0.checked_div(self.served.packets).unwrap_or_default());
        (mean(self.work), mean(self.estimated))
    }
}

/// What a run counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Tally {
    /// Of users.
    pub innocent: Fate,
    /// Of the attacker.
    pub attack: Fate,
    /// When the run ended: how long innocent arrivals last.
    pub end: Nanos,
    /// How long the server worked.
    pub busy: Nanos,
    /// The most packets that waited at once.
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
    /// Whose it was.
    pub class: Class,
    /// When its service began.
    pub start: Nanos,
    /// When its service ended.
    pub end: Nanos,
}
