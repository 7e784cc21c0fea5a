//! What the capacities of a plan come to on a trace, and whether it fits them.

use trueplane_study::Error;
use trueplane_trace::Trace;
use trueplane_units::Bytes;

use super::plan::Plan;
use crate::capacity::Capacity;
use crate::engine::Shape;
use crate::policy::PolicyName;
use crate::scan::Summary;

/// More sets than these would take gigabytes before the first request.
const MOST_SETS: usize = 1 << 22;

/// LHD keeps 12 KiB of what it has learnt for every set.
const FEWEST_WAYS_TO_LEARN_FROM: u64 = 16;

/// A capacity and what it came to on the trace at hand.
#[derive(Clone, Debug)]
pub struct Resolved {
    /// The capacity as the user gave it.
    pub asked: Capacity,
    /// The cache that is simulated.
    pub shape: Shape,
}

/// Resolves the capacities on a trace, of which the first `warmup` requests do not count.
///
/// # Errors
/// If one of them, or the warm-up, does not fit it.
pub(crate) fn capacities(
    trace: &Trace,
    summary: &Summary,
    plan: &Plan,
    warmup: u64,
) -> Result<Vec<Resolved>, Error> {
    let capacities = plan
        .capacities
        .iter()
        .map(|&asked| resolve(asked, trace, summary, plan))
        .collect::<Result<Vec<_>, _>>()?;
    if warmup >= summary.requests {
        let message = format!(
            "{}: --warmup {} leaves none of the trace's {} requests to count",
            trace.name(),
            plan.warmup,
            summary.requests
        );
        return Err(Error::Parameters(message));
    }
    Ok(capacities)
}

/// Resolves a capacity on a trace, and says whether it is in bytes.
///
/// # Errors
/// If it is in bytes and the trace has no sizes, or objects larger than it while they may not be `oversized`.
pub(crate) fn amount(
    asked: Capacity,
    trace: &Trace,
    summary: &Summary,
    oversized: bool,
) -> Result<(u64, bool), Error> {
    let refuse = |message: String| Err(Error::Parameters(format!("{}: {message}", trace.name())));
    let (capacity, by_bytes) = match asked {
        Capacity::Objects(objects) => (objects, false),
        Capacity::Share(share) => {
            let objects = u128::from(summary.peak_active) * u128::from(share) / 1_000_000;
            (u64::try_from(objects).unwrap_or(u64::MAX).max(1), false)
        }
        Capacity::Bytes(bytes) => (bytes.0, true),
    };
    if by_bytes && !trace.fields().size {
        let remedy = trace.column_remedy("size").map(|remedy| format!(", or {remedy}"));
        return refuse(format!(
            "--capacity {asked} is in bytes, but the trace has no sizes; say it in objects or as a share (5%){}",
            remedy.unwrap_or_default()
        ));
    }
    if by_bytes && summary.largest > capacity && !oversized {
        return refuse(format!(
            "an object of {:#} is larger than the cache of {asked:#}; choose a larger --capacity, or --bypass-oversized to let such objects pass the cache by",
            Bytes(summary.largest)
        ));
    }
    Ok((capacity, by_bytes))
}

fn resolve(asked: Capacity, trace: &Trace, summary: &Summary, plan: &Plan) -> Result<Resolved, Error> {
    let refuse = |message: String| Error::Parameters(format!("{}: {message}", trace.name()));
    let (capacity, by_bytes) = amount(asked, trace, summary, plan.bypass_oversized)?;
    match plan.ways {
        None => Ok(Resolved { asked, shape: Shape { capacity, by_bytes, sets: 1 } }),
        Some(_) if by_bytes => {
            Err(refuse(format!("--ways counts objects, so --capacity must too, not {asked}")))
        }
        Some(ways) => {
            let sets = sets(capacity, ways, &plan.policies).map_err(refuse)?;
            Ok(Resolved { asked, shape: Shape { capacity: sets as u64 * ways, by_bytes, sets } })
        }
    }
}

/// The number of whole sets of `ways` objects in a capacity, or what is wrong with that.
fn sets(capacity: u64, ways: u64, policies: &[PolicyName]) -> Result<usize, String> {
    let sets = capacity / ways;
    if sets == 0 {
        return Err(format!("a capacity of {capacity} objects does not fill one set of --ways {ways}"));
    }
    let learns = |policy: &&PolicyName| policy.properties().learns;
    if let Some(policy) = policies.iter().find(learns).filter(|_| ways < FEWEST_WAYS_TO_LEARN_FROM) {
        return Err(format!(
            "{policy} learns in every set for itself: give --ways {FEWEST_WAYS_TO_LEARN_FROM} or more, or leave it out of --policies"
        ));
    }
    usize::try_from(sets).ok().filter(|&sets| sets <= MOST_SETS).ok_or_else(|| {
        format!(
            "{capacity} objects in sets of --ways {ways} are {sets} sets; at most {MOST_SETS} are simulated"
        )
    })
}
