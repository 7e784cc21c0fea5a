//! Workloads: small files and generators, and parameters that keep a run small.

use std::fmt::{Display, Write as _};
use std::path::Path;

use trueplane_trace::Reading;
use trueplane_units::parameter;

use super::certificate;
use super::draw::Draw;

/// Fields with their texts; those without one are not to be drawn, as they contradict the workload.
type Given = Vec<(&'static str, Option<String>)>;

/// Leaves out what says how to read a trace: a generator refuses it.
fn leave_out_reading(given: &mut Given) {
    let reading = parameter::table::<Reading>();
    given.extend(reading.iter().map(|parameter| (parameter.field, None)));
}

/// A workload for this study, as fields of its parameters, with the values that keep it small.
pub(super) fn settings(study: &str, draw: &mut Draw, folder: &Path) -> Given {
    let mut given = Given::new();
    match study {
        "cache.analyze" => set(&mut given, "trace", requests(draw, folder)),
        "cache.bound" => {
            set(&mut given, "trace", requests(draw, folder));
            fetches(draw, &mut given);
            set(&mut given, "iterations", 1 + draw.below(30));
            // The observer of this test has no clock, so that the result is the same on every machine.
            leave_out(&mut given, &["time_limit"]);
        }
        "cache.check" => {
            let mut bound = Given::new();
            set(&mut bound, "trace", requests(draw, folder));
            fetches(draw, &mut bound);
            set(&mut bound, "capacity", one_of(draw, &["1%", "20%", "50%", "100%"]));
            set(&mut bound, "iterations", 1 + draw.below(30));
            let bound: Vec<(&str, &str)> =
                bound.iter().filter_map(|(field, text)| Some((*field, text.as_deref()?))).collect();
            set(&mut given, "certificate", certificate::write(&bound, folder));
            // The trace is to be read as it was.
            for parameter in parameter::table::<trueplane_cache::check::Options>() {
                let same = bound.iter().find(|(field, _)| *field == parameter.field);
                if parameter.field != "certificate" {
                    given.push((parameter.field, same.map(|(_, text)| (*text).to_owned())));
                }
            }
        }
        "cache.compare" => {
            set(&mut given, "trace", requests(draw, folder));
            fetches(draw, &mut given);
            set(&mut given, "bound_iterations", 1 + draw.below(30));
        }
        "fair.allocate" => set(&mut given, "demands", demands(draw, folder)),
        "fair.recommend" | "fair.simulate" | "fair.sweep" => {
            set(&mut given, "jobs", tasks(draw, folder));
            leave_out(&mut given, &["seed", "format", "time_unit"]);
        }
        "limit.isolation" => {
            set(&mut given, "duration", one_of(draw, &["100us", "1ms", "3ms"]));
            set(&mut given, "stagger", one_of(draw, &["0ns", "50us"]));
            set(&mut given, "flows", one_of(draw, &["1", "1,3", "2,5,1"]));
            set(&mut given, "rate", one_of(draw, &["100Mbps", "10Gbps"]));
            set(&mut given, "bin", one_of(draw, &["10us", "250us"]));
            leave_out(&mut given, &["limit"]);
        }
        "limit.precision" => {
            set(&mut given, "duration", one_of(draw, &["1us", "100us", "1ms"]));
            set(&mut given, "rate", one_of(draw, &["1kbps", "8Mbps", "1Gbps,100Gbps"]));
            set(&mut given, "burst", one_of(draw, &["1500B", "9000B", "30000B"]));
        }
        "limit.replay" => {
            set(&mut given, "capture", capture(draw, folder));
            set(&mut given, "classes", classes(draw, folder));
            set(&mut given, "bin", one_of(draw, &["10ms", "100ms", "1s"]));
        }
        "offload.compare" => {
            let (keys, lookups) = (2 + draw.magnitude(8), 1 + draw.magnitude(10));
            set(&mut given, "workload", format!("zipf:0.99,keys={keys},hot-in=2/1ms,lookups={lookups}"));
            set(&mut given, "rate", one_of(draw, &["10Kpps", "1Mpps", "80Mpps"]));
            set(&mut given, "entries", one_of(draw, &["16", "64", "256"]));
            set(&mut given, "chain", one_of(draw, &["1", "2,4"]));
            set(&mut given, "history", one_of(draw, &["1x1", "4x2"]));
            set(&mut given, "batch", one_of(draw, &["1", "3", "8"]));
            set(&mut given, "sample", one_of(draw, &["1", "16"]));
            set(&mut given, "update_rate", one_of(draw, &["10", "1K", "1K,9K"]));
            leave_out_reading(&mut given);
        }
        "sched.bandwidth" => {
            set(&mut given, "flows", 1 + draw.below(5));
            set(&mut given, "step", one_of(draw, &["100us", "500us", "1ms"]));
        }
        "sched.fabric" => {
            leave_out(&mut given, &["faults", "pcap", "pcap_link"]);
            if draw.one_in(3) {
                set(
                    &mut given,
                    "workload",
                    file(folder, "sizes.csv", "bytes,cdf\n1,0.2\n20000,0.9\n1500000,1\n"),
                );
            }
            set(&mut given, "duration", one_of(draw, &["10us", "1ms", "3ms"]));
            set(&mut given, "leaves", 1 + draw.below(3));
            set(&mut given, "spines", 1 + draw.below(2));
            set(&mut given, "hosts_per_leaf", 2 + draw.below(3));
            set(&mut given, "access_rate", one_of(draw, &["100Mbps", "1Gbps", "10Gbps"]));
            set(&mut given, "core_rate", one_of(draw, &["1Gbps", "4Gbps"]));
            set(&mut given, "link_delay", one_of(draw, &["0ns", "20ns", "5us"]));
            set(
                &mut given,
                "topology",
                one_of(draw, &["leaf-spine", "leaf-spine", "fat-tree:2", "fat-tree:4"]),
            );
            if draw.one_in(2) {
                set(&mut given, "load", one_of(draw, &["0.5", "0.2,0.9", "1.5"]));
                leave_out(&mut given, &["flow_starts"]);
            } else {
                set(&mut given, "flow_starts", one_of(draw, &["1", "2K,10K"]));
                leave_out(&mut given, &["load"]);
            }
        }
        "sched.feedback" => {
            set(&mut given, "duration", one_of(draw, &["10us", "1ms", "3ms"]));
            set(&mut given, "ranks", one_of(draw, &["uniform", "convex:7", "exponential:1,poisson:50"]));
            set(&mut given, "rate", one_of(draw, &["100Mbps", "10Gbps"]));
            set(&mut given, "flow_size", one_of(draw, &["1B", "2kB", "300kB"]));
            set(&mut given, "flow_starts", one_of(draw, &["1", "1K,2K"]));
            set(&mut given, "link_delay", one_of(draw, &["0ns", "20ns", "5us"]));
        }
        "sched.inversions" => {
            if draw.one_in(3) {
                set(&mut given, "trace", capture(draw, folder));
                set(&mut given, "arrivals", "trace");
            } else if draw.one_in(3) {
                set(&mut given, "arrivals", "on-off");
            } else {
                leave_out(&mut given, &["access_rate"]);
                leave_out_reading(&mut given);
            }
            set(&mut given, "packets", 1 + draw.magnitude(11));
            set(&mut given, "flows", 1 + draw.below(20));
        }
        "spray.compare" => {
            if draw.one_in(3) {
                set(&mut given, "capture", capture(draw, folder));
            }
            set(&mut given, "packets", 1 + draw.magnitude(10));
            set(&mut given, "runs", 1 + draw.below(3));
            set(&mut given, "cores", one_of(draw, &["1", "2", "3,8"]));
            set(&mut given, "flows", one_of(draw, &["1", "3", "1,20"]));
        }
        "spray.concurrency" => set(&mut given, "capture", capture(draw, folder)),
        "spray.reordering" => {
            set(&mut given, "duration", one_of(draw, &["10us", "1ms", "3ms"]));
            set(&mut given, "flows", one_of(draw, &["1", "2,5"]));
            set(&mut given, "cores", 1 + draw.below(5));
            set(&mut given, "cycles", one_of(draw, &["0", "1000", "10000"]));
            set(&mut given, "runs", 1 + draw.below(2));
            set(&mut given, "line_rate", one_of(draw, &["100Mbps", "10Gbps"]));
            set(&mut given, "receive_window", one_of(draw, &["64kB", "1MB"]));
        }
        "surge.compare" => {
            let workload = surge_workload(draw, folder);
            if !workload.starts_with("reassembly") {
                leave_out(&mut given, &["design", "heuristic"]);
            }
            if !workload.starts_with("iid") {
                leave_out(&mut given, &["seeds"]);
            }
            leave_out(&mut given, &["engine", "sort", "strict"]);
            set(&mut given, "workload", workload);
            set(&mut given, "attack_rate", one_of(draw, &["1%", "5%,50%", "1Mbps..1Gbps:2"]));
            if draw.one_in(3) {
                set(&mut given, "attack", "search");
                set(&mut given, "trials", "2");
            } else {
                leave_out(&mut given, &["trials"]);
            }
        }
        "surge.guard" => set(&mut given, "jobs", jobs(draw, folder)),
        _ => {}
    }
    given
}

fn set(given: &mut Given, field: &'static str, value: impl Display) {
    given.push((field, Some(value.to_string())));
}

fn leave_out(given: &mut Given, fields: &[&'static str]) {
    given.extend(fields.iter().map(|&field| (field, None)));
}

fn one_of(draw: &mut Draw, from: &[&str]) -> String {
    (*draw.choose(from)).to_owned()
}

fn file(folder: &Path, name: &str, text: impl AsRef<[u8]>) -> String {
    let path = folder.join(name);
    std::fs::write(&path, text).expect("a file in a temporary folder");
    path.display().to_string()
}

/// Time that fetches take: a time, none, a distribution, or steps of slotted time.
fn fetches(draw: &mut Draw, given: &mut Given) {
    if draw.one_in(3) {
        set(given, "time", "slotted");
        set(given, "latency", one_of(draw, &["0steps", "1steps", "7steps", "100steps"]));
        set(given, "hit_latency", one_of(draw, &["0steps", "1steps"]));
    } else {
        set(given, "latency", one_of(draw, &["0ns", "1ns", "50us", "1ms", "1s", "lognormal:1ms,1", "trace"]));
        set(given, "hit_latency", one_of(draw, &["0ns", "1us"]));
        leave_out(given, &["time", "no_bypass"]);
    }
    leave_out(given, &["origins"]);
}

/// Times that never step back: silences and bursts of many magnitudes.
struct Times(u64);

impl Times {
    fn next(&mut self, draw: &mut Draw) -> u64 {
        let bits = if draw.one_in(50) { 40 } else { 20 };
        self.0 += if draw.one_in(3) { 0 } else { draw.magnitude(bits) };
        self.0
    }
}

/// A log of requests: few keys, sizes and fetch times of many magnitudes.
fn requests(draw: &mut Draw, folder: &Path) -> String {
    let keys = 1 + draw.magnitude(6);
    let mut times = Times(draw.magnitude(40));
    let mut text = "time_ns,key,size,fetch_ns\n".to_owned();
    for _ in 0..=draw.magnitude(9) {
        // The product of two draws makes some keys more popular than others.
        let key = draw.below(keys) * draw.below(keys) / keys;
        let (time, size, fetch) = (times.next(draw), draw.magnitude(12), draw.magnitude(22));
        let _ = writeln!(text, "{time},{key},{size},{fetch}");
    }
    file(folder, "requests.csv", text)
}

/// A log of tasks for a cluster.
fn tasks(draw: &mut Draw, folder: &Path) -> String {
    let users = 1 + draw.below(6);
    let mut text = "submit,duration,user,cpu,memory\n".to_owned();
    let mut submit = 0;
    for _ in 0..=draw.magnitude(7) {
        submit += if draw.one_in(2) { 0 } else { draw.magnitude(8) };
        let (duration, user, cpu) = (draw.magnitude(8), draw.below(users), 1 + draw.magnitude(3));
        let _ = writeln!(text, "{submit},{duration},u{user},{cpu},{}.5", draw.magnitude(3));
    }
    file(folder, "tasks.csv", text)
}

/// Users who ask for parts of a machine.
fn demands(draw: &mut Draw, folder: &Path) -> String {
    let users: Vec<String> = (0..=draw.below(5))
        .map(|user| {
            let (cpu, memory) = (1 + draw.magnitude(3), 1 + draw.magnitude(3));
            let commitment = draw.below(100);
            format!(
                r#"{{ "name": "u{user}", "task": {{ "cpu": {cpu}, "memory": {memory} }}, "commitment": {{ "cpu": 0.{commitment:02} }} }}"#
            )
        })
        .collect();
    let capacity = 1 + draw.magnitude(7);
    let resources = format!(
        r#"[{{ "name": "cpu", "capacity": {capacity} }}, {{ "name": "memory", "capacity": {} }}]"#,
        1 + draw.magnitude(7)
    );
    let text = format!(r#"{{ "resources": {resources}, "users": [{}] }}"#, users.join(", "));
    file(folder, "demands.json", text)
}

/// Jobs of packets.
fn jobs(draw: &mut Draw, folder: &Path) -> String {
    let mut times = Times(0);
    let mut text = "packet_bytes,flow,job_ns,estimate_ns,time_ns\n".to_owned();
    for _ in 0..=draw.magnitude(8) {
        let (bytes, flow, job) = (1 + draw.magnitude(10), draw.below(8), 1 + draw.magnitude(16));
        let estimate = if draw.one_in(2) { job } else { 1 + draw.magnitude(16) };
        let _ = writeln!(text, "{bytes},{flow},{job},{estimate},{}", times.next(draw));
    }
    file(folder, "jobs.csv", text)
}

fn surge_workload(draw: &mut Draw, folder: &Path) -> String {
    match draw.below(3) {
        0 => format!("trace:{}", jobs(draw, folder)),
        1 => {
            let packets = 2 + draw.magnitude(9);
            let job = draw.choose(&["normal:4us:500ns", "1us", "exponential:2us", "pareto:100ns:1ms:1.2"]);
            format!("iid:size=uniform:64B:1500B,job={job},packets={packets},flows=5")
        }
        _ => {
            let (flows, packets) = (1 + draw.below(8), 1 + draw.below(20));
            format!("reassembly:generated,flows={flows},packets={packets},late=10%,overtaken=3")
        }
    }
}

/// A capture of packets of some tenants, by TCP and UDP.
fn capture(draw: &mut Draw, folder: &Path) -> String {
    let words = |words: &[u32]| words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<u8>>();
    let mut bytes = words(&[0xa1b2_3c4d, 0x0004_0002, 0, 0, 65_535, 1]);
    let mut times = Times(0);
    for _ in 0..=draw.magnitude(8) {
        let (tenant, port, payload) = (draw.below(4) as u8, draw.below(6) as u8, draw.below(1_400) as u16);
        let time = times.next(draw);
        let mut transport = vec![4, port, 0, 53];
        let is_tcp = !draw.one_in(3);
        if is_tcp {
            let sequence = draw.magnitude(32) as u32;
            transport.extend(words(&[sequence, 0, 0x0000_1050, 0]));
        } else {
            transport.extend((8 + payload).to_be_bytes());
            transport.extend([0, 0]);
        }
        let mut frame = vec![2; 12];
        frame.extend([8, 0, 0x45, draw.below(4) as u8]);
        frame.extend((20 + transport.len() as u16 + payload).to_be_bytes());
        // Identification, no fragment, a time to live of 64, the protocol, no checksum.
        frame.extend([0, 0, 0, 0, 64, if is_tcp { 6 } else { 17 }, 0, 0]);
        frame.extend([10, 0, tenant, 1, 10, 9, 9, 9]);
        frame.extend(transport);
        let length = frame.len() as u32 + u32::from(payload);
        let (seconds, fraction) = ((time / 1_000_000_000) as u32, (time % 1_000_000_000) as u32);
        bytes.extend(words(&[seconds, fraction, frame.len() as u32, length]));
        bytes.extend(frame);
    }
    file(folder, "capture.pcap", bytes)
}

/// Limits for the tenants of [`capture`].
fn classes(draw: &mut Draw, folder: &Path) -> String {
    let rate = |draw: &mut Draw| one_of(draw, &["8kbps", "800kbps", "8Mbps", "1Gbps"]);
    let text = format!(
        r#"
        [[class]]
        name = "one"
        rate = "{}"
        burst = "3000B"
        mark = "1000B"
        source = "10.0.1.0/24"

        [[class]]
        name = "each"
        rate = "{}"
        burst = "1500B"
        source = "10.0.2.0/23"
        each = 24

        [[class]]
        name = "inner"
        rate = "{}"
        source = "10.0.1.0/28"
        inside = "one"
        "#,
        rate(draw),
        rate(draw),
        rate(draw)
    );
    file(folder, "classes.toml", text)
}
