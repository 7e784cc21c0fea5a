//! The status page: how long requests wait, and why. It needs no scripts, and asks nobody else.

use maud::{DOCTYPE, Markup, PreEscaped, html};
use trueplane_units::{Bytes, Nanos};

use super::history::{History, Point};
use super::plot::{Axes, Curve, HALF, WIDE};
use super::report::{Counts, Report, SiteReport, TopReport};
use crate::tally::Totals;

/// The page may use nothing but its own style sheet.
pub(super) const POLICY: &str = "default-src 'none'; style-src 'sha256-iq9FDU2z11l09hzgIVT0Dhq4nd/1Bl2EdQtTGyQc7b4='; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const STYLE: &str = include_str!("page.css");
/// Seconds after which browsers load the page again.
const REFRESH: u64 = 10;
/// Sites with a plot of their own, at most: those with the most requests.
const PLOTTED: usize = 8;

/// The page.
pub(super) fn page(report: &Report, top: &TopReport, history: &History) -> String {
    let mut sites: Vec<&SiteReport> = report.sites.iter().collect();
    sites.sort_by_key(|site| std::cmp::Reverse(site.counts.requests()));
    let points = history.points(None);
    let html = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                meta http-equiv="refresh" content=(REFRESH);
                title { "trueplane cache" }
                style { (PreEscaped(STYLE)) }
            }
            body {
                header {
                    p.name { "trueplane cache" }
                    h1 { (headline(&report.all)) }
                }
                main {
                    section {
                        (three(&report.all))
                        (waits("all sites", &points))
                    }
                    section.two {
                        div {
                            h2 { "How requests are served" }
                            (served(&points))
                        }
                        div {
                            h2 { "Memory" }
                            (memory(report, &points))
                        }
                    }
                    section {
                        h2 { "Sites" }
                        (table(&sites))
                    }
                    section {
                        h2 { "Servers behind" }
                        (servers(&sites))
                    }
                    (tops(top))
                    @if sites.len() > 1 {
                        @for site in sites.iter().take(PLOTTED) {
                            section {
                                h2 { (site.site) }
                                (three(&site.counts))
                                (waits(&site.site, &history.points(Some(&site.site))))
                            }
                        }
                    }
                }
                footer {
                    p {
                        "Serving for " (time(report.uptime_s as f64 * 1e9)) ", " (report.connections) " connections. Counts are since then; plots show the last hour. "
                        "Policy " (report.stored.policy) ": " (report.advice) ". "
                        "The same as numbers: " a href="/stats" { "/stats" } ", " a href="/top" { "/top" } ", " a href="/metrics" { "/metrics" } "."
                    }
                }
            }
        }
    };
    html.into_string()
}

/// The story in a sentence.
fn headline(all: &Counts) -> String {
    match (all.classical_ns, all.measured_ns) {
        (None, _) | (_, None) => "No request has come yet.".to_owned(),
        (Some(classical), Some(measured)) => {
            let told = format!("Requests wait {} on average", time(measured as f64));
            let ratio = measured as f64 / classical.max(1) as f64;
            match classical {
                0 => format!("{told}."),
                _ if ratio >= 1.05 => {
                    format!(
                        "{told}: {ratio:.1} times what the hit rate predicts ({}).",
                        time(classical as f64)
                    )
                }
                _ => format!("{told}, as the hit rate predicts."),
            }
        }
    }
}

/// The three numbers, as bars of their length.
fn three(counts: &Counts) -> Markup {
    let rows = [
        ("classical", "by the hit rate", counts.classical_ns),
        ("refined", "with delayed hits, by a model", counts.refined_ns),
        ("measured", "as it was", counts.measured_ns),
    ];
    let most = rows.iter().filter_map(|(.., value)| *value).max().unwrap_or(0).max(1) as f64;
    html! {
        dl.three {
            @for (class, words, value) in rows {
                dt { b { (class) } " " (words) }
                dd {
                    svg.bar viewBox="0 0 400 16" preserveAspectRatio="none" aria-hidden="true" {
                        rect .(class) width=(400.0 * value.unwrap_or(0) as f64 / most) height="16" {}
                    }
                    span { (optional(value)) }
                }
            }
        }
    }
}

fn ago(points: &[Point]) -> Vec<Nanos> {
    points.iter().map(|point| point.ago).collect()
}

fn curve(class: &'static str, points: &[Point], value: impl Fn(&Totals) -> Option<f64>) -> Curve {
    Curve { class, name: class, values: points.iter().map(|point| value(&point.totals)).collect() }
}

/// Mean waits over the last hour.
fn waits(of: &str, points: &[Point]) -> Markup {
    let ago = ago(points);
    let axes = Axes { ago: &ago, told: time, least: 1e6, is_limited: false, width: WIDE };
    let curves = [
        curve("classical", points, Totals::classical),
        curve("refined", points, Totals::refined),
        curve("measured", points, Totals::measured),
    ];
    axes.lines(&format!("Mean wait of requests over the last hour, {of}"), &curves)
}

/// Shares of hits, delayed hits and misses over the last hour.
fn served(points: &[Point]) -> Markup {
    let ago = ago(points);
    let share = |count: fn(&Totals) -> u64| {
        move |totals: &Totals| {
            (totals.requests() > 0).then(|| count(totals) as f64 / totals.requests() as f64)
        }
    };
    let axes = Axes {
        ago: &ago,
        told: |share| format!("{:.0}%", share * 100.0),
        least: 1.0,
        is_limited: true,
        width: HALF,
    };
    let curves = [
        curve("misses", points, share(|totals| totals.misses)),
        curve("delayed", points, share(|totals| totals.delayed)),
        curve("hits", points, share(|totals| totals.hits)),
    ];
    html! {
        (axes.shares("Shares of hits, delayed hits and misses over the last hour", &curves))
        p.key {
            span.hits { "hits" } " " span.delayed { "delayed hits" } " " span.misses { "misses" }
        }
    }
}

/// Bytes used over the last hour.
fn memory(report: &Report, points: &[Point]) -> Markup {
    let (ago, stored) = (ago(points), &report.stored);
    let values = points.iter().map(|point| Some(point.used as f64)).collect();
    let axes = Axes {
        ago: &ago,
        told: |bytes| Bytes(bytes as u64).to_string(),
        least: stored.limit_bytes as f64,
        is_limited: true,
        width: HALF,
    };
    html! {
        (axes.lines("Bytes used over the last hour", &[Curve { class: "used", name: "used", values }]))
        p.key {
            (stored.entries) " answers take " (Bytes(stored.used_bytes)) " of " (Bytes(stored.limit_bytes)) "; "
            (stored.evictions) " have left for others."
        }
        @if let Some(disk) = &report.disk {
            p.key {
                "On disk, " @if disk.is_in_use { "which is in use" } @else { "which fails" } ": "
                (disk.entries) " answers take " (Bytes(disk.used_bytes)) " of " (Bytes(disk.limit_bytes)) "; "
                (disk.hits) " were read, and " (disk.written) " written."
            }
        }
    }
}

fn table(sites: &[&SiteReport]) -> Markup {
    html! {
        div.wide {
            table {
                thead {
                    tr {
                        th { "Site" }
                        @for name in ["Requests", "Hits", "Delayed", "Misses", "Passed", "Sent", "Classical", "Refined", "Measured", "p50", "p99", "Origin asked", "Failed"] {
                            th.number { (name) }
                        }
                    }
                }
                tbody {
                    @for site in sites {
                        @let counts = &site.counts;
                        tr {
                            td { (site.site) }
                            td.number { (counts.requests()) }
                            td.number { (share(counts.hits, counts)) }
                            td.number { (share(counts.delayed_hits, counts)) }
                            td.number { (share(counts.misses, counts)) }
                            td.number { (counts.passed) }
                            td.number { (Bytes(counts.sent_bytes)) }
                            @for value in [counts.classical_ns, counts.refined_ns, counts.measured_ns, counts.wait_p50_ns, counts.wait_p99_ns] {
                                td.number { (optional(value)) }
                            }
                            td.number { (counts.origin_requests) }
                            td.number { (counts.origin_failures) }
                        }
                    }
                }
            }
        }
    }
}

fn servers(sites: &[&SiteReport]) -> Markup {
    html! {
        table {
            thead { tr { th { "Site" } th { "Server" } th { "State" } } }
            tbody {
                @for site in sites {
                    @for server in &site.servers {
                        tr {
                            td { (site.site) }
                            td { (server.server) }
                            @if server.is_up { td.up { "up" } } @else { td.down { "down" } }
                        }
                    }
                }
            }
        }
    }
}

fn tops(top: &TopReport) -> Markup {
    let of = |heading: &str, unit: &str, rows: Vec<(&str, String)>| {
        html! {
            div {
                h2 { (heading) }
                table {
                    thead { tr { th.number { (unit) } th { "URL" } } }
                    tbody {
                        @for (url, value) in &rows { tr { td.number { (value) } td.url { (url) } } }
                        @if rows.is_empty() { tr { td colspan="2" { "none yet" } } }
                    }
                }
            }
        }
    };
    let waits = top.waits.iter().map(|row| (row.url.as_str(), time(row.wait_ns as f64)));
    let requests = top.requests.iter().map(|row| (row.url.as_str(), row.requests.to_string()));
    html! {
        section.two {
            (of("URLs that make requests wait most", "Waits together", waits.collect()))
            (of("URLs that are asked for most", "Requests, about", requests.collect()))
        }
    }
}

fn share(count: u64, of: &Counts) -> String {
    match of.requests() {
        0 => "–".to_owned(),
        all => format!("{:.1}%", 100.0 * count as f64 / all as f64),
    }
}

fn optional(nanos: Option<u64>) -> String {
    nanos.map_or_else(|| "–".to_owned(), |nanos| time(nanos as f64))
}

/// A time in words, to three digits.
fn time(nanos: f64) -> String {
    let (unit, name) = match nanos {
        nanos if nanos >= 60e9 => return format!("{:.1}\u{a0}min", nanos / 60e9),
        nanos if nanos >= 1e9 => (1e9, "s"),
        nanos if nanos >= 1e6 => (1e6, "ms"),
        nanos if nanos >= 1e3 => (1e3, "µs"),
        nanos if nanos > 0.0 => (1.0, "ns"),
        _ => return "0".to_owned(),
    };
    let value = nanos / unit;
    let digits = if value >= 100.0 {
        0
    } else if value >= 10.0 {
        1
    } else {
        2
    };
    format!("{value:.digits$}\u{a0}{name}")
}

#[cfg(test)]
mod tests {
    use sha2::{Digest as _, Sha256};

    use super::*;

    fn base64(bytes: &[u8]) -> String {
        const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
        let mut text = String::new();
        for chunk in bytes.chunks(3) {
            let number = chunk
                .iter()
                .enumerate()
                .fold(0, |sum, (place, &byte)| sum | usize::from(byte) << (16 - 8 * place));
            for place in 0..4 {
                let letter = char::from(LETTERS[number >> (18 - 6 * place) & 63]);
                text.push(if place <= chunk.len() { letter } else { '=' });
            }
        }
        text
    }

    #[test]
    fn the_policy_allows_the_style_sheet() {
        let digest = base64(&Sha256::digest(STYLE));
        assert!(POLICY.contains(&format!("'sha256-{digest}'")), "the digest of page.css is {digest}");
    }

    #[test]
    fn times_have_three_digits() {
        for (nanos, text) in [
            (0.0, "0"),
            (1.0, "1.00 ns"),
            (12_345.0, "12.3 µs"),
            (156e6, "156 ms"),
            (2.5e9, "2.50 s"),
            (90e9, "1.5 min"),
        ] {
            assert_eq!(time(nanos).replace('\u{a0}', " "), text);
        }
    }

    #[test]
    fn the_headline_tells_the_difference() {
        let counts = |classical, measured| Counts {
            classical_ns: classical,
            measured_ns: measured,
            ..Counts::default()
        };
        assert_eq!(headline(&counts(None, None)), "No request has come yet.");
        let told = headline(&counts(Some(10_000_000), Some(54_000_000))).replace('\u{a0}', " ");
        assert_eq!(told, "Requests wait 54.0 ms on average: 5.4 times what the hit rate predicts (10.0 ms).");
        assert!(headline(&counts(Some(10), Some(10))).ends_with(", as the hit rate predicts."));
        assert_eq!(headline(&counts(Some(0), Some(0))), "Requests wait 0 on average.");
    }
}
