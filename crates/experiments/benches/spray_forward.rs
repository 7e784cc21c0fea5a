//! How many small packets a second one core forwards between two interfaces, the kernel sending from another core.
//!
//! The variants take turns; in each run, every packet that came must be accounted for. Another load on the machine shows in the numbers: it is printed beside
//! them. Needs root.

use std::fs;
use std::time::Duration;

use trueplane_experiments::forward::forward;
use trueplane_linux::testnet;
use trueplane_linux::testnet::Requirement;
use trueplane_spray::live::io::IoBackend;
use trueplane_spray::nf::FunctionName;

const ROUNDS: usize = 5;
const DURATION: Duration = Duration::from_secs(2);

fn main() {
    if let Err(reason) = testnet::check(&[Requirement::Bpf, Requirement::Ethtool]) {
        return println!("skipped: {reason}");
    }
    println!(
        "{:8} {:10} {:>14} {:>14} {:>6}",
        "backend", "function", "offered Mpps", "forwarded Mpps", "load"
    );
    for _ in 0..ROUNDS {
        for backend in [IoBackend::Packet, IoBackend::Xdp] {
            for function in [FunctionName::Synthetic, FunctionName::Nat] {
                let found = forward(backend, function, DURATION).unwrap_or_else(|error| panic!("{error}"));
                let [offered, forwarded] = [found.offered_pps, found.forwarded_pps].map(|rate| rate / 1e6);
                assert!(forwarded > 0.0 && forwarded <= offered, "{found:?}");
                let load = fs::read_to_string("/proc/loadavg").unwrap_or_default();
                let load = load.split(' ').next().unwrap_or("?");
                println!("{backend:8} {function:10} {offered:>14.3} {forwarded:>14.3} {load:>6}");
            }
        }
    }
}
