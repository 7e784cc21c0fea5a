//! What the fuzz target of rules for full matching does with an input: read it, and match it against itself.
//!
//! `cargo test` does the same with the seeds (crates/surge/tests/surge/matching/seeds.rs).

use trueplane_surge::matching::engine::{Backtracking, Counting, Engine, Linear};
use trueplane_surge::matching::prefilter::{Prefilter, Seen};
use trueplane_surge::matching::rules::Rule;
use trueplane_surge::matching::rules::Rules;

/// Steps after which the backtracking engine gives up, so that an input takes no time to speak of.
const LIMIT: u32 = 20_000;

/// As much of an input is matched.
const LONGEST: usize = 256;

/// Reads `bytes` as a file of rules, and says whether it is one. Errors are one line and lie within the text; the
/// prefilter finds what looking for every content finds; the engines agree on what matches, as far as they do not give
/// up.
pub fn read_rules(bytes: &[u8]) -> bool {
    let rules = match Rules::parse("fuzz", bytes) {
        Ok(rules) => rules,
        Err(error) => {
            let message = error.to_string();
            let lines: Vec<_> = bytes.split(|byte| *byte == b'\n').collect();
            let line = lines.get(error.line - 1).expect(&message);
            assert!(
                !message.contains(['\n', '\r']) && (1..=line.len() + 1).contains(&error.column),
                "{message:?}"
            );
            return false;
        }
    };
    let payload = &bytes[bytes.len().saturating_sub(LONGEST)..];
    let mut candidates = Vec::new();
    let prefilter = Prefilter::new(&rules).expect("contents as long as a fuzzer writes");
    prefilter.candidates(payload, &mut Seen::default(), &mut candidates);
    let naive = (0..).zip(rules.rules()).filter(|(_, rule)| occur(rule, payload)).map(|(number, _)| number);
    assert_eq!(candidates, naive.collect::<Vec<u32>>());
    for pattern in rules.rules().iter().flat_map(|rule| &rule.patterns) {
        let (backtracking, linear) = (Backtracking::compile(pattern, LIMIT), Linear::compile(pattern, LIMIT));
        let (Ok(backtracking), Ok(linear)) = (backtracking, linear) else { continue };
        let (one, other) =
            (backtracking.count(payload, &mut Default::default()), linear.count(payload, &mut ()));
        assert!(one.steps <= u64::from(LIMIT) && other.steps <= payload.len() as u64);
        if one.steps < u64::from(LIMIT) {
            assert_eq!(one.matched, other.matched, "{pattern:?}");
        }
        #[cfg(feature = "pcre2")]
        if let Ok(pcre2) = trueplane_surge::matching::engine::Pcre2::compile(pattern, LIMIT) {
            // It says no where it gives up.
            assert!(!pcre2.matches(payload, &mut ()) || other.matched, "{pattern:?}");
        }
    }
    true
}

/// Whether all contents of `rule` occur in `payload`.
fn occur(rule: &Rule, payload: &[u8]) -> bool {
    rule.contents.iter().all(|content| {
        payload.windows(content.bytes.len()).any(|window| {
            if content.nocase { window.eq_ignore_ascii_case(&content.bytes) } else { window == content.bytes }
        })
    })
}
