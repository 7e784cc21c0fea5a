//! The three numbers as bars: what was promised beside what happens.
//!
//! Bars are plain elements whose width is a share of the longest one, so that their text stays readable at any width and can be selected.
//! Quantities of one kind share their scale.

use maud::{Markup, html};

use super::shown::three_numbers;
use crate::numbers::{self, CLASSICAL, MEASURED, REFINED};
use crate::report::{Cell, Report, Table};

/// More rows than these are left to the table.
const MOST_ROWS: usize = 8;

/// What the three numbers are, in the words of keys of pictures.
const MEANINGS: [(&str, &str); 3] = [
    (CLASSICAL, "what the formula promises"),
    (REFINED, "what an exact simulation finds"),
    (MEASURED, "what was measured"),
];

/// Quantities of one kind, such as the mean latency under several policies.
pub(super) struct Group {
    /// Words that all quantities begin with: `mean latency under`.
    pub(super) title: String,
    pub(super) rows: Vec<Row>,
}

/// A quantity and its bars.
pub(super) struct Row {
    /// What is left of the quantity: `lru-mad`.
    pub(super) label: String,
    pub(super) bars: Vec<Bar>,
}

/// One of the three numbers.
pub(super) struct Bar {
    /// One of `classical`, `refined` and `measured`.
    pub(super) which: &'static str,
    pub(super) text: String,
    /// Length in percent of the longest bar of the group.
    pub(super) percent: f64,
    /// Whether the number is below zero; such bars are hollow.
    pub(super) is_negative: bool,
}

/// The picture of the three numbers of a report; none if it has none that can be drawn.
pub(super) fn figure(report: &Report) -> Option<Markup> {
    let table = report.tables.iter().find(|table| table.id == numbers::TABLE)?;
    let groups = groups(table);
    let left = table.rows.len() - groups.iter().map(|group| group.rows.len()).sum::<usize>();
    if groups.is_empty() {
        return None;
    }
    Some(html! {
        figure.bars {
            figcaption {
                ul.key {
                    @for (which, meaning) in key(&groups) {
                        li { span class={ "bar " (which) } aria-hidden="true" {} span { b { (which) } ": " (meaning) } }
                    }
                }
            }
            @for group in &groups {
                @if !group.title.is_empty() { h3 { (group.title) } }
                div.rows {
                    @for row in &group.rows {
                        div.row {
                            div.label { (row.label) }
                            div {
                                @for bar in &row.bars {
                                    div.line title={ (row.label) ", " (bar.which) ": " (bar.text) } {
                                        span class={ "bar " (bar.which) @if bar.is_negative { " negative" } } style={ "width:" (format!("{:.2}", bar.percent)) "%" } {}
                                        span.value { (bar.text) }
                                    }
                                }
                            }
                        }
                    }
                }
            }
            @if left > 0 { p.left { (left) " more in the table below" } }
        }
    })
}

/// What the colours of the bars mean: an entry for each of the three numbers that is drawn, and one for hollow bars if there are any.
pub(super) fn key(groups: &[Group]) -> Vec<(&'static str, &'static str)> {
    let bars = || groups.iter().flat_map(|group| &group.rows).flat_map(|row| &row.bars);
    let mut key = MEANINGS.to_vec();
    key.retain(|(which, _)| bars().any(|bar| bar.which == *which));
    key.extend(bars().any(|bar| bar.is_negative).then_some(("negative", "a number below zero")));
    key
}

/// The quantities of the table of the three numbers that are drawn.
pub(super) fn groups(table: &Table) -> Vec<Group> {
    let place = |name: &str| table.columns.iter().position(|column| column.name == name);
    let (Some(quantity), Some(name)) = (place("quantity"), place("name")) else { return Vec::new() };
    let drawn: Vec<(&'static str, usize)> =
        [CLASSICAL, REFINED, MEASURED].into_iter().filter_map(|which| Some((which, place(which)?))).collect();
    let texts = three_numbers(table);
    let mut groups: Vec<(String, Vec<usize>)> = Vec::new();
    for (index, row) in table.rows.iter().enumerate().take(MOST_ROWS) {
        let unit = text(row, name);
        match groups.iter_mut().find(|(other, _)| *other == unit) {
            Some((_, rows)) => rows.push(index),
            None => groups.push((unit, vec![index])),
        }
    }
    let group = |(_, rows): (String, Vec<usize>)| {
        let labels: Vec<String> = rows.iter().map(|&row| text(&table.rows[row], quantity)).collect();
        let title = common_start(&labels);
        let sizes =
            rows.iter().flat_map(|&row| drawn.iter().filter_map(move |at| number(&table.rows[row][at.1])));
        let longest = sizes.map(f64::abs).fold(0.0, f64::max);
        let bar = |row: usize, which, place: usize| {
            let number = number(&table.rows[row][place])?;
            let percent = if longest > 0.0 { 100.0 * number.abs() / longest } else { 0.0 };
            Some(Bar { which, text: texts[row][place].clone(), percent, is_negative: number < 0.0 })
        };
        let rows = labels.iter().zip(&rows).map(|(label, &row)| Row {
            label: label[title.len()..].trim_start().to_owned(),
            bars: drawn.iter().filter_map(|&(which, place)| bar(row, which, place)).collect(),
        });
        Group { rows: rows.filter(|row| !row.bars.is_empty()).collect(), title }
    };
    groups.into_iter().map(group).filter(|group| !group.rows.is_empty()).collect()
}

fn text(row: &[Cell], place: usize) -> String {
    match row.get(place) {
        Some(Cell::Text(text)) => crate::format::one_line(text),
        _ => String::new(),
    }
}

/// The number that a bar shows.
fn number(cell: &Cell) -> Option<f64> {
    let number = match cell {
        Cell::Count(count) => *count as f64,
        Cell::Bytes(bytes) => bytes.0 as f64,
        Cell::Rate(rate) => rate.0 as f64,
        Cell::Ratio(number)
        | Cell::Change(number)
        | Cell::Nanos(number)
        | Cell::LongTime(number)
        | Cell::Steps(number)
        | Cell::Number(number)
        | Cell::Bound { value: number, .. } => *number,
        Cell::Text(_) | Cell::Missing => return None,
    };
    number.is_finite().then_some(number)
}

/// The words with which all of several texts begin, without the last word of any.
fn common_start(texts: &[String]) -> String {
    let [first, others @ ..] = texts else { return String::new() };
    if others.is_empty() {
        return String::new();
    }
    let ends = first.char_indices().filter(|(_, c)| *c == ' ').map(|(place, _)| place);
    let is_shared = |end: &usize| others.iter().all(|other| other.starts_with(&first[..=*end]));
    ends.take_while(is_shared).last().map_or_else(String::new, |end| first[..end].to_owned())
}

#[cfg(test)]
mod tests {
    use trueplane_units::Nanos;

    use super::*;
    use crate::{Measured, Page};

    fn report(rows: &[(&str, &str, Cell, Cell)]) -> Report {
        let mut page = Page::default();
        for (quantity, name, classical, refined) in rows {
            page.numbers(*quantity, *name, classical.clone(), refined.clone(), Measured::Needs("a cache"));
        }
        page.into_parts().1
    }

    #[test]
    fn quantities_of_one_kind_share_their_scale_and_their_words() {
        let of = |classical: u64, refined: u64| (Cell::from(Nanos(classical)), Cell::from(Nanos(refined)));
        let (lru, mad) = (of(1_000_000, 4_000_000), of(1_000_000, 2_000_000));
        let rows = [
            ("mean latency under lru", "latency_mean_ns", lru.0, lru.1),
            ("mean latency under lru-mad", "latency_mean_ns", mad.0, mad.1),
            ("hit rate", "hit_rate", Cell::Ratio(0.5), Cell::Missing),
        ];
        let report = report(&rows);
        let groups = groups(&report.tables[0]);
        let titles: Vec<&str> = groups.iter().map(|group| group.title.as_str()).collect();
        assert_eq!(titles, ["mean latency under", ""]);
        let drawn = |row: &Row| -> Vec<(String, f64)> {
            row.bars.iter().map(|bar| (format!("{} {}", bar.which, bar.text), bar.percent)).collect()
        };
        assert_eq!(groups[0].rows[1].label, "lru-mad");
        assert_eq!(
            drawn(&groups[0].rows[0]),
            [("classical 1ms".into(), 25.0), ("refined 4ms".into(), 100.0)]
        );
        assert_eq!(drawn(&groups[0].rows[1]), [("classical 1ms".into(), 25.0), ("refined 2ms".into(), 50.0)]);
        assert_eq!(
            (groups[1].rows[0].label.as_str(), drawn(&groups[1].rows[0])),
            ("hit rate", vec![("classical 50.0%".into(), 100.0)])
        );
        let html = figure(&report).unwrap().into_string();
        assert!(html.contains("style=\"width:25.00%\"") && !html.contains("<b>measured</b>"), "{html}");
    }

    #[test]
    fn many_are_cut_and_nothing_is_no_picture() {
        let rows: Vec<(String, Cell)> =
            (0..10).map(|index| (format!("part {index}"), Cell::Ratio(0.1))).collect();
        let rows: Vec<_> =
            rows.iter().map(|(name, cell)| (name.as_str(), "part", cell.clone(), Cell::Missing)).collect();
        let html = figure(&report(&rows)).unwrap().into_string();
        assert!(html.contains("2 more in the table below"), "{html}");
        assert!(figure(&report(&[("part", "part", Cell::Missing, Cell::Ratio(f64::NAN))])).is_none());
        assert!(figure(&Report::default()).is_none());
        let html = figure(&report(&[("part", "part", Cell::Ratio(-0.5), Cell::Ratio(0.25))])).unwrap();
        let html = html.into_string();
        let hollow = "bar classical negative\" style=\"width:100.00%\"";
        assert!(html.contains(hollow) && html.contains("<b>negative</b>"), "{html}");
        assert!(html.contains("bar refined\" style=\"width:50.00%\""), "{html}");
    }

    #[test]
    fn texts_share_whole_words() {
        let of = |texts: &[&str]| common_start(&texts.iter().map(ToString::to_string).collect::<Vec<_>>());
        assert_eq!(of(&["mean of lru", "mean of lfu"]), "mean of");
        assert_eq!(of(&["lru", "lru"]), "");
        assert_eq!(of(&["wait long", "waiting long"]), "");
        assert_eq!(of(&["one alone"]), "");
    }
}
