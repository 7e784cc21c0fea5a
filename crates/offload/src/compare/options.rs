//! The parameters of `offload compare`.

use trueplane_study::Error;
use trueplane_trace::Reading;
use trueplane_units::{
    Choices, Gap, List, Nanos, PERCENT, PerSecond, Positive, Share, Warmup, Within, distinct, parameters,
};

use crate::dyso::Dyso;
use crate::policy::SystemName;
use crate::policy::dyso::Shape;
use crate::timing::Timing;
use crate::value::History;
use crate::workload::name::WorkloadName;

/// The largest table; keys that are drawn are no more either.
const MOST_ENTRIES: u64 = 1 << 28;
/// Control packets in a slot: one takes some 100 ns.
const MOST_PER_SLOT: u64 = 1 << 10;
/// Control packets under way, about 150 B each.
const MOST_IN_FLIGHT: u64 = 10_000_000;
/// No sketch counts any further.
pub(super) const LARGEST_THRESHOLD: u64 = u16::MAX as u64;
/// Entries a second that are replaced, unless others are given.
const USUAL_UPDATES: [u64; 3] = [20_000, 80_000, 1_250_000];
/// Control packets a second, unless others are given.
const USUAL_CONTROL: [u64; 2] = [1_000_000, 5_000_000];
/// Entries of a batch, unless there are few.
const USUAL_BATCH: u64 = 256;
const SECOND: u128 = 1_000_000_000;

/// Why there is no exact optimum.
pub(super) const NO_LP: &str =
    "--exact: built without HiGHS; rebuild with: cargo build --release --features lp";

const BATCHES: &str = "Updates in batches (recency, frequency, netcache, tea, optimal)";
const BOUND: &str = "The search for a bound (optimal)";

parameters! {
    /// Parameters of `offload compare`.
    #[derive(Clone, Debug)]
    pub struct Options {
        /// Generator of lookups (zipf:…), or a trace in a format that --format lists. The trace is plain or compressed with gzip, zstd or xz. A
        /// dash (-) is standard input.
        ///
        /// zipf:0.99,keys=1M,hot-in=1000/1s,seconds=3 draws keys by Zipf's law. Every second, the 1000 least popular keys become the most
        /// popular.
        ///
        /// zipf:0.99,keys=1M,shift=1000/1s,lookups=10M does the reverse. Every second, the 1000 most popular keys become the least popular.
        pub workload: WorkloadName => { value: "WORKLOAD", positional: true, required: true },
        /// Policies to compare.
        ///
        /// The policies belady and optimal hold the workload in memory, 8 B or more for each lookup. Without them, memory does not grow with the
        /// workload.
        pub policies: Choices<SystemName> => { value: "LIST", default: "online,belady" },
        /// Number of entries of the table, a multiple of every --chain. K and M are powers of ten, Ki and Mi powers of two.
        pub entries: Within<u64, 1, MOST_ENTRIES> => { value: "N", default: "64Ki" },
        /// Lookups per second. The times of a trace are ignored.
        pub rate: Positive<PerSecond> => { value: "RATE", default: "80Mpps" },
        /// Lookups at the start that are not counted, such as 10M, 1s or 10%. Give a number of lookups, a time or a share of all lookups.
        pub warmup: Warmup => { value: "WARMUP", default: "0" },
        /// Number of keys that move at every change. It replaces the number in hot-in or shift of the workload. A list makes a sweep.
        pub hot_in: Option<List<u64>> => { value: "LIST" },
        /// Seed of the random number generator.
        pub seed: u64 => { value: "SEED", default: "1" },
    }
    including {
        /// Tables whose entries are replaced in batches.
        pub batches: Batches,
        /// Parameters of DySO.
        pub dyso: Dyso,
        /// The bound of the offline optimum.
        pub search: Search,
        /// Options for reading the trace.
        pub reading: Reading,
    }
}

parameters! {
    /// Parameters of tables whose entries are replaced in batches.
    #[derive(Clone, Debug)]
    pub struct Batches {
        /// Entries that are replaced per second. A list makes a sweep.
        pub update_rate: Option<List<Positive<PerSecond>>> =>
            { value: "LIST", default_words: "20K,80K,1.25M, or fewer at a low --rate", heading: BATCHES },
        /// Number of entries in a batch.
        pub batch: Option<Positive<u64>> =>
            { value: "N", default_words: "256, or a quarter of a table below 1024", heading: BATCHES },
        /// Time after which the policy frequency halves its counters.
        pub ageing: Positive<Nanos> => { value: "TIME", default: "1s", heading: BATCHES },
        /// Lookups of a key within an interval that make it worth an entry (netcache, tea).
        pub threshold: Within<u32, 1, LARGEST_THRESHOLD> => { value: "N", default: "128", heading: BATCHES },
        /// Time after which the statistics are cleared (netcache, tea).
        pub interval: Positive<Nanos> => { value: "TIME", default: "1s", heading: BATCHES },
        /// Time that a report takes from the switch to the controller (netcache).
        pub report_delay: Nanos => { value: "TIME", default: "0ns", heading: BATCHES },
        /// Number of counters that are read for each batch (netcache, tea).
        pub sample: Positive<u64> => { value: "N", default: "4Ki", heading: BATCHES },
        /// Share of the table that is used (netcache, tea), such as 90% or 0.9. The rest stays free, so that insertions do not fail.
        pub load: Share<PERCENT, { 100 * PERCENT }, PERCENT> =>
            { value: "LOAD", default: "90%", heading: BATCHES },
        /// Also find the best --ageing (frequency) and --threshold (netcache, tea). They are found for every rate.
        pub best_config: bool => { heading: BATCHES },
    }
}

parameters! {
    /// Parameters of the bound of the offline optimum.
    #[derive(Clone, Debug)]
    pub struct Search {
        /// Number of steps after which the search stops.
        pub iterations: Positive<u64> => { value: "N", default: "400", heading: BOUND },
        /// Distance between the two bounds at which the search stops. It is in percent of the lower bound.
        pub gap: Gap => { value: "PERCENT", default: "0.5%", heading: BOUND },
        /// Find the exact optimum with the linear programme, for small workloads. HiGHS solves it for up to 100,000 keys in batches. This needs
        /// a build with --features lp.
        pub exact: bool => { heading: BOUND, conflicts: "iterations gap" },
    }
}

fn refuse<T>(problem: String) -> Result<T, Error> {
    Err(Error::Parameters(problem))
}

impl Options {
    /// One slot is one lookup.
    pub(super) fn timing(&self) -> Timing {
        Timing { rate: self.rate.0 }
    }

    /// The number of lookups at the start that are not counted, of `lookups` in all.
    pub(super) fn warmup(&self, lookups: u64) -> u64 {
        self.warmup.of(lookups, |time| self.timing().slots(time))
    }

    /// Entries a second that are replaced, each rate once.
    pub(super) fn update_rates(&self) -> Vec<PerSecond> {
        match &self.batches.update_rate {
            Some(given) => distinct(given.iter().map(|rate| rate.get())),
            None => usual(&USUAL_UPDATES, self.most_updates()),
        }
    }

    /// Entries of a batch.
    pub(super) fn batch(&self) -> u64 {
        self.batches.batch.map_or_else(|| (*self.entries / 4).clamp(1, USUAL_BATCH), Within::get)
    }

    /// The most entries a second that can be replaced: a batch takes two slots or more, so that its middle is neither its start nor its end.
    fn most_updates(&self) -> u64 {
        u64::try_from(u128::from(self.rate.0) * u128::from(self.batch()) / 2).unwrap_or(u64::MAX)
    }

    /// Control packets a second, each rate once.
    pub(super) fn control_rates(&self) -> Vec<PerSecond> {
        match &self.dyso.control_rate {
            Some(given) => distinct(given.iter().map(|rate| rate.get())),
            None => usual(&USUAL_CONTROL, self.most_control()),
        }
    }

    /// The most control packets a second that can be simulated.
    fn most_control(&self) -> u64 {
        self.rate.0.saturating_mul(MOST_PER_SLOT)
    }

    /// Lengths of DySO's rows, each once.
    pub(super) fn chains(&self) -> Vec<u64> {
        distinct(self.dyso.chain.iter().map(|chain| chain.get()))
    }

    /// Levels of change that were asked for, each once.
    pub(super) fn levels(&self) -> Vec<u64> {
        distinct(self.hot_in.iter().flat_map(|levels| levels.iter().copied()))
    }

    /// Whether a system is compared.
    pub(super) fn has(&self, system: SystemName) -> bool {
        self.policies.0.contains(&system)
    }

    /// Whether any system is compared of which this is true.
    pub(super) fn has_any(&self, is_one: impl Fn(SystemName) -> bool) -> bool {
        self.policies.0.iter().any(|&system| is_one(system))
    }

    /// Refuses parameters that do not fit each other.
    pub(super) fn check(&self) -> Result<(), Error> {
        if self.has_any(|system| system.properties().is_batched()) {
            self.check_batches()?;
        }
        if self.has_any(|system| system.properties().has_reports()) {
            self.check_reports()?;
        }
        if self.search.exact && !self.has(SystemName::Optimal) {
            return refuse("--exact: expected optimal among --policies".to_owned());
        }
        if self.search.exact && !cfg!(feature = "lp") {
            return refuse(NO_LP.to_owned());
        }
        if self.has(SystemName::Dyso) { self.check_dyso() } else { Ok(()) }
    }

    fn check_batches(&self) -> Result<(), Error> {
        let (batch, entries) = (self.batch(), *self.entries);
        if batch > entries {
            return refuse(format!(
                "--batch {batch}: expected 1 to {entries} entries, as many as the table has"
            ));
        }
        let most = self.most_updates();
        if most == 0 {
            return refuse(format!(
                "a rate of {} and batches of {batch}: expected their product to be at least 2, so that a batch takes two packets \
                 or more at one update a second",
                self.rate.0
            ));
        }
        match self.update_rates().into_iter().find(|rate| rate.0 > most) {
            Some(rate) => refuse(format!(
                "--update-rate {}: expected 1 to {most} entries a second, so that a batch of {batch} takes two packets or \
                 more",
                rate.0
            )),
            None => Ok(()),
        }
    }

    fn check_reports(&self) -> Result<(), Error> {
        let percent = self.batches.load.percent();
        let used = u128::from(*self.entries) * u128::from(percent) / 100;
        let batch = self.batch();
        if used < u128::from(batch) {
            return refuse(format!(
                "--batch {batch}: expected up to {used} entries, {percent}% of the table's {}",
                *self.entries
            ));
        }
        Ok(())
    }

    fn check_dyso(&self) -> Result<(), Error> {
        self.check_control()?;
        self.dyso.faults.check(self.dyso.rtt, "--rtt").map_err(Error::Parameters)?;
        let entries = *self.entries;
        if entries < 2 {
            return refuse(format!("--entries {entries}: expected at least 2 for dyso"));
        }
        let whole = |chain: &u64| good_chains(entries, 2).contains(chain);
        if let Some(chain) = self.chains().iter().find(|chain| !whole(chain)) {
            return refuse(format!(
                "dyso: {entries} entries make no table of two or more rows of {chain}; {} would do",
                named(&good_chains(entries, 2))
            ));
        }
        // No fewer rows than the history buffer has, so that those of both nest.
        let Some(History { rows: history, slots }) = self.dyso.history else { return Ok(()) };
        let history = u64::from(history);
        let Some(chain) = self.chains().into_iter().find(|&chain| entries / chain < history) else {
            return Ok(());
        };
        let (rows, good) = (entries / chain, good_chains(entries, history));
        let or = if good.is_empty() { String::new() } else { format!(", or rows of {}", named(&good)) };
        refuse(format!(
            "--history {history}x{slots}: expected 1 to {rows} rows, as many as a table of {entries} entries has rows of {chain}; \
             --history {rows}x{slots}{or} would do"
        ))
    }

    /// Refuses more control packets than can be simulated.
    fn check_control(&self) -> Result<(), Error> {
        let Some(PerSecond(fastest)) = self.control_rates().into_iter().max() else { return Ok(()) };
        let most = self.most_control();
        if fastest > most {
            return refuse(format!(
                "--control-rate {fastest}: expected at most {most} packets a second, {MOST_PER_SLOT} for each data packet"
            ));
        }
        let faults = &self.dyso.faults;
        // Each of the two ways has its jitter, and may double what the other one has doubled.
        let way = Nanos(self.dyso.rtt.0.saturating_add(faults.jitter.0.saturating_mul(2)));
        let doubled = u128::from(1_000_000 + faults.duplicate.millionths());
        let in_flight = u128::from(fastest) * u128::from(way.0) / SECOND;
        let in_flight = in_flight.saturating_mul(doubled).saturating_mul(doubled) / 1_000_000_000_000;
        if in_flight > u128::from(MOST_IN_FLIGHT) {
            return refuse(format!(
                "--control-rate {fastest}: expected at most {MOST_IN_FLIGHT} control packets under way at once, got {in_flight}, as each \
                 takes {way}, --rtt and twice --jitter, and --duplicate adds copies"
            ));
        }
        Ok(())
    }
}

/// Those of the usual rates that are at most `most`, or `most` if there is none.
fn usual(rates: &[u64], most: u64) -> Vec<PerSecond> {
    let mut usual: Vec<PerSecond> =
        rates.iter().filter(|rate| **rate <= most).map(|rate| PerSecond(*rate)).collect();
    if usual.is_empty() {
        usual.push(PerSecond(most.max(1)));
    }
    usual
}

/// Lengths of rows that make so many entries a table of so many rows or more.
fn good_chains(entries: u64, rows: u64) -> Vec<u64> {
    let makes_rows = |chain: &u64| entries.is_multiple_of(*chain) && entries / chain >= rows;
    (1..=u64::from(Shape::LONGEST_CHAIN)).filter(makes_rows).collect()
}

/// Lists numbers like `1, 2, 3`.
fn named(numbers: &[u64]) -> String {
    numbers.iter().map(u64::to_string).collect::<Vec<_>>().join(", ")
}
