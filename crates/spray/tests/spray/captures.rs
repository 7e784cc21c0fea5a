//! Every capture through every network function: a verdict for each packet, and nothing lost.

use std::collections::VecDeque;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use trueplane_spray::nf::{FunctionName, FunctionOptions, Visit, with_function};
use trueplane_spray::packet::headers::Link;
use trueplane_spray::{Counts, Limits, NetworkFunction, Outlet, Packet, Reason, Worker};
use trueplane_trace::{Layers, Trace, TraceOptions};
use trueplane_units::Nanos;

const CORES: usize = 3;

/// The packets of a capture that begin with Ethernet or IP; up to where it breaks, if it does.
fn packets(path: &Path) -> Vec<Packet> {
    let trace = Trace::open(path, &TraceOptions::default()).expect("it is a capture");
    let mut reader = trace.packets().expect("it is a capture");
    let mut packets = Vec::new();
    let mut more = true;
    while more {
        let read = reader.read(1, |packet| {
            let (bytes, link) = match packet.layers {
                Layers::Ethernet(frame) => (frame, Link::Ethernet),
                Layers::Ip(packet) | Layers::EtherType(_, packet) => (packet, Link::Ip),
                Layers::Other => return,
            };
            let mut packet = Packet::new(bytes.to_vec(), link);
            packet.set_tag(packets.len() as u64);
            packets.push(packet);
        });
        more = read.unwrap_or(false);
    }
    packets
}

/// What was handed over, by core, and what is done.
#[derive(Default)]
struct Out {
    rings: [Vec<Packet>; CORES],
    done: Vec<Packet>,
}

impl Outlet for Out {
    fn hand_over(&mut self, core: usize, packets: &mut VecDeque<Packet>) {
        self.rings[core].extend(packets.drain(..));
    }

    fn done(&mut self, packet: Packet) {
        self.done.push(packet);
    }
}

struct Replay<'a> {
    packets: &'a [Packet],
}

impl Visit for Replay<'_> {
    type Output = ();

    fn visit<N: NetworkFunction + Clone + 'static>(self, function: N) {
        let mut workers = Worker::team(&function, CORES, Limits::new(1 << 12), 1 << 10, 1);
        let mut out = Out::default();
        for (at, batch) in self.packets.chunks(20).enumerate() {
            let core = at % CORES;
            let (mut arrived, mut handed) = (batch.to_vec(), std::mem::take(&mut out.rings[core]));
            workers[core].poll(Nanos(at as u64 * 100_000), &mut arrived, &mut handed, &mut out);
        }
        for (core, worker) in workers.iter_mut().enumerate() {
            let mut handed = std::mem::take(&mut out.rings[core]);
            worker.poll(Nanos(self.packets.len() as u64 * 100_000), &mut Vec::new(), &mut handed, &mut out);
        }
        let mut counts = Counts::default();
        workers.iter().for_each(|worker| counts.merge(worker.counts()));
        assert_eq!(counts.done(), self.packets.len() as u64);
        assert_eq!(counts.dropped_for(Reason::Undecided), 0);
        let mut tags: Vec<u64> = out.done.iter().map(Packet::tag).collect();
        tags.sort_unstable();
        assert!(tags.into_iter().eq(0..self.packets.len() as u64), "each once");
        for packet in &out.done {
            let before = &self.packets[packet.tag() as usize];
            assert_eq!(before.bytes().len(), packet.bytes().len());
            assert_eq!(before.headers(), packet.headers());
        }
    }
}

#[test]
fn every_capture_through_every_function() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/packets");
    let Ok(files) = std::fs::read_dir(&folder) else {
        // Past the test harness, which keeps back what the macros print.
        let _ = writeln!(std::io::stderr(), "skipped: no {}", folder.display());
        return;
    };
    let paths: Vec<PathBuf> = files.map(|file| file.expect("it can be listed").path()).collect();
    for path in paths {
        let packets = packets(&path);
        assert!(!packets.is_empty(), "{}", path.display());
        for &name in FunctionName::ALL {
            with_function(name, &FunctionOptions::default(), Replay { packets: &packets })
                .expect("sane defaults");
        }
    }
}
