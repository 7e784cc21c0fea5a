//! Networks and flows out of tables, and fat trees.

use proptest::prelude::*;
use trueplane_network::Nanos;
use trueplane_network::simulator::{DropTail, FlowSpec, Network, Topology, fat_tree, read_flows, read_links};
use trueplane_network::transport::preset;
use trueplane_units::BitsPerSec;

// The fuzz target's own code; `cargo test` at the root does not build the fuzzer, which wants a nightly compiler.
#[path = "../../../fuzz/tables.rs"]
#[expect(unreachable_pub, reason = "a library there, a module here")]
mod fuzzed;

const GBPS: BitsPerSec = BitsPerSec(1_000_000_000);

/// Links that a packet passes from one host to another, by the first way.
fn links(topology: &Topology, from: u32, to: u32) -> usize {
    let (mut node, mut links) = (from, 0);
    while node != to {
        node = topology.links()[topology.ports(node, to)[0] as usize].to;
        links += 1;
    }
    links
}

#[test]
fn a_fat_tree_of_four_ports() {
    let tree = fat_tree(4, GBPS, GBPS, Nanos(20)).unwrap();
    // 16 hosts; 20 switches of 4 ports, of which 16 lead to hosts.
    assert_eq!(tree.hosts(), 16);
    assert_eq!(tree.links().len(), 2 * (16 + (20 * 4 - 16) / 2));
    // Host 0 and 1 share a switch, 0 and 2 a pod.
    assert_eq!([1, 2, 15].map(|to| links(&tree, 0, to)), [2, 4, 6]);
    // Two ways up at the edge switch of host 0, and two at each aggregation switch: four ways to other pods.
    let edge = tree.links()[tree.ports(0, 15)[0] as usize].to;
    let up = tree.ports(edge, 15);
    assert_eq!(up.len(), 2);
    let aggregation = tree.links()[up[0] as usize].to;
    assert_eq!(tree.ports(aggregation, 15).len(), 2);
    for ports in [0, 1, 3, 66] {
        let message = fat_tree(ports, GBPS, GBPS, Nanos(0)).unwrap_err().to_string();
        assert_eq!(message, format!("ports of a switch: expected an even number from 2 to 64, got {ports}"));
    }
}

#[test]
fn flows_cross_a_fat_tree() {
    let tree = fat_tree(4, GBPS, GBPS, Nanos(20)).unwrap();
    let flows = (0..15).map(|from| FlowSpec { start: Nanos(0), from, to: 15, bytes: 50_000 });
    let network = Network::new(&tree, |_| DropTail::new(30_000), preset::standard_tcp(), 120, 1).unwrap();
    let outcome = network.run(flows, Nanos::MAX).unwrap();
    assert_eq!((outcome.completed.len(), outcome.unfinished), (15, 0));
    assert!(outcome.counts.dropped > 0, "fifteen senders overflow the last port");
}

const TABLE: &str = "\
from,to,rate,delay
a,s1,1Gbps,5us
s1,s2,10Gbps,1us
 s2 , b , 2Gbps , 0ns
c,s1,1Gbps,5us
";

#[test]
fn a_table_names_its_hosts() {
    let named = read_links(TABLE.as_bytes()).unwrap();
    assert_eq!(named.hosts, ["a", "b", "c"]);
    assert_eq!(named.topology.capacity(), 4e9);
    assert_eq!(links(&named.topology, 0, 1), 3);
    let flows = "bytes,from,to,start_ns\n7,b,a,20\n8,a,c,10\n";
    let flows = read_flows(flows.as_bytes(), &named.hosts, 3).unwrap();
    let flow = |start, from, to, bytes| FlowSpec { start: Nanos(start), from, to, bytes };
    assert_eq!(flows, [flow(10, 0, 2, 8), flow(20, 1, 0, 7)]);
}

#[test]
fn wrong_tables_are_refused_in_one_line() {
    let links = |text: &str| read_links(text.as_bytes()).unwrap_err().to_string();
    let header = "from,to,rate,delay\n";
    assert!(links("a,b\n").starts_with("links: expected the columns from, to, rate and delay, got"));
    assert_eq!(
        links(&format!("{header}a,b,fast,0ns\n")),
        "links: expected a rate such as 10Gbps, got \"fast\" in line 2"
    );
    assert_eq!(
        links(&format!("{header}a,b,1Gbps,5\n")),
        "links: expected a delay such as 5us, got \"5\" in line 2"
    );
    assert!(links(&format!("{header}a,a,1Gbps,5us\n")).contains("one from \"a\" to itself in line 2"));
    assert_eq!(links(&format!("{header}a,b,0bps,5us\n")), "rate: expected 1bps or more, got 0");
    let apart = links(&format!("{header}a,b,1bps,5us\nc,d,1bps,5us\n"));
    assert_eq!(apart, "links: expected a way from each host to each other, got none from \"c\" to \"a\"");
    assert!(
        links(header).starts_with("links: expected two hosts or more, which are nodes with a single row")
    );
    let twice = links(&format!("{header}a,s,1bps,5us\ns,a,1bps,5us\nb,s,1bps,5us\ns,b,1bps,5us\n"));
    assert!(twice.contains("(each link has one row), got 0"), "{twice}");
    let flows = |text: &str| read_flows(text.as_bytes(), &[], 4).unwrap_err().to_string();
    let header = "start_ns,from,to,bytes\n";
    assert!(
        flows("start_ns,from,to\n").starts_with("flows: expected the columns start_ns, from, to and bytes")
    );
    assert_eq!(flows(header), "flows: expected one flow or more, got none");
    assert_eq!(
        flows(&format!("{header}0,0,4,1\n")),
        "flows: expected a host from 0 to 3 as to, got \"4\" in line 2"
    );
    assert!(flows(&format!("{header}0,2,2,1\n")).contains("a flow from \"2\" in line 2 to itself"));
    assert_eq!(
        flows(&format!("{header}0,0,1,0\n")),
        "flows: expected 1 to 10^12 as bytes, got \"0\" in line 2"
    );
    assert_eq!(
        flows(&format!("{header}-1,0,1,1\n")),
        "flows: expected 0 to 10^19 nanoseconds as start_ns, got \"-1\" in line 2"
    );
}

#[test]
fn the_seeds_of_the_fuzzer_are_tables_or_are_not() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/fuzz/seeds/network_tables");
    let mut read: Vec<(String, usize)> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_str().unwrap().to_owned();
            (name, fuzzed::read_tables(&std::fs::read(path).unwrap()))
        })
        .collect();
    read.sort();
    let tables: Vec<&str> =
        read.iter().filter(|(_, kinds)| *kinds == 1).map(|(name, _)| name.as_str()).collect();
    assert_eq!(tables, ["faults", "flows", "last_time", "links", "newline_name", "sizes"]);
    assert_eq!(read.len(), 11);
}

proptest! {
    /// Whatever the bytes, a table is read or refused in one line.
    #[test]
    fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..200), lines in "([a-c0-9,.\"Gbpsnu-]{0,12}\n){0,6}") {
        let kinds = ["from,to,rate,delay", "start_ns,from,to,bytes", "bytes,cdf", "from,to,start_ns,end_ns,kind,value"];
        fuzzed::read_tables(&bytes);
        for kind in kinds {
            fuzzed::read_tables(format!("{kind}\n{lines}").as_bytes());
        }
    }
}
