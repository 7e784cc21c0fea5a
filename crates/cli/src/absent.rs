//! Verbs that need the feature `live`, in a build without it: they are listed, and say how to get them.

use std::ffi::OsString;

use crate::failure::Failure;

/// Not in this build: `make build` adds it (needs clang and libelf, which it installs).
///
/// This command meets the kernel, real threads or a cluster. Such commands are behind the feature `live`, so that the first build needs nothing but Rust
/// and a C compiler. `make build` puts the whole command at target/release/trueplane, `make install` into ~/.cargo/bin.
#[derive(clap::Args)]
pub(crate) struct Absent {
    #[arg(hide = true, trailing_var_arg = true, allow_hyphen_values = true)]
    _arguments: Vec<OsString>,
}

impl Absent {
    pub(crate) fn run(self) -> Result<(), Failure> {
        Err(Failure::other(
            "this trueplane was built without what meets the kernel, real threads and clusters; `make build` builds all of it \
             (or: cargo build --release --features live, which needs clang and libelf)",
        ))
    }
}
