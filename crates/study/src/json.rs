//! Errors of JSON documents in our own words.

use serde_json::error::{Category, Error};

/// What is wrong with a document, without the place: `expected a list of users, got map`.
pub fn problem(error: &Error) -> String {
    let message = error.to_string();
    let what = message.strip_suffix(&place(error)).unwrap_or(&message);
    match error.classify() {
        Category::Eof => "the document ends too early".to_owned(),
        Category::Syntax => format!("this is not JSON: {what}"),
        Category::Io | Category::Data => {
            let wrong = what.strip_prefix("invalid type: ").or_else(|| what.strip_prefix("invalid value: "));
            let parts = wrong.and_then(|parts| parts.split_once(", expected "));
            match (parts, what.strip_prefix("missing field ")) {
                (Some((got, expected)), _) => format!("expected {expected}, got {got}"),
                (None, Some(field)) => format!("expected a field {field}"),
                (None, None) => what.to_owned(),
            }
        }
    }
}

/// The place as it ends a sentence: ` at line 3 column 7`; empty if it is not known.
pub fn place(error: &Error) -> String {
    match (error.line(), error.column()) {
        (0, _) => String::new(),
        (line, column) => format!(" at line {line} column {column}"),
    }
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;

    #[derive(Debug, Deserialize)]
    struct Task {
        #[expect(dead_code, reason = "it is only read from text")]
        user: Vec<u32>,
    }

    #[test]
    fn problems_are_in_our_words() {
        for (text, said) in [
            ("", "the document ends too early at line 1 column 0"),
            ("{\"user\":", "the document ends too early at line 1 column 8"),
            ("{\"user\":[]} x", "this is not JSON: trailing characters at line 1 column 13"),
            ("{\"user\":[-1]}", "expected u32, got integer `-1` at line 1 column 11"),
            ("{\"user\":3}", "expected a sequence, got integer `3` at line 1 column 9"),
            ("{}", "expected a field `user` at line 1 column 2"),
        ] {
            let error = serde_json::from_str::<Task>(text).unwrap_err();
            assert_eq!(problem(&error) + &place(&error), said);
        }
    }
}
