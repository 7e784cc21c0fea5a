//! `trueplane spray compare` and `trueplane spray concurrency` as their users run them.

use std::fs;

use crate::common::{root, trueplane, trueplane_on};

/// A grid that takes no time.
const SMALL: &str = "--runs 2 --packets 20000 --cores 4 --flows 1,8 --cycles 1000";

#[test]
fn rows_are_of_every_cell_and_system() {
    let document = trueplane(&format!("spray compare {SMALL} --policies rss,spray --json")).json();
    assert_eq!(document["study"], "spray.compare");
    let rows = document["tables"]["systems"].as_array().expect("a list");
    assert_eq!(rows.len(), 4);
    for name in ["dispatch", "nf", "cores", "flows", "cycles", "rate_pps", "reordered", "p99_ns", "jain"] {
        assert!(rows.iter().all(|row| !row[name].is_null()), "{name}");
    }
    let rate = |at: usize| rows[at]["rate_pps"].as_f64().expect("a number");
    assert_eq!((&rows[0]["dispatch"], &rows[1]["dispatch"]), (&"rss".into(), &"spray".into()));
    assert!(rate(1) > 3.0 * rate(0));
    let parameters = &document["parameters"];
    assert_eq!(
        (&parameters["rate_pps"], &parameters["clock_hz"]),
        (&14_880_952.into(), &2_000_000_000.into())
    );
}

/// What people see, word for word.
#[test]
fn a_comparison_is_printed() {
    let ended = trueplane(&format!("spray compare {SMALL} --policies rss,spray,adaptive"));
    assert_eq!((ended.status, ended.stderr.as_str()), (0, ""));
    insta::assert_snapshot!(ended.stdout);
}

#[test]
fn threads_do_not_matter() {
    let run =
        |threads| trueplane(&format!("spray compare {SMALL} --nf nat --threads {threads} --json")).json();
    assert_eq!(run(1), run(3));
}

#[test]
fn every_system_has_its_curves() {
    let folder = tempfile::tempdir().expect("a folder is to be had");
    let ended = trueplane(&format!(
        "spray compare --runs 1 --packets 5000 --cores 4 --flows 1,8 --cycles 0,1000 --policies all --service-time lognormal:1 --arrivals poisson \
         --sizes web-search --report {}",
        folder.path().display()
    ));
    assert_eq!((ended.status, ended.stderr.as_str()), (0, ""));
    for name in ["systems", "details", "rate_by_cycles", "rate_by_flows", "p99_by_cycles", "jain_by_flows"] {
        assert!(folder.path().join(format!("{name}.csv")).exists(), "{name}");
    }
    let systems = fs::read_to_string(folder.path().join("systems.csv")).expect("the table was written");
    assert_eq!(systems.lines().count(), 1 + 4 * 11);
}

#[test]
fn a_function_that_needs_whole_flows_is_refused() {
    let ended = trueplane(&format!("spray compare {SMALL} --nf dpi --policies rss,spray"));
    assert!(ended.refusal().contains("--nf dpi cannot run under --policies spray: "), "{}", ended.stderr);
    assert_eq!(trueplane(&format!("spray compare {SMALL} --nf dpi --policies rss,scr --json")).status, 0);
}

#[test]
fn wrong_flags_are_refused_in_one_line() {
    for (flags, said) in [
        ("--policies rsss", "expected one or several of rss, rss:default, spray"),
        ("--policies subset:0", "expected one or several of rss"),
        ("--nf proxy", "expected one or several of nat, firewall"),
        ("--cores 129", "expected 1 to 128, got \"129\""),
        ("--flows 0", "expected 1 to 1048576, got \"0\""),
        ("--rate 0", "expected a rate of 1Kpps or more such as"),
        ("--rate 10", "expected a rate of 1Kpps or more such as"),
        ("--gap 0s", "--gap <TIME>: expected a time above zero"),
        ("--gap 1ms", "--gap is for --policies flowlet, got --policies rss,spray,adaptive"),
        (
            "--card-limit 10Mpps --policies rss",
            "--card-limit is for --policies spray, adaptive or subset:K with K above 1, got --policies rss",
        ),
        ("--nf nat,dpi --rules none.txt", "--rules is for --nf firewall, got --nf nat,dpi"),
        ("--load 100%", "expected a percentage from 0.1% to 99.9%"),
        ("--clock 2", "expected a clock such as 2GHz"),
        ("--costs cache=1", "replay, got \"cache\""),
        ("--service-time normal", "expected constant, exponential or lognormal"),
        ("--sizes no-such-file.csv", "no-such-file.csv: "),
        ("no-such-file.pcap", "no-such-file.pcap: "),
        ("no-such-file.pcap --flows 1", "cannot be used with"),
    ] {
        let ended = trueplane(&format!("spray compare {flags}"));
        assert!(ended.refusal().contains(said), "{flags}: {}", ended.stderr);
    }
}

/// A capture with the packets of so many connections, one each in turn, `gap` microseconds apart.
fn capture(connections: u8, packets: u32, gap: u32) -> Vec<u8> {
    let mut bytes = [0xa1b2_c3d4_u32, 0x0004_0002, 0, 0, 65_535, 101].map(u32::to_le_bytes).concat();
    for at in 0..packets {
        let mut packet = vec![
            0x45,
            0,
            0,
            40,
            0,
            0,
            0,
            0,
            64,
            6,
            0,
            0,
            10,
            0,
            0,
            (at % u32::from(connections)) as u8,
            192,
            0,
            2,
            1,
        ];
        packet.extend([4, 0, 0, 80, 0, 0, 0, 0, 0, 0, 0, 0, 0x50, 0x10, 0, 0, at as u8, 0, 0, 0]);
        let micros = at * gap;
        bytes.extend([micros / 1_000_000, micros % 1_000_000, 40, 40].map(u32::to_le_bytes).concat());
        bytes.extend(packet);
    }
    bytes
}

#[test]
fn flows_of_a_capture_are_counted_in_windows() {
    // Three connections in every 150 µs.
    let found = trueplane_on(&capture(3, 3000, 50), "spray concurrency - --json").json();
    assert_eq!(found["study"], "spray.concurrency");
    let rows = &found["tables"]["concurrency"];
    let all = &rows[0];
    assert_eq!((&all["count"], &all["median"], &all["p99"]), (&3.into(), &3.into(), &3.into()));
    assert_eq!((&found["facts"]["packets"], &found["facts"]["windows"]), (&3000.into(), &1000.into()));
    assert!(rows[1].is_null());
    // 2 (1 - (1/2)^3) / 2.
    assert_eq!(found["tables"]["cores"][0]["used_all"], 0.875);
    let large = trueplane_on(&capture(3, 3000, 50), "spray concurrency - --large 30000B --json").json();
    assert_eq!(large["tables"]["concurrency"][1]["count"], 3);
    let narrow = trueplane_on(&capture(3, 3000, 50), "spray concurrency - --window 50us --json").json();
    assert_eq!(narrow["tables"]["concurrency"][0]["most"], 1);
}

#[test]
fn a_capture_can_be_compared_on() {
    let found = trueplane_on(
        &capture(3, 3000, 50),
        "spray compare - --nf monitor --policies rss,spray --cores 4 --cycles 1000 --runs 1 --packets 20000 --json",
    )
    .json();
    let rows = found["tables"]["systems"].as_array().expect("a list");
    assert_eq!((rows.len(), &rows[0]["flows"]), (2, &3.into()));
}

/// Two captures in one: the second is of four years later.
#[test]
fn a_jump_of_years_is_warned_of_once_and_makes_no_windows() {
    let second = (1u64 << 27) as u32;
    let mut joined = capture(3, 3000, 50);
    let mut later = capture(3, 3000, 50).split_off(24);
    for record in later.chunks_mut(16 + 40) {
        let seconds = u32::from_le_bytes(record[..4].try_into().expect("four bytes"));
        record[..4].copy_from_slice(&(seconds + second).to_le_bytes());
    }
    joined.extend(later);
    let found = trueplane_on(&joined, "spray concurrency - --json").json();
    let [warning] = &found["warnings"].as_array().expect("a list")[..] else { panic!("{found}") };
    assert!(warning.as_str().is_some_and(|text| text.contains("counts as 1s")), "{warning}");
    assert_eq!(found["tables"]["concurrency"][0]["median"], 3);
    assert!(found["facts"]["windows"].as_u64() < Some(10_000), "{}", found["facts"]);
    let compare = "spray compare - --nf monitor --policies rss --cores 2 --cycles 0 --runs 1 --packets 6000";
    let found = trueplane_on(&joined, &format!("{compare} --json")).json();
    assert_eq!(found["warnings"].as_array().map(Vec::len), Some(1));
}

#[test]
fn broken_captures_are_refused_in_one_line() {
    let whole = capture(3, 10, 50);
    for bytes in [&b"time,key\n1,2\n"[..], &whole[..whole.len() - 5], &whole[..24], b""] {
        for verb in ["concurrency -", "compare -"] {
            let ended = trueplane_on(bytes, &format!("spray {verb} --strict"));
            ended.refusal();
        }
    }
    let cut = trueplane_on(&whole[..whole.len() - 5], "spray concurrency - --json").json();
    assert_eq!(cut["facts"]["packets"], 9);
    assert!(trueplane("spray concurrency no-such-file").refusal().contains("no-such-file"));
}

#[test]
fn the_captures_of_the_shared_folder_have_few_flows_at_a_time() {
    let folder = root().join("../shared/data/packets");
    let Ok(captures) = fs::read_dir(&folder) else {
        return println!("skipped: {} is not there", folder.display());
    };
    for capture in captures {
        let path = capture.expect("an entry").path();
        let ended = trueplane(&format!("spray concurrency {} --all-protocols --sort --json", path.display()));
        let found = ended.json();
        assert!(found["tables"]["concurrency"][0]["median"].as_u64() >= Some(1), "{}", path.display());
    }
}
