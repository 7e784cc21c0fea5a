//! The seeds of the fuzzer in `fuzz/`.

use std::path::Path;

use trueplane_sim::trace::{Clock, Columns, Format, Trace};

use super::with_format;

/// The fuzzer's seeds, read as it reads them, so that every `cargo test` covers them.
#[test]
fn fuzz_seeds_are_read_or_refused() {
    let seeds = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/seeds");
    let (mut read_well, mut refused) = (0, 0);
    for (folder, format) in [
        ("csv", Format::Csv),
        ("oracle_general", Format::OracleGeneral),
        ("twitter", Format::Twitter),
        ("lis", Format::Lis),
        ("pcap", Format::Pcap),
        ("access_log", Format::AccessLog),
    ] {
        for entry in seeds.join(folder).read_dir().unwrap() {
            let bytes = std::fs::read(entry.unwrap().path()).unwrap();
            for clock in [Clock::Timestamps, Clock::Steps] {
                let trace = Trace::from_bytes("seed", bytes.clone(), &with_format(format));
                match trace.and_then(|trace| trace.reader(clock)?.next_chunk(&mut Vec::new())) {
                    Ok(_) => read_well += 1,
                    Err(error) => {
                        assert!(error.is_input() && !error.to_string().contains('\n'), "{error}");
                        refused += 1;
                    }
                }
            }
        }
    }
    assert!(
        read_well >= 10 && refused >= 10,
        "{read_well} read, {refused} refused: are the seeds all there?"
    );
}

#[test]
fn fuzz_seeds_of_columns_are_parsed_or_refused() {
    let seeds = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/seeds/columns");
    let parsed = seeds.read_dir().unwrap().map(|entry| {
        let text = std::fs::read_to_string(entry.unwrap().path()).unwrap();
        text.parse::<Columns>().is_ok()
    });
    let (good, bad): (Vec<bool>, Vec<bool>) = parsed.partition(|is_good| *is_good);
    assert!(good.len() >= 2 && bad.len() >= 3);
}
