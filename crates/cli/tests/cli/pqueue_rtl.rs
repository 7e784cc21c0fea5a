//! `trueplane pqueue rtl` as its users run it.

use std::fs;
use std::path::Path;
use std::process::Command;

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
    for file in ["README.md", "tb/tb_bbq.sv", "tb/requests.hex", "tb/responses.hex"] {
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

/// The circuit in a simulator, from the folder and by the commands of its README.
#[test]
fn the_test_bench_passes() {
    if Command::new("verilator").arg("--version").output().is_err() {
        return println!("skipped: the test bench of a bundle needs verilator");
    }
    for (flags, operations) in [
        ("--width 4 --levels 2 --elements 15 --partitions 2 --data-bits 7", 20_000),
        ("--width 8 --levels 3 --elements 300 --lanes 1 --seed 5", 20_000),
        // As many as there may be; and a number of bits at which Verilator has refused the counts.
        ("--width 64 --levels 2 --elements 1000 --partitions 1024", 20_000),
        ("--width 64 --levels 2 --elements 5000 --partitions 4096", 20_000),
    ] {
        let folder = tempfile::tempdir().expect("a folder is to be had");
        let out = folder.path().join("bbq");
        let command = format!("pqueue rtl {flags} --operations {operations} --out {}", out.display());
        assert_eq!(trueplane(&command).status, 0);
        let readme = fs::read_to_string(out.join("README.md")).expect("it is there");
        let commands: Vec<&str> = readme.lines().filter_map(|line| line.strip_prefix("    ")).collect();
        assert_eq!(commands.len(), 2, "{readme}");
        run(&out, commands[0]);
        let said = run(&out, commands[1]);
        assert!(said.contains(&format!("ok: {operations} operations in ")), "{said}");
        // An answer that is not the circuit's is noticed.
        let responses = out.join("tb/responses.hex");
        let text = fs::read_to_string(&responses).expect("it is there");
        let wrong = text.lines().take(99).chain(["1"]).chain(text.lines().skip(100));
        fs::write(&responses, wrong.fold(String::new(), |all, line| all + line + "\n"))
            .expect("it can be written");
        let noticed = Command::new(out.join("obj_dir/Vtb_bbq")).current_dir(&out).output().expect("it runs");
        assert!(!noticed.status.success(), "{noticed:?}");
    }
}

/// Runs a command within a folder; what it printed.
fn run(folder: &Path, command: &str) -> String {
    let words: Vec<&str> = command.split_whitespace().collect();
    let output = Command::new(words[0]).args(&words[1..]).current_dir(folder).output();
    let output = output.unwrap_or_else(|error| panic!("{command}: {error}"));
    let said = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
    assert!(output.status.success(), "{command}: {said}");
    said
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
    ] {
        let ended = trueplane(&format!("pqueue rtl {flags}"));
        assert!(ended.refusal().contains(said), "{flags}: {}", ended.stderr);
    }
}
