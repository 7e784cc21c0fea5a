//! `trueplane cache …` as its users run it.

use std::fs;

use crate::common::{root, trueplane, trueplane_on};

const SAMPLE: &str = "cache compare examples/cdn-200k.csv.zst --latency 10ms";

#[test]
fn the_document_has_the_promised_fields() {
    let document =
        trueplane(&format!("{SAMPLE} --latency 10ms --capacity 100 --policies lru,lru-mad --json"));
    assert_eq!(document.status, 2, "a flag given twice is refused");
    let document = trueplane(&format!("{SAMPLE} --capacity 100 --policies lru,lru-mad --json")).json();
    assert_eq!(document["study"], "cache.compare");
    let facts = &document["facts"];
    assert_eq!((&facts["requests"], &facts["objects"]), (&200_000.into(), &6054.into()));
    let tables = &document["tables"];
    let point = &tables["points"][0];
    assert_eq!((&point["latency_ns"], &point["capacity_objects"]), (&10_000_000.into(), &100.into()));
    assert!(document["verdict"].as_array().is_some_and(|verdict| !verdict.is_empty()));
    let policies = tables["policies"].as_array().expect("a list");
    assert_eq!(policies.iter().map(|policy| &policy["policy"]).collect::<Vec<_>>(), ["lru", "lru-mad"]);
    for (policy, total) in policies.iter().zip(tables["totals"].as_array().expect("a list")) {
        let integer =
            |name: &str| policy[name].as_u64().unwrap_or_else(|| panic!("{name}: {}", policy[name]));
        let requests = integer("hits") + integer("delayed_hits") + integer("misses");
        assert_eq!((&total["policy"], total["requests"].as_u64()), (&policy["policy"], Some(requests)));
        let mean = policy["latency_mean_ns"].as_f64().expect("a number");
        assert_eq!(total["latency_total_ns"].as_u64().expect("a count") as f64 / 200_000.0, mean);
        assert!(integer("latency_p50_ns") <= integer("latency_p99_ns"));
        assert!(integer("latency_p99_ns") <= integer("latency_p999_ns"));
        assert!(integer("latency_p999_ns") <= 10_000_000);
        let predicted = policy["classical_latency_mean_ns"].as_f64().expect("a number");
        let hit_rate = policy["classical_hit_rate"].as_f64().expect("a number");
        assert!((predicted - (1.0 - hit_rate) * 1e7).abs() < 1e-3 && predicted < mean);
    }
}

#[test]
fn a_sweep_has_a_run_for_every_point_on_any_number_of_threads() {
    let sweep = |threads| {
        trueplane(&format!(
            "cache compare examples/cdn-200k.csv.zst --latency 1ms,10ms --capacity 1%,5% --policies lru,arc-mad,lhd,random --json --threads {threads}"
        ))
    };
    let document = sweep(1).json();
    let points: Vec<_> = document["tables"]["points"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|point| (&point["latency_ns"], &point["capacity_asked"]))
        .collect();
    let expected = [(1_000_000, "1%"), (1_000_000, "5%"), (10_000_000, "1%"), (10_000_000, "5%")];
    assert_eq!(
        points,
        expected
            .map(|(latency, capacity)| (latency.into(), capacity.into()))
            .iter()
            .map(|(a, b)| (a, b))
            .collect::<Vec<(&serde_json::Value, &serde_json::Value)>>()
    );
    assert_eq!(sweep(2).stdout, sweep(1).stdout);
    let repeated = trueplane(&format!("{SAMPLE},10ms --capacity 5%,5% --policies lru,lru --json")).json();
    assert_eq!(repeated["tables"]["points"].as_array().map(Vec::len), Some(1));
    assert_eq!(repeated["tables"]["policies"].as_array().map(Vec::len), Some(1));
}

#[test]
fn a_report_opens_without_a_network() {
    let folder = tempfile::tempdir().expect("a folder is to be had");
    let path = folder.path().join("report");
    let ended = trueplane(&format!("{SAMPLE} --policies lru,lru-mad --report {}", path.display()));
    assert_eq!((ended.status, ended.stderr.as_str()), (0, ""));
    let page = fs::read_to_string(path.join("index.html")).expect("the page was written");
    assert!(page.contains("<svg") && !page.contains("src=\"http") && !page.contains("href=\"http"));
    let table = fs::read_to_string(path.join("policies.csv")).expect("the table was written");
    assert!(table.starts_with(
        "policy,classical_hit_rate,classical_latency_mean_ns,latency_mean_ns,classical_underestimate,hits"
    ));
    assert_eq!(table.lines().count(), 3);
}

#[test]
fn standard_input_is_read_like_a_file() {
    let bytes = fs::read(root().join("examples/cdn-200k.csv.zst")).expect("it is bundled");
    let flags = "--latency 10ms --policies lru --json";
    let piped = trueplane_on(&bytes, &format!("cache compare - {flags}")).json();
    let file = trueplane(&format!("cache compare examples/cdn-200k.csv.zst {flags}")).json();
    assert_eq!(piped["tables"], file["tables"]);
}

#[test]
fn wrong_flags_are_refused_in_one_line() {
    for (flags, said) in [
        ("--policies lruu", "expected one or several of lru, lfu, arc"),
        ("--policies lru,,", "got \"\""),
        ("--capacity 0", "expected a capacity above zero"),
        ("--capacity 0%", "expected a capacity above zero"),
        ("--capacity NaN", "got \"NaN\""),
        ("--capacity 16000000TiB", "expected a capacity above zero, up to 1EiB"),
        ("--capacity 100000000000 --ways 1 --policies lru", "at most 4194304 are simulated"),
        ("--capacity 100 --ways 2", "lhd learns in every set for itself"),
        ("--report Cargo.toml", "--report Cargo.toml: "),
        ("--report Cargo.toml/sub", "--report Cargo.toml/sub: "),
        ("--threads 65535", "expected 1 to 1024, got \"65535\""),
        ("--hit-latency 1step", "--hit-latency: continuous time counts seconds"),
        (
            "--policies lru --eviction exact",
            "--eviction is for lhd or lhd-mad, which --policies does not name",
        ),
        ("--policies lru --tinylfu-window fixed", "--tinylfu-window is for w-tinylfu"),
        ("--policies lhd --mad-memory all", "--mad-memory is for a policy with MAD"),
        ("--capacity 5%,10 --bypass-oversized", "--bypass-oversized is for a --capacity in bytes"),
        ("--capacity 1KiB", "larger than the cache of 1KiB"),
        ("--capacity 10 --ways 64", "does not fill one set of --ways 64"),
        ("--capacity 1GiB --ways 64", "--ways counts objects"),
        ("--ways 0", "expected a count above zero"),
        ("--warmup 200K", "leaves none of the trace's 200000 requests"),
        ("--warmup 100%", "leaves none of the trace's 200000 requests"),
        ("--warmup 1000h", "leaves none of the trace's 200000 requests"),
        ("--origins 1ms,2steps", "slotted time counts steps"),
        ("--time slotted", "slotted time counts steps"),
        ("--columns time=9", "expected columns such as"),
        ("--hit-latency -5ms", "--hit-latency <TIME>: expected a latency such as"),
        ("--format arc", "expected one of csv, oracleGeneral"),
        ("--threads 0", "expected 1 to 1024, got \"0\""),
        ("--colour", "unexpected argument '--colour'"),
        ("--polices lru", "a similar argument exists: '--policies'"),
    ] {
        let ended = trueplane(&format!("{SAMPLE} {flags}"));
        assert!(ended.refusal().contains(said), "{flags}: {}", ended.stderr);
    }
    // Before the trace is opened.
    for (flags, said) in [
        ("--origins trace", "--origins: expected a plain latency"),
        ("--latency 1ms --hit-latency trace", "--hit-latency: expected a plain latency"),
        ("--latency 1ms --hit-latency 2steps", "--hit-latency: continuous time counts seconds"),
    ] {
        for verb in ["compare", "bound"] {
            let ended = trueplane(&format!("cache {verb} x.csv {flags}"));
            assert!(ended.refusal().contains(said), "{verb} {flags}: {}", ended.stderr);
        }
    }
    assert!(trueplane("cache compare x.csv").refusal().contains("--latency: expected a latency"));
    let latency = trueplane("cache compare examples/cdn-200k.csv.zst --latency 10");
    assert!(latency.refusal().contains("expected a latency such as 100ms, 1000steps"), "{}", latency.stderr);
    let trace = trueplane("cache compare examples/cdn-200k.csv.zst --latency trace");
    assert!(
        trace.refusal().contains("needs the fetch times in a column; the trace has none"),
        "{}",
        trace.stderr
    );
    assert!(trueplane("cache generate --profile cnd").refusal().contains("cdn"));
    assert!(
        trueplane("cache generate --profile network --alpha 2").refusal().contains("its flows never return")
    );
    assert!(trueplane("cache generate --requests 0").refusal().contains("expected 1 to"));
}

#[test]
fn broken_traces_are_refused_with_file_and_place() {
    for (trace, flags, said) in [
        (&b"time,key\n0,1\nabc,2\n"[..], "--latency 1ms", "stdin:3: expected a timestamp"),
        (b"time,key\n5,1\n4,2\n", "--latency 1ms", "--sort"),
        (b"", "--latency 1ms", "no requests"),
        (b"time,key\n", "--latency 1ms", "no requests"),
        (b"key\na\nb\n", "--latency 1ms", "--latency 1000steps"),
        (b"time,key\n0,1\n", "--latency 1ms --capacity 1MiB", "the trace has no sizes"),
        (b"time,key,size\n0,1,x\n", "--latency 1ms", "stdin:2: expected a whole number of bytes"),
        (&[0u8; 47], "--latency 1ms --format oracleGeneral", "expected 24 bytes"),
        (&[0x1f, 0x8b, 8, 0, 0], "--latency 1ms", "stdin"),
    ] {
        let ended = trueplane_on(trace, &format!("cache compare - {flags}"));
        assert!(ended.refusal().contains(said), "{}", ended.stderr);
    }
    assert!(trueplane("cache compare no-such-file.csv --latency 1ms").refusal().contains("no-such-file.csv"));
    assert!(trueplane("cache compare examples --latency 1ms").refusal().contains("examples"));
    let sorted =
        trueplane_on(b"time,key\n5,1\n4,2\n", "cache compare - --latency 1ms --sort --policies lru --json");
    assert_eq!(sorted.json()["tables"]["policies"][0]["misses"], 2);
}

#[test]
fn sizes_and_sets_make_other_caches_of_the_same_trace() {
    let misses = |flags: &str| {
        let document = trueplane(&format!("{SAMPLE} --policies lru,arc,lhd-mad --json {flags}")).json();
        let policies = document["tables"]["policies"].as_array().expect("a list").clone();
        policies.iter().map(|policy| policy["misses"].as_u64().expect("a count")).collect::<Vec<_>>()
    };
    let whole = misses("--capacity 128");
    let sets = misses("--capacity 128 --ways 16");
    assert!(
        whole != sets && sets.iter().zip(&whole).all(|(sets, whole)| sets < &(2 * whole)),
        "{sets:?} {whole:?}"
    );
    let small = misses("--capacity 64MiB --bypass-oversized");
    let large = misses("--capacity 1GiB");
    assert!(small.iter().zip(&large).all(|(small, large)| small > large), "{small:?} {large:?}");
}

#[test]
fn a_trace_is_analysed() {
    // From the shortest latency that delays hits to the longest, in whatever order they are given.
    for latency in ["100ms,10ms,0ns", "10ms,0ns,100ms"] {
        let text = trueplane(&format!("cache analyze examples/cdn-200k.csv.zst --latency {latency}")).stdout;
        assert!(
            text.contains("of the requests can be delayed hits with fetches of 10ms, and up to "),
            "{text}"
        );
        assert!(text.contains(" with fetches of 100ms."), "{text}");
    }
    // No request comes twice within a fetch.
    let apart = b"time_ns,key\n0,1\n5,2\n10,1\n";
    let text = trueplane_on(apart, "cache analyze - --latency 10ns").stdout;
    assert!(text.contains("No object is asked for again before a fetch of 10ns ends"), "{text}");
    let document = trueplane("cache analyze examples/cdn-200k.csv.zst --latency 10ms --json").json();
    assert_eq!(document["study"], "cache.analyze");
    assert_eq!(document["facts"]["peak_active_objects"], 3477);
    let z = document["tables"]["latencies"][0]["z"].as_f64().expect("it has timestamps");
    assert!((1009.0..1010.0).contains(&z), "{z}");
    // However long a fetch takes, no more requests wait for it than there are, but for the first of each object.
    let long = trueplane("cache analyze examples/cdn-200k.csv.zst --latency 1h --json").json();
    assert_eq!(long["tables"]["latencies"][0]["delayed_hits_at_most"], 200_000 - 6_054);
    assert!(document["facts"]["burstiness_objects"].as_f64().expect("it is defined") > 0.3);
}

/// Between two latencies that requests have lies no request.
#[test]
fn a_distribution_is_a_step_function() {
    let trace = b"time_ns,key\n0,1\n400,1\n2000,1\n3000,1\n";
    let document =
        trueplane_on(trace, "cache compare - --latency 1us --capacity 1 --policies lru --json").json();
    let curve = &document["plots"]["distribution-latency1uscapacity1object"]["series"][0];
    assert_eq!(
        (&curve["x"], &curve["y"], &curve["steps"]),
        (&vec![0, 600, 1000].into(), &serde_json::json!([0.5, 0.75, 1]), &true.into()),
        "{document}"
    );
}

#[test]
fn coarse_timestamps_are_warned_of() {
    let trace = b"time,key\n0,1\n0,2\n9,3\n";
    let compare = |flags: &str| trueplane_on(trace, &format!("cache compare - --policies lru {flags}"));
    let said = |flags: &str| compare(flags).stdout;
    let coarse = said("--latency 100ms");
    let (warning, fact) =
        (coarse.find("Beware: the timestamps are multiples of 1s"), coarse.find("requests: "));
    assert!(warning.is_some() && warning < fact, "{coarse}");
    assert!(!coarse.contains("exactly") && coarse.contains("These timestamps are too coarse"), "{coarse}");
    assert!(
        compare("--latency 100ms --json").json()["warnings"][0].as_str().unwrap().starts_with("Beware: ")
    );
    assert!(said("--latency 2s").contains("takes only a few of these"));
    assert!(!said("--latency 5s").contains("Beware") && said("--latency 5s").contains("exactly"));
    assert!(!said("--latency 10steps").contains("Beware"));
    assert_eq!(compare("--latency 5s --json").json()["warnings"], serde_json::json!([]));
    let analyze = trueplane_on(trace, "cache analyze -").stdout;
    assert!(analyze.contains("Beware: the timestamps are multiples of 1s"), "{analyze}");
    let bound = trueplane_on(trace, "cache bound - --latency 100ms --capacity 1 --policies none").stdout;
    assert!(bound.contains("Beware: ") && !bound.contains("exactly"), "{bound}");
}

#[test]
fn steps_are_not_taken_for_seconds() {
    let steps = b"0;1\n1;2\n2;1\n3;3\n";
    let said = trueplane_on(steps, "cache compare - --policies lru --latency 10ms").stdout;
    assert!(
        said.contains("Beware: the times of stdin look like steps") && !said.contains("exactly"),
        "{said}"
    );
    let named = b"step;id\n0;1\n1;2\n2;1\n";
    let refused = trueplane_on(named, "cache compare - --policies lru --latency 10ms");
    assert!(
        refused.refusal().contains("counts steps, which are no time; give latencies in steps"),
        "{}",
        refused.stderr
    );
    let chosen = trueplane_on(named, "cache compare - --latency 10ms --columns time=step,key=id");
    assert!(chosen.refusal().contains("counts steps"), "{}", chosen.stderr);
    let timed = trueplane_on(named, "cache compare - --policies lru --latency 10ms --time continuous");
    assert!(timed.refusal().contains("counts steps"), "{}", timed.stderr);
    let stepped = trueplane_on(named, "cache compare - --policies lru --latency 2steps --json").json();
    assert_eq!(stepped["facts"]["time"], "slotted");
    let missed = |rows: &[u8]| {
        let document =
            trueplane_on(rows, "cache compare - --policies lru --capacity 1 --latency 2steps --json").json();
        document["tables"]["policies"][0]["delayed_hits"].as_u64().expect("a count")
    };
    assert_eq!((missed(b"step;id\n7;1\n8;1\n"), missed(b"step;id\n7;1\n1007;1\n")), (1, 0));
    let twice = trueplane_on(b"step;id\n0;1\n1;1\n1;2\n", "cache compare - --latency 2steps");
    assert!(
        twice.refusal().contains("stdin:4: expected a step after 1, got 1: a step has one"),
        "{}",
        twice.stderr
    );
    let known =
        trueplane_on(named, "cache compare - --policies lru --latency 10ms --time-unit ms --json").json();
    assert_eq!(known["facts"]["span_ns"], 2_000_000);
}

#[test]
fn a_web_servers_log_tells_what_was_left_out() {
    let line =
        |time: &str, request: &str, answer: &str| format!("h - - [{time}] \"{request} HTTP/1.1\" {answer}\n");
    let log = line("1728568536.123", "GET /a.gif", "304 0")
        + &line("1728568536.130", "GET /a.gif", "200 500")
        + &line("1728568536.140", "POST /form", "200 9")
        + &line("1728568536.250", "GET /a.gif", "200 700")
        + &line("1728568537.000", "GET /b.gif", "502 9");
    let on = |arguments: &str| trueplane_on(log.as_bytes(), arguments);
    let compare = "cache compare - --latency 100ms --capacity 1KiB --policies lru";
    let text = on(compare).stdout;
    let told = |text: &str, what: &str| {
        text.lines().any(|line| line.trim().starts_with(what) && line.ends_with("  1"))
    };
    assert!(told(&text, "POST requests, which --methods does not name"), "{text}");
    assert!(told(&text, "answers 5xx that --statuses does not name"), "{text}");
    assert!(text.contains("Beware: 1 of 3 requests have no size"), "{text}");
    let largest = on(&format!("{compare} --size-change largest")).stdout;
    assert!(!largest.contains("Beware") && told(&largest, "POST requests"), "{largest}");
    let all = on(&format!("{compare} --methods all --statuses all --json")).json();
    assert_eq!(all["facts"]["requests"], 5);
    assert!(all["tables"]["left-out"].is_null());
    let bound = on("cache bound - --latency 100ms --capacity 1KiB");
    assert!(bound.refusal().contains("\"/a.gif\" is asked for with"), "{}", bound.stderr);
    let error = on(&format!("{compare} --size-change error"));
    assert!(error.refusal().contains("stdin: \"/a.gif\" has 500 bytes and later 700"), "{}", error.stderr);
    let csv = trueplane("cache compare examples/cdn-200k.csv.zst --latency 1ms --methods all");
    assert!(csv.refusal().contains("--methods means nothing for the format csv"), "{}", csv.stderr);
    for (flags, said) in [
        ("--latency 1ms --key src", "--key means nothing for the format csv"),
        (
            "--latency 10steps --sort",
            "--sort orders requests by their times, and steps count them in the order of the trace",
        ),
    ] {
        let refused = trueplane(&format!("cache compare examples/cdn-200k.csv.zst {flags}"));
        assert!(refused.refusal().contains(said), "{}", refused.stderr);
    }
}

#[test]
fn a_warmup_is_a_number_a_share_or_a_time() {
    let run = |warmup: &str| {
        let document = trueplane(&format!("{SAMPLE} --policies lru --warmup {warmup} --json")).json();
        document["tables"]["totals"][0].clone()
    };
    let counted = run("20K");
    assert_eq!(counted["requests"], 180_000);
    assert_eq!((run("10%"), run("0.1")), (counted.clone(), counted));
    let late = run("1s")["requests"].as_u64().expect("a count");
    assert!(late > 0 && late < 200_000, "{late}");
}

#[test]
fn settings_are_told() {
    let flags = "--capacity 128 --ways 16 --policies lru-mad --mad-memory all --hit-latency 1ms --warmup 10";
    let document = trueplane(&format!("{SAMPLE} {flags} --json")).json();
    let parameters = &document["parameters"];
    assert_eq!((&parameters["ways"], &parameters["mad_memory"]), (&16.into(), &"all".into()));
    assert_eq!((&parameters["hit_latency"], &parameters["warmup"]), (&"1ms".into(), &"10".into()));
    let text = trueplane(&format!("{SAMPLE} {flags}")).stdout;
    assert!(text.contains("ways: 16; mad memory: all") && text.contains("hit latency: 1ms"), "{text}");
}

#[test]
fn help_and_version_are_no_errors() {
    for flags in ["--help", "--version", "cache --help", "cache compare --help"] {
        let ended = trueplane(flags);
        assert_eq!((ended.status, ended.stderr.as_str()), (0, ""), "{flags}");
        assert!(!ended.stdout.is_empty());
    }
    let version = trueplane("--version").stdout;
    let (number, built) = version.trim_end().split_once(" (").expect("how it was built is in parentheses");
    assert_eq!(number, format!("trueplane {}", env!("CARGO_PKG_VERSION")));
    assert!(built.starts_with("features: live") && built.ends_with(')'), "{version}");
    for group in ["", "cache", "fair", "limit", "offload", "pqueue", "sched", "spray", "surge"] {
        let ended = trueplane(group);
        assert_eq!((ended.status, ended.stdout.as_str()), (2, ""), "{group}");
        let has_list = ended.stderr.contains("\nUsage: ") && ended.stderr.contains("\nCommands:\n");
        assert!(ended.stderr.starts_with("error: expected a command\n\n") && has_list, "{}", ended.stderr);
    }
}
