//! The schedulers by name, made from the shape of a port and what is known of its ranks.

use std::fmt;

use trueplane_study::Error;

use crate::bounds::Moved;
use crate::policy::{
    Adaptation, Adapts, Afq, AfqRule, Aifo, AifoRule, Fifo, Fixed, Gradient, Packs, PacksRule, Pifo,
    PushDown, SpPifo,
};
use crate::{Banked, Mapper, Scheduler, bounds};

/// AIFO and PACKS let in a little more than the quantile says: so many thousandths of the buffer are for bursts, the k = 0.1 of
/// both papers.
pub const HEADROOM_PER_MILLE: u32 = 100;

/// A scheduler by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SchedulerName {
    /// One queue for all.
    Fifo,
    /// Bounds that follow every packet that is taken in.
    SpPifo,
    /// Bounds that follow the distribution of ranks, window by window.
    Gradient,
    /// Bounds evenly over the span.
    Fixed,
    /// The best bounds for the distribution.
    Optimal,
    /// One queue and a gate before it.
    Aifo,
    /// The gate and the queues in one.
    Packs,
    /// A calendar of rounds, which shares fairly between flows and sees no ranks.
    Afq,
    /// The exact order.
    Pifo,
    /// SP-PIFO whose bounds follow every packet that comes, also what is dropped.
    SpPifoArrivals,
    /// The gradient as the authors of SP-PIFO ran it: from the smallest ranks, and only for a gain.
    GradientAuthors,
    /// AIFO whose quantiles are at most what fits.
    AifoAtMost,
    /// PACKS whose quantiles are of the past, and at most what fits.
    PacksPast,
    /// AFQ that drops what is as far ahead as its calendar is long, and charges flows for what is dropped.
    AfqStrict,
}

impl SchedulerName {
    /// Every scheduler with the name that flags and reports use.
    pub const NAMES: [(&'static str, SchedulerName); 14] = [
        ("fifo", SchedulerName::Fifo),
        ("sp-pifo", SchedulerName::SpPifo),
        ("gradient", SchedulerName::Gradient),
        ("fixed", SchedulerName::Fixed),
        ("optimal", SchedulerName::Optimal),
        ("aifo", SchedulerName::Aifo),
        ("packs", SchedulerName::Packs),
        ("afq", SchedulerName::Afq),
        ("pifo", SchedulerName::Pifo),
        ("sp-pifo-arrivals", SchedulerName::SpPifoArrivals),
        ("gradient-authors", SchedulerName::GradientAuthors),
        ("aifo-at-most", SchedulerName::AifoAtMost),
        ("packs-past", SchedulerName::PacksPast),
        ("afq-strict", SchedulerName::AfqStrict),
    ];

    /// The usual one of each kind, which is what `all` stands for. The others are variants of these.
    pub const ALL: [SchedulerName; 9] = [
        SchedulerName::Fifo,
        SchedulerName::SpPifo,
        SchedulerName::Gradient,
        SchedulerName::Fixed,
        SchedulerName::Optimal,
        SchedulerName::Aifo,
        SchedulerName::Packs,
        SchedulerName::Afq,
        SchedulerName::Pifo,
    ];

    /// The name.
    pub fn name(self) -> &'static str {
        Self::NAMES.iter().find(|(_, scheduler)| *scheduler == self).map_or("", |(name, _)| name)
    }

    /// Whether it is SP-PIFO, to which the way to push down matters.
    pub fn pushes_down(self) -> bool {
        matches!(self, SchedulerName::SpPifo | SchedulerName::SpPifoArrivals)
    }

    /// Whether it needs to know how often which rank comes.
    pub fn needs_distribution(self) -> bool {
        use SchedulerName::{Fixed, Gradient, GradientAuthors, Optimal};
        matches!(self, Gradient | GradientAuthors | Fixed | Optimal)
    }
}

/// What a scheduler is made from.
///
/// Those with one queue, FIFO and AIFO, and PIFO have the memory of all queues together.
#[derive(Clone, Copy, Debug)]
pub struct Settings<'a> {
    /// Number of queues.
    pub queues: usize,
    /// Packets that each of them holds.
    pub depth: usize,
    /// How SP-PIFO pushes down.
    pub push_down: PushDown,
    /// Packets after which the gradient adapts, and over which AIFO and PACKS take their quantiles.
    pub window: usize,
    /// How far the gradient goes after a window.
    pub adaptation: Adaptation,
    /// Bytes of a flow that AFQ sends in a round.
    pub bytes_per_round: u32,
    /// How often each rank comes, if that is known; then there are no others.
    pub counts: Option<&'a [u64]>,
    /// The best bounds for that, if somebody has computed them already.
    pub optimum: Option<&'a [u64]>,
}

/// A scheduler whose division of the ranks among its queues can be looked at, if it has one.
pub trait Examined: Scheduler {
    /// What of the division the last arrival may have changed.
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

/// What a mapper knows of its bounds.
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

/// What AIFO lets in depends on the rank, so that the queue does not have the distribution that comes.
impl Bounded for Aifo {
    fn bounds(&self) -> Option<&[u64]> {
        None
    }
}

/// As AIFO; its queues have quantiles, not bounds.
impl Bounded for Packs {
    fn bounds(&self) -> Option<&[u64]> {
        None
    }
}

impl<M: Bounded> Examined for Banked<M> {
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
    /// What comes of it.
    type Output;

    /// Does it.
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

/// The name of a way to push down, as flags and reports use it.
pub fn push_down_name(push_down: PushDown) -> &'static str {
    PushDown::NAMES.iter().find(|(_, known)| *known == push_down).map_or("", |(name, _)| name)
}
