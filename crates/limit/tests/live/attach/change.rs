//! Limits are replaced and changed while they run.

use std::thread;
use std::time::Duration;

use libbpf_rs::{MapCore, MapFlags, MapHandle};
use trueplane_limit::Limiter as _;
use trueplane_limit::live::{Attached, Change, Counter, Direction, Mode, attach, detach};
use trueplane_limit::policy::Nimble;
use trueplane_linux::{clock, testnet};
use trueplane_units::{BitsPerSec, Bytes};

use super::common::*;

#[test]
fn force_hands_the_buckets_over_by_name() {
    let _together = testnet::together();
    let Some(pair) = pair() else { return };
    let device = pair.left.as_device();
    let before = surroundings(&pair.left);
    attach(&device, &xdp(SLOW)).unwrap();
    send(&pair.right, &pair.left, 20);
    let full = Attached::open(&device).unwrap();
    class(&full, 1, 20);
    let expected = full.limiter(1);
    assert!(expected.occupancy_units > 18 * FRAME as u32 * 64);
    // The same name at another place in the file, with another limit, at each hook in turn and back.
    let other = "[[class]]\nname = 'new'\nrate = '1Mbps'\nvlan = 9\n[[class]]\nname = 'x'\nrate = '1kbps'\nvlan = 8\n\
        [[class]]\nname = 'right'\nrate = '1kbps'\nburst = '29200B'\nsource = '10.203.1.2'\n";
    for (mode, direction) in [WAYS[1], WAYS[2], WAYS[1], WAYS[0], WAYS[0]] {
        attach(&device, &forced(attachment(mode, direction, other))).unwrap();
        let attached = Attached::open(&device).unwrap();
        let (found, fresh) = (attached.limiter(2), attached.limiter(0));
        // As it was, less what has drained meanwhile: less than a packet, a test takes no eight seconds.
        let drained = expected.occupancy_units - found.occupancy_units;
        assert!(drained < FRAME as u32 * 64, "{drained}");
        assert_eq!((found.burst(), fresh.occupancy_units), (Bytes(29_200), 0));
        assert_eq!(attached.class_counter(2).unwrap(), Counter::default());
        assert_eq!(pins(&device).len(), 1);
    }
    let attached = Attached::open(&device).unwrap();
    send(&pair.right, &pair.left, 20);
    // 19 packets are in the bucket, and nine more find room.
    assert_eq!(class(&attached, 2, 20).passed_packets, 9);
    detach(&device).unwrap();
    assert_eq!(surroundings(&pair.left), before, "clsact went with the limits at it");
    attach(&device, &attachment(Mode::Tc, Direction::Ingress, SLOW)).unwrap();
    attach(&device, &forced(attachment(Mode::Tc, Direction::Egress, SLOW))).unwrap();
    attach(&device, &forced(attachment(Mode::Tc, Direction::Egress, SLOW))).unwrap();
    detach(&device).unwrap();
    assert_eq!(surroundings(&pair.left), before, "who replaced limits inherits the clsact that they made");
}

#[test]
fn setting_a_limit_keeps_what_is_in_the_bucket() {
    let _together = testnet::together();
    let Some(pair) = pair() else { return };
    let device = pair.left.as_device();
    attach(&device, &xdp(SLOW)).unwrap();
    let attached = Attached::open(&device).unwrap();
    let mut twin = attached.limiter(1);
    let set = |change| Attached::open(&device).unwrap().set("right", change);
    // 30 packets, a smaller burst, 30 packets, a larger one: what passes is what a policy would let through that is told the same.
    let mut passed = 0;
    for (round, burst) in (1..).zip([57, 38, 48, 29, 62].map(|packets| packets * FRAME + 10)) {
        set(Change { burst: Some(Bytes(burst)), ..Change::default() }).unwrap();
        twin.advance(clock::monotonic());
        twin.burst_units = Nimble::new(BitsPerSec(1_000), Bytes(burst), None).unwrap().burst_units;
        let before = attached.limiter(1);
        assert_eq!(before.burst(), Bytes(burst));
        send(&pair.right, &pair.left, 30);
        let now = clock::monotonic();
        passed += (0..30).filter(|_| twin.offer(FRAME as u32, now) == trueplane_limit::Verdict::Pass).count();
        assert_eq!(class(&attached, 1, 30 * round).passed_packets, passed as u64, "round {round}");
    }
    let occupancy = attached.limiter(1).occupancy_units;
    // Draining in between differs by less than a packet: a test takes no eight seconds.
    assert!(
        occupancy.abs_diff(twin.occupancy_units) < FRAME as u32 * 64,
        "{occupancy} {}",
        twin.occupancy_units
    );
    let change = Change {
        rate: Some(BitsPerSec(1_000_000)),
        burst: Some(Bytes(70_000)),
        mark: Some(Some(Bytes(8_000))),
    };
    assert_eq!(set(change).unwrap(), 1);
    let after = attached.limiter(1);
    assert_eq!(
        after.rate,
        Nimble::new(BitsPerSec(1_000_000), Bytes(70_000), Some(Bytes(8_000))).unwrap().rate
    );
    assert_eq!(after.burst(), Bytes(70_000));
    // What drained until then did so at the old rate, of which this test is too short to see a packet.
    assert!(occupancy - after.occupancy_units < FRAME as u32 * 64);
    // At the new rate a bucket of 60 kB is empty in half a second, and remains so though the rate is slow again.
    thread::sleep(Duration::from_millis(600));
    set(Change { rate: Some(BitsPerSec(1_000)), ..Change::default() }).unwrap();
    assert_eq!(attached.limiter(1).occupancy_units, 0);
    set(change).unwrap();
    assert_eq!(
        attached.limiter(0).rate,
        attached
            .about()
            .classes
            .classes()
            .first()
            .map(|class| Nimble::new(class.rate, class.burst, None).unwrap().rate)
            .unwrap()
    );
    // What does not fit changes nothing.
    let (none, after) = (Change::default(), attached.limiter(1));
    for (wrong, said) in [
        (Change { mark: Some(Some(Bytes(70_000))), ..none }, "less than the burst"),
        (Change { burst: Some(Bytes(5_000)), ..none }, "less than the burst"),
        (Change { rate: Some(BitsPerSec(999)), burst: Some(Bytes(66_000)), ..none }, "rate from 1kbps"),
        (Change { rate: Some(BitsPerSec(400_000_000_001)), ..none }, "rate from 1kbps"),
        (Change { burst: Some(Bytes(1 << 40)), ..none }, "burst"),
        (Change { burst: Some(Bytes(0)), mark: Some(None), ..none }, "burst"),
        (Change { mark: Some(Some(Bytes(0))), ..none }, "mark"),
    ] {
        let error = set(wrong).unwrap_err().to_string();
        assert!(error.contains(said) && error.contains("class \"right\""), "{error}");
        assert_eq!(attached.limiter(1), after, "{wrong:?}");
    }
    let unknown = attached.set("middle", none).unwrap_err().to_string();
    assert!(unknown.contains("no class \"middle\"; its classes are left, right"), "{unknown}");
    assert_eq!(set(Change { mark: Some(None), ..none }).unwrap(), 1);
    assert_eq!(attached.limiter(1).rate.mark(), None);
    detach(&device).unwrap();
}

#[test]
fn each_host_has_a_limiter_and_the_sweep_goes_on_without_the_loader() {
    let _together = testnet::together();
    let Some(pair) = pair() else { return };
    let device = pair.left.as_device();
    // As many limiters as there can be, so that the sweep takes a turn every 134 ms.
    let text = "[[class]]\nname = 'hosts'\nrate = '1kbps'\nburst = '4180B'\nsource = '10.192.0.0/12'\neach = 32\ncount = 'each'\n";
    attach(&device, &xdp(text)).unwrap();
    send(&pair.right, &pair.left, 10);
    let attached = Attached::open(&device).unwrap();
    assert_eq!(class(&attached, 0, 10).passed_packets, 5);
    let one = attached.classifier().find("hosts[10.203.1.2/32]").unwrap().start;
    assert_eq!(attached.counter(one).unwrap().dropped_packets, 5);
    let twice = Change { burst: Some(Bytes(8_350)), ..Change::default() };
    assert_eq!(attached.set("hosts[10.203.1.2/32]", twice).unwrap(), 1);
    send(&pair.right, &pair.left, 10);
    assert_eq!(class(&attached, 0, 20).passed_packets, 9);
    assert_eq!(attached.set("hosts", twice).unwrap(), 1 << 20);
    assert_eq!(attached.limiter(one + 1).burst(), Bytes(8_350));
    // The word behind the timer says where the next turn begins.
    let sweeps = MapHandle::from_pinned_path(folder(&device).join("sweeps")).unwrap();
    let next = || {
        let value = sweeps.lookup(&0u32.to_ne_bytes(), MapFlags::ANY).unwrap().unwrap();
        value[16..20].to_vec()
    };
    let (first, deadline) = (next(), clock::now() + Duration::from_secs(20));
    while next() == first {
        assert!(clock::now() < deadline, "the sweep stands still");
        thread::sleep(Duration::from_millis(10));
    }
    detach(&device).unwrap();
}

#[test]
fn of_two_who_attach_at_once_one_does() {
    let _together = testnet::together();
    let Some(pair) = pair() else { return };
    let device = pair.left.as_device();
    for (mode, direction) in WAYS {
        let attachment = attachment(mode, direction, SLOW);
        let done = thread::scope(|scope| {
            let threads: Vec<_> = (0..4).map(|_| scope.spawn(|| attach(&device, &attachment))).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect::<Vec<_>>()
        });
        assert_eq!(done.iter().filter(|result| result.is_ok()).count(), 1, "{done:?}");
        assert!(
            done.iter()
                .flat_map(|result| result.as_ref().err())
                .all(|error| error.to_string().contains("already"))
        );
        // And where all may replace, all do, one after the other.
        let attachment = forced(attachment);
        thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| attach(&device, &attachment).unwrap());
            }
        });
        assert_eq!(pins(&device).len(), 1);
        Attached::open(&device).unwrap();
        detach(&device).unwrap();
    }
}
