//! Errors of JSON documents in our own words.

use serde_json::error::{Category, Error};

/// What is wrong with a document, without the place: `expected a list, got an object`.
pub fn problem(error: &Error) -> String {
    let message = error.to_string();
    let what = message.strip_suffix(&place(error)).unwrap_or(&message);
    match error.classify() {
        Category::Eof => "the document ends too early".to_owned(),
        Category::Syntax => format!("this is not JSON: {what}"),
        Category::Io | Category::Data => in_our_words(what).unwrap_or_else(|| what.to_owned()),
    }
}

/// The message of serde about a value or a field, unless it is one of ours.
fn in_our_words(what: &str) -> Option<String> {
    if let Some(name) = what.strip_prefix("missing field ") {
        return Some(format!("expected a field {}", name.trim_matches('`')));
    }
    if let Some(name) = what.strip_prefix("duplicate field ") {
        return Some(format!("\"{}\" is said twice", name.trim_matches('`').escape_debug()));
    }
    for kind in ["field", "variant"] {
        let rest = what.strip_prefix("unknown ").and_then(|rest| rest.strip_prefix(kind));
        if let Some((name, known)) =
            rest.and_then(|rest| rest.strip_prefix(" `")?.rsplit_once("`, expected "))
        {
            // Names are between backticks.
            let known: Vec<&str> = known.split('`').skip(1).step_by(2).collect();
            let (name, known) = (name.escape_debug(), known.join(", "));
            return Some(match kind {
                "field" => format!("unknown field \"{name}\"; known: {known}"),
                _ => format!("expected one of {known}, got \"{name}\""),
            });
        }
    }
    let kinds = ["invalid type: ", "invalid value: ", "invalid length "];
    let wrong = kinds.into_iter().find_map(|kind| what.strip_prefix(kind))?;
    // A text that is found may have the same words.
    let (found, wanted) = wrong.rsplit_once(", expected ")?;
    Some(format!("expected {}, got {}", expected(wanted), got(found)))
}

/// The kind of value that serde expects, in our words.
fn expected(words: &str) -> String {
    let up_to = |most: u64| format!("a whole number from 0 to {most}");
    match words {
        "u8" => up_to(u8::MAX.into()),
        "u16" => up_to(u16::MAX.into()),
        "u32" => up_to(u32::MAX.into()),
        "u64" | "u128" | "usize" => "a whole number from 0".to_owned(),
        "i8" | "i16" | "i32" | "i64" | "i128" | "isize" => "a whole number".to_owned(),
        "f32" | "f64" => "a number".to_owned(),
        "a boolean" => "true or false".to_owned(),
        "a sequence" => "a list".to_owned(),
        "a map" => "an object".to_owned(),
        _ if words.starts_with("struct ") => "an object".to_owned(),
        _ => {
            let length =
                words.strip_prefix("a tuple of size ").or_else(|| words.strip_prefix("an array of length "));
            length.map_or_else(|| words.to_owned(), |length| format!("a list of {length}"))
        }
    }
}

/// The value that serde found, as JSON has it.
fn got(words: &str) -> String {
    match words {
        "sequence" => "a list".to_owned(),
        "map" => "an object".to_owned(),
        // One with a point or an exponent, whose text serde_json does not pass on.
        "number" => "a number".to_owned(),
        _ => {
            let kinds = ["integer ", "floating point ", "boolean ", "string "];
            let value = kinds.into_iter().find_map(|kind| words.strip_prefix(kind));
            value.map_or(words, |value| value.trim_matches('`')).to_owned()
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
    #[serde(deny_unknown_fields)]
    #[expect(dead_code, reason = "it is only read from text")]
    struct Task {
        user: Vec<u32>,
        #[serde(default)]
        share: f64,
        #[serde(default)]
        pair: Option<(u64, i8)>,
        #[serde(default)]
        kind: Option<Kind>,
        #[serde(default)]
        is_late: bool,
    }

    #[derive(Debug, Deserialize)]
    enum Kind {
        Short,
        Long,
    }

    #[test]
    fn problems_are_in_our_words() {
        for (text, said) in [
            ("", "the document ends too early at line 1 column 0"),
            ("{\"user\":", "the document ends too early at line 1 column 8"),
            ("{\"user\":[]} x", "this is not JSON: trailing characters at line 1 column 13"),
            ("{\"user\":[-1]}", "expected a whole number from 0 to 4294967295, got -1 at line 1 column 11"),
            ("{\"user\":3}", "expected a list, got 3 at line 1 column 9"),
            ("{\"user\":\"a, expected b\"}", "expected a list, got \"a, expected b\" at line 1 column 23"),
            ("{\"user\":{}}", "expected a list, got an object at line 1 column 8"),
            ("7", "expected an object, got 7 at line 1 column 1"),
            ("{\"share\":[]}", "expected a number, got a list at line 1 column 9"),
            ("{\"share\":null}", "expected a number, got null at line 1 column 13"),
            ("{\"is_late\":1.5}", "expected true or false, got a number at line 1 column 14"),
            ("{\"pair\":[1]}", "expected a list of 2, got 1 at line 1 column 11"),
            ("{\"pair\":[true]}", "expected a whole number from 0, got true at line 1 column 13"),
            ("{\"pair\":[1,\"x\"]}", "expected a whole number, got \"x\" at line 1 column 14"),
            ("{\"kind\":\"Odd\"}", "expected one of Short, Long, got \"Odd\" at line 1 column 13"),
            ("{}", "expected a field user at line 1 column 2"),
            ("{\"user\":[],\"user\":[]}", "\"user\" is said twice at line 1 column 17"),
            (
                "{\"us\\ner\":3}",
                "unknown field \"us\\ner\"; known: user, share, pair, kind, is_late at line 1 column 9",
            ),
        ] {
            let error = serde_json::from_str::<Task>(text).unwrap_err();
            assert_eq!(problem(&error) + &place(&error), said);
        }
    }
}
