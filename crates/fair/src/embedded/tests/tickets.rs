//! Tickets of the caller, tasks that were found running, and another half-life.

use trueplane_units::Nanos;

use super::{SECOND, scheduler};
use crate::Memory;
use crate::embedded::{ScheduleError, SdrfScheduler};

/// Two that are told of the same tasks in other orders agree on who is next.
#[test]
fn tickets_of_the_caller_decide_among_equals() {
    let tasks = [(0, 10, 5), (1, 11, 3), (1, 12, 9), (2, 13, 4), (0, 14, 1)];
    let started = |order: &[usize]| {
        let mut scheduler = scheduler();
        for &place in order {
            let (user, task, ticket) = tasks[place];
            scheduler.submit_with_ticket(user, task, &[1, 1], ticket, Nanos(1)).unwrap();
        }
        let order = scheduler.order(Nanos(2)).unwrap();
        let started: Vec<_> = std::iter::from_fn(|| scheduler.next(Nanos(2)).unwrap()).collect();
        assert_eq!(started[0].0, order[0]);
        (order, started)
    };
    let (order, tasks_started) = started(&[0, 1, 2, 3, 4]);
    assert_eq!(order, [0, 1, 2]);
    // All have nothing; then user 2 of weight 2 has half as much as the others.
    assert_eq!(tasks_started, [(0, 14), (1, 11), (2, 13), (0, 10), (1, 12)]);
    assert_eq!(started(&[4, 3, 2, 1, 0]), (order, tasks_started));
    let mut scheduler = scheduler();
    scheduler.submit_with_ticket(0, 1, &[1, 1], 7, Nanos(0)).unwrap();
    assert_eq!(scheduler.submit_with_ticket(0, 2, &[1, 1], 7, Nanos(0)), Err(ScheduleError::Ticket(7)));
    assert_eq!(
        scheduler.submit_with_ticket(0, 2, &[1, 1], 1 << 62, Nanos(0)),
        Err(ScheduleError::Ticket(1 << 62))
    );
}

/// A task that was found running counts as one that was started: nothing tells the two apart later.
#[test]
fn a_task_that_is_found_running_counts_as_one_that_was_started() {
    let mut started = scheduler();
    let mut found = started.clone();
    started.submit(1, 7, &[9, 10], Nanos(3)).unwrap();
    assert_eq!(started.next(Nanos(3)), Ok(Some((1, 7))));
    found.adopt(1, 7, &[9, 10], Nanos(3)).unwrap();
    assert_eq!(found.adopt(0, 8, &[2, 1], Nanos(3)), Err(ScheduleError::NoRoom(8)));
    assert_eq!(found.adopt(0, 7, &[1, 1], Nanos(3)), Err(ScheduleError::NameTaken(7)));
    for scheduler in [&mut started, &mut found] {
        scheduler.finish(7, Nanos(50 * SECOND)).unwrap();
    }
    assert!(started.commitments(1).unwrap()[0] > 0.1);
    assert_eq!(started.snapshot(), found.snapshot());
}

/// With another half-life, commitments go on from what they are.
#[test]
fn another_half_life_forgets_nothing_by_itself() {
    let half_life = |seconds: u64| Some(Memory::half_life(Nanos(seconds * SECOND)).unwrap());
    let mut scheduler = SdrfScheduler::new(vec![100], half_life(10)).unwrap();
    (0..2).for_each(|user| assert_eq!(scheduler.join(1, Nanos(0)), Ok(user)));
    scheduler.adopt(0, 1, &[100], Nanos(0)).unwrap();
    scheduler.finish(1, Nanos(10 * SECOND)).unwrap();
    assert_eq!(scheduler.commitments(0), Ok(vec![0.25]));
    scheduler.set_memory(half_life(1), Nanos(10 * SECOND)).unwrap();
    assert_eq!((scheduler.memory(), scheduler.commitments(0)), (half_life(1), Ok(vec![0.25])));
    scheduler.advance(Nanos(11 * SECOND)).unwrap();
    assert_eq!(scheduler.commitments(0), Ok(vec![0.125]));
    scheduler.adopt(1, 2, &[100], Nanos(11 * SECOND)).unwrap();
    scheduler.set_memory(None, Nanos(12 * SECOND)).unwrap();
    assert_eq!((scheduler.commitments(0), scheduler.commitments(1)), (Ok(vec![0.0]), Ok(vec![0.0])));
    // What is held counts from now on, and not from before.
    scheduler.set_memory(half_life(1), Nanos(20 * SECOND)).unwrap();
    assert_eq!(scheduler.commitments(1), Ok(vec![0.0]));
    scheduler.advance(Nanos(21 * SECOND)).unwrap();
    assert_eq!(scheduler.commitments(1), Ok(vec![0.25]));
    assert!(SdrfScheduler::restore(&scheduler.snapshot()).is_ok());
}
