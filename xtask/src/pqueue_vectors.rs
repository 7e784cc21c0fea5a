//! `vectors/pqueue/bbq.json`: operations on the hardware queue, and its answers.
//!
//! The file has `columns`, the names of the fields of an operation, and `cases`. A case is a name, the parameters of the queue (`width`
//! W, `levels` D, `capacity` N, `partitions` q, `data_bits`), and the operations that are issued to it one after the other, from a
//! reset on. An operation is a line, an array in the order of `columns`:
//!
//! | column | of | what it is |
//! |---|---|---|
//! | `operation` | request | `enqueue`, `min` (DEQUEUE-MIN) or `max` (DEQUEUE-MAX) |
//! | `partition` | request | 0 to q − 1 |
//! | `priority`, `data` | request | of an enqueue; 0 of a dequeue |
//! | `status` | response | `ok`; `full` or `empty`: it could not be done, and has changed nothing |
//! | `priority_out`, `data_out` | response | of the element that was taken out; otherwise 0 |
//! | `occupancy` | after it | elements in its partition |
//!
//! A pipeline may get an operation in every cycle: the answers are those of one after the other all the same. Data are unsigned
//! numbers of up to 64 bits, which readers with floating point would round.

use std::fmt::Write as _;

use rand_xoshiro::Xoshiro256StarStar;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use trueplane_pqueue::bbq::{Bbq, Layout, Operation, Shape, Status};

/// A request without its data.
#[derive(Clone, Copy)]
enum Ask {
    Enqueue(u32),
    Min,
    Max,
}
use Ask::{Enqueue, Max, Min};

/// To which partition, and what.
type Request = (u32, Ask);

/// Shapes that differ in their partitions only, and what they are tried with.
struct Family {
    /// W, D, N.
    tree: [u32; 3],
    data_bits: u32,
    partitions: &'static [u32],
    /// Whether they are filled; otherwise they get only what does not have to fill them.
    filled: bool,
    /// The number of random operations.
    random: usize,
}

/// One partition, some of up to W, and some of more.
const FAMILIES: [Family; 7] = [
    // The ends of what can be: the smallest of everything here, the largest words and a capacity that is not 2^k − 1 at the end.
    Family { tree: [2, 1, 1], data_bits: 1, partitions: &[1], filled: true, random: 30 },
    Family { tree: [2, 2, 3], data_bits: 8, partitions: &[1, 2, 4], filled: true, random: 200 },
    Family { tree: [4, 3, 15], data_bits: 12, partitions: &[1, 2, 4, 8, 64], filled: true, random: 200 },
    Family { tree: [8, 3, 1023], data_bits: 16, partitions: &[1], filled: true, random: 500 },
    Family { tree: [8, 3, 1023], data_bits: 16, partitions: &[4, 32], filled: false, random: 500 },
    Family { tree: [32, 3, 16383], data_bits: 32, partitions: &[1, 32, 256], filled: false, random: 250 },
    Family { tree: [64, 2, 6], data_bits: 64, partitions: &[1, 64, 512], filled: true, random: 100 },
];

/// The text of `vectors/pqueue/bbq.json`.
pub(crate) fn bbq_vectors() -> String {
    let mut cases = Vec::new();
    for Family { tree: [width, levels, capacity], data_bits, partitions, filled, random } in FAMILIES {
        for &partitions in partitions {
            let shape = Shape { width, levels, capacity, partitions, data_bits };
            trials(shape, filled, random, &mut cases);
        }
    }
    let columns = r#"["operation", "partition", "priority", "data", "status", "priority_out", "data_out", "occupancy"]"#;
    format!("{{\n\"columns\": {columns},\n\"cases\": [\n{}\n]\n}}\n", cases.join(",\n"))
}

/// All cases of a shape.
fn trials(shape: Shape, filled: bool, random: usize, cases: &mut Vec<String>) {
    let layout = Layout::new(shape).expect("the shapes above can be");
    let mut case = |name: &str, requests: &[Request]| {
        if !requests.is_empty() {
            cases.push(case(name, shape, requests));
        }
    };
    case("alternating ends at the last element", &last_element(&layout));
    case("neighbours in a bitmap and across bitmaps", &neighbours(&layout));
    case("another partition with every operation", &switches(&layout));
    if filled {
        case("one bucket", &one_bucket(&layout));
        case("filled and drained", &fills(&layout));
        case("one goes and one comes while it is full", &turnover(&layout));
    }
    // A seed for each shape, so that a new one changes no other.
    let seed = [shape.width, shape.levels, shape.capacity, shape.partitions]
        .iter()
        .fold(1u64, |seed, &parameter| seed.wrapping_mul(1_000_003) + u64::from(parameter));
    case("random operations", &any(&layout, &mut Xoshiro256StarStar::seed_from_u64(seed), random));
}

/// All operations on one bucket, the last of the last partition: to N and beyond, to nothing and beyond, and about its first counts,
/// which the waterlevel bit tells apart.
fn one_bucket(layout: &Layout) -> Vec<Request> {
    let (capacity, worst) = (layout.shape().capacity, layout.span() - 1);
    // No more than shows: the other cases fill the large queues.
    let many = capacity.min(40) + 2;
    let fill = (0..many).map(|_| Enqueue(worst));
    let drain = (0..many).map(|n| if n % 2 == 0 { Min } else { Max });
    let e = Enqueue(worst);
    let counts = [e, Min, e, e, Max, e, Min, Min, e, e, e, Max, Min, e, e, Max, Max, Max, Max, e, Max, Min];
    on(layout.shape().partitions - 1, fill.chain(drain).chain(counts))
}

/// Both ends take turns at a queue of one or two elements, at the ends of the priorities and within.
fn last_element(layout: &Layout) -> Vec<Request> {
    let worst = layout.span() - 1;
    let asks = [0, worst / 2, worst].into_iter().flat_map(|priority| {
        let (a, b) = (Enqueue(priority), Enqueue(worst - priority));
        [Min, a, Max, Max, b, Min, Min, a, Min, a, Max, a, b, Max, Min, b, a, Min, Max, Max]
    });
    on(0, asks)
}

/// Two buckets side by side with one element and with two, for all places where a bitmap ends: the bit that was found is gone
/// with the next operation, or it is not. Nothing if a partition has one bucket.
fn neighbours(layout: &Layout) -> Vec<Request> {
    let (width, span) = (layout.shape().width, layout.span());
    let ends = (0..layout.shape().levels).map(|level| width.pow(level)).filter(|&at| at < span);
    let asks = ends.flat_map(|at| {
        let (a, b) = (Enqueue(at - 1), Enqueue(at));
        [a, b, b, Min, Min, Min, a, a, b, Max, Max, Max, b, a, b, Max, b, Min, a, Max, Min, Min]
    });
    on(layout.shape().partitions / 2, asks)
}

/// Filled upwards and drained from below, filled downwards and drained from above, filled in strides and drained from both ends;
/// each goes on for a while beyond what is possible.
fn fills(layout: &Layout) -> Vec<Request> {
    let (capacity, span, partitions) = (layout.shape().capacity, layout.span(), layout.shape().partitions);
    let large = capacity > 100;
    let orders: [fn(u32, u32) -> u32; 3] = [
        |n, span| n % span,
        |n, span| span - 1 - n % span,
        // An odd stride meets all priorities.
        |n, span| n * ((span / 3) | 1) % span,
    ];
    let orders = orders.into_iter().zip([[Min, Min], [Max, Max], [Min, Max]]);
    let mut requests = Vec::new();
    // Once is enough to fill a large queue.
    for (priority, ends) in orders.skip(if large { 2 } else { 0 }) {
        requests.extend((0..capacity + 3).map(|n| (n % partitions, Enqueue(priority(n, span)))));
        // Every partition beyond its last element, or, where there are many, beyond those that have any.
        let drains = ((capacity / partitions + 2) * partitions).min(2 * capacity);
        requests.extend((0..drains).map(|n| (n % partitions, ends[(n / partitions % 2) as usize])));
    }
    requests
}

/// A full queue, from which one goes before the next one comes: the free list holds none or one, and comes around. Nothing for
/// large queues, which have been filled once.
fn turnover(layout: &Layout) -> Vec<Request> {
    let (capacity, span, partitions) = (layout.shape().capacity, layout.span(), layout.shape().partitions);
    if capacity > 100 {
        return Vec::new();
    }
    let fill = (0..capacity).map(|n| (n % partitions, Enqueue(n * 5 % span)));
    let turns = (0..capacity + 2).flat_map(|n| {
        let (from, to) = (n % partitions, (n * 3 + 1) % partitions);
        let end = if n % 3 == 0 { Max } else { Min };
        [(from, end), (to, Enqueue(n * 7 % span)), (from, Enqueue(n % span))]
    });
    fill.chain(turns).collect()
}

/// Neighbouring partitions in turn: what is in one is not for the other. Nothing if there is one.
fn switches(layout: &Layout) -> Vec<Request> {
    let (span, partitions) = (layout.span(), layout.shape().partitions);
    if partitions == 1 {
        return Vec::new();
    }
    let worst = span - 1;
    // The first and the last partitions, and those about the middle, where bitmaps end.
    let mut from = vec![0, partitions / 2 - 1, partitions - 2];
    from.dedup();
    let pairs = from.into_iter().flat_map(|a| {
        let b = a + 1;
        [
            (a, Enqueue(worst)),
            (b, Max),
            (b, Min),
            (a, Min),
            (b, Enqueue(0)),
            (a, Max),
            (b, Max),
            (a, Enqueue(0)),
            (b, Enqueue(worst)),
            (a, Max),
            (b, Min),
            (a, Min),
        ]
    });
    let around = (0..12).flat_map(|n| {
        let at = n * (partitions / 2 + 1) % partitions;
        [(at, Enqueue(n % span)), ((at + 1) % partitions, if n % 2 == 0 { Min } else { Max })]
    });
    pairs.chain(around).collect()
}

/// Operations at random, in phases that fill, hold and drain, some of them on few buckets.
fn any(layout: &Layout, random: &mut Xoshiro256StarStar, count: usize) -> Vec<Request> {
    let (span, partitions) = (layout.span(), layout.shape().partitions);
    let mut below = |bound: u32| random.next_u32() % bound;
    let (mut enqueues, mut crowded) = (6, false);
    let mut requests = Vec::with_capacity(count);
    for index in 0..count {
        if index % 40 == 0 {
            (enqueues, crowded) = ([6, 4, 4, 2][index / 40 % 4], below(2) == 0);
        }
        let partition = if crowded { below(partitions.min(2)) } else { below(partitions) };
        let ask = match below(8) {
            draw if draw < enqueues && crowded => Enqueue(below(span.min(3))),
            draw if draw < enqueues => Enqueue(below(span)),
            draw if draw % 2 == 0 => Min,
            _ => Max,
        };
        requests.push((partition, ask));
    }
    requests
}

/// All on one partition.
fn on(partition: u32, asks: impl IntoIterator<Item = Ask>) -> Vec<Request> {
    asks.into_iter().map(|ask| (partition, ask)).collect()
}

/// A case with its answers.
fn case(name: &str, shape: Shape, requests: &[Request]) -> String {
    let mut bbq = Bbq::new(shape).expect("the shapes above can be");
    let Shape { width, levels, capacity, partitions, data_bits } = shape;
    let mut text = format!(
        "{{\"name\": \"w={width} d={levels} n={capacity} q={partitions}: {name}\", \"width\": {width}, \"levels\": {levels}, \
         \"capacity\": {capacity}, \"partitions\": {partitions}, \"data_bits\": {data_bits}, \"operations\": [\n"
    );
    let lines: Vec<String> =
        (1..).zip(requests).map(|(number, &request)| line(&mut bbq, number, request)).collect();
    write!(text, "{}\n]}}", lines.join(",\n")).expect("a string takes it");
    text
}

/// An operation and its answer.
fn line(bbq: &mut Bbq, number: u64, (partition, ask): Request) -> String {
    let ones = u64::MAX >> (u64::BITS - bbq.layout().shape().data_bits);
    // Times an odd number: all different, until there are no others, and all bits move.
    let data = number.wrapping_mul(0x9e37_79b9_7f4a_7c15) & ones;
    let (name, priority, data, operation) = match ask {
        Enqueue(priority) => ("enqueue", priority, data, Operation::Enqueue { priority, data }),
        Min => ("min", 0, 0, Operation::DequeueMin),
        Max => ("max", 0, 0, Operation::DequeueMax),
    };
    let answer = bbq.issue(partition, operation).expect("the ports are wide enough");
    let status = match answer.status {
        Status::Ok => "ok",
        Status::Full => "full",
        Status::Empty => "empty",
    };
    let (taken, occupancy) = (format!("{},{}", answer.priority, answer.data), bbq.occupancy(partition));
    format!(r#"["{name}",{partition},{priority},{data},"{status}",{taken},{occupancy}]"#)
}
