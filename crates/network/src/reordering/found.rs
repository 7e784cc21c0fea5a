//! The rows of `spray reordering`.

use trueplane_spray::dispatch::DispatchName;

use super::senders::RecoveryName;

/// Extent from which on a late packet makes senders believe that it is lost: as many duplicate acknowledgements as they wait for.
const FAR: u64 = 3;

/// Mean and extremes over runs.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Spread {
    /// The mean of all runs.
    pub mean: f64,
    /// The smallest of all runs.
    pub min: f64,
    /// The largest of all runs.
    pub max: f64,
}

impl Spread {
    /// Mean, minimum and maximum of one value per run.
    pub(super) fn of(values: impl Iterator<Item = f64> + Clone) -> Self {
        let count = values.clone().count().max(1) as f64;
        Self {
            mean: values.clone().sum::<f64>() / count,
            min: values.clone().fold(f64::INFINITY, f64::min),
            max: values.fold(f64::NEG_INFINITY, f64::max),
        }
    }
}

/// Segments with data and what became of them, in whole runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Segments that were sent.
    pub sent: u64,
    /// Segments among them that had been sent before.
    pub sent_again: u64,
    /// Segments that arrived.
    pub arrived: u64,
    /// Segments that brought nothing new: sent again for nothing.
    pub spurious: u64,
    /// Segments that arrived after one that was sent later.
    pub reordered: u64,
    /// Segments among them with an extent of three or more.
    pub far: u64,
    /// Sum of the extents of those that were reordered.
    pub extents: u64,
    /// Greatest extent.
    pub most_extent: u64,
    /// Acknowledgements that were sent.
    pub acks: u64,
    /// Retransmission time-outs.
    pub timeouts: u64,
}

impl Counts {
    /// A segment arrives, of which all bytes may be known already.
    pub(super) fn arrive(&mut self, is_known: bool, extent: u64) {
        self.arrived += 1;
        self.spurious += u64::from(is_known);
        self.reordered += u64::from(extent > 0);
        self.far += u64::from(extent >= FAR);
        self.extents += extent;
        self.most_extent = self.most_extent.max(extent);
    }

    /// Adds what was counted elsewhere.
    pub(super) fn add(&mut self, other: &Counts) {
        self.sent += other.sent;
        self.sent_again += other.sent_again;
        self.arrived += other.arrived;
        self.spurious += other.spurious;
        self.reordered += other.reordered;
        self.far += other.far;
        self.extents += other.extents;
        self.most_extent = self.most_extent.max(other.most_extent);
        self.acks += other.acks;
        self.timeouts += other.timeouts;
    }

    /// Share of the segments that arrived which came after one that was sent later.
    pub fn reordered_share(&self) -> f64 {
        share(self.reordered, self.arrived)
    }

    /// Share of the segments that arrived which had an extent of three or more.
    pub fn far_share(&self) -> f64 {
        share(self.far, self.arrived)
    }

    /// Mean extent of what was reordered; none if nothing was.
    pub fn mean_extent(&self) -> Option<f64> {
        (self.reordered > 0).then(|| self.extents as f64 / self.reordered as f64)
    }

    /// Acknowledgements for each segment that arrived: a half in order, and more out of order, for then each segment is acknowledged at once.
    pub fn acks_per_segment(&self) -> f64 {
        share(self.acks, self.arrived)
    }

    /// Share of the segments sent which had been sent before.
    pub fn sent_again_share(&self) -> f64 {
        share(self.sent_again, self.sent)
    }

    /// Share of the segments that arrived which brought nothing new.
    pub fn spurious_share(&self) -> f64 {
        share(self.spurious, self.arrived)
    }
}

fn share(part: u64, all: u64) -> f64 {
    part as f64 / all.max(1) as f64
}

/// Packets of hosts in whole runs: sent = delivered + dropped + on their way at the end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Packets {
    /// Packets that hosts sent.
    pub sent: u64,
    /// Packets that reached their host.
    pub delivered: u64,
    /// Packets that full rings of cores dropped.
    pub dropped: u64,
    /// Packets that were on their way at the end.
    pub on_their_way: u64,
}

/// A comparison: the same flows through the same machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Case {
    /// Cycles for each packet.
    pub cycles: u64,
    /// Number of flows.
    pub flows: u64,
}

/// A policy with senders, in one case.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Row {
    /// Case that was simulated.
    pub case: Case,
    /// Policy that chose cores.
    pub policy: DispatchName,
    /// Loss recovery of the senders.
    pub recovery: RecoveryName,
    /// Goodput of all flows together by the classical model, in bits per second.
    pub classical: f64,
    /// Goodput of all flows together, in bits per second.
    pub goodput: Spread,
    /// Jain's index over the goodputs of flows.
    pub jain: Spread,
    /// Cores that had work for more than one packet in a thousand.
    pub cores_used: Spread,
    /// Share of all packets that came to the core which had most.
    pub busiest: Spread,
    /// Segments of all runs together.
    pub counts: Counts,
    /// Packets of all runs together.
    pub packets: Packets,
}

impl Row {
    /// Refined over classical goodput.
    pub fn ratio(&self) -> f64 {
        self.goodput.mean / self.classical
    }
}

/// Everything that is found.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Found {
    /// Rows by cycles, flows, policy and recovery, each in the order of the options.
    pub rows: Vec<Row>,
}

impl Found {
    /// The row of a policy and a recovery in a case.
    pub fn row(&self, case: Case, policy: DispatchName, recovery: RecoveryName) -> Option<&Row> {
        let is = |row: &&Row| row.case == case && row.policy == policy && row.recovery == recovery;
        self.rows.iter().find(is)
    }

    /// The cases, each once.
    pub fn cases(&self) -> Vec<Case> {
        let mut cases: Vec<Case> = self.rows.iter().map(|row| row.case).collect();
        cases.dedup();
        cases
    }
}

impl Case {
    /// The case as sentences name it.
    pub(super) fn in_words(&self) -> String {
        format!("{} and {} cycles", flows_in_words(self.flows), self.cycles)
    }
}

/// A number of flows as sentences name it.
pub(super) fn flows_in_words(flows: u64) -> String {
    if flows == 1 { "1 flow".to_owned() } else { format!("{flows} flows") }
}
