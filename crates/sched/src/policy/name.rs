//! The schedulers by name, with what is known of each without running it.

use trueplane_units::choices;

/// Order in which a scheduler sends packets of different ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// It does not look at ranks.
    None,
    /// Queues in strict priority, each for a range of ranks.
    Queues,
    /// Exact order of ranks.
    Exact,
}

/// Properties of a scheduler that are known without running it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Properties {
    /// Order in which it sends packets of different ranks.
    pub order: Order,
    /// Whether the way to push down matters to it, as it is SP-PIFO or a variant.
    pub pushes_down: bool,
    /// Whether it has to know how often each rank comes.
    pub needs_distribution: bool,
    /// Whether the number of bytes per round matters to it, as it is AFQ or a variant.
    pub has_rounds: bool,
    /// Whether it compares a packet with quantiles of the last ones, as it is AIFO, PACKS or a variant.
    pub has_quantiles: bool,
}

impl Properties {
    const NONE: Self = Self {
        order: Order::None,
        pushes_down: false,
        needs_distribution: false,
        has_rounds: false,
        has_quantiles: false,
    };
    const QUEUES: Self = Self { order: Order::Queues, ..Self::NONE };
    const SP_PIFO: Self = Self { pushes_down: true, ..Self::QUEUES };
    const PLANNED: Self = Self { needs_distribution: true, ..Self::QUEUES };
    const AFQ: Self = Self { has_rounds: true, ..Self::NONE };
    const AIFO: Self = Self { has_quantiles: true, ..Self::NONE };
    const PACKS: Self = Self { has_quantiles: true, ..Self::QUEUES };
}

choices! {
    /// A scheduler by name.
    pub enum SchedulerName: Properties {
        /// One queue for all packets.
        Fifo = "fifo" { ..Properties::NONE },
        /// SP-PIFO: queue bounds that change with every packet that is queued.
        SpPifo = "sp-pifo" { ..Properties::SP_PIFO },
        /// Queue bounds that adapt to the distribution of ranks after each window.
        Gradient = "gradient" { ..Properties::PLANNED },
        /// Queue bounds at equal distances over the span of ranks.
        Fixed = "fixed" { ..Properties::PLANNED },
        /// The best queue bounds for the distribution of ranks.
        Optimal = "optimal" { ..Properties::PLANNED },
        /// AIFO: one queue, with an admission test by rank before it.
        Aifo = "aifo" { ..Properties::AIFO },
        /// PACKS: the admission test of AIFO and the queues of SP-PIFO.
        Packs = "packs" { ..Properties::PACKS },
        /// AFQ: a calendar of rounds; it shares fairly between flows and ignores ranks.
        Afq = "afq" { ..Properties::AFQ },
        /// PIFO: the exact order of ranks.
        Pifo = "pifo" { order: Order::Exact, ..Properties::NONE },
    }
    not in all {
        /// SP-PIFO whose bounds also change with packets that are dropped.
        SpPifoArrivals = "sp-pifo-arrivals" { ..Properties::SP_PIFO },
        /// The gradient as the authors of SP-PIFO ran it: from the smallest ranks, with steps only if they help.
        GradientAuthors = "gradient-authors" { ..Properties::PLANNED },
        /// AIFO that also admits a packet whose quantile equals what fits, as in its paper.
        AifoAtMost = "aifo-at-most" { ..Properties::AIFO },
        /// PACKS that compares a packet with earlier ones only, and also admits a quantile that equals what fits.
        PacksPast = "packs-past" { ..Properties::PACKS },
        /// AFQ that drops packets as many rounds ahead as it has queues, and charges flows for what full queues drop.
        AfqStrict = "afq-strict" { ..Properties::AFQ },
    }
}
