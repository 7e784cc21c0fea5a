use trueplane_fair::{Memory, Nanos};

use super::{
    Admission, CohortSettings, Quota, Saved, SavedError, TenantError, TenantSettings, Why, Workload,
};

const SECOND: u64 = 1_000_000_000;

fn at(seconds: u64) -> Nanos {
    Nanos(seconds * SECOND)
}

/// A cluster of 10 of each of two resources for tenants `a` and `b`, with a half-life of 100 s.
fn admission() -> Admission {
    let mut admission = Admission::new(2, Some(Memory::half_life(at(100)).unwrap()), false);
    admission.set_capacity(&[10, 10], at(0));
    for tenant in ["a", "b"] {
        admission.set_tenant(tenant, TenantSettings::usual(2), at(0)).unwrap();
    }
    admission
}

fn workload(tenant: &str, needs: [u64; 2], created: u64, name: &str) -> Workload {
    Workload {
        tenant: tenant.to_owned(),
        needs: needs.to_vec(),
        priority: 0,
        created: at(created),
        name: name.to_owned(),
    }
}

fn all(admission: &mut Admission, now: u64) -> Vec<u64> {
    std::iter::from_fn(|| admission.next(at(now))).collect()
}

#[test]
fn tenants_take_turns_and_priorities_count_within_a_tenant() {
    let mut admission = admission();
    for id in 0..4 {
        assert!(admission.submit(id, workload("a", [2, 1], id, &format!("a{id}"))));
        assert!(admission.submit(10 + id, workload("b", [2, 1], id, &format!("b{id}"))));
    }
    let urgent = Workload { priority: 7, ..workload("a", [2, 1], 4, "urgent") };
    assert!(admission.submit(20, urgent));
    // b0 came before the urgent one, which is the first of a; then a0 came before b1.
    assert_eq!(all(&mut admission, 5), [10, 20, 0, 11, 1]);
    assert_eq!(admission.held(), [10, 5]);
    assert!(!admission.submit(30, workload("nobody", [1, 1], 0, "x")));
}

#[test]
fn a_limit_keeps_its_tenant_and_nobody_else() {
    let mut admission = admission();
    let limited = TenantSettings { limits: vec![Some(3), None], ..TenantSettings::usual(2) };
    admission.set_tenant("a", limited, at(0)).unwrap();
    admission.submit(0, workload("a", [4, 0], 0, "too large"));
    for id in 1..4 {
        admission.submit(id, workload("a", [2, 0], id, &format!("a{id}")));
        admission.submit(10 + id, workload("b", [2, 0], 10 + id, &format!("b{id}")));
    }
    assert_eq!(all(&mut admission, 4), [1, 11, 12, 13]);
    let order = admission.order(at(4));
    assert_eq!(admission.why(0, &order), Some(Why::LargerThanLimit { resource: 0, needed: 4, limit: 3 }));
    assert_eq!(admission.why(2, &order), Some(Why::Limit { resource: 0, limit: 3 }));
    assert_eq!(admission.why(3, &order), Some(Why::Tenant { before: 1 }));
    assert_eq!(admission.waiting("a"), 3);
    // A higher limit lets all of them run, one after the other.
    admission.set_tenant("a", TenantSettings::usual(2), at(5)).unwrap();
    admission.remove(11, at(5));
    assert_eq!(all(&mut admission, 5), [0]);
}

#[test]
fn the_capacity_may_fall_below_what_is_held_and_rise_again() {
    let mut admission = admission();
    admission.submit(0, workload("a", [6, 1], 0, "a0"));
    admission.submit(1, workload("b", [4, 1], 0, "b0"));
    assert_eq!(all(&mut admission, 0).len(), 2);
    admission.submit(2, workload("a", [3, 1], 1, "a1"));
    admission.submit(3, workload("b", [8, 1], 1, "b1"));
    admission.set_capacity(&[4, 10], at(2));
    let order = admission.order(at(2));
    assert_eq!(admission.why(3, &order), Some(Why::Cluster { resource: 0, needed: 8, found: 4 }));
    assert_eq!(admission.why(2, &order), Some(Why::Room { resource: 0, needed: 3, free: 0 }));
    assert!(all(&mut admission, 2).is_empty());
    admission.remove(0, at(3));
    assert!(all(&mut admission, 3).is_empty(), "4 of 4 are held");
    admission.remove(1, at(3));
    assert_eq!(all(&mut admission, 3), [2]);
    admission.set_capacity(&[0, 0], at(4));
    assert!(all(&mut admission, 4).is_empty());
    admission.set_capacity(&[100, 10], at(5));
    assert_eq!(all(&mut admission, 5), [3]);
    assert_eq!(admission.held(), [11, 2]);
}

#[test]
fn why_a_workload_waits_is_said() {
    let mut admission = admission();
    admission.adopt(0, workload("a", [8, 1], 0, "a0"), at(0));
    admission.submit(1, workload("a", [1, 1], 1, "a1"));
    admission.submit(2, workload("b", [4, 1], 2, "b0"));
    assert!(all(&mut admission, 50).is_empty());
    let order = admission.order(at(50));
    assert_eq!(order, ["b", "a"]);
    assert_eq!(admission.why(2, &order), Some(Why::Room { resource: 0, needed: 4, free: 2 }));
    assert_eq!(admission.why(1, &order), Some(Why::Turn { before: vec!["b".to_owned()] }));
    assert_eq!(admission.why(0, &order), None);
    let share = admission.share("a").unwrap();
    assert_eq!((share.entitled, share.held), (0.5, 0.8));
    // It had 0.3 above its half for half of a half-life.
    assert!((share.remembered - 0.3 * (1.0 - 0.5f64.sqrt())).abs() < 1e-9, "{share:?}");
}

#[test]
fn a_workload_that_does_not_fit_is_passed_only_with_backfill() {
    for backfill in [false, true] {
        let mut admission = Admission::new(1, None, backfill);
        admission.set_capacity(&[10], at(0));
        for tenant in ["a", "b"] {
            admission.set_tenant(tenant, TenantSettings::usual(1), at(0)).unwrap();
        }
        let one = |tenant: &str, needs| Workload {
            tenant: tenant.to_owned(),
            needs: vec![needs],
            priority: 0,
            created: at(0),
            name: tenant.to_owned(),
        };
        admission.adopt(0, one("b", 6), at(0));
        admission.submit(1, one("a", 8));
        admission.submit(2, one("b", 2));
        assert_eq!(admission.next(at(0)), backfill.then_some(2));
    }
}

#[test]
fn what_a_tenant_has_had_outlives_the_process() {
    let mut admission = admission();
    admission.adopt(0, workload("a", [9, 1], 0, "a0"), at(0));
    admission.submit(1, workload("b", [5, 1], 0, "b0"));
    let saved = admission.save(at(60));
    let memory = Some(Memory::half_life(at(100)).unwrap());
    let mut restored = Admission::restore(&saved, 2, memory, false).unwrap();
    restored.set_capacity(&[10, 10], at(60));
    restored.adopt(0, workload("a", [9, 1], 0, "a0"), at(60));
    restored.submit(1, workload("b", [5, 1], 0, "b0"));
    assert_eq!(restored.save(at(90)), admission.save(at(90)));
    // Its size does not depend on workloads.
    for id in 2..1000 {
        admission.submit(id, workload("b", [1, 1], id, &format!("b{id}")));
    }
    assert_eq!(admission.save(at(90)).scheduler.len(), saved.scheduler.len());
    // Another half-life forgets nothing by itself.
    let other = Some(Memory::half_life(at(5)).unwrap());
    let mut changed = Admission::restore(&saved, 2, other, false).unwrap();
    let remembered = |admission: &Admission| admission.share("a").unwrap().remembered;
    let before = remembered(&changed);
    assert!((before - 0.4 * (1.0 - 0.5f64.powf(0.6))).abs() < 1e-9, "{before}");
    changed.order(at(65));
    assert!((remembered(&changed) / before - 0.5).abs() < 1e-9);
    let error = |saved: &Saved, resources| Admission::restore(saved, resources, memory, false).unwrap_err();
    assert_eq!(error(&saved, 3), SavedError::Resources { expected: 3, found: 2 });
    let mut wrong = saved.clone();
    wrong.tenants.remove("a");
    assert_eq!(error(&wrong, 2), SavedError::Names);
    wrong.scheduler.truncate(20);
    assert!(matches!(error(&wrong, 2), SavedError::Snapshot(_)));
}

#[test]
fn mistakes_are_errors() {
    let mut admission = admission();
    let weight = |weight| TenantSettings { weight, ..TenantSettings::usual(2) };
    assert_eq!(admission.set_tenant("a", weight(0), at(0)), Err(TenantError::Weight(0)));
    assert_eq!(admission.set_tenant("c", weight(70_000), at(0)), Err(TenantError::Weight(70_000)));
    assert_eq!(
        admission.set_tenant("a", TenantSettings::usual(1), at(0)),
        Err(TenantError::Resources { expected: 2, found: 1 })
    );
    assert_eq!(admission.remove(99, at(0)), None);
    admission.adopt(0, workload("a", [1, 1], 0, "a0"), at(0));
    assert!(!admission.remove_tenant("a", at(0)));
    assert!(admission.remove(0, at(0)).is_some());
    assert!(admission.remove_tenant("a", at(0)) && admission.remove_tenant("a", at(0)));
    assert_eq!(admission.tenants().collect::<Vec<_>>(), ["b"]);
    // Amounts that nobody has are bounded, and nothing overflows.
    assert!(admission.adopt(1, workload("b", [u64::MAX, 0], 0, "huge"), at(0)));
    assert!(admission.submit(2, workload("b", [u64::MAX, 0], 0, "huge too")));
    admission.set_capacity(&[u64::MAX, u64::MAX], at(1));
    assert_eq!(admission.next(at(1)), Some(2));
}

/// The first workload of `b` has waited for its time: it is before those of `a`, and keeps room for itself unless others may pass.
#[test]
fn who_has_waited_for_long_enough_is_first() {
    for backfill in [false, true] {
        let mut admission = admission();
        admission.backfill = backfill;
        let heavy = TenantSettings { weight: 100, ..TenantSettings::usual(2) };
        admission.set_tenant("a", heavy, at(0)).unwrap();
        let patient = TenantSettings { longest_wait: Some(at(100)), ..TenantSettings::usual(2) };
        admission.set_tenant("b", patient, at(0)).unwrap();
        // What b has had is so much that a would be first for long.
        admission.adopt(0, workload("b", [9, 9], 0, "before"), at(0));
        assert!(admission.remove(0, at(300)).is_some());
        admission.submit(1, workload("b", [8, 1], 300, "large"));
        admission.submit(2, workload("b", [3, 1], 301, "next"));
        for id in 10..20 {
            admission.submit(id, workload("a", [4, 1], 301 + id, &format!("a{id}")));
        }
        assert_eq!(all(&mut admission, 330), [10, 11]);
        let order = admission.order(at(330));
        assert!(matches!(admission.why(1, &order), Some(Why::Turn { .. })));
        admission.remove(10, at(399));
        assert_eq!(all(&mut admission, 399), [12]);
        admission.remove(11, at(400));
        let order = admission.order(at(400));
        if backfill {
            assert_eq!(all(&mut admission, 400), [13], "there is no room for 1");
            admission.remove(13, at(401));
        } else {
            assert_eq!(all(&mut admission, 400), Vec::<u64>::new());
            assert_eq!(admission.why(13, &order), Some(Why::Overdue { tenant: "b".to_owned() }));
            assert!(matches!(admission.why(1, &order), Some(Why::Room { needed: 8, .. })));
        }
        admission.remove(12, at(402));
        assert_eq!(admission.next(at(402)), Some(1));
        assert!(admission.share("b").unwrap().held > 0.7);
        // The next one of b has waited for as long, but b got something just now. After a restart, that is known.
        let Saved { got, .. } = admission.save(at(403));
        assert_eq!(got["b"], at(402));
        admission.remove(1, at(404));
        assert_eq!(
            all(&mut admission, 501)[..2],
            [if backfill { 14 } else { 13 }, if backfill { 15 } else { 14 }]
        );
        let order = admission.order(at(501));
        let why = admission.why(2, &order);
        assert!(matches!(why, Some(Why::Turn { .. })), "a second before its time: {why:?} {order:?}");
        let next = admission.tenants["b"].candidate;
        // If others may pass it, it is first as soon as there is room.
        assert_eq!((next, admission.overdue(at(502))), (Some(2), (!backfill).then_some(2)));
        admission.remove(if backfill { 14 } else { 13 }, at(502));
        assert_eq!(admission.next(at(502)), Some(2));
    }
}

/// What does not fit keeps room only of its flavor.
#[test]
fn a_full_flavor_keeps_nobody_who_needs_another() {
    for flavor in [1, 2] {
        let mut admission = admission().with_flavors_of(flavor);
        admission.adopt(0, workload("a", [9, 0], 0, "a0"), at(0));
        admission.submit(1, workload("b", [2, 0], 1, "first"));
        admission.submit(2, workload("a", [0, 3], 2, "other flavor"));
        let expected: &[u64] = if flavor == 1 { &[2] } else { &[] };
        assert_eq!(all(&mut admission, 2), expected);
        admission.submit(3, workload("a", [1, 0], 3, "same flavor"));
        assert_eq!(all(&mut admission, 3), Vec::<u64>::new(), "1 is first");
    }
}

/// Three hundred tenants in one tree, each with ten workloads, have what is theirs in each round, and all of it runs.
#[test]
fn many_tenants_share_a_tree() {
    let mut admission = Admission::new(2, Some(Memory::half_life(at(100)).unwrap()), false);
    admission.set_capacity(&[2000, 2000], at(0));
    let names: Vec<String> = (0..300).map(|number| format!("tenant {number:03}")).collect();
    let quota = Quota { nominal: 1, ..Quota::default() };
    let quotas = CohortSettings {
        parent: Some("all".to_owned()),
        quotas: vec![Some(quota), None],
        is_unusable: false,
    };
    for name in &names {
        let settings = TenantSettings { quotas: quotas.clone(), ..TenantSettings::usual(2) };
        admission.set_tenant(name, settings, at(0)).unwrap();
    }
    for id in 0..3000u64 {
        admission.submit(id, workload(&names[(id % 300) as usize], [1, 1], id / 300, &format!("{id}")));
    }
    let mut ran = std::collections::BTreeSet::new();
    for round in 0..10 {
        let running = all(&mut admission, 100 + round);
        assert_eq!(running.len(), 300, "the quotas of all of them");
        ran.extend(running.iter().copied());
        running.iter().for_each(|&id| drop(admission.remove(id, at(100 + round))));
    }
    assert_eq!(ran.len(), 3000);
}

#[test]
fn nothing_of_a_tenant_on_hold_is_admitted() {
    let mut admission = admission();
    let on_hold = TenantSettings { is_on_hold: true, ..TenantSettings::usual(2) };
    admission.set_tenant("a", on_hold, at(0)).unwrap();
    admission.submit(1, workload("a", [1, 1], 0, "a"));
    admission.submit(2, workload("b", [1, 1], 1, "b"));
    assert_eq!(all(&mut admission, 1), [2]);
    assert_eq!(admission.why(1, &[]), Some(Why::OnHold));
    admission.set_tenant("a", TenantSettings::usual(2), at(2)).unwrap();
    assert_eq!(all(&mut admission, 2), [1]);
}

/// Quotas bound whom SDRF can choose, also when they change and when what is held is more than they allow.
#[test]
fn quotas_bound_who_can_be_chosen() {
    let mut admission = admission();
    let of = |nominal, borrowing_limit| {
        let quota = Quota { nominal, borrowing_limit, lending_limit: None };
        let quotas = CohortSettings {
            parent: Some("both".to_owned()),
            quotas: vec![Some(quota), None],
            is_unusable: false,
        };
        TenantSettings { quotas, ..TenantSettings::usual(2) }
    };
    admission.set_tenant("a", of(2, Some(2)), at(0)).unwrap();
    admission.set_tenant("b", of(4, None), at(0)).unwrap();
    for id in 0..4 {
        admission.submit(id, workload("a", [2, 0], id, &format!("a{id}")));
    }
    admission.submit(9, workload("b", [7, 0], 9, "too large for both"));
    // a has its 2 and borrows 2.
    assert_eq!(all(&mut admission, 9), [0, 1]);
    assert!(matches!(admission.why(2, &[]), Some(Why::Quota { needed: 2, .. })));
    assert!(matches!(admission.why(9, &[]), Some(Why::LargerThanQuota { needed: 7, .. })));
    admission.submit(10, workload("b", [2, 0], 10, "b0"));
    admission.submit(11, workload("b", [2, 0], 11, "b1"));
    assert_eq!(all(&mut admission, 11), [10]);
    admission.remove(0, at(12));
    // It would be the turn of a, whose workload came first. But it would borrow.
    assert_eq!(all(&mut admission, 12), [11], "a borrows nothing while b waits for its own");
    assert!(matches!(admission.why(2, &[]), Some(Why::Quota { needed: 2, .. })));
    admission.set_tenant("a", of(3, None), at(13)).unwrap();
    let own = vec![Some(Quota { nominal: 5, ..Quota::default() })];
    let both = CohortSettings { quotas: own, ..CohortSettings::default() };
    admission.set_others([("both".to_owned(), both)].into(), [].into());
    assert_eq!(all(&mut admission, 13), [2, 3], "12 are there for both, and the cluster has 10");
    assert_eq!(admission.held(), [10, 0]);
    admission.set_tenant("a", of(0, Some(0)), at(14)).unwrap();
    admission.submit(4, workload("a", [2, 0], 14, "a4"));
    for id in 1..4 {
        admission.remove(id, at(15));
    }
    assert_eq!(all(&mut admission, 15), Vec::<u64>::new());
    assert!(matches!(admission.why(4, &[]), Some(Why::LargerThanQuota { needed: 2, .. })));
    admission.set_tenant("a", of(2, Some(0)), at(16)).unwrap();
    assert_eq!(all(&mut admission, 16), [4]);
}

/// What a cohort has is kept from those outside it while one of its tenants waits for it.
#[test]
fn the_quota_of_a_cohort_is_kept_for_its_tenants() {
    let mut admission = admission();
    let below = |parent: &str, nominal: Option<u64>| CohortSettings {
        parent: Some(parent.to_owned()),
        quotas: vec![nominal.map(|nominal| Quota { nominal, ..Quota::default() }), None],
        is_unusable: false,
    };
    for (name, cohort) in [("a", "team"), ("b", "all")] {
        let quotas = below(cohort, None);
        admission.set_tenant(name, TenantSettings { quotas, ..TenantSettings::usual(2) }, at(0)).unwrap();
    }
    admission.set_others([("team".to_owned(), below("all", Some(6)))].into(), [].into());
    admission.submit(0, workload("b", [4, 0], 0, "b0"));
    admission.submit(1, workload("b", [2, 0], 1, "b1"));
    admission.submit(2, workload("b", [2, 0], 2, "b2"));
    assert_eq!(all(&mut admission, 2), [0, 1], "nobody else wants what the team has");
    admission.submit(3, workload("a", [4, 0], 3, "a0"));
    admission.remove(1, at(3));
    assert_eq!(all(&mut admission, 3), Vec::<u64>::new(), "it would be the turn of b, which came first");
    assert_eq!(admission.why(2, &[]), Some(Why::Claimed { resource: 0, tenant: "a".to_owned() }));
    admission.remove(0, at(4));
    assert_eq!(all(&mut admission, 4), [3, 2]);
}
