//! What to compare.

use trueplane_units::Nanos;

use crate::policy::SystemName;

/// A comparison: every system at every rate that it has.
#[derive(Clone, Debug)]
pub struct Options {
    /// Which systems, each once.
    pub systems: Vec<SystemName>,
    /// Entries of the table.
    pub entries: u64,
    /// Lookups a second.
    pub rate: u64,
    /// Entries a second that a batched controller replaces: a row of the grid for each.
    pub update_rates: Vec<u64>,
    /// Entries of a batch.
    pub batch: u64,
    /// Control packets a second: a row of the grid for each.
    pub control_rates: Vec<u64>,
    /// Entries in a row of DySO's table: a row of the grid for each.
    pub chains: Vec<u64>,
    /// Slots from the start whose lookups are not counted.
    pub warmup: u64,
    /// How often `frequency` halves its counters.
    pub ageing: Nanos,
    /// What NetCache and TEA are like.
    pub reports: Reports,
    /// What DySO is like.
    pub dyso: Dyso,
    /// Whether the best ageing period (`frequency`) and threshold (`netcache`, `tea`) are looked for beside the one given.
    pub best_config: bool,
    /// How long to look for the bound of `optimal`.
    pub bound: BoundLimits,
    /// Whether `optimal` is found exactly, by its linear programme, instead; with the feature `lp`, for small workloads.
    pub exact: bool,
    /// Where random draws begin.
    pub seed: u64,
}

impl Default for Options {
    /// The table and the rates of the paper's evaluation (§II-B1, §IV), every system that is not offline, and Bélády.
    fn default() -> Self {
        let second = Nanos(1_000_000_000);
        Self {
            systems: (SystemName::ALL.iter().copied())
                .filter(|&system| system != SystemName::Optimal)
                .collect(),
            entries: 1 << 16,
            rate: 80_000_000,
            update_rates: vec![20_000, 80_000, 1_250_000],
            batch: 256,
            control_rates: vec![1_000_000, 5_000_000],
            chains: vec![4],
            warmup: 0,
            ageing: second,
            reports: Reports {
                threshold: 128,
                interval: second,
                delay: Nanos(0),
                sample: 4096,
                load_percent: 90,
            },
            dyso: Dyso {
                history_rows: 256,
                history_slots: 8,
                round_trip: Nanos(10_000),
                jitter: Nanos(0),
                loss_ppm: 0,
                timeout: None,
                ageing: Nanos(second.0 / 10),
                tuning: Some(second),
            },
            best_config: false,
            bound: BoundLimits { iterations: 400, gap: 0.005 },
            exact: false,
            seed: 1,
        }
    }
}

/// NetCache, and TEA as far as it has the same.
#[derive(Clone, Copy, Debug)]
pub struct Reports {
    /// Lookups of a key within an interval that make it worth an entry.
    pub threshold: u32,
    /// After how long the statistics are cleared.
    pub interval: Nanos,
    /// How long a report takes to the controller; NetCache.
    pub delay: Nanos,
    /// Counters that are read for each batch.
    pub sample: u64,
    /// The share of the table's entries that is used, in percent, 1 to 100.
    pub load_percent: u32,
}

/// DySO.
#[derive(Clone, Copy, Debug)]
pub struct Dyso {
    /// Rows of the history buffer.
    pub history_rows: u32,
    /// Keys that a row of it holds.
    pub history_slots: u32,
    /// From the controller to the switch and back.
    pub round_trip: Nanos,
    /// Up to so much more, drawn anew on each of the two ways.
    pub jitter: Nanos,
    /// The probability that a control packet is lost on one of the two ways, in millionths.
    pub loss_ppm: u32,
    /// After how long an update is sent again; `None`: three times the round trip and the jitter.
    pub timeout: Option<Nanos>,
    /// The ageing period that it begins with.
    pub ageing: Nanos,
    /// How often the ageing period is tuned; `None`: never.
    pub tuning: Option<Nanos>,
}

impl Dyso {
    /// After how long an update that was not heard of is sent again.
    pub fn resend_after(&self) -> Nanos {
        let usual = Nanos(self.round_trip.0.saturating_add(self.jitter.0).saturating_mul(3));
        self.timeout.unwrap_or(usual)
    }
}

/// When the search for a bound ends.
#[derive(Clone, Copy, Debug)]
pub struct BoundLimits {
    /// Steps at most.
    pub iterations: u64,
    /// Once lower and upper bound are this close, as a share of the lower.
    pub gap: f64,
}
