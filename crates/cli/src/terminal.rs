//! The terminal of the user: its width, and whether colours are wanted.

use std::ffi::OsStr;
use std::io::{self, IsTerminal as _};
use std::sync::OnceLock;

use clap::ColorChoice;
use trueplane_study::render::fold;
use trueplane_units::unexpected;

use crate::platform;

/// The choice of the command line.
static CHOSEN: OnceLock<ColorChoice> = OnceLock::new();

/// Keeps the choice of the command line, before anything is printed.
pub(crate) fn choose(choice: ColorChoice) {
    // The first choice stays.
    let _ = CHOSEN.set(choice);
}

/// Reads the value of `--color`.
pub(crate) fn when(text: &str) -> Result<ColorChoice, String> {
    text.parse().map_err(|_| unexpected("one of auto, always, never", text))
}

/// The choice among these words: `--color never` or `--color=never`. They are looked at before they are parsed, as errors of the parser
/// have colours, too.
pub(crate) fn choice(words: &[impl AsRef<OsStr>]) -> ColorChoice {
    let words = words.iter().map(AsRef::as_ref).take_while(|word| *word != "--");
    let mut choice = ColorChoice::Auto;
    let mut is_next = false;
    for word in words.filter_map(OsStr::to_str) {
        let value = if is_next { Some(word) } else { word.strip_prefix("--color=") };
        choice = value.and_then(|value| value.parse().ok()).unwrap_or(choice);
        is_next = word == "--color";
    }
    choice
}

/// A space at which the parser of the command line does not break a line of its help texts.
pub(crate) const NO_BREAK: &str = "\u{a0}";

/// A text of the parser as it is printed: with ordinary spaces.
pub(crate) fn printed(text: &str) -> String {
    text.replace(NO_BREAK, " ")
}

/// Whether the output is a terminal.
pub(crate) fn is_stdout() -> bool {
    io::stdout().is_terminal()
}

/// Columns of the terminal, if the output is one.
pub(crate) fn width() -> Option<usize> {
    platform::columns()
}

/// `text` as it fits the terminal, if the output is one. What follows the first line of a paragraph stands below its last column.
pub(crate) fn folded(text: &str) -> String {
    width().map_or_else(|| text.to_owned(), |width| folded_at(text, width.max(NARROWEST)))
}

/// Nothing is folded narrower than this.
const NARROWEST: usize = 40;

fn folded_at(text: &str, width: usize) -> String {
    let fold_line = |line: &str| {
        if line.chars().count() <= width {
            return line.to_owned() + "\n";
        }
        // Columns are two spaces or more apart.
        let start = line.len() - line.trim_start().len();
        let indent = line.rfind("  ").map_or(0, |place| place + 2).max(start);
        let indent = if indent <= width / 2 { indent } else { start };
        let lines = fold(&line[indent..], width - indent);
        line[..indent].to_owned() + &lines.join(&format!("\n{}", " ".repeat(indent))) + "\n"
    };
    text.lines().map(fold_line).collect()
}

/// Whether colours are wanted on a stream that is or is not a terminal.
///
/// `NO_COLOR` (<https://no-color.org>) and `TERM=dumb` switch them off, unless the command line asks for them.
pub(crate) fn colors(is_terminal: bool) -> bool {
    let variable = |name: &str| std::env::var_os(name).unwrap_or_default();
    let wanted = CHOSEN.get().copied().unwrap_or_default();
    are_wanted(wanted, is_terminal, !variable("NO_COLOR").is_empty(), variable("TERM") == "dumb")
}

fn are_wanted(choice: ColorChoice, is_terminal: bool, no_color: bool, is_dumb: bool) -> bool {
    match choice {
        ColorChoice::Always => true,
        ColorChoice::Never => false,
        ColorChoice::Auto => is_terminal && !no_color && !is_dumb,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_has_the_last_word() {
        assert!(are_wanted(ColorChoice::Auto, true, false, false));
        for (is_terminal, no_color, is_dumb) in
            [(false, false, false), (true, true, false), (true, false, true)]
        {
            assert!(!are_wanted(ColorChoice::Auto, is_terminal, no_color, is_dumb));
            assert!(are_wanted(ColorChoice::Always, is_terminal, no_color, is_dumb));
        }
        assert!(!are_wanted(ColorChoice::Never, true, false, false));
    }

    #[test]
    fn long_lines_are_folded_below_their_last_column() {
        let folded = folded_at("MAD    the ratio of the aggregate delay\n\n  a b c\nshort\n", 24);
        assert_eq!(folded, "MAD    the ratio of the\n       aggregate delay\n\n  a b c\nshort\n");
        assert_eq!(folded_at("one two three", 8), "one two\nthree\n");
        assert_eq!(folded_at("a very long first  word", 12), "a very long\nfirst word\n");
    }

    #[test]
    fn the_choice_is_found_in_any_place() {
        let chosen = |words: &[&str]| choice(words);
        assert_eq!(chosen(&["trueplane", "cache", "--color", "always"]), ColorChoice::Always);
        assert_eq!(chosen(&["trueplane", "--color=never", "cache"]), ColorChoice::Never);
        assert_eq!(chosen(&["trueplane", "cache", "--", "--color=never"]), ColorChoice::Auto);
        assert_eq!(chosen(&["trueplane", "--color=green"]), ColorChoice::Auto);
    }
}
