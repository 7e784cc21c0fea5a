//! What events make of a task.
//!
//! A run goes from SUBMIT over SCHEDULE to FINISH, FAIL or KILL, and is a task of the log. A run that ends with EVICT or LOST is none
//! (§4.5); that the task is submitted again begins another. What was scheduled before the trace, at time zero, starts there; what is
//! not over at the end runs until the last time that there is.
//!
//! Events of one instant come in any order: one that cannot be, the second SUBMIT of a task that is still running, waits until the
//! others of its instant have been. If it still cannot be then, an event is missing, and something is left out and counted.

use hashbrown::HashMap;
use trueplane_study::Error;
use trueplane_trace::{Rows, TraceError};
use trueplane_units::Nanos;

use super::event::{Event, Kind, TaskName, needs_of, user_of};
use crate::workload::builder::{Builder, UNKNOWN};
use crate::workload::reading::{NEED_NOTHING, NEVER_RAN, too_many};
use crate::workload::{JobLog, Partial, Task};

/// Index for the demand of tasks that need nothing; beside it there is [`UNKNOWN`].
const NOTHING: u32 = UNKNOWN - 1;

/// Rounds in which events of one instant wait for each other.
const ROUNDS: u32 = 16;

const UNENDED: &str = "runs whose end is missing";
const UNSTARTED: &str = "runs whose start is missing";
const STRAY: &str = "events of tasks that are unknown";

/// A run that is not over.
#[derive(Clone, Copy, Debug)]
struct Run {
    /// Its task in the log.
    index: u32,
    /// Time at which the run was scheduled; `None` while it waits.
    started: Option<Nanos>,
}

/// An event with what its row says about the task, as far as it does.
#[derive(Clone, Copy, Debug)]
struct Step {
    task: TaskName,
    kind: Kind,
    /// Counted from 1, over all parts.
    row: u64,
    user: u32,
    demand: u32,
}

/// Runs while events come.
pub(super) struct Runs {
    builder: Builder,
    resources: Vec<usize>,
    amounts: Vec<u128>,
    live: HashMap<TaskName, Run>,
    now: Nanos,
    /// Events so far.
    rows: u64,
    /// Events of this instant that cannot be yet.
    waiting: Vec<Step>,
    /// The last time before the last missing part.
    gap: Option<Nanos>,
}

impl Runs {
    /// Before the first event, for these of the resources.
    pub(super) fn new(name: String, resources: Vec<usize>) -> Self {
        let names = resources
            .iter()
            .map(|&number| crate::workload::google::event::RESOURCES[number].to_owned())
            .collect();
        Self {
            builder: Builder::new(name, names),
            amounts: vec![0; resources.len()],
            resources,
            live: HashMap::new(),
            now: Nanos(0),
            rows: 0,
            waiting: Vec::new(),
            gap: None,
        }
    }

    /// The time of the last event.
    pub(super) fn now(&self) -> Nanos {
        self.now
    }

    /// A part is missing here: the ends of runs may be in it.
    pub(super) fn gap(&mut self) {
        self.gap = Some(self.now);
    }

    /// Counts `number` of `what` as left out: they are not among the tasks.
    pub(super) fn leave_out(&mut self, what: &str, number: u64) {
        self.builder.leave_out_many(what, number);
    }

    /// The event of the row, which does not come before [`Runs::now`]. Amortised O(1).
    ///
    /// # Errors
    ///
    /// If the rest of the row is wrong, or there are too many tasks.
    pub(super) fn take(&mut self, event: Event, rows: &Rows) -> Result<(), TraceError> {
        self.rows += 1;
        // To the log, what happens after the trace does not happen.
        if event.time == Nanos::MAX {
            return Ok(());
        }
        if event.time > self.now {
            self.settle().ok_or_else(|| too_many(rows))?;
            self.now = event.time;
        }
        let mut step =
            Step { task: event.task, kind: event.kind, row: self.rows, user: UNKNOWN, demand: UNKNOWN };
        if matches!(event.kind, Kind::Submit | Kind::Schedule | Kind::UpdatePending) {
            step.user = user_of(rows)?.map_or(UNKNOWN, |name| self.builder.user(name));
            if needs_of(rows, &self.resources, &mut self.amounts)? {
                step.demand = self.builder.demand(&self.amounts).unwrap_or(NOTHING);
            }
        }
        if self.can_be(&step) {
            self.make(&step).ok_or_else(|| too_many(rows))
        } else {
            self.waiting.push(step);
            Ok(())
        }
    }

    /// The log.
    ///
    /// # Errors
    ///
    /// If it has no tasks.
    pub(super) fn finish(mut self) -> Result<JobLog, Error> {
        self.settle()
            .ok_or_else(|| Error::Parameters("expected fewer than 2^32 tasks, found more".to_owned()))?;
        let mut live: Vec<Run> = self.live.values().copied().collect();
        live.sort_unstable_by_key(|run| run.index);
        for run in live {
            match run.started {
                None => self.builder.drop_task(run.index, NEVER_RAN),
                Some(start) if self.gap.is_some_and(|gap| start <= gap) => {
                    self.builder.drop_task(run.index, UNENDED);
                }
                Some(start) => {
                    if self.keep(run.index, start, Nanos(0)) {
                        self.builder.outlasts(run.index, start);
                        self.builder.cut(Partial::End);
                    }
                }
            }
        }
        self.builder.finish(self.now)
    }

    /// Handles the events that waited for others of their instant, those first that can be; `None` if there are too many tasks.
    fn settle(&mut self) -> Option<()> {
        for round in 0.. {
            if self.waiting.is_empty() {
                break;
            }
            let waiting = std::mem::take(&mut self.waiting);
            let before = waiting.len();
            for step in waiting {
                if round >= ROUNDS || self.can_be(&step) {
                    self.make(&step)?;
                } else {
                    self.waiting.push(step);
                }
            }
            if self.waiting.len() == before {
                let first = self.waiting.remove(0);
                self.make(&first)?;
            }
        }
        Some(())
    }

    /// Whether a task can see this event in its state.
    fn can_be(&self, step: &Step) -> bool {
        match self.live.get(&step.task).map(|run| run.started.is_some()) {
            None => step.kind == Kind::Submit,
            Some(false) => {
                matches!(
                    step.kind,
                    Kind::Schedule | Kind::UpdatePending | Kind::Kill | Kind::Fail | Kind::Lost
                )
            }
            Some(true) => !matches!(step.kind, Kind::Submit | Kind::Schedule | Kind::UpdatePending),
        }
    }

    /// The event happens; `None` if that makes too many tasks.
    fn make(&mut self, step: &Step) -> Option<()> {
        match step.kind {
            Kind::Submit => self.submit(step).map(|_| ()),
            Kind::Schedule => self.schedule(step),
            Kind::UpdatePending => {
                match self.live.get(&step.task) {
                    Some(run) if run.started.is_none() => self.learn(run.index, step, true),
                    _ => self.builder.leave_out(STRAY),
                }
                Some(())
            }
            Kind::UpdateRunning => {
                self.builder.leave_out("changes of what running tasks need");
                Some(())
            }
            Kind::Evict | Kind::Lost | Kind::Fail | Kind::Finish | Kind::Kill => {
                self.end(step);
                Some(())
            }
        }
    }

    fn submit(&mut self, step: &Step) -> Option<u32> {
        let task = Task { submitted: self.now, duration: Nanos(0), user: step.user, demand: step.demand };
        let index = self.builder.push(task, step.row)?;
        if let Some(run) = self.live.insert(step.task, Run { index, started: None }) {
            self.builder.drop_task(run.index, UNENDED);
        }
        Some(index)
    }

    fn schedule(&mut self, step: &Step) -> Option<()> {
        let waiting = self.live.get(&step.task).copied().filter(|run| run.started.is_none());
        let index = match waiting {
            Some(run) => {
                self.learn(run.index, step, false);
                run.index
            }
            None => {
                self.builder.cut(Partial::Submission);
                self.submit(step)?
            }
        };
        self.live.insert(step.task, Run { index, started: Some(self.now) });
        Some(())
    }

    /// Takes over what the event says about a task that was not known, or, if `anew`, its demand in place of the old one.
    fn learn(&mut self, index: u32, step: &Step, anew: bool) {
        let task = self.builder.task(index);
        if task.user == UNKNOWN {
            task.user = step.user;
        }
        if step.demand != UNKNOWN && (anew || task.demand == UNKNOWN) {
            task.demand = step.demand;
        }
    }

    fn end(&mut self, step: &Step) {
        let Some(run) = self.live.remove(&step.task) else {
            return self.builder.leave_out(STRAY);
        };
        match (step.kind, run.started) {
            (Kind::Evict, _) => self.builder.drop_task(run.index, "runs that were evicted"),
            (Kind::Lost, _) => self.builder.drop_task(run.index, "runs that were lost"),
            (Kind::Finish, None) => self.builder.drop_task(run.index, UNSTARTED),
            (_, None) => self.builder.drop_task(run.index, NEVER_RAN),
            (_, Some(start)) => {
                self.keep(run.index, start, self.now.since(start));
            }
        }
    }

    /// The task of `index` ran for `duration` from `start` on; whether it is one, with all that has to be known.
    fn keep(&mut self, index: u32, start: Nanos, duration: Nanos) -> bool {
        let task = self.builder.task(index);
        let problem = match (task.user, task.demand) {
            (UNKNOWN, _) => "tasks whose user is missing",
            (_, UNKNOWN) => "tasks whose needs are missing",
            (_, NOTHING) => NEED_NOTHING,
            _ => {
                task.duration = duration;
                if start == Nanos(0) {
                    self.builder.cut(Partial::Start);
                }
                return true;
            }
        };
        self.builder.drop_task(index, problem);
        false
    }
}
