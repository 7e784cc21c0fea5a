//! The picture of a report as a file of its own, for a README or a slide: the headline and the three numbers as bars.
//!
//! It is light or dark as its reader's screen is, and has no script and no outside font.

use maud::{Markup, PreEscaped, html};

use super::bars::{self, Group, groups};
use super::text::fold;
use crate::format::one_line;
use crate::numbers;
use crate::report::Report;

const WIDTH: f64 = 760.0;
const MARGIN: f64 = 20.0;
/// Where bars begin, and the length of the longest.
const BARS: (f64, f64) = (190.0, 460.0);
const BAR: f64 = 15.0;
const LINE: f64 = 22.0;
/// Width of a letter of usual text, and of what stands around the text of a key's entry.
const LETTER: f64 = 7.3;
const KEY: f64 = 50.0;
/// Characters in a line of the headline.
const HEADLINE: usize = 74;
/// Characters of a label that fit before its bars.
const LABEL: usize = 22;

const STYLE: &str = "
svg { font-family: system-ui, -apple-system, 'Segoe UI', Roboto, Helvetica, sans-serif; font-size: 14px; }
.paper { fill: #ffffff; stroke: #d9dee3; } text { fill: #1b1f24; } .strong { font-size: 17px; font-weight: 600; }
.classical { fill: #9a9a9a; } .refined { fill: #0064a0; } .measured { fill: #00714f; }
.negative { fill-opacity: 0.2; stroke: #777777; }
@media (prefers-color-scheme: dark) {
.paper { fill: #171b21; stroke: #313943; } text { fill: #e6e9ec; }
.classical { fill: #8b949e; } .refined { fill: #6c83f5; } .measured { fill: #3fbf93; } }";

/// The picture as SVG; none if the report has no three numbers.
pub fn picture(report: &Report) -> Option<String> {
    let table = report.tables.iter().find(|table| table.id == numbers::TABLE)?;
    let groups = groups(table);
    if groups.is_empty() {
        return None;
    }
    let headline = fold(&one_line(report.verdict.first().unwrap_or(&report.title)), HEADLINE);
    let mut y = MARGIN;
    let words = html! {
        @for line in &headline {
            text.strong x=(MARGIN) y=({ y += LINE; y - 4.0 }) { (line) }
        }
    };
    y += 6.0;
    let body = html! {
        (key(&groups, &mut y))
        @for group in &groups { (drawn(group, &mut y)) }
    };
    let height = y + MARGIN;
    let size = format!("0 0 {WIDTH} {height}");
    let svg = html! {
        svg xmlns="http://www.w3.org/2000/svg" viewBox=(size) width=(WIDTH) height=(height) role="img" aria-label=(headline.join(" ")) {
            style { (PreEscaped(STYLE)) }
            rect.paper x="0.5" y="0.5" width=(WIDTH - 1.0) height=(height - 1.0) rx="8" {}
            (words)
            (body)
        }
    };
    Some(svg.into_string() + "\n")
}

/// The key of the colours.
fn key(groups: &[Group], y: &mut f64) -> Markup {
    *y += LINE;
    let mut x = MARGIN;
    let entries: Vec<(f64, f64, &str, String)> = bars::key(groups)
        .into_iter()
        .map(|(which, meaning)| {
            let text = format!("{which}: {meaning}");
            let width = KEY + text.chars().count() as f64 * LETTER;
            if x > MARGIN && x + width > WIDTH - MARGIN {
                (x, *y) = (MARGIN, *y + LINE);
            }
            x += width;
            (x - width, *y, which, text)
        })
        .collect();
    html! {
        @for (x, y, which, text) in entries {
            rect class=(which) x=(x) y=(y - 12.0) width="22" height="12" rx="2" {}
            text x=(x + 30.0) y=(y - 1.0) { (text) }
        }
    }
}

fn drawn(group: &Group, y: &mut f64) -> Markup {
    html! {
        @if !group.title.is_empty() {
            text x=(MARGIN) y=({ *y += LINE + 8.0; *y - 2.0 }) { (group.title) }
        }
        @for row in &group.rows {
            @let is_long = row.label.chars().count() > LABEL;
            // A long label has lines of its own above its bars.
            @for line in fold(&row.label, if is_long { HEADLINE } else { 0 }).iter().filter(|_| is_long) {
                text x=(MARGIN) y=({ *y += LINE; *y }) { (line) }
            }
            @let top = { *y += 8.0; *y };
            @let height = row.bars.len() as f64 * (BAR + 2.0);
            @if !is_long {
                text x=(BARS.0 - 10.0) y=(top + height / 2.0 + 5.0) text-anchor="end" { (row.label) }
            }
            @for bar in &row.bars {
                @let length = (BARS.1 * bar.percent / 100.0).max(2.0);
                rect class={ (bar.which) @if bar.is_negative { " negative" } } x=(BARS.0) y=(*y) width=(format!("{length:.1}")) height=(BAR) rx="2" {}
                text x=(format!("{:.1}", BARS.0 + length + 8.0)) y=({ *y += BAR + 2.0; *y - 5.0 }) { (bar.text) }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use trueplane_units::Nanos;

    use super::*;
    use crate::{Measured, Page};

    #[test]
    fn a_picture_has_the_headline_and_all_bars() {
        assert!(picture(&Report::default()).is_none());
        let mut page = Page::default();
        for (policy, promised, real) in
            [("lru", 19_400_000, 48_330_000), ("lru<mad>", 19_400_000, 34_870_000)]
        {
            let quantity = format!("mean latency under {policy}");
            page.numbers(
                quantity,
                "latency_mean_ns",
                Nanos(promised),
                Nanos(real),
                Measured::Needs("a cache"),
            );
        }
        let report = Report { verdict: vec!["Hit rate & latency.".into()], ..page.into_parts().1 };
        let svg = picture(&report).unwrap();
        assert_eq!(svg.matches("<rect class=\"refined\"").count(), 3, "two bars and the key");
        for part in [
            "Hit rate &amp; latency.",
            "lru&lt;mad&gt;",
            "48.33ms",
            "mean latency under",
            "prefers-color-scheme",
        ] {
            assert!(svg.contains(part), "{part}: {svg}");
        }
        // Nothing is drawn beyond the edge.
        let height: f64 = svg.split("height=\"").nth(1).unwrap().split('"').next().unwrap().parse().unwrap();
        let lowest =
            svg.split(" y=\"").skip(1).map(|rest| rest.split('"').next().unwrap().parse::<f64>().unwrap());
        assert!(lowest.fold(0.0, f64::max) < height);
    }
}
