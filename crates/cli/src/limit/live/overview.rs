//! What limits a device has, or would have.

use serde_json::json;
use trueplane_limit::BELIEF;
use trueplane_limit::classifier::Classifier;
use trueplane_limit::format::RateWord;
use trueplane_limit::live::Attachment;
use trueplane_linux::Device;
use trueplane_study::report::{Cell, Column, Report, Table};
use trueplane_units::{BitsPerSec, Bytes};

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
        ..Report::default()
    }
}
