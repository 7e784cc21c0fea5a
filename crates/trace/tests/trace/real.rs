//! Real traces, where the checkout has them.

use std::collections::HashSet;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use super::*;

/// The real trace at `path`, unless this checkout comes without them.
fn open(path: &str, options: &TraceOptions) -> Option<Trace> {
    let file = data().join(path);
    if !file.exists() {
        skipped(&file);
        return None;
    }
    Some(Trace::open(&file, options).unwrap())
}

/// Tells it to whoever runs the tests; what the macros print is kept back from them.
fn skipped(what: &Path) {
    let _ = writeln!(std::io::stderr(), "skipped: no {}", what.display());
}

fn data() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data")
}

fn counts(trace: &Trace, clock: Clock) -> (usize, usize, u64) {
    let (requests, skipped) = read(trace, clock).unwrap();
    let keys: HashSet<u64> = requests.iter().map(|request| request.key).collect();
    (requests.len(), keys.len(), skipped.iter().map(|(_, count)| count).sum())
}

#[test]
fn oltp() {
    let Some(trace) = open("cache/OLTP.lis.zst", &options()) else { return };
    assert_eq!(trace.format(), Format::Lis);
    assert_eq!(counts(&trace, Clock::Steps), (914_145, 186_880, 0));
}

#[test]
fn cloudphysics() {
    let Some(trace) = open("cache/cloudphysics.csv.zst", &options()) else { return };
    assert_eq!(trace.fields(), Fields { time: true, size: true, fetch: false });
    assert_eq!(counts(&trace, Clock::Timestamps), (113_872, 48_974, 0));
    let first = read(&trace, Clock::Timestamps).unwrap().0[0];
    assert_eq!((first.time, first.key, first.size), (Nanos(5_633_898 * S), 42_932_745, 512));
}

#[test]
fn burst() {
    let Some(trace) = open("cache/burst_250K.csv.zst", &options()) else { return };
    for clock in [Clock::Timestamps, Clock::Steps] {
        assert_eq!(counts(&trace, clock), (250_000, 19_233, 0));
    }
}

/// 25 of the 26,823 rows are requests that were never assigned a model.
#[test]
fn alibaba_lora() {
    let columns = with_columns("time=gmt_create,key=checkpoint_model_version_id,fetch=exec_time_seconds");
    let Some(trace) = open("cache/alibaba-lora-2026.csv.zst", &columns) else { return };
    assert_eq!(trace.fields(), Fields { time: true, size: false, fetch: true });
    assert_eq!(counts(&trace, Clock::Timestamps), (26_798, 86, 25));
    let first = read(&trace, Clock::Timestamps).unwrap().0[0];
    assert_eq!((first.time, first.fetch), (Nanos(1_731_689_870 * S), Nanos(32 * S)));
}

#[test]
fn captures() {
    let sort = TraceOptions { sort: true, ..options() };
    for (file, requests, other_packets) in [
        ("1kxun.pcap", 1_723, 0),
        ("alexa-app.pcapng", 3_074, 29),
        ("dhcp-request-flood.pcap.zst", 10_000, 0),
        ("fragment-confusion.pcap.zst", 16_384, 0),
        ("ipv6-ext-header-dos.pcap.zst", 39_838, 0),
        ("netflix.pcap", 1_793, 0),
        ("wechat.pcap", 1_672, 0),
    ] {
        let Some(trace) = open(&format!("packets/{file}"), &sort) else { continue };
        assert_eq!(trace.format(), Format::Pcap);
        for clock in [Clock::Timestamps, Clock::Steps] {
            let (found, _, skipped) = counts(&trace, clock);
            assert_eq!((found, skipped), (requests, other_packets), "{file}");
        }
    }
}

#[test]
fn a_capture_cut_short_is_read_unless_it_must_not_be() {
    let Some(trace) = open("packets/pgsql.pcap.zst", &options()) else { return };
    let strict = open("packets/pgsql.pcap.zst", &TraceOptions { strict: true, ..options() }).unwrap();
    for clock in [Clock::Timestamps, Clock::Steps] {
        assert_eq!(counts(&trace, clock), (785, 4, 1));
        let error = read(&strict, clock).unwrap_err().to_string();
        assert!(error.ends_with(": byte 3276005: record cut short: expected 16 bytes, found 1"), "{error}");
    }
}
