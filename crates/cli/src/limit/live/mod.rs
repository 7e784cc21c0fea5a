//! The verbs of `trueplane limit` that meet the kernel.

mod attach;
mod dctcp;
mod device;
mod metrics;
mod overview;
mod show;

pub(super) use attach::{Args as Attach, DetachArgs as Detach};
pub(super) use dctcp::Args as Dctcp;
pub(super) use metrics::Args as Metrics;
pub(super) use show::{Args as Show, SetArgs as Set};

pub(super) type Experiment = crate::study::Run<trueplane_experiments::limit::Experiment>;
