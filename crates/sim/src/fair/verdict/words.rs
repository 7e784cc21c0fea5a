//! Times as verdicts say them.

use trueplane_core::units::Nanos;

/// Seconds as people say them, in three digits: `12.3 min`, `4.5 d`.
pub(in super::super) fn time(seconds: f64) -> String {
    let (unit, scale) = match seconds {
        seconds if seconds < 120.0 => return short(seconds),
        seconds if seconds < 7_200.0 => ("min", 60.0),
        seconds if seconds < 172_800.0 => ("h", 3_600.0),
        _ => ("d", 86_400.0),
    };
    format!("{} {unit}", digits(seconds / scale))
}

/// Up to two minutes.
fn short(seconds: f64) -> String {
    if seconds == 0.0 {
        return "0 s".to_owned();
    }
    if seconds >= 1.0 {
        return format!("{} s", digits(seconds));
    }
    // `as` saturates; it is less than a second.
    Nanos((seconds * 1e9).round() as u64).to_string()
}

/// Three digits, without zeros at the end.
fn digits(number: f64) -> String {
    let decimals = match number {
        number if number < 9.995 => 2,
        number if number < 99.95 => 1,
        _ => 0,
    };
    let text = format!("{number:.decimals$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_said_as_people_do() {
        let said = [0.0, 0.0015, 1.0, 59.96, 119.4, 120.0, 5_400.0, 7_200.0, 86_400.0, 1e6, 1e9].map(time);
        let expected =
            ["0 s", "1.5ms", "1 s", "60 s", "119 s", "2 min", "90 min", "2 h", "24 h", "11.6 d", "11574 d"];
        assert_eq!(said, expected);
    }
}
