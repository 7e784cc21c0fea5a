//! The worker: what it does with a packet, and what is counted of it.

use std::hint;

use trueplane_linux::clock;
use trueplane_units::Nanos;

use super::tally::{Class, Tally, Task};

/// Work on packets by the worker thread.
pub trait Work {
    /// Works on a packet from `start` on, on the [monotonic clock](clock::monotonic); returns when that has ended.
    fn work(&mut self, task: &Task, start: Nanos) -> Nanos;
}

/// Jobs that only pass the time: looks at the clock until as much has passed as the packet says.
///
/// What a look takes, some 20 to 40 ns, is how exact it is; see [`Served::busy`] and [`Served::told`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spin;

impl Work for Spin {
    #[inline]
    fn work(&mut self, task: &Task, start: Nanos) -> Nanos {
        let end = start.after(task.packet.work);
        loop {
            let now = clock::monotonic();
            if now >= end {
                return now;
            }
            hint::spin_loop();
        }
    }
}

/// Jobs that do something: whatever the function does with the packet, which it may know by its ticket.
#[derive(Clone, Copy, Debug)]
pub struct Really<F>(pub F);

impl<F: FnMut(&Task)> Work for Really<F> {
    #[inline]
    fn work(&mut self, task: &Task, _start: Nanos) -> Nanos {
        (self.0)(task);
        clock::monotonic()
    }
}

/// Duration of `job` on this thread: the shortest of `tries` attempts, at least one, and at least 1 ns.
pub fn measure(tries: u32, mut job: impl FnMut()) -> Nanos {
    let mut once = || {
        let start = clock::monotonic();
        job();
        clock::monotonic().since(start)
    };
    let first = once();
    (1..tries).fold(first, |least, _| least.min(once())).max(Nanos(1))
}

/// Service by the worker, in time since the run began.
#[derive(Clone, Copy, Debug)]
pub struct Served {
    from: Nanos,
    end: Nanos,
    /// Packets that were served by the end, and those whose service had not ended, or not begun.
    pub tally: Tally,
    /// Innocent bits whose service ended while goodput was measured.
    pub good_bits: u64,
    /// Jobs that were begun.
    pub jobs: u64,
    /// Time that they took together.
    pub busy: Nanos,
    /// The part of that before the end of the run.
    pub busy_within: Nanos,
    /// Time that the packets said they would take.
    pub told: Nanos,
}

impl Served {
    /// Nothing yet. A run goes to `end`, and goodput is measured from `from` on.
    pub fn new(from: Nanos, end: Nanos) -> Self {
        Self {
            from,
            end,
            tally: Tally::default(),
            good_bits: 0,
            jobs: 0,
            busy: Nanos(0),
            busy_within: Nanos(0),
            told: Nanos(0),
        }
    }

    /// Whether no job begins any more at a time since the run began.
    #[inline]
    pub fn is_over(&self, now: Nanos) -> bool {
        now >= self.end
    }

    /// Counts a packet for which it is too late.
    pub fn leave(&mut self, task: &Task) {
        self.tally.of(task.ticket.class()).left.add(task.packet.bits);
    }

    /// Counts a job.
    #[inline]
    pub fn add(&mut self, task: &Task, start: Nanos, end: Nanos) {
        let bits = task.packet.bits;
        let class = task.ticket.class();
        self.jobs += 1;
        self.busy = self.busy.after(end.since(start));
        self.busy_within = self.busy_within.after(end.min(self.end).since(start));
        self.told = self.told.after(task.packet.work);
        if end > self.end {
            self.tally.of(class).left.add(bits);
            return;
        }
        self.tally.of(class).served.add(bits);
        if class == Class::Innocent && end >= self.from {
            self.good_bits += u64::from(bits);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tally::Ticket;
    use super::*;
    use crate::Packet;

    /// For a job that is under way at the end, only the part before the end counts.
    #[test]
    fn a_worker_is_not_busy_behind_the_end() {
        let mut served = Served::new(Nanos(10), Nanos(100));
        let packet = Packet { flow: 1, bits: 8, work: Nanos(50) };
        let task = Task { ticket: Ticket::new(Class::Innocent, 0), packet };
        served.add(&task, Nanos(20), Nanos(70));
        served.add(&task, Nanos(80), Nanos(900));
        assert_eq!((served.busy, served.busy_within), (Nanos(870), Nanos(70)));
    }
}
