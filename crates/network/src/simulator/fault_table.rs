//! Faults of links out of a table.

use std::collections::HashMap;
use std::io::Read;

use trueplane_units::Nanos;

use super::faults::{BadFaults, FaultKind, Faults, LinkFault, MILLION};
use super::shapes::Named;

/// Nanoseconds of jitter, at most: a thousand seconds.
const MOST_JITTER: u64 = 1_000_000_000_000;

/// Rows of a table, at most.
const MOST_ROWS: usize = 1 << 20;

/// The columns of a table.
const COLUMNS: [&str; 6] = ["from", "to", "start_ns", "end_ns", "kind", "value"];

/// Reads a table in CSV with the columns `from`, `to`, `start_ns`, `end_ns`, `kind` and `value`, in any order of times.
///
/// A row is a fault of all links between two nodes, in both directions. Hosts have numbers from 0 on or the names of the network, switches their
/// names. The kinds are `down`, without a value; `loss`, with a chance in parts of a million; and `jitter`, with the longest additional
/// delay in nanoseconds. O(n log n).
///
/// # Errors
///
/// If a column is missing, a value is none of its kind, two nodes have no link, two faults of one kind meet on a link, or there are more than 2^20
/// rows.
pub fn read_faults(table: impl Read, network: &Named, seed: u64) -> Result<Faults, BadFaults> {
    let bad = |expected: &str, got: String| BadFaults { expected: expected.to_owned(), got };
    let mut reader = csv::ReaderBuilder::new().trim(csv::Trim::All).from_reader(table);
    let header = reader.headers().map_err(|error| bad("CSV", error.to_string()))?.clone();
    let places = COLUMNS.map(|name| header.iter().position(|column| column == name));
    let [Some(from), Some(to), Some(start), Some(end), Some(kind), Some(value)] = places else {
        let got = format!("{:?}", header.iter().collect::<Vec<_>>());
        return Err(bad("the columns from, to, start_ns, end_ns, kind and value", got));
    };
    let nodes = network.nodes();
    let between = links(network);
    let mut faults = Vec::new();
    for (row, record) in reader.records().enumerate() {
        let record = record.map_err(|error| bad("CSV", error.to_string()))?;
        let line = record.position().map_or(0, csv::Position::line);
        let text = |place: usize| record.get(place).unwrap_or_default();
        let found = |place: usize| format!("{:?} in line {line}", text(place));
        let nanos = |place: usize| {
            let expected = format!("nanoseconds as {}", &header[place]);
            text(place).parse::<u64>().map_err(|_| bad(&expected, found(place)))
        };
        let node = |place: usize| {
            let expected = format!("a node such as {} as {}", network.name(0), &header[place]);
            nodes.get(text(place)).copied().ok_or_else(|| bad(&expected, found(place)))
        };
        let span = (Nanos(nanos(start)?), Nanos(nanos(end)?));
        if span.0 >= span.1 {
            return Err(bad("an end_ns above start_ns", found(end)));
        }
        let ends = (node(from)?, node(to)?);
        let links = between
            .get(&(ends.0.min(ends.1), ends.0.max(ends.1)))
            .ok_or_else(|| bad("two nodes with a link", format!("{:?} and {}", text(from), found(to))))?;
        let kind = match text(kind) {
            "down" if text(value).is_empty() => FaultKind::Down,
            "down" => return Err(bad("no value for down", found(value))),
            "loss" => {
                let chance = text(value).parse::<u32>().ok().filter(|chance| *chance <= MILLION);
                let expected = "0 to 1000000 parts of a million as value";
                let chance = chance.ok_or_else(|| bad(expected, found(value)))?;
                FaultKind::Loss(chance)
            }
            "jitter" => {
                let most = text(value).parse::<u64>().ok().filter(|most| *most <= MOST_JITTER);
                let most = most.ok_or_else(|| bad("0 to 10^12 nanoseconds as value", found(value)))?;
                FaultKind::Jitter(Nanos(most))
            }
            _ => return Err(bad("down, loss or jitter as kind", found(kind))),
        };
        if row == MOST_ROWS {
            return Err(bad("at most 1048576 rows", format!("more in line {line}")));
        }
        let one = |&link: &u32| (LinkFault { link, from: span.0, until: span.1, kind }, line);
        faults.extend(links.iter().map(one));
    }
    apart(&mut faults)?;
    let faults: Vec<LinkFault> = faults.into_iter().map(|(fault, _)| fault).collect();
    Faults::new(network.topology.links().len(), &faults, seed)
}

/// Checks that faults of one kind do not meet on a link. Each fault has its line. O(n log n).
fn apart(faults: &mut [(LinkFault, u64)]) -> Result<(), BadFaults> {
    let kind = |fault: &LinkFault| match fault.kind {
        FaultKind::Down => 0,
        FaultKind::Loss(_) => 1,
        FaultKind::Jitter(_) => 2,
    };
    faults.sort_by_key(|(fault, line)| (fault.link, kind(fault), fault.from, *line));
    for pair in faults.windows(2) {
        let [(before, first), (fault, line)] = pair else { continue };
        if (before.link, kind(before)) == (fault.link, kind(fault)) && before.until > fault.from {
            return Err(BadFaults {
                expected: "faults of one kind and one link one after the other".to_owned(),
                got: format!(
                    "{} to {} in line {first} and {} to {} in line {line}",
                    before.from, before.until, fault.from, fault.until
                ),
            });
        }
    }
    Ok(())
}

/// The numbers of the links between two nodes, the node with the smaller number first.
fn links(network: &Named) -> HashMap<(u32, u32), Vec<u32>> {
    let mut links: HashMap<(u32, u32), Vec<u32>> = HashMap::new();
    for (number, link) in (0_u32..).zip(network.topology.links()) {
        let ends = (link.from.min(link.to), link.from.max(link.to));
        links.entry(ends).or_default().push(number);
    }
    links
}
