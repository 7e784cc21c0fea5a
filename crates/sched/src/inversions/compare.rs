//! How runs compare, in words: ratios told from enough inversions, and numbers with as many digits as they need.

use trueplane_units::{Percent, digits};

use super::found::{Found, SchedulerRun, find};
use crate::policy::SchedulerName;

/// Schedulers that know something of the ranks.
pub(super) const KNOWING: [SchedulerName; 3] =
    [SchedulerName::Gradient, SchedulerName::Fixed, SchedulerName::Optimal];

/// From fewer inversions or drops no ratio is told: chance moves it by some percent.
pub(super) const TELLING: u64 = 1_000;

/// Numbers that are no further apart are called equal.
const EQUAL: f64 = 0.02;

/// Two numbers that are so many standard errors apart, or fewer, may be apart by chance.
const CHANCE: f64 = 3.0;

/// Whether `less` is below `more` by more than chance, with the standard error of each. A number without one is exact.
pub(super) fn is_below((less, error): (f64, Option<f64>), (more, other): (f64, Option<f64>)) -> bool {
    more - less > CHANCE * error.unwrap_or(0.0).hypot(other.unwrap_or(0.0))
}

/// Ratio of the inversions of two runs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Times {
    pub(super) ratio: f64,
    /// Ratios that are no further from 1 are called equal: by chance, or because it does not matter.
    equal: f64,
}

impl Times {
    /// Whether the two have about as many.
    pub(super) fn is_equal(self) -> bool {
        (self.ratio - 1.0).abs() <= self.equal
    }
}

/// Ratio of the inversions of `one` to those of `other`, each per packet that left: a scheduler that drops more has fewer packets to send
/// out of order. None if either has too few inversions to tell.
///
/// Both saw the same packets, so that chance moves them the same way: that their errors are taken for independent is on the safe side.
pub(super) fn times(one: &SchedulerRun, other: &SchedulerRun) -> Option<Times> {
    if one.inversions.min(other.inversions) < TELLING {
        return None;
    }
    let ratio = one.inversion_share / other.inversion_share;
    let relative = |run: &SchedulerRun| run.inversion_share_error.unwrap_or(0.0) / run.inversion_share;
    Some(Times { ratio, equal: (CHANCE * ratio * relative(one).hypot(relative(other))).max(EQUAL) })
}

/// Writes a ratio of inversions before the name of the other run: `3.3 times fewer inversions than`, `12.0% more inversions than`.
pub(super) fn compared(times: Times) -> String {
    let Times { ratio, .. } = times;
    match ratio {
        _ if times.is_equal() => "about as many inversions as".to_owned(),
        _ if ratio >= 2.0 => format!("{} times as many inversions as", digits(ratio, 3)),
        _ if ratio > 1.0 => format!("{} more inversions than", Percent(ratio - 1.0)),
        _ if ratio > 0.5 => format!("{} fewer inversions than", Percent(1.0 - ratio)),
        _ => format!("{} times fewer inversions than", digits(1.0 / ratio, 3)),
    }
}

/// Two numbers with three digits, or as many more as it takes to tell them apart.
pub(super) fn apart(one: f64, other: f64) -> (String, String) {
    let shown = |count| (digits(one, count), digits(other, count));
    (3..12).map(shown).find(|(one, other)| one != other).unwrap_or_else(|| shown(3))
}

/// Whether something is not compared because there is too little of it.
pub(super) fn has_too_few(found: &Found) -> bool {
    let misses = |runs: &[SchedulerRun]| {
        let Some(sp_pifo) = find(runs, SchedulerName::SpPifo) else { return false };
        let others = KNOWING.into_iter().chain([SchedulerName::Fifo]);
        let mut others = others.filter_map(|scheduler| find(runs, scheduler));
        others.any(|other| times(sp_pifo, other).is_none())
    };
    misses(&found.schedulers) || found.variations.iter().any(|variation| misses(&variation.schedulers))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn times_of(one: (u64, Option<f64>), other: (u64, Option<f64>)) -> Option<Times> {
        let run = |(inversions, inversion_share_error): (u64, Option<f64>)| SchedulerRun {
            scheduler: SchedulerName::Fifo,
            arrivals: 100_000,
            departures: 100_000,
            drops: 0,
            inversions,
            inversion_share: inversions as f64 / 1e5,
            inversion_share_error,
            classical_share: None,
            drop_share: 0.0,
            unpifoness: 0,
            unpifoness_mean: 0.0,
            unpifoness_mean_error: None,
            expected_unpifoness: None,
            expected_unpifoness_error: None,
            mean_delay_ns: 0.0,
            bounds: None,
            by_rank: Vec::new(),
        };
        times(&run(one), &run(other))
    }

    #[test]
    fn what_is_apart_by_chance_is_not_below() {
        assert!(is_below((1.0, None), (1.1, None)) && !is_below((1.0, None), (1.0, None)));
        assert!(is_below((1.0, Some(0.03)), (1.2, Some(0.04))));
        assert!(!is_below((1.0, Some(0.03)), (1.14, Some(0.04))));
    }

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
        let of = |one, other| times_of((one, None), (other, None)).map(|times| times.ratio);
        assert_eq!([of(999, 5000), of(5000, 999), of(3000, 1000)], [None, None, Some(3.0)]);
        // 5% and 4 ‰ of errors each of 5%: 10% may be chance, 30% are not.
        let noisy = |inversions| times_of((inversions, Some(0.0025)), (5_000, Some(0.0025))).unwrap();
        assert!(noisy(5_500).is_equal() && !noisy(7_500).is_equal());
        assert_eq!(
            [1.01, 0.985, 4.0, 1.5, 0.6, 0.25].map(|ratio| compared(Times { ratio, equal: EQUAL })),
            [
                "about as many inversions as",
                "about as many inversions as",
                "4 times as many inversions as",
                "50.0% more inversions than",
                "40.0% fewer inversions than",
                "4 times fewer inversions than",
            ]
        );
    }
}
