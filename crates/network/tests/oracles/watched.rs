//! A transport that writes down what its ends do.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::fmt::Debug;
use std::rc::Rc;

use trueplane_network::Nanos;
use trueplane_network::transport::preset::{LINUX_RECEIVER, LINUX_SEGMENT, Parts};
use trueplane_network::transport::recovery::Stage;
use trueplane_network::transport::settings::BadSettings;
use trueplane_network::transport::{
    CongestionControl, Ecn, End, LossRecovery, Receiver, Segment, Sender, SendingEnd, Transport,
};

use crate::trace::Point;

/// What was seen of a connection.
#[derive(Debug, Default)]
pub(crate) struct Notes {
    /// The window, after each acknowledgement.
    pub(crate) windows: Vec<Point>,
    /// The estimate of marks, after each acknowledgement, with its time in seconds.
    pub(crate) estimates: Vec<(f64, f64)>,
    /// Payload that the receiver has got, after each segment, with its time in seconds.
    pub(crate) received: Vec<(f64, f64)>,
}

/// Senders of these parts, and receivers of Linux.
pub(crate) struct Watched<C, R> {
    pub(crate) parts: Parts<C, R>,
    /// The estimate of marks of a congestion control.
    pub(crate) estimate: fn(&C) -> f64,
    /// Marks of the packets that come next, if the port decides on them when it sends.
    pub(crate) marks: Marks,
    pub(crate) notes: Rc<RefCell<Notes>>,
}

/// Whether each packet is marked, in the order in which they leave a port.
pub(crate) type Marks = Rc<RefCell<VecDeque<bool>>>;

impl<C, R> Watched<C, R> {
    /// A sender without an estimate, behind a port that marks when packets come, or never.
    pub(crate) fn new(parts: Parts<C, R>) -> Self {
        Self { parts, estimate: |_| 0.0, marks: Marks::default(), notes: Rc::default() }
    }
}

impl<C, R> Transport for Watched<C, R>
where
    C: CongestionControl + Clone + Debug,
    R: LossRecovery + Clone + Debug,
{
    type Sender = WatchedSender<C, R>;
    type Receiver = WatchedReceiver;

    fn check(&self) -> Result<(), BadSettings> {
        self.parts.check()
    }

    fn connect(&self, bytes: u64) -> Result<(Self::Sender, Self::Receiver), BadSettings> {
        let (sender, _) = self.parts.connect(bytes)?;
        let receiver = Receiver::new(LINUX_RECEIVER, sender.control().echo());
        let marks = Rc::clone(&self.marks);
        let receiver = WatchedReceiver { receiver, marks, notes: Rc::clone(&self.notes) };
        Ok((WatchedSender { sender, estimate: self.estimate, notes: Rc::clone(&self.notes) }, receiver))
    }
}

fn seconds(now: Nanos) -> f64 {
    now.0 as f64 / 1e9
}

#[derive(Debug)]
pub(crate) struct WatchedSender<C, R> {
    sender: Sender<C, R>,
    estimate: fn(&C) -> f64,
    notes: Rc<RefCell<Notes>>,
}

impl<C: CongestionControl + Debug, R: LossRecovery + Debug> End for WatchedSender<C, R> {
    fn on_segment(&mut self, segment: &Segment, now: Nanos) {
        self.sender.on_segment(segment, now);
        let mut notes = self.notes.borrow_mut();
        let segments = self.sender.control().cwnd() as f64 / f64::from(LINUX_SEGMENT);
        let has_fallen = notes.windows.last().is_some_and(|last| segments < last.segments);
        let is_open = self.sender.recovery().episode().stage() == Stage::Open && !has_fallen;
        notes.windows.push(Point { time: seconds(now), segments, is_open });
        notes.estimates.push((seconds(now), (self.estimate)(self.sender.control())));
    }

    fn poll(&mut self, now: Nanos) -> Option<Segment> {
        self.sender.poll(now)
    }

    fn wakeup(&self) -> Option<Nanos> {
        self.sender.wakeup()
    }
}

impl<C: CongestionControl + Debug, R: LossRecovery + Debug> SendingEnd for WatchedSender<C, R> {
    fn is_done(&self) -> bool {
        self.sender.is_done()
    }

    fn remaining(&self, segment: &Segment) -> u64 {
        self.sender.remaining(segment)
    }
}

#[derive(Debug)]
pub(crate) struct WatchedReceiver {
    receiver: Receiver,
    marks: Marks,
    notes: Rc<RefCell<Notes>>,
}

impl End for WatchedReceiver {
    fn on_segment(&mut self, segment: &Segment, now: Nanos) {
        let is_marked = self.marks.borrow_mut().pop_front().unwrap_or(false);
        let ecn = if is_marked && segment.ecn == Ecn::Capable { Ecn::Experienced } else { segment.ecn };
        self.receiver.on_segment(&Segment { ecn, ..*segment }, now);
        self.notes.borrow_mut().received.push((seconds(now), self.receiver.received() as f64));
    }

    fn poll(&mut self, now: Nanos) -> Option<Segment> {
        self.receiver.poll(now)
    }

    fn wakeup(&self) -> Option<Nanos> {
        self.receiver.wakeup()
    }
}
