//! What is stored, under which names.

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use http::{HeaderMap, HeaderName};
use trueplane_cache::{Cache, Cause, PolicyName};
use trueplane_units::Nanos;

use crate::disk::stored::Variation;
use crate::disk::{Disk, Removed};
use crate::head::{self, Head, Object, Piece, weight};
use crate::marks::Marks;
use crate::rules::vary;

/// The name of a response: its URL, and what requests for it say in the fields that it varies by.
pub(crate) type Name = Vec<u8>;
/// A name in 128 bits, which nobody can choose.
type Digest = [u64; 2];
/// Reads a response while it arrives.
pub(crate) type Reader = trueplane_cache::Reader<Name, Piece, RandomState>;

/// Time for which answers to a name count as private after one was.
const PRIVATE_FOR: Duration = Duration::from_secs(120);
/// Names that are remembered as private, at most.
const MOST_PRIVATE: u64 = 1 << 16;
/// URLs whose answers vary that are remembered, at most.
const MOST_VARYING: u64 = 1 << 17;
/// Fetches that may be on their way for all who ask, at most. Beyond that each request is on its own.
const MOST_FETCHES: usize = 8192;
/// Groups of URLs whose invalidations are counted together.
const INVALIDATIONS: usize = 4096;
/// Bytes of a part of the memory with a lock of its own, at least: no object may be larger.
const LEAST_PART: u64 = 64 << 20;

/// The fields that the answers to a URL vary by.
#[derive(Clone)]
struct Varying {
    fields: Arc<[HeaderName]>,
    /// A part of the variants' names: those of an earlier generation are found no longer.
    generation: u64,
}

impl Varying {
    /// The name of the answer to a request for this URL.
    fn name(&self, url: &[u8], request: &HeaderMap) -> Name {
        let mut name = url.to_vec();
        // No URL holds a line break.
        name.push(b'\n');
        name.extend(self.generation.to_be_bytes());
        name.extend(vary::selection(&self.fields, request));
        name
    }
}

/// The URL in a name.
pub(crate) fn url_in(name: &[u8]) -> &[u8] {
    memchr::memchr(b'\n', name).map_or(name, |end| &name[..end])
}

/// Responses, and what is known of those that are not stored.
pub(crate) struct Store {
    pub(crate) objects: Cache<Name, Object, RandomState>,
    /// URLs whose answers vary.
    varying: Cache<Digest, Varying>,
    /// Number of the last URL that was found to vary.
    generation: AtomicU64,
    /// Names whose answers are for one request each: these do not wait for each other.
    private: Cache<Digest, ()>,
    /// Keys of the digests.
    hashers: [RandomState; 2],
    /// Marks of purges.
    pub(crate) marks: Arc<Marks>,
    /// Numbers of invalidations so far, of the URLs of each digest's last bits.
    invalidations: Box<[AtomicU64]>,
    /// Bytes of the largest object that is kept.
    pub(crate) largest: u64,
    /// What the memory has no room for.
    pub(crate) disk: Option<Arc<Disk>>,
    /// Bytes of all objects that may be kept, and those of bodies that are on their way.
    memory: u64,
    arriving: AtomicU64,
}

/// The bytes of a body that is on its way.
pub(crate) struct Arriving<'a> {
    store: &'a Store,
    bytes: u64,
}

impl Arriving<'_> {
    /// So many bytes have come. Returns whether there is room for them.
    pub(crate) fn add(&mut self, bytes: u64) -> bool {
        self.bytes += bytes;
        let before = self.store.arriving.fetch_add(bytes, Ordering::Relaxed);
        self.bytes <= self.store.largest && before + bytes <= self.store.memory
    }
}

impl Drop for Arriving<'_> {
    fn drop(&mut self) {
        self.store.arriving.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

impl Store {
    /// A store with so many bytes of memory. Fetches are tasks of the runtime.
    pub(crate) fn new(
        memory: u64,
        policy: PolicyName,
        runtime: &tokio::runtime::Handle,
        marks: Arc<Marks>,
        disk: Option<Arc<Disk>>,
    ) -> Self {
        let shards = (memory / LEAST_PART).clamp(1, 16);
        let shards = 1 << shards.ilog2();
        let hashers = [RandomState::new(), RandomState::new()];
        let varying = Cache::builder().policy(PolicyName::S3Fifo).capacity(MOST_VARYING).build();
        let mut objects = Cache::builder();
        if let Some(disk) = disk.clone() {
            let (varying, hashers, marks) = (varying.clone(), hashers.clone(), Arc::clone(&marks));
            objects = objects.eviction_listener(move |name: Name, object, cause| {
                if cause == Cause::Evicted {
                    let varying = |url: &[u8]| varying.peek(&digest(&hashers, url));
                    spill((&disk, disk.last()), &marks, name, object, varying);
                }
            });
        }
        let objects = objects
            .capacity(memory)
            .policy(policy)
            .shards(shards as usize)
            .weigher(|name: &Name, object: &Object| weight(name, object))
            .max_fetches(MOST_FETCHES)
            .tokio(runtime)
            .hasher(RandomState::new())
            .build();
        let private = Cache::builder().policy(PolicyName::S3Fifo).capacity(MOST_PRIVATE);
        Self {
            objects,
            varying,
            // No two processes have the same ones, as names stay on the disk.
            generation: AtomicU64::new(RandomState::new().hash_one(0)),
            private: private.time_to_live(PRIVATE_FOR).build(),
            hashers,
            marks,
            invalidations: (0..INVALIDATIONS).map(|_| AtomicU64::new(0)).collect(),
            largest: memory / shards,
            disk,
            memory,
            arriving: AtomicU64::new(0),
        }
    }

    /// The head of what is stored under a name, unless it was purged.
    pub(crate) fn head_of(&self, name: &[u8], object: &Object) -> Option<Arc<Head>> {
        let head = head::head_of(object)?;
        self.marks.allow(&head.stamp, url_in(name), &head.tags).then_some(head)
    }

    /// Whether the answers to a URL vary, as far as is known.
    pub(crate) fn is_varying(&self, url: &[u8]) -> bool {
        self.varying.contains_key(&self.digest(url))
    }

    /// A body that begins to arrive. All of them have as much memory as what is stored.
    pub(crate) fn arriving(&self) -> Arriving<'_> {
        Arriving { store: self, bytes: 0 }
    }

    /// The name under which the answer to a request for a URL is stored, as far as is known.
    pub(crate) fn name(&self, url: &[u8], request: &HeaderMap) -> Name {
        self.varying.get(&self.digest(url)).map_or_else(|| url.to_vec(), |varying| varying.name(url, request))
    }

    /// An answer to a URL varies by these fields, and perhaps by others that are known already: the name under which that to this request is stored from now
    /// on. None if they are too many.
    pub(crate) fn name_varying(
        &self,
        url: &[u8],
        fields: &[HeaderName],
        request: &HeaderMap,
    ) -> Option<Name> {
        let varying = self.varying.update(&self.digest(url), |known| {
            let mut all = known.as_ref().map_or_else(Vec::new, |known| known.fields.to_vec());
            all.extend(fields.iter().filter(|field| !all.contains(field)).cloned().collect::<Vec<_>>());
            match known {
                Some(known) if known.fields.len() == all.len() => Some(known),
                known if all.len() > vary::MOST => known,
                _ => {
                    let generation = self.generation.fetch_add(1, Ordering::Relaxed);
                    Some(Varying { fields: all.into(), generation })
                }
            }
        })?;
        let has_all = fields.iter().all(|field| varying.fields.contains(field));
        has_all.then(|| varying.name(url, request))
    }

    /// What a name is remembered by: names are as long as clients make them.
    fn digest(&self, name: &[u8]) -> Digest {
        digest(&self.hashers, name)
    }

    /// The same for answers to requests that are authorised, which tell nothing of others.
    fn digest_for(&self, name: &[u8], is_authorised: bool) -> Digest {
        let [first, second] = self.digest(name);
        [first, second ^ u64::from(is_authorised)]
    }

    /// Whether answers to a name are known to be private.
    pub(crate) fn is_private(&self, name: &[u8], is_authorised: bool) -> bool {
        self.private.get(&self.digest_for(name, is_authorised)).is_some()
    }

    /// Answers to a name are private, or are no longer.
    pub(crate) fn set_private(&self, name: &[u8], is_authorised: bool, is_private: bool) {
        let digest = self.digest_for(name, is_authorised);
        if is_private {
            self.private.insert(digest, ());
        } else {
            self.private.remove(&digest);
        }
    }

    /// How often a URL, or one of a few others, was invalidated so far: if that has changed, what was asked for before may be out of date.
    pub(crate) fn invalidations(&self, url: &[u8]) -> u64 {
        self.invalidations_of(self.digest(url)).load(Ordering::Acquire)
    }

    fn invalidations_of(&self, [first, _]: Digest) -> &AtomicU64 {
        &self.invalidations[first as usize % INVALIDATIONS]
    }

    /// Forgets all answers to a URL. The result says whether one was there that does not vary.
    pub(crate) fn invalidate(&self, url: &[u8]) -> Removed {
        // First on the disk: what is found there from then on is newer.
        let removed = self.disk.as_ref().map(|disk| disk.remove(url)).unwrap_or_default();
        let digest = self.digest(url);
        self.invalidations_of(digest).fetch_add(1, Ordering::AcqRel);
        let was_there = self.objects.remove(url).is_some();
        self.varying.remove(&digest);
        Removed { was_there: was_there || removed.was_there, ..removed }
    }

    /// Makes the answer to a URL stale that does not vary. Returns whether there is one.
    pub(crate) fn soften(&self, url: &[u8], now: Nanos) -> bool {
        // On the disk it would be fresh: there it goes.
        let removed = self.disk.as_ref().map(|disk| disk.remove(url)).unwrap_or_default();
        self.invalidations_of(self.digest(url)).fetch_add(1, Ordering::AcqRel);
        if self.disk.is_some() {
            // A look at the disk may have found meanwhile that it varies: those variants are from before the purge.
            self.varying.remove(&self.digest(url));
        }
        // What was asked for before is not to take its place.
        let stays = self.objects.update(url, |stored| {
            let head = self.head_of(url, stored.as_ref()?)?;
            head.stamp.soften(now);
            stored
        });
        stays.is_some() || removed.was_there
    }

    /// Forgets everything.
    pub(crate) fn clear(&self) {
        if let Some(disk) = &self.disk {
            disk.clear();
        }
        for count in &self.invalidations {
            count.fetch_add(1, Ordering::AcqRel);
        }
        self.objects.invalidate_all();
        self.varying.invalidate_all();
    }

    /// Forgets the answer that is stored under a name, as a fetch with this number has brought what is not stored.
    pub(crate) fn forget(&self, name: &[u8], number: u64) {
        self.objects.remove(name);
        self.supersede(name, number);
    }

    /// Another answer than the one on the disk is stored under a name, or none: a fetch with this number has brought it.
    pub(crate) fn supersede(&self, name: &[u8], number: u64) {
        if let Some(disk) = &self.disk {
            disk.supersede(name, number);
        }
    }

    /// The answers to a URL vary, as a look at the disk with this number has found, unless they were removed since. Returns whether that is so.
    pub(crate) fn restore(&self, url: &[u8], variation: &Variation, number: u64) -> bool {
        let digest = self.digest(url);
        let restored = Varying { fields: variation.fields.clone().into(), generation: variation.generation };
        let restore = || drop(self.varying.update(&digest, |known| known.or_else(|| Some(restored.clone()))));
        self.disk.as_ref().is_some_and(|disk| disk.if_not_removed(url, number, restore))
    }

    /// Number of a fetch that begins.
    pub(crate) fn begin(&self) -> u64 {
        self.disk.as_ref().map_or(0, |disk| disk.begin())
    }

    /// Whether what a look at the disk with this number has found may still be used.
    pub(crate) fn may_use(&self, name: &[u8], number: u64) -> bool {
        self.disk.as_ref().is_some_and(|disk| disk.may_use(url_in(name), number))
    }

    /// An answer that was fetched with a number for another name of its URL is stored under this one. Returns its number there.
    pub(crate) fn renew(&self, url: &[u8], name: &[u8], number: u64) -> u64 {
        self.disk.as_ref().map_or(0, |disk| disk.renew(url, name, number))
    }

    /// Offers all that is in memory to the disk, until `is_over`.
    pub(crate) fn spill_all(&self, is_over: impl Fn() -> bool) {
        let Some(disk) = &self.disk else { return };
        let left = disk.last();
        for (name, object) in self.objects.iter() {
            while !disk.has_room() && !is_over() {
                std::thread::sleep(Duration::from_millis(1));
            }
            if is_over() {
                return;
            }
            spill((disk, left), &self.marks, name, object, |url| self.varying.peek(&self.digest(url)));
        }
    }
}

fn digest(hashers: &[RandomState; 2], name: &[u8]) -> Digest {
    [hashers[0].hash_one(name), hashers[1].hash_one(name)]
}

/// Offers what has left the memory to the disk, when `left` was its last number, unless it was purged. `varying` is what is known of a URL.
fn spill(
    (disk, left): (&Disk, u64),
    marks: &Marks,
    name: Name,
    object: Object,
    varying: impl Fn(&[u8]) -> Option<Varying>,
) {
    let url = url_in(&name).len();
    let is_allowed = |head: &Head| {
        marks.allow(&head.stamp, &name[..url], &head.tags) && head.stamp.stale_since().is_none()
    };
    if !head::head_of(&object).is_some_and(|head| is_allowed(&head)) {
        return;
    }
    let mut variation = None;
    if url < name.len() {
        // Those of an earlier generation are found no longer.
        let Some(varying) = varying(&name[..url]) else { return };
        if !name[url + 1..].starts_with(&varying.generation.to_be_bytes()) {
            return;
        }
        variation = Some(Variation { generation: varying.generation, fields: varying.fields.to_vec() });
    }
    disk.offer(name, url, object, variation, left);
}
