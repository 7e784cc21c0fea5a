//! The study of a capture that overloads its line, against the naive port.

use std::collections::HashMap;
use std::path::Path;

use trueplane_sched::Packet;
use trueplane_sched::inversions::{Options, run_on};
use trueplane_sched::policy::SchedulerName;
use trueplane_sched::scheduler::{Settings, with_scheduler};
use trueplane_trace::{Trace, TraceOptions};
use trueplane_units::{Choices, Parameters as _, Rank};

use super::port::counted;
use super::{Naively, World};

/// The packets of a capture from time zero, each with what is left of its flow as its rank.
fn packets_of(trace: &Trace) -> Vec<Packet> {
    let mut reader = trace.packets().expect("it is a capture");
    let mut packets: Vec<Packet> = Vec::new();
    let mut read = true;
    while read {
        let found = reader.read(1, |packet| {
            let flow = packet.flow().unwrap_or_default();
            packets.push(Packet {
                rank: Rank(0),
                flow,
                bytes: packet.length.max(1),
                handle: 0,
                arrival: packet.time,
            });
        });
        read = found.expect("it is whole");
    }
    let first = packets[0].arrival;
    let mut left: HashMap<u64, u64> = HashMap::new();
    for packet in packets.iter_mut().rev() {
        let left = left.entry(packet.flow).or_default();
        *left += u64::from(packet.bytes);
        (packet.rank, packet.arrival) = (Rank(*left), packet.arrival.since(first));
    }
    packets
}

#[test]
fn a_capture_with_drops_is_counted_as_on_the_naive_port() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/tenants.pcap");
    let trace = Trace::open(&path, &TraceOptions::default()).expect("it is a capture");
    let packets = packets_of(&trace);
    for load in ["0.9", "3"] {
        let given = [("ranks", "pfabric"), ("arrivals", "trace"), ("load", load), ("policies", "all")];
        let mut options = Options::given(&given).unwrap();
        options.policies.list = Choices(SchedulerName::ALL.into());
        let found = run_on(Some(&trace), &options, &()).expect("it can be scheduled");
        let world = World {
            rate: found.base.rate.0,
            queues: 8,
            depth: *options.depth as usize,
            span: None,
            packets: packets.clone(),
        };
        assert!(found.schedulers.len() >= 8, "{:?}", found.left_out);
        for run in &found.schedulers {
            let name = run.scheduler;
            let settings = Settings {
                queues: world.queues,
                depth: world.depth,
                push_down: options.push_downs()[0],
                window: *options.window as usize,
                adaptation: options.adaptation.into(),
                bytes_per_round: *options.bytes_per_round,
                counts: None,
                optimum: None,
            };
            let events = with_scheduler(name, &settings, Naively(&world)).expect("it can be had");
            let expected = counted(&events, &(0..=u64::MAX));
            assert!(expected.drops > 0 || load == "0.9", "{name} drops nothing");
            assert_eq!(
                (run.arrivals, run.departures, run.drops, run.inversions, run.unpifoness),
                (
                    expected.arrivals,
                    expected.departures,
                    expected.drops,
                    expected.inversions,
                    expected.unpifoness
                ),
                "{name} at {load}"
            );
            let share = expected.inversions as f64 / expected.departures as f64;
            assert!((run.inversion_share - share).abs() <= 1e-12, "{name} at {load}: {share}");
            assert!((run.mean_delay_ns - expected.mean_delay_ns()).abs() <= 1e-6, "{name} at {load}");
        }
    }
}
