//! How fast the server is simulated, policy by policy: arrivals, the order of service, and what is counted.
//!
//! One thread. Sizes and jobs are even around 4000 bits and 4000 ns; flows are 1000, or as many as packets. A load of 0.95 keeps the
//! backlog short; a load of 50 leaves nearly every packet waiting, for orders that have to cope with a backlog of any length.
//! Checked: every packet was served or is left, and the server never rested while one waited.

use std::sync::Arc;
use std::time::Instant;

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng as _, SeedableRng as _};
use trueplane_study::Error;
use trueplane_surge::application::{Given, Never};
use trueplane_surge::orders::{Settings, Visitor, with_policy};
use trueplane_surge::policy::PolicyName;
use trueplane_surge::server::{Server, Ticket};
use trueplane_surge::tally::Tally;
use trueplane_surge::traffic::{Load, Offered, Pace, Traffic};
use trueplane_surge::{Bounded, Overflow, Policy};
use trueplane_units::Nanos;

const ROUNDS: usize = 3;

fn main() {
    for (packets, load, flows) in [
        (2_000_000, 0.95, 1000),
        (2_000_000, 50.0, 1000),
        (2_000_000, 50.0, 2_000_000),
        (10_000_000, 50.0, 10_000_000),
    ] {
        println!("\n{packets} packets of {flows} flows, load {load}");
        println!("{:12} {:>10} {:>8} {:>8} {:>12}", "policy", "M jobs/s", "ns/job", "to fcfs", "backlog");
        let (traffic, end) = users(packets, load, flows);
        let mut base = None;
        for &policy in PolicyName::ALL {
            let (seconds, tally) = measure(policy, &traffic, end);
            let fate = tally.innocent;
            assert_eq!(fate.arrived.packets, packets);
            assert_eq!(fate.served.packets + fate.left.packets, packets, "{policy}: packets got lost");
            assert!(load < 1.0 || tally.busy == end, "{policy}: rested for {}", end.0 - tally.busy.0);
            let nanos = seconds * 1e9 / packets as f64;
            let ratio = nanos / *base.get_or_insert(nanos);
            println!("{policy:12} {:10.1} {nanos:8.1} {ratio:8.2} {:12}", 1e3 / nanos, tally.backlog);
        }
    }
}

/// Packets, and when they end.
fn users(packets: u64, load: f64, flows: u64) -> (Traffic<Never>, Nanos) {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
    let mut work = 0;
    let offered: Arc<[Offered<Never>]> = (0..packets)
        .map(|_| {
            let job = Nanos(2000 + random.next_u64() % 4001);
            work += job.0;
            let bits = 2000 + (random.next_u64() % 4001) as u32;
            Offered { flow: random.next_u64() % flows, bits, load: Load::Given { job, estimate: job } }
        })
        .collect();
    let nanos = (work as f64 / load) as u64;
    (
        Traffic { packets: offered, pace: Pace::Even { packets, nanos }, count: packets, fresh_flows: false },
        Nanos(nanos),
    )
}

/// The least time of some rounds, and what they all found.
fn measure(policy: PolicyName, traffic: &Traffic<Never>, end: Nanos) -> (f64, Tally) {
    let (mut least, mut found) = (f64::INFINITY, None::<Tally>);
    for _ in 0..ROUNDS {
        let settings = Settings { capacity: traffic.count as usize, exact: false };
        let (seconds, tally) =
            with_policy(policy, settings, Run { traffic, end }).expect("there is room for every packet");
        least = least.min(seconds);
        let before = found.get_or_insert(tally);
        assert_eq!(*before, tally, "not the same twice");
    }
    (least, found.expect("there are rounds"))
}

struct Run<'a> {
    traffic: &'a Traffic<Never>,
    end: Nanos,
}

impl Visitor for Run<'_> {
    type Output = (f64, Tally);

    fn visit<P: Policy<Ticket>>(self, policy: P) -> Result<Self::Output, Error> {
        let attack = Traffic::none();
        let mut server =
            Server { application: Given, innocent: self.traffic, attack: &attack, end: self.end };
        let mut buffer = Bounded::new(policy, None, Overflow::DropWorst).expect("no limit");
        let start = now();
        let tally = server.run(&mut buffer, &(), &mut |_| Ok(()))?;
        Ok((start.elapsed().as_secs_f64(), tally))
    }
}

#[expect(clippy::disallowed_methods, reason = "a bench is a driver")]
fn now() -> Instant {
    Instant::now()
}
