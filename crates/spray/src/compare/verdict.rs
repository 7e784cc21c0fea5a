//! The verdict of `spray compare`.

use trueplane_units::{Nanos, Percent};

use super::found::{Found, HASHING, Row};
use crate::dispatch::{DispatchName, PolicyName};
use crate::system::SystemName;

const SPRAY: SystemName = SystemName::Dispatch(DispatchName::of(PolicyName::Spray));
const ADAPTIVE: SystemName = SystemName::Dispatch(DispatchName::of(PolicyName::Adaptive));

/// A gain by less than this is none.
const SLIGHT: f64 = 0.005;

/// The most important sentence first.
pub(super) fn verdict(found: &Found) -> Vec<String> {
    let cases = found.cases();
    let sentences = [
        on_belief(found),
        on_spraying(&cases),
        on_adaptive(&cases),
        on_latency(&cases),
        on_order(&found.rows),
    ];
    sentences.into_iter().flatten().collect()
}

fn of(case: &[Row], system: SystemName) -> Option<&Row> {
    case.iter().find(|row| row.system == system)
}

fn millions(rate: f64) -> String {
    format!("{:.2} M packets/s", rate / 1e6)
}

/// The classical number beside the refined one, where they are farthest apart.
fn on_belief(found: &Found) -> Option<String> {
    let Row { case, classical, rate, .. } = found.worst_hashing()?;
    Some(format!(
        "With {}, hashing gets {} of the classical {}.",
        case.in_words(),
        Percent(rate.mean / classical),
        millions(*classical)
    ))
}

/// A row, and how many times as much as hashing it gets through.
type Gain<'a> = (&'a Row, f64);

/// Gains of a system over hashing in processing rate, in every case that has both.
fn gains<'a>(cases: &[&'a [Row]], system: SystemName) -> Vec<Gain<'a>> {
    let gain = |case: &&'a [Row]| {
        let (row, hashed) = (of(case, system)?, of(case, HASHING)?);
        Some((row, row.rate.mean / hashed.rate.mean)).filter(|(_, gain)| gain.is_finite())
    };
    cases.iter().filter_map(gain).collect()
}

/// The gains that are least and most.
fn extremes<'a>(gains: &[Gain<'a>]) -> Option<(Gain<'a>, Gain<'a>)> {
    let least = gains.iter().min_by(|a, b| a.1.total_cmp(&b.1))?;
    let most = gains.iter().max_by(|a, b| a.1.total_cmp(&b.1))?;
    Some((*least, *most))
}

/// Sentence about the cases in which spraying gets through most and least. It is about rates alone: latencies have their own.
fn on_spraying(cases: &[&[Row]]) -> Option<String> {
    let gains = gains(cases, SPRAY);
    let ((worst, least), (best, most)) = extremes(&gains)?;
    let losing = gains.iter().filter(|(_, gain)| *gain < 1.0 - SLIGHT).count();
    let (best, worst) = (best.case.in_words(), worst.case.in_words());
    let count = gains.len();
    Some(match (most > 1.0 + SLIGHT, losing) {
        (true, 0) => format!("Spraying gets through {most:.2} times as much as hashing with {best}."),
        (true, _) => format!(
            "Spraying gets through {most:.2} times as much as hashing with {best}, and less in {losing} of {count} cases: {least:.2} times with {worst}."
        ),
        (false, 0) => {
            "Spraying gets through as much as hashing, which leaves no core idle that could do more."
                .to_owned()
        }
        (false, _) => format!(
            "Spraying gets through less than hashing in {losing} of {count} cases, {least:.2} times as much with {worst}, and more in none."
        ),
    })
}

/// Sentence that compares the adaptive policy with hashing.
fn on_adaptive(cases: &[&[Row]]) -> Option<String> {
    let ((_, least), (_, most)) = extremes(&gains(cases, ADAPTIVE))?;
    let [least, most] = [least, most].map(|gain| format!("{gain:.2}"));
    let gains = if least == most { most } else { format!("{least} to {most}") };
    Some(format!("adaptive gets through {gains} times as much as hashing."))
}

/// Sentence about the effect of spraying on the 99th percentile of latency.
fn on_latency(cases: &[&[Row]]) -> Option<String> {
    let pairs = cases.iter().filter_map(|case| Some((of(case, SPRAY)?, of(case, HASHING)?)));
    let both = pairs.filter(|(sprayed, hashed)| sprayed.p99.mean > 0.0 && hashed.p99.mean > 0.0);
    let ratio = |(sprayed, hashed): &(&Row, &Row)| hashed.p99.mean / sprayed.p99.mean;
    let (sprayed, hashed) = both.max_by(|a, b| ratio(a).total_cmp(&ratio(b)))?;
    let time = |row: &Row| Nanos(row.p99.mean.round() as u64);
    Some(format!(
        "With {}, at {}, the 99th percentile of latency is {} sprayed and {} hashed.",
        sprayed.case.in_words(),
        millions(sprayed.load),
        time(sprayed),
        time(hashed)
    ))
}

/// Sentence about the reordering that a system causes.
fn on_order(rows: &[Row]) -> Option<String> {
    let worst = rows.iter().max_by(|a, b| a.late.mean.total_cmp(&b.late.mean))?;
    if worst.late.mean == 0.0 {
        return Some("No packet comes so late that TCP would take it for lost.".to_owned());
    }
    Some(format!(
        "Under {}, TCP would take {} of packets for lost (with {}), and {} at the load of the latencies.",
        worst.system,
        Percent(worst.late.mean),
        worst.case.in_words(),
        Percent(worst.late_at_load.mean)
    ))
}

/// A latency that is lower by less than this part of it is no reason to change.
const SHORTER: f64 = 0.2;

/// The policy that gains most over hashing in some case, with its least and its largest gain. Of equals the first, which is simpler.
fn most_gain<'a>(cases: &[&'a [Row]]) -> Option<(SystemName, (Gain<'a>, Gain<'a>))> {
    let ranges =
        [SPRAY, ADAPTIVE].into_iter().filter_map(|system| Some((system, extremes(&gains(cases, system))?)));
    ranges.reduce(|best, other| if other.1.1.1 > best.1.1.1 + SLIGHT { other } else { best })
}

/// The row that gains most over hashing, if any gains much.
pub(super) fn best(found: &Found) -> Option<&Row> {
    let (_, (_, (row, most))) = most_gain(&found.cases())?;
    (most > 1.0 + SLIGHT).then_some(row)
}

/// The policy that gets most packets through; if none gets more than hashing, the one with the shortest latencies.
pub(super) fn advice(found: &Found) -> String {
    let cases = found.cases();
    let Some((system, ((_, least), (row, most)))) = most_gain(&cases) else { return String::new() };
    if most <= 1.0 + SLIGHT {
        return on_waits(&cases);
    }
    let gain = format!(
        "{most:.2} times the packets of hashing, with {} of them reordered",
        Percent(row.reordered.mean)
    );
    match least < 1.0 - SLIGHT {
        false => format!(
            "Dispatch by {system}: up to {gain}. trueplane spray run --policy {system} does it on your interfaces."
        ),
        true => format!(
            "Dispatch by {system} where a few flows carry most packets (up to {gain}), and hash where there are many flows."
        ),
    }
}

/// Advice where no policy gets more packets through: the one with clearly shorter latencies, first one that reorders nothing.
fn on_waits(cases: &[&[Row]]) -> String {
    let shorter = |system: SystemName| {
        let pairs = cases.iter().filter_map(move |case| Some((of(case, system)?, of(case, HASHING)?)));
        let both = pairs.filter(|(row, hashed)| row.p99.mean > 0.0 && hashed.p99.mean > 0.0);
        both.min_by(|a, b| (a.0.p99.mean / a.1.p99.mean).total_cmp(&(b.0.p99.mean / b.1.p99.mean)))
    };
    let found = [ADAPTIVE, SPRAY].into_iter().filter_map(shorter);
    let mut found = found.filter(|(row, hashed)| row.p99.mean < (1.0 - SHORTER) * hashed.p99.mean);
    let time = |row: &Row| Nanos(row.p99.mean.round() as u64);
    found.next().map_or_else(
        || "Keep hashing flows to cores: nothing gets more packets through, or lets them wait clearly less.".to_owned(),
        |(row, hashed)| {
            format!(
                "Keep hashing if only rates matter; for short waits dispatch by {}: its 99th percentile of latency is {} instead of {}, with {} of packets reordered.",
                row.system,
                time(row),
                time(hashed),
                Percent(row.reordered_at_load.mean)
            )
        },
    )
}
