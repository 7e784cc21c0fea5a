//! How the series of a plot are laid out: equal ones as one curve, and many of them as small pictures with the same axes.

use crate::report::{Plot, Series};

/// More curves than these cannot be told apart in one picture.
const MOST_CURVES: usize = 6;

/// What is drawn as one curve.
#[derive(Clone, Debug)]
pub(super) struct Curve<'a> {
    pub(super) series: &'a Series,
    /// Number of its colour and marker.
    pub(super) look: usize,
    /// The names of all series that have these points.
    pub(super) name: String,
}

/// A picture of its own.
#[derive(Debug, Default)]
pub(super) struct Panel<'a> {
    /// Empty: the plot's title is enough.
    pub(super) title: String,
    /// The look that the title tells, if it stands for one.
    pub(super) look: Option<usize>,
    /// In the order of the plot.
    pub(super) curves: Vec<Curve<'a>>,
}

/// All pictures of a plot.
#[derive(Debug)]
pub(super) struct Layout<'a> {
    pub(super) panels: Vec<Panel<'a>>,
    /// Curves that no title names.
    pub(super) legend: Vec<Curve<'a>>,
}

impl<'a> Layout<'a> {
    pub(super) fn of(plot: &'a Plot) -> Self {
        let curves: Vec<Curve<'a>> = plot
            .series
            .iter()
            .enumerate()
            .filter(|(_, series)| !series.points.is_empty())
            .map(|(index, series)| Curve {
                series,
                look: series.color.unwrap_or(index),
                name: series.name.clone(),
            })
            .collect();
        if curves.iter().any(|curve| !curve.series.panel.is_empty()) {
            return Self::declared(&curves);
        }
        let merged = merged(curves.clone());
        let are_lines = curves.iter().any(|curve| curve.series.points.len() > 1);
        match Self::by_look(&curves) {
            Some(layout) if are_lines && merged.len() > MOST_CURVES => layout,
            _ => {
                let legend = merged.clone();
                Self { panels: vec![Panel { curves: merged, ..Panel::default() }], legend }
            }
        }
    }

    /// A picture for every title, in the order in which they come. What has no title is in all of them.
    fn declared(curves: &[Curve<'a>]) -> Self {
        let mut titles: Vec<&str> = Vec::new();
        for curve in curves {
            let title = curve.series.panel.as_str();
            if !title.is_empty() && !titles.contains(&title) {
                titles.push(title);
            }
        }
        let panels = titles.into_iter().map(|title| Panel {
            title: title.to_owned(),
            look: None,
            curves: merged(
                curves
                    .iter()
                    .filter(|curve| curve.series.panel.is_empty() || curve.series.panel == title)
                    .cloned()
                    .collect(),
            ),
        });
        let mut legend: Vec<Curve<'a>> = Vec::new();
        for curve in curves {
            let is_known = |other: &Curve<'_>| {
                other.name == curve.name && other.look == curve.look && other.has_line_of(curve)
            };
            if !legend.iter().any(is_known) {
                legend.push(curve.clone());
            }
        }
        Self { panels: panels.collect(), legend }
    }

    /// A picture for every look with a solid curve, named by the first of its curves; what has no solid curve is in all of them.
    /// Pictures with the same curves are one. None if there are fewer than two.
    fn by_look(curves: &[Curve<'a>]) -> Option<Self> {
        let is_solid = |curve: &&Curve<'_>| !curve.series.dashed && !curve.series.is_limit;
        let mut panels: Vec<Panel<'a>> = Vec::new();
        for solid in curves.iter().filter(is_solid) {
            if !panels.iter().any(|panel| panel.look == Some(solid.look)) {
                let own = curves.iter().filter(|curve| curve.look == solid.look).cloned().collect();
                panels.push(Panel { title: solid.name.clone(), look: Some(solid.look), curves: own });
            }
        }
        let is_shared = |curve: &&Curve<'_>| panels.iter().all(|panel| panel.look != Some(curve.look));
        let shared: Vec<Curve<'a>> = curves.iter().filter(is_shared).cloned().collect();
        let mut distinct: Vec<Panel<'a>> = Vec::new();
        for panel in panels {
            match distinct.iter_mut().find(|other| other.draws_the_same_as(&panel)) {
                Some(other) => other.title = together(&other.title, &panel.title),
                None => distinct.push(panel),
            }
        }
        for panel in &mut distinct {
            panel.curves.splice(..0, shared.iter().cloned());
        }
        (distinct.len() > 1).then_some(Self { panels: distinct, legend: shared })
    }
}

impl Panel<'_> {
    /// What is drawn as one curve though the legend, which is for all pictures, has each by itself: `rss = adaptive`; empty if nothing is.
    pub(super) fn equal(&self) -> String {
        let hidden =
            self.curves.iter().filter(|curve| self.look.is_none() && curve.name != curve.series.name);
        hidden.map(|curve| curve.name.as_str()).collect::<Vec<_>>().join("; ")
    }

    fn draws_the_same_as(&self, other: &Self) -> bool {
        self.curves.len() == other.curves.len()
            && self.curves.iter().zip(&other.curves).all(|(one, other)| one.draws_the_same_as(other))
    }
}

impl Curve<'_> {
    fn has_line_of(&self, other: &Self) -> bool {
        let kind = |curve: &Self| {
            (curve.series.dashed, curve.series.is_limit, curve.series.muted, curve.series.steps)
        };
        kind(self) == kind(other)
    }

    /// But for the colour.
    fn draws_the_same_as(&self, other: &Self) -> bool {
        self.has_line_of(other)
            && self.series.points == other.series.points
            && self.series.sizes == other.series.sizes
            && self.series.labels == other.series.labels
    }
}

/// Curves one of which would hide the other become one with both names.
fn merged(curves: Vec<Curve<'_>>) -> Vec<Curve<'_>> {
    let mut distinct: Vec<Curve<'_>> = Vec::new();
    for curve in curves {
        match distinct.iter_mut().find(|other| other.draws_the_same_as(&curve)) {
            Some(other) => other.name = together(&other.name, &curve.name),
            None => distinct.push(curve),
        }
    }
    distinct
}

fn together(one: &str, other: &str) -> String {
    format!("{one} = {other}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::sample;

    fn series(name: &str, color: usize, y: f64) -> Series {
        let points = vec![(0.0, y), (1.0, y)];
        Series { name: name.into(), points, color: Some(color), ..Series::default() }
    }

    fn plot(series: Vec<Series>) -> Plot {
        Plot { series, ..Plot::default() }
    }

    fn titles<'a>(layout: &'a Layout<'_>) -> Vec<&'a str> {
        layout.panels.iter().map(|panel| panel.title.as_str()).collect()
    }

    fn names<'a>(curves: &'a [Curve<'_>]) -> Vec<&'a str> {
        curves.iter().map(|curve| curve.name.as_str()).collect()
    }

    #[test]
    fn equal_curves_are_named_together() {
        let dashed = Series { dashed: true, ..series("model", 3, 1.0) };
        let empty = Series { name: "empty".into(), ..Series::default() };
        let plot =
            plot(vec![series("fifo", 0, 1.0), series("pifo", 1, 2.0), series("afq", 2, 1.0), dashed, empty]);
        let layout = Layout::of(&plot);
        assert_eq!(titles(&layout), [""]);
        assert_eq!(names(&layout.legend), ["fifo = afq", "pifo", "model"]);
    }

    #[test]
    fn many_curves_are_small_pictures_of_one_colour_each() {
        let mut all: Vec<Series> =
            (0u8..7).map(|index| series(&format!("p{index}"), index.into(), index.into())).collect();
        all.push(Series { dashed: true, ..series("p3, theory", 3, 9.0) });
        all.push(Series { dashed: true, ..series("classical", 99, 8.0) });
        all.push(series("p0 again", 50, 0.0));
        let plot = plot(all);
        let layout = Layout::of(&plot);
        assert_eq!(titles(&layout), ["p0 = p0 again", "p1", "p2", "p3", "p4", "p5", "p6"]);
        assert_eq!(names(&layout.panels[3].curves), ["classical", "p3", "p3, theory"]);
        assert_eq!(names(&layout.legend), ["classical"]);
    }

    #[test]
    fn points_without_lines_stay_together() {
        let one = |index: u8| Series { points: vec![(1.0, index.into())], ..series("p", index.into(), 0.0) };
        let plot = plot((0..14).map(one).collect());
        assert_eq!(Layout::of(&plot).panels.len(), 1);
    }

    #[test]
    fn declared_pictures_share_a_legend() {
        let of = |panel: &str, name: &str, color, y| Series { panel: panel.into(), ..series(name, color, y) };
        let all =
            vec![of("1 flow", "rss", 0, 1.0), of("1 flow", "spray", 1, 1.0), of("8 flows", "rss", 0, 2.0)];
        let with_line = plot([all, vec![series("limit", 2, 5.0)]].concat());
        let layout = Layout::of(&with_line);
        assert_eq!(titles(&layout), ["1 flow", "8 flows"]);
        assert_eq!(names(&layout.legend), ["rss", "spray", "limit"]);
        assert_eq!(names(&layout.panels[0].curves), ["rss = spray", "limit"]);
        assert_eq!(names(&layout.panels[1].curves), ["rss", "limit"]);
        let equal: Vec<String> = layout.panels.iter().map(Panel::equal).collect();
        assert_eq!(equal, ["rss = spray", ""]);
    }

    #[test]
    fn refined_and_classical_curves_of_a_policy_share_a_picture() {
        let report = sample::report();
        let layout = Layout::of(&report.plots[0]);
        assert_eq!(layout.panels.len(), 14);
        assert!(layout.panels.iter().all(|panel| panel.curves.len() == 2) && layout.legend.is_empty());
    }
}
