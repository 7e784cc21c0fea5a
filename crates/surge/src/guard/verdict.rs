//! The verdict of `surge guard`.

use trueplane_study::prose::brief;

use super::found::Found;
use crate::compare::found::Row;
use crate::words::{at_most, cost, on_bounds};
use crate::workload::size::Size;

/// One line for today, and one for WSJF; another if a bound does not hold.
pub(super) fn verdict(found: &Found) -> Vec<String> {
    let costs = |row: &Row| {
        let displacement = row.displacement_factor;
        format!(
            "{}{}: {}",
            cost("up to ", displacement, " bits"),
            at_most(row.bound, displacement),
            attack(row)
        )
    };
    let today = format!(
        "Today, under {}, a bit of steady attack costs your users {}.",
        found.today.policy,
        costs(&found.today)
    );
    let guarded = format!("Under wsjf it would cost them {}.", costs(&found.guarded));
    let bounds = on_bounds([&found.today, &found.guarded]);
    brief([Some(today), Some(guarded), bounds].into_iter().flatten().map(|sentence| (0, sentence)).collect())
}

/// Description of the attack packets, with the time that the scheduler expects if that differs.
fn attack(row: &Row) -> String {
    let size = Size::new(row.attack.packet_bits).map_or_else(String::new, |size| size.to_string());
    let (job, estimate) = (row.attack.job, row.attack.estimate);
    let thought =
        if estimate == job { String::new() } else { format!(" and are thought to take {estimate}") };
    format!("packets of {size} that take {job} each{thought}, at {}", row.attack_rate)
}
