//! Scripts: what one end is told, and what it must answer, line by line.
//!
//! ```text
//!     0 write 3000            the application writes
//!     0 > S 0+0               the end sends exactly this, at this time in µs
//!   100 < S ack 1             it is sent this
//!   100 = cwnd 4000           a value that it must have by then
//! ```
//!
//! Before each line, timers run up to its time; whatever an end sends must be in the script. Segments are flags (`S`, `F`, `E` for ECN-Echo,
//! `W` for CWR), `sequence+length` for data, `ack N`, `win N` unless it is 65535, `sack a-b`, and `ect` or `ce` of the packet. `at N` is the
//! time in µs that a segment carries; it is only read, not compared.

use std::collections::VecDeque;

use trueplane_network::Nanos;
use trueplane_network::transport::{
    CongestionControl, Dctcp, Ecn, LossRecovery, Receiver, Segment, Sender, Span,
};

/// One end of a connection, as a script sees it.
pub(crate) trait End {
    fn hear(&mut self, segment: &Segment, now: Nanos);
    fn poll(&mut self, now: Nanos) -> Option<Segment>;
    fn wakeup(&self) -> Option<Nanos>;
    /// Does what a script's verb says.
    fn act(&mut self, verb: &str, number: u64, now: Nanos);
    /// The value of a name.
    fn value(&self, name: &str) -> u64;
}

impl<C: CongestionControl, R: LossRecovery> End for Sender<C, R> {
    fn hear(&mut self, segment: &Segment, now: Nanos) {
        self.on_segment(segment, now);
    }

    fn poll(&mut self, now: Nanos) -> Option<Segment> {
        self.poll(now)
    }

    fn wakeup(&self) -> Option<Nanos> {
        self.wakeup()
    }

    fn act(&mut self, verb: &str, number: u64, _now: Nanos) {
        match verb {
            "write" => self.write(number),
            "close" => self.close(),
            _ => panic!("expected write or close, got {verb}"),
        }
    }

    fn value(&self, name: &str) -> u64 {
        match name {
            "cwnd" => self.control().cwnd(),
            "ssthresh" => self.control().ssthresh(),
            "flight" => self.in_flight(),
            "rto" => self.round_trip().timeout().0 / 1_000,
            "srtt" => self.round_trip().smoothed().unwrap().0 / 1_000,
            "done" => u64::from(self.is_done()),
            _ => panic!("expected cwnd, ssthresh, flight, rto, srtt or done, got {name}"),
        }
    }
}

impl End for Receiver {
    fn hear(&mut self, segment: &Segment, now: Nanos) {
        self.on_segment(segment, now);
    }

    fn poll(&mut self, now: Nanos) -> Option<Segment> {
        self.poll(now)
    }

    fn wakeup(&self) -> Option<Nanos> {
        self.wakeup()
    }

    fn act(&mut self, verb: &str, number: u64, now: Nanos) {
        assert_eq!(verb, "read");
        self.read(number, now);
    }

    fn value(&self, name: &str) -> u64 {
        match name {
            "received" => self.received(),
            "finished" => u64::from(self.is_finished()),
            _ => panic!("expected received or finished, got {name}"),
        }
    }
}

/// The share of marked bytes that a DCTCP sender estimates, in thousandths.
pub(crate) fn alpha_per_mille<R: LossRecovery>(sender: &Sender<Dctcp, R>) -> u64 {
    (sender.control().alpha() * 1_000) >> 20
}

/// Runs a script on an end.
pub(crate) fn run(end: &mut impl End, script: &str) {
    let mut sent: VecDeque<(u64, String)> = VecDeque::new();
    let mut now = 0;
    for line in
        script.lines().map(|line| line.split('#').next().unwrap().trim()).filter(|line| !line.is_empty())
    {
        let (time, rest) = line.split_once(' ').unwrap();
        let time: u64 = time.parse().unwrap_or_else(|_| panic!("expected µs, got {time}: {line}"));
        assert!(time >= now, "{line}: it is {now} µs already");
        let (verb, rest) = rest.trim().split_once(' ').unwrap_or((rest.trim(), ""));
        // What is sent within a microsecond stands in the script at its start.
        let until = if verb == ">" { time * 1_000 + 999 } else { time * 1_000 };
        while let Some(wakeup) = end.wakeup().filter(|wakeup| wakeup.0 <= until) {
            poll(end, wakeup, &mut sent);
        }
        now = time;
        let at = Nanos(now * 1_000);
        if verb == ">" {
            let words: Vec<&str> = rest.split_whitespace().collect();
            let next = sent.pop_front();
            assert_eq!(next, Some((now, words.join(" "))), "at the line: {line}");
            continue;
        }
        if verb == "=" {
            let (name, number) = rest.trim().split_once(' ').unwrap();
            assert_eq!(end.value(name), number.trim().parse::<u64>().unwrap(), "at the line: {line}");
            continue;
        }
        assert!(sent.is_empty(), "before the line: {line}: it sent {sent:?}");
        match verb {
            "<" => end.hear(&parse(rest), at),
            "pass" => {}
            verb => end.act(verb, rest.trim().parse().unwrap_or(0), at),
        }
        poll(end, at, &mut sent);
    }
    assert!(sent.is_empty(), "at the end it sent {sent:?}");
}

fn poll(end: &mut impl End, now: Nanos, sent: &mut VecDeque<(u64, String)>) {
    while let Some(segment) = end.poll(now) {
        sent.push_back((now.0 / 1_000, write(&segment)));
    }
    assert!(end.wakeup().is_none_or(|wakeup| wakeup > now), "a wake-up that is not in the future");
}

fn write(segment: &Segment) -> String {
    let flags = segment.flags;
    let names = [(flags.syn, "S"), (flags.fin, "F"), (flags.ece, "E"), (flags.cwr, "W")];
    let mut words: Vec<String> =
        names.iter().filter(|(is_set, _)| *is_set).map(|(_, name)| name.to_string()).collect();
    // What has a window is the receiver's.
    if segment.window == 0 && !segment.flags.ack || segment.sequence > 1 || segment.length > 0 || flags.fin {
        words.push(format!("{}+{}", segment.sequence, segment.length));
    } else if flags.ack {
        words.push(format!("ack {}", segment.ack));
        if segment.window != 65_535 {
            words.push(format!("win {}", segment.window));
        }
        if !segment.sack.is_empty() {
            let blocks = segment.sack.as_slice().iter().map(|block| format!("{}-{}", block.start, block.end));
            words.push(format!("sack {}", blocks.collect::<Vec<_>>().join(" ")));
        }
    }
    match segment.ecn {
        Ecn::NotCapable => {}
        Ecn::Capable => words.push("ect".to_owned()),
        Ecn::Experienced => words.push("ce".to_owned()),
    }
    words.join(" ")
}

fn parse(text: &str) -> Segment {
    let mut segment = Segment { window: 65_535, ..Segment::default() };
    let mut words = text.split_whitespace();
    while let Some(word) = words.next() {
        let mut number = || words.next().unwrap().parse::<u64>().unwrap();
        match word {
            "S" => segment.flags.syn = true,
            "F" => segment.flags.fin = true,
            "E" => segment.flags.ece = true,
            "W" => segment.flags.cwr = true,
            "ack" => {
                segment.flags.ack = true;
                segment.ack = number();
            }
            "win" => segment.window = number() as u32,
            "at" => segment.stamp = Nanos(number() * 1_000),
            "sack" => {}
            "ect" => segment.ecn = Ecn::Capable,
            "ce" => segment.ecn = Ecn::Experienced,
            word => {
                let pair = |mark| {
                    word.split_once(mark)
                        .map(|(one, two): (&str, &str)| (one.parse().unwrap(), two.parse().unwrap()))
                };
                if let Some((start, end)) = pair('-') {
                    segment.sack.push(Span { start, end });
                } else {
                    let (sequence, length): (u64, u64) = pair('+').unwrap();
                    (segment.sequence, segment.length) = (sequence, length as u32);
                }
            }
        }
    }
    segment
}
