//! Worked examples, and shapes that no queue can have.

use trueplane_pqueue::window::Beyond;
use trueplane_pqueue::{
    BadShape, FifoBank, Gradient, Heap, Hffs, OccupancyTree, Overflow, Partitioned, Pieo, Pifo, Refused,
    RollingWindow,
};

fn refuses<Q>(result: Result<Q, BadShape>, message: &str) {
    assert_eq!(result.err().map(|error| error.to_string()).as_deref(), Some(message));
}

#[test]
fn impossible_shapes_are_refused_in_one_line() {
    let rule = Overflow::Refuse;
    refuses(Hffs::<u8, 1>::new(0, 1, rule), "expected a span from 1 to 64, got 0");
    refuses(Hffs::<u8, 1>::new(65, 1, rule), "expected a span from 1 to 64, got 65");
    refuses(Hffs::<u8, 2>::new(4_097, 1, rule), "expected a span from 1 to 4096, got 4097");
    refuses(Hffs::<u8, 3>::new(262_145, 1, rule), "expected a span from 1 to 262144, got 262145");
    refuses(Hffs::<u8, 4>::new(1 << 25, 1, rule), "expected a span from 1 to 16777216, got 33554432");
    refuses(Hffs::<u8>::new(1, 0, rule), "expected a capacity from 1 to 268435456, got 0");
    refuses(Hffs::<u8>::new(1, 1 << 29, rule), "expected a capacity from 1 to 268435456, got 536870912");
    refuses(OccupancyTree::<2>::new(u64::MAX), "expected a span from 1 to 4096, got 18446744073709551615");
    refuses(Partitioned::<u8>::new(0, 1, 1), "expected a number of queues from 1 to 262144, got 0");
    refuses(Partitioned::<u8, 1>::new(3, 22, 1), "expected a span for each queue from 1 to 21, got 22");
    refuses(Partitioned::<u8, 1>::new(65, 1, 1), "expected a number of queues from 1 to 64, got 65");
    assert!(Partitioned::<u8>::new(1, 0, 1).is_err() && Partitioned::<u8>::new(1, 1, 0).is_err());
    for beyond in [Beyond::Refuse, Beyond::Last] {
        assert!(RollingWindow::<u8, 1>::new(32, 1, beyond).is_ok());
        assert!(RollingWindow::<u8, 1>::new(33, 1, beyond).is_err());
        assert!(RollingWindow::<u8, 1>::new(u64::MAX, 1, beyond).is_err());
        assert!(RollingWindow::<u8>::new(0, 1, beyond).is_err());
        assert!(RollingWindow::<u8>::new(1, 0, beyond).is_err());
    }
    let capacity = "expected a capacity from 1 to 268435456, got 0";
    refuses(Pifo::<u8>::new(0, rule), capacity);
    refuses(Heap::<u8>::new(0), capacity);
    refuses(Pieo::<u8>::new(0), capacity);
    refuses(Gradient::<u8>::new(1, 0), capacity);
    let most = "expected a capacity from 1 to 268435456, got 18446744073709551615";
    refuses(Pifo::<u8>::new(usize::MAX, rule), most);
    refuses(Heap::<u8>::new(usize::MAX), most);
    refuses(Pieo::<u8>::new(usize::MAX), most);
    refuses(Gradient::<u8>::new(1, usize::MAX), most);
    refuses(Gradient::<u8>::new(1_025, 1), "expected a span from 1 to 1024, got 1025");
    assert!(FifoBank::<u8>::new(0, 1).is_err() && FifoBank::<u8>::new(1, 0).is_err());
}

#[test]
fn the_name_of_an_item_that_has_left_finds_nothing() {
    let mut queue = Hffs::<_, 1>::new(64, 2, Overflow::DropIfWorst).unwrap();
    let mut named = |priority, item| {
        queue.insert_named(priority, item).map(|inserted| (inserted.handle, inserted.displaced))
    };
    let (first, _) = named(5, "first").unwrap();
    let (second, _) = named(9, "second").unwrap();
    // What goes at once has no name; what is dropped loses its own.
    assert_eq!(named(9, "too late"), Ok((None, Some((9, "too late")))));
    let (third, dropped) = named(3, "third").unwrap();
    assert_eq!(dropped, Some((9, "second")));
    let [first, second, third] = [first, second, third].map(|handle| handle.expect("it stayed"));
    assert_eq!(queue.find(second), None);
    assert_eq!(queue.remove(second), None);
    assert_eq!(queue.remove(first), Some((5, "first")));
    assert_eq!(queue.remove(first), None);
    // The place is taken again, under another name.
    let fourth = queue.insert_named(5, "fourth").unwrap().handle.expect("it stayed");
    assert_eq!(queue.find(first), None);
    assert_eq!(queue.remove(first), None);
    assert_eq!(queue.extract_min(), Some((3, "third")));
    assert_eq!(queue.remove(third), None);
    assert_eq!(queue.find(fourth), Some((5, &"fourth")));
    assert_eq!((queue.extract_max(), queue.remove(fourth), queue.len()), (Some((5, "fourth")), None, 0));
}

#[test]
fn any_queue_may_take_all_places() {
    let mut queues = Partitioned::<_, 2>::new(3, 70, 4).unwrap();
    for item in 0..4 {
        queues.insert(1, 69, item).unwrap();
    }
    // The neighbours see nothing of it, but have no place.
    assert_eq!([0, 1, 2].map(|queue| queues.len_of(queue)), [0, 4, 0]);
    assert_eq!((queues.peek_min(0), queues.peek_max(2)), (None, None));
    assert_eq!(queues.insert(0, 0, 9).unwrap_err(), Refused::Full(9));
    assert_eq!(queues.insert(0, 70, 9).unwrap_err(), Refused::OutOfSpan(9));
    assert_eq!(queues.insert(3, 0, 9).unwrap_err(), Refused::OutOfSpan(9));
    assert_eq!((queues.extract_min(1), queues.extract_max(1)), (Some((69, 0)), Some((69, 1))));
    let last = queues.insert(0, 69, 5).unwrap();
    queues.insert(2, 0, 6).unwrap();
    assert_eq!((queues.extract_min(3), queues.len_of(3)), (None, 0));
    assert_eq!((queues.peek_max(0), queues.peek_min(2)), (Some((69, &5)), Some((0, &6))));
    assert_eq!(queues.remove(last), Some((0, 69, 5)));
    assert_eq!([0, 1, 2].map(|queue| queues.len_of(queue)), [0, 2, 1]);
}

/// A timer that is due at 1,000 must not be taken for one that is due at 599,040.
#[test]
fn what_comes_before_a_window_that_jumped_ahead_is_refused() {
    let mut queue = RollingWindow::<_, 3>::new(1024, 10, Beyond::Refuse).unwrap();
    assert_eq!(queue.insert(600_000, "far"), Ok(None));
    assert_eq!(queue.insert(1_000, "near"), Err(Refused::OutOfSpan("near")));
    assert_eq!(queue.extract_min(), Some((600_000, "far")));
    // Now it is late, and goes before all that is still to come.
    assert_eq!(queue.insert(601_000, "next"), Ok(None));
    assert_eq!(queue.insert(1_000, "late"), Ok(None));
    assert_eq!(queue.extract_min().map(|(_, item)| item), Some("late"));

    let mut queue = RollingWindow::<_, 3>::new(1024, 10, Beyond::Last).unwrap();
    assert_eq!(queue.insert(600_000, "far"), Ok(None));
    assert_eq!(queue.insert(1_000, "near"), Ok(None));
    assert_eq!(queue.extract_min(), Some((599_040, "near")));
}

#[test]
fn items_that_are_late_wait_at_the_beginning_of_the_window() {
    let mut queue = RollingWindow::<_, 1>::new(10, 8, Beyond::Refuse).unwrap();
    queue.insert(30, "served").unwrap();
    assert_eq!(queue.insert(35, "on time"), Ok(None));
    assert_eq!(queue.extract_min(), Some((30, "served")));
    assert_eq!(queue.window(), (30, 20));
    for (priority, item) in [(31, "after"), (30, "at the beginning"), (29, "late"), (3, "very late")] {
        assert_eq!(queue.insert(priority, item), Ok(None));
    }
    let order = std::iter::from_fn(|| queue.extract_min().map(|(_, item)| item)).collect::<Vec<_>>();
    assert_eq!(order, ["at the beginning", "late", "very late", "after", "on time"]);
}

#[test]
fn items_beyond_the_window_are_refused_or_wait_at_its_end() {
    for beyond in [Beyond::Refuse, Beyond::Last] {
        let mut queue = RollingWindow::<_, 1>::new(10, 8, beyond).unwrap();
        queue.insert(5, "first").unwrap();
        queue.insert(19, "last").unwrap();
        let far = queue.insert(1_000, "far");
        if beyond == Beyond::Refuse {
            assert_eq!(far, Err(Refused::OutOfSpan("far")));
            assert_eq!(queue.peek_max().map(|(_, item)| *item), Some("last"));
        } else {
            assert_eq!(far, Ok(None));
            assert_eq!(queue.insert(21, "nearer"), Ok(None));
            assert_eq!(queue.window(), (0, 20));
            let order = std::iter::from_fn(|| queue.extract_min().map(|(_, item)| item)).collect::<Vec<_>>();
            assert_eq!(order, ["first", "last", "far", "nearer"]);
        }
    }
}

#[test]
fn an_empty_window_jumps_to_any_priority_above() {
    let mut queue = RollingWindow::<_, 1>::new(10, 8, Beyond::Refuse).unwrap();
    for priority in [123, 1 << 40, u64::MAX - 1, u64::MAX] {
        assert_eq!(queue.insert(priority, ()), Ok(None));
        assert_eq!(queue.window(), (priority / 10 * 10, 20));
        assert_eq!((queue.peek_min(), queue.peek_max()), (Some((priority, &())), Some((priority, &()))));
        assert_eq!(queue.extract_min(), Some((priority, ())));
    }
}
