//! What is looked up: keys that are drawn, or those of a trace.
//!
//! 1. [`Workload`], which can be read as often as wanted; [`lookups`]: one reading of it; [`name`]: how people write it.
//! 2. `alias`, [`zipf`]: keys that are drawn, whose popularity changes.
//! 3. `trace`: the keys of a trace's requests.

mod alias;
pub mod lookups;
pub mod name;
#[cfg(test)]
mod tests;
mod trace;
pub mod zipf;

use std::path::Path;
use std::sync::{Arc, OnceLock};

use trueplane_study::Error;
use trueplane_trace::{Trace, TraceOptions};

use self::alias::Alias;
use self::lookups::Lookups;
use self::zipf::{Changes, PREFIX, Zipf};
use crate::timing::Timing;

/// Lookups, one a slot: a generator of them, or a trace.
#[derive(Clone)]
pub struct Workload {
    name: String,
    source: Source,
}

#[derive(Clone)]
enum Source {
    /// With the table that it is drawn by, made when it is first wanted.
    Zipf(Zipf, Arc<OnceLock<Arc<Alias>>>),
    Trace(Arc<Trace>),
}

impl Workload {
    /// The workload that `text` names: `zipf:…` ([`Zipf`]), or the path of a trace, `-` being standard input, that is
    /// read as `options` say. Hashed keys of a trace are counted ([`TraceOptions::census`]) whatever they say.
    ///
    /// # Errors
    ///
    /// The text is not what it should be, or there is no such trace.
    pub fn open(text: &str, options: &TraceOptions) -> Result<Self, Error> {
        let Some(zipf) = text.strip_prefix(PREFIX) else {
            let options = TraceOptions { census: true, ..options.clone() };
            return Ok(Self::from(Trace::open(Path::new(text), &options)?));
        };
        let zipf = zipf.parse().map_err(|problem| Error::Parameters(format!("{text}: {problem}")))?;
        Ok(Self { name: text.to_owned(), source: Source::Zipf(zipf, Arc::default()) })
    }

    /// Name of the workload, as the user wrote it.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Parameters of drawn lookups; `None` for a trace.
    pub fn zipf(&self) -> Option<&Zipf> {
        match &self.source {
            Source::Zipf(zipf, _) => Some(zipf),
            Source::Trace(_) => None,
        }
    }

    /// The same workload with `keys` keys in each change.
    ///
    /// # Errors
    ///
    /// Nothing changes in the workload, or it has fewer keys.
    pub fn with_change(&self, keys: u64) -> Result<Self, Error> {
        let refused = |problem: String| Err(Error::Parameters(format!("{}: {problem}", self.name)));
        let Source::Zipf(zipf, table) = &self.source else {
            return refused(
                "a trace has no levels of change; they need a workload zipf:… with hot-in=…".to_owned(),
            );
        };
        let Some(change) = zipf.change else {
            return refused("--hot-in: levels of change need hot-in=… or shift=… in the workload".to_owned());
        };
        if keys > zipf.keys {
            return refused(format!("expected levels of change up to {} keys, got {keys}", zipf.keys));
        }
        let zipf = Zipf { change: Some(zipf::Change { keys, ..change }), ..zipf.clone() };
        Ok(Self { name: self.name.clone(), source: Source::Zipf(zipf, Arc::clone(table)) })
    }

    /// Number of keys that change at once; `None` where nothing changes or nobody knows.
    pub fn change(&self) -> Option<u64> {
        self.zipf().and_then(|zipf| zipf.change).map(|change| change.keys)
    }

    /// The slots at which popularity changes; none if nobody knows.
    pub fn changes(&self, timing: Timing) -> Changes {
        self.zipf().map_or(Changes::NONE, |zipf| zipf.changes(timing))
    }

    /// The number of lookups, where that is known before they are read.
    pub fn len_hint(&self, timing: Timing) -> Option<u64> {
        self.zipf().map(|zipf| zipf.lookups(timing))
    }

    /// Last value of [`Lookups::position`], for progress bars: the number of lookups, or a trace's bytes.
    pub fn extent(&self, timing: Timing) -> u64 {
        match &self.source {
            Source::Zipf(zipf, _) => zipf.lookups(timing),
            Source::Trace(trace) => trace.bytes(),
        }
    }

    /// Reads the workload from its start. What is drawn is the same for the same seed; a trace has no use for it.
    ///
    /// # Errors
    ///
    /// The trace cannot be read.
    pub fn lookups(&self, timing: Timing, seed: u64) -> Result<Box<dyn Lookups>, Error> {
        Ok(match &self.source {
            Source::Zipf(zipf, table) => {
                // Checked when it was parsed, or by whoever made it.
                let keys = zipf.keys.clamp(1, zipf::MOST_KEYS) as u32;
                let table = table.get_or_init(|| Arc::new(Alias::zipf(zipf.exponent, keys)));
                Box::new(zipf.draw(Arc::clone(table), timing, seed))
            }
            Source::Trace(trace) => Box::new(trace::Keyed::new(trace)?),
        })
    }
}

/// A trace: the keys of its requests in their order, one a slot, whatever their times.
impl From<Trace> for Workload {
    fn from(trace: Trace) -> Self {
        Self { name: trace.name().to_owned(), source: Source::Trace(Arc::new(trace)) }
    }
}
