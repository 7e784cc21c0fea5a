//! Rates and configurations as sentences and legends say them.

use trueplane_units::{Nanos, Percent};

use crate::comparison::Row;
use crate::options::Options;
use crate::policy::SystemName;
use crate::timing::Timing;

/// A count in at most four digits: `80M`, `1.25M`, `20K`, `256`, `1E` for 10¹⁸.
pub(crate) fn short(count: u64) -> String {
    const SUFFIXES: [&str; 7] = ["", "K", "M", "G", "T", "P", "E"];
    let mut number = count as f64;
    let mut suffixes = SUFFIXES.into_iter();
    let mut suffix = suffixes.next().unwrap_or_default();
    // What is rounded to a thousand has the next suffix already.
    while number >= 999.95 {
        let Some(next) = suffixes.next() else { break };
        (number, suffix) = (number / 1000.0, next);
    }
    let decimals = match number {
        number if number < 10.0 => 3,
        number if number < 100.0 => 2,
        _ => 1,
    };
    let text = format!("{number:.decimals$}");
    format!("{}{suffix}", text.trim_end_matches('0').trim_end_matches('.'))
}

/// `20K/s`.
pub(crate) fn per_second(rate: u64) -> String {
    format!("{}/s", short(rate))
}

/// `5Mpps`.
pub(crate) fn packets(rate: u64) -> String {
    format!("{}pps", short(rate))
}

/// What `optimal` is the optimum of (A2 of the paper's appendix): netcache, whose reports wait, and dyso are something else.
pub(crate) const PROMPT: &str = "table in batches that inserts only what was looked up in the batch before";

/// How long so many lookups take, one a slot.
pub(crate) fn elapsed(lookups: u64, timing: Timing) -> String {
    match timing.nanos(lookups) {
        Nanos(0) if lookups > 0 => "less than 1ns".to_owned(),
        time => time.to_string(),
    }
}

/// `1 key`, `12 keys`.
pub(crate) fn counted(count: u64, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

/// A difference of two ratios: `12.3 points`, `<0.01 points`.
pub(crate) fn points(difference: f64) -> String {
    let number = in_points(difference);
    format!("{number} point{}", if number == "1.0" { "" } else { "s" })
}

/// The same without the unit.
pub(crate) fn in_points(difference: f64) -> String {
    Percent(difference).to_string().trim_end_matches(" %").to_owned()
}

/// What is varied of a system's configuration, as `at …`: `at 20K/s`, `at 5Mpps and k = 4`; empty for a system without a loop.
///
/// The length of chains is only said if several are compared.
pub(crate) fn at(row: &Row, options: &Options) -> String {
    let mut parts = Vec::new();
    parts.extend(row.update_rate.map(per_second));
    parts.extend(row.control_rate.map(packets));
    parts.extend(row.chain.filter(|_| options.chains.len() > 1).map(|chain| format!("k = {chain}")));
    if parts.is_empty() { String::new() } else { format!("at {}", parts.join(" and ")) }
}

/// `netcache at 20K/s`, `frequency at 20K/s, best ageing`.
pub(crate) fn name(row: &Row, options: &Options) -> String {
    let name = [row.system.name().to_owned(), at(row, options)].join(" ");
    let best = if row.best { format!(", best {}", tuned(row.system)) } else { String::new() };
    format!("{}{best}", name.trim_end())
}

/// What `--best-config` looks for.
pub(crate) fn tuned(system: SystemName) -> &'static str {
    system.properties().tuning.name()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_short() {
        let said = [0, 256, 999, 1_000, 20_000, 65_536, 1_250_000, 80_000_000, 2_000_000_000].map(short);
        assert_eq!(said, ["0", "256", "999", "1K", "20K", "65.54K", "1.25M", "80M", "2G"]);
        let said = [999_949, 999_950, 1_000_000_000_000, 1_000_000_000_000_000_000, u64::MAX].map(short);
        assert_eq!(said, ["999.9K", "1M", "1T", "1E", "18.45E"]);
    }

    #[test]
    fn no_lookups_take_no_time_and_others_some() {
        let at = |rate| move |lookups| elapsed(lookups, Timing { rate });
        assert_eq!([0, 1, 3].map(at(1_000)), ["0ns", "1ms", "3ms"]);
        assert_eq!([0, 1, 3_000_000_000].map(at(1_000_000_000_000_000_000)), ["0ns", "less than 1ns", "3ns"]);
    }

    #[test]
    fn points_are_counted() {
        assert_eq!(
            [0.177, 0.01, -0.02, 0.000_001].map(points),
            ["17.7 points", "1.0 point", "-2.0 points", "<0.01 points"]
        );
    }
}
