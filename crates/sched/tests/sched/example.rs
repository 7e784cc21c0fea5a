//! The examples of `docs/concepts/sched.md` and `docs/findings/sched.md`, as they are worked there by hand.

use trueplane_sched::bounds::{greedy, optimal, uniform, unpifoness};
use trueplane_sched::policy::{Adaptation, Fifo, Gradient, Pifo, PushDown, SpPifo};
use trueplane_sched::{Banked, Packet, Scheduler};
use trueplane_testing::page::rows;
use trueplane_units::{Nanos, Rank};

fn packet(rank: u64) -> Packet {
    Packet { rank: Rank(rank), flow: 0, bytes: 1500, handle: 0, arrival: Nanos(0) }
}

fn numbers(list: &[u64]) -> String {
    let texts: Vec<String> = list.iter().map(u64::to_string).collect();
    texts.join(", ")
}

/// What leaves after all of `ranks` have come, and by how much each is an inversion.
fn leaves(mut scheduler: impl Scheduler, ranks: &[u64]) -> Vec<(u64, u64)> {
    for &rank in ranks {
        assert_eq!(scheduler.enqueue(packet(rank)), None, "there is room");
    }
    let order: Vec<u64> = std::iter::from_fn(|| scheduler.dequeue()).map(|packet| packet.rank.0).collect();
    let weight = |(place, &rank): (usize, &u64)| {
        (rank, order[place..].iter().min().map_or(0, |&smallest| rank - smallest))
    };
    order.iter().enumerate().map(weight).collect()
}

#[test]
fn the_example_comes_out_as_by_hand() {
    let mapped = rows("sched", "two queues, all bounds 0");
    let mut sp_pifo = Banked::new(2, 10, SpPifo::new(2, PushDown::Cost).unwrap()).unwrap();
    let mut ranks = Vec::new();
    for row in &mapped {
        let rank = row[0].parse().expect("a rank");
        let before = [0, 1].map(|queue| sp_pifo.bank().len_of(queue));
        assert_eq!(sp_pifo.enqueue(packet(rank)), None);
        let queue = (0..2).find(|&queue| sp_pifo.bank().len_of(queue) > before[queue]).expect("it waits");
        assert_eq!([(queue + 1).to_string(), numbers(sp_pifo.mapper().bounds())], row[1..3], "{row:?}");
        ranks.push(rank);
    }
    assert_eq!(ranks.len(), 8);

    let fifo = leaves(Banked::new(1, 20, Fifo).unwrap(), &ranks);
    let sp_pifo = Banked::new(2, 10, SpPifo::new(2, PushDown::Cost).unwrap()).unwrap();
    let found = [fifo, leaves(sp_pifo, &ranks), leaves(Pifo::new(20).unwrap(), &ranks)];
    let left = rows("sched", "what leaves");
    let [places @ .., inversions, weights] = &left[..] else { panic!("no rows") };
    assert_eq!(places.len(), ranks.len());
    for (column, found) in found.iter().enumerate() {
        for (row, &(rank, weight)) in places.iter().zip(found) {
            let cell = if weight > 0 { format!("{rank} (+{weight})") } else { rank.to_string() };
            assert_eq!(row[1 + column], cell, "{row:?}");
        }
        let inverted = found.iter().filter(|(_, weight)| *weight > 0).count();
        assert_eq!(inversions[1 + column], inverted.to_string());
        assert_eq!(weights[1 + column], found.iter().map(|(_, weight)| weight).sum::<u64>().to_string());
    }
}

#[test]
fn greedy_stops_where_the_page_says() {
    const COUNTS: [u64; 5] = [1, 1, 4, 4, 3];
    let rows = rows("sched", "counts 1, 1, 4, 4, 3 on four queues");
    let bounds_of =
        |cell: &str| -> Vec<u64> { cell.split(", ").map(|bound| bound.parse().expect("a bound")).collect() };
    for row in &rows {
        assert_eq!(unpifoness(&COUNTS, &bounds_of(&row[0])).to_string(), row[2], "{row:?}");
    }
    let [start, steps @ .., best] = &rows[..] else { panic!("no rows") };
    let start = bounds_of(&start[0]);
    assert_eq!(start, uniform(5, 4));
    let mut stuck = start.clone();
    greedy(&COUNTS, &mut stuck);
    assert_eq!(stuck, start);
    assert_eq!(bounds_of(&best[0]), optimal(&COUNTS, 4));
    // Every step of one bound is there, once.
    let mut every = Vec::new();
    for queue in 1..4 {
        for bound in [start[queue] - 1, start[queue] + 1] {
            let mut moved = start.clone();
            moved[queue] = bound;
            every.push(moved);
        }
    }
    let mut shown: Vec<_> = steps.iter().map(|row| bounds_of(&row[0])).collect();
    shown.sort_unstable();
    every.sort_unstable();
    assert_eq!(shown, every);

    // Nor do packets move it, as the gradient sees them.
    let mut gradient = Banked::new(4, 1, Gradient::new(4, 5, 13, Adaptation::OneStep).unwrap()).unwrap();
    for (rank, count) in (0..).zip(COUNTS) {
        for _ in 0..count {
            gradient.enqueue(packet(rank));
        }
    }
    assert_eq!(gradient.mapper().bounds(), start);
}
