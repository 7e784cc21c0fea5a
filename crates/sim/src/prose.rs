//! Words for the sentences of verdicts.

/// `a`, `a and b`, `a, b and c`.
pub(crate) fn join(parts: &[String]) -> String {
    match parts {
        [] => String::new(),
        [one] => one.clone(),
        [most @ .., last] => format!("{} and {last}", most.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_joined_as_people_do() {
        let joined = |parts: &[&str]| join(&parts.iter().map(ToString::to_string).collect::<Vec<_>>());
        assert_eq!(
            [joined(&[]), joined(&["a"]), joined(&["a", "b"]), joined(&["a", "b", "c"])],
            ["", "a", "a and b", "a, b and c"]
        );
    }
}
