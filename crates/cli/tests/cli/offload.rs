//! `trueplane offload compare` as its users run it.

use std::fs;

use serde_json::Value;

use crate::common::{trueplane, trueplane_on};

const CHANGING: &str = "zipf:0.99,keys=10K,hot-in=100/200ms,seconds=1";

/// A second at 100,000 lookups, small enough to take no time.
const SMALL: &str = "--rate 100K --entries 512 --batch 8 --update-rate 500,5K --control-rate 10K,50K --history 32x4 \
                     --ageing 100ms --interval 200ms --threshold 8 --sample 64 --dyso-ageing 20ms --tuning 200ms --rtt 100us \
                     --iterations 10";

fn small(workload: &str, flags: &str) -> String {
    format!("offload compare {workload} {SMALL} {flags}")
}

fn rows(document: &Value) -> &[Value] {
    document["tables"]["misses"].as_array().expect("a list")
}

fn count(of: &Value, name: &str) -> u64 {
    of[name].as_u64().unwrap_or_else(|| panic!("{name}: {of}"))
}

fn number(of: &Value, name: &str) -> f64 {
    of[name].as_f64().unwrap_or_else(|| panic!("{name}: {of}"))
}

/// The rows of a system.
fn of<'a>(document: &'a Value, system: &str) -> Vec<&'a Value> {
    rows(document).iter().filter(|row| row["system"] == system).collect()
}

#[test]
fn the_document_keeps_its_identities() {
    let document = trueplane(&small(CHANGING, "--policies all --warmup 100ms --loss 1% --json")).json();
    let (parameters, facts) = (&document["parameters"], &document["facts"]);
    assert_eq!((&document["study"], &parameters["workload"]), (&"offload.compare".into(), &CHANGING.into()));
    assert_eq!((count(parameters, "rate_per_s"), count(facts, "warmup_lookups")), (100_000, 10_000));
    assert_eq!((number(parameters, "loss"), number(parameters, "load")), (0.01, 0.9));
    assert_eq!((count(facts, "resend_after_ns"), &parameters["exact"]), (300_000, &false.into()));
    assert_eq!((count(facts, "lookups"), count(facts, "duration_ns")), (90_000, 900_000_000));
    // Three without a loop, five in batches at two rates, DySO at two.
    assert_eq!(rows(&document).len(), 3 + 5 * 2 + 2);
    for row in rows(&document) {
        assert_eq!(count(row, "lookups"), 90_000, "{row}");
        assert!((number(row, "miss_ratio") - count(row, "misses") as f64 / 90_000.0).abs() < 1e-12, "{row}");
        assert_eq!(row["change"], 100, "{row}");
    }
    let loops = document["tables"]["loops"].as_array().expect("a list");
    // Four in batches at two rates, DySO at two.
    assert_eq!(loops.len(), 4 * 2 + 2);
    for row in loops {
        let failed = row["updates_failed"].as_u64().unwrap_or(0);
        assert!(count(row, "updates_sent") >= count(row, "updates_applied") + failed, "{row}");
    }
    let least = of(&document, "belady")[0];
    // It binds those that take in what is looked up, at its lookup; others may do without an entry until they install it.
    for ideal in ["ideal-lru", "ideal-lfu"].map(|system| of(&document, system)[0]) {
        assert!(count(ideal, "misses") >= count(least, "misses"), "{ideal}");
    }
    let bounds = document["tables"]["bounds"].as_array().expect("a list");
    assert!(bounds.iter().all(|row| count(row, "misses_lower") <= count(row, "misses_upper")), "{bounds:?}");
    for bound in of(&document, "optimal") {
        // The reports of netcache wait over batches.
        for system in ["recency", "frequency", "tea"] {
            let name = "update_rate_per_s";
            let same = of(&document, system).into_iter().find(|row| row[name] == bound[name]);
            assert!(
                count(same.expect("the same rate"), "misses") >= count(bound, "misses"),
                "{system}: {bound}"
            );
        }
    }
    assert!(of(&document, "dyso").iter().all(|row| row["recovery_changes"].is_u64()), "{document}");
    for dyso in loops.iter().filter(|row| row["system"] == "dyso") {
        // Whatever is not lost in the buffer has been recorded, the warm-up too.
        let (recorded, lost) = (count(dyso, "history_recorded"), count(dyso, "history_full"));
        assert_eq!(recorded + lost, 100_000, "{dyso}");
        assert!(count(dyso, "updates_resent") > 0 && count(dyso, "history_lost") > 0, "{dyso}");
        assert!(dyso["period_final_ns"].is_u64(), "{dyso}");
    }
}

#[test]
fn windows_add_up_to_the_rows() {
    let document = trueplane(&small(CHANGING, "--policies ideal-lru,netcache,dyso --json")).json();
    for (table, length) in
        [("windows-1s", 1_000_000_000), ("windows-100ms", 100_000_000), ("windows-10ms", 10_000_000)]
    {
        let windows = document["tables"][table].as_array().expect("a list");
        for (index, row) in rows(&document).iter().enumerate() {
            let of: Vec<&Value> = windows.iter().filter(|window| window["row"] == index).collect();
            assert_eq!(of.len() as u64, 1_000_000_000 / length, "{table}");
            // There is no warm-up, and all windows are of one length.
            let sum = |name: &str| of.iter().map(|window| count(window, name)).sum::<u64>();
            assert_eq!(
                (sum("lookups"), sum("misses")),
                (count(row, "lookups"), count(row, "misses")),
                "{row}"
            );
            let starts = (0..).zip(&of).all(|(place, window)| count(window, "start_ns") == place * length);
            assert!(starts, "{of:?}");
        }
    }
}

#[test]
fn the_answer_does_not_depend_on_threads() {
    let on = |threads: u32| {
        trueplane(&small(
            CHANGING,
            &format!("--policies all --loss 1% --jitter 50us --json --threads {threads}"),
        ))
        .json()
    };
    assert_eq!(on(1), on(3));
}

/// What people see, word for word; without the optimum, whose bounds move with every improvement of the search.
#[test]
fn a_small_comparison_is_printed() {
    let ended = trueplane(&small(CHANGING, "--warmup 200ms --threads 2"));
    assert_eq!((ended.status, ended.stderr.as_str()), (0, ""));
    insta::assert_snapshot!(ended.stdout);
}

#[test]
fn a_sweep_of_everything_is_drawn() {
    let folder = tempfile::tempdir().expect("a folder is to be had");
    let report = folder.path().join("report");
    let flags = "--policies all --hot-in 0,200 --chain 1,4 --best-config --warmup 100ms";
    let ended = trueplane(&small(CHANGING, &format!("{flags} --report {}", report.display())));
    assert_eq!((ended.status, ended.stderr.as_str()), (0, ""));
    assert!(ended.stdout.contains("all else here is about 200"), "{}", ended.stdout);
    let page = fs::read_to_string(report.join("index.html")).expect("the page was written");
    assert!(page.contains("<svg") && !page.contains("src=\"http"));
    for plot in [
        "update-rate-optimal-at-200",
        "update-rate-at-0",
        "configurations-netcache-at-200",
        "configurations-tea-at-200",
        "changes",
        "over-time-10ms-at-200",
        "over-time-100ms-at-200",
        "chains-at-200",
        "control-rate-at-0",
    ] {
        assert!(report.join(format!("{plot}.csv")).exists(), "{plot}");
    }
    let first = |name: &str| {
        let text = fs::read_to_string(report.join(name)).expect("the table was written");
        text.lines().next().map(ToOwned::to_owned).unwrap_or_default()
    };
    assert_eq!(
        first("misses.csv"),
        "change,system,update_rate_per_s,control_rate_per_s,chain,threshold,best,lookups,misses,miss_ratio,miss_ratio_upper,\
         misses_beside_classical,misses_beside_belady,recovery_ns,recovery_changes,recovery_never"
    );
}

#[test]
fn a_single_point_has_no_pictures_of_sweeps() {
    let folder = tempfile::tempdir().expect("a folder is to be had");
    let flags = "offload compare zipf:0.99,keys=1K,seconds=1 --rate 20K --entries 64 --batch 4 --update-rate 1K \
                 --policies ideal-lru,netcache --threshold 2";
    let ended = trueplane(&format!("{flags} --report {}", folder.path().display()));
    assert_eq!((ended.status, ended.stderr.as_str()), (0, ""));
    let page = fs::read_to_string(folder.path().join("index.html")).expect("the page was written");
    for (plot, is_drawn) in
        [("Misses over time", true), ("What slow updates cost", false), ("how much of the workload", false)]
    {
        assert_eq!(page.contains(plot), is_drawn, "{plot}");
    }
}

/// 3000 lookups of 40 keys, the first half of other keys than the second.
fn log() -> Vec<u8> {
    let mut text = String::from("time,key\n");
    for line in 0..3000u64 {
        let key = line * line % 41 + 1000 * (line / 1500);
        text += &format!("{line},{key}\n");
    }
    text.into_bytes()
}

#[test]
fn traces_are_read_from_standard_input() {
    let flags = "--rate 1K --entries 16 --batch 2 --update-rate 20,200 --control-rate 100 --history 2x4 --policies all --json";
    let document = trueplane_on(&log(), &format!("offload compare - {flags}")).json();
    let parameters = &document["parameters"];
    assert_eq!((&parameters["workload"], &parameters["entries"]), (&"-".into(), &16.into()));
    assert!(document["title"].as_str().expect("a text").ends_with(": stdin"));
    assert!(rows(&document).iter().all(|row| count(row, "lookups") == 3000 && row["change"].is_null()));
    assert!(rows(&document).iter().all(|row| row["recovery_ns"].is_null()));
    let by_name = format!("offload compare - --columns key=2 --format csv {flags}");
    assert_eq!(trueplane_on(&log(), &by_name).json()["tables"], document["tables"]);
}

/// Packets of 10 sources that all go to one address.
fn capture() -> Vec<u8> {
    let words = |words: &[u32]| words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<u8>>();
    let mut file = words(&[0xa1b2_c3d4, 0x0004_0002, 0, 0, 65_535, 1]);
    for packet in 0..400u32 {
        let mut frame = vec![0; 12];
        frame.extend([
            8,
            0,
            0x45,
            0,
            0,
            32,
            0,
            0,
            0,
            0,
            64,
            17,
            0,
            0,
            10,
            0,
            (packet * packet % 11) as u8,
            1,
            10,
            9,
            9,
            9,
        ]);
        frame.extend([0, 7, 0, 53, 0, 12, 0, 0, 1, 2, 3, 4]);
        file.extend(words(&[packet, 0, frame.len() as u32, frame.len() as u32]));
        file.extend(frame);
    }
    file
}

#[test]
fn packets_are_looked_up_by_what_is_asked_for() {
    let flags = "--rate 1K --entries 4 --policies ideal-lru,belady --json";
    let by = |key: &str| trueplane_on(&capture(), &format!("offload compare - --key {key} {flags}")).json();
    let (sources, destinations) = (by("src"), by("dst"));
    assert_eq!(count(of(&destinations, "belady")[0], "misses"), 1, "there is one destination");
    assert!(count(of(&sources, "belady")[0], "misses") > 4);
    let facts = &destinations["facts"];
    assert_eq!((count(facts, "keys"), count(facts, "keys_collided")), (1, 0));
}

#[test]
fn more_control_packets_than_data_are_warned_of() {
    let flags = "--rate 20K --entries 64 --history 16x8 --control-rate 40K --policies ideal-lru,dyso";
    let text = trueplane(&format!("offload compare zipf:0.99,keys=1K,seconds=0.5 {flags}")).stdout;
    assert!(
        text.contains("More control packets (40000 a second) than data packets (20000 a second)"),
        "{text}"
    );
}

#[test]
fn wrong_flags_are_refused_in_one_line() {
    for (flags, said) in [
        ("", "WORKLOAD"),
        ("none.csv", "none.csv: No such file or directory"),
        ("zipf:", "zipf:: expected"),
        ("zipf:0.99,keys=0,seconds=1", "keys"),
        ("zipf:0.99,keys=1K,hot-in=10,seconds=1", "hot-in"),
        ("zipf:0.99,keys=1K,colour=red,seconds=1", "colour"),
        (
            "zipf:0.99,keys=1K,seconds=1 --rate 0",
            "expected a rate above zero such as 80Mpps or 20K, got \"0\"",
        ),
        ("zipf:0.99,keys=1K,seconds=1 --rate 10Gbps", "expected a rate such as 80Mpps"),
        ("zipf:0.99,keys=1K,seconds=1 --update-rate 20K,0", "expected a rate above zero"),
        ("zipf:0.99,keys=1K,seconds=1 --control-rate 0pps", "expected a rate above zero"),
        ("zipf:0.99,keys=1K,seconds=1 --entries 0", "expected 1 to 268435456, got \"0\""),
        (
            "zipf:0.99,keys=1K,seconds=1 --entries 65537",
            "65537 entries make no table of two or more rows of 4",
        ),
        ("zipf:0.99,keys=1K,seconds=1 --chain 65", "--chain"),
        ("zipf:0.99,keys=1K,seconds=1 --batch 0", "expected a count above zero"),
        (
            "zipf:0.99,keys=1K,seconds=1 --policies lru",
            "expected one or several of ideal-lru, ideal-lfu, belady",
        ),
        ("zipf:0.99,keys=1K,seconds=1 --hot-in 10", "levels of change need"),
        ("zipf:0.99,keys=1K,hot-in=1/1s,seconds=1 --hot-in 1001", "up to 1000 keys, got 1001"),
        ("zipf:0.99,keys=1K,seconds=1 --rate 1K --policies ideal-lru --warmup 1s", "leaves none of 1000"),
        (
            "zipf:0.99,keys=1K,seconds=1 --warmup soon",
            "expected a number such as 10K, a time such as 1s or a share such as 10%",
        ),
        (
            "zipf:0.99,keys=1K,seconds=1 --history 256",
            "expected rows x slots, both above zero, such as 256x8",
        ),
        ("zipf:0.99,keys=1K,seconds=1 --load 0%", "expected a whole percentage from 1% to 100%"),
        ("zipf:0.99,keys=1K,seconds=1 --loss 100%", "expected a percentage from 0% to 90%, got \"100%\""),
        ("zipf:0.99,keys=1K,seconds=1 --tuning 0s", "expected a time above zero such as 1s, or never"),
        ("zipf:0.99,keys=1K,seconds=1 --threshold 0", "--threshold"),
        ("zipf:0.99,keys=1K,seconds=1 --gap 1", "expected a percentage"),
        ("zipf:0.99,keys=1K,seconds=1 --key port", "--key"),
        ("zipf:0.99,keys=1K,seconds=1 --report Cargo.toml", "--report Cargo.toml"),
    ] {
        let ended = trueplane(&format!("offload compare {flags}"));
        assert!(ended.refusal().contains(said), "{flags}: {}", ended.stderr);
    }
}

#[test]
fn flags_for_traces_are_refused_where_keys_are_drawn() {
    for (flags, flag) in [
        ("--format csv", "--format"),
        ("--columns key=2", "--columns"),
        ("--time-unit ms", "--time-unit"),
        ("--fetch-unit ms", "--fetch-unit"),
        ("--delimiter tab", "--delimiter"),
        ("--header=false", "--header"),
        ("--key flow", "--key"),
        ("--sort", "--sort"),
        ("--strict", "--strict"),
    ] {
        let ended = trueplane(&format!("offload compare zipf:0.99,keys=1K,seconds=1 {flags}"));
        let said =
            format!("{flag}: it says how to read a trace, and zipf:0.99,keys=1K,seconds=1 is no trace");
        assert!(ended.status == 2 && ended.refusal().contains(&said), "{flags}: {}", ended.stderr);
    }
}

#[test]
fn offline_systems_alone_have_a_verdict() {
    for (system, said) in
        [("belady", "misses less than belady, which knows the future: "), ("optimal", "no table in batches")]
    {
        let document = trueplane(&small(CHANGING, &format!("--policies {system} --json"))).json();
        let first = document["verdict"][0].as_str().expect("a sentence");
        assert!(first.contains(said), "{system}: {first}");
    }
}

#[test]
fn broken_traces_are_refused_in_one_line() {
    for (text, said) in [
        ("", "stdin: no requests found"),
        ("time,key\n0,1\n2\n", "stdin:3: expected at least 2 columns, found 1"),
        ("time,size\n0,1\n", "stdin:1: none of the columns time, size is known to be the key"),
    ] {
        let flags = "--rate 10 --entries 8 --policies ideal-lru";
        let ended = trueplane_on(text.as_bytes(), &format!("offload compare - {flags}"));
        assert!(ended.refusal().contains(said), "{text}: {}", ended.stderr);
    }
}

#[test]
fn help_has_examples() {
    for verb in ["compare", "size"] {
        let ended = trueplane(&format!("offload {verb} --help"));
        assert_eq!((ended.status, ended.stderr.as_str()), (0, ""), "{verb}");
        assert!(ended.stdout.contains(&format!("trueplane offload {verb}")));
        assert!(ended.stdout.contains("Examples:"));
        let of_loss = ended.stdout.contains("Share of packets that are lost.");
        assert_eq!(of_loss, verb == "compare", "{}", ended.stdout);
    }
}

#[test]
fn the_exact_optimum_is_asked_of_a_solver() {
    let run = trueplane("offload compare zipf:0.99,keys=500,lookups=20K --policies lru --exact");
    assert_eq!(run.status, 2);
    let flags = "--entries 64 --batch 4 --rate 100K --update-rate 500 --warmup 0 --exact --json";
    let nobody =
        trueplane(&format!("offload compare zipf:0.99,keys=500,lookups=20K --policies dyso {flags}"));
    assert!(
        nobody.status == 2 && nobody.stderr.contains("--exact: expected optimal among --policies"),
        "{}",
        nobody.stderr
    );
    let found =
        trueplane(&format!("offload compare zipf:0.99,keys=500,lookups=20K --policies optimal {flags}"));
    if cfg!(feature = "lp") {
        let document = found.json();
        let row = &document["tables"]["bounds"][0];
        assert_eq!(count(row, "misses_lower"), count(row, "misses_upper"));
    } else {
        assert!(found.status == 2 && found.stderr.contains("--features lp"), "{}", found.stderr);
    }
}

#[test]
fn what_is_no_lookup_is_counted() {
    let rows: String = (0..100).map(|time| format!("{time},1\n{time},\n{time},2\n")).collect();
    let arguments = "offload compare - --policies ideal-lru --entries 64";
    let document = trueplane_on(rows.as_bytes(), &format!("{arguments} --json")).json();
    assert_eq!(
        document["tables"]["left-out"].to_string(),
        r#"[{"count":100,"what":"rows with an empty key"}]"#
    );
    let text = trueplane_on(rows.as_bytes(), arguments).stdout;
    assert!(text.contains("Left out of the trace") && text.contains("rows with an empty key"), "{text}");
}

/// The order of a log is put right as everywhere: by --sort, or without it where it steps back by little.
#[test]
fn a_log_out_of_order_is_sorted_as_everywhere() {
    let run = |log: &str, flags: &str| {
        trueplane_on(
            log.as_bytes(),
            &format!("offload compare - --policies ideal-lru --entries 1 --warmup 0 --json {flags}"),
        )
    };
    let misses = |log: &str, flags: &str| count(of(&run(log, flags).json(), "ideal-lru")[0], "misses");
    let apart = "time,key\n1,a\n4,b\n2,a\n5,b\n3,a\n6,b\n";
    assert_eq!(misses(apart, "--sort"), 2);
    let refused = run(apart, "");
    assert!(refused.status == 2 && refused.stderr.contains("--sort"), "{}", refused.stderr);
    let near = "time_ms,key\n0,a\n10,b\n5,a\n";
    assert_eq!(misses(near, ""), 2);
    assert_eq!(run(near, "--strict").status, 2);
    assert_eq!(misses("a\nb\na\n", ""), 3, "a log without times has its order");
}
