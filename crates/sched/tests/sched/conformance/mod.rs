//! One table that every scheduler must pass, and one that every rank must pass.

mod order;
mod ranks;
mod schedulers;

use proptest::prelude::*;
use trueplane_sched::Packet;
use trueplane_units::{Nanos, Rank};

/// A packet that no other is like: `id` is its time of arrival.
fn packet(id: usize, rank: u64, flow: u64, bytes: u32) -> Packet {
    Packet { rank: Rank(rank), flow, bytes, handle: id as u32, arrival: Nanos(id as u64) }
}

/// Arrivals, and departures in between (`None`).
fn steps() -> impl Strategy<Value = Vec<Option<Packet>>> {
    let rank = prop_oneof![8 => 0..16u64, 4 => 0..200u64, 1 => any::<u64>(), 1 => Just(u64::MAX)];
    let arrival = (rank, 0..6u64, prop_oneof![8 => 64..=1_500u32, 1 => any::<u32>()]);
    let phase = prop_oneof![Just(0.9), Just(0.5), Just(0.2)];
    let phase = phase.prop_flat_map(move |share| {
        prop::collection::vec(prop::option::weighted(share, arrival.clone()), 1..100)
    });
    prop::collection::vec(phase, 1..4).prop_map(|phases| {
        let numbered = phases.concat().into_iter().enumerate();
        numbered.map(|(id, step)| step.map(|(rank, flow, bytes)| packet(id, rank, flow, bytes))).collect()
    })
}
