//! Times and memories as people write them.

use trueplane_units::LongTime;

use crate::Memory;

/// Seconds as people say them, in three digits: `12.3 min`, `4.5 d`.
pub(crate) fn time(seconds: f64) -> String {
    LongTime(seconds * 1e9).to_string()
}

/// The δ of a memory as people write it: `1-1e-6`, or `0.5`.
pub(crate) fn delta(memory: Memory) -> String {
    let forgotten = memory.forgotten_per_second();
    if forgotten > 0.1001 {
        return trimmed(&format!("{:.4}", 1.0 - forgotten)).to_owned();
    }
    let text = format!("{forgotten:.3e}");
    let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    format!("1-{}e{exponent}", trimmed(digits))
}

/// Without zeros at the end.
fn trimmed(text: &str) -> &str {
    text.trim_end_matches('0').trim_end_matches('.')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_delta_is_written_as_it_is_said() {
        let text = |forgotten| delta(Memory::forgetting(forgotten).unwrap());
        assert_eq!([1e-6, 1e-1, 0.5, 2.5e-4].map(text), ["1-1e-6", "1-1e-1", "0.5", "1-2.5e-4"]);
    }
}
