//! Theorem 3: under WSJF that knows every job no attack displaces more than the load times its own bits, nor more than
//! [`Allowance`](trueplane_surge::theory::Allowance) says of the very run. Random workloads, and for each a search for the
//! worst attack on it. `crates/surge/examples/theorem.rs` does the same for as many as one likes.

mod workload;

use rayon::prelude::*;
use trueplane_surge::policy::PolicyName;
use trueplane_surge::policy::{Fcfs, Sjf};
use trueplane_surge::server::Ticket;
use trueplane_surge::traffic::Traffic;
use trueplane_surge::{Policy, policy};

use workload::{Outcome, ROOM, Workload};

fn searched(workloads: u64, packets: u64, trials: usize) -> Vec<Outcome> {
    (0..workloads).into_par_iter().map(|seed| Workload::random(seed, packets).search(seed, trials)).collect()
}

/// In short runs the allowance holds without exception, and says something in most.
#[test]
fn no_attack_is_found_that_theorem_3_excludes() {
    let outcomes = searched(10_000, 200, 4);
    let binding = outcomes.iter().filter(|outcome| outcome.binding).count();
    assert!(binding > 5000, "{binding}");
    // It is no empty promise either: attacks come near it.
    assert!(outcomes.iter().any(|outcome| outcome.to_allowance > 0.8));
}

/// In runs ten times as long and a real search, what the ends are worth no longer shows: the load itself is the bound, but for
/// users who come in bursts.
#[test]
fn long_searches_find_no_more() {
    let outcomes = searched(100, 2000, 48);
    let above = outcomes.iter().filter(|outcome| outcome.to_load > 1.0).count();
    assert!(above <= 5, "{above}");
    assert!(outcomes.iter().all(|outcome| outcome.binding));
}

/// Bits that an attack displaces, over what WSJF would be allowed.
fn excess<P: Policy<Ticket>>(workload: &Workload, discipline: PolicyName, policy: impl Fn() -> P) -> f64 {
    let attack = workload.attack(&workload.known(discipline));
    let before = workload.run(policy(), &Traffic::none()).innocent.served.bits as f64;
    let under = workload.run(policy(), &attack);
    let most = workload.allowances(&attack)[0].most(under.attack.arrived.bits);
    (before - under.innocent.served.bits as f64) / most
}

/// The same test finds what other orders of service allow, on the same workloads.
#[test]
fn the_test_would_notice() {
    let count = |discipline, excess: &dyn Fn(&Workload, PolicyName) -> f64| {
        let workloads = (0..100).map(|seed| Workload::random(seed, 200));
        workloads.filter(|workload| excess(workload, discipline) > 1.0).count()
    };
    let fcfs = count(PolicyName::Fcfs, &|workload, by| excess(workload, by, || Fcfs::new(ROOM)));
    let sjf = count(PolicyName::Sjf, &|workload, by| excess(workload, by, || Sjf::new(ROOM).unwrap()));
    let wsjf =
        count(PolicyName::Wsjf, &|workload, by| excess(workload, by, || policy::Wsjf::new(ROOM).unwrap()));
    assert!(fcfs > 30 && sjf > 10 && wsjf == 0, "{fcfs}, {sjf}, {wsjf}");
}
