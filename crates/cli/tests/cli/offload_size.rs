//! `trueplane offload size` as its users run it.

use std::fs;

use crate::common::trueplane;

#[test]
fn the_default_is_the_papers_table() {
    let document = trueplane("offload size --json").json();
    assert_eq!(document["study"], "offload.size");
    let tables = &document["tables"];
    let layout = &tables["layouts"][0];
    assert_eq!(
        (&layout["chain"], &layout["rows"], &layout["entries"]),
        (&4.into(), &16_384.into(), &65_536.into())
    );
    let arrays = tables["arrays"].as_array().expect("a list");
    let bits: u64 = arrays.iter().filter_map(|of| of["total_bits"].as_u64()).sum();
    assert_eq!(layout["total_bytes"], bits.div_ceil(8));
    assert_eq!(
        (&tables["numbers"][0]["classical"], &tables["numbers"][0]["refined"]),
        (&(1 << 20).into(), &layout["total_bytes"])
    );
    assert_eq!(tables["control"].as_array().map(Vec::len), Some(2));
    assert_eq!(document["parameters"]["control_rate_per_s"].to_string(), "[1000000,5000000]");
    let by_rows = trueplane("offload size --rows 16Ki --json").json();
    assert_eq!(&by_rows["tables"], tables);
}

/// What people see, word for word.
#[test]
fn sizes_are_printed() {
    let ended = trueplane("offload size --chain 1,4,16 --control-rate 5Mpps");
    assert_eq!((ended.status, ended.stderr.as_str()), (0, ""));
    insta::assert_snapshot!(ended.stdout);
}

#[test]
fn several_chains_are_drawn() {
    let folder = tempfile::tempdir().expect("a folder is to be had");
    let ended = trueplane(&format!("offload size --chain 1,2,4,8,16 --report {}", folder.path().display()));
    assert_eq!((ended.status, ended.stderr.as_str()), (0, ""));
    for table in ["layouts", "arrays", "control", "bandwidth"] {
        assert!(folder.path().join(format!("{table}.csv")).exists(), "{table}");
    }
    let arrays = fs::read_to_string(folder.path().join("arrays.csv")).expect("the table was written");
    assert_eq!(arrays.lines().count(), 1 + 5 * 5);
}

#[test]
fn wrong_flags_are_refused_in_one_line() {
    for (flags, said) in [
        ("--entries 65537", "--entries 65537: expected a multiple of the entries in a row, 4"),
        ("--entries 0", "expected at least 2 rows, got 0"),
        ("--rows 5G", "expected at most 4294967295 rows"),
        ("--rows 100 --history 200x8", "expected 1 to 100 rows of the history buffer"),
        ("--entries 64 --rows 16", "cannot be used with"),
        ("--chain 0", "--chain"),
        ("--chain 65", "--chain"),
        ("--history 0x8", "expected rows x slots"),
        ("--key-bits 0", "--key-bits"),
        ("--control-rate 0", "expected a rate above zero"),
    ] {
        let ended = trueplane(&format!("offload size {flags}"));
        assert!(ended.refusal().contains(said), "{flags}: {}", ended.stderr);
    }
}
