//! What is compared: systems by name, with what is known of each without running it.

use trueplane_sched::policy::{Order, SchedulerName};
use trueplane_units::choices;

use crate::simulator::Packing;
use crate::transport::preset;

/// Packets of the simulated senders: 1,500 bytes on the wire.
pub(crate) const PACKING: Packing = Packing { segment: preset::PUBLISHED_SEGMENT, header: 120 };

choices! {
    /// The rank of a packet at a port.
    pub enum RankName {
        /// Bytes of the flow that are left: small flows finish first.
        PFabric = "pfabric",
        /// Start-time fair queueing: all flows at a port get equal shares.
        Stfq = "stfq",
        /// Least slack time first: the time that a packet can still wait until the deadline of its flow.
        Lstf = "lstf",
        /// FIFO+: in the order of arrival, as if packets had waited as long as the average at the ports before.
        FifoPlus = "fifo+",
        /// Earliest deadline first: the deadline of the flow.
        Edf = "edf",
    }
}

choices! {
    /// The mechanisms of senders and ports.
    pub enum TransportName {
        /// Senders as in the RFCs: NewReno, the timer of RFC 6298, DCTCP of RFC 8257.
        Standard = "standard",
        /// Senders and ports as in the simulator that the authors of SP-PIFO published. They depart from the RFCs in many details, and packets that
        /// find a line idle pass its scheduler by.
        Simplified = "simplified",
    }
}

impl RankName {
    /// What the rank is for, in words.
    pub fn purpose(self) -> &'static str {
        match self {
            RankName::PFabric => "small flows first",
            RankName::Stfq => "fair shares",
            RankName::Lstf => "least slack first",
            RankName::FifoPlus => "longest waits first",
            RankName::Edf => "earliest deadlines first",
        }
    }

    /// Whether packets carry headers for it.
    pub(super) fn needs_headers(self) -> bool {
        matches!(self, RankName::Lstf | RankName::FifoPlus | RankName::Edf)
    }
}

/// The senders of a system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Senders {
    /// TCP senders.
    Tcp,
    /// DCTCP, which slows down where packets are marked.
    Dctcp,
    /// pFabric's: they start with a large window and leave the rest to the ports.
    PFabric,
}

/// Properties of a system that are known without running it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Properties {
    /// Scheduler at the ports; none: FIFOs of bytes.
    pub scheduler: Option<SchedulerName>,
    /// Senders beside FIFOs of bytes.
    pub senders: Senders,
}

impl Properties {
    const fn with(scheduler: SchedulerName) -> Self {
        Self { scheduler: Some(scheduler), senders: Senders::PFabric }
    }
}

choices! {
    /// A system by name: ports, and senders that go with them.
    pub enum SystemName: Properties {
        /// TCP with FIFO ports that drop what does not fit.
        Tcp = "tcp" { scheduler: None, senders: Senders::Tcp },
        /// DCTCP with FIFO ports that mark packets while more than a threshold waits.
        Dctcp = "dctcp" { scheduler: None, senders: Senders::Dctcp },
        /// SP-PIFO: queue bounds that change with every packet that is queued.
        SpPifo = "sp-pifo" { ..Properties::with(SchedulerName::SpPifo) },
        /// PIFO: the exact order of ranks.
        Pifo = "pifo" { ..Properties::with(SchedulerName::Pifo) },
    }
    not in all {
        /// AFQ: a calendar of rounds; it shares fairly between flows and ignores ranks.
        Afq = "afq" { ..Properties::with(SchedulerName::Afq) },
        /// AIFO: one queue, with an admission test by rank before it.
        Aifo = "aifo" { ..Properties::with(SchedulerName::Aifo) },
        /// PACKS: the admission test of AIFO and the queues of SP-PIFO.
        Packs = "packs" { ..Properties::with(SchedulerName::Packs) },
        /// SP-PIFO whose bounds also change with packets that are dropped.
        SpPifoArrivals = "sp-pifo-arrivals" { ..Properties::with(SchedulerName::SpPifoArrivals) },
    }
}

impl SystemName {
    /// The senders that go with the ports, where schedulers have ranks of this name.
    pub fn senders(self, rank: RankName) -> Senders {
        match (self.properties(), rank) {
            (properties, RankName::PFabric) => properties.senders,
            (Properties { scheduler: Some(_), .. }, _) => Senders::Dctcp,
            (properties, _) => properties.senders,
        }
    }

    /// Whether its ports need an exact order, which no switch has.
    pub fn needs_exact_order(self) -> bool {
        self.properties().scheduler.is_some_and(|scheduler| scheduler.properties().order == Order::Exact)
    }
}
