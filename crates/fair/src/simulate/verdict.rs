//! The verdict of `fair simulate`: who waits because the scheduler forgets, and who pays if it does not.

use trueplane_study::prose::join;
use trueplane_units::Percent;

use crate::comparison::SAME;
use crate::document::{Change, Comparison, Counted, PolicyRun, Simulation};
use crate::policy::PolicyName;
use crate::words::time;
use crate::workload::EARLIER;

/// If a smaller part of all tasks waits, the order of users hardly matters.
const FEW_WAIT: f64 = 0.01;

/// What happens to fewer tasks of a user is chance.
const FEWEST_TASKS: u64 = 5;

/// What of a log is there only in part is said in the verdict if it is a larger part of all tasks.
const MANY_CUT: f64 = 0.05;

/// The verdict, the most important sentence first.
pub fn on_simulation(found: &Simulation) -> Vec<String> {
    if let Some(run) = found.policies.first().filter(|run| run.skipped == run.tasks) {
        return vec![format!(
            "All tasks, {} of them, are larger than the cluster: nothing ran; expected more --capacity.",
            run.tasks
        )];
    }
    let mut sentences: Vec<String> = on_nothing(found).into_iter().collect();
    for comparison in &found.comparisons {
        sentences.push(on_waits(found, comparison));
        sentences.extend(on_gainers(comparison));
        sentences.extend(on_losers(comparison));
        sentences.extend(on_only_here(comparison));
        sentences.push(on_horizon(found, comparison));
    }
    if let ([], Some(run)) = (&found.comparisons[..], found.policies.first()) {
        sentences.push(on_one(run));
    }
    sentences.extend(on_belief(found));
    sentences.extend(on_cuts(found));
    sentences.extend(on_censored(found));
    sentences.extend(on_skipped(found));
    sentences.extend(on_backfill(found));
    sentences
}

/// Nobody waits, or users have too few tasks: before all else.
fn on_nothing(found: &Simulation) -> Option<String> {
    let run = found.policies.first()?;
    let started = run.tasks - run.skipped;
    let waiting = found.policies.iter().map(|run| run.waited).max().unwrap_or(0);
    if found.policies.iter().all(|run| run.contended_to_end_s == 0.0) {
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

fn run_of(found: &Simulation, policy: PolicyName) -> Option<&PolicyRun> {
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

/// Those who wait less: because the baseline forgets, if it is the memory of SDRF that helps them, and they had less than their part.
fn on_gainers(of: &Comparison) -> Option<String> {
    let Comparison { policy, baseline, gainers, modest_gainers: modest, .. } = of;
    let most = of.gains_most.as_ref()?;
    let forgets = *policy == PolicyName::Sdrf && !baseline.properties().remembers && modest.users > 0;
    let group = if forgets { modest } else { gainers };
    let who = match (group.users, forgets) {
        (1, true) if gainers.users == 1 => {
            format!("One user, {}, waits because {baseline} forgets", most.user)
        }
        (1, true) => format!("One user waits because {baseline} forgets"),
        (count, true) => format!("{count} users wait because {baseline} forgets"),
        (1, false) => format!("One user, {}, waits less under {policy}", most.user),
        (count, false) => format!("{count} users wait less under {policy}"),
    };
    let mut sentence = format!(
        "{who}: {} of what all users held up to the horizon is theirs, and their tasks wait {}{}.",
        Percent(group.held),
        instead(group.baseline_mean_wait_s, group.mean_wait_s),
        if forgets { format!(" under {policy}") } else { String::new() }
    );
    if forgets && gainers.users > modest.users {
        let others = gainers.users - modest.users;
        sentence.push_str(&format!(
            " {} less too, but held their own part or more.",
            if others == 1 { "1 other waits".to_owned() } else { format!("{others} others wait") }
        ));
    }
    sentence.push_str(&extremes(gainers.users, "gained", most, of.gains_most_of_hers.as_ref()));
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
        "{who}: {} of what all users held up to the horizon is theirs, and their tasks wait {}.",
        Percent(losers.held),
        instead(losers.baseline_mean_wait_s, losers.mean_wait_s)
    );
    sentence.push_str(&extremes(losers.users, "lost", most, of.loses_most_of_hers.as_ref()));
    Some(sentence)
}

/// Who of several gains or loses most, and who for what she waits.
fn extremes(users: u64, how: &str, most: &Change, of_hers: Option<&Change>) -> String {
    if users < 2 {
        return String::new();
    }
    let relative = of_hers.filter(|other| other.user != most.user);
    let relative =
        relative.map(|other| format!(" In proportion to her wait most is {how} by {}.", one(other)));
    format!(" Most is {how} by {}.{}", one(most), relative.unwrap_or_default())
}

/// Those who had not to wait at all: of what is nothing no part can be told.
fn on_only_here(of: &Comparison) -> Option<String> {
    let worst = of.waits_only_here.as_ref()?;
    let wait = time(worst.mean_wait_s);
    let (policy, baseline) = (of.policy, of.baseline);
    Some(match of.users_wait_only_here {
        1 => format!(
            "One user, {}, never waits under {baseline}, but {wait} on average under {policy}.",
            worst.user
        ),
        count => format!(
            "{count} users never wait under {baseline}, but do under {policy}, most of them {}: {wait} on average.",
            worst.user
        ),
    })
}

/// Tasks that are there only in part, if they are many.
fn on_cuts(found: &Simulation) -> Vec<String> {
    let tasks = found.log.tasks;
    let sentence = |of: &Counted| {
        let part = of.count as f64 / tasks as f64;
        let mut sentence = format!("{} of {tasks} tasks ({}) are {}", of.count, Percent(part), of.what);
        if of.what == EARLIER {
            let parts = found.policies.iter().map(|run| {
                format!("{} of all that is waited under {}", Percent(run.first_instant_part), run.policy)
            });
            sentence.push_str(&format!(
                ", and are all submitted together at its first instant, as they never were: what is submitted then has {}",
                join(&parts.collect::<Vec<_>>())
            ));
        } else {
            sentence.push_str(", which the log has only in part");
        }
        (part > MANY_CUT).then(|| sentence + ".")
    };
    found.log.cut.iter().filter_map(sentence).collect()
}

/// Tasks of which it is not known when they end.
fn on_censored(found: &Simulation) -> Option<String> {
    (found.log.censored > 0).then(|| {
        format!(
            "{} of {} tasks outlast the log, which does not say when they end: they are no part of what is completed by the horizon.",
            found.log.censored, found.log.tasks
        )
    })
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
    let started = run.tasks - run.skipped;
    if run.waited == 0 {
        return format!("Under {} none of {started} tasks waits.", run.policy);
    }
    format!(
        "Under {} {} of {started} tasks wait; the mean wait of all is {}, and 99 % wait no longer than {}.",
        run.policy,
        run.waited,
        time(run.mean_wait_s),
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
            "Jain's index of the shares that those hold who wait at the same instant is {}: that is \"equal now\". Of what all users held up to the horizon it is {}; but that is as much about what they asked for, as who needs little holds little under every policy.",
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
