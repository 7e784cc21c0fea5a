//! What becomes of packets while limits are replaced and changed.

use std::net::UdpSocket;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use std::{fs, thread};

use trueplane_limit::live::{Attached, Change, attach, detach};
use trueplane_linux::testnet::Host;
use trueplane_linux::{clock, testnet};
use trueplane_units::BitsPerSec;

use super::common::*;

/// Limits that nothing here reaches.
const WIDE: &str = "[[class]]\nname = 'all'\nrate = '100Gbps'\nburst = '60MiB'\nsource = '10.203.1.0/24'\n";

/// What the kernel counted of a host's packets.
#[derive(Clone, Copy, Debug, Default)]
struct Seen {
    /// Packets that reached IP.
    received: u64,
    /// Packets for which there was no room before: in the ring of its veth, or in the backlog.
    overflown: u64,
}

fn number(fields: &[&str], at: usize) -> u64 {
    fields.get(at).and_then(|field| field.parse().ok()).unwrap_or_else(|| panic!("{fields:?}"))
}

/// What was counted of packets on their way to `to`.
fn seen(from: &Host, to: &Host) -> Seen {
    let read = |host: &Host, file: &str| {
        let path = format!("/proc/thread-self/net/{file}");
        host.ns.run(|| fs::read_to_string(path).unwrap()).unwrap()
    };
    let device = |host: &Host, at: usize| {
        let table = read(host, "dev");
        let line = table.lines().find_map(|line| line.trim().strip_prefix("tp0:")).unwrap();
        number(&line.split_whitespace().collect::<Vec<_>>(), at)
    };
    let snmp = read(to, "snmp");
    // Names on one line, numbers on the next; the third is InReceives.
    let numbers = snmp.lines().filter(|line| line.starts_with("Ip:")).nth(1).unwrap();
    let received = number(&numbers.split_whitespace().collect::<Vec<_>>(), 3);
    // `tx_dropped` of who sends is the ring of who receives.
    Seen { received, overflown: device(from, 11) + device(to, 3) }
}

/// Sends some 20,000 packets a second while `work` is done; how many were sent, and how many of them neither arrived nor found a full ring.
fn lost_during(from: &Host, to: &Host, work: impl FnOnce()) -> (u64, u64) {
    let before = seen(from, to);
    // Nobody reads it, and nobody is told that the port is closed.
    let _sink = to.ns.run(|| UdpSocket::bind(("0.0.0.0", 9)).unwrap()).unwrap();
    let (is_over, address) = (AtomicBool::new(false), to.v4);
    let sent = thread::scope(|scope| {
        let sender = scope.spawn(|| {
            let send = || {
                let socket = UdpSocket::bind("0.0.0.0:0").unwrap();
                let mut sent = 0;
                while !is_over.load(Ordering::Relaxed) {
                    for _ in 0..20 {
                        sent += u64::from(socket.send_to(&[0; 200], (address, 9)).is_ok());
                    }
                    thread::sleep(Duration::from_millis(1));
                }
                sent
            };
            from.ns.run(send).unwrap()
        });
        work();
        is_over.store(true, Ordering::Relaxed);
        sender.join().unwrap()
    });
    let deadline = clock::now() + Duration::from_secs(5);
    loop {
        let now = seen(from, to);
        let found = now.received - before.received + now.overflown - before.overflown;
        if found >= sent || clock::now() > deadline {
            return (sent, sent.saturating_sub(found));
        }
        thread::sleep(Duration::from_millis(1));
    }
}

#[test]
fn no_packet_is_lost_while_limits_are_replaced_or_changed() {
    const SWAPS: usize = 10;
    const CHANGES: u64 = 200;
    let _alone = testnet::alone();
    let Some(pair) = pair() else { return };
    let device = pair.left.as_device();
    for (mode, direction) in WAYS {
        let limits = forced(attachment(mode, direction, WIDE));
        let (from, to, _) = sender(&pair, direction);
        attach(&device, &limits).unwrap();
        let (sent, lost) =
            lost_during(from, to, || (0..SWAPS).for_each(|_| attach(&device, &limits).unwrap()));
        assert!(sent > 100, "{sent}");
        assert_eq!(lost, 0, "{mode:?} {direction:?}: of {sent}, replaced");
        let change = |rate| Change { rate: Some(BitsPerSec(rate)), ..Change::default() };
        let set =
            |round| Attached::open(&device).unwrap().set("all", change(90_000_000_000 + round)).unwrap();
        let (sent, lost) = lost_during(from, to, || (0..CHANGES).for_each(|round| assert_eq!(set(round), 1)));
        assert!(sent > 100, "{sent}");
        assert_eq!(lost, 0, "{mode:?} {direction:?}: of {sent}, changed");
        // What limits drop would be seen.
        let narrow = forced(attachment(mode, direction, SLOW));
        let (sent, lost) =
            lost_during(from, to, || (0..SWAPS).for_each(|_| attach(&device, &narrow).unwrap()));
        assert!(lost > 0, "{mode:?} {direction:?}: of {sent}, limited");
        detach(&device).unwrap();
    }
}
