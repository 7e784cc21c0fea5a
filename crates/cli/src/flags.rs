//! Flags out of the tables of parameters that studies and live commands declare.

use clap::builder::StyledStr;
use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, Command};
use trueplane_units::parameter::{self, Parameter};
use trueplane_units::{Name, Parameters};

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
                let error = format!("--{flag} needs --{missing}: give both or neither");
                return Err(clap::Error::raw(clap::error::ErrorKind::MissingRequiredArgument, error));
            }
            let text = match parameter.is_switch {
                true => Some("true"),
                false => matches.get_one::<String>(parameter.field).map(String::as_str),
            };
            let set = text.and_then(|text| parameters.set(parameter.field, text));
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
        arg = arg.help_heading(parameter.heading);
    }
    arg = arg.conflicts_with_all(fields(parameter.conflicts));
    if parameter.is_switch {
        return arg.action(ArgAction::SetTrue);
    }
    let read = parameter.read;
    // The text is kept, and read again by the parameters: clap needs to know none of their types.
    arg = arg
        .value_name(parameter.value)
        // So that `-1` is refused as a value, and `--foo` as a flag that does not exist.
        .allow_negative_numbers(!parameter.positional)
        .value_parser(move |text: &str| read(text).map(|_| text.to_owned()));
    if !parameter.bare.is_empty() {
        arg = arg.num_args(0..=1).default_missing_value(parameter.bare);
    }
    match parameter.default {
        Some(text) => arg.default_value(text),
        None => arg,
    }
}

fn fields(names: &'static str) -> Vec<&'static str> {
    names.split_whitespace().collect()
}

/// The help text in one line, and with all that is known.
fn help(parameter: &Parameter) -> (StyledStr, StyledStr) {
    let mut paragraphs = parameter.paragraphs();
    let names = (parameter.names)();
    let range = (parameter.range)().filter(|_| names.is_empty());
    let mut brackets: Vec<String> = range.map(|range| format!("[{range}]")).into_iter().collect();
    if !parameter.default_words.is_empty() {
        brackets.push(format!("[default: {}]", parameter.default_words));
    }
    let suffix: String = brackets.iter().map(|words| format!(" {words}")).collect();
    let short = paragraphs.first().map_or("", |first| first.trim_end_matches('.'));
    let short = match names.as_slice() {
        [] => format!("{short}{suffix}"),
        names => format!("{short}: {}{suffix}", listed(names, parameter.shape.is_list)),
    };
    if let Some(first) = paragraphs.first_mut() {
        *first += &suffix;
    }
    paragraphs.extend((!names.is_empty()).then(|| table(&names)));
    (short.into(), paragraphs.join("\n\n").into())
}

/// The first sentence of a paragraph; a point before a small letter or a number ends none: `(eq. 5)`.
fn first_sentence(paragraph: &str) -> &str {
    let begins = |rest: &str| rest.starts_with(|c: char| c.is_uppercase() || c == '`');
    let mut ends =
        paragraph.match_indices(". ").filter(|(end, point)| begins(&paragraph[end + point.len()..]));
    ends.next().map_or(paragraph, |(end, _)| &paragraph[..end])
}

/// The names that can be chosen: those that `all` stands for, and then their variants.
fn listed(names: &[Name], is_list: bool) -> String {
    let join = |in_all: bool| {
        let names = names.iter().filter(|name| name.in_all == in_all).map(|name| name.name);
        names.collect::<Vec<_>>().join(", ")
    };
    let all = if is_list { ", or all" } else { "" };
    match join(false) {
        none if none.is_empty() => format!("{}{all}", join(true)),
        variants => format!("{}{all}; or a variant: {variants}", join(true)),
    }
}

/// The names, each with what it means in its line.
fn table(names: &[Name]) -> String {
    let width = names.iter().map(|name| name.name.len()).max().unwrap_or(0);
    let are_all = names.iter().all(|name| name.in_all);
    let line = |name: &Name| {
        let about = parameter::paragraphs(name.about).into_iter().next().unwrap_or_default();
        let about = first_sentence(&about).trim_end_matches('.');
        let variant = if are_all || name.in_all { "" } else { " (not in all)" };
        format!("  {:width$}  {about}{variant}", name.name)
    };
    names.iter().map(line).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_end_before_a_large_letter() {
        assert_eq!(first_sentence("Fair (eq. 5 and e.g. 6). It shares."), "Fair (eq. 5 and e.g. 6)");
        assert_eq!(first_sentence("One only."), "One only.");
    }
}
