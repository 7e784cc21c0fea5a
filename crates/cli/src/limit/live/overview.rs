//! What limits a device has, or would have.

use trueplane_limit::BELIEF;
use trueplane_limit::classifier::Classifier;
use trueplane_limit::format::RateWord;
use trueplane_limit::live::Attachment;
use trueplane_limit::live::report::place;
use trueplane_linux::Device;
use trueplane_study::Page;
use trueplane_study::report::{Cell, Report};
use trueplane_study::study::{Words, page_report};
use trueplane_units::{BitsPerSec, Bytes};

/// Limits that a device has, or would have; `why` is the reason for tc if nobody asked for that.
pub(crate) fn overview(
    device: &Device,
    attachment: &Attachment,
    done: &str,
    why: Option<&'static str>,
) -> Report {
    let classifier = Classifier::new(&attachment.classes);
    let limiters = classifier.limiter_count();
    let memory = Bytes(u64::from(limiters) * 16);
    let mut page = Page::default();
    place(device, attachment.mode, attachment.direction, &attachment.tuning, &mut page);
    page.fact("limiters", "limiters", limiters);
    page.fact("memory of the limiters", "limiter_memory_bytes", memory);
    let classes = attachment.classes.classes().iter().enumerate().map(|(index, class)| {
        // The classes file was checked, so the rate has a word.
        let word = RateWord::new(class.rate, class.mark).unwrap_or_default();
        (class, classifier.limiters_of(index).len(), word)
    });
    page.table("classes", "Classes", classes)
        .col("class", "class", |(class, ..)| class.name.clone())
        .col("limiters", "limiters", |&(_, limiters, _)| limiters)
        .col("rate", "rate_bps", |(class, ..)| class.rate)
        .col("enforced", "enforced_bps", |(.., word)| BitsPerSec(word.bits_per_sec().round() as u64))
        .col("rounded by", "rate_error", |(class, _, word)| {
            Cell::Change(word.bits_per_sec() / class.rate.0 as f64 - 1.0)
        })
        .col("burst", "burst_bytes", |(class, ..)| class.burst)
        .col("mark above", "mark_bytes", |(.., word)| word.mark())
        .col("inside", "inside", |(class, ..)| class.inside.clone());
    let count = if limiters == 1 { "1 limiter".to_owned() } else { format!("{limiters} limiters") };
    let mut verdict = vec![format!("{done} {count} in {memory} on {device}.")];
    verdict.extend(why.map(|why| format!("By tc, since {why}.")));
    let title = format!("Limits for {device}");
    page_report(
        Words { name: "limit.attach", title, belief: BELIEF, verdict, advice: String::new() },
        &[],
        page,
    )
}
