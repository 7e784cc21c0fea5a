//! Every trace format end to end: good samples, each way in which one can be bad, real traces, and the fuzzer's seeds.

mod captures;
mod real;
mod seeds;
mod web;

use std::io::Write;
use std::path::Path;

use trueplane_trace::{
    CHUNK, Clock, Fields, Format, PacketKey, Request, TimeUnit, Trace, TraceError, TraceOptions,
};
use trueplane_units::Nanos;

fn options() -> TraceOptions {
    TraceOptions::default()
}

fn with_format(format: Format) -> TraceOptions {
    TraceOptions { format: Some(format), ..options() }
}

fn with_columns(columns: &str) -> TraceOptions {
    TraceOptions { columns: Some(columns.parse().unwrap()), ..options() }
}

/// What a trace held besides requests, and how often.
type Skipped = Vec<(String, u64)>;

/// All requests of a trace, and what it held besides.
fn read(trace: &Trace, clock: Clock) -> Result<(Vec<Request>, Skipped), TraceError> {
    let mut reader = trace.reader(clock)?;
    let (mut all, mut chunk) = (Vec::new(), Vec::new());
    while reader.next_chunk(&mut chunk)? {
        assert!(!chunk.is_empty() && chunk.len() <= CHUNK);
        all.append(&mut chunk);
    }
    assert!(chunk.is_empty());
    assert_eq!(reader.position(), trace.bytes());
    assert!(!reader.next_chunk(&mut chunk)?);
    Ok((all, reader.skipped().to_vec()))
}

/// `(time, key, size)` of every request, or the error.
fn triples(
    name: &str,
    bytes: impl Into<Vec<u8>>,
    options: &TraceOptions,
    clock: Clock,
) -> Result<Vec<(u64, u64, u64)>, String> {
    let requests = Trace::from_bytes(name, bytes.into(), options).and_then(|trace| read(&trace, clock));
    let (requests, _) = requests.map_err(|error| {
        assert!(error.is_input(), "{error}");
        assert!(!error.to_string().contains('\n'), "{error}");
        error.to_string()
    })?;
    Ok(requests.iter().map(|request| (request.time.0, request.key, request.size)).collect())
}

fn timed(text: &str) -> Result<Vec<(u64, u64, u64)>, String> {
    triples("t.csv", text, &options(), Clock::Timestamps)
}

fn stepped(text: &str) -> Result<Vec<(u64, u64, u64)>, String> {
    triples("t.csv", text, &options(), Clock::Steps)
}

const S: u64 = 1_000_000_000;

#[test]
fn csv_with_and_without_header() {
    assert_eq!(timed("0,5,10\n1.5,6,20\n"), Ok(vec![(0, 5, 10), (3 * S / 2, 6, 20)]));
    assert_eq!(timed("lbn;size;time_ms\n5;10;0\n6;20;1500"), Ok(vec![(0, 5, 10), (3 * S / 2, 6, 20)]));
    assert_eq!(timed("\u{feff}time,key\r\n0,5\r\n\r\n1,6\r\n"), Ok(vec![(0, 5, 1), (S, 6, 1)]));
    assert_eq!(timed("0\t5\n2024-11-15 16:57:50\t6"), Ok(vec![(0, 5, 1), (1_731_689_870 * S, 6, 1)]));
    assert_eq!(timed("time,key\n0,\"5\"\n1,\" \"\"x,\ny\"\n2,6"), timed("0,5\n1,\" \"\"x,\ny\"\n2,6"));
}

#[test]
fn csv_columns_are_chosen_by_number_or_name() {
    let text = "when,what,how_much,cost_ms\n7,5,10,2.5\n";
    let trace =
        Trace::from_bytes("t.csv", text.into(), &with_columns("time=1,key=what,size=3,fetch=COST_ms"));
    let trace = trace.unwrap();
    assert_eq!(trace.fields(), Fields { time: true, size: true, fetch: true });
    let expected = Request { time: Nanos(7 * S), key: 5, size: 10, fetch: Nanos(2_500_000) };
    assert_eq!(read(&trace, Clock::Timestamps).unwrap().0, [expected]);

    let micros = TraceOptions { time_unit: Some(TimeUnit::Micros), ..with_columns("time=1,key=2,fetch=4") };
    let trace = Trace::from_bytes("t.csv", "7,5,10,2\n".into(), &micros).unwrap();
    assert_eq!(read(&trace, Clock::Timestamps).unwrap().0[0].fetch, Nanos(2_000));
    assert_eq!(trace.fields(), Fields { time: true, size: false, fetch: true });
}

#[test]
fn an_empty_line_is_an_idle_step() {
    assert_eq!(stepped("time,key\n9,5\n\n3,6\n"), Ok(vec![(0, 5, 1), (2, 6, 1)]));
    assert_eq!(stepped("\r\n0,5\r\n\r\n \r\n0,\"6\n\n\"\r\n0,7").unwrap()[1].0, 4);
    assert_eq!(stepped("\r\n0,5\r\n\r\n \r\n0,\"6\n\n\"\r\n0,7").unwrap()[2].0, 5);
    assert_eq!(stepped("key\nx\n\ny").unwrap().iter().map(|request| request.0).collect::<Vec<_>>(), [0, 2]);
    // A row that is no request takes its step as well.
    assert_eq!(stepped("0,5\n1,\n2,6\n"), Ok(vec![(0, 5, 1), (2, 6, 1)]));
    assert_eq!(timed("1,5\n\n\n1,6\n"), Ok(vec![(S, 5, 1), (S, 6, 1)]));
}

#[test]
fn steps_need_no_timestamps() {
    assert_eq!(stepped("x,5\n-1,6\n"), Ok(vec![(0, 5, 1), (1, 6, 1)]));
    assert_eq!(stepped("5\n6\n"), Ok(vec![(0, 5, 1), (1, 6, 1)]));
    let slotted = "the trace has no timestamps; use --time slotted and latencies such as 1000steps";
    assert_eq!(timed("5\n6\n").unwrap_err(), format!("t.csv: {slotted}"));
    let named = "--columns key=object_id,size=len,time=NAME";
    assert_eq!(
        timed("when,Object ID,len\n1,5,6\n").unwrap_err(),
        format!("t.csv: {slotted}, or name the column with {named}")
    );
}

#[test]
fn bad_csv_is_told_with_its_line() {
    assert_eq!(timed("0,5\n\nabc,6\n").unwrap_err(), "t.csv:3: expected a timestamp, got \"abc\"");
    assert_eq!(timed("0,5\n-1,6\n").unwrap_err(), "t.csv:2: expected a timestamp, got \"-1\"");
    assert_eq!(timed("0,5\nNaN,6\n").unwrap_err(), "t.csv:2: expected a timestamp, got \"NaN\"");
    assert_eq!(timed("nan,5\n").unwrap_err(), "t.csv:1: expected a timestamp, got \"nan\"");
    assert_eq!(timed("0,5\n1\n").unwrap_err(), "t.csv:2: expected at least 2 columns, found 1");
    assert_eq!(timed("0,5,1\n1,5,x\n").unwrap_err(), "t.csv:2: expected a whole number of bytes, got \"x\"");
    assert_eq!(timed("0,\"5\n1,6\n").unwrap_err(), "t.csv:1: a quoted cell never ends");
    assert_eq!(timed("0,5\n1,\"6\n\n").unwrap_err(), "t.csv:2: a quoted cell never ends");
    assert_eq!(
        timed("0,5\n1,\"6\"7\n").unwrap_err(),
        "t.csv:2: expected a delimiter after a quoted cell, got \"7\""
    );
    assert_eq!(timed("time,key\n").unwrap_err(), "t.csv: no requests found");
    assert_eq!(timed("0,\n1,\n").unwrap_err(), "t.csv: no requests found (rows with an empty key: 2)");
    for empty in ["", "\n", " \r\n\n"] {
        assert_eq!(timed(empty).unwrap_err(), "t.csv: no requests found");
    }
    let error = timed("when,what\n0,5\n").unwrap_err();
    let expected = "none of the columns when, what is known to be the key; say --columns key=NAME";
    assert_eq!(error, format!("t.csv:1: {expected}"));
    let error = triples("t.csv", "0,5\n", &with_columns("key=3"), Clock::Steps).unwrap_err();
    assert_eq!(error, "t.csv:1: there is no column 3, only 2");
    let fetch = triples("t.csv", "5,-\n5,-1\n", &with_columns("key=1,fetch=2"), Clock::Steps);
    assert_eq!(fetch.unwrap_err(), "t.csv:2: expected a fetch time, got \"-1\"");
}

#[test]
fn sizes_and_fetch_times_need_not_be_there() {
    let text = "time,id,size,latency_ms\n0,5,,\n1,6,-,-\n2,7,3.0,1.5\n";
    let trace = Trace::from_bytes("t.csv", text.into(), &options()).unwrap();
    let found = read(&trace, Clock::Timestamps).unwrap().0;
    let found: Vec<(u64, u64)> = found.iter().map(|request| (request.size, request.fetch.0)).collect();
    assert_eq!(found, [(0, 0), (0, 0), (3, 1_500_000)]);
    let error = timed("0,5,3.5\n").unwrap_err();
    assert_eq!(error, "t.csv:1: expected a whole number of bytes, got \"3.5\"");
}

#[test]
fn a_time_in_two_cells_is_refused() {
    let refused = |row: usize, time: &str| {
        let quote = "is two cells where spaces separate; quote it, or use another --delimiter";
        Err(format!("t.csv:{row}: the time \"{time}\" {quote}"))
    };
    for clock in [Clock::Timestamps, Clock::Steps] {
        let read = |text: &str, options: &TraceOptions| triples("t.csv", text, options, clock);
        assert_eq!(read("2024-11-15 16:57:50 42\n", &options()), refused(1, "2024-11-15 16:57:50"));
        assert_eq!(read("2024-11-15 16:57:50\n", &options()), refused(1, "2024-11-15 16:57:50"));
        assert_eq!(read("time key\n2024/11/15 16:57:50 42\n", &options()), refused(2, "2024/11/15 16:57:50"));
        let last = with_columns("key=1,time=2");
        assert_eq!(read("42 2024-11-15 16:57:50\n", &last), refused(1, "2024-11-15 16:57:50"));
        let offset = "2024-11-15T16:57:50 +0100";
        assert_eq!(read(&format!("{offset} 42\n"), &options()), refused(1, offset));
    }
    let instant = 1_731_689_870 * S;
    assert_eq!(timed("2024-11-15T16:57:50 42\n"), Ok(vec![(instant, 42, 1)]));
    assert_eq!(timed("\"2024-11-15 16:57:50\" 42\n"), Ok(vec![(instant, 42, 1)]));
}

#[test]
fn a_first_request_is_not_taken_for_a_header() {
    let key = |text: &str| triples("t.csv", text, &with_columns("key=2"), Clock::Steps).map(|all| all.len());
    assert_eq!(key("alice,page\nbob,page\n"), Ok(2));
    let text = "Nov 15 16:57:50,a\nNov 15 16:57:51,b\n";
    let columns = with_columns("time=1,key=2");
    assert_eq!(triples("t.csv", text, &columns, Clock::Steps).map(|all| all.len()), Ok(2));
    let error = triples("t.csv", text, &columns, Clock::Timestamps).unwrap_err();
    assert_eq!(error, "t.csv:1: expected a timestamp, got \"Nov 15 16:57:50\"");
}

#[test]
fn time_may_go_backwards_only_when_sorted() {
    let text = "1,5\n2.5,6\n0.5,7\n1,8\n";
    let error = "t.csv:3: time goes backwards, from 2.5s to 0.5s; --sort accepts that";
    assert_eq!(timed(text).unwrap_err(), error);
    let sort = TraceOptions { sort: true, ..options() };
    let sorted = triples("t.csv", text, &sort, Clock::Timestamps).unwrap();
    assert_eq!(sorted, [(S / 2, 7, 1), (S, 5, 1), (S, 8, 1), (5 * S / 2, 6, 1)]);
    assert_eq!(triples("t.csv", text, &sort, Clock::Steps), stepped(text));
    let bad = triples("t.csv", "1,5\nx,6\n", &sort, Clock::Timestamps).unwrap_err();
    assert_eq!(bad, "t.csv:2: expected a timestamp, got \"x\"");
}

/// Chunk after chunk, in every order that stays within reach, it is as if the whole had been sorted.
#[test]
fn small_steps_back_are_sorted_across_chunks() {
    let (mut draw, mut text) = (1_u64, String::new());
    for row in 0..3 * CHUNK as u64 {
        draw = draw.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        // Up to 10 ms early, at a rate of 1 in 10 us.
        let micros = 10_000 + row * 10 - draw % 10_001 * (draw >> 20 & 1);
        text += &format!("{micros},{}\n", row % 1000);
    }
    let micros = |sort| TraceOptions { sort, time_unit: Some(TimeUnit::Micros), ..options() };
    let sorted = triples("t.csv", text.clone(), &micros(true), Clock::Timestamps).unwrap();
    assert!(triples("t.csv", text.clone(), &micros(false), Clock::Timestamps).unwrap() == sorted);
    let strict = TraceOptions { strict: true, ..micros(false) };
    let error = triples("t.csv", text.clone(), &strict, Clock::Timestamps).unwrap_err();
    assert!(error.contains("time goes backwards"), "{error}");
    let all_at_once = "7,5\n".repeat(2 * CHUNK) + "6.999,6\n";
    let error = triples("t.csv", all_at_once, &options(), Clock::Timestamps).unwrap_err();
    assert_eq!(error, "t.csv:131073: time goes backwards, from 7s to 6.999s; --sort accepts that");
    let steps = triples("t.csv", text, &micros(false), Clock::Steps).unwrap();
    assert_eq!(steps.len(), 3 * CHUNK);
}

#[test]
fn options_override_what_is_found_out() {
    let first_is_data = TraceOptions { header: Some(false), ..options() };
    assert_eq!(triples("t.csv", "time,5\n", &first_is_data, Clock::Steps), Ok(vec![(0, 5, 1)]));
    let first_is_header = TraceOptions { header: Some(true), ..with_columns("key=1") };
    assert_eq!(triples("t.csv", "1\n2\n", &first_is_header, Clock::Steps), Ok(vec![(0, 2, 1)]));
    let pipes = TraceOptions { delimiter: Some(b'|'), ..options() };
    assert_eq!(triples("t.csv", "0|5\n", &pipes, Clock::Steps), Ok(vec![(0, 5, 1)]));
    let error = triples("t.lis", "1 1 0 0\n", &with_columns("key=1"), Clock::Steps).unwrap_err();
    assert_eq!(error, "t.lis: --columns means nothing for the format lis");
    let by_packet = TraceOptions { packet_key: Some(PacketKey::Source), ..options() };
    let error = triples("t.lis", "1 1 0 0\n", &by_packet, Clock::Steps).unwrap_err();
    assert_eq!(error, "t.lis: --key means nothing for the format lis");
}

#[test]
fn long_traces_come_in_chunks() {
    let text: String = (0..CHUNK + 5).map(|row| format!("{row},{}\n", row % 7)).collect();
    for clock in [Clock::Timestamps, Clock::Steps] {
        let requests = triples("t.csv", text.clone(), &options(), clock).unwrap();
        let unit = if clock == Clock::Steps { 1 } else { S };
        let expected = (0..CHUNK as u64 + 5).map(|row| (row * unit, row % 7, 1));
        assert!(requests.into_iter().eq(expected));
    }
}

#[test]
fn compressed_traces_read_like_plain_ones() {
    let text = b"0,5\n1,6\n".to_vec();
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(&text).unwrap();
    let gzip = gzip.finish().unwrap();
    let mut xz = liblzma::write::XzEncoder::new(Vec::new(), 1);
    xz.write_all(&text).unwrap();
    let xz = xz.finish().unwrap();
    let zstd = zstd::encode_all(&text[..], 1).unwrap();
    for (name, packed) in [("gzip", gzip), ("xz", xz), ("zstd", zstd)] {
        let read = |bytes: &[u8]| triples("t", bytes, &options(), Clock::Timestamps);
        assert_eq!(read(&packed), Ok(vec![(0, 5, 1), (S, 6, 1)]), "{name}");
        assert_eq!(
            read(&packed[..packed.len() - 3]).unwrap_err(),
            format!("t: {name} data cut short; {name} -dc unpacks what there is of it")
        );
        let mut damaged = packed.clone();
        let middle = packed.len() / 2;
        damaged[middle..].fill(0xff);
        let error = read(&damaged).unwrap_err();
        assert!(error.starts_with(&format!("t: {name} data ")), "{error}");
    }
}

fn oracle_record(time: u32, key: u64, size: u32) -> Vec<u8> {
    [&time.to_le_bytes()[..], &key.to_le_bytes(), &size.to_le_bytes(), &(-1_i64).to_le_bytes()].concat()
}

#[test]
fn oracle_general_records() {
    let read = |bytes: &[u8], clock| triples("t.oracleGeneral.bin", bytes, &options(), clock);
    let good = [oracle_record(1, u64::MAX, 7), oracle_record(4_000_000_000, 2, 0)].concat();
    assert_eq!(read(&good, Clock::Timestamps), Ok(vec![(S, u64::MAX, 7), (4_000_000_000 * S, 2, 0)]));
    assert_eq!(read(&good, Clock::Steps), Ok(vec![(0, u64::MAX, 7), (1, 2, 0)]));
    let short = [&good[..], &good[..7]].concat();
    let error = "t.oracleGeneral.bin: byte 48: record cut short: expected 24 bytes, found 7";
    assert_eq!(read(&short, Clock::Timestamps).unwrap_err(), error);
    let back = [oracle_record(2, 1, 1), oracle_record(1, 1, 1)].concat();
    let error = "t.oracleGeneral.bin: byte 24: time goes backwards, from 2s to 1s; --sort accepts that";
    assert_eq!(read(&back, Clock::Timestamps).unwrap_err(), error);
    assert_eq!(read(&[], Clock::Steps).unwrap_err(), "t.oracleGeneral.bin: no requests found");
    let many: Vec<u8> = (0..2 * CHUNK as u32 + 1).flat_map(|index| oracle_record(index, 1, 1)).collect();
    assert_eq!(read(&many, Clock::Steps).unwrap().len(), 2 * CHUNK + 1);
}

#[test]
fn twitter_rows() {
    let twitter = with_format(Format::Twitter);
    let good = "0,key,3,5,1,get,0\n\n2,17,2,0,1,set,60\n";
    let requests = triples("t", good, &twitter, Clock::Timestamps).unwrap();
    assert_eq!((requests[0].0, requests[0].2, requests[1]), (0, 8, (2 * S, 17, 2)));
    assert_eq!(triples("t", good, &twitter, Clock::Steps).unwrap()[1], (2, 17, 2));
    assert_eq!(Trace::from_bytes("cluster52.gz", good.into(), &options()).unwrap().format(), Format::Twitter);
    let error = triples("t", "0,key\n", &twitter, Clock::Steps).unwrap_err();
    assert_eq!(error, "t:1: expected 7 cells with commas between them, got \"0,key\"");
}

#[test]
fn lis_lines_are_runs_of_pages() {
    let read = |text: &str, clock| triples("t.lis", text, &options(), clock);
    assert_eq!(read("7 2 0 0\n\n9 1 0 1\n", Clock::Steps), Ok(vec![(0, 7, 1), (1, 8, 1), (3, 9, 1)]));
    let error = read("7 2 0 0\n", Clock::Timestamps).unwrap_err();
    assert_eq!(
        error,
        "t.lis: the trace has no timestamps; use --time slotted and latencies such as 1000steps"
    );
    assert_eq!(
        read("7 2 0 0\n8 x 0 0", Clock::Steps).unwrap_err(),
        "t.lis:2: expected a number of pages, got \"x\""
    );
    assert_eq!(
        read("7 0 0 0\n", Clock::Steps).unwrap_err(),
        "t.lis: no requests found (lines with no pages: 1)"
    );
}

#[test]
fn a_huge_run_of_pages_streams() {
    let trace = Trace::from_bytes("t.lis", "1 4294967296 0 0\n".into(), &options()).unwrap();
    let mut reader = trace.reader(Clock::Steps).unwrap();
    let mut chunk = Vec::new();
    for round in 0..3 {
        assert!(reader.next_chunk(&mut chunk).unwrap());
        assert_eq!((chunk.len(), chunk[0].key), (CHUNK, 1 + round * CHUNK as u64));
    }
}

#[test]
fn access_log_lines() {
    let read = |text: &str, clock| triples("access.log", text, &options(), clock);
    let line = |time: &str, rest: &str| format!("h - - [10/Oct/2000:{time}] {rest}\n");
    let good = line("13:55:36 -0700", "\"GET /a HTTP/1.1\" 200 17")
        + &line("22:55:37 +0200", "\"-\" 408 -")
        + &line("20:55:38 +0000", "\"GET /b HTTP/1.1\" 304 -")
        + &line("20:55:38 +0000", "\"GET /a HTTP/1.1\" 304 -");
    let timed = read(&good, Clock::Timestamps).unwrap();
    assert_eq!((timed[0].0, timed[0].2), (971_211_336 * S, 17));
    assert_eq!((timed[1].0, timed[1].2), (971_211_338 * S, 0));
    // A 304 has the size that the object had before.
    assert_eq!((timed[2].0, timed[2].2), (971_211_338 * S, 17));
    assert_eq!(read(&good, Clock::Steps).unwrap()[1].0, 2);
    let back = line("13:55:36 -0700", "\"GET /a\" 200 1") + &line("13:55:35 -0700", "\"GET /a\" 200 1");
    let error = read(&back, Clock::Timestamps).unwrap_err();
    assert!(error.starts_with("access.log:2: time goes backwards, from 971211336s to 971211335s"), "{error}");
    let error = read(&(good + "nonsense\n"), Clock::Steps).unwrap_err();
    assert_eq!(error, "access.log:5: expected a time such as [10/Oct/2000:13:55:36 -0700], got \"nonsense\"");
}

#[test]
fn io_errors_are_one_line() {
    let error = Trace::open(Path::new("/nowhere/trace.csv"), &options()).err().unwrap();
    assert_eq!(error.to_string(), "/nowhere/trace.csv: No such file or directory");
    assert!(error.is_input());
    let error = Trace::open(Path::new("/"), &options()).err().unwrap();
    assert_eq!(error.to_string(), "/: is a directory");
}

#[test]
fn files_can_be_read_twice_at_once() {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(b"0,5\n1,6\n").unwrap();
    let trace = Trace::open(file.path(), &options()).unwrap();
    let (mut first, mut second) =
        (trace.reader(Clock::Steps).unwrap(), trace.reader(Clock::Timestamps).unwrap());
    let (mut one, mut two) = (Vec::new(), Vec::new());
    assert!(first.next_chunk(&mut one).unwrap() && second.next_chunk(&mut two).unwrap());
    assert_eq!((one[1].time, two[1].time), (Nanos(1), Nanos(S)));
}

/// As with the access log of a server that goes on serving.
#[test]
fn a_file_that_grows_reads_as_it_was_when_it_was_opened() {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(b"0,5\n1,6\n2,").unwrap();
    let trace = Trace::open(file.path(), &options()).unwrap();
    let before = read(&trace, Clock::Timestamps).unwrap();
    assert_eq!(before.0.len(), 2);
    file.write_all(b"7\n3,8\n").unwrap();
    assert_eq!(read(&trace, Clock::Timestamps).unwrap(), before);
}

#[test]
fn a_file_that_shrinks_is_an_error() {
    let gzip = |text: &[u8]| {
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        gzip.write_all(text).unwrap();
        gzip.finish().unwrap()
    };
    for bytes in [b"0,5\n1,6\n".to_vec(), gzip(b"0,5\n1,6\n")] {
        for left in [0, 4] {
            let mut file = tempfile::NamedTempFile::new().unwrap();
            file.write_all(&bytes).unwrap();
            let trace = Trace::open(file.path(), &options()).unwrap();
            file.as_file().set_len(left).unwrap();
            let error = read(&trace, Clock::Steps).unwrap_err();
            let expected = format!("{}: the trace changed while it was read", file.path().display());
            assert_eq!((error.to_string(), error.is_input()), (expected, true));
        }
    }
}
