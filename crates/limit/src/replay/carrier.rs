//! The way of packets from the capture to the limits: at the pace of the replay, and over a link.

use trueplane_link::{Counts, Link};
use trueplane_study::Error;
use trueplane_units::Nanos;

use super::arrival::Arrival;
use super::found::Found;
use super::limits::Limits;
use super::options::Options;
use super::record::Record;
use crate::classes::Classes;
use crate::classifier::Classifier;

/// Carries packets from the capture to the limits, and has them recorded.
///
/// Cost: that of the limits without a link; with one, that of [`Link`] besides, and memory for the packets on their way.
pub(super) struct Carrier<'a> {
    /// Millionths of the capture's speed.
    speedup: u64,
    /// Time of the first packet in the capture.
    first: Option<Nanos>,
    /// `None` if packets arrive as they are sent.
    link: Option<Link<Arrival>>,
    limits: &'a mut dyn Limits,
    record: Record<'a>,
}

impl<'a> Carrier<'a> {
    pub(super) fn new(
        options: &'a Options,
        classes: &'a Classes,
        classifier: &'a Classifier,
        limits: &'a mut dyn Limits,
    ) -> Self {
        let terms = options.link.terms(|time| time.0);
        let link = (!options.link.is_ideal()).then(|| Link::new(terms, options.seed));
        let record = Record::new(options, classes, classifier, limits);
        Self { speedup: options.speedup.millionths(), first: None, link, limits, record }
    }

    /// Sends a packet, no earlier in the capture than those before it. What arrives by then is limited and recorded.
    ///
    /// # Errors
    /// Those of the record.
    pub(super) fn send(&mut self, arrival: &Arrival) -> Result<(), Error> {
        let since_first = arrival.time.since(*self.first.get_or_insert(arrival.time));
        let scaled = u128::from(since_first.0) * 1_000_000 / u128::from(self.speedup);
        let now = u64::try_from(scaled).unwrap_or(u64::MAX);
        let Some(link) = &mut self.link else { return self.record.arrive(arrival, Nanos(now), self.limits) };
        // The link counts what it loses.
        let _ = link.send(*arrival, now);
        self.deliver(now)
    }

    /// Lets everything arrive that does by `now`.
    fn deliver(&mut self, now: u64) -> Result<(), Error> {
        while let Some(arrived) = self.link.as_mut().and_then(|link| link.arrive(now)) {
            self.record.arrive(&arrived.packet, Nanos(arrived.at), self.limits)?;
        }
        Ok(())
    }

    /// Lets everything arrive that is still on its way, and makes the rows. `left_out` names parts of the capture that could not be read.
    ///
    /// # Errors
    /// Those of the record, or if packets are missing, which would be a fault of the program.
    pub(super) fn finish(mut self, left_out: &[(String, u64)]) -> Result<Found, Error> {
        self.deliver(u64::MAX)?;
        let link = self.link.map_or_else(Counts::default, |link| link.counts());
        let found = self.record.finish(left_out, link);
        let arrived = found.counts.arrived_packets;
        if link.sent > 0 && link.sent + link.duplicated != arrived + link.lost {
            return Err(Error::Internal(format!(
                "of {} packets sent and {} copies {arrived} arrived and {} were lost",
                link.sent, link.duplicated, link.lost
            )));
        }
        Ok(found)
    }
}

#[cfg(test)]
mod tests;
