//! Flows of segments, put in order.

use trueplane_study::Error;

use super::chains::Piece;
use super::flows::Flows;
use super::memory::Memory;
use super::ranges::{Data, Ranges, Steps};
use crate::segments::Tcp;

/// Half the sequence numbers less one bit of safety: what is further away cannot be told from what is old.
const MOST_WINDOW: u32 = 1 << 30;

/// Pieces have numbers of 32 bits.
const MOST_PIECES: usize = 1 << 30;

/// Limits of a reassembler's memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes by which a segment may end ahead of what its flow waits for. With one that ends later the flow is dropped and starts over.
    pub window: u32,
    /// Flows; for one more, the least recently used is dropped.
    pub flows: usize,
    /// Pieces of segments that came early, of all flows; for more, the least recently used flows are dropped. That is after a segment,
    /// which adds one piece for every range of its flow at most, and one more.
    pub pieces: usize,
}

impl Default for Limits {
    /// A window of 16 KiB, as Pigasus (Atre 2025 §3.6.1); 65,536 flows and 2²⁰ pieces, which take 80 MB at most in lists: 48 bytes for
    /// a piece that is a range of its own, a quarter of that again for growth, and the flows themselves. In trees it is some 100 MB.
    fn default() -> Self {
        Self { window: 16 << 10, flows: 1 << 16, pieces: 1 << 20 }
    }
}

/// Counters of a reassembler: segments = empty + old + in_order + early + beyond.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Segments that it was given.
    pub segments: u64,
    /// Without payload that counts: acknowledgements, SYN, RST.
    pub empty: u64,
    /// All of whose payload had been released before, or lies after the FIN.
    pub old: u64,
    /// With the byte that the flow waited for.
    pub in_order: u64,
    /// That came before it.
    pub early: u64,
    /// That ended beyond the window, and so made their flow start over.
    pub beyond: u64,
    /// Bytes released in order.
    pub released: u64,
    /// Steps that all of it took.
    pub steps: u64,
    /// The most ranges that a flow had.
    pub longest: u64,
    /// Flows that were dropped because there was no room.
    pub evicted: u64,
}

/// Puts segments in order, flow by flow, as a device between the two ends does: it sees every direction by itself and believes what it
/// sees.
///
/// - *Sequence numbers* are compared modulo 2³² (RFC 9293 §3.4): what is less than 2³¹ ahead of the byte that a flow waits for is early,
///   the rest is old. What is old is not looked at again.
/// - A flow begins with the byte after its SYN, or with the first segment that has payload: captures start in the middle. A SYN makes a
///   flow start over, as when a client uses a port again.
/// - A *FIN* ends the flow once everything before it has been released; what lies after it is not taken any more. Only the first counts.
/// - An *RST* within the window ends the flow at once.
/// - A segment that ends beyond the window makes the flow start over with the next; it is not taken itself. Segments with the byte that
///   the flow waits for are taken however long they are, since nothing of them has to be kept.
///
/// Memory is bounded by [`Limits`], whatever flows had before ([`Memory`]), and no flow ever expires: where there is no room, the flow that was used least recently goes, and
/// with it what it held. An attacker who opens flows faster than users send packets empties all their lists, and one who sends early
/// bytes fills memory with a piece for each; the other flows then start over with their next segment and lose what had come early. It
/// costs them no time, but a detector what it should have seen. Someone who can guess addresses and ports does the same to a flow with
/// one SYN, RST or segment beyond the window. No order of service helps against either (Atre 2025 §3.7).
#[derive(Clone, Debug)]
pub struct Reassembler<R> {
    limits: Limits,
    flows: Flows<Flow<R>>,
    memory: Memory,
    counts: Counts,
}

/// A flow; bytes of its stream are counted from 0, so that only arriving sequence numbers wrap around.
#[derive(Clone, Debug, Default)]
struct Flow<R> {
    /// The byte that it waits for.
    next: u64,
    /// The sequence number of that byte.
    seq: u32,
    /// End of the stream, as the FIN gives it.
    end: Option<u64>,
    early: R,
}

/// Part of a segment that goes into a stream.
struct Payload {
    /// The sequence number of the first byte.
    seq: u32,
    length: u32,
    tag: u32,
    /// Whether the stream ends behind it.
    fin: bool,
}

/// Kind of a segment, by its place in the stream.
enum Kind {
    Empty,
    Old,
    InOrder,
    Early,
    Beyond,
}

impl<R: Ranges> Reassembler<R> {
    /// A reassembler without flows.
    ///
    /// # Errors
    ///
    /// If the limits are zero, or larger than 2³⁰ for the window or the pieces.
    pub fn new(limits: Limits) -> Result<Self, Error> {
        let checks = [
            ("a window", u64::from(limits.window), u64::from(MOST_WINDOW), "bytes"),
            ("room for", limits.flows as u64, u64::MAX, "flows"),
            ("room for", limits.pieces as u64, MOST_PIECES as u64, "pieces"),
        ];
        for (what, found, most, unit) in checks {
            if !(1..=most).contains(&found) {
                let of = if unit == "bytes" { " of" } else { "" };
                return Err(Error::Parameters(format!(
                    "expected {what}{of} 1 to {most} {unit}, got {found}"
                )));
            }
        }
        Ok(Self { limits, flows: Flows::new(), memory: Memory::default(), counts: Counts::default() })
    }

    /// Number of ranges of a flow that have arrived early.
    pub fn ranges(&self, flow: u64) -> usize {
        self.flows.peek(flow).map_or(0, |flow| flow.early.len())
    }

    /// Number of flows.
    pub fn flows(&self) -> usize {
        self.flows.len()
    }

    /// Number of pieces of segments that are held.
    pub fn pieces(&self) -> usize {
        self.memory.pieces()
    }

    /// Memory in which the pieces lie, with all that is allocated for them.
    pub fn memory(&self) -> &Memory {
        &self.memory
    }

    /// Counters of the reassembler.
    pub fn counts(&self) -> &Counts {
        &self.counts
    }

    /// Takes a segment of `flow` with `length` bytes of payload, which the caller knows by `tag`, and hands `released` the pieces that
    /// follow in the stream, in order.
    pub fn accept(
        &mut self,
        flow: u64,
        tcp: Tcp,
        length: u32,
        tag: u32,
        mut released: impl FnMut(Piece),
    ) -> Steps {
        self.counts.segments += 1;
        let (kind, steps) = self.place(flow, tcp, length, tag, &mut |piece| released(piece));
        *match kind {
            Kind::Empty => &mut self.counts.empty,
            Kind::Old => &mut self.counts.old,
            Kind::InOrder => &mut self.counts.in_order,
            Kind::Early => &mut self.counts.early,
            Kind::Beyond => &mut self.counts.beyond,
        } += 1;
        self.counts.steps += steps.total();
        self.make_room();
        steps
    }

    fn place(
        &mut self,
        name: u64,
        tcp: Tcp,
        length: u32,
        tag: u32,
        released: &mut dyn FnMut(Piece),
    ) -> (Kind, Steps) {
        if tcp.rst {
            let window = self.limits.window;
            if self.flows.peek(name).is_some_and(|flow| tcp.seq.wrapping_sub(flow.seq) <= window) {
                self.drop_flow(name);
            }
            return (Kind::Empty, Steps::default());
        }
        let seq = if tcp.syn { tcp.seq.wrapping_add(1) } else { tcp.seq };
        if tcp.syn {
            self.drop_flow(name);
        }
        let flow = match self.flows.touch(name) {
            Some(flow) => flow,
            None if length == 0 && !tcp.syn => return (Kind::Empty, Steps::default()),
            None => self.flows.add(name, Flow { seq, ..Flow::default() }),
        };
        let was_at = flow.next;
        let payload = Payload { seq, length, tag, fin: tcp.fin };
        let (kind, steps) = flow.take(&mut self.memory, payload, self.limits.window, released);
        self.counts.released += flow.next - was_at;
        self.counts.longest = self.counts.longest.max(flow.early.len() as u64);
        let has_ended = flow.end.is_some_and(|end| flow.next >= end);
        if has_ended || matches!(kind, Kind::Beyond) {
            self.drop_flow(name);
        }
        (kind, steps)
    }

    fn drop_flow(&mut self, name: u64) {
        if let Some(mut flow) = self.flows.remove(name) {
            flow.early.clear(&mut self.memory);
        }
    }

    fn make_room(&mut self) {
        while self.flows.len() > self.limits.flows || self.pieces() > self.limits.pieces {
            let Some(mut flow) = self.flows.remove_oldest() else { break };
            flow.early.clear(&mut self.memory);
            self.counts.evicted += 1;
        }
    }
}

impl<R: Ranges> Flow<R> {
    /// Takes the payload of a segment.
    fn take(
        &mut self,
        memory: &mut Memory,
        Payload { seq, length, tag, fin }: Payload,
        window: u32,
        released: &mut dyn FnMut(Piece),
    ) -> (Kind, Steps) {
        // How far the first byte is ahead of the one that the flow waits for.
        let ahead = i64::from(seq.wrapping_sub(self.seq).cast_signed());
        let end = ahead + i64::from(length);
        let is_within = (0..=i64::from(window)).contains(&end);
        if fin && self.end.is_none() && (is_within || ahead == 0) {
            self.end = Some(self.next + end.unsigned_abs());
        }
        let last = self.end.map_or(i64::MAX, |end| (end - self.next).cast_signed());
        if length == 0 {
            return (Kind::Empty, Steps::default());
        }
        let (from, to) = (ahead.max(0), end.min(last));
        if to <= from {
            return (Kind::Old, Steps::default());
        }
        if from > 0 && !is_within {
            return (Kind::Beyond, Steps::default());
        }
        let skip = (from - ahead) as u32;
        let (from, to) = (self.next + from.unsigned_abs(), self.next + to.unsigned_abs());
        let is_next = from == self.next;
        if is_next && self.early.first(memory).is_none_or(|first| to < first) {
            released(Piece { tag, skip, length: (to - from) as u32 });
            self.advance(to);
            return (Kind::InOrder, Steps::default());
        }
        let steps = self.early.insert(memory, Data { from, to, tag, skip });
        if is_next {
            let next = self.early.release(memory, self.next, released);
            self.advance(next);
        }
        (if is_next { Kind::InOrder } else { Kind::Early }, steps)
    }

    /// Waits for byte `next`.
    fn advance(&mut self, next: u64) {
        self.seq = self.seq.wrapping_add((next - self.next) as u32);
        self.next = next;
    }
}
