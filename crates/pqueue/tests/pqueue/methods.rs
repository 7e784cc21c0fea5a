//! What a program may do with every queue, without a trait in scope.

use std::fmt::Debug;

use trueplane_pqueue::window::Beyond;
use trueplane_pqueue::{
    BadShape, Bbq, Curve, FifoBank, Gradient, Handle, Heap, Hffs, KineticTournament, LiveTree, OccupancyTree,
    Overflow, Partitioned, Pieo, Pifo, Refused, RollingWindow, TimerQueue, bbq,
};

/// Priorities that come, and the items in the order in which they leave.
const INSERTED: [(u64, char); 6] = [(40, 'd'), (7, 'b'), (40, 'e'), (7, 'c'), (63, 'f'), (0, 'a')];

/// Fills a queue, looks at all of it, takes out a part and clears the rest; the queue works as before after that.
macro_rules! use_queue {
    ($queue:expr, $is_sorted:literal) => {{
        let mut queue = $queue.unwrap();
        for round in 0..2 {
            for (priority, item) in INSERTED {
                assert_eq!(queue.insert(priority, item), Ok(None), "round {round}");
            }
            let mut all: Vec<(u64, char)> = queue.iter().map(|(priority, &item)| (priority, item)).collect();
            if !$is_sorted {
                all.sort_unstable();
            }
            assert_eq!(all, [(0, 'a'), (7, 'b'), (7, 'c'), (40, 'd'), (40, 'e'), (63, 'f')]);
            assert_eq!(queue.peek_min(), Some((0, &'a')));
            assert_eq!((queue.len(), queue.is_empty()), (6, false));
            assert!(queue.capacity() >= 6);
            let mut copy = queue.clone();
            assert_eq!(copy.drain().collect::<Vec<_>>(), all);
            assert!(copy.is_empty());
            // What an iterator was not asked for stays.
            assert_eq!(queue.drain().take(2).collect::<Vec<_>>(), all[..2]);
            assert_eq!(queue.extract_min(), Some(all[2]));
            assert_eq!(queue.len(), 3);
            queue.clear();
            assert_eq!((queue.len(), queue.peek_min(), queue.iter().next()), (0, None, None));
        }
    }};
}

#[test]
fn every_queue_is_looked_at_drained_and_cleared() {
    use_queue!(Hffs::<_, 1>::new(64, 10, Overflow::Refuse), true);
    use_queue!(Hffs::<_, 3>::new(5_000, 10, Overflow::DropWorst), true);
    use_queue!(RollingWindow::<_, 2>::new(64, 10, Beyond::Refuse), true);
    use_queue!(RollingWindow::<_, 3>::starting_at(0, 1_000, 10, Beyond::Last), true);
    use_queue!(Pifo::new(10, Overflow::DropIfWorst), true);
    use_queue!(FifoBank::new(64, 3), true);
    use_queue!(Gradient::new(64, 10), true);
    use_queue!(Heap::new(10), false);
}

#[test]
fn a_queue_of_several_is_looked_at_and_cleared() {
    let mut queues = Partitioned::<_, 2>::new(3, 64, 20).unwrap();
    for (queue, (priority, item)) in INSERTED.into_iter().enumerate() {
        queues.insert(queue % 2, priority, item).unwrap();
    }
    let all = |queues: &Partitioned<char, 2>, queue| {
        queues.iter(queue).map(|(priority, &item)| (priority, item)).collect::<Vec<_>>()
    };
    assert_eq!(all(&queues, 0), [(40, 'd'), (40, 'e'), (63, 'f')]);
    assert_eq!(all(&queues, 1), [(0, 'a'), (7, 'b'), (7, 'c')]);
    assert_eq!((all(&queues, 2), all(&queues, 3), all(&queues, usize::MAX)), (vec![], vec![], vec![]));
    queues.clear();
    assert_eq!((queues.len(), queues.len_of(0), all(&queues, 1)), (0, 0, vec![]));
}

#[test]
fn what_may_leave_and_what_may_not_is_looked_at_and_cleared() {
    let mut pieo = Pieo::new(3).unwrap();
    pieo.insert(4, 10, "later").unwrap();
    pieo.insert(9, 0, "now").unwrap();
    let mut all: Vec<_> = pieo.iter().map(|(rank, &item)| (rank, item)).collect();
    all.sort_unstable();
    assert_eq!(all, [(4, "later"), (9, "now")]);
    pieo.clear();
    assert_eq!((pieo.len(), pieo.next_eligible(20), pieo.iter().next()), (0, None, None));
}

#[test]
fn a_name_given_before_a_queue_was_cleared_finds_nothing_after() {
    let mut queue = Hffs::<_, 1>::new(64, 2, Overflow::Refuse).unwrap();
    let old = queue.insert_named(3, 'x').unwrap().handle.unwrap();
    queue.clear();
    queue.insert(3, 'y').unwrap();
    assert_eq!(queue.find(old), None);
    assert_eq!(queue.remove(old), None);
    let mut timers = TimerQueue::new(0, 2).unwrap();
    let old = timers.insert(3, 'x').unwrap();
    timers.clear();
    timers.insert(3, 'y').unwrap();
    assert_eq!(timers.find(old), None);
    assert_eq!((timers.cancel(old), timers.len()), (None, 1));
}

#[test]
fn queues_print_what_waits_in_them() {
    let mut queue = Hffs::<_, 3>::new(100_000, 1_000, Overflow::Refuse).unwrap();
    queue.insert(70_000, "late").unwrap();
    queue.insert(5, "soon").unwrap();
    assert_eq!(format!("{queue:?}"), r#"Hffs { overflow: Refuse, buckets: {5: "soon", 70000: "late"} }"#);
    assert_eq!(format!("{:?}", queue.occupancy()), "{5: 1, 70000: 1}");
}

#[derive(Clone, Debug)]
struct Flat;

impl Curve for Flat {
    type Instant = u64;
    fn beats(&self, _other: &Self, _now: u64) -> bool {
        true
    }
    fn holds_until(&self, _other: &Self, _now: u64) -> u64 {
        u64::MAX
    }
}

/// A queue that is not all of this is an error when the tests are compiled.
const fn is_usual<T: Clone + Debug + Send + Sync + 'static>() {}
const fn is_error<E: std::error::Error + Send + Sync + 'static>() {}

const _: () = {
    is_usual::<Hffs<u8>>();
    is_usual::<Partitioned<u8>>();
    is_usual::<RollingWindow<u8>>();
    is_usual::<TimerQueue<u8>>();
    is_usual::<FifoBank<u8>>();
    is_usual::<Gradient<u8>>();
    is_usual::<Heap<u8>>();
    is_usual::<Pieo<u8>>();
    is_usual::<Pifo<u8>>();
    is_usual::<OccupancyTree<2>>();
    is_usual::<KineticTournament<Flat>>();
    is_usual::<LiveTree<Flat>>();
    is_usual::<Bbq>();
    is_usual::<Handle>();
    is_usual::<Overflow>();
    is_usual::<Beyond>();
    is_error::<BadShape>();
    is_error::<Refused<u8>>();
    is_error::<bbq::BadPort>();
};
