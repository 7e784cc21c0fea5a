//! Holds the model of the hardware queue to the committed vectors, as a circuit is held to them, and the vectors to `Partitioned`.

use std::collections::BTreeSet;
use std::path::Path;

use serde::Deserialize;
use trueplane_pqueue::Partitioned;
use trueplane_pqueue::bbq::{Bbq, Operation, Response, Shape, Status};

use crate::hardware::of_partitioned;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Vectors {
    columns: Vec<String>,
    cases: Vec<Case>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    name: String,
    width: u32,
    levels: u32,
    capacity: u32,
    partitions: u32,
    data_bits: u32,
    operations: Vec<Line>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Name {
    Enqueue,
    Min,
    Max,
}

#[derive(Deserialize)]
#[serde(remote = "Status", rename_all = "lowercase")]
enum Answer {
    Ok,
    Full,
    Empty,
}

/// An operation in the order of the columns.
#[derive(Deserialize)]
struct Line(Name, u32, u32, u64, #[serde(with = "Answer")] Status, u32, u64, u32);

impl Line {
    fn operation(&self) -> Operation {
        let &Line(name, _, priority, data, ..) = self;
        match name {
            Name::Enqueue => Operation::Enqueue { priority, data },
            Name::Min => Operation::DequeueMin,
            Name::Max => Operation::DequeueMax,
        }
    }

    fn response(&self) -> Response {
        let &Line(.., status, priority, data, _) = self;
        Response { status, priority, data }
    }
}

const COLUMNS: [&str; 8] =
    ["operation", "partition", "priority", "data", "status", "priority_out", "data_out", "occupancy"];

fn read() -> Vec<Case> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../vectors/pqueue/bbq.json");
    let text = std::fs::read_to_string(&path).expect("the vectors are committed");
    let vectors: Vectors = serde_json::from_str(&text).expect("the vectors are well-formed");
    assert_eq!(vectors.columns, COLUMNS);
    vectors.cases
}

fn shape(case: &Case) -> Shape {
    let &Case { width, levels, capacity, partitions, data_bits, .. } = case;
    Shape { width, levels, capacity, partitions, data_bits }
}

#[test]
fn every_kind_of_operation_and_shape_occurs() {
    let cases = read();
    let names: BTreeSet<&str> = cases.iter().map(|case| case.name.as_str()).collect();
    assert_eq!(names.len(), cases.len(), "every case has a name of its own");
    let lines = || cases.iter().flat_map(|case| &case.operations);
    assert!(lines().count() > 5_000);
    let kinds: BTreeSet<(Name, Status)> = lines().map(|line| (line.0, line.4)).collect();
    let expected = [
        (Name::Enqueue, Status::Ok),
        (Name::Enqueue, Status::Full),
        (Name::Min, Status::Ok),
        (Name::Min, Status::Empty),
        (Name::Max, Status::Ok),
        (Name::Max, Status::Empty),
    ];
    assert_eq!(kinds, BTreeSet::from(expected));
    let some = |holds: &dyn Fn(&Case) -> bool| cases.iter().any(holds);
    assert!(some(&|case| case.partitions == 1));
    assert!(some(&|case| 1 < case.partitions && case.partitions < case.width));
    assert!(some(&|case| case.partitions > case.width));
    assert!(some(&|case| case.partitions == case.width.pow(case.levels)));
    for issue in [(2, 2, 3), (4, 3, 15), (8, 3, 1023), (32, 3, 16383)] {
        assert!(some(&|case| (case.width, case.levels, case.capacity) == issue), "{issue:?}");
    }
}

#[test]
fn the_model_follows_the_vectors() {
    for case in read() {
        let mut bbq = Bbq::new(shape(&case)).unwrap();
        for (index, line) in case.operations.iter().enumerate() {
            let found = bbq.issue(line.1, line.operation()).unwrap();
            assert_eq!(found, line.response(), "{}: operation {index}", case.name);
            assert_eq!(bbq.occupancy(line.1), line.7, "{}: operation {index}", case.name);
            // All memories of large queues are much to look at.
            if index % 16 == 0 || case.capacity < 100 {
                bbq.check().unwrap_or_else(|wrong| panic!("{}: operation {index}: {wrong}", case.name));
            }
        }
    }
}

/// Another implementation gives the same answers.
#[test]
fn partitioned_queues_follow_the_vectors() {
    for case in read() {
        let span = u64::from(case.width.pow(case.levels) / case.partitions);
        let mut queues = Partitioned::new(case.partitions as usize, span, case.capacity as usize).unwrap();
        for (index, line) in case.operations.iter().enumerate() {
            let found = of_partitioned(&mut queues, line.1, line.operation());
            assert_eq!(found, line.response(), "{}: operation {index}", case.name);
            assert_eq!(queues.len_of(line.1 as usize) as u32, line.7, "{}: operation {index}", case.name);
        }
    }
}
