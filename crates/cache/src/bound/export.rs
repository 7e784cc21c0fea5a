//! A schedule as a table that people and scripts can read.

use std::io::{self, Write};

use trueplane_trace::Clock;

use super::problem::{Problem, Scenario};
use super::replay::{ServedRequest, decisions, follow};
use super::search::Solution;
use crate::Outcome;

/// Writes what becomes of every request under the solution's schedule, as CSV: its position in the trace from 0, its time and
/// how long it waits (in ns or steps, as the header says), the key, what it meets (`hit`, `delayed` or `miss`), and
/// whether the object is kept (1) after the hit, or after the fetch that the miss began, until it is asked for again.
///
/// The simulator says what becomes of them. Requests of the warm-up are among them, although they do not count.
///
/// # Errors
/// If `out` fails.
pub fn write_schedule(
    problem: &Problem,
    scenario: &Scenario,
    solution: &Solution,
    out: &mut dyn Write,
) -> io::Result<()> {
    let unit = if scenario.clock == Clock::Steps { "steps" } else { "ns" };
    writeln!(out, "position,time_{unit},key,outcome,wait_{unit},kept")?;
    let keep = decisions(&problem.instance, &solution.schedule);
    let mut written = Ok(());
    follow(problem, scenario, &keep, |served| {
        if written.is_ok() {
            written = row(problem, served, out);
        }
    });
    written
}

fn row(problem: &Problem, served: &ServedRequest, out: &mut dyn Write) -> io::Result<()> {
    let &ServedRequest { position, outcome, wait, kept } = served;
    let request = &problem.requests[position];
    let outcome = match outcome {
        Outcome::Hit => "hit",
        Outcome::Delayed => "delayed",
        Outcome::Miss => "miss",
    };
    let kept = u8::from(kept);
    writeln!(out, "{position},{},{},{outcome},{},{kept}", request.time.0, request.key, wait.0)
}
