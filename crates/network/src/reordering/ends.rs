//! Ends of connections that count what happens to them.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;

use trueplane_units::Nanos;

use super::found::Counts;
use super::senders::DELAY;
use crate::transport::preset::Parts;
use crate::transport::segment::FIRST_BYTE;
use crate::transport::{
    BadSettings, CongestionControl as _, Control, End, Receiver, ReceiverSettings, Recovery, Segment, Sender,
    SendingEnd, Transport,
};

/// Arrivals that are remembered of a flow, to tell how late a packet comes: more than all rings hold.
const REMEMBERED: usize = 1 << 13;

/// A flow as it was counted.
#[derive(Clone, Debug, Default)]
pub(super) struct Counted {
    pub(super) counts: Counts,
    /// Bytes in order at the end.
    pub(super) bytes: u64,
    /// Bytes in order when counting began.
    pub(super) before: u64,
}

/// The flows of a run, in the order of their starts.
pub(super) type Book = Rc<RefCell<Vec<Counted>>>;

/// Connections whose ends write into a book.
#[derive(Debug)]
pub(super) struct Counting {
    pub(super) parts: Parts<Control, Recovery>,
    pub(super) book: Book,
    /// Time from which bytes count.
    pub(super) from: Nanos,
}

impl Transport for Counting {
    type Sender = CountingSender;
    type Receiver = CountingReceiver;

    fn check(&self) -> Result<(), BadSettings> {
        self.parts.check()
    }

    fn connect(&self, bytes: u64) -> Result<(CountingSender, CountingReceiver), BadSettings> {
        let (settings, control, recovery) = self.parts.clone();
        let echo = control.echo();
        let mut sender = Sender::new(settings, control, recovery)?;
        sender.write(bytes);
        sender.close();
        let receiver = ReceiverSettings {
            delay: Some(DELAY),
            ..ReceiverSettings::immediate(settings.first_window, settings.segment)
        };
        let flow = self.book.borrow().len();
        self.book.borrow_mut().push(Counted::default());
        let book = || Rc::clone(&self.book);
        Ok((
            CountingSender { sender, sent: 0, stamp: Nanos(0), flow, book: book() },
            CountingReceiver {
                receiver: Receiver::new(receiver, echo),
                arrivals: Arrivals::default(),
                from: self.from,
                flow,
                book: book(),
            },
        ))
    }
}

/// A sender that counts segments that are sent again, and time-outs.
#[derive(Debug)]
pub(super) struct CountingSender {
    sender: Sender<Control, Recovery>,
    /// Sequence number up to which everything was sent.
    sent: u64,
    /// Stamp of the last segment.
    stamp: Nanos,
    flow: usize,
    book: Book,
}

impl End for CountingSender {
    fn on_segment(&mut self, segment: &Segment, now: Nanos) {
        self.sender.on_segment(segment, now);
    }

    /// The next segment, with a stamp that no other has: the time at which it leaves, where those of a burst leave one nanosecond apart.
    fn poll(&mut self, now: Nanos) -> Option<Segment> {
        let before = self.sender.timeouts();
        let segment = self.sender.poll(now);
        let timeouts = u64::from(self.sender.timeouts() - before);
        let mut segment = match segment {
            Some(segment) if segment.length > 0 => segment,
            other => {
                self.book.borrow_mut()[self.flow].counts.timeouts += timeouts;
                return other;
            }
        };
        self.stamp = now.max(self.stamp.after(Nanos(1)));
        segment.stamp = self.stamp;
        let counts = &mut self.book.borrow_mut()[self.flow].counts;
        counts.timeouts += timeouts;
        counts.sent += 1;
        counts.sent_again += u64::from(segment.sequence < self.sent);
        self.sent = self.sent.max(segment.span().end);
        Some(segment)
    }

    fn wakeup(&self) -> Option<Nanos> {
        self.sender.wakeup()
    }
}

impl SendingEnd for CountingSender {
    fn is_done(&self) -> bool {
        self.sender.is_done()
    }

    fn remaining(&self, _segment: &Segment) -> u64 {
        self.sender.unacknowledged()
    }
}

/// A receiver that counts segments that come late, and those that it has already.
#[derive(Debug)]
pub(super) struct CountingReceiver {
    receiver: Receiver,
    arrivals: Arrivals,
    from: Nanos,
    flow: usize,
    book: Book,
}

impl End for CountingReceiver {
    fn on_segment(&mut self, segment: &Segment, now: Nanos) {
        let mut book = self.book.borrow_mut();
        let flow = &mut book[self.flow];
        if segment.length > 0 {
            let span = segment.span();
            let is_known =
                span.end <= self.receiver.received() + FIRST_BYTE || self.receiver.beyond().covers(span);
            let extent = self.arrivals.add(segment.stamp);
            flow.counts.arrive(is_known, extent);
        }
        self.receiver.on_segment(segment, now);
        flow.bytes = self.receiver.received();
        if now < self.from {
            flow.before = flow.bytes;
        }
    }

    fn poll(&mut self, now: Nanos) -> Option<Segment> {
        let answer = self.receiver.poll(now)?;
        self.book.borrow_mut()[self.flow].counts.acks += 1;
        Some(answer)
    }

    fn wakeup(&self) -> Option<Nanos> {
        self.receiver.wakeup()
    }
}

/// Arrivals of a flow, to tell how late each is (RFC 4737 §4).
#[derive(Debug, Default)]
struct Arrivals {
    count: u64,
    /// Arrivals in order: stamp and number of each. Both ascend.
    in_order: VecDeque<(Nanos, u64)>,
}

impl Arrivals {
    /// Takes a segment in. Returns its reordering extent: 0 in order, else the number of arrivals since the first one that was sent later, that one
    /// included.
    fn add(&mut self, stamp: Nanos) -> u64 {
        self.count += 1;
        if self.in_order.back().is_none_or(|(last, _)| *last < stamp) {
            if self.in_order.len() == REMEMBERED {
                self.in_order.pop_front();
            }
            self.in_order.push_back((stamp, self.count));
            return 0;
        }
        let later = self.in_order.partition_point(|(other, _)| *other <= stamp);
        self.in_order.get(later).map_or(0, |(_, number)| self.count - number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sent as 1, 2, 3, 4, 5 and received as 2, 3, 4, 1, 5: the first comes three arrivals after the second.
    #[test]
    fn an_extent_is_the_number_of_arrivals_since_the_first_that_was_sent_later() {
        let mut arrivals = Arrivals::default();
        assert_eq!([2, 3, 4, 1, 5].map(|stamp| arrivals.add(Nanos(stamp))), [0, 0, 0, 3, 0]);
        assert_eq!([8, 6, 7, 9].map(|stamp| arrivals.add(Nanos(stamp))), [0, 1, 2, 0]);
    }
}
