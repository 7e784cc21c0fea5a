//! The header of a rule: `alert tcp $HOME_NET any -> [10.0.0.0/8, !10.1.0.0/16] 80:90`.

use std::net::IpAddr;

use super::cursor::{Cursor, Fault};
use super::error::quoted;

/// Actions of rules. All are treated alike here.
const ACTIONS: [&str; 3] = ["alert", "drop", "reject"];

/// The protocols whose payload is what a rule means.
const PROTOCOLS: [&str; 4] = ["tcp", "udp", "ip", "any"];

/// Lists in lists, of which there are no more than so many in each other.
const DEEPEST: usize = 8;

/// Reads a header for its shape; nothing of it is kept.
pub(super) fn header(cursor: &mut Cursor<'_>) -> Result<(), Fault> {
    one_of(cursor, &ACTIONS)?;
    one_of(cursor, &PROTOCOLS)?;
    part(cursor, is_address, "an address: any, an IP address or network, $NAME, !… or […, …]")?;
    part(cursor, is_port, "a port: any, a number up to 65535, a range like 80:90, $NAME, !… or […, …]")?;
    one_of(cursor, &["->", "<>"])?;
    part(cursor, is_address, "an address: any, an IP address or network, $NAME, !… or […, …]")?;
    part(cursor, is_port, "a port: any, a number up to 65535, a range like 80:90, $NAME, !… or […, …]")
}

/// Reads one of `words`.
fn one_of(cursor: &mut Cursor<'_>, words: &[&str]) -> Result<(), Fault> {
    cursor.spaces();
    let before = *cursor;
    if words.contains(&cursor.word()) {
        return Ok(());
    }
    let (last, others) = words.split_last().unwrap_or((&"nothing", &[]));
    Err(before.expected(&format!("{} or {last}", others.join(", "))))
}

/// Reads an address or a port.
fn part(cursor: &mut Cursor<'_>, fits: fn(&str) -> bool, what: &str) -> Result<(), Fault> {
    cursor.spaces();
    let before = *cursor;
    let mut open = 0i32;
    // Spaces do not end a list.
    while let Some(next) = cursor.line().chars().next().filter(|next| open > 0 || !next.is_whitespace()) {
        // What opens the options ends every part of a header.
        if next == '(' {
            break;
        }
        open += i32::from(next == '[') - i32::from(next == ']');
        cursor.character();
    }
    let end = before.line().len() - cursor.line().len();
    let part = &before.line()[..end];
    if part.is_empty() {
        return Err(before.expected(what));
    }
    if list(part, fits, DEEPEST) {
        Ok(())
    } else {
        Err((before.at(), format!("expected {what}, got {}", quoted(part))))
    }
}

/// Whether `text` is something that fits, not that, or a list of such.
fn list(text: &str, fits: fn(&str) -> bool, deepest: usize) -> bool {
    let text = text.trim();
    let text = text.strip_prefix('!').unwrap_or(text);
    let Some(inside) = text.strip_prefix('[') else {
        return text == "any" || is_name(text) || fits(text);
    };
    let Some(inside) = inside.strip_suffix(']').filter(|_| deepest > 0) else { return false };
    let mut open = 0i32;
    inside
        .split(|character| {
            open += i32::from(character == '[') - i32::from(character == ']');
            open == 0 && character == ','
        })
        .all(|element| list(element, fits, deepest - 1))
}

/// `$HOME_NET`.
fn is_name(text: &str) -> bool {
    text.strip_prefix('$').is_some_and(|name| {
        !name.is_empty()
            && name.chars().all(|character| character.is_ascii_alphanumeric() || character == '_')
    })
}

/// `10.0.0.1`, `10.0.0.0/8`, `2001:db8::/32`.
fn is_address(text: &str) -> bool {
    let (address, length) =
        text.split_once('/').map_or((text, None), |(address, length)| (address, Some(length)));
    let Ok(address) = address.parse::<IpAddr>() else { return false };
    let longest = if address.is_ipv4() { 32 } else { 128 };
    length.is_none_or(|length| length.parse::<u8>().is_ok_and(|length| length <= longest))
}

/// `80`, `80:90`, `:1023`, `1024:`.
fn is_port(text: &str) -> bool {
    let port = |text: &str| text.parse::<u16>().ok();
    match text.split_once(':') {
        None => port(text).is_some(),
        Some(("", to)) => port(to).is_some(),
        Some((from, "")) => port(from).is_some(),
        Some((from, to)) => port(from).zip(port(to)).is_some_and(|(from, to)| from <= to),
    }
}
