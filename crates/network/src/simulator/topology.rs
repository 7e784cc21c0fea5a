//! Hosts, switches, the links between them, and the ways through them.

use std::collections::{HashMap, VecDeque};

use thiserror::Error;
use trueplane_units::{BitsPerSec, Nanos};

/// Entries of the table of ways, at most: half a gigabyte.
const MOST_ROUTES: u64 = 1 << 26;

/// A network that cannot be.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum BadTopology {
    /// A number is out of its range.
    #[error("{name}: expected {expected}, got {got}")]
    Number {
        /// Name of the number.
        name: &'static str,
        /// Description of the numbers that it can be.
        expected: &'static str,
        /// Number that it is.
        got: u64,
    },
    /// There is no way from one host to another.
    #[error("topology: expected a way from each host to each other, got none from host {from} to host {to}")]
    NoRoute {
        /// Host that sends.
        from: u32,
        /// Host that cannot be reached.
        to: u32,
    },
}

/// A link in one direction. Its beginning is an output port with a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Link {
    /// Node at its beginning.
    pub from: u32,
    /// Node at its end.
    pub to: u32,
    /// Rate of the link.
    pub rate: BitsPerSec,
    /// Time that a bit takes from one end to the other.
    pub delay: Nanos,
}

/// Nodes and links. The first nodes are the hosts.
#[derive(Clone, Debug)]
pub struct Topology {
    hosts: u32,
    links: Vec<Link>,
    /// Destinations that are reached alike: those behind one switch are one, so that the tables are small.
    groups: u32,
    /// Switch and port that lead to a host with one link, by host.
    last: Vec<Last>,
    /// Only port of each host that has one, else none.
    only: Vec<u32>,
    /// Where the ports of a node to a group lie in `ports`, node by node.
    routes: Vec<Route>,
    /// Ports by which the destination is nearest, in ascending order.
    ports: Vec<u32>,
}

/// Ports of a node to a group. Groups that are reached alike share them, so that switches have few.
#[derive(Clone, Copy, Debug)]
struct Route {
    first: u32,
    count: u32,
}

/// No node, or no port.
const NONE: u32 = u32::MAX;

/// The last link to a host.
#[derive(Clone, Copy, Debug)]
struct Last {
    /// Node at its beginning; none if there are several links.
    node: u32,
    port: u32,
    /// Group that the host belongs to.
    group: u32,
}

impl Topology {
    /// A network of `nodes` nodes, of which the first `hosts` are hosts. Packets take the ways with the fewest links.
    ///
    /// # Errors
    ///
    /// If there are fewer than two hosts, a link has no rate or an end that is no node, or a host cannot reach another.
    pub fn new(nodes: u32, hosts: u32, links: Vec<Link>) -> Result<Self, BadTopology> {
        let number = |name, expected, got| Err(BadTopology::Number { name, expected, got });
        if hosts < 2 || hosts > nodes {
            return number("hosts", "2 to the number of nodes", u64::from(hosts));
        }
        for link in &links {
            if link.rate.0 == 0 {
                return number("rate", "1bps or more", 0);
            }
            if let Some(end) = [link.from, link.to].into_iter().find(|end| *end >= nodes) {
                return number("end of a link", "a node", u64::from(end));
            }
        }
        let (last, targets) = last_links(nodes, hosts, &links);
        let table = targets.len() as u64 * u64::from(nodes);
        if table > MOST_ROUTES {
            return number("switches with hosts, times nodes", "at most 2^26", table);
        }
        let distances = distances(nodes, hosts, &links, &targets);
        let is_missing = |from: u32, to: u32| {
            let end = last[to as usize];
            from != to && from != end.node && distances[end.group as usize][from as usize] == u32::MAX
        };
        for to in 0..hosts {
            if let Some(from) = (0..hosts).find(|from| is_missing(*from, to)) {
                return Err(BadTopology::NoRoute { from, to });
            }
        }
        let only = only_ports(hosts, &links);
        let (routes, ports) = routes(nodes, &links, &distances);
        Ok(Self { hosts, links, groups: targets.len() as u32, last, only, routes, ports })
    }

    /// A dumbbell: `pairs` hosts on the left and as many on the right, each at its side's switch, and one link between the switches.
    ///
    /// # Errors
    ///
    /// If there is no pair, or a link has no rate.
    pub fn dumbbell(
        pairs: u32,
        access: BitsPerSec,
        bottleneck: BitsPerSec,
        delay: Nanos,
    ) -> Result<Self, BadTopology> {
        let (left, right) = (2 * pairs, 2 * pairs + 1);
        let mut links = Vec::new();
        for host in 0..2 * pairs {
            both(&mut links, host, if host < pairs { left } else { right }, access, delay);
        }
        both(&mut links, left, right, bottleneck, delay);
        Self::new(2 * pairs + 2, 2 * pairs, links)
    }

    /// A leaf-spine fabric: `leaves` switches with `hosts_per_leaf` hosts each, and `spines` switches that all leaves are linked to.
    ///
    /// # Errors
    ///
    /// If there are fewer than two hosts, no spine for more than one leaf, or a link has no rate.
    pub fn leaf_spine(
        leaves: u32,
        spines: u32,
        hosts_per_leaf: u32,
        access: BitsPerSec,
        core: BitsPerSec,
        delay: Nanos,
    ) -> Result<Self, BadTopology> {
        let hosts = leaves * hosts_per_leaf;
        let mut links = Vec::new();
        for host in 0..hosts {
            both(&mut links, host, hosts + host / hosts_per_leaf, access, delay);
        }
        for leaf in hosts..hosts + leaves {
            for spine in hosts + leaves..hosts + leaves + spines {
                both(&mut links, leaf, spine, core, delay);
            }
        }
        Self::new(hosts + leaves + spines, hosts, links)
    }

    /// Number of hosts.
    pub fn hosts(&self) -> u32 {
        self.hosts
    }

    /// Bits per second that all hosts together can send.
    pub fn capacity(&self) -> f64 {
        self.links.iter().filter(|link| link.from < self.hosts).map(|link| link.rate.0 as f64).sum()
    }

    /// The links; a link's number is its output port's.
    pub fn links(&self) -> &[Link] {
        &self.links
    }

    /// The ports of `node` that lead to host `to` by the fewest links.
    #[inline]
    pub fn ports(&self, node: u32, to: u32) -> &[u32] {
        let last = &self.last[to as usize];
        if last.node == node {
            return std::slice::from_ref(&last.port);
        }
        if let Some(only) = self.only.get(node as usize).filter(|only| **only != NONE) {
            return std::slice::from_ref(only);
        }
        let route = self.routes[node as usize * self.groups as usize + last.group as usize];
        &self.ports[route.first as usize..][..route.count as usize]
    }
}

fn both(links: &mut Vec<Link>, one: u32, other: u32, rate: BitsPerSec, delay: Nanos) {
    links.push(Link { from: one, to: other, rate, delay });
    links.push(Link { from: other, to: one, rate, delay });
}

/// The last link to each host, and the nodes that groups of hosts lie behind.
fn last_links(nodes: u32, hosts: u32, links: &[Link]) -> (Vec<Last>, Vec<u32>) {
    let mut group_of = vec![u32::MAX; nodes as usize];
    let mut targets = Vec::new();
    let mut arriving = vec![(0, NONE, NONE); hosts as usize];
    for (port, link) in (0_u32..).zip(links).filter(|(_, link)| link.to < hosts) {
        let (count, ..) = arriving[link.to as usize];
        arriving[link.to as usize] = (count + 1, link.from, port);
    }
    let last = |host: u32| {
        let (node, port, target) = match arriving[host as usize] {
            (1, from, port) if from >= hosts => (from, port, from),
            _ => (NONE, NONE, host),
        };
        let group = &mut group_of[target as usize];
        if *group == u32::MAX {
            *group = targets.len() as u32;
            targets.push(target);
        }
        Last { node, port, group: *group }
    };
    let last = (0..hosts).map(last).collect();
    (last, targets)
}

/// The port of each host that has one and no more. It leads everywhere, as the table would say at the price of a row for each host.
fn only_ports(hosts: u32, links: &[Link]) -> Vec<u32> {
    let mut counts = vec![0; hosts as usize];
    let mut only = vec![NONE; hosts as usize];
    for (port, link) in (0_u32..).zip(links).filter(|(_, link)| link.from < hosts) {
        let host = link.from as usize;
        counts[host] += 1;
        only[host] = if counts[host] == 1 { port } else { NONE };
    }
    only
}

/// Links from each node to each target, target by target. Hosts do not forward.
fn distances(nodes: u32, hosts: u32, links: &[Link], targets: &[u32]) -> Vec<Vec<u32>> {
    let mut before = vec![Vec::new(); nodes as usize];
    for link in links {
        before[link.to as usize].push(link.from);
    }
    let to = |&target: &u32| {
        let mut distance = vec![u32::MAX; nodes as usize];
        distance[target as usize] = 0;
        let mut next = VecDeque::from([target]);
        while let Some(node) = next.pop_front() {
            for &from in before[node as usize].iter().filter(|_| node >= hosts || node == target) {
                if distance[from as usize] == u32::MAX {
                    distance[from as usize] = distance[node as usize] + 1;
                    next.push_back(from);
                }
            }
        }
        distance
    };
    targets.iter().map(to).collect()
}

/// For each node and group the ports on shortest ways: where they lie, and their numbers.
fn routes(nodes: u32, links: &[Link], distances: &[Vec<u32>]) -> (Vec<Route>, Vec<u32>) {
    let mut leaving = vec![Vec::new(); nodes as usize];
    for (port, link) in (0_u32..).zip(links) {
        leaving[link.from as usize].push(port);
    }
    let (mut routes, mut ports) = (Vec::new(), Vec::new());
    for node in 0..nodes as usize {
        let mut known: HashMap<Vec<u32>, Route> = HashMap::new();
        for distance in distances {
            let is_nearer = |port: &u32| {
                let to = distance[links[*port as usize].to as usize];
                to != u32::MAX && to + 1 == distance[node]
            };
            let nearest: Vec<u32> = leaving[node].iter().copied().filter(is_nearer).collect();
            let (first, count) = (ports.len() as u32, nearest.len() as u32);
            let route = known.entry(nearest).or_insert_with_key(|nearest| {
                ports.extend(nearest);
                Route { first, count }
            });
            routes.push(*route);
        }
    }
    (routes, ports)
}
