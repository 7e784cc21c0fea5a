//! The values of a column as people read them: where they allow it in one unit and with the same number of decimals, so that their points
//! stand below each other.

use trueplane_units::{BYTE_UNITS_OF_TEN, BYTE_UNITS_OF_TWO, RATE_UNITS_PRINTED, TIME_UNITS_PRINTED};

use crate::format::{for_people, grouped};
use crate::report::Cell;

/// Significant digits of the smallest number, where there is room for them.
const WANTED_DIGITS: i32 = 4;
/// Significant digits that the smallest number must have: with fewer it could not be told from others.
const LEAST_DIGITS: i32 = 3;
/// If the largest number would have more digits than these, the smallest gets only [`LEAST_DIGITS`].
const MANY_DIGITS: i32 = 5;
/// Digits of the largest number, at most.
const MOST_DIGITS: i32 = 7;
/// Decimals, at most.
const MOST_DECIMALS: i32 = 3;

/// A unit and what it is in the smallest one.
type Unit = (&'static str, f64);

/// Units of long times, with seconds told from those of short times.
const LONG_UNITS: [Unit; 4] = [("s", 1e9), ("min", 60e9), ("h", 3_600e9), ("d", 86_400e9)];

/// The cells of a column for people.
pub(crate) fn column(cells: &[&Cell]) -> Vec<String> {
    let layout = quantities(cells).and_then(|(numbers, kind)| Layout::of(&numbers, kind, cells));
    let print = |cell: &&Cell| match (&layout, number(cell)) {
        (Some(layout), Some(number)) => layout.print(number, matches!(cell, Cell::Change(_))),
        _ => for_people(cell),
    };
    cells.iter().map(print).collect()
}

/// The numbers of a column that are all of one quantity, and which it is; `None` if they are of several, or of one that has no decimals.
fn quantities(cells: &[&Cell]) -> Option<(Vec<f64>, Kind)> {
    let mut kind = None;
    for cell in cells.iter().filter(|cell| !matches!(cell, Cell::Missing)) {
        let of = Kind::of(cell)?;
        if *kind.get_or_insert(of) != of {
            return None;
        }
    }
    Some((cells.iter().filter_map(|cell| number(cell)).collect(), kind?))
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Share,
    Time,
    LongTime,
    Size,
    Rate,
    Plain,
}

impl Kind {
    fn of(cell: &Cell) -> Option<Self> {
        match cell {
            Cell::Ratio(_) | Cell::Change(_) => Some(Kind::Share),
            Cell::Nanos(_) => Some(Kind::Time),
            Cell::LongTime(_) => Some(Kind::LongTime),
            Cell::Bytes(_) => Some(Kind::Size),
            Cell::Rate(_) => Some(Kind::Rate),
            Cell::Steps(_) | Cell::Number(_) => Some(Kind::Plain),
            Cell::Text(_) | Cell::Count(_) | Cell::Bound { .. } | Cell::Missing => None,
        }
    }

    fn units(self, cells: &[&Cell]) -> Vec<Unit> {
        // Sizes in powers of ten only where people would write all of them so.
        let is_of_ten = |cell: &&Cell| match cell {
            Cell::Bytes(bytes) => bytes.0 == 0 || *bytes.units() == BYTE_UNITS_OF_TEN,
            _ => true,
        };
        let scaled = |units: &[(&'static str, u64)]| {
            units.iter().map(|(name, scale)| (*name, *scale as f64)).collect()
        };
        match self {
            Kind::Share => vec![("%", 0.01)],
            Kind::Time => scaled(&TIME_UNITS_PRINTED),
            Kind::LongTime => LONG_UNITS.to_vec(),
            Kind::Size if cells.iter().all(is_of_ten) => scaled(&BYTE_UNITS_OF_TEN),
            Kind::Size => scaled(&BYTE_UNITS_OF_TWO),
            Kind::Rate => scaled(&RATE_UNITS_PRINTED),
            Kind::Plain => vec![("", 1.0)],
        }
    }
}

/// The number of a cell, if it is finite.
fn number(cell: &Cell) -> Option<f64> {
    let number = match cell {
        Cell::Ratio(number)
        | Cell::Change(number)
        | Cell::Nanos(number)
        | Cell::LongTime(number)
        | Cell::Steps(number)
        | Cell::Number(number) => *number,
        Cell::Bytes(bytes) => bytes.0 as f64,
        Cell::Rate(rate) => rate.0 as f64,
        _ => return None,
    };
    number.is_finite().then_some(number)
}

/// A unit and a number of decimals.
struct Layout {
    unit: &'static str,
    scale: f64,
    decimals: usize,
}

impl Layout {
    /// The largest unit in which both the smallest and the largest number can be read; `None` if there is none.
    fn of(numbers: &[f64], kind: Kind, cells: &[&Cell]) -> Option<Self> {
        let units = kind.units(cells);
        let sizes = || numbers.iter().map(|number| number.abs()).filter(|size| *size > 0.0);
        let (least, most) = (sizes().reduce(f64::min)?, sizes().reduce(f64::max)?);
        let begins = |scale: f64| most / scale >= 0.999_95 || scale == units[0].1;
        let fits = units.iter().rev().filter(|(_, scale)| begins(*scale)).find_map(|&(unit, scale)| {
            let decimals = decimals(kind, least / scale, most / scale)?;
            Some(Self { unit, scale, decimals })
        })?;
        Some(fits.without_zeros(numbers))
    }

    /// The same with as few decimals as print all numbers without a zero at the end. Shares keep one.
    fn without_zeros(mut self, numbers: &[f64]) -> Self {
        let fewest = usize::from(self.unit == "%" && self.decimals > 0);
        let ends_in_zero = |layout: &Self| numbers.iter().all(|number| layout.digits(*number).ends_with('0'));
        while self.decimals > fewest && ends_in_zero(&self) {
            self.decimals -= 1;
        }
        self
    }

    fn digits(&self, number: f64) -> String {
        format!("{:.*}", self.decimals, (number / self.scale).abs())
    }

    fn print(&self, number: f64, is_change: bool) -> String {
        // Nothing at all is told from what is rounded to nothing.
        if number == 0.0 {
            return if self.unit == "%" { "0%".to_owned() } else { "0".to_owned() };
        }
        let digits = self.digits(number);
        let is_zero = digits.bytes().all(|byte| matches!(byte, b'0' | b'.'));
        let sign = match number {
            _ if is_zero => "",
            number if number < 0.0 => "-",
            _ if is_change => "+",
            _ => "",
        };
        format!("{sign}{}{}", grouped(&digits), self.unit)
    }
}

/// Decimals with which both sizes can be read.
fn decimals(kind: Kind, least: f64, most: f64) -> Option<usize> {
    let before_point = |size: f64| size.log10().floor() as i32 + 1;
    match (kind, least, most) {
        // Tenths of a percent, where the smallest share allows it.
        (Kind::Share, 0.005..0.995, ..1000.0) => return Some(2),
        (Kind::Share, 0.995.., ..1000.0) => return Some(1),
        (Kind::Share, 9.95.., ..) => return Some(0),
        // Nobody reads a part of a day or thousands of minutes.
        (Kind::LongTime, 0.995.., ..9999.5) => {
            return Some((LEAST_DIGITS - before_point(least)).clamp(0, 2) as usize);
        }
        (Kind::Share | Kind::LongTime, ..) => return None,
        _ => {}
    }
    let with = |digits: i32| (digits - before_point(least)).min(MOST_DECIMALS);
    let is_long = before_point(most) + with(WANTED_DIGITS) > MANY_DIGITS;
    let wanted = with(if is_long { LEAST_DIGITS } else { WANTED_DIGITS });
    let decimals = wanted.min(MOST_DIGITS - before_point(most)).max(0);
    let is_read = before_point(least) + decimals >= LEAST_DIGITS || (least.fract() == 0.0 && least >= 1.0);
    (is_read && before_point(most) <= MOST_DIGITS).then_some(decimals as usize)
}

#[cfg(test)]
mod tests {
    use trueplane_units::{BitsPerSec, Bytes};

    use super::*;

    fn printed(cells: &[Cell]) -> Vec<String> {
        column(&cells.iter().collect::<Vec<_>>())
    }

    #[test]
    fn points_stand_below_each_other() {
        let times =
            |nanos: &[f64]| printed(&nanos.iter().map(|&nanos| Cell::Nanos(nanos)).collect::<Vec<_>>());
        assert_eq!(times(&[19.4e6, 48.331e6, 1e8, 0.0]), ["19.40ms", "48.33ms", "100.00ms", "0"]);
        assert_eq!(times(&[1e7, 2e7, 1e8]), ["10ms", "20ms", "100ms"]);
        assert_eq!(times(&[1.2e9, 0.9e6]), ["1,200.0ms", "0.9ms"]);
        assert_eq!(times(&[0.0, 0.0]), ["0ns", "0ns"]);
        assert_eq!(times(&[123.456, 2.0]), ["123.46ns", "2.00ns"]);
        // Too far apart for one unit.
        assert_eq!(times(&[80.0, 31e9]), ["80ns", "31s"]);
        assert_eq!(times(&[f64::NAN, 1.5e6]), ["–", "1.5ms"]);
    }

    #[test]
    fn shares_have_as_many_decimals_as_the_smallest_needs() {
        let shares = |of: &[f64]| printed(&of.iter().map(|&share| Cell::Ratio(share)).collect::<Vec<_>>());
        assert_eq!(shares(&[0.806, 0.5, 0.0]), ["80.6%", "50.0%", "0%"]);
        assert_eq!(shares(&[0.806, 0.001_2]), ["80.60%", "0.12%"]);
        assert_eq!(shares(&[0.806, 0.000_001]), ["80.6%", "<0.01%"]);
        let changes = |of: &[f64]| printed(&of.iter().map(|&share| Cell::Change(share)).collect::<Vec<_>>());
        assert_eq!(changes(&[0.25, -0.1, 0.0]), ["+25.0%", "-10.0%", "0%"]);
        assert_eq!(changes(&[123.4, 0.5]), ["+12,340%", "+50%"]);
    }

    #[test]
    fn long_times_are_in_one_unit_where_one_suits_all() {
        let times = |seconds: &[f64]| {
            printed(&seconds.iter().map(|&seconds| Cell::LongTime(seconds * 1e9)).collect::<Vec<_>>())
        };
        assert_eq!(times(&[224_640.0, 156_500.0, 0.0]), ["2.60d", "1.81d", "0"]);
        assert_eq!(times(&[5_256.0, 572.0]), ["87.60min", "9.53min"]);
        assert_eq!(times(&[120.0, 600.0]), ["2min", "10min"]);
        assert_eq!(times(&[0.5, 864_000.0]), ["500ms", "10d"]);
    }

    #[test]
    fn other_quantities_too() {
        let sizes = [620_200, 6_351_000, 4_083_000, 0].map(|bytes| Cell::Bytes(Bytes(bytes)));
        assert_eq!(printed(&sizes), ["0.620MB", "6.351MB", "4.083MB", "0"]);
        assert_eq!(
            printed(&[64 << 10, 1 << 20].map(|bytes| Cell::Bytes(Bytes(bytes)))),
            ["64KiB", "1,024KiB"]
        );
        let sizes = [635_123, 6_351_000].map(|bytes| Cell::Bytes(Bytes(bytes)));
        assert_eq!(printed(&sizes), ["0.606MiB", "6.057MiB"]);
        let rates = [0, 9_987_654_321, 2_500_000_000].map(|rate| Cell::Rate(BitsPerSec(rate)));
        assert_eq!(printed(&rates), ["0", "9.988Gbps", "2.500Gbps"]);
        assert_eq!(printed(&[Cell::Number(0.123_4), Cell::Number(68.0)]), ["0.123", "68.000"]);
        assert_eq!(printed(&[Cell::Number(0.012_3), Cell::Number(68.0)]), ["0.0123", "68"]);
        assert_eq!(printed(&[Cell::Number(1_234_567.8), Cell::Number(-2.0)]), ["1,234,568", "-2"]);
        assert_eq!(printed(&[Cell::Count(12), Cell::Missing]), ["12", "–"]);
        assert_eq!(printed(&[Cell::Number(2.5), Cell::Nanos(2.5)]), ["2.5", "2.5ns"]);
        assert_eq!(printed(&[]), Vec::<String>::new());
    }
}
