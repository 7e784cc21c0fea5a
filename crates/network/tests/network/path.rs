//! A path with a bottleneck and faults between a sender and a receiver, which checks at each step what must always hold.

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};

use trueplane_network::Nanos;
use trueplane_network::transport::recovery::Stage;
use trueplane_network::transport::scoreboard::Belief;
use trueplane_network::transport::span::SpanSet;
use trueplane_network::transport::{CongestionControl, Ecn, LossRecovery, Receiver, Segment};

use crate::senders::AnySender;

/// What becomes of a segment on its way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    Arrives,
    Lost,
    /// It arrives so much later than it would.
    Late(Nanos),
    /// It arrives twice, the second time so much later.
    Twice(Nanos),
    /// A queue marks it, or drops it if it may not be marked.
    Marked,
}

/// Decides what becomes of each segment, by its number from 0 on.
pub(crate) type Faults<'a> = dyn FnMut(usize, &Segment) -> Fate + 'a;

/// What is read by whom, when: an application that reads slowly.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reads {
    pub(crate) first: Nanos,
    pub(crate) every: Nanos,
    pub(crate) bytes: u64,
}

/// A path to run a connection over.
pub(crate) struct Path<'a> {
    /// Time from one end to the other.
    pub(crate) delay: Nanos,
    /// Time that a segment with data takes at the bottleneck.
    pub(crate) gap: Nanos,
    pub(crate) forth: Box<Faults<'a>>,
    pub(crate) back: Box<Faults<'a>>,
    pub(crate) reads: Option<Reads>,
}

impl Default for Path<'_> {
    fn default() -> Self {
        Self {
            delay: Nanos::from_micros(10),
            gap: Nanos::from_micros(2),
            forth: Box::new(|_, _| Fate::Arrives),
            back: Box::new(|_, _| Fate::Arrives),
            reads: None,
        }
    }
}

/// What a connection did.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Report {
    pub(crate) finished: Nanos,
    pub(crate) sent: Vec<(Nanos, Segment)>,
    pub(crate) acks: Vec<(Nanos, Segment)>,
    /// Segments with data that had been sent before.
    pub(crate) repeated: usize,
    pub(crate) least_cwnd: u64,
    pub(crate) last_cwnd: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    Data(usize),
    Ack(usize),
    Wake,
    Read,
}

const MOST_EVENTS: usize = 400_000;

/// Sends `bytes` from one end to the other, and lets all timers run out.
pub(crate) fn carry(
    name: &str,
    mut sender: AnySender,
    mut receiver: Receiver,
    bytes: u64,
    mut path: Path<'_>,
) -> Report {
    let mut report = Report { least_cwnd: u64::MAX, ..Report::default() };
    let mut events = BinaryHeap::new();
    let mut order = 0;
    let mut at = |events: &mut BinaryHeap<_>, time: Nanos, event: Event| {
        order += 1;
        events.push(Reverse((time, order, event)));
    };
    let mut arrived = Naive::default();
    let mut free = Nanos(0);
    let mut wakeups = BTreeSet::new();
    sender.write(bytes);
    sender.close();
    at(&mut events, Nanos(0), Event::Wake);
    let mut books = Books::new(&sender);
    let mut done = None;
    let mut is_reading = path.reads.is_some();
    if let Some(reads) = path.reads {
        at(&mut events, reads.first, Event::Read);
    }
    for count in 0.. {
        assert!(count < MOST_EVENTS, "{name}: it does not end");
        let Some(Reverse((now, _, event))) = events.pop() else { break };
        match event {
            Event::Data(index) => {
                let segment = report.sent[index].1;
                arrived.take(&segment, &receiver);
                receiver.on_segment(&segment, now);
                if let Some(reads) = path.reads.filter(|_| !is_reading) {
                    is_reading = true;
                    at(&mut events, now.after(reads.every), Event::Read);
                }
            }
            Event::Ack(index) => {
                books.hear(&sender, &report.acks[index].1);
                sender.on_segment(&report.acks[index].1, now);
            }
            Event::Wake => _ = wakeups.remove(&now),
            Event::Read => {
                let reads = path.reads.unwrap();
                receiver.read(reads.bytes, now);
                // With nothing to read it waits for data.
                is_reading = receiver.unread() > 0;
                if is_reading {
                    at(&mut events, now.after(reads.every), Event::Read);
                }
            }
        }
        let mut repetitions = 0;
        loop {
            let before = State::of(&sender, now);
            let Some(mut segment) = sender.poll(now) else { break };
            // What has arrived twice may ask for an acknowledgement twice.
            assert!(done.is_none() || segment.span().is_empty(), "{name}: it is done, and sends {segment:?}");
            before.check(name, &sender, &segment);
            books.send(&segment);
            repetitions += books.check(name, &sender, &segment, &before);
            assert!(repetitions < 2, "{name}: {segment:?} is the second repetition beyond the window");
            let fate = (path.forth)(report.sent.len(), &segment);
            report.repeated += usize::from(segment.length > 0 && segment.sequence < before.next);
            let marked = fate == Fate::Marked && segment.ecn == Ecn::Capable;
            if marked {
                segment.ecn = Ecn::Experienced;
            }
            report.sent.push((now, segment));
            let start = now.max(free);
            let arrival = start.after(path.gap).after(path.delay);
            free = start.after(path.gap);
            for late in fate.arrivals(marked) {
                at(&mut events, arrival.after(late), Event::Data(report.sent.len() - 1));
            }
        }
        while let Some(segment) = receiver.poll(now) {
            let fate = (path.back)(report.acks.len(), &segment);
            report.acks.push((now, segment));
            for late in fate.arrivals(false) {
                at(&mut events, now.after(path.delay).after(late), Event::Ack(report.acks.len() - 1));
            }
        }
        arrived.check(name, &receiver);
        check_board(name, &sender);
        if done.is_none() {
            report.least_cwnd = report.least_cwnd.min(sender.control().cwnd());
            report.last_cwnd = sender.control().cwnd();
        }
        if done.is_none() && sender.is_done() {
            done = Some((now, report.acks.len()));
        }
        for wakeup in [sender.wakeup(), receiver.wakeup()].into_iter().flatten() {
            assert!(wakeup > now, "{name}: a wake-up at {wakeup:?}, and it is {now:?}");
            if wakeups.insert(wakeup) {
                at(&mut events, wakeup, Event::Wake);
            }
        }
    }
    let (finished, acks) = done.unwrap_or_else(|| panic!("{name}: nothing will happen any more"));
    assert!(sender.is_done(), "{name}: what is done stays so");
    assert_eq!(sender.wakeup(), None, "{name}: nothing is left to do");
    assert_eq!(receiver.received(), bytes, "{name}: bytes that arrived in order");
    // The report ends when the sender is done.
    report.finished = finished;
    report.acks.truncate(acks);
    report
}

impl Fate {
    fn arrivals(self, is_marked: bool) -> Vec<Nanos> {
        match self {
            Fate::Arrives => vec![Nanos(0)],
            Fate::Late(late) => vec![late],
            Fate::Twice(late) => vec![Nanos(0), late],
            Fate::Marked if is_marked => vec![Nanos(0)],
            Fate::Lost | Fate::Marked => vec![],
        }
    }
}

/// The sender before it sends a segment.
struct State {
    next: u64,
    in_flight: u64,
    outstanding: u64,
    /// A timer of loss recovery is due, which may probe the tail.
    may_probe: bool,
}

impl State {
    fn of(sender: &AnySender, now: Nanos) -> Self {
        Self {
            next: sender.board().next(),
            in_flight: sender.in_flight(),
            outstanding: sender.board().outstanding(),
            may_probe: sender.recovery().timer().is_some_and(|timer| timer <= now),
        }
    }

    /// No more is on its way than either window allows.
    fn check(&self, name: &str, sender: &AnySender, segment: &Segment) {
        let end = segment.span().end;
        let is_window_probe = self.outstanding == 0 && segment.span().len() == 1;
        assert!(
            end <= sender.window_end() || is_window_probe,
            "{name}: {segment:?} is beyond the receiver's window"
        );
        let window = sender.window();
        // A tail is probed whatever the window, by one segment (RFC 8985 §7.3).
        let allowed = if self.may_probe { window.max(self.in_flight + segment.span().len()) } else { window };
        if segment.sequence >= self.next && !segment.span().is_empty() && self.in_flight > 0 {
            let in_flight = sender.in_flight();
            assert!(in_flight <= allowed, "{name}: {in_flight} bytes in a window of {allowed}: {segment:?}");
        }
    }
}

/// What is on its way, by what was seen to leave and to come back, without a look at the sender's own count.
struct Books {
    next: u64,
    acknowledged: u64,
    sacked: SpanSet,
    /// Acknowledgements in this recovery, and duplicates before it: each may let a segment leave (RFC 3042, RFC 5681 §3.2).
    heard: u64,
    /// Longest segment so far.
    longest: u64,
    reads_sack: bool,
}

impl Books {
    fn new(sender: &AnySender) -> Self {
        let start = sender.board().next();
        let reads_sack = sender.recovery().reads_sack();
        Self { next: start, acknowledged: start, sacked: SpanSet::new(), heard: 0, longest: 0, reads_sack }
    }

    fn hear(&mut self, sender: &AnySender, ack: &Segment) {
        if ack.ack < self.acknowledged {
            return;
        }
        let is_quiet = match sender.recovery().episode().stage() {
            Stage::Open => ack.ack > self.acknowledged,
            Stage::FastRecovery => false,
            Stage::AfterTimeout => true,
        };
        self.heard = if is_quiet || self.reads_sack { 0 } else { self.heard + 1 };
        self.acknowledged = ack.ack;
        for block in ack.sack.as_slice() {
            self.sacked.insert(*block);
        }
        self.sacked.remove_below(ack.ack);
    }

    fn send(&mut self, segment: &Segment) {
        self.next = self.next.max(segment.span().end);
        self.longest = self.longest.max(segment.span().len());
    }

    /// Bytes on their way are within the window. Returns one for a repetition that is not: the first lost segment may leave all the same.
    fn check(&self, name: &str, sender: &AnySender, segment: &Segment, before: &State) -> usize {
        let length = segment.span().len();
        if length == 0 || before.may_probe {
            return 0;
        }
        let sacked = if self.reads_sack { self.sacked.total() } else { 0 };
        let on_their_way = (self.next - self.acknowledged).saturating_sub(sender.board().lost() + sacked);
        // A segment may always be on its way.
        let allowed = sender.window().max(length) + self.heard * self.longest;
        let is_new = segment.sequence >= before.next;
        assert!(on_their_way <= allowed || !is_new, "{name}: {on_their_way} bytes in {allowed}: {segment:?}");
        usize::from(on_their_way > allowed)
    }
}

/// The counters of the scoreboard are what its runs say.
fn check_board(name: &str, sender: &AnySender) {
    let board = sender.board();
    let sum = |belief: Belief| -> u64 {
        board.runs().filter(|run| run.belief == belief).map(|run| run.span.len()).sum()
    };
    let (in_flight, lost, sacked) = (sum(Belief::InFlight), sum(Belief::Lost), sum(Belief::Sacked));
    assert_eq!([board.pipe(), board.lost(), board.sacked().total()], [in_flight, lost, sacked], "{name}");
    let repeated = board.runs().filter(|run| run.is_repeated).count();
    assert_eq!(board.has_repeated(), repeated > 0, "{name}");
    let mut end = board.acknowledged();
    for run in board.runs() {
        assert_eq!(run.span.start, end, "{name}: a run begins where the last one ends");
        end = run.span.end;
    }
    assert_eq!(end, board.next(), "{name}");
}

/// Every byte that arrived within the window, as stretches in the order of their sequence numbers.
#[derive(Default)]
struct Naive {
    ends: BTreeSet<(u64, u64)>,
    next: u64,
    fin: Option<u64>,
}

impl Naive {
    fn take(&mut self, segment: &Segment, receiver: &Receiver) {
        if segment.flags.syn {
            return;
        }
        let span = segment.span();
        if segment.flags.fin {
            self.fin = Some(span.end - 1);
        }
        let end = span.end.min(receiver.window_end() + u64::from(self.fin == Some(receiver.window_end())));
        if end > span.start {
            self.ends.insert((span.start, end));
        }
    }

    /// The longest stretch without a gap from the first byte on is what the receiver has in order.
    fn check(&mut self, name: &str, receiver: &Receiver) {
        let mut next = self.next.max(1);
        for &(start, end) in &self.ends {
            if start <= next && end > next {
                next = end;
            }
        }
        self.next = next;
        self.ends.retain(|(_, end)| *end > next);
        let bytes = next - 1 - u64::from(self.fin.is_some_and(|fin| next > fin));
        assert_eq!(receiver.received(), bytes, "{name}: bytes in order");
        let beyond: u64 = receiver.beyond().total();
        let (mut covered, mut end_so_far) = (0, next);
        for &(start, end) in &self.ends {
            let start = start.max(end_so_far);
            covered += end.saturating_sub(start);
            end_so_far = end_so_far.max(end);
        }
        assert_eq!(beyond, covered, "{name}: bytes beyond gaps");
    }
}
