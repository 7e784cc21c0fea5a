//! Flows that start by chance.

use trueplane_network::Nanos;
use trueplane_network::simulator::{FlowSpec, Pattern, Poisson, Sizes};

#[test]
fn sizes_fall_to_the_step_below() {
    let sizes = Sizes::data_mining();
    for (share, bytes) in [
        (0.0, 1),
        (0.099, 1),
        (0.1, 180),
        (0.7999, 3_160),
        (0.8, 10_000),
        (0.98, 100_000_000),
        (0.999, 100_000_000),
    ] {
        assert_eq!(sizes.at(share), bytes, "{share}");
    }
    assert!((Sizes::data_mining().mean() - 2_116_598.7).abs() < 0.1, "{}", Sizes::data_mining().mean());
}

#[test]
fn steps_that_do_not_ascend_are_refused() {
    let refused = |steps: &[(u64, f64)]| Sizes::new(steps.to_vec()).unwrap_err().to_string();
    assert_eq!(refused(&[]), "flow sizes: expected one size or more, got none");
    assert_eq!(refused(&[(1, 0.5)]), "flow sizes: expected 1 as the last share, got 0.5");
    assert_eq!(
        refused(&[(5, 0.5), (5, 1.0)]),
        "flow sizes: expected sizes and shares that ascend, got (5, 0.5) before (5, 1.0)"
    );
}

#[test]
fn flows_are_a_poisson_process_between_unlike_hosts() {
    const COUNT: usize = 100_000;
    let flows =
        || Poisson::new(4, 1e6, Sizes::web_search(), Nanos::MAX, 7).take(COUNT).collect::<Vec<FlowSpec>>();
    let found = flows();
    assert_eq!(found, flows(), "the same seed, the same flows");
    let mut pairs = [[0_u32; 4]; 4];
    for flow in &found {
        pairs[flow.from as usize][flow.to as usize] += 1;
    }
    for (from, row) in pairs.iter().enumerate() {
        for (to, count) in row.iter().enumerate() {
            // Six standard deviations of a twelfth of them.
            let expected = if from == to { 0 } else { COUNT as u32 / 12 };
            assert!(count.abs_diff(expected) <= if from == to { 0 } else { 525 }, "{from} to {to}: {count}");
        }
    }
    // Gaps of a Poisson process have a deviation as large as their mean.
    let gaps: Vec<f64> = found.windows(2).map(|pair| pair[1].start.since(pair[0].start).0 as f64).collect();
    let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
    let deviation = (gaps.iter().map(|gap| (gap - mean).powi(2)).sum::<f64>() / gaps.len() as f64).sqrt();
    assert!((mean - 1_000.0).abs() < 20.0 && (deviation - mean).abs() < 40.0, "{mean} ± {deviation}");
    let mean_bytes = found.iter().map(|flow| flow.bytes as f64).sum::<f64>() / COUNT as f64;
    assert!((mean_bytes / Sizes::web_search().mean() - 1.0).abs() < 0.03, "{mean_bytes}");
}

#[test]
fn in_a_permutation_everyone_sends_to_one_and_receives_from_one() {
    let flows =
        Poisson::new(7, 1e6, Sizes::web_search(), Nanos::MAX, 3).with_pattern(Pattern::Permutation, 1);
    let mut receivers = [None; 7];
    for flow in flows.take(2_000) {
        let known = receivers[flow.from as usize].get_or_insert(flow.to);
        assert_eq!(*known, flow.to);
        assert_ne!(flow.from, flow.to);
    }
    let mut all: Vec<u32> = receivers.iter().map(|to| to.expect("everyone sends")).collect();
    all.sort_unstable();
    assert_eq!(all, [0, 1, 2, 3, 4, 5, 6]);
}

#[test]
fn in_an_incast_many_send_to_one_at_once() {
    let flows = || Poisson::new(9, 1e6, Sizes::web_search(), Nanos::from_millis(10), 3);
    let incast: Vec<FlowSpec> = flows().with_pattern(Pattern::Incast, 4).collect();
    for event in incast.chunks(4) {
        let mut from: Vec<u32> = event.iter().map(|flow| flow.from).collect();
        from.sort_unstable();
        from.dedup();
        assert_eq!(from.len(), 4, "{event:?}");
        assert!(event.iter().all(|flow| (flow.start, flow.to) == (event[0].start, event[0].to)));
        assert!(!from.contains(&event[0].to));
    }
    // As many flows as without: 10,000 in 10 ms, with a deviation of 200.
    assert!(incast.len().abs_diff(10_000) < 1_000 && flows().count().abs_diff(10_000) < 500);
    // More senders than there are: all others.
    let all: Vec<FlowSpec> = flows().with_pattern(Pattern::Incast, 100).take(8).collect();
    assert!(all.iter().all(|flow| flow.start == all[0].start));
}
