//! Lengths of queues, by hand and against a count of every packet.

use trueplane_network::Nanos;
use trueplane_network::simulator::{DropTail, FlowSpec, Link, Network, Topology, Waited};
use trueplane_network::transport::{NewReno, Reno, SenderSettings, WindowSettings, preset};
use trueplane_units::BitsPerSec;

/// Three packets of 1000 bytes, at 1 µs each, for a line that takes 2.5 µs: they come at 1, 2 and 3 µs and leave from 1, 3.5 and 6 µs on.
///
/// The second waits for 1.5 µs and the third for 3 µs: from 3 to 3.5 µs both. In the port of the sender, the second waits for 1 µs and the third
/// for 2 µs.
#[test]
fn lengths_by_hand() {
    let link = |from, to, rate| Link { from, to, rate: BitsPerSec(rate), delay: Nanos(0) };
    let fast = 8_000_000_000;
    let links = vec![link(0, 2, fast), link(2, 0, fast), link(1, 2, fast), link(2, 1, 3_200_000_000)];
    let topology = Topology::new(3, 2, links).unwrap();
    let windows = WindowSettings { segment: 900, ..preset::PUBLISHED_WINDOWS };
    let settings = SenderSettings { segment: 900, handshake: false, ..preset::PUBLISHED };
    let transport = (settings, Reno::new(windows), NewReno::new());
    let network = Network::new(&topology, |_| DropTail::new(10_000), transport, 100, 0).unwrap();
    let spec = FlowSpec { start: Nanos(0), from: 0, to: 1, bytes: 2_700 };
    let outcome = network.measuring().run([spec].into_iter(), Nanos::MAX).unwrap();
    let waited: Vec<Waited> = outcome.ports.iter().map(|port| port.waited.unwrap()).collect();
    let nothing = Waited::default();
    let expected =
        [Waited { longest: 2, packet_ns: 3_000 }, nothing, nothing, Waited { longest: 2, packet_ns: 4_500 }];
    assert_eq!(waited, expected);
    assert_eq!(waited[3].mean(Nanos(9_000)), 0.5);
    assert_eq!(waited[3].mean(Nanos(0)), 0.0);
    let sent: Vec<u64> = outcome.ports.iter().map(|port| port.sent).collect();
    assert_eq!(sent, [3, 3, 3, 3]);
}

/// Measuring changes nothing else, and is not there unless it is asked for.
#[test]
fn measuring_changes_nothing_else() {
    let rate = BitsPerSec(1_000_000_000);
    let topology = Topology::leaf_spine(3, 2, 4, rate, rate, Nanos(20)).unwrap();
    let network =
        || Network::new(&topology, |_| DropTail::new(30_000), preset::standard_tcp(), 120, 5).unwrap();
    let flows = || (1..12).map(|from| FlowSpec { start: Nanos(0), from, to: 0, bytes: 60_000 });
    let plain = network().run(flows(), Nanos::MAX).unwrap();
    assert!(plain.ports.iter().all(|port| port.waited.is_none()));
    let mut measured = network().measuring().run(flows(), Nanos::MAX).unwrap();
    // At least twenty packets fit into the queue of the last port.
    let most = measured.ports.iter().filter_map(|port| port.waited).map(|waited| waited.longest).max();
    assert!(most >= Some(20), "{most:?}");
    measured.ports.iter_mut().for_each(|port| port.waited = None);
    assert_eq!(measured, plain);
}
