//! Rates and configurations as sentences and legends say them.

use trueplane_core::units::Percent;

use super::super::comparison::Row;
use super::super::options::{Options, SystemName};

/// A count in at most four digits: `80M`, `1.25M`, `20K`, `256`.
pub(in super::super) fn short(count: u64) -> String {
    let (scale, suffix) = match count {
        0..1_000 => (1, ""),
        1_000..1_000_000 => (1_000, "K"),
        1_000_000..1_000_000_000 => (1_000_000, "M"),
        _ => (1_000_000_000, "G"),
    };
    let number = count as f64 / f64::from(scale);
    let decimals = match number {
        number if number < 10.0 => 3,
        number if number < 100.0 => 2,
        number if number < 1000.0 => 1,
        _ => 0,
    };
    let text = format!("{number:.decimals$}");
    let text = if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
    format!("{text}{suffix}")
}

/// `20K/s`.
pub(in super::super) fn per_second(rate: u64) -> String {
    format!("{}/s", short(rate))
}

/// `5Mpps`.
pub(in super::super) fn packets(rate: u64) -> String {
    format!("{}pps", short(rate))
}

/// `1 key`, `12 keys`.
pub(in super::super) fn counted(count: u64, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

/// A difference of two ratios: `12.3 points`, `<0.01 points`.
pub(in super::super) fn points(difference: f64) -> String {
    let number = in_points(difference);
    format!("{number} point{}", if number == "1.0" { "" } else { "s" })
}

/// The same without the unit.
pub(in super::super) fn in_points(difference: f64) -> String {
    Percent(difference).to_string().trim_end_matches(" %").to_owned()
}

/// What is varied of a system's configuration, as `at …`: `at 20K/s`, `at 5Mpps and k = 4`; empty for a system without a loop.
///
/// The length of chains is only said if several are compared.
pub(in super::super) fn at(row: &Row, options: &Options) -> String {
    let mut parts = Vec::new();
    parts.extend(row.update_rate.map(per_second));
    parts.extend(row.control_rate.map(packets));
    parts.extend(row.chain.filter(|_| options.chains.len() > 1).map(|chain| format!("k = {chain}")));
    if parts.is_empty() { String::new() } else { format!("at {}", parts.join(" and ")) }
}

/// `netcache at 20K/s`, `frequency at 20K/s, best ageing`.
pub(in super::super) fn name(row: &Row, options: &Options) -> String {
    let name = [row.system.name().to_owned(), at(row, options)].join(" ");
    let best = if row.best { format!(", best {}", tuned(row.system)) } else { String::new() };
    format!("{}{best}", name.trim_end())
}

/// What `--best-config` looks for.
pub(in super::super) fn tuned(system: SystemName) -> &'static str {
    if system == SystemName::Frequency { "ageing" } else { "threshold" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_short() {
        let said = [0, 256, 999, 1_000, 20_000, 65_536, 1_250_000, 80_000_000, 2_000_000_000].map(short);
        assert_eq!(said, ["0", "256", "999", "1K", "20K", "65.54K", "1.25M", "80M", "2G"]);
    }

    #[test]
    fn points_are_counted() {
        assert_eq!(
            [0.177, 0.01, -0.02, 0.000_001].map(points),
            ["17.7 points", "1.0 point", "-2.0 points", "<0.01 points"]
        );
    }
}
