//! The study: how much memory a limiter takes, and how many fit.

pub mod found;
mod report;

use trueplane_study::Error;
use trueplane_units::Bytes;

use crate::credit::Credit;
use crate::policy::{Gcra, Nimble, SingleRateMeter, TokenBucket, TwoRateMeter};
use found::{Layout, Size, TableSize, WORD};

/// The maximum errors of the paper's figure 12, in millionths.
const ERRORS_PPM: [u32; 4] = [10_000, 60_000, 120_000, 500_000];

/// The maximum errors that are drawn, in millionths.
const DRAWN_PPM: [u32; 10] =
    [2_000, 5_000, 10_000, 20_000, 40_000, 60_000, 120_000, 200_000, 350_000, 500_000];

/// What to count.
#[derive(Clone, Debug)]
pub struct Options {
    /// How many limiters are wanted.
    pub limiters: u64,
    /// The memory that there is.
    pub memory: Bytes,
    /// Numbers of cores that hold credit of their own.
    pub cores: Vec<u64>,
}

/// Counts what every layout takes.
///
/// # Errors
/// If what is asked for takes more bytes than can be counted.
pub fn size(options: &Options) -> Result<Size, Error> {
    let mut layouts = Vec::new();
    for (layout, state, bytes) in known(options) {
        let limiters_bytes = options.limiters.checked_mul(bytes).ok_or_else(|| {
            Error::Parameters(format!("--limiters {} of {bytes} bytes are more than 16EiB", options.limiters))
        })?;
        let limiters_in_memory = options.memory.0 / bytes;
        layouts.push(Layout { layout, state, bytes, limiters_in_memory, limiters_bytes });
    }
    let tables =
        |errors: &[u32]| errors.iter().map(|&error| TableSize::of(error)).collect::<Result<Vec<_>, _>>();
    let mut size = Size {
        study: "limit.size",
        version: env!("CARGO_PKG_VERSION"),
        limiters: options.limiters,
        memory_bytes: options.memory.0,
        layouts,
        drain_tables: tables(&ERRORS_PPM)?,
        drawn_tables: tables(&DRAWN_PPM)?,
        verdict: Vec::new(),
    };
    size.verdict = super::verdict::on_size(&size);
    Ok(size)
}

/// The layouts: name, state, bytes.
///
/// Those in words of 32 bits have one for each parameter and variable that the algorithm's source names, as Nimble has; the
/// references are what this program keeps, whose sums are 128 bits wide so that nothing is ever rounded.
fn known(options: &Options) -> Vec<(String, String, u64)> {
    let words = |name: &str, words: &[&str]| {
        (format!("{name}, 32-bit words"), words.join(", "), WORD * words.len() as u64)
    };
    let reference = |name: &str, bytes: usize| {
        (format!("{name}, reference"), "the same, in 64 and 128 bits".to_owned(), bytes as u64)
    };
    let nimble = size_of::<Nimble>() as u64;
    let mut layouts =
        vec![("nimble".to_owned(), "time, occupancy, rate and threshold, burst".to_owned(), nimble)];
    layouts.extend(options.cores.iter().map(|&cores| {
        let bytes = (size_of::<Credit>() as u64).saturating_mul(cores).saturating_add(nimble);
        let cores = format!("{cores} core{}", if cores == 1 { "" } else { "s" });
        (format!("nimble, credit on {cores}"), "the same, and 8 bytes for each core".to_owned(), bytes)
    }));
    layouts.extend([
        words("gcra", &["theoretical arrival", "increment", "tolerance"]),
        words("token-bucket", &["time", "tokens", "rate", "burst"]),
        words("srtcm", &["time", "Tc", "Te", "CIR", "CBS", "EBS"]),
        words("trtcm", &["time", "Tp", "Tc", "PIR", "PBS", "CIR", "CBS"]),
        reference("gcra", size_of::<Gcra>()),
        reference("token-bucket", size_of::<TokenBucket>()),
        reference("srtcm", size_of::<SingleRateMeter>()),
        reference("trtcm", size_of::<TwoRateMeter>()),
    ]);
    layouts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counted(limiters: u64, memory: u64) -> Size {
        size(&Options { limiters, memory: Bytes(memory), cores: vec![1, 8] }).unwrap()
    }

    /// Figure 15.
    #[test]
    fn a_mebibyte_holds_64_k_of_nimble() {
        let size = counted(65_536, 1 << 20);
        let nimble = &size.layouts[0];
        assert_eq!((nimble.bytes, nimble.limiters_in_memory, nimble.limiters_bytes), (16, 65_536, 1 << 20));
        assert_eq!(size.layouts[2].bytes, 16 + 8 * 8);
        let bytes = |name: &str| size.layouts.iter().find(|layout| layout.layout == name).unwrap().bytes;
        assert_eq!(bytes("gcra, 32-bit words"), 12);
        assert_eq!(bytes("trtcm, 32-bit words"), 28);
        assert!(bytes("trtcm, reference") > bytes("token-bucket, reference"));
    }

    #[test]
    fn a_table_that_errs_more_is_smaller() {
        let size = counted(1, 1);
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

    #[test]
    fn what_cannot_be_counted_is_refused() {
        let options = Options { limiters: u64::MAX, memory: Bytes(1), cores: Vec::new() };
        assert!(size(&options).unwrap_err().to_string().contains("more than 16EiB"));
    }
}
