//! Tests of limiters of keys.

use std::collections::HashMap;

use proptest::prelude::*;

use super::*;

/// Keys, requests at once, and times that may go back.
fn calls() -> impl Strategy<Value = Vec<(u8, u32, i64)>> {
    let gap = prop_oneof![3 => Just(0i64), 3 => 0..20_000i64, 1 => 0..2_000_000i64, 1 => -5_000..0i64];
    let key = prop_oneof![0..4u8, 0..64u8];
    prop::collection::vec((key, prop_oneof![3 => Just(1), 1 => 0..6u32], gap), 1..400)
}

fn consistent(limiter: &KeyedLimiter<u8>) {
    assert_eq!(limiter.index.len(), limiter.keys.len());
    for (position, (key, _)) in limiter.keys.iter().enumerate() {
        assert_eq!(limiter.position(key), Some(position));
    }
}

proptest! {
    /// Forgetting idle keys changes no verdict: a map that forgets nothing says the same.
    #[test]
    fn forgetting_changes_no_verdict(calls in calls(), burst in 1..5u32, sweeps in 1..50usize, saved in 0..400usize) {
        // A request in 1 µs.
        let quota = Quota { requests: 3, period: Nanos(3_000), burst };
        let mut forgetful = KeyedLimiter::new(quota, 64).unwrap();
        let mut map: HashMap<u8, RequestLimiter> = HashMap::new();
        let (mut now, mut latest) = (0u64, 0);
        for (index, (key, requests, gap)) in calls.into_iter().enumerate() {
            now = now.saturating_add_signed(gap);
            latest = latest.max(now);
            if index == saved {
                let text = serde_json::to_string(&forgetful).unwrap();
                forgetful = serde_json::from_str(&text).unwrap();
            }
            let kept = map.entry(key).or_insert_with(|| RequestLimiter::new(quota).unwrap());
            let said = forgetful.check_n(&key, requests, Nanos(now));
            let told = kept.check_n(requests, Nanos(latest)).map_err(|refused| match refused {
                // The wait is one from the caller's time on.
                Refused::RetryAfter(RetryAfter(wait)) => RetryAfter(Nanos(wait.0 + latest - now)).into(),
                other => other,
            });
            prop_assert_eq!(said, told);
            if let Err(Refused::RetryAfter(RetryAfter(wait))) = said {
                prop_assert!(forgetful.clone().check_n(&key, requests, Nanos(now + wait.0)).is_ok());
                prop_assert!(forgetful.clone().check_n(&key, requests, Nanos(now + wait.0 - 1)).is_err());
            }
            prop_assert_eq!(forgetful.remaining(&key, Nanos(now)), kept.remaining(Nanos(latest)));
            let reset = forgetful.reset_after(&key, Nanos(now));
            prop_assert_eq!(reset.0.saturating_sub(latest - now), kept.reset_after(Nanos(latest)).0);
            if index % sweeps == 0 {
                forgetful.forget_idle(Nanos(latest));
                prop_assert!(forgetful.iter().all(|(_, limiter)| !limiter.is_idle(Nanos(latest))));
            }
            consistent(&forgetful);
        }
    }
}

#[test]
fn one_shot_keys_do_not_add_up() {
    // A million keys in a second, each idle a millisecond after its only request: a thousand of them are not idle at a time.
    let mut limiter: KeyedLimiter<u64> = KeyedLimiter::new(Quota::per_second(1_000), 100_000).unwrap();
    let mut most = 0;
    for key in 0..1_000_000u64 {
        limiter.check(&key, Nanos(key * 1_000)).unwrap();
        most = most.max(limiter.len());
    }
    assert!((1_000..=4_000).contains(&most), "{most}");
    // As many calls as there are keys, all by one of them, later.
    let calls = limiter.len() as u64;
    (0..calls).for_each(|_| limiter.check(&0, Nanos(10_000_000_000)).unwrap_or_default());
    assert_eq!(limiter.len(), 1);
}

#[test]
fn a_full_limiter_refuses_new_keys_and_serves_the_others() {
    let mut limiter: KeyedLimiter<String> = KeyedLimiter::new(Quota::per_second(2), 2).unwrap();
    assert!(limiter.check("a", Nanos(0)).is_ok() && limiter.check("b", Nanos(0)).is_ok());
    let full = limiter.check("c", Nanos(0)).unwrap_err();
    assert_eq!(
        (full, full.to_string()),
        (Refused::Full { keys: 2 }, "expected at most 2 keys in use, and all of them are".to_owned())
    );
    assert!(limiter.check("a", Nanos(0)).is_ok());
    assert!(matches!(limiter.check("a", Nanos(0)), Err(Refused::RetryAfter(_))));
    // Half a second later `b` is idle, and its place is free.
    assert!(limiter.check("c", Nanos(500_000_000)).is_ok());
    assert!(limiter.reset("c") && !limiter.reset("c"));
    assert_eq!(format!("{limiter:?}").matches("keys: 1").count(), 1);
}

#[test]
fn what_was_not_saved_by_a_limiter_is_refused() {
    let refused = |text: &str| serde_json::from_str::<KeyedLimiter<String>>(text).unwrap_err().to_string();
    let saved = |most: usize, keys: &str| {
        format!(
            r#"{{"quota":{{"requests":1,"period":1,"burst":1}},"most_keys":{most},"latest":0,"keys":[{keys}]}}"#
        )
    };
    let twice = refused(&saved(9, r#"["a",[0,1]],["a",[0,1]]"#));
    assert!(twice.starts_with("expected every key once"), "{twice}");
    let many = refused(&saved(1, r#"["a",[0,1]],["b",[0,1]]"#));
    assert!(many.starts_with("expected at most 1 keys, got 2"), "{many}");
    let beyond = refused(&saved(1, r#"["a",[1,0]]"#));
    assert!(beyond.starts_with("expected no key to have used more than its burst"), "{beyond}");
    assert!(refused(&saved(0, "")).starts_with("expected at least 1 key"));
}

#[test]
fn a_restored_limiter_goes_on_by_a_clock_that_starts_anew() {
    let days = 30 * 86_400_000_000_000;
    let mut limiter: KeyedLimiter<String> = KeyedLimiter::new(Quota::per_second(10), 9).unwrap();
    (0..10).for_each(|_| limiter.check("a", Nanos(days)).unwrap());
    // A format without integers of 128 bits.
    let saved = serde_json::to_value(&limiter).unwrap();
    let mut limiter: KeyedLimiter<String> = serde_json::from_value(saved).unwrap();
    limiter.rebase(Nanos(0));
    let refused = limiter.check("a", Nanos(0)).unwrap_err();
    assert_eq!(refused, RetryAfter(Nanos(100_000_000)).into());
    assert!(limiter.check("a", Nanos(100_000_000)).is_ok());
    // A time that was wrong.
    assert!(limiter.check("b", Nanos::MAX).is_ok());
    limiter.rebase(Nanos(200_000_000));
    assert!(limiter.check("a", Nanos(200_000_000)).is_ok());
}

#[test]
fn another_quota_counts_what_was_used() {
    let mut limiter: KeyedLimiter<String> = KeyedLimiter::new(Quota::per_second(10), 9).unwrap();
    (0..4).for_each(|_| limiter.check("a", Nanos(0)).unwrap());
    limiter.set_quota(Quota::per_minute(100)).unwrap();
    assert_eq!((limiter.remaining("a", Nanos(0)), limiter.remaining("b", Nanos(0))), (96, 100));
    limiter.set_quota(Quota::per_second(3)).unwrap();
    assert_eq!(limiter.remaining("a", Nanos(0)), 0);
    assert_eq!(limiter.set_quota(Quota::per_second(0)), Err(QuotaError::NoRequests));
    assert_eq!(limiter.quota(), Quota::per_second(3));
}

#[test]
fn keys_may_be_shared() {
    use std::sync::Arc;
    let mut limiter: KeyedLimiter<Arc<str>> = KeyedLimiter::new(Quota::per_second(1), 9).unwrap();
    assert!(limiter.check_with("a", 1, Nanos(0), || "a".into()).is_ok());
    assert!(limiter.check_with("a", 1, Nanos(0), || unreachable!("it is known")).is_err());
}

proptest! {
    /// A key can ask what is left and then take just that, whether it is new, known, or finds no room.
    #[test]
    fn what_remains_passes_and_no_more(calls in calls(), burst in 1..5u32) {
        let quota = Quota { requests: 3, period: Nanos(3_000), burst };
        // Few keys, so that there is often no room.
        let mut limiter = KeyedLimiter::new(quota, 3).unwrap();
        let mut now = 0u64;
        for (key, requests, gap) in calls {
            now = now.saturating_add_signed(gap);
            for asked in [key, key % 4] {
                let remaining = limiter.remaining(&asked, Nanos(now));
                if remaining > 0 {
                    prop_assert!(limiter.clone().check_n(&asked, remaining, Nanos(now)).is_ok());
                }
                prop_assert!(limiter.clone().check_n(&asked, remaining + 1, Nanos(now)).is_err());
            }
            let _ = limiter.check_n(&key, requests, Nanos(now));
        }
    }

    /// A key that goes to another limiter and back has what one has that stays and is given both quotas.
    #[test]
    fn a_key_keeps_what_it_used(calls in calls(), burst in 1..5u32, other in (1..9u32, 1..9_000u64, 1..9u32)) {
        let quota = Quota { requests: 3, period: Nanos(3_000), burst };
        let other = Quota { requests: other.0, period: Nanos(other.1), burst: other.2 };
        let mut here: KeyedLimiter<u8> = KeyedLimiter::new(quota, 64).unwrap();
        let mut there: KeyedLimiter<u8> = KeyedLimiter::new(other, 64).unwrap();
        let mut stays: KeyedLimiter<u8> = here.clone();
        let mut now = 0u64;
        for (key, requests, gap) in calls {
            now = now.saturating_add_signed(gap.abs());
            let now = Nanos(now);
            prop_assert_eq!(here.check_n(&key, requests, now), stays.check_n(&key, requests, now));
            if let Some(limiter) = here.take(&key) {
                prop_assert_eq!((here.take(&key), here.remaining(&key, now)), (None, burst));
                there.put(key, limiter, now).unwrap();
            }
            stays.set_quota(other).unwrap();
            prop_assert_eq!(there.remaining(&key, now), stays.remaining(&key, now));
            if let Some(limiter) = there.take(&key) {
                here.put(key, limiter, now).unwrap();
            }
            // Only of this key: the others have stayed.
            let back = stays.take(&key);
            stays = here.clone();
            if let Some(limiter) = back {
                let expected = limiter.under(quota, now);
                prop_assert_eq!(here.remaining(&key, now), expected.remaining(now));
            }
            consistent(&here);
            consistent(&there);
        }
    }
}

#[test]
fn a_new_key_that_finds_no_room_has_nothing_left() {
    let mut limiter: KeyedLimiter<String> = KeyedLimiter::new(Quota::per_minute(60), 2).unwrap();
    assert!(limiter.check("a", Nanos(0)).is_ok() && limiter.check("b", Nanos(0)).is_ok());
    assert_eq!((limiter.remaining("a", Nanos(0)), limiter.remaining("c", Nanos(0))), (59, 0));
    assert_eq!(limiter.check("c", Nanos(0)), Err(Refused::Full { keys: 2 }));
    // A key that has used something finds no room either, and one that has not needs none.
    let mut used = RequestLimiter::new(Quota::per_minute(60)).unwrap();
    let unused = used;
    used.check(Nanos(0)).unwrap();
    assert_eq!(limiter.put("c".to_owned(), used, Nanos(0)), Err(Refused::Full { keys: 2 }));
    assert_eq!((limiter.put("c".to_owned(), unused, Nanos(0)), limiter.len()), (Ok(()), 2));
    // A key that is known is replaced.
    assert_eq!(limiter.put("a".to_owned(), unused, Nanos(0)), Ok(()));
    assert_eq!(limiter.remaining("a", Nanos(0)), 60);
    // A second later the others are idle, and there is room.
    let later = Nanos(1_000_000_000);
    assert_eq!((limiter.remaining("c", later), limiter.check("c", later)), (60, Ok(())));
}
