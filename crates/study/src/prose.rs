//! Words for the sentences of verdicts.

/// `a`, `a and b`, `a, b and c`.
pub fn join(parts: &[String]) -> String {
    match parts {
        [] => String::new(),
        [one] => one.clone(),
        [most @ .., last] => format!("{} and {last}", most.join(", ")),
    }
}

/// A number that is more than `most`, in as few digits, two or more, as it takes to see that: `2.3e9`, `2.0001e9`.
pub fn beyond(number: f64, most: f64) -> String {
    let mut texts = (1..=17).map(|digits| format!("{number:.digits$e}"));
    let is_beyond = |text: &String| text.parse().is_ok_and(|read: f64| read > most);
    texts.find(is_beyond).unwrap_or_else(|| number.to_string())
}

/// The number in so many digits, without zeros at the end: `3.27`, `12.5`, `240`, `0.0123`.
pub fn digits(number: f64, count: i32) -> String {
    if number == 0.0 {
        return "0".to_owned();
    }
    let before_point = number.abs().log10().floor() as i32 + 1;
    let decimals = usize::try_from(count - before_point).unwrap_or(0);
    let text = format!("{number:.decimals$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_beyond_a_limit_looks_like_it() {
        let shown = [2.34e9, 2_000_100_000.0, 2e9 * (1.0 + f64::EPSILON)].map(|number| beyond(number, 2e9));
        assert_eq!(shown, ["2.3e9", "2.0001e9", "2.0000000000000005e9"]);
    }

    #[test]
    fn lists_are_joined_as_people_do() {
        let joined = |parts: &[&str]| join(&parts.iter().map(ToString::to_string).collect::<Vec<_>>());
        assert_eq!(
            [joined(&[]), joined(&["a"]), joined(&["a", "b"]), joined(&["a", "b", "c"])],
            ["", "a", "a and b", "a, b and c"]
        );
    }
}
