//! The receiving end of a connection.

use trueplane_units::Nanos;

use super::acknowledge::{MarkEcho, Schedule};
use super::control::Echo;
use super::segment::{Flags, MOST_SACK_BLOCKS, SackBlocks, Segment};
use super::settings::ReceiverSettings;
use super::span::{Span, SpanSet};

/// Places of recent arrivals that are remembered, to repeat their blocks; more than blocks, as blocks merge.
const RECENT: usize = 2 * MOST_SACK_BLOCKS;

/// Puts bytes in order, acknowledges them, and advertises its window.
///
/// After [`Receiver::on_segment`] and at [`Receiver::wakeup`], call [`Receiver::poll`] until it gives nothing.
///
/// - State: spans of bytes beyond gaps; the bytes themselves are counted and not kept.
/// - Cost: O(log n) a segment in order, O(n) one out of order, for n gaps.
/// - Source: RFC 9293 §3.10.7.4 (acceptance), RFC 5681 §4.2 (when to acknowledge), RFC 2018 and RFC 2883 (blocks), RFC 3168 and RFC 8257
///   (echoes). Departures: the SYN-ACK has no timer of its own, that of the SYN repeats both; the other direction carries no data and is not closed.
#[derive(Clone, Debug)]
pub struct Receiver {
    settings: ReceiverSettings,
    /// Sequence number that it waits for (RCV.NXT); 0 before the SYN.
    next: u64,
    /// Bytes beyond gaps.
    beyond: SpanSet,
    /// First sequence numbers of what arrived beyond gaps, the latest first.
    recent: [u64; RECENT],
    /// Bytes that arrived twice with the last segment (RFC 2883).
    duplicate: Option<Span>,
    /// Sequence number of the FIN.
    fin: Option<u64>,
    /// Bytes in order that are not read.
    unread: u64,
    /// End of the window that was advertised last; it never moves back (RFC 9293 §3.8.6).
    window_end: u64,
    schedule: Schedule,
    marks: MarkEcho,
    /// An acknowledgement of what waited, with the echo from before the change.
    earlier: Option<Segment>,
    /// A SYN waits for its answer.
    answers_syn: bool,
}

impl Receiver {
    /// Nothing has arrived yet.
    ///
    /// `echo` is what the sender's congestion control asks for; with a handshake it is used if the SYN asks for ECN.
    pub fn new(settings: ReceiverSettings, echo: Echo) -> Self {
        Self {
            settings,
            next: 1,
            beyond: SpanSet::new(),
            recent: [0; RECENT],
            duplicate: None,
            fin: None,
            unread: 0,
            window_end: 1 + u64::from(settings.buffer),
            schedule: Schedule::new(settings.delay),
            marks: MarkEcho::new(echo),
            earlier: None,
            answers_syn: false,
        }
    }

    /// Bytes that arrived in order, read or not.
    pub fn received(&self) -> u64 {
        self.next - 1 - u64::from(self.is_finished())
    }

    /// Bytes that can be read.
    pub fn unread(&self) -> u64 {
        self.unread
    }

    /// Whether all bytes and the FIN have arrived.
    pub fn is_finished(&self) -> bool {
        self.fin.is_some_and(|fin| self.next > fin)
    }

    /// Bytes that arrived beyond gaps.
    pub fn beyond(&self) -> &SpanSet {
        &self.beyond
    }

    /// End of the window that was advertised last, as a sequence number.
    pub fn window_end(&self) -> u64 {
        self.window_end
    }

    /// Bytes from the one that it waits for up to the end of its window.
    fn window(&self) -> u64 {
        // A FIN takes a sequence number, but no room.
        self.window_end.saturating_sub(self.next).min(u64::from(u32::MAX))
    }

    /// Moves the end of the window as far as there is room.
    ///
    /// A little more is not worth telling of (RFC 9293 §3.8.6.2.2).
    fn open(&mut self) -> bool {
        let end = self.next + u64::from(self.settings.buffer).saturating_sub(self.unread);
        let worth = u64::from(self.settings.segment).min(u64::from(self.settings.buffer).div_ceil(2));
        if end < self.window_end + worth {
            return false;
        }
        self.window_end = end;
        true
    }

    /// Reads up to `bytes` of what is in order. Returns how many there were.
    ///
    /// If that opens the window, an acknowledgement is due.
    pub fn read(&mut self, bytes: u64, now: Nanos) -> u64 {
        let read = bytes.min(self.unread);
        self.unread -= read;
        if self.open() {
            self.schedule.hear(true, now);
        }
        read
    }

    /// A segment of the sender arrives.
    pub fn on_segment(&mut self, segment: &Segment, now: Nanos) {
        if segment.flags.syn {
            self.on_syn(segment, now);
            return;
        }
        let span = segment.span();
        if span.is_empty() {
            return; // an acknowledgement of the handshake
        }
        let changes = self.marks.changes(segment);
        if changes && self.schedule.is_waiting() {
            self.earlier = Some(self.acknowledgement());
        }
        self.marks.hear(segment);
        // RFC 9293 §3.10.7.4: a FIN outside the window is not taken; behind the first one there is nothing.
        if segment.flags.fin && (self.next..=self.window_end).contains(&(span.end - 1)) {
            self.fin.get_or_insert(span.end - 1);
        }
        let is_urgent = self.take(span) || changes;
        self.schedule.hear(is_urgent, now);
    }

    fn on_syn(&mut self, segment: &Segment, now: Nanos) {
        let wants_ecn = segment.flags.ece && segment.flags.cwr; // RFC 3168 §6.1.1
        if !wants_ecn {
            self.marks = MarkEcho::new(Echo::Off);
        }
        self.answers_syn = true;
        self.schedule.hear(true, now);
    }

    /// Takes what is new of a span. Returns whether it has to be acknowledged at once.
    fn take(&mut self, arrived: Span) -> bool {
        // The FIN needs no room behind the last byte that has, and it is the last.
        let end = self.fin.map_or(self.window_end, |fin| fin + 1);
        let span = Span { start: arrived.start.max(self.next), end: arrived.end.min(end) };
        if arrived.end <= self.next || self.beyond.covers(span) && !span.is_empty() {
            self.duplicate = Some(arrived);
            return true; // RFC 9293 §3.10.7.4: what is not acceptable is acknowledged
        }
        if span.is_empty() {
            return true; // a probe of a window that is closed
        }
        if span.start > self.next {
            self.beyond.insert(span);
            self.remember(span.start);
            return true; // RFC 5681 §4.2: a duplicate acknowledgement at once
        }
        let filled = !self.beyond.is_empty();
        let mut next = span.end;
        if filled {
            if let Some(known) = self.beyond.containing(next) {
                next = known.end;
            }
            self.beyond.remove_below(next);
        }
        self.advance(next);
        filled || self.is_finished() // RFC 5681 §4.2: what fills a gap is acknowledged at once
    }

    fn advance(&mut self, next: u64) {
        let data = next - self.next - u64::from(self.fin.is_some_and(|fin| next > fin));
        self.next = next;
        if !self.settings.reads_at_once {
            self.unread += data;
        }
        self.open();
    }

    /// Puts the place of an arrival first (RFC 2018 §4: the first block has the most recent segment).
    fn remember(&mut self, start: u64) {
        let block = self.beyond.containing(start);
        // The place of an arrival in the same block makes room.
        let same = |place: &u64| self.beyond.containing(*place) == block;
        let gone = self.recent.iter().position(same).unwrap_or(RECENT - 1);
        self.recent.copy_within(..gone, 1);
        self.recent[0] = start;
    }

    fn blocks(&mut self) -> SackBlocks {
        let mut blocks = SackBlocks::NONE;
        let duplicate = self.duplicate.take();
        if !self.settings.sends_sack {
            return blocks;
        }
        if let Some(span) = duplicate {
            blocks.push(span); // RFC 2883 §4: the first block
            if let Some(around) = self.beyond.containing(span.start).filter(|around| around.covers(span)) {
                blocks.push(around); // RFC 2883 §4 (4): then the block around it
            }
        }
        if self.beyond.is_empty() {
            return blocks;
        }
        for place in self.recent {
            let Some(block) = self.beyond.containing(place) else { continue };
            if !blocks.as_slice().contains(&block) {
                blocks.push(block); // RFC 2018 §4: those that were reported last, repeated
            }
        }
        blocks
    }

    fn acknowledgement(&mut self) -> Segment {
        self.schedule.acknowledge();
        Segment {
            sequence: 1,
            ack: self.next,
            length: 0,
            window: self.window() as u32,
            flags: Flags { ack: true, ece: self.marks.is_on(), ..Flags::default() },
            sack: self.blocks(),
            ..Segment::default()
        }
    }

    /// The next segment to send, if one is due.
    pub fn poll(&mut self, now: Nanos) -> Option<Segment> {
        if let Some(earlier) = self.earlier.take() {
            return Some(earlier);
        }
        self.schedule.due().filter(|due| *due <= now)?;
        let mut segment = self.acknowledgement();
        if std::mem::take(&mut self.answers_syn) {
            segment.sequence = 0;
            segment.flags.syn = true;
            segment.flags.ece = self.marks.echo() != Echo::Off; // RFC 3168 §6.1.1
        }
        Some(segment)
    }

    /// Time at which [`Receiver::poll`] has something to send, if nothing else happens.
    pub fn wakeup(&self) -> Option<Nanos> {
        self.schedule.due()
    }
}
