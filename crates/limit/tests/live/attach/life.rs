//! Limits come and go, whole or not at all.

use std::fs;
use std::os::fd::{AsFd as _, FromRawFd as _, OwnedFd};
use std::path::{Path, PathBuf};

use libbpf_rs::{Xdp, XdpFlags};
use trueplane_limit::live::{
    About, Attached, Attachment, Change, Clock, Counter, Detached, Direction, Mode, Tuning, attach, detach,
    devices, rehearse,
};
use trueplane_linux::testnet::Pair;
use trueplane_linux::{Device, Error, testnet};
use trueplane_units::{BitsPerSec, Bytes};

use super::common::*;

#[test]
fn limits_come_count_and_go_and_leave_everything_as_it_was() {
    let _together = testnet::together();
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
        for (mode, direction) in WAYS {
            let refused = rehearse(&device, &attachment(mode, direction, SLOW)).unwrap_err().to_string();
            assert!(refused.contains("has limits already; --force"), "{mode:?} {direction:?}: {refused}");
        }
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
    let _together = testnet::together();
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
    let _together = testnet::together();
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
    let folder = folder(&pair.left.as_device());
    fs::read_dir(&folder).unwrap().for_each(|pin| fs::remove_file(pin.unwrap().path()).unwrap());
    fs::remove_dir(folder).unwrap();
}

#[test]
fn a_program_of_others_is_replaced_only_by_force() {
    let _together = testnet::together();
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

/// A program that lets every packet pass.
fn load_pass() -> OwnedFd {
    use libbpf_rs::libbpf_sys::{BPF_PROG_TYPE_XDP, bpf_insn, bpf_prog_load};
    // r0 = XDP_PASS; exit.
    let set = bpf_insn { code: 0xb7, imm: 2, ..Default::default() };
    let exit = bpf_insn { code: 0x95, ..Default::default() };
    let program = [set, exit];
    // SAFETY: two instructions, of which as many are told, and names that are C strings; no options.
    let fd = unsafe {
        bpf_prog_load(
            BPF_PROG_TYPE_XDP,
            c"pass".as_ptr(),
            c"GPL".as_ptr(),
            program.as_ptr(),
            2,
            std::ptr::null_mut(),
        )
    };
    assert!(fd >= 0, "{fd}");
    // SAFETY: the descriptor is new and nobody else's.
    unsafe { OwnedFd::from_raw_fd(fd) }
}

#[test]
fn a_program_in_the_generic_path_is_replaced_by_force() {
    let _together = testnet::together();
    let Some(pair) = pair() else { return };
    let (host, device) = (&pair.left, pair.left.as_device());
    let clean = surroundings(host);
    let program = load_pass();
    // The line begins with the index.
    let line = host.ns.ip(&["-oneline", "link", "show", "tp0"]).unwrap();
    let index = line.split(':').next().unwrap().trim().parse().unwrap();
    host.ns.run(|| Xdp::new(program.as_fd()).attach(index, XdpFlags::SKB_MODE).unwrap()).unwrap();
    let before = surroundings(host);
    assert!(before.link.contains("xdpgeneric"), "{}", before.link);
    let refused = attach(&device, &xdp(SLOW)).unwrap_err().to_string();
    assert!(refused.contains("another program runs on"), "{refused}");
    assert_eq!(surroundings(host), before);
    attach(&device, &forced(xdp(SLOW))).unwrap();
    assert!(!surroundings(host).link.contains("xdpgeneric"));
    send(&pair.right, host, 3);
    assert_eq!(class(&Attached::open(&device).unwrap(), 1, 3).passed_packets, 3);
    detach(&device).unwrap();
    assert_eq!(surroundings(host), clean);
}

#[test]
fn what_fails_halfway_leaves_nothing_behind() {
    let _together = testnet::together();
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
    // The same while limits run, whose place is not taken by those that fail.
    attach(&device, &xdp(SLOW)).unwrap();
    send(&pair.right, host, 5);
    let attached = Attached::open(&device).unwrap();
    assert_eq!(class(&attached, 1, 5).passed_packets, 5);
    host.ns.output(&["tc", "qdisc", "add", "dev", "tp0", "ingress"]).unwrap();
    refused(&device, forced(attachment(Mode::Tc, Direction::Egress, SLOW)), "\"ingress\"");
    host.ns.output(&["tc", "qdisc", "del", "dev", "tp0", "ingress"]).unwrap();
    send(&pair.right, host, 5);
    assert_eq!(class(&Attached::open(&device).unwrap(), 1, 10).passed_packets, 10);
    detach(&device).unwrap();
    assert_eq!(surroundings(host), before);
    // By tc they run where XDP is refused, and go on when it is.
    attach(&few, &attachment(Mode::Tc, Direction::Ingress, SLOW)).unwrap();
    let running = pins(&few);
    refused(&few, forced(xdp(SLOW)), "cannot attach to few@");
    assert_eq!(pins(&few), running);
    assert_eq!(Attached::open(&few).unwrap().about().mode, Mode::Tc);
    detach(&few).unwrap();
}

#[test]
fn what_a_crash_left_is_healed() {
    let _together = testnet::together();
    let Some(pair) = pair() else { return };
    let device = pair.left.as_device();
    let before = surroundings(&pair.left);
    // Pins of a program that runs no more.
    attach(&device, &xdp(SLOW)).unwrap();
    pair.left.ns.ip(&["link", "set", &device.name, "xdp", "off"]).unwrap();
    assert!(Attached::open(&device).is_err() && !devices().unwrap().contains(&device));
    attach(&device, &xdp(SLOW)).unwrap();
    assert_eq!(pins(&device).len(), 1);
    // Killed while it pinned, or before its program ran: the old limits do.
    let running = Attached::open(&device).unwrap().about().clone();
    for is_whole in [false, true] {
        send(&pair.right, &pair.left, 3);
        let never = pin_again(&device, &About { program_id: 0, ..running.clone() });
        if !is_whole {
            fs::remove_file(never.join("limiters")).unwrap();
        }
        assert!(devices().unwrap().contains(&device));
        assert_eq!(class(&Attached::open(&device).unwrap(), 1, 3).passed_packets, 3);
        let refused = attach(&device, &xdp(SLOW)).unwrap_err().to_string();
        assert!(refused.contains("has limits already"), "{refused}");
        // Even that has cleaned up, as whatever attaches or detaches does.
        assert!(!never.exists());
        attach(&device, &forced(xdp(SLOW))).unwrap();
        assert_eq!(pins(&device).len(), 1);
    }
    // Killed before it took away the old limits, at another hook: the new ones are shown, and both go.
    let hide = |from: &Path, to: &Path| fs::rename(from, to).unwrap();
    for take in [detach_all, replace_and_detach] {
        attach(&device, &forced(xdp(SLOW))).unwrap();
        let (place, hidden) =
            (folder(&device), Path::new("/sys/fs/bpf").join(format!("tp-{}", std::process::id())));
        hide(&place, &hidden);
        attach(&device, &attachment(Mode::Tc, Direction::Egress, SLOW)).unwrap();
        hide(&hidden, &place);
        assert_eq!(pins(&device).len(), 2);
        assert_eq!(Attached::open(&device).unwrap().about().mode, Mode::Tc);
        assert_eq!(devices().unwrap().iter().filter(|found| **found == device).count(), 1);
        take(&device);
        assert_eq!(surroundings(&pair.left), before);
    }
    // Detaching clears what is left of a program that is gone.
    attach(&device, &xdp(SLOW)).unwrap();
    pair.left.ns.ip(&["link", "set", &device.name, "xdp", "off"]).unwrap();
    clear_remains(&device);
    assert_eq!(surroundings(&pair.left), before);
    assert!(detach(&device).unwrap_err().to_string().ends_with("has no limits"));
}

/// Detaching removes what is left of limits that run no more; another test that attaches or detaches may have done so before.
fn clear_remains(device: &Device) {
    let found = detach(device);
    assert!(matches!(found, Ok(Detached::Remains) | Err(Error::Request(_))), "{found:?}");
    assert_eq!(pins(device), [] as [PathBuf; 0]);
}

fn detach_all(device: &Device) {
    detach(device).unwrap();
}

fn replace_and_detach(device: &Device) {
    attach(device, &forced(attachment(Mode::Tc, Direction::Ingress, SLOW))).unwrap();
    assert_eq!(pins(device).len(), 1);
    detach(device).unwrap();
}

#[test]
fn a_device_made_again_is_a_new_one() {
    let _together = testnet::together();
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
    // With the device gone, there is nothing to detach from, but pins to clear; the same with the whole namespace.
    pair.left.ns.ip(&["link", "del", "odd.100"]).unwrap();
    clear_remains(&odd);
    let device = pair.left.as_device();
    attach(&device, &xdp(SLOW)).unwrap();
    drop(pair);
    clear_remains(&device);
    assert!(detach(&device).unwrap_err().to_string().contains("there is no network namespace"));
}

#[test]
fn namesakes_in_two_namespaces_have_limits_of_their_own() {
    let _together = testnet::together();
    let Some(pair) = pair() else { return };
    let hosts = [&pair.left, &pair.right];
    assert_eq!(hosts[0].device, hosts[1].device, "the test is about devices of one name");
    let device = Device::new(&hosts[0].device, None).unwrap();
    let in_each = |work: &(dyn Fn() + Sync)| {
        for host in hosts {
            host.ns.run(work).unwrap();
        }
    };
    in_each(&|| attach(&device, &xdp(SLOW)).unwrap());
    // The second has not taken the pins of the first.
    in_each(&|| assert_eq!(Attached::open(&device).unwrap().limiter(0).burst(), Bytes(59_400)));
    in_each(&|| assert_eq!(detach(&device).unwrap(), Detached::Limits));
}

#[test]
fn a_device_without_ethernet_is_refused() {
    let _together = testnet::together();
    let Some(pair) = pair() else { return };
    if pair.left.ns.ip(&["tuntap", "add", "dev", "tpt", "mode", "tun"]).is_err() {
        println!("skipped: this kernel has no tun devices");
        return;
    }
    let device = Device::new("tpt", Some(pair.left.ns.name())).unwrap();
    for (mode, direction) in WAYS {
        let error = attach(&device, &attachment(mode, direction, SLOW)).unwrap_err().to_string();
        assert!(error.starts_with("expected a device with Ethernet frames"), "{error}");
    }
    assert_eq!(pins(&device), Vec::<PathBuf>::new());
}
