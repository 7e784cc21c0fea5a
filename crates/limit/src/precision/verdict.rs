//! The verdict of `limit precision`.

use trueplane_study::prose::join;
use trueplane_units::{Bytes, Percent};

use super::found::{Point, worst};
use super::options::Options;
use crate::drain::Drain;
use crate::policy::PolicyName;

/// Error that a drained rate may have beside that of the table: the configured word, a packet at either end, and the 1/64 byte that is
/// rounded off at every packet.
const TABLE_ROUNDING: f64 = 0.001;

/// The most important sentence first.
pub(super) fn verdict(options: &Options, found: &[Point]) -> Vec<String> {
    let load = options.load.number();
    if load < 1.0 {
        return vec![format!(
            "Only {} of the configured rate is offered, so that the limits have nothing to do.",
            Percent(load)
        )];
    }
    let mut sentences: Vec<String> = on_exact(found).into_iter().collect();
    sentences.extend(on_tables(options, found));
    sentences.extend(on_references(found));
    sentences.push(format!(
        "Without a limit each of these sources takes what it sends, {} times the rate.",
        trimmed(load)
    ));
    sentences
}

/// Size of a full bucket relative to the bytes that passed while a limiter was measured: the error that a short time makes.
fn in_bucket(options: &Options, point: &Point) -> f64 {
    options.burst.0 as f64 / point.counts.admitted_bytes().max(1) as f64
}

/// The rate that was measured over so few bytes that the bucket matters, if there is one.
pub(super) fn on_short_time(options: &Options, found: &[Point]) -> Option<String> {
    let by_share = |a: &&Point, b: &&Point| in_bucket(options, a).total_cmp(&in_bucket(options, b));
    let worst = found.iter().max_by(by_share)?;
    let share = in_bucket(options, worst);
    (share > TABLE_ROUNDING).then(|| {
        format!(
            "At {} only {} passed in {}: what lies in a bucket of {} when that begins and ends is up to {} of it. Give a longer --duration.",
            worst.configured,
            Bytes(worst.counts.admitted_bytes()),
            worst.duration,
            options.burst,
            Percent(share)
        )
    })
}

fn on_exact(found: &[Point]) -> Option<String> {
    let exact =
        found.iter().filter(|point| (point.policy, point.drain) == (PolicyName::Nimble, Drain::Exact));
    worst(exact).map(|error| {
        format!(
            "With exact draining the rate that Nimble lets through is within {} of the configured one; the paper reports less than 1% for its switch.",
            at_most(error)
        )
    })
}

/// Nimble as a switch has it, by the error of its table.
fn on_tables(options: &Options, found: &[Point]) -> Option<String> {
    let tabled: Vec<&Point> = found.iter().filter(|point| point.drain != Drain::Exact).collect();
    let mut drains: Vec<Drain> = tabled.iter().map(|point| point.drain).collect();
    drains.sort_by(|a, b| a.error_max().total_cmp(&b.error_max()));
    drains.dedup();
    if drains.is_empty() {
        return None;
    }
    let of_drain = |&drain: &Drain| {
        let error = worst(tabled.iter().copied().filter(|point| point.drain == drain));
        format!("{} ({drain})", at_most(error.unwrap_or_default()))
    };
    let beyond = |point: &&&Point| {
        point.error().abs() > point.drain.error_max() + TABLE_ROUNDING + in_bucket(options, point)
    };
    let bound = match tabled.iter().find(beyond) {
        None => "never beyond the error that the table was made for (in brackets)".to_owned(),
        Some(point) => format!(
            "beyond the error that the table was made for (in brackets) at {} for one, where what is rounded off at every packet adds up",
            point.configured
        ),
    };
    let parts: Vec<String> = drains.iter().map(of_drain).collect();
    Some(format!(
        "Drained from a table, as a switch without multiplication must, it is within {}, {bound}.",
        join(&parts)
    ))
}

fn on_references(found: &[Point]) -> Option<String> {
    let others: Vec<&Point> = found.iter().filter(|point| point.policy != PolicyName::Nimble).collect();
    let error = worst(others.iter().copied())?;
    let mut names: Vec<PolicyName> = others.iter().map(|point| point.policy).collect();
    names.dedup();
    let names: Vec<String> = names.iter().map(ToString::to_string).collect();
    let are = if names.len() == 1 { "is" } else { "are" };
    Some(format!("In wide words, {} {are} within {}.", join(&names), at_most(error)))
}

/// An error rounded up to the digits in which people read it, so that "within" stays true: `0.03%`.
fn at_most(error: f64) -> String {
    let percent = error.abs() * 100.0;
    let step = if percent < 1.0 { 0.01 } else { 0.1 };
    Percent(((percent / step).ceil() * step).max(0.01) / 100.0).to_string()
}

fn trimmed(number: f64) -> String {
    let text = format!("{number:.2}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// The way to drain a limiter, with and without a multiplier.
pub(super) fn advice(options: &Options, found: &[Point]) -> String {
    let drains = found.iter().filter(|point| point.drain != Drain::Exact).map(|point| point.drain);
    let best = drains.min_by(|a, b| a.error_max().total_cmp(&b.error_max()));
    match best {
        Some(best) if options.load.number() >= 1.0 => format!(
            "Drain exactly where there is a multiplier (eBPF, software), and from a table where there is none: that of {best} is the most precise here."
        ),
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn within_is_never_less_than_the_error() {
        let said = [0.0, 0.000_02, 0.000_123, -0.005, 0.051_3, 0.49].map(at_most);
        assert_eq!(said, ["0.01%", "0.01%", "0.02%", "0.50%", "5.2%", "49.0%"]);
    }
}
