//! The commands of a document, and what it shows of their output.
//!
//! A `console` block has commands behind `$ ` (a user's) and `# ` (root's), each followed by its output. A `sh` block has root's commands alone, and
//! the `text` block behind it has lines of their output. In both `...` stands for lines that are left out.
//!
//! A word behind `console` changes what is done: `console numbers differ` compares everything but numbers, `console skip: REASON` types nothing.

/// A block of a document.
#[derive(Debug)]
pub(crate) struct Block {
    /// Where its fence is, from 1.
    pub(crate) line: usize,
    /// Why it is not typed, if it is not.
    pub(crate) skip: Option<String>,
    pub(crate) steps: Vec<Step>,
}

/// What is typed at once.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Step {
    pub(crate) commands: String,
    pub(crate) is_root: bool,
    /// Whether the first failure ends it, as in a script.
    pub(crate) is_script: bool,
    pub(crate) shown: Shown,
}

/// What a document shows of the output.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Shown {
    pub(crate) lines: Vec<String>,
    pub(crate) compare: Compare,
}

/// How what is shown is compared with what is seen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Compare {
    /// Line for line.
    #[default]
    Exact,
    /// Line for line, numbers and their units aside.
    Words,
    /// Every line shown is somewhere in what is seen, numbers and their units aside.
    Among,
}

/// All `console` and `sh` blocks, in order.
pub(crate) fn blocks(document: &str) -> Result<Vec<Block>, String> {
    let mut blocks: Vec<Block> = Vec::new();
    let mut lines = document.lines().enumerate();
    while let Some((index, line)) = lines.next() {
        let Some(info) = line.strip_prefix("```") else { continue };
        let body: Vec<&str> =
            lines.by_ref().map(|(_, line)| line).take_while(|line| *line != "```").collect();
        let (kind, how) = info.split_once(' ').unwrap_or((info, ""));
        let number = index + 1;
        match kind {
            "console" => {
                let (skip, compare) = match how {
                    "" => (None, Compare::Exact),
                    "numbers differ" => (None, Compare::Words),
                    _ => match how.strip_prefix("skip: ") {
                        Some(reason) => (Some(reason.to_owned()), Compare::Exact),
                        None => {
                            return Err(format!(
                                "line {number}: expected \"skip: REASON\" or \"numbers differ\", got \"{how}\""
                            ));
                        }
                    },
                };
                let steps = transcript(&body, compare).map_err(|error| format!("line {number}: {error}"))?;
                blocks.push(Block { line: number, skip, steps });
            }
            "sh" => {
                let step =
                    Step { commands: body.join("\n"), is_root: true, is_script: true, ..Step::default() };
                blocks.push(Block { line: number, skip: None, steps: vec![step] });
            }
            "text" => {
                let script =
                    blocks.last_mut().and_then(|block| block.steps.last_mut()).filter(|step| step.is_script);
                if let Some(step) = script {
                    let lines =
                        body.iter().filter(|line| **line != "...").map(|line| (*line).to_owned()).collect();
                    step.shown = Shown { lines, compare: Compare::Among };
                }
            }
            _ => {}
        }
    }
    Ok(blocks)
}

/// The steps of a `console` block.
fn transcript(lines: &[&str], compare: Compare) -> Result<Vec<Step>, String> {
    let mut steps: Vec<Step> = Vec::new();
    let mut goes_on = false;
    for line in lines {
        let typed = line
            .strip_prefix("$ ")
            .map(|typed| (typed, false))
            .or(line.strip_prefix("# ").map(|typed| (typed, true)));
        match (typed, steps.last_mut()) {
            (_, Some(step)) if goes_on => {
                step.commands.push('\n');
                step.commands.push_str(line);
                goes_on = line.ends_with('\\');
            }
            (Some((commands, is_root)), _) => {
                goes_on = commands.ends_with('\\');
                let shown = Shown { lines: Vec::new(), compare };
                steps.push(Step { commands: commands.to_owned(), is_root, is_script: false, shown });
            }
            (None, Some(step)) => step.shown.lines.push((*line).to_owned()),
            (None, None) => {
                return Err(format!("expected a command behind \"$ \" or \"# \" first, got \"{line}\""));
            }
        }
    }
    Ok(steps)
}

impl Shown {
    /// Whether the command is shown to fail: its output is then on stderr.
    pub(crate) fn is_failure(&self) -> bool {
        self.lines.iter().any(|line| line.starts_with("error: "))
    }

    /// What would be shown of this output: before and behind one gap as many lines as now. `None` where it takes a person to choose the
    /// lines.
    pub(crate) fn rewritten(&self, seen: &str) -> Option<Vec<String>> {
        let seen: Vec<String> = seen.lines().map(str::to_owned).collect();
        let pieces: Vec<&[String]> = self.lines.split(|line| line == "...").collect();
        match (pieces.as_slice(), self.compare) {
            (_, Compare::Among) => None,
            ([_], _) => Some(seen),
            ([head, tail], _) if head.len() + tail.len() < seen.len() => {
                let gap = ["...".to_owned()];
                Some([&seen[..head.len()], &gap, &seen[seen.len() - tail.len()..]].concat())
            }
            _ => None,
        }
    }

    /// The first line shown that is not as it is seen, if there is one.
    pub(crate) fn difference(&self, seen: &str) -> Option<String> {
        if self.lines.is_empty() {
            return None;
        }
        let key: fn(&str) -> String = if self.compare == Compare::Exact { str::to_owned } else { outline };
        let seen: Vec<String> = seen.lines().map(key).collect();
        if self.compare == Compare::Among {
            return self.lines.iter().find(|line| !seen.contains(&outline(line))).cloned();
        }
        let mut rest = &seen[..];
        // What is between two gaps has to be seen in one piece, the first at the beginning and the last at the end.
        let pieces: Vec<&[String]> = self.lines.split(|line| line == "...").collect();
        for (index, piece) in pieces.iter().enumerate() {
            let piece: Vec<String> = piece.iter().map(|line| key(line)).collect();
            let (is_first, is_last) = (index == 0, index + 1 == pieces.len());
            let last_start = rest.len().checked_sub(piece.len());
            let begin = match (is_first, is_last) {
                (true, _) => Some(0),
                (false, true) => last_start,
                (false, false) => {
                    (0..=last_start.unwrap_or(0)).find(|&begin| rest[begin..].starts_with(&piece))
                }
            };
            let Some(begin) = begin else { return Some(pieces[index].join("\n")) };
            let found = &rest[begin..];
            if let Some(position) =
                piece.iter().enumerate().position(|(place, line)| found.get(place) != Some(line))
            {
                return Some(pieces[index][position].clone());
            }
            rest = &found[piece.len()..];
            if is_last && !rest.is_empty() {
                return Some(format!("nothing more, and the output goes on with: {}", rest[0]));
            }
        }
        None
    }
}

/// A line with its numbers, their units and what is drawn between them put together: `#` for any of them.
fn outline(line: &str) -> String {
    const UNITS: [&str; 8] = ["%", "–", "Bytes", "KBytes", "MBytes", "Kbits/sec", "Mbits/sec", "Gbits/sec"];
    let is_number = |word: &str| {
        let word = word.trim_start_matches(['+', '-', '>', '(']);
        word.starts_with(|c: char| c.is_ascii_digit()) || UNITS.contains(&word)
    };
    let mut words: Vec<&str> = line
        .split_whitespace()
        .map(|word| if is_number(word) { "#" } else { word.trim_end_matches('─') })
        .collect();
    words.dedup_by(|a, b| a == b && *a == "#");
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outlines_keep_words_and_no_numbers() {
        assert_eq!(outline("tenant   1  50Mbps  64KiB  –  383B  75.8%"), "tenant #");
        assert_eq!(outline("[  5]   0.00-3.00   sec  71.5 MBytes"), "[ # sec #");
        assert_eq!(
            outline("server0@a: changed 1 limiter: tenant rate=100Mbps"),
            "server0@a: changed # limiter: tenant rate=100Mbps"
        );
        assert_eq!(outline("─────"), outline("───"));
    }

    #[test]
    fn what_is_shown_can_be_written_anew() {
        let shown = |lines: &[&str]| Shown {
            lines: lines.iter().map(ToString::to_string).collect(),
            ..Shown::default()
        };
        let rewritten = |lines: &[&str]| shown(lines).rewritten("1\n2\n3\n4\n").map(|lines| lines.join(" "));
        assert_eq!(rewritten(&["old"]).as_deref(), Some("1 2 3 4"));
        assert_eq!(rewritten(&["a", "...", "b"]).as_deref(), Some("1 ... 4"));
        assert_eq!(rewritten(&["a", "...", "b", "...", "c"]), None);
    }

    #[test]
    fn commands_and_outputs_are_told_apart() {
        let document = "Text.\n```console\n$ one \\\n    more\nshown\n# two\n```\n\n```rust\n$ not this\n```\n\
                        ```console skip: no reason\n$ three\n```\n```sh\nfour\nfive\n```\n```text\n...\na line\n```\n";
        let blocks = blocks(document).unwrap();
        let [first, second, third] = &blocks[..] else { panic!("{blocks:?}") };
        assert_eq!((first.line, first.skip.as_deref(), second.skip.as_deref()), (2, None, Some("no reason")));
        let [one, two] = &first.steps[..] else { panic!("{first:?}") };
        assert_eq!(
            (one.commands.as_str(), one.is_root, &one.shown.lines[..]),
            ("one \\\n    more", false, &["shown".to_owned()][..])
        );
        assert_eq!((two.commands.as_str(), two.is_root, two.shown.lines.len()), ("two", true, 0));
        let script = &third.steps[0];
        assert_eq!((script.commands.as_str(), script.shown.compare), ("four\nfive", Compare::Among));
        assert_eq!(script.shown.lines, ["a line"]);
    }

    #[test]
    fn blocks_that_nobody_could_type_are_refused() {
        for (document, problem) in [
            ("```console\nno prompt\n```\n", "expected a command"),
            ("```console skipp\n$ a\n```\n", "got \"skipp\""),
        ] {
            assert!(blocks(document).unwrap_err().contains(problem), "{document}");
        }
    }

    #[test]
    fn differences_are_seen() {
        let difference = |shown: &[&str], compare, seen: &str| {
            Shown { lines: shown.iter().map(|line| (*line).to_owned()).collect(), compare }.difference(seen)
        };
        let exact = Compare::Exact;
        assert_eq!(difference(&[], exact, "whatever\n"), None);
        assert_eq!(difference(&["a", "b"], exact, "a\nb\n"), None);
        assert_eq!(difference(&["a", "b"], exact, "a\nc\n").as_deref(), Some("b"));
        assert_eq!(difference(&["a", "b"], exact, "a\n").as_deref(), Some("b"));
        assert!(difference(&["a"], exact, "a\nb\n").unwrap().contains("goes on with: b"));
        assert_eq!(difference(&["a", "..."], exact, "a\nb\nc\n"), None);
        assert_eq!(difference(&["...", "c"], exact, "a\nb\nc\n"), None);
        assert_eq!(difference(&["a", "...", "c"], exact, "a\nb\nc\n"), None);
        assert_eq!(difference(&["...", "b", "..."], exact, "a\nb\nc\n"), None);
        assert_eq!(difference(&["...", "x", "..."], exact, "a\nb\nc\n").as_deref(), Some("x"));
        assert_eq!(difference(&["...", "b"], exact, "a\nb\nc\n").as_deref(), Some("b"));
        assert_eq!(difference(&["12 packets"], exact, "13 packets\n").as_deref(), Some("12 packets"));
        assert_eq!(difference(&["12 packets"], Compare::Words, "13 packets\n"), None);
        assert_eq!(difference(&["b 1"], Compare::Among, "a\nb 2\nc\n"), None);
        assert_eq!(difference(&["d"], Compare::Among, "a\nb\nc\n").as_deref(), Some("d"));
    }
}
