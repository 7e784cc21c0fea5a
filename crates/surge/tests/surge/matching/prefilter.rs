//! The prefilter, against looking for every content in turn.

use proptest::prelude::*;
use trueplane_surge::matching::Rules;
use trueplane_surge::matching::prefilter::{Prefilter, Seen};

use super::rules;

/// Looks for every content of every rule, one byte after the other.
fn naive(rules: &Rules, payload: &[u8]) -> Vec<u32> {
    let occurs = |bytes: &[u8], nocase: bool| {
        payload
            .windows(bytes.len())
            .any(|window| if nocase { window.eq_ignore_ascii_case(bytes) } else { window == bytes })
    };
    let fits = |rule: &u32| {
        rules.rules()[*rule as usize].contents.iter().all(|content| occurs(&content.bytes, content.nocase))
    };
    (0..rules.rules().len() as u32).filter(fits).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3_000, ..ProptestConfig::default() })]

    #[test]
    fn the_candidates_are_the_rules_whose_contents_all_occur(
        contents in prop::collection::vec(prop::collection::vec(("[abAB]{1,3}", any::<bool>()), 1..4), 1..8),
        payloads in prop::collection::vec("[abABc]{0,12}", 1..4),
    ) {
        let options: Vec<String> = contents
            .iter()
            .map(|contents| {
                let content = |(text, nocase): &(String, bool)| {
                    format!("content:\"{text}\";{}", if *nocase { " nocase;" } else { "" })
                };
                contents.iter().map(content).collect()
            })
            .collect();
        let rules = rules(options.iter().map(String::as_str));
        let prefilter = Prefilter::new(&rules).unwrap();
        // One search leaves nothing behind for the next.
        let (mut seen, mut candidates) = (Seen::default(), Vec::new());
        for payload in &payloads {
            prefilter.candidates(payload.as_bytes(), &mut seen, &mut candidates);
            prop_assert_eq!(&candidates, &naive(&rules, payload.as_bytes()));
        }
    }
}

#[test]
fn candidates_come_in_the_order_of_the_file_and_not_of_the_payload() {
    let rules = rules([
        "content:\"x\"; content:\"y\";",
        "content:\"xy\";",
        "content:\"|00|\";",
        "content:\"X\"; nocase; content:\"x\"; nocase;",
    ]);
    let mut candidates = Vec::new();
    Prefilter::new(&rules).unwrap().candidates(b"\0 y xy", &mut Seen::default(), &mut candidates);
    assert_eq!(candidates, [0, 1, 2, 3]);
}
