//! What people see of `cache check`: what the certificate is about, and both bounds.

use trueplane_study::rounded::Toward;
use trueplane_study::{Measured, Page};
use trueplane_units::Bytes;

use super::found::CheckedCertificate;
use crate::latency::Latency;
use crate::units::{Units, capacity};

pub(super) fn present(found: &CheckedCertificate, page: &mut Page) {
    let terms = &found.terms;
    let units = Units(terms.clock);
    page.fact("requests", "requests", found.requests);
    page.fact("objects", "objects", found.objects);
    page.fact("time", "time", units.model().name());
    page.fact("cache", "cache", capacity(terms.capacity, terms.by_bytes));
    page.fact("latency of a fetch", "fetch", terms.written().latency);
    if let Latency::LogNormal { seed, .. } = terms.latency {
        page.fact("seed", "seed", seed);
    }
    page.fact("latency of a hit", "hit_latency", format!("{} {}", terms.hit_latency, units.suffix()));
    page.fact("requests not counted", "warmup", terms.warmup);
    page.fact("bypass", "bypass", if terms.bypass { "allowed" } else { "not allowed" });
    if terms.bypass_oversized {
        page.fact("objects larger than the cache", "oversized", "pass it by");
    }
    page.fact("gap between the bounds", "gap", Toward::Up.ratio_cell(found.bounds.gap()));
    page.numbers(
        units.heading("total latency of the schedule"),
        units.column("latency_total"),
        classical(found).map(|total| units.total(total)),
        units.total(found.bounds.upper),
        Measured::Needs("a cache that follows the schedule"),
    );
    let rows = [
        ("no schedule has less", found.bounds.lower, None),
        ("the schedule of the certificate", found.bounds.upper, Some(found)),
    ];
    // Whole numbers: these are what is certified.
    let fullest = |found: &CheckedCertificate, by_bytes| {
        Some(found.fullest).filter(|_| found.terms.by_bytes == by_bytes)
    };
    page.table("bounds", "Bounds on the total latency that were verified, in whole units", rows)
        .col("bound", "bound", |(what, ..)| *what)
        .col(units.heading("total latency"), units.column("latency_total"), |(_, total, _)| {
            units.total(*total)
        })
        .col("hits", "hits", |(.., found)| found.map(|found| found.hits))
        .col("delayed hits", "delayed_hits", |(.., found)| found.map(|found| found.delayed_hits))
        .col("misses", "misses", |(.., found)| found.map(|found| found.misses))
        .col("most in the cache at once", "fullest_objects", |(.., found)| {
            found.and_then(|found| fullest(found, false))
        })
        .when_any()
        .col("most in the cache at once", "fullest_bytes", |(.., found)| {
            found.and_then(|found| fullest(found, true)).map(Bytes)
        })
        .when_any();
}

/// Prediction of the classical model for the schedule, with delayed hits counted as hits; none where fetch times vary.
fn classical(found: &CheckedCertificate) -> Option<u128> {
    let fetch = u128::from(found.terms.latency.constant()?.0);
    let hits = u128::from(found.hits) + u128::from(found.delayed_hits);
    Some(hits * u128::from(found.terms.hit_latency) + u128::from(found.misses) * fetch)
}
