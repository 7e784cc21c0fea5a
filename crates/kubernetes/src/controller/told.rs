//! What people were told, so that nothing is said twice.

use std::collections::HashMap;

use trueplane_fair::Nanos;

/// What has not changed is told again after this.
const AGAIN: u64 = 600_000_000_000;

/// The things that were told, and when.
#[derive(Debug, Default)]
pub(super) struct Told {
    /// By unique number or name: the last thing that was told of it, without numbers that change all the time.
    last: HashMap<String, (String, Nanos)>,
    /// When the next round may be.
    pub(super) round: Nanos,
}

impl Told {
    /// Nothing was told of it.
    pub(super) fn forget(&mut self, uid: &str) {
        self.last.remove(uid);
    }

    /// Whether `what` is news of `about`; notes it.
    pub(super) fn is_news(&mut self, about: &str, what: &str, now: Nanos) -> bool {
        let known = self.last.get(about);
        let is_old = known.is_some_and(|(last, at)| last == what && now.0.saturating_sub(at.0) < AGAIN);
        if !is_old {
            self.last.insert(about.to_owned(), (what.to_owned(), now));
        }
        !is_old
    }
}
