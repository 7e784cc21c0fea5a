//! Connections as a network of hosts uses them: two ends that exchange segments.

use std::fmt;

use trueplane_units::Nanos;

use super::control::CongestionControl;
use super::preset::Parts;
use super::receiver::Receiver;
use super::recovery::LossRecovery;
use super::segment::Segment;
use super::sender::Sender;
use super::settings::{BadSettings, ReceiverSettings};

/// One end of a connection: segments and time in, segments and the next wake-up out.
pub trait End: fmt::Debug {
    /// A segment of the other end arrives.
    fn on_segment(&mut self, segment: &Segment, now: Nanos);

    /// The next segment to send, if there is one now.
    fn poll(&mut self, now: Nanos) -> Option<Segment>;

    /// Time at which [`End::poll`] may have something to send, if nothing else happens.
    fn wakeup(&self) -> Option<Nanos>;
}

/// The end of a connection that sends the bytes of a flow.
pub trait SendingEnd: End {
    /// Whether all bytes are acknowledged.
    fn is_done(&self) -> bool;

    /// Bytes of the flow that are left, as a segment of it that was just polled tells the queues on its way.
    fn remaining(&self, segment: &Segment) -> u64;
}

/// A kind of connections: makes the two ends of each flow.
pub trait Transport {
    /// The end that sends the bytes.
    type Sender: SendingEnd;
    /// The end that receives them.
    type Receiver: End;

    /// Checks that its settings make sense.
    ///
    /// # Errors
    ///
    /// If they do not.
    fn check(&self) -> Result<(), BadSettings>;

    /// The two ends of a flow of so many bytes, before its first segment.
    ///
    /// # Errors
    ///
    /// As [`Transport::check`].
    fn connect(&self, bytes: u64) -> Result<(Self::Sender, Self::Receiver), BadSettings>;
}

/// Senders that are made of these parts, and receivers that acknowledge each segment at once.
impl<C: CongestionControl + Clone + fmt::Debug, R: LossRecovery + Clone + fmt::Debug> Transport
    for Parts<C, R>
{
    type Sender = Sender<C, R>;
    type Receiver = Receiver;

    fn check(&self) -> Result<(), BadSettings> {
        let (settings, control, recovery) = self.clone();
        Sender::new(settings, control, recovery).map(|_| ())
    }

    fn connect(&self, bytes: u64) -> Result<(Self::Sender, Self::Receiver), BadSettings> {
        let (settings, control, recovery) = self.clone();
        let mut sender = Sender::new(settings, control, recovery)?;
        sender.write(bytes);
        sender.close();
        let receiver = ReceiverSettings::immediate(settings.first_window, settings.segment);
        let echo = sender.control().echo();
        Ok((sender, Receiver::new(receiver, echo)))
    }
}

impl<C: CongestionControl + fmt::Debug, R: LossRecovery + fmt::Debug> End for Sender<C, R> {
    #[inline]
    fn on_segment(&mut self, segment: &Segment, now: Nanos) {
        self.on_segment(segment, now);
    }

    #[inline]
    fn poll(&mut self, now: Nanos) -> Option<Segment> {
        self.poll(now)
    }

    #[inline]
    fn wakeup(&self) -> Option<Nanos> {
        self.wakeup()
    }
}

impl<C: CongestionControl + fmt::Debug, R: LossRecovery + fmt::Debug> SendingEnd for Sender<C, R> {
    #[inline]
    fn is_done(&self) -> bool {
        self.is_done()
    }

    /// The bytes that are not acknowledged, whatever the segment.
    #[inline]
    fn remaining(&self, _segment: &Segment) -> u64 {
        self.unacknowledged()
    }
}

impl End for Receiver {
    #[inline]
    fn on_segment(&mut self, segment: &Segment, now: Nanos) {
        self.on_segment(segment, now);
    }

    #[inline]
    fn poll(&mut self, now: Nanos) -> Option<Segment> {
        self.poll(now)
    }

    #[inline]
    fn wakeup(&self) -> Option<Nanos> {
        self.wakeup()
    }
}
