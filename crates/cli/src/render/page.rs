//! The report as one HTML page that needs nothing but itself: its style and its drawings are inside, it runs no script,
//! and its own security policy forbids it to load anything.
//!
//! In the order of reading: what the classical model believes and what was found; the circumstances; plots; tables.

use maud::{DOCTYPE, Markup, PreEscaped, html};
use trueplane_core::report::{Axis, Cell, Plot, Report, Table, Unit};

use super::folder::{DOCUMENT, FileNames};
use super::{format, plot};

const STYLE: &str = include_str!("style.css");
/// No source of anything, but for the style inside the page.
const SECURITY_POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'";
/// Above this many columns the numbers under a plot are for programs, which have the CSV file.
const MOST_NUMBERS: usize = 16;

/// The page of `report`, whose CSV files stand beside it as `files`.
pub(super) fn page(report: &Report, files: &FileNames) -> String {
    let html = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                meta http-equiv="Content-Security-Policy" content=(SECURITY_POLICY);
                title { (report.title) " · trueplane" }
                style { (PreEscaped(STYLE)) }
            }
            body {
                header {
                    p.study { "trueplane" span { (report.study) } }
                    h1 { (report.title) }
                }
                main {
                    (findings(report))
                    (facts(&report.facts))
                    (plots(&report.plots, &files.plots))
                    (tables(&report.tables, &files.tables))
                }
                footer {
                    p { "Made by trueplane " (env!("CARGO_PKG_VERSION")) "." }
                    p { "The whole document: " a href=(DOCUMENT) { (DOCUMENT) } }
                }
            }
        }
    };
    html.into_string()
}

fn findings(report: &Report) -> Markup {
    html! {
        section.findings {
            @if !report.belief.is_empty() {
                div.belief {
                    h2 { "The classical model" }
                    p { (report.belief) }
                }
            }
            @if !report.verdict.is_empty() {
                div.verdict {
                    h2 { "Verdict" }
                    @for sentence in &report.verdict { p { (sentence) } }
                }
            }
        }
    }
}

fn facts(facts: &[(String, String)]) -> Markup {
    html! {
        @if !facts.is_empty() {
            dl.facts {
                @for (name, value) in facts { div { dt { (name) } dd { (value) } } }
            }
        }
    }
}

fn plots(plots: &[Plot], files: &[String]) -> Markup {
    html! {
        @if !plots.is_empty() {
            section {
                h2 { "Plots" }
                div.plots { @for (plot, file) in plots.iter().zip(files) { (figure(plot, file)) } }
            }
        }
    }
}

fn figure(plot: &Plot, file: &str) -> Markup {
    // Drawing into memory does not fail; if it ever did, the numbers are still there.
    let drawing = plot::svg(plot).ok().flatten();
    html! {
        figure {
            figcaption {
                h3 { (plot.title) }
                @if !plot.note.is_empty() { p { (plot.note) } }
            }
            @if let Some(svg) = drawing {
                p.axis { (plot.y.label) }
                div.drawing role="img" aria-label=(description(plot)) { (PreEscaped(svg)) }
                p.axis.x { (plot.x.label) }
                (legend(plot))
            } @else {
                p.nothing { "There is nothing to draw." }
            }
            (numbers(plot))
            p.source { a href=(file) { (file) } }
        }
    }
}

/// What a reader who cannot see the drawing has to know to look into the numbers.
fn description(plot: &Plot) -> String {
    let names: Vec<&str> = plot.series.iter().map(|series| series.name.as_str()).collect();
    format!("{}: {} over {}, for {}. {}", plot.title, plot.y.label, plot.x.label, names.join(", "), plot.note)
}

/// Under the drawing, never upon it: there is room for any number of curves.
fn legend(plot: &Plot) -> Markup {
    html! {
        ul.legend {
            @for (index, series) in plot.series.iter().enumerate() {
                li {
                    span.swatch aria-hidden="true" { (PreEscaped(plot::swatch(plot, index).unwrap_or_default())) }
                    span { (series.name) }
                }
            }
        }
    }
}

/// The points as a table, one row per series, where there are few enough to be read.
fn numbers(plot: &Plot) -> Markup {
    let mut xs: Vec<f64> = plot.series.iter().flat_map(|series| &series.points).map(|(x, _)| *x).collect();
    xs.sort_by(f64::total_cmp);
    xs.dedup();
    html! {
        @if !xs.is_empty() && xs.len() <= MOST_NUMBERS {
            details {
                summary { "Numbers" }
                div.scroll tabindex="0" {
                    table {
                        thead {
                            tr {
                                th scope="col" { "series" }
                                @for x in &xs { th.number scope="col" { (value(&plot.x, *x)) } }
                            }
                        }
                        tbody {
                            @for series in &plot.series {
                                tr {
                                    th scope="row" { (series.name) }
                                    @for x in &xs {
                                        @let y = series.points.iter().find(|point| point.0 == *x);
                                        td.number { @if let Some((_, y)) = y { (value(&plot.y, *y)) } }
                                    }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn value(axis: &Axis, value: f64) -> String {
    format::for_people(&match axis.unit {
        Unit::Plain => Cell::Number(value),
        Unit::Nanos => Cell::Nanos(value),
        Unit::Percent => Cell::Ratio(value),
    })
}

fn tables(tables: &[Table], files: &[String]) -> Markup {
    html! {
        @if !tables.is_empty() {
            section {
                h2 { "Tables" }
                @for (table, file) in tables.iter().zip(files) { (table_section(table, file)) }
            }
        }
    }
}

fn table_section(table: &Table, file: &str) -> Markup {
    html! {
        section.table {
            div.caption {
                h3 { (table.title) }
                p.source { a href=(file) { (file) } }
            }
            @if table.detail {
                details { summary { (table.rows.len()) " rows" } (grid(table)) }
            } @else {
                (grid(table))
            }
        }
    }
}

fn grid(table: &Table) -> Markup {
    let words: Vec<bool> = (0..table.columns.len()).map(|index| format::holds_words(table, index)).collect();
    let label = words.iter().position(|words| *words);
    html! {
        // Scrolls on its own, so it must be reachable by keyboard.
        div.scroll tabindex="0" role="region" aria-label=(table.title) {
            table {
                thead {
                    tr {
                        @for (index, words) in words.iter().enumerate() {
                            th.number[!words] scope="col" { (format::heading(table, index)) }
                        }
                    }
                }
                tbody {
                    @for row in &table.rows {
                        tr {
                            @for (index, cell) in format::cells(table, row).enumerate() {
                                @if label == Some(index) {
                                    th scope="row" { (format::for_people(cell)) }
                                } @else {
                                    td.number[!words[index]] { (format::for_people(cell)) }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use trueplane_core::report::{Column, Series};

    use super::*;
    use crate::render::sample;

    fn page_of(report: &Report) -> String {
        page(report, &FileNames::of(report))
    }

    /// Every element of the body that is opened is closed, in order; returns how many there are.
    fn balanced(html: &str) -> usize {
        let body = &html[html.find("<body").unwrap()..html.find("</html>").unwrap()];
        let (mut open, mut elements) = (Vec::new(), 0);
        for tag in body.split('<').skip(1) {
            let tag = &tag[..tag.find('>').unwrap()];
            let name = tag.split([' ', '\n']).next().unwrap();
            if let Some(name) = name.strip_prefix('/') {
                assert_eq!(open.pop(), Some(name));
            } else {
                elements += 1;
                if !tag.ends_with('/') {
                    open.push(name);
                }
            }
        }
        assert_eq!(open, Vec::<&str>::new());
        elements
    }

    #[test]
    fn the_page_is_well_formed_and_reads_in_order() {
        let html = page_of(&sample::report());
        assert!(balanced(&html) > 1_000);
        let places = ["The classical model", "Verdict", "<dl", "Plots</h2>", "Tables</h2>", "<footer"]
            .map(|mark| html.find(mark).unwrap());
        assert!(places.is_sorted(), "{places:?}");
    }

    #[test]
    fn the_page_needs_no_network_and_no_script() {
        let html = page_of(&sample::report()).replace("xmlns=\"http://www.w3.org/2000/svg\"", "");
        for forbidden in ["http:", "https:", "\"//", "url(", "@import", "<script", "<link", "<img", "src=\""]
        {
            assert!(!html.contains(forbidden), "{forbidden}");
        }
    }

    #[test]
    fn names_from_a_trace_are_text_and_nothing_else() {
        let attack = "<script>alert('x')</script>\"&";
        let text = || attack.to_owned();
        let axis = || Axis { label: text(), ..Axis::default() };
        let report = Report {
            study: text(),
            title: text(),
            belief: text(),
            verdict: vec![text()],
            facts: vec![(text(), text())],
            tables: vec![Table {
                id: text(),
                title: text(),
                columns: vec![Column::new(attack, attack)],
                rows: vec![vec![Cell::text(attack)]],
                detail: true,
            }],
            plots: vec![Plot {
                id: text(),
                title: text(),
                note: text(),
                x: axis(),
                y: axis(),
                series: vec![Series { name: text(), points: vec![(1.0, 1.0)], ..Series::default() }],
            }],
            ..Report::default()
        };
        let html = page_of(&report);
        assert!(!html.contains("<script"));
        assert!(html.contains("&lt;script&gt;"));
        balanced(&html);
    }

    #[test]
    fn numbers_are_right_aligned_and_the_policy_names_its_row() {
        let html = page_of(&sample::report());
        assert!(html.contains("<th scope=\"row\">lru-mad</th>"));
        assert!(html.contains("<th class=\"number\" scope=\"col\">delayed hits</th>"));
        assert!(html.contains("<td class=\"number\">–</td>"));
    }

    #[test]
    fn long_curves_leave_their_numbers_to_the_csv() {
        let report = sample::report();
        assert_eq!(page_of(&report).matches("<details>").count(), 2);
    }

    #[test]
    fn an_empty_report_and_an_empty_plot_are_pages_too() {
        balanced(&page_of(&Report::default()));
        let report = Report { plots: vec![Plot::default()], ..Report::default() };
        assert!(page_of(&report).contains("There is nothing to draw."));
    }
}
