//! The SDRF scheduler as a class, and a cluster under a scheduler of the user's.

use std::collections::HashMap;

use numpy::{IntoPyArray as _, PyArray1, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};
use trueplane_fair::capacity::Capacity;
use trueplane_fair::embedded::{ScheduleError, SdrfScheduler};
use trueplane_fair::engine::{Probe, Started, run};
use trueplane_fair::order::make;
use trueplane_fair::policy::PolicyName;
use trueplane_fair::span::Span;
use trueplane_fair::workload::{JobsSource, LogReading, Pool};
use trueplane_fair::{Cluster, Memory, Policy};
use trueplane_study::Error;
use trueplane_units::{Nanos, Parameters as _, Value as _, parameters};

use crate::arrays::check_length;
use crate::callback::{Callbacks, unexpected};
use crate::errors;

/// The users and the names of tasks.
type Tasks<'py> = (Bound<'py, PyArray1<u32>>, Bound<'py, PyArray1<u64>>);

/// Shares a cluster among users.
#[pyclass(module = "trueplane._native")]
pub(crate) struct Sdrf(SdrfScheduler);

fn wrong(error: ScheduleError) -> PyErr {
    errors::parameter(error.to_string())
}

#[pymethods]
impl Sdrf {
    /// A cluster of so much of each resource. Without a half-life it remembers nothing.
    #[new]
    #[pyo3(signature = (capacity, half_life=None))]
    fn new(capacity: Vec<u64>, half_life: Option<u64>) -> PyResult<Self> {
        let memory = half_life.map(|half_life| Memory::half_life(Nanos(half_life))).transpose();
        let memory = memory.map_err(|error| errors::parameter(format!("half_life: {error}")))?;
        let scheduler = SdrfScheduler::new(capacity, memory);
        scheduler.map(Self).map_err(|error| errors::parameter(format!("capacity: {error}")))
    }

    /// The scheduler that a snapshot is of.
    #[staticmethod]
    fn restore(snapshot: &[u8]) -> PyResult<Self> {
        SdrfScheduler::restore(snapshot)
            .map(Self)
            .map_err(|error| errors::parameter(format!("snapshot: {error}")))
    }

    /// Everything that the scheduler knows.
    fn snapshot<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.0.snapshot())
    }

    /// A user joins: its number.
    fn join(&mut self, weight: u32, now: u64) -> PyResult<u32> {
        self.0.join(weight, Nanos(now)).map_err(wrong)
    }

    /// A user without tasks leaves.
    fn leave(&mut self, user: u32, now: u64) -> PyResult<()> {
        self.0.leave(user, Nanos(now)).map_err(wrong)
    }

    /// A user wants a task to run.
    #[expect(clippy::needless_pass_by_value, reason = "arguments of Python come by value")]
    fn submit(&mut self, user: u32, task: u64, needs: Vec<u64>, now: u64) -> PyResult<()> {
        self.0.submit(user, task, &needs, Nanos(now)).map_err(wrong)
    }

    /// Users want tasks to run, a row of needs for each. If one is refused, none is submitted.
    #[expect(clippy::needless_pass_by_value, reason = "arguments of Python come by value")]
    fn submit_many(
        &mut self,
        users: PyReadonlyArray1<'_, u64>,
        tasks: PyReadonlyArray1<'_, u64>,
        needs: PyReadonlyArray2<'_, u64>,
        now: u64,
    ) -> PyResult<()> {
        let (users, tasks) = (users.as_slice()?, tasks.as_slice()?);
        check_length("tasks", tasks.len(), users.len(), false)?;
        check_length("needs", needs.as_array().nrows(), users.len(), false)?;
        for (index, row) in needs.as_array().rows().into_iter().enumerate() {
            let user = u32::try_from(users[index]).unwrap_or(u32::MAX);
            if let Err(error) = self.0.submit(user, tasks[index], &row.to_vec(), Nanos(now)) {
                for &task in &tasks[..index] {
                    self.withdraw(task, now)?;
                }
                return Err(errors::parameter(format!("task {index}: {error}")));
            }
        }
        Ok(())
    }

    /// The task to start now and whose it is: the user and its name.
    fn next(&mut self, now: u64, is_fitting: bool) -> PyResult<Option<(u32, u64)>> {
        let next = if is_fitting { self.0.next_fitting(Nanos(now)) } else { self.0.next(Nanos(now)) };
        next.map_err(wrong)
    }

    /// All tasks to start now: the users and the names.
    fn start<'py>(&mut self, py: Python<'py>, now: u64, is_fitting: bool) -> PyResult<Tasks<'py>> {
        let (mut users, mut tasks) = (Vec::new(), Vec::new());
        while let Some((user, task)) = self.next(now, is_fitting)? {
            users.push(user);
            tasks.push(task);
        }
        Ok((users.into_pyarray(py), tasks.into_pyarray(py)))
    }

    /// A task that runs has ended: whose it was.
    fn finish(&mut self, task: u64, now: u64) -> PyResult<u32> {
        self.0.finish(task, Nanos(now)).map_err(wrong)
    }

    /// A task that runs has stopped without an end, and waits again: whose it is.
    fn requeue(&mut self, task: u64, now: u64) -> PyResult<u32> {
        self.0.requeue(task, Nanos(now)).map_err(wrong)
    }

    /// A task that waits is not to run any more: whose it was.
    fn withdraw(&mut self, task: u64, now: u64) -> PyResult<u32> {
        self.0.withdraw(task, Nanos(now)).map_err(wrong)
    }

    /// Tells the time.
    fn advance(&mut self, now: u64) -> PyResult<()> {
        self.0.advance(Nanos(now)).map_err(wrong)
    }

    /// A user has another weight from now on.
    fn set_weight(&mut self, user: u32, weight: u32, now: u64) -> PyResult<()> {
        self.0.set_weight(user, weight, Nanos(now)).map_err(wrong)
    }

    /// The cluster has another capacity from now on.
    #[expect(clippy::needless_pass_by_value, reason = "arguments of Python come by value")]
    fn set_capacity(&mut self, capacity: Vec<u64>, now: u64) -> PyResult<()> {
        self.0.set_capacity(&capacity, Nanos(now)).map_err(wrong)
    }

    /// The commitment of a user for each resource, as parts of the cluster.
    fn commitments<'py>(&self, py: Python<'py>, user: u32) -> PyResult<Bound<'py, PyArray1<f64>>> {
        Ok(self.0.commitments(user).map_err(wrong)?.into_pyarray(py))
    }

    /// What a user holds of each resource.
    fn held<'py>(&self, py: Python<'py>, user: u32) -> PyResult<Bound<'py, PyArray1<u64>>> {
        Ok(self.0.held(user).map_err(wrong)?.to_vec().into_pyarray(py))
    }

    /// The numbers of tasks that wait and that run.
    fn counts(&self) -> (usize, usize) {
        (self.0.waiting(), self.0.running())
    }
}

/// An order of users by an object of Python: `wait(user, now)`, `rest(user, now)`, `hold(user, held, now)` and `first(now)`, which returns a user.
struct Called<'a> {
    /// The names of users, by their numbers.
    users: &'a [Py<PyString>],
    numbers: &'a HashMap<String, u32>,
    /// What one unit of the log is, resource by resource.
    scale: &'a [f64],
    wait: Py<PyAny>,
    rest: Py<PyAny>,
    hold: Py<PyAny>,
    first: Py<PyAny>,
    callbacks: &'a Callbacks,
    /// Whether each user waits.
    waits: Vec<bool>,
}

impl Policy for Called<'_> {
    fn wait(&mut self, user: u32, _ticket: u64, now: Nanos) {
        // It is told once that a user waits, and not of the tasks behind the first.
        if !std::mem::replace(&mut self.waits[user as usize], true) {
            self.callbacks.call(|py| self.wait.call1(py, (&self.users[user as usize], now.0)).map(drop));
        }
    }

    fn rest(&mut self, user: u32, now: Nanos) {
        self.waits[user as usize] = false;
        self.callbacks.call(|py| self.rest.call1(py, (&self.users[user as usize], now.0)).map(drop));
    }

    fn hold(&mut self, user: u32, held: &[u64], now: Nanos) {
        let held: Vec<f64> = held.iter().zip(self.scale).map(|(&held, scale)| held as f64 / scale).collect();
        self.callbacks.call(|py| self.hold.call1(py, (&self.users[user as usize], held, now.0)).map(drop));
    }

    fn first(&mut self, now: Nanos) -> Option<u32> {
        if !self.waits.contains(&true) {
            return None;
        }
        self.callbacks.call(|py| {
            let answer = self.first.call1(py, (now.0,))?;
            let user = answer.extract::<String>(py).ok().and_then(|name| self.numbers.get(&name).copied());
            user.filter(|&user| self.waits[user as usize]).ok_or_else(|| {
                unexpected("scheduler: expected a user who waits from first()", answer.bind(py))
            })
        })
    }

    fn after(&self, _user: u32) -> Option<u32> {
        None
    }
}

/// Notes what starts.
struct Starts(Vec<Started>);

impl Probe for Starts {
    fn pass(&mut self, _free: &[u64], _now: Nanos) {}

    fn submit(&mut self, _user: u32, _now: Nanos) {}

    fn skip(&mut self, _user: u32) {}

    fn start(&mut self, task: &Started, _held: &[u64], _still_waits: bool) -> Result<(), Error> {
        self.0.push(*task);
        Ok(())
    }

    fn end(&mut self, _user: u32, _held: &[u64], _now: Nanos) {}
}

parameters! {
    /// A log of tasks and the cluster that runs them.
    #[derive(Clone, Debug)]
    struct Jobs {
        /// Log of tasks, as for `fair.simulate`.
        jobs: JobsSource => { value: "JOBS", positional: true, required: true },
        /// Size of the cluster: a part of the mean use, such as 70%, or cpu=96,mem=512.
        capacity: Capacity => { value: "SIZE", default: "70%" },
    }
    including {
        /// Options for reading the log.
        reading: LogReading,
    }
}

/// The names of users, the user of each task that ran, and when each was submitted, started and ended.
type Schedule<'py> = (
    Vec<String>,
    Bound<'py, PyArray1<u32>>,
    Bound<'py, PyArray1<u64>>,
    Bound<'py, PyArray1<u64>>,
    Bound<'py, PyArray1<u64>>,
);

/// Runs a log on a cluster under a scheduler: the name of a policy, or an object with the methods of one. An object is told the users, the
/// resources and the capacity first, by `begin`.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "arguments of Python come by value")]
pub(crate) fn schedule<'py>(
    py: Python<'py>,
    given: Vec<(String, String)>,
    scheduler: &Bound<'py, PyAny>,
    half_life: Option<&str>,
) -> PyResult<Schedule<'py>> {
    let half_life = half_life.map(|text| Span::parse(text).map(Span::get)).transpose();
    let half_life = half_life.map_err(|message| errors::parameter(format!("half_life: {message}")))?;
    let given: Vec<(&str, &str)> = given.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
    let Jobs { jobs, capacity, reading } = Jobs::given(&given).map_err(errors::parameter)?;
    let callbacks = Callbacks::default();
    let loaded = py.detach(|| {
        let log = reading.load(&jobs, &callbacks)?;
        let amounts = capacity.amounts(&log, &log.mean_use())?;
        Ok((log, amounts))
    });
    callbacks.check()?;
    let (log, amounts) = loaded.map_err(errors::study)?;
    let pool = Pool::new(&log, &amounts);
    let weights = vec![1; log.users.len()];
    let cluster =
        Cluster::new(pool.capacity.clone(), weights).map_err(|error| errors::parameter(error.to_string()))?;
    let mut starts = Starts(Vec::with_capacity(log.tasks.len()));
    let ran = if let Ok(name) = scheduler.extract::<String>() {
        let name =
            PolicyName::parse(&name).map_err(|message| errors::parameter(format!("scheduler: {message}")))?;
        let memory = half_life.and_then(|half_life| Memory::half_life(half_life).ok()).unwrap_or_default();
        py.detach(|| {
            let policy = make(name, &cluster, &pool.scale, memory)?;
            run(&pool, cluster, policy, false, &mut starts, &callbacks)
        })
    } else {
        let units: Vec<f64> =
            pool.capacity.iter().zip(&pool.scale).map(|(&capacity, scale)| capacity as f64 / scale).collect();
        scheduler.call_method1("begin", (log.users.clone(), log.resources.clone(), units))?;
        let method = |name: &str| scheduler.getattr(name).map(Bound::unbind);
        let users: Vec<Py<PyString>> =
            log.users.iter().map(|user| PyString::new(py, user).unbind()).collect();
        let numbers = log.users.iter().cloned().zip(0..).collect();
        let policy = Called {
            users: &users,
            numbers: &numbers,
            scale: &pool.scale,
            wait: method("on_wait")?,
            rest: method("on_rest")?,
            hold: method("on_hold")?,
            first: method("first")?,
            callbacks: &callbacks,
            waits: vec![false; users.len()],
        };
        py.detach(|| run(&pool, cluster, policy, false, &mut starts, &callbacks))
    };
    callbacks.check()?;
    ran.map_err(errors::study)?;
    let tasks = starts.0;
    let column = |of: fn(&Started) -> u64| tasks.iter().map(of).collect::<Vec<u64>>().into_pyarray(py);
    let users = tasks.iter().map(|task| task.user).collect::<Vec<u32>>().into_pyarray(py);
    let times = (column(|task| task.submitted.0), column(|task| task.start.0), column(|task| task.end.0));
    Ok((log.users.clone(), users, times.0, times.1, times.2))
}
