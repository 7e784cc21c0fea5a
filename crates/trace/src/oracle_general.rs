//! libCacheSim's `oracleGeneral`: packed little-endian records of 24 bytes, `u32` time in seconds, `u64` object,
//! `u32` size in bytes, `i64` next access. The last is for offline policies, which here look ahead themselves.

use trueplane_units::Nanos;

use crate::decode::{Decode, Skipped};
use crate::dialect::{Dialect, Input, Opened, Sign, Start};
use crate::error::TraceError;
use crate::options::{TimeUnit, TraceOptions};
use crate::timeline::Timeline;
use crate::window::Window;
use crate::{Fields, Request};

/// The length of a record.
const RECORD: usize = 24;

/// libCacheSim's `oracleGeneral`.
pub(super) struct OracleGeneral;

impl Dialect for OracleGeneral {
    /// Files are called `*.oracleGeneral` or `*.oracleGeneral.bin`; other `*.bin` have to look like it.
    fn sign(&self, start: &Start<'_>) -> Option<Sign> {
        let is_bin = start.ending() == "bin"
            && (start.name.ends_with(".oraclegeneral.bin") || is_plausible(start.bytes));
        if is_bin { Some(Sign::Name) } else { start.named(&["oraclegeneral"]) }
    }

    fn open(&self, _window: Window, options: &TraceOptions) -> Result<Opened, TraceError> {
        let unit = options.plain_time_unit();
        let read = move |input: Input| Ok(Reader::new(input.window, input.timeline, unit));
        Ok(Opened { has_key_text: false, ..Opened::new(Fields::TIME_AND_SIZE, read) })
    }
}

/// Reads `oracleGeneral` traces.
struct Reader {
    window: Window,
    timeline: Timeline,
    unit: TimeUnit,
    skipped: Skipped,
}

impl Reader {
    /// Reads `window`, with times in `unit`: seconds, but for conversions that say otherwise.
    fn new(window: Window, timeline: Timeline, unit: TimeUnit) -> Self {
        Self { window, timeline, unit, skipped: Skipped::default() }
    }
}

impl Decode for Reader {
    fn decode(&mut self, out: &mut Vec<Request>, most: usize) -> Result<bool, TraceError> {
        let unit = self.unit.nanos();
        while out.len() < most {
            if !self.window.require(RECORD)? {
                let found = self.window.data().len();
                if found > 0 {
                    return Err(self
                        .window
                        .error_here(format!("record cut short: expected {RECORD} bytes, found {found}")));
                }
                return Ok(false);
            }
            let (records, _) = self.window.data().as_chunks();
            let mut read = 0;
            let mut problem = None;
            for record in records.iter().take(most - out.len()) {
                let request = request_of(record, unit);
                match self.timeline.stamp(request.time) {
                    Ok(time) => out.push(Request { time, ..request }),
                    Err(backwards) => {
                        problem = Some(backwards);
                        break;
                    }
                }
                read += RECORD;
            }
            self.window.consume(read);
            if let Some(problem) = problem {
                return Err(self.window.error_here(problem));
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
}

/// Whether the records of a trace that starts with these bytes can be what libCacheSim writes: there is one at least, times do
/// not go back, and the next access is a place further on or none.
fn is_plausible(start: &[u8]) -> bool {
    let (records, _) = start.as_chunks::<RECORD>();
    let next = |record: &[u8; RECORD]| record.last_chunk().map_or(0, |next| i64::from_le_bytes(*next));
    // No trace has more requests than that.
    let is_next = |next: i64| (-2..1 << 48).contains(&next) || next == i64::MAX;
    !records.is_empty()
        && records.is_sorted_by_key(|record| request_of(record, 1).time)
        && records.iter().all(|record| is_next(next(record)))
}

#[inline]
fn request_of(record: &[u8; RECORD], unit: u64) -> Request {
    let [t0, t1, t2, t3, k0, k1, k2, k3, k4, k5, k6, k7, s0, s1, s2, s3, ..] = *record;
    Request {
        time: Nanos(u64::from(u32::from_le_bytes([t0, t1, t2, t3])) * unit),
        key: u64::from_le_bytes([k0, k1, k2, k3, k4, k5, k6, k7]),
        size: u64::from(u32::from_le_bytes([s0, s1, s2, s3])),
        fetch: Nanos(0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_plausible() {
        let record = |time: u32, next: i64| [&time.to_le_bytes()[..], &[7; 12], &next.to_le_bytes()].concat();
        assert!(is_plausible(&[record(1, 2), record(1, -1), record(9, i64::MAX), vec![7; 23]].concat()));
        assert!(!is_plausible(&[record(2, 2), record(1, -1)].concat()));
        assert!(!is_plausible(&record(2, -3)));
        assert!(!is_plausible(&record(2, 1 << 48)));
        assert!(!is_plausible(&record(2, 2)[..23]));
    }
}
