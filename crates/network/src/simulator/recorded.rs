//! Flows out of a table.

use std::collections::BTreeMap;
use std::io::Read;

use thiserror::Error;
use trueplane_units::Nanos;

use super::flow::FlowSpec;

/// The last time at which a flow may start, in ns: 267 years before the end of time.
const LAST_START: u64 = 10_000_000_000_000_000_000;

/// Bytes of a flow, at most.
const MOST_BYTES: u64 = 1_000_000_000_000;

/// Flows that cannot be.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("flows: expected {expected}, got {got}")]
pub struct BadFlows {
    /// Description of what they can be.
    pub expected: String,
    /// Text of what they are.
    pub got: String,
}

/// Reads a table in CSV with the columns `start_ns`, `from`, `to` and `bytes`, in any order of times.
///
/// Ends are names of `hosts`, or numbers of hosts from 0 on if there are no names. `count` is the number of hosts. O(n log n).
///
/// # Errors
///
/// If a column is missing, a value is none of its kind, or a flow goes to nobody or to its sender.
pub fn read_flows(table: impl Read, hosts: &[String], count: u32) -> Result<Vec<FlowSpec>, BadFlows> {
    let bad = |expected: &str, got: String| BadFlows { expected: expected.to_owned(), got };
    let mut reader = csv::ReaderBuilder::new().trim(csv::Trim::All).from_reader(table);
    let header = reader.headers().map_err(|error| bad("CSV", error.to_string()))?.clone();
    let place = |name: &str| header.iter().position(|column| column == name);
    let (Some(start), Some(from), Some(to), Some(bytes)) =
        (place("start_ns"), place("from"), place("to"), place("bytes"))
    else {
        let got = format!("{:?}", header.iter().collect::<Vec<_>>());
        return Err(bad("the columns start_ns, from, to and bytes", got));
    };
    let numbers: BTreeMap<&str, u32> = hosts.iter().map(String::as_str).zip(0_u32..).collect();
    let host = |name: &str| match numbers.get(name) {
        Some(number) => Some(*number),
        None => name.parse::<u32>().ok().filter(|number| hosts.is_empty() && *number < count),
    };
    let whose = if hosts.is_empty() {
        format!("a host from 0 to {}", count - 1)
    } else {
        "a host of the links".to_owned()
    };
    let mut flows = Vec::new();
    for record in reader.records() {
        let record = record.map_err(|error| bad("CSV", error.to_string()))?;
        let line = record.position().map_or(0, csv::Position::line);
        let text = |place: usize| record.get(place).unwrap_or_default();
        let found = |place: usize| format!("{:?} in line {line}", text(place));
        let start_ns = text(start).parse::<u64>().ok().filter(|start| *start <= LAST_START);
        let start_ns = start_ns.ok_or_else(|| bad("0 to 10^19 nanoseconds as start_ns", found(start)))?;
        let size = text(bytes).parse::<u64>().ok().filter(|bytes| (1..=MOST_BYTES).contains(bytes));
        let size = size.ok_or_else(|| bad("1 to 10^12 as bytes", found(bytes)))?;
        let sender = host(text(from)).ok_or_else(|| bad(&format!("{whose} as from"), found(from)))?;
        let receiver = host(text(to)).ok_or_else(|| bad(&format!("{whose} as to"), found(to)))?;
        if sender == receiver {
            return Err(bad("two hosts that differ", format!("a flow from {} to itself", found(from))));
        }
        flows.push(FlowSpec { start: Nanos(start_ns), from: sender, to: receiver, bytes: size });
    }
    if flows.is_empty() {
        return Err(bad("one flow or more", "none".to_owned()));
    }
    flows.sort_by_key(|flow| flow.start);
    Ok(flows)
}
