//! TCP reassembly: what it releases, what that takes, what an attacker makes of it, and the captures that it reads.

mod application;
mod captures;
mod generated;
mod memory;
mod worked;

use std::path::Path;

use proptest::prelude::*;
use trueplane_surge::reassembly::Limits;
use trueplane_surge::segments::Tcp;

use target::Given;

// The fuzz target's own code; `cargo test` at the root does not build the fuzzer, which wants a nightly compiler.
#[path = "../../../fuzz/reassembly.rs"]
#[expect(unreachable_pub, reason = "a library there, a module here")]
mod target;

/// Segments of three flows around the end of the sequence numbers, a few of which open, end or abort.
fn segments() -> impl Strategy<Value = Vec<Given>> {
    let flags = prop_oneof![60 => Just(0), 1 => Just(1), 2 => Just(2), 1 => Just(3)];
    let segment = (0..3_u64, flags, 0..400_u32, prop::collection::vec(any::<u8>(), 0..60));
    prop::collection::vec(segment, 1..200).prop_map(|all| {
        let given = |(flow, flag, offset, payload): (u64, i32, u32, Vec<u8>)| {
            let seq = (u32::MAX - 200).wrapping_add(offset);
            Given { flow, tcp: Tcp { seq, syn: flag == 1, fin: flag == 2, rst: flag == 3 }, payload }
        };
        all.into_iter().map(given).collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn list_and_tree_release_what_a_table_of_bytes_does(all in segments(), window in 50..500_u32) {
        target::compare(&all, Limits { window, flows: 1000, pieces: 1 << 20 });
    }

    #[test]
    fn list_and_tree_keep_to_their_limits_alike(all in segments(), flows in 1..4_usize, pieces in 1..20_usize) {
        target::compare(&all, Limits { window: 300, flows, pieces });
    }

    /// A stream cut into segments twice, in two ways, late and in duplicate: it all comes out, in order.
    #[test]
    fn what_is_sent_is_released(
        stream in prop::collection::vec(any::<u8>(), 1..2000),
        isn in any::<u32>(),
        cuts in prop::collection::vec((1..80_usize, 0..6_usize), 100..101),
    ) {
        let mut sent = vec![(0, Given { flow: 1, tcp: Tcp { seq: isn, syn: true, ..Tcp::default() }, payload: Vec::new() })];
        let mut again = cuts.iter().cycle();
        for _ in 0..2 {
            let mut at = 0;
            while at < stream.len() {
                let (length, delay) = again.next().copied().unwrap_or((1, 0));
                let end = stream.len().min(at + length);
                let tcp = Tcp { seq: isn.wrapping_add(1 + at as u32), ..Tcp::default() };
                sent.push((1 + at / 40 + delay, Given { flow: 1, tcp, payload: stream[at..end].to_vec() }));
                at = end;
            }
        }
        sent.sort_by_key(|(position, _)| *position);
        let all: Vec<Given> = sent.into_iter().map(|(_, given)| given).collect();
        target::compare(&all, Limits { window: 4000, flows: 1000, pieces: 1 << 20 });
        let mut naive = target::Naive::default();
        let released: Vec<u8> = all.iter().flat_map(|given| naive.accept(given, 4000)).collect();
        prop_assert_eq!(released, stream);
    }

    #[test]
    fn nothing_breaks_it(bytes in prop::collection::vec(any::<u8>(), 0..600)) {
        target::reassemble(&bytes);
    }
}

#[test]
fn every_seed_is_reassembled() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/seeds/surge_reassembly");
    let (mut captures, mut others) = (0, 0);
    for entry in folder.read_dir().unwrap() {
        let seed = std::fs::read(entry.unwrap().path()).unwrap();
        target::reassemble(&seed);
        if target::reassemble_capture(&seed) { captures += 1 } else { others += 1 }
    }
    assert!(captures >= 1 && others >= 6, "{captures} captures, {others} others; are the seeds all there?");
}
