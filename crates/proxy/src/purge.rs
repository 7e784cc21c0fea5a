//! Purges what is stored.

use trueplane_units::Nanos;

use crate::head::head_of;
use crate::pattern::Pattern;
use crate::store::{Store, url_in};

/// Purges what is stored, and what is on its way. Returns the number of answers that were there; of those on the disk, only that of a URL is known.
pub(crate) fn purge(store: &Store, pattern: &Pattern, is_soft: bool, now: Nanos) -> u64 {
    let make = || store.marks.make(pattern.clone(), is_soft, now);
    let mark = match (pattern, &store.disk) {
        (Pattern::Url(url), disk) => {
            if !store.is_varying(url) {
                return u64::from(match is_soft {
                    true => store.soften(url, now),
                    false => store.invalidate(url).was_there,
                });
            }
            // The disk knows of no variant whether it is stale: it gets none that is older, as they have other names from now on.
            if !is_soft || disk.is_some() {
                store.invalidate(url);
            }
            make()
        }
        // Which URLs and tags are there is known of none of its objects before it is read: all of them go.
        (Pattern::Prefix(_) | Pattern::Tag(_) | Pattern::Glob(_), Some(disk)) => disk.clear_while(make),
        (Pattern::Prefix(_) | Pattern::Tag(_) | Pattern::Glob(_), None) => make(),
    };
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
