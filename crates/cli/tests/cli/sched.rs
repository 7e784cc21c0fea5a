//! `trueplane sched …` as its users run it.

use std::fs;
use std::io::Write as _;

use serde_json::Value;

use crate::common::{root, trueplane, trueplane_on};

const INVERSIONS: &str = "sched inversions --packets 20K";

fn count(of: &Value, name: &str) -> u64 {
    of[name].as_u64().unwrap_or_else(|| panic!("{name}: {of}"))
}

/// The rows of a table; none if it is not there.
fn rows<'a>(document: &'a Value, table: &str) -> Vec<&'a Value> {
    document["tables"][table].as_array().into_iter().flatten().collect()
}

/// The rows of a table that belong to a row of the counts: to its scheduler, at the base or with the same variation.
fn rows_of<'a>(document: &'a Value, tables: [&str; 2], run: &Value) -> Vec<&'a Value> {
    let [base, varied] = tables;
    let rows = rows(document, if run["varied"].is_null() { base } else { varied });
    let names = ["varied", "value", "scheduler"];
    rows.into_iter().filter(|row| names.iter().all(|&name| row[name] == run[name])).collect()
}

/// That the numbers of all schedulers add up, at the base and in variations.
#[track_caller]
fn adds_up(document: &Value) {
    let runs = rows(document, "counts");
    assert!(!runs.is_empty());
    for run in runs {
        assert_eq!(count(run, "arrivals"), count(run, "departures") + count(run, "drops"), "{run}");
        let side = rows_of(document, ["schedulers", "variations"], run);
        assert!(side.len() == 1 && side[0]["inversions"] == run["inversions"], "{run}");
        let ranks = rows_of(document, ["by-rank", "variations-by-rank"], run);
        for name in ["arrivals", "departures", "drops", "inversions"] {
            let sum = ranks.iter().map(|rank| count(rank, name)).sum::<u64>();
            assert!(ranks.is_empty() || sum == count(run, name), "{name}");
        }
    }
}

/// The schedulers of the first rows of the counts, which are those at the base.
fn base(document: &Value) -> Vec<&Value> {
    rows(document, "counts").into_iter().filter(|run| run["varied"].is_null()).collect()
}

#[test]
fn inversions_are_counted_for_every_scheduler() {
    let document = trueplane(&format!("{INVERSIONS} --json")).json();
    assert_eq!(document["study"], "sched.inversions");
    assert_eq!(document["facts"]["load"].as_f64(), Some(0.9));
    let schedulers = base(&document);
    let names: Vec<&Value> = schedulers.iter().map(|run| &run["scheduler"]).collect();
    assert_eq!(names, ["fifo", "sp-pifo", "gradient", "fixed", "optimal", "aifo", "packs", "afq", "pifo"]);
    adds_up(&document);
    assert_eq!(rows(&document, "by-rank").len(), 9 * 100);
    assert!(schedulers.iter().all(|run| count(run, "arrivals") == 20_000));
    assert_eq!(count(schedulers[8], "inversions"), 0);
    assert!(count(schedulers[0], "inversions") > 2 * count(schedulers[1], "inversions"));
    let numbers = rows(&document, "numbers");
    assert_eq!((numbers.len(), numbers[8]["classical"].as_f64()), (9, Some(0.0)));
    assert_eq!(numbers[0]["refined"], document["tables"]["schedulers"][0]["inversion_share"]);
    assert_eq!(
        trueplane(&format!("{INVERSIONS} --threads 1 --json")).json(),
        document,
        "one seed, one answer"
    );
    let text = trueplane(INVERSIONS).stdout;
    assert!(text.contains("only a PIFO serves packets in the order of their ranks"), "{text}");
    assert!(
        text.contains("times fewer inversions), and under pifo none.") && text.contains("expected"),
        "{text}"
    );
    let text = trueplane(&format!("{INVERSIONS} --load 1.25 --policies fifo")).stdout;
    assert!(text.contains("overloaded") && text.contains("20.0% of the packets must be dropped"), "{text}");
}

#[test]
fn figures_vary_what_was_not_given() {
    let document =
        trueplane("sched inversions --packets 2K --figures --queues 8 --policies fifo,sp-pifo --json").json();
    let mut varied: Vec<String> = (rows(&document, "variations").iter())
        .map(|row| format!("{} {}", row["varied"], row["value"]).replace('"', ""))
        .collect();
    varied.dedup();
    let expected = [
        "push-down queue-bound",
        "push-down rank",
        "push-down one",
        "load 0.5",
        "load 0.6",
        "load 0.7",
        "load 0.8",
        "load 1",
        "load 1.1",
        "ranks exponential:100",
        "ranks inverse-exponential:100",
        "ranks poisson:100",
        "ranks convex:100",
    ];
    assert_eq!(varied, expected);
}

/// How much a flow may send in a round of AFQ is a matter of its own, and told.
#[test]
fn the_rounds_of_afq_are_not_the_length_of_packets() {
    let flags = "--policies afq,afq-strict --load 1.1 --flows 3";
    let run = |more: &str| trueplane(&format!("{INVERSIONS} {flags} {more} --json")).json();
    let usual = run("");
    assert_eq!(count(&usual["parameters"], "bytes_per_round"), 1500);
    let drops = |of: &Value, index: usize| count(&of["tables"]["schedulers"][index], "drops");
    // Packets of a fifth, and rounds as before: five of a flow in every round.
    let small = run("--packet-size 300");
    assert_eq!(count(&small["parameters"], "bytes_per_round"), 1500);
    let rounds = run("--packet-size 300 --bytes-per-round 300");
    // Only the unit differs, but for times in whole nanoseconds.
    assert!(drops(&rounds, 0).abs_diff(drops(&usual, 0)) < 30, "{rounds}");
    assert!(drops(&small, 0).abs_diff(drops(&usual, 0)) > 100, "{small}");
    assert_ne!(drops(&usual, 1), drops(&usual, 0));
    let text = trueplane(&format!("{INVERSIONS} {flags} --details")).stdout;
    assert!(text.contains("bytes per round: 1500"), "{text}");
    let document =
        trueplane("sched bandwidth --step 100us --policies afq --bytes-per-round 300 --json").json();
    assert_eq!(count(&document["parameters"], "bytes_per_round"), 300);
    let text = trueplane("sched bandwidth --step 100us --policies afq --bytes-per-round 300").stdout;
    assert!(text.contains("bytes per round: 300"), "{text}");
}

/// Variants of a scheduler run if they are named, and only then; a push-down is varied for all that push down.
#[test]
fn variants_run_if_they_are_named() {
    let flags = "--policies sp-pifo,sp-pifo-arrivals,gradient --push-down all --load 1.1 --json";
    let document = trueplane(&format!("{INVERSIONS} {flags}")).json();
    let names: Vec<&Value> = base(&document).into_iter().map(|run| &run["scheduler"]).collect();
    assert_eq!(names, ["sp-pifo", "sp-pifo-arrivals", "gradient"]);
    let variations = rows(&document, "variations");
    let pairs: Vec<&[&Value]> = variations.chunks(2).collect();
    let values: Vec<&Value> = pairs.iter().map(|pair| &pair[0]["value"]).collect();
    assert_eq!(values, ["queue-bound", "rank", "one", "queue-bound-text"]);
    for pair in pairs {
        assert_eq!([&pair[0]["scheduler"], &pair[1]["scheduler"]], ["sp-pifo", "sp-pifo-arrivals"]);
        assert_eq!(pair[0]["value"], pair[1]["value"]);
        assert_ne!(count(pair[0], "inversions"), count(pair[1], "inversions"), "{}", pair[0]["value"]);
    }
    let text = trueplane(&format!("{INVERSIONS} {}", flags.replace("--json", "--details"))).stdout;
    assert!(
        text.contains("Compared with pushing down by cost, the inversions of sp-pifo-arrivals change"),
        "{text}"
    );
    assert!(text.contains("push-down at the base") && text.contains("cost"), "{text}");
}

#[test]
fn growing_ranks_leave_out_who_cannot_work_with_them() {
    let document = trueplane(&format!("{INVERSIONS} --ranks stfq --arrivals on-off --json")).json();
    let names: Vec<&Value> =
        rows(&document, "schedulers-left-out").into_iter().map(|out| &out["scheduler"]).collect();
    assert_eq!(names, ["gradient", "fixed", "optimal"]);
    assert_eq!(rows(&document, "schedulers").len(), 6);
    assert!(rows(&document, "by-rank").is_empty());
    // Without a distribution only an exact order is known classically.
    let numbers = rows(&document, "numbers");
    assert!(numbers[..5].iter().all(|row| row["classical"].is_null()) && numbers[5]["classical"] == 0);
    let text = trueplane(&format!("{INVERSIONS} --ranks stfq --arrivals on-off")).stdout;
    assert!(text.contains("Schedulers that were left out") && text.contains("these grow"), "{text}");
}

/// Ranks that end somewhere have bins, the same for all schedulers, though nobody knew beforehand where.
#[test]
fn ranks_of_an_unknown_span_are_shown_by_rank() {
    let flags = "--ranks pfabric,srpt,stfq --arrivals on-off --load 1.1";
    let document = trueplane(&format!("{INVERSIONS} {flags} --json")).json();
    adds_up(&document);
    let bins = |run: &Value| -> Vec<(u64, u64)> {
        let ranks = rows_of(&document, ["by-rank", "variations-by-rank"], run);
        ranks.iter().map(|rank| (count(rank, "rank"), count(rank, "arrivals"))).collect()
    };
    let runs = rows(&document, "counts");
    let (stfq, others): (Vec<&Value>, Vec<&Value>) = runs.iter().partition(|run| run["value"] == "stfq");
    let first = bins(others[0]);
    // Flows have a million bytes: 2^20 / 128 in a bin, the last of which ends above.
    assert_eq!((first[1].0, first.len()), (8192, 123));
    assert_eq!((stfq.len(), others.len()), (6, 12));
    for run in others {
        assert_eq!(bins(run), first, "{run}");
    }
    assert!(stfq.into_iter().all(|run| bins(run).is_empty()));
    // One entry for all ranks that have the same reason.
    let left_out = rows(&document, "schedulers-left-out");
    let ranks: Vec<&Value> = left_out.iter().map(|out| &out["ranks"]).collect();
    assert_eq!(ranks, ["pfabric, srpt", "pfabric, srpt", "pfabric, srpt", "stfq", "stfq", "stfq"]);
    assert!(left_out[0]["reason"].as_str().expect("a text").contains("a span that is known beforehand"));
}

/// The mean of nothing is none.
#[test]
fn ranks_that_never_leave_have_no_delay() {
    let flags = "--packets 300 --load 100 --policies fifo,pifo --depth 1 --queues 1 --json";
    let document = trueplane(&format!("sched inversions {flags}")).json();
    let mut none = 0;
    for rank in rows(&document, "by-rank") {
        assert_eq!(rank["mean_delay_ns"].is_null(), count(rank, "departures") == 0, "{rank}");
        none += u64::from(rank["mean_delay_ns"].is_null());
    }
    assert!(none > 100, "{none}");
}

/// What came is measured: the load that was asked for where nothing is in its way.
#[test]
fn the_load_is_measured() {
    let offered = |of: &Value| of["offered_load"].as_f64().expect("a load");
    let near = |found: f64, expected: f64| (found / expected - 1.0).abs() < 0.05;
    let document = trueplane(&format!("{INVERSIONS} --load 0.9,0.5 --policies fifo --json")).json();
    let counts = rows(&document, "counts");
    assert!(near(offered(counts[0]), 0.9) && near(offered(counts[1]), 0.5));
    assert_eq!(document["facts"]["offered_load"], counts[0]["offered_load"]);
    // Fewer packets than flows that send at a time, and the load is right.
    let flags = "--arrivals on-off --access-rate 1Mbps --packets 5K --policies fifo --json";
    let document = trueplane(&format!("sched inversions {flags}")).json();
    assert!(near(offered(&document["facts"]), 0.9), "{}", document["facts"]);
    // Flows that are over before the line has been kept busy for long: one packet every second.
    let trace = "time_s,key,size\n0,1,1000\n1,2,1000\n2,3,1000\n";
    let arguments = "sched inversions - --arrivals trace --load 0.9 --policies fifo --json";
    let document = trueplane_on(trace.as_bytes(), arguments).json();
    let facts = &document["facts"];
    // 24,000 bits in two seconds are 0.9 of this, of which nothing is lost to rounding.
    assert_eq!(count(facts, "rate_bps"), 13_333);
    assert_eq!(facts["load"].as_f64(), Some(0.900_023));
    assert!((offered(facts) - 0.900_022_5).abs() < 1e-6);
}

#[test]
fn ranks_are_read_from_a_trace() {
    let trace = "time_us,key,size\n0,5,1500\n0,2,1500\n1,9,1500\n1,1,1500\n2,0,3000\n";
    let arguments = "sched inversions - --ranks trace --arrivals trace --load 2 --json";
    let document = trueplane_on(trace.as_bytes(), arguments).json();
    let facts = &document["facts"];
    assert_eq!(count(facts, "rate_bps"), 18_000_000_000);
    assert_eq!((&facts["trace"], count(facts, "trace_packets")), (&"stdin".into(), 5));
    adds_up(&document);
    let fifo = base(&document)[0];
    assert_eq!((count(fifo, "inversions"), count(fifo, "unpifoness")), (3, 12));
}

#[test]
fn a_study_of_inversions_is_drawn() {
    let folder = tempfile::tempdir().expect("a folder is to be had");
    let report = folder.path().join("report");
    let ended = trueplane(&format!("{INVERSIONS} --queues 8,16 --load 0.9,1 --report {}", report.display()));
    assert_eq!((ended.status, ended.stderr.as_str()), (0, ""));
    let page = fs::read_to_string(report.join("index.html")).expect("the page was written");
    assert!(page.contains("<svg") && page.contains("Inversions by rank") && !page.contains("src=\"http"));
    let by_rank = fs::read_to_string(report.join("by-rank.csv")).expect("the table was written");
    assert_eq!(by_rank.lines().count(), 1 + 9 * 100);
    let by_load = fs::read_to_string(report.join("inversions-by-load.csv")).expect("the plot was written");
    assert!(by_load.contains("sp-pifo,0.9,") && by_load.contains("sp-pifo,1,"), "{by_load}");
}

#[test]
fn bandwidth_goes_to_the_newest_flow() {
    let document = trueplane("sched bandwidth --step 1ms --json").json();
    assert_eq!(document["study"], "sched.bandwidth");
    let schedulers = document["tables"]["packets"].as_array().expect("a list");
    let names: Vec<&Value> = schedulers.iter().map(|run| &run["scheduler"]).collect();
    assert_eq!(names, ["sp-pifo", "sp-pifo-arrivals", "fifo", "pifo"]);
    for (run, name) in schedulers.iter().zip(names) {
        let table = format!("bandwidth-{}", name.as_str().expect("a name"));
        let flows = document["tables"][table].as_array().expect("a list");
        assert_eq!(flows.len(), 8);
        assert_eq!(count(run, "arrivals"), count(run, "departures") + count(run, "drops"));
        for name in ["arrivals", "drops"] {
            assert_eq!(flows.iter().map(|flow| count(flow, name)).sum::<u64>(), count(run, name));
        }
    }
    let newest = count(&document["tables"]["bandwidth-pifo"][7], "step_8_bps");
    assert!(newest > 9_900_000_000, "{newest}");
    // The newest flow shares the first queue with one other if bounds are equal, and with nobody under a PIFO.
    let shares: Vec<(&Value, &Value)> = (document["tables"]["numbers"].as_array().expect("a list").iter())
        .map(|row| (&row["classical"], &row["refined"]))
        .collect();
    assert_eq!([shares[0].0, shares[2].0, shares[3].0], [0.5, 0.125, 1.0]);
    assert!(shares[3].1.as_f64() > Some(0.99), "{shares:?}");
    let text = trueplane("sched bandwidth --step 1ms").stdout;
    assert!(text.contains("Once all 8 flows send, the newest gets"), "{text}");
}

#[test]
fn wrong_flags_are_refused_in_one_line() {
    for (flags, said) in [
        ("inversions --queues 0", "expected 1 to 4096, got \"0\""),
        ("inversions --queues 8,4097", "expected 1 to 4096, got \"4097\""),
        ("inversions --queues=", "--queues"),
        ("inversions --depth 0", "expected a count above zero"),
        (
            "inversions --queues 8,4096 --depth 65536",
            "--depth 65536: expected 1 to 256 packets with --queues 4096, as the buffer holds 1048576 packets at most",
        ),
        ("inversions --load 0", "expected a factor of 0.000001 to 1000000"),
        ("inversions --load=-1", "expected a factor of 0.000001 to 1000000"),
        ("inversions --load much", "expected a factor of 0.000001 to 1000000"),
        ("inversions --load NaN", "expected a factor of 0.000001 to 1000000"),
        ("inversions --load inf", "expected a factor of 0.000001 to 1000000"),
        ("inversions --load 1e3", "such as 2, 0.5 or 50%, got \"1e3\""),
        ("inversions --load 18446744073709", "expected a factor of 0.000001 to 1000000"),
        (
            "inversions --arrivals on-off --access-rate 1kbps",
            "expected at most 1048576 flows that send at a time; a load of 0.9 on a line of 10Gbps is 9000000 flows of 1kbps",
        ),
        (
            "inversions --ranks uniform:0",
            "expected a span of 1 to 262144 ranks such as uniform:100, got \"0\"",
        ),
        ("inversions --ranks convex:262145", "expected a span of 1 to 262144 ranks such as convex:100"),
        ("inversions --ranks normal", "expected one of uniform, exponential"),
        ("inversions --policies wfq", "expected one or several of fifo, sp-pifo, gradient"),
        ("inversions --push-down half", "expected one or several of cost, queue-bound"),
        ("inversions --arrivals bursts", "expected one of poisson, on-off, trace"),
        ("inversions --adaptation slow", "expected one of one-step, converge, got \"slow\""),
        (
            "inversions --ranks stfq --policies gradient",
            "gradient needs ranks below a known span, and these grow",
        ),
        ("inversions --ranks pfabric", "--ranks pfabric needs flows that have a size"),
        ("inversions --ranks trace", "--ranks trace needs a trace"),
        ("inversions --arrivals trace", "--arrivals trace needs a trace"),
        ("inversions none.csv", "the trace would not be used"),
        ("inversions none.csv --ranks trace", "none.csv: No such file or directory"),
        ("inversions none.csv --arrivals trace --rate 1Gbps --load 1", "give --rate or --load"),
        ("inversions --sort", "--sort says how to read a TRACE"),
        ("inversions --access-rate 1Gbps", "--access-rate is for --arrivals on-off"),
        ("inversions --packets 0", "expected a count above zero"),
        ("inversions --rate 0bps", "expected a rate above zero"),
        ("inversions --packet-size 0", "expected 1 to 65535, got \"0\""),
        ("inversions --window 0", "expected 1 to 1048576, got \"0\""),
        ("inversions --bytes-per-round 0", "expected a count above zero"),
        ("inversions --flow-size 0B", "expected a size above zero"),
        ("inversions --report Cargo.toml", "--report Cargo.toml: "),
        (
            "inversions --ranks pfabric --arrivals on-off --policies fixed",
            "fixed needs ranks below a span that is known beforehand",
        ),
        ("bandwidth --flows 0", "--flows <N>: expected 1 to 64, got \"0\""),
        ("bandwidth --flows 1024 --step 1us", "expected 1 to 64, got \"1024\""),
        ("bandwidth --queues 0", "expected 1 to 4096, got \"0\""),
        ("bandwidth --depth 0", "expected a count above zero"),
        ("bandwidth --step 0s", "expected at least 20ns"),
        ("bandwidth --depth 300000", "--depth 300000: expected 1 to 262144 packets with --queues 4"),
        ("bandwidth --step 10h", "expected a --step so short that at most 2e9 packets come"),
        ("bandwidth --step 10s --policies all", "expected a --step so short that at most 2e9 packets come"),
        ("bandwidth --flow-rate 0bps", "expected a rate above zero"),
    ] {
        let ended = trueplane(&format!("sched {flags}"));
        assert!(ended.refusal().contains(said), "{flags}: {}", ended.stderr);
    }
}

#[test]
fn broken_traces_are_refused_in_one_line() {
    for (bytes, flags, said) in [
        (
            &b"key\n5\nhigh\n"[..],
            "--ranks trace",
            "stdin: request 2: expected a rank, a whole number below 262144",
        ),
        (
            b"key\n262144\n",
            "--ranks trace",
            "as its key; found 262144 (what is no number is read as its hash)",
        ),
        (b"key\n5\n6\n", "--ranks trace --arrivals trace", "stdin: the trace has no timestamps"),
        (b"", "--ranks trace", "stdin: no requests found"),
        (b"time_s,key\n1,5\n", "--arrivals trace", "stdin: all packets come at one instant"),
        (
            b"time_s,key\n0,5\n200000000,6\n",
            "--arrivals trace",
            "stdin: its packets span 2315 days, over which a load of 0.9 takes a line of less than 1kbps: give the line a --rate",
        ),
        (b"time_s,key\n0,5\n1,6\n", "--ranks stfq --arrivals trace", "stdin: rank policies need a capture"),
        (
            b"nonsense, and no capture at all",
            "--ranks pfabric --arrivals trace --format pcap",
            "stdin: byte 0: expected a pcap or pcapng header",
        ),
    ] {
        let ended = trueplane_on(bytes, &format!("sched inversions - {flags}"));
        assert!(ended.refusal().contains(said), "{flags}: {}", ended.stderr);
    }
}

#[test]
fn help_has_examples() {
    for verb in ["inversions", "bandwidth"] {
        let ended = trueplane(&format!("sched {verb} --help"));
        assert_eq!((ended.status, ended.stderr.as_str()), (0, ""), "{verb}");
        assert!(
            ended.stdout.contains(&format!("trueplane sched {verb}")) && ended.stdout.contains("Examples:")
        );
    }
    assert!(trueplane("sched inversions --help").stdout.contains("a star, not a product"));
}

/// Real captures at their own times.
#[test]
fn real_captures_are_scheduled_or_refused() {
    let captures = root().join("../shared/data/packets");
    let Ok(files) = fs::read_dir(&captures) else {
        // Past the test harness, which keeps back what the macros print.
        let _ = writeln!(std::io::stderr(), "skipped: no {}", captures.display());
        return;
    };
    for file in files {
        let path = file.expect("it can be listed").path();
        let arguments = "--ranks class,pfabric --arrivals trace --load 0.95 --json";
        let ended = trueplane(&format!("sched inversions {} {arguments}", path.display()));
        if ended.status == 2 {
            // Of one capture all packets have the same time, and of one the second half is six years after the first.
            let line = ended.refusal();
            let known = ["at one instant", "its packets span"];
            assert!(known.iter().any(|known| line.contains(known)), "{line}");
            continue;
        }
        let document = ended.json();
        assert!(count(&document["facts"], "trace_packets") > 0, "{}", path.display());
        adds_up(&document);
    }
    let one = captures.join("netflix.pcap");
    let ended = trueplane(&format!("sched inversions {} --ranks trace", one.display()));
    assert!(ended.refusal().contains("a capture has no ranks: choose a rank policy"), "{}", ended.stderr);
}
