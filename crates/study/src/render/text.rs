//! The report on a terminal or in a pipe: belief, warnings, facts, tables, and the verdict last, where the eye is when it
//! stops.
//!
//! A number is never wrapped. Headers are, at spaces, so that a column is as wide as its numbers; a table that is still
//! too wide for the terminal is continued below with its leading columns repeated.

use std::fmt::Write as _;

use comfy_table::{Cell as TextCell, CellAlignment, LineStyle, TableStyle};

use super::cells;
use crate::format;
use crate::report::{Cell, Report, Table};

/// Spaces between two columns.
const GAP: usize = 2;
/// A header takes at most this many lines; its column grows wider instead.
const HEADER_LINES: usize = 3;
/// Nothing is folded narrower than this, however narrow the terminal says it is.
const NARROWEST: usize = 40;

/// Capabilities of the reader's terminal; whoever owns the output finds out.
#[derive(Clone, Copy, Debug, Default)]
pub struct Look {
    /// Columns of the terminal. `None` folds nothing, so that in a pipe each row stays on one line.
    pub width: Option<usize>,
    /// Whether escape codes for bold and dim are understood and wanted.
    pub color: bool,
}

/// The whole report, ending in a line break.
///
/// ```text
/// 14 cache policies on cloudphysics.csv
/// The classical model: mean latency = hit rate × hit latency + miss rate × miss latency.
///
///   trace  cloudphysics.csv
///
/// Policies at a fetch latency of 100ms
/// policy   hits  delayed   mean
///                   hits
/// ────────────────────────────────
/// lru     1,234       56  1.235ms
///
/// Verdict
/// - Choosing by hit rate picks the wrong policy.
/// ```
pub fn text(report: &Report, look: Look) -> String {
    let look = Look { width: look.width.map(|width| width.max(NARROWEST)), ..look };
    let mut sections = vec![opening(report, look)];
    sections.push(warnings(&report.warnings, look));
    sections.push(circumstances(report, look));
    sections
        .extend(report.tables.iter().filter(|table| !table.detail).map(|table| table_section(table, look)));
    sections.extend((!report.verdict.is_empty()).then(|| verdict(&report.verdict, look)));
    sections.retain(|section| !section.is_empty());
    sections.join("\n")
}

impl Look {
    fn bold(self, text: &str) -> String {
        self.styled("1", text)
    }

    fn dim(self, text: &str) -> String {
        self.styled("2", text)
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

fn opening(report: &Report, look: Look) -> String {
    let mut lines = String::new();
    if !report.title.is_empty() {
        lines += &(look.bold(&look.folded(&report.title, 0)) + "\n");
    }
    if !report.belief.is_empty() {
        lines += &(look.folded(&format!("The classical model: {}", report.belief), 0) + "\n");
    }
    lines
}

fn warnings(sentences: &[String], look: Look) -> String {
    sentences.iter().map(|sentence| look.bold(&look.folded(sentence, 0)) + "\n").collect()
}

/// The facts, each in its line, and the parameters in one.
fn circumstances(report: &Report, look: Look) -> String {
    let mut lines = report.facts.clone();
    let parameters: Vec<String> =
        report.parameters.iter().map(|(name, value)| format!("{name} {value}")).collect();
    lines.extend((!parameters.is_empty()).then(|| ("parameters".to_owned(), parameters.join(", "))));
    facts(&lines, look)
}

fn facts(facts: &[(String, String)], look: Look) -> String {
    let longest = facts.iter().map(|(name, _)| format::one_line(name).chars().count()).max().unwrap_or(0);
    facts.iter().fold(String::new(), |mut lines, (name, value)| {
        let name = look.dim(&format!("{:longest$}", format::one_line(name)));
        // Writing to a `String` cannot fail.
        let _ = writeln!(lines, "  {name}  {}", look.folded(value, longest + 4));
        lines
    })
}

fn verdict(sentences: &[String], look: Look) -> String {
    sentences.iter().enumerate().fold(look.bold("Verdict") + "\n", |mut lines, (index, sentence)| {
        let sentence = look.folded(sentence, 2);
        let sentence = if index == 0 { look.bold(&sentence) } else { sentence };
        let _ = writeln!(lines, "- {sentence}");
        lines
    })
}

fn table_section(table: &Table, look: Look) -> String {
    let table = &*table.for_people();
    let columns: Vec<Column> = (0..table.columns.len()).map(|index| Column::of(table, index)).collect();
    let blocks = blocks(&columns, cells::labels(table), look.width);
    let mut section =
        if table.title.is_empty() { String::new() } else { look.folded(&table.title, 0) + "\n" };
    for (place, block) in blocks.iter().enumerate() {
        if place > 0 {
            section.push('\n');
        }
        section += &draw(block, look);
    }
    section
}

/// A column ready to be drawn.
struct Column {
    header: Vec<String>,
    cells: Vec<String>,
    words: bool,
    width: usize,
}

impl Column {
    fn of(table: &Table, index: usize) -> Self {
        let title = cells::heading(table, index);
        let cells: Vec<String> = table
            .rows
            .iter()
            .map(|row| format::for_people(row.get(index).unwrap_or(&Cell::Missing)))
            .collect();
        let longest_word = title.split(' ').map(width_of).max().unwrap_or(0);
        let mut width = cells.iter().map(|cell| width_of(cell)).max().unwrap_or(0).max(longest_word);
        while fold(&title, width).len() > HEADER_LINES {
            width += 1;
        }
        Self { header: fold(&title, width), cells, words: cells::holds_words(table, index), width }
    }
}

fn width_of(text: &str) -> usize {
    text.chars().count()
}

/// The columns in as few blocks as fit `width`, each starting with the columns that say which row it is: the first
/// `labels`, or the first alone where those would fill half of the line.
fn blocks(columns: &[Column], labels: usize, width: Option<usize>) -> Vec<Vec<&Column>> {
    let Some(width) = width else { return vec![columns.iter().collect()] };
    let space = |columns: &[Column]| columns.iter().map(|column| column.width + GAP).sum::<usize>();
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

fn draw(columns: &[&Column], look: Look) -> String {
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
        if place < header_lines { look.bold(line) } else { line.to_owned() }
    });
    lines.fold(String::new(), |text, line| text + &line + "\n")
}

/// Breaks `text` at spaces into lines of at most `width` characters; a longer word keeps a line of its own.
fn fold(text: &str, width: usize) -> Vec<String> {
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
    use crate::report::Column as ReportColumn;

    fn at(width: usize) -> Look {
        Look { width: Some(width), color: false }
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
        }
    }

    #[test]
    fn every_number_stands_on_one_line_at_every_width() {
        let report = sample::report();
        for look in [at(40), at(100), Look::default()] {
            let text = text(&report, look);
            for cell in report.tables.iter().flat_map(|table| &table.rows).flatten() {
                assert!(text.contains(&format::for_people(cell)), "{cell:?} at {look:?}");
            }
        }
    }

    #[test]
    fn in_a_pipe_a_row_is_one_line() {
        let text = text(&sample::report(), Look::default());
        assert_eq!(text.lines().filter(|line| line.starts_with("lru-mad ")).count(), 3, "{text}");
        assert!(!text.contains('\x1b'));
    }

    #[test]
    fn the_verdict_is_the_last_thing_on_the_screen() {
        let report = sample::report();
        let text = text(&report, Look::default());
        assert!(text.starts_with(&report.title), "{text}");
        let belief = text.find(&format!("The classical model: {}", report.belief)).unwrap();
        assert!(belief < text.find("objects").unwrap());
        assert!(text.ends_with(&format!("Verdict\n- {}\n- {}\n", report.verdict[0], report.verdict[1])));
    }

    #[test]
    fn warnings_come_before_all_numbers() {
        let report = Report { warnings: vec!["Beware: the clock stands.".to_owned()], ..sample::report() };
        let text = text(&report, Look::default());
        let (warning, fact) = (text.find("\nBeware: the clock stands.\n"), text.find("objects"));
        assert!(warning.is_some() && warning < fact, "{text}");
    }

    #[test]
    fn bold_is_used_only_when_wanted_and_changes_no_letter() {
        let report = sample::report();
        let bold = text(&report, Look { width: Some(100), color: true });
        assert!(bold.contains("\x1b[1m"));
        let plain =
            ["1", "2", "0"].iter().fold(bold, |text, code| text.replace(&format!("\x1b[{code}m"), ""));
        assert_eq!(plain, text(&report, at(100)));
    }

    #[test]
    fn the_columns_that_tell_rows_apart_label_every_block() {
        let table = Table {
            columns: ["latency", "policy", "first number", "second number"]
                .map(|title| ReportColumn::new(title, title))
                .into(),
            rows: ["lru", "arc"]
                .map(|policy| {
                    vec![
                        Cell::Nanos(1e8),
                        Cell::text(policy),
                        Cell::Count(1_234_567_890_123),
                        Cell::Count(9_876_543_210_987),
                    ]
                })
                .into(),
            ..Table::default()
        };
        assert_eq!(
            table_section(&table, at(40)),
            "latency  policy       first number\n\
             ──────────────────────────────────\n  \
             100ms  lru     1,234,567,890,123\n  \
             100ms  arc     1,234,567,890,123\n\
             \n\
             latency  policy      second number\n\
             ──────────────────────────────────\n  \
             100ms  lru     9,876,543,210,987\n  \
             100ms  arc     9,876,543,210,987\n"
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
