//! What every scheduler must do, and those on FIFOs in addition.

use std::collections::{HashMap, VecDeque};

use proptest::prelude::*;
use trueplane_pqueue::BadShape;
use trueplane_sched::bounds::{optimal, uniform};
use trueplane_sched::policy::{
    Adaptation, Adapts, Afq, AfqRule, Aifo, AifoRule, Fifo, Fixed, Gradient, Packs, PacksRule, Pifo,
    PushDown, SchedulerName, SpPifo,
};
use trueplane_sched::{Banked, Mapper, Packet, Scheduler};

use super::steps;

/// The size of a scheduler.
#[derive(Clone, Copy, Debug)]
struct Shape {
    queues: usize,
    depth: usize,
}

fn shapes() -> impl Strategy<Value = Shape> {
    (1..9usize, 1..12usize).prop_map(|(queues, depth)| Shape { queues, depth })
}

/// Something to be done with every scheduler of the table.
trait Check {
    fn scheduler<S: Scheduler + Clone>(&self, name: &str, shape: Shape, scheduler: S);

    /// A scheduler on FIFOs, which is one like others if a check has no use for them.
    fn banked<M: Mapper + Clone>(&self, name: &str, shape: Shape, scheduler: Banked<M>) {
        self.scheduler(name, shape, scheduler);
    }
}

/// Every scheduler, of one shape.
fn table(shape: Shape, check: &impl Check) -> Result<(), BadShape> {
    SchedulerName::ALL.iter().try_for_each(|&name| rows(name, shape, check))
}

/// The rows of one scheduler.
fn rows(name: SchedulerName, shape: Shape, check: &impl Check) -> Result<(), BadShape> {
    let Shape { queues, depth } = shape;
    let one = Shape { queues: 1, depth: queues * depth };
    let sp_pifo = |adapts| -> Result<(), BadShape> {
        PushDown::ALL.iter().try_for_each(|&push_down| {
            let mapper = SpPifo::new(queues, push_down)?.adapting(adapts);
            check.banked(&format!("{name}, {push_down}"), shape, Banked::new(queues, depth, mapper)?);
            Ok(())
        })
    };
    let fixed = |bounds| -> Result<(), BadShape> {
        check.banked(name.name(), shape, Banked::new(queues, depth, Fixed::new(bounds)?)?);
        Ok(())
    };
    let gradient = |adaptation| -> Result<(), BadShape> {
        let gradient = Gradient::new(queues, 200, 7, adaptation)?;
        check.banked(name.name(), shape, Banked::new(queues, depth, gradient)?);
        Ok(())
    };
    let aifo = |rule| -> Result<(), BadShape> {
        check.banked(name.name(), one, Banked::new(1, one.depth, Aifo::new(10, 100)?.by(rule))?);
        Ok(())
    };
    let packs = |rule| -> Result<(), BadShape> {
        check.banked(name.name(), shape, Banked::new(queues, depth, Packs::new(10, 100)?.by(rule))?);
        Ok(())
    };
    let afq = |rule| -> Result<(), BadShape> {
        check.scheduler(name.name(), shape, Afq::new(queues, depth, 1_500)?.by(rule));
        Ok(())
    };
    match name {
        SchedulerName::Fifo => check.banked(name.name(), one, Banked::new(1, one.depth, Fifo)?),
        SchedulerName::SpPifo => sp_pifo(Adapts::OnAccepted)?,
        SchedulerName::SpPifoArrivals => sp_pifo(Adapts::OnArrival)?,
        SchedulerName::Gradient => {
            [Adaptation::OneStep, Adaptation::Converge].into_iter().try_for_each(gradient)?;
        }
        SchedulerName::GradientAuthors => gradient(Adaptation::Authors)?,
        SchedulerName::Fixed => fixed(uniform(200, queues))?,
        SchedulerName::Optimal => fixed(optimal(&[3, 1, 0, 2, 9], queues))?,
        SchedulerName::Aifo => aifo(AifoRule::Simulator)?,
        SchedulerName::AifoAtMost => aifo(AifoRule::AtMost)?,
        SchedulerName::Packs => packs(PacksRule::Simulator)?,
        SchedulerName::PacksPast => packs(PacksRule::Past)?,
        SchedulerName::Afq => afq(AfqRule::Simulator)?,
        SchedulerName::AfqStrict => afq(AfqRule::Strict)?,
        SchedulerName::Pifo => check.scheduler(name.name(), one, Pifo::new(one.depth)?),
    }
    Ok(())
}

/// Conservation: what came in goes out, is dropped or waits, once.
struct Books<'a>(&'a [Option<Packet>]);

impl Check for Books<'_> {
    fn scheduler<S: Scheduler + Clone>(&self, name: &str, shape: Shape, mut scheduler: S) {
        let mut waiting: HashMap<u64, Packet> = HashMap::new();
        let (mut arrived, mut served, mut dropped) = (0, 0, 0);
        assert_eq!(scheduler.capacity(), shape.queues * shape.depth, "{name}");
        let drain = std::iter::repeat_n(&None, scheduler.capacity() + 1);
        for step in self.0.iter().chain(drain) {
            match step {
                Some(packet) => {
                    arrived += 1;
                    waiting.insert(packet.arrival.0, *packet);
                    if let Some(gone) = scheduler.enqueue(*packet) {
                        dropped += 1;
                        assert_eq!(
                            waiting.remove(&gone.arrival.0),
                            Some(gone),
                            "{name}: dropped what was not there"
                        );
                    }
                }
                None => {
                    let packet = scheduler.dequeue();
                    assert_eq!(packet.is_none(), waiting.is_empty(), "{name}");
                    if let Some(packet) = packet {
                        served += 1;
                        assert_eq!(
                            waiting.remove(&packet.arrival.0),
                            Some(packet),
                            "{name}: served what was not there"
                        );
                    }
                }
            }
            assert_eq!(scheduler.len(), waiting.len(), "{name}");
            assert_eq!(scheduler.is_empty(), waiting.is_empty(), "{name}");
            assert!(scheduler.len() <= scheduler.capacity(), "{name}");
            assert_eq!(arrived, served + dropped + scheduler.len(), "{name}");
        }
        assert!(scheduler.is_empty(), "{name}");
    }
}

/// What is offered and what comes out, step by step.
fn play<S: Scheduler>(scheduler: &mut S, steps: &[Option<Packet>]) -> Vec<Option<Packet>> {
    let play = |step: &Option<Packet>| match step {
        Some(packet) => scheduler.enqueue(*packet),
        None => scheduler.dequeue(),
    };
    steps.iter().map(play).collect()
}

/// The same steps do the same, from the start and from any state.
struct Deterministic<'a>(&'a [Option<Packet>]);

impl Check for Deterministic<'_> {
    fn scheduler<S: Scheduler + Clone>(&self, name: &str, _shape: Shape, mut scheduler: S) {
        let mut twin = scheduler.clone();
        let (first, second) = self.0.split_at(self.0.len() / 2);
        assert_eq!(play(&mut scheduler, first), play(&mut twin, first), "{name}");
        let mut twin = scheduler.clone();
        assert_eq!(play(&mut scheduler, second), play(&mut twin, second), "{name}");
    }
}

/// FIFOs in strict priority: a packet waits behind those of its FIFO, and for those of the FIFOs before it.
struct StrictPriority<'a>(&'a [Option<Packet>]);

impl Check for StrictPriority<'_> {
    fn scheduler<S: Scheduler + Clone>(&self, _name: &str, _shape: Shape, _scheduler: S) {}

    fn banked<M: Mapper + Clone>(&self, name: &str, shape: Shape, mut scheduler: Banked<M>) {
        let mut fifos = vec![VecDeque::new(); shape.queues];
        let lengths = |scheduler: &Banked<M>| -> Vec<usize> {
            (0..shape.queues).map(|queue| scheduler.bank().len_of(queue)).collect()
        };
        for step in self.0 {
            let before = lengths(&scheduler);
            match step {
                Some(packet) => {
                    let dropped = scheduler.enqueue(*packet);
                    assert!(
                        dropped.is_none_or(|dropped| dropped == *packet),
                        "{name}: dropped what was let in"
                    );
                    let grown = lengths(&scheduler);
                    let queue = (0..shape.queues).find(|&queue| grown[queue] > before[queue]);
                    assert_eq!(queue.is_none(), dropped.is_some(), "{name}");
                    if let Some(queue) = queue {
                        fifos[queue].push_back(*packet);
                    }
                }
                None => {
                    let first = fifos.iter_mut().find(|fifo| !fifo.is_empty());
                    assert_eq!(scheduler.dequeue(), first.and_then(VecDeque::pop_front), "{name}");
                }
            }
            assert_eq!(lengths(&scheduler), fifos.iter().map(VecDeque::len).collect::<Vec<_>>(), "{name}");
            assert!(fifos.iter().all(|fifo| fifo.len() <= shape.depth), "{name}");
        }
    }
}

proptest! {
    #[test]
    fn every_packet_is_accounted_for(shape in shapes(), steps in steps()) {
        table(shape, &Books(&steps)).expect("a shape");
    }

    #[test]
    fn the_same_again(shape in shapes(), steps in steps()) {
        table(shape, &Deterministic(&steps)).expect("a shape");
    }

    #[test]
    fn fifos_keep_their_order(shape in shapes(), steps in steps()) {
        table(shape, &StrictPriority(&steps)).expect("a shape");
    }
}

#[test]
fn a_scheduler_can_be_chosen_at_run_time() {
    let mut schedulers: Vec<Box<dyn Scheduler>> =
        vec![Box::new(Pifo::new(3).expect("a shape")), Box::new(Afq::new(3, 1, 64).expect("a shape"))];
    for scheduler in &mut schedulers {
        assert_eq!((scheduler.capacity(), scheduler.dequeue()), (3, None));
    }
}
