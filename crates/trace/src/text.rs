//! The loop that all text formats share: lines in, requests out, blank lines as idle steps.

use trueplane_units::Nanos;

use crate::Request;
use crate::census::KeyCensus;
use crate::decode::{Decode, Skipped};
use crate::error::TraceError;
use crate::lines::Lines;
use crate::timeline::Timeline;

/// A format that has its requests in lines.
pub(super) trait LineFormat: Send {
    /// Parses `line`, which is not blank. With `timed` unset nobody looks at the request's time, and it need not be read. An error says
    /// what was expected and what was found.
    fn parse(&mut self, line: &[u8], timed: bool) -> Result<Parsed, String>;

    /// Counts of the keys so far; nothing where nobody counts them.
    fn census(&self) -> Option<KeyCensus> {
        None
    }
}

/// Meaning of a line.
pub(super) enum Parsed {
    /// A request.
    Request(Request),
    /// A request whose step the trace numbers.
    Numbered { step: u64, request: Request },
    /// Requests for the pages `first` to `last`, which is not below `first`.
    Pages { first: u64, last: u64 },
    /// Nothing that counts as a request, and why; a step passes.
    Skip(&'static str),
    /// The names of the columns; no step passes.
    Header,
    /// Nothing yet: a quoted cell goes on in the next line. The format is given both lines together next.
    Unfinished,
}

/// Why the last line of a file was not read.
const CUT: &str = "lines cut off by the end of the file";

/// Reads a text format.
pub(super) struct TextDecoder<F> {
    lines: Lines,
    format: F,
    timeline: Timeline,
    skipped: Skipped,
    /// Whether a last line that is cut off is an error.
    strict: bool,
    /// The pages of the current line that are still to come.
    pages: Option<(u64, u64)>,
}

impl<F: LineFormat> TextDecoder<F> {
    /// Reads `lines` as `format`; if it is `strict`, a last line that is cut off is an error.
    pub(super) fn new(lines: Lines, format: F, timeline: Timeline, strict: bool) -> Self {
        Self { lines, format, timeline, skipped: Skipped::default(), strict, pages: None }
    }

    /// Parses the current line, after joining lines until they are complete.
    fn parse(&mut self) -> Result<Parsed, TraceError> {
        loop {
            match self.format.parse(self.lines.text(), self.timeline.is_timed()) {
                Ok(Parsed::Unfinished) => {
                    if !self.lines.extend()? {
                        return Err(self.lines.error("a quoted cell never ends"));
                    }
                }
                Ok(parsed) => return Ok(parsed),
                Err(problem) => return self.ended(problem),
            }
        }
    }

    /// What a line is that cannot be read: a log that is being written, or was cut, may end within a line.
    fn ended(&self, problem: String) -> Result<Parsed, TraceError> {
        if self.strict || !self.lines.is_cut() {
            Err(self.lines.error(problem))
        } else {
            Ok(Parsed::Skip(CUT))
        }
    }

    fn push(&mut self, request: Request, out: &mut Vec<Request>) -> Result<(), TraceError> {
        let time = self.timeline.stamp(request.time).map_err(|problem| self.lines.error(problem))?;
        out.push(Request { time, ..request });
        Ok(())
    }

    /// Moves the pages that are still to come to `out`, as many as fit.
    fn push_pages(&mut self, out: &mut Vec<Request>, most: usize) -> Result<(), TraceError> {
        while let Some((first, last)) = self.pages
            && out.len() < most
        {
            self.pages = if first < last { Some((first + 1, last)) } else { None };
            self.push(Request { time: Nanos(0), key: first, size: 1, fetch: Nanos(0) }, out)?;
        }
        Ok(())
    }
}

impl<F: LineFormat> Decode for TextDecoder<F> {
    fn decode(&mut self, out: &mut Vec<Request>, most: usize) -> Result<bool, TraceError> {
        self.push_pages(out, most)?;
        while out.len() < most {
            if !self.lines.advance()? {
                return Ok(false);
            }
            if self.lines.is_blank() {
                self.timeline.idle();
                continue;
            }
            match self.parse()? {
                Parsed::Request(request) => self.push(request, out)?,
                Parsed::Numbered { step, request } => {
                    let time = self.timeline.number(step).map_err(|problem| self.lines.error(problem))?;
                    out.push(Request { time, ..request });
                }
                Parsed::Pages { first, last } => {
                    self.pages = Some((first, last));
                    self.push_pages(out, most)?;
                }
                Parsed::Skip(reason) => {
                    self.timeline.idle();
                    self.skipped.count(reason);
                }
                Parsed::Header | Parsed::Unfinished => {}
            }
        }
        Ok(true)
    }

    fn settled(&self) -> Nanos {
        self.timeline.settled()
    }

    fn skipped(&self) -> &Skipped {
        &self.skipped
    }

    fn census(&self) -> Option<KeyCensus> {
        self.format.census()
    }
}
