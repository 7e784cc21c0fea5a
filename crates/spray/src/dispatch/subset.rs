//! Spraying each flow over a few cores only.

use trueplane_units::Nanos;

use super::{Arrival, Dispatch};
use crate::Steering;
use crate::steering::BUCKETS;

/// Sprays the packets of a flow of TCP by their checksum over `k` cores, which the flow's hash chooses; all else goes by symmetric
/// [`Rss`](super::Rss).
///
/// The cores are the flow's designated one and those that follow it with a stride, as in a ring; the stride is one of those that visit all
/// cores, chosen by bits of the hash that the designated core does not depend on. So with one core it is [`Rss`](super::Rss), and a flow's cores
/// with a smaller `k` are among those with a larger one. With all cores it is [`Spray`](super::Spray). O(1).
///
/// Source: §3.5, "Scalability with more cores". How a flow's cores are found is ours.
#[derive(Clone, Debug)]
pub struct Subset {
    steering: Steering,
    size: usize,
    /// Numbers below that of cores which have no divisor in common with it.
    strides: Vec<usize>,
}

impl Subset {
    /// Each flow over `size` of `cores` cores, one at least and all at most.
    pub fn new(cores: usize, size: usize) -> Self {
        let steering = Steering::new(cores);
        let cores = steering.cores();
        let strides = (1..=cores).filter(|&stride| divisor(stride, cores) == 1).collect();
        Self { steering, size: size.clamp(1, cores), strides }
    }
}

/// Greatest common divisor (Euclid).
fn divisor(a: usize, b: usize) -> usize {
    if b == 0 { a } else { divisor(b, a % b) }
}

impl Dispatch for Subset {
    fn core(&mut self, packet: &Arrival, _now: Nanos) -> usize {
        let designated = self.steering.core_of_bucket(packet.bucket());
        let Some(checksum) = packet.checksum else { return designated };
        if self.size == self.steering.cores() {
            return usize::from(checksum) % self.size;
        }
        let stride = self.strides[usize::from(packet.symmetric()) / BUCKETS % self.strides.len()];
        (designated + usize::from(checksum) % self.size * stride) % self.steering.cores()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dispatch::tests::tcp;
    use crate::dispatch::{Rss, Spray};

    /// The cores that a flow's packets with these checksums go to.
    fn cores(subset: &mut Subset, flow: u32) -> Vec<usize> {
        (0..256).map(|checksum| subset.core(&tcp(flow, checksum), Nanos(0))).collect()
    }

    fn distinct(mut cores: Vec<usize>) -> Vec<usize> {
        cores.sort_unstable();
        cores.dedup();
        cores
    }

    #[test]
    fn one_core_is_rss() {
        let (mut subset, mut rss) = (Subset::new(8, 1), Rss::symmetric(8));
        for flow in 0..1000 {
            let packet = tcp(flow, flow as u16);
            assert_eq!(subset.core(&packet, Nanos(0)), rss.core(&packet, Nanos(0)));
        }
    }

    #[test]
    fn all_cores_is_spray() {
        for size in [1, 2, 3, 8, 12] {
            let (mut subset, mut spray) = (Subset::new(size, size), Spray::new(size));
            for flow in 0..50 {
                for checksum in 0..512 {
                    let packet = tcp(flow, checksum);
                    assert_eq!(subset.core(&packet, Nanos(0)), spray.core(&packet, Nanos(0)));
                }
            }
        }
    }

    #[test]
    fn a_flow_has_as_many_cores_as_asked_for_and_more_of_them_include_fewer() {
        for flow in 0..100 {
            let mut smaller = Vec::new();
            for size in 1..=6 {
                let larger = distinct(cores(&mut Subset::new(6, size), flow));
                assert_eq!(larger.len(), size);
                assert!(smaller.iter().all(|core| larger.contains(core)));
                smaller = larger;
            }
        }
    }
}
