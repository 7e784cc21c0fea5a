//! The connections of the published simulator: their rules, one script each, and what must hold whatever happens.

mod loss;
mod receiver;
mod sender;
mod window;

use trueplane_network::Nanos;
use trueplane_network::transport::simplified::{Receiver, Sender};
use trueplane_network::transport::{End, Segment, SendingEnd, Simplified};

use crate::script;

/// Segments of 1000 bytes and a first time-out of a millisecond, for numbers that are easy to read.
const PLAIN: Simplified = Simplified {
    segment: 1_000,
    initial: 3,
    threshold: 8,
    most: 65_535,
    timeout: Nanos::from_millis(1),
    heeds_marks: false,
};

impl script::End for Sender {
    fn hear(&mut self, segment: &Segment, now: Nanos) {
        self.on_segment(segment, now);
    }

    fn poll(&mut self, now: Nanos) -> Option<Segment> {
        End::poll(self, now)
    }

    fn wakeup(&self) -> Option<Nanos> {
        End::wakeup(self)
    }

    fn act(&mut self, verb: &str, _number: u64, _now: Nanos) {
        panic!("expected nothing to do, got {verb}");
    }

    fn value(&self, name: &str) -> u64 {
        match name {
            "cwnd" => self.window().cwnd(),
            "ssthresh" => self.window().ssthresh(),
            "rto" => self.round_trip().timeout().0 / 1_000,
            "recovering" => u64::from(self.is_recovering()),
            "done" => u64::from(self.is_done()),
            _ => panic!("expected cwnd, ssthresh, rto, recovering or done, got {name}"),
        }
    }
}

impl script::End for Receiver {
    fn hear(&mut self, segment: &Segment, now: Nanos) {
        self.on_segment(segment, now);
    }

    fn poll(&mut self, now: Nanos) -> Option<Segment> {
        End::poll(self, now)
    }

    fn wakeup(&self) -> Option<Nanos> {
        End::wakeup(self)
    }

    fn act(&mut self, verb: &str, _number: u64, _now: Nanos) {
        panic!("expected nothing to do, got {verb}");
    }

    fn value(&self, name: &str) -> u64 {
        assert_eq!(name, "received");
        self.received()
    }
}
