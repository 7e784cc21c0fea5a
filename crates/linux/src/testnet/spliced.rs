//! Two hosts on a wire that is cut: whoever works in the middle passes on what comes in by one end, or nobody does.

use super::topology::{End, QUEUES, next_mac, quiet, v4, v6};
use super::{Error, Host, Namespace, Options};

/// Two hosts with a namespace between them, which has an end of the wire to each and passes on nothing by itself.
///
/// The hosts see each other as neighbours. They leave nothing to cards that are not there: neither segments nor checksums, whatever the options.
#[derive(Debug)]
pub struct Spliced {
    /// 10.203.2.1 and fd10:203:2::1.
    pub left: Host,
    /// 10.203.2.2 and fd10:203:2::2.
    pub right: Host,
    /// In the middle: devices [`INNER`](Self::INNER) and [`OUTER`](Self::OUTER), without addresses.
    pub middle: Namespace,
    /// The Ethernet addresses of the hosts, left and right.
    pub macs: [String; 2],
}

impl Spliced {
    /// The device in the middle toward the left host.
    pub const INNER: &str = "inner";
    /// The device in the middle toward the right host.
    pub const OUTER: &str = "outer";

    /// With the default options.
    pub fn new() -> Result<Self, Error> {
        Self::with(Options::default())
    }

    /// With these options, but for offloads, which are off.
    pub fn with(options: Options) -> Result<Self, Error> {
        let options = Options { offloads: false, ..options };
        let left = Host::new("left", options, v4(2, 1), v6(2, 1))?;
        let right = Host::new("right", options, v4(2, 2), v6(2, 2))?;
        let middle = Namespace::new("middle")?;
        quiet(&middle)?;
        let macs = [next_mac(), next_mac()];
        for (host, mac, device) in [(&left, &macs[0], Self::INNER), (&right, &macs[1], Self::OUTER)] {
            splice(host, mac, &middle, device, options)?;
        }
        End::of(&left).know(&End::of(&right), &macs[1])?;
        End::of(&right).know(&End::of(&left), &macs[0])?;
        Ok(Self { left, right, middle, macs })
    }

    /// A device in the middle as [`crate::Device`] names it.
    pub fn as_device(&self, device: &str) -> crate::Device {
        crate::Device { name: device.to_owned(), netns: Some(self.middle.name().to_owned()) }
    }

    /// Lets the right host send what is for `address` to the left one, as a router would that knows it there.
    pub fn set_route_to_left(&self, address: &str) -> Result<(), Error> {
        let Host { ns, device, .. } = &self.right;
        ns.ip(&["route", "replace", address, "dev", device])?;
        let plain = address.split('/').next().unwrap_or(address);
        ns.ip(&["neighbour", "replace", plain, "lladdr", &self.macs[0], "dev", device, "nud", "permanent"])?;
        Ok(())
    }

    /// The same the other way round.
    pub fn set_route_to_right(&self, address: &str) -> Result<(), Error> {
        let Host { ns, device, .. } = &self.left;
        ns.ip(&["route", "replace", address, "dev", device])?;
        let plain = address.split('/').next().unwrap_or(address);
        ns.ip(&["neighbour", "replace", plain, "lladdr", &self.macs[1], "dev", device, "nud", "permanent"])?;
        Ok(())
    }
}

/// A veth pair from a host into the middle.
fn splice(host: &Host, mac: &str, middle: &Namespace, device: &str, options: Options) -> Result<(), Error> {
    let near = ["link", "add", "name", &host.device, "address", mac];
    let far = ["type", "veth", "peer", "name", device];
    host.ns.ip(&[&near[..], &QUEUES, &far, &QUEUES, &["netns", middle.name()]].concat())?;
    let ends = [End::of(host), End { ns: middle, device, ..End::of(host) }];
    for end in &ends {
        end.ns.output(&["ethtool", "-K", end.device, "tx", "off"])?;
        end.bring_up(options)?;
    }
    ends.iter().try_for_each(End::wait_until_up)?;
    ends[0].number()
}
