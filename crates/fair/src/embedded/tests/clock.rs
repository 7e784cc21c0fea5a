//! Clocks that are set, tasks that are put back, and capacities that are refused by the name of a task.

use proptest::prelude::*;
use trueplane_units::Nanos;

use super::{SECOND, scheduler};
use crate::embedded::{ScheduleError, SdrfScheduler};
use crate::{ClusterError, Memory};

/// Two users of ten machines, of which the first has held all for a half-life of a second and some time more.
fn committed(memory: Option<Memory>) -> SdrfScheduler {
    let mut scheduler = SdrfScheduler::new(vec![10], memory).unwrap();
    for _ in 0..2 {
        scheduler.join(1, Nanos(0)).unwrap();
    }
    for task in 0..10 {
        scheduler.submit(0, task, &[1], Nanos(0)).unwrap();
    }
    while scheduler.next(Nanos(0)).unwrap().is_some() {}
    scheduler.advance(Nanos(SECOND + 123_456_789)).unwrap();
    scheduler
}

fn second() -> Memory {
    Memory::half_life(Nanos(SECOND)).unwrap()
}

#[test]
fn a_clock_that_is_set_moves_no_commitment() {
    let before = committed(Some(second()));
    let commitment = before.commitments(0).unwrap()[0];
    assert!((commitment - 0.5 * (1.0 - 0.5f64.powf(1.123_456_789))).abs() < 1e-9);
    for now in [0, 1, SECOND, 31 * SECOND, 31 * SECOND - 1, 12_345 * SECOND, u64::MAX] {
        let mut scheduler = before.clone();
        scheduler.rebase(Nanos(now));
        assert_eq!(scheduler.now(), Nanos(now));
        let moved = scheduler.commitments(0).unwrap()[0] - commitment;
        assert!(moved.abs() < 1e-15, "{now}: {moved}");
        assert_eq!(scheduler.commitments(1), Ok(vec![0.0]));
        let restored = SdrfScheduler::restore(&scheduler.snapshot()).unwrap();
        assert_eq!(restored.snapshot(), scheduler.snapshot());
        assert_eq!(restored.commitments(0), scheduler.commitments(0));
    }
}

#[test]
fn one_wrong_time_is_corrected() {
    let mut scheduler = committed(Some(second()));
    let now = Nanos(2 * SECOND);
    scheduler.advance(Nanos(u64::MAX)).unwrap();
    let stopped = Err(ScheduleError::Backwards { last: u64::MAX, found: now.0 });
    assert_eq!(scheduler.next(now), stopped);
    // It is in the snapshot, too.
    let mut scheduler = SdrfScheduler::restore(&scheduler.snapshot()).unwrap();
    assert_eq!(scheduler.next(now), stopped);
    scheduler.rebase(now);
    assert_eq!((scheduler.next(now), scheduler.finish(0, now)), (Ok(None), Ok(0)));
    // What was held counts as held for so long: five machines above its part.
    assert!((scheduler.commitments(0).unwrap()[0] - 0.5).abs() < 1e-9);
    scheduler.submit(1, 100, &[1], now).unwrap();
    assert_eq!(scheduler.next(now), Ok(Some((1, 100))));
    scheduler.rebase(Nanos(0));
    assert_eq!(scheduler.advance(Nanos(SECOND)), Ok(()));
}

#[test]
fn without_memory_only_the_time_is_set() {
    let mut scheduler = committed(None);
    scheduler.rebase(Nanos(3));
    assert_eq!((scheduler.now(), scheduler.commitments(0)), (Nanos(3), Ok(vec![0.0])));
    assert_eq!(SdrfScheduler::restore(&scheduler.snapshot()).unwrap().finish(9, Nanos(3)), Ok(0));
}

proptest! {
    /// Whatever clocks say, what happens between two settings depends on the time that passes.
    #[test]
    fn a_scheduler_goes_on_by_any_clock(
        spans in prop::collection::vec((0..3 * SECOND, 0..10u64, prop::option::of(any::<u64>())), 1..60),
    ) {
        let mut steady = committed(Some(second()));
        let mut set = steady.clone();
        for (name, (span, task, clock)) in (1_000..).zip(spans) {
            if let Some(clock) = clock {
                // Not so late that no time is left.
                set.rebase(Nanos(clock >> 1));
            }
            for scheduler in [&mut steady, &mut set] {
                let now = scheduler.now().after(Nanos(span));
                scheduler.advance(now).unwrap();
                let _ = scheduler.finish(task, now);
                if scheduler.held(1).unwrap()[0] == 0 {
                    scheduler.submit(1, name, &[1], now).unwrap();
                    scheduler.next(now).unwrap();
                }
                for user in 0..2 {
                    prop_assert!((0.0..=1.0).contains(&scheduler.commitments(user).unwrap()[0]));
                }
            }
            for user in 0..2 {
                let difference = steady.commitments(user).unwrap()[0] - set.commitments(user).unwrap()[0];
                prop_assert!(difference.abs() < 1e-6, "{} of user {}", difference, user);
            }
            let restored = SdrfScheduler::restore(&set.snapshot()).map(|restored| restored.snapshot());
            prop_assert_eq!(restored, Ok(set.snapshot()));
        }
    }
}

#[test]
fn a_task_of_a_dead_machine_is_the_next_of_its_user() {
    let mut scheduler = scheduler();
    let now = Nanos(SECOND);
    for task in 0..4 {
        scheduler.submit(0, task, &[5, 10], Nanos(0)).unwrap();
    }
    scheduler.submit(1, 9, &[5, 10], Nanos(0)).unwrap();
    // Of equals the first to come, and then the other user.
    assert_eq!((scheduler.next(Nanos(0)), scheduler.next(Nanos(0))), (Ok(Some((0, 0))), Ok(Some((1, 9)))));
    assert_eq!((scheduler.requeue(7, now), scheduler.requeue(3, now)), not_running(7, 3));
    assert_eq!(scheduler.requeue(0, Nanos(0)), Ok(0));
    assert_eq!((scheduler.held(0), scheduler.waiting(), scheduler.running()), (Ok(&[0, 0][..]), 4, 1));
    let order =
        |scheduler: &SdrfScheduler| scheduler.waiting_tasks().map(|(task, ..)| task).collect::<Vec<_>>();
    assert_eq!(order(&scheduler), [0, 1, 2, 3]);
    // The order outlives the process.
    let mut restored = SdrfScheduler::restore(&scheduler.snapshot()).unwrap();
    assert_eq!(order(&restored), [0, 1, 2, 3]);
    for scheduler in [&mut scheduler, &mut restored] {
        assert_eq!(scheduler.next(now), Ok(Some((0, 0))));
        assert_eq!((scheduler.finish(9, now), scheduler.next(now)), (Ok(1), Ok(Some((0, 1)))));
        // Both machines die: what is put back last is first.
        assert_eq!((scheduler.requeue(0, now), scheduler.requeue(1, now)), (Ok(0), Ok(0)));
        assert_eq!(order(scheduler), [1, 0, 2, 3]);
        assert_eq!(scheduler.withdraw(1, now), Ok(0));
        assert_eq!((scheduler.next(now), scheduler.next(now)), (Ok(Some((0, 0))), Ok(Some((0, 2)))));
    }
}

fn not_running(a: u64, b: u64) -> (Result<u32, ScheduleError>, Result<u32, ScheduleError>) {
    (Err(ScheduleError::NotRunning(a)), Err(ScheduleError::NotRunning(b)))
}

#[test]
fn a_capacity_is_refused_by_the_name_of_the_task() {
    let mut scheduler = scheduler();
    for (task, needs) in [(1, [6, 10]), (2, [2, 80]), (3, [2, 90])] {
        scheduler.submit(0, task, &needs, Nanos(0)).unwrap();
    }
    assert_eq!(scheduler.next(Nanos(0)), Ok(Some((0, 1))));
    let refused = |scheduler: &mut SdrfScheduler| scheduler.set_capacity(&[4, 85], Nanos(0)).unwrap_err();
    let by_name = refused(&mut scheduler);
    assert_eq!(by_name, ScheduleError::NeededByWaiting { task: 3, resource: 1, needed: 90, found: 85 });
    let said = "expected a capacity of at least 90 of resource 1, which task 3 needs that waits, found 85";
    assert_eq!(by_name.to_string(), said);
    scheduler.withdraw(3, Nanos(0)).unwrap();
    // What runs together has no name.
    let by_all = ClusterError::Needed { resource: 0, needed: 6, found: 4 };
    assert_eq!(refused(&mut scheduler), ScheduleError::Cluster(by_all));
    scheduler.requeue(1, Nanos(0)).unwrap();
    assert!(matches!(refused(&mut scheduler), ScheduleError::NeededByWaiting { task: 1, .. }));
    scheduler.withdraw(1, Nanos(0)).unwrap();
    assert_eq!(scheduler.set_capacity(&[4, 85], Nanos(0)), Ok(()));
}
