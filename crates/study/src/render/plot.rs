//! A picture of curves or bubbles as SVG, to be put into the page. Title, axis labels and legend are the page's, where text can flow.
//!
//! A series with sizes is a scatter of bubbles; all others are curves. These are told apart by colour *and* by the shape of
//! their points, so that neither colour vision nor a colour printer is needed. The colours written here are those of the light page; `style.css` finds the marks by their
//! colour and their width to dash lines and to repaint them on a dark page, as SVG can do both and plotters neither.

use std::ops::Range;

use plotters::coord::Shift;
use plotters::coord::ranged1d::{KeyPointHint, NoDefaultFormatting, Ranged, ValueFormatter};
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::axis::{Range as Shown, Scale};
use super::bubbles::Sizes;
use super::labels::{Label, Side, sides};
use super::look::{Canvas, Drawn, FRAME, GRID, INK, Style};
use super::panels::Curve;
use super::tips::{Tip, with_tips};
use crate::report::{Plot, Series};

/// Size and ticks of a drawing.
#[derive(Clone, Copy, Debug)]
pub(super) struct Frame {
    /// Width and height: twice the usual size on screen, as plotters rounds to whole units.
    canvas: (u32, u32),
    /// About so many ticks along the horizontal and the vertical axis.
    ticks: (usize, usize),
}

impl Frame {
    /// A picture that fills a column of the page.
    pub(super) const WHOLE: Self = Self { canvas: (1120, 680), ticks: (8, 6) };
    /// One of several small pictures.
    pub(super) const SMALL: Self = Self { canvas: (600, 400), ticks: (3, 4) };
}

const SWATCH: (u32, u32) = (72, 32);
const FONT: u32 = 32;

/// A series with more points than this is a curve, not a few measurements: so many of them are marked, that curves of one
/// colour can be told apart.
const MOST_MARKERS: usize = 16;
/// A step function with more points than this has no markers: its corners say where it has points.
const MOST_CORNERS: usize = MOST_MARKERS;

/// `curves` on the axes of `plot` as an `<svg>` element; `None` when the plot has no point that can be drawn.
///
/// # Errors
/// Only what plotters reports; drawing into memory does not fail.
pub(super) fn svg(
    plot: &Plot,
    curves: &[Curve<'_>],
    frame: Frame,
) -> Result<Option<String>, DrawingAreaErrorKind<std::io::Error>> {
    let points =
        || plot.series.iter().flat_map(|series| &series.points).filter(|(x, y)| drawable(plot, *x, *y));
    let x = Scale::fit(&plot.x, Shown::Numbers, points().map(|(x, _)| *x), frame.ticks.0);
    let y = Scale::fit(&plot.y, Shown::Heights, points().map(|(_, y)| *y), frame.ticks.1);
    let (Some(x), Some(y)) = (x, y) else { return Ok(None) };
    let mut svg = String::new();
    let tips = draw(plot, curves, frame, x, y, &mut svg)?;
    with_tips(&mut svg, &tips);
    Ok(Some(svg))
}

/// The piece of line and the point by which a legend names a curve.
///
/// # Errors
/// As [`svg`].
pub(super) fn swatch(
    look: usize,
    series: Option<&Series>,
) -> Result<String, DrawingAreaErrorKind<std::io::Error>> {
    let mut svg = String::new();
    {
        let root = SVGBackend::with_string(&mut svg, SWATCH).into_drawing_area();
        let mut canvas = ChartBuilder::on(&root).build_cartesian_2d(Scale::unit(), Scale::unit())?;
        let style = Style::of(look, series);
        style.line(&mut canvas, vec![(0.0, 0.5), (1.0, 0.5)])?;
        if !style.dotted {
            style.marker(&canvas, (0.5, 0.5))?;
        }
        root.present()?;
    }
    Ok(svg)
}

/// A point is drawn only when both its numbers can be.
fn drawable(plot: &Plot, x: f64, y: f64) -> bool {
    Scale::can_show(&plot.x, x) && Scale::can_show(&plot.y, y)
}

/// Draws into `svg`; what its points say.
fn draw(
    plot: &Plot,
    curves: &[Curve<'_>],
    frame: Frame,
    x: Scale,
    y: Scale,
    svg: &mut String,
) -> Drawn<Vec<Tip>> {
    let sizes = Sizes::of(plot);
    let positions: Vec<_> = curves.iter().map(|curve| positions(curve.series, &x, &y)).collect();
    let root = SVGBackend::with_string(svg, frame.canvas).into_drawing_area();
    let widest = y.ticks.iter().map(|tick| tick.label.chars().count()).max().unwrap_or(0) as u32;
    let mut canvas = ChartBuilder::on(&root)
        // Half of the uppermost label stands above the axis, and half of the rightmost one beyond it.
        .margin_top(FONT * 3 / 4)
        .margin_right(FONT * 3 / 2)
        .x_label_area_size(FONT * 3 / 2)
        .y_label_area_size(FONT + widest * FONT * 5 / 8)
        .build_cartesian_2d(x, y)?;
    canvas
        .configure_mesh()
        .bold_line_style(GRID.stroke_width(2))
        .axis_style(FRAME.stroke_width(2))
        .label_style(("sans-serif", FONT).into_font().color(&INK))
        .draw()?;
    // Muted curves and predictions below, so that they never hide a measured curve.
    let depth = |series: &Series| (!series.muted, !series.dashed, !series.is_limit);
    let mut order: Vec<_> = curves.iter().zip(&positions).collect();
    order.sort_by_key(|(curve, _)| depth(curve.series));
    for (curve, positions) in order {
        let style = Style::of(curve.look, Some(curve.series));
        match curve.series.sizes.is_empty() {
            true => draw_series(&mut canvas, &style, positions, curve.series.steps)?,
            false => draw_bubbles(&canvas, &style, &radii(curve.series, sizes), positions)?,
        }
    }
    draw_labels(&canvas, &root, curves, &positions, frame)?;
    root.present()?;
    let of_curve = |(curve, positions): (&Curve<'_>, &Vec<Option<(f64, f64)>>)| -> Vec<Tip> {
        let points = curve.series.points.iter().zip(positions);
        let placed: Vec<_> = points.filter_map(|(point, at)| Some((*point, (*at)?))).collect();
        let marked = if curve.series.sizes.is_empty() { apart(placed.len()) } else { 1 };
        let tip = |(point, at): &(_, _)| Tip::of(plot, curve, *point, canvas.backend_coord(at));
        placed.iter().step_by(marked).map(tip).collect()
    };
    Ok(curves.iter().zip(&positions).flat_map(of_curve).collect())
}

/// Words beside points, as far as there is room for them.
fn draw_labels<'b>(
    canvas: &Canvas<'_, 'b>,
    root: &DrawingArea<SVGBackend<'b>, Shift>,
    curves: &[Curve<'_>],
    positions: &[Vec<Option<(f64, f64)>>],
    frame: Frame,
) -> Drawn {
    let gap = FONT / 2;
    let of_curve = |(curve, positions): (&Curve<'_>, &Vec<Option<(f64, f64)>>)| -> Vec<((i32, i32), String)> {
        let labels = curve.series.labels.iter().zip(positions);
        labels.filter_map(|(words, at)| Some((canvas.backend_coord(&(*at)?), words.clone()))).collect()
    };
    let words: Vec<((i32, i32), String)> = curves.iter().zip(positions).flat_map(of_curve).collect();
    let labels: Vec<Label<'_>> = words.iter().map(|(at, words)| Label { at: *at, words }).collect();
    let style = ("sans-serif", FONT).into_font().color(&INK);
    for (label, side) in labels.iter().zip(sides(&labels, frame.canvas, FONT, gap)) {
        let gap = gap as i32;
        let (anchor, (dx, dy)) = match side {
            None => continue,
            Some(Side::Right) => (Pos::new(HPos::Left, VPos::Center), (gap, 0)),
            Some(Side::Left) => (Pos::new(HPos::Right, VPos::Center), (-gap, 0)),
            Some(Side::Above) => (Pos::new(HPos::Center, VPos::Bottom), (0, -gap)),
            Some(Side::Below) => (Pos::new(HPos::Center, VPos::Top), (0, gap)),
        };
        let at = (label.at.0 + dx, label.at.1 + dy);
        root.draw(&Text::new(label.words.to_owned(), at, style.clone().pos(anchor)))?;
    }
    Ok(())
}

/// plotters asks a scale for its range, its ticks and where a position lies between two pixels.
impl Ranged for Scale {
    type FormatOption = NoDefaultFormatting;
    type ValueType = f64;

    fn map(&self, position: &f64, (first, last): (i32, i32)) -> i32 {
        let share = (position - self.start) / (self.end - self.start);
        first + (f64::from(last - first) * share).round() as i32
    }

    fn key_points<Hint: KeyPointHint>(&self, hint: Hint) -> Vec<f64> {
        // "Light" points are grid lines between the ticks; there are none.
        let ticks = if hint.weight().allow_light_points() { &[] } else { self.ticks.as_slice() };
        ticks.iter().map(|tick| tick.position).collect()
    }

    fn range(&self) -> Range<f64> {
        self.start..self.end
    }
}

impl ValueFormatter<f64> for Scale {
    fn format_ext(&self, position: &f64) -> String {
        self.label_at(*position)
    }
}

fn positions(series: &Series, x: &Scale, y: &Scale) -> Vec<Option<(f64, f64)>> {
    series.points.iter().map(|(px, py)| x.position(*px).zip(y.position(*py))).collect()
}

/// Radii of the bubbles of `series`. A point without a size has the smallest.
fn radii(series: &Series, sizes: Sizes) -> Vec<i32> {
    let of_points = series.sizes.iter().copied().chain(std::iter::repeat(0.0)).take(series.points.len());
    of_points.map(|size| sizes.radius(size).round() as i32).collect()
}

/// Rings, so that those below can be seen.
fn draw_bubbles(
    canvas: &Canvas<'_, '_>,
    style: &Style,
    radii: &[i32],
    positions: &[Option<(f64, f64)>],
) -> Drawn {
    for (position, radius) in positions.iter().zip(radii) {
        if let Some(position) = position {
            canvas.plotting_area().draw(&Circle::new(*position, *radius, style.color.stroke_width(2)))?;
        }
    }
    Ok(())
}

fn draw_series(
    canvas: &mut Canvas<'_, '_>,
    style: &Style,
    positions: &[Option<(f64, f64)>],
    steps: bool,
) -> Drawn {
    let positions: Vec<(f64, f64)> = positions.iter().copied().flatten().collect();
    if positions.len() > 1 {
        style.line(canvas, if steps { stairs(&positions) } else { positions.clone() })?;
    }
    if style.dotted || (steps && positions.len() > MOST_CORNERS) {
        return Ok(());
    }
    for position in positions.iter().step_by(apart(positions.len())) {
        style.marker(canvas, *position)?;
    }
    Ok(())
}

/// Every so many-th of the points of a curve is marked.
fn apart(points: usize) -> usize {
    points.div_ceil(MOST_MARKERS).max(1)
}

/// The line of a step function through these positions: level up to the next one, then up or down.
fn stairs(positions: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let steps = positions.windows(2).flat_map(|pair| [pair[0], (pair[1].0, pair[0].1)]);
    steps.chain(positions.last().copied()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::look::{DASHED_WIDTH, DOTTED_WIDTH, SOLID_WIDTH};
    use crate::render::panels::Layout;
    use crate::render::sample;
    use crate::report::{Axis, Unit};

    /// The first picture of a plot.
    fn svg(plot: &Plot) -> Option<String> {
        let layout = Layout::of(plot);
        super::svg(plot, &layout.panels[0].curves, Frame::WHOLE).unwrap()
    }

    #[test]
    fn a_curve_and_its_prediction_are_drawn_with_ticks_in_units() {
        let plot = &sample::report().plots[0];
        let svg = svg(plot).unwrap();
        let lines = |width: u32| svg.matches(&format!("stroke-width=\"{width}\" points")).count();
        assert_eq!((lines(SOLID_WIDTH), lines(DASHED_WIDTH)), (1, 1));
        for label in ["1ms", "10ms", "100ms"] {
            assert!(svg.contains(&format!(">\n{label}\n<")), "{label}");
        }
    }

    #[test]
    fn points_say_what_they_are() {
        let axis = |label: &str, unit| Axis { label: label.to_owned(), unit, log: false };
        let series = Series { name: "a<b".to_owned(), points: vec![(1e6, 0.25)], ..Series::default() };
        let plot = Plot {
            x: axis("latency", Unit::Nanos),
            y: axis("hits", Unit::Percent),
            series: vec![series],
            ..Plot::default()
        };
        let drawn = svg(&plot).unwrap();
        assert!(drawn.contains("<title>a&lt;b\nlatency: 1ms\nhits: 25.0%</title></ellipse>"), "{drawn}");
        assert!(drawn.trim_end().ends_with("</svg>"), "{drawn}");
        let many = Series { points: (0..1000).map(|x| (x.into(), 1.0)).collect(), ..Series::default() };
        let drawn = svg(&Plot { series: vec![many], ..Plot::default() }).unwrap();
        assert!((8..=MOST_MARKERS).contains(&drawn.matches("<ellipse").count()), "{drawn}");
    }

    #[test]
    fn series_of_one_color_share_their_look() {
        let plot = &sample::report().plots[0];
        let of = |index: usize| Style::of(3, plot.series.get(index));
        let (refined, classical) = (of(3), of(17));
        assert_eq!((refined.color, refined.marker), (classical.color, classical.marker));
        assert!(classical.dashed && !refined.dashed);
        assert_ne!(swatch(3, plot.series.get(3)).unwrap(), swatch(3, plot.series.get(17)).unwrap());
    }

    #[test]
    fn a_limit_is_dotted_and_a_long_step_function_has_no_markers() {
        let points: Vec<(f64, f64)> = (0..40).map(|x| (x.into(), (x % 7).into())).collect();
        let limit = Series { points: vec![(0.0, 5.0), (39.0, 5.0)], is_limit: true, ..Series::default() };
        let plot = Plot {
            series: vec![Series { points, steps: true, ..Series::default() }, limit],
            ..Plot::default()
        };
        let drawn = svg(&plot).unwrap();
        assert_eq!(drawn.matches(&format!("stroke-width=\"{DOTTED_WIDTH}\" points")).count(), 1);
        assert!(!drawn.contains("<circle") && !drawn.contains("<rect x"), "{drawn}");
    }

    #[test]
    fn words_stand_beside_their_points() {
        let named = |name: &str, at: f64| Series {
            points: vec![(at, at)],
            labels: vec![name.to_owned()],
            ..Series::default()
        };
        let plot = Plot { series: vec![named("lru<", 1.0), named("lfu", 2.0)], ..Plot::default() };
        let drawn = svg(&plot).unwrap();
        for words in ["lru&lt;", "lfu"] {
            assert!(drawn.contains(&format!(">\n{words}\n<")), "{drawn}");
        }
    }

    #[test]
    fn bubbles_are_not_joined_and_as_large_as_their_sizes() {
        let points = vec![(0.0, 1.0), (1.0, 2.0), (2.0, f64::NAN), (3.0, 1.0), (4.0, 2.0)];
        let sizes = vec![10.0, 5.0, 7.0, f64::NAN];
        let plot = Plot { series: vec![Series { points, sizes, ..Series::default() }], ..Plot::default() };
        let drawn = svg(&plot).unwrap();
        let radii: Vec<&str> =
            drawn.split(" r=\"").skip(1).map(|rest| &rest[..rest.find('"').unwrap()]).collect();
        assert_eq!(radii, ["22", "16", "3", "3"], "the point that cannot be drawn is left out with its size");
        assert!(!drawn.contains(&format!("stroke-width=\"{SOLID_WIDTH}\" points")));
    }

    #[test]
    fn a_step_function_has_no_slopes() {
        let points = vec![(0.0, 0.25), (2.0, 0.5), (3.0, 1.0)];
        let corners = [(0.0, 0.25), (2.0, 0.25), (2.0, 0.5), (3.0, 0.5), (3.0, 1.0)];
        assert_eq!(stairs(&points), corners);
        let curve = |steps| Series { points: points.clone(), steps, ..Series::default() };
        let drawn = |steps| svg(&Plot { series: vec![curve(steps)], ..Plot::default() }).unwrap();
        let line = |svg: String| {
            let width = format!("stroke-width=\"{SOLID_WIDTH}\" points=\"");
            let (_, rest) = svg.split_once(&width).unwrap();
            rest.split_once('"').unwrap().0.trim().split(' ').count()
        };
        assert_eq!((line(drawn(false)), line(drawn(true))), (3, 5));
    }

    #[test]
    fn a_single_point_is_visible() {
        let points = vec![(5.0, 5.0)];
        let plot = Plot { series: vec![Series { points, ..Series::default() }], ..Plot::default() };
        assert!(svg(&plot).unwrap().contains("<circle"));
    }

    #[test]
    fn degenerate_plots_are_drawn_as_far_as_they_can_be() {
        let numbers =
            [0.0, -1.0, 1.0, 1e-308, f64::MAX, f64::MIN, f64::NAN, f64::INFINITY, f64::NEG_INFINITY];
        for log in [(false, false), (false, true), (true, false), (true, true)] {
            for unit in [Unit::Plain, Unit::Nanos, Unit::BitsPerSec, Unit::Percent] {
                let axis = |log| Axis { label: String::new(), unit, log };
                let plot = |points| Plot {
                    x: axis(log.0),
                    y: axis(log.1),
                    series: vec![Series { points, ..Series::default() }, Series::default()],
                    ..Plot::default()
                };
                assert!(svg(&plot(Vec::new())).is_none());
                assert!(svg(&plot(vec![(f64::NAN, 1.0), (1.0, f64::INFINITY)])).is_none());
                assert!(svg(&plot(vec![(3.0, 3.0); 5])).is_some());
                let all = numbers.iter().flat_map(|x| numbers.iter().map(|y| (*x, *y))).collect();
                let drawn = svg(&plot(all)).unwrap();
                assert!(!drawn.contains("NaN") && !drawn.contains("inf"), "{drawn}");
            }
        }
        assert!(svg(&Plot::default()).is_none());
    }
}
