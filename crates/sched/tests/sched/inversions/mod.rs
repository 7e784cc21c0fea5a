//! The study of order: identities, what queueing theory says, the shapes of the paper's figures, and real captures.

use trueplane_sched::choice::RankChoice;
use trueplane_sched::inversions::found::{SchedulerRun, Variable};
use trueplane_sched::inversions::{Found, Inversions, Options, run_on};
use trueplane_sched::policy::SchedulerName;
use trueplane_sched::tally::RankRun;
use trueplane_study::{Observer, study};
use trueplane_trace::{Trace, TraceOptions};
use trueplane_units::{BitsPerSec, Nanos, Parameters, Positive};

mod captures;
mod shapes;
mod verdict;

/// The usual options, with 300,000 packets, but for what is given.
fn options(given: &[(&str, &str)]) -> Options {
    Options::given(&[&[("packets", "300000")], given].concat()).unwrap()
}

#[track_caller]
fn found(given: &[(&str, &str)]) -> Found {
    let found = run_on(None, &options(given), &()).unwrap();
    holds(&found);
    found
}

fn all_runs(found: &Found) -> impl Iterator<Item = &SchedulerRun> {
    found.schedulers.iter().chain(found.variations.iter().flat_map(|variation| &variation.schedulers))
}

/// What must be true of every study.
#[track_caller]
fn holds(found: &Found) {
    for run in all_runs(found) {
        assert_eq!(run.arrivals, found.base.packets, "{}", run.scheduler);
        assert_eq!(run.arrivals, run.departures + run.drops, "{}", run.scheduler);
        assert!(run.inversions <= run.departures && run.unpifoness >= run.inversions.into());
        if run.scheduler == SchedulerName::Pifo {
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
    runs.iter().find(|run| run.scheduler == name).expect("it was asked for")
}

fn inversions_of(runs: &[SchedulerRun], name: SchedulerName) -> f64 {
    of(runs, name).inversions as f64
}

/// Every scheduler with every kind of rank and arrival.
#[test]
fn what_comes_leaves_or_is_dropped() {
    for arrivals in ["poisson", "on-off"] {
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
            if sized && arrivals == "poisson" {
                continue;
            }
            let found =
                found(&[("ranks", ranks), ("arrivals", arrivals), ("packets", "20000"), ("load", "1.1")]);
            let grows = found.base.span.is_none();
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
    let given = [("load", "1.25")];
    let found = found(&given);
    for run in &found.schedulers {
        assert!(run.drop_share > 0.195, "{}: {}", run.scheduler, run.drop_share);
    }
    let pifo = of(&found.schedulers, SchedulerName::Pifo);
    let urgent: u64 = pifo.by_rank[..70].iter().map(|rank| rank.drops).sum();
    assert!(urgent * 50 < pifo.drops, "{urgent} of {}", pifo.drops);
    let verdict = study::report::<Inversions>(&options(&given), &found).verdict;
    assert!(verdict.iter().any(|sentence| sentence.contains("20.0% of the packets must be dropped")));
}

/// Pollaczek and Khinchine: the mean wait in an M/D/1 queue is ρ / (2 (1 − ρ)) services.
#[test]
fn a_deep_fifo_waits_as_queueing_theory_says() {
    for (load, expected) in [("0.5", 0.5), ("0.8", 2.0)] {
        let given = [("load", load), ("depth", "10000"), ("policies", "fifo"), ("packets", "1M")];
        let found = found(&given);
        // 1500 bytes at 10 Gbps.
        let wait = found.schedulers[0].mean_delay_ns / 1200.0;
        assert!((wait / expected - 1.0).abs() < 0.04, "{load}: {wait} services");
    }
}

#[test]
fn a_seed_stands_for_a_document_whatever_the_threads() {
    let mut options =
        options(&[("packets", "30000"), ("queues", "8,16"), ("push_down", "all"), ("ranks", "uniform,stfq")]);
    let document = |threads, options: &Options| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let found = pool.install(|| run_on(None, options, &())).unwrap();
        (format!("{found:?}"), study::report::<Inversions>(options, &found).document.to_string())
    };
    let one = document(1, &options);
    assert_eq!(one, document(4, &options));
    options.seed = 2;
    assert_ne!(one, document(1, &options));
}

#[test]
fn what_does_not_vary_stays_as_it_is() {
    let found =
        found(&[("queues", "8,16"), ("push_down", "cost,one"), ("load", "0.9,0.5"), ("packets", "30000")]);
    let varied: Vec<(&str, String, usize)> = (found.variations.iter())
        .map(|variation| {
            let varied = variation.varied;
            (varied.variable().name(), varied.value(), variation.schedulers.len())
        })
        .collect();
    let expected = [("queues", "16", 9), ("push-down", "one", 1), ("load", "0.5", 9)];
    assert_eq!(varied, expected.map(|(varied, value, runs)| (varied, value.to_owned(), runs)));
    assert!(found.varied(Variable::PushDown).all(|variation| !variation.schedulers[0].by_rank.is_empty()));
}

fn csv(text: &str) -> Trace {
    Trace::from_bytes("ranks.csv", text.as_bytes().to_vec(), &TraceOptions::default()).unwrap()
}

#[test]
fn ranks_and_times_come_from_a_trace() {
    let trace = csv("time_us,key,size\n0,5,1500\n0,2,1500\n1,9,1500\n1,1,1500\n2,0,3000\n");
    let read = |given: &[(&str, &str)]| {
        let from_trace = [("ranks", "trace"), ("arrivals", "trace")];
        let found = run_on(Some(&trace), &options(&[&from_trace, given].concat()), &()).unwrap();
        holds(&found);
        found
    };
    let own = read(&[("load", "2")]);
    // 9000 bytes in 2 µs are 36 Gbps.
    assert_eq!((own.base.packets, own.base.rate), (5, BitsPerSec(18_000_000_000)));
    assert_eq!((own.base.span, own.base.load), (Some(10), 2.0));
    let fifo = of(&own.schedulers, SchedulerName::Fifo);
    // 667 ns a packet: 5 leaves at 0 before 2, 2 at 667, 9 at 1333 before 1 and 1 at 2000 before 0, which has just come.
    assert_eq!((fifo.inversions, fifo.unpifoness), (3, 3 + 8 + 1));
    let given = read(&[("rate", "72Gbps")]);
    assert_eq!(given.base.load, 0.5);
    assert_eq!(read(&[("packets", "3")]).base.packets, 3);
    let poisson = run_on(Some(&trace), &options(&[("ranks", "trace"), ("packets", "1000")]), &()).unwrap();
    holds(&poisson);
    let by_rank = &poisson.schedulers[0].by_rank;
    assert!([0, 1, 2, 5, 9].iter().all(|&rank: &usize| by_rank[rank].arrivals == 200), "{by_rank:?}");
}

/// A packet without a length has one that the options say, and the report says of how many.
#[test]
fn packets_without_a_length_are_counted() {
    let trace = csv("time_us,key,size\n0,5,1500\n0,2,0\n1,9,\n1,1,1500\n2,0,3000\n");
    let options = options(&[("arrivals", "trace")]);
    let run = |trace| {
        let found = run_on(Some(trace), &options, &()).unwrap();
        let report = study::report::<Inversions>(&options, &found);
        (found, report)
    };
    let (found, report) = run(&trace);
    assert_eq!(report.document["facts"]["packets_without_length"], 2);
    assert!(
        report.facts.contains(&("packets without a length, taken for 1500 bytes".to_owned(), "2".to_owned()))
    );
    assert_eq!(found.base.rate, BitsPerSec(40_000_000_000), "9,000 bytes in 2 µs at a load of 0.9");
    let (_, whole) = run(&csv("time_us,key,size\n0,5,1500\n2,2,1500\n"));
    assert!(whole.document["facts"]["packets_without_length"].is_null(), "{}", whole.document["facts"]);
}

/// What lies behind the packets that are wanted is not read.
#[test]
fn damage_behind_the_last_packet_does_no_harm() {
    let text = |bad: &str| format!("time_us,key,size\n0,5,1500\n20000,2,1500\n40000,9,1500\n{bad}\n");
    let run = |bad: &str, packets| {
        let mut options = options(&[("arrivals", "trace"), ("ranks", "trace")]);
        options.packets = Option::and_then(packets, Positive::new);
        run_on(Some(&csv(&text(bad))), &options, &()).map(|found| found.base.packets)
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
        let mut options = options(&[("arrivals", "trace"), ("rate", "1Mbps")]);
        options.packets = Option::and_then(packets, Positive::new);
        run_on(Some(&trace), &options, &()).map(|found| found.base.packets)
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
        let given = [("arrivals", "trace"), ("packets", "2"), ("rate", "1Mbps"), ("ranks", ranks)];
        let found = run_on(Some(&trace), &options(&given), &()).unwrap();
        let read = found.trace.map(|trace| (trace.packets, trace.span));
        assert_eq!(read, Some((2, Nanos(1_000_000_000))), "{name}");
        let most = found.schedulers[0].by_rank.iter().map(|bin| bin.rank + bin.ranks).max();
        assert!(most.is_some_and(|most| most <= 128), "{name}: {most:?}");
        assert_eq!(found.schedulers[0].arrivals, 2);
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
    let ended = run_on(None, &options(&[]), &Impatient);
    assert_eq!(ended.expect_err("it was interrupted").to_string(), "interrupted");
}

/// The document has everything that is counted, under the names that it promises.
#[test]
fn the_report_holds_the_document() {
    let given = [
        ("packets", "20000"),
        ("load", "0.9,0.5"),
        ("queues", "8,16"),
        ("push_down", "cost,rank"),
        ("ranks", "uniform,poisson"),
    ];
    let report = study::report::<Inversions>(&options(&given), &found(&given));
    let tables = &report.document["tables"];
    assert_eq!(tables["schedulers"][0]["scheduler"], "fifo");
    for name in ["inversions", "inversion_share", "unpifoness_mean", "mean_delay_ns"] {
        assert!(!tables["schedulers"][0][name].is_null(), "{name}");
    }
    for name in ["arrivals", "departures", "drops", "unpifoness", "inversion_share_error", "bounds"] {
        assert!(!tables["counts"][0][name].is_null(), "{name}");
    }
    let rows = |id: &str| tables[id].as_array().map(Vec::len);
    assert_eq!((rows("schedulers"), rows("variations"), rows("counts")), (Some(9), Some(28), Some(37)));
    assert_eq!((rows("by-rank"), rows("variations-by-rank")), (Some(900), Some(1000)));
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
    let words: usize = report.verdict.iter().map(|sentence| sentence.split_whitespace().count()).sum();
    assert!((1..=5).contains(&report.verdict.len()) && words <= 120, "{:?}", report.verdict);
    // An exact order has no inversions; of two even ranks of a hundred, the first is the larger in 49.5%.
    let numbers = tables["numbers"].as_array().unwrap();
    let ends = [&numbers[0], &numbers[8]].map(|row| row["classical"].as_f64());
    assert_eq!(ends, [Some(0.495), Some(0.0)]);
}
