//! The orders of users by name, with what is known of each without running it.

use trueplane_units::choices;

/// Properties of a policy that are known without running it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Properties {
    /// Whether the order depends on what users had before.
    pub remembers: bool,
    /// Whether what they had decays with a half-life.
    pub decaying: bool,
}

impl Properties {
    const NONE: Self = Self { remembers: false, decaying: false };
    const HALF_LIFE: Self = Self { remembers: true, decaying: true };
}

choices! {
    /// An order of users by name.
    pub enum PolicyName: Properties {
        /// First come, first served.
        Fifo = "fifo" { ..Properties::NONE },
        /// DRF: serves the user with the smallest dominant share first.
        Drf = "drf" { ..Properties::NONE },
        /// SDRF: serves the user with the smallest sum of share and commitment first.
        Sdrf = "sdrf" { ..Properties::HALF_LIFE },
        /// Kueue's admission fair sharing: serves the user with the least decayed usage first.
        Kueue = "kueue" { ..Properties::HALF_LIFE },
        /// Older Kueue, which cuts usage to thousandths of a unit.
        KueueMilli = "kueue-milli" { ..Properties::HALF_LIFE },
        /// Slurm's fair tree: serves the user with the least decayed usage of the billed resource (the first one) first.
        Slurm = "slurm" { ..Properties::HALF_LIFE },
        /// Karma: serves the user with the most credits first.
        Karma = "karma" { remembers: true, ..Properties::NONE },
    }
}
