//! What a format says of itself: what its traces look like, and how one of them is opened.
//!
//! Every format implements [`Dialect`] in a file of its own, and [`super::formats`] has them all.

use crate::Fields;
use crate::decode::Decode;
use crate::error::TraceError;
use crate::hash::Hashing;
use crate::layout::MoreColumns;
use crate::lines::Lines;
use crate::options::TraceOptions;
use crate::text::{LineFormat, TextDecoder};
use crate::timeline::Timeline;
use crate::window::Window;

/// A format.
pub(super) trait Dialect: Sync {
    /// The sign that a trace is of this format, if its name or its first bytes have one.
    fn sign(&self, _start: &Start<'_>) -> Option<Sign> {
        None
    }

    /// Whether a trace with such a line is of this format. Its name is as in [`Start`], and `index` counts lines that are not blank, from 0.
    fn has_line(&self, _name: &str, _index: usize, _line: &[u8]) -> bool {
        false
    }

    /// Opens the trace that starts in `window`. An error says what is wrong with its start.
    fn open(&self, window: Window, options: &TraceOptions) -> Result<Opened, TraceError>;
}

/// The start of a trace whose format is to be found out.
pub(super) struct Start<'a> {
    /// The name in lower case, without folders and without the ending of a compression.
    pub(super) name: &'a str,
    /// The first bytes, decompressed.
    pub(super) bytes: &'a [u8],
}

impl Start<'_> {
    /// The ending of the name, without its dot.
    pub(super) fn ending(&self) -> &str {
        self.name.rsplit_once('.').map_or("", |(_, ending)| ending)
    }

    /// The sign of a format whose files have one of these endings.
    pub(super) fn named(&self, endings: &[&str]) -> Option<Sign> {
        endings.contains(&self.ending()).then_some(Sign::Name)
    }
}

/// A sign that a trace is of some format, the surest last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Sign {
    /// It is called like one.
    Name,
    /// It starts with a magic number.
    Magic,
}

/// A trace of a known format: what its requests have, and how they are read.
pub(super) struct Opened {
    /// Fields that its requests have.
    pub(super) fields: Fields,
    /// Whether its keys are text, so that an error can name them.
    pub(super) has_key_text: bool,
    /// Whether its times are numbers that are taken for seconds because nobody said their unit.
    pub(super) guesses_time_unit: bool,
    /// Whether it has no timestamps, but a column that counts steps.
    pub(super) counts_steps: bool,
    /// How to name one more of its columns, if it has columns without a role.
    pub(super) columns: Option<MoreColumns>,
    /// Makes a reader, which begins at the start.
    pub(super) read: Read,
}

type Read = Box<dyn Fn(Input) -> Result<Box<dyn Decode>, TraceError> + Send + Sync>;

/// What every reader of a trace is given.
pub(super) struct Input {
    /// The bytes, from the first one on.
    pub(super) window: Window,
    /// The clock.
    pub(super) timeline: Timeline,
    /// Hashing that makes keys of text.
    pub(super) hashing: Hashing,
    /// Whether damage that could be put right is an error.
    pub(super) strict: bool,
}

impl Opened {
    /// A trace whose requests have `fields` and are read by what `read` makes.
    pub(super) fn new<D: Decode + 'static>(
        fields: Fields,
        read: impl Fn(Input) -> Result<D, TraceError> + Send + Sync + 'static,
    ) -> Self {
        Self {
            fields,
            has_key_text: true,
            guesses_time_unit: false,
            counts_steps: false,
            columns: None,
            read: Box::new(move |input| Ok(Box::new(read(input)?))),
        }
    }

    /// A trace of lines, which are read by what `make` makes.
    pub(super) fn lines<F: LineFormat + 'static>(
        fields: Fields,
        make: impl Fn(Hashing) -> F + Send + Sync + 'static,
    ) -> Self {
        Self::new(fields, move |Input { window, timeline, hashing, .. }| {
            Ok(TextDecoder::new(Lines::new(window)?, make(hashing), timeline, true))
        })
    }

    /// A log whose program ends every line, so that a last line without an end is cut off: it is left out unless the reader is strict.
    pub(super) fn log<F: LineFormat + 'static>(
        fields: Fields,
        make: impl Fn(Hashing) -> F + Send + Sync + 'static,
    ) -> Self {
        Self::new(fields, move |Input { window, timeline, hashing, strict }| {
            Ok(TextDecoder::new(Lines::new(window)?, make(hashing), timeline, strict))
        })
    }
}
