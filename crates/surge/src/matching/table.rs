//! What matching the payloads of a data set takes, found out once.

use rayon::prelude::*;
use trueplane_study::{Error, Observer};

use super::engine::Counting;
use super::matcher::{Matcher, Scratch, Trial};
use crate::segments::Segments;

/// Payloads between two questions to the observer.
const BATCH: usize = 1 << 12;

/// Facts of matching every payload of a data set.
///
/// A payload takes the same steps whenever it comes, so runs look them up here. The payloads themselves are not kept.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Table {
    /// The bytes of each payload, and where in the lists what comes after it begins.
    rows: Vec<Row>,
    candidates: Vec<u32>,
    trials: Vec<Trial>,
    rules: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Row {
    bytes: u32,
    matched: Option<u32>,
    candidates: usize,
    trials: usize,
}

/// Facts of matching one payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry<'a> {
    /// Its size.
    pub bytes: u32,
    /// The rules that it may match, by their numbers in the file, from 0.
    pub candidates: &'a [u32],
    /// Those of them that are tried, with their steps.
    pub trials: &'a [Trial],
    /// The first that matches.
    pub matched: Option<u32>,
}

impl Entry<'_> {
    /// The steps of all trials.
    pub fn steps(&self) -> u64 {
        self.trials.iter().map(|trial| trial.steps).sum()
    }
}

impl Table {
    /// Matches every one of `payloads` on all cores; the result does not depend on how many there are.
    ///
    /// # Errors
    ///
    /// If the observer interrupts, or there are more than 2³² payloads or bytes in one.
    pub fn new<E: Counting, P: AsRef<[u8]> + Sync>(
        matcher: &Matcher<E>,
        payloads: &[P],
        observer: &dyn Observer,
    ) -> Result<Self, Error> {
        observer.stage("matching", payloads.len() as u64);
        let mut table = Self { rules: matcher.rules(), ..Self::default() };
        for batch in payloads.chunks(BATCH) {
            let inspect = |scratch: &mut Scratch<_>, payload: &P| matcher.inspect(payload.as_ref(), scratch);
            let inspections: Vec<_> = batch.par_iter().map_init(Scratch::default, inspect).collect();
            for (payload, inspection) in batch.iter().zip(inspections) {
                table.candidates.extend_from_slice(&inspection.candidates);
                table.trials.extend_from_slice(&inspection.trials);
                let bytes = u32::try_from(payload.as_ref().len());
                let bytes = bytes.map_err(|_| Error::Parameters("a payload is larger than 4 GiB".into()))?;
                let (candidates, trials) = (table.candidates.len(), table.trials.len());
                table.rows.push(Row { bytes, matched: inspection.matched, candidates, trials });
            }
            observer.advance(batch.len() as u64);
            if observer.interrupted() {
                return Err(Error::Interrupted);
            }
        }
        if u32::try_from(table.rows.len()).is_err() {
            return Err(Error::Parameters("there are more than 2³² payloads".into()));
        }
        Ok(table)
    }

    /// Matches what was captured of the payload of every segment; a payload's number is its segment's.
    ///
    /// # Errors
    ///
    /// As [`Table::new`].
    pub fn of_segments<E: Counting>(
        matcher: &Matcher<E>,
        segments: &Segments,
        observer: &dyn Observer,
    ) -> Result<Self, Error> {
        let payloads: Vec<_> = segments.all().iter().map(|segment| segments.payload(segment)).collect();
        Self::new(matcher, &payloads, observer)
    }

    /// Number of payloads.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Number of rules.
    pub fn rules(&self) -> usize {
        self.rules
    }

    /// Payload `index`, if there is one.
    #[inline]
    pub fn entry(&self, index: u32) -> Option<Entry<'_>> {
        let index = index as usize;
        let row = self.rows.get(index)?;
        let (candidates, trials) = match index.checked_sub(1) {
            Some(before) => (self.rows[before].candidates, self.rows[before].trials),
            None => (0, 0),
        };
        Some(Entry {
            bytes: row.bytes,
            candidates: &self.candidates[candidates..row.candidates],
            trials: &self.trials[trials..row.trials],
            matched: row.matched,
        })
    }

    /// All payloads, in their order.
    pub fn entries(&self) -> impl Iterator<Item = Entry<'_>> {
        (0..=u32::MAX).map_while(|index| self.entry(index))
    }
}
