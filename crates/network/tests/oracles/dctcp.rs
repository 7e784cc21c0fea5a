//! The path by which ns-3 validates its DCTCP, and ours over it.
//!
//! A sender is alone on 50 Mbit/s. Its port is a queue that marks what waited in it for more than 1 ms (CoDel with such a threshold), and a device
//! behind it with three packets more. In the validation, the device also has dynamic queue limits, which ours has not.

use std::collections::VecDeque;
use std::rc::Rc;
use std::time::Duration;

use trueplane_network::Nanos;
use trueplane_network::simulator::PortQueue;
use trueplane_network::simulator::port::{Offered, Waiting};
use trueplane_network::transport::Dctcp;
use trueplane_network::transport::preset::{self, LINUX_WINDOWS};
use trueplane_units::{BitsPerSec, Bytes};

use crate::path::Path;
use crate::seen::Seen;
use crate::watched::{Marks, Watched};

/// Longest wait of a packet that is not marked.
pub(crate) const THRESHOLD: Nanos = Nanos::from_millis(1);

/// Packets that the device holds, without the one that it sends.
const ROOM: usize = 3;

/// The path, with so long a round-trip time.
pub(crate) fn path(delay: Duration) -> Path {
    Path { rate: BitsPerSec(50_000_000), room: Bytes(u64::MAX), delay }
}

/// Our DCTCP over that path.
pub(crate) fn run(path: Path, time: Duration) -> Seen {
    let parts = preset::linux(Dctcp::new(LINUX_WINDOWS));
    let marks = Marks::default();
    let watched = Watched { estimate: alpha, marks: Rc::clone(&marks), ..Watched::new(parts) };
    let marks_of = |port: usize| if port == 0 { Rc::clone(&marks) } else { Marks::default() };
    path.watch(watched, |port| MarksLate::new(path.rate, marks_of(port)), time)
}

/// Share of marked bytes that DCTCP estimates.
fn alpha(dctcp: &Dctcp) -> f64 {
    dctcp.alpha() as f64 / f64::from(1 << 20)
}

/// A queue, and a device behind it. Packets are marked when they move from one to the other.
#[derive(Debug)]
struct MarksLate {
    queue: VecDeque<(Waiting, Nanos)>,
    device: VecDeque<Waiting>,
    rate: BitsPerSec,
    /// Time at which the link can send the next packet.
    free: Nanos,
    /// Time at which the last packet came.
    last: Nanos,
    marks: Marks,
}

impl MarksLate {
    fn new(rate: BitsPerSec, marks: Marks) -> Self {
        let (queue, device) = (VecDeque::new(), VecDeque::new());
        Self { queue, device, rate, free: Nanos(0), last: Nanos(0), marks }
    }

    /// Packets move to the device, while it takes any.
    fn fill(&mut self, now: Nanos) {
        while self.device.len() < ROOM {
            let Some((packet, came)) = self.queue.pop_front() else { break };
            self.marks.borrow_mut().push_back(now.since(came) > THRESHOLD);
            self.device.push_back(packet);
        }
    }
}

impl PortQueue for MarksLate {
    fn offer(&mut self, packet: Waiting, now: Nanos) -> Offered {
        self.last = now;
        self.queue.push_back((packet, now));
        self.fill(now);
        Offered::default()
    }

    fn next(&mut self) -> Option<u32> {
        let packet = self.device.pop_front()?;
        let start = self.free.max(self.last);
        self.free = start.after(Nanos(u64::from(packet.bytes) * 8 * 1_000_000_000 / self.rate.0));
        self.fill(start);
        Some(packet.handle)
    }

    fn len(&self) -> usize {
        self.queue.len() + self.device.len()
    }
}
