use std::collections::HashMap;

use proptest::prelude::*;

use super::*;
use crate::generate::{Catalogue, Lengths, Objects, ProfileName};
use crate::scan::{Scan, Summary};

fn trace(profile: &Profile, requests: u64, seed: u64) -> Vec<Request> {
    Generator::new(profile, requests, seed).unwrap().collect()
}

fn summary(trace: &[Request]) -> Summary {
    let mut scan = Scan::new();
    scan.push(trace);
    scan.finish()
}

/// The fields that a request is made of, in a form that can be compared and printed.
fn fields(trace: &[Request]) -> Vec<(u64, u64, u64)> {
    trace.iter().map(|request| (request.time.0, request.key, request.size)).collect()
}

fn any_profile() -> impl Strategy<Value = Profile> {
    let catalogue = (1u64..50, 0.0..2.0, 0.0..=1.0, 0.0..=1.0).prop_map(|(objects, alpha, births, swaps)| {
        Catalogue { objects: Objects::Count(objects), alpha, births, swaps }
    });
    let sessions = (0.0..=1.0, 0.1..3.0, 1u32..5, 0u32..50, 1.0..20.0, 0u64..1_000, 0u64..100_000).prop_map(
        |(share, tail, least, more, burst, gap, pause)| Sessions {
            share,
            length: Lengths { tail, least, most: least + more },
            burst,
            gap: Nanos(gap),
            pause: Nanos(pause),
        },
    );
    let sizes = (1u64..100_000, 0.0..3.0, 1u64..4_096, 1u64..100).prop_map(|(median, sigma, unit, units)| {
        use trueplane_units::Bytes;
        Sizes::LogNormal { median: Bytes(median), sigma, most: Bytes(unit * units), unit: Bytes(unit) }
    });
    let sizes = prop_oneof![Just(Sizes::Packets), sizes];
    (1u64..5_000, proptest::option::of(catalogue), proptest::option::of(sessions), sizes)
        .prop_map(|(irt, catalogue, sessions, sizes)| Profile { irt: Nanos(irt), catalogue, sessions, sizes })
}

proptest! {
    #[test]
    fn any_valid_profile_gives_so_many_requests_in_time_order(
        profile in any_profile(),
        requests in 0u64..2_000,
        seed: u64,
    ) {
        let trace = trace(&profile, requests, seed);
        prop_assert_eq!(trace.len() as u64, requests);
        prop_assert!(trace.is_sorted_by_key(|request| request.time));
        if let Sizes::LogNormal { most, unit, .. } = profile.sizes {
            prop_assert!(trace.iter().all(|r| r.size % unit.0 == 0 && (1..=most.0).contains(&r.size)));
        }
    }

    #[test]
    fn the_seed_decides_the_trace(profile in any_profile(), seed: u64) {
        let first = fields(&trace(&profile, 500, seed));
        prop_assert_eq!(&first, &fields(&trace(&profile, 500, seed)));
        prop_assert_ne!(&first, &fields(&trace(&profile, 500, seed ^ 1)));
    }
}

#[test]
fn the_mean_time_between_requests_is_that_of_the_profile_from_start_to_end() {
    for name in ProfileName::ALL {
        let profile = name.profile();
        let trace = trace(&profile, 1_000_000, 11);
        let expected = profile.irt.0 as f64;
        let whole = summary(&trace).mean_interarrival().unwrap();
        assert!((whole / expected - 1.0).abs() < 0.04, "{name}: {whole} ns");
        // Without the sessions that are under way at time 0, the start would be slow: `cdn` would miss even the mean
        // of the whole trace by 15%.
        let start = summary(&trace[..100_000]).mean_interarrival().unwrap();
        assert!((start / expected - 1.0).abs() < 0.12, "{name}: {start} ns at the start");
    }
}

#[test]
fn popularity_falls_with_rank_as_alpha_says() {
    for alpha in [0.6, 0.9, 1.2] {
        let mut profile = Profile::zipf();
        profile.catalogue =
            Some(Catalogue { objects: Objects::Count(10_000), alpha, births: 0.0, swaps: 0.0 });
        let mut counts = HashMap::new();
        for request in trace(&profile, 1_000_000, 5) {
            *counts.entry(request.key).or_insert(0.0) += 1.0;
        }
        let mut counts: Vec<f64> = counts.into_values().collect();
        counts.sort_unstable_by(|a, b| f64::total_cmp(b, a));
        let points: Vec<(f64, f64)> =
            counts.iter().zip(1..=300).map(|(count, rank)| (f64::from(rank).ln(), count.ln())).collect();
        let slope = slope(&points);
        assert!((slope + alpha).abs() < 0.06, "slope {slope} for alpha {alpha}");
    }
}

/// The slope of the line of least squares.
fn slope(points: &[(f64, f64)]) -> f64 {
    let n = points.len() as f64;
    let (mean_x, mean_y) =
        (points.iter().map(|p| p.0).sum::<f64>() / n, points.iter().map(|p| p.1).sum::<f64>() / n);
    let covariance: f64 = points.iter().map(|p| (p.0 - mean_x) * (p.1 - mean_y)).sum();
    covariance / points.iter().map(|p| (p.0 - mean_x).powi(2)).sum::<f64>()
}

#[test]
fn all_profiles_but_the_control_are_bursty() {
    let burstiness = |profile: Profile| summary(&trace(&profile, 300_000, 3)).burstiness_objects.unwrap();
    let control = burstiness(Profile::zipf());
    // Independent requests are Poisson object by object; few samples per object bias the estimate downwards.
    assert!(control.abs() < 0.1, "zipf: {control}");
    for name in ProfileName::ALL.iter().filter(|name| **name != ProfileName::Zipf) {
        let bursty = burstiness(name.profile());
        assert!(bursty > control + 0.2, "{name}: {bursty}, zipf: {control}");
    }
}

#[test]
fn flows_end_for_good() {
    let profile = Profile::network();
    let trace = trace(&profile, 500_000, 9);
    // A flow is silent for a pause at most; that an exponential pause is 40 times its mean has chance e^-40.
    let longest_silence = 40 * profile.sessions.as_ref().unwrap().pause.0;
    let longest_flow = u64::from(profile.sessions.as_ref().unwrap().length.most);
    let mut flows: HashMap<u64, (u64, u64)> = HashMap::new();
    for request in &trace {
        let (last, packets) = flows.entry(request.key).or_insert((request.time.0, 0));
        assert!(request.time.0 - *last < longest_silence, "flow {} returned", request.key);
        (*last, *packets) = (request.time.0, *packets + 1);
    }
    assert!(flows.values().all(|&(_, packets)| packets <= longest_flow));
    // Most flows have come and gone, and new ones have come.
    let end = trace.last().unwrap().time.0;
    assert!(flows.values().filter(|&&(last, _)| last + longest_silence / 4 < end).count() > flows.len() / 2);
}

#[test]
fn objects_of_the_cdn_are_born_and_die() {
    let trace = trace(&Profile::cdn(), 640_000, 9);
    let catalogue = 640_000 / 32;
    let born_later = trace[320_000..].iter().filter(|request| request.key >= catalogue).count();
    assert!(born_later > 10_000, "{born_later}");
    let control = self::trace(&Profile::zipf(), 640_000, 9);
    assert!(control.iter().all(|request| request.key < catalogue));
}

#[test]
fn an_object_keeps_its_size() {
    // Packets have sizes of their own.
    for name in ProfileName::ALL.iter().filter(|name| **name != ProfileName::Network) {
        let mut sizes = HashMap::new();
        for request in trace(&name.profile(), 50_000, 4) {
            assert_eq!(*sizes.entry(request.key).or_insert(request.size), request.size, "{name}");
        }
        assert!(sizes.values().max() > sizes.values().min());
        assert!(*name != ProfileName::Storage || sizes.values().all(|size| size % 512 == 0));
    }
}

#[test]
fn the_median_size_is_that_of_the_profile() {
    let mut sizes: HashMap<u64, u64> = HashMap::new();
    sizes.extend(trace(&Profile::zipf(), 200_000, 4).iter().map(|request| (request.key, request.size)));
    let mut sizes: Vec<u64> = sizes.into_values().collect();
    sizes.sort_unstable();
    let median = sizes[sizes.len() / 2] as f64;
    assert!((median / 65_536.0).ln().abs() < 0.15, "{median}");
}

#[test]
fn a_session_of_single_requests_is_no_session() {
    // No session is ever in progress, which a Poisson count of mean zero must not trip over.
    let mut profile = Profile::network();
    profile.sessions.as_mut().unwrap().length = Lengths { tail: 1.0, least: 1, most: 1 };
    let trace = trace(&profile, 1_000, 1);
    assert!(trace.iter().map(|request| request.key).eq(0..1_000));
}

#[test]
fn an_invalid_profile_is_refused() {
    let mut profile = Profile::cdn();
    profile.sessions.as_mut().unwrap().share = 1.5;
    let error = Generator::new(&profile, 10, 1).err().unwrap();
    assert_eq!(error.to_string(), "share: expected 0 to 1, got 1.5");
}
