//! The parameters of `fair allocate`.

use std::path::{Path, PathBuf};

use trueplane_units::{Choices, parameters};

use crate::allocation::Mechanism;
use crate::delta::Delta;

parameters! {
    /// Parameters of `fair allocate`.
    #[derive(Clone, Debug)]
    pub struct Options {
        /// JSON document with resources and users, as in examples/demands.json. A dash (-) is standard input.
        pub demands: PathBuf => { value: "DEMANDS", positional: true, required: true },
        /// Rules of division. The first one is the base with which the others are compared.
        pub policies: Choices<Mechanism> => { value: "LIST", default: "drf,sdrf" },
        /// Part of a commitment that is left after a stage (δ), such as 0.9 or 1-1e-6. It is required if the document has stages.
        pub delta: Option<Delta> => { value: "DELTA" },
    }
}

impl Options {
    /// Whether the document is standard input.
    pub(super) fn is_stdin(&self) -> bool {
        self.demands == Path::new("-")
    }

    /// The name of the document in titles and errors.
    pub(super) fn name(&self) -> String {
        if self.is_stdin() { "<stdin>".to_owned() } else { self.demands.display().to_string() }
    }
}
