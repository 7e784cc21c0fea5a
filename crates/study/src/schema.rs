//! The JSON Schema of the documents that studies print.

use serde_json::{Map, Value, json};
use trueplane_units::{Kind, Parameter, parameter};

use crate::document::{SCHEMA, datum};
use crate::numbers;
use crate::study::Study;

/// The JSON Schema (draft 2020-12) of the documents of a study.
///
/// It names every parameter. The columns of tables depend on what is found; their names end in their unit, which the schema states.
pub fn of<S: Study>() -> Value {
    let table = parameter::table::<S::Options>();
    let parameters: Map<String, Value> =
        (table.iter()).map(|parameter| (parameter.machine_name(), declaration(parameter))).collect();
    let names: Vec<&String> = parameters.keys().collect();
    let declared = json!({
        "type": "object",
        "properties": parameters,
        "required": names,
        "additionalProperties": false,
    });
    document(S::NAME, S::BELIEF, &json!({ "const": S::NAME }), &declared)
}

/// The JSON Schema of the documents that live commands print, which are no studies.
pub fn of_live_commands() -> Value {
    let parameters = json!({ "type": "object" });
    document("live commands", "", &json!({ "type": "string" }), &parameters)
}

fn document(title: &str, description: &str, study: &Value, parameters: &Value) -> Value {
    let text = json!({ "type": "string" });
    let texts = json!({ "type": "array", "items": text });
    let coordinates = json!({ "type": "array", "items": { "type": ["number", "null"] } });
    let series = json!({
        "type": "object",
        "properties": {
            "name": text, "x": coordinates, "y": coordinates,
            "panel": { "type": "string", "description": "the small picture in which it is drawn" },
            "size": coordinates,
            "size_of": { "type": "string", "description": "the quantity that the sizes have" },
            "steps": { "const": true, "description": "each value holds up to the next point, where it jumps" },
        },
        "required": ["name", "x", "y"],
        "additionalProperties": false,
    });
    let plot = json!({
        "type": "object",
        "properties": {
            "title": text, "note": text, "x": text, "x_unit": text, "y": text, "y_unit": text,
            "x_names": { "type": "array", "items": text, "description": "what x counts from 0, if it is no number" },
            "series": { "type": "array", "items": series },
        },
        "required": ["title", "note", "x", "x_unit", "y", "y_unit", "series"],
        "additionalProperties": false,
    });
    let number = |what: &str| json!({ "type": ["number", "null"], "description": what });
    // One object of named values: a row, or the facts.
    let values = json!({
        "type": "object",
        "patternProperties": {
            "_ns$": number("nanoseconds"),
            "_bytes$": number("bytes"),
            "_bps$": number("bits per second"),
            "_per_s$": number("per second"),
            "_steps$": number("steps of a slotted model"),
        },
        "additionalProperties": { "type": ["number", "string", "null"] },
    });
    let quantity = three_numbers();
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": title,
        "description": description,
        "type": "object",
        "properties": {
            "schema": { "const": SCHEMA },
            "study": study,
            "version": text,
            "title": text,
            "belief": text,
            "parameters": parameters,
            "facts": values,
            "warnings": texts,
            "verdict": texts,
            "advice": text,
            "tables": {
                "type": "object",
                "properties": { numbers::TABLE: { "type": "array", "items": quantity } },
                "additionalProperties": { "type": "array", "items": values },
            },
            "plots": { "type": "object", "additionalProperties": plot },
        },
        "required": [
            "schema", "study", "version", "title", "belief", "parameters", "facts", "warnings", "verdict", "advice", "tables", "plots",
        ],
        "additionalProperties": false,
    })
}

/// The schema of a name out of these. One such as `subset:K` or `file:FOUND.json` stands for many: a number is in the place of `K`, and any
/// text in the place of another word in upper case.
fn one_of(names: &[&str]) -> Value {
    let pattern = |name: &&str| {
        let (prefix, word) = name.split_once(':')?;
        let text = match word {
            "K" => "[0-9]+",
            word if word.starts_with(|first: char| first.is_ascii_uppercase()) => ".+",
            _ => return None,
        };
        Some(json!({ "type": "string", "pattern": format!("^{prefix}:{text}$") }))
    };
    let closed: Vec<&&str> = names.iter().filter(|name| pattern(name).is_none()).collect();
    let closed = json!({ "enum": closed });
    let open: Vec<Value> = names.iter().filter_map(pattern).collect();
    if open.is_empty() {
        return closed;
    }
    json!({ "anyOf": std::iter::once(closed).chain(open).collect::<Vec<_>>() })
}

/// The schema of a quantity as it was predicted and measured.
fn three_numbers() -> Value {
    let value = json!({ "type": ["number", "null"], "description": "in the unit that the name ends in" });
    json!({
        "type": "object",
        "properties": {
            "quantity": { "type": "string" },
            "name": { "type": "string" },
            numbers::CLASSICAL: value,
            numbers::REFINED: value,
            numbers::MEASURED: value,
            "measured_by": { "type": ["string", "null"] },
        },
        "required": ["quantity", "name", numbers::CLASSICAL, numbers::REFINED],
        "additionalProperties": false,
    })
}

/// The schema of a parameter.
fn declaration(parameter: &Parameter) -> Value {
    let names: Vec<&str> = (parameter.names)().iter().map(|name| name.name).collect();
    let one = match parameter.shape.kind {
        Kind::Switch => json!({ "type": "boolean" }),
        Kind::Number => json!({ "type": "number" }),
        Kind::Text if names.is_empty() => json!({ "type": "string" }),
        Kind::Text => one_of(&names),
    };
    let mut declaration =
        if parameter.shape.is_list { json!({ "type": "array", "items": one }) } else { one };
    if parameter.shape.is_optional {
        declaration = json!({ "anyOf": [declaration, { "type": "null" }] });
    }
    declaration["description"] = parameter.paragraphs().join(" ").into();
    if let Some(range) = (parameter.range)().filter(|_| names.is_empty()) {
        declaration["$comment"] = range.into();
    }
    if let Some(default) = parameter.default.and_then(|text| (parameter.read)(text).ok()) {
        declaration["default"] = datum(&default);
    }
    declaration
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_stands_for_many_is_a_pattern() {
        let schema = one_of(&["rss", "subset:K", "scr"]);
        let pattern = json!({ "type": "string", "pattern": "^subset:[0-9]+$" });
        assert_eq!(schema, json!({ "anyOf": [{ "enum": ["rss", "scr"] }, pattern] }));
        let file = json!({ "type": "string", "pattern": "^file:.+$" });
        let schema = one_of(&["own", "rss:default", "file:FOUND.json"]);
        assert_eq!(schema, json!({ "anyOf": [{ "enum": ["own", "rss:default"] }, file] }));
        assert_eq!(one_of(&["rss", "scr"]), json!({ "enum": ["rss", "scr"] }));
    }
}
