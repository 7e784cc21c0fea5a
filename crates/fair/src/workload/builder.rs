//! A log of tasks while it is read.

use std::hash::BuildHasher as _;

use hashbrown::{DefaultHashBuilder, HashTable};
use trueplane_study::Error;
use trueplane_trace::{Place, TraceError};
use trueplane_units::Nanos;

use super::log::Counted;
use super::{Demand, JobLog, Partial, Task};

/// Times of a log are below this, 146 years of nanoseconds, so that no sum of two overflows.
pub const MOST_TIME: Nanos = Nanos(1 << 62);

/// No task needs more of anything, in billionths: 10^18 units, so that a sum over all tasks fits 128 bits.
pub const MOST_AMOUNT: u128 = 1_000_000_000_000_000_000_000_000_000;

/// Indices stay below this, which stands for one that is not known.
pub(super) const UNKNOWN: u32 = u32::MAX;

/// The duration of a task that is none after all, and goes when the log is done.
const DROPPED: Nanos = Nanos::MAX;

/// Marks the duration of a task that outlasts the log, until tasks are in their order; a duration is below [`MOST_TIME`].
const CENSORED: u64 = 1 << 63;

/// Tasks in the order in which they are found, and what they need, once each.
///
/// Adding a task takes O(users' names + resources), and 24 bytes, or 28 once a row was no task; finishing O(tasks), or a sort if they were out of order.
#[derive(Debug, Default)]
pub(super) struct Builder {
    log: JobLog,
    hasher: DefaultHashBuilder,
    users: HashTable<u32>,
    demands: HashTable<u32>,
    /// The row of every task, counted from zero; empty while the first row is the first task and so on.
    rows: Vec<u32>,
    /// When tasks started, if the log records it.
    started: Vec<Nanos>,
    /// Whether resources that nobody needs go when the log is done.
    is_rid_of_unused: bool,
    /// Tasks that outlast the log, and when they started.
    open: Vec<(u32, Nanos)>,
    dropped: bool,
}

impl Builder {
    pub(super) fn new(name: String, resources: Vec<String>) -> Self {
        Self { log: JobLog { name, resources, ..JobLog::default() }, ..Self::default() }
    }

    /// The index of the user called `name`.
    pub(super) fn user(&mut self, name: &str) -> u32 {
        let (hasher, users) = (&self.hasher, &mut self.log.users);
        let hash = hasher.hash_one(name);
        if let Some(&index) = self.users.find(hash, |&index| users[index as usize] == name) {
            return index;
        }
        let index = users.len() as u32;
        users.push(name.to_owned());
        self.users.insert_unique(hash, index, |&index| hasher.hash_one(users[index as usize].as_str()));
        index
    }

    /// The index of those who need `amounts`; `None` if that is nothing of anything.
    pub(super) fn demand(&mut self, amounts: &[u128]) -> Option<u32> {
        if amounts.iter().all(|&amount| amount == 0) {
            return None;
        }
        let (hasher, demands) = (&self.hasher, &mut self.log.demands);
        let hash = hasher.hash_one(amounts);
        if let Some(&index) = self.demands.find(hash, |&index| *demands[index as usize] == *amounts) {
            return Some(index);
        }
        let index = demands.len() as u32;
        demands.push(amounts.into());
        self.demands.insert_unique(hash, index, |&index| hasher.hash_one(&*demands[index as usize]));
        Some(index)
    }

    /// Adds the task of `row`, the first being 1; `None` if there are too many to count.
    pub(super) fn push(&mut self, task: Task, row: u64) -> Option<u32> {
        let index = u32::try_from(self.log.tasks.len()).ok().filter(|&index| index < UNKNOWN)?;
        let row = u32::try_from(row.saturating_sub(1)).ok()?;
        if row != index || !self.rows.is_empty() {
            // The first row that is no task of its own.
            if self.rows.is_empty() {
                self.rows.extend(0..index);
            }
            self.rows.push(row);
        }
        self.log.tasks.push(task);
        Some(index)
    }

    /// Adds the task of `row`, which the log says started at `start`; `None` if there are too many to count.
    ///
    /// If the log does not record this of all its tasks, the log that is made has it of none.
    pub(super) fn push_started(&mut self, task: Task, start: Nanos, row: u64) -> Option<u32> {
        let index = self.push(task, row)?;
        self.started.push(start);
        Some(index)
    }

    /// Takes away the resources that nobody needs, when the log is done.
    pub(super) fn drop_unused(&mut self) {
        self.is_rid_of_unused = true;
    }

    /// The task of `index` outlasts the log; its duration ends there.
    pub(super) fn censor(&mut self, index: u32) {
        self.task(index).duration.0 |= CENSORED;
    }

    /// The task of `index`.
    pub(super) fn task(&mut self, index: u32) -> &mut Task {
        &mut self.log.tasks[index as usize]
    }

    /// The task of `index`, which began at `start`, runs until the log ends.
    pub(super) fn outlasts(&mut self, index: u32, start: Nanos) {
        self.open.push((index, start));
    }

    /// The task of `index` is none after all, for the reason of [`Builder::leave_out`].
    pub(super) fn drop_task(&mut self, index: u32, what: &str) {
        self.task(index).duration = DROPPED;
        self.dropped = true;
        self.leave_out(what);
    }

    /// Counts one of `what` as left out: it is not among the tasks.
    pub(super) fn leave_out(&mut self, what: &str) {
        count(&mut self.log.left_out, what, 1);
    }

    /// Counts `number` of `what` as left out: they are not among the tasks.
    pub(super) fn leave_out_many(&mut self, what: &str, number: u64) {
        count(&mut self.log.left_out, what, number);
    }

    /// The log has a task only in part.
    pub(super) fn cut(&mut self, lacks: Partial) {
        count(&mut self.log.cut, lacks, 1);
    }

    /// The log, of which `end` is the last time that was seen.
    ///
    /// # Errors
    ///
    /// If there are no tasks.
    pub(super) fn finish(mut self, end: Nanos) -> Result<JobLog, Error> {
        for (index, start) in std::mem::take(&mut self.open) {
            self.task(index).duration = Nanos(end.since(start).0 | CENSORED);
        }
        let mut log = self.log;
        let has_all_starts = self.started.len() == log.tasks.len();
        // There are fewer than 2^32.
        let count = log.tasks.len() as u32;
        let is_sorted = log.tasks.is_sorted_by_key(|task| task.submitted);
        if self.dropped || !is_sorted {
            let mut order: Vec<u32> = (0..count).collect();
            order.retain(|&index| log.tasks[index as usize].duration != DROPPED);
            order.sort_by_key(|&index| log.tasks[index as usize].submitted);
            let row = |&index: &u32| self.rows.get(index as usize).copied().unwrap_or(index);
            self.rows = order.iter().map(row).collect();
            log.tasks = order.iter().map(|&index| log.tasks[index as usize]).collect();
            if has_all_starts {
                self.started = order.iter().map(|&index| self.started[index as usize]).collect();
            }
        }
        if log.tasks.is_empty() {
            return Err(nothing_left(log).into());
        }
        if self.rows.iter().zip(0..).any(|(&row, index): (&u32, u32)| row != index) {
            log.rows = self.rows;
        }
        log.censored = marked(&mut log.tasks);
        let users = by_first_use(log.users.len(), log.tasks.iter_mut().map(|task| &mut task.user));
        log.users = chosen(log.users, &users);
        let demands = by_first_use(log.demands.len(), log.tasks.iter_mut().map(|task| &mut task.demand));
        log.demands = chosen::<Demand>(log.demands, &demands);
        log.started = if has_all_starts { self.started } else { Vec::new() };
        if self.is_rid_of_unused {
            drop_unused(&mut log);
        }
        Ok(log)
    }
}

/// The indices of tasks that were marked as outlasting the log; takes the marks away.
fn marked(tasks: &mut [Task]) -> Vec<u32> {
    let mut marked = Vec::new();
    for (index, task) in (0..).zip(tasks) {
        if task.duration.0 & CENSORED != 0 {
            task.duration.0 &= !CENSORED;
            marked.push(index);
        }
    }
    marked
}

/// Takes away the resources that nobody needs. Somebody needs one of them.
fn drop_unused(log: &mut JobLog) {
    let is_used = |place: &usize| log.demands.iter().any(|demand| demand[*place] > 0);
    let used: Vec<usize> = (0..log.resources.len()).filter(is_used).collect();
    if used.len() < log.resources.len() {
        log.resources = used.iter().map(|&place| log.resources[place].clone()).collect();
        for demand in &mut log.demands {
            *demand = used.iter().map(|&place| demand[place]).collect();
        }
    }
}

fn count<K, W: PartialEq<K> + From<K>>(counts: &mut Vec<Counted<W>>, what: K, number: u64) {
    match counts.iter_mut().find(|counted| counted.what == what) {
        Some(counted) => counted.count += number,
        None => counts.push(Counted { what: what.into(), count: number }),
    }
}

/// Why a log has no tasks.
fn nothing_left(log: JobLog) -> TraceError {
    let reasons: Vec<String> =
        log.left_out.iter().map(|left_out| format!("{} {}", left_out.count, left_out.what)).collect();
    let but = if reasons.is_empty() { String::new() } else { format!(" but {}", reasons.join(", ")) };
    whole(log.name, format!("expected tasks, found none{but}"))
}

/// `problem` with the log called `name` as a whole.
pub(super) fn whole(name: String, problem: String) -> TraceError {
    TraceError::Input { trace: name, place: Place::Whole, problem }
}

/// Numbers `count` things anew in the order in which `uses` has them first: the old numbers in the new order.
fn by_first_use<'a>(count: usize, uses: impl Iterator<Item = &'a mut u32>) -> Vec<u32> {
    let (mut order, mut new) = (Vec::with_capacity(count), vec![UNKNOWN; count]);
    for number in uses {
        let place = &mut new[*number as usize];
        if *place == UNKNOWN {
            *place = order.len() as u32;
            order.push(*number);
        }
        *number = *place;
    }
    order
}

/// Those of `things` that `order` has, in that order.
fn chosen<T: Default>(mut things: Vec<T>, order: &[u32]) -> Vec<T> {
    order.iter().map(|&old| std::mem::take(&mut things[old as usize])).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_needs_are_kept_once_in_the_order_of_submission() {
        let mut builder = Builder::new("made".to_owned(), vec!["cpu".to_owned()]);
        for (submitted, user, amount) in [(5, "b", 7), (9, "a", 8), (5, "c", 7), (1, "a", 9), (2, "gone", 3)]
        {
            let (user, demand) = (builder.user(user), builder.demand(&[amount]).unwrap());
            let task = Task { submitted: Nanos(submitted), duration: Nanos(1), user, demand };
            builder.push(task, builder.log.tasks.len() as u64 + 2).unwrap();
        }
        assert_eq!(builder.demand(&[0]), None);
        builder.drop_task(4, "a reason");
        builder.outlasts(3, Nanos(1));
        let log = builder.finish(Nanos(20)).unwrap();
        assert_eq!(log.users, ["a", "b", "c"]);
        assert_eq!(log.demands, [[9].into(), [7].into(), [8].into()] as [Demand; 3]);
        let found: Vec<_> = log
            .tasks
            .iter()
            .map(|task| (task.submitted.0, task.duration.0, task.user, task.demand))
            .collect();
        assert_eq!(found, [(1, 19, 0, 0), (5, 1, 1, 1), (5, 1, 2, 1), (9, 1, 0, 2)]);
        assert_eq!([0, 1, 2, 3].map(|index| log.row(index)), [5, 2, 4, 3]);
        assert_eq!(log.censored, [0], "the last that was pushed comes first");
        assert_eq!(log.left_out, [Counted { what: "a reason".to_owned(), count: 1 }]);
    }

    #[test]
    fn a_log_without_tasks_says_why() {
        let mut builder = Builder::new("made".to_owned(), Vec::new());
        builder.leave_out_many("tasks that need nothing", 3);
        let error = builder.finish(Nanos(0)).unwrap_err().to_string();
        assert_eq!(error, "made: expected tasks, found none but 3 tasks that need nothing");
    }
}
