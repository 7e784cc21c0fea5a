//! The files that studies read, out of the declarations of their parameters.

use trueplane_studies::{ForStudies, each, is_file, is_log};
use trueplane_study::Study;
use trueplane_units::{Parameter, parameter};

/// A file that a command reads.
pub(super) struct Input {
    /// The words of the command: `cache compare`.
    pub(super) command: String,
    /// The flag, or the word for a value that has none.
    pub(super) flag: String,
    /// What the file is, as the declaration of the parameter says.
    pub(super) about: String,
    /// Names of the formats that it may have, where there are several.
    pub(super) formats: Vec<&'static str>,
}

/// The files of all studies.
pub(super) fn inputs() -> Vec<Input> {
    let mut inputs = Inputs(Vec::new());
    each(&mut inputs);
    inputs.0
}

struct Inputs(Vec<Input>);

impl ForStudies for Inputs {
    fn study<S: Study>(&mut self) {
        let table = parameter::table::<S::Options>();
        let formats = table.iter().find(|parameter| parameter.field == "format");
        let formats: Vec<&str> =
            formats.map_or_else(Vec::new, |format| (format.names)().iter().map(|name| name.name).collect());
        for parameter in table.iter().filter(|parameter| is_file(parameter)) {
            self.0.push(Input {
                command: S::NAME.replace('.', " "),
                flag: flag(parameter),
                about: parameter.paragraphs().into_iter().next().unwrap_or_default(),
                formats: if is_log(parameter) || parameter.value == "WORKLOAD" {
                    formats.clone()
                } else {
                    Vec::new()
                },
            });
        }
    }
}

fn flag(parameter: &Parameter) -> String {
    if parameter.positional { parameter.value.to_owned() } else { format!("--{}", parameter.flag()) }
}
