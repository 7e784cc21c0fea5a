//! The classes file, and what it says about a device.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;

use serde_json::json;
use trueplane_core::limit::BELIEF;
use trueplane_core::limit::classes::Classes;
use trueplane_core::limit::classifier::Classifier;
use trueplane_core::limit::format::RateWord;
use trueplane_core::report::{Cell, Column, Report, Table};
use trueplane_core::units::{BitsPerSec, Bytes};
use trueplane_live::Device;
use trueplane_live::limit::Attachment;
use trueplane_sim::error::without_code;

use crate::failure::Failure;

/// Far more than a million classes' worth of text.
const MAX_FILE_BYTES: u64 = 256 << 20;

/// Reads a classes file; `-` is standard input.
pub(crate) fn read(path: &Path) -> Result<Classes, Failure> {
    let name = if path == Path::new("-") { "<stdin>".to_owned() } else { path.display().to_string() };
    let wrong = |what: String| Failure::input(format!("{name}: {what}"));
    let mut text = Vec::new();
    let read =
        |source: &mut dyn io::Read, text: &mut Vec<u8>| source.take(MAX_FILE_BYTES + 1).read_to_end(text);
    match path == Path::new("-") {
        true => read(&mut io::stdin().lock(), &mut text),
        false => File::open(path).and_then(|mut file| read(&mut file, &mut text)),
    }
    .map_err(|error| wrong(without_code(&error)))?;
    if text.len() as u64 > MAX_FILE_BYTES {
        return Err(wrong("expected a classes file, got more than 256 MiB".to_owned()));
    }
    let text = String::from_utf8(text).map_err(|_| wrong("expected text in UTF-8".to_owned()))?;
    Classes::parse(&name, &text).map_err(|error| Failure::input(error.to_string()))
}

/// What limits a device has, or would have.
pub(crate) fn overview(device: &Device, attachment: &Attachment, done: &str) -> Report {
    let classifier = Classifier::new(&attachment.classes);
    let memory = Bytes(u64::from(classifier.limiter_count()) * 16);
    let mut rows = Vec::new();
    let mut classes = Vec::new();
    for (index, class) in attachment.classes.classes().iter().enumerate() {
        let limiters = classifier.limiters_of(index).len() as u64;
        // The classes file was checked, so the rate has a word.
        let word = RateWord::new(class.rate, class.mark).unwrap_or_default();
        let enforced = word.bits_per_sec();
        rows.push(vec![
            Cell::text(&class.name),
            Cell::Count(limiters),
            Cell::Rate(class.rate),
            Cell::Change(enforced / class.rate.0 as f64 - 1.0),
            Cell::Bytes(class.burst),
            word.mark().map_or(Cell::Missing, Cell::Bytes),
            class.inside.as_ref().map_or(Cell::Missing, Cell::text),
        ]);
        classes.push(json!({
            "class": class.name,
            "limiters": limiters,
            "rate_bps": class.rate,
            "enforced_bps": BitsPerSec(enforced.round() as u64),
            "burst_bytes": class.burst,
            "mark_bytes": word.mark(),
            "inside": class.inside,
        }));
    }
    let columns = vec![
        Column::new("class", "class"),
        Column::new("limiters", "limiters"),
        Column::new("rate", "rate_bps"),
        Column::new("rounded by", "rate_error"),
        Column::new("burst", "burst_bytes"),
        Column::new("mark above", "mark_bytes"),
        Column::new("inside", "inside"),
    ];
    let document = json!({
        "study": "limit.attach",
        "device": device.to_string(),
        "mode": attachment.mode,
        "direction": attachment.direction,
        "tuning": attachment.tuning,
        "limiters": classifier.limiter_count(),
        "limiter_memory_bytes": memory,
        "classes": classes,
        "done": done,
    });
    Report {
        study: "limit.attach".into(),
        title: format!("Limits for {device}"),
        belief: BELIEF.into(),
        verdict: vec![match classifier.limiter_count() {
            1 => format!("{done} 1 limiter in {memory} on {device}."),
            count => format!("{done} {count} limiters in {memory} on {device}."),
        }],
        facts: Vec::new(),
        tables: vec![Table { id: "classes".into(), title: "Classes".into(), columns, rows, detail: false }],
        plots: Vec::new(),
        document,
    }
}
