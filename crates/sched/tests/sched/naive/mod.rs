//! The output port against a naive one, for every scheduler.

use std::cell::RefCell;

use proptest::prelude::*;
use trueplane_sched::policy::SchedulerName;
use trueplane_sched::policy::{Adaptation, PushDown};
use trueplane_sched::port::{Port, Ranks, Tally, Traffic};
use trueplane_sched::rank::PacketMeta;
use trueplane_sched::scheduler::{Examined, Settings, Visitor, with_scheduler};
use trueplane_sched::tally::{ByRank, Counts, MOST_BINS};
use trueplane_sched::waiting::{Map, Tree};
use trueplane_sched::{Packet, bounds};
use trueplane_study::Error;
use trueplane_units::{BitsPerSec, Nanos, Rank};

mod captures;
mod port;
mod schedulers;

use port::{Event, counted, naive};
use schedulers::written_out;

struct Listed<'a>(std::slice::Iter<'a, Packet>);

impl Traffic for Listed<'_> {
    fn next(&mut self) -> Option<(Nanos, PacketMeta)> {
        let &Packet { flow, bytes, arrival, .. } = self.0.next()?;
        Some((arrival, PacketMeta { flow, bytes, ..PacketMeta::default() }))
    }
}

/// The ranks of the packets, in their order.
struct Told<'a>(std::slice::Iter<'a, Packet>, &'a RefCell<Vec<Event>>);

impl Ranks for Told<'_> {
    fn rank(&mut self, packet: &PacketMeta, now: Nanos) -> Rank {
        let next = self.0.next().expect("as many as come");
        assert_eq!((next.flow, next.bytes, next.arrival), (packet.flow, packet.bytes, now));
        next.rank
    }

    fn departs(&mut self, rank: Rank) {
        self.1.borrow_mut().push(Event::Heard(rank));
    }
}

struct Log<'e> {
    events: &'e RefCell<Vec<Event>>,
    by_rank: ByRank,
    /// How often each rank comes, if that is known, and what eq. 5 expects under the bounds after each arrival.
    counts: Option<Vec<u64>>,
    expected: Vec<u128>,
}

impl<S: Examined> Tally<S> for Log<'_> {
    fn arrives(&mut self, packet: &Packet) {
        self.events.borrow_mut().push(Event::Arrives(*packet));
        Tally::<S>::arrives(&mut self.by_rank, packet);
    }

    fn drops(&mut self, packet: &Packet) {
        self.events.borrow_mut().push(Event::Drops(*packet));
        Tally::<S>::drops(&mut self.by_rank, packet);
    }

    fn departs(&mut self, packet: &Packet, start: Nanos, smallest: Option<u64>) {
        self.events.borrow_mut().push(Event::Departs(*packet, start, smallest));
        Tally::<S>::departs(&mut self.by_rank, packet, start, smallest);
    }

    fn looks(&mut self, scheduler: &S) {
        if let (Some(counts), Some(now)) = (&self.counts, scheduler.bounds()) {
            self.expected.push(bounds::unpifoness(counts, now));
        }
        Tally::<S>::looks(&mut self.by_rank, scheduler);
    }
}

/// Packets, and the port that they come to.
#[derive(Clone, Debug)]
struct World {
    rate: u64,
    queues: usize,
    depth: usize,
    /// All ranks are below this, if there is such a bound.
    span: Option<u64>,
    packets: Vec<Packet>,
}

impl World {
    /// What happens with a scheduler on the port, and what is counted of it.
    fn port<S: Examined>(&self, scheduler: S, by_rank: ByRank) -> (Vec<Event>, ByRank) {
        let events = RefCell::default();
        let (traffic, ranks) = (Listed(self.packets.iter()), Told(self.packets.iter(), &events));
        let counts = self.span.map(|span| vec![1; span as usize]);
        let (rate, log) =
            (BitsPerSec(self.rate), Log { events: &events, by_rank, counts, expected: Vec::new() });
        let ended = match self.span {
            Some(span) => Port::new(rate, scheduler, Tree::new(span), log).run(traffic, ranks, &()),
            None => Port::new(rate, scheduler, Map::default(), log).run(traffic, ranks, &()),
        };
        let Log { by_rank, expected, .. } = ended.expect("nobody interrupts").0;
        check_expected(&by_rank, self.span, &expected);
        (events.into_inner(), by_rank)
    }
}

/// Holds what eq. 5 expects on average to its mean over all arrivals.
fn check_expected(by_rank: &ByRank, span: Option<u64>, expected: &[u128]) {
    let mean = expected.iter().sum::<u128>() as f64 / expected.len() as f64;
    let mean = span.map(|span| mean / (span as f64).powi(2)).filter(|_| !expected.is_empty());
    let found = by_rank.expected_unpifoness();
    assert_eq!(found.is_some(), mean.is_some());
    let (found, mean) = (found.unwrap_or_default(), mean.unwrap_or_default());
    assert!((found - mean).abs() <= 1e-12 * mean, "{found} {mean}");
}

/// Holds every bin, and all of them together, to what is counted of the events.
fn check_counts(by_rank: &ByRank, span: Option<u64>, events: &[Event]) {
    let total = by_rank.total();
    assert_eq!(total, counted(events, &(0..=u64::MAX)));
    assert_eq!(total.arrivals, total.departures + total.drops);
    let bins = by_rank.bins();
    assert!(bins.len() as u64 <= MOST_BINS);
    let (mut next, mut arrivals) = (0, 0);
    for bin in &bins {
        assert_eq!(bin.rank, next, "every rank is in one bin");
        let last = bin.rank + (bin.ranks - 1);
        let expected = counted(events, &(bin.rank..=last));
        // The delay is a mean, not a sum.
        let counts = Counts {
            arrivals: bin.arrivals,
            departures: bin.departures,
            drops: bin.drops,
            inversions: bin.inversions,
            unpifoness: bin.unpifoness,
            delay_ns: expected.delay_ns,
        };
        assert_eq!(counts, expected, "{bin:?}");
        let mean = expected.delay_ns as f64 / expected.departures.max(1) as f64;
        assert_eq!(bin.mean_delay_ns.is_some(), expected.departures > 0, "{bin:?}");
        assert!((bin.mean_delay_ns.unwrap_or_default() - mean).abs() <= 1e-9 * mean, "{bin:?}: {mean}");
        (next, arrivals) = (last.wrapping_add(1), arrivals + bin.arrivals);
    }
    assert!(span.is_none_or(|span| next == span), "{next}");
    assert!(bins.is_empty() || arrivals == total.arrivals);
}

/// Holds a scheduler on the port to what happened on the naive one.
struct Held<'a> {
    world: &'a World,
    expected: &'a [Event],
    by_rank: ByRank,
}

impl Visitor for Held<'_> {
    type Output = ();

    fn visit<S: Examined>(self, scheduler: S) -> Result<(), Error> {
        let Self { world, expected, by_rank } = self;
        let (events, by_rank) = world.port(scheduler, by_rank);
        assert_eq!(events, expected);
        check_counts(&by_rank, world.span, expected);
        Ok(())
    }
}

/// What happens with a scheduler on the naive port.
struct Naively<'a>(&'a World);

impl Visitor for Naively<'_> {
    type Output = Vec<Event>;

    fn visit<S: Examined>(self, mut scheduler: S) -> Result<Vec<Event>, Error> {
        Ok(naive(self.0.rate, &self.0.packets, &mut scheduler))
    }
}

/// Every scheduler, in all ways to push down and to adapt.
fn kinds() -> Vec<(SchedulerName, PushDown, Adaptation)> {
    let usual = |&scheduler| (scheduler, PushDown::Cost, Adaptation::OneStep);
    let pushing = |&push_down| {
        [SchedulerName::SpPifo, SchedulerName::SpPifoArrivals]
            .map(|scheduler| (scheduler, push_down, Adaptation::OneStep))
    };
    let mut kinds: Vec<_> = SchedulerName::ALL.iter().map(usual).collect();
    kinds.extend(PushDown::ALL.iter().flat_map(pushing));
    kinds.push((SchedulerName::Gradient, PushDown::Cost, Adaptation::Converge));
    kinds
}

/// Holds the port to the naive one with every scheduler, and with those that are written out in their place there.
fn check(world: &World) {
    let counts = world.span.map(|span| vec![1; span as usize]);
    let counts = counts.as_deref();
    for (scheduler, push_down, adaptation) in kinds() {
        if counts.is_none() && scheduler.properties().needs_distribution {
            continue;
        }
        let &World { queues, depth, .. } = world;
        let (window, bytes_per_round, optimum) = (7, 1500, None);
        let settings =
            Settings { queues, depth, push_down, window, adaptation, bytes_per_round, counts, optimum };
        let itself = with_scheduler(scheduler, &settings, Naively(world)).expect("it can be had");
        let naive = written_out(scheduler, &settings)
            .map(|mut scheduler| naive(world.rate, &world.packets, &mut *scheduler));
        for expected in naive.iter().chain([&itself]) {
            let tallies = [Some(ByRank::new(counts)), counts.is_none().then(ByRank::folding)];
            for by_rank in tallies.into_iter().flatten() {
                let held = Held { world, expected, by_rank };
                with_scheduler(scheduler, &settings, held).expect("it can be had");
            }
        }
    }
}

/// A line, and the largest packets that it carries: some for which most transmissions end at whole nanoseconds, and many packets come
/// at those; real ones; slow, odd and absurdly fast ones.
fn lines() -> impl Strategy<Value = (u64, u32)> {
    prop_oneof![
        3 => (Just(8_000_000_000), 1..5u32),
        2 => (Just(24_000_000_000), 1..9u32),
        2 => (Just(10_000_000_000), Just(1500)),
        2 => (1..1_000u64, 1..=65_535u32),
        2 => (any::<u32>().prop_map(|rate| u64::from(rate) | 1), 1..=65_535u32),
        1 => (1..=u64::MAX, 1..=65_535u32),
        1 => (1 << 32..=u64::MAX, Just(u32::MAX)),
    ]
}

/// What one packet is made from: a gap in units of a small packet, a rank, a size and a flow.
type Draw = (u64, u64, u32, u64);

fn draws() -> impl Strategy<Value = Vec<Draw>> {
    let gap = prop_oneof![6 => Just(0), 6 => 1..4u64, 3 => 1..20u64, 1 => 1..400u64];
    prop::collection::vec((gap, any::<u64>(), any::<u32>(), 0..5u64), 1..150)
}

prop_compose! {
    fn worlds()(
        (rate, most_bytes) in lines(),
        queues in 1..6usize,
        depth in 1..6usize,
        // Few ranks, so many that neighbours share a bin, and no end of them.
        span in prop_oneof![3 => (1..8u64).prop_map(Some), 2 => (8..1_000u64).prop_map(Some), 1 => Just(None)],
        draws in draws(),
    ) -> World {
        // A quarter of the time that the largest packet takes, so that the load is about one; whole, as arrivals are.
        let unit = (u128::from(most_bytes) * 2_000_000_000 / u128::from(rate)).max(1) as u64;
        let mut arrival = Nanos(0);
        let packets = draws.into_iter().map(|(gap, rank, bytes, flow)| {
            // One gap in four is a few nanoseconds longer, so that not everything happens at multiples of the unit.
            let more = if gap > 0 && bytes.is_multiple_of(4) { rank >> 60 } else { 0 };
            // Few of them after a silence of six and a half days.
            let silence = if gap > 0 && bytes.is_multiple_of(97) { 1 << 49 } else { 0 };
            arrival = arrival.after(Nanos(gap * unit + more + silence));
            let rank = Rank(span.map_or(rank >> (bytes % 64), |span| rank % span));
            Packet { rank, flow, bytes: 1 + bytes % most_bytes, handle: 0, arrival }
        });
        World { rate, queues, depth, span, packets: packets.collect() }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn every_scheduler_does_on_the_port_what_it_does_on_a_naive_one(world in worlds()) {
        check(&world);
    }
}

/// By hand: a packet that comes as the line gets free, one that finds no room, a line that idles, and inversions.
#[test]
fn the_naive_port_does_what_was_worked_out_by_hand() {
    let packet = |arrival, rank, bytes| Packet {
        rank: Rank(rank),
        flow: rank,
        bytes,
        handle: 0,
        arrival: Nanos(arrival),
    };
    // A byte takes a nanosecond.
    let packets = [packet(3, 5, 2), packet(3, 7, 4), packet(5, 2, 1), packet(5, 9, 1), packet(100, 1, 1)];
    let world = World { rate: 8_000_000_000, queues: 1, depth: 2, span: Some(10), packets: packets.into() };
    let [five, seven, two, nine, one] = packets;
    let expected = [
        Event::Arrives(five),
        Event::Arrives(seven),
        Event::Departs(five, Nanos(3), Some(7)),
        Event::Heard(Rank(5)),
        Event::Arrives(two),
        Event::Arrives(nine),
        Event::Drops(nine),
        Event::Departs(seven, Nanos(5), Some(2)),
        Event::Heard(Rank(7)),
        Event::Departs(two, Nanos(9), None),
        Event::Heard(Rank(2)),
        Event::Arrives(one),
        Event::Departs(one, Nanos(100), None),
        Event::Heard(Rank(1)),
    ];
    let mut fifo = schedulers::NaiveFifo::new(2);
    assert_eq!(naive(world.rate, &world.packets, &mut fifo), expected);
    check(&world);
}
