//! A recording of what a controller did, over several terms, beside the scheduler of `trueplane fair simulate`.

mod lines;
mod replay;

use std::collections::BTreeMap;
use std::sync::mpsc::{Receiver, channel};

use proptest::prelude::*;
use trueplane_fair::{Memory, Nanos};
use trueplane_kubernetes::admission::Saved;
use trueplane_kubernetes::admission::Step as Recorded;
use trueplane_kubernetes::controller::{Controller, Order, Outcome, Policy};
use trueplane_kubernetes::objects::{Item, Kind, Namespace, Node};
use trueplane_kubernetes::resources::ResourceNames;

use replay::{Agreement, compare};

const TENANTS: [&str; 3] = ["a", "b", "c"];

/// Something that happens to a cluster.
#[derive(Clone, Debug)]
enum Step {
    /// A pod of a tenant comes, which needs so many cores and has this priority.
    Come { tenant: usize, cores: u64, priority: i32 },
    /// A pod that runs ends.
    End(usize),
    /// Time passes.
    Pass(u64),
    /// The node has so many cores from here on.
    Node(u64),
    /// A tenant has this weight, or its namespace is gone.
    Weight { tenant: usize, weight: Option<u32> },
    /// The state is saved.
    Save,
    /// The controller leads anew; before that, what it decided last may not have been written.
    Term { is_lost: bool },
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let tenant = 0..TENANTS.len();
    let step = prop_oneof![
        12 => (tenant.clone(), 1u64..6, 0..2i32)
            .prop_map(|(tenant, cores, priority)| Step::Come { tenant, cores, priority }),
        8 => (0usize..8).prop_map(Step::End),
        4 => (1u64..60).prop_map(Step::Pass),
        1 => (0u64..14).prop_map(Step::Node),
        1 => (tenant, prop::option::of(1u32..4)).prop_map(|(tenant, weight)| Step::Weight { tenant, weight }),
        2 => Just(Step::Save),
        2 => any::<bool>().prop_map(|is_lost| Step::Term { is_lost }),
    ];
    prop::collection::vec(step, 1..80)
}

fn at(seconds: u64) -> Nanos {
    Nanos::from_secs(seconds)
}

/// A cluster as the API server has it, and a controller that is shown all of it.
struct Cluster {
    controller: Controller,
    namespaces: BTreeMap<&'static str, Namespace>,
    node: Node,
    pods: BTreeMap<String, Item>,
    saved: Option<Saved>,
    /// Terms that have begun, and pods that were opened.
    terms: usize,
    opened: usize,
}

impl Cluster {
    fn new() -> (Self, Receiver<(Nanos, Recorded)>) {
        let (record, told) = channel();
        let controller = Controller::new(Policy {
            resources: ResourceNames::new(vec!["cpu".to_owned()]).unwrap(),
            memory: Some(Memory::half_life(at(100)).unwrap()),
            backfill: false,
            record: Some(record),
        });
        let node = Node { name: "one".to_owned(), is_usable: true, amounts: vec![10_000], flavor: 0 };
        let (namespaces, pods) = (BTreeMap::new(), BTreeMap::new());
        let mut cluster = Self { controller, namespaces, node, pods, saved: None, terms: 0, opened: 0 };
        for tenant in TENANTS {
            cluster.set_namespace(tenant, Some(1), 0);
        }
        cluster.begin(0);
        (cluster, told)
    }

    /// A term begins: the controller is shown everything anew, and goes on with what was saved.
    fn begin(&mut self, now: u64) {
        self.controller.forget_all();
        self.namespaces.values().for_each(|one| self.controller.show_namespace(one.clone(), at(now)));
        self.controller.show_node(self.node.clone(), at(now));
        self.pods.values().for_each(|one| self.controller.show_item(one.clone(), at(now)));
        self.controller.lead(self.saved.as_ref(), at(now)).unwrap();
        self.terms += 1;
    }

    fn set_namespace(&mut self, tenant: &'static str, weight: Option<u32>, now: u64) {
        if weight.is_none() {
            self.namespaces.remove(tenant);
            return self.controller.forget_namespace(tenant, at(now));
        }
        let namespace = Namespace {
            name: tenant.to_owned(),
            tenant: Some(tenant.to_owned()),
            weight,
            limits: None,
            problem: None,
        };
        self.namespaces.insert(tenant, namespace.clone());
        self.controller.show_namespace(namespace, at(now));
    }

    fn show(&mut self, pod: Item, now: u64) {
        self.pods.insert(pod.uid.clone(), pod.clone());
        self.controller.show_item(pod, at(now));
    }

    fn take(&mut self, place: usize, step: &Step, now: u64) {
        match *step {
            Step::Come { tenant, cores, priority } => {
                self.show(pod(TENANTS[tenant], &format!("{place}"), cores, priority, now), now);
            }
            Step::End(nth) => {
                let running: Vec<&Item> =
                    self.pods.values().filter(|pod| !pod.is_held && !pod.is_over).collect();
                if !running.is_empty() {
                    let mut pod = running[nth % running.len()].clone();
                    (pod.is_over, pod.ended) = (true, Some(at(now)));
                    self.show(pod, now);
                }
            }
            Step::Pass(_) => {}
            Step::Node(cores) => {
                self.node.amounts = vec![cores * 1000];
                self.controller.show_node(self.node.clone(), at(now));
            }
            Step::Weight { tenant, weight } => self.set_namespace(TENANTS[tenant], weight, now),
            Step::Save => {
                self.controller.tick(at(now));
                self.saved = self.controller.save(at(now));
            }
            Step::Term { is_lost } => {
                if is_lost {
                    drop(self.controller.work(at(now)));
                }
                self.begin(now);
            }
        }
    }

    /// Carries out all orders.
    fn work(&mut self, now: u64) {
        for order in self.controller.work(at(now)) {
            if let Order::Open { uid, at: admitted, .. } = order {
                let mut pod = self.pods[&uid].clone();
                (pod.is_held, pod.admitted) = (false, Some(admitted));
                self.controller.done(&uid, &Outcome::Done, at(now));
                self.show(pod, now);
                self.opened += 1;
            }
        }
    }
}

fn pod(tenant: &str, name: &str, cores: u64, priority: i32, created: u64) -> Item {
    Item {
        kind: Kind::Pod,
        uid: format!("uid of {tenant}/{name}"),
        namespace: tenant.to_owned(),
        name: name.to_owned(),
        created: at(created),
        needs: vec![cores * 1000],
        priority,
        is_held: true,
        admitted: None,
        admitted_with_group: None,
        started: None,
        node: None,
        is_over: false,
        ended: None,
        group: None,
        problem: None,
        job: None,
        is_everywhere: false,
    }
}

/// Runs the steps. Returns the recording, the terms, and how many pods were opened.
fn run(steps: &[Step]) -> (Vec<(Nanos, Recorded)>, usize, usize) {
    let (mut cluster, told) = Cluster::new();
    let mut now = 1;
    for (place, step) in steps.iter().enumerate() {
        if let Step::Pass(time) = step {
            now += time;
        }
        cluster.take(place, step, now);
        cluster.work(now);
        now += 1;
    }
    let (terms, opened) = (cluster.terms, cluster.opened);
    drop(cluster);
    (told.iter().collect(), terms, opened)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    /// Whenever the controller begins anew, and however old its state is then: told what was recorded, the simulator's scheduler says the same order.
    #[test]
    fn a_recording_is_replayed_over_terms(steps in steps()) {
        let (recorded, terms, opened) = run(&steps);
        let lines = recorded.iter().map(|(at, step)| lines::line(*at, step).to_string());
        let read: Vec<_> = lines.map(|line| lines::step(&serde_json::from_str(&line).unwrap())).collect();
        prop_assert_eq!(&read, &recorded);
        let agreement = compare(&read);
        prop_assert!(agreement.is_whole(), "{:?}", agreement);
        prop_assert_eq!(agreement.terms, terms);
        prop_assert!(agreement.found >= opened, "{:?}, and {} were opened", agreement, opened);
    }
}

/// An order that is not that of the scheduler is noticed, and does not change what follows.
#[test]
fn another_order_is_noticed() {
    let come = |tenant| Step::Come { tenant, cores: 6, priority: 0 };
    let steps = [
        come(0),
        come(0),
        come(1),
        Step::Pass(50),
        Step::Term { is_lost: false },
        Step::End(0),
        Step::End(0),
    ];
    let (mut recorded, terms, opened) = run(&steps);
    assert_eq!((terms, opened), (2, 3));
    let agreement = compare(&recorded);
    let all =
        Agreement { terms: 2, found: 3, same: 3, nobody: agreement.nobody, same_nobody: agreement.nobody };
    assert_eq!(agreement, all);
    let turns: Vec<usize> = recorded
        .iter()
        .enumerate()
        .filter(|(_, (_, step))| matches!(step, Recorded::Next(Some(_))))
        .map(|(place, _)| place)
        .collect();
    // The tenant that has had nothing is after the other one, against its turn.
    let waiting = recorded.iter().rev().find_map(|(_, step)| match step {
        Recorded::Submitted(id, one) if one.tenant == "a" => Some(*id),
        _ => None,
    });
    recorded.truncate(turns[1] + 1);
    recorded[turns[1]].1 = Recorded::Next(waiting);
    let agreement = compare(&recorded);
    assert!(!agreement.is_whole());
    assert_eq!((agreement.found, agreement.same), (2, 1));
}
