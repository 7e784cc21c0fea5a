//! What was found, in sentences.

mod bandwidth;
mod inversions;
mod load;
mod variations;

pub use bandwidth::on_bandwidth;
pub use inversions::on_inversions;
pub(super) use load::{Loaded, offered};

use trueplane_core::units::Percent;

/// From fewer inversions or drops no ratio is told: chance moves it by some percent.
const TELLING: u64 = 1_000;

/// Numbers that are no further apart are called equal.
const EQUAL: f64 = 0.02;

/// How many times `other` is `one`; none if either is too small a count to tell.
fn times(one: u64, other: u64) -> Option<f64> {
    (one.min(other) >= TELLING).then(|| one as f64 / other as f64)
}

/// Who has `ratio` times the inversions has: `3.3 times fewer inversions than`, `12.0 % more inversions than`.
fn compared(ratio: f64) -> String {
    match ratio {
        _ if (ratio - 1.0).abs() <= EQUAL => "about as many inversions as".to_owned(),
        _ if ratio >= 2.0 => format!("{} times as many inversions as", digits(ratio, 3)),
        _ if ratio > 1.0 => format!("{} more inversions than", Percent(ratio - 1.0)),
        _ if ratio > 0.5 => format!("{} fewer inversions than", Percent(1.0 - ratio)),
        _ => format!("{} times fewer inversions than", digits(1.0 / ratio, 3)),
    }
}

/// So many digits, without zeros at the end: `3.27`, `12.5`, `240`, `0.0123`.
fn digits(number: f64, count: i32) -> String {
    if number == 0.0 {
        return "0".to_owned();
    }
    let before_point = number.abs().log10().floor() as i32 + 1;
    let decimals = usize::try_from(count - before_point).unwrap_or(0);
    let text = format!("{number:.decimals$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

/// Two numbers with three digits, or as many more as it takes to tell them apart.
fn apart(one: f64, other: f64) -> (String, String) {
    let shown = |count| (digits(one, count), digits(other, count));
    (3..12).map(shown).find(|(one, other)| one != other).unwrap_or_else(|| shown(3))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_three_digits_and_more_to_be_told_apart() {
        let shown = [3.274, 12.54, 240.4, 1.0, 0.26, 0.0, 0.01234].map(|number| digits(number, 3));
        assert_eq!(shown, ["3.27", "12.5", "240", "1", "0.26", "0", "0.0123"]);
        assert_eq!(apart(0.02, 0.0205), ("0.02".to_owned(), "0.0205".to_owned()));
        assert_eq!(apart(1.2341, 1.2342), ("1.2341".to_owned(), "1.2342".to_owned()));
        assert_eq!(apart(0.5, 0.5), ("0.5".to_owned(), "0.5".to_owned()));
    }

    #[test]
    fn ratios_are_told_from_enough_and_as_people_say_them() {
        assert_eq!([times(999, 5000), times(5000, 999), times(3000, 1000)], [None, None, Some(3.0)]);
        assert_eq!(
            [1.01, 0.985, 4.0, 1.5, 0.6, 0.25].map(compared),
            [
                "about as many inversions as",
                "about as many inversions as",
                "4 times as many inversions as",
                "50.0 % more inversions than",
                "40.0 % fewer inversions than",
                "4 times fewer inversions than",
            ]
        );
    }
}
