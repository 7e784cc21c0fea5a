//! Real captures, by policy and at their own times.

use std::io::Write as _;
use std::path::Path;

use trueplane_sched::inversions::run_on;
use trueplane_trace::{Packet, Trace, TraceOptions};
use trueplane_units::{BitsPerSec, Positive};

use super::{holds, options};

/// The captures that cannot be scheduled as they are, and what is said of them.
const REFUSED: [(&str, &str); 2] = [
    ("1kxun.pcap", "over which a load of 0.9 takes a line of less than"),
    (
        "dhcp-request-flood.pcap.zst",
        "all packets come at one instant, which makes no load: give the line a --rate",
    ),
];

/// Bits and nanoseconds of a capture, by another way.
fn bits_and_span(trace: &Trace) -> (f64, f64) {
    let mut reader = trace.packets().expect("it is a capture");
    let (mut bits, mut times) = (0, Vec::new());
    let mut see = |packet: &Packet<'_>| {
        bits += u64::from(packet.length) * 8;
        times.push(packet.time.0);
    };
    while reader.read(1, &mut see).expect("it is whole") {}
    let (first, last) = (times.iter().min().expect("packets"), times.iter().max().expect("packets"));
    (bits as f64, (last - first) as f64)
}

#[test]
fn real_captures_are_scheduled() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/packets");
    let Ok(files) = std::fs::read_dir(&folder) else {
        // Past the test harness, which keeps back what the macros print.
        let _ = writeln!(std::io::stderr(), "skipped: no {}", folder.display());
        return;
    };
    for file in files {
        let path = file.expect("it can be listed").path();
        let trace = Trace::open(&path, &TraceOptions::default()).expect("it is a capture");
        let name = path.file_name().and_then(|name| name.to_str()).expect("its name is plain");
        let ranks = "pfabric,class,stfq,srpt,lstf,edf,fifo+,fifo,uniform";
        let mut options = options(&[("ranks", ranks), ("arrivals", "trace")]);
        options.packets = None;
        let found = run_on(Some(&trace), &options, &());
        if let Some((_, said)) = REFUSED.iter().find(|(refused, _)| *refused == name) {
            let text = found.expect_err(name).to_string();
            assert!(text.contains(said) && !text.contains('\n'), "{text}");
            continue;
        }
        let found = found.unwrap_or_else(|error| panic!("{error}"));
        holds(&found);
        assert_eq!(found.variations.len(), 8);
        let (bits, span) = bits_and_span(&trace);
        let rate = found.base.rate.0 as f64;
        // The rate is whole, twice rounded down.
        let load = bits * 1e9 / span / rate;
        assert!((load / 0.9 - 1.0).abs() <= 2.0 / rate, "{name}: {load} at {rate} bit/s");
        let offered = found.base.offered_load.expect("it takes time");
        assert!((offered - load).abs() < 1e-9, "{name}: {offered} {load}");
        // Told to a millionth.
        assert!((found.base.load - load).abs() < 1e-6, "{name}: {} {load}", found.base.load);
        // A line of twice that rate has half of that load.
        options.rate = Positive::new(BitsPerSec(2 * found.base.rate.0));
        let half = run_on(Some(&trace), &options, &()).unwrap_or_else(|error| panic!("{error}"));
        holds(&half);
        assert!((half.base.load - load / 2.0).abs() < 1e-6, "{name}: {}", half.base.load);
    }
}
