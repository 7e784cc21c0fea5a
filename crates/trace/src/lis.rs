//! The ARC paper's traces: lines of `start count ignore number`, each a run of requests for consecutive pages.
//!
//! Source: Megiddo and Modha, ARC: a self-tuning, low overhead replacement cache, FAST 2003.

use crate::dialect::{Dialect, Opened, Sign, Start};
use crate::error::TraceError;
use crate::options::TraceOptions;
use crate::text::{LineFormat, Parsed};
use crate::window::Window;
use crate::{Fields, cell};

/// The most pages in one line, 16 TiB at the usual 4 KiB: more than any one request of a disk, and a count that is
/// damaged would keep a reader busy for years.
const MOST_PAGES: u64 = 1 << 32;

/// The ARC paper's traces.
pub(super) struct Lis;

impl Dialect for Lis {
    fn sign(&self, start: &Start<'_>) -> Option<Sign> {
        start.named(&["lis"])
    }

    fn open(&self, _window: Window, _options: &TraceOptions) -> Result<Opened, TraceError> {
        Ok(Opened { has_key_text: false, ..Opened::lines(Fields::default(), |_| Reader) })
    }
}

/// Reads `.lis` traces.
struct Reader;

impl LineFormat for Reader {
    fn parse(&mut self, line: &[u8], _timed: bool) -> Result<Parsed, String> {
        let mut cells = line.split(u8::is_ascii_whitespace).filter(|cell| !cell.is_empty());
        let (Some(start), Some(count), Some(_ignore), Some(_number), None) =
            (cells.next(), cells.next(), cells.next(), cells.next(), cells.next())
        else {
            return Err(cell::expected("the four numbers `start count ignore number`", line));
        };
        let first = cell::unsigned(start).ok_or_else(|| cell::expected("the number of a page", start))?;
        let pages = cell::unsigned(count).ok_or_else(|| cell::expected("a number of pages", count))?;
        if pages == 0 {
            return Ok(Parsed::Skip("lines with no pages"));
        }
        if pages > MOST_PAGES {
            return Err(format!("{pages} pages in one line, more than {MOST_PAGES}; is this a .lis trace?"));
        }
        let last = first
            .checked_add(pages - 1)
            .ok_or_else(|| format!("{pages} pages from page {first} on end beyond the last, 2^64-1"))?;
        Ok(Parsed::Pages { first, last })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<(u64, u64), String> {
        match Reader.parse(line.as_bytes(), false)? {
            Parsed::Pages { first, last } => Ok((first, last)),
            _ => Err("skipped".to_owned()),
        }
    }

    #[test]
    fn lines_are_runs_of_pages() {
        assert_eq!(parse("7 1 0 0"), Ok((7, 7)));
        assert_eq!(parse(" 7\t3 0 12 "), Ok((7, 9)));
        assert_eq!(parse("18446744073709551615 1 0 0"), Ok((u64::MAX, u64::MAX)));
        assert_eq!(parse("7 0 0 0"), Err("skipped".to_owned()));
    }

    #[test]
    fn bad_lines_say_what_is_wrong() {
        let problem = |line| parse(line).unwrap_err();
        assert_eq!(problem("7 1"), "expected the four numbers `start count ignore number`, got \"7 1\"");
        assert_eq!(problem("x 1 0 0"), "expected the number of a page, got \"x\"");
        assert_eq!(problem("7 -1 0 0"), "expected a number of pages, got \"-1\"");
        assert_eq!(
            problem("18446744073709551610 7 0 0"),
            "7 pages from page 18446744073709551610 on end beyond the last, 2^64-1"
        );
        assert_eq!(parse("7 4294967296 0 0"), Ok((7, 4_294_967_302)));
        assert_eq!(
            problem("7 4294967297 0 0"),
            "4294967297 pages in one line, more than 4294967296; is this a .lis trace?"
        );
    }
}
