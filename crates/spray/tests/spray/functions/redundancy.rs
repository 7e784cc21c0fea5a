//! The elimination of redundancy, and what spraying costs it.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use trueplane_spray::nf::redundancy::Savings;
use trueplane_spray::nf::{FunctionName, FunctionOptions, Redundancy};
use trueplane_spray::packet::tcp_flags::ACK;
use trueplane_spray::{Limits, Packet};

use super::packets::{TCP, packet};
use super::team::{Team, forwarded};

/// Eight flows, each of which sends its own hundred objects eight times.
fn traffic() -> Vec<Packet> {
    let mut packets = Vec::new();
    for turn in 0..8 * 100_u64 {
        for flow in 0..8_u64 {
            let mut payload = vec![0; 1000];
            Xoshiro256PlusPlus::seed_from_u64(flow * 1000 + turn % 100).fill_bytes(&mut payload);
            let id = FunctionOptions::default().example_flow(FunctionName::Redundancy, flow as u32, TCP);
            packets.push(packet(&id, ACK, &payload));
        }
    }
    packets
}

fn savings(cores: usize, place: impl Fn(&mut Team<Redundancy>, &Packet) -> usize) -> Savings {
    let mut team = Team::new(&Redundancy::default(), cores, Limits::new(1), 9);
    for packet in traffic() {
        let core = place(&mut team, &packet);
        let before = packet.bytes().to_vec();
        let after = team.pass(core, packet);
        assert!(forwarded(&after) && after.bytes() == before);
    }
    assert_eq!(team.counts().connection, 0);
    let mut sum = Savings::default();
    team.workers.iter().for_each(|worker| sum.merge(worker.state().savings()));
    sum
}

#[test]
fn caches_of_cores_find_less_of_what_is_sprayed() {
    let whole = savings(4, |team, packet| team.hashed(packet.flow().unwrap()));
    let sprayed = savings(4, |team, _| team.below(4));
    assert_eq!(whole.bytes, 8 * 8 * 100 * 1000);
    assert_eq!(sprayed.bytes, whole.bytes);
    // Kept together, seven of eight copies are found, but for objects in which no anchor lies (e^-(936/32), none).
    assert_eq!(whole.repeated, 7 * 8 * 100 * 1000);
    // Sprayed, a copy is new to its core as often as there are cores among eight throws: 4 × (1 − (3/4)^8) = 3.6 of 8.
    let share = sprayed.repeated as f64 / sprayed.bytes as f64;
    assert!((0.53..0.57).contains(&share), "{share}");
    assert_eq!(savings(1, |_, _| 0).repeated, whole.repeated);
}
