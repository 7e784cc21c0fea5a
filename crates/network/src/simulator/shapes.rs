//! Networks of a regular shape, and networks out of a table.

use std::collections::{BTreeMap, HashMap};
use std::io::Read;

use thiserror::Error;
use trueplane_units::{BitsPerSec, Nanos};

use super::topology::{BadTopology, Link, Topology};

/// Ports of the switches of a fat tree, at most: 65,536 hosts.
const MOST_PORTS: u32 = 64;

/// Nodes of a table, at most.
const MOST_NODES: usize = 1 << 15;

/// A table of links that cannot be read.
#[derive(Debug, Error)]
pub enum BadTable {
    /// The table is not as it should be.
    #[error("links: expected {expected}, got {got}")]
    Table {
        /// Description of what it should be.
        expected: &'static str,
        /// Text of what it is.
        got: String,
    },
    /// The links make no network.
    #[error(transparent)]
    Topology(#[from] BadTopology),
}

/// A fat tree of switches with `ports` ports each (Al-Fares, Loukissas and Vahdat, SIGCOMM 2008).
///
/// It has `ports` pods of `ports` ÷ 2 edge switches and as many aggregation switches, (`ports` ÷ 2)² core switches, and `ports`³ ÷ 4 hosts: as many
/// links go up from each switch as come from below.
///
/// # Errors
///
/// If the number of ports is odd, below 2 or above 64, or a link has no rate.
pub fn fat_tree(
    ports: u32,
    access: BitsPerSec,
    core: BitsPerSec,
    delay: Nanos,
) -> Result<Topology, BadTopology> {
    if !(2..=MOST_PORTS).contains(&ports) || !ports.is_multiple_of(2) {
        let expected = "an even number from 2 to 64";
        return Err(BadTopology::Number { name: "ports of a switch", expected, got: u64::from(ports) });
    }
    let half = ports / 2;
    let hosts = ports * half * half;
    let edge = |pod: u32, switch: u32| hosts + pod * ports + switch;
    let aggregation = |pod: u32, switch: u32| edge(pod, half + switch);
    let core_switch = |group: u32, switch: u32| hosts + ports * ports + group * half + switch;
    let mut links = Vec::new();
    let mut both = |one, other, rate| {
        links.push(Link { from: one, to: other, rate, delay });
        links.push(Link { from: other, to: one, rate, delay });
    };
    for host in 0..hosts {
        both(host, edge(host / (half * half), host / half % half), access);
    }
    for pod in 0..ports {
        for one in 0..half {
            for other in 0..half {
                both(edge(pod, one), aggregation(pod, other), core);
                // An aggregation switch is linked to the core switches of its place in the pod.
                both(aggregation(pod, one), core_switch(one, other), core);
            }
        }
    }
    Topology::new(hosts + ports * ports + half * half, hosts, links)
}

/// A network and the names of its nodes in the order of their numbers.
#[derive(Clone, Debug)]
pub struct Named {
    /// The network.
    pub topology: Topology,
    /// The names of the hosts; none if they have numbers instead.
    pub hosts: Vec<String>,
    /// The names of the switches, which are the nodes behind the hosts.
    pub switches: Vec<String>,
}

impl Named {
    /// The name of a node; its number if it has none.
    pub fn name(&self, node: u32) -> String {
        let name = match node.checked_sub(self.topology.hosts()) {
            Some(switch) => self.switches.get(switch as usize),
            None => self.hosts.get(node as usize),
        };
        name.cloned().unwrap_or_else(|| node.to_string())
    }

    /// The nodes by name.
    pub fn nodes(&self) -> HashMap<String, u32> {
        let nodes = self.topology.links().iter().flat_map(|link| [link.from, link.to]);
        nodes.map(|node| (self.name(node), node)).collect()
    }
}

/// Reads a table in CSV with the columns `from`, `to`, `rate` and `delay`: a link in both directions, with a rate such as 10Gbps and a delay such as
/// 5us.
///
/// Nodes with a single link are hosts, all others switches. O(links) and what [`Topology::new`] takes.
///
/// # Errors
///
/// If a column is missing, a value is none of its kind, a link leads from a node to itself, there are too many nodes, or as [`Topology::new`].
pub fn read_links(table: impl Read) -> Result<Named, BadTable> {
    let bad = |expected, got: String| BadTable::Table { expected, got };
    let mut reader = csv::ReaderBuilder::new().trim(csv::Trim::All).from_reader(table);
    let header = reader.headers().map_err(|error| bad("CSV", error.to_string()))?.clone();
    let place = |name: &str| header.iter().position(|column| column == name);
    let (Some(from), Some(to), Some(rate), Some(delay)) =
        (place("from"), place("to"), place("rate"), place("delay"))
    else {
        let got = format!("{:?}", header.iter().collect::<Vec<_>>());
        return Err(bad("the columns from, to, rate and delay", got));
    };
    let mut names: Vec<(String, u32)> = Vec::new();
    let mut numbers = BTreeMap::new();
    let mut rows = Vec::new();
    for record in reader.records() {
        let record = record.map_err(|error| bad("CSV", error.to_string()))?;
        let line = record.position().map_or(0, csv::Position::line);
        let text = |place: usize| record.get(place).unwrap_or_default();
        let mut node = |name: &str| {
            let number = *numbers.entry(name.to_owned()).or_insert_with(|| {
                names.push((name.to_owned(), 0));
                names.len() - 1
            });
            names[number].1 += 1;
            number
        };
        let ends = (node(text(from)), node(text(to)));
        if ends.0 == ends.1 {
            return Err(bad(
                "a link between two nodes",
                format!("one from {:?} to itself in line {line}", text(from)),
            ));
        }
        let found = |place: usize| format!("{:?} in line {line}", text(place));
        let rate = text(rate).parse::<BitsPerSec>().map_err(|_| bad("a rate such as 10Gbps", found(rate)))?;
        let delay = text(delay).parse::<Nanos>().map_err(|_| bad("a delay such as 5us", found(delay)))?;
        rows.push((ends, rate, delay));
        if names.len() > MOST_NODES {
            return Err(bad("at most 32768 nodes", format!("more in line {line}")));
        }
    }
    // Hosts come first.
    let mut order: Vec<usize> = (0..names.len()).collect();
    order.sort_by_key(|&node| names[node].1 > 1);
    let mut number_of = vec![0_u32; names.len()];
    for (number, &node) in (0_u32..).zip(&order) {
        number_of[node] = number;
    }
    let hosts: Vec<String> =
        order.iter().filter(|&&node| names[node].1 == 1).map(|&node| names[node].0.clone()).collect();
    let switches = order[hosts.len()..].iter().map(|&node| names[node].0.clone()).collect();
    if hosts.len() < 2 {
        let expected = "two hosts or more, which are nodes with a single row (each link has one row)";
        return Err(bad(expected, hosts.len().to_string()));
    }
    let mut links = Vec::new();
    for ((one, other), rate, delay) in rows {
        let (one, other) = (number_of[one], number_of[other]);
        links.push(Link { from: one, to: other, rate, delay });
        links.push(Link { from: other, to: one, rate, delay });
    }
    match Topology::new(names.len() as u32, hosts.len() as u32, links) {
        Ok(topology) => Ok(Named { topology, hosts, switches }),
        Err(BadTopology::NoRoute { from, to }) => {
            let [from, to] = [from, to].map(|host| &hosts[host as usize]);
            Err(bad("a way from each host to each other", format!("none from {from:?} to {to:?}")))
        }
        Err(error) => Err(error.into()),
    }
}
