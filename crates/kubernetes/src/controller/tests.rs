mod restarts;

use std::collections::BTreeMap;

use trueplane_fair::{Memory, Nanos};

use super::{Controller, Order, Outcome, Policy};
use crate::admission::Saved;
use crate::objects::{CohortObject, Item, Kind, Namespace, Node, TenantObject};
use crate::resources::ResourceNames;

const SECOND: u64 = 1_000_000_000;

fn at(seconds: u64) -> Nanos {
    Nanos(seconds * SECOND)
}

fn policy() -> Policy {
    Policy {
        resources: ResourceNames::new(vec!["cpu".to_owned()]).unwrap(),
        memory: Some(Memory::half_life(at(100)).unwrap()),
        backfill: false,
        record: None,
    }
}

fn namespace(name: &str, tenant: Option<&str>) -> Namespace {
    let tenant = tenant.map(str::to_owned);
    Namespace { name: name.to_owned(), tenant, weight: None, limits: None, problem: None }
}

fn node(name: &str, cores: u64) -> Node {
    Node { name: name.to_owned(), is_usable: true, amounts: vec![cores * 1000], flavor: 0 }
}

fn pod(namespace: &str, name: &str, cores: u64, created: u64) -> Item {
    Item {
        kind: Kind::Pod,
        uid: format!("uid of {namespace}/{name}"),
        namespace: namespace.to_owned(),
        name: name.to_owned(),
        created: at(created),
        needs: vec![cores * 1000],
        priority: 0,
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

/// A cluster as the API server has it, and a controller that is shown all of it.
struct Cluster {
    controller: Controller,
    namespaces: Vec<Namespace>,
    nodes: Vec<Node>,
    tenants: Vec<TenantObject>,
    cohorts: Vec<CohortObject>,
    items: BTreeMap<String, Item>,
    /// What was opened, in the order in which it was.
    opened: Vec<String>,
    saved: Option<Saved>,
}

impl Cluster {
    /// Tenants `a` and `b`, a namespace without a tenant, and a node of 10 cores.
    fn new() -> Self {
        let namespaces =
            vec![namespace("a", Some("a")), namespace("b", Some("b")), namespace("system", None)];
        let mut cluster = Self {
            controller: Controller::new(policy()),
            namespaces,
            nodes: vec![node("one", 10)],
            tenants: Vec::new(),
            cohorts: Vec::new(),
            items: BTreeMap::new(),
            opened: Vec::new(),
            saved: None,
        };
        cluster.restart(0);
        cluster
    }

    /// The process ends and another one begins: it knows what the API server has, and what was saved.
    fn restart(&mut self, now: u64) {
        self.controller = Controller::new(policy());
        self.namespaces.iter().for_each(|one| self.controller.show_namespace(one.clone(), at(now)));
        self.nodes.iter().for_each(|one| self.controller.show_node(one.clone(), at(now)));
        self.tenants.iter().for_each(|one| self.controller.show_tenant(one.clone(), at(now)));
        self.cohorts.iter().for_each(|one| self.controller.show_cohort(one.clone(), at(now)));
        self.items.values().for_each(|one| self.controller.show_item(one.clone(), at(now)));
        self.controller.lead(self.saved.as_ref(), at(now)).unwrap();
    }

    fn show(&mut self, item: Item, now: u64) {
        self.items.insert(item.uid.clone(), item.clone());
        self.controller.show_item(item, at(now));
    }

    /// Carries out all orders; returns the events.
    fn work(&mut self, now: u64) -> Vec<String> {
        let mut told = Vec::new();
        for order in self.controller.work(at(now)) {
            match order {
                Order::Tell { name, text, .. } => told.push(format!("{name}: {text}")),
                Order::Condition { name, ready, .. } => told.push(format!("{name}: {}", ready.reason)),
                Order::Open { namespace, name, uid, at: admitted, with_group, .. } => {
                    self.opened.push(format!("{namespace}/{name}"));
                    let mut item = self.items[&uid].clone();
                    assert!(item.is_held, "{uid} is opened twice");
                    (item.is_held, item.admitted) = (false, Some(admitted));
                    item.admitted_with_group = with_group.then_some(admitted);
                    self.controller.done(&uid, &Outcome::Done, at(now));
                    self.show(item, now);
                }
            }
        }
        let held: u64 =
            self.items.values().filter(|item| !item.is_held && !item.is_over).map(|item| item.needs[0]).sum();
        let has: u64 = self.nodes.iter().map(|node| node.amounts[0]).sum();
        assert!(held <= has, "{held} of {has} are held");
        told
    }

    /// The pod ends well.
    fn end(&mut self, uid: &str, now: u64) {
        let mut item = self.items[uid].clone();
        (item.is_over, item.ended) = (true, Some(at(now)));
        self.show(item, now);
    }
}

#[test]
fn pods_are_opened_in_turn_as_far_as_they_fit() {
    let mut cluster = Cluster::new();
    for place in 0..6 {
        cluster.show(pod("a", &format!("a{place}"), 2, place), 10);
        cluster.show(pod("b", &format!("b{place}"), 2, 10 + place), 10);
    }
    let told = cluster.work(10);
    assert_eq!(cluster.opened, ["a/a0", "b/b0", "a/a1", "b/b1", "a/a2"]);
    assert_eq!(
        told[0],
        "a3: waits, as it is the turn of b: a holds 60.0%, its part is 50.0%, and with a half-life of 100s it has had 0.0% of the cluster above that"
    );
    assert!(told.contains(&"b2: is next: needs 2 of cpu, and 0 are free".to_owned()), "{told:?}");
    cluster.end("uid of a/a0", 20);
    cluster.end("uid of a/a1", 20);
    cluster.work(20);
    assert_eq!(cluster.opened[5..], ["a/a3", "b/b2"]);
    let status = cluster.controller.status(at(20));
    assert_eq!((status.counters.opened, status.tenants[0].waiting), (7, 2));
    assert_eq!((&*status.held[0], &*status.capacity[0]), ("10", "10"));
}

#[test]
fn what_others_use_is_no_capacity_and_what_a_tenant_runs_is_its_own() {
    let mut cluster = Cluster::new();
    let running = |namespace: &str, name: &str, cores| {
        let placed = (Some("one".to_owned()), Some(at(1)), false);
        let mut item = pod(namespace, name, cores, 1);
        (item.node, item.started, item.is_held) = placed;
        item
    };
    cluster.show(running("system", "dns", 3), 1);
    cluster.show(running("a", "never held", 2), 1);
    let mut daemon = running("b", "daemon", 1);
    daemon.is_everywhere = true;
    cluster.show(daemon, 1);
    let status = cluster.controller.status(at(1));
    assert_eq!((&*status.capacity[0], &*status.held[0]), ("6", "2"));
    cluster.controller.forget_item("uid of system/dns", at(2));
    // A pod of the DaemonSet that is held is let go at once, and so are pods of nobody never.
    let mut held = pod("a", "daemon", 1, 2);
    held.is_everywhere = true;
    cluster.show(held, 2);
    cluster.show(pod("system", "held", 1, 2), 2);
    cluster.work(2);
    assert_eq!(cluster.opened, ["a/daemon"]);
    // The namespace gets a tenant, and its pods wait with all others.
    cluster.namespaces[2].tenant = Some("c".to_owned());
    cluster.controller.show_namespace(cluster.namespaces[2].clone(), at(3));
    cluster.work(3);
    assert_eq!(cluster.opened, ["a/daemon", "system/held"]);
}

#[test]
fn a_group_is_opened_when_all_of_it_is_there_and_fits() {
    let mut cluster = Cluster::new();
    let member = |name: &str, created| {
        let mut item = pod("a", name, 3, created);
        item.group = Some(("train".to_owned(), 3));
        item
    };
    cluster.show(member("0", 1), 5);
    cluster.show(member("1", 1), 5);
    cluster.work(5);
    assert!(cluster.opened.is_empty());
    let why = cluster.controller.why("a", "0", at(5)).unwrap();
    assert_eq!(why, "waits for its group train: 2 of 3 pods are there");
    let mut other = pod("b", "other", 2, 0);
    (other.is_held, other.node, other.started) = (false, Some("one".to_owned()), Some(at(0)));
    cluster.show(other, 5);
    cluster.show(member("2", 4), 6);
    cluster.work(6);
    assert!(cluster.opened.is_empty(), "9 of 8 free cores");
    cluster.end("uid of b/other", 7);
    cluster.work(7);
    assert_eq!(cluster.opened, ["a/0", "a/1", "a/2"]);
    // One takes the place of another that has ended: it waits by itself.
    cluster.end("uid of a/1", 8);
    cluster.show(member("1b", 9), 9);
    cluster.work(9);
    assert_eq!(cluster.opened[3..], ["a/1b"]);
}

/// The process was killed after it had opened a part of a group: the next one opens the rest, although others would be next.
#[test]
fn a_group_that_is_half_open_is_opened_wholly() {
    let mut cluster = Cluster::new();
    for place in 0..3 {
        let mut item = pod("a", &place.to_string(), 2, 1);
        item.group = Some(("train".to_owned(), 3));
        (item.is_held, item.admitted) = (place > 0, (place == 0).then_some(at(5)));
        // It has ended since.
        (item.admitted_with_group, item.is_over) = (item.admitted, place == 0);
        item.ended = item.is_over.then_some(at(6));
        cluster.items.insert(item.uid.clone(), item);
    }
    cluster.show(pod("b", "large", 10, 0), 7);
    cluster.restart(7);
    cluster.work(7);
    assert_eq!(cluster.opened, ["a/1", "a/2"]);
}

#[test]
fn a_job_counts_as_a_whole_and_its_pods_do_not() {
    let mut cluster = Cluster::new();
    let mut job = pod("a", "job", 6, 1);
    job.kind = Kind::Job;
    cluster.show(job.clone(), 1);
    cluster.show(pod("b", "b0", 6, 0), 1);
    cluster.work(1);
    assert_eq!(cluster.opened, ["b/b0"]);
    cluster.end("uid of b/b0", 2);
    cluster.work(2);
    assert_eq!(cluster.opened, ["b/b0", "a/job"]);
    // Its pods have the gate, too, as all pods of the namespace do: they pass.
    let mut part = pod("a", "part", 3, 3);
    part.job = Some(job.uid.clone());
    cluster.show(part, 3);
    cluster.controller.work(at(3));
    let status = cluster.controller.status(at(3));
    assert_eq!(&*status.held[0], "6");
    cluster.end(&job.uid, 9);
    assert_eq!(&*cluster.controller.status(at(9)).held[0], "0");
}

#[test]
fn what_fails_is_tried_again_and_what_people_open_counts() {
    let mut cluster = Cluster::new();
    cluster.show(pod("a", "a0", 1, 0), 1);
    let open = cluster.controller.work(at(1));
    assert_eq!(open.len(), 1);
    for (outcome, wait) in [(Outcome::Again(None), 1), (Outcome::Conflict, 1), (Outcome::Refused, 1)] {
        cluster.controller.done("uid of a/a0", &outcome, at(1));
        assert!(cluster.controller.work(at(1)).is_empty(), "{outcome:?}: not at once");
        assert_eq!(cluster.controller.work(at(1 + wait)), open, "{outcome:?}: the same once more");
    }
    let later = Outcome::Again(Some(std::time::Duration::from_secs(9)));
    cluster.controller.done("uid of a/a0", &later, at(5));
    assert!(cluster.controller.work(at(13)).is_empty());
    assert_eq!(cluster.controller.work(at(14)), open);
    let counters = cluster.controller.status(at(14)).counters;
    assert_eq!((counters.tried_again, counters.conflicts, counters.refused), (2, 1, 1));
    // Somebody takes the gate off by hand, of a pod that would have to wait.
    cluster.show(pod("b", "large", 10, 1), 15);
    assert!(cluster.controller.work(at(15)).iter().all(|order| matches!(order, Order::Tell { .. })));
    let mut by_hand = pod("b", "large", 10, 1);
    (by_hand.is_held, by_hand.node) = (false, Some("one".to_owned()));
    cluster.show(by_hand, 16);
    let status = cluster.controller.status(at(16));
    assert_eq!((&*status.held[0], status.counters.opened_by_hand), ("11", 1));
}

#[test]
fn a_node_that_disappears_takes_its_capacity_and_not_what_pods_hold() {
    let mut cluster = Cluster::new();
    cluster.show(pod("a", "a0", 8, 0), 1);
    cluster.work(1);
    cluster.controller.forget_node("one");
    cluster.show(pod("b", "b0", 1, 0), 2);
    let told = cluster.controller.work(at(10));
    assert!(
        matches!(&told[..], [Order::Tell { text, .. }] if text == "needs 1 of cpu, and the cluster has 0"),
        "{told:?}"
    );
    cluster.controller.show_node(node("two", 9), at(0));
    cluster.nodes = vec![node("two", 9)];
    cluster.work(11);
    assert_eq!(cluster.opened, ["a/a0", "b/b0"]);
}

#[test]
fn what_is_wrong_is_told_once() {
    let mut cluster = Cluster::new();
    let mut wrong = namespace("a", Some("a"));
    wrong.problem = Some("expected a weight".to_owned());
    cluster.controller.show_namespace(wrong.clone(), at(1));
    cluster.controller.show_namespace(wrong, at(2));
    let mut lost = pod("a", "a0", 1, 0);
    lost.problem = Some("expected a size".to_owned());
    cluster.show(lost, 3);
    let told = cluster.work(3);
    assert_eq!(told, ["a: expected a weight", "a0: expected a size"]);
    assert!(cluster.opened.is_empty());
    assert_eq!(cluster.controller.status(at(3)).counters.problems, 2);
    // Whoever is set right waits like all others.
    cluster.show(pod("a", "a0", 1, 0), 4);
    cluster.work(4);
    assert_eq!(cluster.opened, ["a/a0"]);
}

/// More pods than the size of their group says wait one by one, and a time that is still to come opens nothing.
#[test]
fn a_group_opens_no_more_than_its_size() {
    let mut cluster = Cluster::new();
    let member = |name: &str| {
        let mut item = pod("a", name, 4, 1);
        item.group = Some(("train".to_owned(), 2));
        item
    };
    cluster.show(member("0"), 2);
    cluster.show(member("1"), 2);
    cluster.work(2);
    cluster.show(member("2"), 3);
    cluster.work(3);
    assert_eq!(cluster.opened, ["a/0", "a/1"], "8 of 10 cores are held");
    let mut forged = member("forged");
    (forged.is_held, forged.admitted_with_group) = (false, Some(at(1_000_000)));
    forged.group = Some(("other".to_owned(), 100));
    forged.needs = vec![0];
    cluster.show(forged, 4);
    let mut large = member("large");
    large.group = Some(("other".to_owned(), 100));
    cluster.show(large, 4);
    cluster.work(4);
    assert_eq!(cluster.opened.len(), 2);
}

/// A pod that takes the place of another waits by itself, also for whoever leads next; when nothing of its group is left, it belongs to the next one.
#[test]
fn what_takes_the_place_of_others_waits_for_its_turn() {
    let mut cluster = Cluster::new();
    let member = |name: &str, created| {
        let mut item = pod("a", name, 2, created);
        item.group = Some(("train".to_owned(), 2));
        item
    };
    cluster.show(member("0", 1), 2);
    cluster.show(member("1", 1), 2);
    cluster.work(2);
    assert_eq!(cluster.opened, ["a/0", "a/1"]);
    let mut other = pod("b", "other", 8, 0);
    (other.is_held, other.node) = (false, Some("one".to_owned()));
    cluster.end("uid of a/0", 3);
    cluster.items.insert(other.uid.clone(), other.clone());
    cluster.controller.show_item(other, at(3));
    cluster.show(member("0b", 4), 4);
    cluster.work(4);
    cluster.restart(5);
    cluster.work(5);
    assert_eq!(cluster.opened.len(), 2, "there is no room");
    // The last one ends: the two that are to follow go together.
    cluster.end("uid of a/1", 6);
    cluster.show(member("1b", 7), 7);
    cluster.work(7);
    assert_eq!(cluster.opened.len(), 2, "there is room for one");
    cluster.end("uid of b/other", 8);
    cluster.work(8);
    assert_eq!(cluster.opened[2..], ["a/0b", "a/1b"]);
}

/// Between the gate that is taken off and the node that is found, a pod holds what it needs.
#[test]
fn a_pod_that_was_opened_by_hand_holds_before_it_has_a_node() {
    let mut cluster = Cluster::new();
    cluster.show(pod("a", "a0", 8, 0), 1);
    cluster.work(1);
    cluster.show(pod("b", "b0", 4, 1), 2);
    cluster.work(2);
    let mut by_hand = pod("b", "b0", 4, 1);
    by_hand.is_held = false;
    cluster.items.insert(by_hand.uid.clone(), by_hand.clone());
    cluster.controller.show_item(by_hand, at(3));
    let status = cluster.controller.status(at(3));
    assert_eq!((&*status.held[0], status.counters.opened_by_hand), ("12", 1));
}

/// Somebody suspends a job that runs: its pods, which go on for a while, count by themselves, and the job waits for its turn again.
#[test]
fn the_pods_of_a_job_that_is_suspended_again_count_until_they_end() {
    let mut cluster = Cluster::new();
    let mut job = pod("a", "job", 6, 1);
    job.kind = Kind::Job;
    cluster.show(job.clone(), 1);
    cluster.work(1);
    let mut part = pod("a", "part", 3, 2);
    (part.job, part.is_held, part.node) = (Some(job.uid.clone()), false, Some("one".to_owned()));
    cluster.items.insert(part.uid.clone(), part.clone());
    cluster.controller.show_item(part.clone(), at(2));
    assert_eq!(&*cluster.controller.status(at(2)).held[0], "6");
    let mut suspended = cluster.items[&job.uid].clone();
    suspended.is_held = true;
    cluster.controller.show_item(suspended, at(3));
    let status = cluster.controller.status(at(3));
    assert_eq!((&*status.held[0], status.tenants[0].waiting), ("3", 1));
}

/// Pods that ask for a flavor count there, and a pod without a wish counts where it has come to run.
#[test]
fn flavors_count_by_themselves() {
    let resources = ResourceNames::new(vec!["cpu".to_owned()]).unwrap();
    let resources = resources.with_flavors("fast:speed=high".parse().unwrap()).unwrap();
    let mut controller = Controller::new(Policy { resources, ..policy() });
    let node = |name: &str, amounts: [u64; 2], flavor| Node {
        name: name.to_owned(),
        is_usable: true,
        amounts: amounts.to_vec(),
        flavor,
    };
    controller.show_node(node("slow", [2000, 0], 0), at(0));
    controller.show_node(node("fast", [0, 3000], 1), at(0));
    controller.show_namespace(namespace("a", Some("a")), at(0));
    let item = |name: &str, needs: [u64; 2]| Item { needs: needs.to_vec(), ..pod("a", name, 0, 0) };
    for name in ["any 1", "any 2", "any 3"] {
        controller.show_item(item(name, [1000, 0]), at(0));
    }
    controller.show_item(item("fast 1", [0, 2000]), at(0));
    controller.lead(None, at(1)).unwrap();
    let opened = |controller: &mut Controller, now| -> Vec<String> {
        let orders = controller.work(at(now)).into_iter();
        orders
            .filter_map(|order| if let Order::Open { name, .. } = order { Some(name) } else { None })
            .collect()
    };
    assert_eq!(opened(&mut controller, 1), ["any 1", "any 2"]);
    // The next one of the tenant needs a slow node, and no other tenant waits: one tenant has one queue.
    assert_eq!(controller.status(at(1)).held, ["2", "0"]);
    let open = Item { is_held: false, admitted: Some(at(1)), ..item("any 1", [1000, 0]) };
    controller.show_item(open.clone(), at(2));
    controller.show_item(Item { node: Some("fast".to_owned()), started: Some(at(2)), ..open }, at(2));
    assert_eq!(opened(&mut controller, 3), ["any 3", "fast 1"]);
    assert_eq!(controller.status(at(3)).held, ["2", "3"]);
    assert_eq!(controller.status(at(3)).resources, ["cpu", "fast:cpu"]);
    // A node that is labelled later takes what is on it along.
    let system = Item { namespace: "system".to_owned(), uid: "s".to_owned(), ..item("s", [500, 0]) };
    let on_slow = (Some("slow".to_owned()), Some(at(4)), false);
    let mut system = system;
    (system.node, system.started, system.is_held) = on_slow;
    controller.show_item(system, at(4));
    assert_eq!(controller.status(at(4)).capacity, ["1.5", "3"]);
    controller.show_node(node("slow", [0, 2000], 1), at(5));
    assert_eq!(controller.status(at(5)).capacity, ["0", "4.5"]);
}
