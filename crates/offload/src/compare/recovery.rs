//! How long a system takes to get over a change of popularity.
//!
//! What has to be reached again is the level of the best of times: of the last tenth of the time before every change
//! so far (at least one window of 10 ms, at most ten) the one with the fewest misses. It is the end of such a time
//! that counts, when the system has done what it can; and a system that never gets over changes which come too fast
//! is held to what it had before they began. A window is back at that level if its misses are at most a tenth more
//! frequent, and also those of it and the next two together (as far as they lie before the next change): one lucky
//! window does not count.
//!
//! It cannot be told where a tenth more would be everything, where a level is made of fewer than 1,000 lookups or a
//! window of fewer than 100, and where there are no windows of 10 ms between changes (`untold` says so).

use trueplane_units::Nanos;

use crate::tally::{MOST_WINDOWS, Tally, WINDOWS_PER_SECOND, Window};
use crate::timing::Timing;

/// Time that it took to get over a change of popularity: until the miss ratio, in windows of 10 ms, is back within a tenth of the lowest
/// that it had right before any change so far, and stays there for three windows on average; see the [module](self).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Recovery {
    /// The median over all changes after the warm-up that are followed by a full time between changes, as far as they can be told;
    /// `None` if in at least half of them the next change came first.
    pub median: Option<Nanos>,
    /// Changes looked at; at least one.
    pub changes: u64,
    /// Those of them that it did not get over before the next.
    pub never: u64,
}

/// Largest ratio to the level before at which a window still counts as recovered: a tenth above.
const WITHIN: (u128, u128) = (11, 10);
/// Part of the time before a change that tells its level: the last tenth.
const TENTH: usize = 10;
/// Most windows that tell a level.
const MOST_IN_LEVEL: usize = 10;
/// Fewest lookups in a level: chance does more than a tenth to fewer.
const FEWEST_IN_LEVEL: u64 = 1_000;
/// Fewest lookups in a window: chance does more than a tenth to fewer.
const FEWEST_IN_WINDOW: u64 = 100;
/// A window counts as recovered only if so many from it on do, taken together.
const LASTING: usize = 3;
/// Length of a window.
const WINDOW: Nanos = Nanos(1_000_000_000 / WINDOWS_PER_SECOND);

/// Recovery from the changes at `changes`, slots in rising order, of which the first is as far from the start as the others from each
/// other; `None` if the tally can say nothing of any of them.
///
/// It looks at the tally's windows of 10 ms, and says of a change how long after it the first window ends that is after
/// the change and back at the level that the module describes. So the answer is rounded up to windows, and never less
/// than one. The window in which a change falls counts as after it only if the change falls on its start; otherwise it
/// belongs to neither side. Changes in the warm-up and those without a full time between changes after them tell levels
/// and nothing else. O(windows + changes), and 24 B a window.
pub fn recovery(
    tally: &Tally,
    timing: Timing,
    changes: impl Iterator<Item = u64>,
    warmup: u64,
) -> Option<Recovery> {
    let mut changes = changes.peekable();
    if *changes.peek()? < timing.slots(WINDOW) {
        return None;
    }
    // None of them if the tally has none as short.
    let told = tally.series(1).filter(|window| window.lookups >= FEWEST_IN_WINDOW);
    let windows: Vec<Window> = told.collect();
    let (mut before, mut level, mut times) = (0, None, Vec::new());
    while let Some(change) = changes.next() {
        level = lowest(level, Level::of(between(&windows, before, change)));
        let next = changes.peek().copied();
        // The last one is followed by a full time between changes if the workload ends with that, to a slot.
        let until = next.unwrap_or_else(|| change.saturating_add((change - before).saturating_sub(1)));
        if change >= warmup && until <= tally.now() {
            let after = between(&windows, change, next.unwrap_or(tally.now()));
            let reachable = level.filter(Level::can_be_missed);
            times.extend(reachable.and_then(|level| time_to_recover(level, after, change)));
        }
        before = change;
    }
    let never = times.iter().filter(|time| **time == NEVER).count() as u64;
    times.sort_unstable();
    let median = median(&times)?;
    let median = (median != NEVER).then(|| timing.nanos(median));
    Some(Recovery { median, changes: times.len() as u64, never })
}

/// Why it cannot be told how long changes take that come every so often, in a workload of so many lookups: a
/// sentence, if that can be said beforehand.
pub(crate) fn untold(timing: Timing, every: Nanos, lookups: u64) -> Option<String> {
    let at = format!("at {} lookups a second: recovery cannot be told", timing.rate);
    let of = |count: u64| format!("{count} lookup{}", if count == 1 { "" } else { "s" });
    let windows = every.0 / WINDOW.0;
    let in_level = usize::try_from(windows).unwrap_or(usize::MAX) / TENTH;
    let level = Nanos(WINDOW.0 * in_level.clamp(1, MOST_IN_LEVEL) as u64);
    let [in_window, in_level] =
        [WINDOW, level].map(|time| timing.rate.saturating_mul(time.0 / WINDOW.0) / WINDOWS_PER_SECOND);
    let longest = MOST_WINDOWS as u64 / WINDOWS_PER_SECOND;
    if windows == 0 {
        Some(format!(
            "Popularity changes every {every}; recovery is looked at in windows of {WINDOW}, and cannot be told."
        ))
    } else if in_window < FEWEST_IN_WINDOW {
        Some(format!("Windows of {WINDOW} have only {} {at}.", of(in_window)))
    } else if in_level < FEWEST_IN_LEVEL {
        Some(format!("The last {level} before a change have only {} {at}.", of(in_level)))
    } else if lookups / timing.rate.max(1) >= longest {
        Some(format!(
            "Windows of {WINDOW} are kept of workloads of less than {longest} s; in longer ones recovery \
             cannot be told."
        ))
    } else {
        None
    }
}

const NEVER: u64 = u64::MAX;

/// The windows from the first that starts at `from` or later to the last that ends by `until`.
fn between(windows: &[Window], from: u64, until: u64) -> &[Window] {
    let first = windows.partition_point(|window| window.start < from);
    let end = windows.partition_point(|window| window.start + window.lookups <= until);
    windows.get(first..end).unwrap_or_default()
}

/// Misses of lookups.
#[derive(Clone, Copy)]
struct Level {
    lookups: u64,
    misses: u64,
}

impl Level {
    fn mean(windows: &[Window]) -> Self {
        let sum = |of: fn(&Window) -> u64| windows.iter().map(of).sum();
        Self { lookups: sum(|window| window.lookups), misses: sum(|window| window.misses) }
    }

    /// The level at the end of `windows`, if it can be told.
    fn of(windows: &[Window]) -> Option<Self> {
        let last = (windows.len() / TENTH).clamp(1, MOST_IN_LEVEL);
        let level = Self::mean(windows.get(windows.len().checked_sub(last)?..)?);
        (level.lookups >= FEWEST_IN_LEVEL).then_some(level)
    }

    fn is_below(&self, other: &Self) -> bool {
        u128::from(self.misses) * u128::from(other.lookups)
            < u128::from(other.misses) * u128::from(self.lookups)
    }

    /// Whether this is at most a tenth more than `level`.
    fn is_back_at(&self, level: &Self) -> bool {
        let (this, other) = (
            u128::from(self.misses) * u128::from(level.lookups),
            u128::from(level.misses) * u128::from(self.lookups),
        );
        this * WITHIN.1 <= other * WITHIN.0
    }

    /// Whether a window can be more than a tenth worse.
    fn can_be_missed(&self) -> bool {
        u128::from(self.misses) * WITHIN.0 < u128::from(self.lookups) * WITHIN.1
    }
}

fn lowest(level: Option<Level>, other: Option<Level>) -> Option<Level> {
    match (level, other) {
        (Some(level), Some(other)) if other.is_below(&level) => Some(other),
        (level, other) => level.or(other),
    }
}

/// Slots from `change` to the end of the first window of `after` that is back at `level`; [`NEVER`] if none is. Nothing if there is no
/// window to look at.
fn time_to_recover(level: Level, after: &[Window], change: u64) -> Option<u64> {
    let is_back = |&index: &usize| {
        let lasting = &after[index..after.len().min(index + LASTING)];
        [&after[index..=index], lasting].into_iter().all(|windows| Level::mean(windows).is_back_at(&level))
    };
    let found =
        (0..after.len()).find(is_back).map(|index| after[index].start + after[index].lookups - change);
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
    use super::*;

    const TIMING: Timing = Timing { rate: 100_000 };

    /// Windows of a thousand lookups each, with so many hundreds of misses.
    fn tally(misses: &[u64]) -> Tally {
        let mut tally = Tally::new(TIMING, 0);
        misses.iter().for_each(|&misses| tally.add(1_000, 100 * misses));
        tally
    }

    /// Of changes after so many windows.
    fn of(misses: &[u64], changes: &[u64], warmup: u64) -> Option<Recovery> {
        recovery(&tally(misses), TIMING, changes.iter().map(|window| window * 1_000), warmup * 1_000)
    }

    fn after(windows: u64, changes: u64, never: u64) -> Option<Recovery> {
        Some(Recovery { median: Some(Nanos(windows * 10_000_000)), changes, never })
    }

    #[test]
    fn the_level_is_that_of_the_end_of_the_time_before() {
        // At first 8 of 10, in the end 2: a window of 5 is far from that, though the mean of all was 5.
        assert_eq!(of(&[8, 7, 3, 2, 9, 5, 2, 2], &[4], 0), after(3, 1, 0));
        // At once, but nobody sees what happens within a window.
        assert_eq!(of(&[1, 1, 1, 1], &[2], 0), after(1, 1, 0));
        // The last tenth of thirty windows are three: 2, and not the 0 of the last one.
        let mut misses = vec![9; 30];
        misses[27..].copy_from_slice(&[3, 3, 0]);
        misses.extend([4, 2, 2, 2]);
        misses.resize(60, 2);
        assert_eq!(of(&misses, &[30], 0), after(2, 1, 0));
        // And of three hundred ten, not thirty.
        let mut misses = vec![1; 290];
        misses.resize(600, 3);
        assert_eq!(of(&misses, &[300], 0), after(1, 1, 0));
    }

    #[test]
    fn the_level_is_the_lowest_before_any_change() {
        // Never back at 1; by its own last windows it would be at once, every time.
        let misses = [9, 9, 1, 7, 7, 7, 7, 7, 7, 7, 7, 7];
        assert_eq!(of(&misses, &[3, 6, 9], 0), Some(Recovery { median: None, changes: 3, never: 3 }));
        // In the warm-up too: two are looked at, but it is the first that tells the level.
        assert_eq!(of(&misses, &[3, 6, 9], 6), Some(Recovery { median: None, changes: 2, never: 2 }));
        // Whoever gets better is held to that.
        let misses = [9, 9, 4, 7, 4, 2, 4, 4, 4, 4, 2, 2];
        assert_eq!(of(&misses, &[3, 6, 9], 0), after(2, 3, 1));
    }

    #[test]
    fn one_lucky_window_does_not_count() {
        assert_eq!(of(&[2, 2, 2, 2, 2, 9, 2, 9, 2, 2, 2, 2], &[5], 0), after(4, 1, 0));
        // Before the next change there is only one, and what comes then is not its fault.
        assert_eq!(
            of(&[2, 2, 9, 2, 9, 9], &[2, 4], 0),
            Some(Recovery { median: None, changes: 2, never: 1 })
        );
    }

    #[test]
    fn a_tenth_more_is_as_good_as_before() {
        let found = |third| {
            let mut tally = Tally::new(TIMING, 0);
            [100, 100, third, 110].into_iter().for_each(|misses| tally.add(1_000, misses));
            recovery(&tally, TIMING, [2_000].into_iter(), 0).and_then(|found| found.median)
        };
        assert_eq!([110, 111].map(found), [Some(Nanos(10_000_000)), Some(Nanos(20_000_000))]);
    }

    #[test]
    fn who_misses_nearly_everything_cannot_be_told() {
        assert_eq!(of(&[10; 8], &[4], 0), None);
        let found = |misses| {
            let mut tally = Tally::new(TIMING, 0);
            (0..8).for_each(|_| tally.add(1_000, misses));
            recovery(&tally, TIMING, [4_000].into_iter(), 0)
        };
        assert_eq!([908, 910, 920].map(found), [after(1, 1, 0), None, None]);
    }

    #[test]
    fn too_few_lookups_cannot_be_told() {
        let found = |rate: u64, windows: u64| {
            let (timing, slots) = (Timing { rate }, rate / 100);
            let mut tally = Tally::new(timing, 0);
            (0..2 * windows).for_each(|_| tally.add(slots, slots / 5));
            let found = recovery(&tally, timing, [windows * slots].into_iter(), 0);
            (found.is_some(), untold(timing, Nanos(windows * 10_000_000), tally.now()))
        };
        assert_eq!(found(100_000, 1), (true, None));
        assert_eq!(found(10_000, 100), (true, None));
        let said = |found: (bool, Option<String>)| found.1.filter(|_| !found.0).unwrap_or_default();
        assert!(
            said(found(9_900, 200))
                .starts_with("Windows of 10ms have only 99 lookups at 9900 lookups a second:")
        );
        assert!(said(found(100, 200)).starts_with("Windows of 10ms have only 1 lookup at 100"));
        assert!(
            said(found(10_000, 90))
                .starts_with("The last 90ms before a change have only 900 lookups at 10000")
        );
        assert!(said(found(99_900, 1)).starts_with("The last 10ms before a change have only 999 lookups"));
    }

    #[test]
    fn only_windows_of_10_ms_between_changes_tell() {
        let mut changes = 0;
        let counted = (1..).map(|change| change * 500).inspect(|_| changes += 1);
        assert_eq!(recovery(&tally(&[1; 9]), TIMING, counted, 0), None);
        assert!(changes < 3, "{changes}");
        assert!(untold(TIMING, Nanos(9_999_999), 1_000).is_some_and(|said| said.contains("every 10ms;")));
        // A day: windows are as long as ten once were.
        let timing = Timing { rate: 10_000 };
        let (mut long, day) = (Tally::new(timing, 0), 864_000_000);
        while long.now() < day {
            long.add(long.until() - long.now(), 20);
        }
        assert_eq!(recovery(&long, timing, [day / 2].into_iter(), 0), None);
        assert!(untold(timing, Nanos(1 << 40), day).is_some_and(|said| said.contains("less than 10000 s;")));
    }

    #[test]
    fn a_change_within_a_window_leaves_that_out() {
        // At slot 2500: windows 0 and 1 are before; window 2, with all its misses, is neither; window 3 ends 1500 slots
        // later.
        let found = recovery(&tally(&[1, 1, 9, 1, 1, 1]), TIMING, [2_500].into_iter(), 0);
        assert_eq!(found.and_then(|found| found.median), Some(Nanos(15_000_000)));
    }

    #[test]
    fn only_whole_times_between_changes_count() {
        // The second change is followed by one window only.
        assert_eq!(of(&[1, 1, 5, 1, 5], &[2, 4], 0), after(2, 1, 0));
        // The first is in the warm-up, and the other has not its whole time after it.
        assert_eq!(of(&[1, 1, 5, 1, 5], &[2, 4], 3), None);
        assert_eq!(of(&[1; 5], &[], 0), None);
        // One as soon as counting begins counts.
        assert_eq!(of(&[1, 1, 5, 1], &[2], 2), after(2, 1, 0));
    }

    #[test]
    fn who_never_recovers_counts_as_slow() {
        assert_eq!(of(&[1, 1, 5, 5, 5, 1, 9, 1], &[2, 4, 6], 0), after(2, 3, 1));
        let found = of(&[1, 1, 5, 5, 5, 1], &[2, 4], 0);
        assert_eq!(found, Some(Recovery { median: None, changes: 2, never: 1 }));
    }

    #[test]
    fn of_an_even_number_the_median_is_in_the_middle() {
        let found = of(&[2, 2, 5, 2, 2, 2], &[2, 4], 0);
        assert_eq!(found.and_then(|found| found.median), Some(Nanos(15_000_000)));
    }
}
