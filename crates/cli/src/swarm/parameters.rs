//! Draws parameters of a study within what they declare.

use std::path::Path;

use trueplane_study::Study;
use trueplane_trace::Reading;
use trueplane_units::{Parameter, Parameters as _, parameter};

use super::draw::Draw;
use super::workload;

/// Texts of all kinds. A parameter can take those that it can read.
const TEXTS: &[&str] = &[
    "0", "1", "2", "3", "7", "16", "100", "0%", "0.1%", "1%", "33.3%", "50%", "100%", "0.5", "1.5", "1ns",
    "37us", "1ms", "100ms", "1s", "1h", "64B", "1500B", "64kB", "1MB", "1kbps", "1Mbps", "999Mbps", "10Gbps",
    "1Kpps", "1Mpps", "true", "false", "all", "none", "online", "never", "own",
];

/// Values that stand for any text, such as the name of a file: only a workload gives those.
const ANY_TEXT: &[&str] =
    &["FILE", "NAMES", "COLUMN", "COLUMNS", "WEIGHTS", "CAPTURE", "TRACE", "JOBS", "DEMANDS"];

/// Draws a workload and parameters. Returns them, and the command line that asks for the same.
pub(super) fn draw<S: Study>(draw: &mut Draw, folder: &Path) -> (S::Options, String) {
    let table = parameter::table::<S::Options>();
    // Most of what says how to read a file contradicts the file.
    let reading: Vec<&str> = parameter::table::<Reading>().iter().map(|parameter| parameter.field).collect();
    let mut given = workload::settings(S::NAME, draw, folder);
    for parameter in &table {
        let often = if reading.contains(&parameter.field) { 24 } else { 4 };
        let is_settled = given.iter().any(|(field, _)| *field == parameter.field);
        if is_settled || ANY_TEXT.contains(&parameter.value) || !draw.one_in(often) {
            continue;
        }
        let candidates = candidates(parameter);
        if !candidates.is_empty() {
            given.push((parameter.field, Some(text(parameter, &candidates, draw))));
        }
    }
    let given: Vec<(&str, String)> =
        given.into_iter().filter_map(|(field, text)| Some((field, text?))).collect();
    let allowed = given.iter().filter(|(field, _)| may_stand(field, &given, &table));
    let mut options = S::Options::default();
    let mut line = S::NAME.replace('.', " ");
    for (field, text) in allowed {
        let set = options.set(field, text).unwrap_or_else(|| panic!("no parameter is called {field}"));
        set.unwrap_or_else(|error| panic!("{field} {text}: {error}"));
        let parameter = table.iter().find(|parameter| parameter.field == *field).expect("it was set");
        line += &match parameter {
            parameter if parameter.positional => format!(" {text}"),
            parameter if parameter.is_switch => format!(" --{}", parameter.flag()),
            parameter => format!(" --{} {text}", parameter.flag()),
        };
    }
    (options, line)
}

/// Whether the command line would take this parameter beside the others.
fn may_stand(field: &str, given: &[(&'static str, String)], table: &[Parameter]) -> bool {
    let row = |field: &str| table.iter().find(|parameter| parameter.field == field);
    let Some(parameter) = row(field) else { return true };
    let is_given = |name: &str| given.iter().any(|(other, _)| *other == name);
    // Of two that exclude each other the first stays.
    let mut earlier = given.iter().take_while(|(other, _)| *other != field);
    let excluded = earlier.any(|(other, _)| {
        let excludes =
            |one: &Parameter, name: &str| one.conflicts.split(' ').any(|conflict| conflict == name);
        excludes(parameter, other) || row(other).is_some_and(|row| excludes(row, field))
    });
    !excluded && parameter.requires.split(' ').filter(|name| !name.is_empty()).all(is_given)
}

/// Texts that the parameter can read: its names, what its default, its documentation and its errors mention, and some of all kinds.
fn candidates(parameter: &Parameter) -> Vec<String> {
    if parameter.is_switch {
        return vec!["true".to_owned()];
    }
    let mut texts: Vec<String> = (parameter.names)().iter().map(|name| name.name.to_owned()).collect();
    let mentioned =
        [(parameter.expected)(), parameter.default.unwrap_or("").to_owned(), parameter.doc.to_owned()];
    for text in &mentioned {
        let words =
            text.split([' ', ',', '\n']).map(|word| word.trim_matches(['.', '(', ')', ';', '`', '"']));
        texts.extend(
            words.filter(|word| word.contains(|c: char| c.is_ascii_digit() || c == ':')).map(str::to_owned),
        );
    }
    texts.extend(TEXTS.iter().map(|&text| text.to_owned()));
    texts.sort();
    texts.dedup();
    texts.retain(|text| (parameter.read)(text).is_ok());
    texts
}

/// One of the candidates, or up to three where a list can be read.
fn text(parameter: &Parameter, candidates: &[String], draw: &mut Draw) -> String {
    let mut text = draw.choose(candidates).clone();
    if parameter.shape.is_list {
        for _ in 0..draw.below(3) {
            let longer = format!("{text},{}", draw.choose(candidates));
            if (parameter.read)(&longer).is_ok() {
                text = longer;
            }
        }
    }
    text
}
