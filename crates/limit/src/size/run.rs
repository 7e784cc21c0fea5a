//! Counts what every layout and every table takes.

use trueplane_study::Error;
use trueplane_units::Bytes;

use super::found::{Form, Found, Layout, TableSize};
use super::options::Options;
use crate::credit::Credit;
use crate::drain::DrainTable;
use crate::policy::{Gcra, Nimble, PolicyName, SingleRateMeter, TokenBucket, TwoRateMeter};

/// A word of the layouts that are counted in words.
const WORD: u64 = 4;

/// The maximum errors of the paper's figure 12, in millionths.
const ERRORS_PPM: [u32; 4] = [10_000, 60_000, 120_000, 500_000];

/// The maximum errors that are drawn, in millionths.
const DRAWN_PPM: [u32; 10] =
    [2_000, 5_000, 10_000, 20_000, 40_000, 60_000, 120_000, 200_000, 350_000, 500_000];

/// Counts what every layout takes; an error if that is more bytes than can be counted.
pub(super) fn run(options: &Options) -> Result<Found, Error> {
    let tables =
        |errors: &[u32]| errors.iter().map(|&error_ppm| table(error_ppm)).collect::<Result<Vec<_>, _>>();
    Ok(Found {
        layouts: forms(options)
            .map(|(policy, form)| layout(options, policy, form))
            .collect::<Result<_, _>>()?,
        drain_tables: tables(&ERRORS_PPM)?,
        drawn_tables: tables(&DRAWN_PPM)?,
    })
}

/// Nimble as it is deployed, alone and with credit; then the others in words, and then as references.
fn forms(options: &Options) -> impl Iterator<Item = (PolicyName, Form)> {
    let credits = options.cores.distinct().into_iter().map(|cores| Form::Credit(cores.get()));
    let deployed = [Form::Deployed].into_iter().chain(credits).map(|form| (PolicyName::Nimble, form));
    let others = || PolicyName::ALL.iter().copied().filter(|&policy| policy != PolicyName::Nimble);
    deployed
        .chain(others().map(|policy| (policy, Form::Words)))
        .chain(others().map(|policy| (policy, Form::Reference)))
}

fn layout(options: &Options, policy: PolicyName, form: Form) -> Result<Layout, Error> {
    let bytes = match form {
        Form::Deployed | Form::Reference => kept_bytes(policy),
        Form::Credit(cores) => {
            (size_of::<Credit>() as u64).saturating_mul(cores).saturating_add(kept_bytes(policy))
        }
        Form::Words => WORD * policy.properties().words.len() as u64,
    };
    let limiters_bytes = options.limiters.checked_mul(bytes).ok_or_else(|| {
        Error::Parameters(format!("--limiters {} of {bytes} bytes are more than 16EiB", options.limiters))
    })?;
    Ok(Layout {
        policy,
        form,
        bytes,
        limiters_in_memory: options.memory.0 / bytes,
        limiters_bytes: Bytes(limiters_bytes),
    })
}

/// The bytes in which this program keeps a limiter.
fn kept_bytes(policy: PolicyName) -> u64 {
    let bytes = match policy {
        PolicyName::Nimble => size_of::<Nimble>(),
        PolicyName::TokenBucket => size_of::<TokenBucket>(),
        PolicyName::Gcra => size_of::<Gcra>(),
        PolicyName::SrTcm => size_of::<SingleRateMeter>(),
        PolicyName::TrTcm => size_of::<TwoRateMeter>(),
    };
    bytes as u64
}

fn table(error_ppm: u32) -> Result<TableSize, Error> {
    let table = DrainTable::new(error_ppm).map_err(|error| Error::Parameters(error.to_string()))?;
    let (ranges, prefixes) = (table.len() as u64, table.prefixes());
    Ok(TableSize {
        error_ppm,
        ranges,
        prefixes,
        ranges_bytes: Bytes(2 * WORD * ranges),
        prefixes_bytes: Bytes(3 * WORD * prefixes),
    })
}

#[cfg(test)]
mod tests {
    use trueplane_units::Parameters;

    use super::*;

    fn counted(limiters: &str, memory: &str) -> Found {
        let given = [("limiters", limiters), ("memory", memory), ("cores", "1,8")];
        run(&Options::given(&given).unwrap()).unwrap()
    }

    /// Figure 15.
    #[test]
    fn a_mebibyte_holds_64_k_of_nimble() {
        let size = counted("65536", "1MiB");
        let nimble = &size.layouts[0];
        assert_eq!((nimble.bytes, nimble.limiters_in_memory), (16, 65_536));
        assert_eq!(nimble.limiters_bytes, Bytes(1 << 20));
        assert_eq!(size.layouts[2].bytes, 16 + 8 * 8);
        let bytes = |policy: PolicyName, form: Form| {
            let mut found =
                size.layouts.iter().filter(|layout| (layout.policy, layout.form) == (policy, form));
            found.next().unwrap().bytes
        };
        assert_eq!(bytes(PolicyName::Gcra, Form::Words), 12);
        assert_eq!(bytes(PolicyName::TrTcm, Form::Words), 28);
        let reference = |policy| bytes(policy, Form::Reference);
        assert!(reference(PolicyName::TrTcm) > reference(PolicyName::TokenBucket));
    }

    #[test]
    fn a_table_that_errs_more_is_smaller() {
        let size = counted("1", "1B");
        for tables in [&size.drain_tables, &size.drawn_tables] {
            assert!(
                tables
                    .windows(2)
                    .all(|pair| pair[0].ranges > pair[1].ranges && pair[0].prefixes > pair[1].prefixes)
            );
            assert!(tables.iter().all(|table| table.prefixes > table.ranges));
        }
        assert_eq!(size.layouts[0].limiters_in_memory, 0);
    }
}
