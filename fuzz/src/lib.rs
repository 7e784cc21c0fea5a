//! What the fuzz targets of the trace readers share.
#![forbid(unsafe_code)]

use trueplane_sim::trace::{Clock, Trace, TraceOptions};

/// Chunks that are read of one input: a few bytes of `.lis` can ask for 2⁶⁴ requests.
const MOST_CHUNKS: usize = 4;

/// Reads `bytes` as `options` say by either clock; every error must be one line.
pub fn read(bytes: &[u8], options: &TraceOptions) {
    for clock in [Clock::Timestamps, Clock::Steps] {
        let reader = Trace::from_bytes("fuzz", bytes.to_vec(), options).and_then(|trace| trace.reader(clock));
        let mut last = None;
        let read = || -> Result<(), trueplane_sim::trace::TraceError> {
            let mut reader = reader?;
            let mut chunk = Vec::new();
            for _ in 0..MOST_CHUNKS {
                if !reader.next_chunk(&mut chunk)? {
                    break;
                }
                for request in &chunk {
                    assert!(last <= Some(request.time), "{last:?} before {request:?}");
                    last = Some(request.time);
                }
            }
            Ok(())
        };
        if let Err(error) = read() {
            assert!(!error.to_string().contains(['\n', '\r']), "{error:?}");
        }
    }
}
