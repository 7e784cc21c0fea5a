//! The verdict of `fair simulate`: who waits because the scheduler forgets, and who pays if it does not.

use trueplane_core::units::Percent;

use super::super::comparison::{Change, Comparison, SAME};
use super::super::document::{PolicyRun, Simulation};
use super::super::policy::PolicyName;
use super::time;
use crate::prose::join;

/// If a smaller part of all tasks waits, the order of users hardly matters.
const FEW_WAIT: f64 = 0.01;

/// What happens to fewer tasks of a user is chance.
const FEWEST_TASKS: u64 = 5;

/// The verdict, the most important sentence first.
pub fn on_simulation(found: &Simulation) -> Vec<String> {
    let mut sentences: Vec<String> = on_nothing(found).into_iter().collect();
    for comparison in &found.comparisons {
        sentences.push(on_waits(found, comparison));
        sentences.extend(on_gainers(comparison));
        sentences.extend(on_losers(comparison));
        sentences.push(on_horizon(found, comparison));
    }
    if let ([], Some(run)) = (&found.comparisons[..], found.policies.first()) {
        sentences.push(on_one(run));
    }
    sentences.extend(on_belief(found));
    sentences.extend(on_skipped(found));
    sentences.extend(on_backfill(found));
    sentences
}

/// Nobody waits, or users have too few tasks: before all else.
fn on_nothing(found: &Simulation) -> Option<String> {
    let run = found.policies.first()?;
    let started = run.tasks - run.skipped;
    if started == 0 {
        return Some("Every task is larger than the cluster: nothing ran.".to_owned());
    }
    let waiting = found.policies.iter().map(|run| run.waited).max().unwrap_or(0);
    if found.policies.iter().all(|run| run.contended_s == 0.0) {
        return Some(
            "At no time do two users wait: whose turn it is cannot matter on this cluster, and nothing is told apart; try less --capacity."
                .to_owned(),
        );
    }
    if (waiting as f64) < FEW_WAIT * started as f64 {
        return Some(format!(
            "Only {waiting} of {started} tasks wait at all: whose turn it is hardly matters on this cluster, and the comparison tells next to nothing; try less --capacity."
        ));
    }
    let mut submitted: Vec<u64> = run.users.iter().map(|user| user.submitted).collect();
    submitted.sort_unstable();
    let few = submitted[submitted.len() / 2] < FEWEST_TASKS;
    few.then(|| {
        format!(
            "Half of the users have fewer than {FEWEST_TASKS} tasks, and what happens to so few is chance: take a longer log."
        )
    })
}

fn run_of<'a>(found: &'a Simulation, policy: &str) -> Option<&'a PolicyRun> {
    found.policies.iter().find(|run| run.policy == policy)
}

/// How much longer or shorter, as a part of what it was.
fn change(before: f64, after: f64) -> String {
    if before > 0.0 { format!(" ({:+})", Percent(after / before - 1.0)) } else { String::new() }
}

/// `12s instead of 15s (-20.0 %)`.
fn instead(before: f64, after: f64) -> String {
    format!("{} instead of {}{}", time(after), time(before), change(before, after))
}

/// Gains and losses in one sentence, what is worse first.
fn on_waits(found: &Simulation, of: &Comparison) -> String {
    let Comparison { policy, baseline, users_wait_less: less, users_wait_more: more, .. } = *of;
    let (before, after) = match (run_of(found, baseline), run_of(found, policy)) {
        (Some(before), Some(after)) => (before.mean_wait_s, after.mean_wait_s),
        _ => (0.0, 0.0),
    };
    let mean = if time(before) == time(after) {
        format!("the mean wait of all tasks stays {}", time(after))
    } else {
        format!("the mean wait of all tasks is {}", instead(before, after))
    };
    let same = format!("{} the same", of_users(found.log.users - less - more));
    let users = format!(
        "{} than under {baseline}, {} and {same}",
        wait(less, "less"),
        of_users_waiting(more, "longer")
    );
    let later = after - before > SAME * after.max(before);
    let sooner = before - after > SAME * after.max(before);
    match (later, more > less) {
        (true, true) => format!("{policy} makes things worse on this log: {users}; {mean}."),
        (true, false) => {
            format!("{policy} lets tasks wait longer as a whole: {mean}, though {users}.")
        }
        (false, true) => format!(
            "{policy} lets more users wait longer than less: {users}; {}{mean}.",
            if sooner { "yet " } else { "" }
        ),
        (false, false) if less + more == 0 && !sooner => {
            format!("{policy} and {baseline} let users wait equally long on this log: {mean}.")
        }
        (false, false) => format!("Under {policy} {users}; {mean}."),
    }
}

/// Those who wait because the baseline forgets what others had.
fn on_gainers(of: &Comparison) -> Option<String> {
    let Comparison { policy, baseline, gainers, .. } = of;
    let most = of.gains_most.as_ref()?;
    let who = match (of.users_wait_less, remembers(policy) && !remembers(baseline)) {
        (1, true) => format!("One user, {}, waits because {baseline} forgets", most.user),
        (count, true) => format!("{count} users wait because {baseline} forgets"),
        (1, false) => format!("One user, {}, gains by {policy}", most.user),
        (count, false) => format!("{count} users gain by {policy}"),
    };
    let mut sentence = format!(
        "{who}: {} of what all users held is theirs, and their tasks wait {} under {policy}.",
        Percent(gainers.held),
        instead(gainers.baseline_mean_wait_s, gainers.mean_wait_s)
    );
    if of.users_wait_less > 1 {
        sentence.push_str(&format!(" Most is gained by {}.", one(most)));
    }
    Some(sentence)
}

/// Those who wait longer.
fn on_losers(of: &Comparison) -> Option<String> {
    let Comparison { policy, losers, .. } = of;
    let Some(most) = &of.loses_most else {
        return (of.users_wait_less > 0).then(|| format!("Nobody waits longer under {policy}."));
    };
    let who = match (of.users_wait_more, of.users_wait_less) {
        (1, 0) => format!("One user, {}, loses", most.user),
        (count, 0) => format!("{count} users lose"),
        (1, _) => format!("One user, {}, pays for it", most.user),
        (count, _) => format!("{count} users pay for it"),
    };
    let mut sentence = format!(
        "{who}: {} of what all users held is theirs, and their tasks wait {}.",
        Percent(losers.held),
        instead(losers.baseline_mean_wait_s, losers.mean_wait_s)
    );
    if of.users_wait_more > 1 {
        sentence.push_str(&format!(" Most is lost by {}.", one(most)));
    }
    Some(sentence)
}

/// `b, whose 12 tasks wait …`.
fn one(of: &Change) -> String {
    let (tasks, waits) = if of.tasks == 1 { ("task", "waits") } else { ("tasks", "wait") };
    format!(
        "{}, whose {} {tasks} {waits} {}",
        of.user,
        of.tasks,
        instead(of.baseline_mean_wait_s, of.mean_wait_s)
    )
}

/// What has been completed by the horizon.
fn on_horizon(found: &Simulation, of: &Comparison) -> String {
    let by = format!("By the horizon of {}", time(found.parameters.horizon_s));
    let (more, less) = (of.users_complete_more, of.users_complete_less);
    if more + less == 0 {
        return format!(
            "{by} every user has completed as many tasks under {} as under {}.",
            of.policy, of.baseline
        );
    }
    let worst = of.completes_less.as_ref().map_or(String::new(), |worst| {
        format!(
            " ({}{}: {} of them instead of {})",
            if less > 1 { "the most lost by " } else { "" },
            worst.user,
            Percent(worst.completion_ratio),
            Percent(worst.baseline_completion_ratio)
        )
    });
    let all = match of.completed_by_horizon_change {
        0 => "as many in all".to_owned(),
        change if change > 0 => format!("{change} more in all"),
        change => format!("{} fewer in all", change.unsigned_abs()),
    };
    format!(
        "{by} {} completed more tasks under {} than under {}, and {} fewer{worst}: {all}.",
        have(more),
        of.policy,
        of.baseline,
        of_users(less)
    )
}

/// A single policy has nothing to be compared with.
fn on_one(run: &PolicyRun) -> String {
    format!(
        "Under {} {} of {} tasks wait; the mean wait of all is {}, and {} wait {} or more.",
        run.policy,
        run.waited,
        run.tasks - run.skipped,
        time(run.mean_wait_s),
        Percent(0.01),
        time(run.p99_wait_s)
    )
}

/// Equal now, and equal in the long run.
fn on_belief(found: &Simulation) -> Option<String> {
    let parts = |of: fn(&PolicyRun) -> Option<f64>| {
        let known = found.policies.iter().filter_map(|run| Some((run.policy, of(run)?)));
        known.map(|(policy, index)| format!("{index:.3} under {policy}")).collect::<Vec<_>>()
    };
    let (now, long) = (parts(|run| run.jain_now), parts(|run| run.jain_long_run));
    (!now.is_empty() && !long.is_empty()).then(|| {
        format!(
            "Jain's index of the shares that those hold who wait at the same instant is {}: that is \"equal now\". Of what all users held in the long run it is {}.",
            join(&now),
            join(&long)
        )
    })
}

fn on_skipped(found: &Simulation) -> Option<String> {
    let run = found.policies.first()?;
    let users = run.users.iter().filter(|user| user.skipped > 0).count() as u64;
    (run.skipped > 0 && run.skipped < run.tasks).then(|| {
        format!(
            "{} of {} tasks, of {}, are larger than the cluster and were skipped.",
            run.skipped,
            run.tasks,
            if users == 1 { "one user".to_owned() } else { format!("{users} users") }
        )
    })
}

fn on_backfill(found: &Simulation) -> Option<String> {
    let parts = found.policies.iter().map(|run| format!("{} under {}", run.backfilled, run.policy));
    found.parameters.backfill.then(|| {
        format!(
            "Tasks that fit passed tasks before them that did not: {} of {}. A large task may then wait as long as small ones come.",
            join(&parts.collect::<Vec<_>>()),
            found.log.tasks
        )
    })
}

/// Whether the order depends on what users had before.
fn remembers(policy: &str) -> bool {
    let found = PolicyName::NAMES.iter().find(|(name, _)| *name == policy);
    found.is_some_and(|(_, policy)| policy.remembers())
}

fn of_users(count: u64) -> String {
    if count == 0 { "none".to_owned() } else { count.to_string() }
}

/// `3 users wait less`.
fn wait(count: u64, how: &str) -> String {
    match count {
        0 => format!("no user waits {how}"),
        1 => format!("1 user waits {how}"),
        count => format!("{count} users wait {how}"),
    }
}

fn of_users_waiting(count: u64, how: &str) -> String {
    format!("{} {how}", of_users(count))
}

fn have(count: u64) -> String {
    match count {
        0 => "no user has".to_owned(),
        1 => "1 user has".to_owned(),
        count => format!("{count} users have"),
    }
}
