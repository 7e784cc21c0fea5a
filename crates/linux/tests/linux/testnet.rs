//! The test network itself: it connects, it measures what was asked for, and it leaves nothing behind.

use std::fs;
use std::net::SocketAddr;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use trueplane_linux::testnet::{
    self, Bottleneck, Dumbbell, Iperf, Namespace, Options, Paced, Pair, Probe, Requirement, Running, Sink,
    Transport,
};
use trueplane_units::{BitsPerSec, Bytes, Nanos};

const MS: Duration = Duration::from_millis(1);

/// The devices in the namespace that the calling thread is in; `/proc/net` would tell of the main thread's.
fn devices() -> String {
    fs::read_to_string("/proc/thread-self/net/dev").unwrap()
}

fn exists(namespace: &str) -> bool {
    fs::exists(format!("/run/netns/{namespace}")).unwrap()
}

#[test]
fn namespaces_come_and_go() {
    let _together = testnet::together();
    let Some(namespace) = testnet::start(&[], || Namespace::new("lone")) else { return };
    let name = namespace.name().to_owned();
    assert!(exists(&name));
    assert_eq!(namespace.run(devices).unwrap().lines().count(), 3, "two lines of heading, and lo");
    namespace.sysctl("ipv4.tcp_ecn", "1").unwrap();
    drop(namespace);
    assert!(!exists(&name));
}

#[test]
fn a_panic_within_goes_on_in_the_caller_and_leaves_nothing() {
    let _together = testnet::together();
    let Some(namespace) = testnet::start(&[], || Namespace::new("panics")) else { return };
    let name = namespace.name().to_owned();
    let panic = catch_unwind(AssertUnwindSafe(move || {
        let _held = &namespace;
        namespace.run(|| panic!("on purpose")).unwrap();
    }));
    assert_eq!(panic.unwrap_err().downcast_ref(), Some(&"on purpose"));
    assert!(!exists(&name));
}

#[test]
fn mounts_are_the_same_within() {
    let _together = testnet::together();
    let Some(namespace) = testnet::start(&[], || Namespace::new("mounts")) else { return };
    let mounts = || fs::read_link("/proc/thread-self/ns/mnt").unwrap();
    let network = || fs::read_link("/proc/thread-self/ns/net").unwrap();
    assert_eq!(namespace.run(mounts).unwrap(), mounts());
    assert_ne!(namespace.run(network).unwrap(), network());
    let by_command = namespace.output(&["readlink", "/proc/self/ns/net"]).unwrap();
    assert_eq!(by_command.trim(), namespace.run(network).unwrap().to_str().unwrap());
}

#[test]
fn commands_end_in_time_and_tell_their_errors() {
    let _together = testnet::together();
    let Some(namespace) = testnet::start(&[], || Namespace::new("commands")) else { return };
    let sleeper = || {
        let mut command = namespace.command("sleep");
        command.arg("1000");
        Running::start(command).unwrap()
    };
    let error = sleeper().finish(50 * MS).unwrap_err();
    assert_eq!(error.to_string(), "`sleep 1000`: still running after 50ms, killed");
    let dropped = sleeper();
    let process = format!("/proc/{}", dropped.id());
    assert!(fs::exists(&process).unwrap());
    drop(dropped);
    assert!(!fs::exists(&process).unwrap());

    let error = namespace.ip(&["link", "set", "nothing", "up"]).unwrap_err().to_string();
    assert_eq!(error, "`ip link set nothing up`: exit status: 1: Cannot find device \"nothing\"");
    assert!(namespace.output(&["no-such-command"]).is_err());
    assert!(Namespace::new("../up").is_err());
}

#[test]
fn leftovers_of_processes_that_are_gone_are_swept() {
    let _together = testnet::together();
    let Some(namespace) = testnet::start(&[], || Namespace::new("sweep")) else { return };
    // Process numbers end at 2^22.
    let dead = "tp-4194305-0-dead";
    namespace.ip(&["netns", "add", dead]).unwrap();
    assert!(exists(dead) && exists(namespace.name()));
    testnet::sweep().unwrap();
    assert!(!exists(dead) && exists(namespace.name()));
}

#[test]
fn a_pair_passes_udp_in_both_versions_of_ip() {
    let _together = testnet::together();
    let Some(net) = testnet::start(&[], Pair::new) else { return };
    let sender = Paced { rate: BitsPerSec(10_000_000), frame: Bytes(200), duration: 100 * MS };
    for here in [SocketAddr::from((net.right.v4, 0)), SocketAddr::from((net.right.v6, 0))] {
        let sink = Sink::listen(&net.right, here).unwrap();
        let sent = sender.run(&net.left, sink.address()).unwrap();
        let received = sink.stop().unwrap();
        assert_eq!(sent.packets, 625);
        assert_eq!((received.packets, received.frame_bytes), (sent.packets, sent.frame_bytes), "{here}");
    }
}

#[test]
fn no_packet_is_on_the_wire_but_the_tests_own() {
    let _alone = testnet::alone();
    let Some(net) = testnet::start(&[], Pair::new) else { return };
    let sink = Sink::listen(&net.right, (net.right.v4, 0).into()).unwrap();
    let sender = Paced { rate: BitsPerSec(1_000_000), frame: Bytes(1000), duration: 400 * MS };
    let sent = sender.run(&net.left, sink.address()).unwrap();
    sink.stop().unwrap();
    let count = |host: &testnet::Host, name: &str| -> u64 {
        let text = host.ns.run(devices).unwrap();
        let line = text.lines().find(|line| line.trim().starts_with(&format!("{}:", host.device))).unwrap();
        let fields: Vec<u64> =
            line.split_once(':').unwrap().1.split_whitespace().map(|f| f.parse().unwrap()).collect();
        if name == "rx_packets" { fields[1] } else { fields[9] }
    };
    assert_eq!(count(&net.left, "tx_packets"), sent.packets);
    assert_eq!(count(&net.left, "rx_packets"), 0);
    assert_eq!(count(&net.right, "tx_packets"), 0);
}

#[test]
fn nothing_is_lost_and_nothing_goes_faster_than_asked() {
    let _alone = testnet::alone();
    let Some(net) = testnet::start(&[], Pair::new) else { return };
    for (rate, frame) in [(BitsPerSec(50_000_000), Bytes(1514)), (BitsPerSec(50_000_000), Bytes(64))] {
        let sink = Sink::listen(&net.right, (net.right.v4, 0).into()).unwrap();
        let sent =
            Paced { rate, frame, duration: Duration::from_secs(1) }.run(&net.left, sink.address()).unwrap();
        let received = sink.stop().unwrap();
        assert_eq!((sent.packets, sent.refused), (received.packets, 0));
        let reached = BitsPerSec::of(received.frame_bytes, Nanos(received.elapsed().as_nanos() as u64));
        eprintln!(
            "asked {rate}, sent {}, received {reached}, largest batch {}",
            sent.rate(),
            sent.largest_batch
        );
        // How much of the rate is reached is up to whatever else the machine does.
        assert!(sent.rate().0 as f64 <= rate.0 as f64 * 1.02, "{} for {rate}", sent.rate());
    }
    assert!(
        Paced { rate: BitsPerSec(0), frame: Bytes(64), duration: MS }
            .start(&net.left, (net.right.v4, 9).into())
            .is_err()
    );
    assert!(
        Paced { rate: BitsPerSec(1), frame: Bytes(41), duration: MS }
            .start(&net.left, (net.right.v4, 9).into())
            .is_err()
    );
}

#[test]
fn probes_time_every_answer() {
    let _alone = testnet::alone();
    let Some(net) = testnet::start(&[], Pair::new) else { return };
    for transport in [Transport::Udp, Transport::Tcp] {
        let probe = Probe { transport, duration: 200 * MS, gap: MS };
        let report = probe.run(&net.left, &net.right).unwrap();
        eprintln!("{transport:?}: median {}", Nanos(report.rtt_ns.quantile(0.5)));
        assert_eq!((report.rtt_ns.count(), report.lost), (report.sent, 0));
        assert!(report.sent > 10 && report.rtt_ns.quantile(0.0) > 0, "{report:?}");
    }
}

#[test]
fn iperf3_runs_over_a_pair() {
    let _alone = testnet::alone();
    let Some(net) = testnet::start(&[Requirement::Iperf3], Pair::new) else { return };
    let report = Iperf::tcp(1).flows(2).congestion("cubic").run(&net.left, &net.right).unwrap();
    assert!(report.goodput.0 > 10_000_000, "{report:?}");
    assert_eq!((report.flows.len(), report.congestion.as_deref()), (2, Some("cubic")));
    assert!((9..=11).contains(&report.series.len()), "{report:?}");

    let report =
        Iperf::udp(1, BitsPerSec(8_000_000), Bytes(1000)).over_v6().run(&net.left, &net.right).unwrap();
    assert!(report.packets.abs_diff(1000) < 50 && report.lost == 0, "{report:?}");
    assert!((report.goodput.0 as f64 / 8e6 - 1.0).abs() < 0.05, "{report:?}");

    let error = Iperf::tcp(1).congestion("nonesuch").run(&net.left, &net.right).unwrap_err();
    assert!(error.to_string().contains("congctl nonesuch`: exit status: 2: "), "{error}");
}

#[test]
fn tenants_share_what_the_router_lets_through() {
    let _alone = testnet::alone();
    let requirements = [Requirement::Iperf3, Requirement::Tc, Requirement::Ethtool];
    let options = Options { offloads: false, ..Options::default() };
    let Some(net) = testnet::start(&requirements, || Dumbbell::with(2, options)) else { return };
    let bottleneck =
        Bottleneck { rate: BitsPerSec(100_000_000), burst: Bytes(20_000), queue: Nanos(20_000_000) };
    net.router.set_bottleneck(&net.router.toward_sink, bottleneck).unwrap();
    let runs: Vec<_> =
        net.tenants.iter().map(|tenant| Iperf::tcp(2).congestion("cubic").start(tenant, &net.sink)).collect();
    let goodput: u64 = runs.into_iter().map(|run| run.unwrap().finish().unwrap().goodput.0).sum();
    eprintln!("together {}", BitsPerSec(goodput));
    // 1448 of 1514 bytes are payload.
    assert!((60_000_000..=110_000_000).contains(&goodput), "{goodput}");

    let probe = Probe { transport: Transport::Udp, duration: 50 * MS, gap: MS };
    assert_eq!(probe.run(&net.tenants[1], &net.sink).unwrap().lost, 0);
    assert!(Dumbbell::new(0).is_err());
}
