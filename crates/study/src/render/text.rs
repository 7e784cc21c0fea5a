//! The report on a terminal or in a pipe: the answer first, then the numbers, then how they were found.
//!
//! The answer is what was found in two sentences, and what to do about it. The table of the three numbers and the one that sums the study
//! up follow; all others, all facts and all findings only if details are wanted.
//!
//! A number is never wrapped. Headers are, at spaces, so that a column is as wide as its numbers; a table that is still
//! too wide for the terminal is continued below with its leading columns repeated.

use std::fmt::Write as _;

use comfy_table::{Cell as TextCell, CellAlignment, LineStyle, TableStyle};

use super::shown::{self, MARK, Shown};
use crate::format;
use crate::report::{Report, Table};

/// Spaces between two columns.
const GAP: usize = 2;
/// A header takes at most this many lines; its column grows wider instead.
const HEADER_LINES: usize = 3;
/// Nothing is folded narrower than this, however narrow the terminal says it is.
const NARROWEST: usize = 40;

/// Sentences of the verdict that are shown without details.
const SENTENCES: usize = 2;
/// Tables that are shown without details: the three numbers and the one that sums the study up.
const TABLES: usize = 2;

/// Capabilities of the reader's terminal, and how much the reader wants; the owner of the output finds out.
#[derive(Clone, Copy, Debug, Default)]
pub struct Look {
    /// Columns of the terminal. `None` folds nothing, so that in a pipe each row stays on one line.
    pub width: Option<usize>,
    /// Whether escape codes for colours, bold and dim are understood and wanted.
    pub color: bool,
    /// Whether all tables, facts and findings are wanted.
    pub details: bool,
}

/// The whole report, ending in a line break.
///
/// ```text
/// 14 cache policies on cloudphysics.csv
///
/// Hit rate picks the wrong policy.
/// → Run lru-mad.
///
/// Policies at a fetch latency of 100ms
/// policy   hits  delayed     mean
///                   hits
/// ───────────────────────────────
/// lru     1,234       56  12.35ms
/// lru-mad 1,250       40   9.12ms  ← best
///
/// Classical model  mean latency = hit rate × hit latency + miss rate × miss latency
/// Settings         latency: 100ms
/// Found            requests: 1,290
/// ```
pub fn text(report: &Report, look: Look) -> String {
    let look = Look { width: look.width.map(|width| width.max(NARROWEST)), ..look };
    let mut sections = vec![title(report, look), warnings(&report.warnings, look), finding(report, look)];
    sections.extend(shown(report, look).into_iter().map(|table| table_section(table, look)));
    sections.push(circumstances(report, look));
    sections.retain(|section| !section.is_empty());
    sections.join("\n")
}

/// The answer alone: what makes it doubtful, what was found, and what to do.
pub fn answer(report: &Report, look: Look) -> String {
    warnings(&report.warnings, look) + &finding(report, look)
}

fn finding(report: &Report, look: Look) -> String {
    let most = if look.details { usize::MAX } else { SENTENCES };
    let mut lines = String::new();
    for (index, sentence) in report.verdict.iter().take(most).enumerate() {
        let sentence = look.folded(sentence, 0);
        lines += &(if index == 0 { look.bold(&sentence) } else { sentence } + "\n");
    }
    if !report.advice.is_empty() {
        lines += &(look.green(&format!("→ {}", look.folded(&report.advice, 2))) + "\n");
    }
    lines
}

/// Number of tables that are left out because details are not wanted.
pub fn left_out(report: &Report) -> usize {
    report.tables.len() - shown(report, Look::default()).len()
}

/// The tables that are shown.
fn shown(report: &Report, look: Look) -> Vec<&Table> {
    if look.details {
        return report.tables.iter().collect();
    }
    let (whole, others): (Vec<_>, Vec<_>) = report.tables.iter().partition(|table| table.whole);
    others.into_iter().filter(|table| !table.detail).take(TABLES).chain(whole).collect()
}

impl Look {
    fn bold(self, text: &str) -> String {
        self.styled("1", text)
    }

    fn dim(self, text: &str) -> String {
        self.styled("2", text)
    }

    fn green(self, text: &str) -> String {
        self.styled("32", text)
    }

    fn styled(self, code: &str, text: &str) -> String {
        if self.color && !text.is_empty() { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
    }

    /// `text` over as many lines as it needs; every line but the first starts with `indent` spaces.
    fn folded(self, text: &str, indent: usize) -> String {
        let width = self.width.map_or(usize::MAX, |width| width.saturating_sub(indent));
        fold(&format::one_line(text), width).join(&format!("\n{}", " ".repeat(indent)))
    }
}

fn title(report: &Report, look: Look) -> String {
    if report.title.is_empty() { String::new() } else { look.bold(&look.folded(&report.title, 0)) + "\n" }
}

fn warnings(sentences: &[String], look: Look) -> String {
    let yellow = |sentence: &String| look.styled("33", &look.folded(sentence, 0)) + "\n";
    sentences.iter().map(yellow).collect()
}

/// How the numbers were found: the classical model, the settings and the facts, each in a line; with details, each fact in its own.
fn circumstances(report: &Report, look: Look) -> String {
    // Names have commas in them.
    let listed = |items: Vec<String>| items.join("; ");
    let settings = report.parameters.iter().filter(|given| look.details || !given.is_default);
    let settings = settings.map(|given| format!("{}: {}", given.name, given.value)).collect();
    let found = report.facts.iter().map(|(name, value)| format!("{name}: {value}")).collect();
    let mut lines = vec![
        ("Classical model".to_owned(), report.belief.trim_end_matches('.').to_owned()),
        ("Settings".to_owned(), listed(settings)),
    ];
    match look.details {
        true => lines.extend(report.facts.iter().cloned()),
        false => lines.push(("Found".to_owned(), listed(found))),
    }
    lines.retain(|(_, value)| !value.is_empty());
    let longest = lines.iter().map(|(name, _)| width_of(&format::one_line(name))).max().unwrap_or(0);
    lines.iter().fold(String::new(), |mut text, (name, value)| {
        let name = look.dim(&format!("{:longest$}", format::one_line(name)));
        // Writing to a `String` cannot fail.
        let _ = writeln!(text, "{name}  {}", look.folded(value, longest + 2));
        text
    })
}

fn table_section(table: &Table, look: Look) -> String {
    let shown = Shown::of(table);
    let mut columns: Vec<Column<'_>> = shown.columns.iter().map(Column::of).collect();
    let marks = shown::Column::of_marks(&shown.marks);
    columns.extend(marks.as_ref().map(Column::of));
    let blocks = blocks(&columns, shown.labels, look.width);
    let mut section =
        if table.title.is_empty() { String::new() } else { look.bold(&look.folded(&table.title, 0)) + "\n" };
    for (place, block) in blocks.iter().enumerate() {
        if place > 0 {
            section.push('\n');
        }
        section += &draw(block, look);
    }
    let same = shown.same_in_words();
    if !same.is_empty() {
        section += &(look.dim(&look.folded(&same, 0)) + "\n");
    }
    section
}

/// A column ready to be drawn.
struct Column<'a> {
    header: Vec<String>,
    cells: &'a [String],
    words: bool,
    width: usize,
}

impl<'a> Column<'a> {
    fn of(shown: &'a shown::Column) -> Self {
        let shown::Column { heading, cells, words } = shown;
        let longest_word = heading.split(' ').map(width_of).max().unwrap_or(0);
        let mut width = cells.iter().map(|cell| width_of(cell)).max().unwrap_or(0).max(longest_word);
        while fold(heading, width).len() > HEADER_LINES {
            width += 1;
        }
        Self { header: fold(heading, width), cells, words: *words, width }
    }
}

fn width_of(text: &str) -> usize {
    text.chars().count()
}

/// The columns in as few blocks as fit `width`, each starting with the columns that say which row it is: the first
/// `labels`, or the first alone where those would fill half of the line.
fn blocks<'a>(columns: &'a [Column<'a>], labels: usize, width: Option<usize>) -> Vec<Vec<&'a Column<'a>>> {
    let Some(width) = width else { return vec![columns.iter().collect()] };
    let space = |columns: &[Column<'_>]| columns.iter().map(|column| column.width + GAP).sum::<usize>();
    let labels = labels.min(columns.len());
    let labels = if space(&columns[..labels]) <= width / 2 { labels } else { 1 };
    let (labels, values) = columns.split_at(labels);
    let label_space = space(labels);

    let mut blocks = vec![labels.iter().collect::<Vec<_>>()];
    let mut used = label_space;
    for column in values {
        // The last column needs no gap behind it.
        if used + column.width > width && used > label_space {
            blocks.push(labels.iter().collect());
            used = label_space;
        }
        used += column.width + GAP;
        if let Some(block) = blocks.last_mut() {
            block.push(column);
        }
    }
    blocks
}

/// Draws the columns. A row of which something is said has the colour of advice.
fn draw(columns: &[&Column<'_>], look: Look) -> String {
    let mut table = comfy_table::Table::new();
    table.load_style(TableStyle::new().header_separator(LineStyle::none().fill('─')));
    let header_lines = columns.iter().map(|column| column.header.len()).max().unwrap_or(0);
    // Blank lines first, so that every title stands directly over its numbers.
    table.set_header(columns.iter().map(|column| {
        let blank = "\n".repeat(header_lines - column.header.len());
        TextCell::new(blank + &column.header.join("\n"))
    }));
    let rows = columns.iter().map(|column| column.cells.len()).max().unwrap_or(0);
    for row in 0..rows {
        table.add_row(columns.iter().map(|column| column.cells[row].as_str()));
    }
    for (index, column) in columns.iter().enumerate() {
        if let Some(drawn) = table.column_mut(index) {
            drawn.set_padding((0, if index + 1 < columns.len() { GAP as u16 } else { 0 }));
            drawn.set_cell_alignment(if column.words { CellAlignment::Left } else { CellAlignment::Right });
        }
    }
    let lines = table.lines().enumerate().map(|(place, line)| {
        let line = line.trim_end();
        match place {
            place if place < header_lines => look.dim(line),
            _ if line.contains(MARK) => look.green(line),
            _ => line.to_owned(),
        }
    });
    lines.fold(String::new(), |text, line| text + &line + "\n")
}

/// Breaks `text` at spaces into lines of at most `width` characters; a longer word keeps a line of its own.
pub fn fold(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split(' ').filter(|word| !word.is_empty()) {
        match lines.last_mut() {
            Some(line) if line.is_empty() => line.push_str(word),
            Some(line) if width_of(line) + 1 + width_of(word) <= width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::sample;
    use crate::report::{Cell, Column as ReportColumn, Given};

    fn at(width: usize) -> Look {
        Look { width: Some(width), ..Look::default() }
    }

    fn all(width: Option<usize>) -> Look {
        Look { width, details: true, ..Look::default() }
    }

    /// The part of `text` from the title of the first table on, up to the second table.
    fn first_table(text: &str) -> &str {
        let start = text.find("Policies at").unwrap();
        let end = start + text[start..].find("\nPolicies at a fetch latency of 10ms").unwrap();
        &text[start..end]
    }

    #[test]
    fn a_wide_table_is_continued_below_at_100_columns() {
        let text = text(&sample::report(), at(100));
        insta::assert_snapshot!(first_table(&text));
    }

    #[test]
    fn no_line_is_longer_than_the_terminal() {
        for width in [60, 80, 100, 120, 200] {
            for line in text(&sample::report(), at(width)).lines() {
                assert!(width_of(line) <= width, "{width}: {line}");
            }
            for line in text(&sample::report(), all(Some(width))).lines() {
                assert!(width_of(line) <= width, "{width}: {line}");
            }
        }
    }

    #[test]
    fn every_number_stands_on_one_line_at_every_width() {
        let report = sample::report();
        for look in [all(Some(40)), all(Some(100)), all(None)] {
            let text = text(&report, look);
            for table in &report.tables {
                let shown = Shown::of(table);
                let same = shown.same.iter().map(|(_, value)| value);
                for cell in shown.columns.iter().flat_map(|column| &column.cells).chain(same) {
                    assert!(text.contains(cell), "{cell:?} at {look:?}");
                }
            }
        }
    }

    #[test]
    fn in_a_pipe_a_row_is_one_line() {
        let text = text(&sample::report(), all(None));
        assert_eq!(text.lines().filter(|line| line.starts_with("lru-mad ")).count(), 3, "{text}");
        assert!(!text.contains('\x1b'));
    }

    /// The places of these texts in `text`, in order.
    #[track_caller]
    fn in_order(text: &str, parts: &[&str]) {
        let places: Vec<_> = parts.iter().map(|part| text.find(part)).collect();
        assert!(places.iter().all(Option::is_some) && places.is_sorted(), "{places:?}\n{text}");
    }

    #[test]
    fn the_answer_comes_first_then_the_numbers_then_how_they_were_found() {
        let report = sample::report();
        let text = text(&report, Look::default());
        let advice = format!("→ {}", report.advice);
        let found = "Found            trace: ../shared/data/cache/cloudphysics.csv; requests: 1,234,567";
        let parts = [
            &*report.title,
            &*report.verdict[0],
            &*report.verdict[1],
            &*advice,
            "Policies at",
            "Classical model",
            found,
        ];
        in_order(&text, &parts);
        assert!(text.starts_with(&report.title), "{text}");
    }

    #[test]
    fn details_are_only_there_if_they_are_wanted() {
        let given = |name: &str, is_default| Given { name: name.into(), value: "1".into(), is_default };
        let verdict: Vec<String> = ["One.", "Two.", "Three."].map(String::from).into();
        let mut report = Report {
            verdict,
            parameters: vec![given("queues", false), given("seed", true)],
            ..sample::report()
        };
        report.tables[1].detail = true;
        report.tables.push(Table { title: "Lines left out".into(), whole: true, ..Table::default() });
        report.tables.push(Table { title: "A fourth table".into(), ..Table::default() });
        let (short, long) = (text(&report, Look::default()), text(&report, all(None)));
        for (detail, is_short) in [
            ("Two.", true),
            ("Three.", false),
            ("queues: 1", true),
            ("seed: 1; ", false),
            ("of 10ms", false),
            ("of 100ms", true),
            ("A fourth", false),
            ("Lines left", true),
        ] {
            assert_eq!(
                (short.contains(detail), long.contains(detail)),
                (is_short, detail != "seed: 1; "),
                "{detail}"
            );
        }
        assert!(long.contains("queues: 1; seed: 1\n"), "{long}");
        assert_eq!(left_out(&report), 2);
    }

    #[test]
    fn warnings_come_before_all_numbers() {
        let report = Report { warnings: vec!["Beware: the clock stands.".to_owned()], ..sample::report() };
        in_order(
            &text(&report, Look::default()),
            &["\nBeware: the clock stands.\n", &report.verdict[0], "objects"],
        );
    }

    #[test]
    fn rows_are_marked() {
        let table = Table {
            columns: ["policy", "mean"].map(|title| ReportColumn::new(title, title)).into(),
            rows: [("lru", 2e6), ("lru-mad", 1.5e6)]
                .map(|(name, mean)| vec![Cell::text(name), Cell::Nanos(mean)])
                .into(),
            marks: vec![None, Some("best")],
            ..Table::default()
        };
        let drawn = "policy    mean\n──────────────────────\nlru      2.0ms\nlru-mad  1.5ms  ← best\n";
        assert_eq!(table_section(&table, at(40)), drawn);
        let colored = table_section(&table, Look { color: true, ..at(40) });
        assert!(colored.contains("\x1b[32mlru-mad  1.5ms  ← best\x1b[0m"), "{colored}");
    }

    #[test]
    fn bold_is_used_only_when_wanted_and_changes_no_letter() {
        let report = sample::report();
        let bold = text(&report, Look { color: true, ..at(100) });
        assert!(bold.contains("\x1b[1m"));
        let plain = ["1", "2", "32", "33", "0"]
            .iter()
            .fold(bold, |text, code| text.replace(&format!("\x1b[{code}m"), ""));
        assert_eq!(plain, text(&report, at(100)));
    }

    #[test]
    fn the_columns_that_tell_rows_apart_label_every_block() {
        let row = |latency: f64, policy: &str, more: u64| {
            let numbers = [1_234_567_890_123, 9_876_543_210_987].map(|number| Cell::Count(number + more));
            [vec![Cell::Nanos(latency), Cell::text(policy)], numbers.into()].concat()
        };
        let table = Table {
            columns: ["latency", "policy", "first number", "second number"]
                .map(|title| ReportColumn::new(title, title))
                .into(),
            rows: vec![row(1e8, "lru", 0), row(1e8, "arc", 1), row(1e7, "lru", 2)],
            ..Table::default()
        };
        assert_eq!(
            table_section(&table, at(40)),
            "latency  policy       first number\n\
             ──────────────────────────────────\n  \
             100ms  lru     1,234,567,890,123\n  \
             100ms  arc     1,234,567,890,124\n   \
             10ms  lru     1,234,567,890,125\n\
             \n\
             latency  policy      second number\n\
             ──────────────────────────────────\n  \
             100ms  lru     9,876,543,210,987\n  \
             100ms  arc     9,876,543,210,988\n   \
             10ms  lru     9,876,543,210,989\n"
        );
    }

    #[test]
    fn columns_for_programs_are_not_drawn() {
        let table = Table {
            columns: vec![
                ReportColumn::new("wait", "quantity"),
                ReportColumn::for_programs("name"),
                ReportColumn::new("refined", "refined"),
            ],
            rows: vec![vec![Cell::text("users"), Cell::text("wait_ns"), Cell::Nanos(5e6)]],
            ..Table::default()
        };
        assert_eq!(table_section(&table, at(40)), "wait   refined\n──────────────\nusers      5ms\n");
    }

    #[test]
    fn an_empty_report_is_empty_and_a_ragged_table_is_drawn() {
        assert_eq!(text(&Report::default(), Look::default()), "");
        let ragged = Table {
            columns: vec![ReportColumn::new("a", "a"), ReportColumn::new("b", "b")],
            rows: vec![vec![Cell::Count(1)], vec![const { Cell::Count(2) }; 3]],
            ..Table::default()
        };
        assert_eq!(table_section(&ragged, at(80)).trim_end().lines().last(), Some("2  2"));
        assert_eq!(table_section(&Table::default(), at(80)).trim(), "");
    }

    #[test]
    fn lines_break_at_spaces_only() {
        assert_eq!(fold("one two  three", 7), ["one two", "three"]);
        assert_eq!(fold("unbreakable", 3), ["unbreakable"]);
        assert_eq!(fold("", 3), [""]);
    }
}
