//! The JSON Schema of the documents that studies print.

use serde_json::{Map, Value, json};
use trueplane_units::{Parameter, parameter};

use crate::document::SCHEMA;
use crate::study::Study;

/// The JSON Schema (draft 2020-12) of the documents of a study.
///
/// It names every parameter. The columns of tables depend on what is found; their names end in their unit, which the schema states.
pub fn of<S: Study>() -> Value {
    let table = parameter::table::<S::Options>();
    let parameters: Map<String, Value> = (table.iter())
        .filter(|parameter| !parameter.undocumented)
        .map(|parameter| (parameter.machine_name(), declaration(parameter)))
        .collect();
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
    let numbers = json!({ "type": "array", "items": { "type": ["number", "null"] } });
    let series = json!({
        "type": "object",
        "properties": { "name": text, "x": numbers, "y": numbers, "size": numbers },
        "required": ["name", "x", "y"],
        "additionalProperties": false,
    });
    let plot = json!({
        "type": "object",
        "properties": {
            "title": text, "note": text, "x": text, "y": text,
            "series": { "type": "array", "items": series },
        },
        "required": ["title", "note", "x", "y", "series"],
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
        },
        "additionalProperties": { "type": ["number", "string", "null"] },
    });
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
            "tables": {
                "type": "object",
                "additionalProperties": { "type": "array", "items": values },
            },
            "plots": { "type": "object", "additionalProperties": plot },
        },
        "required": [
            "schema", "study", "version", "title", "belief", "parameters", "facts", "warnings", "verdict", "tables", "plots",
        ],
        "additionalProperties": false,
    })
}

/// The schema of a parameter.
fn declaration(parameter: &Parameter) -> Value {
    let names: Vec<&str> = (parameter.names)().iter().map(|name| name.name).collect();
    let mut declaration = Map::new();
    declaration.insert("description".to_owned(), parameter.paragraphs().join(" ").into());
    if let Some(range) = (parameter.range)().filter(|_| names.is_empty()) {
        declaration.insert("$comment".to_owned(), range.into());
    }
    if let Some(default) = parameter.default {
        declaration.insert("default".to_owned(), default.into());
    }
    if !names.is_empty() {
        let one = json!({ "enum": names });
        declaration
            .insert("anyOf".to_owned(), json!([one, { "type": "array", "items": one }, { "type": "null" }]));
    }
    declaration.into()
}
