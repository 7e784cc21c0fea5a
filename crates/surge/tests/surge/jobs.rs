//! Job files: what is read, what is refused, and that what is written can be read.

use std::path::Path;

use proptest::prelude::*;
use trueplane_study::Error;
use trueplane_surge::jobs::{Job, Jobs, MOST_JOB};
use trueplane_surge::segments::MOST_BYTES;
use trueplane_surge::traffic::Load;
use trueplane_units::Nanos;

// The fuzz target's own code; `cargo test` at the root does not build the fuzzer, which wants a nightly compiler.
#[path = "../../fuzz/jobs.rs"]
#[expect(unreachable_pub, reason = "a library there, a module here")]
mod target;

fn jobs(text: &str) -> Result<Jobs, String> {
    Jobs::from_bytes("jobs.csv", text.as_bytes().to_vec(), 1 << 20, &()).map_err(|error| error.to_string())
}

fn refused(text: &str) -> String {
    jobs(text).unwrap_err()
}

fn job(flow: u64, bytes: u32, job: u64, estimate: u64) -> Job {
    Job { flow, bits: 8 * bytes, job: Nanos(job), estimate: Nanos(estimate) }
}

#[test]
fn columns_may_stand_in_any_order() {
    let read = jobs("packet_bytes,flow,job_ns\n1500,7,4000\n64,8,90\n").unwrap();
    assert_eq!(read.iter().collect::<Vec<_>>(), [job(7, 1500, 4000, 4000), job(8, 64, 90, 90)]);
    assert!(read.times().is_none() && !read.has_estimates() && read.at_their_times().is_none());
    assert_eq!(read.name(), "jobs.csv");

    let all = "Time_ns;estimate_ns;flow;JOB_NS;packet_bytes\n\n500;45;\"7\";40;100\r\n500;1;web;90.0;64\n";
    let read = jobs(all).unwrap();
    let found: Vec<Job> = read.iter().collect();
    assert_eq!(found[0], job(7, 100, 40, 45));
    assert_eq!((found[1].job, found[1].estimate, found[1].bits), (Nanos(90), Nanos(1), 512));
    assert!(read.has_estimates());
    assert_eq!(read.times().unwrap()[..], [Nanos(0), Nanos(0)]);
    let traffic = read.at_their_times().unwrap();
    assert_eq!((traffic.count, traffic.at(1), traffic.at(2)), (2, Some(Nanos(0)), None));
    assert_eq!(traffic.packet(0).load, Load::Given { job: Nanos(40), estimate: Nanos(45) });
}

#[test]
fn a_flow_is_any_text() {
    let read =
        jobs("flow,packet_bytes,job_ns\n10.0.0.1:443,9,9\nweb,9,9\n10.0.0.1:443,9,9\n017,9,9\n17,9,9\n")
            .unwrap();
    let flows: Vec<u64> = read.iter().map(|job| job.flow).collect();
    assert_eq!((flows[0], flows[4]), (flows[2], 17));
    assert!(flows[0] != flows[1] && flows[3] != 17);
}

#[test]
fn the_header_must_name_what_is_understood() {
    let names = "packet_bytes, flow, job_ns, estimate_ns and time_ns";
    assert_eq!(refused(""), format!("jobs.csv: expected a header with {names}, found no line"));
    assert_eq!(
        refused("1500,web,4000\n"),
        format!("jobs.csv:1: expected a header with columns of {names}, got \"1500\"")
    );
    assert_eq!(
        refused("packet_bytes,flow,job_ns,color\n1,2,3,4\n"),
        format!("jobs.csv:1: expected a header with columns of {names}, got \"color\"")
    );
    assert_eq!(refused("packet_bytes,flow,job_ns,flow\n"), "jobs.csv:1: expected one column flow, found two");
    assert_eq!(
        refused("\npacket_bytes,job_ns\n1,2\n"),
        "jobs.csv:2: expected a header with a column flow, got \"packet_bytes,job_ns\""
    );
    assert_eq!(
        refused("packet_bytes,flow,job_ns\n\n"),
        "jobs.csv: expected a job in every line after the header, found none"
    );
}

#[test]
fn absurd_values_are_refused_with_their_line() {
    let row =
        |row: &str| refused(&format!("packet_bytes,flow,job_ns,estimate_ns,time_ns\n9,a,9,9,7\n{row}\n"));
    let most = MOST_JOB.0;
    for size in ["0", "-1", "", "1.5", "x", "536870912", "1e3"] {
        let expected = format!("jobs.csv:3: expected a packet_bytes of 1 to {MOST_BYTES}, got \"{size}\"");
        assert_eq!(row(&format!("{size},a,9,9,7")), expected);
    }
    for time in ["0", "-1", "", "nan", "inf", "60000000001", "99999999999999999999999"] {
        let expected = format!("jobs.csv:3: expected a job_ns of 1 to {most}, got \"{time}\"");
        assert_eq!(row(&format!("9,a,{time},9,7")), expected);
        let expected = format!("jobs.csv:3: expected an estimate_ns of 1 to {most}, got \"{time}\"");
        assert_eq!(row(&format!("9,a,9,{time},7")), expected);
    }
    assert_eq!(row("9,,9,9,7"), "jobs.csv:3: expected the name of a flow, got \"\"");
    let expected = "jobs.csv:3: expected a time_ns of 7 or later (times must not go back), got \"6\"";
    assert_eq!(row("9,a,9,9,6"), expected);
    assert_eq!(row("9,a,9,9,-"), "jobs.csv:3: expected a time_ns, a whole number below 2^64, got \"-\"");
    assert_eq!(row("9,a,9,9"), "jobs.csv:3: expected 5 columns as in the header, found 4");
    assert_eq!(row("9,a,9,9,7,8"), "jobs.csv:3: expected 5 columns as in the header, found 6");
    assert_eq!(row("9,a,\"9,9,7"), "jobs.csv:3: a quoted cell never ends");
}

#[test]
fn memory_is_bounded() {
    let text = b"packet_bytes,flow,job_ns\n9,a,9\n9,a,9\n9,a,9\n".to_vec();
    assert!(Jobs::from_bytes("jobs.csv", text.clone(), 3, &()).is_ok());
    let error = Jobs::from_bytes("jobs.csv", text, 2, &()).unwrap_err().to_string();
    assert_eq!(
        error,
        "jobs.csv:4: expected 2 jobs at most, which fit in the memory, found more: raise --memory"
    );
}

#[test]
fn files_are_read_compressed_or_not() {
    let folder = tempfile::tempdir().unwrap();
    let text = "packet_bytes,flow,job_ns\n1500,7,4000\n";
    let (plain, packed) = (folder.path().join("jobs.csv"), folder.path().join("jobs.csv.zst"));
    std::fs::write(&plain, text).unwrap();
    std::fs::write(&packed, zstd::encode_all(text.as_bytes(), 3).unwrap()).unwrap();
    for path in [&plain, &packed] {
        let read = Jobs::read(path, 10, &()).unwrap();
        assert_eq!(read.iter().collect::<Vec<_>>(), [job(7, 1500, 4000, 4000)]);
    }
    let Error::Trace(error) = Jobs::read(Path::new("no such file"), 10, &()).unwrap_err() else { panic!() };
    assert!(error.is_input());
}

#[test]
fn made_jobs_are_held_to_the_same_limits() {
    let new = |jobs: &[Job], times| Jobs::new("made", jobs, times).map_err(|error| error.to_string());
    let good = job(1, 9, 9, 9);
    assert_eq!(new(&[], None).unwrap_err(), "made: expected jobs, found none");
    assert_eq!(
        new(&[good, job(1, 0, 9, 9)], None).unwrap_err(),
        format!("made: job 2: expected 1 to {} bits, got 0", MOST_BYTES * 8)
    );
    for bad in [job(1, 9, 0, 9), job(1, 9, 9, 0)] {
        let expected = format!("made: job 1: expected 1 to {} ns, got 0", MOST_JOB.0);
        assert_eq!(new(&[bad], None).unwrap_err(), expected);
    }
    let expected = "made: expected 2 times that never go back, got 2 times";
    assert_eq!(new(&[good, good], Some(vec![Nanos(2), Nanos(1)])).unwrap_err(), expected);
    let expected = "made: expected 2 times that never go back, got 1 times";
    assert_eq!(new(&[good, good], Some(vec![Nanos(2)])).unwrap_err(), expected);
    let odd = new(&[Job { bits: 7, ..good }], None).unwrap();
    assert_eq!(odd.write(Vec::new()).unwrap_err().to_string(), "job 1: expected whole bytes, got 7 bits");
}

#[test]
fn every_seed_is_read_or_refused() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/seeds/surge_jobs");
    let seeds = folder.read_dir().unwrap().map(|entry| std::fs::read(entry.unwrap().path()).unwrap());
    let (read, refused): (Vec<bool>, Vec<bool>) =
        seeds.map(|seed| target::read_jobs(&seed)).partition(|was_read| *was_read);
    assert!(read.len() >= 4 && refused.len() >= 8, "{} read, {} refused", read.len(), refused.len());
}

proptest! {
    #[test]
    fn what_is_written_is_read(
        rows in prop::collection::vec((any::<u64>(), 1..=MOST_BYTES, 1..=MOST_JOB.0, 1..=MOST_JOB.0, 0..1000_u64), 1..50),
        has_estimates in any::<bool>(),
        has_times in any::<bool>(),
    ) {
        let made: Vec<Job> = rows
            .iter()
            .map(|&(flow, bytes, time, estimate, _)| job(flow, bytes, time, if has_estimates { estimate } else { time }))
            .collect();
        // From zero on, as files are read.
        let gaps = rows.iter().skip(1).map(|row| row.4);
        let times = std::iter::once(0).chain(gaps.scan(0, |now, gap| { *now += gap; Some(*now) })).map(Nanos);
        let jobs = Jobs::new("made", &made, has_times.then(|| times.collect())).unwrap();
        let mut text = Vec::new();
        jobs.write(&mut text).unwrap();
        let again = Jobs::from_bytes("made", text, 50, &()).unwrap();
        prop_assert_eq!(again.iter().collect::<Vec<_>>(), made);
        prop_assert_eq!(again.times(), jobs.times());
        prop_assert_eq!(again.has_estimates(), jobs.has_estimates());
    }

    #[test]
    fn nothing_that_is_read_breaks_it(text in "(packet_bytes|flow|job_ns|time_ns|estimate_ns|[0-9]{1,3}|[,;\n\" -]){0,60}") {
        target::read_jobs(text.as_bytes());
    }
}
