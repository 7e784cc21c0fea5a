//! Deficit round robin, walked from flow to flow.

use std::collections::{HashMap, VecDeque};
use std::marker::PhantomData;

use proptest::prelude::*;
use trueplane_surge::policy::per_flow::DeficitRoundRobin;
use trueplane_surge::policy::{Drr, DrrExact};
use trueplane_surge::{Packet, Policy};
use trueplane_units::Nanos;

const QUANTUM: u64 = 1_000;

/// As Shreedhar and Varghese have it: a list of flows, the first of which is visited.
#[derive(Default)]
struct Walk {
    flows: VecDeque<Flow>,
}

struct Flow {
    name: u64,
    works: VecDeque<(u64, u64)>,
    deficit: u64,
    /// How often it was visited.
    visits: u64,
    visited: bool,
}

impl Walk {
    fn arrive(&mut self, name: u64, work: u64, number: u64) {
        match self.flows.iter_mut().find(|flow| flow.name == name) {
            Some(flow) => flow.works.push_back((work, number)),
            None => self.flows.push_back(Flow {
                name,
                works: VecDeque::from([(work, number)]),
                deficit: 0,
                visits: 0,
                visited: false,
            }),
        }
    }

    /// The number of what is served, and how often its flow was visited by then.
    fn serve(&mut self) -> Option<(u64, u64)> {
        loop {
            let flow = self.flows.front_mut()?;
            if !flow.visited {
                flow.visited = true;
                flow.visits += 1;
                flow.deficit += QUANTUM;
            }
            if let Some(&(work, number)) = flow.works.front().filter(|(work, _)| *work <= flow.deficit) {
                flow.works.pop_front();
                flow.deficit -= work;
                let visits = flow.visits;
                match flow.works.front() {
                    None => drop(self.flows.pop_front()),
                    Some((next, _)) if *next > flow.deficit => self.leave(),
                    Some(_) => {}
                }
                return Some((number, visits));
            }
            self.leave();
        }
    }

    /// Ends a visit.
    fn leave(&mut self) {
        if let Some(flow) = self.flows.front_mut() {
            flow.visited = false;
            self.flows.rotate_left(1);
        }
    }
}

fn packet(flow: u64, work: u64) -> Packet {
    Packet { flow, bits: 1, work: Nanos(work) }
}

proptest! {
    #[test]
    fn jobs_within_a_quantum_are_served_as_by_walking(
        steps in prop::collection::vec((0..6u64, 1..=QUANTUM, any::<bool>()), 1..300),
    ) {
        let rule = DeficitRoundRobin::new(Nanos(QUANTUM)).unwrap();
        let mut policies: [Box<dyn Policy<u64>>; 2] = [
            Box::new(Drr::with(300, rule, PhantomData).unwrap()),
            Box::new(DrrExact::with(300, rule, Default::default()).unwrap()),
        ];
        let mut walk = Walk::default();
        for (number, &(flow, work, arrives)) in steps.iter().enumerate() {
            let number = number as u64;
            if arrives {
                walk.arrive(flow, work, number);
                for policy in &mut policies {
                    prop_assert_eq!(policy.arrive(packet(flow, work), number, Nanos(0)), Ok(()));
                }
            } else {
                let expected = walk.serve().map(|(number, _)| number);
                for policy in &mut policies {
                    prop_assert_eq!(policy.serve(Nanos(0)).map(|(_, number)| number), expected);
                }
            }
        }
    }

    #[test]
    fn longer_jobs_are_served_in_the_round_in_which_they_would_be(
        packets in prop::collection::vec((0..6u64, 1..20 * QUANTUM), 1..100),
    ) {
        let mut drr = Drr::with(100, DeficitRoundRobin::new(Nanos(QUANTUM)).unwrap(), PhantomData).unwrap();
        let mut walk = Walk::default();
        for (number, &(flow, work)) in packets.iter().enumerate() {
            walk.arrive(flow, work, number as u64);
            prop_assert_eq!(drr.arrive(packet(flow, work), number as u64, Nanos(0)), Ok(()));
        }
        let mut rounds = HashMap::new();
        let mut last = 0;
        while let Some((_, number)) = drr.serve(Nanos(0)) {
            prop_assert!(drr.rule().round() >= last);
            last = drr.rule().round();
            rounds.insert(number, last);
        }
        prop_assert_eq!(rounds.len(), packets.len());
        while let Some((number, visits)) = walk.serve() {
            prop_assert_eq!(rounds[&number], visits);
        }
    }
}

/// A flow of one packet is one turn, even if that takes no work.
#[test]
fn no_work_waits_for_its_turn() {
    let mut drr: Drr<u64> = Drr::new(10).unwrap();
    for (number, work) in [5, 0, 5].into_iter().enumerate() {
        drr.arrive(packet(number as u64, work), number as u64, Nanos(0)).unwrap();
    }
    let order: Vec<u64> = std::iter::from_fn(|| Some(drr.serve(Nanos(0))?.1)).collect();
    assert_eq!(order, [0, 1, 2]);
    assert!(DeficitRoundRobin::new(Nanos(0)).is_err());
}
