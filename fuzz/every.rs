//! All fuzz targets in one program, so that a run of all of them links once: the environment variable `FUZZ_TARGET` says which one runs.
//!
//! `make fuzz` and `make fuzz-smoke` use it. Every program in `crates/*/fuzz/targets` is compiled into it as a module: for these, the name
//! `libfuzzer_sys` means this file, whose macro makes a function where the real one makes the entry point of a program.
#![no_main]
// The modules are programs, too, and say so.
#![allow(unused_attributes)]

extern crate libfuzzer_sys as fuzzer;
extern crate self as libfuzzer_sys;

use std::sync::LazyLock;

use fuzzer::Corpus;
use fuzzer::arbitrary::{Arbitrary, Unstructured};

type Target = fn(&[u8]) -> Corpus;

macro_rules! function {
    (|$input:ident: $kind:ty| $body:expr) => {
        pub(crate) fn run(bytes: &[u8]) -> crate::Corpus {
            crate::offer(bytes, |$input: $kind| $body)
        }
    };
}
pub(crate) use function as fuzz_target;

/// Rejects what is no input of the target's kind, as the real macro does.
fn offer<'a, Input: Arbitrary<'a>>(bytes: &'a [u8], check: impl Fn(Input)) -> Corpus {
    if bytes.len() < Input::size_hint(0).0 {
        return Corpus::Reject;
    }
    match Input::arbitrary_take_rest(Unstructured::new(bytes)) {
        Ok(input) => {
            check(input);
            Corpus::Keep
        }
        Err(_) => Corpus::Reject,
    }
}

macro_rules! targets {
    ($($name:ident = $path:literal,)*) => {
        $(
            #[path = $path]
            mod $name;
        )*

        const TARGETS: &[(&str, Target)] = &[$((stringify!($name), $name::run)),*];
    };
}

targets! {
    access_log = "../crates/trace/fuzz/targets/access_log.rs",
    cache_certificate = "../crates/cache/fuzz/targets/cache_certificate.rs",
    cloudfront = "../crates/trace/fuzz/targets/cloudfront.rs",
    columns = "../crates/trace/fuzz/targets/columns.rs",
    csv = "../crates/trace/fuzz/targets/csv.rs",
    fair_demands = "../crates/fair/fuzz/targets/fair_demands.rs",
    fair_jobs = "../crates/fair/fuzz/targets/fair_jobs.rs",
    fair_slurm = "../crates/fair/fuzz/targets/fair_slurm.rs",
    fair_swf = "../crates/fair/fuzz/targets/fair_swf.rs",
    fair_kubernetes = "../crates/fair/fuzz/targets/fair_kubernetes.rs",
    fair_kueue = "../crates/fair/fuzz/targets/fair_kueue.rs",
    fair_snapshot = "../crates/fair/fuzz/targets/fair_snapshot.rs",
    http_rules = "../crates/proxy/fuzz/targets/http_rules.rs",
    json_log = "../crates/trace/fuzz/targets/json_log.rs",
    limit_bpf = "../crates/limit/fuzz/targets/limit_bpf.rs",
    limit_classes = "../crates/limit/fuzz/targets/limit_classes.rs",
    limit_frame = "../crates/limit/fuzz/targets/limit_frame.rs",
    lis = "../crates/trace/fuzz/targets/lis.rs",
    network_tables = "../crates/network/fuzz/targets/network_tables.rs",
    oracle_general = "../crates/trace/fuzz/targets/oracle_general.rs",
    pcap = "../crates/trace/fuzz/targets/pcap.rs",
    pqueue = "../crates/pqueue/fuzz/targets/pqueue.rs",
    proxy_disk = "../crates/proxy/fuzz/targets/proxy_disk.rs",
    spray_packet = "../crates/spray/fuzz/targets/spray_packet.rs",
    spray_rules = "../crates/spray/fuzz/targets/spray_rules.rs",
    surge_jobs = "../crates/surge/fuzz/targets/surge_jobs.rs",
    surge_reassembly = "../crates/surge/fuzz/targets/surge_reassembly.rs",
    surge_replay = "../crates/surge/fuzz/targets/surge_replay.rs",
    surge_rules = "../crates/surge/fuzz/targets/surge_rules.rs",
    twitter = "../crates/trace/fuzz/targets/twitter.rs",
}

static CHOSEN: LazyLock<Target> = LazyLock::new(|| {
    let name = std::env::var("FUZZ_TARGET").expect("FUZZ_TARGET says which target runs");
    let found = TARGETS.iter().find(|(known, _)| *known == name);
    found.unwrap_or_else(|| panic!("FUZZ_TARGET: there is no target {name}")).1
});

fuzzer::fuzz_target!(init: LazyLock::force(&CHOSEN), |bytes: &[u8]| -> Corpus { CHOSEN(bytes) });
