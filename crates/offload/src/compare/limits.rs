//! What is refused because a workload and the options do not fit each other.

use trueplane_study::Error;
use trueplane_units::Bytes;

use super::grid::{Config, configs};
use super::options::Options;
use crate::ideal::{MOST_FORESEEN, too_long};
use crate::policy::SystemName;
use crate::workload::Workload;

/// All tables together.
const MOST_BYTES: Bytes = Bytes(16 << 30);

/// Bytes that a system's table and its knowledge of it take, about, with so many entries used or set aside.
fn bytes(config: &Config, options: &Options, keys: u64) -> u128 {
    let chain = u128::from(config.chain.unwrap_or(1).max(1));
    let (entries, used) = (u128::from(*options.entries), u128::from(keys.min(*options.entries)));
    match config.system {
        // Registers, their image, and four keys with their counters for each; versions and states of rows.
        SystemName::Dyso => entries * 56 + entries / chain * 36,
        // Places, and what is known of those that are used.
        SystemName::NetCache | SystemName::Tea => entries * 16 + used * 40,
        // These grow with what is in them.
        SystemName::Recency | SystemName::Frequency => used * 80,
        SystemName::IdealLru | SystemName::IdealLfu | SystemName::Belady => used * 100,
        // Has no table, but the workload.
        SystemName::Optimal => 0,
    }
}

/// Whether all tables together fit into the memory of a usual machine, as far as that is known beforehand: of a trace
/// it is not known how many keys it has, and only what is set aside at the start counts.
fn check_memory(workload: &Workload, options: &Options) -> Result<(), Error> {
    let lookups = workload.len_hint(options.timing()).unwrap_or(0);
    let keys = workload.zipf().map_or(0, |zipf| zipf.keys.min(lookups));
    let all: Vec<_> =
        configs(options).iter().map(|config| (bytes(config, options, keys), config.system)).collect();
    let total: u128 = all.iter().map(|(bytes, _)| bytes).sum();
    let Some(largest) = all.iter().max_by_key(|(bytes, _)| *bytes).filter(|_| total > MOST_BYTES.0.into())
    else {
        return Ok(());
    };
    let shown = |bytes: u128| Bytes(u64::try_from(bytes).unwrap_or(u64::MAX));
    Err(Error::Parameters(format!(
        "{} entries: expected tables of at most {MOST_BYTES} together, got {} for {} systems at their rates, the \
         largest {} for {}; fewer entries, systems, rates or chains would do",
        *options.entries,
        // What is just beyond rounds to the limit.
        if shown(total).to_string() == MOST_BYTES.to_string() {
            format!("{:#}", shown(total))
        } else {
            format!("about {}", shown(total))
        },
        all.len(),
        shown(largest.0),
        largest.1
    )))
}

/// Whether the workload fits the options, as far as that is known before it is read.
///
/// # Errors
/// If it does not.
pub(super) fn check_workload(workload: &Workload, options: &Options) -> Result<(), Error> {
    check_memory(workload, options)?;
    let Some(lookups) = workload.len_hint(options.timing()) else { return Ok(()) };
    check_length(workload, lookups, options)
}

/// Whether a workload of so many lookups fits the options.
///
/// # Errors
/// If it does not.
pub(super) fn check_length(workload: &Workload, lookups: u64, options: &Options) -> Result<(), Error> {
    if lookups > MOST_FORESEEN && options.has_any(|system| system.properties().offline) {
        return Err(too_long(lookups));
    }
    let (timing, warmup) = (options.timing(), options.warmup(lookups));
    if warmup >= lookups {
        return Err(Error::Parameters(format!(
            "{}: a warm-up of {} lookups ({}) leaves none of {lookups} ({}) to count",
            workload.name(),
            warmup,
            timing.nanos(warmup),
            timing.nanos(lookups)
        )));
    }
    Ok(())
}
