//! Flags of programs that have no parser of command lines, such as benchmarks.

use std::fmt::Display;
use std::process::ExitCode;

use crate::parameter::{Parameters, table};

/// Runs a program whose flags are these parameters, written `--flag VALUE`, `--flag=VALUE` or `--switch`; `--help` lists them.
pub fn run<P: Parameters, E: Display>(work: impl FnOnce(&P) -> Result<(), E>) -> ExitCode {
    // Cargo adds the one.
    let words: Vec<String> = std::env::args().skip(1).filter(|word| word != "--bench").collect();
    if words.iter().any(|word| word == "--help") {
        print!("{}", help::<P>());
        return ExitCode::SUCCESS;
    }
    let worked = read(words).and_then(|parameters| work(&parameters).map_err(|error| error.to_string()));
    match worked {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            eprintln!("error: {problem}");
            ExitCode::FAILURE
        }
    }
}

/// A line for each flag.
fn help<P: Parameters>() -> String {
    let line = |parameter: &crate::Parameter| {
        let names: Vec<&str> = (parameter.names)().iter().map(|name| name.name).collect();
        let names = if names.is_empty() { String::new() } else { format!(" {}.", names.join(", ")) };
        let default = parameter.default.map_or_else(String::new, |default| format!(" [{default}]"));
        format!("--{:13} {}{names}{default}\n", parameter.flag(), parameter.paragraphs().join(" "))
    };
    table::<P>().iter().map(line).collect()
}

/// Flags and their values.
fn read<P: Parameters>(words: impl IntoIterator<Item = String>) -> Result<P, String> {
    let (mut parameters, table, mut words) = (P::default(), table::<P>(), words.into_iter());
    while let Some(word) = words.next() {
        let (flag, value) = match word.split_once('=') {
            Some((flag, value)) => (flag.to_owned(), Some(value.to_owned())),
            None => (word, None),
        };
        let known = table.iter().find(|parameter| flag.strip_prefix("--") == Some(&parameter.flag()));
        let parameter = known.ok_or_else(|| format!("expected a flag that --help lists, got \"{flag}\""))?;
        let value = match parameter.is_switch {
            true => value.or_else(|| Some("true".to_owned())),
            false => value.or_else(|| words.next()),
        };
        let value = value.ok_or_else(|| format!("{flag}: expected {}", (parameter.expected)()))?;
        let set = parameters.set(parameter.field, &value);
        set.unwrap_or(Ok(())).map_err(|error| format!("{flag}: {error}"))?;
    }
    Ok(parameters)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Within, parameters};

    parameters! {
        /// Parameters of a benchmark.
        #[derive(Clone, Debug)]
        struct Options {
            /// Rows of the table.
            table_rows: Within<u32, 1, 64> => { default: "8" },
            /// Drop what does not fit.
            drop: bool => {},
        }
    }

    #[test]
    fn flags_are_read_or_refused_in_one_line() {
        let told = |line: &str| read::<Options>(line.split_whitespace().map(str::to_owned));
        let (all, none) = (told("--drop --table-rows=3").unwrap(), told("").unwrap());
        assert_eq!((*all.table_rows, all.drop, *none.table_rows, none.drop), (3, true, 8, false));
        assert_eq!(*told("--table-rows 5").unwrap().table_rows, 5);
        for (line, problem) in [
            ("--rows 3", "expected a flag that --help lists, got \"--rows\""),
            ("rows", "expected a flag that --help lists, got \"rows\""),
            ("--table-rows", "--table-rows: expected 1 to 64"),
            ("--table-rows 65", "--table-rows: expected 1 to 64, got \"65\""),
            ("--drop=perhaps", "--drop: expected true or false, got \"perhaps\""),
        ] {
            assert_eq!(told(line).unwrap_err(), problem, "{line}");
        }
        assert!(
            help::<Options>().contains("--table-rows    Rows of the table. [8]\n"),
            "{}",
            help::<Options>()
        );
    }
}
