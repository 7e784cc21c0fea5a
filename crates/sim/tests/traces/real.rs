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

/// Captures either read to the end or say in one line why not.
#[test]
fn captures() {
    let Ok(folder) = data().join("packets").read_dir() else {
        skipped(&data().join("packets"));
        return;
    };
    for entry in folder {
        let path = entry.unwrap().path();
        let trace = Trace::open(&path, &TraceOptions { sort: true, ..options() }).unwrap();
        assert_eq!(trace.format(), Format::Pcap);
        for clock in [Clock::Timestamps, Clock::Steps] {
            match read(&trace, clock) {
                Ok((requests, skipped)) => {
                    assert!(!requests.is_empty());
                    eprintln!("{}: {} packets, {skipped:?}", path.display(), requests.len());
                }
                Err(error) => {
                    let text = error.to_string();
                    assert!(error.is_input() && !text.contains('\n'), "{text}");
                    eprintln!("{text}");
                }
            }
        }
    }
}
