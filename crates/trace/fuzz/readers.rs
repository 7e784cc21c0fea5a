//! What the fuzz targets of the trace readers do with an input: read it, and check what no input may break.
//!
//! `cargo test` does the same with the seeds (crates/trace/tests/trace/seeds.rs).

use trueplane_trace::{
    Clock, Columns, Format, Methods, PacketKey, SizeChange, Statuses, TimeUnit, Trace, TraceError,
    TraceOptions, WebKey,
};

/// Chunks that are read of one input: a line of `.lis` can ask for 2³² requests.
const MOST_CHUNKS: usize = 4;

/// The target that reads traces of one known format, by the name of its folder of seeds. CSV has one that also chooses columns.
pub fn target(format: Format) -> String {
    match format {
        Format::OracleGeneral => "oracle_general".to_owned(),
        named => named.name().replace('-', "_"),
    }
}

/// How many readings of an input went well, and how many ended with an error.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// Readings to the end, or of as much as is read of one input.
    pub read: usize,
    /// Readings that ended with an error.
    pub refused: usize,
}

impl std::ops::Add for Outcome {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self { read: self.read + other.read, refused: self.refused + other.refused }
    }
}

/// Reads `bytes` as a trace of `format`; a web server's log then once more, with all that it holds.
pub fn read_as(format: Format, bytes: &[u8]) -> Outcome {
    let usual = TraceOptions { format: Some(format), ..TraceOptions::default() };
    let outcome = read(bytes, &usual);
    if !format.properties().is_web_log {
        return outcome;
    }
    let all = TraceOptions {
        methods: Some(Methods::All),
        statuses: "all".parse().ok(),
        web_key: Some(WebKey::HostPath),
        size_change: Some(SizeChange::Largest),
        sort: true,
        ..usual
    };
    outcome + read(bytes, &all)
}

/// Reads `bytes` without a format, so that detection and decompression have their share; then as CSV with chosen
/// columns, sorted.
pub fn read_csv(bytes: &[u8]) -> Outcome {
    let columns = "time=2,key=1,fetch=latency".parse().ok();
    read(bytes, &TraceOptions::default())
        + read(bytes, &TraceOptions { columns, sort: true, ..TraceOptions::default() })
}

/// Parses `text`, which users write in flags.
pub fn parse_columns(text: &str) -> Outcome {
    for &format in Format::ALL {
        assert_eq!(format.name().parse(), Ok(format));
    }
    let _ = (text.parse::<Format>(), text.parse::<TimeUnit>(), text.parse::<PacketKey>());
    let _ = (
        text.parse::<Methods>(),
        text.parse::<Statuses>(),
        text.parse::<WebKey>(),
        text.parse::<SizeChange>(),
    );
    let Ok(columns) = text.parse::<Columns>() else { return Outcome { read: 0, refused: 1 } };
    let options = TraceOptions { columns: Some(columns), ..TraceOptions::default() };
    let _ = Trace::from_bytes("fuzz.csv", b"time,key,size\n1,2,3\n".to_vec(), &options);
    Outcome { read: 1, refused: 0 }
}

/// Reads `bytes` as `options` say by either clock. Times never go back, every reader sees the same requests, and every
/// error is one line that blames the input.
fn read(bytes: &[u8], options: &TraceOptions) -> Outcome {
    let mut outcome = Outcome::default();
    for clock in [Clock::Timestamps, Clock::Steps] {
        let result =
            Trace::from_bytes("fuzz", bytes.to_vec(), options).and_then(|trace| follow(&trace, clock));
        match result {
            Ok(()) => outcome.read += 1,
            Err(error) => {
                assert!(error.is_input() && !error.to_string().contains(['\n', '\r']), "{error:?}");
                outcome.refused += 1;
            }
        }
    }
    outcome
}

fn follow(trace: &Trace, clock: Clock) -> Result<(), TraceError> {
    let (mut reader, mut again) = (trace.reader(clock)?, trace.reader(clock)?);
    let (mut chunk, mut same) = (Vec::new(), Vec::new());
    let mut last = None;
    for _ in 0..MOST_CHUNKS {
        if !reader.next_chunk(&mut chunk)? {
            break;
        }
        assert!(again.next_chunk(&mut same)? && chunk == same, "two readers see different requests");
        for request in &chunk {
            assert!(last <= Some(request.time), "{last:?} before {request:?}");
            last = Some(request.time);
        }
    }
    Ok(())
}
