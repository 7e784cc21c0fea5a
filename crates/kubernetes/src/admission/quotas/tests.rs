mod claims;

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::{CohortSettings, OverQuota, Quota, Quotas};

fn quota(nominal: u64, borrowing_limit: Option<u64>, lending_limit: Option<u64>) -> Option<Quota> {
    Some(Quota { nominal, borrowing_limit, lending_limit })
}

fn settings(parent: Option<&str>, quota: Option<Quota>) -> CohortSettings {
    CohortSettings { parent: parent.map(str::to_owned), quotas: vec![quota], is_unusable: false }
}

/// Quotas of one resource of which nothing is used.
fn quotas(
    cohorts: &[(&str, Option<&str>, Option<Quota>)],
    tenants: &[(&str, Option<&str>, Option<Quota>)],
) -> Quotas {
    let mut quotas = Quotas::new(1);
    let all = cohorts.iter().map(|(name, parent, quota)| ((*name).to_owned(), settings(*parent, *quota)));
    quotas.set_others(all.collect(), BTreeMap::new());
    for (name, parent, quota) in tenants {
        quotas.set_tenant(name, settings(*parent, *quota));
    }
    assert!(quotas.build(|_| &[0]));
    quotas
}

/// The most that the tenant can have more than it has, by trying.
fn left(quotas: &Quotas, tenant: &str) -> u64 {
    quotas.over(tenant, &[u64::MAX]).map_or(u64::MAX, |over| over.left)
}

/// The example in the documentation of the module.
#[test]
fn two_tenants_lend_to_each_other() {
    let mut quotas = quotas(
        &[],
        &[("a", Some("both"), quota(10, None, Some(4))), ("b", Some("both"), quota(6, None, None))],
    );
    assert_eq!((left(&quotas, "a"), left(&quotas, "b")), (16, 10));
    quotas.take("b", &[10]);
    assert_eq!((left(&quotas, "a"), left(&quotas, "b")), (6, 0));
    quotas.take("a", &[6]);
    assert_eq!((left(&quotas, "a"), left(&quotas, "b")), (0, 0));
    quotas.give("b", &[10]);
    assert_eq!((left(&quotas, "a"), left(&quotas, "b")), (10, 10));
    let over = OverQuota { resource: 0, left: 10, cohort: Some("both".to_owned()) };
    assert_eq!(quotas.over("b", &[11]), Some(over.clone()));
    assert_eq!(quotas.never("b", &[10]), None);
    assert_eq!(quotas.never("b", &[11]), Some(over));
}

#[test]
fn a_tenant_borrows_no_more_than_it_may() {
    let quotas = quotas(
        &[("top", None, quota(100, None, None)), ("team", Some("top"), quota(0, Some(20), None))],
        &[
            ("a", Some("team"), quota(10, Some(5), None)),
            ("b", Some("team"), quota(10, None, None)),
            ("alone", None, quota(7, Some(50), None)),
            ("free", None, None),
            ("other", Some("without settings"), None),
        ],
    );
    let over = |tenant: &str, cohort: Option<&str>, left: u64| {
        let cohort = cohort.map(str::to_owned);
        assert_eq!(quotas.over(tenant, &[1000]), Some(OverQuota { resource: 0, left, cohort }));
    };
    // Its own 10 and 5 of others.
    over("a", None, 15);
    // The 20 of both, and 20 that the team may borrow.
    over("b", Some("team"), 40);
    // Who is in no cohort has nobody to borrow from.
    over("alone", None, 7);
    for unlimited in ["free", "other", "unknown"] {
        assert_eq!(quotas.over(unlimited, &[u64::MAX]), None);
    }
    let families = |names: &[&str]| quotas.families(&names.iter().map(|name| (*name).to_owned()).collect());
    assert_eq!(families(&["a", "free"]), ["a", "b"]);
    assert!(families(&["free", "unknown"]).is_empty());
}

#[test]
fn what_is_above_itself_is_found() {
    let none = quota(1, None, None);
    let quotas = quotas(
        &[
            ("x", Some("y"), none),
            ("y", Some("x"), none),
            ("z", Some("y"), none),
            ("self", Some("self"), none),
            ("good", None, none),
        ],
        &[("below", Some("z"), none), ("fine", Some("good"), none), ("own", Some("self"), none)],
    );
    let cyclic: Vec<&str> =
        ["x", "y", "z", "self", "good"].into_iter().filter(|name| quotas.is_lost(name)).collect();
    assert_eq!(cyclic, ["x", "y", "z", "self"]);
    let lost: Vec<&str> =
        ["below", "fine", "own"].into_iter().filter(|name| quotas.lost_cohort(name).is_some()).collect();
    assert_eq!(lost, ["below", "own"]);
}

/// The quotas of nodes, and the number of the cohort to which each belongs.
type Nodes = Vec<(usize, Option<Quota>)>;

/// A tenant that waits for its own leaves the rest to others, and nobody below an unusable cohort gets anything.
#[test]
fn claims_are_amounts() {
    let mut quotas = quotas(
        &[("broken", Some("top"), None)],
        &[
            ("a", Some("all"), quota(50, None, None)),
            ("b", Some("all"), quota(10, None, None)),
            ("c", Some("broken"), quota(5, None, None)),
        ],
    );
    quotas.take("b", &[10]);
    let wait = |quotas: &mut Quotas, needs: Option<u64>| {
        quotas.set_wait("a", needs.map(|needs| vec![needs]));
        quotas.refresh(&["a".to_owned()].into());
    };
    wait(&mut quotas, Some(45));
    assert_eq!(quotas.claimed("b", &[5]), None, "5 are left of the 50 of a");
    assert_eq!(quotas.claimed("b", &[6]), Some((0, "a")));
    assert_eq!(quotas.claimed("a", &[50]), None, "its own is nobody else's");
    wait(&mut quotas, None);
    assert_eq!(quotas.claimed("b", &[50]), None);
    let broken = CohortSettings { is_unusable: true, ..settings(Some("top"), None) };
    let absent = [("d".to_owned(), settings(Some("all"), quota(7, None, None)))];
    quotas.set_others([("broken".to_owned(), broken)].into(), absent.into());
    assert!(quotas.build(|name| if name == "b" { &[10] } else { &[0] }));
    assert_eq!((quotas.lost_cohort("c"), quotas.lost_cohort("a")), (Some("broken"), None));
    assert_eq!(left(&quotas, "b"), 57, "who is not there lends, too");
    assert!(!quotas.build(|_| &[0]));
}

/// Some quotas: four cohorts of which each is below one before it, and six tenants.
fn some() -> impl Strategy<Value = (Nodes, Nodes)> {
    let limit = || prop::option::of(0..12u64);
    let quota = || {
        prop::option::weighted(
            0.8,
            (0..12u64, limit(), limit()).prop_map(|(nominal, borrowing_limit, lending_limit)| Quota {
                nominal,
                borrowing_limit,
                lending_limit,
            }),
        )
    };
    (prop::collection::vec((0..5usize, quota()), 4), prop::collection::vec((0..5usize, quota()), 6))
}

/// By the rules alone, from below: what the node lends, what it uses of its parent, whether a quota limits it, and whether all below it have no
/// more than they may.
fn is_allowed(
    node: &str,
    nodes: &BTreeMap<String, CohortSettings>,
    held: &BTreeMap<String, u64>,
) -> (u64, u64, bool, bool) {
    let children = nodes.iter().filter(|(_, one)| one.parent.as_deref() == Some(node)).map(|(name, _)| name);
    let (mut subtree, mut usage, mut is_limited, mut is_fine) = (0, 0, false, true);
    for child in children {
        let (lent, used, limited, fine) = is_allowed(child, nodes, held);
        (subtree, usage) = (subtree + lent, usage + used);
        (is_limited, is_fine) = (is_limited | limited, is_fine & fine);
    }
    let settings = &nodes[node];
    let own = settings.quotas[0];
    let quota = own.unwrap_or_default();
    subtree += quota.nominal;
    usage += held.get(node).copied().unwrap_or(0);
    is_limited |= own.is_some();
    if settings.parent.is_none() {
        return (0, 0, false, is_fine & (!is_limited || usage <= subtree));
    }
    let guaranteed = quota.lending_limit.map_or(0, |limit| subtree.saturating_sub(limit));
    if let Some(limit) = quota.borrowing_limit {
        is_fine &= usage <= subtree + limit;
    }
    (subtree - guaranteed, usage.saturating_sub(guaranteed), is_limited, is_fine)
}

proptest! {
    /// What is left is the most that the rules allow, whatever was taken and given before.
    #[test]
    fn what_is_left_is_what_the_rules_allow(
        (cohorts, tenants) in some(),
        steps in prop::collection::vec((0..6usize, 0..15u64), 1..40),
    ) {
        let name_of = |place: usize, before: usize| (place < before).then(|| format!("cohort {place}"));
        let mut nodes = BTreeMap::new();
        for (place, (parent, quota)) in cohorts.iter().enumerate() {
            let parent = name_of(*parent, place);
            nodes.insert(format!("cohort {place}"), CohortSettings { parent, quotas: vec![*quota], is_unusable: false });
        }
        let mut quotas = Quotas::new(1);
        quotas.set_others(nodes.clone(), BTreeMap::new());
        for (place, (parent, quota)) in tenants.iter().enumerate() {
            let settings = CohortSettings { parent: name_of(*parent, 4), quotas: vec![*quota], is_unusable: false };
            quotas.set_tenant(&format!("tenant {place}"), settings.clone());
            nodes.insert(format!("tenant {place}"), settings);
        }
        quotas.build(|_| &[0]);
        let roots: Vec<String> =
            nodes.iter().filter(|(_, one)| one.parent.is_none()).map(|(name, _)| name.clone()).collect();
        let is_fine = |held: &BTreeMap<String, u64>| {
            roots.iter().all(|root| is_allowed(root, &nodes, held).3)
        };
        let mut held: BTreeMap<String, u64> = BTreeMap::new();
        for (tenant, amount) in steps {
            let name = format!("tenant {tenant}");
            let has = held.get(&name).copied().unwrap_or(0);
            let left = left(&quotas, &name);
            prop_assert_eq!(quotas.over(&name, &[amount]).is_none(), amount == 0 || amount <= left);
            let mut with = held.clone();
            if left < u64::MAX {
                with.insert(name.clone(), has + left + 1);
                prop_assert!(!is_fine(&with), "{} can have more than {left}", name);
            }
            with.insert(name.clone(), has + left.min(1000));
            prop_assert!(is_fine(&with), "{} can have less than {left}", name);
            if amount <= left {
                held.insert(name.clone(), has + amount);
                quotas.take(&name, &[amount]);
            } else if has > 0 {
                let back = amount.min(has);
                held.insert(name.clone(), has - back);
                quotas.give(&name, &[back]);
            }
            prop_assert!(quotas.never(&name, &[held.get(&name).copied().unwrap_or(0)]).is_none());
            // What is built anew is as what was changed step by step.
            let amounts: BTreeMap<&str, [u64; 1]> = held.iter().map(|(name, &amount)| (name.as_str(), [amount])).collect();
            let mut anew = quotas.clone();
            anew.is_old = true;
            anew.build(|name| amounts.get(name).map_or(&[0][..], |amount| amount));
            for place in 0..6 {
                let name = format!("tenant {place}");
                prop_assert_eq!(self::left(&anew, &name), self::left(&quotas, &name));
            }
        }
    }
}
