//! Plots of the last hour, as SVG.

use maud::{Markup, html};
use trueplane_units::Nanos;

/// Width of a plot in a row of its own, and of one of two in a row, without what stands around it.
pub(super) const WIDE: f64 = 1080.0;
pub(super) const HALF: f64 = 480.0;
/// Height of a plot, without what stands around it.
const HEIGHT: f64 = 150.0;
/// Room for the numbers on the left and below, and for what is above.
const LEFT: f64 = 64.0;
const BELOW: f64 = 22.0;
const ABOVE: f64 = 8.0;

/// A curve: its class in the style sheet, its name, and its height at each time.
pub(super) struct Curve {
    pub(super) class: &'static str,
    pub(super) name: &'static str,
    pub(super) values: Vec<Option<f64>>,
}

/// The times of the values, and what the heights mean.
pub(super) struct Axes<'a> {
    /// How long ago each time is.
    pub(super) ago: &'a [Nanos],
    /// Words for a height.
    pub(super) told: fn(f64) -> String,
    /// The height of the plot, at least.
    pub(super) least: f64,
    /// Whether that is its height, as none is above it.
    pub(super) is_limited: bool,
    /// Width of the plot.
    pub(super) width: f64,
}

/// A height at or above `value` that is 1, 2 or 5 times a power of ten.
fn round_up(value: f64) -> f64 {
    if !(value.is_finite() && value > 0.0) {
        return 1.0;
    }
    let power = 10f64.powf(value.log10().floor());
    let steps = [1.0, 2.0, 5.0, 10.0].map(|step| step * power);
    steps.into_iter().find(|step| *step >= value).unwrap_or(value)
}

impl Axes<'_> {
    /// Time that the plot shows, in ns.
    fn span(&self) -> f64 {
        let oldest = self.ago.iter().max().map_or(0, |ago| ago.0);
        const LEAST: u64 = 60_000_000_000;
        oldest.max(LEAST) as f64
    }

    fn x(&self, place: usize) -> f64 {
        let ago = self.ago.get(place).map_or(0, |ago| ago.0) as f64;
        LEFT + self.width * (1.0 - ago / self.span())
    }

    fn frame(&self, label: &str, top: f64, curves: &Markup) -> Markup {
        let (right, bottom) = (LEFT + self.width, ABOVE + HEIGHT);
        let minutes = (self.span() / 60e9).round();
        html! {
            svg viewBox={ "0 0 " (right + 8.0) " " (bottom + BELOW) } role="img" aria-label=(label) {
                @for part in [0.0, 0.5, 1.0] {
                    @let y = ABOVE + HEIGHT * (1.0 - part);
                    line .grid x1=(LEFT) x2=(right) y1=(y) y2=(y) {}
                    text x=(LEFT - 6.0) y=(y + 4.0) text-anchor="end" { ((self.told)(top * part)) }
                }
                (curves)
                text x=(LEFT) y=(bottom + 16.0) { (minutes) " min ago" }
                text x=(right) y=(bottom + 16.0) text-anchor="end" { "now" }
            }
        }
    }

    /// Curves from one scale. Where there is no value, there is a gap.
    pub(super) fn lines(&self, label: &str, curves: &[Curve]) -> Markup {
        let highest = curves.iter().flat_map(|curve| curve.values.iter().flatten()).copied();
        let highest = highest.fold(self.least, f64::max);
        let top = if self.is_limited { highest.max(1.0) } else { round_up(highest) };
        let y = |value: f64| ABOVE + HEIGHT * (1.0 - value / top);
        let path = |values: &[Option<f64>]| {
            let mut path = String::new();
            let mut is_on = false;
            for (place, value) in values.iter().enumerate() {
                if let Some(value) = value {
                    let word = if is_on { 'L' } else { 'M' };
                    // A value that stands alone is a point.
                    let point = if is_on { "" } else { "h0.1" };
                    path += &format!("{word}{:.1} {:.1}{point}", self.x(place), y(*value));
                }
                is_on = value.is_some();
            }
            path
        };
        let curves = html! {
            @for curve in curves {
                path .curve .(curve.class) d=(path(&curve.values)) { title { (curve.name) } }
            }
        };
        self.frame(label, top, &curves)
    }

    /// Shares of each time, on top of each other: together they are 1, or nothing.
    pub(super) fn shares(&self, label: &str, curves: &[Curve]) -> Markup {
        let times = self.ago.len();
        let mut below = vec![0.0; times];
        let mut areas = Vec::new();
        for curve in curves {
            let height = |place: usize| curve.values.get(place).copied().flatten().unwrap_or(0.0);
            let above: Vec<f64> = (0..times).map(|place| below[place] + height(place)).collect();
            let y = |value: f64| ABOVE + HEIGHT * (1.0 - value);
            let point = |place: usize, value: f64| format!("{:.1},{:.1} ", self.x(place), y(value));
            let mut points: String = (0..times).map(|place| point(place, above[place])).collect();
            points.extend((0..times).rev().map(|place| point(place, below[place])));
            areas.push((curve, points));
            below = above;
        }
        let areas = html! {
            @for (curve, points) in &areas {
                polygon .area .(curve.class) points=(points) { title { (curve.name) } }
            }
        };
        self.frame(label, 1.0, &areas)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heights_are_round() {
        for (value, round) in
            [(0.0, 1.0), (3.0, 5.0), (10.0, 10.0), (11.0, 20.0), (0.07, 0.1), (f64::NAN, 1.0)]
        {
            assert!((round_up(value) - round).abs() < 1e-9, "{value}");
        }
    }

    #[test]
    fn a_plot_by_hand() {
        let ago = [Nanos::from_secs(60), Nanos::from_secs(30), Nanos(0)];
        let axes =
            Axes { ago: &ago, told: |value| format!("{value}"), least: 0.0, is_limited: false, width: 640.0 };
        let curve = |values| Curve { class: "c", name: "n", values };
        let lines = axes.lines("x", &[curve(vec![Some(1.0), None, Some(0.0)])]).into_string();
        assert!(lines.contains("M64.0 8.0h0.1M704.0 158.0h0.1"), "{lines}");
        let shares = axes.shares("x", &[curve(vec![Some(1.0); 3])]).into_string();
        assert!(shares.contains("64.0,8.0 384.0,8.0 704.0,8.0 704.0,158.0"), "{shares}");
    }
}
