//! The verdict of `surge guard`.

use trueplane_units::{BitsPerSec, Nanos};

use crate::document::Row;
use crate::guard::found::Guard;
use crate::words::{at_most, cost, on_bounds};
use crate::workload::size::Size;

/// One line for today, and one for WSJF; another if a bound does not hold.
pub fn on_guard(found: &Guard) -> Vec<String> {
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
    let mut sentences = vec![today, guarded];
    sentences.extend(on_bounds([&found.today, &found.guarded]));
    sentences
}

/// What does it, and what the scheduler takes it for if that is something else.
fn attack(row: &Row) -> String {
    let size = Size::new(row.attack.packet_bits).map_or_else(String::new, |size| size.to_string());
    let job = Nanos(row.attack.job_ns);
    let thought = if row.attack.estimate_ns == row.attack.job_ns {
        String::new()
    } else {
        format!(" and are thought to take {}", Nanos(row.attack.estimate_ns))
    };
    format!("packets of {size} that take {job} each{thought}, at {}", BitsPerSec(row.attack_bps))
}
