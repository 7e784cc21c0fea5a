//! Examples that can be followed by hand.

use trueplane_surge::reassembly::{Limits, List, Piece, Ranges, Reassembler, Steps, Tree};
use trueplane_surge::segments::Tcp;

const FLOW: u64 = 7;

fn opened<R: Ranges>(isn: u32, limits: Limits) -> Reassembler<R> {
    let mut reassembler = Reassembler::new(limits).unwrap();
    reassembler.accept(FLOW, Tcp { seq: isn, syn: true, ..Tcp::default() }, 0, 0, |_| panic!("nothing yet"));
    reassembler
}

/// Takes bytes `from..to` by sequence number: the steps, and the bytes released.
fn take<R: Ranges>(reassembler: &mut Reassembler<R>, from: u32, to: u32) -> (Steps, u32) {
    let mut released = 0;
    let tcp = Tcp { seq: from, ..Tcp::default() };
    let steps = reassembler.accept(FLOW, tcp, to.wrapping_sub(from), 0, |piece| released += piece.length);
    (steps, released)
}

fn steps(search: u64, merge: u64) -> Steps {
    Steps { search, merge }
}

/// Atre 2025, figure 3.2: a segment that fills the gap of flow A passes one node; number 97 of flow B passes four.
#[test]
fn figure_3_2() {
    let mut a = opened::<List>(0, Limits::default());
    take(&mut a, 6, 1466);
    take(&mut a, 2926, 4386);
    assert_eq!(a.ranges(FLOW), 2);
    let (steps_a, _) = take(&mut a, 1466, 2926);
    assert_eq!(steps_a, steps(1, 1), "past the first, and together with the second");
    assert_eq!(a.ranges(FLOW), 1);

    let mut b = opened::<List>(0, Limits::default());
    for from in [10, 30, 50, 70, 110, 130] {
        take(&mut b, from, from + 10);
    }
    assert_eq!(take(&mut b, 97, 100), (steps(4, 0), 0));
    assert_eq!(b.ranges(FLOW), 7);
}

/// Atre 2025, figure 3.10: 35 to 50 between what ends before and what begins after.
#[test]
fn figure_3_10() {
    let build = |list: &mut Reassembler<List>| {
        for (from, to) in [(5, 10), (15, 30), (60, 80)] {
            take(list, from, to);
        }
    };
    let mut list = opened(0, Limits::default());
    build(&mut list);
    assert_eq!(take(&mut list, 35, 50), (steps(2, 0), 0));
    assert_eq!(list.ranges(FLOW), 4);
    assert_eq!(take(&mut list, 1, 70), (steps(0, 4), 79), "the gaps and all four");
}

#[test]
fn what_came_first_wins() {
    let mut list = opened::<List>(0, Limits::default());
    let mut tree = opened::<Tree>(0, Limits::default());
    let mut pieces = [Vec::new(), Vec::new()];
    // By tag: 1 in the middle, 2 over it and more on both sides, 3 from the start into it.
    for (tag, seq, length) in [(1, 11, 10), (2, 6, 20), (3, 1, 12)] {
        let tcp = Tcp { seq, ..Tcp::default() };
        list.accept(FLOW, tcp, length, tag, |piece| pieces[0].push(piece));
        tree.accept(FLOW, tcp, length, tag, |piece| pieces[1].push(piece));
    }
    let piece = |tag, skip, length| Piece { tag, skip, length };
    assert_eq!(pieces[0], [piece(3, 0, 5), piece(2, 0, 5), piece(1, 0, 10), piece(2, 15, 5)]);
    assert_eq!(pieces[0], pieces[1]);
    assert_eq!(list.counts().released, 25);
}

#[test]
fn sequence_numbers_wrap_around() {
    let mut list = opened::<List>(u32::MAX - 3, Limits::default());
    assert_eq!(take(&mut list, 5, 10).1, 0);
    assert_eq!(take(&mut list, u32::MAX - 2, 5), (steps(0, 1), 13));
    assert_eq!(take(&mut list, u32::MAX, 10).1, 0, "old");
    assert_eq!(take(&mut list, 8, 12).1, 2);
    assert_eq!((list.counts().old, list.counts().in_order, list.counts().early), (1, 2, 1));
}

#[test]
fn a_flow_ends_and_starts_over() {
    let limits = Limits { window: 100, ..Limits::default() };
    let flag = |seq, syn, fin, rst| Tcp { seq, syn, fin, rst };
    let mut list = opened::<List>(0, limits);
    // Beyond the window the flow goes; the next segment opens it.
    take(&mut list, 50, 60);
    assert_eq!(take(&mut list, 90, 102), (steps(0, 0), 0));
    assert_eq!((list.flows(), list.pieces(), list.counts().beyond), (0, 0, 1));
    assert_eq!(take(&mut list, 200, 900).1, 700, "what is in order may be long");
    // A FIN takes effect once all before it is there; what lies after it does not count.
    take(&mut list, 950, 955);
    list.accept(FLOW, flag(955, false, true, false), 5, 0, |_| {});
    assert_eq!(take(&mut list, 960, 970).1, 0);
    assert_eq!((list.flows(), list.counts().old), (1, 1));
    assert_eq!(take(&mut list, 900, 950).1, 60);
    assert_eq!((list.flows(), list.pieces()), (0, 0));
    // An RST counts within the window only.
    take(&mut list, 1000, 1010);
    list.accept(FLOW, flag(1111, false, false, true), 0, 0, |_| {});
    list.accept(FLOW, flag(1009, false, false, true), 0, 0, |_| {});
    assert_eq!(list.flows(), 1);
    list.accept(FLOW, flag(1110, false, false, true), 0, 0, |_| {});
    assert_eq!(list.flows(), 0);
    // Nothing is remembered for an acknowledgement; a SYN starts over.
    list.accept(FLOW, flag(1, false, true, false), 0, 0, |_| {});
    assert_eq!(list.flows(), 0);
    take(&mut list, 1000, 1010);
    take(&mut list, 1020, 1030);
    list.accept(FLOW, flag(5000, true, false, false), 0, 0, |_| {});
    assert_eq!((list.flows(), list.pieces()), (1, 0));
    assert_eq!(take(&mut list, 5001, 5002).1, 1);
}

#[test]
fn the_least_recently_used_flow_goes_first() {
    let at = |seq| Tcp { seq, ..Tcp::default() };
    let mut list = Reassembler::<List>::new(Limits { flows: 2, ..Limits::default() }).unwrap();
    for flow in [1, 2] {
        list.accept(flow, at(0), 1, 0, |_| {});
        list.accept(flow, at(5), 1, 0, |_| {});
    }
    list.accept(1, at(0), 1, 0, |_| {});
    list.accept(3, at(0), 1, 0, |_| {});
    assert_eq!((list.ranges(1), list.ranges(2), list.counts().evicted), (1, 0, 1));

    let mut list = Reassembler::<List>::new(Limits { pieces: 3, ..Limits::default() }).unwrap();
    for flow in [1, 2] {
        for seq in [0, 5, 10] {
            list.accept(flow, at(seq), 1, 0, |_| {});
        }
    }
    assert_eq!((list.ranges(1), list.ranges(2), list.pieces(), list.flows()), (0, 2, 2, 1));
}

#[test]
fn limits_have_to_make_sense() {
    let refused = |limits| Reassembler::<List>::new(limits).map(|_| ()).unwrap_err().to_string();
    let limits = Limits::default();
    assert_eq!(refused(Limits { window: 0, ..limits }), "expected a window of 1 to 1073741824 bytes, got 0");
    assert_eq!(
        refused(Limits { pieces: 1 << 31, ..limits }),
        "expected room for 1 to 1073741824 pieces, got 2147483648"
    );
    assert!(refused(Limits { flows: 0, ..limits }).ends_with("flows, got 0"));
}
