//! What every dispatch policy has to keep to.

use std::net::Ipv4Addr;

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use trueplane_spray::dispatch::{
    Arrival, DispatchName, DispatchOptions, Load, PERIOD, PolicyName, Rss, dispatcher,
};
use trueplane_spray::{Dispatch, FlowId};
use trueplane_units::Nanos;

/// All policies; of subset, that of one core, of two and of three.
fn names() -> Vec<DispatchName> {
    DispatchName::all().chain([DispatchName::subset(1), DispatchName::subset(3)]).collect()
}

fn make(name: DispatchName, cores: usize) -> Box<dyn Dispatch> {
    dispatcher(name, cores, &DispatchOptions::default())
}

fn packet(protocol: u8, flow: u32, checksum: u16) -> Arrival {
    let ends = ((Ipv4Addr::from(0x0a00_0000 + flow), 1024), (Ipv4Addr::new(192, 0, 2, 1), 80));
    let flow = FlowId::new(protocol, (ends.0.0.into(), ends.0.1), (ends.1.0.into(), ends.1.1));
    Arrival { flow: Some(flow), checksum: (protocol == 6).then_some(checksum), bytes: 64 }
}

/// The cores of packets of a few flows, of TCP, UDP and without addresses, while loads change at random.
fn cores_of(name: DispatchName, cores: usize, seed: u64) -> Vec<(Option<FlowId>, usize)> {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut policy = make(name, cores);
    let mut chosen = Vec::new();
    for at in 0..20_000_u64 {
        let draw = random.next_u64();
        let packet = match draw % 50 {
            0 => Arrival { flow: None, checksum: None, bytes: 60 },
            of => packet(if of < 10 { 17 } else { 6 }, (draw >> 8) as u32 % 40, (draw >> 40) as u16),
        };
        let now = Nanos(at * 10_000);
        chosen.push((packet.flow, policy.core(&packet, now)));
        if now.0.is_multiple_of(PERIOD.0) {
            let load = |_| Load {
                queued: random.next_u32() % 512,
                busy: f64::from(random.next_u32() % 101) / 100.0,
            };
            let loads: Vec<Load> = (0..cores).map(load).collect();
            policy.observe(&loads, now);
        }
    }
    chosen
}

#[test]
fn names_are_read_as_they_are_written() {
    for name in DispatchName::all() {
        assert_eq!(name.to_string().parse(), Ok(name));
        assert_eq!(name.to_string().to_uppercase().parse(), Ok(name));
        assert_eq!(DispatchName::of(name.policy()), name);
    }
    for bad in [
        "",
        "subset",
        "subset:K",
        "SUBSET:K",
        "subset:+1",
        "subset:",
        "subset:0",
        "subset:-1",
        "subset:65536",
        "spray ",
    ] {
        let error = bad.parse::<DispatchName>().unwrap_err();
        assert!(error.contains("rss:default") && error.ends_with(&format!("got \"{bad}\"")), "{error}");
    }
}

#[test]
fn every_policy_chooses_a_core_that_is_there_and_always_the_same() {
    for name in names() {
        for cores in [1, 2, 3, 8, 16, 128] {
            let chosen = cores_of(name, cores, 1);
            assert!(chosen.iter().all(|&(_, core)| core < cores), "{name}, {cores} cores");
            assert_eq!(chosen, cores_of(name, cores, 1), "{name}, {cores} cores");
        }
    }
}

#[test]
fn flows_are_kept_whole_by_those_who_say_so_alone() {
    for name in names() {
        let mut of_flow = std::collections::HashMap::new();
        let whole =
            cores_of(name, 8, 2).into_iter().all(|(flow, core)| *of_flow.entry(flow).or_insert(core) == core);
        assert_eq!(name.keeps_flows_whole(8), whole, "{name}");
    }
}

#[test]
fn loads_of_another_number_of_cores_are_not_believed() {
    for name in names() {
        let mut policy = make(name, 4);
        let before = policy.core(&packet(6, 1, 0), Nanos(0));
        policy.observe(&[Load { queued: 512, busy: 1.0 }; 2], PERIOD);
        policy.observe(&[], PERIOD);
        assert!(policy.core(&packet(6, 1, 0), PERIOD) < 4 && before < 4, "{name}");
    }
}

/// What is not TCP may not be reordered (§3.5).
#[test]
fn what_is_not_tcp_is_hashed_by_those_who_spray_by_checksum() {
    let mut rss = Rss::symmetric(8);
    let subset = DispatchName::subset;
    let names = [subset(3), subset(8)].into_iter().chain(names()).collect::<Vec<_>>();
    for name in names.into_iter().filter(|name| name.properties().by_checksum) {
        let mut policy = make(name, 8);
        for flow in 0..200 {
            let packet = packet(17, flow, 0);
            assert_eq!(policy.core(&packet, Nanos(0)), rss.core(&packet, Nanos(0)), "{name}");
        }
    }
}

/// χ² of a flow's packets over cores with random checksums, below the 99.9% quantile for these draws.
#[test]
fn one_flow_is_spread_evenly() {
    for (cores, quantile) in [(2, 10.83), (7, 22.46), (8, 24.32), (16, 37.70)] {
        let (mut random, mut spray) =
            (Xoshiro256PlusPlus::seed_from_u64(3), make(DispatchName::of(PolicyName::Spray), cores));
        let mut counts = vec![0_u32; cores];
        let draws = 80_000;
        for _ in 0..draws {
            counts[spray.core(&packet(6, 1, random.next_u32() as u16), Nanos(0))] += 1;
        }
        let expected = f64::from(draws) / cores as f64;
        let chi: f64 = counts.iter().map(|&count| (f64::from(count) - expected).powi(2) / expected).sum();
        assert!(chi < quantile, "{cores} cores: {chi}");
    }
}
