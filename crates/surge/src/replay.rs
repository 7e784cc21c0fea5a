//! Attacks that an earlier study sent, to be sent again: `--attack file:FOUND.json`.
//!
//! What is read is what `surge compare --json` writes: of the table `rows` the policies, the two rates and the attacks, and of the table
//! `mixtures` the parts of those that were searched for. A number with a point is read as it was written, to the last digit, so that the
//! same packets come at the same times.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use serde_json::Value;
use trueplane_study::{Error, json};
use trueplane_trace::TraceError;
use trueplane_units::{BitsPerSec, Bytes, Nanos};

use crate::attack::AttackMethod;
use crate::jobs::MOST_JOB;
use crate::policy::PolicyName;
use crate::search::pattern::{Kind, MOST_PARTS};
use crate::search::{Flows, Part, Pattern};
use crate::theory::Attack;

/// A document is no larger.
const MOST_DOCUMENT: u64 = 256 << 20;

/// Parts have no more packets in a round, and mixtures no more bursts.
const MOST_COUNT: u64 = 1 << 20;

/// The attacks of a study.
#[derive(Clone, Debug, PartialEq)]
pub struct Replay {
    name: String,
    rows: Vec<Row>,
}

/// A policy at a pair of rates.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Point {
    policy: PolicyName,
    innocent: BitsPerSec,
    attack: BitsPerSec,
}

/// Attack that was sent against a policy at a pair of rates.
#[derive(Clone, Debug, PartialEq)]
struct Row {
    point: Point,
    attack: Replayed,
}

/// An attack that was sent.
#[derive(Clone, Debug, PartialEq)]
pub enum Replayed {
    /// Packets that are all the same, each a flow of its own.
    Alike(Attack),
    /// A mixture that was searched for.
    Mixture(Pattern),
}

impl Replayed {
    /// Its packets; `None` if the application decides what some of them take.
    pub fn made(&self) -> Option<Vec<Attack>> {
        let made = |part: &Part| match part.kind {
            Kind::Made { bits, job, estimate } => Some(Attack { bits, job, estimate }),
            Kind::Pool(_) => None,
        };
        match self {
            Replayed::Alike(attack) => Some(vec![*attack]),
            Replayed::Mixture(pattern) => pattern.parts.iter().map(made).collect(),
        }
    }
}

impl Replay {
    /// Reads a file.
    ///
    /// # Errors
    /// If it cannot be read, or as [`Replay::parse`].
    pub fn read(path: &Path) -> Result<Self, Error> {
        let name = path.display().to_string();
        let mut text = Vec::new();
        let read = File::open(path).and_then(|file| file.take(MOST_DOCUMENT + 1).read_to_end(&mut text));
        match read {
            Err(source) => Err(TraceError::Io { trace: name, source }.into()),
            Ok(_) if text.len() as u64 > MOST_DOCUMENT => Err(Error::Parameters(format!(
                "{name}: expected the JSON of surge compare, which takes at most {}; this file is larger",
                Bytes(MOST_DOCUMENT)
            ))),
            Ok(_) => Self::parse(&name, &text),
        }
    }

    /// Reads a document that is called `name`.
    ///
    /// # Errors
    /// If it is none of `surge compare`, or what it sent cannot be sent again: one line with the name and the field.
    pub fn parse(name: &str, text: &[u8]) -> Result<Self, Error> {
        let value: Value = serde_json::from_slice(text).map_err(|error| {
            let (what, place) = (json::problem(&error), json::place(&error));
            Error::Parameters(format!(
                "{name}: expected the JSON that surge compare --json writes: {what}{place}"
            ))
        })?;
        let document = Field { name, path: String::new(), value: &value };
        let study = document.get("study")?;
        if study.text()? != "surge.compare" {
            return Err(study.expected("\"surge.compare\", as surge compare --json writes it"));
        }
        let attack = document.get("parameters")?.get("attack")?;
        if attack.text()? == AttackMethod::Own.name() {
            return Err(attack
                .expected("attacks that can be sent again; for those of an application say --attack own"));
        }
        let tables = document.get("tables")?;
        let mixtures = tables.find("mixtures").map_or(Ok(Vec::new()), |table| read_mixtures(&table))?;
        let row = |row: &Field<'_>| {
            let point = Point::read(row)?;
            let mixture = mixtures.iter().find(|(known, _)| *known == point);
            let attack = match mixture {
                Some((_, pattern)) => Replayed::Mixture(pattern.clone()),
                None => Replayed::Alike(read_packet(row, "attack_")?),
            };
            Ok(Row { point, attack })
        };
        let rows = tables.get("rows")?.list()?.iter().map(row).collect::<Result<_, Error>>()?;
        Ok(Self { name: name.to_owned(), rows })
    }

    /// Attack that was sent against a policy at a pair of rates, for an application with `own` packets of its own for an attack.
    ///
    /// # Errors
    /// If there is no such row, or it is for another application.
    pub fn of(
        &self,
        policy: PolicyName,
        innocent: BitsPerSec,
        attack: BitsPerSec,
        own: usize,
    ) -> Result<&Replayed, Error> {
        let name = &self.name;
        if !self.rows.iter().any(|row| row.point.policy == policy) {
            return Err(Error::Parameters(format!(
                "{name}: expected an attack on {policy}, found none: leave {policy} out of --policies, or search for one first"
            )));
        }
        let point = Point { policy, innocent, attack };
        let row = self.rows.iter().find(|row| row.point == point).ok_or_else(|| {
            Error::Parameters(format!(
                "{name}: expected an attack on {policy} of {attack:#} with users at {innocent:#}, found none: give the workload, \
                 --innocent, --attack-rate and --seeds of the study that wrote it"
            ))
        })?;
        match &row.attack {
            Replayed::Mixture(pattern)
                if pattern
                    .parts
                    .iter()
                    .any(|part| matches!(part.kind, Kind::Pool(number) if own <= number)) =>
            {
                Err(Error::Parameters(format!(
                    "{name}: the attack on {policy} has packets of an application, and this workload has {own} of them: give the \
                     workload of the study that wrote it"
                )))
            }
            replayed => Ok(replayed),
        }
    }
}

impl Point {
    fn read(row: &Field<'_>) -> Result<Self, Error> {
        let policy = row.get("policy")?;
        let rate = |name: &str| row.get(name)?.number(1..=u64::MAX).map(BitsPerSec);
        Ok(Self {
            policy: policy.text()?.parse().map_err(|_| policy.expected("the name of a policy"))?,
            innocent: rate("innocent_bps")?,
            attack: rate("attack_bps")?,
        })
    }
}

/// A packet in the columns of these names behind `prefix`.
fn read_packet(row: &Field<'_>, prefix: &str) -> Result<Attack, Error> {
    let time =
        |name: &str| Ok::<_, Error>(Nanos(row.get(&format!("{prefix}{name}"))?.number(1..=MOST_JOB.0)?));
    let bits = row.get(&format!("{prefix}packet_bits"))?.number(1..=u32::MAX.into())?;
    Ok(Attack { bits: bits as u32, job: time("job_ns")?, estimate: time("estimate_ns")? })
}

/// The mixtures, each of the rows of its policy and rates.
fn read_mixtures(table: &Field<'_>) -> Result<Vec<(Point, Pattern)>, Error> {
    let mut mixtures: Vec<(Point, Pattern)> = Vec::new();
    for row in table.list()? {
        let (point, part) = (Point::read(&row)?, read_part(&row)?);
        match mixtures.iter_mut().find(|(known, _)| *known == point) {
            Some((_, pattern)) if pattern.parts.len() == MOST_PARTS => {
                return Err(row.expected(&format!("at most {MOST_PARTS} parts of an attack")));
            }
            Some((_, pattern)) => pattern.parts.push(part),
            None => mixtures.push((point, read_pattern(&row, part)?)),
        }
    }
    Ok(mixtures)
}

/// A mixture with its first part.
fn read_pattern(row: &Field<'_>, part: Part) -> Result<Pattern, Error> {
    let (duty, phase) = (row.get("duty")?, row.get("phase")?);
    let pattern = Pattern {
        parts: vec![part],
        bursts: row.get("bursts")?.number(1..=MOST_COUNT)? as u32,
        duty: duty.share()?,
        phase: phase.share()?,
    };
    if pattern.duty == 0.0 { Err(duty.expected("a number above 0")) } else { Ok(pattern) }
}

fn read_part(part: &Field<'_>) -> Result<Part, Error> {
    let kind = if part.find("job_ns").is_some() {
        let Attack { bits, job, estimate } = read_packet(part, "")?;
        Kind::Made { bits, job, estimate }
    } else {
        Kind::Pool(part.get("pool_index")?.number(0..=u32::MAX.into())? as usize)
    };
    let flows = part.get("flows")?;
    let read: Flows = flows.text()?.parse().map_err(|expected: String| flows.expected_as(&expected))?;
    if read == Flows::Own && matches!(kind, Kind::Made { .. }) {
        return Err(flows.expected("flows of the attacker, as these packets are no user's"));
    }
    Ok(Part { packets: part.get("packets")?.number(1..=MOST_COUNT)? as u32, kind, flows: read })
}

/// A value of a document, and where it is.
struct Field<'a> {
    /// Name of the document in errors.
    name: &'a str,
    /// Path of the value in the document.
    path: String,
    value: &'a Value,
}

impl<'a> Field<'a> {
    /// The field `name` in it, unless there is none or it is null.
    fn find(&self, name: &str) -> Option<Field<'a>> {
        let value = self.value.get(name).filter(|value| !value.is_null())?;
        let path = if self.path.is_empty() { name.to_owned() } else { format!("{}.{name}", self.path) };
        Some(Field { name: self.name, path, value })
    }

    fn get(&self, name: &str) -> Result<Field<'a>, Error> {
        self.find(name).ok_or_else(|| {
            let place = if self.path.is_empty() { "the document" } else { &self.path };
            Error::Parameters(format!(
                "{}: {place}: expected a field {name}, as surge compare --json of this version writes it; found none",
                self.name
            ))
        })
    }

    /// Error that says what was expected instead of the value.
    fn expected(&self, what: &str) -> Error {
        self.expected_as(&format!("expected {what}"))
    }

    fn expected_as(&self, expected: &str) -> Error {
        let (mut got, most) = (self.value.to_string(), 40);
        if got.chars().count() > most {
            got = got.chars().take(most).chain(['…']).collect();
        }
        Error::Parameters(format!("{}: {}: {expected}, got {got}", self.name, self.path))
    }

    fn text(&self) -> Result<&'a str, Error> {
        self.value.as_str().ok_or_else(|| self.expected("a text"))
    }

    fn list(&self) -> Result<Vec<Field<'a>>, Error> {
        let values = self.value.as_array().ok_or_else(|| self.expected("a list"))?;
        let field =
            |(number, value)| Field { name: self.name, path: format!("{}[{number}]", self.path), value };
        Ok(values.iter().enumerate().map(field).collect())
    }

    fn number(&self, within: std::ops::RangeInclusive<u64>) -> Result<u64, Error> {
        let number = self.value.as_u64().filter(|number| within.contains(number));
        number.ok_or_else(|| {
            self.expected(&format!("a whole number from {} to {}", within.start(), within.end()))
        })
    }

    /// A number from 0 to 1.
    fn share(&self) -> Result<f64, Error> {
        let number = self.value.as_f64().filter(|number| (0.0..=1.0).contains(number));
        number.ok_or_else(|| self.expected("a number from 0 to 1"))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const DOCUMENT: &str = r#"{"study":"surge.compare","parameters":{"attack":"search"},"tables":{"rows":[
        {"policy":"fcfs","innocent_bps":900,"attack_bps":100,"attack_packet_bits":512,"attack_job_ns":9,"attack_estimate_ns":7},
        {"policy":"wsjf","innocent_bps":900,"attack_bps":100,"attack_packet_bits":512,"attack_job_ns":9,"attack_estimate_ns":7}],
        "mixtures":[
        {"policy":"wsjf","innocent_bps":900,"attack_bps":100,"bursts":16,"duty":0.30000000000000004,"phase":0.1,
         "packets":4,"packet_bits":600,"job_ns":8,"estimate_ns":3,"pool_index":5,"flows":"17"},
        {"policy":"wsjf","innocent_bps":900,"attack_bps":100,"bursts":16,"duty":0.30000000000000004,"phase":0.1,
         "packets":1,"packet_bits":512,"job_ns":null,"estimate_ns":null,"pool_index":3,"flows":"their own"}]}}"#;

    fn parse(text: &str) -> Result<Replay, String> {
        Replay::parse("found.json", text.as_bytes()).map_err(|error| error.to_string())
    }

    #[test]
    fn attacks_are_read_as_they_were_sent() {
        let replay = parse(DOCUMENT).unwrap();
        let of = |policy, own| replay.of(policy, BitsPerSec(900), BitsPerSec(100), own);
        let attack = Attack { bits: 512, job: Nanos(9), estimate: Nanos(7) };
        assert_eq!(of(PolicyName::Fcfs, 0).unwrap(), &Replayed::Alike(attack));
        let made = Kind::Made { bits: 600, job: Nanos(8), estimate: Nanos(3) };
        let few = Flows::Few(std::num::NonZeroU64::new(17).unwrap());
        let parts = vec![
            Part { packets: 4, kind: made, flows: few },
            Part { packets: 1, kind: Kind::Pool(3), flows: Flows::Own },
        ];
        let pattern = Pattern { parts, bursts: 16, duty: 0.1 + 0.2, phase: 0.1 };
        assert_eq!(of(PolicyName::Wsjf, 4).unwrap(), &Replayed::Mixture(pattern));
        for (found, said) in [
            (of(PolicyName::Wsjf, 3), "this workload has 3 of them: give the workload of the study"),
            (
                of(PolicyName::Drr, 4),
                "found.json: expected an attack on drr, found none: leave drr out of --policies",
            ),
            (
                replay.of(PolicyName::Fcfs, BitsPerSec(901), BitsPerSec(100), 0),
                "expected an attack on fcfs of 100bps with users at 901bps, found none: give the workload, --innocent,",
            ),
        ] {
            let error = found.unwrap_err().to_string();
            assert!(error.contains(said) && !error.contains('\n'), "{error}");
        }
    }

    #[test]
    fn what_is_no_such_document_is_refused_with_its_field() {
        for (old, new, said) in [
            (
                DOCUMENT,
                "",
                "found.json: expected the JSON that surge compare --json writes: the document ends too early",
            ),
            (DOCUMENT, "[]", "found.json: the document: expected a field study"),
            (
                "surge.compare",
                "surge.guard",
                "found.json: study: expected \"surge.compare\", as surge compare",
            ),
            (
                "\"search\"",
                "\"own\"",
                "found.json: parameters.attack: expected attacks that can be sent again",
            ),
            ("\"rows\":[", "\"rows\":7,\"x\":[", "found.json: tables.rows: expected a list, got 7"),
            ("\"fcfs\"", "\"lifo\"", "tables.rows[0].policy: expected the name of a policy, got \"lifo\""),
            (
                "\"attack_bps\":100",
                "\"attack_bps\":-1",
                "rows[0].attack_bps: expected a whole number from 1 to",
            ),
            ("\"estimate_ns\":3,", "", "tables.mixtures[0]: expected a field estimate_ns"),
            ("\"job_ns\":8", "\"job_ns\":1e99", "tables.mixtures[0].job_ns: expected a whole number"),
            (
                "\"flows\":\"17\"",
                "\"flows\":\"0\"",
                "mixtures[0].flows: expected \"one for every packet\", \"their own\" or",
            ),
            (
                "\"flows\":\"17\"",
                "\"flows\":\"their own\"",
                "mixtures[0].flows: expected flows of the attacker",
            ),
            (
                "\"packets\":4",
                "\"packets\":0",
                "mixtures[0].packets: expected a whole number from 1 to 1048576, got 0",
            ),
            ("\"bursts\":16", "\"bursts\":0", "tables.mixtures[0].bursts: expected a whole number from 1"),
            (
                "\"duty\":0.30000000000000004",
                "\"duty\":0",
                "mixtures[0].duty: expected a number above 0, got 0",
            ),
            ("\"phase\":0.1", "\"phase\":1.1", "mixtures[0].phase: expected a number from 0 to 1, got 1.1"),
        ] {
            let error = parse(&DOCUMENT.replacen(old, new, 1)).unwrap_err();
            assert!(error.contains(said) && !error.contains('\n'), "{error}");
        }
        let (start, last) = DOCUMENT.rsplit_once("\n        {").unwrap();
        let part = last.strip_suffix("]}}").unwrap();
        let many = format!("{start}{{{part},{{{part},{{{part}]}}}}");
        let error = parse(&many).unwrap_err();
        assert!(error.contains("tables.mixtures[3]: expected at most 3 parts of an attack, got"), "{error}");
    }

    proptest! {
        /// Whatever a byte is changed to: it is read or refused in one line.
        #[test]
        fn no_document_is_too_strange(place in 0..DOCUMENT.len(), byte in any::<u8>()) {
            let mut text = DOCUMENT.as_bytes().to_vec();
            text[place] = byte;
            if let Err(error) = Replay::parse("found.json", &text) {
                prop_assert!(!error.to_string().contains('\n'), "{}", error);
            }
        }
    }
}
