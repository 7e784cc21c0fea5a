//! What turns the bytes of one format into requests.

use trueplane_units::Nanos;

use crate::Request;
use crate::census::KeyCensus;
use crate::error::TraceError;

/// Turns the bytes of one format into requests.
pub(super) trait Decode: Send {
    /// Appends requests to `out` until it holds `most` of them or the trace ends; `false` when it has ended.
    fn decode(&mut self, out: &mut Vec<Request>, most: usize) -> Result<bool, TraceError>;

    /// No request that is still to come has a time before this; see [`super::timeline::Timeline::settled`].
    fn settled(&self) -> Nanos;

    /// Things in the trace that were no requests, with their counts.
    fn skipped(&self) -> &Skipped;

    /// Counts of the keys so far; nothing where nobody counts them.
    fn census(&self) -> Option<KeyCensus> {
        None
    }
}

/// Things in a trace that were no requests, with their counts.
#[derive(Default)]
pub(super) struct Skipped(Vec<(String, u64)>);

impl Skipped {
    /// Counts one more of `what`, a phrase in the plural: `packets that are not IP`.
    ///
    /// It is a literal of the program, as in [`Self::count_numbered`], so that no trace can fill the memory with names.
    pub(super) fn count(&mut self, what: &'static str) {
        match self.0.iter_mut().find(|(name, _)| name == what) {
            Some((_, count)) => *count += 1,
            None => self.0.push((what.to_owned(), 1)),
        }
    }

    /// Every kind and how often it was met.
    pub(super) fn counts(&self) -> &[(String, u64)] {
        &self.0
    }

    /// `problem`, with all that was skipped in brackets.
    pub(super) fn explain(&self, problem: &str) -> String {
        let skipped: Vec<String> = self.0.iter().map(|(what, count)| format!("{what}: {count}")).collect();
        match skipped.as_slice() {
            [] => problem.to_owned(),
            _ => format!("{problem} ({})", skipped.join(", ")),
        }
    }

    /// Counts one more of `what` that come with a number, of which the first stands for all.
    pub(super) fn count_numbered(&mut self, what: &'static str, number: u16) {
        match self.0.iter_mut().find(|(name, _)| name.starts_with(what)) {
            Some((_, count)) => *count += 1,
            None => self.0.push((format!("{what} (the first: {number})"), 1)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_name_stands_for_all_numbers() {
        let mut skipped = Skipped::default();
        for number in [127, 9, 127, 4711] {
            skipped.count_numbered("packets of unknown link types", number);
            skipped.count("packets that are not IP");
        }
        let expected =
            [("packets of unknown link types (the first: 127)", 4), ("packets that are not IP", 4)];
        assert_eq!(skipped.0, expected.map(|(what, count)| (what.to_owned(), count)));
    }
}
