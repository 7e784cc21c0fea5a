//! What the numbers of a document must obey, whatever the workload.

use std::collections::BTreeMap;

use serde_json::Value;

/// In every row of the table, the columns on the left add up to what those on the right do.
struct Identity {
    study: &'static str,
    table: &'static str,
    left: &'static [&'static str],
    right: &'static [&'static str],
}

const fn identity(
    study: &'static str,
    table: &'static str,
    left: &'static [&'static str],
    right: &'static [&'static str],
) -> Identity {
    Identity { study, table, left, right }
}

const IDENTITIES: &[Identity] = &[
    identity("cache.compare", "policies", &["totals.requests"], &["hits", "delayed_hits", "misses"]),
    identity("cache.bound", "policies", &["totals.requests"], &["hits", "delayed_hits", "misses"]),
    identity("fair.simulate", "users", &["submitted"], &["completed", "censored", "skipped"]),
    identity(
        "limit.precision",
        "points",
        &["arrived_packets"],
        &["passed_packets", "marked_packets", "dropped_packets"],
    ),
    identity(
        "limit.replay",
        "counts",
        &["arrived_packets"],
        &["passed_packets", "marked_packets", "dropped_packets"],
    ),
    identity(
        "limit.replay",
        "counts",
        &["arrived_bytes"],
        &["passed_bytes", "marked_bytes", "dropped_bytes"],
    ),
    identity(
        "limit.replay",
        "limiters",
        &["arrived_bytes"],
        &["passed_bytes", "marked_bytes", "dropped_bytes"],
    ),
    identity(
        "limit.replay",
        "over-time",
        &["arrived_bytes"],
        &["passed_bytes", "marked_bytes", "dropped_bytes"],
    ),
    identity("sched.fabric", "counts", &["sent"], &["delivered", "drops", "in_network"]),
    identity("sched.feedback", "policies", &["arrivals"], &["departures", "drops", "waiting"]),
    identity("sched.inversions", "counts", &["arrivals"], &["departures", "drops"]),
    identity("sched.inversions", "by-rank", &["arrivals"], &["departures", "drops"]),
    identity("surge.compare", "rows", &["arrived"], &["served", "dropped", "left"]),
    identity("surge.compare", "fates", &["arrived"], &["served", "dropped", "left"]),
    identity("surge.compare", "fates", &["arrived_bits"], &["served_bits", "dropped_bits", "left_bits"]),
];

/// The value of `column` in the row with this index; `TABLE.COLUMN` is a column of another table with the same rows.
fn value(tables: &Value, table: &str, index: usize, column: &str) -> Result<Option<u64>, String> {
    let (table, column) = column.split_once('.').unwrap_or((table, column));
    let value = tables[table][index].get(column);
    let value = value.ok_or_else(|| format!("{table} has no column {column} in row {index}"))?;
    Ok(value.as_u64())
}

/// Rows in which each identity was checked, by its place in the list.
pub(super) type Checked = BTreeMap<usize, u64>;

/// Identities that were checked in no row, with what they are.
pub(super) fn unchecked(checked: &Checked) -> Vec<String> {
    let names = IDENTITIES.iter().enumerate().filter(|(place, _)| !checked.contains_key(place));
    names.map(|(_, identity)| format!("{} {} {:?}", identity.study, identity.table, identity.left)).collect()
}

/// Identities that do not hold, each with its row. A row where some number is missing is passed over.
pub(super) fn broken(study: &str, document: &Value, checked: &mut Checked) -> Vec<String> {
    let tables = &document["tables"];
    let mut broken = Vec::new();
    let identities = IDENTITIES.iter().enumerate().filter(|(_, identity)| identity.study == study);
    for (place, Identity { table, left, right, .. }) in identities {
        let rows = tables[*table].as_array().map_or(&[][..], Vec::as_slice);
        for (index, row) in rows.iter().enumerate() {
            let sum = |columns: &[&str]| {
                columns
                    .iter()
                    .map(|column| value(tables, table, index, column))
                    .sum::<Result<Option<u64>, _>>()
            };
            match (sum(left), sum(right)) {
                (Ok(Some(left_sum)), Ok(Some(right_sum))) => {
                    *checked.entry(place).or_default() += 1;
                    if left_sum != right_sum {
                        broken.push(format!(
                            "{table}: {left:?} = {left_sum}, but {right:?} = {right_sum} in {row}"
                        ));
                    }
                }
                (Err(problem), _) | (_, Err(problem)) => broken.push(problem),
                _ => {}
            }
        }
    }
    broken
}
