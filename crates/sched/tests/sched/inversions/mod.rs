//! The study of order: identities, what queueing theory says, the shapes of the paper's figures, and real captures.

use serde_json::Value;
use trueplane_sched::choice::{Arrivals, RankChoice};
use trueplane_sched::inversions::document::{Inversions, SchedulerRun};
use trueplane_sched::inversions::inversions;
use trueplane_sched::options::Options;
use trueplane_sched::policy::PushDown;
use trueplane_sched::policy::SchedulerName;
use trueplane_sched::rank::RankName;
use trueplane_sched::tally::RankRun;
use trueplane_study::Observer;
use trueplane_trace::{Trace, TraceOptions};
use trueplane_units::BitsPerSec;

mod captures;
mod shapes;

const BASE: u64 = 900_000;

fn options(change: impl FnOnce(&mut Options)) -> Options {
    let mut options = Options { packets: Some(300_000), ..Options::default() };
    change(&mut options);
    options
}

#[track_caller]
fn found(change: impl FnOnce(&mut Options)) -> Inversions {
    let found = inversions(None, &options(change), &()).unwrap();
    holds(&found);
    found
}

fn all_runs(found: &Inversions) -> impl Iterator<Item = &SchedulerRun> {
    found.schedulers.iter().chain(found.variations.iter().flat_map(|variation| &variation.schedulers))
}

/// What must be true of every study.
#[track_caller]
fn holds(found: &Inversions) {
    for run in all_runs(found) {
        assert_eq!(run.arrivals, found.parameters.packets, "{}", run.scheduler);
        assert_eq!(run.arrivals, run.departures + run.drops, "{}", run.scheduler);
        assert!(run.inversions <= run.departures && run.unpifoness >= run.inversions.into());
        if run.scheduler == "pifo" {
            assert_eq!((run.inversions, run.unpifoness), (0, 0));
        }
        if run.by_rank.is_empty() {
            continue;
        }
        assert!(run.by_rank.len() <= 200);
        let sum = |of: fn(&RankRun) -> u64| run.by_rank.iter().map(of).sum::<u64>();
        assert_eq!(sum(|rank| rank.arrivals), run.arrivals);
        assert_eq!(sum(|rank| rank.departures), run.departures);
        assert_eq!(sum(|rank| rank.drops), run.drops);
        assert_eq!(sum(|rank| rank.inversions), run.inversions);
        assert_eq!(run.by_rank.iter().map(|rank| rank.unpifoness).sum::<u128>(), run.unpifoness);
        let delay: f64 = run
            .by_rank
            .iter()
            .map(|rank| rank.mean_delay_ns.unwrap_or_default() * rank.departures as f64)
            .sum();
        let mean = delay / run.departures.max(1) as f64;
        assert!((mean - run.mean_delay_ns).abs() <= 1e-6 * run.mean_delay_ns, "{}", run.scheduler);
        for rank in &run.by_rank {
            assert_eq!(rank.arrivals, rank.departures + rank.drops);
        }
    }
}

fn of(runs: &[SchedulerRun], name: SchedulerName) -> &SchedulerRun {
    runs.iter().find(|run| run.scheduler == name.name()).expect("it was asked for")
}

fn inversions_of(runs: &[SchedulerRun], name: SchedulerName) -> f64 {
    of(runs, name).inversions as f64
}

/// Every scheduler with every kind of rank and arrival.
#[test]
fn what_comes_leaves_or_is_dropped() {
    for arrivals in [Arrivals::Poisson, Arrivals::OnOff] {
        for ranks in [
            "uniform:1",
            "convex:1000",
            "poisson:262144",
            "class",
            "fifo",
            "fifo+",
            "stfq",
            "lstf",
            "edf",
            "srpt",
            "pfabric",
        ] {
            let choice: RankChoice = ranks.parse().unwrap();
            let sized = matches!(choice, RankChoice::Policy(policy) if policy.properties().needs_flow_sizes);
            if sized && arrivals == Arrivals::Poisson {
                continue;
            }
            let found = found(|options| {
                options.ranks = vec![choice];
                options.arrivals = arrivals;
                options.packets = Some(20_000);
                options.loads = vec![1_100_000];
            });
            let grows = found.parameters.span.is_none();
            assert_eq!(found.schedulers.len(), if grows { 6 } else { 9 }, "{ranks}");
            assert_eq!(found.left_out.len(), if grows { 3 } else { 0 }, "{ranks}");
            if ranks == "fifo" || ranks == "uniform:1" {
                assert_eq!(of(&found.schedulers, SchedulerName::Fifo).inversions, 0, "{ranks}");
            }
        }
    }
}

/// What an overloaded line cannot send is dropped, whoever chooses; a PIFO chooses the largest ranks.
#[test]
fn an_overloaded_port_drops_what_it_must() {
    let found = found(|options| options.loads = vec![1_250_000]);
    for run in &found.schedulers {
        assert!(run.drop_share > 0.195, "{}: {}", run.scheduler, run.drop_share);
    }
    let pifo = of(&found.schedulers, SchedulerName::Pifo);
    let urgent: u64 = pifo.by_rank[..70].iter().map(|rank| rank.drops).sum();
    assert!(urgent * 50 < pifo.drops, "{urgent} of {}", pifo.drops);
    assert!(found.verdict.iter().any(|sentence| sentence.contains("20.0 % of the packets must be dropped")));
}

/// Pollaczek and Khinchine: the mean wait in an M/D/1 queue is ρ / (2 (1 − ρ)) services.
#[test]
fn a_deep_fifo_waits_as_queueing_theory_says() {
    for (load, expected) in [(500_000, 0.5), (800_000, 2.0)] {
        let found = found(|options| {
            options.loads = vec![load];
            options.depth = 10_000;
            options.schedulers = vec![SchedulerName::Fifo];
            options.packets = Some(1_000_000);
        });
        // 1500 bytes at 10 Gbps.
        let wait = found.schedulers[0].mean_delay_ns / 1200.0;
        assert!((wait / expected - 1.0).abs() < 0.04, "{load}: {wait} services");
    }
}

#[test]
fn a_seed_stands_for_a_document_whatever_the_threads() {
    let options = options(|options| {
        options.packets = Some(30_000);
        options.queues = vec![8, 16];
        options.push_downs = PushDown::ALL.into();
        options.ranks = vec!["uniform".parse().unwrap(), "stfq".parse().unwrap()];
    });
    let document = |threads, options: &Options| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        serde_json::to_string(&pool.install(|| inversions(None, options, &())).unwrap()).unwrap()
    };
    let one = document(1, &options);
    assert_eq!(one, document(4, &options));
    assert_ne!(one, document(1, &Options { seed: 2, ..options }));
}

#[test]
fn what_does_not_vary_stays_as_it_is() {
    let found = found(|options| {
        options.queues = vec![8, 16];
        options.push_downs = vec![PushDown::Cost, PushDown::One];
        options.loads = vec![BASE, 500_000];
        options.packets = Some(30_000);
    });
    let varied: Vec<(&str, &str, usize)> = (found.variations.iter())
        .map(|variation| (variation.varied, variation.value.as_str(), variation.schedulers.len()))
        .collect();
    assert_eq!(varied, [("queues", "16", 9), ("push-down", "one", 1), ("load", "0.5", 9)]);
    assert!(found.varied("push-down").all(|variation| !variation.schedulers[0].by_rank.is_empty()));
}

fn refused(trace: Option<&Trace>, change: impl FnOnce(&mut Options)) -> String {
    inversions(trace, &options(change), &()).expect_err("it makes no sense").to_string()
}

fn csv(text: &str) -> Trace {
    Trace::from_bytes("ranks.csv", text.as_bytes().to_vec(), &TraceOptions::default()).unwrap()
}

#[test]
fn ranks_and_times_come_from_a_trace() {
    let trace = csv("time_us,key,size\n0,5,1500\n0,2,1500\n1,9,1500\n1,1,1500\n2,0,3000\n");
    let read = |change: &dyn Fn(&mut Options)| {
        let found = inversions(
            Some(&trace),
            &Options { ranks: vec![RankChoice::Trace], arrivals: Arrivals::Trace, ..options(change) },
            &(),
        );
        let found = found.unwrap();
        holds(&found);
        found
    };
    let own = read(&|options| options.loads = vec![2_000_000]);
    // 9000 bytes in 2 µs are 36 Gbps.
    assert_eq!((own.parameters.packets, own.parameters.rate_bps), (5, 18_000_000_000));
    assert_eq!((own.parameters.span, own.parameters.load), (Some(10), 2.0));
    let fifo = of(&own.schedulers, SchedulerName::Fifo);
    // 667 ns a packet: 5 leaves at 0 before 2, 2 at 667, 9 at 1333 before 1 and 1 at 2000 before 0, which has just come.
    assert_eq!((fifo.inversions, fifo.unpifoness), (3, 3 + 8 + 1));
    let given = read(&|options| options.rate = Some(BitsPerSec(72_000_000_000)));
    assert_eq!(given.parameters.load, 0.5);
    assert_eq!(read(&|options| options.packets = Some(3)).parameters.packets, 3);
    let poisson = inversions(
        Some(&trace),
        &options(|options| (options.ranks, options.packets) = (vec![RankChoice::Trace], Some(1000))),
        &(),
    );
    let poisson = poisson.unwrap();
    holds(&poisson);
    let by_rank = &poisson.schedulers[0].by_rank;
    assert!([0, 1, 2, 5, 9].iter().all(|&rank: &usize| by_rank[rank].arrivals == 200), "{by_rank:?}");
}

/// A packet without a length has one that the options say, and the report says of how many.
#[test]
fn packets_without_a_length_are_counted() {
    let trace = csv("time_us,key,size\n0,5,1500\n0,2,0\n1,9,\n1,1,1500\n2,0,3000\n");
    let change = |options: &mut Options| options.arrivals = Arrivals::Trace;
    let found = inversions(Some(&trace), &options(change), &()).unwrap();
    let facts = found.report().facts;
    let fact = facts.iter().find(|(name, _)| name == "packets without a length, or with one of 0");
    assert_eq!(fact.map(|(_, value)| value.as_str()), Some("2, taken for 1500 bytes (--packet-size)"));
    assert_eq!(found.parameters.rate_bps, 40_000_000_000, "9,000 bytes in 2 µs at a load of 0.9");
    let whole = csv("time_us,key,size\n0,5,1500\n2,2,1500\n");
    let facts = inversions(Some(&whole), &options(change), &()).unwrap().report().facts;
    assert!(facts.iter().all(|(name, _)| !name.contains("without a length")), "{facts:?}");
}

/// What lies behind the packets that are wanted is not read.
#[test]
fn damage_behind_the_last_packet_does_no_harm() {
    let text = |bad: &str| format!("time_us,key,size\n0,5,1500\n20000,2,1500\n40000,9,1500\n{bad}\n");
    let run = |bad: &str, packets| {
        let change = |options: &mut Options| {
            (options.arrivals, options.ranks) = (Arrivals::Trace, vec![RankChoice::Trace]);
            options.packets = packets;
        };
        inversions(Some(&csv(&text(bad))), &options(change), &()).map(|found| found.parameters.packets)
    };
    assert_eq!(run("60000,x,y", Some(3)).unwrap(), 3);
    assert!(run("60000,x,y", None).is_err() && run("60000,x,y", Some(4)).is_err());

    // A record of a capture that says that it is longer than any.
    let mut capture = [0xa1b2_c3d4u32, 0x0004_0002, 0, 0, 65_535, 1].map(u32::to_le_bytes).concat();
    for second in 0..3u32 {
        capture.extend([second, 0, 60, 60].map(u32::to_le_bytes).concat());
        capture.extend([0; 60]);
    }
    capture.extend([3, 0, u32::MAX, u32::MAX].map(u32::to_le_bytes).concat());
    capture.extend([0; 200]);
    let run = |packets| {
        let trace = Trace::from_bytes("t.pcap", capture.clone(), &TraceOptions::default()).unwrap();
        let change = |options: &mut Options| {
            (options.arrivals, options.packets) = (Arrivals::Trace, packets);
            options.rate = Some(BitsPerSec(1_000_000));
        };
        inversions(Some(&trace), &options(change), &()).map(|found| found.parameters.packets)
    };
    assert_eq!(run(Some(3)).unwrap(), 3);
    assert!(run(Some(4)).is_err() && run(None).is_err());
}

/// The first packets of a trace that has to be sorted are the earliest.
#[test]
fn the_first_packets_of_a_trace_that_is_sorted_are_the_earliest() {
    let sorted = TraceOptions { sort: true, ..TraceOptions::default() };
    let text = b"time_s,key,size\n3,7,1500\n2,5,1500\n1,1,1500\n0,0,1500\n".to_vec();
    let mut frames: Vec<u8> = [0xa1b2_c3d4u32, 0x0004_0002, 0, 0, 65_535, 1].map(u32::to_le_bytes).concat();
    for second in (0..4u32).rev() {
        frames.extend([second, 0, 60 + second, 60 + second].map(u32::to_le_bytes).concat());
        frames.extend(vec![0; 60 + second as usize]);
    }
    for (name, bytes, ranks) in [("t.csv", text, "trace"), ("t.pcap", frames, "pfabric")] {
        let trace = Trace::from_bytes(name, bytes, &sorted).unwrap();
        let change = |options: &mut Options| {
            (options.arrivals, options.packets) = (Arrivals::Trace, Some(2));
            (options.rate, options.ranks) = (Some(BitsPerSec(1_000_000)), vec![ranks.parse().unwrap()]);
        };
        let found = inversions(Some(&trace), &options(change), &()).unwrap();
        assert_eq!(
            found.trace.map(|trace| (trace.packets, trace.span_ns)),
            Some((2, 1_000_000_000)),
            "{name}"
        );
        let most = found.schedulers[0].by_rank.iter().map(|bin| bin.rank + bin.ranks).max();
        assert!(most.is_some_and(|most| most <= 128), "{name}: {most:?}");
        assert_eq!(found.schedulers[0].arrivals, 2);
    }
}

#[test]
fn what_makes_no_sense_is_refused() {
    let trace = csv("time_s,key\n0,5\n0,2\n");
    let policy = |policy| vec![RankChoice::Policy(policy)];
    for (said, text) in [
        ("expected 1 to 4096 queues, got 0", refused(None, |options| options.queues = vec![8, 0])),
        ("expected 1 to 4096 queues, got 4097", refused(None, |options| options.queues = vec![4097])),
        ("expected a depth of 1 to 131072 packets for 8 queues", refused(None, |options| options.depth = 0)),
        ("--arrivals trace needs a trace", refused(None, |options| options.arrivals = Arrivals::Trace)),
        ("--ranks trace needs a trace", refused(None, |options| options.ranks = vec![RankChoice::Trace])),
        ("expected packets of at least one byte", refused(None, |options| options.packet_bytes = 0)),
        (
            "over which a load of 0.9 takes a line of less than 1kbps: give the line a --rate",
            refused(Some(&csv("time_s,key\n0,5\n1000,2\n")), |options| options.arrivals = Arrivals::Trace),
        ),
        (
            "expected at most 1048576 flows that send at a time",
            refused(None, |options| {
                (options.arrivals, options.access) = (Arrivals::OnOff, Some(BitsPerSec(1)));
            }),
        ),
        ("the trace would not be used", refused(Some(&trace), |_| ())),
        (
            "--ranks edf needs flows that have a size",
            refused(None, |options| options.ranks = policy(RankName::Edf)),
        ),
        (
            "gradient needs ranks below a known span, and these grow (--ranks stfq)",
            refused(None, |options| (options.ranks, options.lenient) = (policy(RankName::Stfq), false)),
        ),
        (
            "ranks.csv: rank policies need a capture",
            refused(Some(&trace), |options| {
                (options.ranks, options.arrivals) = (policy(RankName::Stfq), Arrivals::Trace);
            }),
        ),
        (
            "ranks.csv: all packets come at one instant",
            refused(Some(&trace), |options| options.arrivals = Arrivals::Trace),
        ),
        (
            "ranks.csv: request 2: expected a rank, a whole number below 262144",
            refused(Some(&csv("key\n5\nhigh\n")), |options| options.ranks = vec![RankChoice::Trace]),
        ),
        (
            "ranks.csv: request 1: expected a rank, a whole number below 262144",
            refused(Some(&csv("key\n262144\n")), |options| options.ranks = vec![RankChoice::Trace]),
        ),
    ] {
        assert!(text.contains(said), "{text}");
        assert!(!text.contains('\n'));
    }
}

#[test]
fn a_study_can_be_interrupted() {
    struct Impatient;
    impl Observer for Impatient {
        fn interrupted(&self) -> bool {
            true
        }
    }
    let ended = inversions(None, &options(|_| ()), &Impatient);
    assert_eq!(ended.expect_err("it was interrupted").to_string(), "interrupted");
}

/// The document has everything that is counted, under the names that it promises.
#[test]
fn the_report_holds_the_document() {
    let found = found(|options| {
        options.packets = Some(20_000);
        options.loads = vec![BASE, 500_000];
        options.queues = vec![8, 16];
        options.push_downs = vec![PushDown::Cost, PushDown::Rank];
        options.ranks = vec!["uniform".parse().unwrap(), "poisson".parse().unwrap()];
    });
    let report = found.report();
    let first: &Value = &report.document["schedulers"][0];
    assert_eq!(first["scheduler"], "fifo");
    for name in ["arrivals", "departures", "drops", "inversions", "unpifoness", "mean_delay_ns", "bounds"] {
        assert!(!first[name].is_null(), "{name}");
    }
    assert_eq!(first["by_rank"].as_array().map(Vec::len), Some(100));
    let ids: Vec<&str> = report.plots.iter().map(|plot| plot.id.as_str()).collect();
    let expected = [
        "inversions-by-rank",
        "drops-by-rank",
        "delay-by-rank",
        "inversions-by-queues",
        "inversions-by-push-down",
        "inversions-by-load",
        "inversions-poisson-100",
    ];
    assert_eq!(ids, expected);
    for table in &report.tables {
        assert!(table.rows.iter().all(|row| row.len() == table.columns.len()), "{}", table.id);
    }
    assert!(!found.verdict.is_empty());
}
