//! What people see of `fair allocate`: tables of users and resources under every mechanism, and all of them side by side.

use trueplane_study::report::Cell;
use trueplane_study::{Measured, Page};
use trueplane_units::Percent;

use super::found::{Divided, Found, Part, Stage};
use super::options::Options;
use crate::allocation::End;

/// A table with more rows is for who looks for it.
const MOST_ROWS: usize = 40;
/// The three numbers are told of so many users.
const MOST_NUMBERS: usize = 8;

pub(super) fn present(options: &Options, found: &Found, page: &mut Page) {
    page.fact("stages", "stages", found.stages());
    let alone = found.policies.iter().filter(|divided| divided.each_resource_alone);
    let alone: Vec<&str> = alone.map(|divided| divided.policy.name()).collect();
    if !alone.is_empty() {
        page.fact("every resource is divided by itself under", "each_resource_alone", alone.join(", "));
    }
    numbers(found, page);
    for divided in &found.policies {
        users(options, found, divided, page);
    }
    resources(found, page);
    comparison(found, page);
}

fn numbers(found: &Found, page: &mut Page) {
    let Some((forgetful, stateful)) = found.pair() else { return };
    for (user, part) in forgetful.users().iter().enumerate().take(MOST_NUMBERS) {
        page.numbers(
            format!(
                "mean dominant share of {} (classical: {}; refined: {})",
                part.user, forgetful.policy, stateful.policy
            ),
            "dominant_share_mean",
            Percent(forgetful.mean_share(user)),
            Percent(stateful.mean_share(user)),
            Measured::Needs("a cluster with both schedulers"),
        );
    }
}

/// Adds the table of all users under one mechanism.
fn users(options: &Options, found: &Found, divided: &Divided, page: &mut Page) {
    type Row<'a> = (&'a Stage, &'a Part);
    let rows = divided.stages.iter().flat_map(|stage| stage.users.iter().map(move |part| (stage, part)));
    let rows: Vec<Row<'_>> = rows.collect();
    let is_long = rows.len() > MOST_ROWS;
    let is_weighted = rows.iter().any(|(_, part)| part.weight != 1.0);
    let name = |resource: Option<usize>| resource.map(|resource| found.resources[resource].name.as_str());
    let mut table = page
        .table(format!("users-{}", divided.policy), format!("Users under {}", divided.policy), rows)
        .col_if(found.stages() > 1, "stage", "stage", |(stage, _)| stage.stage)
        .col("user", "user", |(_, part)| part.user.as_str())
        .col_if(is_weighted, "weight", "weight", |(_, part)| part.weight);
    for (place, resource) in found.resources.iter().enumerate() {
        // Its end says that it has no unit, whatever the resource is called.
        let column = format!("{}_amount", resource.name);
        table = table.col(&resource.name, column, |(_, part): &Row<'_>| tidy(part.amounts[place]));
    }
    let table = table
        .col("dominant resource", "dominant_resource", |(_, part)| name(part.dominant_resource))
        .col("dominant share", "dominant_share", |(_, part)| Percent(part.dominant_share))
        .col("wanted", "wanted_share", |(_, part)| {
            part.wanted_share.map_or(Cell::text("without end"), Cell::Ratio)
        })
        .col("commitment", "commitment", |(_, part)| Percent(part.commitment))
        .col_if(options.delta.is_some(), "commitment after", "commitment_after", |(_, part)| {
            part.commitment_after.map(Percent)
        })
        .col("end", "end", |(_, part)| match part.end {
            End::Idle => "wants nothing",
            End::Satisfied => "has all",
            End::Limited(_) => "is stopped",
        })
        .col("by", "limited_by", |(_, part)| match part.end {
            End::Limited(resource) => name(Some(resource)),
            End::Idle | End::Satisfied => None,
        });
    if is_long {
        table.detail();
    }
}

/// Adds the table of the resources.
fn resources(found: &Found, page: &mut Page) {
    let rows = found.policies.iter().flat_map(|divided| {
        divided.stages.iter().flat_map(move |stage| {
            let resources = stage.resources.iter().zip(&found.resources);
            resources.map(move |(of, resource)| (divided, stage, resource, of))
        })
    });
    let rows: Vec<_> = rows.collect();
    let is_long = rows.len() > MOST_ROWS;
    let alone = found.policies.iter().any(|divided| divided.each_resource_alone);
    let title = "Resources; a level is (share + commitment) / weight, and there is one where a resource stops somebody";
    let table = page
        .table("resources", title, rows)
        .col("policy", "policy", |row| row.0.policy.name())
        .col_if(found.stages() > 1, "stage", "stage", |row| row.1.stage)
        .col("resource", "resource", |row| row.2.name.as_str())
        .col("capacity", "capacity", |row| row.2.capacity)
        .col("given", "given_share", |row| Percent(row.3.given_share))
        .col_if(alone, "of no use", "stranded_share", |row| Percent(row.3.stranded_share))
        .col("level when full", "bottleneck_level", |row| row.3.bottleneck_level);
    if is_long {
        table.detail();
    }
}

/// All mechanisms side by side; nothing for one.
fn comparison(found: &Found, page: &mut Page) {
    let [first, others @ ..] = &found.policies[..] else { return };
    if others.is_empty() {
        return;
    }
    let users: Vec<(usize, &Part)> = first.users().iter().enumerate().collect();
    let is_long = users.len() > MOST_ROWS;
    let of = if found.stages() > 1 { ", mean of all stages" } else { "" };
    let share = |divided: &Divided| format!("{}_dominant_share", divided.policy);
    let mut table = page
        .table("comparison", format!("The dominant share that everybody can use{of}"), users)
        .col("user", "user", |(_, part)| part.user.as_str())
        .col(first.policy.name(), share(first), |&(user, _)| Percent(first.mean_share(user)));
    for other in others {
        table =
            table.col(other.policy.name(), share(other), |&(user, _)| Percent(other.mean_share(user))).col(
                format!("against {}", first.policy),
                format!("{}_change", other.policy),
                |&(user, _): &(usize, &Part)| {
                    let base = first.mean_share(user);
                    (base > 0.0).then(|| Cell::Change(tidy(other.mean_share(user) / base - 1.0)))
                },
            );
    }
    if is_long {
        table.detail();
    }
}

/// Without what rounding leaves: `3` instead of `3.0000000000000004`.
fn tidy(number: f64) -> f64 {
    let rounded = (number * 1e9).round() / 1e9;
    if (rounded - number).abs() < 1e-12 { rounded } else { number }
}
