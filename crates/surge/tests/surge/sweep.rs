//! The predicted attack against a sweep of attacks, for orders of service that go by more than the packet itself.

use rand::{RngExt as _, SeedableRng as _};
use rand_xoshiro::Xoshiro256PlusPlus;
use rayon::prelude::*;
use trueplane_study::Error;
use trueplane_surge::application::{Given, Never};
use trueplane_surge::orders::{Settings, Visitor, with_policy};
use trueplane_surge::policy::PolicyName;
use trueplane_surge::search::{Pattern, Space};
use trueplane_surge::server::{Server, Ticket};
use trueplane_surge::theory::{Attack, Innocents, Job, Limits, Prediction, Rates, predict, predict_among};
use trueplane_surge::traffic::{Load, Offered, Pace, Pool, Traffic};
use trueplane_surge::{Bounded, Overflow, Policy};
use trueplane_units::Nanos;

const PACKETS: u64 = 100_000;
const LIMITS: Limits = Limits { least_bits: 512, most_job: Nanos(50_000) };

/// Forty flows; from the cheapest to the dearest, mean work per bit grows tenfold, and within each packets differ by up to a half.
fn jobs() -> Vec<Job> {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(3);
    (0..PACKETS)
        .map(|_| {
            let flow = random.random_range(0..40u64);
            let bits = random.random_range(512..12_000u32);
            let ratio = 0.3 * 10f64.powf(flow as f64 / 39.0) * random.random_range(0.5..1.5);
            let job = Nanos((f64::from(bits) * ratio) as u64);
            Job { flow, bits, job, estimate: job }
        })
        .collect()
}

struct Users {
    innocents: Innocents,
    rates: Rates,
    traffic: Traffic<Never>,
    end: Nanos,
}

/// Bits of users served under an attack.
struct Run<'a> {
    users: &'a Users,
    attack: Option<Attack>,
}

impl Visitor for Run<'_> {
    type Output = f64;

    fn visit<P: Policy<Ticket>>(self, policy: P) -> Result<f64, Error> {
        let Users { rates, traffic, end, .. } = self.users;
        let space = Space::<Never>::new((1, u32::MAX), Nanos(1), Pool::none())?;
        let attack = self.attack.map_or(Traffic::none(), |attack| {
            Pattern::alike(attack).traffic(&space, rates.attack, *end, u64::MAX)
        });
        let mut server = Server { application: Given, innocent: traffic, attack: &attack, end: *end };
        let tally = server.run(
            &mut Bounded::new(policy, None, Overflow::DropWorst).unwrap(),
            &(),
            &mut |_| Ok(()),
        )?;
        Ok(tally.innocent.served.bits as f64)
    }
}

impl Users {
    fn new(share: f64) -> Self {
        let jobs = jobs();
        let innocents = Innocents::new(jobs.clone()).unwrap();
        let most = innocents.most_rate();
        let rates = Rates { innocent: 0.9 * most, attack: share * most };
        let end = Nanos((innocents.mean_bits() * PACKETS as f64 / rates.innocent) as u64);
        let packets = jobs.iter().map(|&Job { flow, bits, job, estimate }| Offered {
            flow,
            bits,
            load: Load::Given { job, estimate },
        });
        let pace = Pace::Even { packets: PACKETS, nanos: end.0 };
        Self {
            innocents,
            rates,
            traffic: Traffic { packets: packets.collect(), pace, count: PACKETS, fresh_flows: false },
            end,
        }
    }

    fn run(&self, policy: PolicyName, attack: Option<Attack>) -> f64 {
        let settings = Settings { capacity: 1 << 21, exact: false };
        with_policy(policy, settings, Run { users: self, attack }).unwrap()
    }

    /// Bits of users that a bit of an attack displaces.
    fn displacement(&self, policy: PolicyName, attack: Attack) -> f64 {
        let displaced = self.run(policy, None) - self.run(policy, Some(attack));
        displaced / (self.rates.attack * self.end.0 as f64)
    }
}

/// How much more than the predicted attack does the worst of a sweep do, and how far off is the prediction?
fn compared(policy: PolicyName, share: f64) -> (f64, f64, f64) {
    let users = Users::new(share);
    let Prediction { attack, displacement, .. } =
        predict(policy, &users.innocents, users.rates, &LIMITS.into());
    let found = users.displacement(policy, attack);
    let sweep: Vec<f64> = (0..24)
        .into_par_iter()
        .map(|step| {
            // From a fifth to five times the mean work per bit.
            let ratio = 0.2 * 25f64.powf(f64::from(step) / 23.0) / users.innocents.most_rate();
            let job = Nanos((ratio * 512.0) as u64);
            users.displacement(policy, Attack { bits: 512, job, estimate: job })
        })
        .collect();
    (found, displacement, sweep.into_iter().fold(f64::NEG_INFINITY, f64::max))
}

/// What counts for WSJF-Inorder is a flow's average: an attack that is planned packet by packet is a poor one.
#[test]
fn the_predicted_attack_on_wsjf_inorder_beats_a_sweep() {
    for share in [0.1, 0.3] {
        let (found, predicted, swept) = compared(PolicyName::WsjfInorder, share);
        // A sweep may hit the step itself better than a whole nanosecond does.
        assert!(found >= swept - 0.02, "{share}: {found}, sweep {swept}");
        assert!((found - predicted).abs() < 0.05, "{share}: {found}, predicted {predicted}");
    }
}

/// Planned for WSJF, the attack on WSJF-Inorder does less.
#[test]
fn the_attack_for_wsjf_is_not_the_best_on_wsjf_inorder() {
    let users = Users::new(0.1);
    let of = |policy: PolicyName| predict(policy, &users.innocents, users.rates, &LIMITS.into()).attack;
    let planned = users.displacement(PolicyName::WsjfInorder, of(PolicyName::WsjfInorder));
    let borrowed = users.displacement(PolicyName::WsjfInorder, of(PolicyName::Wsjf));
    assert!(borrowed < planned, "{borrowed}, {planned}");
    let one = [of(PolicyName::Wsjf)];
    let foreseen = predict_among(PolicyName::WsjfInorder, &users.innocents, users.rates, one).unwrap();
    assert!((foreseen.displacement - borrowed).abs() < 0.1, "{foreseen:?}, {borrowed}");
}

/// The other orders, as they are predicted and as they are.
#[test]
fn predictions_are_what_comes() {
    for policy in
        [PolicyName::Fcfs, PolicyName::Fq, PolicyName::Sjf, PolicyName::Wsjf, PolicyName::SjfInorder]
    {
        let (found, predicted, swept) = compared(policy, 0.3);
        assert!(found >= swept * 0.98 - 0.02, "{policy}: {found}, sweep {swept}");
        assert!(
            (found - predicted).abs() < 0.05 + 0.05 * predicted,
            "{policy}: {found}, predicted {predicted}"
        );
    }
}
