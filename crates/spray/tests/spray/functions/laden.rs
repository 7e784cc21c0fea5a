//! Work: once for each packet, wherever it gets its verdict.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use trueplane_spray::Limits;
use trueplane_spray::nf::{Busy, FunctionName, FunctionOptions, Laden, Synthetic};
use trueplane_spray::packet::tcp_flags::{ACK, SYN};

use super::packets::{TCP, UDP, packet};
use super::team::Team;

/// Counts the cycles that it is asked for.
#[derive(Clone, Debug, Default)]
struct Meter(Arc<AtomicU64>);

impl Busy for Meter {
    fn spend(&self, cycles: u64) {
        self.0.fetch_add(cycles, Ordering::Relaxed);
    }
}

#[test]
fn every_packet_is_worked_on_once() {
    let meter = Meter::default();
    let laden = Laden { function: Synthetic, cycles: 250, busy: meter.clone() };
    let mut team = Team::new(&laden, 4, Limits::new(256), 19);
    let options = FunctionOptions::default();
    let mut sent = 0;
    for number in 0..50 {
        // Datagrams begin flows by being handed over, SYNs go to their core by themselves, and stray segments are dropped.
        for (protocol, flags) in [(UDP, 0), (UDP, 0), (TCP, ACK), (TCP, SYN), (TCP, ACK)] {
            let flow = options.example_flow(FunctionName::Synthetic, number, protocol);
            team.pass_anywhere(packet(&flow, flags, b"x"));
            sent += 1;
        }
    }
    let counts = team.counts();
    assert!(counts.handed_in > 0 && counts.connection == 100);
    assert_eq!((counts.done(), meter.0.load(Ordering::Relaxed)), (sent, sent * 250));
}
