//! The example of `docs/concepts/network.md`, as it is worked there by hand.

use trueplane_network::Nanos;
use trueplane_network::simulator::{DropTail, FlowSpec, Link, Network, Outcome, Topology};
use trueplane_network::transport::preset;
use trueplane_network::transport::{NewReno, Reno, SenderSettings, WindowSettings};
use trueplane_testing::page::rows;
use trueplane_units::BitsPerSec;

const HEADER: u32 = 100;

/// Rates and delays as the page has them: 1000 bytes take 1 µs to the switch and 2.5 µs from there.
fn topology() -> Topology {
    let link = |from, to, rate| Link { from, to, rate: BitsPerSec(rate), delay: Nanos(100) };
    let fast = 8_000_000_000;
    let links = vec![link(0, 2, fast), link(2, 0, fast), link(1, 2, fast), link(2, 1, 3_200_000_000)];
    Topology::new(3, 2, links).unwrap()
}

/// What has happened until a time, if the queue of the switch holds so many bytes.
fn until(end: Nanos, capacity: u64) -> Outcome {
    let topology = topology();
    let windows = WindowSettings { segment: 900, ..preset::PUBLISHED_WINDOWS };
    let settings = SenderSettings { segment: 900, handshake: false, ..preset::PUBLISHED };
    let queue = |port| DropTail::new(if port == 3 { capacity } else { 10_000 });
    let parts = (settings, Reno::new(windows), NewReno::new());
    let flow = FlowSpec { start: Nanos(0), from: 0, to: 1, bytes: 2_700 };
    Network::new(&topology, queue, parts, HEADER, 0).unwrap().run([flow].into_iter(), end).unwrap()
}

#[test]
fn the_example_comes_out_as_by_hand() {
    let table = rows("network", "three packets, two hops, one loss");
    assert_eq!(table.len(), 10);
    for row in &table {
        let micros: f64 = row[0].parse().expect("a time");
        let time = Nanos((micros * 1e3).round() as u64);
        let (before, after) = (until(Nanos(time.0 - 1), 1_000), until(time, 1_000));
        let counts =
            |outcome: &Outcome| [outcome.counts.sent, outcome.counts.delivered, outcome.counts.dropped];
        let more: Vec<u64> =
            counts(&after).iter().zip(counts(&before)).map(|(after, before)| after - before).collect();
        let hops = after.hops - before.hops;
        // An arrival at the receiver sends the acknowledgement, which leaves at once.
        let (expected, expected_hops) = match row[1].as_str() {
            text if text.contains("dropped") => ([0, 0, 1], 0),
            text if text.contains("leaves at once") => ([0, 0, 0], 1),
            text if text.contains("waits") => ([0, 0, 0], 0),
            text if text.contains("is there") => ([1, 1, 0], 1),
            text if text.contains("is back") => ([0, 1, 0], 0),
            text if text.contains("sent again") => ([1, 0, 0], 1),
            text => panic!("{text}"),
        };
        assert_eq!((more.as_slice(), hops), (expected.as_slice(), expected_hops), "{row:?}");
        assert!(after.events > before.events, "nothing happens: {row:?}");
    }
    let [flow] = until(Nanos::MAX, 1_000).completed[..] else { panic!("one flow") };
    assert_eq!(format!("{}", flow.end.0 as f64 / 1e3), table[9][0]);
    // Without the loss, as the text says.
    assert_eq!(until(Nanos::MAX, 10_000).completed[0].end, Nanos(9_100));
}
