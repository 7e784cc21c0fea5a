//! How HiGHS is driven: what linear programmes share.

use std::fmt::Debug;
use std::time::Duration;

use highs::{ColProblem, HighsModelStatus, Model, Sense, SolvedModel};

/// Why a programme has no optimum.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Failure {
    /// The time was over before there was one.
    #[error("was not solved in time")]
    OutOfTime,
    /// Nothing keeps to all rows.
    #[error("has no solution")]
    Infeasible,
    /// The solver gave up.
    #[error("was not solved: the solver stopped without an optimum: {0}")]
    Stopped(String),
}

/// Finds the optimum, within a time if there is a limit. Deterministic, on one thread.
///
/// # Errors
/// If there is none.
pub fn minimise(programme: ColProblem, limit: Option<Duration>) -> Result<SolvedModel, Failure> {
    let mut model = programme.try_optimise(Sense::Minimise).map_err(stopped)?;
    set(&mut model, limit)?;
    let solved = model.try_solve().map_err(stopped)?;
    match solved.status() {
        HighsModelStatus::Optimal | HighsModelStatus::ModelEmpty => Ok(solved),
        HighsModelStatus::ReachedTimeLimit => Err(Failure::OutOfTime),
        HighsModelStatus::Infeasible | HighsModelStatus::UnboundedOrInfeasible => Err(Failure::Infeasible),
        status => Err(stopped(status)),
    }
}

fn set(model: &mut Model, limit: Option<Duration>) -> Result<(), Failure> {
    model.make_quiet();
    let mut set = vec![model.try_set_option("threads", 1)];
    if let Some(limit) = limit {
        set.push(model.try_set_option("time_limit", limit.as_secs_f64()));
    }
    set.into_iter().collect::<Result<(), _>>().map_err(stopped)
}

fn stopped(status: impl Debug) -> Failure {
    Failure::Stopped(format!("{status:?}"))
}
