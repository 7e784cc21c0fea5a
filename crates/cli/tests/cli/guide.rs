//! The commands of the guide do what the guide shows.
//!
//! Its `sh` blocks are run in their order, by one shell, as root. Every line of the `text` block behind one has to be among
//! what it printed, numbers aside.
//! Everything is bounded in time, and what the commands make is taken away even if one fails.

use std::env;
use std::fs;
use std::io::Write as _;
use std::net::TcpListener;
use std::path::Path;
use std::process::{Command, Stdio};

use trueplane_live::dctcp;
use trueplane_live::testnet::{Requirement, alone, check};

use crate::common::root;

/// Far longer than the commands take, 30 s.
const MOST_SECONDS: u32 = 180;

/// What the guide calls its things, which are called otherwise here: others may be following it at the same time.
const NAMESPACES: &str = "tp-";
const PORT: &str = "9478";

/// Commands, and what the guide shows of their output.
struct Step {
    commands: String,
    shown: Vec<String>,
}

fn steps(guide: &str) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    let mut blocks = guide.split("\n```");
    blocks.next();
    // A block, what follows it, a block…
    while let Some(block) = blocks.next() {
        let (kind, content) = block.split_once('\n').expect("a block has lines");
        match (kind, steps.last_mut()) {
            ("sh", _) => steps.push(Step { commands: content.to_owned(), shown: Vec::new() }),
            ("text", Some(step)) => {
                step.shown = content.lines().filter(|line| *line != "...").map(str::to_owned).collect();
            }
            _ => {}
        }
        blocks.next();
    }
    steps
}

/// A line with its numbers, their units and what is drawn between them put together: `#` for any of them.
fn outline(line: &str) -> String {
    const UNITS: [&str; 8] = ["%", "–", "Bytes", "KBytes", "MBytes", "Kbits/sec", "Mbits/sec", "Gbits/sec"];
    let is_number = |word: &str| {
        let word = word.trim_start_matches(['+', '-', '>', '(']);
        word.starts_with(|c: char| c.is_ascii_digit()) || UNITS.contains(&word)
    };
    let mut words: Vec<&str> = line
        .split_whitespace()
        .map(|word| if is_number(word) { "#" } else { word.trim_end_matches('─') })
        .collect();
    words.dedup_by(|a, b| a == b && *a == "#");
    words.join(" ")
}

/// Why the guide cannot be followed here.
fn missing() -> Option<String> {
    let commands = ["bash", "curl", "sysctl", "timeout", "xargs"];
    let path = env::var_os("PATH").unwrap_or_default();
    let lacks = |name: &&str| !env::split_paths(&path).any(|folder| folder.join(name).is_file());
    let controls = fs::read_to_string("/proc/sys/net/ipv4/tcp_available_congestion_control");
    match check(&[Requirement::Iperf3, Requirement::Bpf, Requirement::StructOps]) {
        Err(reason) => Some(reason),
        Ok(()) if !controls.is_ok_and(|names| names.contains("cubic")) => {
            Some("the kernel has no CUBIC".to_owned())
        }
        // It is the machine's, and has one name.
        Ok(()) if dctcp::is_registered(dctcp::NAME).unwrap_or(false) => {
            Some(format!("{} is loaded, and somebody may be using it", dctcp::NAME))
        }
        Ok(()) => commands
            .iter()
            .find(|name| lacks(name))
            .map(|name| format!("the command {name} is not installed")),
    }
}

/// What the guide makes, taken away whatever happens.
struct Namespaces {
    prefix: String,
}

impl Drop for Namespaces {
    fn drop(&mut self) {
        let script = "
            \"$TRUEPLANE\" limit dctcp unload
            \"$TRUEPLANE\" limit detach --dev server0 --netns \"${PREFIX}server\"
            for name in \"${PREFIX}tenant\" \"${PREFIX}server\"; do
                ip netns pids \"$name\" | xargs -r kill
                ip netns del \"$name\"
            done";
        // After a run that went well there is nothing left to remove.
        let _ = Command::new("bash")
            .args(["-c", script])
            .env("TRUEPLANE", env!("CARGO_BIN_EXE_trueplane"))
            .env("PREFIX", &self.prefix)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status();
    }
}

/// Runs all commands with one shell; returns what each step printed, on either stream.
fn follow(steps: &[Step], folder: &Path) -> Vec<String> {
    const NEXT: &str = "~~~ the next step";
    let mut script =
        "set -euo pipefail\ntrap 'kill $(jobs -p) 2>/dev/null || true' EXIT\nexec 2>&1\n".to_owned();
    for step in steps {
        script.push_str(&format!("echo '{NEXT}'\n{}\n", step.commands));
    }
    let bin = Path::new(env!("CARGO_BIN_EXE_trueplane")).parent().expect("it is in a folder");
    let mut path = bin.as_os_str().to_owned();
    path.push(":");
    path.push(env::var_os("PATH").unwrap_or_default());
    let output = Command::new("timeout")
        .args(["-k", "5", &MOST_SECONDS.to_string(), "bash", "-c", &script])
        .current_dir(folder)
        .env("PATH", path)
        .stdin(Stdio::null())
        .output()
        .expect("the shell starts");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{}: {text}{}", output.status, String::from_utf8_lossy(&output.stderr));
    text.split(&format!("{NEXT}\n")).skip(1).map(str::to_owned).collect()
}

/// The rate that iperf3's receiver tells, in Mbit/s.
fn received_mbps(output: &str) -> f64 {
    let line =
        output.lines().find(|line| line.ends_with("receiver")).expect("iperf3 tells what was received");
    let words: Vec<&str> = line.split_whitespace().collect();
    let unit = words.iter().position(|word| word.ends_with("bits/sec")).expect("a rate");
    let scale = match words[unit] {
        "Gbits/sec" => 1e3,
        "Mbits/sec" => 1.0,
        "Kbits/sec" => 1e-3,
        _ => 1e-6,
    };
    scale * words[unit - 1].parse::<f64>().expect("a number")
}

/// The tenant's packets: arrived, passed, marked, dropped.
fn counted(output: &str) -> [u64; 4] {
    let row = output.lines().rfind(|line| line.starts_with("tenant ")).expect("a row of the table");
    let words: Vec<&str> = row.split_whitespace().collect();
    std::array::from_fn(|column| words[column + 6].replace(',', "").parse().expect("a count"))
}

#[test]
fn the_guide_can_be_followed() {
    if let Some(reason) = missing() {
        // Past the test harness, which keeps back what the macros print.
        let _ = writeln!(std::io::stderr(), "skipped: the guide: {reason}");
        return;
    }
    let _alone = alone();
    let free = TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr());
    let port = free.expect("a port is free").port();
    let prefix = format!("tp{port}-");
    let guide = fs::read_to_string(root().join("docs/guides/limit-a-tenant.md")).expect("the guide is there");
    let guide = guide.replace(NAMESPACES, &prefix).replace(PORT, &port.to_string());
    let steps = steps(&guide);
    let folder = tempfile::tempdir().expect("a folder is to be had");
    let _namespaces = Namespaces { prefix };
    let outputs = follow(&steps, folder.path());
    assert_eq!(outputs.len(), steps.len());
    for (step, output) in steps.iter().zip(&outputs) {
        let found: Vec<String> = output.lines().map(outline).collect();
        for line in &step.shown {
            assert!(
                found.contains(&outline(line)),
                "the guide is out of date: {}\nshows: {line}\nfound:\n{output}",
                step.commands
            );
        }
    }
    let after = |command: &str| {
        let index = steps.iter().position(|step| step.commands.contains(command)).expect("the guide has it");
        &outputs[index]
    };
    // What a limit lets through is bounded; that much arrives is not promised on a machine with other work.
    assert!(received_mbps(after("-u -b 200M")) > 0.0);
    assert!(received_mbps(after("--classes classes.toml\nip netns")) < 55.0);
    assert!(received_mbps(after("set tenant rate=100Mbps")) < 110.0);
    let [arrived, passed, marked, dropped] = counted(after("limit show"));
    assert!(arrived == passed + dropped && marked == 0 && passed > 0 && dropped > 0);
    let [_, _, marked, _] = counted(after("mark=512KiB"));
    assert!(marked > 0);
}

#[test]
fn outlines_keep_words_and_no_numbers() {
    assert_eq!(outline("tenant   1  50Mbps  64KiB  –  383B  75.8 %"), "tenant #");
    assert_eq!(outline("[  5]   0.00-3.00   sec  71.5 MBytes"), "[ # sec #");
    assert_eq!(
        outline("server0@a: changed 1 limiter: tenant rate=100Mbps"),
        "server0@a: changed # limiter: tenant rate=100Mbps"
    );
    assert_eq!(outline("─────"), outline("───"));
}
