//! What all tests here need.

use std::net::UdpSocket;
use std::path::{Path, PathBuf};
use std::time::Duration;
use std::{fs, thread};

use libbpf_rs::{MapCore as _, MapFlags, MapHandle, MapType};
use trueplane_limit::classes::Classes;
use trueplane_limit::live::{About, Attached, Attachment, Counter, Direction, Mode, Tuning};
use trueplane_linux::testnet::{Host, Pair, Requirement};
use trueplane_linux::{Device, clock, testnet};

pub(crate) const PINS: &str = "/sys/fs/bpf/trueplane/limit";

/// Every way to attach.
pub(crate) const WAYS: [(Mode, Direction); 3] =
    [(Mode::Xdp, Direction::Ingress), (Mode::Tc, Direction::Ingress), (Mode::Tc, Direction::Egress)];

/// A limiter that does not drain within a test: 1 kbit/s is 125 bytes a second.
pub(crate) const SLOW: &str = "[[class]]\nname = 'left'\nrate = '1kbps'\nburst = '59400B'\nsource = '10.203.1.1'\n[[class]]\nname = 'right'\n\
     rate = '1kbps'\nburst = '59400B'\nsource = '10.203.1.2'\n";

pub(crate) fn classes(text: &str) -> Classes {
    Classes::parse("classes", text).unwrap()
}

pub(crate) fn attachment(mode: Mode, direction: Direction, text: &str) -> Attachment {
    Attachment { classes: classes(text), mode, direction, tuning: Tuning::default(), force: false }
}

pub(crate) fn xdp(text: &str) -> Attachment {
    attachment(Mode::Xdp, Direction::Ingress, text)
}

pub(crate) fn forced(attachment: Attachment) -> Attachment {
    Attachment { force: true, ..attachment }
}

/// A pair of hosts, or one line that says why there is none.
pub(crate) fn pair() -> Option<Pair> {
    testnet::start(&[Requirement::Bpf, Requirement::Tc], Pair::new)
}

/// All that attaching may change of a device: its link with its XDP program, its queueing disciplines, its filters, its pins.
#[derive(Debug, PartialEq)]
pub(crate) struct Surroundings {
    pub(crate) link: String,
    pub(crate) disciplines: String,
    pub(crate) filters: String,
    pub(crate) pins: Vec<PathBuf>,
}

pub(crate) fn surroundings(host: &Host) -> Surroundings {
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
pub(crate) fn pins(device: &Device) -> Vec<PathBuf> {
    let entries = fs::read_dir(PINS).into_iter().flatten().flatten();
    // Other tests attach and detach meanwhile.
    let is_its = |folder: &PathBuf| about(folder).is_some_and(|about| about.device == *device);
    entries.map(|entry| entry.path()).filter(is_its).collect()
}

/// What is pinned in a folder, told as it is.
pub(crate) fn about(folder: &Path) -> Option<About> {
    let map = MapHandle::from_pinned_path(folder.join("about")).ok()?;
    let value = map.lookup(&0u32.to_ne_bytes(), MapFlags::ANY).ok()??;
    let end = value.iter().rposition(|&byte| byte != 0)? + 1;
    serde_json::from_slice(&value[..end]).ok()
}

/// Where a device's maps are pinned.
pub(crate) fn folder(device: &Device) -> PathBuf {
    let [folder] = &pins(device)[..] else { panic!("{:?}", pins(device)) };
    folder.clone()
}

/// Pins the maps of `device` once more, as of a process that was killed before its program ran, or one that did not come to remove what it had replaced.
pub(crate) fn pin_again(device: &Device, about: &About) -> PathBuf {
    let (from, to) = (folder(device), Path::new(PINS).join(format!("9{}", std::process::id())));
    fs::create_dir(&to).unwrap();
    for name in ["counters", "limiters", "sweeps"] {
        MapHandle::from_pinned_path(from.join(name)).unwrap().pin(to.join(name)).unwrap();
    }
    let options = libbpf_rs::libbpf_sys::bpf_map_create_opts {
        sz: size_of::<libbpf_rs::libbpf_sys::bpf_map_create_opts>() as u64,
        ..Default::default()
    };
    let value = serde_json::to_vec(about).unwrap();
    let size = value.len() as u32;
    let mut map = MapHandle::create(MapType::Array, Some("about"), 4, size, 1, &options).unwrap();
    map.update(&0u32.to_ne_bytes(), &value, MapFlags::ANY).unwrap();
    map.pin(to.join("about")).unwrap();
    to
}

/// Sends `count` UDP packets of frames of 1042 bytes.
pub(crate) fn send(from: &Host, to: &Host, count: usize) {
    let to = (to.v4, 9);
    from.ns
        .run(move || {
            let socket = UdpSocket::bind("0.0.0.0:0").unwrap();
            (0..count).for_each(|_| assert_eq!(socket.send_to(&[0; 1000], to).unwrap(), 1000));
        })
        .unwrap();
}

pub(crate) const FRAME: u64 = 1042;

/// What a counter tells once so many packets have arrived; veth hands packets on a moment later.
pub(crate) fn settled(read: impl Fn() -> Counter, packets: u64) -> Counter {
    let deadline = clock::now() + Duration::from_secs(5);
    loop {
        let counter = read();
        if counter.arrived_packets() >= packets || clock::now() > deadline {
            return counter;
        }
        thread::sleep(Duration::from_millis(1));
    }
}

pub(crate) fn class(attached: &Attached, index: usize, packets: u64) -> Counter {
    settled(|| attached.class_counter(index).unwrap(), packets)
}

/// Whose packets a program sees that is attached so to `host`.
pub(crate) fn sender(pair: &Pair, direction: Direction) -> (&Host, &Host, usize) {
    match direction {
        Direction::Ingress => (&pair.right, &pair.left, 1),
        Direction::Egress => (&pair.left, &pair.right, 0),
    }
}
