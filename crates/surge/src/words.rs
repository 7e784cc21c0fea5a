//! Numbers and bounds, as verdicts say them.

use trueplane_units::digits;

use crate::compare::found::Row;

/// Displacement factors closer to zero than this are what rounding leaves of it.
const DUST: f64 = 1e-12;

/// A displacement factor: two decimals, or three digits above ten; `<0.01` or `≈0` where two decimals would hide that it is not zero.
pub(super) fn factor(displacement: f64) -> String {
    if (DUST..0.005).contains(&displacement.abs()) {
        return if displacement < 0.0 { "≈0" } else { "<0.01" }.to_owned();
    }
    let rounded = (displacement * 100.0).round() / 100.0;
    if rounded.abs() >= 10.0 { digits(rounded, 3) } else { digits(rounded + 0.0, 3) }
}

/// Cost of a bit of attack for users, between the words `before` and `after`; `nothing` alone if they lost none.
pub(crate) fn cost(before: &str, displacement: f64, after: &str) -> String {
    if displacement > DUST {
        format!("{before}{}{after}", factor(displacement))
    } else {
        "nothing".to_owned()
    }
}

/// ` (at most 0.9 by theorem)`, if what was found is not more; nothing beside a larger number, or without a theorem.
pub(crate) fn at_most(bound: Option<f64>, found: f64) -> String {
    match bound {
        Some(bound) if found <= bound => {
            format!(" (at most {} by theorem)", factor(bound))
        }
        _ => String::new(),
    }
}

/// Displacement of a row as a multiple of its bound, if it is certainly above the bound.
fn excess(row: &Row) -> Option<f64> {
    let least = row.displacement_interval.map_or(row.displacement_factor, |interval| interval.low);
    let excess = least / row.bound?;
    (excess > 1.0 + 1e-3).then_some(excess)
}

/// That a bound does not hold, of the row of which that is most so.
pub(crate) fn on_bounds<'a>(rows: impl IntoIterator<Item = &'a Row>) -> Option<String> {
    let over = rows.into_iter().filter_map(|row| Some((row, excess(row)?)));
    let (row, _) = over.max_by(|a, b| a.1.total_cmp(&b.1))?;
    Some(format!(
        "The bound is for the long run; under {} and an attack of {} a bit displaces {}, and not {} at most.",
        row.policy,
        row.attack_rate,
        factor(row.displacement_factor),
        factor(row.bound.unwrap_or_default())
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_zero_is_not_called_zero() {
        let said = [0.0, -0.0, 1e-15, 0.004, -0.004, 0.006, -0.5, 2.999, 12.34, 240.4].map(factor);
        assert_eq!(said, ["0", "0", "0", "<0.01", "≈0", "0.01", "-0.5", "3", "12.3", "240"]);
    }

    #[test]
    fn an_attack_that_takes_nothing_has_no_negative_cost() {
        let said = [2.5, 0.001, 0.0, -1.36].map(|displacement| cost("up to ", displacement, " bits"));
        assert_eq!(said, ["up to 2.5 bits", "up to <0.01 bits", "nothing", "nothing"]);
    }

    #[test]
    fn a_bound_stands_beside_no_larger_number() {
        assert_eq!(at_most(Some(0.9), 0.64), " (at most 0.9 by theorem)");
        assert_eq!([at_most(Some(0.9), 0.91), at_most(None, 0.1)], ["", ""]);
    }
}
