//! `trueplane pqueue rtl` as its users run it.

use std::fs;

use crate::common::trueplane;

#[test]
fn the_default_is_the_circuit_of_the_documents() {
    let document = trueplane("pqueue rtl --json").json();
    assert_eq!((&document["study"], &document["latency_cycles"]), (&"pqueue.rtl".into(), &16.into()));
    let memories = document["memories"].as_array().expect("a list");
    let bits = |of: &serde_json::Value| Some(of["words"].as_u64()? * of["word_bits"].as_u64()?);
    assert!(memories.iter().all(|memory| bits(memory) == memory["bits"].as_u64()));
    let sum: u64 = memories.iter().filter_map(bits).sum();
    assert_eq!(document["memory_bits"], sum);
    // One partition is fewer than the switch's ports.
    assert!(document["instances"].is_null());
}

/// What people see, word for word.
#[test]
fn a_circuit_is_told() {
    let ended = trueplane("pqueue rtl --width 8 --levels 5 --elements 131071 --partitions 32 --clock 200MHz");
    assert_eq!((ended.status, ended.stderr.as_str()), (0, ""));
    insta::assert_snapshot!(ended.stdout);
}

#[test]
fn what_is_written_is_whole_and_nothing_is_overwritten() {
    let folder = tempfile::tempdir().expect("a folder is to be had");
    let out = folder.path().join("bbq");
    let command =
        format!("pqueue rtl --width 4 --levels 2 --elements 15 --partitions 2 --out {}", out.display());
    assert_eq!(trueplane(&command).status, 0);
    let list = fs::read_to_string(out.join("filelist.f")).expect("the list was written");
    assert!(list.lines().count() > 5 && list.lines().all(|file| out.join(file).exists()), "{list}");
    for file in ["README.md", "Makefile", "verilog.ys", "tb/tb.sv", "tb/model.svh", "tb/shape.svh"] {
        assert!(out.join(file).exists(), "{file}");
    }
    let before = fs::read(out.join("README.md")).expect("it is there");
    let again = trueplane(&command.replace("--elements 15", "--elements 7"));
    assert!(again.refusal().contains("there are files in it"), "{}", again.stderr);
    assert_eq!(fs::read(out.join("README.md")).expect("it is there"), before);
    // Nothing but the folder is left.
    assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 1);
    let nowhere = trueplane("pqueue rtl --out /no/such/folder");
    assert!(nowhere.refusal().starts_with("error: --out /no/such/folder: "), "{}", nowhere.stderr);
}

#[test]
fn a_number_of_priorities_chooses_the_tree() {
    let document = trueplane("pqueue rtl --priorities 32768 --elements 16383 --lanes 1 --json").json();
    assert_eq!((&document["width"], &document["levels"]), (&8.into(), &5.into()));
    let shapes = document["shapes"].as_array().expect("a list");
    let wide = shapes.iter().find(|shape| shape["width"] == 32).expect("it is shown");
    assert_eq!((&wide["levels"], &wide["chosen"]), (&3.into(), &false.into()));
    let both = trueplane("pqueue rtl --priorities 512 --width 8");
    assert!(both.refusal().contains("--priorities"), "{}", both.stderr);
}

#[test]
fn a_clock_that_was_not_reached_counts_nothing() {
    let document = trueplane("pqueue rtl --clock 5GHz --json").json();
    assert_eq!(document["speed"]["measured"], true);
    assert_eq!(document["operations_per_sec"], document["speed"]["clock_hz"]);
    let slow = trueplane("pqueue rtl --clock 100MHz --json").json();
    assert_eq!(slow["operations_per_sec"], 100_000_000);
    let estimate = trueplane("pqueue rtl --elements 2047 --json").json();
    assert_eq!(estimate["speed"]["measured"], false);
    assert!(estimate["operations_per_sec"].is_null() && estimate["latency_ns"].is_null());
}

#[test]
fn wrong_flags_are_refused_in_one_line() {
    for (flags, said) in [
        ("--width 3", "expected a width that is a power of two from 2 to 64, got 3"),
        ("--levels 9", "expected levels of width 8 from 1 to 8, got 9"),
        ("--elements 0", "expected a capacity from 1 to 16777216, got 0"),
        ("--elements 5G", "expected a capacity from 1 to 16777216, got 4294967295"),
        ("--partitions 3", "a power of two from 1 to 512, got 3"),
        (
            "--levels 5 --partitions 8192",
            "expected a number of partitions of a circuit from 1 to 4096, got 8192",
        ),
        ("--data-bits 65", "expected a number of data bits from 1 to 64, got 65"),
        ("--lanes 3", "expected a number of lanes from 1 to 2, got 3"),
        ("--clock 200", "expected a frequency such as 200MHz"),
        ("--ports 0", "--ports"),
        ("--operations 0", "--operations"),
        ("--queue heap", "expected one of bbq, exact, window, hier, pifo"),
        ("--queue hier", "expected two partitions or more for the queue hier, got 1"),
        ("--queue window --priority-bits 9", "expected a number of priority bits from 10 to 64, got 9"),
        ("--queue exact --memory-stages", "expected no memory stages for the queue exact"),
        ("--priorities 1 --partitions 33554432", "a power of two up to 4096, got 33554432"),
        ("--priorities 0", "expected a number of priorities from 1 to 16777216, got 0"),
    ] {
        let ended = trueplane(&format!("pqueue rtl {flags}"));
        assert!(ended.refusal().contains(said), "{flags}: {}", ended.stderr);
    }
}
