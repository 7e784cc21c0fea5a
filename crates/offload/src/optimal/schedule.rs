//! A schedule followed batch by batch: its misses, and whether it keeps to the rules.

use trueplane_study::Error;

use super::problem::{Problem, Visit};

/// No key.
const NONE: u32 = u32::MAX;

/// Sweep over the keys looked up in one interval after the other. Memory: 8 B a key and 4 B an interval.
pub(super) struct Sweep<'a> {
    problem: &'a Problem,
    /// The keys whose next visit is in each interval, as a list through `later`.
    head: Vec<u32>,
    later: Vec<u32>,
    /// The next visit of each key, among all visits.
    next: Vec<u32>,
}

impl<'a> Sweep<'a> {
    pub(super) fn new(problem: &'a Problem) -> Self {
        let keys = problem.keys();
        let mut sweep = Self {
            problem,
            head: vec![NONE; problem.intervals],
            later: vec![NONE; keys],
            next: vec![0; keys],
        };
        for key in 0..keys {
            sweep.enlist(key as u32, problem.range(key).start);
        }
        sweep
    }

    fn enlist(&mut self, key: u32, visit: usize) {
        self.next[key as usize] = visit as u32;
        if visit < self.problem.range(key as usize).end {
            let head = &mut self.head[self.problem.all_visits()[visit].interval as usize];
            self.later[key as usize] = std::mem::replace(head, key);
        }
    }

    /// The keys of an interval, each with its visit among all visits. Every interval is asked for once, in order.
    pub(super) fn interval(&mut self, interval: usize, visits: &mut Vec<(u32, u32)>) {
        visits.clear();
        let mut key = std::mem::replace(&mut self.head[interval], NONE);
        while key != NONE {
            let visit = self.next[key as usize];
            visits.push((key, visit));
            let later = self.later[key as usize];
            self.enlist(key, visit as usize + 1);
            key = later;
        }
    }
}

/// Decision for one batch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Batch {
    /// Keys that leave the table.
    pub(super) evicted: Vec<u32>,
    /// Keys that enter it.
    pub(super) inserted: Vec<u32>,
}

/// Status of a key in an interval.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Status {
    Absent,
    Stored,
    /// Inserted in this batch.
    Entering,
    /// Evicted in this batch.
    Leaving,
}

/// Follows a schedule and trusts it in nothing.
pub(super) struct Follower<'a> {
    problem: &'a Problem,
    sweep: Sweep<'a>,
    interval: usize,
    status: Vec<Status>,
    used: u64,
    /// One more than the interval in which each key was looked up last.
    seen: Vec<u32>,
    visits: Vec<(u32, u32)>,
    misses: u64,
}

impl<'a> Follower<'a> {
    /// At the beginning, with nothing in the table.
    pub(super) fn new(problem: &'a Problem) -> Self {
        Self {
            problem,
            sweep: Sweep::new(problem),
            interval: 0,
            status: vec![Status::Absent; problem.keys()],
            used: 0,
            seen: vec![0; problem.keys()],
            visits: Vec::new(),
            misses: problem.certain,
        }
    }

    /// Misses so far, with those of keys that always miss.
    pub(super) fn misses(&self) -> u64 {
        self.misses
    }

    /// Follows the next batch through its interval.
    ///
    /// # Errors
    /// If it breaks a rule.
    pub(super) fn follow(&mut self, batch: &Batch) -> Result<(), Error> {
        let Self { problem, interval, .. } = *self;
        if batch.inserted.len() as u64 > problem.batch {
            return Err(self.wrong("too many insertions"));
        }
        for &key in &batch.evicted {
            self.turn(key, Status::Stored, Status::Leaving)?;
            self.used -= 1;
        }
        for &key in &batch.inserted {
            self.turn(key, Status::Absent, Status::Entering)?;
            self.used += 1;
            if interval == 0 || u64::from(self.seen[key as usize]) != interval as u64 {
                return Err(self.wrong("an insertion of what was not looked up in the interval before"));
            }
        }
        if self.used > problem.capacity {
            return Err(self.wrong("more keys than entries"));
        }
        self.sweep.interval(interval, &mut self.visits);
        for &(key, visit) in &self.visits {
            let Visit { lookups, late, .. } = problem.all_visits()[visit as usize];
            self.seen[key as usize] = interval as u32 + 1;
            self.misses += match self.status[key as usize] {
                Status::Stored => 0,
                Status::Absent | Status::Entering => u64::from(lookups),
                Status::Leaving => u64::from(late),
            };
        }
        for &key in &batch.evicted {
            self.status[key as usize] = Status::Absent;
        }
        for &key in &batch.inserted {
            self.status[key as usize] = Status::Stored;
        }
        self.interval += 1;
        Ok(())
    }

    fn turn(&mut self, key: u32, from: Status, to: Status) -> Result<(), Error> {
        if self.status[key as usize] != from {
            return Err(self.wrong("a change of what is not so"));
        }
        self.status[key as usize] = to;
        Ok(())
    }

    fn wrong(&self, what: &str) -> Error {
        Error::Internal(format!("internal error: the schedule has {what} in batch {}", self.interval))
    }
}
