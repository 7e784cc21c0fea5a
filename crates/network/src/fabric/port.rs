//! The queue of each port of a system.

use trueplane_sched::Scheduler;
use trueplane_sched::policy::Adaptation;
use trueplane_sched::rank::{Edf, FifoPlus, Lstf, PFabric, RankPolicy, Stfq};
use trueplane_sched::scheduler::{Examined, Settings, Visitor, with_scheduler};
use trueplane_study::Error;

use super::options::Options;
use super::system::{RankName, Senders, SystemName, TransportName};
use crate::simulator::port::{Facts, Plain};
use crate::simulator::{DropTail, Headers, Marked, MarkingThreshold, PortQueue, Ranked, SkippedWhenIdle};

/// The queue of a port.
pub(super) type Queue = Box<dyn PortQueue>;

/// The queue of each port of a system, in a network whose packets have these headers.
///
/// # Errors
///
/// If there cannot be such a scheduler.
pub(super) fn queue(options: &Options, system: SystemName, headers: &Headers) -> Result<Queue, Error> {
    let (buffer, mark) = options.fifo();
    let marks = (system.senders(options.rank) == Senders::Dctcp).then(|| match options.transport {
        TransportName::Standard => MarkingThreshold::above(mark),
        TransportName::Simplified => MarkingThreshold::behind(mark),
    });
    let Some(scheduler) = system.properties().scheduler else {
        return Ok(Box::new(DropTail::new(buffer).marking(marks.unwrap_or(MarkingThreshold::NEVER))));
    };
    let settings = Settings {
        queues: *options.queues as usize,
        depth: *options.depth as usize,
        push_down: options.push_down,
        window: *options.window as usize,
        adaptation: Adaptation::OneStep,
        bytes_per_round: *options.bytes_per_round,
        counts: None,
        optimum: None,
    };
    let boxing = Boxing { rank: options.rank, transport: options.transport, marks, headers: headers.clone() };
    with_scheduler(scheduler, &settings, boxing)
}

/// Number of flows for which a port with fair shares keeps a virtual time.
const MOST_FLOWS: usize = 1 << 12;

/// Puts a scheduler behind a rank.
struct Boxing {
    rank: RankName,
    transport: TransportName,
    marks: Option<MarkingThreshold>,
    headers: Headers,
}

impl Boxing {
    fn boxed<S, P, F>(&self, scheduler: S, ranks: P, facts: F) -> Queue
    where
        S: Scheduler + 'static,
        P: RankPolicy + 'static,
        F: Facts + 'static,
    {
        let queue = Ranked::with_facts(scheduler, ranks, facts);
        let queue: Queue = match self.transport {
            TransportName::Standard => Box::new(queue),
            TransportName::Simplified => Box::new(SkippedWhenIdle(queue)),
        };
        match self.marks {
            Some(threshold) => Box::new(Marked::new(queue, threshold)),
            None => queue,
        }
    }
}

impl Visitor for Boxing {
    type Output = Queue;

    fn visit<S: Examined>(self, scheduler: S) -> Result<Queue, Error> {
        let headers = self.headers.clone();
        Ok(match self.rank {
            RankName::PFabric => self.boxed(scheduler, PFabric, Plain),
            RankName::Stfq => {
                let ranks = Stfq::new(MOST_FLOWS).map_err(|error| Error::Parameters(error.to_string()))?;
                self.boxed(scheduler, ranks, Plain)
            }
            RankName::Lstf => self.boxed(scheduler, Lstf, headers),
            RankName::FifoPlus => self.boxed(scheduler, FifoPlus, headers),
            RankName::Edf => self.boxed(scheduler, Edf, headers),
        })
    }
}
