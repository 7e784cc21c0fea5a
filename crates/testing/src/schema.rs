//! Holds JSON documents to the JSON Schemas that trueplane generates.
//!
//! It knows the keywords that those schemas use and refuses others. A validator for all of JSON Schema exists, but takes longer to compile
//! than everything that these tests link.

use serde_json::{Map, Value};

/// What of `value` does not fit `schema`, each with its place in the document.
pub fn problems(schema: &Value, value: &Value) -> Vec<String> {
    let mut problems = Vec::new();
    check(schema, value, "", &mut problems);
    problems
}

fn check(schema: &Value, value: &Value, place: &str, problems: &mut Vec<String>) {
    let keywords = schema.as_object().expect("a schema is an object");
    for (keyword, rule) in keywords {
        let fits = match keyword.as_str() {
            "$schema" | "$comment" | "title" | "description" | "default" => true,
            "const" => value == rule,
            "enum" => list(rule).contains(value),
            "type" => match rule {
                Value::Array(types) => types.iter().any(|name| is_of(value, name)),
                name => is_of(value, name),
            },
            "pattern" => {
                value.as_str().is_some_and(|text| is_of_pattern(text, rule.as_str().expect("a pattern")))
            }
            "anyOf" => list(rule).iter().any(|schema| self::problems(schema, value).is_empty()),
            "required" => list(rule).iter().all(|name| value.get(name.as_str().expect("a name")).is_some()),
            "items" => {
                for (index, item) in value.as_array().into_iter().flatten().enumerate() {
                    check(rule, item, &format!("{place}/{index}"), problems);
                }
                true
            }
            "properties" | "patternProperties" | "additionalProperties" => true,
            other => panic!("the keyword {other} is not known here"),
        };
        if !fits {
            problems.push(format!("{place}: {value} does not fit {keyword} {rule}"));
        }
    }
    for (name, member) in value.as_object().into_iter().flatten() {
        let place = format!("{place}/{name}");
        match of_member(keywords, name) {
            None => {}
            Some(Value::Bool(false)) => problems.push(format!("{place} is not in the schema")),
            Some(rule) => check(rule, member, &place, problems),
        }
    }
}

/// Whether a text is the words of a pattern and then a number (`^subset:[0-9]+$`) or any text (`^file:.+$`).
fn is_of_pattern(text: &str, pattern: &str) -> bool {
    let inner = pattern.strip_prefix('^').and_then(|rest| rest.strip_suffix("+$")).expect("a whole pattern");
    let (words, is_number) = match (inner.strip_suffix("[0-9]"), inner.strip_suffix('.')) {
        (Some(words), _) => (words, true),
        (None, words) => (words.expect("patterns are words before a number or any text"), false),
    };
    text.strip_prefix(words).is_some_and(|rest| {
        !rest.is_empty() && (!is_number || rest.bytes().all(|byte| byte.is_ascii_digit()))
    })
}

/// The schema of a member of an object.
fn of_member<'a>(keywords: &'a Map<String, Value>, name: &str) -> Option<&'a Value> {
    let named = keywords.get("properties").and_then(|properties| properties.get(name));
    let matches = |pattern: &str| name.ends_with(pattern.strip_suffix('$').expect("patterns are endings"));
    let patterns = keywords.get("patternProperties").and_then(Value::as_object).into_iter().flatten();
    let matched = patterns.filter(|(pattern, _)| matches(pattern)).map(|(_, rule)| rule).next();
    named.or(matched).or_else(|| keywords.get("additionalProperties"))
}

fn list(rule: &Value) -> &[Value] {
    rule.as_array().expect("a list")
}

fn is_of(value: &Value, name: &Value) -> bool {
    match name.as_str().expect("the name of a type") {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "number" => value.is_number(),
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        other => panic!("the type {other} is not known here"),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_does_not_fit_is_told_with_its_place() {
        let row = json!({
            "type": "object",
            "properties": { "policy": { "enum": ["lru", "mad"] } },
            "patternProperties": { "_ns$": { "type": ["number", "null"] } },
            "additionalProperties": false,
            "required": ["policy"],
        });
        let rows = json!({ "type": "array", "items": row });
        let of = |document: Value| problems(&rows, &document);
        assert_eq!(
            of(json!([{ "policy": "lru", "wait_ns": 1.5 }, { "policy": "mad", "wait_ns": null }])),
            [""; 0]
        );
        assert_eq!(of(json!([{ "policy": "lru", "wait_s": 1 }])), ["/0/wait_s is not in the schema"]);
        assert_eq!(
            of(json!([{ "policy": "fifo" }]))[0],
            "/0/policy: \"fifo\" does not fit enum [\"lru\",\"mad\"]"
        );
        assert_eq!(of(json!([{ "wait_ns": "long" }])).len(), 2);
        let pattern = json!({ "pattern": "^subset:[0-9]+$" });
        let fits = |text: &str| problems(&pattern, &json!(text)).is_empty();
        assert!(fits("subset:12") && !fits("subset:K") && !fits("subset:") && !fits("rss:12"));
    }
}
