//! A link between the senders and the card.

use trueplane_link::{Arrived, Counts, Fate, Link, Terms};

use crate::Packet;
use crate::source::{Next, Offer, Source};

/// The packets of a source behind a link: late, reordered, lost or doubled.
///
/// Times are in picoseconds. A sender hears at once of a packet that the link loses, and of others when the machine has handled them.
/// Identity at the end: `sent` + `duplicated` of [`Counts`] = `arrived` + `lost`.
pub struct Linked<'a> {
    source: Box<dyn Source + 'a>,
    link: Link<(Offer, Packet)>,
    delay: u64,
    /// Time of what the source did last.
    sent: u64,
    /// The source has no more packets.
    is_over: bool,
    /// The packet that arrived last.
    last: Option<Packet>,
    /// Packets to write over.
    spare: Vec<Packet>,
}

impl<'a> Linked<'a> {
    /// The packets of `source` over a link of these terms.
    pub fn new(source: Box<dyn Source + 'a>, terms: Terms, seed: u64) -> Self {
        Self {
            source,
            link: Link::new(terms, seed),
            delay: terms.delay,
            sent: 0,
            is_over: false,
            last: None,
            spare: Vec::new(),
        }
    }

    fn send(&mut self, offer: Offer) {
        self.sent = offer.at;
        let packet = self.source.packet(self.spare.pop());
        if let Fate::Lost((Offer { flow, sequence, .. }, packet)) = self.link.send((offer, packet), offer.at)
        {
            self.spare.push(packet);
            self.source.answer(flow, sequence, false);
        }
    }
}

impl Source for Linked<'_> {
    fn next(&mut self) -> Next {
        self.spare.extend(self.last.take());
        loop {
            let due = self.link.due();
            // What is sent from now on arrives no earlier.
            if due <= self.sent || self.is_over {
                let Some(Arrived { packet: (offer, packet), at, is_copy }) = self.link.arrive(due) else {
                    return Next::End;
                };
                self.last = Some(packet);
                return Next::Packet(Offer { at, is_copy, ..offer });
            }
            match self.source.next() {
                Next::Packet(offer) => self.send(offer),
                Next::Nothing(at) => {
                    self.sent = at;
                    if due > at {
                        return Next::Nothing(at);
                    }
                }
                Next::End => self.is_over = true,
            }
        }
    }

    fn packet(&mut self, spent: Option<Packet>) -> Packet {
        let last = self.last.as_ref().expect("the packet that was offered last is asked for");
        let Some(mut packet) = spent else { return last.clone() };
        packet.refill(last.link(), |bytes| {
            bytes.clear();
            bytes.extend_from_slice(last.bytes());
        });
        packet
    }

    fn begins(&self) -> u64 {
        self.source.begins().saturating_add(self.delay)
    }

    fn ends(&self) -> u64 {
        self.source.ends().saturating_add(self.delay)
    }

    fn link(&self) -> Counts {
        self.link.counts()
    }

    fn answer(&mut self, flow: u32, sequence: u32, delivered: bool) {
        self.source.answer(flow, sequence, delivered);
    }
}
