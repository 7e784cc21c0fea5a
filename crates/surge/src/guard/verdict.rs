//! The verdict of `surge guard`.

use trueplane_units::Bytes;

use super::found::Found;
use crate::compare::found::Row;
use crate::words::{at_most, cost};

/// One line for today, and one for WSJF.
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
    let guarded = match &found.guarded {
        Some(guarded) => format!("Under {} it would cost them {}.", found.guard(), costs(guarded)),
        None => "This is the order of service that others are compared with: name another --policy to see what it saves.".to_owned(),
    };
    vec![today, guarded]
}

/// Description of the attack packets, with the time that the scheduler expects if that differs.
fn attack(row: &Row) -> String {
    // Whole bytes, as the wire has them; the table has the bits.
    let size = Bytes(u64::from(row.attack.packet_bits).div_ceil(8));
    let (job, estimate) = (row.attack.job, row.attack.estimate);
    let thought =
        if estimate == job { String::new() } else { format!(" and are thought to take {estimate}") };
    format!("packets of {size} that take {job} each{thought}, at {}", row.attack_rate)
}

/// An attack is cheap to bear if it takes less from users than it costs the attacker.
const CHEAP: f64 = 1.0;

/// Whether to serve in another order.
pub(super) fn advice(found: &Found) -> String {
    match &found.guarded {
        Some(_) if found.today.displacement_factor < CHEAP => {
            format!("Keep {}: a bit of attack costs your users less than one bit.", found.today.policy)
        }
        Some(guarded) if guarded.displacement_factor < found.today.displacement_factor => {
            format!("Serve by {} instead of {}.", found.guard(), found.today.policy)
        }
        Some(_) => format!("Keep {}: {} would not help.", found.today.policy, found.guard()),
        None => String::new(),
    }
}
