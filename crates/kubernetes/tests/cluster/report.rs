//! Waits and shares of tenants.

use std::collections::BTreeMap;

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

/// Core seconds that a job held.
fn used(done: &Done) -> f64 {
    done.job.needs[0] as f64 * done.ended.since(done.opened).0 as f64 / 1e9
}

/// Prints waits and shares of each tenant and of all as a table in Markdown.
pub(crate) fn print(run: &Run) {
    let mut tenants: BTreeMap<&str, Vec<&Done>> = BTreeMap::new();
    for done in &run.done {
        tenants.entry(&done.job.tenant).or_default().push(done);
    }
    let all: f64 = run.done.iter().map(used).sum();
    eprintln!(
        "| tenant | jobs | mean wait s | p50 | p95 | part of the core seconds |\n|---|---|---|---|---|---|"
    );
    let line = |name: &str, done: &[&Done]| {
        let waits = waits(done.iter().copied());
        let mean = waits.iter().sum::<f64>() / waits.len().max(1) as f64;
        let part = done.iter().map(|done| used(done)).sum::<f64>() / all * 100.0;
        let (median, late) = (quantile(&waits, 0.5), quantile(&waits, 0.95));
        eprintln!("| {name} | {} | {mean:.1} | {median:.1} | {late:.1} | {part:.1}% |", done.len());
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
