//! A plot on the page: its drawing with the legend below, and the numbers behind it.

use maud::{Markup, PreEscaped, html};
use trueplane_units::BitsPerSec;

use super::plot;
use crate::format;
use crate::report::{Axis, Cell, Plot, Unit};

/// Above this many columns the numbers under a plot are for programs, which have the CSV file.
const MOST_NUMBERS: usize = 16;

/// `plot`, whose CSV file stands beside the page as `file`; the name is also the figure's anchor.
pub(super) fn figure(plot: &Plot, file: &str) -> Markup {
    // Drawing into memory does not fail; if it ever did, the numbers are still there.
    let drawing = plot::svg(plot).ok().flatten();
    html! {
        figure id=(file) {
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

/// Description for a reader who cannot see the drawing, enough to look into the numbers.
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
                // Scrolls on its own, so it must be reachable by keyboard, and then it needs a name.
                div.scroll tabindex="0" role="region" aria-label={ "Numbers: " (plot.title) } {
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
        // `as` saturates; there are no negative rates.
        Unit::BitsPerSec => Cell::Rate(BitsPerSec(value.round() as u64)),
        Unit::Percent => Cell::Ratio(value),
    })
}
