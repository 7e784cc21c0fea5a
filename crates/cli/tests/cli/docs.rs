//! What the documents claim is what the command does.

use std::fs;
use std::io::Write as _;

use crate::common::{root, trueplane, trueplane_on};
use serde_json::Value;

fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).expect("the document is there")
}

#[test]
fn the_readme_shows_the_real_output() {
    let readme = read("README.md");
    let (_, block) = readme.split_once("$ cargo run --release -q -- ").expect("the main command is there");
    let (arguments, output) = block.split_once('\n').expect("its output follows");
    let (expected, _) = output.split_once("```").expect("the block ends");
    let ended = trueplane(arguments);
    assert_eq!((ended.status, ended.stderr.as_str()), (0, ""));
    assert_eq!(ended.stdout, expected, "README.md is out of date");
}

/// The traces of a page: what the comment above each says of it, and its lines.
fn worked_examples(page: &str) -> Vec<(String, String)> {
    let blocks = page.split("<!-- test: ").skip(1);
    let parse = |block: &str| {
        let (claim, rest) = block.split_once(" -->").expect("the comment ends");
        let trace = rest
            .split_once("```trace\n")
            .and_then(|(_, trace)| trace.split_once("```"))
            .expect("a trace follows")
            .0;
        (claim.to_owned(), trace.replace('.', ""))
    };
    blocks.map(parse).collect()
}

fn compare(trace: &str, flags: &str) -> Value {
    trueplane_on(
        trace.as_bytes(),
        &format!("cache compare - --format csv --header false --columns key=1 --json {flags}"),
    )
    .json()
}

#[test]
fn the_worked_examples_come_out_as_by_hand() {
    let examples = worked_examples(&read("docs/concepts/cache.md"));
    let [(delayed, first), (beaten, second)] = &examples[..] else {
        panic!("two examples, not {}", examples.len())
    };

    assert_eq!(delayed, "lru, Z = 10, capacity 1");
    let document = compare(first, "--latency 10steps --capacity 1 --policies lru");
    let lru = &document["runs"][0]["policies"][0];
    assert_eq!([&lru["misses"], &lru["delayed_hits"], &lru["hits"]], [1, 2, 1]);
    assert_eq!((&lru["latency_total"], lru["latency_mean"].as_f64()), (&Value::from(20), Some(5.0)));
    assert_eq!(
        (lru["classical_hit_rate"].as_f64(), lru["classical_latency_mean"].as_f64()),
        (Some(0.75), Some(2.5))
    );

    assert_eq!(beaten, "belady 15, belady-ad 12, Z = 3, capacity 2");
    let document = compare(second, "--latency 3steps --capacity 2 --policies belady,belady-ad");
    let policies = &document["runs"][0]["policies"];
    assert_eq!([&policies[0]["latency_total"], &policies[1]["latency_total"]], [15, 12]);
}

/// The rows of the page's table of real traces: requests and objects, and wrong picks.
#[test]
fn real_traces_come_out_as_the_page_says() {
    let page = read("docs/concepts/cache.md");
    for (file, row) in
        [("OLTP.lis", "OLTP"), ("cloudphysics.csv", "CloudPhysics"), ("burst_250K.csv", "bursty Zipf")]
    {
        let path = format!("../shared/data/cache/{file}.zst");
        if !root().join(&path).exists() {
            // Past the test harness, which keeps back what the macros print.
            let _ = writeln!(std::io::stderr(), "skipped: no {path}");
            continue;
        }
        let row = page.lines().find(|line| line.starts_with(&format!("| {row}"))).expect("the row is there");
        let cells: Vec<&str> = row.split('|').map(str::trim).collect();
        let flags = "--time slotted --latency 100steps,1000steps,10000steps --capacity 1%,5%,10%";
        let ended = trueplane(&format!("cache compare {path} {flags}"));
        let fact = |name: &str| {
            let line =
                ended.stdout.lines().find(|line| line.trim_start().starts_with(name)).expect("it is a fact");
            line.trim_start().trim_start_matches(name).trim().to_owned()
        };
        assert_eq!(
            format!("{} / {}", fact("requests"), fact("objects")),
            cells[2].replace(',', ""),
            "{file}"
        );
        assert!(
            ended.stdout.contains(&format!("picks the wrong policy at {} points", cells[3])),
            "{}",
            ended.stdout
        );
        let gap = cells[5].split(" (").next().expect("an error");
        assert!(ended.stdout.contains(&format!("is {gap}.")), "{}", ended.stdout);
    }
}

#[test]
fn the_bundled_trace_is_what_the_generator_makes() {
    let folder = tempfile::tempdir().expect("a folder is to be had");
    let path = folder.path().join("again.csv.zst");
    let flags = "cache generate --profile cdn --irt 10us --requests 200K --seed 7 --out";
    let ended = trueplane(&format!("{flags} {}", path.display()));
    assert_eq!((ended.status, ended.stdout.as_str(), ended.stderr.as_str()), (0, "", ""));
    let bundled = fs::read(root().join("examples/cdn-200k.csv.zst")).expect("it is bundled");
    assert!(fs::read(&path).expect("it was written") == bundled, "examples/cdn-200k.csv.zst is out of date");
}
