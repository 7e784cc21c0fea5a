//! Offers packets to every limiter and counts what passes.

use trueplane_study::{Error, Observer, cases};
use trueplane_units::{BitsPerSec, Nanos};

use super::found::Point;
use super::options::Options;
use crate::drain::Drain;
use crate::limiter::{Kept, Settings, Visitor, with_limiter};
use crate::policy::PolicyName;
use crate::source::{Pace, Source};
use crate::tally::Counts;

/// Packets between two reports of progress, and two questions whether to stop.
const REPORT: u64 = 1 << 15;

/// Measures every limiter against every source at every rate.
pub(super) fn run(options: &Options, observer: &dyn Observer) -> Result<Vec<Point>, Error> {
    options.check()?;
    let all = all_cases(options);
    let total: f64 = all.iter().map(|case| options.packets(case.rate)).sum();
    observer.stage("simulating", total as u64);
    cases::over(&all, observer, |case| measure(case, options, observer))
}

/// One combination to measure.
#[derive(Clone, Debug)]
struct Case {
    rate: BitsPerSec,
    pace: Pace,
    policy: PolicyName,
    drain: Drain,
}

fn all_cases(options: &Options) -> Vec<Case> {
    let (rates, tables) = (options.rate.distinct(), options.drain.distinct());
    let mut all = Vec::new();
    for &policy in &*options.policies {
        let drains = if policy.properties().has_table { &tables[..] } else { &[Drain::Exact] };
        for &drain in drains {
            for &pace in &*options.source {
                all.extend(rates.iter().map(|rate| Case { rate: rate.get(), pace, policy, drain }));
            }
        }
    }
    all
}

/// Offers the packets of a case to its limiter.
struct Measuring<'a> {
    settings: Settings,
    source: Source,
    window: (Nanos, Nanos),
    observer: &'a dyn Observer,
}

impl Visitor for Measuring<'_> {
    type Output = Counts;

    fn visit<L: Kept>(self, make: impl Fn(&Settings) -> Result<L, Error>) -> Result<Counts, Error> {
        let mut limiter = make(&self.settings)?;
        let (start, end) = self.window;
        let mut counts = Counts::default();
        let mut last = Nanos(0);
        for (packet, (time, bytes)) in (1u64..).zip(self.source) {
            if time >= end {
                break;
            }
            limiter.refresh(last, time);
            last = time;
            let verdict = limiter.offer(bytes, time);
            if time >= start {
                counts.add(verdict, bytes);
            }
            if packet.is_multiple_of(REPORT) {
                self.observer.advance(REPORT);
                self.observer.go_on()?;
            }
        }
        Ok(counts)
    }
}

fn measure(case: &Case, options: &Options, observer: &dyn Observer) -> Result<Point, Error> {
    let &Case { rate, pace, policy, drain } = case;
    let offered = options.offered(rate)?;
    let window = options.window(rate);
    let source = Source::new(pace, &options.packet_size, offered, (rate, options.burst), options.seed);
    let settings = Settings { rate, burst: options.burst, mark: Some(options.mark()) };
    let counts = with_limiter(policy, drain, Measuring { settings, source, window, observer })?;
    Ok(Point { policy, drain, source: pace, configured: rate, duration: window.1.since(window.0), counts })
}
