//! The options of a rule: `(msg:"…"; content:"GET|20|"; nocase; pcre:"/a+$/i"; sid:1; rev:2;)`.

use super::cursor::{Cursor, Fault};
use super::error::quoted;
use crate::matching::pattern::{Flags, Pattern};
use crate::matching::rules::rule::{Content, Rule};

/// What may stand in a rule.
const UNDERSTOOD: &str = "msg, content, nocase, pcre, sid, rev, or one of those that are passed over: gid, \
                          classtype, metadata, priority, reference, target";

/// Options that are ignored: they do not change what a rule matches.
const PASSED_OVER: [&str; 6] = ["gid", "classtype", "metadata", "priority", "reference", "target"];

/// Reads the options of a rule that begins in this line, parentheses and all, and says where its `sid` is.
pub(super) fn options(cursor: &mut Cursor<'_>, line: usize) -> Result<(Rule, usize), Fault> {
    cursor.spaces();
    let begin = *cursor;
    cursor.require("(")?;
    let mut rule = Rule { line, ..Rule::default() };
    let (mut sid, mut rev, mut msg) = (None, None, None);
    loop {
        cursor.spaces();
        if cursor.take(")") {
            break;
        }
        let before = *cursor;
        let name = cursor.while_(|character| character.is_ascii_alphanumeric() || "_.".contains(character));
        match name {
            "msg" => once(&mut msg, before, || text(cursor))?,
            "sid" => once(&mut sid, before, || number(cursor).map(|sid| (sid, before.at())))?,
            "rev" => once(&mut rev, before, || number(cursor))?,
            "content" => rule.contents.push(content(cursor)?),
            "nocase" => match rule.contents.last_mut() {
                Some(content) if !content.nocase => content.nocase = true,
                _ => {
                    return Err((
                        before.at(),
                        "expected a content before it that nocase is for, got none".into(),
                    ));
                }
            },
            "pcre" => rule.patterns.push(pcre(cursor)?),
            name if PASSED_OVER.contains(&name) => {
                cursor.require(":")?;
                cursor.while_(|character| character != ';');
            }
            _ => return Err(before.expected(UNDERSTOOD)),
        }
        cursor.require(";")?;
    }
    let lacks = |what: &str| (begin.at(), format!("expected a rule with {what}, got one without"));
    let (sid, at) = sid.ok_or_else(|| lacks("a sid"))?;
    if rule.contents.is_empty() {
        return Err(lacks("a content, for the prefilter to find"));
    }
    (rule.sid, rule.rev, rule.msg) = (sid, rev.unwrap_or(0), msg.unwrap_or_default());
    Ok((rule, at))
}

/// Reads an option that a rule has once at most.
fn once<T>(
    value: &mut Option<T>,
    before: Cursor<'_>,
    read: impl FnOnce() -> Result<T, Fault>,
) -> Result<(), Fault> {
    if value.is_some() {
        return Err(before.expected("an option that the rule does not have yet"));
    }
    *value = Some(read()?);
    Ok(())
}

/// Reads `:17`.
fn number(cursor: &mut Cursor<'_>) -> Result<u32, Fault> {
    cursor.require(":")?;
    cursor.spaces();
    let before = *cursor;
    let digits = cursor.while_(|character| character.is_ascii_digit());
    let number = digits.parse().ok().filter(|number| *number > 0);
    number.ok_or_else(|| before.expected(&format!("a number from 1 to {}", u32::MAX)))
}

/// Reads `:"…"` up to the quotation mark, and where the inside begins; a backslash keeps what follows from ending it.
fn quotation<'a>(cursor: &mut Cursor<'a>, what: &str) -> Result<(Cursor<'a>, &'a str), Fault> {
    cursor.require(":")?;
    cursor.spaces();
    if !cursor.take("\"") {
        return Err(cursor.expected(&format!("{what} in quotation marks")));
    }
    let begin = *cursor;
    loop {
        let before = *cursor;
        match cursor.character() {
            Some('"') => return Ok((begin, &begin.line()[..before.at() - begin.at()])),
            // Elsewhere it would end the option.
            Some(';') => {
                return Err((before.at(), "expected \"\\;\" within quotation marks, got \";\"".into()));
            }
            Some('\\') if cursor.character().is_some() => {}
            Some('\\') | None => {
                let before = if cursor.line().is_empty() { *cursor } else { before };
                return Err(before.expected("\"\"\" before the line ends"));
            }
            Some(_) => {}
        }
    }
}

/// Reads `:"…"` with escapes.
fn text(cursor: &mut Cursor<'_>) -> Result<String, Fault> {
    let (_, inside) = quotation(cursor, "a text")?;
    let (mut text, mut escaped) = (String::new(), false);
    for character in inside.chars() {
        escaped = !escaped && character == '\\';
        if !escaped {
            text.push(character);
        }
    }
    Ok(text)
}

/// Reads `:"abc|0d 0A|"`.
fn content(cursor: &mut Cursor<'_>) -> Result<Content, Fault> {
    let (mut inside, text) = quotation(cursor, "bytes")?;
    let end = inside.at() + text.len();
    let mut bytes = Vec::new();
    while inside.at() < end {
        match inside.character() {
            Some('|') => hexadecimal(&mut inside, &mut bytes)?,
            Some('\\') => {
                let before = inside;
                match inside.character().filter(|character| "\"\\;:|".contains(*character)) {
                    Some(character) => bytes.push(character as u8),
                    None => return Err(before.expected("one of \" \\ ; : | after a backslash")),
                }
            }
            Some(character) => bytes.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes()),
            None => break,
        }
    }
    if bytes.is_empty() {
        return Err((end, "expected a byte at least, got none".into()));
    }
    Ok(Content { bytes, nocase: false })
}

/// Reads `0d 0A|`.
fn hexadecimal(inside: &mut Cursor<'_>, bytes: &mut Vec<u8>) -> Result<(), Fault> {
    loop {
        inside.while_(|character| character == ' ');
        if inside.take("|") {
            return Ok(());
        }
        let mut byte = 0;
        for _ in 0..2 {
            let before = *inside;
            let digit = inside.character().and_then(|character| character.to_digit(16));
            let Some(digit) = digit else { return Err(before.expected("two hexadecimal digits or \"|\"")) };
            byte = byte << 4 | digit as u8;
        }
        bytes.push(byte);
    }
}

/// Reads `:"/…/ims"`.
fn pcre(cursor: &mut Cursor<'_>) -> Result<Pattern, Fault> {
    // From here on the column of the inside is counted, and not from the begin of a line that may have many of them.
    cursor.place();
    let (mut inside, text) = quotation(cursor, "a regular expression between slashes")?;
    let begin = inside.at();
    let end = text.rfind('/').filter(|end| *end > 0 && inside.take("/"));
    let Some(end) = end else {
        return Err((begin, format!("expected a regular expression between slashes, got {}", quoted(text))));
    };
    let mut flags = Flags::default();
    for (at, letter) in text[end + 1..].char_indices() {
        *match letter {
            'i' => &mut flags.case_insensitive,
            'm' => &mut flags.multi_line,
            's' => &mut flags.dot_all,
            'x' => &mut flags.extended,
            // `$` is the end of the payload anyway.
            'E' => continue,
            _ => {
                let problem =
                    format!("expected a flag: i, m, s, x or E, got {}", quoted(&letter.to_string()));
                return Err((begin + end + 1 + at, problem));
            }
        } = true;
    }
    let place = inside.place();
    Pattern::parse(&text[1..end], flags, place).map_err(|(at, problem)| (begin + 1 + at, problem))
}
