//! What people see of `surge guard`: facts, and one row for today and one for WSJF, if that is another.

use trueplane_study::Page;
use trueplane_study::report::Cell;

use super::found::Found;
use crate::compare::page::{columns, is_misjudged, limits, numbers, workload};
use crate::words::on_bounds;

pub(super) fn present(found: &Found, page: &mut Page) {
    if let Some(sentence) = on_bounds(found.rows()) {
        page.warn(sentence);
    }
    workload(&found.workload, page);
    limits(found.limits, page);
    page.fact("users send", "innocent_bps", found.innocent_rate);
    page.fact("arrivals", "arrivals", Cell::name(found.arrivals));
    numbers(&found.today, &format!("today, under {}", found.today.policy), page);
    if let Some(guarded) = &found.guarded {
        numbers(guarded, &format!("under {}", found.guard()), page);
    }
    let title = match found.guarded {
        Some(_) => "Today and under WSJF, each under the steady attack that is worst for it",
        None => "Today, which is WSJF, under the steady attack that is worst for it",
    };
    columns(page.table("guard", title, found.rows()), is_misjudged(found.rows()));
}
