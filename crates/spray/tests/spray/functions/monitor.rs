//! The traffic monitor.

use std::collections::BTreeMap;

use trueplane_spray::nf::monitor::{Export, collect};
use trueplane_spray::nf::{FunctionName, FunctionOptions, Monitor, MonitorOptions};
use trueplane_spray::packet::tcp_flags::{ACK, FIN, RST, SYN};
use trueplane_spray::{FlowId, Limits, Phase, Worker};
use trueplane_units::Nanos;

use super::packets::{TCP, UDP, packet};
use super::team::{Team, forwarded};

/// What is sent, along the flow or against it.
type Steps = &'static [(bool, u8)];

fn export(team: &Team<Monitor>) -> Export {
    let cores = team.workers.iter().map(Worker::state);
    collect(cores, &team.workers[0].shared().tables)
}

fn flow(number: u32, protocol: u8) -> FlowId {
    FunctionOptions::default().example_flow(FunctionName::Monitor, number, protocol)
}

#[test]
fn the_sum_over_cores_is_what_passed() {
    for (flows, places) in [(50, 1000), (200, 10)] {
        let monitor = Monitor::new(&MonitorOptions { flows: places, idle: Nanos(1_000_000) });
        let mut team = Team::new(&monitor, 4, Limits::new(64), 7);
        let mut passed: BTreeMap<FlowId, (u64, u64)> = BTreeMap::new();
        let mut sent = (0, 0);
        for round in 0..4000 {
            team.now = Nanos(round * 1000);
            let flow = flow(team.below(flows) as u32, [TCP, UDP][round as usize % 2]);
            let flow = if round % 3 == 0 { flow.reversed() } else { flow };
            let flags = [SYN, SYN | ACK, ACK, ACK, FIN | ACK, RST][team.below(6)];
            let size = team.below(100);
            let packet = packet(&flow, flags, &vec![0; size]);
            let bytes = packet.bytes().len() as u64;
            let own = passed.entry(flow).or_default();
            *own = (own.0 + 1, own.1 + bytes);
            sent = (sent.0 + 1, sent.1 + bytes);
            assert!(forwarded(&team.pass_anywhere(packet)));
        }
        let export = export(&team);
        assert_eq!((export.total().packets, export.total().bytes), sent);
        if places == 1000 {
            assert_eq!((export.other.packets, export.rows.len()), (0, passed.len()));
            for row in &export.rows {
                assert_eq!((row.traffic.packets, row.traffic.bytes), passed[&row.flow]);
                assert!(row.first_ns <= row.last_ns);
            }
        } else {
            assert!(export.other.packets > 0 && export.rows.len() <= 4 * places);
        }
        team.counts();
    }
}

#[test]
fn rows_tell_how_far_a_connection_is() {
    let mut team = Team::new(&Monitor::default(), 4, Limits::new(64), 7);
    let scripts: [(Steps, Option<Phase>); 5] = [
        (&[(true, SYN)], Some(Phase::HalfOpen)),
        (&[(true, SYN), (false, SYN | ACK), (true, ACK)], Some(Phase::Established)),
        (&[(true, SYN), (true, ACK), (true, FIN), (false, FIN)], Some(Phase::Closing)),
        (&[(true, SYN), (true, RST)], Some(Phase::Closing)),
        (&[(true, ACK), (true, ACK)], None),
    ];
    for (number, (steps, _)) in scripts.iter().enumerate() {
        for &(along, flags) in *steps {
            let flow = flow(number as u32, TCP);
            team.now = team.now.after(Nanos(10));
            team.pass_anywhere(packet(&if along { flow } else { flow.reversed() }, flags, &[]));
        }
    }
    team.pass_anywhere(packet(&flow(0, UDP), 0, &[]));
    let export = export(&team);
    for (number, (steps, phase)) in scripts.iter().enumerate() {
        let row = export.rows.iter().find(|row| row.flow == flow(number as u32, TCP)).unwrap();
        assert_eq!(row.phase, *phase, "{}", row.flow);
        assert_eq!(row.traffic.packets, steps.iter().filter(|(along, _)| *along).count() as u64);
    }
    let json = serde_json::to_value(&export).unwrap();
    let datagram = json["rows"].as_array().unwrap().iter().find(|row| row["phase"] == "datagram").unwrap();
    assert_eq!(datagram["flow"], "udp 10.0.0.0:1024 > 198.18.0.0:443");
    assert_eq!(datagram["traffic"]["packets"], 1);
}
