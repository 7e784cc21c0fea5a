//! What is stored, under which names.

use std::collections::hash_map::RandomState;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use http::{HeaderMap, HeaderName};
use trueplane_cache::{Cache, PolicyName};

use crate::head::{Object, Piece, weight};
use crate::rules::vary;

/// The name of a response: its URL, and what requests for it say in the fields that it varies by.
pub(crate) type Name = Vec<u8>;
/// Reads a response while it arrives.
pub(crate) type Reader = trueplane_cache::Reader<Name, Piece, RandomState>;

/// Time for which answers to a name count as private after one was.
const PRIVATE_FOR: Duration = Duration::from_secs(120);
/// Names that are remembered as private, at most.
const MOST_PRIVATE: u64 = 1 << 16;
/// URLs whose answers vary that are remembered, at most.
const MOST_VARYING: u64 = 1 << 18;
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

/// Responses, and what is known of those that are not stored.
pub(crate) struct Store {
    pub(crate) objects: Cache<Name, Object, RandomState>,
    /// URLs whose answers vary.
    varying: Cache<Name, Varying, RandomState>,
    /// Number of the last URL that was found to vary.
    generation: AtomicU64,
    /// Names whose answers are for one request each: these do not wait for each other.
    private: Cache<Name, (), RandomState>,
    /// Bytes of the largest object that is kept.
    pub(crate) largest: u64,
}

impl Store {
    /// A store with so many bytes. Fetches are tasks of the runtime.
    pub(crate) fn new(memory: u64, policy: PolicyName, runtime: &tokio::runtime::Handle) -> Self {
        let shards = (memory / LEAST_PART).clamp(1, 16);
        let shards = 1 << shards.ilog2();
        let objects = Cache::builder()
            .capacity(memory)
            .policy(policy)
            .shards(shards as usize)
            .weigher(|name: &Name, object: &Object| weight(name, object))
            .tokio(runtime)
            .hasher(RandomState::new())
            .build();
        let varying = Cache::builder().policy(PolicyName::S3Fifo).capacity(MOST_VARYING);
        let private = Cache::builder().policy(PolicyName::S3Fifo).capacity(MOST_PRIVATE);
        Self {
            objects,
            varying: varying.hasher(RandomState::new()).build(),
            generation: AtomicU64::new(0),
            private: private.time_to_live(PRIVATE_FOR).hasher(RandomState::new()).build(),
            largest: memory / shards,
        }
    }

    /// The name under which the answer to a request for a URL is stored, as far as is known.
    pub(crate) fn name(&self, url: &[u8], request: &HeaderMap) -> Name {
        self.varying.get(url).map_or_else(|| url.to_vec(), |varying| varying.name(url, request))
    }

    /// An answer to a URL varies by these fields: the name under which that to this request is stored from now on.
    pub(crate) fn name_varying(&self, url: &[u8], fields: &[HeaderName], request: &HeaderMap) -> Name {
        let varying = self.varying.update(url, |known| {
            Some(known.filter(|known| *known.fields == *fields).unwrap_or_else(|| Varying {
                fields: fields.into(),
                generation: self.generation.fetch_add(1, Ordering::Relaxed),
            }))
        });
        varying.map_or_else(|| url.to_vec(), |varying| varying.name(url, request))
    }

    /// Whether answers to a name are known to be private.
    pub(crate) fn is_private(&self, name: &[u8]) -> bool {
        self.private.get(name).is_some()
    }

    /// Answers to a name are private, or are no longer.
    pub(crate) fn set_private(&self, name: &[u8], is_private: bool) {
        if is_private {
            self.private.insert(name.to_vec(), ());
        } else {
            self.private.remove(name);
        }
    }

    /// Forgets all answers to a URL.
    pub(crate) fn invalidate(&self, url: &[u8]) {
        self.objects.remove(url);
        self.varying.remove(url);
    }
}
