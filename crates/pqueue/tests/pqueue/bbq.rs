//! The software model of the hardware queue against a sorted vector for every partition, and against `Partitioned`.

use proptest::prelude::*;
use trueplane_pqueue::Partitioned;
use trueplane_pqueue::bbq::{Bbq, Operation, Response, Shape, Status};

use crate::hardware::{of_partitioned, response};

/// A sorted vector for every partition: priorities and data, the oldest of a priority first.
struct Naive {
    capacity: usize,
    partitions: Vec<Vec<(u32, u64)>>,
}

impl Naive {
    fn issue(&mut self, partition: u32, operation: Operation) -> Response {
        let full = self.partitions.iter().map(Vec::len).sum::<usize>() == self.capacity;
        let queue = &mut self.partitions[partition as usize];
        let taken = match operation {
            Operation::Enqueue { .. } if full => return response(Status::Full, None),
            Operation::Enqueue { priority, data } => {
                let behind = queue.partition_point(|&(other, _)| other <= priority);
                queue.insert(behind, (priority, data));
                return response(Status::Ok, None);
            }
            Operation::DequeueMin => (!queue.is_empty()).then(|| queue.remove(0)),
            Operation::DequeueMax => {
                let largest = queue.last().map(|&(priority, _)| priority);
                largest.map(|it| queue.remove(queue.partition_point(|&(priority, _)| priority < it)))
            }
        };
        response(if taken.is_some() { Status::Ok } else { Status::Empty }, taken)
    }
}

/// Issues the operations to all three, and looks into the model after each.
fn follow(shape: Shape, operations: impl IntoIterator<Item = (u32, Operation)>) {
    let mut bbq = Bbq::new(shape).unwrap();
    let span = u64::from(bbq.layout().span());
    let mut queues = Partitioned::new(shape.partitions as usize, span, shape.capacity as usize).unwrap();
    let mut naive =
        Naive { capacity: shape.capacity as usize, partitions: vec![Vec::new(); shape.partitions as usize] };
    for (partition, operation) in operations {
        let found = bbq.issue(partition, operation).unwrap();
        assert_eq!(found, naive.issue(partition, operation), "{operation:?} on {partition}");
        assert_eq!(found, of_partitioned(&mut queues, partition, operation), "{operation:?} on {partition}");
        let occupancy = bbq.occupancy(partition) as usize;
        assert_eq!(occupancy, naive.partitions[partition as usize].len());
        assert_eq!(occupancy, queues.len_of(partition as usize));
        bbq.check().unwrap();
    }
}

fn shape(width: u32, levels: u32, capacity: u32, partitions: u32) -> Shape {
    Shape { width, levels, capacity, partitions, data_bits: 64 }
}

/// Shapes and numbers of partitions: none, some within a bitmap, as many as its bits, more, and as many as there are priorities.
const SHAPES: [(u32, u32, u32, &[u32]); 7] = [
    (2, 2, 3, &[1, 2, 4]),
    (4, 3, 15, &[1, 2, 4, 8, 16, 32, 64]),
    (8, 3, 63, &[1, 4, 8, 16, 128, 512]),
    (32, 2, 31, &[1, 8, 32, 128, 1024]),
    (64, 2, 5, &[1, 64, 512]),
    (2, 1, 1, &[1, 2]),
    (2, 5, 8, &[1, 2, 8, 32]),
];

/// Raw material for operations: a choice, a partition, a priority.
type Draw = (u8, u32, u32);

/// Operations on `partitions` of `span` priorities; the more `crowded`, the fewer buckets they fall on.
fn operations(draws: &[Draw], shape: Shape, crowded: bool) -> Vec<(u32, Operation)> {
    let span = shape.width.pow(shape.levels) / shape.partitions;
    let few = |number: u32, all: u32| if crowded { number % all.min(2) } else { number % all };
    let operation = |(data, &(choice, partition, priority)): (u64, &Draw)| {
        let operation = match choice {
            0..=1 => Operation::DequeueMin,
            2..=3 => Operation::DequeueMax,
            _ => Operation::Enqueue { priority: few(priority, span), data },
        };
        (few(partition, shape.partitions), operation)
    };
    (0..).zip(draws).map(operation).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Half of the operations enqueue, so that the queue is about as often full as it is empty.
    #[test]
    fn every_shape_is_a_sorted_vector_for_every_partition(
        draws in prop::collection::vec((0..8u8, any::<u32>(), any::<u32>()), 1..150),
        crowded in any::<bool>(),
    ) {
        for (width, levels, capacity, partitions) in SHAPES {
            for &partitions in partitions {
                let shape = shape(width, levels, capacity, partitions);
                follow(shape, operations(&draws, shape, crowded));
            }
        }
    }
}

/// Fill beyond the capacity, alternate at the last element, and drain beyond nothing: on one bucket, and over all partitions.
#[test]
fn the_edges_are_met() {
    use Operation::{DequeueMax, DequeueMin};
    for (width, levels, capacity, partitions) in SHAPES {
        for &partitions in partitions {
            let shape = shape(width, levels, capacity, partitions);
            let span = Bbq::new(shape).unwrap().layout().span();
            let enqueue = |priority: u32, data: u32| Operation::Enqueue { priority, data: data.into() };
            let last = partitions - 1;
            let one_bucket = (0..capacity + 2).map(|data| (last, enqueue(span - 1, data)));
            let drain = (0..capacity + 2).map(|n| (last, if n % 2 == 0 { DequeueMax } else { DequeueMin }));
            let single =
                [enqueue(0, 1), DequeueMax, DequeueMax, enqueue(span - 1, 2), DequeueMin, DequeueMin];
            let switching = (0..3 * capacity).flat_map(|n| {
                let partition = n % partitions;
                let other = (n + 1) % partitions;
                [(partition, enqueue(n % span, n)), (other, DequeueMax), (partition, enqueue(span - 1, n))]
            });
            let emptied = (0..2 * partitions.max(capacity)).map(|n| (n % partitions, DequeueMin));
            let all = one_bucket.chain(drain).chain(single.map(|operation| (0, operation)));
            follow(shape, all.chain(switching).chain(emptied));
        }
    }
}

#[test]
fn what_no_port_could_carry_is_refused() {
    let mut bbq = Bbq::new(Shape { data_bits: 8, ..shape(4, 2, 3, 2) }).unwrap();
    let enqueue = |priority, data| Operation::Enqueue { priority, data };
    let mut refused = |partition, operation| bbq.issue(partition, operation).unwrap_err().to_string();
    assert_eq!(refused(2, Operation::DequeueMin), "expected a partition from 0 to 1, got 2");
    assert_eq!(refused(1, enqueue(8, 0)), "expected a priority from 0 to 7, got 8");
    assert_eq!(refused(1, enqueue(7, 256)), "expected data from 0 to 255, got 256");
    assert_eq!((bbq.occupancy(1), bbq.occupancy(2)), (0, 0));
    assert!(bbq.issue(1, enqueue(7, 255)).is_ok());
    assert!(Bbq::new(shape(4, 2, 0, 2)).is_err());
}
