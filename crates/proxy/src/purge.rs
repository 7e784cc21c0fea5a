//! Purges what is stored.

use trueplane_units::Nanos;

use crate::head::head_of;
use crate::pattern::Pattern;
use crate::store::{Store, url_in};

/// Purges what is stored, and what is on its way. Returns the number of answers that were there.
pub(crate) fn purge(store: &Store, pattern: &Pattern, is_soft: bool, now: Nanos) -> u64 {
    if let Pattern::Url(url) = pattern {
        if !store.is_varying(url) {
            return u64::from(if is_soft { store.soften(url, now) } else { store.invalidate(url) });
        }
        if !is_soft {
            store.invalidate(url);
        }
    }
    let mark = store.marks.make(pattern.clone(), is_soft, now);
    let mut count = 0;
    for (name, object) in store.objects.iter() {
        let Some(head) = head_of(&object) else { continue };
        let url = url_in(&name);
        count += u64::from(head.stamp.is_before(mark) && pattern.has(url, &head.tags));
        // This makes what is to be stale so, and saves a check when it is found.
        if !store.marks.allow(&head.stamp, url, &head.tags) {
            store.objects.remove(&name);
        }
    }
    count
}
