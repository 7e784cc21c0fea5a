//! What was sent and is not acknowledged: when, how often, and what became of it.

use std::collections::VecDeque;

use trueplane_units::Nanos;

use super::span::{Span, SpanSet};

/// What a sender believes about a run of bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Belief {
    /// It is on its way.
    InFlight,
    /// It is lost, and not sent again yet.
    Lost,
    /// The receiver has it, beyond a gap.
    Sacked,
}

/// Bytes that were sent together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run {
    /// Sequence numbers of the run.
    pub span: Span,
    /// Time at which it was last sent.
    pub sent: Nanos,
    /// Belief about it.
    pub belief: Belief,
    /// Whether it was sent more than once.
    pub is_repeated: bool,
}

/// The segment that left last among those that an acknowledgement reports for the first time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Newest {
    /// Time at which it was last sent.
    pub sent: Nanos,
    /// Sequence number behind it.
    pub end: u64,
    /// Whether it was sent more than once.
    pub is_repeated: bool,
}

/// What an acknowledgement says that was not known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Delivered {
    /// Bytes by which the acknowledgement number grew.
    pub acked: u64,
    /// Bytes that arrived, by acknowledgement number or by SACK block, and were not known to.
    pub bytes: u64,
    /// Bytes among them that a SACK block reports.
    pub sacked: u64,
    /// Time since the oldest of them was sent, if none was sent more than once (RFC 6298 §3: Karn's rule).
    pub round_trip: Option<Nanos>,
    /// The one that left last.
    pub newest: Option<Newest>,
    /// A byte arrived that was sent once, after one that was sent later (RFC 8985 §6.2, step 3).
    pub is_reordered: bool,
}

/// All runs from the acknowledged byte to the next new one.
///
/// Cost: an acknowledgement takes amortised O(1) for each run that it reports, and O(log n) for each SACK block; n is the number of runs.
/// Runs stand in a ring that keeps its memory.
#[derive(Clone, Debug)]
pub struct Scoreboard {
    runs: VecDeque<Run>,
    /// First byte that is not acknowledged (SND.UNA).
    acknowledged: u64,
    /// First byte that was never sent (SND.NXT).
    next: u64,
    sacked: SpanSet,
    lost: u64,
    repeated: usize,
    /// No run below is lost.
    lost_from: u64,
    /// End of the highest byte known to have arrived.
    highest: u64,
}

impl Scoreboard {
    /// Nothing is sent; `start` is the first sequence number.
    pub fn new(start: u64) -> Self {
        Self {
            runs: VecDeque::new(),
            acknowledged: start,
            next: start,
            sacked: SpanSet::new(),
            lost: 0,
            repeated: 0,
            lost_from: start,
            highest: start,
        }
    }

    /// First sequence number that is not acknowledged (SND.UNA).
    #[inline]
    pub fn acknowledged(&self) -> u64 {
        self.acknowledged
    }

    /// First sequence number that was never sent (SND.NXT).
    #[inline]
    pub fn next(&self) -> u64 {
        self.next
    }

    /// Bytes sent and not acknowledged (FlightSize of RFC 5681 §2).
    #[inline]
    pub fn outstanding(&self) -> u64 {
        self.next - self.acknowledged
    }

    /// Bytes sent and not known to have arrived, lost ones included.
    #[inline]
    pub fn unsacked(&self) -> u64 {
        self.outstanding() - self.sacked.total()
    }

    /// Bytes that are believed to be on their way ("pipe" of RFC 6675 §4).
    #[inline]
    pub fn pipe(&self) -> u64 {
        self.unsacked() - self.lost
    }

    /// Bytes that are lost and not sent again yet.
    #[inline]
    pub fn lost(&self) -> u64 {
        self.lost
    }

    /// What the receiver has beyond gaps.
    #[inline]
    pub fn sacked(&self) -> &SpanSet {
        &self.sacked
    }

    /// The runs in the order of their sequence numbers.
    pub fn runs(&self) -> impl DoubleEndedIterator<Item = &Run> + ExactSizeIterator {
        self.runs.iter()
    }

    /// Whether any run was sent more than once.
    #[inline]
    pub fn has_repeated(&self) -> bool {
        self.repeated > 0
    }

    /// Notes that the bytes up to `end` are sent for the first time.
    pub fn send(&mut self, end: u64, now: Nanos) {
        debug_assert!(end > self.next);
        let span = Span { start: self.next, end };
        self.runs.push_back(Run { span, sent: now, belief: Belief::InFlight, is_repeated: false });
        self.next = end;
    }

    /// Takes the acknowledgement number and the SACK blocks of a segment, which may be empty.
    ///
    /// A repeated segment that arrives sooner after it was sent than `least` is not taken for the newest: its original arrived
    /// (RFC 8985 §6.2, step 2).
    pub fn acknowledge(&mut self, ack: u64, blocks: &[Span], least: Option<Nanos>, now: Nanos) -> Delivered {
        let (delivered, highest) = (Delivered::default(), self.highest);
        let mut news = News { delivered, least, now, oldest: None, is_repeated: false, highest };
        if ack > self.acknowledged {
            news.delivered.acked = ack - self.acknowledged;
            self.pop_below(ack, &mut news);
            self.acknowledged = ack;
            self.lost_from = self.lost_from.max(ack);
            self.sacked.remove_below(ack);
        }
        for block in blocks {
            let within = Span { start: block.start.max(ack), end: block.end.min(self.next) };
            while let Some(gap) = self.sacked.gap(within) {
                self.mark_sacked(gap, &mut news);
                news.delivered.sacked += self.sacked.insert(gap);
            }
        }
        self.highest = news.highest;
        if !news.is_repeated {
            news.delivered.round_trip = news.oldest.map(|sent| now.since(sent));
        }
        news.delivered
    }

    fn pop_below(&mut self, ack: u64, news: &mut News) {
        while let Some(first) = self.runs.front_mut().filter(|first| first.span.start < ack) {
            let mut run = *first;
            if run.span.end > ack {
                run.span.end = ack;
                first.span.start = ack;
                // The rest stays in the ring and is counted there.
                self.repeated += usize::from(run.is_repeated);
            } else {
                self.runs.pop_front();
            }
            self.repeated -= usize::from(run.is_repeated);
            if run.belief != Belief::Sacked {
                self.arrive(run, news);
            }
        }
    }

    fn mark_sacked(&mut self, gap: Span, news: &mut News) {
        self.split(gap.start);
        self.split(gap.end);
        let mut index = self.index(gap.start);
        while let Some(run) = self.runs.get_mut(index).filter(|run| run.span.start < gap.end) {
            let before = *run;
            run.belief = Belief::Sacked;
            self.arrive(before, news);
            index += 1;
        }
    }

    /// Counts a run that is known to have arrived from now on.
    fn arrive(&mut self, run: Run, news: &mut News) {
        if run.belief == Belief::Lost {
            self.lost -= run.span.len();
        }
        // Blocks come newest first: what counts is the highest byte before this acknowledgement.
        news.delivered.is_reordered |= run.span.end <= self.highest && !run.is_repeated;
        news.add(&run);
    }

    /// Index of the run that holds a sequence number, or of the first behind it.
    fn index(&self, number: u64) -> usize {
        self.runs.partition_point(|run| run.span.end <= number)
    }

    /// Cuts the run that holds `number` in two, before that number.
    fn split(&mut self, number: u64) {
        let index = self.index(number);
        let Some(run) = self.runs.get_mut(index).filter(|run| run.span.start < number) else { return };
        let mut rest = *run;
        run.span.end = number;
        rest.span.start = number;
        self.repeated += usize::from(rest.is_repeated);
        self.runs.insert(index + 1, rest);
    }

    /// Marks runs in flight as lost if `is_lost` says so, from sequence number `from` up to `to`. Returns their bytes.
    pub fn lose(&mut self, from: u64, to: u64, mut is_lost: impl FnMut(&Run) -> bool) -> u64 {
        let before = self.lost;
        let mut index = self.index(from);
        while let Some(run) = self.runs.get_mut(index).filter(|run| run.span.start < to) {
            if run.belief == Belief::InFlight && is_lost(run) {
                run.belief = Belief::Lost;
                self.lost += run.span.len();
                self.lost_from = self.lost_from.min(run.span.start);
            }
            index += 1;
        }
        self.lost - before
    }

    /// Takes the first run that is not known to have arrived for lost.
    pub fn lose_first(&mut self) {
        if let Some(first) = self.runs.front().map(|run| run.span) {
            self.lose(first.start, first.end, |_| true);
        }
    }

    /// Marks the first run as lost, even if a block has reported it: a receiver may take back what it reported (RFC 2018 §8).
    pub fn doubt_first(&mut self) {
        let Some(first) = self.runs.front_mut().filter(|first| first.belief != Belief::Lost) else { return };
        first.belief = Belief::Lost;
        let span = first.span;
        self.sacked.remove_below(span.end);
        self.lost += span.len();
        self.lost_from = span.start;
    }

    /// Cuts what is lost first after one byte, for a probe of the least size.
    pub fn split_first_lost(&mut self) {
        if let Some(span) = self.first_lost() {
            self.split(span.start + 1);
        }
    }

    /// The lost run with the lowest sequence number.
    pub fn first_lost(&mut self) -> Option<Span> {
        if self.lost == 0 {
            return None;
        }
        let start = self.index(self.lost_from);
        let found = self.runs.range(start..).find(|run| run.belief == Belief::Lost)?.span;
        self.lost_from = found.start;
        Some(found)
    }

    /// The run that was sent with the highest sequence number, if it is on its way.
    pub fn last_in_flight(&self) -> Option<Span> {
        self.runs.back().filter(|run| run.belief == Belief::InFlight).map(|run| run.span)
    }

    /// Notes that the run of `span` is sent once more.
    pub fn send_again(&mut self, span: Span, now: Nanos) {
        let index = self.index(span.start);
        let Some(run) = self.runs.get_mut(index) else { return };
        debug_assert_eq!(run.span, span);
        if run.belief == Belief::Lost {
            self.lost -= run.span.len();
            run.belief = Belief::InFlight;
        }
        self.repeated += usize::from(!run.is_repeated);
        run.is_repeated = true;
        run.sent = now;
    }
}

/// What one acknowledgement has told so far.
struct News {
    delivered: Delivered,
    least: Option<Nanos>,
    now: Nanos,
    /// Time at which the oldest was sent.
    oldest: Option<Nanos>,
    /// Whether one of them was sent more than once.
    is_repeated: bool,
    /// End of the highest byte known to have arrived, with this acknowledgement.
    highest: u64,
}

impl News {
    fn add(&mut self, run: &Run) {
        self.delivered.bytes += run.span.len();
        self.is_repeated |= run.is_repeated;
        self.highest = self.highest.max(run.span.end);
        self.oldest = Some(self.oldest.map_or(run.sent, |oldest| oldest.min(run.sent)));
        let is_original = run.is_repeated && self.least.is_some_and(|least| self.now.since(run.sent) < least);
        let key = |newest: &Newest| (newest.sent, newest.end);
        let newest = Newest { sent: run.sent, end: run.span.end, is_repeated: run.is_repeated };
        if !is_original && self.delivered.newest.is_none_or(|known| key(&known) < key(&newest)) {
            self.delivered.newest = Some(newest);
        }
    }
}
