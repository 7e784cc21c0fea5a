//! The limiters of all classes: the only part of a replay that knows of which kind they are.

use trueplane_study::Error;
use trueplane_units::{Bytes, Nanos};

use super::arrival::Arrival;
use crate::classes::Classes;
use crate::classifier::{Classifier, Match};
use crate::limiter::{Kept, Settings};
use crate::{Step, Verdict};

/// Outcome for a packet.
#[derive(Clone, Copy, Debug)]
pub(super) struct Outcome {
    pub(super) verdict: Verdict,
    /// Only the limit around its own refused it.
    pub(super) dropped_by_outer: bool,
    /// It was due a mark that its sender does not understand.
    pub(super) unmarkable: bool,
}

/// Limiters of any kind.
pub(super) trait Limits {
    /// The verdict of a packet's limiter and of the one around it: both are charged, or neither.
    fn offer(&mut self, matched: Match, arrival: &Arrival, now: Nanos) -> Outcome;

    /// Occupancy of a limiter's bucket as of its last packet, if the policy can tell.
    fn occupancy(&self, limiter: u32) -> Option<Bytes>;
}

/// A limiter in use.
struct Limited<L> {
    limiter: L,
    /// Time of the last packet that it met.
    last: Nanos,
    outer: Option<u32>,
}

impl<L: Kept> Limited<L> {
    /// Returns the verdict on a packet at `now`, after whatever silence.
    ///
    /// Only a limiter that meets a packet makes up for its refreshes, so that a silence costs nothing by itself.
    fn step(&mut self, bytes: u32, now: Nanos) -> Step<L> {
        self.limiter.refresh(self.last, now);
        self.last = now;
        self.limiter.step(bytes, now)
    }
}

/// Limiters of one kind, in the order of the classifier.
pub(super) struct Bank<L>(Vec<Limited<L>>);

impl<L: Kept> Bank<L> {
    /// A fresh limiter wherever the classifier has one.
    pub(super) fn new(
        classes: &Classes,
        classifier: &Classifier,
        make: impl Fn(&Settings) -> Result<L, Error>,
    ) -> Result<Self, Error> {
        let mut limiters = Vec::with_capacity(classifier.limiter_count() as usize);
        for (index, class) in classes.classes().iter().enumerate() {
            let limiter = make(&Settings { rate: class.rate, burst: class.burst, mark: class.mark })?;
            let fresh = |at| Limited { limiter, last: Nanos(0), outer: classifier.parent(at) };
            limiters.extend(classifier.limiters_of(index).map(fresh));
        }
        Ok(Self(limiters))
    }
}

impl<L: Kept> Limits for Bank<L> {
    fn offer(&mut self, matched: Match, arrival: &Arrival, now: Nanos) -> Outcome {
        let index = matched.limiter as usize;
        let step = self.0[index].step(arrival.length, now);
        let outer = self.0[index].outer.map(|outer| outer as usize);
        let outer = outer.map(|outer| (outer, self.0[outer].step(arrival.length, now)));
        let worst = outer.as_ref().map_or(step.verdict, |(_, outer)| outer.verdict.max(step.verdict));
        let dropped_by_outer = worst == Verdict::Drop && step.verdict != Verdict::Drop;
        // Whoever does not understand marks gets none.
        let unmarkable = worst == Verdict::Mark && !arrival.ecn_capable;
        let verdict = if unmarkable { Verdict::Pass } else { worst };
        let drops = verdict == Verdict::Drop;
        if let Some((outer, step)) = outer {
            self.0[outer].limiter = if drops { step.refused } else { step.admitted };
        }
        self.0[index].limiter = if drops { step.refused } else { step.admitted };
        Outcome { verdict, dropped_by_outer, unmarkable }
    }

    fn occupancy(&self, limiter: u32) -> Option<Bytes> {
        self.0[limiter as usize].limiter.occupancy()
    }
}

#[cfg(test)]
mod tests {
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
        let classifier = Classifier::new(&classes);
        let mut bank = Bank::new(&classes, &classifier, |_| Ok(Counting)).unwrap();
        assert_eq!(bank.0.len(), 1 << 12);
        for days in [0, 30] {
            let matched = Match { class: 0, limiter: 7, counter: 0 };
            let time = Nanos(days * 86_400_000_000_000);
            let arrival =
                Arrival { time, length: 1500, matched: Some(matched), flow: None, ecn_capable: false };
            bank.offer(matched, &arrival, time);
        }
        assert_eq!(REFRESHES.get(), 2);
    }
}
