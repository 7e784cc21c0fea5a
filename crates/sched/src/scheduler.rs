//! The schedulers by name, made from the shape of a port and what is known of its ranks.

use std::fmt;

use trueplane_study::Error;

use crate::bounds::Moved;
use crate::policy::{
    Adaptation, Adapts, Afq, AfqRule, Aifo, AifoRule, Fifo, Fixed, Gradient, Packs, PacksRule, Pifo,
    PushDown, SchedulerName, SpPifo,
};
use crate::{Banked, Mapper, Scheduler, bounds};

/// AIFO and PACKS let in a little more than the quantile says: so many thousandths of the buffer are for bursts, the k = 0.1 of
/// both papers.
pub const HEADROOM_PER_MILLE: u32 = 100;

/// Settings from which a scheduler is made.
///
/// Those with one queue, FIFO and AIFO, and PIFO have the memory of all queues together.
#[derive(Clone, Copy, Debug)]
pub struct Settings<'a> {
    /// Number of queues.
    pub queues: usize,
    /// Packets that each of them holds.
    pub depth: usize,
    /// Amount by which SP-PIFO lowers its bounds.
    pub push_down: PushDown,
    /// Packets after which the gradient adapts, and over which AIFO and PACKS take their quantiles.
    pub window: usize,
    /// Rule by which the gradient moves its bounds after a window.
    pub adaptation: Adaptation,
    /// Bytes of a flow that AFQ sends in a round.
    pub bytes_per_round: u32,
    /// Occurrences of each rank, if they are known; then there are no others.
    pub counts: Option<&'a [u64]>,
    /// Best bounds for those occurrences, if somebody has computed them already.
    pub optimum: Option<&'a [u64]>,
}

/// A scheduler whose division of the ranks among its queues can be looked at, if it has one.
pub trait Examined: Scheduler + 'static {
    /// Part of the division that the last arrival may have changed.
    #[inline]
    fn moved(&self) -> Moved {
        Moved::Nothing
    }

    /// The smallest rank of every queue, as things stand.
    fn bounds(&self) -> Option<&[u64]> {
        None
    }
}

/// All ranks are in the one queue.
const ONE_QUEUE: &[u64] = &[0];

/// Mapper whose bounds can be looked at, if it has any.
trait Bounded: Mapper {
    #[inline]
    fn moved(&self) -> Moved {
        Moved::Nothing
    }

    fn bounds(&self) -> Option<&[u64]>;
}

impl Bounded for Fifo {
    fn bounds(&self) -> Option<&[u64]> {
        Some(ONE_QUEUE)
    }
}

impl Bounded for SpPifo {
    #[inline]
    fn moved(&self) -> Moved {
        SpPifo::moved(self)
    }

    fn bounds(&self) -> Option<&[u64]> {
        Some(SpPifo::bounds(self))
    }
}

impl Bounded for Gradient {
    #[inline]
    fn moved(&self) -> Moved {
        Gradient::moved(self)
    }

    fn bounds(&self) -> Option<&[u64]> {
        Some(Gradient::bounds(self))
    }
}

impl Bounded for Fixed {
    fn bounds(&self) -> Option<&[u64]> {
        Some(Fixed::bounds(self))
    }
}

/// Has no bounds: AIFO decides by rank what to let in, so that the queue does not have the distribution that comes.
impl Bounded for Aifo {
    fn bounds(&self) -> Option<&[u64]> {
        None
    }
}

/// Has no bounds, like AIFO: its queues have quantiles.
impl Bounded for Packs {
    fn bounds(&self) -> Option<&[u64]> {
        None
    }
}

impl<M: Bounded + 'static> Examined for Banked<M> {
    #[inline]
    fn moved(&self) -> Moved {
        self.mapper().moved()
    }

    fn bounds(&self) -> Option<&[u64]> {
        self.mapper().bounds()
    }
}

impl Examined for Afq {}
impl Examined for Pifo {}

/// Does something with a scheduler whose kind is only known at run time.
pub trait Visitor {
    /// Result of the visit.
    type Output;

    /// Visits the scheduler.
    ///
    /// # Errors
    /// What the visitor has to say.
    fn visit<S: Examined>(self, scheduler: S) -> Result<Self::Output, Error>;
}

/// Lets `visitor` work with the scheduler of this name.
///
/// # Errors
/// If there cannot be such a scheduler, or it needs a distribution that is not known; those of the visitor.
pub fn with_scheduler<V: Visitor>(
    name: SchedulerName,
    settings: &Settings<'_>,
    visitor: V,
) -> Result<V::Output, Error> {
    let &Settings { queues, depth, push_down, window, adaptation, bytes_per_round, counts, optimum } =
        settings;
    let memory = queues.saturating_mul(depth);
    let known =
        || counts.ok_or_else(|| Error::Parameters(format!("{} needs ranks of a known span", name.name())));
    match name {
        SchedulerName::Fifo => visitor.visit(Banked::new(1, memory, Fifo).map_err(parameters)?),
        SchedulerName::SpPifo | SchedulerName::SpPifoArrivals => {
            let adapts =
                if name == SchedulerName::SpPifoArrivals { Adapts::OnArrival } else { Adapts::OnAccepted };
            let mapper = SpPifo::new(queues, push_down).map_err(parameters)?.adapting(adapts);
            visitor.visit(Banked::new(queues, depth, mapper).map_err(parameters)?)
        }
        SchedulerName::Gradient | SchedulerName::GradientAuthors => {
            let span = known()?.len() as u64;
            let adaptation =
                if name == SchedulerName::GradientAuthors { Adaptation::Authors } else { adaptation };
            let mapper = Gradient::new(queues, span, window, adaptation).map_err(parameters)?;
            visitor.visit(Banked::new(queues, depth, mapper).map_err(parameters)?)
        }
        SchedulerName::Fixed => {
            let mapper = Fixed::new(bounds::uniform(known()?.len() as u64, queues)).map_err(parameters)?;
            visitor.visit(Banked::new(queues, depth, mapper).map_err(parameters)?)
        }
        SchedulerName::Optimal => {
            let best = match optimum {
                Some(optimum) => optimum.to_vec(),
                None => bounds::optimal(known()?, queues),
            };
            let mapper = Fixed::new(best).map_err(parameters)?;
            visitor.visit(Banked::new(queues, depth, mapper).map_err(parameters)?)
        }
        SchedulerName::Aifo | SchedulerName::AifoAtMost => {
            let rule = if name == SchedulerName::AifoAtMost { AifoRule::AtMost } else { AifoRule::Simulator };
            let mapper = Aifo::new(window, HEADROOM_PER_MILLE).map_err(parameters)?.by(rule);
            visitor.visit(Banked::new(1, memory, mapper).map_err(parameters)?)
        }
        SchedulerName::Packs | SchedulerName::PacksPast => {
            let rule = if name == SchedulerName::PacksPast { PacksRule::Past } else { PacksRule::Simulator };
            let mapper = Packs::new(window, HEADROOM_PER_MILLE).map_err(parameters)?.by(rule);
            visitor.visit(Banked::new(queues, depth, mapper).map_err(parameters)?)
        }
        SchedulerName::Afq | SchedulerName::AfqStrict => {
            let rule = if name == SchedulerName::AfqStrict { AfqRule::Strict } else { AfqRule::Simulator };
            visitor.visit(Afq::new(queues, depth, bytes_per_round).map_err(parameters)?.by(rule))
        }
        SchedulerName::Pifo => visitor.visit(Pifo::new(memory).map_err(parameters)?),
    }
}

fn parameters(error: impl fmt::Display) -> Error {
    Error::Parameters(error.to_string())
}
