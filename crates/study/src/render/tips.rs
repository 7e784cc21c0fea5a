//! What a point of a drawing says while the pointer rests on it.

use maud::html;

use super::axis::value;
use super::panels::Curve;
use crate::report::Plot;

/// How far from its point a tip is shown, in the units of the drawing.
const REACH: i32 = 16;

/// Words at a place of a drawing.
pub(super) struct Tip {
    at: (i32, i32),
    words: String,
}

impl Tip {
    /// Name and numbers of a point of `curve`, which is drawn `at` this place.
    pub(super) fn of(plot: &Plot, curve: &Curve<'_>, (x, y): (f64, f64), at: (i32, i32)) -> Self {
        let line = |label: &str, value: String| match label {
            "" => value,
            label => format!("{label}: {value}"),
        };
        let lines = [
            curve.name.clone(),
            line(&plot.x.label, value(&plot.x, x)),
            line(&plot.y.label, value(&plot.y, y)),
        ];
        Self { at, words: lines.into_iter().filter(|line| !line.is_empty()).collect::<Vec<_>>().join("\n") }
    }
}

/// `svg`, an `<svg>` element, with these tips above all that is drawn.
pub(super) fn with_tips(svg: &mut String, tips: &[Tip]) {
    let marks = html! {
        @for Tip { at: (x, y), words } in tips {
            ellipse cx=(x) cy=(y) rx=(REACH) ry=(REACH) fill="none" pointer-events="all" { title { (words) } }
        }
    };
    if let Some(end) = svg.rfind("</svg>") {
        svg.insert_str(end, &marks.into_string());
    }
}
