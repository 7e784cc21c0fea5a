//! The engines: that they agree, and how many steps they take.

use proptest::prelude::*;
use trueplane_surge::matching::engine::{Backtracking, Counting, Engine, Found, Linear, Verdict};
use trueplane_surge::matching::pattern::Flags;

use super::pattern;

fn backtracking(source: &str, limit: u32) -> Backtracking {
    Backtracking::compile(&pattern(source, Flags::default()).unwrap(), limit).unwrap()
}

fn find(source: &str, payload: &str) -> Found {
    backtracking(source, u32::MAX).find(payload.as_bytes(), &mut Default::default())
}

fn steps(source: &str, payload: &str) -> u64 {
    find(source, payload).steps
}

/// Expressions with everything in them that is understood.
pub(super) fn expressions() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        Just("a"),
        Just("b"),
        Just("ab"),
        Just("."),
        Just("[ab]"),
        Just("[^a]"),
        Just("\\w"),
        Just("\\s"),
        Just("^"),
        Just("$"),
        Just("\\b"),
        Just("\\B"),
        Just("\\A"),
        Just("\\z"),
        Just("\\n"),
        Just("\\xff"),
        Just("B"),
        Just("(?i)"),
        Just("(?m)"),
        Just("(?s-i)"),
        Just("é"),
        Just("[[:alpha:]]"),
    ]
    .prop_map(str::to_owned);
    leaf.prop_recursive(5, 24, 4, |inner| {
        let quantifiers = prop_oneof![
            Just("*"),
            Just("+"),
            Just("?"),
            Just("*?"),
            Just("+?"),
            Just("??"),
            Just("{2}"),
            Just("{1,3}"),
            Just("{0,2}?"),
            Just("{2,}"),
            Just("{0}"),
        ];
        prop_oneof![
            (inner.clone(), quantifiers).prop_map(|(inner, quantifier)| format!("(?:{inner}){quantifier}")),
            prop::collection::vec(inner.clone(), 0..4).prop_map(|inner| format!("({})", inner.join("|"))),
            prop::collection::vec(inner.clone(), 1..4).prop_map(|inner| inner.concat()),
            (inner, prop_oneof![Just("i"), Just("m"), Just("s"), Just("U"), Just("-i")])
                .prop_map(|(inner, flag)| format!("(?{flag}:{inner})")),
        ]
    })
}

pub(super) fn payloads() -> impl Strategy<Value = Vec<u8>> {
    let byte = prop_oneof![4 => Just(b'a'), 3 => Just(b'b'), 1 => Just(b'A'), 1 => Just(b'\n'), 1 => Just(b' '), 1 => any::<u8>()];
    prop::collection::vec(byte, 0..14)
}

pub(super) fn flags() -> impl Strategy<Value = Flags> {
    any::<(bool, bool, bool, bool)>().prop_map(|(case_insensitive, multi_line, dot_all, extended)| Flags {
        case_insensitive,
        multi_line,
        dot_all,
        extended,
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 10_000, ..ProptestConfig::default() })]

    #[test]
    fn all_engines_find_the_same(source in expressions(), flags in flags(), payload in payloads()) {
        let pattern = pattern(&source, flags).unwrap();
        let regex = regex::bytes::RegexBuilder::new(&source)
            .unicode(false)
            .case_insensitive(flags.case_insensitive)
            .multi_line(flags.multi_line)
            .dot_matches_new_line(flags.dot_all)
            .ignore_whitespace(flags.extended)
            .build()
            .unwrap();
        let found = Backtracking::compile(&pattern, 1 << 20).unwrap().find(&payload, &mut Default::default());
        let matched = regex.is_match(&payload);
        // After a round that took no byte Perl leaves a loop, `regex` may go on: the same payloads match, by other
        // bytes.
        match found.verdict {
            Verdict::Match(..) => prop_assert!(matched),
            Verdict::NoMatch => prop_assert!(!matched),
            Verdict::GaveUp => prop_assert_eq!(found.steps, 1 << 20),
        }
        let linear = Linear::compile(&pattern, 0).unwrap().count(&payload, &mut ());
        prop_assert_eq!(linear.matched, matched);
        prop_assert!(linear.steps <= payload.len() as u64);
    }
}

#[test]
fn perl_decides_which_of_several_matches_it_is() {
    let span = |source, payload| match find(source, payload).verdict {
        Verdict::Match(start, end) => (start, end),
        verdict => panic!("{verdict:?}"),
    };
    assert_eq!(span("a|ab", "xab"), (1, 2));
    assert_eq!(span("(?:a|ab)(?:c|bcd)", "abcd"), (0, 4));
    assert_eq!(span("a+?", "aaa"), (0, 1));
    assert_eq!(span("a+?$", "aaa"), (0, 3));
    assert_eq!(span("(?U)a+", "aaa"), (0, 1));
    assert_eq!(span("(?:|a)*", "aaa"), (0, 0));
    assert_eq!(span("(?:a*)*b", "aab"), (0, 3));
    assert_eq!(span("", ""), (0, 0));
}

#[test]
fn steps_are_instructions() {
    // One at each place, three for the match.
    assert_eq!(steps("ab", "xxab"), 2 + 3);
    // Nothing to compare with at the end of the payload is a step, too.
    assert_eq!(steps("a", "xx"), 3);
    // A choice, the byte that is not there, then the other one and its match; `a|b` is no class here.
    assert_eq!(steps("a|b", "b"), 4);
    // Twice a byte and a choice for one more, the byte that is not there, and the match.
    assert_eq!(steps("a+", "aa"), 2 * 2 + 1 + 1);
}

/// Nested quantifiers: with every byte more, twice as many ways to cut the run into groups.
#[test]
fn nested_quantifiers_double_with_every_byte() {
    for n in 1..=18 {
        let payload = format!("{}!", "a".repeat(n));
        let (n, doubled) = (n as u64, 1 << n);
        // Start, a, choice, choice, end, match. With k bytes of "a" to come, what begins at a takes R(k) = 4 + 2 R(k -
        // 1) steps: a byte, two choices, each of which leads back, and the end that it is not. R(0) = 1, so R(k) = 5 ×
        // 2^k - 4. To that comes the start of the payload, looked for at n + 2 places.
        assert_eq!(steps("^(?:a+)+$", &payload), 5 * doubled - 4 + n + 2);
        // From every place on: the sum of R(k) for k from 0 to n, and R(0) for what follows.
        assert_eq!(steps("(?:a+)+$", &payload), 10 * doubled - 4 * n - 8);
        // Alternatives of one byte are kept apart, or there would be no choice: R(k) = 8 + 2 R(k - 1), R(0) = 3.
        assert_eq!(steps("^(?:a|a)*$", &payload), 11 * doubled - 8 + 2 + n + 2);
    }
}

#[test]
fn plain_expressions_take_as_many_steps_for_every_byte() {
    for source in ["a+$", "ab", "[a-c]x", "^a*$"] {
        let taken: Vec<u64> = [100, 200, 300].map(|n| steps(source, &"b".repeat(n))).to_vec();
        assert_eq!(taken[2] - taken[1], taken[1] - taken[0], "{source}");
        assert!(taken[1] - taken[0] <= 300, "{source}: {taken:?}");
    }
    // A run that may end anywhere and begin anywhere: quadratic.
    let taken: Vec<u64> = [100, 200, 400].map(|n| steps("a+$", &format!("{}!", "a".repeat(n)))).to_vec();
    assert!(taken[1] > 3 * taken[0] && taken[2] < 5 * taken[1], "{taken:?}");
}

#[test]
fn a_search_that_takes_too_long_is_given_up() {
    let payload = format!("{}!", "a".repeat(40));
    let engine = backtracking("(?:a+)+$", 12_345);
    let found = engine.find(payload.as_bytes(), &mut Default::default());
    assert_eq!(found, Found { verdict: Verdict::GaveUp, steps: 12_345 });
    let count = engine.count(payload.as_bytes(), &mut Default::default());
    assert_eq!((count.matched, count.steps), (false, 12_345));
    // Exactly as many as allowed are still a match.
    assert!(backtracking("a", 2).matches(b"a", &mut Default::default()));
    assert!(!backtracking("a", 1).matches(b"a", &mut Default::default()));
}

#[test]
fn deep_searches_take_no_stack_of_calls() {
    let payload = "a".repeat(1 << 20);
    assert_eq!(find("^(?:a|b)*$", &payload).verdict, Verdict::Match(0, 1 << 20));
}

#[test]
fn expressions_that_become_too_large_are_refused() {
    for source in ["(?:a{999}){999}", "(?:[ab]{1000}){1000}", "(?:a{4294967295}){0,4294967295}"] {
        let pattern = pattern(source, Flags::default()).unwrap();
        let problem = Backtracking::compile(&pattern, 1).unwrap_err();
        assert_eq!(problem, "its repetitions written out are too long");
        if let Err(problem) = Linear::compile(&pattern, 1) {
            assert!(!problem.contains('\n'), "{problem}");
        }
    }
    // However often nothing is repeated, it is nothing.
    assert_eq!(steps("(?:(?:){4294967295}){4294967295}", ""), 1);
}
