//! The objects of all lists in a file.

use std::fmt;
use std::hash::BuildHasher as _;

use hashbrown::{DefaultHashBuilder, HashTable};
use serde::de::{DeserializeSeed, Deserializer, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor};
use trueplane_study::Error;
use trueplane_trace::{LogText, TextPlace};
use trueplane_units::Nanos;

use super::object::{Kind, Object};
use crate::workload::reading::Progress;

/// An object as the last list that has it shows it.
pub(super) struct Seen {
    pub(super) object: Object,
    /// The line at which it ends.
    pub(super) line: u64,
    /// The time until which it was there as this shows it.
    pub(super) until: Until,
}

/// The end of what a file says of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Until {
    /// The time of the last list that has it.
    List(Nanos),
    /// The end of the file, which has the changes of single objects.
    End,
}

/// The objects of a file in the order in which they are first seen.
#[derive(Default)]
pub(super) struct Snapshots {
    pub(super) objects: Vec<Seen>,
    /// The latest time of any object.
    pub(super) latest: Nanos,
    hasher: DefaultHashBuilder,
    places: HashTable<usize>,
    /// Objects of the list that is being read.
    in_list: Vec<usize>,
}

impl Snapshots {
    /// Reads all lists of `text`, and single objects.
    ///
    /// # Errors
    ///
    /// The text is no JSON or not what it should be, or the observer interrupts.
    pub(super) fn read(text: &mut LogText, progress: &mut Progress<'_>) -> Result<Self, Error> {
        let mut found = Self::default();
        let place = text.place();
        while text.skip_space()?.is_some() {
            let (mut stopped, first) = (None, place.line());
            let document = Document { found: &mut found, progress, place: &place, stopped: &mut stopped };
            // One document; what follows it stays unread.
            let parsed = document.deserialize(&mut serde_json::Deserializer::from_reader(&mut *text));
            if let Err(error) = parsed {
                let unread = text.take_error().map(Error::from);
                return Err(stopped.or(unread).unwrap_or_else(|| wrong(text, first, &error)));
            }
        }
        progress.to(place.position())?;
        Ok(found)
    }

    fn add(&mut self, object: Object, line: u64, until: Until) -> usize {
        self.latest = self.latest.max(object.latest());
        let (objects, hasher) = (&mut self.objects, &self.hasher);
        let hash = hasher.hash_one(identity(&object));
        let same = |&place: &usize| identity(&objects[place].object) == identity(&object);
        if let Some(&place) = self.places.find(hash, same) {
            // Lists may be in any order; what has ended stays so.
            if object.is_over() || !objects[place].object.is_over() {
                objects[place] = Seen { object, line, until };
            }
            return place;
        }
        let place = objects.len();
        objects.push(Seen { object, line, until });
        self.places.insert_unique(hash, place, |&place| hasher.hash_one(identity(&objects[place].object)));
        place
    }

    /// The list that was read ends, whose kind its items have if they do not say another.
    fn end_list(&mut self, kind: &str) {
        let kind = kind.strip_suffix("List").unwrap_or(kind);
        for &place in &self.in_list {
            let of = &mut self.objects[place].object.kind;
            if of.is_empty() {
                kind.clone_into(of);
            }
        }
        let in_list = std::mem::take(&mut self.in_list);
        let latest =
            in_list.iter().map(|&place| self.objects[place].object.latest()).max().unwrap_or_default();
        for place in in_list {
            self.objects[place].until = Until::List(latest);
        }
    }
}

/// What tells two objects apart: the uid, or the name where nobody kept the uid.
fn identity(object: &Object) -> (&str, &str, &str) {
    let metadata = &object.metadata;
    if metadata.uid.is_empty() { ("", &metadata.namespace, &metadata.name) } else { (&metadata.uid, "", "") }
}

/// The error of the parser, of a document that begins in the line `first`.
fn wrong(text: &LogText, first: u64, error: &serde_json::Error) -> Error {
    // The text may have been read a little further.
    let line = first + error.line().saturating_sub(1) as u64;
    let message = error.to_string();
    let end = message.rfind(" at line ").unwrap_or(message.len());
    let problem: String = message[..end].chars().flat_map(shown).collect();
    text.error(line, problem).into()
}

/// The character, on one line.
fn shown(character: char) -> impl Iterator<Item = char> {
    let escaped = character.is_control().then(|| character.escape_default());
    let plain = escaped.is_none().then_some(character);
    escaped.into_iter().flatten().chain(plain)
}

/// A list, or a single object.
struct Document<'a, 'p> {
    found: &'a mut Snapshots,
    progress: &'a mut Progress<'p>,
    place: &'a TextPlace,
    /// Why the observer stopped.
    stopped: &'a mut Option<Error>,
}

impl<'de> DeserializeSeed<'de> for Document<'_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Document<'_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of pods or workloads, as kubectl get pods -A -o json prints it")
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, items: A) -> Result<(), A::Error> {
        Items { document: &mut self }.visit_seq(items)?;
        self.found.end_list("");
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut map: A) -> Result<(), A::Error> {
        let mut single = Object::default();
        let mut is_list = false;
        while let Some(key) = map.next_key::<String>()? {
            match key.as_str() {
                "kind" => single.kind = map.next_value()?,
                "metadata" => single.metadata = map.next_value()?,
                "spec" => single.spec = map.next_value()?,
                "status" => single.status = map.next_value()?,
                "items" => {
                    is_list = true;
                    map.next_value_seed(Items { document: &mut self })?;
                }
                // An event of --output-watch-events.
                "object" => single = map.next_value()?,
                _ => drop(map.next_value::<IgnoredAny>()?),
            }
        }
        if is_list {
            self.found.end_list(&single.kind);
        } else {
            if Kind::of(&single.kind).is_none() {
                return Err(A::Error::custom("expected a list with items, or a pod or a workload of Kueue"));
            }
            self.add::<A::Error>(single, Until::End)?;
        }
        Ok(())
    }
}

impl Document<'_, '_> {
    fn add<E: serde::de::Error>(&mut self, object: Object, until: Until) -> Result<usize, E> {
        let place = self.found.add(object, self.place.line(), until);
        self.progress.row(|| self.place.position()).map_err(|error| {
            *self.stopped = Some(error);
            E::custom("stopped")
        })?;
        Ok(place)
    }
}

/// The items of a list.
struct Items<'a, 'd, 'p> {
    document: &'a mut Document<'d, 'p>,
}

impl<'de> DeserializeSeed<'de> for Items<'_, '_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for Items<'_, '_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of items")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        while let Some(object) = items.next_element::<Object>()? {
            let place = self.document.add::<A::Error>(object, Until::List(Nanos(0)))?;
            self.document.found.in_list.push(place);
        }
        Ok(())
    }
}
