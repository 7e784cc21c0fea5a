//! What bounds say about policies, in plain sentences.

use trueplane_core::units::Percent;

use crate::cache::compare::{PolicyRun, Run};
use crate::cache::verdict::by_latency;

/// How far a policy is above the optimum, in words; none if there is no bound above zero.
pub fn distance(policy: &PolicyRun) -> Option<String> {
    let (most, least) = (policy.above_optimum?, policy.above_optimum_at_least?);
    let [most_said, least_said] = [most, least].map(|share| Percent(share).to_string());
    Some(if most < 0.0 {
        // Only where the bound is not one of this policy.
        format!("{} below the optimum", Percent(-most))
    } else if most_said == least_said {
        format!("{most_said} above the optimum")
    } else if least <= 0.0 {
        format!("at most {most_said} above the optimum")
    } else {
        format!("{least_said} to {most_said} above the optimum")
    })
}

/// How far the policies of one point of a grid are from its bound.
pub fn on_run(run: &Run) -> Option<String> {
    let best = *by_latency(&run.policies).first()?;
    Some(format!("The best policy that can be deployed, {}, is {}.", best.policy, distance(best)?))
}

/// How far the policies are from the bounds at the points of a grid, each with a name.
pub fn on_grid(runs: &[(String, &Run)]) -> Option<String> {
    let best = |run: &Run| {
        let best = *by_latency(&run.policies).first()?;
        Some((best.above_optimum?, best.policy))
    };
    let points = || runs.iter().filter_map(|(name, run)| Some((name, best(run)?)));
    let ((low, (near, _)), (high, (far, policy))) =
        (points().min_by(|a, b| a.1.0.total_cmp(&b.1.0))?, points().max_by(|a, b| a.1.0.total_cmp(&b.1.0))?);
    Some(format!(
        "The best policy that can be deployed is at most {} above the optimum at {low}, and at most {} at {high} ({policy}).",
        Percent(near),
        Percent(far),
    ))
}
