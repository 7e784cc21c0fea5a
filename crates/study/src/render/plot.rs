//! A plot as SVG, to be put into the page. Title, axis labels and legend are the page's, where text can flow.
//!
//! A series with sizes is a scatter of bubbles; all others are curves. These are told apart by colour *and* by the shape of
//! their points, so that neither colour vision nor a colour printer is needed. The colours written here are those of the light page; `style.css` finds the marks by their
//! colour and their width to dash lines and to repaint them on a dark page, as SVG can do both and plotters neither.

use std::ops::Range;

use plotters::chart::ChartContext;
use plotters::coord::ranged1d::{KeyPointHint, NoDefaultFormatting, Ranged, ValueFormatter};
use plotters::prelude::*;

use super::axis::Scale;
use crate::report::{Plot, Series};

/// Width and height of the drawing: twice its usual size on screen, as plotters rounds to whole units.
const CANVAS: (u32, u32) = (1120, 680);
const SWATCH: (u32, u32) = (72, 32);
const FONT: u32 = 32;

const GRID: RGBColor = RGBColor(0xE3, 0xE3, 0xE3);
const FRAME: RGBColor = RGBColor(0x99, 0x99, 0x99);
const INK: RGBColor = RGBColor(0x44, 0x44, 0x44);

/// Okabe and Ito's palette, "Color Universal Design", 2008, changed where it is too light for a line on white, which
/// must have a contrast of 3:1 (WCAG 2.1, 1.4.11): brown for orange, a deeper sky blue with a deeper blue beside it, no
/// yellow; black is softened. To protanopes, deuteranopes and tritanopes these seven are as far apart as the original.
/// The last two are for pictures with more curves: they differ from the others in brightness rather than in hue, and in
/// their markers.
const PALETTE: [RGBColor; 9] = [
    RGBColor(0x00, 0x64, 0xA0),
    RGBColor(0xD5, 0x5E, 0x00),
    RGBColor(0x00, 0x9E, 0x73),
    RGBColor(0xCC, 0x79, 0xA7),
    RGBColor(0x8A, 0x51, 0x1C),
    RGBColor(0x24, 0x88, 0xF2),
    RGBColor(0x55, 0x55, 0x55),
    RGBColor(0x4B, 0x18, 0x78),
    RGBColor(0x8C, 0x8C, 0x10),
];

const SOLID_WIDTH: u32 = 4;
/// Lines of this width are dashed by the style sheet.
const DASHED_WIDTH: u32 = 3;
/// A series with more points than this is a curve, not a few measurements: so many of them are marked, that curves of one
/// colour can be told apart.
const MOST_MARKERS: usize = 16;
/// The radius of the largest bubble.
const LARGEST_BUBBLE: f64 = 22.0;
/// The radius below which none can be seen.
const SMALLEST_BUBBLE: f64 = 3.0;

type Canvas<'a, 'b> = ChartContext<'a, SVGBackend<'b>, Cartesian2d<Scale, Scale>>;
type Drawn = Result<(), DrawingAreaErrorKind<std::io::Error>>;

/// `plot` as an `<svg>` element; `None` when it has no point that can be drawn.
///
/// # Errors
/// Only what plotters reports; drawing into memory does not fail.
pub(super) fn svg(plot: &Plot) -> Result<Option<String>, DrawingAreaErrorKind<std::io::Error>> {
    let points =
        || plot.series.iter().flat_map(|series| &series.points).filter(|(x, y)| drawable(plot, *x, *y));
    let x = Scale::fit(&plot.x, points().map(|(x, _)| *x), 8);
    let y = Scale::fit(&plot.y, points().map(|(_, y)| *y), 6);
    let (Some(x), Some(y)) = (x, y) else { return Ok(None) };
    let mut svg = String::new();
    draw(plot, x, y, &mut svg)?;
    Ok(Some(svg))
}

/// The piece of line and the point by which the legend names series `index` of `plot`.
///
/// # Errors
/// As [`svg`].
pub(super) fn swatch(plot: &Plot, index: usize) -> Result<String, DrawingAreaErrorKind<std::io::Error>> {
    let mut svg = String::new();
    {
        let root = SVGBackend::with_string(&mut svg, SWATCH).into_drawing_area();
        let mut canvas = ChartBuilder::on(&root).build_cartesian_2d(Scale::unit(), Scale::unit())?;
        let style = Style::of(plot, index);
        style.line(&mut canvas, vec![(0.0, 0.5), (1.0, 0.5)])?;
        style.marker(&canvas, (0.5, 0.5))?;
        root.present()?;
    }
    Ok(svg)
}

/// A point is drawn only when both its numbers can be.
fn drawable(plot: &Plot, x: f64, y: f64) -> bool {
    Scale::can_show(&plot.x, x) && Scale::can_show(&plot.y, y)
}

fn draw(plot: &Plot, x: Scale, y: Scale, svg: &mut String) -> Drawn {
    let curves: Vec<_> = plot.series.iter().map(|series| positions(series, &x, &y)).collect();
    let sizes = plot.series.iter().flat_map(|series| &series.sizes).copied();
    let largest = sizes.filter(|size| size.is_finite()).fold(0.0, f64::max);
    let root = SVGBackend::with_string(svg, CANVAS).into_drawing_area();
    let widest = y.ticks.iter().map(|tick| tick.label.chars().count()).max().unwrap_or(0) as u32;
    let mut canvas = ChartBuilder::on(&root)
        .margin_top(FONT / 2)
        // Half of the rightmost label stands beyond the axis.
        .margin_right(FONT * 3 / 2)
        .x_label_area_size(FONT * 3 / 2)
        .y_label_area_size(FONT + widest * FONT / 2)
        .build_cartesian_2d(x, y)?;
    canvas
        .configure_mesh()
        .bold_line_style(GRID.stroke_width(2))
        .axis_style(FRAME.stroke_width(2))
        .label_style(("sans-serif", FONT).into_font().color(&INK))
        .draw()?;
    // The classical predictions below, so that they never hide a measured curve.
    for dashed in [true, false] {
        for (index, curve) in
            curves.iter().enumerate().filter(|(index, _)| plot.series[*index].dashed == dashed)
        {
            let style = Style::of(plot, index);
            match plot.series[index].sizes.is_empty() {
                true => draw_series(&mut canvas, &style, curve, plot.series[index].steps)?,
                false => draw_bubbles(&canvas, &style, &radii(&plot.series[index], largest), curve)?,
            }
        }
    }
    root.present()
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

/// Radii of the bubbles of `series`, in proportion to the `largest` size of the plot. A point without a size has the smallest.
fn radii(series: &Series, largest: f64) -> Vec<i32> {
    let radius = |size: f64| (size / largest * LARGEST_BUBBLE).clamp(SMALLEST_BUBBLE, LARGEST_BUBBLE);
    let sizes = series.sizes.iter().copied().chain(std::iter::repeat(0.0)).take(series.points.len());
    // Nothing by nothing, and what is no number, is as small as can be seen: `max` prefers numbers.
    sizes.map(|size| radius(size).max(SMALLEST_BUBBLE).round() as i32).collect()
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
    let apart = positions.len().div_ceil(MOST_MARKERS).max(1);
    for position in positions.iter().step_by(apart) {
        style.marker(canvas, *position)?;
    }
    Ok(())
}

/// The line of a step function through these positions: level up to the next one, then up or down.
fn stairs(positions: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let steps = positions.windows(2).flat_map(|pair| [pair[0], (pair[1].0, pair[0].1)]);
    steps.chain(positions.last().copied()).collect()
}

/// Look of a series: one of the palette's colours, one of [`MARKERS`] shapes, dashed or not.
struct Style {
    color: RGBColor,
    marker: usize,
    dashed: bool,
}

/// Circle, square, triangle, diamond, cross.
const MARKERS: usize = 5;

/// Colour and marker of the `number`-th look. Each round through the colours starts one marker later, so that the first
/// 9 × 5 looks are distinct and neighbours differ in colour.
fn look_of(number: usize) -> (usize, usize) {
    let (round, color) = (number / PALETTE.len(), number % PALETTE.len());
    (color, (color + round) % MARKERS)
}

impl Style {
    fn of(plot: &Plot, index: usize) -> Self {
        let series = plot.series.get(index);
        let (color, marker) = look_of(series.and_then(|series| series.color).unwrap_or(index));
        Self { color: PALETTE[color], marker, dashed: series.is_some_and(|series| series.dashed) }
    }

    fn line(&self, canvas: &mut Canvas<'_, '_>, positions: Vec<(f64, f64)>) -> Drawn {
        let width = if self.dashed { DASHED_WIDTH } else { SOLID_WIDTH };
        canvas.draw_series(LineSeries::new(positions, self.color.stroke_width(width)))?;
        Ok(())
    }

    /// A small shape; smaller where the line is dashed, as a prediction should stand back.
    fn marker(&self, canvas: &Canvas<'_, '_>, at: (f64, f64)) -> Drawn {
        let size: i32 = if self.dashed { 6 } else { 9 };
        let filled = self.color.filled();
        let area = canvas.plotting_area();
        match self.marker {
            0 => area.draw(&Circle::new(at, size, filled)),
            1 => area.draw(&(EmptyElement::at(at) + Rectangle::new([(-size, -size), (size, size)], filled))),
            2 => area.draw(&TriangleMarker::new(at, size + 3, filled)),
            3 => {
                let tip = size + 3;
                let corners = vec![(-tip, 0), (0, -tip), (tip, 0), (0, tip)];
                area.draw(&(EmptyElement::at(at) + Polygon::new(corners, filled)))
            }
            _ => area.draw(&Cross::new(at, size, self.color.stroke_width(SOLID_WIDTH))),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::render::sample;
    use crate::report::{Axis, Unit};

    fn hex(color: RGBColor) -> String {
        format!("#{:02X}{:02X}{:02X}", color.0, color.1, color.2)
    }

    #[test]
    fn twenty_eight_curves_are_drawn_with_ticks_in_units() {
        let plot = &sample::report().plots[0];
        let svg = svg(plot).unwrap().unwrap();
        let lines = |width: u32| svg.matches(&format!("stroke-width=\"{width}\" points")).count();
        assert_eq!((lines(SOLID_WIDTH), lines(DASHED_WIDTH)), (14, 14));
        for label in ["1ms", "10ms", "100ms"] {
            assert!(svg.contains(&format!(">\n{label}\n<")), "{label}");
        }
    }

    #[test]
    fn the_style_sheet_repaints_colors_that_are_drawn() {
        let sheet = include_str!("style.css");
        let drawn: Vec<String> = [GRID, FRAME].into_iter().chain(PALETTE).map(hex).collect();
        for property in ["stroke", "fill"] {
            let selector = format!("[{property}=\"");
            let mut selected = sheet.split(&selector).skip(1).map(|rule| &rule[..7]).peekable();
            assert!(selected.peek().is_some());
            for color in selected {
                assert!(drawn.iter().any(|hex| hex == color), "{color}");
            }
        }
        assert!(sheet.contains(&format!("polyline[stroke-width=\"{DASHED_WIDTH}\"]")));
    }

    /// Relative luminance of `#rrggbb`, as WCAG 2.1 defines it.
    fn luminance(color: &str) -> f64 {
        let linear = |at: usize| {
            let share = f64::from(u8::from_str_radix(&color[at..at + 2], 16).unwrap()) / 255.0;
            if share <= 0.040_45 { share / 12.92 } else { ((share + 0.055) / 1.055).powf(2.4) }
        };
        0.2126 * linear(1) + 0.7152 * linear(3) + 0.0722 * linear(5)
    }

    #[test]
    fn every_curve_stands_out_from_the_light_the_dark_and_the_printed_page() {
        let sheet = include_str!("style.css");
        // What stands between `start` and `end`.
        let between = |text: &'static str, start: &str, end: &str| -> Option<&'static str> {
            let rest = &text[text.find(start)? + start.len()..];
            rest.find(end).map(|end| &rest[..end])
        };
        for theme in ["\n:root {", "(prefers-color-scheme: dark) {", "@media print {"] {
            let theme = between(sheet, theme, "}").unwrap();
            let value = |name: &str| between(theme, &format!("{name}: "), ";").unwrap();
            for color in PALETTE.map(hex) {
                let name = between(sheet, &format!("[stroke=\"{color}\"] {{ stroke: var("), ")");
                let curve = luminance(name.map_or(color.as_str(), |name| value(name)));
                let paper = luminance(value("--paper"));
                let contrast = (curve.max(paper) + 0.05) / (curve.min(paper) + 0.05);
                assert!(contrast >= 3.0, "{color}: {contrast}, {theme}");
            }
        }
    }

    #[test]
    fn the_first_45_looks_are_distinct() {
        let looks: HashSet<_> = (0..45).map(look_of).collect();
        assert_eq!(looks.len(), 45);
    }

    #[test]
    fn series_of_one_color_share_their_look() {
        let plot = &sample::report().plots[0];
        let (refined, classical) = (Style::of(plot, 3), Style::of(plot, 17));
        assert_eq!((refined.color, refined.marker), (classical.color, classical.marker));
        assert!(classical.dashed && !refined.dashed);
        assert_ne!(swatch(plot, 3).unwrap(), swatch(plot, 17).unwrap());
    }

    #[test]
    fn bubbles_are_not_joined_and_as_large_as_their_sizes() {
        let points = vec![(0.0, 1.0), (1.0, 2.0), (2.0, f64::NAN), (3.0, 1.0), (4.0, 2.0)];
        let sizes = vec![10.0, 5.0, 7.0, f64::NAN];
        let plot = Plot { series: vec![Series { points, sizes, ..Series::default() }], ..Plot::default() };
        let drawn = svg(&plot).unwrap().unwrap();
        let radii: Vec<&str> =
            drawn.split(" r=\"").skip(1).map(|rest| &rest[..rest.find('"').unwrap()]).collect();
        assert_eq!(radii, ["22", "11", "3", "3"], "the point that cannot be drawn is left out with its size");
        assert!(!drawn.contains(&format!("stroke-width=\"{SOLID_WIDTH}\" points")));
    }

    #[test]
    fn a_step_function_has_no_slopes() {
        let points = vec![(0.0, 0.25), (2.0, 0.5), (3.0, 1.0)];
        let corners = [(0.0, 0.25), (2.0, 0.25), (2.0, 0.5), (3.0, 0.5), (3.0, 1.0)];
        assert_eq!(stairs(&points), corners);
        let curve = |steps| Series { points: points.clone(), steps, ..Series::default() };
        let drawn = |steps| svg(&Plot { series: vec![curve(steps)], ..Plot::default() }).unwrap().unwrap();
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
        assert!(svg(&plot).unwrap().unwrap().contains("<circle"));
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
                assert!(svg(&plot(Vec::new())).unwrap().is_none());
                assert!(svg(&plot(vec![(f64::NAN, 1.0), (1.0, f64::INFINITY)])).unwrap().is_none());
                assert!(svg(&plot(vec![(3.0, 3.0); 5])).unwrap().is_some());
                let all = numbers.iter().flat_map(|x| numbers.iter().map(|y| (*x, *y))).collect();
                let drawn = svg(&plot(all)).unwrap().unwrap();
                assert!(!drawn.contains("NaN") && !drawn.contains("inf"), "{drawn}");
            }
        }
        assert!(svg(&Plot::default()).unwrap().is_none());
    }
}
