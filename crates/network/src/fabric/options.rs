//! The parameters of `sched fabric`.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use trueplane_sched::policy::PushDown;
use trueplane_study::Error;
use trueplane_study::prose::beyond;
use trueplane_units::{
    BitsPerSec, Bytes, Choices, Factor, List, Nanos, PerSecond, Positive, Within, parameters,
};

use super::capture_file::CaptureFile;
use super::names::{Shape, TopologyName, Workload, WorkloadName};
use super::system::{PACKING, RankName, SystemName, TransportName};
use super::ways::{Balancing, LinkName};
use crate::simulator::{Faults, FlowSpec, Named, Pattern, read_faults};

/// Queues of a port, at most.
const MOST_QUEUES: u64 = 64;
/// Packets that a queue holds, at most.
const MOST_DEPTH: u64 = 1 << 16;
/// Switches of a kind, and hosts at a leaf, at most.
const MOST_NODES: u64 = 256;
/// Bytes of the largest packet.
const LARGEST_PACKET: u64 = (PACKING.segment + PACKING.header) as u64;
/// More packet-hops than these, under all policies and loads together, are refused: they take hours.
const MOST_HOPS: f64 = 5e10;
/// Loads that are simulated unless the user gives others.
const USUAL_LOADS: [u64; 3] = [200_000, 400_000, 600_000];

/// Heading of help texts for flows and their senders.
const FLOWS: &str = "Flows and senders";
/// Heading of help texts for the network.
const NETWORK: &str = "The network";
/// Heading of help texts for ports.
const PORTS: &str = "Ports";

parameters! {
    /// Parameters of `sched fabric`.
    #[derive(Clone, Debug)]
    pub struct Options {
        /// Flow sizes (web-search, data-mining, or a CSV file), or the flows themselves (a CSV file).
        ///
        /// The two names are the distributions of the simulations that the authors of SP-PIFO published. A file of sizes has the columns bytes and
        /// cdf. Each row is a flow size and the share of flows that are no larger, from 0 to 1. A file of flows has the columns start_ns, from, to
        /// and bytes. Hosts have numbers from 0 on, or the names of --topology.
        pub workload: WorkloadName => { value: "WORKLOAD", positional: true, default: "web-search" },
        /// Rule for who sends to whom, unless a file has the flows.
        pub pattern: Pattern => { value: "PATTERN", default: "random", heading: FLOWS },
        /// Only for --pattern incast: number of hosts that send to one host at once.
        pub fan_in: Within<u32, 1, 16_384> => { value: "N", default: "16", heading: FLOWS },
        /// Rank by which the ports of schedulers order packets.
        pub rank: RankName => { value: "RANK", default: "pfabric" },
        /// Deadline of each flow, as a multiple of the least time that it can take. Ranks lstf and edf go by it.
        pub deadline: Factor => { value: "FACTOR", default: "10", heading: FLOWS },
        /// How senders recover from losses and set their windows and timers.
        ///
        /// The settings are those of the published simulations for both: segments of 1380 bytes, 3 of them in the first window (30 for pFabric), and
        /// no least time-out.
        pub transport: TransportName => { value: "HOW", default: "standard", heading: FLOWS },
        /// Policies to compare.
        pub policies: Choices<SystemName> => { value: "LIST", default: "all" },
        /// Offered load, as a share of what all hosts together can send. A list varies it.
        ///
        /// It counts the bytes of flows. Headers and acknowledgements come on top: about 17% with large flows.
        pub load: Option<List<Factor>> => { value: "LIST", default_words: "0.2,0.4,0.6", conflicts: "flow_starts" },
        /// Flows that start per second in the whole network. It replaces --load. A list varies it.
        pub flow_starts: Option<List<Positive<PerSecond>>> => { value: "LIST", heading: FLOWS },
        /// Time during which flows start, unless a file has the flows. All flows run to their end.
        pub duration: Positive<Nanos> => { value: "TIME", default: "200ms" },
        /// Shape of the network: leaf-spine, fat-tree:PORTS, or the path of a CSV file.
        ///
        /// The switches of a fat tree have PORTS ports, and it has PORTS^3 / 4 hosts. A file has the columns from, to, rate and delay. Each row is a
        /// link in both directions, such as h1,s1,10Gbps,5us. Nodes with one link are hosts.
        pub topology: TopologyName => { value: "SHAPE", default: "leaf-spine", heading: NETWORK },
        /// Only for leaf-spine: number of leaf switches.
        pub leaves: Within<u32, 1, MOST_NODES> => { value: "N", default: "9", heading: NETWORK },
        /// Only for leaf-spine: number of spine switches. Each is linked to all leaves.
        pub spines: Within<u32, 1, MOST_NODES> => { value: "N", default: "4", heading: NETWORK },
        /// Only for leaf-spine: number of hosts at each leaf switch.
        pub hosts_per_leaf: Within<u32, 1, MOST_NODES> => { value: "N", default: "16", heading: NETWORK },
        /// Rate of the links of hosts, unless a file says it.
        pub access_rate: Positive<BitsPerSec> => { value: "RATE", default: "1Gbps", heading: NETWORK },
        /// Rate of the links between switches, unless a file says it.
        pub core_rate: Positive<BitsPerSec> => { value: "RATE", default: "4Gbps", heading: NETWORK },
        /// Propagation delay of each link, unless a file says it.
        pub link_delay: Nanos => { value: "TIME", default: "20ns", heading: NETWORK },
        /// CSV file with faults of links: times without the link, losses and jitter.
        ///
        /// It has the columns from, to, start_ns, end_ns, kind and value. Each row is a fault of a link in both directions, such as
        /// leaf0,spine1,0,5000000,down, or 3,leaf0,0,1000000000,loss,1000. The kinds are down, without a value; loss, with the packets that are
        /// lost of a million; and jitter, with the longest additional delay in nanoseconds. Switches are leaf0, spine0, edge0, aggregation0, core0
        /// and so on, or have the names of --topology. Where links are down, packets take ways without them, if there are any.
        pub faults: Option<PathBuf> => { value: "FILE", heading: NETWORK },
        /// Rule for packets with several ways to their host: hash, spray, flowlet:GAP or paths:K.
        ///
        /// With hash, a flow has one way. With spray, each packet takes a random way. With flowlet:GAP, a flow takes another random way after each
        /// pause of at least GAP. With paths:K, a flow takes K ways at each switch in turn.
        pub balancing: Balancing => { value: "RULE", default: "hash", heading: NETWORK },
        /// Capture file to write (pcap) with the packets of the link --pcap-link. It takes a single load and a single policy.
        pub pcap: Option<PathBuf> => { value: "FILE", requires: "pcap_link", heading: NETWORK },
        /// Link of --pcap, from one node to another, such as 0-leaf0 or leaf0-spine1. Of several links between two nodes, the first is captured.
        pub pcap_link: Option<LinkName> => { value: "LINK", requires: "pcap", heading: NETWORK },
        /// Number of strict-priority queues of a port with a scheduler.
        pub queues: Within<u64, 1, MOST_QUEUES> => { value: "N", default: "8", heading: PORTS },
        /// Number of packets that each queue can hold. A PIFO has one queue with the same total memory.
        pub depth: Within<u64, 1, MOST_DEPTH> => { value: "PACKETS", default: "10", heading: PORTS },
        /// Only for tcp and dctcp: bytes that a FIFO port can hold.
        pub buffer: Option<Positive<Bytes>> =>
            { value: "SIZE", default_words: "120000B, or 146000B with --rank pfabric", heading: PORTS },
        /// Only with DCTCP senders (dctcp, and all schedulers unless --rank is pfabric): a packet is marked if more than so many bytes wait with it. With dctcp, less
        /// than --buffer.
        pub mark: Option<Positive<Bytes>> =>
            { value: "SIZE", default_words: "48000B, or 14600B with --rank pfabric", heading: PORTS },
        /// Only for sp-pifo: amount by which it lowers its bounds after an inversion.
        pub push_down: PushDown => { value: "HOW", default: "cost", heading: PORTS },
        /// Only for afq: bytes that it sends from each flow in a round.
        pub bytes_per_round: Positive<u32> => { value: "BYTES", default: "1500", heading: PORTS },
        /// Only for aifo and packs: number of packets from which they take their quantiles.
        pub window: Within<u32, 1, { 1 << 20 }> => { value: "PACKETS", default: "1000", heading: PORTS },
        /// Seed of the random number generator.
        pub seed: u64 => { value: "SEED", default: "1" },
    }
}

/// Rate at which flows start, in two ways.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Offered {
    /// Offered bits over what all hosts together can send.
    pub load: f64,
    /// Flows that start per second.
    pub flows_per_second: f64,
}

/// The load of recorded flows.
fn recorded(flows: &[FlowSpec], capacity: f64) -> Offered {
    let seconds = seconds_of(flows, capacity);
    let bits = bits_of(flows);
    Offered { load: bits / seconds / capacity, flows_per_second: flows.len() as f64 / seconds }
}

/// Bits of the flows.
pub(super) fn bits_of(flows: &[FlowSpec]) -> f64 {
    flows.iter().map(|flow| flow.bytes as f64 * 8.0).sum()
}

/// Time from the first start to the last, and at least the time that all hosts together need for the bytes: flows that start at once are a load of 1.
pub(super) fn seconds_of(flows: &[FlowSpec], capacity: f64) -> f64 {
    let span = flows.first().zip(flows.last()).map_or(0, |(first, last)| last.start.since(first.start).0);
    (span as f64 / 1e9).max(bits_of(flows) / capacity)
}

impl Options {
    /// The network.
    pub(super) fn network(&self) -> Result<Named, Error> {
        let shape = Shape {
            leaf_spine: [*self.leaves, *self.spines, *self.hosts_per_leaf],
            access: *self.access_rate,
            core: *self.core_rate,
            delay: self.link_delay,
        };
        self.topology.read(&shape).map_err(Error::Parameters)
    }

    /// The faults of the links, if there are any.
    pub(super) fn faults(&self, network: &Named) -> Result<Option<Faults>, Error> {
        let Some(path) = &self.faults else { return Ok(None) };
        let shown = path.display();
        let file = File::open(path).map_err(|error| Error::Parameters(format!("{shown}: {error}")))?;
        let faults = read_faults(file, network, self.seed);
        faults.map(Some).map_err(|error| Error::Parameters(format!("{shown}: {error}")))
    }

    /// The number of the link to capture, if one is asked for. `runs` is the number of runs.
    pub(super) fn captured(&self, network: &Named, runs: usize) -> Result<Option<u32>, Error> {
        let Some(link) = &self.pcap_link else { return Ok(None) };
        if runs != 1 {
            return Err(Error::Parameters(format!(
                "--pcap: expected a single --load and a single one of --policies, got {runs} runs"
            )));
        }
        let link = link.find(network);
        link.map(Some).map_err(|error| Error::Parameters(format!("--pcap-link: {error}")))
    }

    /// A capture of a link, which writes to the file that was asked for.
    pub(super) fn capture(&self, link: u32) -> Result<CaptureFile, Error> {
        let path = self.pcap.as_deref().unwrap_or(Path::new(""));
        CaptureFile::begin(link, path).map_err(|error| self.cannot_write(&error))
    }

    /// A capture file that cannot be written.
    pub(super) fn cannot_write(&self, error: &io::Error) -> Error {
        let path = self.pcap.as_deref().unwrap_or(Path::new(""));
        Error::Parameters(format!("--pcap {}: {error}", path.display()))
    }

    /// The loads, each once, in ascending order. `capacity` is what all hosts together can send, in bits per second.
    ///
    /// # Errors
    ///
    /// If a load is given for flows that have their own.
    pub(super) fn offered(&self, workload: &Workload, capacity: f64) -> Result<Vec<Offered>, Error> {
        let sizes = match workload {
            Workload::Sizes(sizes) => sizes,
            Workload::Flows(_) if self.load.is_some() || self.flow_starts.is_some() => {
                return Err(Error::Parameters(
                    "the flows of a file have their own load: leave out --load and --flow-starts".to_owned(),
                ));
            }
            Workload::Flows(flows) => return Ok(vec![recorded(flows, capacity)]),
        };
        let flow_bits = sizes.mean() * 8.0;
        let of_load = |load: f64| Offered { load, flows_per_second: load * capacity / flow_bits };
        let of_rate = |flows: f64| Offered { load: flows * flow_bits / capacity, flows_per_second: flows };
        let mut all: Vec<Offered> = match (&self.flow_starts, &self.load) {
            (Some(rates), _) => rates.distinct().iter().map(|rate| of_rate(rate.0 as f64)).collect(),
            (None, Some(loads)) => loads.distinct().iter().map(|load| of_load(load.number())).collect(),
            (None, None) => USUAL_LOADS.iter().map(|load| of_load(*load as f64 / 1e6)).collect(),
        };
        all.sort_by(|one, other| one.load.total_cmp(&other.load));
        Ok(all)
    }

    /// Bytes that a FIFO port holds, and those above which any port marks for DCTCP senders.
    pub(super) fn fifo(&self) -> (u64, u64) {
        let (buffer, mark) = match self.rank {
            RankName::PFabric => (146_000, 14_600),
            RankName::Stfq | RankName::Lstf | RankName::FifoPlus | RankName::Edf => (120_000, 48_000),
        };
        (self.buffer.map_or(buffer, |given| given.0), self.mark.map_or(mark, |given| given.0))
    }

    /// Refuses ports that let no packet through, and what would take hours.
    pub(super) fn check(&self, hops: f64) -> Result<(), Error> {
        let has_fifo = self.policies.iter().any(|system| system.properties().scheduler.is_none());
        let (buffer, mark) = self.fifo();
        if has_fifo && buffer < LARGEST_PACKET {
            return Err(Error::Parameters(format!(
                "--buffer {buffer}B: expected at least {LARGEST_PACKET}B, the size of a packet"
            )));
        }
        // Such a port would drop before it marks.
        if self.policies.contains(&SystemName::Dctcp) && mark >= buffer {
            return Err(Error::Parameters(format!(
                "--mark {mark}B: expected less than the --buffer of {buffer}B, or --policies without dctcp"
            )));
        }
        let in_all_rounds = u64::from(*self.bytes_per_round).saturating_mul(*self.queues);
        if self.policies.contains(&SystemName::Afq) && in_all_rounds < LARGEST_PACKET {
            return Err(Error::Parameters(format!(
                "--bytes-per-round {} with --queues {}: expected at least {LARGEST_PACKET} bytes in all rounds together, the size of a packet",
                *self.bytes_per_round, *self.queues
            )));
        }
        if hops > MOST_HOPS {
            return Err(Error::Parameters(format!(
                "expected a --duration (or flows of a file) so short that packets pass at most {MOST_HOPS:.0e} links, under all policies and loads together; with {} they pass {}",
                *self.duration,
                beyond(hops, MOST_HOPS)
            )));
        }
        Ok(())
    }
}
