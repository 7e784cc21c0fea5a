//! The verdict of `surge guard`.

use trueplane_core::units::{BitsPerSec, Nanos};

use super::super::document::Row;
use super::super::guard::Guard;
use super::super::workload::size::Size;
use super::factor;

/// One line for today, and one for WSJF.
pub fn on_guard(found: &Guard) -> Vec<String> {
    let today = format!(
        "Today, under {}, a bit of attack costs your users up to {} bits: {}.",
        found.today.policy,
        factor(found.today.displacement_factor),
        attack(&found.today)
    );
    let bound = found.guarded.bound.map(|bound| format!(" (at most {} by theorem)", factor(bound)));
    let guarded = format!(
        "Under wsjf it would cost them up to {} bits{}: {}.",
        factor(found.guarded.displacement_factor),
        bound.unwrap_or_default(),
        attack(&found.guarded)
    );
    vec![today, guarded]
}

/// What does it.
fn attack(row: &Row) -> String {
    let size = Size::new(row.attack.packet_bits).map_or_else(String::new, |size| size.to_string());
    let job = Nanos(row.attack.job_ns);
    format!("packets of {size} that take {job} each, at {}", BitsPerSec(row.attack_bps))
}
