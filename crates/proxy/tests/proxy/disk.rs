//! The tier on disk.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use trueplane_proxy::Pattern;

use super::origin::{Origin, Seen, Step, whole};
use super::{Answer, World, in_front_of, in_time, until};

const FRESH: &str = "Cache-Control: max-age=60";

/// A folder of a test, until this is dropped.
pub(super) struct Temporary(PathBuf);

impl Temporary {
    pub(super) fn new() -> Self {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("trueplane-tier-{}-{number}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        Self(path)
    }

    pub(super) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

impl World {
    /// A cache of 1 MiB, which what was used last stays in, and 64 MiB on disk.
    async fn with_disk(origin: Origin, folder: &Temporary) -> Self {
        let folder = folder.path().to_str().unwrap();
        let settings = in_front_of(&origin, &[("disk", folder), ("disk_size", "64MiB"), ("policy", "lru")]);
        Self::with(origin, settings).await
    }

    /// Stops the cache, and starts another one in front of the same origin.
    async fn restarted(mut self, folder: &Temporary) -> Self {
        let proxy = self.proxy.clone();
        let origin = std::mem::replace(&mut self.origin, Origin::simple("", "").await);
        self.stop().await;
        proxy.close().await;
        Self::with_disk(origin, folder).await
    }

    /// Asks one host, whatever the address is.
    async fn of_host(&self, method: &str, path: &str, headers: &[(&str, &str)]) -> Answer {
        self.ask(method, path, &[&[("host", "a.test")], headers].concat()).await
    }

    /// Asks for so many other objects that the memory keeps nothing else, and waits until those that left it are written.
    async fn fill(&self) {
        for number in 0..24 {
            self.of_host("GET", &format!("/fill/{number}"), &[]).await;
        }
        until(|| {
            let stats = self.proxy.disk_stats().unwrap();
            stats.written + stats.dropped + stats.refused >= self.proxy.stats().evictions
        })
        .await;
    }
}

impl World {
    /// Whether an answer is on the disk alone: a look by HEAD does not bring it into the memory.
    async fn is_on_disk(&self, path: &str) -> bool {
        self.of_host("HEAD", path, &[]).await.is_from_disk()
    }
}

impl Answer {
    fn is_from_disk(&self) -> bool {
        self.is_hit() && self.field("cache-status").ends_with("; detail=disk")
    }
}

/// The answers to paths under /fill are large; all else does what `other` says.
fn filling(other: impl Fn(&Seen) -> Vec<Step> + Send + Sync + 'static) -> impl Fn(&Seen) -> Vec<Step> {
    move |seen| match seen.path.starts_with("/fill") {
        true => vec![whole(FRESH, &seen.path.repeat(10_000))],
        false => other(seen),
    }
}

#[tokio::test]
async fn what_leaves_the_memory_is_read_from_the_disk() {
    let folder = Temporary::new();
    let origin = Origin::new(filling(|_| vec![whole(FRESH, "hello")])).await;
    let world = World::with_disk(origin, &folder).await;
    world.of_host("GET", "/a", &[]).await;
    world.fill().await;
    assert_eq!(world.of_host("GET", "/a", &[]).await.text(), "hello");
    // A disk that takes too long, as on a busy machine, is left alone for a while.
    let mut from_disk = 0;
    in_time(async {
        while from_disk <= 10 {
            from_disk = 0;
            for number in 0..24 {
                let path = format!("/fill/{number}");
                let answer = world.of_host("GET", &path, &[]).await;
                assert_eq!(answer.text(), path.repeat(10_000));
                from_disk += u64::from(answer.is_from_disk());
            }
        }
    })
    .await;
    assert!(world.proxy.disk_stats().unwrap().hits >= from_disk);
}

#[tokio::test]
async fn it_is_there_after_a_restart_and_as_old_as_it_is() {
    let folder = Temporary::new();
    let origin = Origin::new(|_| vec![whole(&format!("{FRESH}\nAge: 7\nX: 1"), "hello")]).await;
    let world = World::with_disk(origin, &folder).await;
    world.of_host("GET", "/a", &[]).await;
    let world = world.restarted(&folder).await;
    let answer = world.of_host("GET", "/a", &[]).await;
    assert_eq!((answer.text(), answer.field("x")), ("hello", "1"));
    assert!(answer.is_from_disk());
    assert!(answer.field("age").parse::<u32>().unwrap() >= 7);
    assert!(world.of_host("GET", "/a", &[]).await.is_hit());
    assert_eq!(world.origin.fetches(), 1);
}

#[tokio::test]
async fn variants_are_found_after_a_restart() {
    let folder = Temporary::new();
    let origin = Origin::new(|seen| {
        let language = seen.headers.get("accept-language").map_or("none", String::as_str);
        vec![whole(&format!("{FRESH}\nVary: Accept-Language"), language)]
    })
    .await;
    let world = World::with_disk(origin, &folder).await;
    for language in ["de", "en"] {
        world.of_host("GET", "/a", &[("accept-language", language)]).await;
    }
    let world = world.restarted(&folder).await;
    for language in ["en", "de", "fr"] {
        let answer = world.of_host("GET", "/a", &[("accept-language", language)]).await;
        assert_eq!((answer.text(), answer.is_hit()), (language, language != "fr"));
    }
    // All variants are forgotten at once, also for the next process.
    world.of_host("POST", "/a", &[]).await;
    let world = world.restarted(&folder).await;
    assert!(!world.of_host("GET", "/a", &[("accept-language", "de")]).await.is_hit());
}

#[tokio::test]
async fn what_is_invalidated_does_not_come_back_after_a_restart() {
    let folder = Temporary::new();
    let origin = Origin::new(|seen| vec![whole(FRESH, &format!("{} {}", seen.method, seen.turn))]).await;
    let world = World::with_disk(origin, &folder).await;
    world.of_host("GET", "/a", &[]).await;
    let world = world.restarted(&folder).await;
    assert_eq!(world.of_host("POST", "/a", &[]).await.text(), "POST 1");
    let world = world.restarted(&folder).await;
    assert_eq!(world.of_host("GET", "/a", &[]).await.text(), "GET 2");
    world.proxy.clear();
    let world = world.restarted(&folder).await;
    assert_eq!(world.of_host("GET", "/a", &[]).await.text(), "GET 3");
}

#[tokio::test]
async fn what_is_stale_on_the_disk_is_validated_or_served_while_the_origin_is_gone() {
    let folder = Temporary::new();
    let origin = Origin::new(|seen| match (seen.path.as_str(), seen.turn) {
        (_, 0) => {
            let fields = "Age: 100\nETag: \"a\"\nX: 1\nCache-Control: max-age=60, stale-if-error=600";
            vec![whole(fields, "hello")]
        }
        ("/there", _) => {
            assert_eq!(seen.headers["if-none-match"], "\"a\"");
            let text =
                "HTTP/1.1 304 Not Modified\r\nCache-Control: max-age=60\r\nETag: \"a\"\r\nX: 2\r\n\r\n";
            vec![Step::Send(text.into())]
        }
        _ => vec![Step::Close],
    })
    .await;
    let world = World::with_disk(origin, &folder).await;
    world.of_host("GET", "/there", &[]).await;
    world.of_host("GET", "/gone", &[]).await;
    let world = world.restarted(&folder).await;
    let validated = world.of_host("GET", "/there", &[]).await;
    assert_eq!((validated.text(), validated.field("x")), ("hello", "2"));
    assert!(!validated.is_hit());
    assert!(world.of_host("GET", "/there", &[]).await.is_hit());
    let stale = world.of_host("GET", "/gone", &[]).await;
    assert_eq!(stale.text(), "hello");
    assert!(stale.field("cache-status").contains("fwd=stale"), "{}", stale.field("cache-status"));
}

#[tokio::test]
async fn all_who_ask_share_one_look_at_the_disk() {
    let folder = Temporary::new();
    let origin = Origin::new(|_| vec![whole(FRESH, "hello")]).await;
    let world = World::with_disk(origin, &folder).await;
    world.of_host("GET", "/a", &[]).await;
    let world = std::sync::Arc::new(world.restarted(&folder).await);
    let ask = |_| {
        let world = std::sync::Arc::clone(&world);
        tokio::spawn(async move { world.of_host("GET", "/a", &[]).await })
    };
    for one in (0..20).map(ask).collect::<Vec<_>>() {
        let answer = one.await.unwrap();
        assert!(answer.is_hit() && answer.text() == "hello");
    }
    assert_eq!((world.proxy.disk_stats().unwrap().hits, world.origin.fetches()), (1, 1));
}

#[tokio::test]
async fn when_the_folder_is_gone_the_cache_goes_on() {
    let folder = Temporary::new();
    let origin = Origin::new(filling(|_| vec![whole(FRESH, "hello")])).await;
    let world = World::with_disk(origin, &folder).await;
    world.fill().await;
    std::fs::remove_dir_all(folder.path()).unwrap();
    for number in 0..24 {
        let path = format!("/fill/{number}");
        let answer = world.of_host("GET", &path, &[]).await;
        assert_eq!((answer.status.as_u16(), answer.text()), (200, &*path.repeat(10_000)));
    }
    // A read or a write may have been told to fail before the whole disk is left out.
    let mut told: Vec<String> = Vec::new();
    until(|| {
        told.extend(world.proxy.disk_news());
        told.last().is_some_and(|last| last.starts_with("the disk is left out"))
    })
    .await;
    assert!(told.iter().all(|line| line.contains(folder.path().to_str().unwrap())), "{told:?}");
    assert_eq!(world.proxy.disk_news(), None, "it is told once");
}

#[tokio::test]
async fn a_folder_that_cannot_be_used_is_told_at_the_start() {
    let folder = Temporary::new();
    let origin = Origin::simple(FRESH, "hello").await;
    let path = folder.path().to_str().unwrap();
    let settings = in_front_of(&origin, &[("disk", path), ("disk_size", "64MiB")]);
    let error = |settings| trueplane_proxy::Proxy::new(settings).err().map(|error| error.to_string());
    let first = trueplane_proxy::Proxy::new(&settings).unwrap();
    assert_eq!(error(&settings).unwrap(), format!("{path}: another process uses this folder"));
    assert!(trueplane_proxy::Proxy::check(&settings).is_ok(), "to look is no use");
    first.close().await;
    assert_eq!(error(&settings), None);
    let settings = in_front_of(&origin, &[("disk", "/dev/null/a"), ("disk_size", "64MiB")]);
    assert_eq!(error(&settings).unwrap(), "/dev/null/a: Not a directory");
    let settings = in_front_of(&origin, &[("disk", path), ("disk_size", "1MiB")]);
    assert_eq!(error(&settings).unwrap(), "disk_size: expected at least 4MiB, got 1MiB");
    let settings = in_front_of(&origin, &[("disk", path)]);
    assert_eq!(error(&settings).unwrap(), "disk needs disk_size, and disk_size needs disk");
}

#[tokio::test]
async fn a_purge_reaches_what_is_on_the_disk() {
    let purges = [
        Pattern::url("http://a.test/a"),
        Pattern::prefix("http://a.test/a"),
        Pattern::tag("one"),
        Pattern::glob("*/a"),
    ];
    for (pattern, is_soft) in
        purges.into_iter().flat_map(|pattern| [(pattern.clone(), false), (pattern, true)])
    {
        let pattern = pattern.unwrap();
        let folder = Temporary::new();
        let answer =
            |seen: &Seen| vec![whole(&format!("{FRESH}\nSurrogate-Key: one two"), &seen.turn.to_string())];
        let world = World::with_disk(Origin::new(filling(answer)).await, &folder).await;
        assert_eq!(world.of_host("GET", "/a", &[]).await.text(), "0");
        world.fill().await;
        assert!(world.is_on_disk("/a").await, "{pattern}");
        world.proxy.purge(&pattern, is_soft);
        assert_eq!(world.of_host("GET", "/a", &[]).await.text(), "1", "{pattern} {is_soft}");
        // Nor does it come back after a restart. A soft one leaves nothing on the disk that would be fresh there.
        world.proxy.purge(&pattern, is_soft);
        let world = world.restarted(&folder).await;
        assert_eq!(world.of_host("GET", "/a", &[]).await.text(), "2", "{pattern} {is_soft}");
    }
}

#[tokio::test]
async fn tags_are_known_after_a_restart() {
    let folder = Temporary::new();
    let answer = |seen: &Seen| vec![whole(&format!("{FRESH}\nSurrogate-Key: one"), &seen.turn.to_string())];
    let world = World::with_disk(Origin::new(answer).await, &folder).await;
    world.of_host("GET", "/a", &[]).await;
    let world = world.restarted(&folder).await;
    let from_disk = world.of_host("GET", "/a", &[]).await;
    assert_eq!((from_disk.text(), from_disk.field("surrogate-key")), ("0", ""));
    assert_eq!(world.proxy.purge(&Pattern::tag("one").unwrap(), false), 1);
    assert_eq!(world.of_host("GET", "/a", &[]).await.text(), "1");
}

#[tokio::test]
async fn what_is_on_the_disk_answers_what_is_in_memory_would() {
    let folder = Temporary::new();
    let origin = Origin::new(|_| vec![whole(&format!("{FRESH}, public\nETag: \"a\""), "0123456789")]).await;
    let world = World::with_disk(origin, &folder).await;
    world.of_host("GET", "/a", &[]).await;
    // None of these brings it into the memory.
    let mut world = world.restarted(&folder).await;
    for _ in 0..2 {
        let head = world.of_host("HEAD", "/a", &[]).await;
        assert_eq!((head.text(), head.field("content-length"), head.is_from_disk()), ("", "10", true));
        let only = world.of_host("GET", "/a", &[("cache-control", "only-if-cached")]).await;
        assert_eq!((only.text(), only.is_from_disk()), ("0123456789", true));
    }
    let asked = [
        (("range", "bytes=2-4"), 206, "234"),
        (("if-none-match", "\"a\""), 304, ""),
        (("authorization", "Basic YTpi"), 200, "0123456789"),
    ];
    for (header, status, text) in asked {
        let answer = world.of_host("GET", "/a", &[header]).await;
        assert_eq!((answer.status.as_u16(), answer.text()), (status, text), "{header:?}");
        assert!(answer.is_from_disk(), "{header:?}");
        world = world.restarted(&folder).await;
    }
    assert_eq!(world.origin.fetches(), 1);
}

/// What is for one client alone is not on the disk, nor are its cookies.
#[tokio::test]
async fn what_is_private_does_not_come_to_the_disk() {
    let folder = Temporary::new();
    let origin = Origin::new(|seen| match seen.path.as_str() {
        "/private" => vec![whole("Cache-Control: private, max-age=60", "secret")],
        _ => vec![whole(&format!("{FRESH}, public\nSet-Cookie: secret=1"), "hello")],
    });
    let world = World::with_disk(origin.await, &folder).await;
    for path in ["/private", "/cookie"] {
        world.of_host("GET", path, &[]).await;
    }
    let world = world.restarted(&folder).await;
    assert!(!world.is_on_disk("/private").await && world.is_on_disk("/cookie").await);
    assert_eq!(world.of_host("GET", "/cookie", &[]).await.field("set-cookie"), "");
    world.stop().await;
    for file in std::fs::read_dir(folder.path()).unwrap() {
        let bytes = std::fs::read(file.unwrap().path()).unwrap();
        assert!(!bytes.windows(6).any(|part| part == b"secret"));
    }
}

/// It is served at once, and fetched again for those who come later.
#[tokio::test]
async fn what_may_be_stale_meanwhile_is_renewed() {
    let folder = Temporary::new();
    let fields = "Age: 100\nETag: \"a\"\nCache-Control: max-age=60, stale-while-revalidate=600";
    let origin = Origin::new(move |seen| match seen.turn {
        0 => vec![whole(fields, "0")],
        turn => vec![whole(FRESH, &turn.to_string())],
    });
    let world = World::with_disk(origin.await, &folder).await;
    world.of_host("GET", "/a", &[]).await;
    let world = world.restarted(&folder).await;
    assert_eq!(world.of_host("GET", "/a", &[]).await.text(), "0");
    until(|| world.origin.fetches() == 2).await;
    in_time(async { while world.of_host("GET", "/a", &[]).await.text() != "1" {} }).await;
    assert_eq!(world.origin.fetches(), 2);
}

#[tokio::test]
async fn what_was_validated_is_on_the_disk_as_it_is_now() {
    let folder = Temporary::new();
    let origin = Origin::new(|seen| match seen.turn {
        0 => {
            vec![whole("Age: 100\nETag: \"a\"\nX: 1\nCache-Control: max-age=60, stale-if-error=600", "hello")]
        }
        _ => {
            let head =
                "HTTP/1.1 304 Not Modified\r\nCache-Control: max-age=60\r\nETag: \"a\"\r\nX: 2\r\n\r\n";
            vec![Step::Send(head.into())]
        }
    });
    let world = World::with_disk(origin.await, &folder).await;
    world.of_host("GET", "/a", &[]).await;
    let world = world.restarted(&folder).await;
    assert_eq!(world.of_host("GET", "/a", &[]).await.field("x"), "2");
    let world = world.restarted(&folder).await;
    let answer = world.of_host("GET", "/a", &[]).await;
    assert_eq!((answer.text(), answer.field("x"), answer.is_from_disk()), ("hello", "2", true));
    assert_eq!(world.origin.fetches(), 2);
}

/// Variants that are on the disk alone are purged with that in memory, and one that is fetched again later does not bring them back.
#[tokio::test]
async fn a_purge_of_one_variant_is_one_of_all() {
    for is_soft in [false, true] {
        let folder = Temporary::new();
        let answer = |seen: &Seen| {
            let language = seen.headers.get("accept-language").map_or("none", String::as_str);
            vec![whole(&format!("{FRESH}\nVary: Accept-Language"), &format!("{language} {}", seen.turn))]
        };
        let world = World::with_disk(Origin::new(filling(answer)).await, &folder).await;
        let ask = async |world: &World, language: &str| {
            world.of_host("GET", "/a", &[("accept-language", language)]).await.text().to_owned()
        };
        assert_eq!((ask(&world, "en").await.as_str(), ask(&world, "de").await.as_str()), ("en 0", "de 1"));
        world.fill().await;
        world.proxy.purge(&Pattern::url("http://a.test/a").unwrap(), is_soft);
        assert_eq!(ask(&world, "de").await, "de 2");
        world.fill().await;
        assert_eq!(ask(&world, "en").await, "en 3", "soft: {is_soft}");
        let world = world.restarted(&folder).await;
        assert_eq!(ask(&world, "en").await, "en 3", "soft: {is_soft}");
    }
}
