//! What was found, in sentences.

mod compare;
mod guard;

pub use compare::on_compare;
pub use guard::on_guard;

/// So many digits, without zeros at the end: `3.27`, `12.5`, `240`, `0.0123`.
pub(super) fn digits(number: f64, count: i32) -> String {
    if number == 0.0 {
        return "0".to_owned();
    }
    let before_point = number.abs().log10().floor() as i32 + 1;
    let decimals = usize::try_from(count - before_point).unwrap_or(0);
    let text = format!("{number:.decimals$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

/// A displacement factor: two decimals, or three digits above ten.
pub(super) fn factor(displacement: f64) -> String {
    let rounded = (displacement * 100.0).round() / 100.0;
    if rounded.abs() >= 10.0 { digits(rounded, 3) } else { digits(rounded + 0.0, 3) }
}
