//! Which format a trace has, from its first bytes and its name.

use crate::Format;
use crate::dialect::Start;
use crate::error::{Place, TraceError};
use crate::formats::dialect;
use crate::lines::Lines;
use crate::rows::list;
use crate::window::Window;

/// Enough to hold every magic number, and to see whether it is text.
const START: usize = 4096;

/// A web server's log is known by one of its first lines. The very first may be a comment, or cut by whoever rotates the log.
const FIRST_LINES: usize = 10;

/// The format of the trace called `name` that starts in `window`.
///
/// A magic number decides; then the ending of the name, without that of its compression; then whether one of the
/// first lines is one that a single format has. What is left is CSV, if it is text, also in a file called `*.log`.
pub(super) fn detect(name: &str, mut window: Window) -> Result<Format, TraceError> {
    window.require(START)?;
    let name = name.rsplit('/').next().unwrap_or(name).to_ascii_lowercase();
    let name =
        [".gz", ".zst", ".zstd", ".xz"].iter().find_map(|ending| name.strip_suffix(ending)).unwrap_or(&name);
    let start = Start { name, bytes: &window.data()[..window.data().len().min(START)] };
    let signs = Format::ALL.iter().filter_map(|&format| Some((dialect(format).sign(&start)?, format)));
    if let Some((_, format)) = signs.max_by_key(|&(sign, _)| sign) {
        return Ok(format);
    }
    if window.data().contains(&0) || (start.ending() == "bin" && !is_utf8(start.bytes)) {
        return Err(unknown(&window));
    }
    let mut lines = Lines::new(window)?;
    let mut looked_at = 0;
    while looked_at < FIRST_LINES && lines.advance()? {
        if lines.is_blank() {
            continue;
        }
        let has_line = |format: &&Format| dialect(**format).has_line(name, looked_at, lines.text());
        if let Some(&format) = Format::ALL.iter().find(has_line) {
            return Ok(format);
        }
        looked_at += 1;
    }
    Ok(Format::Csv)
}

/// Whether this is the start of a text in UTF-8, which may be cut within a character.
fn is_utf8(start: &[u8]) -> bool {
    std::str::from_utf8(start).map_or_else(|error| error.error_len().is_none(), |_| true)
}

fn unknown(window: &Window) -> TraceError {
    let known = Format::ALL.iter().map(|format| format.name()).collect::<Vec<_>>();
    let problem = format!(
        "its content is of no known format; known are {}: if it is one of them, say which with --format",
        list(&known)
    );
    window.error(Place::Whole, problem)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::super::source::Source;
    use super::*;

    fn format(name: &str, start: &[u8]) -> Result<Format, String> {
        let window = Window::open(&Arc::from(name), &Source::Memory(start.into())).unwrap();
        detect(name, window).map_err(|error| error.to_string())
    }

    #[test]
    fn names_and_starts_tell_the_format() {
        let log = b"h - - [10/Oct/2000:13:55:36 -0700] \"GET / HTTP/1.0\" 200 1\n";
        let row = b"0,key,3,5,1,get,0\n";
        let mut pcap = [0; 24];
        pcap[..4].copy_from_slice(&[0xd4, 0xc3, 0xb2, 0xa1]);
        for (name, start, expected) in [
            ("P1.lis.zst", &b"1 1 0 0"[..], Format::Lis),
            ("w01.oracleGeneral.bin.zst", b"\0\0", Format::OracleGeneral),
            ("wiki.oracleGeneral", b"\0\0", Format::OracleGeneral),
            ("x.csv", &pcap, Format::Pcap),
            ("x.cap", b"", Format::Pcap),
            ("a.b/stdin", log, Format::AccessLog),
            ("x.csv.gz", log, Format::Csv),
            ("access.log.1", log, Format::AccessLog),
            ("access.log", b"\n1728568536.123 /a 5\n", Format::Csv),
            ("access.log.gz", b"h - [1728568536.123] \"GET /\" 200 1\n", Format::AccessLog),
            ("caddy.log", b"\n{\"ts\":1.5,\"msg\":\"x\"}\n", Format::JsonLog),
            ("x.jsonl", b"{\"uri\":\"/\"}", Format::JsonLog),
            ("x.log", b"{\"a\":1}", Format::JsonLog),
            ("x.log", b"{\n  \"a\": 1\n}\n", Format::JsonLog),
            ("x.log", b"{a},1\n", Format::Csv),
            (
                "rotated.log",
                b"# rotated\nh - - [10/Oct/2000:13:55:36 -0700] \"GET / HTTP/1.0\" 200 1\n",
                Format::AccessLog,
            ),
            ("cut.log", b"T / HTTP/1.0\" 200 1\n\nh - [1728568536.123] \"GET /\" 200 1\n", Format::AccessLog),
            ("E2.2019-12-04-21.d1.gz", b"#Version: 1.0\n#Fields: date\n", Format::CloudFront),
            ("dir/cluster52.sort.zst", row, Format::Twitter),
            ("clusters.txt", row, Format::Csv),
            ("cluster52", b"a,b", Format::Csv),
            ("stdin", b"", Format::Csv),
        ] {
            assert_eq!(format(name, start), Ok(expected), "{name}");
        }
        let unknown = |name: &str| {
            let known = "csv, oracleGeneral, twitter, lis, pcap, access-log, json-log and cloudfront";
            let remedy = "if it is one of them, say which with --format";
            Err(format!("{name}: its content is of no known format; known are {known}: {remedy}"))
        };
        assert_eq!(format("stdin", b"a\0"), unknown("stdin"));
        // Times that go back, a next access that nobody has, no whole record.
        let back = [&[9; 4][..], &[0; 20], &[8; 4], &[0; 20]].concat();
        for junk in [&back[..], &[0xfd; 24], &[0xfe; 23]] {
            assert_eq!(format("junk.bin", junk), unknown("junk.bin"));
        }
        assert_eq!(format("plausible.bin", &[0; 48]), Ok(Format::OracleGeneral));
        assert_eq!(format("text.bin.gz", b"0,5\n"), Ok(Format::Csv));
    }
}
