//! Our sender in the simulator: one port, and a line with a delay.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

use trueplane_network::Nanos;
use trueplane_network::simulator::{DropTail, FlowSpec, Link, Network, Topology};
use trueplane_network::transport::preset::{LINUX_RECEIVER, LINUX_SEGMENT, Parts};
use trueplane_network::transport::recovery::Stage;
use trueplane_network::transport::settings::BadSettings;
use trueplane_network::transport::{
    CongestionControl, End, LossRecovery, Receiver, Segment, Sender, SendingEnd, Transport,
};
use trueplane_units::{BitsPerSec, Bytes};

use crate::trace::{Point, Trace};

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
        C: CongestionControl + Clone + std::fmt::Debug,
        R: LossRecovery + Clone + std::fmt::Debug,
    {
        let nanos = |time: Duration| Nanos(time.as_nanos() as u64);
        let back = BitsPerSec(100_000_000_000);
        let links = vec![
            Link { from: 0, to: 1, rate: self.rate, delay: nanos(self.delay) },
            Link { from: 1, to: 0, rate: back, delay: Nanos(0) },
        ];
        let topology = Topology::new(2, 2, links).unwrap();
        let points = Rc::default();
        let watched = Watched { parts, points: Rc::clone(&points) };
        let network = Network::new(&topology, |_| DropTail::new(self.room.0), watched, HEADER, 0).unwrap();
        let flow = FlowSpec { start: Nanos(0), from: 0, to: 1, bytes: 1 << 40 };
        network.run([flow].into_iter(), nanos(time)).unwrap();
        Trace::new(points.take())
    }
}

/// A transport that writes down the windows of its senders.
struct Watched<C, R> {
    parts: Parts<C, R>,
    points: Rc<RefCell<Vec<Point>>>,
}

impl<C, R> Transport for Watched<C, R>
where
    C: CongestionControl + Clone + std::fmt::Debug,
    R: LossRecovery + Clone + std::fmt::Debug,
{
    type Sender = WatchedSender<C, R>;
    type Receiver = Receiver;

    fn check(&self) -> Result<(), BadSettings> {
        self.parts.check()
    }

    fn connect(&self, bytes: u64) -> Result<(Self::Sender, Self::Receiver), BadSettings> {
        let (sender, _) = self.parts.connect(bytes)?;
        let receiver = Receiver::new(LINUX_RECEIVER, sender.control().echo());
        Ok((WatchedSender { sender, points: Rc::clone(&self.points) }, receiver))
    }
}

#[derive(Debug)]
struct WatchedSender<C, R> {
    sender: Sender<C, R>,
    points: Rc<RefCell<Vec<Point>>>,
}

impl<C: CongestionControl, R: LossRecovery> WatchedSender<C, R> {
    fn note(&self, now: Nanos) {
        self.points.borrow_mut().push(Point {
            time: now.0 as f64 / 1e9,
            segments: self.sender.control().cwnd() as f64 / f64::from(LINUX_SEGMENT),
            is_open: self.sender.recovery().episode().stage() == Stage::Open,
        });
    }
}

impl<C: CongestionControl + std::fmt::Debug, R: LossRecovery + std::fmt::Debug> End for WatchedSender<C, R> {
    fn on_segment(&mut self, segment: &Segment, now: Nanos) {
        self.sender.on_segment(segment, now);
        self.note(now);
    }

    fn poll(&mut self, now: Nanos) -> Option<Segment> {
        self.sender.poll(now)
    }

    fn wakeup(&self) -> Option<Nanos> {
        self.sender.wakeup()
    }
}

impl<C: CongestionControl + std::fmt::Debug, R: LossRecovery + std::fmt::Debug> SendingEnd
    for WatchedSender<C, R>
{
    fn is_done(&self) -> bool {
        self.sender.is_done()
    }

    fn remaining(&self, segment: &Segment) -> u64 {
        self.sender.remaining(segment)
    }
}
