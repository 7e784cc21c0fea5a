//! What people see of `surge guard`: facts, and one row for today and one for WSJF.

use trueplane_study::Page;
use trueplane_study::report::Cell;

use super::found::Found;
use crate::compare::page::{columns, is_misjudged, limits, numbers, workload};

pub(super) fn present(found: &Found, page: &mut Page) {
    workload(&found.workload, page);
    limits(found.limits, page);
    page.fact("users send", "innocent_bps", found.innocent_rate);
    page.fact("arrivals", "arrivals", Cell::name(found.arrivals));
    let (today, guarded) = (&found.today, &found.guarded);
    numbers(today, &format!("today, under {}", today.policy), page);
    numbers(guarded, "under wsjf", page);
    let title = "Today and under WSJF, each under the steady attack that is worst for it";
    columns(page.table("guard", title, [today, guarded]), is_misjudged([today, guarded]));
}
