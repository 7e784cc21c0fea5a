//! All studies, for what is generated or tested for each of them.

use trueplane_study::Study;

/// Does something for every study.
pub(crate) trait ForStudies {
    /// Does it for one.
    fn study<S: Study>(&mut self);
}

/// Passes all studies in.
pub(crate) fn each(to: &mut impl ForStudies) {
    to.study::<trueplane_cache::analyze::Analyze>();
    to.study::<trueplane_cache::bound::Bound>();
    to.study::<trueplane_cache::check::Check>();
    to.study::<trueplane_cache::compare::Compare>();
    #[cfg(feature = "live")]
    to.study::<trueplane_experiments::cache::Experiment>();
    #[cfg(feature = "live")]
    to.study::<trueplane_experiments::limit::Experiment>();
    #[cfg(feature = "live")]
    to.study::<trueplane_experiments::spray::Experiment>();
    to.study::<trueplane_fair::allocate::Allocate>();
    to.study::<trueplane_fair::simulate::Simulate>();
    to.study::<trueplane_fair::sweep::Sweep>();
    to.study::<trueplane_limit::precision::Precision>();
    to.study::<trueplane_limit::replay::Replay>();
    to.study::<trueplane_limit::size::Size>();
    to.study::<trueplane_offload::compare::Compare>();
    to.study::<trueplane_offload::size::Size>();
    to.study::<trueplane_sched::bandwidth::Bandwidth>();
    to.study::<trueplane_sched::inversions::Inversions>();
    to.study::<trueplane_spray::compare::Compare>();
    to.study::<trueplane_spray::concurrency::Concurrency>();
    to.study::<trueplane_surge::compare::Compare>();
    to.study::<trueplane_surge::guard::Guard>();
}
