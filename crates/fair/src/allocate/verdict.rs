//! What `fair allocate` says in sentences.

use trueplane_study::prose::join;
use trueplane_units::Percent;

use crate::allocate::found::{Allocate, Divided, ROUNDING};
use crate::allocation::Mechanism;

/// Of more users only counts are told, and who gains and loses most.
const MOST_NAMED: usize = 3;

pub(super) fn on(found: &Allocate) -> Vec<String> {
    let mut verdict = Vec::new();
    for (forgetful, stateful) in [(Mechanism::Drf, Mechanism::Sdrf), (Mechanism::Mmf, Mechanism::Smmf)] {
        let of = |name: Mechanism| found.policies.iter().find(|divided| divided.policy == name);
        if let (Some(forgetful), Some(stateful)) = (of(forgetful), of(stateful)) {
            verdict.extend(compared(forgetful, stateful));
        }
    }
    verdict.extend(found.policies.iter().filter_map(stranded));
    verdict.extend(found.policies.iter().filter_map(bottlenecks));
    verdict
}

/// Who gains and who loses by a memory.
fn compared(forgetful: &Divided, stateful: &Divided) -> Vec<String> {
    let Some(first) = stateful.stages.first() else { return Vec::new() };
    let mut changed: Vec<(usize, f64)> = (0..first.users.len())
        .map(|user| (user, stateful.mean_share(user) - forgetful.mean_share(user)))
        .filter(|(_, change)| change.abs() > ROUNDING)
        .collect();
    changed.sort_by(|a, b| b.1.total_cmp(&a.1));
    let (before, after) = (forgetful.policy, stateful.policy);
    if changed.is_empty() {
        let why =
            match stateful.stages.iter().flat_map(|stage| &stage.users).any(|part| part.commitment > 0.0) {
                true => "no commitment changes what anybody gets",
                false => "nobody has a commitment",
            };
        return vec![format!("{after} gives everybody what {before} gives her: {why}.")];
    }
    let told = |&(user, _): &(usize, f64)| {
        let (part, several) = (&first.users[user], stateful.stages.len() > 1);
        let commitment = match part.commitment > 0.0 && !several {
            true => format!(" (commitment {})", Percent(part.commitment)),
            false => String::new(),
        };
        let of = match (&part.dominant_resource, several) {
            (_, true) => " in the mean of all stages".to_owned(),
            (Some(resource), false) => format!(" of {resource}"),
            (None, false) => String::new(),
        };
        let (now, then) = (Percent(forgetful.mean_share(user)), Percent(stateful.mean_share(user)));
        format!("{}{commitment} has {then}{of} instead of {now}", part.user)
    };
    let (gain, lose): (Vec<_>, Vec<_>) = changed.iter().copied().partition(|(_, change)| *change > 0.0);
    let lose: Vec<_> = lose.into_iter().rev().collect();
    [(gain, "more"), (lose, "less")]
        .into_iter()
        .filter(|(users, _)| !users.is_empty())
        .map(|(users, what)| {
            let named = join(&users.iter().take(MOST_NAMED).map(told).collect::<Vec<_>>());
            match users.len() {
                1 => format!("Under {after} one user gets {what} than under {before}: {named}."),
                count if count <= MOST_NAMED => {
                    format!("Under {after} {count} users get {what} than under {before}: {named}.")
                }
                count => format!(
                    "Under {after} {count} users get {what} than under {before}; most of all {named}."
                ),
            }
        })
        .collect()
}

/// What is given to those who cannot use it, where every resource is divided by itself.
fn stranded(divided: &Divided) -> Option<String> {
    let first = divided.stages.first()?;
    let mean = |place: usize| {
        let sum: f64 = divided.stages.iter().map(|stage| stage.resources[place].stranded_share).sum();
        sum / divided.stages.len() as f64
    };
    let uses = first.resources.iter().enumerate().map(|(place, resource)| (&resource.resource, mean(place)));
    let parts: Vec<String> = uses
        .filter(|(_, share)| *share > ROUNDING)
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

/// What there is too little of; of one stage only, as each has its own.
fn bottlenecks(divided: &Divided) -> Option<String> {
    let [stage] = &divided.stages[..] else { return None };
    let full = stage.resources.iter().filter(|resource| resource.bottleneck_level.is_some());
    let full: Vec<String> = full.map(|resource| resource.resource.clone()).collect();
    let limited = stage.users.iter().filter(|part| part.end == "limited").count();
    let users = if limited == 1 { "1 user stops".to_owned() } else { format!("{limited} users stop") };
    Some(match full.is_empty() {
        true => format!("Under {} there is enough for everybody.", divided.policy),
        false => format!(
            "Under {} {} {} full, and {users} there.",
            divided.policy,
            join(&full),
            if full.len() == 1 { "is" } else { "are" }
        ),
    })
}
