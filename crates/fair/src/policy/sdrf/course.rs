//! The priority of a user who waits, as time passes.

use smallvec::SmallVec;
use trueplane_pqueue::{Curve, Instant};

/// a·g + b.
#[derive(Clone, Copy, Debug)]
pub(super) struct Line {
    pub(super) slope: u64,
    pub(super) offset: i128,
}

impl Line {
    /// Below 2¹²³: slopes are at most 2⁴⁵, instants 2⁷⁶ and offsets 2¹²⁰.
    fn at(self, instant: u128) -> i128 {
        i128::from(self.slope) * instant as i128 + self.offset
    }
}

/// The priority of a user from now on, times growth: the maximum of lines.
#[derive(Clone, Debug)]
pub(super) struct Course {
    ticket: u64,
    lines: SmallVec<[Line; 2]>,
}

impl Course {
    /// The maximum of `lines` from `now` on; those that are below another one for ever are left out.
    pub(super) fn new(ticket: u64, lines: impl Iterator<Item = Line>, now: u128) -> Self {
        let mut kept: SmallVec<[Line; 2]> = SmallVec::new();
        for line in lines {
            let below = |line: Line, other: &Line| other.slope >= line.slope && other.at(now) >= line.at(now);
            if !kept.iter().any(|other| below(line, other)) {
                kept.retain(|other| !below(*other, &line));
                kept.push(line);
            }
        }
        Self { ticket, lines: kept }
    }

    /// The place in the order of courses at `now`: the least is first.
    pub(super) fn place(&self, now: u128) -> (i128, u64) {
        (self.at(now), self.ticket)
    }

    fn at(&self, now: u128) -> i128 {
        self.lines.iter().map(|line| line.at(now)).max().unwrap_or(0)
    }

    /// The line that is the maximum at `now`, and its value; of equal ones the steepest, which is the maximum after `now`.
    fn top(&self, now: u128) -> Option<(Line, i128)> {
        let values = self.lines.iter().map(|&line| (line, line.at(now)));
        values.max_by_key(|(line, value)| (*value, line.slope))
    }
}

impl Curve for Course {
    type Instant = u128;

    fn beats(&self, other: &Self, now: u128) -> bool {
        self.place(now) < other.place(now)
    }

    /// The least priority is first: this course is below the other one until one of its lines reaches the line that is the other's maximum now. The
    /// other may have left that line before then, upwards, so that this may be early.
    fn holds_until(&self, other: &Self, now: u128) -> u128 {
        // Quotients are right within 2⁻⁵¹.
        const SLACK: f64 = 1.0 - 1.0 / (1u64 << 50) as f64;
        let Some((top, value)) = other.top(now) else { return Instant::NEVER };
        let reached = self.lines.iter().filter(|line| line.slope > top.slope).map(|line| {
            // The line is below as long as gain × growth < gap.
            (value - line.at(now)) as f64 / (line.slope - top.slope) as f64
        });
        // Beyond the largest instant the cast stops at the largest integer, and so does the sum.
        let reached = reached.reduce(f64::min);
        reached.map_or(Instant::NEVER, |growth| now.saturating_add(((growth * SLACK) as u128).max(1)))
    }
}
