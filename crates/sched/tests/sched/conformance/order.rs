//! In which order packets leave: the PIFO, what equals it, and how far others are from it.

use proptest::prelude::*;
use rand_xoshiro::Xoshiro256StarStar;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use trueplane_sched::bounds::uniform;
use trueplane_sched::policy::{Aifo, Fifo, Fixed, Pifo, PushDown, SpPifo};
use trueplane_sched::{Banked, Packet, Scheduler};

use super::{packet, steps};

/// A PIFO as its definition has it.
struct Sorted {
    capacity: usize,
    packets: Vec<Packet>,
}

impl Sorted {
    /// As [`Scheduler::enqueue`].
    fn enqueue(&mut self, packet: Packet) -> Option<Packet> {
        self.packets.push(packet);
        if self.packets.len() <= self.capacity {
            return None;
        }
        let worst = self.packets.iter().map(|packet| packet.rank).max()?;
        // Nobody goes for a newcomer that is not better.
        let gone = if packet.rank == worst {
            self.packets.len() - 1
        } else {
            self.packets.iter().position(|packet| packet.rank == worst)?
        };
        Some(self.packets.remove(gone))
    }

    fn dequeue(&mut self) -> Option<Packet> {
        let first = self.packets.iter().map(|packet| packet.rank).min()?;
        let place = self.packets.iter().position(|packet| packet.rank == first)?;
        Some(self.packets.remove(place))
    }
}

proptest! {
    #[test]
    fn the_pifo_is_a_sorted_list(capacity in 1..30usize, steps in steps()) {
        let mut pifo = Pifo::new(capacity).unwrap();
        let mut sorted = Sorted { capacity, packets: Vec::new() };
        for step in steps {
            match step {
                Some(packet) => prop_assert_eq!(pifo.enqueue(packet), sorted.enqueue(packet)),
                None => {
                    let packet = pifo.dequeue();
                    prop_assert_eq!(packet, sorted.dequeue());
                    let inverted = |packet: Packet| sorted.packets.iter().any(|other| other.rank < packet.rank);
                    prop_assert!(!packet.is_some_and(inverted));
                }
            }
        }
    }

    /// As long as nothing is dropped.
    #[test]
    fn a_queue_for_every_rank_is_a_pifo(
        ranks in 1..20usize,
        steps in prop::collection::vec(prop::option::weighted(0.6, any::<prop::sample::Index>()), 1..200),
    ) {
        let bounds = (0..ranks as u64).collect();
        let mut strict = Banked::new(ranks, steps.len(), Fixed::new(bounds).unwrap()).unwrap();
        let mut pifo = Pifo::new(steps.len()).unwrap();
        for (id, step) in steps.iter().enumerate() {
            match step {
                Some(rank) => {
                    let packet = packet(id, rank.index(ranks) as u64, 0, 64);
                    prop_assert_eq!((strict.enqueue(packet), pifo.enqueue(packet)), (None, None));
                }
                None => prop_assert_eq!(strict.dequeue(), pifo.dequeue()),
            }
        }
    }

    /// Whatever the push down, ranks that never fall never cause one, and the last queue takes them all.
    #[test]
    fn rising_ranks_make_sp_pifo_a_fifo(which in 0..4usize, queues in 1..9usize, steps in steps()) {
        let mut sp_pifo = Banked::new(queues, 400, SpPifo::new(queues, PushDown::ALL[which]).unwrap()).unwrap();
        let mut fifo = Banked::new(1, 400, Fifo).unwrap();
        for (id, step) in steps.iter().enumerate() {
            match step {
                Some(_) => {
                    let packet = packet(id, id as u64 / 3, 0, 64);
                    prop_assert_eq!((sp_pifo.enqueue(packet), fifo.enqueue(packet)), (None, None));
                }
                None => prop_assert_eq!(sp_pifo.dequeue(), fifo.dequeue()),
            }
        }
    }

    #[test]
    fn within_its_headroom_aifo_is_a_fifo(steps in steps()) {
        let mut aifo = Banked::new(1, 2 * steps.len(), Aifo::new(10, 500).unwrap()).unwrap();
        let mut fifo = Banked::new(1, 2 * steps.len(), Fifo).unwrap();
        for step in steps {
            match step {
                Some(packet) => prop_assert_eq!((aifo.enqueue(packet), fifo.enqueue(packet)), (None, None)),
                None => prop_assert_eq!(aifo.dequeue(), fifo.dequeue()),
            }
        }
    }
}

/// Packets that are served while a smaller rank waits, of so many, when the buffer is kept half full.
fn inversions(mut scheduler: impl Scheduler, packets: usize) -> usize {
    let mut random = Xoshiro256StarStar::seed_from_u64(1);
    let mut waiting = vec![0u32; 100];
    let mut inversions = 0;
    for id in 0..packets {
        let rank = random.next_u64() % 100;
        waiting[rank as usize] += 1;
        if let Some(dropped) = scheduler.enqueue(packet(id, rank, 0, 64)) {
            waiting[dropped.rank.0 as usize] -= 1;
        }
        if scheduler.len() > 40 {
            let served = scheduler.dequeue().expect("40 wait").rank.0 as usize;
            waiting[served] -= 1;
            inversions += usize::from(waiting[..served].iter().any(|&packets| packets > 0));
        }
    }
    inversions
}

/// The paper's order of schedulers (figure 5), for uniform ranks and a buffer that never runs empty.
#[test]
fn sp_pifo_lies_between_a_fifo_and_a_pifo() {
    const PACKETS: usize = 100_000;
    let fifo = inversions(Banked::new(1, 80, Fifo).expect("a shape"), PACKETS);
    let sp_pifo = |queues: usize, push_down| {
        let mapper = SpPifo::new(queues, push_down).expect("a shape");
        inversions(Banked::new(queues, 80, mapper).expect("a shape"), PACKETS)
    };
    let fixed = Banked::new(8, 80, Fixed::new(uniform(100, 8)).expect("in order")).expect("a shape");
    assert_eq!(inversions(Pifo::new(80).expect("a shape"), PACKETS), 0);
    assert!(inversions(fixed, PACKETS) < fifo);
    for (name, push_down) in PushDown::ALL.iter().map(|&push_down| (push_down.name(), push_down)) {
        let (eight, many) = (sp_pifo(8, push_down), sp_pifo(32, push_down));
        assert!(
            0 < many && many < eight && eight < fifo,
            "{name}: {many} with 32, {eight} with 8, {fifo} with 1"
        );
    }
}
