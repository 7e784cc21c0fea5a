//! Sizes of bubbles, and the key that tells them.

use maud::{Markup, html};

use super::axis::label;
use crate::report::{Plot, Unit};

/// Radius of the largest bubble.
const LARGEST: f64 = 22.0;
/// Radius below which none can be seen.
const SMALLEST: f64 = 3.0;
/// Bubbles in the key, each for a tenth of the one before.
const KEY: i32 = 3;

/// The scale of all bubbles of a plot: areas are in proportion to sizes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sizes {
    largest: f64,
}

impl Sizes {
    /// The scale of `plot`; every bubble is as small as can be seen if it has no size above zero.
    pub(super) fn of(plot: &Plot) -> Self {
        let sizes = plot.series.iter().flat_map(|series| &series.sizes).copied();
        Self { largest: sizes.filter(|size| size.is_finite()).fold(0.0, f64::max) }
    }

    /// Radius in units of the drawing. What is no size above zero is as small as can be seen.
    pub(super) fn radius(self, size: f64) -> f64 {
        // `max` prefers numbers.
        ((size / self.largest).sqrt() * LARGEST).clamp(SMALLEST, LARGEST).max(SMALLEST)
    }

    /// Round sizes that the key shows, the largest first.
    fn in_key(self) -> Vec<f64> {
        let most = 10f64.powf(self.largest.log10().floor());
        let round =
            [5.0, 2.0, 1.0].map(|factor| factor * most).into_iter().find(|size| *size <= self.largest);
        let smaller = |first: f64| (0..KEY).map(move |step| first / 10f64.powi(step));
        round.into_iter().flat_map(smaller).filter(|size| self.radius(*size) > SMALLEST).collect()
    }
}

/// The key of the sizes of `plot`; empty if it has no bubbles.
pub(super) fn key(plot: &Plot) -> Markup {
    let what = plot.series.iter().map(|series| series.size_of).find(|what| !what.is_empty());
    let sizes = Sizes::of(plot);
    html! {
        @if let Some(what) = what {
            ul.sizes {
                li { (what) ":" }
                @for size in sizes.in_key() {
                    @let radius = sizes.radius(size);
                    @let side = 2.0 * radius + 4.0;
                    li {
                        // The drawing is shown at half its size.
                        svg aria-hidden="true" viewBox={ "0 0 " (side) " " (side) } width=(side / 2.0) height=(side / 2.0) {
                            circle cx=(side / 2.0) cy=(side / 2.0) r=(radius) {}
                        }
                        (label(Unit::Plain, size))
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::Series;

    fn plot(sizes: &[f64]) -> Plot {
        let series = Series { sizes: sizes.to_vec(), size_of: "tasks of the user", ..Series::default() };
        Plot { series: vec![series], ..Plot::default() }
    }

    #[test]
    fn areas_are_in_proportion_to_sizes() {
        let sizes = Sizes::of(&plot(&[100.0, 25.0, f64::NAN, f64::INFINITY]));
        assert_eq!(
            [100.0, 25.0, 0.0, -1.0, f64::NAN, 1e9].map(|size| sizes.radius(size)),
            [22.0, 11.0, 3.0, 3.0, 3.0, 22.0]
        );
        assert_eq!(Sizes::of(&plot(&[])).radius(1.0), 22.0);
    }

    #[test]
    fn the_key_has_round_sizes_that_differ() {
        let in_key = |sizes: &[f64]| Sizes::of(&plot(sizes)).in_key();
        assert_eq!(in_key(&[734.0, 2.0]), [500.0, 50.0]);
        assert_eq!(in_key(&[1000.0]), [1000.0, 100.0]);
        assert_eq!(in_key(&[0.3]), [0.2, 0.02]);
        assert_eq!(in_key(&[]), [] as [f64; 0]);
        let html = key(&plot(&[734.0])).into_string();
        assert!(html.contains("tasks of the user:") && html.contains("</svg>500</li>"), "{html}");
        assert_eq!(key(&Plot::default()).into_string(), "");
    }
}
