//! Ways through networks.

use trueplane_network::Nanos;
use trueplane_network::simulator::{Link, Topology};
use trueplane_units::BitsPerSec;

const RATE: BitsPerSec = BitsPerSec(1_000_000_000);

#[test]
fn a_fabric_has_a_way_by_each_spine() {
    let fabric = Topology::leaf_spine(9, 4, 16, RATE, RATE, Nanos(20)).unwrap();
    assert_eq!(fabric.links().len(), 2 * (144 + 9 * 4));
    for (from, to) in [(0, 1), (0, 16), (143, 0)] {
        let same_leaf = from / 16 == to / 16;
        let mut node = from;
        let mut links = 0;
        while node != to {
            let ports = fabric.ports(node, to);
            // Only a leaf has a choice, upwards.
            let expected = if node == 144 + from / 16 && !same_leaf { 4 } else { 1 };
            assert_eq!(ports.len(), expected, "{from} to {to} at {node}");
            node = fabric.links()[*ports.last().unwrap() as usize].to;
            links += 1;
        }
        assert_eq!(links, if same_leaf { 2 } else { 4 });
    }
}

#[test]
fn a_dumbbell_has_one_link_between_its_sides() {
    let dumbbell = Topology::dumbbell(3, RATE, RATE, Nanos(1)).unwrap();
    assert_eq!([dumbbell.hosts() as usize, dumbbell.links().len()], [6, 14]);
    let port = dumbbell.ports(6, 4);
    assert_eq!(port.len(), 1);
    assert_eq!([dumbbell.links()[port[0] as usize].from, dumbbell.links()[port[0] as usize].to], [6, 7]);
}

#[test]
fn networks_that_cannot_be_are_refused_in_one_line() {
    let link = |from, to, rate| Link { from, to, rate: BitsPerSec(rate), delay: Nanos(0) };
    let refused =
        |nodes, hosts, links: &[Link]| Topology::new(nodes, hosts, links.to_vec()).unwrap_err().to_string();
    assert_eq!(refused(3, 1, &[]), "hosts: expected 2 to the number of nodes, got 1");
    assert_eq!(refused(2, 3, &[]), "hosts: expected 2 to the number of nodes, got 3");
    assert_eq!(refused(2, 2, &[link(0, 1, 0)]), "rate: expected 1bps or more, got 0");
    assert_eq!(refused(2, 2, &[link(0, 2, 1)]), "end of a link: expected a node, got 2");
    let one_way = "topology: expected a way from each host to each other, got none from host 1 to host 0";
    assert_eq!(refused(2, 2, &[link(0, 1, 1)]), one_way);
    // A host does not forward for others.
    let chain = [link(0, 1, 1), link(1, 0, 1), link(1, 2, 1), link(2, 1, 1)];
    assert_eq!(
        refused(3, 3, &chain),
        "topology: expected a way from each host to each other, got none from host 2 to host 0"
    );
}
