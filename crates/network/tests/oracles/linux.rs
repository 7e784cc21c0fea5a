//! The windows of Linux's own senders beside ours, over the same path.
//!
//! The path of Linux is a pair of namespaces with a port and a delay in user space; ours is the simulator's. Windows are compared after
//! the first period: it depends on how slow start ends, where Linux has HyStart.

use std::time::Duration;

use trueplane_linux::testnet::{self, DelayLine, Fifo, Flows, Pair, Requirement};
use trueplane_network::transport::preset::{self, LINUX_WINDOWS};
use trueplane_network::transport::{Cubic, Reno};
use trueplane_units::{BitsPerSec, Bytes};

use crate::compare::{compare, near};
use crate::path::Path;
use crate::trace::{Point, Trace};

/// Time between two looks at the kernel's window.
const EVERY: Duration = Duration::from_millis(2);

/// Runs until one is not disturbed.
const RUNS: u32 = 3;

/// The window of Linux's sender over time; `None` where the machine has no test network, or is too busy for one: a packet that is late by more
/// than a tenth of the delay makes another path of it.
fn measure(path: Path, congestion: &str, time: Duration) -> Option<Trace> {
    for _ in 0..RUNS {
        let (trace, lateness) = run(path, congestion, time)?;
        if lateness <= path.delay / 10 {
            return Some(trace);
        }
        eprintln!("{congestion}: not compared, as a packet was late by {lateness:.1?}");
    }
    None
}

/// One run: the window, and the most by which a packet was late.
fn run(path: Path, congestion: &str, time: Duration) -> Option<(Trace, Duration)> {
    let net = testnet::start(&[Requirement::Tun], Pair::new)?;
    let fifo = Fifo { rate: path.rate, room: path.room };
    let line = DelayLine::behind(&net.left, &net.right, path.delay, fifo).unwrap();
    let samples = Flows::connect(&net.left, &net.right, 1, congestion).unwrap().trace(time, EVERY).unwrap();
    let points = samples.iter().map(|sample| Point {
        time: sample.time.as_secs_f64(),
        segments: f64::from(sample.cwnd),
        is_open: !sample.is_recovering && !sample.is_after_timeout,
    });
    Some((Trace::new(points.collect()), line.lateness()))
}

/// 20 Mbit/s and 20 ms hold 33 packets, and so does the queue: a period is a second.
#[test]
#[ignore = "a busy machine disturbs the path: run `make oracles` on a quiet one"]
fn reno_has_the_window_of_linux() {
    let _alone = testnet::alone();
    let rate = BitsPerSec(20_000_000);
    let path = Path { rate, room: Bytes(50_000), delay: Duration::from_millis(20) };
    let time = Duration::from_secs(12);
    let Some(theirs) = measure(path, "reno", time) else { return };
    let ours = path.simulate(preset::linux(Reno::new(LINUX_WINDOWS)), time).summary();
    let theirs = theirs.summary();
    compare("Linux", &theirs, &ours);
    near("seconds from recovery to recovery", theirs.period(), ours.period());
}

/// 20 Mbit/s and 60 ms hold 100 packets, and the queue half as many: the window is CUBIC's, not the one that Reno would have.
///
/// How long a period is, is not compared. By fast convergence (RFC 9438 §4.7) it is 7 s if the loss before it came at a smaller window than the
/// one before that, and else 4 s: a segment decides which of the two follows.
#[test]
#[ignore = "a busy machine disturbs the path: run `make oracles` on a quiet one"]
fn cubic_has_the_window_of_linux() {
    let _alone = testnet::alone();
    let rate = BitsPerSec(20_000_000);
    let path = Path { rate, room: Bytes(75_000), delay: Duration::from_millis(60) };
    let time = Duration::from_secs(25);
    let Some(theirs) = measure(path, "cubic", time) else { return };
    let ours = path.simulate(preset::linux(Cubic::new(LINUX_WINDOWS)), time);
    compare("Linux", &theirs.summary(), &ours.summary());
}
