//! What all tests here need.

use std::fs;
use std::net::UdpSocket;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use libbpf_rs::{MapHandle, MapType};
use trueplane_core::limit::classes::Classes;
use trueplane_live::limit::{Attached, Attachment, Counter, Direction, Mode, Tuning};
use trueplane_live::testnet::{self, Host, Pair, Requirement};
use trueplane_live::{Device, clock};

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
    let name = folder(device).file_name().unwrap().to_string_lossy().into_owned();
    let entries = fs::read_dir(PINS).into_iter().flatten().map(|entry| entry.unwrap().path());
    entries
        .filter(|path| path.file_name().is_some_and(|found| found.to_string_lossy().contains(&name)))
        .collect()
}

/// Where a device's maps are pinned; none of the devices here has a name with a dot or a percent sign, but for `odd`.
pub(crate) fn folder(device: &Device) -> PathBuf {
    Path::new(PINS).join(device.to_string().replace('.', "%2e"))
}

pub(crate) fn beside(device: &Device, prefix: &str) -> PathBuf {
    let folder = folder(device);
    folder.with_file_name(format!("%{prefix}-{}", folder.file_name().unwrap().to_string_lossy()))
}

pub(crate) fn pin(path: &Path) -> MapHandle {
    let options = libbpf_rs::libbpf_sys::bpf_map_create_opts {
        sz: size_of::<libbpf_rs::libbpf_sys::bpf_map_create_opts>() as u64,
        ..Default::default()
    };
    let mut map = MapHandle::create(MapType::Array, Some("other"), 4, 8, 1, &options).unwrap();
    map.pin(path).unwrap();
    map
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
