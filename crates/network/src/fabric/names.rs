//! Workloads and networks as people name them.

use std::fmt;
use std::fs::File;
use std::io::{Read as _, Seek as _};
use std::ops::Range;

use trueplane_units::{BitsPerSec, Datum, Nanos, Value, unexpected};

use crate::simulator::{FlowSpec, Named, Sizes, Topology, fat_tree, read_flows, read_links};

/// Bytes of a table that are looked at to tell what it has.
const HEADER: u64 = 4_096;

/// The text that names a workload: published flow sizes, or the path of a table of sizes or flows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkloadName(String);

/// Flows, or what they are drawn from.
#[derive(Clone, Debug)]
pub enum Workload {
    /// Sizes of flows that start at random between random hosts.
    Sizes(Sizes),
    /// Flows of a table.
    Flows(Vec<FlowSpec>),
}

impl WorkloadName {
    /// The name for titles.
    pub fn title(&self) -> &str {
        &self.0
    }

    /// The workload that it names, on this network.
    ///
    /// # Errors
    ///
    /// In one line, if there is no such file, or it is no such table.
    pub fn read(&self, network: &Named) -> Result<Workload, String> {
        match self.title() {
            "web-search" => Ok(Workload::Sizes(Sizes::web_search())),
            "data-mining" => Ok(Workload::Sizes(Sizes::data_mining())),
            path => read(path, network),
        }
    }
}

fn read(path: &str, network: &Named) -> Result<Workload, String> {
    let failed = |error: std::io::Error| format!("{path}: {error}; expected {}", WorkloadName::expected());
    let mut file = File::open(path).map_err(failed)?;
    let mut start = Vec::new();
    (&mut file).take(HEADER).read_to_end(&mut start).map_err(failed)?;
    file.rewind().map_err(failed)?;
    let mut reader = csv::ReaderBuilder::new().trim(csv::Trim::All).from_reader(start.as_slice());
    let header = reader.headers().cloned().unwrap_or_default();
    let has = |name: &str| header.iter().any(|column| column == name);
    if has("cdf") {
        Sizes::read(file).map(Workload::Sizes).map_err(|error| format!("{path}: {error}"))
    } else if has("start_ns") {
        let hosts = network.topology.hosts();
        read_flows(file, &network.hosts, hosts)
            .map(Workload::Flows)
            .map_err(|error| format!("{path}: {error}"))
    } else {
        Err(format!(
            "{path}: expected the columns bytes and cdf (flow sizes), or start_ns, from, to and bytes (flows), got {:?}",
            header.iter().collect::<Vec<_>>()
        ))
    }
}

impl fmt::Display for WorkloadName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.title())
    }
}

impl Value for WorkloadName {
    fn expected() -> String {
        "web-search, data-mining or the path of a CSV file of flow sizes or flows".to_owned()
    }

    fn parse(text: &str) -> Result<Self, String> {
        if text.is_empty() { Err(unexpected(Self::expected(), text)) } else { Ok(Self(text.to_owned())) }
    }

    fn show(&self) -> String {
        self.0.clone()
    }

    fn datum(&self) -> Datum {
        Datum::Text(self.0.clone())
    }
}

/// Hosts of a network, at most.
const MOST_HOSTS: u64 = 16_384;

/// The text before the number of ports of a fat tree's switches.
const FAT_TREE: &str = "fat-tree:";

/// The text that names a network: a shape, or the path of a table of links.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TopologyName(String);

/// Links of a network of a regular shape.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// Leaf switches, spine switches and hosts at each leaf.
    pub leaf_spine: [u32; 3],
    /// Rate of the links of hosts.
    pub access: BitsPerSec,
    /// Rate of the links between switches.
    pub core: BitsPerSec,
    /// Delay of each link.
    pub delay: Nanos,
}

impl TopologyName {
    /// The network that it names.
    ///
    /// # Errors
    ///
    /// In one line, if there cannot be such a network.
    pub fn read(&self, shape: &Shape) -> Result<Named, String> {
        let Shape { leaf_spine: [leaves, spines, hosts], access, core, delay } = *shape;
        let named = |topology, switches| Named { topology, hosts: Vec::new(), switches };
        let many = |hosts: u64| match hosts {
            0..=MOST_HOSTS => Ok(()),
            _ => Err(format!("the network has {hosts} hosts: expected at most {MOST_HOSTS}")),
        };
        if self.0 == "leaf-spine" {
            many(u64::from(leaves) * u64::from(hosts))?;
            let topology = Topology::leaf_spine(leaves, spines, hosts, access, core, delay);
            let switches = numbered("leaf", 0..leaves).chain(numbered("spine", 0..spines)).collect();
            return topology.map(|topology| named(topology, switches)).map_err(|error| error.to_string());
        }
        if let Some(ports) = self.0.strip_prefix(FAT_TREE) {
            let ports = ports.parse::<u32>().map_err(|_| unexpected(Self::expected(), &self.0))?;
            many(u64::from(ports).saturating_pow(3) / 4)?;
            let topology = fat_tree(ports, access, core, delay).map_err(|error| error.to_string())?;
            return Ok(named(topology, fat_tree_switches(ports)));
        }
        let path = &self.0;
        let file = File::open(path).map_err(|error| format!("{path}: {error}"))?;
        read_links(file).map_err(|error| format!("{path}: {error}"))
    }
}

/// Names such as leaf0 and leaf1.
fn numbered(kind: &str, numbers: Range<u32>) -> impl Iterator<Item = String> {
    numbers.map(move |number| format!("{kind}{number}"))
}

/// The names of the switches of a fat tree, in the order of its nodes: edge0 and so on, aggregation0 and so on, pod by pod, and then core0 and so on.
fn fat_tree_switches(ports: u32) -> Vec<String> {
    let half = ports / 2;
    let pod = |pod: u32| {
        let of_pod = pod * half..(pod + 1) * half;
        numbered("edge", of_pod.clone()).chain(numbered("aggregation", of_pod))
    };
    (0..ports).flat_map(pod).chain(numbered("core", 0..half * half)).collect()
}

impl Value for TopologyName {
    fn expected() -> String {
        "leaf-spine, fat-tree:PORTS or the path of a CSV file such as links.csv".to_owned()
    }

    fn parse(text: &str) -> Result<Self, String> {
        let is_known = match text.strip_prefix(FAT_TREE) {
            Some(ports) => ports.parse::<u32>().is_ok(),
            // Any other word is a mistake, and no file.
            None => text == "leaf-spine" || text.contains(['.', '/']),
        };
        if is_known { Ok(Self(text.to_owned())) } else { Err(unexpected(Self::expected(), text)) }
    }

    fn show(&self) -> String {
        self.0.clone()
    }

    fn datum(&self) -> Datum {
        Datum::Text(self.0.clone())
    }
}
