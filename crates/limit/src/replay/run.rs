//! Reads a capture and carries its packets through the limits.

use trueplane_study::{Error, Observer};
use trueplane_trace::Trace;

use super::arrival::Arrival;
use super::carrier::Carrier;
use super::found::Found;
use super::limits::{Bank, Limits};
use super::options::Options;
use crate::classes::Classes;
use crate::classifier::Classifier;
use crate::limiter::{Kept, Settings, Visitor, with_limiter};

/// Records between two reports of progress, and two questions whether to stop.
const REPORT: usize = 1 << 12;

/// Opens the files and replays one against the other.
pub(super) fn run(options: &Options, observer: &dyn Observer) -> Result<Found, Error> {
    options.check()?;
    let classes = Classes::open(&options.classes)?;
    let trace = Trace::open(&options.capture, &options.order.capture())?;
    replay(options, &trace, &classes, observer)
}

/// Replays the capture `trace` against `classes`, whatever files the options name.
///
/// Deterministic. Memory: proportional to limiters, flows and bins; to packets as well if the trace is sorted, and to those that
/// are on the link at a time.
///
/// # Errors
/// If the trace cannot be read or is no capture, has no packets, or has more bins than can be kept; if the observer interrupts.
pub fn replay(
    options: &Options,
    trace: &Trace,
    classes: &Classes,
    observer: &dyn Observer,
) -> Result<Found, Error> {
    let classifier = &Classifier::new(classes);
    with_limiter(options.policy, options.drain, Replaying { options, trace, classes, classifier, observer })
}

struct Replaying<'a> {
    options: &'a Options,
    trace: &'a Trace,
    classes: &'a Classes,
    classifier: &'a Classifier,
    observer: &'a dyn Observer,
}

impl Visitor for Replaying<'_> {
    type Output = Found;

    fn visit<L: Kept>(self, make: impl Fn(&Settings) -> Result<L, Error>) -> Result<Found, Error> {
        let mut bank = Bank::new(self.classes, self.classifier, make)?;
        self.through(&mut bank)
    }
}

impl Replaying<'_> {
    fn through(&self, limits: &mut dyn Limits) -> Result<Found, Error> {
        let Self { options, trace, classes, classifier, observer } = *self;
        let mut carrier = Carrier::new(options, classes, classifier, limits);
        let mut reader = trace.packets()?;
        observer.stage("replaying", trace.bytes());
        let sorts = reader.may_go_back();
        let (mut waiting, mut buffer, mut position) = (Vec::new(), Vec::new(), 0);
        let mut result = Ok(());
        loop {
            let more = reader.read(REPORT, |packet| {
                let arrival = Arrival::of(packet, classifier, &mut buffer);
                if sorts {
                    waiting.push(arrival);
                } else if result.is_ok() {
                    result = carrier.send(&arrival);
                }
            })?;
            std::mem::replace(&mut result, Ok(()))?;
            observer.advance(reader.position() - position);
            position = reader.position();
            observer.go_on()?;
            if !more {
                break;
            }
        }
        waiting.sort_by_key(|arrival: &Arrival| arrival.time);
        for chunk in waiting.chunks(REPORT) {
            observer.go_on()?;
            chunk.iter().try_for_each(|arrival| carrier.send(arrival))?;
        }
        carrier.finish(reader.skipped())
    }
}
