//! Parameters, declared once: [`parameters!`](crate::parameters) makes a struct and the table of what its fields mean.
//!
//! Command lines, checks of values, documents, pages and reference texts all come from this table.

use crate::{Datum, Kind, Name, Shape, Value, Word};

/// Description of a parameter: one row of the table that [`parameters!`](crate::parameters) declares.
#[derive(Clone, Debug)]
pub struct Parameter {
    /// The field of the struct, such as `flow_rate`.
    pub field: &'static str,
    /// The doc comment: sentences for help texts and reference pages.
    pub doc: &'static str,
    /// The word for the value in help texts, such as `RATE`. Switches have none.
    pub value: &'static str,
    /// The default as people write it. `None`: the parameter is optional or required.
    pub default: Option<&'static str>,
    /// The value that the flag has if it is given without one; empty if it needs one.
    pub bare: &'static str,
    /// The default in words where it depends on something else: `all cores`.
    pub default_words: &'static str,
    /// Whether a command fails without it.
    pub required: bool,
    /// Whether it stands on the command line without its name.
    pub positional: bool,
    /// The heading of help texts under which it stands; empty: the first one.
    pub heading: &'static str,
    /// Fields that have to be given with it, with spaces between them.
    pub requires: &'static str,
    /// Fields that must not be given with it, with spaces between them.
    pub conflicts: &'static str,
    /// The unit that ends its machine name; empty if there is none.
    pub unit: &'static str,
    /// Whether it takes no value on the command line.
    pub is_switch: bool,
    /// The shape of its value for programs.
    pub shape: Shape,
    /// Values that are expected, as errors say it.
    pub expected: fn() -> String,
    /// The names that can be chosen.
    pub names: fn() -> Vec<Name>,
    /// Words that stand for several of the names.
    pub words: fn() -> Vec<Word>,
    /// The range in words, where there is one.
    pub range: fn() -> Option<String>,
    /// Reads a value for programs; refuses what is none, in one line.
    pub read: fn(&str) -> Result<Datum, String>,
}

impl Parameter {
    /// The parameter of `field`, whose values have the type `T`.
    pub fn of<T: Value>(field: &'static str, doc: &'static str) -> Self {
        Self {
            field: plain(field),
            doc,
            value: "",
            default: None,
            bare: "",
            default_words: "",
            required: false,
            positional: false,
            heading: "",
            requires: "",
            conflicts: "",
            unit: T::UNIT,
            is_switch: matches!(T::SHAPE.kind, Kind::Switch),
            shape: T::SHAPE,
            expected: T::expected,
            names: T::names,
            words: T::words,
            range: T::range,
            read: |text| T::parse(text).map(|value| value.datum()),
        }
    }

    /// The name of the flag without its dashes: `flow-rate`.
    pub fn flag(&self) -> String {
        self.field.replace('_', "-")
    }

    /// The name for people: `flow rate`.
    pub fn title(&self) -> String {
        self.field.replace('_', " ")
    }

    /// The name for programs, with its unit: `flow_rate_bps`.
    pub fn machine_name(&self) -> String {
        match self.unit {
            unit if unit.is_empty() || self.field.ends_with(&format!("_{unit}")) => self.field.to_owned(),
            unit => format!("{}_{unit}", self.field),
        }
    }

    /// The paragraphs of the doc comment, each in one line.
    pub fn paragraphs(&self) -> Vec<String> {
        paragraphs(self.doc)
    }

    /// Whether `text` stands for this value.
    pub fn is_value(&self, text: &str, datum: &Datum) -> bool {
        (self.read)(text).as_ref() == Ok(datum)
    }

    /// The value that the parameter has if it is not given.
    ///
    /// # Panics
    /// If the declared default is no value, or if there is none and the type needs one.
    pub fn initial<T: Value>(&self) -> T {
        let initial = match self.default {
            Some(text) => T::parse(text),
            None => T::absent().ok_or_else(|| "expected a default".to_owned()),
        };
        initial.unwrap_or_else(|error| panic!("{}: {error}", self.field))
    }
}

/// The name of a field: `r#in` is called `in`.
#[doc(hidden)]
pub fn plain(field: &'static str) -> &'static str {
    field.strip_prefix("r#").unwrap_or(field)
}

/// The paragraphs of a doc comment, each in one line, without the brackets of links.
pub fn paragraphs(doc: &str) -> Vec<String> {
    let lines: Vec<&str> = doc.lines().map(str::trim).collect();
    let paragraphs = lines.split(|line| line.is_empty()).filter(|lines| !lines.is_empty());
    paragraphs.map(|lines| lines.join(" ").replace("[`", "`").replace("`]", "`")).collect()
}

/// A parameter with its value.
#[derive(Clone, Debug)]
pub struct Setting {
    /// Description of the parameter.
    pub parameter: Parameter,
    /// The value as people write it.
    pub text: String,
    /// The value for programs.
    pub datum: Datum,
}

impl Setting {
    /// Whether there is a value, of a switch whether it is on.
    pub fn is_given(&self) -> bool {
        match &self.datum {
            Datum::Nothing => false,
            Datum::Switch(is_on) => *is_on || !self.parameter.is_switch,
            Datum::Text(text) => !text.is_empty(),
            _ => true,
        }
    }
}

/// A struct of parameters. Declare one with [`parameters!`](crate::parameters).
pub trait Parameters: Default {
    /// Appends what is known of every parameter, in the order of help texts.
    fn describe(to: &mut Vec<Parameter>);

    /// Sets the parameter of this field from text. `None`: no parameter is called so.
    fn set(&mut self, field: &str, text: &str) -> Option<Result<(), String>>;

    /// Appends every parameter with its value, in the order of help texts.
    fn settings(&self, to: &mut Vec<Setting>);

    /// The first of these parameters that is given, as a flag: `--sort`. Say it where the parameters make no sense.
    fn first_given(&self) -> Option<String> {
        let given = settings(self).into_iter().find(Setting::is_given);
        given.map(|setting| format!("--{}", setting.parameter.flag()))
    }

    /// The defaults, but for these fields, whose values are written as people write them.
    ///
    /// # Errors
    /// In one line, if there is no such field or a text is no value.
    fn given(pairs: &[(&str, &str)]) -> Result<Self, String> {
        let mut parameters = Self::default();
        for (field, text) in pairs {
            let set = parameters.set(field, text);
            set.unwrap_or_else(|| Err("expected the name of a parameter".to_owned()))
                .map_err(|error| format!("{field}: {error}"))?;
        }
        Ok(parameters)
    }
}

/// Every parameter of `P`, in the order of help texts.
pub fn table<P: Parameters>() -> Vec<Parameter> {
    let mut parameters = Vec::new();
    P::describe(&mut parameters);
    parameters
}

/// Every parameter with its value, in the order of help texts.
pub fn settings(parameters: &impl Parameters) -> Vec<Setting> {
    let mut settings = Vec::new();
    parameters.settings(&mut settings);
    for Setting { parameter, datum, .. } in &settings {
        let shape = parameter.shape;
        debug_assert!(shape.fits(datum), "{datum:?} of {} has not the shape {shape:?}", parameter.field);
    }
    settings
}

/// Declares a struct of parameters: each field holds its doc comment, its type (which has the range), and in braces what else is known of
/// it (see the fields of [`Parameter`]).
///
/// The block `including` names other such structs whose parameters belong to this one as if they stood in it.
///
/// ```
/// # use trueplane_units::{BitsPerSec, Parameters, Positive, Within, parameters};
/// parameters! {
///     /// Parameters of a port.
///     #[derive(Clone, Debug)]
///     pub struct Options {
///         /// Number of queues in strict priority.
///         pub queues: Within<u32, 1, 4096> => { value: "N", default: "8" },
///         /// Rate of the line.
///         pub rate: Positive<BitsPerSec> => { value: "RATE", default: "10Gbps" },
///         /// Number of packets; without it, all of the trace.
///         pub packets: Option<u64> => { value: "N" },
///         /// Sort packets by their time.
///         pub sort: bool => {},
///     }
/// }
/// let mut options = Options::default();
/// assert_eq!((*options.queues, options.packets, options.sort), (8, None, false));
/// assert_eq!(options.set("queues", "0"), Some(Err("expected 1 to 4096, got \"0\"".to_owned())));
/// assert_eq!(trueplane_units::parameter::table::<Options>()[1].machine_name(), "rate_bps");
/// ```
#[macro_export]
macro_rules! parameters {
    (
        $(#[$meta:meta])*
        $vis:vis struct $name:ident {
            $(
                $(#[doc = $doc:literal])+
                $field_vis:vis $field:ident : $type:ty => { $($key:ident : $value:expr),* $(,)? }
            ),* $(,)?
        }
        $( including {
            $( $(#[doc = $group_doc:literal])+ $group_vis:vis $group:ident : $group_type:ty ),* $(,)?
        } )?
    ) => {
        $(#[$meta])*
        $vis struct $name {
            $( $(#[doc = $doc])+ $field_vis $field: $type, )*
            $($( $(#[doc = $group_doc])+ $group_vis $group: $group_type, )*)?
        }

        impl Default for $name {
            fn default() -> Self {
                Self {
                    $( $field: $crate::parameters!(@row $field, $type, [$($doc),+], $($key: $value),*).initial(), )*
                    $($( $group: Default::default(), )*)?
                }
            }
        }

        impl $crate::Parameters for $name {
            fn describe(to: &mut Vec<$crate::Parameter>) {
                $( to.push($crate::parameters!(@row $field, $type, [$($doc),+], $($key: $value),*)); )*
                $($( <$group_type as $crate::Parameters>::describe(to); )*)?
            }

            fn set(&mut self, field: &str, text: &str) -> Option<Result<(), String>> {
                $(
                    if field == $crate::parameter::plain(stringify!($field)) {
                        return Some(<$type as $crate::Value>::parse(text).map(|value| self.$field = value));
                    }
                )*
                $($(
                    if let Some(done) = $crate::Parameters::set(&mut self.$group, field, text) {
                        return Some(done);
                    }
                )*)?
                None
            }

            fn settings(&self, to: &mut Vec<$crate::Setting>) {
                $(
                    to.push($crate::Setting {
                        parameter: $crate::parameters!(@row $field, $type, [$($doc),+], $($key: $value),*),
                        text: $crate::Value::show(&self.$field),
                        datum: $crate::Value::datum(&self.$field),
                    });
                )*
                $($( $crate::Parameters::settings(&self.$group, to); )*)?
            }
        }
    };
    (@row $field:ident, $type:ty, [$($doc:literal),+], $($key:ident : $value:expr),*) => {{
        #[allow(unused_mut)]
        let mut parameter = $crate::Parameter::of::<$type>(stringify!($field), concat!($($doc, "\n"),+));
        $( parameter.$key = Into::into($value); )*
        parameter
    }};
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Nanos, Positive, Within};

    parameters! {
        /// Parameters that several studies share.
        #[derive(Clone, Debug)]
        struct Shared {
            /// Number from which random draws begin.
            seed: u64 => { value: "SEED", default: "1" },
        }
    }

    parameters! {
        /// Parameters of a study.
        #[derive(Clone, Debug)]
        struct Options {
            /// Number of flows.
            ///
            /// Each starts a step after the one before.
            flows: Within<u32, 1, 64> => { value: "N", default: "8" },
            /// Time between two starts.
            step: Positive<Nanos> => { value: "TIME", default: "5ms" },
            /// Time that everything takes.
            span_ns: Option<Nanos> => { value: "TIME", conflicts: "step" },
            /// Name that is a word of the language.
            r#in: u64 => { value: "N", default: "0" },
        }
        including {
            /// Parameters that every study has.
            shared: Shared,
        }
    }

    #[test]
    fn one_declaration_has_it_all() {
        let table = table::<Options>();
        let names: Vec<String> = table.iter().map(Parameter::machine_name).collect();
        assert_eq!(names, ["flows", "step_ns", "span_ns", "in", "seed"]);
        assert_eq!(table[0].paragraphs(), ["Number of flows.", "Each starts a step after the one before."]);
        assert_eq!((table[0].expected)(), "1 to 64");
        assert_eq!((table[2].conflicts, table[2].default), ("step", None));

        assert_eq!(Options::given(&[("flows", "65")]).unwrap_err(), "flows: expected 1 to 64, got \"65\"");
        let mut options = Options::default();
        assert_eq!(options.set("seed", "7"), Some(Ok(())));
        assert_eq!(options.set("step", "2ms"), Some(Ok(())));
        assert_eq!(options.set("steps", "2ms"), None);
        assert_eq!(options.set("in", "3"), Some(Ok(())));
        let settings = settings(&options);
        let texts: Vec<&str> = settings.iter().map(|setting| setting.text.as_str()).collect();
        assert_eq!(texts, ["8", "2ms", "", "3", "7"]);
        assert_eq!((&settings[1].datum, &settings[2].datum), (&Datum::Integer(2_000_000), &Datum::Nothing));
        assert_eq!((*options.flows, *options.step, options.r#in), (8, Nanos(2_000_000), 3));
        assert_eq!(options.shared.seed, 7);
    }
}
