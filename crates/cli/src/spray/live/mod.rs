//! The verbs of `trueplane spray` that run on real threads, sockets and devices.

mod metrics;
mod news;
mod run;
mod show;
mod steer;
mod values;

pub(super) use run::Args as Run;
pub(super) use show::{Args as Show, BackendArgs as Backend};
pub(super) use steer::Args as Steer;

pub(super) type Experiment = crate::study::Run<trueplane_experiments::spray::Experiment>;
