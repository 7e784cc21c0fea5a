//! Waits and shares of tenants.

use std::collections::BTreeMap;
use std::env;
use std::fmt::Write as _;

use trueplane_fair::Nanos;

use super::live::{Done, Run};

/// A part of sorted values.
fn quantile(sorted: &[f64], part: f64) -> f64 {
    let place = ((sorted.len() as f64 * part) as usize).min(sorted.len().saturating_sub(1));
    sorted.get(place).copied().unwrap_or(0.0)
}

fn waits<'d>(done: impl Iterator<Item = &'d Done>) -> Vec<f64> {
    let mut waits: Vec<f64> = done.map(|done| done.opened.since(done.created).0 as f64 / 1e9).collect();
    waits.sort_unstable_by(f64::total_cmp);
    waits
}

/// Core seconds that a job held between two times, from when it was opened until it ended.
fn used(done: &Done, from: Nanos, until: Nanos) -> f64 {
    let (opened, ended) = (done.opened.max(from), done.ended.min(until));
    done.job.needs[0] as f64 * ended.since(opened.min(ended)).0 as f64 / 1e9
}

/// Core seconds that a job wanted.
fn wanted(done: &Done) -> f64 {
    done.job.needs[0] as f64 * done.job.runs.as_secs_f64()
}

/// Prints waits and shares of each tenant and of all as a table in Markdown.
pub(crate) fn print(run: &Run) {
    let mut tenants: BTreeMap<&str, Vec<&Done>> = BTreeMap::new();
    for done in &run.done {
        tenants.entry(&done.job.tenant).or_default().push(done);
    }
    let created = || run.done.iter().map(|done| done.created);
    let (from, until) = (created().min().unwrap(), created().max().unwrap());
    let all_wanted: f64 = run.done.iter().map(wanted).sum();
    let has = run.capacity[0] as f64 * until.since(from).0 as f64 / 1e9;
    let columns = [
        "tenant",
        "jobs",
        "part of the core seconds of the log",
        "mean wait s",
        "p50",
        "p95",
        "part of the cluster while jobs came",
    ];
    eprintln!("| {} |\n|{}", columns.join(" | "), "---|".repeat(columns.len()));
    let line = |name: &str, done: &[&Done]| {
        let waits = waits(done.iter().copied());
        let mean = waits.iter().sum::<f64>() / waits.len().max(1) as f64;
        let wants = done.iter().map(|done| wanted(done)).sum::<f64>() / all_wanted * 100.0;
        let part = done.iter().map(|done| used(done, from, until)).sum::<f64>() / has * 100.0;
        let (median, late) = (quantile(&waits, 0.5), quantile(&waits, 0.95));
        eprintln!(
            "| {name} | {} | {wants:.1}% | {mean:.1} | {median:.1} | {late:.1} | {part:.1}% |",
            done.len()
        );
    };
    for (name, done) in &tenants {
        line(name, done);
    }
    line("all", &run.done.iter().collect::<Vec<_>>());
    let opened = run.done.iter().map(|done| done.opened);
    let (first, last) = (opened.clone().min().unwrap(), opened.max().unwrap());
    let seconds = last.since(first).0 as f64 / 1e9;
    eprintln!(
        "{} were opened in {seconds:.1} s: {:.1} a second",
        run.done.len(),
        run.done.len() as f64 / seconds
    );
    let mut by_second: BTreeMap<u64, usize> = BTreeMap::new();
    run.done.iter().for_each(|done| *by_second.entry(done.opened.0 / 10_000_000_000).or_default() += 1);
    let most = by_second.values().max().copied().unwrap_or(0);
    eprintln!("in the ten seconds with the most: {:.1} a second", most as f64 / 10.0);
}

/// Writes what came of each job to the file of the variable `CSV`, if there is one.
pub(crate) fn write(run: &Run) {
    let Ok(path) = env::var("CSV") else { return };
    let mut text = "job,tenant,cores,gib,runs_s,created_ns,opened_ns,ended_ns\n".to_owned();
    for Done { job, created, opened, ended, .. } in &run.done {
        let [cores, gib] = job.needs;
        let (runs, name, tenant) = (job.runs.as_secs_f64(), &job.name, &job.tenant);
        writeln!(text, "{name},{tenant},{cores},{gib},{runs:.3},{},{},{}", created.0, opened.0, ended.0)
            .unwrap();
    }
    std::fs::write(path, text).unwrap();
}
