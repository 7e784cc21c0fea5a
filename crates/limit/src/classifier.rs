//! From what is known of a packet to the limiter that it meets.
//!
//! Rules are tried in this order, and the first that matches counts:
//!
//! 1. the mark that the kernel has put on the packet ([`Rules::fwmarks`]),
//! 2. the id of its outermost VLAN tag,
//! 3. its source address, the longest matching prefix,
//! 4. its destination address, the longest matching prefix,
//! 5. the default class, if there is one.
//!
//! What an operator says outright of a packet comes before what the packet says of itself, and among addresses the sender's
//! comes first, since it is the one who can send less.
//!
//! A rule leads to a [`Target`]: limiters are numbered class by class in the order of the file, and counters likewise.
//! Where a class has a limiter for each of the prefixes within its own, bits of the address select it
//! ([`Target::select`]), so that 2²⁰ limiters need one entry in the kernel's prefix table.
//!
//! ```
//! use trueplane_limit::{classes::Classes, classifier::Classifier, frame::Frame};
//!
//! let text = "
//!     [[class]]
//!     name = 'tenants'
//!     rate = '100Mbps'
//!     source = '10.0.0.0/16'
//!     each = 24
//! ";
//! let classifier = Classifier::new(&Classes::parse("classes.toml", text)?);
//! // The first 20 bytes of a packet from 10.0.3.9 to 192.0.2.1.
//! let packet = [0x45, 0, 0, 20, 0, 0, 0, 0, 64, 17, 0, 0, 10, 0, 3, 9, 192, 0, 2, 1];
//! let found = classifier.classify(&Frame::parse_ip(&packet), 0).expect("it is in the prefix");
//! assert_eq!(classifier.limiter_name(found.limiter).as_deref(), Some("tenants[10.0.3.0/24]"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::net::IpAddr;
use std::ops::Range;

use hashbrown::HashMap;
use ipnet::{IpNet, Ipv4Net, Ipv6Net};

use crate::classes::{Class, Classes, Count};
use crate::frame::{Frame, address_bits};
use crate::policy::Nimble;

/// Address of a packet that a prefix is compared with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Direction {
    /// Address that the packet comes from.
    Source,
    /// Address that the packet goes to.
    Destination,
}

/// Target of a rule: a class, and how to find the limiter and the counter in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Target {
    /// Index of the class.
    pub class: u32,
    /// Index of the class's first limiter.
    pub limiter: u32,
    /// Index of the class's first counter.
    pub counter: u32,
    /// Bits of the address, behind the prefix, that select the limiter: 0 to 20, zero for a class with one limiter.
    pub width: u32,
    /// Whether they select the counter as well.
    pub count_each: bool,
}

impl Target {
    /// Offset of the limiter of `address` from the class's first one, if it is in a prefix of `prefix_len` bits.
    ///
    /// Only the upper 64 bits of an address are looked at, of which an IPv4 address fills the upper half.
    pub fn select(&self, address: IpAddr, prefix_len: u8) -> u32 {
        if self.width == 0 {
            return 0;
        }
        let key = (address_bits(address) >> 64) as u64;
        ((key << prefix_len) >> (u64::BITS - self.width)) as u32
    }

    /// The limiter and the counter at this distance from the first ones.
    fn at(&self, offset: u32) -> Match {
        let counter = self.counter + if self.count_each { offset } else { 0 };
        Match { class: self.class, limiter: self.limiter + offset, counter }
    }
}

/// A prefix and what it leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PrefixRule {
    /// The address that it is compared with.
    pub direction: Direction,
    /// Network and length.
    pub prefix: IpNet,
    /// Target of packets with this address.
    pub target: Target,
}

/// All rules, for a loader to write into the kernel's tables; in the order of the file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rules {
    /// Targets by address.
    pub prefixes: Vec<PrefixRule>,
    /// Targets by id of the outermost VLAN tag.
    pub vlans: Vec<(u16, Target)>,
    /// Targets by the mark that the kernel has put on the packet, never zero.
    pub fwmarks: Vec<(u32, Target)>,
    /// Target of packets that match no other rule; without it they pass untouched.
    pub default: Option<Target>,
}

/// Class, limiter and counter of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Match {
    /// Index of the class.
    pub class: u32,
    /// Index of the limiter among those of all classes.
    pub limiter: u32,
    /// Index of the counter among those of all classes.
    pub counter: u32,
}

/// The classes of a file, ready to look packets up.
#[derive(Clone, Debug)]
pub struct Classifier {
    rules: Rules,
    classes: Vec<Placed>,
    by_name: HashMap<String, usize>,
    by_source: Prefixes,
    by_destination: Prefixes,
    by_vlan: HashMap<u16, Target>,
    by_fwmark: HashMap<u32, Target>,
}

/// A class with the places of its limiters and counters.
#[derive(Clone, Debug)]
struct Placed {
    name: String,
    target: Target,
    /// The limiter of the class that it is inside.
    parent: Option<u32>,
    /// With a limiter of its own for each prefix of the given length in the network.
    each: Option<(IpNet, u8)>,
    /// Initial state of its limiters.
    limiter: Nimble,
}

impl Placed {
    fn limiters(&self) -> Range<u32> {
        self.target.limiter..self.target.limiter + (1 << self.target.width)
    }

    fn counters(&self) -> Range<u32> {
        let count = if self.target.count_each { 1 << self.target.width } else { 1 };
        self.target.counter..self.target.counter + count
    }

    /// The name of the limiter or counter at `offset` from the first.
    fn name_at(&self, offset: u32) -> String {
        match self.each {
            Some((network, each)) => format!("{}[{}]", self.name, subnet(network, each, offset)),
            None => self.name.clone(),
        }
    }

    /// The distance from the first limiter to that of `prefix`.
    fn offset_of(&self, prefix: IpNet) -> Option<u32> {
        let (network, each) = self.each?;
        let fits = prefix.prefix_len() == each && prefix == prefix.trunc() && network.contains(&prefix);
        fits.then(|| self.target.select(prefix.addr(), network.prefix_len()))
    }
}

impl Classifier {
    /// Numbers the limiters and counters of `classes` and sorts the rules.
    pub fn new(classes: &Classes) -> Self {
        let by_name: HashMap<String, usize> =
            classes.classes().iter().enumerate().map(|(index, class)| (class.name.clone(), index)).collect();
        let mut placed = place(classes.classes());
        for (index, class) in classes.classes().iter().enumerate() {
            let parent = class.inside.as_ref().map(|name| by_name[name]);
            placed[index].parent = parent.map(|parent| placed[parent].target.limiter);
        }
        let mut rules = Rules::default();
        for (class, Placed { target, .. }) in classes.classes().iter().zip(&placed) {
            let target = *target;
            let rule = |direction| move |&prefix: &IpNet| PrefixRule { direction, prefix, target };
            rules.prefixes.extend(class.source.iter().map(rule(Direction::Source)));
            rules.prefixes.extend(class.destination.iter().map(rule(Direction::Destination)));
            rules.vlans.extend(class.vlan.iter().map(|&vlan| (vlan, target)));
            rules.fwmarks.extend(class.fwmark.iter().map(|&fwmark| (fwmark, target)));
        }
        rules.default = classes.default_class().map(|name| placed[by_name[name]].target);
        Self {
            by_source: Prefixes::of(&rules.prefixes, Direction::Source),
            by_destination: Prefixes::of(&rules.prefixes, Direction::Destination),
            by_vlan: rules.vlans.iter().copied().collect(),
            by_fwmark: rules.fwmarks.iter().copied().collect(),
            rules,
            classes: placed,
            by_name,
        }
    }

    /// All rules, for a loader.
    pub fn rules(&self) -> &Rules {
        &self.rules
    }

    /// Returns the match of a packet that carries the kernel's mark `fwmark`, zero for none; `None` if it passes untouched.
    pub fn classify(&self, frame: &Frame, fwmark: u32) -> Option<Match> {
        if let Some(target) = self.by_fwmark.get(&fwmark) {
            return Some(target.at(0));
        }
        if let Some(target) = frame.vlan.and_then(|vlan| self.by_vlan.get(&vlan)) {
            return Some(target.at(0));
        }
        frame
            .addresses
            .and_then(|at| {
                self.by_source.find(at.source).or_else(|| self.by_destination.find(at.destination))
            })
            .or_else(|| self.rules.default.map(|target| target.at(0)))
    }

    /// Every limiter as it starts, in the order of their indices.
    pub fn limiters(&self) -> impl Iterator<Item = Nimble> {
        self.classes.iter().flat_map(|class| class.limiters().map(|_| class.limiter))
    }

    /// Number of limiters.
    pub fn limiter_count(&self) -> u32 {
        self.classes.last().map_or(0, |class| class.limiters().end)
    }

    /// Number of counters.
    pub fn counter_count(&self) -> u32 {
        self.classes.last().map_or(0, |class| class.counters().end)
    }

    /// The limiter that a packet of `limiter` is charged to as well.
    pub fn parent(&self, limiter: u32) -> Option<u32> {
        self.classes[self.class_of_limiter(limiter)?].parent
    }

    /// Index of the class that this limiter belongs to, `None` if there is no such limiter.
    pub fn class_of_limiter(&self, limiter: u32) -> Option<usize> {
        let index = self.classes.partition_point(|class| class.limiters().end <= limiter);
        (index < self.classes.len()).then_some(index)
    }

    /// Index of the class that this counter belongs to, `None` if there is no such counter.
    pub fn class_of_counter(&self, counter: u32) -> Option<usize> {
        let index = self.classes.partition_point(|class| class.counters().end <= counter);
        (index < self.classes.len()).then_some(index)
    }

    /// The limiters of the class with this index; empty if there is no such class.
    pub fn limiters_of(&self, class: usize) -> Range<u32> {
        self.classes.get(class).map_or(0..0, Placed::limiters)
    }

    /// The counters of the class with this index; empty if there is no such class.
    pub fn counters_of(&self, class: usize) -> Range<u32> {
        self.classes.get(class).map_or(0..0, Placed::counters)
    }

    /// Name of a limiter: `gold`, or `tenants[10.0.3.0/24]` where each prefix has its own.
    pub fn limiter_name(&self, limiter: u32) -> Option<String> {
        let class = &self.classes[self.class_of_limiter(limiter)?];
        Some(class.name_at(limiter - class.target.limiter))
    }

    /// Name of a counter: that of its limiter, or of the class where the limiters share it.
    pub fn counter_name(&self, counter: u32) -> Option<String> {
        let class = &self.classes[self.class_of_counter(counter)?];
        let offset = counter - class.target.counter;
        Some(if class.target.count_each { class.name_at(offset) } else { class.name.clone() })
    }

    /// The limiters that people call by this name: one for `gold` and `tenants[10.0.3.0/24]`, all of its own for `tenants`.
    pub fn find(&self, name: &str) -> Option<Range<u32>> {
        let Some((class, prefix)) = name.strip_suffix(']').and_then(|name| name.split_once('[')) else {
            return self.by_name.get(name).map(|&index| self.classes[index].limiters());
        };
        let class = &self.classes[*self.by_name.get(class)?];
        let limiter = class.target.limiter + class.offset_of(prefix.parse().ok()?)?;
        Some(limiter..limiter + 1)
    }
}

/// Numbers the limiters and counters, class by class.
fn place(classes: &[Class]) -> Vec<Placed> {
    let (mut limiter, mut counter) = (0, 0);
    let mut placed = Vec::with_capacity(classes.len());
    for (class, index) in classes.iter().zip(0..) {
        let width = u32::from(class.width());
        let target = Target { class: index, limiter, counter, width, count_each: class.count == Count::Each };
        let network = class.source.first().or(class.destination.first());
        let each = class.each.and_then(|each| network.map(|&network| (network, each)));
        let initial = Nimble::new(class.rate, class.burst, class.mark).expect("checked with the classes");
        let class = Placed { name: class.name.clone(), target, parent: None, each, limiter: initial };
        (limiter, counter) = (class.limiters().end, class.counters().end);
        placed.push(class);
    }
    placed
}

/// The prefix of `length` bits at `offset` from the first one in `network`.
fn subnet(network: IpNet, length: u8, offset: u32) -> IpNet {
    match network {
        IpNet::V4(v4) => {
            let behind = u64::from(offset) << (32 - u32::from(length));
            let address = v4.network().to_bits() | behind as u32;
            Ipv4Net::new(address.into(), length).map_or(network, IpNet::V4)
        }
        IpNet::V6(v6) => {
            let behind = u128::from(offset).checked_shl(128 - u32::from(length)).unwrap_or(0);
            Ipv6Net::new((v6.network().to_bits() | behind).into(), length).map_or(network, IpNet::V6)
        }
    }
}

/// The prefixes of one direction, for finding the longest that an address is in.
#[derive(Clone, Debug, Default)]
struct Prefixes {
    v4: Vec<Length>,
    v6: Vec<Length>,
}

/// Prefixes of one family and length.
#[derive(Clone, Debug)]
struct Length {
    bits: u8,
    /// Targets by the address's bits, of which only the prefix's are left.
    targets: HashMap<u128, Target>,
}

impl Prefixes {
    /// Those of `direction`, for each family the longest first.
    fn of(rules: &[PrefixRule], direction: Direction) -> Self {
        let mut prefixes = Self::default();
        for rule in rules.iter().filter(|rule| rule.direction == direction) {
            let family = if rule.prefix.addr().is_ipv4() { &mut prefixes.v4 } else { &mut prefixes.v6 };
            let bits = rule.prefix.prefix_len();
            let index = family.partition_point(|length| length.bits > bits);
            if family.get(index).is_none_or(|length| length.bits != bits) {
                family.insert(index, Length { bits, targets: HashMap::new() });
            }
            family[index].targets.insert(upper(address_bits(rule.prefix.addr()), bits), rule.target);
        }
        prefixes
    }

    fn find(&self, address: IpAddr) -> Option<Match> {
        let family = if address.is_ipv4() { &self.v4 } else { &self.v6 };
        let key = address_bits(address);
        family.iter().find_map(|length| {
            let target = length.targets.get(&upper(key, length.bits))?;
            Some(target.at(target.select(address, length.bits)))
        })
    }
}

/// The upper `bits` of `key`, the others zero.
fn upper(key: u128, bits: u8) -> u128 {
    key & !u128::MAX.checked_shr(bits.into()).unwrap_or(0)
}

#[cfg(test)]
mod tests;
