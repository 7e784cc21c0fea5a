//! The exact-match table of a switch: cuckoo hashing.

use crate::Key;
use crate::hash::{mix, row};
use crate::table::{Entry, Mixed, Numbers, Table};

/// Places of a bucket.
const WAYS: u32 = 4;
/// Buckets that the search for a free place looks at before it gives up.
const REACH: usize = 512;
/// Sets the second bucket apart from the first.
const SECOND: u64 = 0x9e37_79b9_7f4a_7c15;

/// A cuckoo table: every key has two buckets of four places and lies in one of them.
///
/// Where both are full, the shortest chain of keys that can each move over to their other bucket makes room (breadth
/// first, over at most 512 buckets); without one the insertion fails. An entry keeps its number while its key moves.
/// Lookup and removal O(1), with at most two cache lines; insertion O(512) at worst. Only a share of the places is
/// used, as operators do so that insertions are quick and do not fail: with four places and two choices they begin to
/// fail at 98%.
///
/// Source: R. Pagh, F. F. Rodler, *Cuckoo Hashing*, 2004; DySO §II-A1 and §IV-B (90%). Departure: how a Tofino's
/// driver searches is not public; moves are counted, but take no time of their own beyond the update rate, and are
/// never seen half done.
#[derive(Debug)]
pub struct CuckooTable {
    places: Vec<Place>,
    buckets: u32,
    /// Entries and the places where they are.
    entries: Numbers,
    search: Vec<Step>,
    moves: u64,
    failures: u64,
}

#[derive(Clone, Copy, Debug)]
struct Place {
    key: Mixed,
    entry: u32,
}

const VACANT: Place = Place { key: Mixed(0), entry: u32::MAX };

impl Place {
    fn is_vacant(&self) -> bool {
        self.entry == VACANT.entry
    }
}

/// A bucket that the search has come to.
#[derive(Clone, Copy, Debug)]
struct Step {
    bucket: u32,
    /// The place whose key could move here, and the step whose bucket that is in; `None` where the new key could go.
    from: Option<(u32, u32)>,
}

impl CuckooTable {
    /// Empty, with `places` of them, of which up to `load_percent` in a hundred, rounded down, may be used.
    pub fn new(places: u32, load_percent: u32) -> Self {
        let capacity = u64::from(places) * u64::from(load_percent.min(100)) / 100;
        Self {
            places: vec![VACANT; places as usize],
            buckets: places.div_ceil(WAYS),
            entries: Numbers::new(capacity as u32),
            search: Vec::new(),
            moves: 0,
            failures: 0,
        }
    }

    /// Keys that had to move to their other bucket.
    pub fn moves(&self) -> u64 {
        self.moves
    }

    /// Insertions for which there was no place.
    pub fn failures(&self) -> u64 {
        self.failures
    }

    fn homes(&self, key: Mixed) -> [u32; 2] {
        [row(key.0, self.buckets), row(mix(Key(key.0 ^ SECOND)), self.buckets)]
    }

    /// The places of a bucket; the last bucket may have fewer.
    #[inline]
    fn bucket(&self, bucket: u32) -> impl Iterator<Item = (u32, &Place)> {
        let first = bucket * WAYS;
        let places = self.places.iter().skip(first as usize).take(WAYS as usize);
        (first..).zip(places)
    }

    #[inline]
    fn place_in(&self, bucket: u32, key: Mixed) -> Option<Entry> {
        let found = self.bucket(bucket).find(|(_, place)| place.key == key && !place.is_vacant());
        found.map(|(_, place)| Entry(place.entry))
    }

    /// A vacant place in a bucket that the new key's buckets lead to, and the step that found it.
    fn find_room(&mut self, key: Mixed) -> Option<(u32, usize)> {
        let mut search = std::mem::take(&mut self.search);
        search.clear();
        search.extend(self.homes(key).map(|bucket| Step { bucket, from: None }));
        let room = (0..REACH).find_map(|step| {
            let bucket = search.get(step)?.bucket;
            let vacant = self.bucket(bucket).find(|(_, place)| place.is_vacant());
            if vacant.is_none() && search.len() < REACH {
                for (at, place) in self.bucket(bucket) {
                    let [first, second] = self.homes(place.key);
                    let other = if first == bucket { second } else { first };
                    if !leads_through(&search, step, other) {
                        search.push(Step { bucket: other, from: Some((at, step as u32)) });
                    }
                }
            }
            vacant.map(|(at, _)| (at, step))
        });
        self.search = search;
        room
    }

    fn put(&mut self, at: u32, place: Place) {
        self.places[at as usize] = place;
        self.entries.update(Entry(place.entry), u64::from(at));
    }
}

/// Whether the way to a step leads through `bucket`: a key on it would then have to move twice.
fn leads_through(search: &[Step], step: usize, bucket: u32) -> bool {
    let back = |step: &Step| step.from.map(|(_, before)| search[before as usize]);
    std::iter::successors(Some(search[step]), back).any(|step| step.bucket == bucket)
}

impl Table for CuckooTable {
    fn capacity(&self) -> u32 {
        self.entries.capacity()
    }

    fn len(&self) -> u32 {
        self.entries.used()
    }

    #[inline]
    fn find(&self, key: Mixed) -> Option<Entry> {
        let [first, second] = self.homes(key);
        self.place_in(first, key).or_else(|| self.place_in(second, key))
    }

    fn insert(&mut self, key: Mixed) -> Option<Entry> {
        if self.len() == self.capacity() {
            return None;
        }
        let Some((mut vacant, mut step)) = self.find_room(key) else {
            self.failures += 1;
            return None;
        };
        while let Some((at, before)) = self.search[step].from {
            self.put(vacant, self.places[at as usize]);
            self.moves += 1;
            (vacant, step) = (at, before as usize);
        }
        let entry = self.entries.take(u64::from(vacant))?;
        self.put(vacant, Place { key, entry: entry.0 });
        Some(entry)
    }

    fn remove(&mut self, entry: Entry) -> Option<Mixed> {
        let at = self.entries.give_back(entry)?;
        let place = std::mem::replace(&mut self.places[at as usize], VACANT);
        Some(place.key)
    }
}
