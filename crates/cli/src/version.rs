//! The version, as `--version` tells it.

use std::sync::LazyLock;

/// Features of this build that change what the command can do.
const FEATURES: [(&str, bool); 2] = [("live", cfg!(feature = "live")), ("lp", cfg!(feature = "lp"))];

/// The version, the commit if the build knew it, and the features.
pub(crate) fn long() -> &'static str {
    static LONG: LazyLock<String> = LazyLock::new(|| {
        let commit = option_env!("TRUEPLANE_COMMIT").map_or(String::new(), |commit| format!("{commit}; "));
        let features: Vec<&str> =
            FEATURES.iter().filter(|(_, is_on)| *is_on).map(|(name, _)| *name).collect();
        let features = if features.is_empty() { "none".to_owned() } else { features.join(", ") };
        format!("{} ({commit}features: {features})", env!("CARGO_PKG_VERSION"))
    });
    &LONG
}
