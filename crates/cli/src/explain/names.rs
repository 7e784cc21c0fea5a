//! The names that can be chosen as values of flags, such as policies, with what their declarations say of them.

use std::fmt;

use trueplane_studies::{ForStudies, each};
use trueplane_study::Study;
use trueplane_units::parameter;

/// A name with what it means.
#[derive(Debug)]
pub(super) struct Chosen {
    /// The name, such as `lru-mad`.
    pub(super) name: &'static str,
    /// The first paragraph of what its declaration says.
    pub(super) about: String,
    /// The flags that take it: `trueplane cache compare --policies`.
    flags: Vec<String>,
}

impl fmt::Display for Chosen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, about, flags } = self;
        writeln!(f, "{name}\n\n{about}\n\nTaken by {}.", flags.join(", "))?;
        match self.library() {
            Some(library) => {
                writeln!(f, "Programs in Rust have it from trueplane-{library} (crates/{library}).")
            }
            None => Ok(()),
        }
    }
}

impl Chosen {
    /// The area whose library has it, if it is a mechanism.
    fn library(&self) -> Option<&str> {
        let is_mechanism = |flag: &&String| ["--policies", "--policy"].iter().any(|end| flag.ends_with(end));
        self.flags.iter().find(is_mechanism)?.split(' ').nth(1)
    }
}

/// All names of all studies, in the order of studies and flags. A name that several flags take stands once for every meaning.
pub(super) fn chosen() -> Vec<Chosen> {
    let mut names = Names(Vec::new());
    each(&mut names);
    names.0
}

struct Names(Vec<Chosen>);

impl ForStudies for Names {
    fn study<S: Study>(&mut self) {
        let command = S::NAME.replace('.', " ");
        for parameter in parameter::table::<S::Options>() {
            let value = if parameter.positional {
                parameter.value.to_owned()
            } else {
                format!("--{}", parameter.flag())
            };
            for name in (parameter.names)() {
                let about = parameter::paragraphs(name.about).into_iter().next().unwrap_or_default();
                self.add(name.name, about, format!("trueplane {command} {value}"));
            }
        }
    }
}

impl Names {
    fn add(&mut self, name: &'static str, about: String, flag: String) {
        match self.0.iter_mut().find(|known| known.name == name && known.about == about) {
            Some(known) => known.flags.push(flag),
            None => self.0.push(Chosen { name, about, flags: vec![flag] }),
        }
    }
}
