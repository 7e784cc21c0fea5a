//! The lines that set a half-life in real schedulers.
//!
//! Sources: Kueue, "Admission Fair Sharing" (`usageHalfLifeTime` of `admissionFairSharing`, a duration of Go); Slurm, `slurm.conf` (`PriorityDecayHalfLife`:
//! minutes, `hours:minutes:00`, `days-hours:minutes:00` or `days-hours`; without `PriorityWeightFairshare`, which is 0 by default, usage counts for nothing).

use trueplane_units::{Nanos, Value as _};

use super::found::{Candidate, Found};
use crate::policy::PolicyName;
use crate::span::Span;

/// A line for one system.
pub(super) struct Line {
    /// The scheduler that it sets.
    pub policy: PolicyName,
    /// The system.
    pub system: &'static str,
    /// The place of the line.
    pub place: &'static str,
    /// The line.
    pub line: String,
}

const MINUTE: u64 = 60_000_000_000;

/// The lines for every scheduler with a half-life that helps; that with the half-life is the first of its scheduler.
pub(super) fn lines(found: &Found) -> Vec<Line> {
    let helping = found.best().into_iter().filter(|one| one.helps());
    let of = |one: &Candidate| {
        let Some(half_life) = one.half_life else { return Vec::new() };
        let line = |system, place, line| Line { policy: one.policy, system, place, line };
        match one.policy {
            PolicyName::Sdrf => {
                let text = half_life.show();
                vec![
                    line("SDRF", "trueplane fair simulate", format!("--policies sdrf --half-life {text}")),
                    line("SDRF", "Python", format!("trueplane.fair.Sdrf(capacity, half_life=\"{text}\")")),
                ]
            }
            PolicyName::Kueue | PolicyName::KueueMilli => vec![
                line(
                    "Kueue",
                    "Configuration, admissionFairSharing",
                    format!("usageHalfLifeTime: {}", of_go(half_life)),
                ),
                line(
                    "Kueue",
                    "ClusterQueue, spec.admissionScope",
                    "admissionMode: UsageBasedAdmissionFairSharing".to_owned(),
                ),
            ],
            PolicyName::Slurm => vec![
                line("Slurm", "slurm.conf", format!("PriorityDecayHalfLife={}", of_slurm(half_life))),
                line("Slurm", "slurm.conf", "PriorityType=priority/multifactor".to_owned()),
                line("Slurm", "slurm.conf", "PriorityWeightFairshare=100000".to_owned()),
            ],
            _ => Vec::new(),
        }
    };
    helping.flat_map(of).collect()
}

/// `168h`, `1h30m`, `45s`: a duration of Go, which has no days.
fn of_go(half_life: Span) -> String {
    let Nanos(nanos) = half_life.get();
    let (hours, minutes) = (nanos / (60 * MINUTE), nanos / MINUTE % 60);
    let rest = nanos % MINUTE;
    let mut text = String::new();
    if hours > 0 {
        text.push_str(&format!("{hours}h"));
    }
    if minutes > 0 {
        text.push_str(&format!("{minutes}m"));
    }
    if rest > 0 {
        let seconds = format!("{}.{:09}", rest / 1_000_000_000, rest % 1_000_000_000);
        text.push_str(&format!("{}s", seconds.trim_end_matches('0').trim_end_matches('.')));
    }
    text
}

/// `7-0`, `1-12`, `0-06:30:00`: days and hours, and minutes if there are some, at least one. Slurm has nothing shorter.
fn of_slurm(half_life: Span) -> String {
    let minutes = half_life.get().0.div_ceil(MINUTE);
    let (days, hours, minutes) = (minutes / 1440, minutes / 60 % 24, minutes % 60);
    if minutes == 0 { format!("{days}-{hours}") } else { format!("{days}-{hours:02}:{minutes:02}:00") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_lives_are_written_as_schedulers_read_them() {
        for (text, go, slurm) in [
            ("7d", "168h", "7-0"),
            ("36h", "36h", "1-12"),
            ("90min", "1h30m", "0-01:30:00"),
            ("45s", "45s", "0-00:01:00"),
            ("1500ms", "1.5s", "0-00:01:00"),
        ] {
            let half_life = Span::parse(text).unwrap();
            assert_eq!((of_go(half_life).as_str(), of_slurm(half_life).as_str()), (go, slurm), "{text}");
        }
    }
}
