//! An axis: which part of the numbers it shows, where a number lies on it, and which ticks it has.
//!
//! Positions are the numbers themselves, or their decimal logarithms on a logarithmic axis; what draws them is then the
//! same for both.

use trueplane_units::BitsPerSec;

use crate::format;
use crate::report::{Axis, Cell, Unit};

/// Numbers beyond this cannot be told from an error, and their differences overflow.
const LARGEST: f64 = 1e200;
/// An axis shows at least this share of its numbers' size, so that rounding errors are not drawn as mountains.
const LEAST_SPREAD: f64 = 1e-9;
/// Room beyond the outermost numbers, as a share of the range.
const MARGIN: f64 = 0.04;

/// The vertical axis covers at least this share of its numbers' size, so that a difference of some percent is not drawn as a cliff.
const LEAST_HEIGHT: f64 = 0.1;

/// Which numbers an axis shows besides its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Range {
    /// Few: positions are compared.
    Numbers,
    /// Zero where it is near, and a part that is not too small: heights are compared.
    Heights,
}

/// A tick: where it is and what it says.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Tick {
    pub(super) position: f64,
    pub(super) label: String,
}

/// A range of positions with its ticks.
#[derive(Clone, Debug)]
pub(super) struct Scale {
    log: bool,
    pub(super) start: f64,
    pub(super) end: f64,
    pub(super) ticks: Vec<Tick>,
}

impl Scale {
    /// The range that shows every drawable value of `values`, with about `count` ticks; `None` when there is none.
    pub(super) fn fit(
        axis: &Axis,
        range: Range,
        values: impl IntoIterator<Item = f64>,
        count: usize,
    ) -> Option<Self> {
        let positions = values.into_iter().filter_map(|value| position(axis.log, value));
        let (low, high) = positions.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), position| {
            (low.min(position), high.max(position))
        });
        if low > high {
            return None;
        }
        let (start, end) = if axis.log { log_range(low, high) } else { linear_range(range, low, high) };
        let mut ticks = if axis.log { log_ticks(start, end, count) } else { linear_ticks(start, end, count) };
        ticks.retain(|value| position(axis.log, *value).is_some_and(|at| start <= at && at <= end));
        // Shares of a whole have no ticks beyond it.
        let whole = position(axis.log, 1.0).filter(|whole| axis.unit == Unit::Percent && high <= *whole);
        ticks.retain(|value| whole.is_none() || *value <= 1.0);
        let ticks = ticks
            .into_iter()
            .filter_map(|value| {
                Some(Tick { position: position(axis.log, value)?, label: label(axis.unit, value) })
            })
            .collect();
        Some(Self { log: axis.log, start, end, ticks })
    }

    /// From 0 to 1, without ticks.
    pub(super) fn unit() -> Self {
        Self { log: false, start: 0.0, end: 1.0, ticks: Vec::new() }
    }

    /// Whether `value` can be drawn on `axis` at all.
    pub(super) fn can_show(axis: &Axis, value: f64) -> bool {
        position(axis.log, value).is_some()
    }

    /// Position of `value` between `start` and `end`; `None` when it cannot be drawn on this axis.
    pub(super) fn position(&self, value: f64) -> Option<f64> {
        position(self.log, value)
    }

    /// Label of the tick at `position`; nothing where there is none.
    pub(super) fn label_at(&self, position: f64) -> String {
        self.ticks
            .iter()
            .find(|tick| tick.position == position)
            .map_or_else(String::new, |tick| tick.label.clone())
    }
}

fn position(log: bool, value: f64) -> Option<f64> {
    if value.is_nan() || value.abs() > LARGEST || (log && value <= 0.0) {
        None
    } else {
        Some(if log { value.log10() } else { value })
    }
}

/// Zero is shown when the numbers come near it: a curve is then as high as it is large.
fn linear_range(range: Range, low: f64, high: f64) -> (f64, f64) {
    let size = low.abs().max(high.abs());
    let near = match range {
        Range::Numbers => 0.1,
        Range::Heights => 0.5,
    };
    if high - low <= size * LEAST_SPREAD {
        let room = if size > 0.0 { size / 2.0 } else { 1.0 };
        return match range {
            Range::Heights if low >= 0.0 => (0.0, high + room),
            _ => (low - room, high + room),
        };
    }
    let least = if range == Range::Heights { size * LEAST_HEIGHT } else { 0.0 };
    let margin = ((high - low) * MARGIN).max((least - (high - low)) / 2.0);
    let start = if low >= 0.0 && low < high * near { 0.0 } else { low - margin };
    let end = if high <= 0.0 && high > low * near { 0.0 } else { high + margin };
    (start, end)
}

fn log_range(low: f64, high: f64) -> (f64, f64) {
    // A single value stands in the middle of two thirds of a decade.
    let room = if high - low <= LEAST_SPREAD { 1.0 / 3.0 } else { (high - low) * MARGIN };
    (low - room, high + room)
}

/// Multiples of 1, 2 or 5 times a power of ten.
fn linear_ticks(start: f64, end: f64, count: usize) -> Vec<f64> {
    let rough = (end - start) / count.max(1) as f64;
    let power = 10f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0].map(|factor| factor * power).into_iter().find(|step| *step >= rough);
    let Some(step) = step.filter(|step| step.is_normal()) else { return Vec::new() };
    let first = (start / step).ceil();
    // Two more than asked for covers the rounding at both ends.
    (0..=count + 2).map(|n| tidy((first + n as f64) * step)).take_while(|tick| *tick <= end).collect()
}

/// Powers of ten; their multiples by 2 and 5 where there are few; round numbers where there is hardly one.
fn log_ticks(start: f64, end: f64, count: usize) -> Vec<f64> {
    let decades = end - start;
    if decades < 0.8 {
        return linear_ticks(10f64.powf(start), 10f64.powf(end), count);
    }
    let factors: &[f64] = if decades * 3.0 <= count as f64 + 1.0 { &[1.0, 2.0, 5.0] } else { &[1.0] };
    let every = (decades / count.max(1) as f64).ceil().max(1.0) as i32;
    (start.floor() as i32..=end.ceil() as i32)
        .filter(|exponent| exponent.rem_euclid(every) == 0)
        .flat_map(|exponent| factors.iter().map(move |factor| tidy(factor * 10f64.powi(exponent))))
        .collect()
}

/// `value` without the rounding error of its computation: `0.3`, not `0.30000000000000004`.
fn tidy(value: f64) -> f64 {
    format!("{value:.9e}").parse().unwrap_or(value)
}

/// `value` as people write it on an axis: `10M`, `10ms`, `10Gbps`, `12%`.
pub(super) fn label(unit: Unit, value: f64) -> String {
    const PLAIN: [(f64, &str); 5] = [(1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "K"), (1.0, "")];
    const RATE: [(f64, &str); 5] =
        [(1e12, "Tbps"), (1e9, "Gbps"), (1e6, "Mbps"), (1e3, "kbps"), (1.0, "bps")];
    const TIME: [(f64, &str); 4] = [(1e9, "s"), (1e6, "ms"), (1e3, "µs"), (1.0, "ns")];
    let scaled = |units: &[(f64, &str)]| {
        let fits = units.iter().find(|(scale, _)| value.abs() >= *scale);
        let (scale, name) = fits.or(units.last()).copied().unwrap_or((1.0, ""));
        format!("{}{name}", number(value / scale))
    };
    match unit {
        Unit::Plain => scaled(&PLAIN),
        Unit::Nanos | Unit::BitsPerSec if value == 0.0 => "0".to_owned(),
        Unit::Nanos => scaled(&TIME),
        Unit::BitsPerSec => scaled(&RATE),
        Unit::Percent => format!("{}%", number(value * 100.0)),
        Unit::Names(names) => {
            let name = names.iter().enumerate().find(|(index, _)| *index as f64 == value);
            name.map_or_else(String::new, |(_, name)| (*name).to_owned())
        }
    }
}

/// A number of an axis as people read it.
pub(super) fn value(of: &Axis, value: f64) -> String {
    format::for_people(&match of.unit {
        Unit::Plain => Cell::Number(value),
        Unit::Nanos => Cell::Nanos(value),
        // `as` saturates; there are no negative rates.
        Unit::BitsPerSec => Cell::Rate(BitsPerSec(value.round() as u64)),
        Unit::Percent => Cell::Ratio(value),
        Unit::Names(_) => Cell::Text(label(of.unit, value)),
    })
}

fn number(value: f64) -> String {
    let value = tidy(value);
    let plain = value == 0.0 || (1e-4..1e7).contains(&value.abs());
    if plain { (value + 0.0).to_string() } else { format!("{value:e}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scale(log: bool, unit: Unit, values: &[f64]) -> Scale {
        let axis = Axis { unit, log, ..Axis::default() };
        Scale::fit(&axis, Range::Heights, values.iter().copied(), 6).unwrap()
    }

    fn labels(log: bool, unit: Unit, values: &[f64]) -> Vec<String> {
        scale(log, unit, values).ticks.into_iter().map(|tick| tick.label).collect()
    }

    #[test]
    fn ticks_are_round_numbers_in_the_axis_unit() {
        assert_eq!(labels(false, Unit::Plain, &[0.0, 9_500.0]), ["0", "2K", "4K", "6K", "8K"]);
        assert_eq!(labels(false, Unit::Percent, &[0.02, 0.3]), ["0%", "10%", "20%", "30%"]);
        assert_eq!(labels(false, Unit::Percent, &[0.98, 1.0]).last().map(String::as_str), Some("100%"));
        assert_eq!(labels(false, Unit::Plain, &[-1.0, 1.0]), ["-1", "-0.5", "0", "0.5", "1"]);
        assert_eq!(
            labels(true, Unit::Nanos, &[1e6, 1e8]),
            ["1ms", "2ms", "5ms", "10ms", "20ms", "50ms", "100ms"]
        );
        assert_eq!(labels(true, Unit::Nanos, &[10.0, 1e10]), ["100ns", "10µs", "1ms", "100ms", "10s"]);
        assert_eq!(labels(true, Unit::BitsPerSec, &[1e9, 1e10]), ["1Gbps", "2Gbps", "5Gbps", "10Gbps"]);
        assert_eq!(labels(true, Unit::Plain, &[120.0, 180.0]), ["120", "140", "160", "180"]);
    }

    #[test]
    fn labels_are_written_as_people_write_them() {
        let plain = [0.0, 0.3, 999.0, 1_500.0, 1e7, 2.5e9, 1e30].map(|value| label(Unit::Plain, value));
        assert_eq!(plain, ["0", "0.3", "999", "1.5K", "10M", "2.5G", "1e18T"]);
        let times = [0.0, 0.5, 1.0, 1e7, 1.5e9].map(|value| label(Unit::Nanos, value));
        assert_eq!(times, ["0", "0.5ns", "1ns", "10ms", "1.5s"]);
        let rates = [0.0, 1_000.0, 2.5e6, 1e10, 4e11].map(|value| label(Unit::BitsPerSec, value));
        assert_eq!(rates, ["0", "1kbps", "2.5Mbps", "10Gbps", "400Gbps"]);
        assert_eq!(label(Unit::Percent, 0.005), "0.5%");
        assert_eq!(label(Unit::Percent, -0.1), "-10%");
    }

    #[test]
    fn every_drawable_value_lies_within_the_scale() {
        let sets: [&[f64]; 8] = [
            &[0.0],
            &[7.0, 7.0],
            &[-3.0],
            &[1e-300, 2e-300],
            &[-1e200, 1e200],
            &[1.0, 1.0 + 1e-15],
            &[f64::NAN, f64::INFINITY, f64::MAX, 5.0],
            &[-5.0, 0.0, 1e-9, 1e9],
        ];
        for values in sets {
            for log in [false, true] {
                let axis = Axis { log, ..Axis::default() };
                let Some(scale) = Scale::fit(&axis, Range::Heights, values.iter().copied(), 6) else {
                    assert!(log && values.iter().all(|value| *value <= 0.0), "{values:?}");
                    continue;
                };
                assert!(scale.start < scale.end, "{values:?}: {scale:?}");
                assert!(scale.ticks.len() <= 9, "{values:?}: {scale:?}");
                for position in values.iter().filter_map(|value| scale.position(*value)) {
                    assert!((scale.start..=scale.end).contains(&position), "{values:?}: {scale:?}");
                }
            }
        }
    }

    #[test]
    fn zero_is_shown_when_the_numbers_come_near_it() {
        assert_eq!(scale(false, Unit::Plain, &[1.0, 10.0]).start, 0.0);
        assert!(scale(false, Unit::Plain, &[8.0, 10.0]).start > 7.0);
        let along =
            |values: &[f64]| Scale::fit(&Axis::default(), Range::Numbers, values.iter().copied(), 6).unwrap();
        assert!(along(&[0.4, 1.0]).start > 0.3, "a horizontal axis begins where its numbers do");
        assert_eq!(along(&[0.0, 1.0]).start, 0.0);
    }

    #[test]
    fn heights_that_hardly_differ_and_those_that_do_not_are_level() {
        let range = |values: &[f64]| {
            let scale = scale(false, Unit::Percent, values);
            (scale.start, scale.end)
        };
        let (start, end) = range(&[1.0, 1.03]);
        assert!(end - start > 0.1 && start > 0.9, "{start} {end}");
        assert_eq!(range(&[0.0, 0.0]), (0.0, 1.0));
        assert_eq!(range(&[4.0]), (0.0, 6.0));
        let (start, end) = range(&[-1.03, -1.0]);
        assert!(end - start > 0.1 && end < -0.9, "{start} {end}");
    }

    #[test]
    fn an_axis_without_drawable_values_has_no_scale() {
        let log = Axis { log: true, ..Axis::default() };
        assert!(Scale::fit(&log, Range::Heights, [0.0, -1.0, f64::NAN], 6).is_none());
        assert!(Scale::fit(&Axis::default(), Range::Numbers, [f64::INFINITY, f64::MAX], 6).is_none());
    }
}
