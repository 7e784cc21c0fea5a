//! All studies of trueplane in one list.
//!
//! [`each`] passes the type of every study to a function: the command's reference, its schemas and its tests go through all of them this way.
//! [`all`] has the same studies as values, so that a program can run one by its name. With the feature `sweep`, the module `sweep` runs one at many points.
//!
//! ```
//! let study = trueplane_studies::named("sched.bandwidth").expect("there is such a study");
//! let report = study.run(&[("flows", "4")], &())?;
//! assert_eq!(report.study, "sched.bandwidth");
//! # Ok::<(), trueplane_studies::Error>(())
//! ```
#![forbid(unsafe_code)]

#[cfg(feature = "sweep")]
pub mod sweep;

use trueplane_study::report::Report;
use trueplane_study::{Observer, Study, Threads, study};
use trueplane_units::{Parameter, Parameters, parameter};

/// Does something for every study.
pub trait ForStudies {
    /// Does it for one.
    fn study<S: Study>(&mut self);
}

/// Passes all studies in, in the order of their names.
pub fn each(to: &mut impl ForStudies) {
    to.study::<trueplane_cache::analyze::Analyze>();
    to.study::<trueplane_cache::bound::Bound>();
    to.study::<trueplane_cache::check::Check>();
    to.study::<trueplane_cache::compare::Compare>();
    #[cfg(feature = "live")]
    to.study::<trueplane_experiments::cache::Experiment>();
    to.study::<trueplane_fair::allocate::Allocate>();
    to.study::<trueplane_fair::recommend::Recommend>();
    to.study::<trueplane_fair::simulate::Simulate>();
    to.study::<trueplane_fair::sweep::Sweep>();
    #[cfg(feature = "live")]
    to.study::<trueplane_experiments::limit::Experiment>();
    to.study::<trueplane_network::isolation::Isolation>();
    to.study::<trueplane_limit::precision::Precision>();
    to.study::<trueplane_limit::replay::Replay>();
    to.study::<trueplane_limit::size::Size>();
    to.study::<trueplane_offload::compare::Compare>();
    to.study::<trueplane_offload::size::Size>();
    to.study::<trueplane_sched::bandwidth::Bandwidth>();
    to.study::<trueplane_network::fabric::Fabric>();
    to.study::<trueplane_network::feedback::Feedback>();
    to.study::<trueplane_sched::inversions::Inversions>();
    to.study::<trueplane_spray::compare::Compare>();
    to.study::<trueplane_spray::concurrency::Concurrency>();
    #[cfg(feature = "live")]
    to.study::<trueplane_experiments::spray::Experiment>();
    to.study::<trueplane_network::reordering::Reordering>();
    to.study::<trueplane_surge::compare::Compare>();
    to.study::<trueplane_surge::guard::Guard>();
}

/// Whether the value of a parameter names a file to read, by the word that help texts have for it.
pub fn is_file(parameter: &Parameter) -> bool {
    is_log(parameter) || matches!(parameter.value, "CAPTURE" | "DEMANDS" | "FILE" | "WORKLOAD")
}

/// Whether the value is the path of a log, with a row for every request or job. A workload is more: it may be made up, or name its file behind a word.
pub fn is_log(parameter: &Parameter) -> bool {
    matches!(parameter.value, "JOBS" | "TRACE")
}

/// Why a study did not run.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A parameter has no such value, or the study has no such parameter.
    #[error("{0}")]
    Parameter(String),
    /// The study could not be done.
    #[error(transparent)]
    Study(#[from] trueplane_study::Error),
}

/// Runs a study with parameters by the names of their fields.
type Run = fn(&[(&str, &str)], &dyn Observer) -> Result<Report, Error>;

/// A study as a value.
#[derive(Clone, Copy, Debug)]
pub struct Named {
    /// Its name, `subsystem.verb`, such as `sched.bandwidth`.
    pub name: &'static str,
    /// Its help text: the first paragraph says in one sentence what it is for, the others explain.
    pub about: &'static str,
    /// What the number of threads changes.
    pub threads: Threads,
    parameters: fn() -> Vec<Parameter>,
    run: Run,
}

impl Named {
    /// Its parameters, in the order of help texts.
    pub fn parameters(&self) -> Vec<Parameter> {
        (self.parameters)()
    }

    /// Runs it. Parameters have the names of their fields (`packet_size`) and values as on the command line; those that are not given have
    /// their defaults.
    ///
    /// # Errors
    /// In one line: if a parameter is not known, has no such value or is missing, if parameters exclude or need each other, and as
    /// [`Study::run`].
    pub fn run(&self, given: &[(&str, &str)], observer: &dyn Observer) -> Result<Report, Error> {
        (self.run)(given, observer)
    }
}

/// Everything that is the same for all studies is here, so that little is compiled for each.
fn check(parameters: &[Parameter], given: &[(&str, &str)]) -> Result<(), String> {
    let is_given = |field: &str| given.iter().any(|(name, _)| *name == field);
    if let Some((name, _)) = given.iter().find(|(name, _)| !parameters.iter().any(|one| one.field == *name)) {
        let names: Vec<&str> = parameters.iter().map(|parameter| parameter.field).collect();
        return Err(format!("{name}: expected one of the parameters {}", names.join(", ")));
    }
    for parameter in parameters {
        let field = parameter.field;
        if !is_given(field) {
            if parameter.required {
                return Err(format!("{field} is missing"));
            }
            continue;
        }
        if let Some(other) = parameter.requires.split_whitespace().find(|other| !is_given(other)) {
            return Err(format!("{field} needs {other}"));
        }
        if let Some(other) = parameter.conflicts.split_whitespace().find(|other| is_given(other)) {
            return Err(format!("{field} cannot be used with {other}"));
        }
    }
    Ok(())
}

fn run<S: Study>(given: &[(&str, &str)], observer: &dyn Observer) -> Result<Report, Error> {
    check(&parameter::table::<S::Options>(), given).map_err(Error::Parameter)?;
    let options = S::Options::given(given).map_err(Error::Parameter)?;
    Ok(study::run::<S>(&options, observer)?)
}

/// All studies, in the order of their names.
pub fn all() -> Vec<Named> {
    struct Collected(Vec<Named>);
    impl ForStudies for Collected {
        fn study<S: Study>(&mut self) {
            self.0.push(Named {
                name: S::NAME,
                about: S::ABOUT,
                threads: S::THREADS,
                parameters: parameter::table::<S::Options>,
                run: run::<S>,
            });
        }
    }
    let mut collected = Collected(Vec::new());
    each(&mut collected);
    collected.0
}

/// The study of this name.
pub fn named(name: &str) -> Option<Named> {
    all().into_iter().find(|study| study.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_is_in_the_order_of_names() {
        let names: Vec<&str> = all().iter().map(|study| study.name).collect();
        assert!(names.is_sorted(), "{names:?}");
        assert!(named("cache.compare").is_some() && named("cache").is_none());
    }

    #[test]
    fn wrong_parameters_are_refused_in_one_line() {
        let refused = |study: &str, given: &[(&str, &str)]| {
            named(study).expect("it is there").run(given, &()).expect_err("it is refused").to_string()
        };
        let unknown = refused("sched.bandwidth", &[("size", "1")]);
        assert!(unknown.starts_with("size: expected one of the parameters "), "{unknown}");
        assert_eq!(refused("cache.analyze", &[]), "trace is missing");
        let trace = ("trace", "examples/cdn-200k.csv.zst");
        assert_eq!(refused("cache.compare", &[trace, ("bound_time", "1s")]), "bound_time needs bound");
        let both = [trace, ("bound", "true"), ("bound_time", "1s"), ("bound_iterations", "5")];
        assert_eq!(refused("cache.compare", &both), "bound_iterations cannot be used with bound_time");
        assert_eq!(
            refused("cache.compare", &[trace, ("capacity", "0")]).split(',').next(),
            Some("capacity: expected a capacity above zero")
        );
    }
}
