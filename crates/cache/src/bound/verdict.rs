//! What bounds say about policies, in plain sentences.

use trueplane_study::rounded::{Toward, as_asked};

use crate::compare::found::{Effort, PolicyRun, Run};
use crate::compare::verdict::by_latency;

/// How far a policy is above the optimum, in words; none if there is no bound above zero.
pub fn distance(policy: &PolicyRun) -> Option<String> {
    let (most, least) = (policy.above_optimum?, policy.above_optimum_at_least?);
    let [most_said, least_said] = [Toward::Up.percent(most), Toward::Down.percent(least)];
    Some(if most < 0.0 {
        // Only where the bound is not one of this policy.
        format!("{} below the optimum", Toward::Down.percent(-most))
    } else if most_said == least_said {
        format!("{most_said} above the optimum")
    } else if least <= 0.0 || least_said == Toward::Down.percent(0.0) {
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

/// That the bounds of one point of a grid are farther apart than was asked for, if they are.
pub fn on_gap(run: &Run, effort: &Effort) -> Option<String> {
    let gap = run.bounds_gap().filter(|gap| *gap > effort.gap)?;
    Some(format!(
        "The bounds of the optimum are farther apart than they should be: {}, where {} was asked for. A longer --bound-time or more --bound-iterations may bring them closer.",
        apart(gap, effort.gap),
        as_asked(effort.gap)
    ))
}

/// The same of all the points of a grid, each with a name.
pub fn on_gaps(runs: &[(String, &Run)], effort: &Effort) -> Option<String> {
    let wide = runs.iter().filter_map(|(name, run)| Some((name, run.bounds_gap()?)));
    let wide: Vec<_> = wide.filter(|(_, gap)| *gap > effort.gap).collect();
    let (name, widest) = wide.iter().max_by(|a, b| a.1.total_cmp(&b.1))?;
    Some(format!(
        "The bounds of the optimum are farther apart than the {} that was asked for at {} of {} points; at worst, at {name}, they are {} apart. A longer --bound-time or more --bound-iterations may bring them closer.",
        as_asked(effort.gap),
        wide.len(),
        runs.len(),
        apart(*widest, effort.gap)
    ))
}

/// A gap beside the one that was asked for, which is smaller.
pub(super) fn apart(gap: f64, asked: f64) -> String {
    if gap.is_finite() { Toward::Up.percent_beside(gap, asked) } else { "without end".to_owned() }
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
        Toward::Up.percent(near),
        Toward::Up.percent(far),
    ))
}
