//! The `regex` crate.

use regex::bytes::{Regex, RegexBuilder};

use super::{Count, Counting, Engine};
use crate::matching::pattern::Pattern;

/// An engine that cannot blow up: time linear in the payload, whatever the pattern.
///
/// A *step* is a byte of the payload up to where the first match is certain to exist; all of them if there is none.
/// What the engine does for a byte depends on the pattern (it may look at some bytes more than once, and skip others),
/// so its steps are fewer and longer than those of [`Backtracking`](super::Backtracking).
#[derive(Clone, Debug)]
pub struct Linear(Regex);

impl Engine for Linear {
    type Scratch = ();

    fn compile(pattern: &Pattern, _limit: u32) -> Result<Self, String> {
        let flags = pattern.flags();
        let regex = RegexBuilder::new(pattern.source())
            .unicode(false)
            .case_insensitive(flags.case_insensitive)
            .multi_line(flags.multi_line)
            .dot_matches_new_line(flags.dot_all)
            .ignore_whitespace(flags.extended)
            .build();
        regex.map(Self).map_err(|error| match error {
            regex::Error::CompiledTooBig(limit) => format!("its automaton needs more than {limit} bytes"),
            error => error.to_string().lines().last().unwrap_or_default().to_owned(),
        })
    }

    fn matches(&self, payload: &[u8], (): &mut ()) -> bool {
        self.0.is_match(payload)
    }
}

impl Counting for Linear {
    fn count(&self, payload: &[u8], (): &mut ()) -> Count {
        let end = self.0.shortest_match(payload);
        Count { matched: end.is_some(), steps: end.unwrap_or(payload.len()) as u64 }
    }
}
