//! The windows of ns-3's senders beside ours, over the same path.
//!
//! The program `ns3/senders.cc` is compiled against an installed ns-3 (Debian: libns3-dev, and a C++ compiler). Without those, the tests that
//! need it say so.
//!
//! What differs, seen with ns-3.37: Reno's period is 6 % shorter there, as its window grows by three segments with the acknowledgement that ends a
//! recovery. CUBIC's mean window is 3 % smaller; its target there is a whole number of segments, and it has no part for Reno's rate.
//! A window that a mark has cut does not grow for a round trip there, and ours does.

use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::OnceLock;
use std::time::Duration;

use trueplane_network::transport::preset::{self, LINUX_SEGMENT, LINUX_WINDOWS};
use trueplane_network::transport::{Cubic, Reno};
use trueplane_units::{BitsPerSec, Bytes};

use crate::compare::{compare, near};
use crate::dctcp;
use crate::path::Path;
use crate::seen::Seen;
use crate::trace::{Point, Trace};

/// Parts of ns-3 that the program needs.
const LIBRARIES: [&str; 5] =
    ["-lns3-internet", "-lns3-point-to-point", "-lns3-traffic-control", "-lns3-network", "-lns3-core"];

/// The program, compiled once; `Err` says in one line what is missing.
fn program() -> Result<PathBuf, String> {
    static PROGRAM: OnceLock<Result<PathBuf, String>> = OnceLock::new();
    PROGRAM.get_or_init(compile).clone()
}

fn compile() -> Result<PathBuf, String> {
    let mut look = Command::new("c++");
    look.args(["-E", "-x", "c++", "-"]).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut look = look.spawn().map_err(|_| "no C++ compiler is installed (c++)".to_owned())?;
    look.stdin.take().unwrap().write_all(b"#include <ns3/internet-module.h>\n").unwrap();
    if !look.wait().unwrap().success() {
        return Err("ns-3 is not installed (Debian: libns3-dev)".to_owned());
    }
    let program = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("ns3-senders");
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/oracles/ns3/senders.cc");
    let mut compiler = Command::new("c++");
    compiler.args(["-std=c++17", "-O1", "-o"]).arg(&program).arg(source).args(LIBRARIES);
    assert!(compiler.status().unwrap().success(), "{source} does not compile");
    Ok(program)
}

/// What a sender of ns-3 did; `None` where there is no ns-3. `mark` has the options of a port that marks.
fn run(control: &str, path: Path, mark: &[String], time: Duration) -> Option<Seen> {
    let program = program().map_err(|reason| eprintln!("skipped: {control}: {reason}")).ok()?;
    let mut command = Command::new(program);
    command.arg(format!("--control={control}")).args(mark);
    for (name, value) in [
        ("rate", path.rate.0),
        ("delay", path.delay.as_nanos() as u64),
        ("room", path.room.0.min(u64::from(u32::MAX))),
        ("time", time.as_secs()),
        ("segment", u64::from(LINUX_SEGMENT)),
    ] {
        command.arg(format!("--{name}={value}"));
    }
    let output = command.stderr(Stdio::inherit()).output().unwrap();
    assert!(output.status.success(), "ns-3's {control} ends with {}", output.status);
    Some(read(&String::from_utf8(output.stdout).unwrap()))
}

/// What the lines of the program say.
fn read(lines: &str) -> Seen {
    let (mut points, mut estimates, mut received, mut waiting) = (vec![], vec![], vec![], vec![]);
    for line in lines.lines() {
        let mut words = line.split(' ');
        let kind = words.next().unwrap();
        let numbers: Vec<f64> = words.map(|word| word.parse().unwrap()).collect();
        let (time, value) = (numbers[0], numbers[1]);
        match kind {
            // From 2 on, a mark has cut the window, a loss is being repaired, or the timer has expired.
            "w" => {
                let segments = value / f64::from(LINUX_SEGMENT);
                points.push(Point { time, segments, is_open: numbers[2] < 2.0 });
            }
            "a" => estimates.push((time, value)),
            "r" => received.push((time, value)),
            "q" => waiting.push(value),
            _ => panic!("a line of another kind: {line}"),
        }
    }
    let mean = waiting.iter().sum::<f64>() / waiting.len() as f64;
    Seen { window: Trace::new(points), estimates, received, waiting: mean }
}

/// The path of the comparison with Linux, on which a period is a second.
#[test]
#[ignore = "needs ns-3: run `make oracles`"]
fn reno_has_the_window_of_ns_3() {
    let rate = BitsPerSec(20_000_000);
    let path = Path { rate, room: Bytes(50_000), delay: Duration::from_millis(20) };
    let time = Duration::from_secs(30);
    let Some(theirs) = run("TcpLinuxReno", path, &[], time) else { return };
    let theirs = theirs.window.summary();
    let ours = path.simulate(preset::linux(Reno::new(LINUX_WINDOWS)), time).summary();
    compare("ns-3", &theirs, &ours);
    near("seconds from recovery to recovery", theirs.period(), ours.period());
}

/// The path of the comparison with Linux. As there, lengths of periods are not compared.
#[test]
#[ignore = "needs ns-3: run `make oracles`"]
fn cubic_has_the_window_of_ns_3() {
    let rate = BitsPerSec(20_000_000);
    let path = Path { rate, room: Bytes(75_000), delay: Duration::from_millis(60) };
    let time = Duration::from_secs(60);
    let Some(theirs) = run("TcpCubic", path, &[], time) else { return };
    let ours = path.simulate(preset::linux(Cubic::new(LINUX_WINDOWS)), time);
    compare("ns-3", &theirs.window.summary(), &ours.summary());
}

/// DCTCP on the path of ns-3's validation, without the queue limits of its device, once it has settled.
fn compare_dctcp(delay: Duration, start: Duration, time: Duration) {
    let path = dctcp::path(delay);
    let mark = format!("--mark={}", dctcp::THRESHOLD.0);
    let Some(theirs) = run("TcpDctcp", path, &[mark], time) else { return };
    let ours = dctcp::run(path, time);
    let (start, end) = (start.as_secs_f64(), time.as_secs_f64());
    let (window, our_window) = (theirs.window.after(start).summary(), ours.window.after(start).summary());
    compare("ns-3", &window, &our_window);
    for (what, theirs, ours) in [
        ("seconds from cut to cut", window.mean_period(), our_window.mean_period()),
        ("share of marked bytes", theirs.estimate(start), ours.estimate(start)),
        ("Mbit/s of payload", theirs.throughput(start, end), ours.throughput(start, end)),
        ("packets that wait", theirs.waiting, ours.waiting),
    ] {
        eprintln!("{what}: {theirs:.4}, ours {ours:.4}");
        near(what, theirs, ours);
    }
}

#[test]
#[ignore = "needs ns-3: run `make oracles`"]
fn dctcp_has_the_window_of_ns_3_at_10_ms() {
    compare_dctcp(Duration::from_millis(10), Duration::from_secs(2), Duration::from_secs(20));
}

#[test]
#[ignore = "needs ns-3: run `make oracles`"]
fn dctcp_has_the_window_of_ns_3_at_80_ms() {
    compare_dctcp(Duration::from_millis(80), Duration::from_secs(29), Duration::from_secs(90));
}
