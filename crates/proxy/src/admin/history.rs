//! The last hour, in steps of ten seconds.

use std::collections::VecDeque;
use std::time::Duration;

use trueplane_units::Nanos;

use crate::server::Proxy;
use crate::tally::Totals;

/// Time between two samples.
pub(super) const STEP: Duration = Duration::from_secs(10);
/// Samples that are kept: those of an hour, and the one before.
const MOST: usize = 361;

/// Counters at a time.
#[derive(Clone, Debug)]
pub(super) struct Sample {
    pub(super) at: Nanos,
    pub(super) used: u64,
    /// Counters by site, without the classes of waits.
    pub(super) sites: Vec<(String, Totals)>,
}

/// The counters of a cache now.
pub(super) fn sample(proxy: &Proxy, at: Nanos) -> Sample {
    let sites = proxy.sites();
    let totals = sites
        .all()
        .iter()
        .map(|site| (site.settings.name(), Totals { classes: Vec::new(), ..site.tally.totals() }));
    Sample { at, used: proxy.used(), sites: totals.collect() }
}

/// Samples, the oldest first.
#[derive(Debug, Default)]
pub(super) struct History {
    samples: VecDeque<Sample>,
}

/// The counters of a step.
#[derive(Clone, Debug)]
pub(super) struct Point {
    /// Time since its end.
    pub(super) ago: Nanos,
    pub(super) used: u64,
    pub(super) totals: Totals,
}

impl History {
    pub(super) fn add(&mut self, sample: Sample) {
        if self.samples.len() >= MOST {
            self.samples.pop_front();
        }
        self.samples.push_back(sample);
    }

    /// The counters of each step, of one site or of all.
    pub(super) fn points(&self, site: Option<&str>) -> Vec<Point> {
        let Some(last) = self.samples.back().map(|sample| sample.at) else { return Vec::new() };
        let totals = |sample: &Sample| -> Totals {
            let wanted = sample.sites.iter().filter(|(name, _)| site.is_none_or(|site| site == name));
            wanted.map(|(_, totals)| totals).sum()
        };
        let pairs = self.samples.iter().zip(self.samples.iter().skip(1));
        let point = |(before, after): (&Sample, &Sample)| Point {
            ago: last.since(after.at),
            used: after.used,
            totals: totals(after).since(&totals(before)),
        };
        pairs.map(point).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_are_what_happened_between_samples_and_an_hour_is_kept() {
        let mut history = History::default();
        assert!(history.points(None).is_empty());
        for step in 0..500_u64 {
            let totals = |hits| Totals { hits, ..Totals::default() };
            let sites = vec![("a".to_owned(), totals(step)), ("b".to_owned(), totals(2 * step))];
            history.add(Sample { at: Nanos::from_secs(10 * step), used: step, sites });
        }
        let points = history.points(None);
        assert_eq!((points.len(), points[0].ago, points[359].ago), (360, Nanos::from_secs(3590), Nanos(0)));
        assert!(points.iter().all(|point| point.totals.hits == 3));
        assert!(history.points(Some("b")).iter().all(|point| point.totals.hits == 2));
    }
}
