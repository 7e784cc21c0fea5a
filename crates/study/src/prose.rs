//! Words for the sentences of verdicts, and command lines in them.

use trueplane_units::Parameters;
use trueplane_units::parameter::{Setting, settings};

/// A verdict has no more sentences, and no more words together.
const MOST_SENTENCES: usize = 5;
const MOST_WORDS: usize = 120;

/// The sentences for which a verdict has room, in their order. Each comes with its importance, the least number for the most important,
/// which always has room; what is left out the tables say.
pub fn brief<I: Ord + Copy>(sentences: Vec<(I, String)>) -> Vec<String> {
    let mut by_importance: Vec<usize> = (0..sentences.len()).collect();
    by_importance.sort_by_key(|&index| sentences[index].0);
    let (mut kept, mut words) = (Vec::new(), 0);
    for index in by_importance {
        let more = sentences[index].1.split_whitespace().count();
        if kept.is_empty() || kept.len() < MOST_SENTENCES && words + more <= MOST_WORDS {
            kept.push(index);
            words += more;
        }
    }
    let numbered = sentences.into_iter().enumerate();
    numbered.filter(|(index, _)| kept.contains(index)).map(|(_, (_, sentence))| sentence).collect()
}

/// `a`, `a and b`, `a, b and c`.
pub fn join(parts: &[String]) -> String {
    match parts {
        [] => String::new(),
        [one] => one.clone(),
        [most @ .., last] => format!("{} and {last}", most.join(", ")),
    }
}

/// The words as a shell takes them, in one line: `trueplane cache compare 'my log.csv'`.
pub fn command_line<W: AsRef<str>>(words: &[W]) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./:,=+%@".contains(c);
    let quoted = words.iter().map(|word| match word.as_ref() {
        word if !word.is_empty() && word.chars().all(is_plain) => word.to_owned(),
        word => format!("'{}'", word.replace('\'', "'\\''")),
    });
    quoted.collect::<Vec<_>>().join(" ")
}

/// The same with the flags that set these parameters again: `trueplane cache compare my.csv --format csv`.
pub fn command(words: &[&str], parameters: &impl Parameters) -> String {
    let given = settings(parameters).into_iter().filter(Setting::is_given);
    let flags = given.flat_map(|setting| {
        let flag = format!("--{}", setting.parameter.flag());
        if setting.parameter.is_switch { vec![flag] } else { vec![flag, setting.text] }
    });
    let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).chain(flags).collect();
    command_line(&words)
}

/// A number that is more than `most`, in as few digits, two or more, as it takes to see that: `2.3e9`, `2.0001e9`.
pub fn beyond(number: f64, most: f64) -> String {
    let mut texts = (1..=17).map(|digits| format!("{number:.digits$e}"));
    let is_beyond = |text: &String| text.parse().is_ok_and(|read: f64| read > most);
    texts.find(is_beyond).unwrap_or_else(|| number.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_beyond_a_limit_looks_like_it() {
        let shown = [2.34e9, 2_000_100_000.0, 2e9 * (1.0 + f64::EPSILON)].map(|number| beyond(number, 2e9));
        assert_eq!(shown, ["2.3e9", "2.0001e9", "2.0000000000000005e9"]);
    }

    #[test]
    fn lists_are_joined_as_people_do() {
        let joined = |parts: &[&str]| join(&parts.iter().map(ToString::to_string).collect::<Vec<_>>());
        assert_eq!(
            [joined(&[]), joined(&["a"]), joined(&["a", "b"]), joined(&["a", "b", "c"])],
            ["", "a", "a and b", "a, b and c"]
        );
    }

    #[test]
    fn a_shell_takes_a_command_as_it_was() {
        let words = ["trueplane", "cache", "my log.csv", "it's", "", "~x", "--latency", "100ms"];
        let expected = "trueplane cache 'my log.csv' 'it'\\''s' '' '~x' --latency 100ms";
        assert_eq!(command_line(&words), expected);
    }

    #[test]
    fn a_command_sets_what_is_given() {
        trueplane_units::parameters! {
            /// Parameters of a test.
            #[derive(Clone, Debug)]
            pub struct Options {
                /// Size of a cell.
                pub cell_size: Option<u64> => { value: "N" },
                /// Number of packets.
                pub packets: Option<u64> => { value: "N" },
                /// Sort packets.
                pub sort: bool => {},
                /// Skip packets.
                pub skip: bool => {},
            }
        }
        let options = Options { cell_size: Some(7), sort: true, ..Options::default() };
        assert_eq!(command(&["trueplane", "a b"], &options), "trueplane 'a b' --cell-size 7 --sort");
    }

    #[test]
    fn a_verdict_has_room_for_what_matters_most() {
        let sentences =
            (0..7).map(|number| (6 - number, format!("{number} {}", "word ".repeat(20)))).collect();
        let kept = brief(sentences);
        let numbers: Vec<&str> = kept.iter().map(|sentence| &sentence[..1]).collect();
        assert_eq!(numbers, ["2", "3", "4", "5", "6"]);
    }

    #[test]
    fn the_most_important_sentence_is_kept_however_long_it_is() {
        let long = "word ".repeat(MOST_WORDS + 1);
        assert_eq!(brief(vec![(1, "Short.".to_owned()), (0, long.clone())]), [long]);
    }
}
