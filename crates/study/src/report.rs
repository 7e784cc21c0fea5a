//! One report for every study, simulated or live: what the CLI prints, what the page draws and what `--json` holds.
//!
//! A study fills a [`Report`]; it never prints. The renderers (text, HTML with plots, CSV) know nothing of any study.

use serde::Serialize;
use serde_json::Value;
use trueplane_units::{BitsPerSec, Bytes, Choice, LongTime, Nanos, Percent};

/// Everything that a study has to say, in the order in which people should read it.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// `subsystem.verb`, such as `cache.compare`.
    pub study: String,
    /// The title of the page.
    pub title: String,
    /// Belief of the classical model, in one sentence; shown above every result.
    pub belief: String,
    /// Warnings that make the results doubtful, in plain sentences: shown before all of them.
    pub warnings: Vec<String>,
    /// Findings in plain sentences, the most important first.
    pub verdict: Vec<String>,
    /// What to do about them, in one sentence; empty if there is nothing to do.
    pub advice: String,
    /// The circumstances, such as the size of the trace, as name and value.
    pub facts: Vec<(String, String)>,
    /// The parameters that were given or have a default.
    pub parameters: Vec<Given>,
    /// The command line, the date and the input, so that the page can be made again; only for people.
    pub origin: Vec<(String, String)>,
    /// The numbers.
    pub tables: Vec<Table>,
    /// The same numbers where people would rather look than read.
    pub plots: Vec<Plot>,
    /// Whether the first plot tells the first finding: the page then shows it before everything else.
    pub leads: bool,
    /// The machine-readable document that `--json` prints, whole.
    pub document: Value,
}

/// A parameter with its value, as people read it.
#[derive(Clone, Debug)]
pub struct Given {
    /// The name for people: `flow rate`.
    pub name: String,
    /// The value.
    pub value: String,
    /// Whether the value is the default.
    pub is_default: bool,
}

/// A table of typed cells: people see units, CSV files get plain numbers in the unit that the column names.
#[derive(Clone, Debug, Default)]
pub struct Table {
    /// File name of the CSV, without the ending; unique within the report.
    pub id: String,
    /// The caption.
    pub title: String,
    /// The columns, left to right.
    pub columns: Vec<Column>,
    /// The rows; each as long as `columns`.
    pub rows: Vec<Vec<Cell>>,
    /// Words about single rows, such as that one is the best, for people only; as many as there are rows, or none.
    pub marks: Vec<Option<&'static str>>,
    /// Always shown, with all of its columns: it says what the study did not do, or is read again and again.
    pub whole: bool,
    /// Long and only for those who look for it: left out on the terminal, folded on the page.
    pub detail: bool,
}

/// A column's two names.
#[derive(Clone, Debug)]
pub struct Column {
    /// Title for people: `mean latency`.
    pub title: String,
    /// Name for machines, with its unit as suffix: `latency_mean_ns`.
    pub name: String,
    /// Whether the column is for programs only.
    pub hidden: bool,
}

impl Column {
    /// A column called `title` by people and `name` in the CSV file.
    pub fn new(title: impl Into<String>, name: impl Into<String>) -> Self {
        Self { title: title.into(), name: name.into(), hidden: false }
    }

    /// A column called `name`, which people do not see.
    pub(crate) fn for_programs(name: impl Into<String>) -> Self {
        Self { title: String::new(), name: name.into(), hidden: true }
    }
}

/// One value of a table.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell {
    /// Words; left-aligned.
    Text(String),
    /// A count; printed with thousands separators.
    Count(u64),
    /// A ratio; 0.25 is printed as `25.0%` and stored as 0.25.
    Ratio(f64),
    /// A change against a base; 0.25 is printed as `+25.0%` and stored as 0.25.
    Change(f64),
    /// A time in nanoseconds, possibly between two of them (a mean).
    Nanos(f64),
    /// The same where it may be hours or days: printed as [`LongTime`].
    LongTime(f64),
    /// A time in steps of a slotted model, possibly between two of them.
    Steps(f64),
    /// An amount of data.
    Bytes(Bytes),
    /// A rate of data.
    Rate(BitsPerSec),
    /// A plain number.
    Number(f64),
    /// A bound, which must stay one when it is rounded: printed as `printed`, stored as `value`.
    Bound {
        /// The number with its unit, rounded downwards if it is a lower bound and upwards if it is an upper one.
        printed: String,
        /// The number as it is.
        value: f64,
    },
    /// There is no such value; printed as a dash, stored empty.
    Missing,
}

impl Cell {
    /// A cell of words.
    pub fn text(text: impl Into<String>) -> Self {
        Cell::Text(text.into())
    }
}

impl Cell {
    /// A cell of the name of a choice.
    pub fn name(choice: impl Choice) -> Self {
        Cell::text(choice.name())
    }

    /// Whether a name for programs ends in the unit of this cell, and in none if it has none.
    pub(crate) fn fits(&self, name: &str) -> bool {
        const UNITS: [&str; 4] = ["ns", "bytes", "bps", "steps"];
        let units: &[&str] = match self {
            Cell::Missing | Cell::Bound { .. } => return true,
            Cell::Nanos(_) | Cell::LongTime(_) => &["ns"],
            Cell::Steps(_) => &["steps"],
            Cell::Bytes(_) => &["bytes"],
            Cell::Rate(_) => &["bps"],
            // Counts may be of bytes or steps, and of nanoseconds where each of them matters.
            Cell::Count(_) => &["", "bytes", "steps", "ns"],
            Cell::Text(_) | Cell::Ratio(_) | Cell::Change(_) | Cell::Number(_) => &[""],
        };
        let last = name.rsplit('_').next().unwrap_or(name);
        let unit = UNITS.iter().find(|unit| **unit == last && last != name).unwrap_or(&"");
        units.contains(unit)
    }
}

impl From<Nanos> for Cell {
    fn from(time: Nanos) -> Self {
        Cell::Nanos(time.0 as f64)
    }
}

impl From<Bytes> for Cell {
    fn from(size: Bytes) -> Self {
        Cell::Bytes(size)
    }
}

impl From<BitsPerSec> for Cell {
    fn from(rate: BitsPerSec) -> Self {
        Cell::Rate(rate)
    }
}

impl From<LongTime> for Cell {
    fn from(time: LongTime) -> Self {
        Cell::LongTime(time.0)
    }
}

impl From<Percent> for Cell {
    fn from(ratio: Percent) -> Self {
        Cell::Ratio(ratio.0)
    }
}

impl From<u64> for Cell {
    fn from(count: u64) -> Self {
        Cell::Count(count)
    }
}

impl From<u32> for Cell {
    fn from(count: u32) -> Self {
        Cell::Count(count.into())
    }
}

impl From<usize> for Cell {
    fn from(count: usize) -> Self {
        Cell::Count(count as u64)
    }
}

impl From<f64> for Cell {
    fn from(number: f64) -> Self {
        Cell::Number(number)
    }
}

impl From<&str> for Cell {
    fn from(text: &str) -> Self {
        Cell::text(text)
    }
}

impl From<String> for Cell {
    fn from(text: String) -> Self {
        Cell::Text(text)
    }
}

impl<T: Into<Cell>> From<Option<T>> for Cell {
    fn from(value: Option<T>) -> Self {
        value.map_or(Cell::Missing, Into::into)
    }
}

/// A picture of one or more series over a common pair of axes.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Plot {
    /// File name of the CSV, without the ending; unique within the report.
    pub id: String,
    /// The caption.
    pub title: String,
    /// Hint on what to see in the plot, in one sentence.
    pub note: String,
    /// The horizontal axis.
    pub x: Axis,
    /// The vertical axis.
    pub y: Axis,
    /// The curves, in the order of the legend.
    pub series: Vec<Series>,
}

/// An axis of a plot.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Axis {
    /// The quantity with its unit: `backing-store latency Z (steps)`.
    pub label: String,
    /// Unit of the numbers, so that ticks are printed as people write them.
    pub unit: Unit,
    /// Logarithmic; values at or below zero are then left out.
    pub log: bool,
}

/// Unit in which the ticks of an axis are printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub enum Unit {
    /// Plain numbers, thousands as `1K`, `10M`.
    #[default]
    Plain,
    /// Nanoseconds, printed as `10ms`.
    Nanos,
    /// Bits per second, printed as `10Gbps`.
    BitsPerSec,
    /// A ratio, printed as a percentage.
    Percent,
    /// No numbers but things with these names: 0 is the first of them. A plot with two of them on its horizontal axis is a slope chart:
    /// its vertical axis has places, of which 1 is the top, and its series have one at each end.
    Names(&'static [&'static str]),
}

impl Unit {
    /// The unit for programs, as names of columns end in it: `ns`, `bps`; empty for plain numbers and ratios.
    pub(crate) fn symbol(self) -> &'static str {
        match self {
            Self::Nanos => "ns",
            Self::BitsPerSec => "bps",
            Self::Plain | Self::Percent | Self::Names(_) => "",
        }
    }
}

/// A named curve.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Series {
    /// The name in the legend.
    pub name: String,
    /// The points, in increasing x.
    pub points: Vec<(f64, f64)>,
    /// The small picture of the plot in which the series is drawn, by its title. All small pictures have the same axes. Empty: in all of
    /// them, and there is only one picture if no series has a title.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub panel: String,
    /// A number above zero for every point, in proportion to which it is drawn as a bubble (its area); no line then joins the points.
    /// Empty: a line with markers.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub sizes: Vec<f64>,
    /// The quantity that `sizes` has, for the key: `tasks of the user`.
    #[serde(skip_serializing_if = "str::is_empty")]
    pub size_of: &'static str,
    /// Words beside every point. Empty: none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub labels: Vec<String>,
    /// A step function: each value holds up to the next point, where it jumps.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub steps: bool,
    /// Dashed: the classical prediction beside the solid refined one.
    pub dashed: bool,
    /// Dotted and without points: a limit to which another series is held.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_limit: bool,
    /// Grey, behind the others: what the finding is not about.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub muted: bool,
    /// Index of the colour; series that belong together share it. `None`: by order.
    pub color: Option<usize>,
}

/// The colour of a choice, such as a policy: the same in every picture of every report.
pub fn color_of<C: Choice>(choice: C) -> Option<usize> {
    C::ALL.iter().position(|other| *other == choice)
}
