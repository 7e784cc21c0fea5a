//! `cache compare` in a browser (`browser/README.md`) says what the command here says.

use std::io::Write as _;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::common::{root, trueplane};
use crate::pages::browser;

/// Logs and what is filled in for them; the sample has no file.
const LOGS: [(Option<&str>, &str); 3] = [
    (None, "--latency 100ms --policies all"),
    (Some("examples/cdn-200k.csv.zst"), "--latency 10ms,100ms --capacity 1% --policies lru,lru-mad"),
    // The log of a database, from the paper on ARC.
    (Some("../shared/data/cache/OLTP.lis.zst"), "--latency 1000steps --capacity 1000 --policies lru,lru-mad"),
];

/// What the page shows of a log, with this filled in.
fn shown(browser: &str, page: &Path, log: &str, flags: &str) -> Value {
    let words: Vec<&str> = flags.split(' ').collect();
    let values = words.chunks(2).map(|pair| format!("{}={}", pair[0].trim_start_matches("--"), pair[1]));
    let output = Command::new("node")
        .arg(root().join("browser/drive.mjs"))
        .arg(page)
        .arg(log)
        .args(values)
        .current_dir(root())
        .env("CHROMIUM", browser)
        .output()
        .expect("node was there a moment ago");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let shown: Value = serde_json::from_slice(&output.stdout).expect("it prints JSON");
    assert_eq!((&shown["logged"], &shown["connected"]), (&Value::from([""; 0]), &Value::from([""; 0])));
    shown
}

#[test]
#[ignore = "it loads what `make browser` builds; `make browser-test` runs it"]
fn the_page_answers_as_the_command_does() {
    let skip = |why: &str| drop(writeln!(std::io::stderr(), "skipped: {why}"));
    let Some(browser) = browser() else { return skip("pages are looked at with chromium") };
    if Command::new("node").arg("--version").output().is_err() {
        return skip("node drives the browser");
    }
    let page = root().join("target/browser/trueplane.html");
    if !page.exists() {
        return skip("make browser has not built target/browser/trueplane.html");
    }

    for (log, flags) in LOGS {
        let path = log.unwrap_or("examples/cdn-200k.csv.zst");
        if !root().join(path).exists() {
            skip(&format!("{path} is not there"));
            continue;
        }
        let shown = shown(browser, &page, log.unwrap_or("-"), flags);
        let there = trueplane(&format!("cache compare {path} {flags} --quiet"));
        assert_eq!((there.status, there.stderr.as_str()), (0, ""));
        let lines: Vec<&str> =
            shown["lines"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        let (facts, answer) = lines.split_last().expect("it says something");
        assert_eq!(answer, there.stdout.lines().collect::<Vec<_>>(), "{path} {flags}");
        assert!(facts.contains(" and wrote the report in "), "{facts}");
        assert_eq!(shown["headline"], answer[0]);
        assert!(shown["tables"].as_u64() > Some(3) && shown["height"].as_u64() > Some(1000), "{shown}");
    }

    // An error is one line, as it is in a terminal.
    let wrong = shown(browser, &page, "examples/jobs.csv", "--latency soon");
    let there = trueplane("cache compare examples/jobs.csv --latency soon");
    assert_eq!(wrong["wrong"], there.refusal());
}
