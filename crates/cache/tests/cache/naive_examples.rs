//! The naive reference model, held against examples worked by hand and against facts that need no model.
//!
//! Traces are drawn with a letter for a request and a dot for an idle step; steps count from 0. "Enters at t" means at
//! the end of step t, so that a request in step t still waits.

use std::collections::BTreeSet;

use crate::naive::arc::adaptation_step;
use crate::naive::{Memory, Outcome, Policy, latencies, run, serve, steps};

/// Outcomes as a string: `H`it, `D`elayed hit, `M`iss.
fn outcomes(policy: Policy, drawn: &str, z: u64, capacity: usize) -> String {
    let served = serve(policy, &steps(drawn), z, capacity);
    let letter = |outcome| match outcome {
        Outcome::Hit => 'H',
        Outcome::DelayedHit => 'D',
        Outcome::Miss => 'M',
    };
    served.iter().map(|request| letter(request.outcome)).collect()
}

fn total_latency(policy: Policy, drawn: &str, z: u64, capacity: usize) -> u128 {
    run(policy, &steps(drawn), z, capacity).latency_total
}

/// Every trace of `length` steps in which each step is idle or requests one of `keys` objects.
fn all_traces(length: u32, keys: u64) -> impl Iterator<Item = Vec<Option<u64>>> {
    let base = keys + 1;
    (0..base.pow(length)).map(move |mut number| {
        let mut trace = Vec::new();
        for _ in 0..length {
            trace.push((number % base).checked_sub(1));
            number /= base;
        }
        trace
    })
}

// The time model.

/// Atre 2025, §2.1: Z = 10; requests at 3, 5 and 11 are all served by the fetch that starts at 3: 10, 10 - 2, 10 - 8.
#[test]
fn the_example_of_section_2_1() {
    for policy in Policy::ALL {
        assert_eq!(latencies(policy, &steps("...X.X.....X"), 10, 1), [10, 8, 2], "{policy:?}");
    }
}

/// Z = 10, missed at 0, enters at 9: the request of step 9 arrives before the completion and pays 1, that of 10 hits.
#[test]
fn the_arrival_comes_before_the_completion() {
    for policy in Policy::ALL {
        assert_eq!(latencies(policy, &steps("X........XX"), 10, 1), [10, 1, 0], "{policy:?}");
    }
}

/// A miss costs Z even when the trace ends before its fetch does, and no Z is too large.
#[test]
fn a_fetch_may_outlast_the_trace() {
    let z = u64::MAX;
    for policy in Policy::ALL {
        assert_eq!(latencies(policy, &steps("YX.X"), z, 1), [z, z, z - 2], "{policy:?}");
    }
}

/// Z = 3, two objects. A enters at 2. B is missed at 3 and asked for again at 4, then A is hit at 5; B enters at 5,
/// after A's hit, and only now its delayed hit counts: A is the older. C enters at 8 in A's place. 9: B hits, 10: A
/// misses. (Had the delayed hit touched B at 4, before A's hit, C would have taken B's place.)
#[test]
fn a_delayed_hit_moves_nothing_until_completion() {
    assert_eq!(latencies(Policy::Lru, &steps("A..BBAC..BA"), 3, 2), [3, 3, 2, 0, 3, 0, 3]);
}

/// Requests = hits + delayed hits + misses; with room for every object no policy evicts, so all agree.
#[test]
fn identities_hold_for_every_policy() {
    for trace in all_traces(5, 3) {
        for z in [1, 2, 3, 6] {
            let reference = run(Policy::Lru, &trace, z, 3);
            for policy in Policy::ALL {
                assert_eq!(run(policy, &trace, z, 3), reference, "{policy:?} {trace:?} z {z}");
                for capacity in 1..3 {
                    let totals = run(policy, &trace, z, capacity);
                    assert_eq!(totals.requests, trace.iter().flatten().count() as u64);
                    assert_eq!(totals.requests, totals.hits + totals.delayed_hits + totals.misses);
                }
            }
        }
    }
}

// Z = 1: the classical cache.

/// The classical LRU by stack distance: a request hits when it was made before and, since then, fewer than `capacity`
/// other objects were requested.
fn stack_distance_hits(trace: &[Option<u64>], capacity: usize) -> u64 {
    let requests: Vec<u64> = trace.iter().copied().flatten().collect();
    let mut hits = 0;
    for (now, key) in requests.iter().enumerate() {
        let Some(before) = requests[..now].iter().rposition(|other| other == key) else { continue };
        let others: BTreeSet<u64> = requests[before + 1..now].iter().copied().collect();
        hits += u64::from(others.len() < capacity);
    }
    hits
}

#[test]
fn with_z_1_lru_is_the_classical_lru() {
    for trace in all_traces(7, 3) {
        for capacity in 1..=3 {
            let totals = run(Policy::Lru, &trace, 1, capacity);
            assert_eq!(totals.hits, stack_distance_hits(&trace, capacity), "{trace:?} capacity {capacity}");
            assert_eq!(totals.delayed_hits, 0);
            assert_eq!(totals.latency_total, u128::from(totals.misses));
        }
    }
}

/// Every aggregate delay is 1 when Z is 1, and weighing with 1 changes nothing.
#[test]
fn with_z_1_the_aggregate_delay_is_without_effect() {
    for trace in all_traces(6, 4) {
        for capacity in 1..=3 {
            for memory in [Memory::Cached, Memory::All] {
                for (plain, weighed) in [
                    (Policy::Lru, Policy::LruMad(memory)),
                    (Policy::Lfu, Policy::LfuMad(memory)),
                    (Policy::Arc, Policy::ArcMad(memory)),
                    (Policy::Belady, Policy::BeladyAd),
                ] {
                    let expected = latencies(plain, &trace, 1, capacity);
                    assert_eq!(
                        latencies(weighed, &trace, 1, capacity),
                        expected,
                        "{weighed:?} {trace:?} {capacity}"
                    );
                }
            }
        }
    }
}

/// The most hits that any schedule gets when a fetch takes no time, by trying all of them.
fn most_hits(requests: &[u64], cached: &BTreeSet<u64>, capacity: usize) -> u64 {
    let Some((key, rest)) = requests.split_first() else { return 0 };
    if cached.contains(key) {
        return 1 + most_hits(rest, cached, capacity);
    }
    let mut with_newcomer = cached.clone();
    with_newcomer.insert(*key);
    if with_newcomer.len() <= capacity {
        return most_hits(rest, &with_newcomer, capacity);
    }
    let after_eviction = |victim| with_newcomer.iter().copied().filter(|other| other != victim).collect();
    with_newcomer.iter().map(|victim| most_hits(rest, &after_eviction(victim), capacity)).max().unwrap_or(0)
}

#[test]
fn with_z_1_belady_gets_the_most_hits() {
    for trace in all_traces(6, 4) {
        let requests: Vec<u64> = trace.iter().copied().flatten().collect();
        for capacity in 1..=3 {
            let hits = run(Policy::Belady, &trace, 1, capacity).hits;
            assert_eq!(
                hits,
                most_hits(&requests, &BTreeSet::new(), capacity),
                "{trace:?} capacity {capacity}"
            );
        }
    }
}

// Bélády.

/// The idea of figure 2.5: Z = 3, two objects. A enters at 2, B at 3, and C, missed at 4, at 6. The next requests are
/// C at 7, B at 8 and A at 9, 10 and 11.
///
/// * Bélády gives up A, the farthest. C and B hit, the burst of A pays 3 + 2 + 1. With the first misses 9 + 6 = 15.
/// * Bélády-AD's ranks are A (3 + 2 + 1) / 3 = 2, B 3 / 2 and C 3 / 1: it gives up B. C hits, B misses and enters at
///   10 in the place of C, which is never asked for again; all of A hits. 9 + 3 = 12.
#[test]
fn belady_is_beaten_on_latency() {
    let drawn = "AB..C..CBAAA";
    assert_eq!(outcomes(Policy::Belady, drawn, 3, 2), "MMMHHMDD");
    assert_eq!(outcomes(Policy::BeladyAd, drawn, 3, 2), "MMMHMHHH");
    assert_eq!(total_latency(Policy::Belady, drawn, 3, 2), 15);
    assert_eq!(total_latency(Policy::BeladyAd, drawn, 3, 2), 12);
}

/// Z = 2, one object. A enters at 1. B, missed at 2, would enter at 3 but is asked for later than A: it passes by. So
/// the delayed hit of B at 3 leaves nothing behind, A hits at 4 and B misses at 5.
#[test]
fn belady_lets_a_newcomer_pass_by() {
    for policy in [Policy::Belady, Policy::BeladyAd] {
        assert_eq!(outcomes(policy, "A.BBAB", 2, 1), "MMDHM", "{policy:?}");
    }
}

/// Z = 3, two objects; A, B and C enter at 2, 3 and 6. Then A, next at 13 and 14, has (3 + 2) / 7, B, next at 10, has
/// 3 / 4 and C 3 / 1: A goes. (With a delayed hit weighed like a miss A would have had 6 / 7 and stayed.)
#[test]
fn belady_ad_weighs_a_delayed_hit_by_its_wait() {
    assert_eq!(outcomes(Policy::BeladyAd, "AB..C..C..B..AA", 3, 2), "MMMHHMD");
}

// LFU and SIEVE.

/// Z = 2, two objects. A enters at 1 with its delayed hit: count 2. B enters at 3 with count 1. C enters at 5 in B's
/// place, though A is the least recently touched. B misses at 7 and enters at 8: A has 3 after its hit at 6, C has 1.
#[test]
fn lfu_counts_delayed_hits_at_admission() {
    assert_eq!(outcomes(Policy::Lfu, "AAB.C.AB.CA", 2, 2), "MDMMHMMH");
}

/// Z = 1, two objects. C takes the place of A, with 2 requests against B's 3, and A the place of C. Back in the cache A
/// has 1, so C takes its place again and B hits. (With its former 2, A would have had as many as B, the older.)
#[test]
fn lfu_forgets_the_count_of_an_evicted_object() {
    for policy in [Policy::Lfu, Policy::LfuMad(Memory::Cached), Policy::LfuMad(Memory::All)] {
        assert_eq!(outcomes(policy, "AABBBCACB", 1, 2), "MHMHHMMMH", "{policy:?}");
    }
}

/// Z = 1, three objects. The hand clears A, hit at 3, evicts B for D and stays at C. Then it goes on from there: C, D
/// and E leave for E, F and G, and A, the oldest of all, is still there. LRU gives A up for F.
#[test]
fn sieve_goes_on_from_where_the_hand_stopped() {
    assert_eq!(outcomes(Policy::Sieve, "ABCADEFGA", 1, 3), "MMMHMMMMH");
    assert_eq!(outcomes(Policy::Lru, "ABCADEFGA", 1, 3), "MMMHMMMMM");
}

/// Z = 1, two objects. Both hit, so C takes the place of A after a full turn and the hand is at B. D takes B's place,
/// the hand is at C. C hits. For E the hand clears C and evicts D, the head: it wraps to the tail, C, before E enters.
/// So F takes the place of C, not of E.
#[test]
fn sieve_wraps_past_the_head_before_the_newcomer_enters() {
    assert_eq!(outcomes(Policy::Sieve, "ABABCDCEFE", 1, 2), "MMHHMMHMMH");
}

// ARC.

#[test]
fn arc_rounds_its_adaptation_half_up_and_steps_at_least_one() {
    assert_eq!(adaptation_step(0, 1), 1);
    assert_eq!(adaptation_step(1, 3), 1);
    assert_eq!(adaptation_step(4, 3), 1);
    assert_eq!(adaptation_step(3, 2), 2);
    assert_eq!(adaptation_step(5, 2), 3);
}

/// Z = 1, two objects; lists from the least recent on, p = 0 at first.
///
/// | step | request | case          | T1 | T2 | B1 | B2 | p |
/// |------|---------|---------------|----|----|----|----|---|
/// | 0, 1 | A A     | IV, then I    |    | A  |    |    | 0 |
/// | 2    | B       | IV (B)        | B  | A  |    |    | 0 |
/// | 3    | C       | IV (B)        | C  | A  | B  |    | 0 |
/// | 4    | B       | II: T1 = p    | C  | B  |    | A  | 1 |
/// | 5    | A       | III           |    | BA | C  |    | 0 |
/// | 6    | B       | I             |    | AB | C  |    | 0 |
/// | 7    | C       | II: T1 empty  |    | BC |    | A  | 1 |
/// | 8    | B       | I             |    | CB |    | A  | 1 |
#[test]
fn arc_moves_its_target_with_the_ghosts() {
    assert_eq!(outcomes(Policy::Arc, "AABCBABCB", 1, 2), "MHMMMMHMH");
}

/// Z = 1, three objects. At step 10 a ghost of T2 comes back when T1 is just at the target: T1 gives way.
///
/// | step | request | case                   | T1 | T2 | B1 | B2  | p |
/// |------|---------|------------------------|----|----|----|-----|---|
/// | 0–4  | A A B B C | IV and I             | C  | AB |    |     | 0 |
/// | 5    | D       | IV (B)                 | D  | AB | C  |     | 0 |
/// | 6    | C       | II: T1 = p             | D  | BC |    | A   | 1 |
/// | 7    | E       | IV (B): T1 = p         | DE | C  |    | AB  | 1 |
/// | 8    | F       | IV (B): T1 > p         | EF | C  | D  | AB  | 1 |
/// | 9    | D       | II: p + 2 / 1; T1 < p  | EF | D  |    | ABC | 3 |
/// | 10   | A       | III: T1 = p            | F  | DA | E  | BC  | 2 |
/// | 11   | D       | I                      | F  | AD | E  | BC  | 2 |
#[test]
fn arc_replaces_in_t1_at_the_target_for_a_ghost_of_t2() {
    assert_eq!(outcomes(Policy::Arc, "AABBCDCEFDAD", 1, 3), "MHMHMMMMMMMH");
}

/// Z = 1, two objects. C finds T1 = [A, B] at capacity: A is dropped and not remembered, so its return at 3 is a plain
/// case IV again (T1 = [C, A]), as are D and E: T1 = [D, E], and A misses. A remembered A would have gone to T2.
#[test]
fn arc_case_iv_a_with_t1_full_remembers_nothing() {
    assert_eq!(outcomes(Policy::Arc, "ABCADEA", 1, 2), "MMMMMMM");
}

/// Z = 1, two objects. After A A B C: T1 = [C], T2 = [A], B1 = [B]. D finds T1 + B1 at capacity with T1 below it: B is
/// forgotten, C becomes a ghost. B, now unknown, comes into T1 and A still hits. (A remembered B would have raised p
/// to 1 and pushed A out.)
#[test]
fn arc_case_iv_a_forgets_the_oldest_ghost() {
    assert_eq!(outcomes(Policy::Arc, "AABCDBA", 1, 2), "MHMMMMH");
}

/// Z = 1, three objects. After A A B B C D E: T1 = [E], T2 = [A, B], B1 = [C, D]. F is case IV (A): C, the older ghost,
/// is forgotten, E becomes one. So D comes back as a ghost: p = 1 = T1, A makes room for it in T2, and A misses.
#[test]
fn arc_forgets_ghosts_in_the_order_of_eviction() {
    assert_eq!(outcomes(Policy::Arc, "AABBCDEFDA", 1, 3), "MHMHMMMMMM");
}

/// Z = 1, two objects. A A B B C C makes T2 = [B, C], B2 = [A]; D makes T1 = [D], T2 = [C], B2 = [A, B]: four in all.
/// E, with T1 + B1 = 1, is case IV (B): A is forgotten and REPLACE makes D a ghost (T1 = 1 > p = 0). A comes back
/// unknown, case IV (A): T1 = [A], T2 = [C], and F makes A a ghost, so C hits. (A remembered A would have gone to T2 and
/// left T1 empty, so that F would have pushed C out.)
#[test]
fn arc_case_iv_b_forgets_the_oldest_ghost_when_full() {
    assert_eq!(outcomes(Policy::Arc, "AABBCCDEAFC", 1, 2), "MHMHMHMMMMH");
}

/// Z = 2, two objects. A enters at 1, its delayed hit takes it on to T2. B enters T1 at 3; C enters at 5 and makes B
/// a ghost. A hits at 6, where LRU has given it up.
#[test]
fn arc_takes_a_delayed_hit_for_the_second_request() {
    assert_eq!(outcomes(Policy::Arc, "AAB.C.A", 2, 2), "MDMMH");
    assert_eq!(outcomes(Policy::Lru, "AAB.C.A", 2, 2), "MDMMM");
}

/// The model asserts the bounds on ARC's four lists at every admission; long traces with delayed hits reach all cases.
#[test]
fn arc_keeps_its_lists_in_bounds() {
    let mut state = 1_u64;
    let mut draw = |below: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below
    };
    for z in [1, 2, 5, 20] {
        for capacity in 1..=8 {
            // The smaller of two draws makes low keys popular, so that ghosts come back.
            let trace: Vec<_> = (0..2_000).map(|_| (draw(8) > 0).then(|| draw(16).min(draw(16)))).collect();
            for policy in [Policy::Arc, Policy::ArcMad(Memory::Cached), Policy::ArcMad(Memory::All)] {
                let totals = run(policy, &trace, z, capacity);
                assert_eq!(totals.requests, totals.hits + totals.delayed_hits + totals.misses);
            }
        }
    }
}

// MAD.

/// Z = 4, two objects. A's burst at 0 to 3 costs 4 + 3 + 2 + 1 = 10 in one window; B, missed at 4, costs 4. C enters at
/// 11: A's rank is 10 / (11 - 3 + 1) = 10/9, B's is 4 / (11 - 4 + 1) = 1/2. B goes, where LRU gives up A.
#[test]
fn lru_mad_keeps_the_burst() {
    assert_eq!(outcomes(Policy::LruMad(Memory::Cached), "AAAAB...C...A", 4, 2), "MDDDMMH");
    assert_eq!(outcomes(Policy::Lru, "AAAAB...C...A", 4, 2), "MDDDMMM");
}

/// Z = 3, two objects.
///
/// * A at 0, 1, 2: 3 + 2 + 1 = 6 in one window. B enters at 12, C at 15; then A has 6 / (15 - 2 + 1) = 3/7, B has
///   3 / (15 - 10 + 1) = 1/2: A goes.
/// * A misses at 16; C hits at 17 and opens its second window: mean 3. At 18 A enters and B goes: 3 / 9 against C's
///   3 / 2.
/// * D enters at 22. C has 3 / (22 - 17 + 1) = 1/2. A has 3 / (22 - 16 + 1) = 3/7 when its eviction made the policy
///   forget the burst, and ((6 + 3) / 2) / 7 = 9/14 when not. So A goes in the first case and C in the second.
#[test]
fn the_memory_of_mad_decides_what_an_eviction_forgets() {
    let drawn = "AAA.......B..C..AC..D..A";
    assert_eq!(outcomes(Policy::LruMad(Memory::Cached), drawn, 3, 2), "MDDMMMHMM");
    assert_eq!(outcomes(Policy::LruMad(Memory::All), drawn, 3, 2), "MDDMMMHMH");
}

/// Z = 2, two objects. A at 0 opens a window; 2, Z later, opens the second, and 3 falls into that: (2 + 2 + 1) / 2. C
/// enters at 8: A has 5/2 / (8 - 3 + 1) = 5/12, B, missed at 4, 2 / (8 - 4 + 1) = 2/5: B goes. (Had the request at 2
/// not opened a window, that at 3 would have: a mean of 2, and A would have gone.)
#[test]
fn a_window_is_over_when_z_has_passed() {
    assert_eq!(outcomes(Policy::LruMad(Memory::Cached), "A.AAB..C.A", 2, 2), "MHHMMH");
}

/// Z = 2, two objects, equal ranks. A at 1 and 2 costs 2 + 1 = 3, B at 4 costs 2; C enters at 7, where A has
/// 3 / (7 - 2 + 1) = 1/2 and B has 2 / (7 - 4 + 1) = 1/2. A was touched at 2, B at 5: A goes. The second trace has the
/// names of A and B exchanged, so that no order of the keys passes for recency.
#[test]
fn equal_ranks_evict_the_least_recently_touched() {
    for memory in [Memory::Cached, Memory::All] {
        assert_eq!(outcomes(Policy::LruMad(memory), ".AA.B.C.BA", 2, 2), "MDMMHM");
        assert_eq!(outcomes(Policy::LruMad(memory), ".BB.A.C.AB", 2, 2), "MDMMHM");
    }
}

/// Z = 2, two objects with two requests each. Y at 0 and 1 is one window of 2 + 1 = 3; X at 2 and, from the cache, at 4
/// is two windows of 2, mean 2. W enters at 6: LFU breaks the tie against Y, LFU-MAD finds X at 2 × 2 below Y at 2 × 3.
#[test]
fn lfu_mad_keeps_the_burst() {
    assert_eq!(outcomes(Policy::LfuMad(Memory::Cached), "YYX.XW.Y", 2, 2), "MDMHMH");
    assert_eq!(outcomes(Policy::Lfu, "YYX.XW.Y", 2, 2), "MDMHMM");
}

/// Z = 5, two objects. A's burst at 0 to 4 costs 15 and takes it to T2 at once; B enters T1 at 9 and goes to T2 with its
/// hit at 10, its second window of 5. C enters at 15 with T1 empty: of T2 = [A, B] ARC takes A. ARC-MAD compares A's
/// 15 / (15 - 4 + 1) = 5/4 with B's 5 / (15 - 10 + 1) = 5/6 and takes B.
#[test]
fn arc_mad_keeps_the_burst() {
    assert_eq!(outcomes(Policy::ArcMad(Memory::Cached), "AAAAAB....BC....A", 5, 2), "MDDDDMHMH");
    assert_eq!(outcomes(Policy::Arc, "AAAAAB....BC....A", 5, 2), "MDDDDMHMM");
}

/// Z = 3, two objects; every resident is in T2 when the choice is made.
///
/// * A at 0, 1, 2 and B at 3, 4, 5 cost 6 each. C, at 6 and 7, costs 5 and enters at 8: A has 6 / 7, B 6 / 4, A goes.
/// * A misses at 9 and enters at 11, out of B2 into T2: B has 6 / 7, C 5 / 5, B goes.
/// * D enters at 14: C has 5 / 8. A has 3 / 6 when its eviction made the policy forget the burst, ((6 + 3) / 2) / 6 =
///   3/4 when not. So A goes in the first case and C in the second.
#[test]
fn the_memory_of_arc_mad_is_not_that_of_its_ghosts() {
    let drawn = "AAABBBCC.A..D..A";
    assert_eq!(outcomes(Policy::ArcMad(Memory::Cached), drawn, 3, 2), "MDDMDDMDMMM");
    assert_eq!(outcomes(Policy::ArcMad(Memory::All), drawn, 3, 2), "MDDMDDMDMMH");
}

/// Z = 3, two objects. A at 0 costs 3. B at 3 and 5, and from the cache at 6 and 8, has two windows of 4, score 4 × 4. C
/// enters at 11: A, 1 × 3, goes. A returns with a burst of 3 + 2 + 1 and enters at 14: C, 1 × 3, goes. D enters at 17: A
/// has 3 × 6 = 18 when its eviction made the policy forget the first window, so B goes; 3 × (3 + 6) / 2 = 13.5 when not.
#[test]
fn the_memory_of_lfu_mad_decides_what_an_eviction_forgets() {
    let drawn = "A..B.BB.BC..AAAD..A";
    assert_eq!(outcomes(Policy::LfuMad(Memory::Cached), drawn, 3, 2), "MMDHHMMDDMH");
    assert_eq!(outcomes(Policy::LfuMad(Memory::All), drawn, 3, 2), "MMDHHMMDDMM");
}
