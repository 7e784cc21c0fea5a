//! The parameters of `limit size`.

use trueplane_units::{Bytes, List, Within, parameters};

/// More cores than these are refused.
pub const MOST_CORES: u64 = 65_536;

parameters! {
    /// Parameters of `limit size`.
    #[derive(Clone, Debug)]
    pub struct Options {
        /// Number of limiters that you need: 65536, 64K (K is a thousand) or 1M.
        pub limiters: u64 => { value: "N", default: "65536" },
        /// Memory that is available for them.
        pub memory: Bytes => { value: "SIZE", default: "1MiB" },
        /// Numbers of cores that share a limiter, each with credit of its own.
        pub cores: List<Within<u64, 1, MOST_CORES>> => { value: "LIST", default: "2,8" },
    }
}
