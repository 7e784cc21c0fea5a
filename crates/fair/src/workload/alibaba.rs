//! Alibaba's lists of pods (cluster-trace-gpu-v2023) and of inference instances (cluster-trace-gpu-v2025).
//!
//! Both say when something was created, scheduled and deleted, in seconds. What was created before the trace began (2025: an empty
//! cell) is submitted at zero, and what was scheduled before it starts there; what was not deleted runs until the last time that the
//! file has. What was never scheduled is left out.

use trueplane_study::Error;
use trueplane_trace::{Rows, TraceError};
use trueplane_units::Nanos;

use super::Partial;
use super::builder::{Builder, MOST_AMOUNT, MOST_TIME};
use super::{JobLog, LogOptions, Task, decimal};
use crate::workload::csv::{amount, is_absent, place_of, user_of};
use crate::workload::reading::{NEED_NOTHING, NEVER_RAN, Progress, chosen, too_many};

const BACKWARDS: &str = "tasks whose times run backwards";

/// Kind of an Alibaba list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum List {
    /// `openb_pod_list`, of 2023. It does not say whose a pod is: its class of service is what comes closest.
    Pods,
    /// `disaggregated_DLRM_trace`, of 2025. Users are applications.
    Instances,
}

/// A resource, and how to tell how much of it is needed.
#[derive(Clone, Copy, Debug)]
struct Resource {
    name: &'static str,
    column: &'static str,
    /// Decimals of what the column counts down to billionths of the unit: 6 for thousandths.
    places: u32,
    /// A column of a number by which to multiply.
    times: Option<&'static str>,
}

const fn plain(name: &'static str, column: &'static str, places: u32) -> Resource {
    Resource { name, column, places, times: None }
}

const OF_PODS: [Resource; 3] = [
    plain("cpu", "cpu_milli", 6),
    plain("memory", "memory_mib", 9),
    Resource { name: "gpu", column: "gpu_milli", places: 6, times: Some("num_gpu") },
];

const OF_INSTANCES: [Resource; 5] = [
    plain("cpu", "cpu_request", 9),
    plain("gpu", "gpu_request", 9),
    plain("rdma", "rdma_request", 9),
    plain("memory", "memory_request", 9),
    plain("disk", "disk_request", 9),
];

impl List {
    fn resources(self) -> &'static [Resource] {
        match self {
            List::Pods => &OF_PODS,
            List::Instances => &OF_INSTANCES,
        }
    }

    /// The column that says whose a task is.
    fn user(self) -> &'static str {
        match self {
            List::Pods => "qos",
            List::Instances => "app_name",
        }
    }
}

/// A resource's column, and the one to multiply with.
type Place = (Resource, usize, Option<usize>);

/// Reads the list of `rows`, whose header is the current one.
///
/// # Errors
///
/// A row or the header is wrong, or the observer interrupts.
pub(super) fn read(
    name: String,
    mut rows: Rows,
    list: List,
    options: &LogOptions,
    progress: &mut Progress<'_>,
) -> Result<JobLog, Error> {
    let known: Vec<&str> = list.resources().iter().map(|resource| resource.name).collect();
    let numbers = chosen(&known, known.len(), options).map_err(|problem| rows.error_whole(problem))?;
    let resources: Vec<Place> =
        numbers.iter().map(|&number| place(&rows, list.resources()[number])).collect::<Result<_, _>>()?;
    let user = place_of(&rows, options.user.as_deref().unwrap_or(list.user()))?;
    let [created, scheduled, deleted] = ["creation_time", "scheduled_time", "deletion_time"];
    let times = [place_of(&rows, created)?, place_of(&rows, scheduled)?, place_of(&rows, deleted)?];
    rows.keep_width(" as in the header");
    let names = resources.iter().map(|(resource, ..)| resource.name.to_owned()).collect();
    let mut builder = Builder::new(name, names);
    let mut amounts = vec![0; resources.len()];
    let mut end = Nanos(0);
    while rows.advance()? {
        progress.row(|| rows.position())?;
        let [created, scheduled, deleted] =
            [time(&rows, times[0])?, time(&rows, times[1])?, time(&rows, times[2])?];
        end = [created, scheduled, deleted].into_iter().flatten().fold(end, Nanos::max);
        let mut is_missing = false;
        for (amount, place) in amounts.iter_mut().zip(&resources) {
            let found = need(&rows, place)?;
            is_missing |= found.is_none();
            *amount = found.unwrap_or(0);
        }
        let user = user_of(&rows, user)?;
        let submitted = created.unwrap_or(Nanos(0));
        let start = match (created, scheduled) {
            (_, Some(scheduled)) => scheduled,
            (None, None) => Nanos(0),
            (Some(_), None) => {
                builder.leave_out(NEVER_RAN);
                continue;
            }
        };
        if start < submitted || deleted.is_some_and(|deleted| deleted < start) {
            builder.leave_out(BACKWARDS);
            continue;
        }
        let Some(demand) = builder.demand(&amounts) else {
            builder.leave_out(NEED_NOTHING);
            continue;
        };
        let duration = deleted.map_or(Nanos(0), |deleted| deleted.since(start));
        let user = builder.user(user);
        let task = Task { submitted, duration, user, demand };
        let index = builder.push(task, progress.rows()).ok_or_else(|| too_many(&rows))?;
        if is_missing {
            builder.cut(Partial::Need);
        }
        if scheduled.is_none() {
            builder.cut(Partial::Start);
        }
        if deleted.is_none() {
            builder.outlasts(index, start);
            builder.cut(Partial::End);
        }
    }
    progress.to(rows.position())?;
    builder.finish(end)
}

fn place(rows: &Rows, resource: Resource) -> Result<Place, TraceError> {
    let times = resource.times.map(|column| place_of(rows, column)).transpose()?;
    Ok((resource, place_of(rows, resource.column)?, times))
}

/// Returns the amount of a resource that the task of the row needs; `None` if the cell says nothing.
fn need(rows: &Rows, &(resource, place, times): &Place) -> Result<Option<u128>, TraceError> {
    let found = amount(rows, resource.column, place, resource.places)?;
    let (Some(one), Some(times)) = (found, times) else { return Ok(found) };
    let count = decimal::parse(rows.cell(times), 0).filter(|&count| count <= 1_000_000);
    let count = count.ok_or_else(|| rows.expected("a number from 0 to a million", times))?;
    let all = one * count;
    if all > MOST_AMOUNT { Err(rows.expected("an amount from 0 to 10^18", place)) } else { Ok(Some(all)) }
}

/// The time in the cell at `place`, in seconds; `None` if it says nothing.
fn time(rows: &Rows, place: usize) -> Result<Option<Nanos>, TraceError> {
    let cell = rows.cell(place);
    if is_absent(cell) {
        return Ok(None);
    }
    let nanos = decimal::parse(cell, 9).filter(|&nanos| nanos <= MOST_TIME.0.into());
    let time = nanos.and_then(|nanos| u64::try_from(nanos).ok()).map(Nanos);
    time.map(Some).ok_or_else(|| rows.expected("seconds from the start of the trace, or nothing", place))
}
