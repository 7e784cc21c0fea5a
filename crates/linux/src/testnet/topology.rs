//! What is connected to what.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::Duration;

use trueplane_units::{BitsPerSec, Bytes, Nanos};

use super::command::SHORT;
use super::{Error, Namespace};
use crate::clock;

/// The name of a host's only device.
const HOST_DEVICE: &str = "tp0";

/// Settings of every device of a network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// The largest IP packet.
    pub mtu: u32,
    /// Whether hosts hand over segments in batches (TSO, GSO, GRO), up to 64 KB in what a limiter takes for one packet.
    pub offloads: bool,
    /// Whether TCP asks for ECN whatever its congestion control; it grants ECN always.
    pub ecn: bool,
    /// Whether every device keeps the order of packets, as a wire does. Otherwise packets that two processors send can overtake.
    pub in_order: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self { mtu: 1500, offloads: true, ecn: false, in_order: false }
    }
}

/// A namespace with one device.
#[derive(Debug)]
pub struct Host {
    /// Its namespace.
    pub ns: Namespace,
    /// Its device's name, within the namespace.
    pub device: String,
    /// Its address.
    pub v4: Ipv4Addr,
    /// Its other address.
    pub v6: Ipv6Addr,
    /// The router's addresses on this side, if there is a router.
    gateway: Option<(Ipv4Addr, Ipv6Addr)>,
    /// Another device for what goes to one address.
    detour: OnceLock<(Ipv4Addr, &'static str)>,
}

impl Host {
    pub(super) fn new(label: &str, options: Options, v4: Ipv4Addr, v6: Ipv6Addr) -> Result<Self, Error> {
        let ns = Namespace::new(label)?;
        quiet(&ns)?;
        ns.sysctl("ipv4.tcp_ecn", if options.ecn { "1" } else { "2" })?;
        // What one connection learnt of the path must not speed up the next.
        ns.sysctl("ipv4.tcp_no_metrics_save", "1")?;
        Ok(Self { ns, device: HOST_DEVICE.to_owned(), v4, v6, gateway: None, detour: OnceLock::new() })
    }

    /// The device as [`crate::Device`] names it.
    pub fn as_device(&self) -> crate::Device {
        crate::Device { name: self.device.clone(), netns: Some(self.ns.name().to_owned()) }
    }

    /// Makes connections with `peer` use a congestion control, those that listeners accept too: for one that needs ECN,
    /// the kernel grants it to those alone whose listener, or whose route, has the same.
    pub fn set_congestion(&self, peer: &Host, name: &str) -> Result<(), Error> {
        let (v4, v6) = self.gateway.unzip();
        self.route(&peer.v4.to_string(), v4.map(IpAddr::V4), &["congctl", name])?;
        self.route(&peer.v6.to_string(), v6.map(IpAddr::V6), &["congctl", name])
    }

    /// Sends what is for `peer` by another device, from now on and whatever its congestion control; one peer and device only.
    pub(super) fn set_detour(&self, peer: &Host, device: &'static str) -> Result<(), Error> {
        if *self.detour.get_or_init(|| (peer.v4, device)) != (peer.v4, device) {
            return Err(Error::Setting(format!("{} has another detour already", self.ns.name())));
        }
        self.route(&peer.v4.to_string(), None, &[])
    }

    fn set_gateway(&mut self, v4: Ipv4Addr, v6: Ipv6Addr) -> Result<(), Error> {
        self.gateway = Some((v4, v6));
        self.route("0.0.0.0/0", Some(v4.into()), &[])?;
        self.route("::/0", Some(v6.into()), &[])
    }

    fn route(&self, to: &str, gateway: Option<IpAddr>, more: &[&str]) -> Result<(), Error> {
        let source = self.v4.to_string();
        let gateway = gateway.map(|address| address.to_string());
        let mut way = gateway.as_ref().map_or(vec![], |address| vec!["via", address]);
        way.extend(["dev", &self.device]);
        if let Some((_, device)) = self.detour.get().filter(|(peer, _)| peer.to_string() == to) {
            way = vec!["dev", device, "src", &source];
        }
        self.ns.ip(&[&["route", "replace", to], &way[..], more].concat())?;
        Ok(())
    }
}

/// Two hosts and the wire between them.
#[derive(Debug)]
pub struct Pair {
    /// 10.203.1.1 and fd10:203:1::1.
    pub left: Host,
    /// 10.203.1.2 and fd10:203:1::2.
    pub right: Host,
}

impl Pair {
    /// With the default options.
    pub fn new() -> Result<Self, Error> {
        Self::with(Options::default())
    }

    /// With these options.
    pub fn with(options: Options) -> Result<Self, Error> {
        let left = Host::new("left", options, v4(1, 1), v6(1, 1))?;
        let right = Host::new("right", options, v4(1, 2), v6(1, 2))?;
        connect(&End::of(&left), &End::of(&right), options)?;
        Ok(Self { left, right })
    }
}

/// Tenants, a router that forwards in the kernel, and the sink that all of them send to.
#[derive(Debug)]
pub struct Dumbbell {
    /// 10.203.10.1, 10.203.11.1 and so on, each behind a device of the router of its own.
    pub tenants: Vec<Host>,
    /// Router between the tenants and the sink.
    pub router: Router,
    /// 10.203.250.1 and fd10:203:250::1.
    pub sink: Host,
}

/// The router of a [`Dumbbell`].
#[derive(Debug)]
pub struct Router {
    /// Its namespace.
    pub ns: Namespace,
    /// Its devices toward the tenants, in their order: `tenant0`, `tenant1`.
    pub toward_tenants: Vec<String>,
    /// Its device toward the sink.
    pub toward_sink: String,
}

/// A token bucket filter with a queue, of `tc`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bottleneck {
    /// The rate of frames with their Ethernet headers.
    pub rate: BitsPerSec,
    /// The bucket; at least one frame.
    pub burst: Bytes,
    /// The longest time that a packet waits; later ones are dropped.
    pub queue: Nanos,
}

impl Router {
    /// A device as [`crate::Device`] names it.
    pub fn as_device(&self, device: &str) -> crate::Device {
        crate::Device { name: device.to_owned(), netns: Some(self.ns.name().to_owned()) }
    }

    /// Puts a bottleneck on what leaves by `device`, in place of the one before.
    pub fn set_bottleneck(&self, device: &str, bottleneck: Bottleneck) -> Result<(), Error> {
        let rate = format!("{}bit", bottleneck.rate.0);
        let burst = format!("{}b", bottleneck.burst.0);
        let queue = format!("{}us", bottleneck.queue.0.div_ceil(1000));
        let place = ["tc", "qdisc", "replace", "dev", device, "root", "tbf"];
        self.ns.output(&[&place[..], &["rate", &rate, "burst", &burst, "latency", &queue]].concat())?;
        Ok(())
    }
}

impl Dumbbell {
    /// With the default options.
    pub fn new(tenants: u8) -> Result<Self, Error> {
        Self::with(tenants, Options::default())
    }

    /// With these options; 1 to 200 tenants.
    pub fn with(tenants: u8, options: Options) -> Result<Self, Error> {
        if !(1..=200).contains(&tenants) {
            return Err(Error::Setting(format!("expected 1 to 200 tenants, got {tenants}")));
        }
        let mut router = router()?;
        let sink = attach(&router.ns, "sink", 250, options, &router.toward_sink)?;
        let mut hosts = Vec::new();
        for index in 0..tenants {
            let device = format!("tenant{index}");
            hosts.push(attach(&router.ns, &device, 10 + index, options, &device)?);
            router.toward_tenants.push(device);
        }
        Ok(Self { tenants: hosts, router, sink })
    }
}

fn router() -> Result<Router, Error> {
    let ns = Namespace::new("router")?;
    quiet(&ns)?;
    ns.sysctl("ipv4.ip_forward", "1")?;
    ns.sysctl("ipv6.conf.all.forwarding", "1")?;
    Ok(Router { ns, toward_tenants: Vec::new(), toward_sink: "sink".to_owned() })
}

/// A host in a network of its own behind the router's new device.
fn attach(
    router: &Namespace,
    label: &str,
    network: u8,
    options: Options,
    device: &str,
) -> Result<Host, Error> {
    let mut host = Host::new(label, options, v4(network, 1), v6(network, 1))?;
    let near = End { ns: router, device, v4: v4(network, 254), v6: v6(network, 254) };
    connect(&near, &End::of(&host), options)?;
    host.set_gateway(near.v4, near.v6)?;
    Ok(host)
}

/// One end of a wire.
pub(super) struct End<'a> {
    pub(super) ns: &'a Namespace,
    pub(super) device: &'a str,
    pub(super) v4: Ipv4Addr,
    pub(super) v6: Ipv6Addr,
}

impl<'a> End<'a> {
    pub(super) fn of(host: &'a Host) -> Self {
        Self { ns: &host.ns, device: &host.device, v4: host.v4, v6: host.v6 }
    }

    pub(super) fn bring_up(&self, options: Options) -> Result<(), Error> {
        let Self { ns, device, .. } = self;
        // Without ARP and its like, IPv6 has no multicast group to report either.
        ns.ip(&["link", "set", device, "arp", "off", "addrgenmode", "none"])?;
        if !options.offloads {
            ns.output(&["ethtool", "-K", device, "tso", "off", "gso", "off", "gro", "off"])?;
        }
        if options.in_order {
            // Receive packet steering to one processor. /sys shows the devices of the namespace that mounted it.
            let steer = "mount -t sysfs none /sys && echo 1 > \"/sys/class/net/$0/queues/rx-0/rps_cpus\"";
            ns.output(&["unshare", "--mount", "sh", "-c", steer, device])?;
        }
        ns.ip(&["link", "set", device, "mtu", &options.mtu.to_string(), "up"])?;
        Ok(())
    }

    /// Until the kernel has taken notice of the carrier, which it does by and by, what is sent is lost without a trace.
    pub(super) fn wait_until_up(&self) -> Result<(), Error> {
        let deadline = clock::now() + SHORT;
        while !self.ns.ip(&["link", "show", self.device])?.contains(" state UP ") {
            if clock::now() > deadline {
                return Err(Error::Setting(format!("{} in {} has no carrier", self.device, self.ns.name())));
            }
            thread::sleep(Duration::from_millis(1));
        }
        Ok(())
    }

    pub(super) fn number(&self) -> Result<(), Error> {
        let Self { ns, device, .. } = self;
        ns.ip(&["address", "add", &format!("{}/24", self.v4), "dev", device])?;
        ns.ip(&["address", "add", &format!("{}/64", self.v6), "dev", device, "nodad"])?;
        Ok(())
    }

    /// Nothing has to be asked for, so that an eBPF program that drops all does not drop the answer.
    pub(super) fn know(&self, other: &Self, mac: &str) -> Result<(), Error> {
        for address in [IpAddr::V4(other.v4), IpAddr::V6(other.v6)] {
            let address = address.to_string();
            self.ns.ip(&[
                "neighbour",
                "replace",
                &address,
                "lladdr",
                mac,
                "dev",
                self.device,
                "nud",
                "permanent",
            ])?;
        }
        Ok(())
    }
}

/// Parameters of each end of a veth pair.
pub(super) const QUEUES: [&str; 4] = ["numrxqueues", "2", "numtxqueues", "2"];

/// A veth pair with two queues at each end.
fn connect(one: &End<'_>, other: &End<'_>, options: Options) -> Result<(), Error> {
    let (mac, other_mac) = (next_mac(), next_mac());
    let near = ["link", "add", "name", one.device, "address", &mac];
    let far = ["type", "veth", "peer", "name", other.device, "address", &other_mac];
    one.ns.ip(&[&near[..], &QUEUES, &far, &QUEUES, &["netns", other.ns.name()]].concat())?;
    one.bring_up(options)?;
    other.bring_up(options)?;
    for end in [one, other] {
        end.wait_until_up()?;
        end.number()?;
    }
    one.know(other, &other_mac)?;
    other.know(one, &mac)
}

/// No packets but the test's own.
pub(super) fn quiet(ns: &Namespace) -> Result<(), Error> {
    for scope in ["all", "default"] {
        ns.sysctl(&format!("ipv4.conf.{scope}.rp_filter"), "0")?;
        ns.sysctl(&format!("ipv6.conf.{scope}.accept_ra"), "0")?;
        ns.sysctl(&format!("ipv6.conf.{scope}.accept_dad"), "0")?;
    }
    Ok(())
}

/// A locally administered address that no other device of this process has.
pub(super) fn next_mac() -> String {
    static COUNT: AtomicU32 = AtomicU32::new(1);
    let [_, high, middle, low] = COUNT.fetch_add(1, Ordering::Relaxed).to_be_bytes();
    format!("02:54:50:{high:02x}:{middle:02x}:{low:02x}")
}

pub(super) fn v4(network: u8, host: u8) -> Ipv4Addr {
    Ipv4Addr::new(10, 203, network, host)
}

/// Networks and hosts are written as in IPv4: `fd10:203:250::1`.
pub(super) fn v6(network: u8, host: u8) -> Ipv6Addr {
    let decimal =
        |number: u8| u16::from(number / 100) << 8 | u16::from(number / 10 % 10) << 4 | u16::from(number % 10);
    Ipv6Addr::new(0xfd10, 0x203, decimal(network), 0, 0, 0, 0, decimal(host))
}
