use std::cell::Cell;

use super::*;

thread_local! {
    static REFRESHES: Cell<u64> = const { Cell::new(0) };
}

/// Lets everything pass, and counts how often it is refreshed.
#[derive(Clone, Copy)]
struct Counting;

impl crate::Limiter for Counting {
    fn step(&self, _bytes: u32, _now: Nanos) -> Step<Self> {
        Step { verdict: Verdict::Pass, admitted: *self, refused: *self }
    }
}

impl Kept for Counting {
    fn refresh(&mut self, _last: Nanos, _now: Nanos) {
        REFRESHES.set(REFRESHES.get() + 1);
    }
}

#[test]
fn a_silence_costs_one_refresh_for_every_limiter_that_meets_a_packet() {
    let text = "[[class]]\nname = \"a\"\nrate = \"1Mbps\"\nsource = \"10.0.0.0/16\"\neach = 28\n";
    let classes = Classes::parse("classes.toml", text).unwrap();
    let options = Options {
        policy: PolicyName::Nimble,
        drain: Drain::Exact,
        bin: Nanos(1_000_000),
        speedup: 1_000_000,
    };
    let mut run = Run::new(&classes, &options, |_| Ok(Counting)).unwrap();
    assert_eq!(run.limiters.len(), 1 << 12);
    for days in [0, 30] {
        let arrival = Arrival {
            time: Nanos(days * 86_400_000_000_000),
            length: 1500,
            matched: Some(Match { class: 0, limiter: 7, counter: 0 }),
            flow: None,
            ecn_capable: false,
        };
        run.arrive(&arrival).unwrap();
    }
    assert_eq!(REFRESHES.get(), 2);
}
