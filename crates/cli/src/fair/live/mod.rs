//! The verbs of `trueplane fair` that meet a Kubernetes cluster.

mod admit;
mod cluster;
mod status;

pub(super) use admit::Args as Admit;
pub(super) use status::Args as Status;
