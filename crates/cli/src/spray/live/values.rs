//! Values of the verbs that run on real processors.

use trueplane_spray::live::memory::busy::MOST_CYCLES;
use trueplane_spray::steering::BUCKETS;

use crate::values::count;

/// Cycles that a core is really busy for.
pub(super) fn busy_cycles(text: &str) -> Result<u64, String> {
    let cycles = count(text)?;
    if cycles <= MOST_CYCLES {
        return Ok(cycles);
    }
    Err(format!("expected at most {MOST_CYCLES} cycles, got \"{text}\""))
}

/// Processors such as `0,1` or `0-3`.
pub(super) fn processors(text: &str) -> Result<Processors, String> {
    let refuse = || format!("expected processors such as 0,1 or 0-3, got \"{text}\"");
    let mut found = Vec::new();
    for part in text.split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let number = |text: &str| text.trim().parse::<usize>().ok().filter(|&number| number < 4096);
        let (Some(first), Some(last)) = (number(first), number(last)) else { return Err(refuse()) };
        for processor in first..=last {
            if found.contains(&processor) {
                return Err(format!("expected each processor once, got {processor} twice in \"{text}\""));
            }
            found.push(processor);
        }
    }
    match found.len() {
        1..=BUCKETS => Ok(Processors(found)),
        count => Err(format!("expected 1 to {BUCKETS} processors, got {count}")),
    }
}

/// Numbers of processors, each once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Processors(pub(super) Vec<usize>);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processors_are_lists_and_ranges() {
        assert_eq!(processors("0,1"), Ok(Processors(vec![0, 1])));
        assert_eq!(processors("3,0-2"), Ok(Processors(vec![3, 0, 1, 2])));
        for bad in ["", "a", "1-0", "0,0", "0-200", "-1", "0,"] {
            assert!(processors(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_core_is_not_busy_for_too_long() {
        assert_eq!(busy_cycles("10M"), Ok(10_000_000));
        assert!(busy_cycles("11M").is_err());
    }
}
