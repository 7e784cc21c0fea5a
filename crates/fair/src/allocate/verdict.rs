//! The verdict of `fair allocate`.

use trueplane_study::prose::join;
use trueplane_units::Percent;

use super::found::{Divided, Found, ROUNDING};
use crate::allocation::End;

/// Most users that are named as those who gain most, and as those who lose most.
const MOST_NAMED: usize = 2;

/// It is told of so many mechanisms what there is too little of.
const MOST_BOTTLENECKS: usize = 2;

/// The most important sentence first: who gains and who loses by a memory.
pub(super) fn verdict(found: &Found) -> Vec<String> {
    let mut sentences: Vec<String> =
        found.pair().map(|(forgetful, stateful)| compared(found, forgetful, stateful)).unwrap_or_default();
    sentences.extend(found.policies.iter().find_map(|divided| stranded(found, divided)));
    let full = found.policies.iter().filter_map(|divided| bottlenecks(found, divided));
    sentences.extend(full.take(MOST_BOTTLENECKS));
    sentences
}

/// Says which users gain and which lose by a memory.
fn compared(found: &Found, forgetful: &Divided, stateful: &Divided) -> Vec<String> {
    let users = stateful.users();
    let mut changed: Vec<(usize, f64)> = (0..users.len())
        .map(|user| (user, stateful.mean_share(user) - forgetful.mean_share(user)))
        .filter(|(_, change)| change.abs() > ROUNDING)
        .collect();
    changed.sort_by(|a, b| b.1.total_cmp(&a.1));
    let (before, after) = (forgetful.policy, stateful.policy);
    if changed.is_empty() {
        let is_committed =
            stateful.stages.iter().flat_map(|stage| &stage.users).any(|part| part.commitment > 0.0);
        let why = if is_committed { "no commitment changes a share" } else { "nobody has a commitment" };
        return vec![format!("{after} gives everybody the same as {before}: {why}.")];
    }
    let told = |&(user, _): &(usize, f64)| {
        let (part, several) = (&users[user], stateful.stages.len() > 1);
        let of = match part.dominant_resource {
            _ if several => " in the mean of all stages".to_owned(),
            Some(resource) => format!(" of {}", found.resources[resource].name),
            None => String::new(),
        };
        let (now, then) = (Percent(forgetful.mean_share(user)), Percent(stateful.mean_share(user)));
        format!("{} has {then}{of} instead of {now}", part.user)
    };
    let (gain, mut lose): (Vec<_>, Vec<_>) = changed.into_iter().partition(|(_, change)| *change > 0.0);
    lose.reverse();
    let sentence = |(users, what): (Vec<(usize, f64)>, &str)| {
        let named = join(&users.iter().take(MOST_NAMED).map(told).collect::<Vec<_>>());
        let most = if users.len() > MOST_NAMED { "most of all " } else { "" };
        (!users.is_empty()).then(|| {
            format!("Users who get {what} under {after} than under {before}: {}; {most}{named}.", users.len())
        })
    };
    [(gain, "more"), (lose, "less")].into_iter().filter_map(sentence).collect()
}

/// Says how much is given to users who cannot use it, where every resource is divided by itself.
fn stranded(found: &Found, divided: &Divided) -> Option<String> {
    let mean = |place: usize| {
        let sum: f64 = divided.stages.iter().map(|stage| stage.resources[place].stranded_share).sum();
        sum / divided.stages.len() as f64
    };
    let uses = found.resources.iter().enumerate().map(|(place, resource)| (&resource.name, mean(place)));
    let parts: Vec<String> = uses
        .filter(|(_, share)| *share > ROUNDING)
        .take(MOST_NAMED)
        .map(|(resource, share)| format!("{} of {resource}", Percent(share)))
        .collect();
    (!parts.is_empty()).then(|| {
        format!(
            "{} divides every resource by itself, and gives {} to users who cannot use it for lack of another.",
            divided.policy,
            join(&parts)
        )
    })
}

/// Says which resources are full; of one stage only, as each has its own.
fn bottlenecks(found: &Found, divided: &Divided) -> Option<String> {
    let [stage] = &divided.stages[..] else { return None };
    let full = stage.resources.iter().zip(&found.resources).filter(|(of, _)| of.bottleneck_level.is_some());
    let full: Vec<String> = full.map(|(_, resource)| resource.name.clone()).collect();
    let stopped = stage.users.iter().filter(|part| matches!(part.end, End::Limited(_))).count();
    Some(match &full[..] {
        [] => format!("Under {} there is enough for everybody.", divided.policy),
        [one] => format!("Under {} {one} is full; users who stop there: {stopped}.", divided.policy),
        several => format!(
            "Under {} {} resources are full; users who stop there: {stopped}.",
            divided.policy,
            several.len()
        ),
    })
}
