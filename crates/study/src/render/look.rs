//! What a curve looks like: its colour, the shape of its points and its line.

use plotters::chart::ChartContext;
use plotters::prelude::*;

use super::axis::Scale;
use crate::report::Series;

/// The canvas of a plot, on its axes.
pub(super) type Canvas<'a, 'b> = ChartContext<'a, SVGBackend<'b>, Cartesian2d<Scale, Scale>>;
/// Result of drawing something.
pub(super) type Drawn<T = ()> = Result<T, DrawingAreaErrorKind<std::io::Error>>;

pub(super) const GRID: RGBColor = RGBColor(0xE3, 0xE3, 0xE3);
pub(super) const FRAME: RGBColor = RGBColor(0x99, 0x99, 0x99);
pub(super) const INK: RGBColor = RGBColor(0x44, 0x44, 0x44);

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

pub(super) const SOLID_WIDTH: u32 = 4;
/// Lines of this width are dashed by the style sheet.
pub(super) const DASHED_WIDTH: u32 = 3;
/// Lines of this width are dotted by the style sheet.
pub(super) const DOTTED_WIDTH: u32 = 5;

/// The colour of a look, as the light page has it: `#0064A0`; that of the axes for what is muted.
pub(super) fn color(look: usize, muted: bool) -> String {
    let color = if muted { FRAME } else { PALETTE[look_of(look).0] };
    format!("#{:02X}{:02X}{:02X}", color.0, color.1, color.2)
}

/// Look of a series: one of the palette's colours, one of [`MARKERS`] shapes, dashed, dotted or neither.
pub(super) struct Style {
    pub(super) color: RGBColor,
    pub(super) marker: usize,
    pub(super) dashed: bool,
    pub(super) dotted: bool,
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
    pub(super) fn of(look: usize, series: Option<&Series>) -> Self {
        let (color, marker) = look_of(look);
        let is = |property: fn(&Series) -> bool| series.is_some_and(property);
        Self {
            color: if is(|series| series.muted) { FRAME } else { PALETTE[color] },
            marker,
            dashed: is(|series| series.dashed),
            dotted: is(|series| series.is_limit),
        }
    }

    pub(super) fn line(&self, canvas: &mut Canvas<'_, '_>, positions: Vec<(f64, f64)>) -> Drawn {
        let width = match (self.dashed, self.dotted) {
            (_, true) => DOTTED_WIDTH,
            (true, false) => DASHED_WIDTH,
            (false, false) => SOLID_WIDTH,
        };
        canvas.draw_series(LineSeries::new(positions, self.color.stroke_width(width)))?;
        Ok(())
    }

    /// A small shape; smaller where the line is dashed, as a prediction should stand back.
    pub(super) fn marker(&self, canvas: &Canvas<'_, '_>, at: (f64, f64)) -> Drawn {
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

    fn hex(color: RGBColor) -> String {
        format!("#{:02X}{:02X}{:02X}", color.0, color.1, color.2)
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
        for width in [DASHED_WIDTH, DOTTED_WIDTH] {
            assert!(sheet.contains(&format!("polyline[stroke-width=\"{width}\"]")));
        }
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
}
