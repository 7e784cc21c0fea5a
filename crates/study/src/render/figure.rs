//! A plot on the page: its drawing or small pictures, the legend below, and the numbers behind it.

use maud::{Markup, PreEscaped, html};

use super::panels::{Curve, Layout, Panel};
use super::plot::{self, Frame};
use super::{axis, bubbles, slope};
use crate::report::{Plot, Series};

/// Above this many columns the numbers under a plot are for programs, which have the CSV file.
const MOST_NUMBERS: usize = 16;

/// `plot`, whose CSV file stands beside the page as `file`; the name is also the figure's anchor.
pub(super) fn figure(plot: &Plot, file: &str) -> Markup {
    let layout = Layout::of(plot);
    let has_panels = layout.panels.len() > 1;
    html! {
        figure class=[has_panels.then_some("wide")] id=(file) {
            figcaption {
                h3 { (plot.title) }
                @if !plot.note.is_empty() { p { (plot.note) } }
            }
            @if slope::is_one(plot) {
                (slope_chart(plot))
            } @else if let [panel] = layout.panels.as_slice() {
                (whole(plot, panel, &layout.legend))
            } @else if let Some(drawings) = drawings(plot, &layout.panels) {
                p.axis { (plot.y.label) }
                div.panels { @for (panel, drawing) in layout.panels.iter().zip(drawings) { (small(plot, panel, &drawing)) } }
                p.axis.x { (plot.x.label) }
                (legend(&layout.legend))
                (bubbles::key(plot))
            } @else {
                (nothing())
            }
            (numbers(plot))
            p.source { a href=(file) { (file) } }
        }
    }
}

fn nothing() -> Markup {
    html! { p.nothing { "There is nothing to draw." } }
}

fn slope_chart(plot: &Plot) -> Markup {
    html! {
        @if let Some(svg) = slope::svg(plot) {
            div.drawing.slope role="img" aria-label=(description(plot, &plot.title)) { (svg) }
        } @else {
            (nothing())
        }
    }
}

/// The only picture of a plot.
fn whole(plot: &Plot, panel: &Panel<'_>, key: &[Curve<'_>]) -> Markup {
    // Drawing into memory does not fail; if it ever did, the numbers are still there.
    let drawing = plot::svg(plot, &panel.curves, Frame::WHOLE).ok().flatten();
    html! {
        @if let Some(svg) = drawing {
            @if !panel.title.is_empty() { p.panel { (panel.title) } }
            p.axis { (plot.y.label) }
            div.drawing role="img" aria-label=(description(plot, &plot.title)) { (PreEscaped(svg)) }
            p.axis.x { (plot.x.label) }
            (legend(key))
            (bubbles::key(plot))
        } @else {
            (nothing())
        }
    }
}

/// The drawings of small pictures, which all have the same axes; none if nothing can be drawn.
fn drawings(plot: &Plot, panels: &[Panel<'_>]) -> Option<Vec<String>> {
    let drawing = |panel: &Panel<'_>| plot::svg(plot, &panel.curves, Frame::SMALL).ok().flatten();
    panels.iter().map(drawing).collect::<Option<Vec<String>>>().filter(|drawings| !drawings.is_empty())
}

fn small(plot: &Plot, panel: &Panel<'_>, drawing: &str) -> Markup {
    let is_of_look = |curve: &&Curve<'_>| Some(curve.look) == panel.look && !curve.series.dashed;
    let own = panel.curves.iter().find(is_of_look).map(|curve| curve.series);
    html! {
        div {
            p.panel {
                @if let Some(look) = panel.look { (swatch(look, own)) }
                span { (panel.title) }
            }
            div.drawing role="img" aria-label=(description(plot, &panel.title)) { (PreEscaped(drawing)) }
            @let equal = panel.equal();
            @if !equal.is_empty() { p.equal { (equal) } }
        }
    }
}

/// Description for a reader who cannot see the drawing, enough to look into the numbers.
fn description(plot: &Plot, title: &str) -> String {
    let mut names: Vec<&str> = plot.series.iter().map(|series| series.name.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    format!("{title}: {} over {}, for {}. {}", plot.y.label, plot.x.label, names.join(", "), plot.note)
}

fn swatch(look: usize, series: Option<&Series>) -> Markup {
    html! { span.swatch aria-hidden="true" { (PreEscaped(plot::swatch(look, series).unwrap_or_default())) } }
}

/// Under the drawing, never upon it: there is room for any number of curves.
fn legend(curves: &[Curve<'_>]) -> Markup {
    html! {
        @if !curves.is_empty() {
            ul.legend {
                @for curve in curves {
                    li { (swatch(curve.look, Some(curve.series))) span { (curve.name) } }
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
                                @for x in &xs { th.number scope="col" { (axis::value(&plot.x, *x)) } }
                            }
                        }
                        tbody {
                            @for series in &plot.series {
                                tr {
                                    th scope="row" { @if !series.panel.is_empty() { (series.panel) ": " } (series.name) }
                                    @for x in &xs {
                                        @let y = series.points.iter().find(|point| point.0 == *x);
                                        td.number { @if let Some((_, y)) = y { (axis::value(&plot.y, *y)) } }
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
