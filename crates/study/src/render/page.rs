//! The report as one HTML page that needs nothing but itself: its style and its drawings are inside, it runs no script,
//! and its own security policy forbids it to load anything.
//!
//! In the order of reading: the finding, the picture that tells it and what to do; the three numbers and the table that sums the study up;
//! all plots; the other tables; how it was found.

use maud::{DOCTYPE, Markup, PreEscaped, html};

use super::bars;
use super::figure::figure;
use super::shown::{Column, Shown};
use crate::render::names::{DOCUMENT, FileNames};
use crate::report::{Given, Plot, Report, Table};

const STYLE: &str = include_str!("style.css");
/// No source of anything, but for the style inside the page.
const SECURITY_POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'";
/// Hides links to files beside the page.
const ALONE: &str = ".source, .document { display: none; }";
/// The anchor of all plots. A single table or plot is found by the name of its CSV file, which this one cannot be.
const PLOTS: &str = "plots";

/// Tables that stand before the plots: the three numbers and the one that sums the study up.
const FIRST_TABLES: usize = 2;

/// The page of `report`, whose CSV files stand beside it as `files`.
pub(super) fn page(report: &Report, files: &FileNames) -> String {
    styled(report, files, "")
}

/// That page, with more style.
fn styled(report: &Report, files: &FileNames, style: &str) -> String {
    // A long table sums nothing up.
    let first = report.tables.iter().take(FIRST_TABLES).take_while(|table| !table.detail).count();
    let (first_tables, tables) = report.tables.split_at(first);
    let (first_files, table_files) = files.tables.split_at(first);
    let bars = bars::figure(report);
    // The first plot stands first if it tells the finding, or if there are no three numbers; it is not shown twice.
    let shown = usize::from(report.leads || bars.is_none()).min(report.plots.len());
    let (first_plots, other_plots) = report.plots.split_at(shown);
    let (first_plot_files, plot_files) = files.plots.split_at(shown);
    let first = first_plots.iter().zip(first_plot_files).map(|(plot, file)| figure(plot, file));
    let pictures: Vec<Markup> = first.chain(bars).collect();
    let headline = report.verdict.first().unwrap_or(&report.title);
    let html = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                meta http-equiv="Content-Security-Policy" content=(SECURITY_POLICY);
                title { (report.title) " · trueplane" }
                style { (PreEscaped(STYLE)) (style) }
            }
            body {
                header {
                    p.study { "trueplane" span { (report.study) } span { (report.title) } }
                    h1 { (headline) }
                }
                main {
                    (answer(report, &pictures))
                    (table_sections("", first_tables, first_files))
                    @if tables.len() + other_plots.len() > 1 {
                        nav.contents aria-label="Contents" {
                            @if !other_plots.is_empty() {
                                a href={ "#" (PLOTS) } { "Plots (" (other_plots.len()) ")" }
                            }
                            (links(tables, table_files))
                        }
                    }
                    (plots(other_plots, plot_files))
                    (table_sections("Tables", tables, table_files))
                    (circumstances(report))
                }
                footer {
                    p { "Made by trueplane " (env!("CARGO_PKG_VERSION")) "." }
                    p.document { "The whole document: " a href=(DOCUMENT) { (DOCUMENT) } }
                }
            }
        }
    };
    html.into_string()
}

/// The page of `report` as one file: without links to the files that [`write_report`](super::write_report) puts beside it.
pub fn page_alone(report: &Report) -> String {
    styled(report, &FileNames::of(report), ALONE)
}

/// `plot` as a page of its own.
pub fn figure_alone(plot: &Plot) -> String {
    let html = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="color-scheme" content="light dark";
                meta http-equiv="Content-Security-Policy" content=(SECURITY_POLICY);
                title { (plot.title) }
                style { (PreEscaped(STYLE)) (ALONE) }
            }
            body { main { (figure(plot, &plot.id)) } }
        }
    };
    html.into_string()
}

/// What makes the finding doubtful, the pictures that tell it, what to do, and the other findings.
fn answer(report: &Report, pictures: &[Markup]) -> Markup {
    html! {
        @if !report.warnings.is_empty() {
            section.warnings { @for warning in &report.warnings { p { (sentence(warning)) } } }
        }
        section.answer {
            @if !pictures.is_empty() { div.pictures { @for picture in pictures { (picture) } } }
            div.words {
                @if !report.advice.is_empty() {
                    div.advice { h2 { "What to do" } p { (sentence(&report.advice)) } }
                }
                @if report.verdict.len() > 1 {
                    div.verdict {
                        h2 { "Also found" }
                        @for found in &report.verdict[1..] { p { (sentence(found)) } }
                    }
                }
            }
        }
    }
}

/// A sentence in which no flag breaks behind its dashes.
fn sentence(words: &str) -> Markup {
    html! {
        @for (place, word) in words.split(' ').enumerate() {
            @if place > 0 { " " }
            @if word.starts_with("--") { span.flag { (word) } } @else { (word) }
        }
    }
}

/// How the numbers were found: the classical model, the parameters, the input, and the command that makes them again.
fn circumstances(report: &Report) -> Markup {
    html! {
        section.circumstances {
            @if !report.belief.is_empty() || !report.facts.is_empty() || !report.parameters.is_empty() {
                h2 { "How this was found" }
            }
            @if !report.belief.is_empty() { p { b { "The classical model: " } (report.belief) } }
            (facts(&report.facts))
            (parameters(&report.parameters))
            (facts(&report.origin))
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

fn parameters(parameters: &[Given]) -> Markup {
    let (defaults, chosen): (Vec<_>, Vec<_>) = parameters.iter().cloned().partition(|given| given.is_default);
    let pairs = |given: Vec<Given>| -> Vec<(String, String)> {
        given.into_iter().map(|given| (given.name, given.value)).collect()
    };
    html! {
        (facts(&pairs(chosen)))
        @if !defaults.is_empty() {
            details { summary { "Defaults" } (facts(&pairs(defaults))) }
        }
    }
}

fn links(tables: &[Table], files: &[String]) -> Markup {
    html! { @for (table, file) in tables.iter().zip(files) { a href={ "#" (file) } { (table.title) } } }
}

fn plots(plots: &[Plot], files: &[String]) -> Markup {
    html! {
        @if !plots.is_empty() {
            section id=(PLOTS) {
                h2 { "Plots" }
                div.plots { @for (plot, file) in plots.iter().zip(files) { (figure(plot, file)) } }
            }
        }
    }
}

fn table_sections(heading: &str, tables: &[Table], files: &[String]) -> Markup {
    html! {
        @if !tables.is_empty() {
            section {
                @if !heading.is_empty() { h2 { (heading) } }
                @for (table, file) in tables.iter().zip(files) { (table_section(table, file)) }
            }
        }
    }
}

fn table_section(table: &Table, file: &str) -> Markup {
    html! {
        section.table id=(file) {
            div.caption {
                h3 { (table.title) }
                p.source { a href=(file) { (file) } }
            }
            @if table.detail {
                details { summary { (table.rows.len()) @if table.rows.len() == 1 { " row" } @else { " rows" } } (grid(table)) }
            } @else {
                (grid(table))
            }
        }
    }
}

fn grid(table: &Table) -> Markup {
    let shown = Shown::of(table);
    let class = |column: &Column| (!column.words).then_some("number");
    html! {
        // Scrolls on its own, so it must be reachable by keyboard.
        div.scroll tabindex="0" role="region" aria-label=(table.title) {
            table {
                thead {
                    tr {
                        @for column in &shown.columns {
                            th class=[class(column)] scope="col" { (column.heading) }
                        }
                    }
                }
                tbody {
                    @for row in 0..table.rows.len() {
                        @let mark = shown.marks.get(row).copied().flatten();
                        tr class=[mark.map(|_| "marked")] {
                            @for (index, column) in shown.columns.iter().enumerate() {
                                @if index < shown.labels {
                                    th class=[class(column)] scope="row" { (column.cells[row]) }
                                } @else {
                                    td class=[class(column)] { (column.cells[row]) }
                                }
                            }
                            @if let Some(words) = mark { td.mark { "← " (words) } }
                        }
                    }
                }
            }
        }
        @let same = shown.same_in_words();
        @if !same.is_empty() { p.same { (same) } }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::sample;
    use crate::report::{Axis, Cell, Column as Declared, Series};

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
        let marks = [
            "<h1>Choosing by hit rate",
            "What to do</h2>",
            "Also found</h2>",
            "fetch latency of 1ms, capacity 5% (1,024 objects)</h3>",
            "<nav",
            "Plots</h2>",
            "Tables</h2>",
            "<b>The classical model",
            "<dl",
            "<footer",
        ];
        let places = marks.map(|mark| html.find(mark).unwrap());
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
    fn a_page_alone_hides_its_links_to_files() {
        let report = sample::report();
        let html = page_alone(&report);
        assert!(html.contains(&format!("{ALONE}</style>")));
        let links = html.matches("href=\"").count() - html.matches("href=\"#").count();
        let hidden = html.matches("class=\"source\"").count() + html.matches("class=\"document\"").count();
        assert_eq!(links, hidden);
        balanced(&figure_alone(&report.plots[0]));
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
            warnings: vec![text()],
            verdict: vec![text()],
            facts: vec![(text(), text())],
            parameters: vec![Given { name: text(), value: text(), is_default: false }],
            tables: vec![Table {
                id: text(),
                title: text(),
                columns: vec![Declared::new(attack, attack)],
                rows: vec![vec![Cell::text(attack)]],
                detail: true,
                ..Table::default()
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
    fn every_column_that_tells_rows_apart_names_its_row() {
        let point = |latency, policy: &str| {
            vec![Cell::Nanos(latency), Cell::text(policy), Cell::Count(policy.len() as u64)]
        };
        let table = Table {
            columns: ["latency", "policy", "hits"].map(|title| Declared::new(title, title)).into(),
            rows: vec![point(1e6, "lru"), point(1e6, "lhd-mad"), point(1e7, "lru")],
            ..Table::default()
        };
        let html = page_of(&Report { tables: vec![table], ..Report::default() });
        assert!(html.contains(
            "<tr><th class=\"number\" scope=\"row\">10ms</th><th scope=\"row\">lru</th>\
             <td class=\"number\">3</td></tr>"
        ));
    }

    #[test]
    fn every_link_of_the_contents_leads_somewhere_and_every_region_has_a_name() {
        let html = page_of(&sample::report());
        let links: Vec<&str> =
            html.split("href=\"#").skip(1).map(|rest| &rest[..rest.find('"').unwrap()]).collect();
        assert_eq!(links, ["plots", "policies-100ms.csv"]);
        for link in links {
            assert_eq!(html.matches(&format!("id=\"{link}\"")).count(), 1, "{link}");
        }
        let regions = html.matches("class=\"scroll\"").count();
        assert_eq!(html.matches("tabindex=\"0\" role=\"region\" aria-label=\"").count(), regions);
        assert!(!html.contains("aria-label=\"\"") && !html.contains("class=\"\""));
    }

    #[test]
    fn a_page_with_one_thing_needs_no_contents_and_a_long_table_is_no_overview() {
        let table = Table { detail: true, ..Table::default() };
        let html = page_of(&Report { tables: vec![table], ..Report::default() });
        assert!(!html.contains("<nav"));
        assert!(html.contains("Tables</h2>"));
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
