//! An answer that counts when it has been sent.

use std::sync::Arc;

use trueplane_units::Nanos;

use crate::clock::now;
use crate::head::Took;
use crate::tally::{Served, Tally};
use crate::top::Top;

/// An answer that counts when this is dropped: all has been sent then, or its client has left.
pub(crate) struct Counted {
    pub(crate) tally: Arc<Tally>,
    pub(crate) served: Served,
    /// The table of URLs and the request's, if it is counted there.
    pub(crate) url: Option<(Arc<Top>, Box<[u8]>)>,
    pub(crate) came: Nanos,
    pub(crate) ends: Ends,
    pub(crate) sent: u64,
}

/// The end of a request's wait.
pub(crate) enum Ends {
    /// It has ended already.
    At(Nanos),
    /// The end of the fetch of what is sent.
    With(Took),
}

impl Drop for Counted {
    fn drop(&mut self) {
        let now = now();
        let (ended, took) = match &self.ends {
            Ends::At(ended) => (*ended, None),
            Ends::With(took) => {
                took.get().map_or((now, None), |fetched| (fetched.ended.min(now), Some(fetched.took)))
            }
        };
        let wait = ended.since(self.came);
        self.tally.served(self.served, wait, took, self.sent);
        if let Some((top, url)) = &self.url {
            top.waited(url, wait, now);
        }
    }
}
