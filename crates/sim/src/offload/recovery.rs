//! How long a system takes to get over a change of popularity.

use super::comparison::Recovery;
use super::tally::{Tally, Window};
use super::timing::Timing;

/// How much worse than before a window may be and still count as recovered: by a tenth.
const WITHIN: (u64, u64) = (11, 10);

/// What a tally says of the changes at `changes`, slots in rising order; `None` if it can say nothing of any of them.
///
/// It looks at the tally's windows of 10 ms, and says of a change how long after it the first window ends that is after
/// the change and in which misses are at most 1.1 times as frequent as before. So the answer is rounded up to windows,
/// and never less than one. The window in which a change falls counts as after it only if the change falls on its
/// start; otherwise it belongs to neither side. Before means all windows between the change before, or the end of the
/// warm-up, and this one. O(windows + changes).
pub fn recovery(
    tally: &Tally,
    timing: Timing,
    changes: impl Iterator<Item = u64>,
    warmup: u64,
) -> Option<Recovery> {
    let windows: Vec<Window> = tally.series(1).collect();
    let mut changes = changes.peekable();
    let (mut before, mut times) = (0, Vec::new());
    while let Some(change) = changes.next() {
        let next = changes.peek().copied();
        // The last one is followed by a full time between changes if the workload ends with that.
        let until = next.unwrap_or_else(|| change.saturating_add(change - before)).min(u64::MAX - 1);
        let previous = between(&windows, before.max(warmup), change);
        if change > warmup && until <= tally.now() && !previous.is_empty() {
            times.extend(time_to_recover(previous, between(&windows, change, until), change));
        }
        before = change;
    }
    let never = times.iter().filter(|time| **time == NEVER).count() as u64;
    times.sort_unstable();
    let median = median(&times)?;
    let median = (median != NEVER).then(|| timing.nanos(median));
    Some(Recovery { median, changes: times.len() as u64, never })
}

const NEVER: u64 = u64::MAX;

/// The windows from the first that starts at `from` or later to the last that ends by `until`.
fn between(windows: &[Window], from: u64, until: u64) -> &[Window] {
    let first = windows.partition_point(|window| window.start < from);
    let end = windows.partition_point(|window| window.start + window.lookups <= until);
    windows.get(first..end).unwrap_or_default()
}

/// How many slots after `change` the first window of `after` ends that is as good as those `before`; [`NEVER`] if none
/// is. Nothing if there is no window to look at.
fn time_to_recover(before: &[Window], after: &[Window], change: u64) -> Option<u64> {
    let (lookups, misses) = before
        .iter()
        .fold((0, 0), |(lookups, misses), window| (lookups + window.lookups, misses + window.misses));
    let is_back = |window: &&Window| {
        let ratio = u128::from(window.misses) * u128::from(lookups) * u128::from(WITHIN.1);
        ratio <= u128::from(misses) * u128::from(window.lookups) * u128::from(WITHIN.0)
    };
    let found = after.iter().find(is_back).map(|window| window.start + window.lookups - change);
    (!after.is_empty()).then(|| found.unwrap_or(NEVER))
}

/// The middle one of sorted times, or the mean of the two in the middle; [`NEVER`] if one of them is.
fn median(times: &[u64]) -> Option<u64> {
    let upper = *times.get(times.len() / 2)?;
    let lower = if times.len().is_multiple_of(2) { times[times.len() / 2 - 1] } else { upper };
    Some(if upper == NEVER { NEVER } else { lower.midpoint(upper) })
}

#[cfg(test)]
mod tests {
    use trueplane_core::units::Nanos;

    use super::*;

    const TIMING: Timing = Timing { rate: 1_000 };

    /// Windows of ten lookups each, with so many misses.
    fn tally(misses: &[u64]) -> Tally {
        let mut tally = Tally::new(TIMING, 0);
        misses.iter().for_each(|&misses| tally.add(10, misses));
        tally
    }

    fn of(misses: &[u64], changes: &[u64], warmup: u64) -> Option<Recovery> {
        recovery(&tally(misses), TIMING, changes.iter().copied(), warmup)
    }

    #[test]
    fn the_first_window_that_is_as_good_as_before_tells() {
        // Four misses in forty lookups before, so one in ten lookups is well, and two are not.
        let found = of(&[1, 1, 2, 0, 8, 5, 1, 9], &[40], 0);
        assert_eq!(found, Some(Recovery { median: Some(Nanos(30_000_000)), changes: 1, never: 0 }));
        // At once, but nobody sees what happens within a window.
        let found = of(&[1, 1, 1, 1], &[20], 0);
        assert_eq!(found, Some(Recovery { median: Some(Nanos(10_000_000)), changes: 1, never: 0 }));
    }

    #[test]
    fn a_tenth_more_is_as_good_as_before() {
        let (mut tally, timing) = (Tally::new(Timing { rate: 10_000 }, 0), Timing { rate: 10_000 });
        [10, 10, 12, 11].into_iter().for_each(|misses| tally.add(100, misses));
        let found = recovery(&tally, timing, [200].into_iter(), 0);
        assert_eq!(found.and_then(|found| found.median), Some(Nanos(20_000_000)));
    }

    #[test]
    fn a_change_within_a_window_leaves_that_out() {
        // At slot 25: windows 0 and 1 are before; window 2, with all its misses, is neither; window 3 ends 15 slots
        // later.
        let found = of(&[1, 1, 9, 1, 1, 1], &[25], 0);
        assert_eq!(found.and_then(|found| found.median), Some(Nanos(15_000_000)));
    }

    #[test]
    fn only_whole_times_between_changes_count() {
        // The second change is followed by one window only.
        let found = of(&[1, 1, 5, 1, 5], &[20, 40], 0);
        assert_eq!(found, Some(Recovery { median: Some(Nanos(20_000_000)), changes: 1, never: 0 }));
        // The first has nothing before it that counts, and the other not its whole time after it.
        assert_eq!(of(&[1, 1, 5, 1, 5], &[20, 40], 20), None);
        assert_eq!(of(&[1; 5], &[], 0), None);
        // A change as soon as counting begins has no time before it; one in a window with the warm-up's end has no
        // window.
        assert_eq!(of(&[1, 1, 5, 5], &[15], 12), None);
    }

    #[test]
    fn who_never_recovers_counts_as_slow() {
        let found = of(&[1, 1, 5, 5, 5, 2], &[20, 40], 0);
        // The time before the second change was as bad as the time after it.
        assert_eq!(found, Some(Recovery { median: None, changes: 2, never: 1 }));
        let found = of(&[1, 1, 5, 5, 5, 2, 9, 1], &[20, 40, 60], 0);
        assert_eq!(found, Some(Recovery { median: Some(Nanos(20_000_000)), changes: 3, never: 1 }));
    }

    #[test]
    fn of_an_even_number_the_median_is_in_the_middle() {
        let found = of(&[1, 1, 1, 2, 1, 1], &[20, 40], 0);
        assert_eq!(found.and_then(|found| found.median), Some(Nanos(10_000_000)));
        let found = of(&[2, 2, 2, 2, 5, 2, 2, 2], &[20, 40, 60], 0);
        assert_eq!(found.and_then(|found| found.median), Some(Nanos(10_000_000)));
        let found = of(&[2, 2, 5, 2, 2, 2], &[20, 40], 0);
        assert_eq!(found.and_then(|found| found.median), Some(Nanos(15_000_000)));
    }
}
