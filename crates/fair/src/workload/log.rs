//! Tasks in the order in which they were submitted.

use std::fmt;

use trueplane_units::Nanos;

use crate::Demands;

/// An amount in a log is a whole number of billionths of the unit that the log is written in.
pub const BILLION: u128 = 1_000_000_000;

/// A task of a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Task {
    /// Time of submission, on the log's own clock.
    pub submitted: Nanos,
    /// Time that the task runs once it has started.
    pub duration: Nanos,
    /// User that submitted the task: an index into [`JobLog::users`].
    pub user: u32,
    /// Demand of the task: an index into [`JobLog::demands`].
    pub demand: u32,
}

/// Needs of a task of every resource, in billionths of the log's unit.
pub type Demand = Box<[u128]>;

/// Things of one kind in the log, and their number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counted<W> {
    /// The kind, as a noun: `tasks that need nothing`.
    pub what: W,
    /// The number of things of this kind.
    pub count: u64,
}

/// Things of the log that are not among its tasks.
pub type LeftOut = Counted<String>;

/// Tasks that the log has only in part.
pub type Cut = Counted<Partial>;

/// The part of a task that the log lacks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Partial {
    /// The task began before the log; only what lies within the log is known.
    Start,
    /// The task outlasts the log; only what lies within the log is known.
    End,
    /// The submission is missing.
    Submission,
    /// A cell says nothing where an amount belongs, which counts as nothing needed.
    Need,
}

impl fmt::Display for Partial {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Start => "tasks that began before the log",
            Self::End => "tasks that outlast the log",
            Self::Submission => "tasks whose submission is missing",
            Self::Need => "tasks whose need of something is missing, taken as none",
        })
    }
}

/// A log of tasks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct JobLog {
    /// Name of the log: its file, or how it was generated.
    pub name: String,
    /// The names of resources.
    pub resources: Vec<String>,
    /// The names of users, in the order in which they first submitted something.
    pub users: Vec<String>,
    /// Demands of tasks, each once.
    pub demands: Vec<Demand>,
    /// Tasks in the order of their submission; those of one instant as in the log.
    pub tasks: Vec<Task>,
    /// Row of the log that each task comes from, counted from zero; empty if that is its index. See [`JobLog::row`].
    pub rows: Vec<u32>,
    /// Things of the log that are not among its tasks.
    pub left_out: Vec<LeftOut>,
    /// Tasks that the log has only in part; that part stands for them.
    pub cut: Vec<Cut>,
    /// The indices, in increasing order, of tasks that outlast the log: how long they run is not known, but that it is their duration or
    /// longer.
    pub censored: Vec<u32>,
    /// When each task started, as the log records it; empty if it does not.
    pub started: Vec<Nanos>,
}

/// A log if nobody ever waited.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unhindered {
    /// Time at which the last task would end.
    pub end: Nanos,
    /// [`JobLog::mean_use`].
    pub mean_use: Vec<u128>,
}

impl JobLog {
    /// The row of the input that has the task at `index`, 1 being the first one after a header: of a CSV file the row, of Google's events
    /// the one that submits it, of drawn tasks the row that [`super::write_csv`] writes. Blank lines are no rows.
    pub fn row(&self, index: u32) -> u64 {
        u64::from(self.rows.get(index as usize).copied().unwrap_or(index)) + 1
    }

    /// When the log would end if nobody ever waited: the end of the first task to the end of all.
    pub fn end(&self) -> Nanos {
        self.tasks.iter().map(|task| task.submitted.after(task.duration)).max().unwrap_or(Nanos(0))
    }

    /// Works out everything that has to look at all tasks, once. O(tasks).
    pub fn unhindered(&self) -> Unhindered {
        let end = self.end();
        Unhindered { end, mean_use: self.mean_use_until(end) }
    }

    /// The largest use of every resource at one time that the log records, in billionths of its unit: the cluster has that at least. `None` if
    /// the log does not record when tasks started. O(tasks · log tasks).
    pub fn peak_use(&self) -> Option<Vec<u128>> {
        if self.started.is_empty() {
            return None;
        }
        // At one instant tasks end before others start.
        let mut changes: Vec<(Nanos, bool, u32)> = Vec::with_capacity(2 * self.tasks.len());
        for (task, &start) in self.tasks.iter().zip(&self.started) {
            if task.duration > Nanos(0) {
                changes.push((start, true, task.demand));
                changes.push((start.after(task.duration), false, task.demand));
            }
        }
        changes.sort_unstable();
        // A task that takes no time had a place all the same.
        let (mut used, mut peak) = (vec![0; self.resources.len()], vec![0; self.resources.len()]);
        for demand in &self.demands {
            peak.iter_mut().zip(demand).for_each(|(peak, amount)| *peak = (*peak).max(*amount));
        }
        for (_, is_start, demand) in changes {
            for ((used, peak), amount) in used.iter_mut().zip(&mut peak).zip(&self.demands[demand as usize]) {
                if is_start {
                    *used += amount;
                    *peak = (*used).max(*peak);
                } else {
                    *used -= amount;
                }
            }
        }
        Some(peak)
    }

    /// The mean use of every resource from the first submission to [`JobLog::end`] if nobody ever waited, in billionths of its unit
    /// (R in §4.5).
    pub fn mean_use(&self) -> Vec<u128> {
        self.mean_use_until(self.end())
    }

    fn mean_use_until(&self, end: Nanos) -> Vec<u128> {
        let mut nanos = vec![0u128; self.demands.len()];
        for task in &self.tasks {
            nanos[task.demand as usize] += u128::from(task.duration.0);
        }
        let start = self.tasks.first().map_or(Nanos(0), |task| task.submitted);
        let span = end.since(start).0.max(1);
        (0..self.resources.len())
            .map(|resource| {
                let used = self.demands.iter().zip(&nanos).map(|(demand, &nanos)| {
                    // In floating point, as the product of an amount and a time may leave 128 bits.
                    demand[resource] as f64 * nanos as f64
                });
                (used.sum::<f64>() / span as f64).round() as u128
            })
            .collect()
    }
}

/// A cluster's capacity and what the tasks of a log need of it, in units that fit 64 bits.
#[derive(Clone, Debug)]
pub struct Pool<'a> {
    log: &'a JobLog,
    /// Capacity of every resource, in units.
    pub capacity: Vec<u64>,
    /// Number of units of `capacity` in one unit of the log, for every resource: a power of ten.
    pub scale: Vec<f64>,
    /// Needs of tasks in units of `capacity`, one row of as many amounts as resources for each of [`JobLog::demands`].
    amounts: Vec<u64>,
    /// Whether each of the log's demands is larger than the cluster.
    too_large: Vec<bool>,
}

/// A resource may be counted up to here.
const MOST: u128 = 1 << 62;

impl<'a> Pool<'a> {
    /// A cluster of `capacity` (in billionths of the log's units, above zero) for the tasks of `log`.
    ///
    /// Amounts keep nine decimals where the capacity then fits 62 bits, and as many as fit where it does not; what a task needs is
    /// then rounded up.
    pub fn new(log: &'a JobLog, capacity: &[u128]) -> Self {
        let mut pool = Self {
            log,
            capacity: Vec::new(),
            scale: Vec::new(),
            amounts: vec![0; log.demands.len() * capacity.len()],
            too_large: vec![false; log.demands.len()],
        };
        for (resource, &total) in capacity.iter().enumerate() {
            let mut divisor = 1;
            while total / divisor > MOST {
                divisor *= 10;
            }
            pool.capacity.push((total / divisor) as u64);
            pool.scale.push(BILLION as f64 / divisor as f64);
            for (index, demand) in log.demands.iter().enumerate() {
                if demand[resource] > total {
                    pool.too_large[index] = true;
                } else {
                    let amount = demand[resource].div_ceil(divisor).min(total / divisor);
                    pool.amounts[index * capacity.len() + resource] = amount as u64;
                }
            }
        }
        pool
    }

    /// The log.
    pub fn log(&self) -> &'a JobLog {
        self.log
    }

    /// Whether the task at `index` needs more of something than there is.
    pub fn is_too_large(&self, index: u32) -> bool {
        self.too_large[self.log.tasks[index as usize].demand as usize]
    }
}

/// Tasks are known by their index in the log.
impl Demands for &Pool<'_> {
    type Task = u32;

    fn of<'a>(&'a self, task: &'a u32) -> &'a [u64] {
        let resources = self.capacity.len();
        &self.amounts[self.log.tasks[*task as usize].demand as usize * resources..][..resources]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn log() -> JobLog {
        let task = |submitted, duration, user, demand| Task {
            submitted: Nanos(submitted),
            duration: Nanos(duration),
            user,
            demand,
        };
        JobLog {
            resources: vec!["cpu".into(), "memory".into()],
            users: vec!["a".into(), "b".into()],
            demands: vec![[BILLION, 0].into(), [BILLION / 2, 10u128.pow(24)].into()],
            tasks: vec![task(10, 40, 0, 0), task(10, 20, 1, 1), task(30, 80, 0, 0)],
            ..JobLog::default()
        }
    }

    #[test]
    fn mean_use_is_what_would_be_held_if_nobody_waited() {
        let log = log();
        assert_eq!(log.end(), Nanos(110));
        let used = log.mean_use();
        assert_eq!(used[0], BILLION * 130 / 100);
        assert!((used[1] as f64 / 2e23 - 1.0).abs() < 1e-12);
    }

    #[test]
    fn amounts_that_do_not_fit_lose_their_last_decimals() {
        let log = log();
        let pool = Pool::new(&log, &[4 * BILLION, 10u128.pow(24) + 7]);
        assert_eq!(pool.capacity[0], 4_000_000_000);
        assert_eq!((&pool).of(&0), [1_000_000_000, 0]);
        assert!(u128::from(pool.capacity[1]) <= MOST);
        assert_eq!((&pool).of(&1)[1], pool.capacity[1]);
        assert!(!pool.is_too_large(1));
        assert!(Pool::new(&log, &[BILLION, 10u128.pow(24) - 1]).is_too_large(1));
    }
}
