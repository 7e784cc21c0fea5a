//! Marks of purges: what was asked for before a purge, and comes or is found after it, is known to be purged.
//!
//! A purge removes what is stored. It cannot remove what is on its way, and what is found before it has looked there. So it leaves a mark first, by which every
//! stored answer is checked once, when it is found. If there was no purge since the last check, that is one comparison.

use std::collections::VecDeque;
use std::sync::PoisonError;
use std::sync::RwLock;
use std::sync::atomic::{AtomicU64, Ordering};

use trueplane_units::Nanos;

use crate::pattern::Pattern;

/// Marks that are kept, at most. What was asked for before the ones that are gone counts as purged, unless it was checked.
const MOST: usize = 1024;
/// Time for which a mark is kept: most fetches have ended then.
const KEPT: Nanos = Nanos(120 * 1_000_000_000);

/// The purges that a stored answer was checked by.
#[derive(Debug, Default)]
pub(crate) struct Stamp {
    /// Number of the last mark when it was asked for.
    began: u64,
    /// Number of the last mark that it was checked by.
    checked: AtomicU64,
    /// The time since which it is stale, as a purge said so; 0 if none did.
    stale_since: AtomicU64,
}

impl Stamp {
    /// The time since which it is stale, if a purge said so.
    pub(crate) fn stale_since(&self) -> Option<Nanos> {
        let since = self.stale_since.load(Ordering::Acquire);
        (since != 0).then_some(Nanos(since))
    }

    /// It is stale from now on.
    pub(crate) fn soften(&self, now: Nanos) {
        // The first time holds.
        let _ = self.stale_since.compare_exchange(0, now.0.max(1), Ordering::AcqRel, Ordering::Acquire);
    }

    /// Whether it was asked for before a mark was made.
    pub(crate) fn is_before(&self, mark: u64) -> bool {
        self.began < mark
    }
}

struct Mark {
    number: u64,
    pattern: Pattern,
    is_soft: bool,
    made: Nanos,
}

#[derive(Default)]
struct State {
    /// All marks that are kept, in order of their numbers.
    marks: VecDeque<Mark>,
    /// Number of the last mark that is gone.
    gone: u64,
}

/// Marks of purges.
#[derive(Default)]
pub(crate) struct Marks {
    /// Number of the last mark.
    last: AtomicU64,
    state: RwLock<State>,
}

impl Marks {
    /// Number of the last mark.
    pub(crate) fn last(&self) -> u64 {
        self.last.load(Ordering::Acquire)
    }

    /// What an answer knows of purges that is asked for now.
    pub(crate) fn stamp(&self) -> Stamp {
        let last = self.last();
        Stamp { began: last, checked: AtomicU64::new(last), stale_since: AtomicU64::new(0) }
    }

    /// Makes a mark, and returns its number.
    pub(crate) fn make(&self, pattern: Pattern, is_soft: bool, now: Nanos) -> u64 {
        let mut state = self.state.write().unwrap_or_else(PoisonError::into_inner);
        let number = self.last() + 1;
        state.marks.push_back(Mark { number, pattern, is_soft, made: now });
        while state.marks.len() > MOST || state.marks.front().is_some_and(|mark| now.since(mark.made) > KEPT)
        {
            state.gone = state.marks.pop_front().map_or(state.gone, |mark| mark.number);
        }
        self.last.store(number, Ordering::Release);
        number
    }

    /// Whether an answer is still there, after all purges so far; what is to be stale is so from now on.
    pub(crate) fn allow(&self, stamp: &Stamp, url: &[u8], tags: &[u8]) -> bool {
        let checked = stamp.checked.load(Ordering::Acquire);
        checked == self.last() || self.check(stamp, checked, url, tags)
    }

    #[cold]
    fn check(&self, stamp: &Stamp, checked: u64, url: &[u8], tags: &[u8]) -> bool {
        let state = self.state.read().unwrap_or_else(PoisonError::into_inner);
        if checked < state.gone {
            return false;
        }
        let newer = state.marks.iter().rev().take_while(|mark| mark.number > checked);
        for mark in newer.filter(|mark| mark.pattern.has(url, tags)) {
            if !mark.is_soft {
                return false;
            }
            stamp.soften(mark.made);
        }
        stamp.checked.fetch_max(self.last(), Ordering::AcqRel);
        true
    }

    /// Whether an answer that is on its way is one for a request that came at `came`, when `last` was the last mark: it is not if a purge lies between them.
    pub(crate) fn allow_since(
        &self,
        stamp: &Stamp,
        (came, last): (Nanos, u64),
        url: &[u8],
        tags: &[u8],
    ) -> bool {
        if stamp.began >= last {
            return true;
        }
        if stamp.stale_since().is_some_and(|since| since <= came) {
            return false;
        }
        let state = self.state.read().unwrap_or_else(PoisonError::into_inner);
        let between = |mark: &&Mark| stamp.began < mark.number && mark.number <= last;
        stamp.began >= state.gone
            && !state.marks.iter().filter(between).any(|mark| mark.pattern.has(url, tags))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(text: &str) -> Pattern {
        Pattern::url(text).unwrap()
    }

    #[test]
    fn what_was_asked_for_before_is_purged_and_what_comes_later_is_not() {
        let marks = Marks::default();
        let (old, other) = (marks.stamp(), marks.stamp());
        marks.make(url("http://a/"), false, Nanos(1));
        let new = marks.stamp();
        assert!(!marks.allow(&old, b"http://a/", b"") && !marks.allow(&old, b"http://a/", b""));
        assert!(marks.allow(&other, b"http://b/", b"") && marks.allow(&new, b"http://a/", b""));
        assert_eq!(other.checked.load(Ordering::Relaxed), 1);
    }

    #[test]
    fn a_soft_purge_makes_stale_from_its_time_on() {
        let marks = Marks::default();
        let old = marks.stamp();
        marks.make(Pattern::tag("x").unwrap(), true, Nanos(7));
        marks.make(Pattern::tag("y").unwrap(), true, Nanos(9));
        assert_eq!(old.stale_since(), None);
        assert!(marks.allow(&old, b"http://a/", b"x"));
        assert_eq!(old.stale_since(), Some(Nanos(7)));
    }

    #[test]
    fn who_came_after_a_purge_gets_nothing_from_before() {
        let marks = Marks::default();
        let (stamp, before) = (marks.stamp(), (Nanos(1), marks.last()));
        marks.make(url("http://a/"), true, Nanos(2));
        let after = (Nanos(3), marks.last());
        assert!(marks.allow_since(&stamp, before, b"http://a/", b""));
        assert!(!marks.allow_since(&stamp, after, b"http://a/", b""));
        assert!(marks.allow_since(&stamp, after, b"http://b/", b""));
        // It has been found meanwhile, and is known to be stale.
        assert!(marks.allow(&stamp, b"http://a/", b""));
        assert!(!marks.allow_since(&stamp, after, b"http://a/", b""));
    }

    #[test]
    fn marks_are_bounded_and_what_is_older_than_those_that_are_gone_counts_as_purged() {
        let marks = Marks::default();
        let (old, checked) = (marks.stamp(), marks.stamp());
        for _ in 0..MOST {
            marks.make(url("http://a/"), false, Nanos(1));
        }
        assert!(marks.allow(&checked, b"http://b/", b""));
        marks.make(url("http://a/"), false, Nanos(1));
        assert!(!marks.allow(&old, b"http://b/", b"") && marks.allow(&checked, b"http://b/", b""));
        // They go with time, too.
        let old = marks.stamp();
        marks.make(url("http://a/"), false, Nanos(2));
        marks.make(url("http://a/"), false, Nanos(2).after(KEPT));
        assert_eq!(marks.state.read().unwrap().marks.len(), 2);
        assert!(marks.allow(&old, b"http://b/", b""));
    }
}
