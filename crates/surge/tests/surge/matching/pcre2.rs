//! PCRE2 beside our own engines: it finds the same, and it gives up.

use proptest::prelude::*;
use trueplane_surge::matching::Matcher;
use trueplane_surge::matching::engine::{Backtracking, Engine, Pcre2, STEP_LIMIT, Verdict};
use trueplane_surge::matching::pattern::Flags;

use super::application::innocents;
use super::engines::{expressions, flags, payloads};
use super::{example, pattern};

proptest! {
    #![proptest_config(ProptestConfig { cases: 10_000, ..ProptestConfig::default() })]

    #[test]
    fn it_finds_what_backtracking_finds(source in expressions(), flags in flags(), payload in payloads()) {
        let pattern = pattern(&source, flags).unwrap();
        let found = Backtracking::compile(&pattern, 1 << 20).unwrap().find(&payload, &mut Default::default());
        let pcre2 = Pcre2::compile(&pattern, u32::MAX).unwrap();
        match found.verdict {
            Verdict::Match(start, end) => prop_assert_eq!(pcre2.find(&payload), Some((start, end))),
            Verdict::NoMatch => prop_assert_eq!(pcre2.find(&payload), None),
            Verdict::GaveUp => {}
        }
        prop_assert_eq!(pcre2.matches(&payload, &mut ()), pcre2.find(&payload).is_some());
    }
}

#[test]
fn a_search_that_takes_too_long_is_given_up() {
    // Without a limit it would be at it for hours.
    let pcre2 = Pcre2::compile(&pattern("(?:a+)+$", Flags::default()).unwrap(), 10_000).unwrap();
    assert!(!pcre2.matches(format!("{}!", "a".repeat(60)).as_bytes(), &mut ()));
}

#[test]
fn expressions_that_become_too_large_are_refused_in_one_line() {
    for source in ["(?:a{999}){999}", "(?:[ab]{1000}){1000}", "(?:a{4294967295}){0,4294967295}"] {
        if let Err(problem) = Pcre2::compile(&pattern(source, Flags::default()).unwrap(), 1) {
            assert!(!problem.contains('\n'), "{problem}");
        }
    }
}

#[test]
fn it_agrees_on_the_rules_that_come_with_trueplane() {
    let rules = example();
    let pcre2 = Matcher::<Pcre2>::new(&rules, STEP_LIMIT).unwrap();
    let backtracking = Matcher::<Backtracking>::new(&rules, STEP_LIMIT).unwrap();
    for payload in innocents() {
        let found = pcre2.matches(payload.as_bytes(), &mut Default::default());
        assert_eq!(found, backtracking.matches(payload.as_bytes(), &mut Default::default()), "{payload}");
    }
}
