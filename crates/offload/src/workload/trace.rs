//! The keys of a trace's requests.

use trueplane_study::Error;
use trueplane_trace::{Clock, Request, RequestReader, Trace};

use crate::Key;
use crate::workload::lookups::{CHUNK, Keys, Lookups};

/// The keys of a trace's requests, one a slot.
pub(super) struct Keyed {
    reader: RequestReader,
    requests: Vec<Request>,
}

impl Keyed {
    /// Reads `trace` from its start.
    pub(super) fn new(trace: &Trace) -> Result<Self, Error> {
        // Of their times nothing is wanted but the order, which only a reader that looks at them puts right.
        let clock = if trace.fields().time { Clock::Timestamps } else { Clock::Steps };
        Ok(Self { reader: trace.reader(clock)?, requests: Vec::new() })
    }
}

impl Lookups for Keyed {
    fn next_chunk(&mut self, out: &mut Vec<Key>) -> Result<bool, Error> {
        out.clear();
        while out.len() < CHUNK && self.reader.next_chunk(&mut self.requests)? {
            out.extend(self.requests.iter().map(|request| Key(request.key)));
        }
        Ok(!out.is_empty())
    }

    fn position(&self) -> u64 {
        self.reader.position()
    }

    fn skipped(&self) -> &[(String, u64)] {
        self.reader.skipped()
    }

    fn keys(&self) -> Keys {
        self.reader.census().map_or(Keys::default(), |census| Keys {
            distinct: Some(census.distinct),
            collided: Some(census.collided),
            one_in: census.one_in,
        })
    }
}
