//! What is allocated, whatever flows had before.

use trueplane_surge::reassembly::{Limits, List, Ranges, Reassembler, Tree};
use trueplane_surge::segments::Tcp;

const WINDOW: u32 = 16 << 10;

/// An attacker who lets one flow after the other grow to as many ranges as the window has room for, and shrink to one byte: what is held
/// is little, and what is allocated is what one flow needs.
fn grow_and_shrink<R: Ranges>() {
    let limits = Limits { window: WINDOW, flows: 1000, pieces: 10_000 };
    let mut reassembler = Reassembler::<R>::new(limits).unwrap();
    let at = |seq| Tcp { seq, ..Tcp::default() };
    let mut bytes = 0;
    for flow in 0..200 {
        reassembler.accept(flow, Tcp { syn: true, ..at(u32::MAX) }, 0, 0, |_| {});
        // One byte at every second, the last first: no search passes any.
        for seq in (1..WINDOW).step_by(2).rev() {
            reassembler.accept(flow, at(seq), 1, 0, |_| {});
        }
        assert_eq!(reassembler.ranges(flow), 8192);
        let mut released = 0;
        reassembler.accept(flow, at(0), WINDOW, 0, |piece| released += piece.length);
        reassembler.accept(flow, at(WINDOW + 1), 1, 0, |_| {});
        assert_eq!((released, reassembler.ranges(flow)), (WINDOW, 1));
        if flow == 0 {
            bytes = reassembler.memory().bytes();
        }
    }
    assert_eq!((reassembler.flows(), reassembler.pieces(), reassembler.counts().evicted), (200, 200, 0));
    // The segment over all of them is in pieces between them for a moment: twice 8192, and as many nodes; and a byte of each flow.
    let at_most = (2 * 8192 + 200) * 16 + (8192 + 200) * 32;
    assert!(bytes > 0 && reassembler.memory().bytes() <= at_most * 5 / 4, "{bytes}");
    assert!(reassembler.memory().bytes() <= bytes * 5 / 4, "{bytes} {}", reassembler.memory().bytes());
}

#[test]
fn flows_that_shrink_leave_their_memory_to_others_in_lists() {
    grow_and_shrink::<List>();
}

#[test]
fn flows_that_shrink_leave_their_memory_to_others_in_trees() {
    grow_and_shrink::<Tree>();
}

/// Flows that go, for any reason, leave all they had.
#[test]
fn flows_that_go_leave_their_memory() {
    let mut reassembler = Reassembler::<List>::new(Limits { window: WINDOW, flows: 3, pieces: 500 }).unwrap();
    let at = |seq| Tcp { seq, ..Tcp::default() };
    let mut bytes = Vec::new();
    for round in 0..1000 {
        let flow = round % 7;
        reassembler.accept(flow, Tcp { syn: true, ..at(0) }, 0, 0, |_| {});
        for seq in (2..400).step_by(2).rev() {
            reassembler.accept(flow, at(seq), 1, 0, |_| {});
        }
        match round % 4 {
            0 => drop(reassembler.accept(flow, Tcp { rst: true, ..at(1) }, 0, 0, |_| {})),
            1 => drop(reassembler.accept(flow, at(3 * WINDOW), 1, 0, |_| {})),
            _ => {}
        }
        bytes.push(reassembler.memory().bytes());
    }
    assert!(reassembler.counts().evicted > 0 && reassembler.counts().beyond > 0);
    assert_eq!(bytes[100], bytes[999]);
}
