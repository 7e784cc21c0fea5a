//! The SDRF scheduler.

use numpy::{IntoPyArray as _, PyArray1, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use trueplane_fair::Memory;
use trueplane_fair::embedded::{ScheduleError, SdrfScheduler};
use trueplane_units::Nanos;

use crate::arrays::check_length;
use crate::errors;

/// The users and the names of tasks.
type Tasks<'py> = (Bound<'py, PyArray1<u32>>, Bound<'py, PyArray1<u64>>);

/// Shares a cluster among users.
#[pyclass(module = "trueplane._native")]
pub(crate) struct Sdrf(SdrfScheduler);

#[expect(clippy::needless_pass_by_value, reason = "it is for map_err")]
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
        SdrfScheduler::restore(snapshot).map(Self).map_err(|error| errors::parameter(format!("snapshot: {error}")))
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
        let next =
            if is_fitting { self.0.next_fitting(Nanos(now)) } else { self.0.next(Nanos(now)) };
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
