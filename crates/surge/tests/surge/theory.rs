//! The best attacks, against a search of all of them, and by hand.

use proptest::prelude::*;
use trueplane_surge::policy::PolicyName;
use trueplane_surge::theory::{
    Allowance, Arrival, Attack, Attacker, Innocents, Job, Limits, Prediction, Rates, Staircase, Unit,
    predict, predict_among, usual_flow,
};
use trueplane_units::Nanos;

fn job(flow: u64, bits: u32, job: u64) -> Job {
    Job { flow, bits, job: Nanos(job), estimate: Nanos(job) }
}

/// In ten microseconds: 6000 bits that take 2 µs, 4000 that take 3 and 2000 that take 4.
fn three_kinds() -> Innocents {
    Innocents::new(vec![job(1, 6000, 2000), job(2, 4000, 3000), job(3, 2000, 4000)]).unwrap()
}

/// A gigabit per second is a bit per nanosecond: 12,000 bits in ten microseconds, and 1000 of the attacker's.
const RATES: Rates = Rates { innocent: 1.2, attack: 0.1 };
const LIMITS: Limits = Limits { least_bits: 500, most_job: Nanos(10_000) };

fn assert_near(found: f64, expected: f64) {
    assert!((found - expected).abs() < 1e-9 * expected.abs().max(1.0), "{found}, {expected}");
}

/// The example of `docs/concepts/surge.md`, worked by hand there.
#[test]
fn three_kinds_of_packets_by_hand() {
    let users = three_kinds();
    assert_near(users.most_rate(), 12_000.0 / 9_000.0);
    let of = |discipline| predict(discipline, &users, RATES, &LIMITS.into());

    // Two attack packets of 500 bits in ten microseconds take 10 µs each: 20 µs of work, and 9 µs of users.
    let fcfs = of(PolicyName::Fcfs);
    assert_eq!((fcfs.attack.bits, fcfs.attack.job), (500, Nanos(10_000)));
    assert_near(fcfs.goodput, 1.2 / 2.9);
    assert_near(fcfs.displacement, (1.2 - 1.2 / 2.9) / 0.1);
    assert_eq!(fcfs.bound, None);

    // Just below 3 µs each they go before the second kind: users keep 4 µs, two for the first kind and two for the second.
    let sjf = of(PolicyName::Sjf);
    assert_eq!((sjf.attack.bits, sjf.attack.job), (500, Nanos(2999)));
    assert!((sjf.displacement - 10.0 / 3.0).abs() < 0.01, "{sjf:?}");

    // Just below 2 ns per bit they go before the third kind, and take 2 of the 10 µs: the third kind loses one of its four.
    let wsjf = of(PolicyName::Wsjf);
    assert!(f64::from(u32::try_from(wsjf.attack.job.0).unwrap()) / f64::from(wsjf.attack.bits) < 2.0);
    assert!((wsjf.displacement - 0.5).abs() < 0.01, "{wsjf:?}");
    assert_near(wsjf.bound.unwrap(), 0.9);
}

/// What users keep in the order of `key` under one attack, key by key.
fn kept(users: &Innocents, rates: Rates, key: impl Fn(f64, f64) -> f64, attack: Option<(f64, f64)>) -> f64 {
    let scale = rates.innocent / users.jobs().iter().map(|job| f64::from(job.bits)).sum::<f64>();
    let mut steps: Vec<(f64, f64, f64)> = users
        .jobs()
        .iter()
        .map(|job| {
            let (bits, work) = (f64::from(job.bits), job.job.0 as f64);
            (key(bits, work), work * scale, bits * scale)
        })
        .collect();
    if let Some((bits, work)) = attack {
        steps.push((key(bits, work), work * rates.attack / bits, 0.0));
    }
    steps.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (mut room, mut goodput) = (1.0f64, 0.0);
    // What has equal keys shares what is left for it, whosever it is: the oldest is served.
    for equals in steps.chunk_by(|a, b| a.0 == b.0) {
        let load: f64 = equals.iter().map(|step| step.1).sum();
        let bits: f64 = equals.iter().map(|step| step.2).sum();
        goodput += if load > 0.0 { (room / load).min(1.0) } else { 1.0 } * bits;
        room = (room - load).max(0.0);
    }
    goodput
}

fn users() -> impl Strategy<Value = Innocents> {
    let packet = (0u64..4, 64u32..2000, 1u64..3000);
    prop::collection::vec(packet, 1..40)
        .prop_map(|jobs| Innocents::new(jobs.into_iter().map(|(f, b, j)| job(f, b, j)).collect()).unwrap())
}

/// Packets whose jobs are short, so that many are alike.
fn small_users() -> impl Strategy<Value = Innocents> {
    let packet = (0u64..4, 64u32..512, 1u64..40);
    prop::collection::vec(packet, 1..40)
        .prop_map(|jobs| Innocents::new(jobs.into_iter().map(|(f, b, j)| job(f, b, j)).collect()).unwrap())
}

/// Packets that the scheduler is wrong about.
fn misjudged_users() -> impl Strategy<Value = Innocents> {
    let packet = (0u64..4, 64u32..2000, 1u64..3000, 1u64..3000);
    let packet = packet.prop_map(|(flow, bits, job, estimate)| Job {
        flow,
        bits,
        job: Nanos(job),
        estimate: Nanos(estimate),
    });
    prop::collection::vec(packet, 1..40).prop_map(|jobs| Innocents::new(jobs).unwrap())
}

fn per_bit(bits: f64, work: f64) -> f64 {
    work / bits
}

fn per_job(_bits: f64, work: f64) -> f64 {
    work
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// No job does more harm than the predicted one, in a sweep over all of them; and the prediction is what that attack does.
    #[test]
    fn nothing_does_more_harm(users in users(), load in 0.1f64..1.5, share in 0.01f64..1.0) {
        let rates = Rates { innocent: load * users.most_rate(), attack: share * users.most_rate() };
        let limits = Limits { least_bits: 64, most_job: Nanos(4000) };
        for (discipline, key) in
            [(PolicyName::Sjf, per_job as fn(f64, f64) -> f64), (PolicyName::Wsjf, per_bit)]
        {
            let best = predict(discipline, &users, rates, &limits.into());
            let attack = (f64::from(best.attack.bits), best.attack.job.0 as f64);
            let goodput = kept(&users, rates, key, Some(attack));
            prop_assert!((best.goodput - goodput).abs() < 1e-9, "{best:?}: {goodput}");
            prop_assert!((best.before - kept(&users, rates, key, None)).abs() < 1e-9);
            prop_assert!(best.displacement <= best.bound.unwrap() + 1e-9, "{best:?}");
            // What whole nanoseconds and bits cost where ratios count: one part in 64 of the work that a bit of attack brings.
            let missed = if discipline == PolicyName::Sjf { 0.0 } else { rates.attack / 64.0 };
            for work in 1..=limits.most_job.0 {
                let goodput = kept(&users, rates, key, Some((64.0, work as f64)));
                prop_assert!(best.goodput <= goodput + missed + 1e-9, "{discipline:?} {best:?}: {work} ns: {goodput}");
            }
        }
    }

    /// Nothing on a small grid does more harm than the predicted attack, whatever the order of service: the largest job is tried too,
    /// and jobs that users have.
    #[test]
    fn nothing_on_a_grid_does_more_harm(users in small_users(), load in 0.1f64..1.5, share in 0.01f64..30.0, most in 1u64..60) {
        let rates = Rates { innocent: load * users.most_rate(), attack: share * users.most_rate() };
        let limits = Limits { least_bits: 64, most_job: Nanos(most) };
        let grid = (64..128).flat_map(|bits| (1..=most).map(move |job| Attack::known(bits, Nanos(job))));
        for discipline in PolicyName::ALL.iter().copied() {
            let best = predict(discipline, &users, rates, &limits.into());
            let swept = predict_among(discipline, &users, rates, grid.clone()).unwrap();
            let missed = match discipline {
                PolicyName::Wsjf | PolicyName::WsjfInorder => rates.attack / 64.0,
                PolicyName::WsjfHoq => users.most_rate() / 64.0,
                _ => 0.0,
            };
            prop_assert!(limits.allows(&best.attack), "{discipline:?} {best:?}");
            prop_assert!(best.goodput <= swept.goodput + missed + 1e-9, "{discipline:?} {best:?} {swept:?}");
        }
    }

    /// What is planned is within the limits, also where it is a packet of a user that is sent again; what it displaces is within the
    /// bound; and that is one for all rates of the attack.
    #[test]
    fn one_bound_holds_for_all_that_can_be_sent(
        users in misjudged_users(), load in 0.1f64..1.5, bits in 64u32..2000, most in 1u64..3000,
        shares in prop::collection::vec(0.001f64..10.0, 1..4),
    ) {
        let limits = Limits { least_bits: bits, most_job: Nanos(most) };
        let attacker = Attacker::new(limits, users.jobs().iter().map(|job| Attack::from(*job)));
        for discipline in PolicyName::ALL.iter().copied() {
            let predict = |share: &f64| {
                let rates = Rates { innocent: load * users.most_rate(), attack: share * users.most_rate() };
                predict(discipline, &users, rates, &attacker)
            };
            let found: Vec<Prediction> = shares.iter().map(predict).collect();
            for best in &found {
                prop_assert!(limits.allows(&best.attack), "{discipline:?} {best:?}");
                prop_assert!(best.bound.is_none_or(|bound| best.displacement <= bound + 1e-9), "{discipline:?} {best:?}");
                prop_assert_eq!(best.bound, found[0].bound);
            }
        }
    }

    /// The best key is the best of all, on the steps, between them and beyond them.
    #[test]
    fn no_key_leaves_users_less(
        units in prop::collection::vec((1u32..200, 1u64..2000, 1u128..2000), 1..30),
        rate in 0.1f64..3.0, slope in 0.0001f64..0.2, most in 1.0f64..300.0,
    ) {
        let users = three_kinds();
        let units: Vec<Unit> = units
            .into_iter()
            .map(|(key, bits, work)| Unit { key: f64::from(key), packets: 1, bits, work })
            .collect();
        let stairs = Staircase::new(&users, rate, &units);
        let best = stairs.worst(slope, most);
        prop_assert!(best.key <= most);
        prop_assert!((stairs.under(best.key, slope * best.key) - best.load).abs() < 1e-12, "{best:?}");
        let sweep = (0..=3000).map(|tenth| f64::from(tenth) / 10.0);
        let beside = stairs.keys().iter().flat_map(|key| [*key, key + 1e-9]);
        for key in sweep.chain(beside).filter(|key| *key <= most) {
            let kept = stairs.under(key, slope * key);
            prop_assert!(kept >= best.load - 1e-9, "{key}: {kept}, {best:?}");
        }
    }

    /// What is predicted is within its own bound, for every order that has one.
    #[test]
    fn predictions_are_within_their_bounds(users in users(), load in 0.1f64..1.5, share in 0.001f64..1.0) {
        let rates = Rates { innocent: load * users.most_rate(), attack: share * users.most_rate() };
        let limits = Limits { least_bits: 64, most_job: Nanos(9000) };
        for discipline in [PolicyName::Sjf, PolicyName::Wsjf, PolicyName::SjfInorder, PolicyName::WsjfInorder] {
            let best = predict(discipline, &users, rates, &limits.into());
            prop_assert!(best.displacement <= best.bound.unwrap() + 1e-9, "{discipline:?} {best:?}");
        }
    }

    /// Who may only send what there is does no more harm than who may send anything, and picks the best there is.
    #[test]
    fn the_best_of_a_pool_is_the_best(users in users(), pool in prop::collection::vec((64u32..2000, 1u64..3000, 1u64..3000), 1..20)) {
        let rates = Rates { innocent: 0.9 * users.most_rate(), attack: 0.3 * users.most_rate() };
        let candidates = pool.iter().map(|(bits, job, estimate)| {
            Attack { bits: *bits, job: Nanos(*job), estimate: Nanos(*estimate) }
        });
        let best = predict_among(PolicyName::Wsjf, &users, rates, candidates.clone()).unwrap();
        prop_assert!(best.displacement <= best.bound.unwrap() + 1e-9, "{best:?}");
        for attack in candidates {
            let one = predict_among(PolicyName::Wsjf, &users, rates, [attack]).unwrap();
            prop_assert!(best.goodput <= one.goodput);
        }
    }

    /// What is allowed in one run is the worst interval for every work per bit, looked for one by one.
    #[test]
    fn the_allowance_is_the_integral(
        packets in prop::collection::vec((0u64..50, 64u32..2000, 1u64..3000), 1..20),
        attack in prop::collection::vec((64u32..2000, 1u64..3000), 0..5),
    ) {
        let end = Nanos(10_000);
        let mut at = Nanos(0);
        let users: Vec<Arrival> = packets
            .iter()
            .map(|(gap, bits, job)| {
                at = at.after(Nanos(*gap));
                Arrival { at, bits: *bits, job: Nanos(*job) }
            })
            .collect();
        let attack: Vec<(u32, Nanos)> = attack.into_iter().map(|(bits, job)| (bits, Nanos(job))).collect();
        let found = Allowance::new(&users, &attack, end);
        let ratio = |bits: u32, job: Nanos| job.0 as f64 / f64::from(bits);
        let of = |user: &Arrival| ratio(user.bits, user.job);
        let mut ratios: Vec<f64> = users.iter().map(of).collect();
        ratios.sort_by(f64::total_cmp);
        let (mut edge, mut plain) = (0.0, 0.0);
        for (place, z) in ratios.iter().enumerate() {
            let width = 1.0 / z - ratios.get(place + 1).map_or(0.0, |next| 1.0 / next);
            let below = || users.iter().filter(|user| of(user) <= *z);
            let all = users.iter().map(|user| (of(user), user.job)).chain(attack.iter().map(|(b, j)| (ratio(*b, *j), *j)));
            let blocking = all.filter(|(other, _)| other > z).map(|(_, job)| job.0).max().unwrap_or(0);
            let longest = below().map(|user| user.job.0).max().unwrap_or(0);
            let excess = users.iter().map(|from| {
                let work: u64 = below().filter(|user| user.at >= from.at).map(|user| user.job.0).sum();
                work as f64 - found.load * (end.0 - from.at.0) as f64
            }).fold(0.0, f64::max);
            plain += (blocking + longest) as f64 * width;
            edge += ((blocking + longest) as f64 + excess) * width;
        }
        prop_assert!((found.edge - edge).abs() <= 1e-6 * edge.max(1.0), "{found:?}: {edge}");
        prop_assert!((found.plain - plain).abs() <= 1e-6 * plain.max(1.0), "{found:?}: {plain}");
    }
}

#[test]
fn estimates_cost_the_product_of_two_factors() {
    let mut jobs = three_kinds().jobs().to_vec();
    jobs[0].estimate = Nanos(6000);
    let users = Innocents::new(jobs).unwrap();
    let attack = Attack { bits: 500, job: Nanos(2000), estimate: Nanos(1000) };
    let Prediction { bound, .. } = predict_among(PolicyName::Wsjf, &users, RATES, [attack]).unwrap();
    assert_near(bound.unwrap(), 0.9 * 3.0 * 2.0);
}

/// The largest job that there may be is the best where every user's is longer.
#[test]
fn the_largest_job_is_tried_too() {
    let users = Innocents::new(vec![job(1, 8000, 1000)]).unwrap();
    let rates = Rates { innocent: users.most_rate(), attack: users.most_rate() / 10.0 };
    let limits = Limits { least_bits: 512, most_job: Nanos(2) };
    for discipline in [PolicyName::Sjf, PolicyName::SjfInorder, PolicyName::Wsjf, PolicyName::WsjfInorder] {
        let best = predict(discipline, &users, rates, &limits.into());
        assert_eq!(best.attack, limits.largest(), "{discipline:?}");
        // A bit takes 2/512 of the time, and users lose eight bits in a nanosecond.
        assert_near(best.displacement, 2.0 / 512.0 * 8.0);
    }
}

/// Among equals the oldest is served: users of the very job of the attack keep their share of what is left for both.
#[test]
fn equals_share_what_is_left() {
    let users = Innocents::new(vec![job(1, 8000, 500), job(2, 8000, 1000), job(3, 8000, 2000)]).unwrap();
    let rates = Rates { innocent: users.most_rate(), attack: 512.0 * 4.0 / 7.0 / 1000.0 };
    let equal = Attack::known(512, Nanos(1000));
    for discipline in [PolicyName::Sjf, PolicyName::SjfInorder] {
        let found = predict_among(discipline, &users, rates, [equal]).unwrap();
        // 1/7 for the first kind; the second asks for 2/7 and the attack for 4/7: they fill the server, and the third gets nothing.
        assert_near(found.goodput, users.most_rate() * 2.0 / 3.0);
        assert_near(found.goodput, kept(&users, rates, per_job, Some((512.0, 1000.0))));
        // With twice the attack there are 6/7 for 10/7.
        let rates = Rates { attack: 2.0 * rates.attack, ..rates };
        let found = predict_among(discipline, &users, rates, [equal]).unwrap();
        assert_near(found.goodput, users.most_rate() * (1.0 + 0.6) / 3.0);
        assert_near(found.goodput, kept(&users, rates, per_job, Some((512.0, 1000.0))));
    }
}

/// u is that of all packets that can be sent, whichever of them is the best at a rate.
#[test]
fn the_bound_does_not_depend_on_which_attack_is_the_best() {
    let wrong = Job { estimate: Nanos(400), ..job(1, 4000, 2000) };
    let users = Innocents::new(vec![job(0, 8000, 1000), wrong]).unwrap();
    for (share, bits, expected) in [(0.01, 512, 4.5), (1.0, 512, 4.5), (10.0, 512, 4.5), (1.0, 4001, 0.9)] {
        let rates = Rates { innocent: 0.9 * users.most_rate(), attack: share * users.most_rate() };
        let limits = Limits { least_bits: bits, most_job: Nanos(2000) };
        let attacker = Attacker::new(limits, users.jobs().iter().map(|job| Attack::from(*job)));
        assert_near(predict(PolicyName::Wsjf, &users, rates, &attacker).bound.unwrap(), expected);
    }
}

#[test]
fn nothing_can_be_displaced_where_nothing_is() {
    assert_eq!(Innocents::new(Vec::new()), None);
    let users = three_kinds();
    assert_eq!(predict_among(PolicyName::Wsjf, &users, RATES, []), None);
}

/// A flow is dear as a whole: the bound is about flows where flows are what waits.
#[test]
fn a_dear_flow_takes_its_cheap_packets_along() {
    let jobs = vec![job(1, 10_000, 1000), job(1, 100, 9000), job(2, 100, 2000), job(2, 100, 4000)];
    let users = Innocents::new(jobs).unwrap();
    let rates = Rates { innocent: users.most_rate(), attack: 0.002 };
    let limits = Limits { least_bits: 100, most_job: Nanos(20_000) };
    let best = predict(PolicyName::SjfInorder, &users, rates, &limits.into());
    assert!(best.displacement > 50.0 && best.displacement <= best.bound.unwrap(), "{best:?}");
}

/// Under WSJF-HoQ flows wait for a first packet that is dearer than the attack; those that have none are served.
#[test]
fn only_flows_with_a_dear_packet_are_held_up() {
    let cheap_and_dear = [job(1, 1000, 100), job(2, 1000, 10_000)];
    let users = Innocents::new((0..100).map(|number| cheap_and_dear[number % 2]).collect()).unwrap();
    let rates = Rates { innocent: 0.099, attack: 0.1 };
    let limits = Limits { least_bits: 512, most_job: Nanos(1_000_000) };
    let best = predict(PolicyName::WsjfHoq, &users, rates, &limits.into());
    assert!((best.displacement - 0.495).abs() < 0.01, "{best:?}");
}

/// Where a whole nanosecond is too much for the smallest packet, a larger one is sent.
#[test]
fn small_keys_take_larger_packets() {
    let users = Innocents::new(vec![job(1, 12_000, 10)]).unwrap();
    let rates = Rates { innocent: 0.9 * users.most_rate(), attack: 400.0 };
    let limits = Limits { least_bits: 512, most_job: Nanos(1000) };
    let best = predict(PolicyName::Wsjf, &users, rates, &limits.into());
    assert!(best.attack.job.0 * 12_000 < 10 * u64::from(best.attack.bits), "{best:?}");
    assert!(best.displacement > 0.69, "{best:?}");
}

/// Under fair queueing flows share what the attack leaves, and none gets more than it asks for.
#[test]
fn flows_share_what_an_attack_leaves() {
    // Flow 1 asks for 0.9 of the server, flow 2 for 0.3. Without an attack they get 0.7 and 0.3; where 0.6 is left, 0.3 each.
    let users =
        Innocents::new(vec![job(1, 1000, 1000), job(1, 1000, 1000), job(1, 1000, 1000), job(2, 2000, 1000)])
            .unwrap();
    let rates = Rates { innocent: 1.5, attack: 0.4 };
    let limits = Limits { least_bits: 1000, most_job: Nanos(1000) };
    let found = predict(PolicyName::Fq, &users, rates, &limits.into());
    assert_near(found.before, 0.7 + 0.6);
    assert_near(found.goodput, 0.3 + 0.6);
    assert_near(found.displacement, 1.0);
    assert_eq!(found.bound, None);
}

/// Theory of orders that treat flows alike is for flows that are long beside a packet of the attack, and of DRR beside a turn.
#[test]
fn flows_have_to_be_long_where_they_are_treated_alike() {
    let attack = |job| Attack::known(512, Nanos(job));
    assert_eq!(PolicyName::Fq.least_flow(attack(50)), Some(Nanos(5_000)));
    assert_eq!(
        [50, 20_000].map(|job| PolicyName::Drr.least_flow(attack(job))),
        [1_000_000, 2_000_000].map(|least| Some(Nanos(least)))
    );
    assert_eq!(PolicyName::WsjfInorder.least_flow(attack(50)), None);
    // Ten flows of one packet have a tenth of the work: nine tenths are in the flow that is left.
    let mut jobs: Vec<Job> = (0..10).map(|flow| job(flow, 512, 90)).collect();
    jobs.extend((0..81).map(|_| job(10, 512, 100)));
    assert_eq!(usual_flow(&jobs), Nanos(8_100));
    jobs.push(job(11, 512, 90));
    assert_eq!(usual_flow(&jobs), Nanos(90));
    assert_eq!(usual_flow(&[]), Nanos(0));
}
