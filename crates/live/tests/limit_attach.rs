//! Limits on real devices: attached and taken away whole or not at all, handed over, changed while they run, and what they do
//! to real packets.
#![cfg(target_os = "linux")]

use std::fs;
use std::net::UdpSocket;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use libbpf_rs::{MapCore, MapFlags, MapHandle, MapType};
use trueplane_core::limit::Limiter as _;
use trueplane_core::limit::classes::Classes;
use trueplane_core::limit::policy::Nimble;
use trueplane_core::units::{BitsPerSec, Bytes};
use trueplane_live::limit::{
    Attached, Attachment, Change, Clock, Counter, Direction, Mode, Tuning, attach, detach, devices, rehearse,
};
use trueplane_live::testnet::{self, Host, Pair, Requirement};
use trueplane_live::{Device, clock};

const PINS: &str = "/sys/fs/bpf/trueplane/limit";

/// Every way to attach.
const WAYS: [(Mode, Direction); 3] =
    [(Mode::Xdp, Direction::Ingress), (Mode::Tc, Direction::Ingress), (Mode::Tc, Direction::Egress)];

/// A limiter that does not drain within a test: 1 kbit/s is 125 bytes a second.
const SLOW: &str = "[[class]]\nname = 'left'\nrate = '1kbps'\nburst = '59400B'\nsource = '10.203.1.1'\n[[class]]\nname = 'right'\n\
     rate = '1kbps'\nburst = '59400B'\nsource = '10.203.1.2'\n";

fn classes(text: &str) -> Classes {
    Classes::parse("classes", text).unwrap()
}

fn attachment(mode: Mode, direction: Direction, text: &str) -> Attachment {
    Attachment { classes: classes(text), mode, direction, tuning: Tuning::default(), force: false }
}

fn xdp(text: &str) -> Attachment {
    attachment(Mode::Xdp, Direction::Ingress, text)
}

fn forced(attachment: Attachment) -> Attachment {
    Attachment { force: true, ..attachment }
}

/// A pair of hosts, or one line that says why there is none.
fn pair() -> Option<Pair> {
    testnet::start(&[Requirement::Bpf, Requirement::Tc], Pair::new)
}

/// All that attaching may change of a device: its link with its XDP program, its queueing disciplines, its filters, its pins.
#[derive(Debug, PartialEq)]
struct Surroundings {
    link: String,
    disciplines: String,
    filters: String,
    pins: Vec<PathBuf>,
}

fn surroundings(host: &Host) -> Surroundings {
    let tc = |what: &[&str]| host.ns.output(&[&["tc"], what].concat()).unwrap_or_default();
    let link = host.ns.ip(&["-details", "link", "show", &host.device]).unwrap();
    let filters =
        ["ingress", "egress"].map(|place| tc(&["filter", "show", "dev", &host.device, place])).concat();
    Surroundings {
        link,
        disciplines: tc(&["qdisc", "show", "dev", &host.device]),
        filters,
        pins: pins(&host.as_device()),
    }
}

/// What is pinned for a device, or left of it.
fn pins(device: &Device) -> Vec<PathBuf> {
    let name = folder(device).file_name().unwrap().to_string_lossy().into_owned();
    let entries = fs::read_dir(PINS).into_iter().flatten().map(|entry| entry.unwrap().path());
    entries
        .filter(|path| path.file_name().is_some_and(|found| found.to_string_lossy().contains(&name)))
        .collect()
}

/// Where a device's maps are pinned; none of the devices here has a name with a dot or a percent sign, but for `odd`.
fn folder(device: &Device) -> PathBuf {
    Path::new(PINS).join(device.to_string().replace('.', "%2e"))
}

fn beside(device: &Device, prefix: &str) -> PathBuf {
    let folder = folder(device);
    folder.with_file_name(format!("%{prefix}-{}", folder.file_name().unwrap().to_string_lossy()))
}

fn pin(path: &Path) -> MapHandle {
    let options = libbpf_rs::libbpf_sys::bpf_map_create_opts {
        sz: size_of::<libbpf_rs::libbpf_sys::bpf_map_create_opts>() as u64,
        ..Default::default()
    };
    let mut map = MapHandle::create(MapType::Array, Some("other"), 4, 8, 1, &options).unwrap();
    map.pin(path).unwrap();
    map
}

/// Sends `count` UDP packets of frames of 1042 bytes.
fn send(from: &Host, to: &Host, count: usize) {
    let to = (to.v4, 9);
    from.ns
        .run(move || {
            let socket = UdpSocket::bind("0.0.0.0:0").unwrap();
            (0..count).for_each(|_| assert_eq!(socket.send_to(&[0; 1000], to).unwrap(), 1000));
        })
        .unwrap();
}

const FRAME: u64 = 1042;

/// What a counter tells once so many packets have arrived; veth hands packets on a moment later.
fn settled(read: impl Fn() -> Counter, packets: u64) -> Counter {
    let deadline = clock::now() + Duration::from_secs(5);
    loop {
        let counter = read();
        if counter.arrived_packets() >= packets || clock::now() > deadline {
            return counter;
        }
        thread::sleep(Duration::from_millis(1));
    }
}

fn class(attached: &Attached, index: usize, packets: u64) -> Counter {
    settled(|| attached.class_counter(index).unwrap(), packets)
}

/// Whose packets a program sees that is attached so to `host`.
fn sender(pair: &Pair, direction: Direction) -> (&Host, &Host, usize) {
    match direction {
        Direction::Ingress => (&pair.right, &pair.left, 1),
        Direction::Egress => (&pair.left, &pair.right, 0),
    }
}

#[test]
fn limits_come_count_and_go_and_leave_everything_as_it_was() {
    let Some(pair) = pair() else { return };
    let device = pair.left.as_device();
    for (mode, direction) in WAYS {
        let before = surroundings(&pair.left);
        rehearse(&device, &attachment(mode, direction, SLOW)).unwrap();
        assert_eq!(surroundings(&pair.left), before, "a rehearsal changes nothing");
        attach(&device, &attachment(mode, direction, SLOW)).unwrap();
        assert!(devices().unwrap().contains(&device));
        let (from, to, index) = sender(&pair, direction);
        send(from, to, 100);
        let attached = Attached::open(&device).unwrap();
        let counted = class(&attached, index, 100);
        // The idle time before the first drains it; 57 more are 59394 bytes, and draining takes 8 s for another.
        let expected = Counter {
            passed_packets: 58,
            passed_bytes: 58 * FRAME,
            dropped_packets: 42,
            dropped_bytes: 42 * FRAME,
            ..Counter::default()
        };
        assert_eq!(counted, expected, "{mode:?} {direction:?}");
        assert_eq!(attached.class_counter(1 - index).unwrap(), Counter::default());
        assert_eq!(attached.unclassified().unwrap(), Counter::default());

        let again = attach(&device, &attachment(mode, direction, SLOW)).unwrap_err().to_string();
        assert!(again.contains("has limits already; --force"), "{again}");
        rehearse(&device, &attachment(mode, direction, SLOW)).unwrap_err();
        send(from, to, 1);
        assert_eq!(class(&attached, index, 101).dropped_packets, 43, "the first goes on working");

        detach(&device).unwrap();
        assert_eq!(surroundings(&pair.left), before, "{mode:?} {direction:?}");
        assert!(Attached::open(&device).is_err() && !devices().unwrap().contains(&device));
        let gone = detach(&device).unwrap_err().to_string();
        assert!(gone.ends_with("has no limits"), "{gone}");
        let set = attached.set("left", Change { rate: Some(BitsPerSec(2_000)), ..Change::default() });
        assert!(set.unwrap_err().to_string().ends_with("has no limits"));
    }
}

#[test]
fn a_clsact_of_others_stays() {
    let Some(pair) = pair() else { return };
    let (host, device) = (&pair.left, pair.left.as_device());
    let tc = |words: &[&str]| host.ns.output(&[&["tc"], words].concat()).unwrap();
    // A program of classic BPF that says of every packet that it is not meant.
    let filter = ["filter", "add", "dev", "tp0", "egress", "pref", "9", "bpf", "bytecode", "1,6 0 0 0,"];
    for direction in [Direction::Ingress, Direction::Egress] {
        // It was there before.
        tc(&["qdisc", "add", "dev", "tp0", "clsact"]);
        let before = surroundings(host);
        attach(&device, &attachment(Mode::Tc, direction, SLOW)).unwrap();
        detach(&device).unwrap();
        assert_eq!(surroundings(host), before);
        tc(&["qdisc", "del", "dev", "tp0", "clsact"]);
        // We made it, and somebody else uses it since.
        attach(&device, &attachment(Mode::Tc, direction, SLOW)).unwrap();
        tc(&filter);
        detach(&device).unwrap();
        let after = surroundings(host);
        assert!(after.disciplines.contains("clsact") && after.filters.contains("pref 9"), "{after:?}");
        assert!(!after.filters.contains("limit_tc"), "{after:?}");
        tc(&["qdisc", "del", "dev", "tp0", "clsact"]);
    }
}

#[test]
fn the_older_ingress_discipline_is_used_for_what_it_can_do() {
    let Some(pair) = pair() else { return };
    let (host, device) = (&pair.left, pair.left.as_device());
    host.ns.output(&["tc", "qdisc", "add", "dev", "tp0", "ingress"]).unwrap();
    let before = surroundings(host);
    let refused = attach(&device, &attachment(Mode::Tc, Direction::Egress, SLOW)).unwrap_err().to_string();
    assert!(refused.contains("\"ingress\""), "{refused}");
    rehearse(&device, &attachment(Mode::Tc, Direction::Egress, SLOW)).unwrap_err();
    assert_eq!(surroundings(host), before);
    attach(&device, &attachment(Mode::Tc, Direction::Ingress, SLOW)).unwrap();
    send(&pair.right, host, 3);
    assert_eq!(class(&Attached::open(&device).unwrap(), 1, 3).passed_packets, 3);
    detach(&device).unwrap();
    assert_eq!(surroundings(host), before);
}

/// Another XDP program: the one that marks, of this crate's tests, does not matter; ours on another device's behalf is as good.
fn put_other_program(pair: &Pair) {
    // Taking its pins away makes a program of ours one of nobody.
    attach(&pair.left.as_device(), &xdp(SLOW)).unwrap();
    fs::read_dir(folder(&pair.left.as_device()))
        .unwrap()
        .for_each(|pin| fs::remove_file(pin.unwrap().path()).unwrap());
    fs::remove_dir(folder(&pair.left.as_device())).unwrap();
}

#[test]
fn a_program_of_others_is_replaced_only_by_force() {
    let Some(pair) = pair() else { return };
    let device = pair.left.as_device();
    put_other_program(&pair);
    let before = surroundings(&pair.left);
    for refused in [attach(&device, &xdp(SLOW)), rehearse(&device, &xdp(SLOW))] {
        let refused = refused.unwrap_err().to_string();
        assert!(refused.contains("another program runs on"), "{refused}");
    }
    assert!(detach(&device).unwrap_err().to_string().ends_with("has no limits"));
    assert_eq!(surroundings(&pair.left), before);
    // At another hook both run.
    attach(&device, &attachment(Mode::Tc, Direction::Egress, SLOW)).unwrap();
    detach(&device).unwrap();
    assert_eq!(surroundings(&pair.left), before);
    attach(&device, &forced(xdp(SLOW))).unwrap();
    detach(&device).unwrap();
    assert_ne!(surroundings(&pair.left), before);
}

#[test]
fn what_fails_halfway_leaves_nothing_behind() {
    let Some(pair) = pair() else { return };
    let (host, device) = (&pair.left, pair.left.as_device());
    let before = surroundings(host);
    let refused = |device: &Device, attachment: Attachment, said: &str| {
        let error = attach(device, &attachment).unwrap_err().to_string();
        assert!(error.contains(said) && !error.contains('\n'), "{error}");
    };
    let marked = "[[class]]\nname = 'a'\nrate = '1Mbps'\nfwmark = 7\n";
    refused(&device, xdp(marked), "classes by fwmark need --mode tc");
    refused(&device, attachment(Mode::Xdp, Direction::Egress, SLOW), "XDP sees incoming packets only");
    let never = Tuning { clock: Clock::Amortised { every: 0 }, ..Tuning::default() };
    refused(&device, Attachment { tuning: never, ..xdp(SLOW) }, "at least once");
    let unknown = Device::new("tp9", device.netns.as_deref()).unwrap();
    refused(&unknown, xdp(SLOW), "there is no network device tp9@");
    let nowhere = Device::new("tp0", Some("tp-nowhere")).unwrap();
    refused(&nowhere, xdp(SLOW), "there is no network namespace tp-nowhere");
    // veth takes no XDP program where its peer sends from more queues than it receives to.
    const ONE: [&str; 4] = ["numrxqueues", "1", "numtxqueues", "1"];
    const TWO: [&str; 4] = ["numrxqueues", "2", "numtxqueues", "2"];
    let (near, far) = (["link", "add", "few"], ["type", "veth", "peer", "name", "many"]);
    host.ns.ip(&[&near[..], &ONE, &far, &TWO].concat()).unwrap();
    host.ns.ip(&["link", "set", "many", "up"]).unwrap();
    host.ns.ip(&["link", "set", "few", "up"]).unwrap();
    let few = Device::new("few", device.netns.as_deref()).unwrap();
    refused(&few, xdp(SLOW), "cannot attach to few@");
    assert_eq!((pins(&few), pins(&unknown)), (vec![], vec![]));
    // No room for the pins: neither beside their place nor at it.
    for taken in [beside(&device, "new"), folder(&device)] {
        let _other = pin(&taken);
        for (mode, direction) in WAYS {
            refused(&device, attachment(mode, direction, SLOW), "cannot pin to");
        }
        fs::remove_file(taken).unwrap();
    }
    assert_eq!(surroundings(host), before);
    // The same while limits run, whose place is not taken by those that fail.
    attach(&device, &xdp(SLOW)).unwrap();
    send(&pair.right, host, 5);
    let other = pin(&beside(&device, "new"));
    refused(&device, forced(xdp(SLOW)), "cannot pin to");
    drop(other);
    fs::remove_file(beside(&device, "new")).unwrap();
    let attached = Attached::open(&device).unwrap();
    assert_eq!(class(&attached, 1, 5).passed_packets, 5);
    host.ns.output(&["tc", "qdisc", "add", "dev", "tp0", "ingress"]).unwrap();
    refused(&device, forced(attachment(Mode::Tc, Direction::Egress, SLOW)), "\"ingress\"");
    host.ns.output(&["tc", "qdisc", "del", "dev", "tp0", "ingress"]).unwrap();
    send(&pair.right, host, 5);
    assert_eq!(class(&Attached::open(&device).unwrap(), 1, 10).passed_packets, 10);
    detach(&device).unwrap();
    assert_eq!(surroundings(host), before);
}

#[test]
fn what_a_crash_left_is_healed() {
    let Some(pair) = pair() else { return };
    let device = pair.left.as_device();
    let before = surroundings(&pair.left);
    // Pins of a program that runs no more.
    attach(&device, &xdp(SLOW)).unwrap();
    pair.left.ns.ip(&["link", "set", &device.name, "xdp", "off"]).unwrap();
    assert!(Attached::open(&device).is_err() && !devices().unwrap().contains(&device));
    fs::create_dir(beside(&device, "new")).unwrap();
    pin(&beside(&device, "new").join("limiters"));
    fs::create_dir(beside(&device, "old")).unwrap();
    attach(&device, &xdp(SLOW)).unwrap();
    assert_eq!(pins(&device), [folder(&device)]);
    send(&pair.right, &pair.left, 3);
    assert_eq!(class(&Attached::open(&device).unwrap(), 1, 3).passed_packets, 3);
    // Ended between the two renamings: what runs lies beside its place, at which lies what never ran, or nothing.
    for is_whole in [false, true] {
        fs::rename(folder(&device), beside(&device, "old")).unwrap();
        if is_whole {
            fs::create_dir(folder(&device)).unwrap();
            pin(&folder(&device).join("about"));
        }
        let refused = attach(&device, &xdp(SLOW)).unwrap_err().to_string();
        assert!(refused.contains("has limits already"), "{refused}");
        assert_eq!(pins(&device), [folder(&device)]);
        assert_eq!(Attached::open(&device).unwrap().class_counter(1).unwrap().passed_packets, 3);
    }
    // Ended before the old limits, at another hook, were taken away.
    let kept = beside(&device, "old");
    fs::rename(folder(&device), &kept).unwrap();
    attach(&device, &attachment(Mode::Tc, Direction::Egress, SLOW)).unwrap_err();
    fs::rename(folder(&device), &kept).unwrap();
    detach(&device).unwrap();
    assert_eq!(surroundings(&pair.left), before);
    // Detaching clears what is left of a program that is gone.
    attach(&device, &xdp(SLOW)).unwrap();
    pair.left.ns.ip(&["link", "set", &device.name, "xdp", "off"]).unwrap();
    detach(&device).unwrap_err();
    assert_eq!(surroundings(&pair.left), before);
}

#[test]
fn a_device_made_again_is_a_new_one() {
    let Some(pair) = pair() else { return };
    // The kernel allows dots in names, the file system of pins does not.
    let odd = Device::new("odd.100", Some(pair.left.ns.name())).unwrap();
    let make = || {
        pair.left.ns.ip(&["link", "add", "odd.100", "type", "veth", "peer", "name", "odd.p"]).unwrap();
        pair.left.ns.ip(&["link", "set", "odd.100", "up"]).unwrap();
    };
    make();
    attach(&odd, &xdp(SLOW)).unwrap();
    assert!(folder(&odd).is_dir() && devices().unwrap().contains(&odd));
    pair.left.ns.ip(&["link", "del", "odd.100"]).unwrap();
    assert!(Attached::open(&odd).err().unwrap().to_string().contains("there is no network device odd.100"));
    assert!(!devices().unwrap().contains(&odd));
    make();
    assert!(Attached::open(&odd).err().unwrap().to_string().ends_with("has no limits"));
    attach(&odd, &xdp(SLOW)).unwrap();
    assert_eq!(Attached::open(&odd).unwrap().class_counter(0).unwrap(), Counter::default());
    // With the device gone, detaching cannot do its work, but it clears the pins; the same with the whole namespace.
    pair.left.ns.ip(&["link", "del", "odd.100"]).unwrap();
    detach(&odd).unwrap_err();
    assert_eq!(pins(&odd), [] as [PathBuf; 0]);
    let device = pair.left.as_device();
    attach(&device, &xdp(SLOW)).unwrap();
    drop(pair);
    assert!(detach(&device).unwrap_err().to_string().contains("there is no network namespace"));
    assert_eq!(pins(&device), [] as [PathBuf; 0]);
}

#[test]
fn force_hands_the_buckets_over_by_name() {
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
        assert_eq!(pins(&device), [folder(&device)]);
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
        passed +=
            (0..30).filter(|_| twin.offer(FRAME as u32, now) == trueplane_core::limit::Verdict::Pass).count();
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
        assert_eq!(pins(&device), [folder(&device)]);
        Attached::open(&device).unwrap();
        detach(&device).unwrap();
    }
}

/// A socket that sends whole frames by a device; to be made within its namespace.
fn frame_socket(device: &str) -> OwnedFd {
    let name = std::ffi::CString::new(device).unwrap();
    // SAFETY: the name is a C string; the descriptor is new and nobody else's; the address is of the type that bind expects.
    unsafe {
        let index = libc::if_nametoindex(name.as_ptr());
        let socket = libc::socket(libc::AF_PACKET, libc::SOCK_RAW, 0);
        assert!(index > 0 && socket >= 0, "{}", std::io::Error::last_os_error());
        let socket = OwnedFd::from_raw_fd(socket);
        let mut address: libc::sockaddr_ll = std::mem::zeroed();
        address.sll_family = libc::AF_PACKET as u16;
        address.sll_ifindex = index as i32;
        let length = size_of::<libc::sockaddr_ll>() as u32;
        let status = libc::bind(socket.as_raw_fd(), (&raw const address).cast(), length);
        assert_eq!(status, 0, "{}", std::io::Error::last_os_error());
        socket
    }
}

fn send_frames(from: &Host, frames: &[Vec<u8>]) {
    let (device, frames) = (from.device.clone(), frames.to_vec());
    from.ns
        .run(move || {
            let socket = frame_socket(&device);
            for frame in &frames {
                // SAFETY: the buffer is as long as is said.
                let sent = unsafe { libc::send(socket.as_raw_fd(), frame.as_ptr().cast(), frame.len(), 0) };
                // What a limit drops on the way out, the sender is told of.
                let error = std::io::Error::last_os_error();
                assert!(
                    sent == frame.len() as isize || error.raw_os_error() == Some(libc::ENOBUFS),
                    "{sent}: {error}"
                );
            }
        })
        .unwrap();
}

/// A broadcast frame with these tags.
fn frame(tags: &[(u16, u16)], ether_type: u16, payload: &[u8]) -> Vec<u8> {
    let mut frame = [[0xff; 6], [2, 0, 0, 0, 0, 9]].concat();
    tags.iter().for_each(|(tpid, tci)| frame.extend([tpid.to_be_bytes(), tci.to_be_bytes()].concat()));
    frame.extend(ether_type.to_be_bytes());
    frame.extend(payload);
    frame.resize(frame.len().max(60), 0);
    frame
}

#[test]
fn tagged_frames_meet_their_class_and_those_of_no_class_pass() {
    let Some(pair) = pair() else { return };
    let device = pair.left.as_device();
    let text = "[[class]]\nname = 'lab'\nrate = '1kbps'\nburst = '170B'\nvlan = 100\n\
        [[class]]\nname = 'nine'\nrate = '1kbps'\nburst = '200B'\nsource = '10.9.0.0/16'\n";
    let mut ip = vec![0x45, 0, 0, 46, 0, 0, 0, 0, 64, 17, 0, 0, 10, 9, 0, 1, 10, 203, 1, 1];
    ip.resize(46, 0);
    let frames = [
        // Of the VLAN, whatever is within, and whatever the tag's priority.
        frame(&[(0x8100, 100)], 0x0800, &ip),
        frame(&[(0x88a8, 0x6064), (0x8100, 7)], 0x0800, &ip),
        frame(&[(0x8100, 100)], 0x0806, &[0; 28]),
        frame(&[(0x8100, 100)], 0x0800, &ip),
        // Of another VLAN, so by address.
        frame(&[(0x8100, 7), (0x8100, 100)], 0x0800, &ip),
        frame(&[], 0x0800, &ip),
        // ARP, a length, another protocol's type, an address of no class.
        frame(&[], 0x0806, &[0; 28]),
        frame(&[], 46, &[0; 46]),
        frame(&[], 0x88cc, &[0; 46]),
        frame(&[(0x8100, 7)], 0x86dd, &[0x60; 40]),
        frame(&[], 0x0800, &[0x45; 46]),
    ];
    for (mode, direction) in WAYS {
        attach(&device, &attachment(mode, direction, text)).unwrap();
        let attached = Attached::open(&device).unwrap();
        let from = if direction == Direction::Egress { &pair.left } else { &pair.right };
        send_frames(from, &frames);
        // Frames are 56 to 68 bytes: the first is drained by the time before it, two more fill the bucket.
        let found =
            [class(&attached, 0, 4), class(&attached, 1, 2), settled(|| attached.unclassified().unwrap(), 5)]
                .map(|counter| (counter.passed_packets, counter.dropped_packets));
        assert_eq!(found, [(3, 1), (2, 0), (5, 0)], "{mode:?} {direction:?}");
        detach(&device).unwrap();
    }
}
