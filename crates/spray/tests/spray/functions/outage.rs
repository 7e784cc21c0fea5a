//! Two phases: first the link before the cores is hostile, then it has no faults, and soon nothing tells that it ever had.

use proptest::prelude::*;
use trueplane_link::{Link, Terms};
use trueplane_spray::nf::{FunctionName, FunctionOptions, Visit, with_function};
use trueplane_spray::packet::tcp_flags::{ACK, FIN, SYN};
use trueplane_spray::{Fit, FlowId, Limits, NetworkFunction, Packet, Timeouts};
use trueplane_units::Nanos;

use super::packets::{TCP, packet};
use super::team::{Team, forwarded};

/// Connections that meet the faults, and connections after them.
const DURING: u32 = 60;
const AFTER: u32 = 30;

/// Two ticks of the flow table: the one in which the last packet came, and the one to which a timeout is rounded up.
const TICKS: Nanos = Nanos(200_000_000);

/// What the client sends, in order.
const CLIENT: [u8; 5] = [SYN, ACK, ACK, FIN | ACK, ACK];

/// What the server answers to a packet that got through.
fn answer(flags: u8) -> u8 {
    match flags {
        flags if flags & SYN != 0 => SYN | ACK,
        flags if flags & FIN != 0 => FIN | ACK,
        _ => ACK,
    }
}

/// A packet of a connection, on its way to the cores.
#[derive(Clone)]
struct OnTheWay {
    packet: Packet,
    /// The flags, if it is the client's.
    asks: Option<u8>,
}

/// Connections through a function whose packets come over a link.
struct Outage<'a> {
    name: FunctionName,
    options: &'a FunctionOptions,
    cores: usize,
    terms: Terms,
    seed: u64,
}

/// What can be told of connections after the faults: verdicts, and entries of flow tables.
#[derive(Debug, PartialEq)]
struct Trace {
    verdicts: Vec<bool>,
    entries: Vec<usize>,
}

impl Outage<'_> {
    fn flow(&self, number: u32) -> FlowId {
        self.options.example_flow(self.name, number, TCP)
    }

    fn core<N: NetworkFunction + Clone>(team: &mut Team<N>, packet: &Packet) -> usize {
        match (N::FIT, packet.flow()) {
            (Fit::WholeFlows(_), Some(flow)) => team.hashed(flow),
            _ => team.below(team.workers.len()),
        }
    }

    /// Carries everything that is on the link to the cores, and the server's answers back onto the link.
    fn carry<N: NetworkFunction + Clone>(team: &mut Team<N>, link: &mut Link<OnTheWay>, until: u64) {
        while link.due() <= until {
            let at = link.due();
            let OnTheWay { packet, asks } = link.arrive(at).expect("one is due").packet;
            team.now = Nanos(at);
            let core = Self::core(team, &packet);
            let left = team.pass(core, packet);
            if let (Some(flags), true, Some(flow)) = (asks, forwarded(&left), left.flow()) {
                let back = self::packet(&flow.reversed(), answer(flags), b"answer");
                let _ = link.send(OnTheWay { packet: back, asks: None }, at);
            }
        }
    }

    /// The connections that meet the faults: their packets leave in turns, a microsecond apart.
    fn hostile<N: NetworkFunction + Clone>(&self, team: &mut Team<N>) {
        let mut link = Link::new(self.terms, self.seed);
        for flags in CLIENT {
            for number in 0..DURING {
                let now = team.now.0 + 1_000;
                Self::carry(team, &mut link, now);
                team.now = Nanos(now);
                let packet = packet(&self.flow(number), flags, b"data");
                let _ = link.send(OnTheWay { packet, asks: Some(flags) }, now);
            }
        }
        Self::carry(team, &mut link, u64::MAX - 1);
        assert_eq!(link.on_its_way(), 0);
        let counts = link.counts();
        assert_eq!(team.counts().arrived, counts.sent + counts.duplicated - counts.lost);
    }

    /// New connections without a fault.
    fn quiet<N: NetworkFunction + Clone>(&self, team: &mut Team<N>) -> Trace {
        let mut trace = Trace { verdicts: Vec::new(), entries: vec![team.flows()] };
        for number in DURING..DURING + AFTER {
            for flags in CLIENT {
                team.now = team.now.after(Nanos(1_000));
                let packet = packet(&self.flow(number), flags, b"data");
                let core = Self::core(team, &packet);
                let left = team.pass(core, packet);
                trace.verdicts.push(forwarded(&left));
                let Some(flow) = left.flow() else { continue };
                let back = self::packet(&flow.reversed(), answer(flags), b"answer");
                let core = Self::core(team, &back);
                trace.verdicts.push(forwarded(&team.pass(core, back)));
            }
            trace.entries.push(team.flows());
        }
        trace
    }
}

impl Visit for Outage<'_> {
    type Output = (Trace, Trace);

    /// What can be told of new connections after the faults, and where there never were any.
    fn visit<N: NetworkFunction + Clone + 'static>(self, function: N) -> (Trace, Trace) {
        let fresh = || Team::new(&function, self.cores, Limits::new(4096), self.seed);
        let mut met = fresh();
        self.hostile(&mut met);
        met.wait(Timeouts::default().established.after(TICKS));
        (self.quiet(&mut met), self.quiet(&mut fresh()))
    }
}

fn terms() -> impl Strategy<Value = Terms> {
    let ppm = || prop_oneof![Just(0u32), 0..=900_000u32];
    (0..50_000u64, 0..50_000u64, ppm(), ppm(), ppm()).prop_map(
        |(delay, jitter, loss_ppm, reorder_ppm, duplicate_ppm)| Terms {
            delay,
            jitter,
            loss_ppm,
            reorder_ppm,
            duplicate_ppm,
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// After the longest timeout of the flow table, two hours and four minutes, without a packet of it every flow is over. Then no entry is left of the connections that met faults, and
    /// new ones get the verdicts and the entries that they get where there never was a fault; all of them pass.
    #[test]
    fn faults_leave_nothing_behind(terms in terms(), seed: u64, cores in 1..5usize) {
        let options = FunctionOptions::default();
        for &name in FunctionName::ALL {
            let outage = Outage { name, options: &options, cores, terms, seed };
            let (met, never) = with_function(name, &options, outage).unwrap();
            prop_assert_eq!(met.entries[0], 0, "{}", name);
            prop_assert!(met.verdicts.iter().all(|passes| *passes), "{}: {:?}", name, met.verdicts);
            prop_assert_eq!(&met, &never, "{}", name);
        }
    }
}
