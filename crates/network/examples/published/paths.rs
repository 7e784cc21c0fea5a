//! The ways that the published runs took.

use trueplane_network::Nanos;
use trueplane_network::simulator::{Chooser, Fork};

/// One of several ways, by the hash of the published simulator: a function of flow, hosts and node.
#[derive(Debug)]
pub(crate) struct Paths;

impl Chooser for Paths {
    fn choose(&mut self, fork: &Fork, _now: Nanos) -> Option<usize> {
        let flow = hash(fork.from.wrapping_add(hash(fork.to.wrapping_add(hash(fork.flow as u32)))));
        Some(hash(fork.node.wrapping_add(flow)) as usize % fork.ways)
    }
}

/// An integer hash by Thomas Wang and Robert Jenkins, of which the published simulator takes the absolute value.
fn hash(number: u32) -> u32 {
    let signed_shift = |number: u32, by: u32| (number as i32 >> by) as u32;
    let mut hash = number.wrapping_add(0x7ed5_5d16).wrapping_add(number << 12);
    hash ^= 0xc761_c23c ^ signed_shift(hash, 19);
    hash = hash.wrapping_add(0x1656_67b1).wrapping_add(hash << 5);
    hash = hash.wrapping_add(0xd3a2_646c) ^ (hash << 9);
    hash = hash.wrapping_add(0xfd70_46c5).wrapping_add(hash << 3);
    hash ^= 0xb55a_4f09 ^ signed_shift(hash, 16);
    // The least number has no absolute value.
    (hash as i32).saturating_abs() as u32
}
