//! `trueplane surge …` as its users run it.

use std::fmt::Write as _;
use std::fs;

use serde_json::Value;

use crate::common::{trueplane, trueplane_on};

const COMPARE: &str = "surge compare iid:packets=4K --largest-job 1ms --threads 2";

fn count(of: &Value, name: &str) -> u64 {
    of[name].as_u64().unwrap_or_else(|| panic!("{name}: {of}"))
}

fn number(of: &Value, name: &str) -> f64 {
    of[name].as_f64().unwrap_or_else(|| panic!("{name}: {of}"))
}

fn list<'a>(of: &'a Value, name: &str) -> &'a [Value] {
    of[name].as_array().unwrap_or_else(|| panic!("{name}: {of}"))
}

/// The rows of a table.
fn table<'a>(of: &'a Value, name: &str) -> &'a [Value] {
    list(&of["tables"], name)
}

/// Jobs of which one in ten is long.
fn jobs(rows: u32, times: bool) -> String {
    let mut text =
        String::from(if times { "packet_bytes,flow,job_ns,time_ns\n" } else { "packet_bytes,flow,job_ns\n" });
    for row in 0..rows {
        let job = if row % 10 == 0 { 20_000 } else { 1_000 };
        let _ = write!(text, "{},{},{job}", 100 + row % 1400, row % 13);
        let _ = if times { writeln!(text, ",{}", u64::from(row) * 8_000) } else { writeln!(text) };
    }
    text
}

#[test]
fn every_policy_is_attacked_at_every_rate() {
    let document =
        trueplane(&format!("{COMPARE} --innocent 50%,90% --attack-rate 1Mbps,300Mbps --json")).json();
    assert_eq!(document["study"], "surge.compare");
    assert_eq!(count(&document["facts"], "seeds"), 3);
    let rows = table(&document, "rows");
    assert_eq!(rows.len(), 2 * 2 * 8);
    let names: Vec<&str> = rows.iter().step_by(2).take(8).filter_map(|row| row["policy"].as_str()).collect();
    let known = ["fcfs", "fq", "drr", "sjf", "wsjf", "wsjf-hoq", "wsjf-inorder", "sjf-inorder"];
    assert_eq!(names, known);
    for row in rows {
        let sum = count(row, "served") + count(row, "dropped") + count(row, "left");
        assert_eq!(count(row, "arrived"), sum, "{row}");
        assert!(count(row, "attack_packet_bits") >= 512 && count(row, "attack_job_ns") > 0);
        // Flows of 40 packets are too short for a theory of orders that treat flows alike.
        let alike = ["fq", "drr"].contains(&row["policy"].as_str().expect("a name"));
        assert!(row["theory"].is_number() != alike, "{row}");
        let tells = count(row, "attack_bps") == 300_000_000;
        assert!(!tells || row["displacement_half_interval"].is_number(), "{row}");
    }
    let runs = table(&document, "runs");
    assert_eq!(runs.len(), 3 * rows.len());
    for run in runs {
        let lost = number(run, "baseline_goodput_bps") - number(run, "goodput_bps");
        let (rate, factor) = (count(run, "attack_bps") as f64, number(run, "displacement_factor"));
        // Goodputs are written in whole bits per second.
        assert!((lost / rate - factor).abs() < 1e-6 * factor.abs().max(1.0) + 1.0 / rate, "{run}");
    }
    let again = trueplane(&format!(
        "{} --innocent 50%,90% --attack-rate 1Mbps,300Mbps --json",
        COMPARE.replace("--threads 2", "--threads 1")
    ));
    assert_eq!(again.json(), document, "one seed, one answer");
}

/// What people see, word for word.
#[test]
fn a_small_study_is_printed() {
    let policies = "--policies fcfs,sjf,wsjf --attack-rate 30% --seeds 2";
    let ended = trueplane(&format!("{COMPARE} {policies}"));
    assert_eq!((ended.status, ended.stderr.as_str()), (0, ""));
    insta::assert_snapshot!(ended.stdout);
}

#[test]
fn a_study_is_drawn() {
    let folder = tempfile::tempdir().expect("a folder is to be had");
    let report = folder.path().join("report");
    let flags = "--innocent 10%,90% --attack-rate 1%..100%:3 --policies fcfs,wsjf";
    let ended = trueplane(&format!("{COMPARE} {flags} --report {}", report.display()));
    assert_eq!((ended.status, ended.stderr.as_str()), (0, ""));
    let page = fs::read_to_string(report.join("index.html")).expect("the page was written");
    assert!(
        page.contains("<svg")
            && page.contains("Displacement factor, users at")
            && !page.contains("src=\"http")
    );
    let rows = fs::read_to_string(report.join("rows.csv")).expect("the table was written");
    assert_eq!(rows.lines().count(), 1 + 2 * 2 * 3);
    for plot in ["displacement-1", "displacement-2", "goodput-1", "goodput-2"] {
        assert!(report.join(format!("{plot}.csv")).exists(), "{plot}");
    }
}

#[test]
fn departures_are_written_whole() {
    let folder = tempfile::tempdir().expect("a folder is to be had");
    let file = folder.path().join("served.csv");
    let one = "--policies wsjf --attack-rate 30% --seeds 1 --json";
    let document = trueplane(&format!("{COMPARE} {one} --departures {}", file.display())).json();
    let fates = table(&document, "fates");
    let fate = |sender: &str| {
        let attacked = |fate: &&Value| fate["attack_bps"].is_number() && fate["sender"] == sender;
        fates.iter().find(attacked).expect("it has a fate")
    };
    let text = fs::read_to_string(&file).expect("the file was written");
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some("index,class,start_ns,end_ns"));
    let (mut users, mut attacker, mut before) = (0, 0, 0);
    for line in lines {
        let cells: Vec<&str> = line.split(',').collect();
        let [_, class, start, end] = cells[..] else { panic!("{line}") };
        match class {
            "I" => users += 1,
            "A" => attacker += 1,
            _ => panic!("{line}"),
        }
        let (start, end): (u64, u64) = (start.parse().expect("a time"), end.parse().expect("a time"));
        assert!(before <= start && start < end, "{line}");
        before = end;
    }
    assert_eq!(users, count(fate("users"), "served"));
    assert_eq!(attacker, count(fate("attacker"), "served"));
    let several = "--policies fcfs,wsjf --attack-rate 30% --seeds 1";
    let other = folder.path().join("other.csv");
    let ended = trueplane(&format!("{COMPARE} {several} --departures {}", other.display()));
    assert!(ended.refusal().contains("--departures is for one policy"), "{}", ended.stderr);
    assert!(!other.exists());
    assert_eq!(fs::read_dir(folder.path()).expect("it can be listed").count(), 1, "nothing half-written");
}

#[test]
fn jobs_are_read_from_a_file() {
    let flags =
        "--arrivals trace --innocent own --policies fcfs,wsjf --attack-rate 1% --largest-job 1ms --json";
    let document =
        trueplane_on(jobs(4_000, true).as_bytes(), &format!("surge compare trace:- {flags}")).json();
    assert_eq!(document["title"], "What an attacker's bit costs users: stdin");
    assert_eq!(count(&document["facts"], "packets"), 4_000);
    let rows = table(&document, "rows");
    assert!(rows[0]["displacement_half_interval"].is_null(), "nothing is drawn");
    // Of so few packets of attack the table says nothing.
    let runs = table(&document, "runs");
    let [fcfs, wsjf] = [0, 1].map(|run| number(&runs[run], "displacement_factor"));
    assert!(fcfs > 10.0 && wsjf < 1.0, "{fcfs} {wsjf}");
}

#[test]
fn guard_answers_in_two_lines() {
    let folder = tempfile::tempdir().expect("a folder is to be had");
    let file = folder.path().join("jobs.csv");
    fs::write(&file, jobs(10_000, true)).expect("it can be written");
    let guard = format!("surge guard {}", file.display());
    let document = trueplane(&format!("{guard} --json")).json();
    assert_eq!(document["study"], "surge.guard");
    assert_eq!(list(&document, "verdict").len(), 2);
    let [today, guarded] = table(&document, "guard") else { panic!("{document}") };
    assert_eq!((&today["policy"], &guarded["policy"]), (&"fcfs".into(), &"wsjf".into()));
    assert!(number(today, "displacement_factor") > number(guarded, "displacement_factor"));
    let text = trueplane(&format!("{guard} --policy fq --capacity 1000 --largest-job 1ms")).stdout;
    assert!(text.contains("Today, under fq, a bit of steady attack costs your users up to"), "{text}");
    assert!(text.contains("Under wsjf it would cost them up to"), "{text}");
}

/// Jobs of which the long ones are thought to be short.
#[test]
fn what_the_scheduler_thinks_is_shown() {
    let mut text = String::from("packet_bytes,flow,job_ns,estimate_ns\n");
    for row in 0..4_000 {
        let job = if row % 10 == 0 { 10_000 } else { 1_000 };
        let _ = writeln!(text, "{},{},{job},1000", 100 + row % 1400, row % 13);
    }
    let guard = trueplane_on(text.as_bytes(), "surge guard - --details").stdout;
    assert!(guard.contains("that take 10µs each and are thought to take 1µs, at"), "{guard}");
    let largest =
        guard.lines().find(|line| line.contains("largest job of the attacker")).expect("it is told");
    assert!(largest.ends_with(" 10µs"), "{guard}");
    let flags = "--policies wsjf --attack-rate 1%,10%";
    let compare = trueplane_on(text.as_bytes(), &format!("surge compare trace:- {flags}")).stdout;
    assert!(compare.contains("thought"), "{compare}");
    let known = trueplane_on(jobs(4_000, false).as_bytes(), &format!("surge compare trace:- {flags}"));
    assert!(!known.stdout.contains("thought"), "{}", known.stdout);
}

/// An attack of few packets is nothing to rank policies by.
#[test]
fn few_packets_of_attack_are_told_of() {
    let said = |flags: &str, what: &str| -> Vec<String> {
        let document = trueplane(&format!("{COMPARE} --policies fcfs,wsjf --seeds 1 {flags} --json")).json();
        let said = list(&document, what).iter().map(|sentence| sentence.as_str().unwrap_or_default());
        said.map(str::to_owned).collect()
    };
    let none = said("--attack-rate 1Mbps", "verdict");
    assert!(none[0].starts_with("Every attack has fewer than 100 packets in a run"), "{none:?}");
    assert!(none[0].ends_with("take more packets of users, a longer trace, or a higher attack rate."));
    assert!(!none.iter().any(|sentence| sentence.contains("an attacker's bit costs")), "{none:?}");
    let printed =
        trueplane(&format!("{COMPARE} --policies fcfs,wsjf --seeds 1 --attack-rate 1Mbps --csv=rows"));
    let cell = |row: usize, name: &str| {
        let rows: Vec<Vec<&str>> = printed.stdout.lines().map(|line| line.split(',').collect()).collect();
        let place = rows[0].iter().position(|column| *column == name).expect("a column");
        rows[row + 1][place].to_owned()
    };
    assert_eq!((cell(0, "policy"), cell(0, "displacement_factor")), ("fcfs".into(), String::new()));
    let several = "--innocent 50%,90% --attack-rate 1Mbps,300Mbps";
    let some = said(several, "verdict");
    assert!(some[0].starts_with("With users at"), "{some:?}");
    let warnings = said(several, "warnings");
    let [few] = warnings.as_slice() else { panic!("{warnings:?}") };
    assert!(
        few.starts_with("Up to 1Mbps an attack has fewer than 100 packets") && few.contains("a longer trace")
    );
    let half: Vec<&String> = some.iter().filter(|sentence| sentence.contains("half of their")).collect();
    assert!(!half.is_empty() && half.iter().all(|sentence| sentence.starts_with("With users at")));
    let flags = "--policies fcfs,wsjf --seeds 1 --attack-rate 1Mbps,300Mbps --json";
    let document = trueplane(&format!("{COMPARE} {flags}")).json();
    assert!(table(&document, "worst").iter().all(|worst| count(worst, "attack_bps") == 300_000_000));
}

#[test]
fn applications_are_attacked_with_packets_of_their_own() {
    let flags = "--attack own --policies fcfs,wsjf-inorder --attack-rate 10Mbps --json";
    let document =
        trueplane(&format!("surge compare reassembly:generated,flows=50,packets=100 {flags}")).json();
    let rows = table(&document, "rows");
    assert_eq!(rows.len(), 2);
    for row in rows {
        assert_eq!(count(row, "attack_packet_bits"), 512);
        assert!(row["theory"].is_null() && row["bound"].is_null(), "theory knows no real packets");
        assert_eq!(count(row, "arrived"), count(row, "served") + count(row, "dropped") + count(row, "left"));
    }
    for design in ["list", "tree"] {
        let flags = format!("--design {design} --policies fcfs --attack-rate 100Mbps --json");
        let document =
            trueplane(&format!("surge compare reassembly:generated,flows=50,packets=100 {flags}")).json();
        assert!(table(&document, "rows")[0]["theory"].is_number());
    }
}

#[test]
fn a_search_begins_with_theory() {
    let flags = "--policies wsjf --attack-rate 30% --attack search --trials 20 --seeds 1 --json";
    let document = trueplane(&format!("{COMPARE} {flags}")).json();
    let row = &table(&document, "rows")[0];
    assert!(!table(&document, "mixtures").is_empty());
    let (found, bound) = (number(row, "displacement_factor"), number(row, "bound"));
    assert!(found > 0.5 && found <= bound * 1.01, "{found} {bound}");
    assert_eq!(
        trueplane(&format!("{COMPARE} {flags}").replace("--threads 2", "--threads 1")).json(),
        document
    );
}

/// The JSON of a study is enough to send what it found again.
#[test]
fn what_was_found_is_sent_again_from_its_file() {
    let folder = tempfile::tempdir().expect("a folder is to be had");
    let file = folder.path().join("found.json");
    let rates = "--policies fcfs,wsjf --attack-rate 1%,30% --seeds 2 --json";
    let ended = trueplane(&format!("{COMPARE} {rates} --attack search --trials 30"));
    fs::write(&file, &ended.stdout).expect("it can be written");
    let (found, again) =
        (ended.json(), trueplane(&format!("{COMPARE} {rates} --attack file:{}", file.display())).json());
    assert_eq!(again["parameters"]["attack"], format!("file:{}", file.display()));
    for name in ["mixtures", "runs"] {
        assert_eq!(table(&found, name), table(&again, name));
    }
    for (flags, said) in [
        (
            "--policies fq,wsjf --attack-rate 1%",
            "found.json: expected an attack on fq, found none: leave fq out of --policies",
        ),
        (
            "--policies wsjf --attack-rate 2%",
            "with users at 900Mbps, found none: give the workload, --innocent, --attack-rate",
        ),
    ] {
        let ended =
            trueplane(&format!("{COMPARE} {flags} --innocent 900Mbps --attack file:{}", file.display()));
        assert!(ended.refusal().contains(said), "{flags}: {}", ended.stderr);
    }
    fs::write(&file, "{\"study\": \"surge.guard\"}").expect("it can be written");
    let ended = trueplane(&format!("{COMPARE} --attack file:{}", file.display()));
    assert!(ended.refusal().contains("found.json: study: expected \"surge.compare\""), "{}", ended.stderr);
}

#[test]
fn wrong_flags_are_refused_in_one_line() {
    for (flags, said) in [
        ("compare iid: --attack file:", "expected a file after file:, got \"file:\""),
        ("compare iid: --attack file:none.json", "none.json: No such file or directory"),
        (
            "compare iid: --attack file:Cargo.toml",
            "Cargo.toml: expected the JSON that surge compare --json writes",
        ),
        ("compare iid: --attack file:found.json --trials 3", "--trials is for --attack search"),
        ("compare", "<WORKLOAD>"),
        (
            "compare jobs.csv",
            "expected iid:…, trace:FILE, reassembly:FILE, reassembly:generated or match:FILE, got",
        ),
        ("compare trace:", "expected a file after trace:"),
        ("compare trace:none.csv", "none.csv: No such file or directory"),
        ("compare reassembly:none.pcap", "none.pcap: No such file or directory"),
        ("compare match:none.pcap", "match:… needs rules: name their file with --rules"),
        ("compare match:none.pcap --rules none.rules", "none.rules: No such file or directory"),
        ("compare iid: --rules none.rules", "--rules is for match:FILE"),
        ("compare iid: --engine linear", "--engine is for match:FILE, and this workload matches nothing"),
        ("compare trace:none.csv --design list", "--design is for reassembly:…, and this workload"),
        ("compare iid: --heuristic ranges", "--heuristic is for reassembly:…, and this workload"),
        ("compare iid: --trials 64", "--trials is for --attack search"),
        (
            "compare reassembly:Cargo.toml",
            "Cargo.toml: not a capture: expected a pcap or pcapng header; for a CSV file of jobs say trace:FILE",
        ),
        ("compare iid:size=cauchy:1B", "size: expected a distribution such as 64B, uniform:64B:1500B"),
        ("compare iid:size=normal:64B", "got \"normal:64B\""),
        ("compare iid:job=0ns", "times from 1ns to 1min, got \"0ns\""),
        ("compare iid:packets=0", "expected 1 to 1073741824 packets"),
        ("compare iid:speed=1", "expected size=…, job=…, packets=… or flows=… after iid:, got \"speed=1\""),
        ("compare reassembly:generated,flows=0", "expected 1 to 1048576 flows, got \"0\""),
        (
            "compare iid: --innocent 0bps",
            "expected a rate above zero such as 10Gbps, 90% of r_max, or own, got \"0bps\"",
        ),
        ("compare iid: --innocent 0%", "got \"0%\""),
        ("compare iid: --innocent own", "the rate own needs a trace with times"),
        ("compare iid: --attack-rate 0Mbps", "got \"0Mbps\""),
        ("compare iid: --attack-rate 1Mbps..", "got \"1Mbps..\""),
        ("compare iid: --attack-rate 1Mbps..2Mbps:1", "got \"1Mbps..2Mbps:1\""),
        ("compare iid: --attack-rate 2Mbps..1Mbps", "expected rates from low to high"),
        (
            "compare iid: --policies pfabric",
            "expected one or several of fcfs, fq, drr, sjf, wsjf, wsjf-hoq, wsjf-inorder, sjf-inorder, or all, got \"pfabric\"",
        ),
        ("compare iid: --arrivals bursts", "expected one of even, poisson, trace, got \"bursts\""),
        ("compare iid: --arrivals trace", "--arrivals trace needs a trace with times"),
        ("compare iid: --capacity 0", "expected a capacity above zero"),
        ("compare iid: --capacity 0B", "expected a capacity above zero"),
        ("compare iid: --overflow oldest", "expected one of worst, newcomer, got \"oldest\""),
        ("compare iid: --seeds 0", "expected 1 to 1000, got \"0\""),
        ("compare iid: --memory 0B", "expected a size above zero such as 256MiB or 10GB, got \"0B\""),
        ("compare iid: --memory 1KiB", "--memory is 1KiB: raise it"),
        (
            "compare iid: --attack tsunami",
            "expected one of optimal, search, largest, own, file:FOUND.json, got \"tsunami\"",
        ),
        ("compare iid: --attack own", "--attack own needs an application"),
        ("compare iid: --attack-packet 64B", "--attack-packet needs --attack-job"),
        ("compare iid: --attack-packet 0B --attack-job 1ms", "expected a packet size from 1bit"),
        ("compare iid: --attack-packet 64B --attack-job 0ns", "expected 1ns to 60s, got \"0ns\""),
        ("compare iid: --attack-packet 64B --attack-job 1ms --attack optimal", "cannot be used with"),
        ("compare iid: --attack-packet 64B --attack-job 1ms --largest-job 1ms", "cannot be used with"),
        ("compare iid: --attack-packet 64B --attack-job 1ms --trials 3", "cannot be used with"),
        (
            "compare reassembly:generated --attack own --largest-job 1ms",
            "those of --attack own are as they are",
        ),
        ("compare iid: --policies fcfs --exact-ranks", "--policies has none of them"),
        ("compare iid: --overflow newcomer", "--overflow needs --capacity (see --help)"),
        ("guard none.csv --overflow worst", "--overflow needs --capacity (see --help)"),
        ("compare iid: --trials 0", "expected 1 to 1048576, got \"0\""),
        ("compare iid: --largest-job 0s", "expected 1ns to 60s, got \"0s\""),
        ("compare iid: --link 0bps", "expected a rate above zero"),
        ("compare iid:packets=1K --link 1Gbps --attack-rate 10Gbps", "the attack is faster than the link"),
        (
            "compare iid: --policies fcfs --attack-rate 1% --departures crates",
            "--departures crates: it is a folder",
        ),
        (
            "compare iid: --policies fcfs --attack-rate 1% --departures none/served.csv",
            "--departures none/served.csv: No such file or directory",
        ),
        ("compare trace:none.csv --departures served.csv", "there are several policies"),
        ("compare trace:none.csv --policies fcfs --departures served.csv", "there are several attack rates"),
        ("compare iid: --report Cargo.toml", "--report Cargo.toml: "),
        ("guard", "JOBS"),
        ("guard none.csv", "none.csv: No such file or directory"),
        ("guard none.csv --policy lifo", "sjf-inorder, got \"lifo\""),
        ("guard none.csv --capacity 0", "expected a capacity above zero"),
    ] {
        let ended = trueplane(&format!("surge {flags}"));
        assert!(ended.refusal().contains(said), "{flags}: {}", ended.stderr);
    }
}

#[test]
fn broken_files_are_refused_in_one_line() {
    for (text, said) in [
        ("", "stdin: "),
        ("packet_bytes,flow,job_ns\n", "stdin: expected a job in every line after the header"),
        ("packet_bytes,job_ns\n64,1\n", "flow"),
        ("packet_bytes,flow,job_ns\n64,a,-1\n", "stdin:2: expected a job_ns of 1 to"),
        ("packet_bytes,flow,job_ns\n0,a,1\n", "stdin:2: expected a packet_bytes of 1 to"),
        ("packet_bytes,flow,job_ns\n64,a,9999999999999999\n", "stdin:2: expected a job_ns of 1 to"),
        ("packet_bytes,flow,job_ns,time_ns\n64,a,1,5\n64,a,1,4\n", "stdin:3: "),
    ] {
        for verb in ["compare trace:-", "guard -"] {
            let ended = trueplane_on(text.as_bytes(), &format!("surge {verb}"));
            assert!(ended.refusal().contains(said), "{text}: {}", ended.stderr);
        }
    }
    for verb in ["compare trace:-", "guard -"] {
        let capture = [0xd4, 0xc3, 0xb2, 0xa1, 2, 0, 4, 0, b'\n'];
        let ended = trueplane_on(&capture, &format!("surge {verb}"));
        let said = "stdin: expected a CSV file, found one that is no text; for a capture say surge compare with reassembly:FILE";
        assert!(ended.refusal().contains(said), "{}", ended.stderr);
    }
    let one = "packet_bytes,flow,job_ns\n64,a,1\n";
    let ended = trueplane_on(one.as_bytes(), "surge guard -");
    assert!(ended.refusal().contains("too short a time for an attack of 100 packets"), "{}", ended.stderr);
    let seeds = trueplane_on(jobs(10, false).as_bytes(), "surge compare trace:- --seeds 2");
    assert!(seeds.refusal().contains("2 seeds would all give the same"), "{}", seeds.stderr);
    let folder = tempfile::tempdir().expect("a folder is to be had");
    let rules = folder.path().join("wrong.rules");
    fs::write(&rules, "alert tcp any any -> any any (content:\"x\"; pcre:\"/(/\"; sid:1;)\n")
        .expect("it can be written");
    let ended = trueplane(&format!("surge compare match:none.pcap --rules {}", rules.display()));
    assert!(ended.refusal().contains("wrong.rules:1:"), "{}", ended.stderr);
}

#[test]
fn help_has_examples() {
    for verb in ["compare", "guard"] {
        let ended = trueplane(&format!("surge {verb} --help"));
        assert_eq!((ended.status, ended.stderr.as_str()), (0, ""), "{verb}");
        assert!(
            ended.stdout.contains(&format!("trueplane surge {verb}")) && ended.stdout.contains("Examples:")
        );
    }
}
