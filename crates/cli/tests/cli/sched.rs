//! `trueplane sched …` as its users run it.

use std::fs;
use std::io::Write as _;

use serde_json::Value;

use crate::common::{root, trueplane, trueplane_on};

const INVERSIONS: &str = "sched inversions --packets 20K";

fn count(of: &Value, name: &str) -> u64 {
    of[name].as_u64().unwrap_or_else(|| panic!("{name}: {of}"))
}

/// That a scheduler's numbers add up.
#[track_caller]
fn adds_up(run: &Value) {
    assert_eq!(count(run, "arrivals"), count(run, "departures") + count(run, "drops"), "{run}");
    let ranks = run["by_rank"].as_array().expect("a list");
    for name in ["arrivals", "departures", "drops", "inversions"] {
        assert_eq!(ranks.iter().map(|rank| count(rank, name)).sum::<u64>(), count(run, name), "{name}");
    }
}

#[test]
fn inversions_are_counted_for_every_scheduler() {
    let document = trueplane(&format!("{INVERSIONS} --json")).json();
    assert_eq!(document["study"], "sched.inversions");
    assert_eq!(document["parameters"]["load"].as_f64(), Some(0.9));
    let schedulers = document["schedulers"].as_array().expect("a list");
    let names: Vec<&Value> = schedulers.iter().map(|run| &run["scheduler"]).collect();
    assert_eq!(names, ["fifo", "sp-pifo", "gradient", "fixed", "optimal", "aifo", "packs", "afq", "pifo"]);
    for run in schedulers {
        adds_up(run);
        assert_eq!(count(run, "arrivals"), 20_000);
    }
    assert_eq!(count(&schedulers[8], "inversions"), 0);
    assert!(count(&schedulers[0], "inversions") > 2 * count(&schedulers[1], "inversions"));
    assert_eq!(
        trueplane(&format!("{INVERSIONS} --threads 1 --json")).json(),
        document,
        "one seed, one answer"
    );
    let text = trueplane(INVERSIONS).stdout;
    assert!(text.contains("only a PIFO serves packets in the order of their ranks"), "{text}");
    assert!(text.contains("times fewer inversions; a PIFO none.") && text.contains("expected"), "{text}");
    let text = trueplane(&format!("{INVERSIONS} --load 1.25 --schedulers fifo")).stdout;
    assert!(text.contains("overloaded") && text.contains("20.0 % of the packets must be dropped"), "{text}");
}

#[test]
fn figures_vary_what_was_not_given() {
    let document =
        trueplane("sched inversions --packets 2K --figures --queues 8 --schedulers fifo,sp-pifo --json")
            .json();
    let variations = document["variations"].as_array().expect("a list");
    let varied: Vec<String> = (variations.iter())
        .map(|variation| format!("{} {}", variation["varied"], variation["value"]).replace('"', ""))
        .collect();
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
    let flags = "--schedulers afq,afq-strict --load 1.1 --flows 3";
    let run = |more: &str| trueplane(&format!("{INVERSIONS} {flags} {more} --json")).json();
    let usual = run("");
    assert_eq!(count(&usual["parameters"], "bytes_per_round"), 1500);
    let drops = |of: &Value, index: usize| count(&of["schedulers"][index], "drops");
    // Packets of a fifth, and rounds as before: five of a flow in every round.
    let small = run("--packet-size 300");
    assert_eq!(count(&small["parameters"], "bytes_per_round"), 1500);
    let rounds = run("--packet-size 300 --bytes-per-round 300");
    // Only the unit differs, but for times in whole nanoseconds.
    assert!(drops(&rounds, 0).abs_diff(drops(&usual, 0)) < 30, "{rounds}");
    assert!(drops(&small, 0).abs_diff(drops(&usual, 0)) > 100, "{small}");
    assert_ne!(drops(&usual, 1), drops(&usual, 0));
    let text = trueplane(&format!("{INVERSIONS} {flags}")).stdout;
    assert!(text.contains("afq and afq-strict") && text.contains("1500 bytes per flow and round"), "{text}");
    let document =
        trueplane("sched bandwidth --step 100us --schedulers afq --bytes-per-round 300 --json").json();
    assert_eq!(count(&document["parameters"], "bytes_per_round"), 300);
    let text = trueplane("sched bandwidth --step 100us --schedulers afq --bytes-per-round 300").stdout;
    assert!(text.contains("bytes per round 300"), "{text}");
}

/// Variants of a scheduler run if they are named, and only then; a push-down is varied for all that push down.
#[test]
fn variants_run_if_they_are_named() {
    let flags = "--schedulers sp-pifo,sp-pifo-arrivals,gradient --push-down all --load 1.1 --json";
    let document = trueplane(&format!("{INVERSIONS} {flags}")).json();
    let names = |of: &Value| -> Vec<String> {
        let runs = of["schedulers"].as_array().expect("a list");
        runs.iter().map(|run| run["scheduler"].as_str().expect("a name").to_owned()).collect()
    };
    assert_eq!(names(&document), ["sp-pifo", "sp-pifo-arrivals", "gradient"]);
    let variations = document["variations"].as_array().expect("a list");
    let values: Vec<&Value> = variations.iter().map(|variation| &variation["value"]).collect();
    assert_eq!(values, ["queue-bound", "rank", "one", "queue-bound-text"]);
    for variation in variations {
        assert_eq!(names(variation), ["sp-pifo", "sp-pifo-arrivals"]);
        let [accepted, arrivals] = [0, 1].map(|index| count(&variation["schedulers"][index], "inversions"));
        assert_ne!(accepted, arrivals, "{}", variation["value"]);
    }
    let text = trueplane(&format!("{INVERSIONS} {}", flags.replace("--json", ""))).stdout;
    assert!(
        text.contains("Compared with pushing down by cost, the inversions of sp-pifo-arrivals change"),
        "{text}"
    );
    assert!(text.contains("sp-pifo and sp-pifo-arrivals") && text.contains("pushes down by cost"), "{text}");
}

#[test]
fn growing_ranks_leave_out_who_cannot_work_with_them() {
    let document = trueplane(&format!("{INVERSIONS} --ranks stfq --arrivals on-off --json")).json();
    let left_out = document["left_out"].as_array().expect("a list");
    let names: Vec<&Value> = left_out.iter().map(|out| &out["scheduler"]).collect();
    assert_eq!(names, ["gradient", "fixed", "optimal"]);
    assert_eq!(document["schedulers"].as_array().map(Vec::len), Some(6));
    assert_eq!(document["schedulers"][0]["by_rank"], Value::Array(Vec::new()));
    let text = trueplane(&format!("{INVERSIONS} --ranks stfq --arrivals on-off")).stdout;
    assert!(text.contains("left out: gradient"), "{text}");
}

/// Ranks that end somewhere have bins, the same for all schedulers, though nobody knew beforehand where.
#[test]
fn ranks_of_an_unknown_span_are_shown_by_rank() {
    let flags = "--ranks pfabric,srpt,stfq --arrivals on-off --load 1.1";
    let document = trueplane(&format!("{INVERSIONS} {flags} --json")).json();
    let variations = document["variations"].as_array().expect("a list");
    let (srpt, stfq) = (&variations[0]["schedulers"], &variations[1]["schedulers"]);
    let runs = |of: &Value| of.as_array().expect("a list").clone();
    let bins = |run: &Value| -> Vec<(u64, u64)> {
        let ranks = run["by_rank"].as_array().expect("a list");
        ranks.iter().map(|rank| (count(rank, "rank"), count(rank, "arrivals"))).collect()
    };
    for runs in [runs(&document["schedulers"]), runs(srpt)] {
        let first = bins(&runs[0]);
        // Flows have a million bytes: 2^20 / 128 in a bin, the last of which ends above.
        assert_eq!((first[1].0, first.len()), (8192, 123));
        for run in &runs {
            adds_up(run);
            assert_eq!(bins(run), first, "{run}");
        }
    }
    assert!(runs(stfq).iter().all(|run| bins(run).is_empty()));
    // One entry for all ranks that have the same reason.
    let left_out = document["left_out"].as_array().expect("a list");
    let ranks: Vec<&Value> = left_out.iter().map(|out| &out["ranks"]).collect();
    assert_eq!(ranks, ["pfabric, srpt", "pfabric, srpt", "pfabric, srpt", "stfq", "stfq", "stfq"]);
    assert!(left_out[0]["why"].as_str().expect("a text").contains("a span that is known beforehand"));
}

/// The mean of nothing is none.
#[test]
fn ranks_that_never_leave_have_no_delay() {
    let flags = "--packets 300 --load 100 --schedulers fifo,pifo --depth 1 --queues 1 --json";
    let document = trueplane(&format!("sched inversions {flags}")).json();
    let mut none = 0;
    for run in document["schedulers"].as_array().expect("a list") {
        for rank in run["by_rank"].as_array().expect("a list") {
            assert_eq!(rank["mean_delay_ns"].is_null(), count(rank, "departures") == 0, "{rank}");
            none += u64::from(rank["mean_delay_ns"].is_null());
        }
    }
    assert!(none > 100, "{none}");
}

/// What came is measured: the load that was asked for where nothing is in its way.
#[test]
fn the_load_is_measured() {
    let offered = |of: &Value| of["offered_load"].as_f64().expect("a load");
    let near = |found: f64, expected: f64| (found / expected - 1.0).abs() < 0.05;
    let document = trueplane(&format!("{INVERSIONS} --load 0.9,0.5 --schedulers fifo --json")).json();
    assert!(near(offered(&document["parameters"]), 0.9) && near(offered(&document["variations"][0]), 0.5));
    // Fewer packets than flows that send at a time, and the load is right.
    let flags = "--arrivals on-off --access-rate 1Mbps --packets 5K --schedulers fifo --json";
    let document = trueplane(&format!("sched inversions {flags}")).json();
    assert!(near(offered(&document["parameters"]), 0.9), "{}", document["parameters"]);
    // Flows that are over before the line has been kept busy for long: one packet every second.
    let trace = "time_s,key,size\n0,1,1000\n1,2,1000\n2,3,1000\n";
    let arguments = "sched inversions - --arrivals trace --load 0.9 --schedulers fifo --json";
    let document = trueplane_on(trace.as_bytes(), arguments).json();
    let parameters = &document["parameters"];
    // 24,000 bits in two seconds are 0.9 of this, of which nothing is lost to rounding.
    assert_eq!(count(parameters, "rate_bps"), 13_333);
    assert_eq!(parameters["load"].as_f64(), Some(0.900_023));
    assert!((offered(parameters) - 0.900_022_5).abs() < 1e-6);
}

#[test]
fn ranks_are_read_from_a_trace() {
    let trace = "time_us,key,size\n0,5,1500\n0,2,1500\n1,9,1500\n1,1,1500\n2,0,3000\n";
    let arguments = "sched inversions - --ranks trace --arrivals trace --load 2 --json";
    let document = trueplane_on(trace.as_bytes(), arguments).json();
    assert_eq!(count(&document["parameters"], "rate_bps"), 18_000_000_000);
    assert_eq!((&document["trace"]["name"], count(&document["trace"], "packets")), (&"stdin".into(), 5));
    let fifo = &document["schedulers"][0];
    adds_up(fifo);
    assert_eq!((count(fifo, "inversions"), count(fifo, "unpifoness")), (3, 12));
}

#[test]
fn a_study_of_inversions_is_drawn() {
    let folder = tempfile::tempdir().expect("a folder is to be had");
    let report = folder.path().join("report");
    let ended = trueplane(&format!("{INVERSIONS} --queues 8,16 --load 0.9,1 --report {}", report.display()));
    assert_eq!((ended.status, ended.stderr.as_str()), (0, ""));
    let page = fs::read_to_string(report.join("index.html")).expect("the page was written");
    assert!(page.contains("<svg") && page.contains("figure 5a") && !page.contains("src=\"http"));
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
        ("inversions --queues 0", "expected 1 to 4096 queues, got 0"),
        ("inversions --queues 8,4097", "expected 1 to 4096 queues, got 4097"),
        ("inversions --queues=", "expected a whole number below 2^64 such as 8, got \"\""),
        ("inversions --depth 0", "expected a depth of 1 to 131072 packets for 8 queues"),
        (
            "inversions --queues 8,4096 --depth 65536",
            "expected a depth of 1 to 256 packets for 4096 queues, which is 1048576 packets of buffer, got 65536",
        ),
        ("inversions --load 0", "expected a load of 0.000001 to 1000000"),
        ("inversions --load=-1", "expected a load of 0.000001 to 1000000"),
        ("inversions --load much", "expected a load of 0.000001 to 1000000"),
        ("inversions --load NaN", "expected a load of 0.000001 to 1000000"),
        ("inversions --load inf", "expected a load of 0.000001 to 1000000"),
        ("inversions --load 1e3", "such as 0.9 or 90%, got \"1e3\""),
        ("inversions --load 18446744073709", "expected a load of 0.000001 to 1000000"),
        (
            "inversions --arrivals on-off --access-rate 1kbps",
            "expected at most 1048576 flows that send at a time; a load of 0.9 on a line of 10Gbps is 9000000 flows of 1kbps",
        ),
        (
            "inversions --ranks uniform:0",
            "expected a span of 1 to 262144 ranks such as uniform:100, got \"0\"",
        ),
        ("inversions --ranks convex:262145", "expected a span of 1 to 262144 ranks such as convex:100"),
        ("inversions --ranks normal", "unknown ranks \"normal\"; known: uniform, exponential"),
        ("inversions --schedulers wfq", "expected one of fifo, sp-pifo, gradient"),
        ("inversions --push-down half", "expected one of cost, queue-bound"),
        ("inversions --arrivals bursts", "expected one of poisson, on-off, trace"),
        ("inversions --adaptation slow", "unknown adaptation \"slow\"; known: one-step, converge"),
        (
            "inversions --ranks stfq --schedulers gradient",
            "gradient needs ranks below a known span, and these grow",
        ),
        ("inversions --ranks pfabric", "--ranks pfabric needs flows that have a size"),
        ("inversions --ranks trace", "--ranks trace needs a trace"),
        ("inversions --arrivals trace", "--arrivals trace needs a trace"),
        ("inversions none.csv", "the trace would not be used"),
        ("inversions none.csv --ranks trace", "none.csv: No such file or directory"),
        ("inversions none.csv --arrivals trace --rate 1Gbps --load 1", "give --rate or --load"),
        ("inversions --sort", "--sort says how to read a TRACE"),
        ("inversions --packets 0", "expected at least one packet"),
        ("inversions --rate 0bps", "expected a rate above zero"),
        ("inversions --packet-size 0", "0 is not in 1..=65535"),
        ("inversions --window 0", "0 is not in 1..=1048576"),
        ("inversions --bytes-per-round 0", "0 is not in 1.."),
        ("inversions --flow-size 0B", "expected a size above zero"),
        ("inversions --report Cargo.toml", "--report Cargo.toml: "),
        (
            "inversions --ranks pfabric --arrivals on-off --schedulers fixed",
            "fixed needs ranks below a span that is known beforehand",
        ),
        ("bandwidth --flows 0", "--flows <N>: expected 1 to 64, got \"0\""),
        ("bandwidth --flows 1024 --step 1us", "expected 1 to 64, got \"1024\""),
        ("bandwidth --queues 0", "expected 1 to 4096, got \"0\""),
        ("bandwidth --depth 0", "expected a count above zero"),
        ("bandwidth --step 0s", "expected at least 20ns"),
        ("bandwidth --depth 300000", "expected a depth of 1 to 262144 packets for 4 queues"),
        ("bandwidth --step 10h", "expected a --step so short that at most 2e9 packets come"),
        ("bandwidth --step 10s --schedulers all", "expected a --step so short that at most 2e9 packets come"),
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
        assert!(count(&document["trace"], "packets") > 0, "{}", path.display());
        document["schedulers"].as_array().expect("a list").iter().for_each(adds_up);
    }
    let one = captures.join("netflix.pcap");
    let ended = trueplane(&format!("sched inversions {} --ranks trace", one.display()));
    assert!(ended.refusal().contains("a capture has no ranks: choose a rank policy"), "{}", ended.stderr);
}
