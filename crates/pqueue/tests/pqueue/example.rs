//! The examples of `docs/concepts/pqueue.md` and `docs/findings/pqueue.md`, as they are worked there by hand.

use trueplane_pqueue::bbq::{Bbq, Layout, MemoryName, Operation, Shape, Status};
use trueplane_pqueue::{Hffs, Overflow, Refused};
use trueplane_testing::page::rows;

/// Where its table shows counts: the root, and the bitmaps on the way to priority 22.
const SHOWN: [(u32, usize); 3] = [(1, 0), (2, 1), (3, 5)];

/// Checks the counts of a row, and that the bits over them are set where they are not 0.
fn check_counts(bbq: &Bbq, cells: &[String]) {
    for (&(level, bitmap), cell) in SHOWN.iter().zip(cells) {
        let below_waterlevel = (1 << bbq.layout().count_bits()) - 1;
        let stoc = |bit| bbq.word(MemoryName::Stoc(level), bitmap * 4 + bit).unwrap() & below_waterlevel;
        let counts = [0, 1, 2, 3].map(stoc);
        assert_eq!(counts.map(|count| count.to_string()).join(" "), *cell, "level {level}");
        let bits = (0..4).filter(|&bit| counts[bit] > 0).map(|bit| 1 << bit).sum::<u64>();
        assert_eq!(bbq.word(MemoryName::Bitmap(level), bitmap), Some(bits), "level {level}");
    }
}

#[test]
fn the_example_comes_out_as_by_hand() {
    let shape = Shape { width: 4, levels: 3, capacity: 4, partitions: 1, data_bits: 8 };
    let mut bbq = Bbq::new(shape).unwrap();
    let mut hffs: Hffs<char, 1> = Hffs::new(64, 4, Overflow::Refuse).unwrap();
    let rows = rows("pqueue", "width 4, levels 3, capacity 4");
    assert_eq!(rows.len(), 10);
    for row in &rows {
        let [operation, answer, counts @ ..] = &row[..] else { panic!("{row:?}") };
        let words: Vec<&str> = operation.split(' ').collect();
        let (found, of_hffs) = match words[..] {
            ["insert", name, "at", priority] => {
                let (name, priority) = (name.parse::<char>().unwrap(), priority.parse().unwrap());
                let insert = Operation::Enqueue { priority, data: name.into() };
                (bbq.issue(0, insert).unwrap(), hffs.insert(priority.into(), name))
            }
            ["extract", "min"] => (bbq.issue(0, Operation::DequeueMin).unwrap(), Ok(hffs.extract_min())),
            ["extract", "max"] => (bbq.issue(0, Operation::DequeueMax).unwrap(), Ok(hffs.extract_max())),
            _ => panic!("{row:?}"),
        };
        let named = match (found.status, found.data as u8) {
            (Status::Ok, 0) => String::new(),
            (Status::Ok, data) => format!("{} at {}", char::from(data), found.priority),
            (status, _) => format!("{status:?}").to_lowercase(),
        };
        assert_eq!(named, *answer, "{row:?}");
        let of_hffs = match of_hffs {
            Ok(Some((priority, name))) => format!("{name} at {priority}"),
            Ok(None) if words[0] == "insert" => String::new(),
            Ok(None) => "empty".to_owned(),
            Err(Refused::Full(_)) => "full".to_owned(),
            Err(refused) => panic!("{refused}"),
        };
        assert_eq!(of_hffs, *answer, "{row:?}");
        check_counts(&bbq, counts);
    }
}

#[test]
fn full_queues_drop_what_the_page_says() {
    let rows = rows("pqueue", "overflow, a at 10, b at 20, c at 20");
    assert_eq!(rows.len(), 3);
    for (column, rule) in
        [Overflow::Refuse, Overflow::DropWorst, Overflow::DropIfWorst].into_iter().enumerate()
    {
        let mut queue: Hffs<String, 1> = Hffs::new(64, 3, rule).unwrap();
        for (priority, name) in [(10, "a"), (20, "b"), (20, "c")] {
            assert_eq!(queue.insert(priority, name.to_owned()), Ok(None));
        }
        for row in &rows {
            let (name, priority) = row[0].split_once(" at ").expect("what comes");
            let dropped = match queue.insert(priority.parse().unwrap(), name.to_owned()) {
                Ok(displaced) => displaced.expect("it was full").1,
                Err(refused) => refused.into_item(),
            };
            assert_eq!(format!("drops {dropped}"), row[1 + column], "{rule:?}: {row:?}");
        }
    }
}

#[test]
fn the_memories_are_those_of_the_page() {
    let rows = rows("pqueue", "memories of width 8, levels 3, capacity 1023, partitions 1, data_bits 16");
    let shape = Shape { width: 8, levels: 3, capacity: 1023, partitions: 1, data_bits: 16 };
    let memories = Layout::new(shape).unwrap().memories();
    assert_eq!(memories.len(), rows.len());
    for (memory, row) in memories.iter().zip(&rows) {
        let found = [memory.name.to_string(), memory.words.to_string(), memory.bits.to_string()];
        assert_eq!(found, row[..3]);
    }
}
