//! A thumbnail server with a thread for each client: small pictures of one large one are made once, however many ask, and the cache counts bytes.

use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use trueplane_cache::{Cache, Cause, PolicyName};

type Picture = Arc<Vec<u8>>;

/// Makes a thumbnail, which takes time.
fn shrink(name: &str, width: usize) -> Vec<u8> {
    thread::sleep(Duration::from_millis(2));
    name.bytes().cycle().take(width * 10).collect()
}

pub(crate) fn main() {
    let (made, evicted) = (AtomicU64::new(0), Arc::new(AtomicU64::new(0)));
    let heard = Arc::clone(&evicted);
    let thumbnails: Cache<(String, usize), Picture> = Cache::builder()
        .capacity(20_000)
        .policy(PolicyName::LruMad)
        .shards(1)
        .weigher(|_, picture: &Picture| picture.len() as u64)
        .eviction_listener(move |_, picture, cause| {
            if cause == Cause::Evicted {
                heard.fetch_add(picture.len() as u64, Ordering::Relaxed);
            }
        })
        .build();
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for number in 0..12 {
                    let key = (format!("photo-{number}"), 200);
                    let picture = thumbnails.get_or_fetch_blocking(&key, || {
                        made.fetch_add(1, Ordering::Relaxed);
                        Ok::<_, Infallible>(Arc::new(shrink(&key.0, key.1)))
                    });
                    assert_eq!(picture.map(|picture| picture.len()).ok(), Some(2_000));
                }
            });
        }
    });
    // Ten pictures of 2,000 bytes fit.
    assert_eq!((thumbnails.len(), thumbnails.weight()), (10, 20_000));
    assert_eq!(evicted.load(Ordering::Relaxed), (made.load(Ordering::Relaxed) - 10) * 2_000);
    let stats = thumbnails.stats();
    assert_eq!(stats.requests(), 48);
    println!(
        "{} made for {} requests, {} of them waited for another's",
        stats.misses,
        stats.requests(),
        stats.delayed_hits
    );
}
