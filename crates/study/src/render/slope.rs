//! A slope chart: two rankings side by side, with a line from the place of a thing in the one to its place in the other.

use maud::{Markup, html};

use super::look;
use crate::report::{Plot, Series, Unit};

/// Height of a place, and of the headings.
const ROW: f64 = 24.0;
/// Length of the lines from left to right.
const LINES: f64 = 120.0;
/// Room between a line and its words, and at both edges.
const GAP: f64 = 8.0;
/// Width of a letter of the font, at most in the mean over a label.
const LETTER: f64 = 8.0;
/// More places than these are not drawn: the table has them all.
const MOST_PLACES: f64 = 200.0;

/// A thing with its place and its words at both ends.
struct Line<'a> {
    series: &'a Series,
    look: usize,
    ends: [(f64, String); 2],
}

/// Whether `plot` is a slope chart: it has two names along its horizontal axis.
pub(super) fn is_one(plot: &Plot) -> bool {
    matches!(plot.x.unit, Unit::Names([_, _]))
}

/// `plot` as an `<svg>` element; `None` if it has no line.
pub(super) fn svg(plot: &Plot) -> Option<Markup> {
    let Unit::Names([left, right]) = plot.x.unit else { return None };
    let lines: Vec<Line<'_>> =
        plot.series.iter().enumerate().filter_map(|(index, series)| line(series, index)).collect();
    let places = lines.iter().flat_map(|line| &line.ends).map(|(place, _)| *place).fold(0.0, f64::max);
    if lines.is_empty() {
        return None;
    }
    let letters = |end: usize, heading: &str| {
        let labels = lines.iter().map(|line| line.ends[end].1.chars().count());
        labels.chain([heading.chars().count()]).max().unwrap_or(0) as f64
    };
    let start = letters(0, left) * LETTER + 2.0 * GAP;
    let end = start + LINES;
    let width = end + letters(1, right) * LETTER + 2.0 * GAP;
    let height = (places + 1.0) * ROW + GAP;
    let y = |place: f64| (place + 0.5) * ROW;
    // What the finding is about lies above the rest.
    let (muted, told): (Vec<_>, Vec<_>) = lines.iter().partition(|line| line.series.muted);
    Some(html! {
        svg xmlns="http://www.w3.org/2000/svg" viewBox={ "0 0 " (width) " " (height) } width=(width) height=(height) {
            text.heading x=(start - GAP) y=(y(0.0) + 5.0) text-anchor="end" { (left) }
            text.heading x=(end + GAP) y=(y(0.0) + 5.0) { (right) }
            @for line in muted.iter().chain(&told) {
                @let color = look::color(line.look, line.series.muted);
                @let width = if line.series.muted { 2 } else { 4 };
                @let [(from, before), (to, after)] = &line.ends;
                g class=[(!line.series.muted).then_some("told")] {
                    line x1=(start) y1=(y(*from)) x2=(end) y2=(y(*to)) stroke=(color) stroke-width=(width) {}
                    circle cx=(start) cy=(y(*from)) r=(width + 1) fill=(color) {}
                    circle cx=(end) cy=(y(*to)) r=(width + 1) fill=(color) {}
                    text x=(start - GAP) y=(y(*from) + 5.0) text-anchor="end" { (before) }
                    text x=(end + GAP) y=(y(*to) + 5.0) { (after) }
                }
            }
        }
    })
}

/// The line of a series that has a place at both ends.
fn line(series: &Series, index: usize) -> Option<Line<'_>> {
    let place = |x: f64| {
        let at = series.points.iter().position(|point| point.0 == x)?;
        let place = Some(series.points[at].1).filter(|place| (1.0..=MOST_PLACES).contains(place))?;
        Some((place, series.labels.get(at).unwrap_or(&series.name)))
    };
    let ((from, before), (to, after)) = (place(0.0)?, place(1.0)?);
    let ends = [(from, format!("{before}  {from}")), (to, format!("{to}  {after}"))];
    Some(Line { series, look: series.color.unwrap_or(index), ends })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::Axis;

    fn ranked(name: &str, from: f64, to: f64, muted: bool) -> Series {
        let labels = vec![format!("{name} 50%"), format!("{name} <3ms>")];
        Series { name: name.into(), points: vec![(0.0, from), (1.0, to)], labels, muted, ..Series::default() }
    }

    fn plot(series: Vec<Series>) -> Plot {
        let unit = Unit::Names(&["by hit rate", "by latency"]);
        Plot { x: Axis { unit, ..Axis::default() }, series, ..Plot::default() }
    }

    #[test]
    fn every_thing_has_its_place_and_its_words_at_both_ends() {
        let plot = plot(vec![ranked("lru", 1.0, 2.0, true), ranked("mad", 2.0, 1.0, false)]);
        assert!(is_one(&plot));
        let svg = svg(&plot).unwrap().into_string();
        for words in ["lru 50%  1", "2  lru &lt;3ms&gt;", "mad 50%  2", "1  mad &lt;3ms&gt;", "by hit rate"] {
            assert!(svg.contains(&format!(">{words}</text>")), "{words}: {svg}");
        }
        assert_eq!(svg.matches("stroke=\"#999999\"").count(), 1, "one is grey");
        assert!(svg.rfind("mad 50%") > svg.rfind("lru 50%"), "the told one is drawn last");
    }

    #[test]
    fn what_has_no_place_at_both_ends_is_not_drawn() {
        let wrong = [f64::NAN, 0.0, -1.0, 1e9];
        let series: Vec<Series> = wrong.iter().map(|place| ranked("lru", *place, 1.0, false)).collect();
        assert!(svg(&plot(series)).is_none());
        assert!(svg(&Plot::default()).is_none());
        let short = Series { points: vec![(0.0, 1.0)], ..Series::default() };
        assert!(svg(&plot(vec![short])).is_none());
    }
}
