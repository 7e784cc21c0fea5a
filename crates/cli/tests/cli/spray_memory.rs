//! `trueplane spray memory` as its users run it. No test here looks at how fast it was.

use std::fs;

use serde_json::Value;

use crate::common::trueplane;

fn rows(document: &Value) -> &[Value] {
    assert_eq!(document["study"], "spray.memory");
    document["rows"].as_array().expect("a list")
}

#[track_caller]
fn count(row: &Value, name: &str) -> u64 {
    row[name].as_u64().unwrap_or_else(|| panic!("{name}: {row}"))
}

#[test]
fn every_system_treats_every_connection_as_one_core_does() {
    let document = trueplane(
        "spray memory --nf nat --traffic connections --flows 50 --packets 20000 --repeat 2 --cycles 0 --dispatch all --json",
    )
    .json();
    let rows = rows(&document);
    let names: Vec<&str> = rows.iter().filter_map(|row| row["dispatch"].as_str()).collect();
    let all = "rss rss:default spray round-robin flowlet subset:2 adaptive rss++ locked sharded scr";
    assert_eq!(names.join(" "), all);
    for row in rows {
        assert_eq!(row["identical"], true, "{row}");
        assert_eq!(
            (&row["nf"], count(row, "cores"), count(row, "flows"), count(row, "cycles")),
            (&"nat".into(), 2, 50, 0)
        );
        // The same connections for all of them, twice.
        assert_eq!(count(row, "packets"), count(&rows[0], "packets"), "{row}");
        assert_eq!(count(row, "forwarded"), count(&rows[0], "forwarded"), "{row}");
        assert!((36_000..44_000).contains(&count(row, "packets")), "{row}");
        assert!((1..count(row, "packets")).contains(&count(row, "forwarded")), "{row}");
        // The dispatcher waits for room.
        assert_eq!(count(row, "refused"), 0, "{row}");
        assert_eq!(row["rates_pps"].as_array().map(Vec::len), Some(2), "{row}");
        assert!(count(row, "table_bytes") > 0, "{row}");
        for share in ["busy", "dispatcher"] {
            assert!(row[share].as_f64().is_some_and(|share| (0.0..=1.01).contains(&share)), "{share}: {row}");
        }
        for missing in ["reordered", "established", "established_forwarded"] {
            assert!(row[missing].is_null(), "{missing}: {row}");
        }
    }
    assert_eq!(rows[0]["ratio"], 1.0);
    let handed_over = |name: &str| {
        let row = rows.iter().find(|row| row["dispatch"] == name);
        count(row.unwrap_or_else(|| panic!("{name}")), "handed_over")
    };
    // Connections that begin at another core than theirs; where each core has its own table, none does.
    assert!(handed_over("spray") > 0 && handed_over("round-robin") > 0);
    assert_eq!([handed_over("sharded"), handed_over("scr")], [0; 2]);
    let parameters = &document["parameters"];
    assert_eq!((&parameters["traffic"], &parameters["seed"]), (&"connections".into(), &1.into()));
    assert!(document["machine"]["cores"].as_u64() >= Some(1), "{}", document["machine"]);
    assert!(!document["verdict"].as_array().expect("sentences").is_empty());
}

#[test]
fn steady_flows_all_pass_and_hashing_keeps_their_order() {
    let document = trueplane(
        "spray memory --nf monitor --flows 4 --packets 20000 --repeat 1 --cycles 0,100 --dispatch rss,spray --json",
    )
    .json();
    let rows = rows(&document);
    let cells: Vec<_> = rows.iter().map(|row| (row["dispatch"].as_str(), count(row, "cycles"))).collect();
    assert_eq!(cells, [(Some("rss"), 0), (Some("spray"), 0), (Some("rss"), 100), (Some("spray"), 100)]);
    for row in rows {
        assert!(row["identical"].is_null(), "{row}");
        assert_eq!((count(row, "forwarded"), count(row, "refused")), (count(row, "packets"), 0), "{row}");
        // A tenth warms up.
        assert!((17_000..=20_000).contains(&count(row, "packets")), "{row}");
        let reordered = row["reordered"].as_f64().expect("a share");
        assert!((0.0..1.0).contains(&reordered), "{row}");
        assert!(row["dispatch"] == "spray" || reordered == 0.0, "{row}");
        assert!(row["rate_pps"].as_f64().is_some_and(|rate| rate > 0.0), "{row}");
    }
}

#[test]
fn a_flood_leaves_connections_alone_and_tables_bounded() {
    let document = trueplane(
        "spray memory --nf firewall --traffic flood --flows 100 --packets 40000 --table 2048 --repeat 1 --cycles 0 --dispatch rss,spray --json",
    )
    .json();
    assert_eq!(document["parameters"]["table_flows"], 2048);
    for row in rows(&document) {
        // One behind every 20 SYNs but the last 20; what opens the 100 connections comes before and is no part of them.
        assert_eq!(count(row, "established"), 1_999, "{row}");
        assert_eq!(count(row, "established_forwarded"), count(row, "established"), "{row}");
        assert_eq!(count(row, "packets"), 2 * 100 + 40_000 + count(row, "established"), "{row}");
        assert!((100..=2048).contains(&count(row, "table_flows")), "{row}");
    }
}

#[test]
fn cards_drop_what_finds_a_ring_full() {
    let document = trueplane(
        "spray memory --nf monitor --flows 2 --packets 20000 --ring 1 --drop --cycles 20000 --dispatch rss --repeat 1 --json",
    )
    .json();
    let row = &rows(&document)[0];
    assert_eq!(document["parameters"]["drops"], true);
    assert!(count(row, "refused") > 0, "{row}");
    assert!(count(row, "forwarded") < 20_000, "{row}");
}

#[test]
fn a_report_has_the_tables_and_the_figure() {
    let folder = tempfile::tempdir().expect("a folder is to be had");
    let ended = trueplane(&format!(
        "spray memory --nf nat --traffic connections --flows 10 --packets 4000 --repeat 2 --cycles 0,100 --dispatch rss,scr --report {}",
        folder.path().display()
    ));
    assert_eq!((ended.status, ended.stderr.as_str()), (0, ""));
    for said in [
        "Network functions on several cores, with real threads in memory",
        "every one got the verdict that one core alone gives",
        "about 4000 packets; 2 of each system, in turns",
    ] {
        assert!(ended.stdout.contains(said), "{said}: {}", ended.stdout);
    }
    let lines = |name: &str| {
        let text =
            fs::read_to_string(folder.path().join(name)).unwrap_or_else(|error| panic!("{name}: {error}"));
        text.lines().count()
    };
    // Of each system at each number of cycles: one row, and one for each run.
    assert_eq!([lines("rates.csv"), lines("rates-by-cycles.csv"), lines("runs.csv")], [1 + 4, 1 + 4, 1 + 8]);
    assert!(folder.path().join("index.html").exists());
}

#[test]
fn what_makes_no_sense_is_refused_in_one_line() {
    for (flags, said) in [
        ("--dispatch hash", "expected one of rss"),
        ("--dispatch rss,", "expected one of rss"),
        ("--nf proxy", "expected nat, firewall"),
        ("--nf dpi --dispatch rss,spray", "dpi cannot run under spray: "),
        ("--traffic calm", "unknown traffic \"calm\"; known: steady, connections, flood"),
        ("--cores 0", "expected 1 to 64 cores"),
        ("--cores 65", "expected 1 to 64 cores"),
        ("--flows 0", "expected a count above zero"),
        ("--flows 10G", "expected 1 to "),
        ("--packets none", "expected a count such as"),
        ("--packets 0", "expected a count above zero"),
        ("--cycles 11M", "expected at most 10000000 cycles"),
        ("--repeat 0", "0 is not in 1..=100"),
        ("--table 1T", "expected a count such as"),
        ("--ring 0", "expected 1 to 65536 packets"),
        ("--rules no-such-file.txt --nf firewall", "no-such-file.txt: No such file or directory"),
        ("--public ::1 --nf nat", "--public: expected an address or a prefix of IPv4"),
    ] {
        let ended = trueplane(&format!("spray memory {flags}"));
        assert!(ended.refusal().contains(said), "{flags}: {}", ended.stderr);
    }
}
