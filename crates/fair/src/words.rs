//! Times as verdicts say them.

use trueplane_units::LongTime;

/// Seconds as people say them, in three digits: `12.3 min`, `4.5 d`.
pub(crate) fn time(seconds: f64) -> String {
    LongTime(seconds * 1e9).to_string()
}
