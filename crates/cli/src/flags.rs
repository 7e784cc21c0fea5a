//! Flags out of the tables of parameters that studies and live commands declare.

use clap::builder::StyledStr;
use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, Command};
use trueplane_units::parameter::{self, Parameter};
use trueplane_units::{Name, Parameters, Word};

/// The parameters of a command, as flags.
#[derive(Clone, Debug)]
pub(crate) struct Flags<P>(pub(crate) P);

impl<P: Parameters> clap::Args for Flags<P> {
    fn augment_args(command: Command) -> Command {
        command.args(parameter::table::<P>().iter().map(flag))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl<P: Parameters> clap::FromArgMatches for Flags<P> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let mut parameters = P::default();
        let is_given = |field: &str| matches.value_source(field) == Some(ValueSource::CommandLine);
        for parameter in parameter::table::<P>() {
            if !is_given(parameter.field) {
                continue;
            }
            // clap would name only the flag that is missing.
            if let Some(missing) = fields(parameter.requires).into_iter().find(|field| !is_given(field)) {
                let (flag, missing) = (parameter.flag(), missing.replace('_', "-"));
                let error = format!("--{flag} needs --{missing}");
                return Err(clap::Error::raw(clap::error::ErrorKind::MissingRequiredArgument, error));
            }
            let text = match parameter.is_switch {
                true => Some("true".to_owned()),
                false => matches.get_many::<String>(parameter.field).map(joined),
            };
            let set = text.and_then(|text| parameters.set(parameter.field, &text));
            set.unwrap_or(Ok(()))
                .map_err(|error| clap::Error::raw(clap::error::ErrorKind::ValueValidation, error))?;
        }
        Ok(Self(parameters))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

/// The flag of a parameter.
fn flag(parameter: &Parameter) -> Arg {
    let (short, long) = help(parameter);
    let mut arg = Arg::new(parameter.field).help(short).long_help(long).required(parameter.required);
    if !parameter.positional {
        arg = arg.long(parameter.flag());
    }
    if !parameter.heading.is_empty() {
        // A group of flags is for those who look for it.
        let is_needed = parameter.required || parameter.positional;
        arg = arg.help_heading(parameter.heading).hide_short_help(!is_needed);
    }
    arg = arg.conflicts_with_all(fields(parameter.conflicts));
    if parameter.is_switch {
        return arg.action(ArgAction::SetTrue);
    }
    let read = parameter.read;
    // The text is kept, and read again by the parameters: clap needs to know none of their types.
    arg = arg.value_name(parameter.value).value_parser(move |text: &str| read(text).map(|_| text.to_owned()));
    if !parameter.bare.is_empty() {
        arg = arg.num_args(0..=1).default_missing_value(parameter.bare);
    }
    if takes_words(parameter) {
        arg = arg.num_args(1..);
    }
    match parameter.default {
        Some(text) => arg.default_value(text),
        None => arg,
    }
}

/// Whether the values of a list stand on the command line as words of their own: `isolation latency`.
fn takes_words(parameter: &Parameter) -> bool {
    parameter.positional && parameter.shape.is_list
}

/// The words of a value, as lists are written.
fn joined<'a>(words: impl Iterator<Item = &'a String>) -> String {
    words.map(String::as_str).collect::<Vec<_>>().join(",")
}

fn fields(names: &'static str) -> Vec<&'static str> {
    names.split_whitespace().collect()
}

/// The help text for `-h`, and the one for `--help` with all that is known.
fn help(parameter: &Parameter) -> (StyledStr, StyledStr) {
    let mut paragraphs = parameter.paragraphs();
    let (names, words) = ((parameter.names)(), (parameter.words)());
    let range = (parameter.range)().filter(|_| names.is_empty());
    let range = range.map_or_else(String::new, |range| format!(" [{range}]"));
    let default = match parameter.default_words {
        "" => String::new(),
        words => format!(" [default: {words}]"),
    };
    let about = paragraphs.first().map_or("", |first| brief(first));
    let short = match names.as_slice() {
        [] => format!("{about}{default}"),
        names => format!("{about}: {}{default}", listed(names, &words)),
    };
    if let Some(first) = paragraphs.first_mut() {
        *first += &format!("{range}{default}");
    }
    paragraphs.extend((!names.is_empty()).then(|| table(&names, &words)));
    (short.into(), paragraphs.join("\n\n").into())
}

/// The first clause of a text: more of each flag would not fit on a screen.
fn brief(text: &str) -> &str {
    let sentence = text.split(". ").next().unwrap_or(text);
    let clause = sentence.split("; ").next().unwrap_or(sentence);
    clause.trim_end_matches('.')
}

/// The names that can be chosen: those that `all` stands for, and then their variants; and the words for several of them.
fn listed(names: &[Name], words: &[Word]) -> String {
    let join = |in_all: bool| {
        let names = names.iter().filter(|name| name.in_all == in_all).map(|name| name.name);
        names.collect::<Vec<_>>().join(", ")
    };
    let words = if words.is_empty() { String::new() } else { format!(", or {}", Word::any_of(words)) };
    match join(false) {
        none if none.is_empty() => format!("{}{words}", join(true)),
        variants => format!("{}{words}; or a variant: {variants}", join(true)),
    }
}

/// The names and the words, each with what it means in its line.
fn table(names: &[Name], words: &[Word]) -> String {
    let are_all = words.is_empty() || names.iter().all(|name| name.in_all);
    let variant = |name: &Name| if are_all || name.in_all { "" } else { " (not in all)" };
    let of_names = names.iter().map(|name| (name.name, name.about, variant(name)));
    let rows: Vec<_> = of_names.chain(words.iter().map(|word| (word.name, word.about, ""))).collect();
    let width = rows.iter().map(|(name, ..)| name.len()).max().unwrap_or(0);
    let line = |(name, about, variant): &(&str, &str, &str)| {
        let about = parameter::paragraphs(about).into_iter().next().unwrap_or_default();
        format!("  {name:width$}  {}{variant}", about.trim_end_matches('.'))
    };
    rows.iter().map(line).collect::<Vec<_>>().join("\n")
}
