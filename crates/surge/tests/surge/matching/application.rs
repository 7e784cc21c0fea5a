//! What payloads take, and what is learnt from that.

use std::sync::Arc;

use trueplane_surge::application::Application;
use trueplane_surge::matching::engine::{Backtracking, Counting, Linear, STEP_LIMIT};
use trueplane_surge::matching::{Costs, FullMatching, Matcher, Ratio, Rules, Table, Trial};
use trueplane_surge::segments::{Made, Segments};
use trueplane_units::Nanos;

use super::{example, rules};

/// Nanoseconds that are steps.
const COSTS: Costs = Costs { base: Nanos(1_000), byte_ps: 0, step_ps: 1_000 };

/// An engine that goes to `payloads` with `rules`.
fn table<E: Counting>(rules: &Rules, payloads: &[&str]) -> Table {
    Table::new(&Matcher::<E>::new(rules, STEP_LIMIT).unwrap(), payloads, &()).unwrap()
}

fn matching(rules: &Rules, payloads: &[&str], prior: Ratio) -> FullMatching {
    FullMatching::new(Arc::new(table::<Backtracking>(rules, payloads)), COSTS, prior)
}

#[test]
fn candidates_are_tried_up_to_the_first_that_matches() {
    let rules = rules([
        "content:\"GET\"; pcre:\"/^POST/\";",
        "content:\"absent\"; pcre:\"/a/\";",
        "content:\"GET\"; content:\"x\"; pcre:\"/x/\"; pcre:\"/y/\";",
        "content:\"x\";",
        "content:\"GET\"; pcre:\"/G/\";",
    ]);
    let table = table::<Backtracking>(&rules, &["GET x", "nothing", "GET", ""]);
    let entry = table.entry(0).unwrap();
    assert_eq!((entry.bytes, entry.candidates, entry.matched), (5, [0, 2, 3, 4].as_slice(), Some(3)));
    // One step at each of six places, and a byte at the first; x at the fifth and its match, then y nowhere; by its
    // content alone.
    let trials =
        [Trial { rule: 0, steps: 6 + 1 }, Trial { rule: 2, steps: 4 + 2 + 6 }, Trial { rule: 3, steps: 0 }];
    assert_eq!((entry.trials, entry.steps()), (trials.as_slice(), 19));
    let entry = table.entry(1).unwrap();
    assert_eq!((entry.candidates, entry.trials, entry.matched), ([].as_slice(), [].as_slice(), None));
    assert_eq!(table.entry(2).unwrap().matched, Some(4));
    assert_eq!((table.len(), table.rules(), table.entry(3).unwrap().bytes, table.entry(4)), (4, 5, 0, None));
    let mut application = FullMatching::new(Arc::new(table), COSTS, Ratio::default());
    let served = [0, 1, 2, 3, 4].map(|index| application.serve(index).0 - 1_000);
    assert_eq!(served, [19, 0, 5 + 2, 0, 0]);
}

#[test]
fn what_a_payload_costs_is_a_base_and_bytes_and_steps() {
    let costs = Costs { base: Nanos(7), byte_ps: 100, step_ps: 2_500 };
    assert_eq!(costs.job(0, 0), Nanos(7));
    assert_eq!(costs.job(1, 0), Nanos(8));
    assert_eq!(costs.job(20, 3), Nanos(7 + 10)); // 2000 + 7500 ps, rounded up
    assert_eq!(costs.job(u32::MAX, u64::MAX), Nanos::MAX);
}

#[test]
fn one_slow_service_teaches_about_its_rule_and_no_other() {
    let rules =
        rules(["content:\"id=\"; pcre:\"/id=(?:a+)+$/\";", "content:\"GET\"; pcre:\"/^GET .*passwd/\";"]);
    let slow = format!("id={}!", "a".repeat(12));
    let payloads = ["GET /index.html", slow.as_str(), "id=a", "both GET and id=a!!!!!!!", "neither"];
    let mut application = matching(&rules, &payloads, Ratio { steps: 3, bytes: 1 });
    let estimates =
        |application: &mut FullMatching| [0, 1, 2, 3, 4].map(|index| application.estimate(index).0 - 1_000);
    // By the prior: three steps for each byte and each candidate.
    assert_eq!(estimates(&mut application), [45, 48, 12, 2 * 3 * 24, 0]);
    let innocent = application.serve(0).0 - 1_000;
    let known = estimates(&mut application);
    assert_eq!(known, [innocent, 48, 12, (innocent * 24).div_ceil(15) + 72, 0]);
    let taken = application.serve(1).0 - 1_000;
    assert!(taken > 4_096 * 3, "{taken}");
    // The rule's largest ratio is `taken` for 16 bytes; the other rule's is what it was.
    let learnt = estimates(&mut application);
    let by = |bytes: u64| (taken * bytes).div_ceil(16);
    assert_eq!(learnt, [innocent, taken, by(4), (innocent * 24).div_ceil(15) + by(24), 0]);
    // What is quick does not make it forget.
    application.serve(2);
    application.serve(4);
    assert_eq!(estimates(&mut application), learnt);
    assert_eq!(application.estimator().ratio(0), Ratio { steps: taken, bytes: 16 });
}

#[test]
fn an_estimate_is_never_below_what_was_seen_before() {
    let rules = example();
    let payloads = innocents();
    let table = Arc::new(table::<Backtracking>(&rules, &payloads));
    let mut application =
        FullMatching::new(Arc::clone(&table), Costs::default(), Ratio { steps: 0, bytes: 1 });
    for index in 0..payloads.len() as u32 {
        let job = application.serve(index);
        assert_eq!(job, application.serve(index), "the same payload costs the same");
        assert!(application.estimate(index) >= job);
    }
}

#[test]
fn a_blow_up_needs_an_engine_that_can() {
    let payload = format!("session={}", "a".repeat(24));
    let rules = example();
    let [backtracking, linear] =
        [table::<Backtracking>(&rules, &[&payload]), table::<Linear>(&rules, &[&payload])];
    assert_eq!(backtracking.entry(0).unwrap().steps(), u64::from(STEP_LIMIT));
    assert_eq!(linear.entry(0).unwrap().steps(), payload.len() as u64);
}

#[test]
fn engines_agree_on_the_rules_that_come_with_it() {
    let rules = example();
    let payloads = innocents();
    let [backtracking, linear] =
        [table::<Backtracking>(&rules, &payloads), table::<Linear>(&rules, &payloads)];
    for (payload, (one, other)) in payloads.iter().zip(backtracking.entries().zip(linear.entries())) {
        assert_eq!((one.matched, one.candidates), (other.matched, other.candidates), "{payload}");
    }
    let matched: Vec<_> = backtracking.entries().map(|entry| entry.matched).collect();
    assert_eq!(matched, [None, Some(8), Some(5), Some(10), Some(11), Some(0), None, Some(6), Some(2)]);
}

/// Payloads of whom nobody would think ill, and some that a rule is for.
pub(super) fn innocents() -> [&'static str; 9] {
    [
        "GET /index.html HTTP/1.1\r\nHost: example.org\r\nUser-Agent: Mozilla/5.0\r\nAccept: */*\r\n\r\n",
        "GET /?q=1+UNION+ALL+SELECT+name HTTP/1.1\r\nHost: example.org\r\n\r\n",
        "HEAD / HTTP/1.1\r\nHost: example.org\r\nuser-agent: sqlmap/1.7\r\n\r\n",
        "<html><SCRIPT type=x src=http://10.20.30.40/x.js></script>",
        "data: TVqQAAMAAAAEAAAA//8AALgAAAAAAAAAQAAAAAAAAAA",
        "Cookie: Session=ab12-cd34-ef56; theme=dark",
        "nothing that any rule has to do with",
        "GET /cmd.exe?/c+dir",
        "unescape('x')  eval (y)",
    ]
}

#[test]
fn the_payloads_of_segments_are_numbered_as_they_are() {
    let made = |at, payload: &str| {
        let length = payload.len() as u32;
        (Made { at: Nanos(at), flow: at, bits: 800, length, tcp: None }, payload.as_bytes().to_vec())
    };
    let segments = Segments::made("made", [made(0, "x"), made(5, ""), made(9, "xy")]);
    let rules = rules(["content:\"x\"; pcre:\"/xy/\";"]);
    let matcher = Matcher::<Backtracking>::new(&rules, STEP_LIMIT).unwrap();
    let table = Table::of_segments(&matcher, &segments, &()).unwrap();
    let sizes: Vec<_> = table.entries().map(|entry| (entry.bytes, entry.matched)).collect();
    assert_eq!(sizes, [(1, None), (0, None), (2, Some(0))]);
}

#[test]
fn the_table_does_not_depend_on_the_number_of_threads() {
    let rules = example();
    let payloads: Vec<String> = (0..3 * 4096 + 17)
        .map(|number| format!("{}{}", innocents()[number % 9], "a".repeat(number % 50)))
        .collect();
    let matcher = Matcher::<Backtracking>::new(&rules, 10_000).unwrap();
    let on = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| Table::new(&matcher, &payloads, &()).unwrap())
    };
    assert_eq!(on(1), on(4));
}
