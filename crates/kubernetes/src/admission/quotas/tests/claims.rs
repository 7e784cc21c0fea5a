//! What is claimed, and who leaves it to whom.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;

use super::super::{CohortSettings, Quotas};
use super::{Nodes, left, quota, quotas};
use crate::admission::Quota;

fn wait(quotas: &mut Quotas, waits: &[(&str, u64)]) {
    waits.iter().for_each(|(name, needs)| quotas.set_wait(name, Some(vec![*needs])));
    quotas.refresh(&waits.iter().map(|(name, _)| (*name).to_owned()).collect());
}

/// The example in the documentation of the module.
#[test]
fn what_a_cohort_has_is_kept_from_those_outside() {
    let example = || {
        quotas(
            &[("team", Some("all"), quota(10, None, None))],
            &[("a", Some("team"), None), ("b", Some("team"), None), ("c", Some("all"), None)],
        )
    };
    let mut quotas = example();
    wait(&mut quotas, &[("a", 6)]);
    assert_eq!((quotas.claimed("c", &[4]), quotas.claimed("c", &[5])), (None, Some((0, "a"))));
    assert_eq!(quotas.claimed("b", &[10]), None, "the two take turns");
    wait(&mut quotas, &[("b", 6)]);
    assert_eq!(quotas.claimed("c", &[1]), Some((0, "a")));
    let mut quotas = example();
    wait(&mut quotas, &[("c", 10)]);
    assert_eq!(quotas.claimed("a", &[10]), None, "who borrows from the cohort claims nothing");
}

/// Cores that a cohort does not have are not kept for it, and who cannot borrow them keeps none from others.
#[test]
fn nothing_is_kept_beyond_the_quota() {
    let mut quotas = quotas(
        &[("all", None, quota(20, None, None)), ("team", Some("all"), quota(10, None, None))],
        &[("a", Some("team"), None), ("b", Some("team"), quota(0, Some(3), None)), ("c", Some("all"), None)],
    );
    wait(&mut quotas, &[("a", 11)]);
    assert_eq!(quotas.claimed("c", &[30]), None, "a borrows, too");
    wait(&mut quotas, &[("b", 4), ("a", 10)]);
    assert_eq!((quotas.claimed("c", &[20]), quotas.claimed("c", &[21])), (None, Some((0, "a"))));
    wait(&mut quotas, &[("b", 3), ("a", 9)]);
    assert_eq!((quotas.claimed("c", &[20]), quotas.claimed("c", &[21])), (None, Some((0, "a"))));
}

/// The example of a limit in the documentation of the module.
#[test]
fn what_may_be_borrowed_is_kept_on_the_way_to_a_level() {
    let mut quotas = quotas(
        &[
            ("all", None, quota(20, None, None)),
            ("pair", Some("team"), quota(0, Some(6), None)),
            ("team", Some("all"), quota(10, None, None)),
        ],
        &[("a", Some("pair"), None), ("b", Some("pair"), None), ("c", Some("team"), None)],
    );
    quotas.take("c", &[8]);
    wait(&mut quotas, &[("a", 2), ("b", 5)]);
    assert_eq!((quotas.claimed("b", &[4]), quotas.claimed("b", &[5])), (None, Some((0, "a"))));
    assert_eq!(quotas.claimed("a", &[2]), None);
    assert_eq!((quotas.claimed("c", &[20]), quotas.claimed("c", &[21])), (None, Some((0, "a"))));
}

/// The rules, by what is held alone, for one resource.
struct Naive {
    nodes: BTreeMap<String, CohortSettings>,
    held: BTreeMap<String, u64>,
    waits: BTreeMap<String, u64>,
}

impl Naive {
    fn children<'n>(&'n self, node: &'n str) -> impl Iterator<Item = &'n str> {
        let all = self.nodes.iter().filter(move |(_, one)| one.parent.as_deref() == Some(node));
        all.map(|(name, _)| name.as_str())
    }

    fn path(&self, tenant: &str) -> Vec<String> {
        let mut path = vec![tenant.to_owned()];
        while let Some(parent) = &self.nodes[path.last().unwrap()].parent {
            path.push(parent.clone());
        }
        path
    }

    fn subtree(&self, node: &str) -> u64 {
        let lent: u64 = self.children(node).map(|child| self.subtree(child) - self.guaranteed(child)).sum();
        lent + self.nodes[node].quotas[0].unwrap_or_default().nominal
    }

    fn guaranteed(&self, node: &str) -> u64 {
        let limit = self.nodes[node].quotas[0].and_then(|quota| quota.lending_limit);
        limit.map_or(0, |limit| self.subtree(node).saturating_sub(limit))
    }

    /// What the node uses if it and those below it use `more`, by the name of each.
    fn usage(&self, node: &str, more: &BTreeMap<String, u64>) -> u64 {
        let of = |child: &str| self.usage(child, more).saturating_sub(self.guaranteed(child));
        let below: u64 = self.children(node).map(of).sum();
        let of = |amounts: &BTreeMap<String, u64>| amounts.get(node).copied().unwrap_or(0);
        below + of(&self.held) + of(more)
    }

    fn may_use(&self, node: &str, usage: u64) -> bool {
        let (subtree, guaranteed) = (self.subtree(node), self.guaranteed(node));
        if self.nodes[node].parent.is_none() {
            return usage <= subtree;
        }
        let limit = self.nodes[node].quotas[0].and_then(|quota| quota.borrowing_limit);
        limit.is_none_or(|limit| usage.saturating_sub(guaranteed) <= subtree - guaranteed + limit)
    }

    fn is_limited(&self, node: &str) -> bool {
        self.nodes[node].quotas[0].is_some() || self.children(node).any(|child| self.is_limited(child))
    }

    /// The level of a tenant that waits, and what it would take there.
    fn claim(&self, tenant: &str) -> Option<(String, u64)> {
        let needs = *self.waits.get(tenant)?;
        let path = self.path(tenant);
        if needs == 0 || !self.is_limited(path.last()?) {
            return None;
        }
        let more = BTreeMap::from([(tenant.to_owned(), needs)]);
        for node in path {
            let (with, without) = (self.usage(&node, &more), self.usage(&node, &BTreeMap::new()));
            if with <= self.subtree(&node) {
                return self.nodes[&node].parent.is_some().then_some((node, with - without));
            }
            if !self.may_use(&node, with) {
                return None;
            }
        }
        None
    }

    /// What each node at or below `node` uses more for claims of others than `tenant`, as far as they are at or below it; `is_strict` without those
    /// at it.
    fn reserved(&self, node: &str, tenant: &str, is_strict: bool) -> BTreeMap<String, u64> {
        let mut more = BTreeMap::new();
        for child in self.children(node) {
            more.extend(self.reserved(child, tenant, false));
        }
        if is_strict {
            return more;
        }
        let others = self.waits.keys().filter(|other| *other != tenant);
        let claims = others.filter_map(|other| self.claim(other)).filter(|(level, _)| level == node);
        let at: u64 = claims.map(|(_, taken)| taken).sum();
        let at = at.min(self.subtree(node).saturating_sub(self.usage(node, &more)));
        // As if the node itself held it.
        *more.entry(node.to_owned()).or_default() += at;
        more
    }

    /// What others than `tenant` who are below `node` claim at levels above it, but below `top`, and would use of it.
    fn through(&self, node: &str, tenant: &str, top: &str) -> u64 {
        let is_above = |above: &String, below: &str| above != below && self.path(below).contains(above);
        let others = self
            .waits
            .keys()
            .filter(|other| *other != tenant && self.path(other).iter().any(|on| on == node));
        let counted = others.filter(|other| {
            let level = self.claim(other).map(|(level, _)| level);
            level.is_some_and(|level| is_above(&level, node) && is_above(&top.to_owned(), &level))
        });
        let used = |more: &BTreeMap<String, u64>| self.usage(node, more);
        counted
            .map(|other| used(&BTreeMap::from([(other.clone(), self.waits[other])])) - used(&BTreeMap::new()))
            .sum()
    }

    /// Whether the tenant leaves others what they claim if it gets `needs`.
    fn leaves(&self, tenant: &str, needs: u64) -> bool {
        let path = self.path(tenant);
        if needs == 0 || !self.is_limited(path.last().unwrap()) {
            return true;
        }
        if self.usage(tenant, &BTreeMap::from([(tenant.to_owned(), needs)])) <= self.subtree(tenant) {
            return true;
        }
        let of_parent = |node: &str, usage: u64| usage.saturating_sub(self.guaranteed(node));
        for place in 1..path.len() {
            let top = &path[place];
            // Up to the node that borrows from nobody, behind all claims below it.
            let mut more = needs;
            for node in &path[..place] {
                let before =
                    self.usage(node, &self.reserved(node, tenant, false)) + self.through(node, tenant, top);
                if !self.may_use(node, before + more) {
                    return false;
                }
                more = of_parent(node, before + more) - of_parent(node, before);
            }
            let mut usage = self.usage(top, &self.reserved(top, tenant, true)) + more;
            if usage > self.subtree(top) {
                continue;
            }
            // Above it, all of that counts once.
            let mut before = self.usage(top, &BTreeMap::new());
            return path[place..].windows(2).all(|pair| {
                let more = of_parent(&pair[0], usage) - of_parent(&pair[0], before);
                before = self.usage(&pair[1], &BTreeMap::new());
                usage = before + more;
                more == 0 || self.may_use(&pair[1], usage)
            });
        }
        false
    }
}

/// Four cohorts and six tenants, nearly all in one tree, of which the cohorts have most.
fn tree() -> impl Strategy<Value = (Nodes, Nodes)> {
    let limit = || prop::option::weighted(0.2, 0..9u64);
    let quota = |most: u64| {
        (0..most, limit(), limit()).prop_map(|(nominal, borrowing_limit, lending_limit)| Quota {
            nominal,
            borrowing_limit,
            lending_limit,
        })
    };
    let cohort = move || (0..3usize, prop::option::weighted(0.8, quota(16)));
    let tenant =
        move || (prop_oneof![9 => 0..4usize, 1 => Just(4usize)], prop::option::weighted(0.4, quota(6)));
    (prop::collection::vec(cohort(), 4), prop::collection::vec(tenant(), 6))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    /// Who leaves others what they claim is whom the rules name. Whatever such a tenant takes, who could have what it claims can still have it, unless
    /// both take turns.
    #[test]
    fn claims_are_kept(
        (cohorts, tenants) in tree(),
        steps in prop::collection::vec((0..6usize, 0..9u64), 0..6),
        waits in prop::collection::btree_map(0..6usize, 0..9u64, 3..6),
    ) {
        let name_of = |place: usize, before: usize| (place < before).then(|| format!("cohort {place}"));
        let of = |parent, quota| CohortSettings { parent, quotas: vec![quota], is_unusable: false };
        let mut nodes: BTreeMap<String, CohortSettings> = BTreeMap::new();
        for (place, (parent, quota)) in cohorts.iter().enumerate() {
            nodes.insert(format!("cohort {place}"), of(name_of(*parent, place), *quota));
        }
        let mut quotas = Quotas::new(1);
        quotas.set_others(nodes.clone(), BTreeMap::new());
        for (place, (parent, quota)) in tenants.iter().enumerate() {
            let settings = of(name_of(*parent, 4), *quota);
            quotas.set_tenant(&format!("tenant {place}"), settings.clone());
            nodes.insert(format!("tenant {place}"), settings);
        }
        quotas.build(|_| &[0]);
        let mut held: BTreeMap<String, u64> = BTreeMap::new();
        for (tenant, amount) in steps {
            let name = format!("tenant {tenant}");
            // Some have more than they may, as those have whose quota has shrunk.
            let amount = if amount % 5 == 0 { amount } else { amount.min(left(&quotas, &name)) };
            quotas.take(&name, &[amount]);
            *held.entry(name).or_default() += amount;
        }
        let waits: BTreeMap<String, u64> =
            waits.into_iter().map(|(place, needs)| (format!("tenant {place}"), needs)).collect();
        waits.iter().for_each(|(name, needs)| quotas.set_wait(name, Some(vec![*needs])));
        let all: BTreeSet<String> = (0..6).map(|place| format!("tenant {place}")).collect();
        quotas.refresh(&all);
        let naive = Naive { nodes, held, waits };
        for tenant in &all {
            let needs = naive.waits.get(tenant).copied().unwrap_or(7);
            if quotas.over(tenant, &[needs]).is_some() {
                continue;
            }
            let claimed = quotas.claimed(tenant, &[needs]);
            prop_assert_eq!(claimed.is_none(), naive.leaves(tenant, needs), "{} with {}", tenant, needs);
            if let Some((_, other)) = claimed {
                prop_assert!(other != tenant && naive.claim(other).is_some(), "{} for {:?}", tenant, other);
                continue;
            }
            if !naive.waits.contains_key(tenant) {
                continue;
            }
            let mut after = quotas.clone();
            after.take(tenant, &[needs]);
            let turns = naive.claim(tenant).map_or_else(|| naive.path(tenant).pop().unwrap(), |claim| claim.0);
            for (other, claim) in naive.waits.iter().filter(|(other, _)| *other != tenant) {
                let Some((level, _)) = naive.claim(other) else { continue };
                let is_below = level != turns && naive.path(&level).contains(&turns);
                if is_below && quotas.over(other, &[*claim]).is_none() {
                    prop_assert!(after.over(other, &[*claim]).is_none(), "{} takes {} of {}", tenant, needs, other);
                }
            }
        }
    }
}
