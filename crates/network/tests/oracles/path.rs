//! Our sender in the simulator: one port, and a line with a delay.

use std::fmt::Debug;
use std::rc::Rc;
use std::time::Duration;

use trueplane_network::Nanos;
use trueplane_network::simulator::{DropTail, FlowSpec, Link, Network, PortQueue, Topology};
use trueplane_network::transport::preset::Parts;
use trueplane_network::transport::{CongestionControl, LossRecovery};
use trueplane_units::{BitsPerSec, Bytes};

use crate::seen::Seen;
use crate::trace::Trace;
use crate::watched::{Notes, Watched};

/// Headers of IPv4 and TCP with timestamps, in bytes.
const HEADER: u32 = 52;

/// A path: a port with a FIFO, and a line behind it. Acknowledgements come back at once.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Path {
    pub(crate) rate: BitsPerSec,
    pub(crate) room: Bytes,
    pub(crate) delay: Duration,
}

impl Path {
    /// The window of a sender over time.
    pub(crate) fn simulate<C, R>(&self, parts: Parts<C, R>, time: Duration) -> Trace
    where
        C: CongestionControl + Clone + Debug,
        R: LossRecovery + Clone + Debug,
    {
        self.watch(Watched::new(parts), |_| DropTail::new(self.room.0), time).window
    }

    /// What a sender does behind the first of two queues. The second has the acknowledgements.
    pub(crate) fn watch<C, R, Q>(
        &self,
        watched: Watched<C, R>,
        queue: impl Fn(usize) -> Q,
        time: Duration,
    ) -> Seen
    where
        C: CongestionControl + Clone + Debug,
        R: LossRecovery + Clone + Debug,
        Q: PortQueue,
    {
        let nanos = |time: Duration| Nanos(time.as_nanos() as u64);
        let back = BitsPerSec(100_000_000_000);
        let links = vec![
            Link { from: 0, to: 1, rate: self.rate, delay: nanos(self.delay) },
            Link { from: 1, to: 0, rate: back, delay: Nanos(0) },
        ];
        let topology = Topology::new(2, 2, links).unwrap();
        let notes = Rc::clone(&watched.notes);
        let network = Network::new(&topology, queue, watched, HEADER, 0).unwrap().measuring();
        let flow = FlowSpec { start: Nanos(0), from: 0, to: 1, bytes: 1 << 40 };
        let outcome = network.run([flow].into_iter(), nanos(time)).unwrap();
        let waiting = outcome.ports[0].waited.unwrap().mean(outcome.end);
        let Notes { windows, estimates, received } = notes.take();
        Seen { window: Trace::new(windows), estimates, received, waiting }
    }
}
