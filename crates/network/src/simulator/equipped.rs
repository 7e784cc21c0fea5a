//! Networks with more than hosts, links and ports.

use super::capture::Capture;
use super::faults::Faults;
use super::headers::Headers;
use super::lengths::Lengths;
use super::port::PortQueue;
use super::run::Network;
use crate::transport::Transport;

impl<Q: PortQueue, T: Transport> Network<'_, Q, T> {
    /// The same network with links that have faults: [`Faults::new`] with as many links as the topology has.
    ///
    /// Where a link is down, packets take the ways that are up all along, as if all routing tables were changed at once; a packet without such a
    /// way is dropped where it is. Packets that wait for the link are sent, and dropped, at its rate.
    #[must_use]
    pub fn with_faults(mut self, faults: Faults) -> Self {
        self.attached.get_or_insert_default().faults = Some(faults);
        self
    }

    /// The same network, whose packets carry headers; queues can have a clone as the [`Facts`](super::port::Facts) of their ranks.
    #[must_use]
    pub fn with_headers(mut self, headers: Headers) -> Self {
        self.attached.get_or_insert_default().headers = Some(headers);
        self
    }

    /// The same network, which measures how many packets wait at each port.
    #[must_use]
    pub fn measuring(mut self) -> Self {
        self.attached.get_or_insert_default().lengths = Some(Lengths::new(self.topology.links().len()));
        self
    }

    /// The same network, which writes the packets of a link to a capture.
    #[must_use]
    pub fn capturing(mut self, capture: Capture) -> Self {
        self.attached.get_or_insert_default().capture = Some(capture);
        self
    }
}
