//! A controller that is killed and goes on.

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::{Cluster, at, namespace, pod};
use crate::admission::{CohortSettings, Quota};
use crate::objects::{CohortObject, Item, TenantObject, TenantSpec};

/// Something that happens to a cluster.
#[derive(Clone, Debug)]
enum Step {
    /// A pod of a tenant comes, which needs so many cores.
    Come(u8, u64),
    /// The oldest pod that runs, or another, ends.
    End(u8),
    /// Time passes.
    Pass(u64),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        3 => (0u8..3, 1u64..6).prop_map(|(tenant, cores)| Step::Come(tenant, cores)),
        2 => (0u8..8).prop_map(Step::End),
        1 => (1u64..60).prop_map(Step::Pass),
    ];
    prop::collection::vec(step, 1..60)
}

/// `a` and `b` lend cores to each other; `c` does not wait for long.
fn settings(cluster: &mut Cluster) {
    let quota = |nominal, borrowing_limit, lending_limit| CohortSettings {
        parent: Some("both".to_owned()),
        quotas: vec![Some(Quota { nominal, borrowing_limit, lending_limit })],
        is_unusable: false,
    };
    let tenant = |name: &str, quotas, longest_wait| TenantObject {
        name: name.to_owned(),
        generation: 1,
        spec: Ok(TenantSpec { weight: 1, quotas, longest_wait, is_on_hold: false }),
        ready: None,
        ready_since: None,
    };
    cluster.tenants = vec![
        tenant("a", quota(4000, Some(2000), Some(3000)), None),
        tenant("b", quota(3000, None, None), None),
        tenant("c", CohortSettings::default(), Some(at(20))),
    ];
    let (name, spec) = ("both".to_owned(), Ok(CohortSettings::default()));
    cluster.cohorts.push(CohortObject { name, generation: 1, spec, ready: None, ready_since: None });
}

/// Runs the steps; before those of `restarts` the process is killed, and before those of `saves` the state was saved.
fn run(
    steps: &[Step],
    has_settings: bool,
    restarts: &BTreeSet<usize>,
    saves: &BTreeSet<usize>,
) -> Vec<String> {
    let mut cluster = Cluster::new();
    cluster.namespaces.push(namespace("c", Some("c")));
    if has_settings {
        settings(&mut cluster);
    }
    cluster.saved = cluster.controller.save(at(0));
    cluster.restart(0);
    let mut now = 1;
    for (place, step) in steps.iter().enumerate() {
        if saves.contains(&place) {
            cluster.saved = cluster.controller.save(at(now));
        }
        if restarts.contains(&place) {
            cluster.restart(now);
        }
        match step {
            Step::Come(tenant, cores) => {
                let tenant = ["a", "b", "c"][usize::from(*tenant)];
                cluster.show(pod(tenant, &format!("{place}"), *cores, now), now);
            }
            Step::End(nth) => {
                let runs = |item: &&Item| !item.is_held && !item.is_over;
                let running: Vec<String> =
                    cluster.items.values().filter(runs).map(|item| item.uid.clone()).collect();
                if !running.is_empty() {
                    let uid = running[usize::from(*nth) % running.len()].clone();
                    cluster.end(&uid, now);
                }
            }
            Step::Pass(time) => now += time,
        }
        cluster.work(now);
        now += 1;
    }
    cluster.opened
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// Whenever the process is killed, and however old its state is then, the next one goes on as if nothing had happened: the same pods are opened in
    /// the same order.
    #[test]
    fn restarts_change_nothing(
        steps in steps(),
        has_settings in any::<bool>(),
        restarts in prop::collection::btree_set(0usize..60, 0..6),
        saves in prop::collection::btree_set(0usize..60, 0..10),
    ) {
        let without = run(&steps, has_settings, &BTreeSet::new(), &BTreeSet::new());
        let with = run(&steps, has_settings, &restarts, &saves);
        prop_assert_eq!(without, with);
    }
}
