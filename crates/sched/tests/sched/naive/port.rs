//! The naive port: all that waits is in a list, which is looked through in full, and time is counted in fractions of a nanosecond in
//! which everything is whole.

use std::ops::RangeInclusive;

use trueplane_sched::tally::Counts;
use trueplane_sched::{Packet, Scheduler};
use trueplane_units::{Nanos, Rank};

/// What happens at a port, in this order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Event {
    Arrives(Packet),
    Drops(Packet),
    /// A packet, when it begins to be sent, and the smallest rank that still waits.
    Departs(Packet, Nanos, Option<u64>),
    /// Who gives ranks hears that a packet of this one departs.
    Heard(Rank),
}

/// Runs `packets` through `scheduler`. A tick is 1 / `rate` of a nanosecond: packets come and leave at whole ones.
pub(crate) fn naive(rate: u64, packets: &[Packet], scheduler: &mut dyn Scheduler) -> Vec<Event> {
    let ticks = |time: Nanos| u128::from(time.0) * u128::from(rate);
    let (mut events, mut waiting, mut coming) = (Vec::new(), Vec::<Packet>::new(), packets.iter().peekable());
    let (mut now, mut free) = (0, 0);
    loop {
        assert_eq!(scheduler.len(), waiting.len());
        // As soon as the line is free and something waits; what comes at that instant is there.
        let chooses = (!waiting.is_empty()).then(|| free.max(now));
        if let Some(packet) = coming.next_if(|next| chooses.is_none_or(|at| ticks(next.arrival) <= at)) {
            now = ticks(packet.arrival);
            events.push(Event::Arrives(*packet));
            waiting.push(*packet);
            if let Some(dropped) = scheduler.enqueue(*packet) {
                take(&mut waiting, dropped);
                events.push(Event::Drops(dropped));
            }
            continue;
        }
        let chosen = scheduler.dequeue();
        assert_eq!(chosen.is_none(), waiting.is_empty(), "it sends if and only if something waits");
        let (Some(packet), Some(start)) = (chosen, chooses) else { return events };
        take(&mut waiting, packet);
        let smallest = waiting.iter().map(|other| other.rank.0).min();
        events.push(Event::Departs(packet, Nanos((start / u128::from(rate)) as u64), smallest));
        events.push(Event::Heard(packet.rank));
        now = start;
        free = start + u128::from(packet.bytes) * 8 * 1_000_000_000;
    }
}

/// Takes a packet, which must be there, from the list.
#[track_caller]
fn take(waiting: &mut Vec<Packet>, packet: Packet) {
    let place = waiting.iter().position(|other| *other == packet).expect("it waits");
    waiting.remove(place);
}

/// What happened to the packets of some ranks, from all events.
pub(crate) fn counted(events: &[Event], ranks: &RangeInclusive<u64>) -> Counts {
    let mut counts = Counts::default();
    for event in events {
        match event {
            Event::Arrives(packet) if ranks.contains(&packet.rank.0) => counts.arrivals += 1,
            Event::Drops(packet) if ranks.contains(&packet.rank.0) => counts.drops += 1,
            Event::Departs(packet, start, smallest) if ranks.contains(&packet.rank.0) => {
                counts.departures += 1;
                counts.delay_ns += u128::from(start.0 - packet.arrival.0);
                let over = i128::from(packet.rank.0) - i128::from(smallest.unwrap_or(u64::MAX));
                counts.inversions += u64::from(over > 0);
                counts.unpifoness += over.max(0) as u128;
            }
            _ => (),
        }
    }
    counts
}
