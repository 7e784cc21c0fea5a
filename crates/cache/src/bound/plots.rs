//! The pictures of `cache bound`: how the bounds came closer, how far the policies are above them, and the thesis's figure 2.10.

use trueplane_study::report::{Axis, Plot, Series, Unit};

use super::study::Bound;

impl Bound {
    /// The pictures for which there is something to draw.
    pub(super) fn plots(&self) -> Vec<Plot> {
        let mut plots = Vec::new();
        plots.extend(self.above_optimum());
        plots.extend(self.by_burstiness());
        plots.extend(self.closing());
        plots
    }

    /// Every policy's distance from the optimum against what the classical model judges it by.
    fn above_optimum(&self) -> Option<Plot> {
        let series = self.policies.iter().enumerate().filter_map(|(index, run)| {
            Some(Series {
                name: run.policy.to_string(),
                points: vec![(run.classical_hit_rate, run.above_optimum?)],
                color: Some(index),
                ..Series::default()
            })
        });
        let series: Vec<Series> = series.collect();
        (!series.is_empty()).then(|| Plot {
            id: "above-optimum".to_owned(),
            title: "How far above the optimum every policy is".to_owned(),
            note: "If hit rates told how long requests wait, the points would fall from left to right."
                .to_owned(),
            x: Axis { label: "classical hit rate".to_owned(), unit: Unit::Percent, log: false },
            y: Axis {
                label: "mean latency above the optimum, at most".to_owned(),
                unit: Unit::Percent,
                log: false,
            },
            series,
        })
    }

    /// Figure 2.10.
    fn by_burstiness(&self) -> Option<Plot> {
        let correlation = self.burstiness.as_ref().filter(|correlation| correlation.objects > 0)?;
        let points = correlation.bins.iter().map(|bin| ((bin.from + bin.to) / 2.0, bin.difference_mean));
        // The area of a bubble is to be in proportion to the requests.
        let sizes = correlation.bins.iter().map(|bin| (bin.requests as f64).sqrt());
        Some(Plot {
            id: "burstiness".to_owned(),
            title: "Whether bursty objects wait less than under Bélády".to_owned(),
            note: "Below zero, objects of this burstiness wait less under the schedule found; the larger a bubble, the more requests."
                .to_owned(),
            x: Axis { label: "burstiness of an object (Goh–Barabási)".to_owned(), unit: Unit::Plain, log: false },
            y: Axis {
                label: "latency compared with Bélády's".to_owned(),
                unit: Unit::Percent,
                log: false,
            },
            series: vec![Series {
                name: "objects".to_owned(),
                points: points.collect(),
                sizes: sizes.collect(),
                ..Series::default()
            }],
        })
    }

    /// The gap between the bounds over time, or over the steps of the search where there is no clock.
    fn closing(&self) -> Option<Plot> {
        let timed = self.milestones.iter().all(|milestone| milestone.seconds.is_some());
        let points = self.milestones.iter().filter(|milestone| milestone.lower > 0).map(|milestone| {
            let seconds = milestone.seconds.filter(|_| timed);
            let x = seconds.map_or(milestone.iterations as f64, |seconds| seconds * 1e9);
            (x, milestone.upper as f64 / milestone.lower as f64 - 1.0)
        });
        let (label, unit) =
            if timed { ("time", Unit::Nanos) } else { ("iterations of the search", Unit::Plain) };
        (self.milestones.len() > 1).then(|| Plot {
            id: "gap".to_owned(),
            title: "How the bounds came closer".to_owned(),
            note: "The optimum lies between a lower and an upper bound that are so far apart.".to_owned(),
            x: Axis { label: label.to_owned(), unit, log: true },
            y: Axis { label: "gap between the bounds".to_owned(), unit: Unit::Percent, log: true },
            series: vec![Series {
                name: "gap".to_owned(),
                points: points.collect(),
                color: Some(0),
                ..Series::default()
            }],
        })
    }
}
