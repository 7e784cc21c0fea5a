//! The crate as somebody uses it who has read its documentation: build machines that are shared by teams who come and go.

use std::fmt::Debug;

use trueplane_fair::policy::{Fifo, Karma, Sdrf};
use trueplane_fair::{
    Cluster, ClusterError, Demands, Memory, MemoryError, ScheduleError, Scheduler, SdrfScheduler,
    SnapshotError,
};
use trueplane_units::Nanos;

/// What a value that is held can do.
const fn is_held<T: Clone + Debug + Send + Sync>() {}

/// What an error can do.
const fn is_error<T: std::error::Error + Send + Sync + 'static>() {}

const _: () = {
    is_held::<SdrfScheduler>();
    is_held::<Scheduler<Sdrf, Builds>>();
    is_held::<Cluster>();
    is_held::<Memory>();
    is_held::<Fifo>();
    is_held::<Karma>();
    is_error::<ScheduleError>();
    is_error::<SnapshotError>();
    is_error::<ClusterError>();
    is_error::<MemoryError>();
    is_error::<trueplane_fair::policy::KarmaError>();
    is_error::<trueplane_fair::policy::HalfLifeError>();
    is_error::<trueplane_fair::allocation::AllocationError>();
};

/// Builds that all need one machine.
#[derive(Clone, Debug)]
struct Builds;

impl Demands for Builds {
    type Task = &'static str;

    fn of<'a>(&'a self, _: &'a &'static str) -> &'a [u64] {
        &[1]
    }
}

const MINUTE: u64 = 60_000_000_000;

/// Starts all that may start.
fn start(scheduler: &mut SdrfScheduler, now: Nanos) -> Vec<(u32, u64)> {
    std::iter::from_fn(|| scheduler.next(now).expect("time goes on")).collect()
}

#[test]
fn teams_come_and_go_and_the_scheduler_restarts() {
    let memory = Memory::half_life(Nanos(10 * MINUTE)).unwrap();
    let mut scheduler = SdrfScheduler::new(vec![4], Some(memory)).unwrap();
    let (web, data) = (scheduler.join(1, Nanos(0)).unwrap(), scheduler.join(1, Nanos(0)).unwrap());
    for build in 0..6 {
        scheduler.submit(web, build, &[1], Nanos(0)).unwrap();
    }
    assert_eq!(start(&mut scheduler, Nanos(0)), [(web, 0), (web, 1), (web, 2), (web, 3)]);
    // The other team comes ten minutes later, and the process restarts before anything has ended.
    let now = Nanos(10 * MINUTE);
    (10..13).for_each(|build| scheduler.submit(data, build, &[1], now).unwrap());
    let mut scheduler = SdrfScheduler::restore(&scheduler.snapshot()).unwrap();
    (0..3).for_each(|build| assert_eq!(scheduler.finish(build, now), Ok(web)));
    // By shares alone build 4, which is older, would be before build 11. A quarter of the cluster is remembered of the first team.
    assert_eq!(start(&mut scheduler, now), [(data, 10), (data, 11), (web, 4)]);
    // It cannot leave while it has builds that wait or run.
    assert_eq!(scheduler.leave(web, now), Err(ScheduleError::Cluster(ClusterError::HasTasks(web))));
    assert_eq!(scheduler.withdraw(5, now), Ok(web));
    (3..5).for_each(|build| assert_eq!(scheduler.finish(build, now), Ok(web)));
    assert_eq!(scheduler.leave(web, now), Ok(()));
    // A third team has its number and none of its past.
    let ops = scheduler.join(1, now).unwrap();
    assert_eq!((ops, scheduler.commitments(ops)), (web, Ok(vec![0.0])));
}

#[test]
fn any_order_runs_under_the_scheduler() {
    let cluster = Cluster::new(vec![1], vec![1, 1]).unwrap();
    let mut scheduler = Scheduler::new(cluster, Fifo::default(), Builds, false);
    scheduler.submit(1, "first", Nanos(0));
    scheduler.submit(0, "second", Nanos(0));
    assert_eq!(scheduler.start(Nanos(0)), Some((1, "first")));
    assert_eq!(scheduler.start(Nanos(0)), None);
    scheduler.finish(1, &"first", Nanos(1));
    assert_eq!(scheduler.start(Nanos(1)), Some((0, "second")));
}
