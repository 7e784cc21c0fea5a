//! The verb of `trueplane surge` that runs on real threads.

mod pipeline;

pub(super) use pipeline::Args as Pipeline;
