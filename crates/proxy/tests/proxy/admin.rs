//! Purges, and what the cache tells of itself.

use std::net::SocketAddr;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpStream, UnixStream};
use tokio::sync::{Semaphore, oneshot};
use tokio::task::JoinHandle;
use trueplane_proxy::admin::client::{self, Named};
use trueplane_proxy::{Admin, Pattern};

use super::origin::{Origin, Seen, Step, whole};
use super::{World, in_front_of, in_time, until};

const FRESH: &str = "Cache-Control: max-age=60";

fn url(world: &World, path: &str) -> Pattern {
    Pattern::url(&world.url(path)).unwrap()
}

fn glob(world: &World, path: &str) -> Pattern {
    Pattern::glob(&world.url(path)).unwrap()
}

/// The body is the number of the request for the URL; the tag is the first part of the path, and the last one's first letter.
fn numbered(seen: &Seen) -> Vec<Step> {
    let mut parts = seen.path.split('/').skip(1);
    let (first, last) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
    let tags = format!("Surrogate-Key: {first} x{last}");
    vec![whole(
        &format!("{FRESH}, stale-while-revalidate=600\n{tags}\nETag: \"{}\"", seen.turn),
        &seen.turn.to_string(),
    )]
}

async fn all(world: &World, paths: &[&str]) -> Vec<String> {
    let mut texts = Vec::new();
    for path in paths {
        texts.push(world.get(path).await.text().to_owned());
    }
    texts
}

#[tokio::test]
async fn a_url_is_purged_with_its_variants() {
    let origin = Origin::new(|seen| match seen.path.as_str() {
        "/v" => vec![whole(&format!("{FRESH}\nVary: X"), &seen.turn.to_string())],
        _ => numbered(seen),
    })
    .await;
    let world = World::new(origin).await;
    assert_eq!(all(&world, &["/a", "/b"]).await, ["0", "0"]);
    for value in ["1", "2"] {
        world.ask("GET", "/v", &[("x", value)]).await;
        assert!(world.ask("GET", "/v", &[("x", value)]).await.is_hit());
    }
    assert_eq!(world.proxy.purge(&url(&world, "/a"), false), 1);
    assert_eq!(world.proxy.purge(&url(&world, "/a"), false), 0);
    assert_eq!(world.proxy.purge(&url(&world, "/v"), false), 2);
    assert_eq!(all(&world, &["/a", "/b"]).await, ["1", "0"]);
    assert!(!world.ask("GET", "/v", &[("x", "1")]).await.is_hit());
    assert!(!world.ask("GET", "/v", &[("x", "2")]).await.is_hit());
}

#[tokio::test]
async fn tags_prefixes_and_patterns_find_what_they_name_and_nothing_else() {
    let world = World::new(Origin::new(numbered).await).await;
    let paths = ["/a/1", "/a/2", "/b/1", "/b/2.css"];
    let tag = |text| Pattern::tag(text).unwrap();
    for (pattern, count, expected) in [
        (tag("a"), 2, ["1", "1", "0", "0"]),
        (tag("x1"), 2, ["2", "1", "1", "0"]),
        (tag("x"), 0, ["2", "1", "1", "0"]),
        (Pattern::prefix(&world.url("/b/")).unwrap(), 2, ["2", "1", "2", "1"]),
        (glob(&world, "/*.css"), 1, ["2", "1", "2", "2"]),
        (glob(&world, "/*1"), 2, ["3", "1", "3", "2"]),
    ] {
        all(&world, &paths).await;
        assert_eq!(world.proxy.purge(&pattern, false), count, "{pattern}");
        assert_eq!(all(&world, &paths).await, expected, "{pattern}");
    }
    assert_eq!(world.get("/a/1").await.field("surrogate-key"), "", "it is for caches");
}

#[tokio::test]
async fn a_soft_purge_makes_stale_what_is_then_served_and_validated() {
    for by_url in [true, false] {
        let world = World::new(Origin::new(numbered).await).await;
        world.get("/a").await;
        assert!(world.get("/a").await.is_hit());
        let pattern = if by_url { url(&world, "/a") } else { glob(&world, "/*") };
        assert_eq!(world.proxy.purge(&pattern, true), 1);
        let stale = world.get("/a").await;
        assert!(stale.is_hit() && world.ages(0).contains(&-stale.ttl()), "{stale:?}");
        assert_eq!(stale.text(), "0");
        until(|| world.origin.fetches() == 2).await;
        assert_eq!(world.origin.seen()[1].headers["if-none-match"], "\"0\"");
        until(|| world.proxy.stats().fetches == 2).await;
        let new = world.get("/a").await;
        assert!(new.is_hit() && new.text() == "1", "{new:?}");
    }
}

#[tokio::test]
async fn what_is_validated_after_a_soft_purge_is_fresh_and_keeps_its_tags() {
    let origin = Origin::new(|seen| match seen.turn {
        0 => numbered(seen),
        _ => vec![Step::Send(format!("HTTP/1.1 304 Not Modified\r\n{FRESH}\r\nETag: \"0\"\r\n\r\n"))],
    })
    .await;
    let world = World::new(origin).await;
    world.get("/a").await;
    let tag = Pattern::tag("a").unwrap();
    for turn in 1..3 {
        assert_eq!(world.proxy.purge(&tag, true), 1);
        world.get("/a").await;
        until(|| world.proxy.stats().fetches == turn + 1).await;
        let hit = world.get("/a").await;
        assert!(hit.is_hit() && !hit.field("cache-status").contains("ttl=-") && hit.text() == "0");
    }
    assert_eq!(world.origin.fetches(), 3);
}

/// A purge while a fetch is on its way: who asked before gets what it brings, who asks later does not, and it is not stored as fresh.
#[tokio::test]
async fn a_purge_is_about_what_is_on_its_way_too() {
    type Make = fn(&World) -> Pattern;
    let makes: [Make; 4] = [
        |world| url(world, "/a"),
        |world| Pattern::prefix(&world.url("/a")).unwrap(),
        |_| Pattern::tag("a").unwrap(),
        |world| glob(world, "/*"),
    ];
    for (place, make) in makes.into_iter().enumerate() {
        for is_soft in [false, true] {
            // The head has come when the purge comes, or not.
            for is_begun in [false, true] {
                let gate = Arc::new(Semaphore::new(0));
                let waits = Step::Wait(Arc::clone(&gate));
                let origin = Origin::new(move |seen| {
                    let Step::Send(text) = numbered(seen).remove(0) else { unreachable!() };
                    let (head, body) = text.split_once("\r\n\r\n").unwrap();
                    let head = Step::Send(format!("{head}\r\n\r\n"));
                    let body = Step::Send(body.to_owned());
                    match seen.turn {
                        0 if is_begun => vec![head, waits.clone(), body],
                        0 => vec![waits.clone(), head, body],
                        _ => vec![head, body],
                    }
                })
                .await;
                let world = Arc::new(World::new(origin).await);
                let ask = || {
                    let world = Arc::clone(&world);
                    tokio::spawn(async move { world.get("/a").await })
                };
                let before = ask();
                until(|| world.origin.fetches() == 1).await;
                if is_begun {
                    let (body, _) = world.begin("GET", "/a", &[]).await;
                    drop(body);
                }
                world.proxy.purge(&make(&world), is_soft);
                let after = ask();
                // It has asked before the gate opens, whether it waits or not.
                until(|| {
                    world.proxy.stats().requests() >= 2 + u64::from(is_begun) || world.origin.fetches() == 2
                })
                .await;
                gate.add_permits(1);
                let case = format!("{place} {is_soft} {is_begun}");
                assert_eq!(in_time(before).await.unwrap().text(), "0", "{case}");
                assert_eq!(in_time(after).await.unwrap().text(), "1", "{case}");
                assert_eq!(world.get("/a").await.text(), "1", "{case}");
            }
        }
    }
}

/// A cache with a socket and an address for its administration.
struct Watched {
    world: World,
    socket: PathBuf,
    address: SocketAddr,
    stop: oneshot::Sender<()>,
    served: JoinHandle<()>,
}

const TOKEN: &str = "0123456789abcdef";

/// A folder of its own for each test.
fn folder(test: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("trueplane-{}-{test}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

async fn watched(test: &str, has_token: bool, origin: Origin) -> Watched {
    let folder = folder(test);
    let (socket, token) = (folder.join("s"), folder.join("token"));
    std::fs::write(&token, format!("{TOKEN}\n")).unwrap();
    let mut parameters = vec![("socket", socket.to_str().unwrap()), ("admin", "127.0.0.1:0")];
    if has_token {
        parameters.push(("admin_token", token.to_str().unwrap()));
    }
    let settings = in_front_of(&origin, &parameters);
    let world = World::with(origin, settings).await;
    let admin = Admin::open(&world.proxy).await.unwrap().unwrap();
    let address = admin.address().unwrap();
    let (stop, stopped) = oneshot::channel();
    let served = tokio::spawn(admin.serve(async { drop(stopped.await) }));
    Watched { world, socket, address, stop, served }
}

/// Sends a request as it stands, and reads the whole answer.
async fn raw(stream: &mut (impl tokio::io::AsyncRead + tokio::io::AsyncWrite + Unpin), text: &str) -> String {
    stream.write_all(text.as_bytes()).await.unwrap();
    let mut answer = String::new();
    in_time(stream.read_to_string(&mut answer)).await.unwrap();
    answer
}

impl Watched {
    async fn by_address(&self, text: &str) -> String {
        raw(&mut TcpStream::connect(self.address).await.unwrap(), text).await
    }

    async fn get(&self, path: &str) -> String {
        self.by_address(&format!("GET {path} HTTP/1.1\r\nHost: {}\r\n\r\n", self.address)).await
    }

    async fn purge(&self, authorization: &str) -> String {
        let body = r#"{"pattern":"*"}"#;
        let length = body.len();
        self.by_address(&format!(
            "POST /purge HTTP/1.1\r\nHost: localhost\r\n{authorization}Content-Length: {length}\r\n\r\n{body}"
        ))
        .await
    }
}

fn status(answer: &str) -> &str {
    answer.split(' ').nth(1).unwrap_or_default()
}

#[tokio::test]
async fn the_socket_is_its_owners_and_is_removed_at_the_end() {
    let Watched { world, socket, stop, served, .. } =
        watched("mode", false, Origin::simple(FRESH, "x").await).await;
    let mode = std::fs::metadata(&socket).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    // No other cache takes it.
    let error = Admin::open(&world.proxy).await.unwrap_err().to_string();
    assert!(error.ends_with("another process serves this socket"), "{error}");
    drop(stop);
    in_time(served).await.unwrap();
    assert!(!socket.exists());
    // A process that died in the middle of making it has left its folder.
    std::fs::create_dir(socket.with_file_name(format!(".{}", std::process::id()))).unwrap();
    // What a process has left that died is replaced, and another file is not.
    drop(std::os::unix::net::UnixListener::bind(&socket).unwrap());
    drop(Admin::open(&world.proxy).await.unwrap());
    std::fs::write(&socket, "x").unwrap();
    let error = Admin::open(&world.proxy).await.unwrap_err().to_string();
    assert!(error.ends_with("a file that is no socket is there"), "{error}");
    let left: Vec<_> =
        std::fs::read_dir(socket.parent().unwrap()).unwrap().map(|file| file.unwrap().file_name()).collect();
    assert_eq!(left.len(), 2, "{left:?}");
}

#[tokio::test]
async fn at_the_address_a_purge_needs_a_token_and_all_else_a_host_of_this_machine() {
    let with = watched("token", true, Origin::simple(FRESH, "x").await).await;
    with.world.get("/").await;
    assert_eq!(status(&with.purge("").await), "401");
    assert_eq!(status(&with.purge("Authorization: Bearer 0123456789abcdeg\r\n").await), "401");
    let answer = with.purge(&format!("Authorization: Bearer {TOKEN}\r\n")).await;
    assert!(status(&answer) == "200" && answer.contains(r#"{"purged":1}"#), "{answer}");
    let without = watched("no-token", false, Origin::simple(FRESH, "x").await).await;
    assert_eq!(status(&without.purge("Authorization: Bearer \r\n").await), "403");
    for path in ["/", "/metrics", "/stats", "/top"] {
        let answer = without.get(path).await;
        assert_eq!(status(&answer), "200", "{answer}");
        assert!(!answer.to_ascii_lowercase().contains("access-control"), "{answer}");
        for host in
            ["Host: evil.example", "Host: localhost.evil.example", "X: y", "Host: localhost\r\nHost: evil"]
        {
            let answer = without.by_address(&format!("GET {path} HTTP/1.1\r\n{host}\r\n\r\n")).await;
            assert!(["400", "403"].contains(&status(&answer)), "{answer}");
        }
    }
    assert_eq!(status(&without.get("/nothing").await), "404");
    assert_eq!(status(&without.get("/purge").await), "405");
}

#[tokio::test]
async fn only_addresses_of_this_machine_are_taken() {
    let origin = Origin::simple(FRESH, "x").await;
    let settings = in_front_of(&origin, &[("admin", "0.0.0.0:0")]);
    let error = trueplane_proxy::Proxy::new(&settings).unwrap_err().to_string();
    assert!(error.starts_with("admin: expected an address of this machine alone"), "{error}");
}

#[tokio::test]
async fn a_program_asks_by_the_socket() {
    let watched = watched("client", false, Origin::new(numbered).await).await;
    let (world, socket) = (&watched.world, watched.socket.as_path());
    for path in ["/a/1", "/a/1", "/a/2", "/b/1"] {
        world.get(path).await;
    }
    world.ask("POST", "/c", &[]).await;
    until(|| world.proxy.stats().fetches == 3).await;
    let told = client::stats(socket).await.unwrap();
    let counts = &told.sites[0].counts;
    assert_eq!((counts.hits, counts.misses, counts.passed, counts.origin_requests), (1, 3, 1, 4));
    assert_eq!((told.stored.entries, told.connections), (3, 1));
    assert!(counts.measured_ns.is_some() && counts.sent_bytes == 5);
    let top = client::top(socket).await.unwrap();
    assert_eq!(top.waits.len(), 3);
    assert!(top.waits.iter().any(|row| row.url == world.url("/a/1")));
    let purge = |named| client::purge(socket, named, false);
    assert_eq!(purge(Named::Url(world.url("/a/2"))).await, Ok(1));
    assert_eq!(purge(Named::Tag("a".to_owned())).await, Ok(1));
    assert_eq!(purge(Named::Prefix(world.url("/"))).await, Ok(1));
    assert_eq!(purge(Named::Pattern("*".to_owned())).await, Ok(0));
    assert!(purge(Named::Url("x".to_owned())).await.unwrap_err().starts_with("expected a URL"));
    let error = client::stats(Path::new("/nowhere/s")).await.unwrap_err();
    assert_eq!(error, "/nowhere/s: no such socket; `trueplane cache serve --socket` makes it");
}

#[tokio::test]
async fn whoever_fills_the_address_leaves_the_socket_to_its_owner() {
    let watched = watched("full", false, Origin::simple(FRESH, "x").await).await;
    let mut idle = Vec::new();
    for _ in 0..200 {
        idle.push(TcpStream::connect(watched.address).await.unwrap());
    }
    // What waits for a place at the address would get none for seconds. The first one may have been kept free for the socket.
    for _ in 0..3 {
        let told = tokio::time::timeout(std::time::Duration::from_secs(5), client::stats(&watched.socket));
        told.await.unwrap().unwrap();
    }
}

/// The origin breaks off once, and is asked again: it has been asked twice, and has failed once. A client that does not wait for an answer counts, too.
#[tokio::test]
async fn each_question_to_the_origin_counts() {
    let never = Step::Wait(Arc::new(Semaphore::new(0)));
    let origin = Origin::new(move |seen| match (seen.path.as_str(), seen.turn) {
        ("/left", _) => vec![never.clone()],
        (_, 0) => vec![Step::Close],
        _ => vec![whole(FRESH, "hello")],
    });
    let watched = watched("asked", false, origin.await).await;
    let world = &watched.world;
    assert_eq!(world.get("/").await.text(), "hello");
    let told = client::stats(&watched.socket).await.unwrap().all;
    assert_eq!((told.origin_requests, told.origin_failures), (2, 1));
    let mut stream = TcpStream::connect(world.address).await.unwrap();
    stream
        .write_all(b"GET /left HTTP/1.1\r\nHost: a\r\nCookie: a=b\r\nRange: bytes=0-1\r\n\r\n")
        .await
        .unwrap();
    until(|| world.origin.fetches() == 3).await;
    drop(stream);
    let told = client::stats(&watched.socket).await.unwrap().all;
    assert_eq!((told.origin_requests, told.origin_failures), (3, 1));
}

#[tokio::test]
async fn delayed_hits_count_with_the_rest_of_the_fetch_that_they_wait_for() {
    let gate = Arc::new(Semaphore::new(0));
    let waits = Step::Wait(Arc::clone(&gate));
    let origin = Origin::new(move |_| vec![waits.clone(), whole(FRESH, "hello")]).await;
    let watched = watched("delayed", false, origin).await;
    let (world, socket) = (Arc::new(watched.world), watched.socket);
    let ask = |_| {
        let world = Arc::clone(&world);
        tokio::spawn(async move { world.get("/").await })
    };
    let began = tokio::time::Instant::now();
    let asked: Vec<_> = (0..10).map(ask).collect();
    until(|| world.proxy.stats().delayed_hits == 9).await;
    // Much longer than between the first of them and the last.
    tokio::time::sleep((began.elapsed() * 10).max(std::time::Duration::from_millis(50))).await;
    gate.add_permits(1);
    for one in asked {
        in_time(one).await.unwrap();
    }
    assert!(world.get("/").await.is_hit());
    let told = client::stats(&socket).await.unwrap();
    let counts = &told.all;
    assert_eq!((counts.hits, counts.delayed_hits, counts.misses), (1, 9, 1));
    // All waited for 50 ms and more: by the hit rate one of eleven would have.
    let (classical, measured) = (counts.classical_ns.unwrap(), counts.measured_ns.unwrap());
    assert!(measured >= 45_000_000 && measured > 5 * classical, "{measured} {classical}");
    assert!(counts.refined_ns.unwrap() > 3 * classical && counts.wait_p99_ns.unwrap() >= 50_000_000);
}

#[tokio::test]
async fn metrics_are_as_prometheus_reads_them() {
    let watched = watched("metrics", false, Origin::simple(FRESH, "hello").await).await;
    watched.world.get("/").await;
    watched.world.get("/").await;
    let answer = watched.get("/metrics").await;
    let (head, text) = answer.split_once("\r\n\r\n").unwrap();
    assert!(head.contains("application/openmetrics-text; version=1.0.0"), "{head}");
    assert!(text.ends_with("# EOF\n"));
    let site = watched.world.origin.url();
    let values: std::collections::HashMap<&str, f64> = text
        .lines()
        .filter(|line| !line.starts_with('#'))
        .map(|line| line.rsplit_once(' ').unwrap())
        .map(|(name, value)| (name, value.parse().unwrap()))
        .collect();
    let value = |name: &str, labels: &str| {
        values[format!("trueplane_cache_{name}{{site=\"{site}\"{labels}}}").as_str()]
    };
    assert_eq!(value("requests_total", ",served=\"hit\""), 1.0);
    assert_eq!(value("requests_total", ",served=\"miss\""), 1.0);
    assert_eq!(value("sent_bytes_total", ""), 10.0);
    assert_eq!(value("wait_seconds_count", ""), 2.0);
    let all_waits = format!("trueplane_cache_wait_seconds_bucket{{le=\"+Inf\",site=\"{site}\"}}");
    assert_eq!(values[all_waits.as_str()], 2.0);
    assert_eq!(value("origin_up", &format!(",server=\"{site}\"")), 1.0);
    assert!(value("mean_wait_seconds", ",by=\"measured\"") > 0.0);
    assert_eq!(values["trueplane_cache_entries"], 1.0);
    assert!(values["trueplane_cache_used_bytes"] <= values["trueplane_cache_limit_bytes"]);
    for line in text.lines().filter(|line| line.starts_with("# HELP")) {
        assert!(line.ends_with('.') && !line.ends_with(".."), "{line}");
    }
}

#[tokio::test]
async fn the_page_escapes_what_clients_ask_for_and_loads_nothing() {
    let watched = watched("page", false, Origin::simple(FRESH, "x").await).await;
    // hyper's client would not send this.
    let mut stream = TcpStream::connect(watched.world.address).await.unwrap();
    let asked = "GET /<script>alert(1)</script>?\"'& HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
    let answer = raw(&mut stream, asked).await;
    // The server may refuse such a URL: then another one has to do.
    if status(&answer) != "200" {
        watched.world.get("/a&b='c'").await;
    }
    let page = watched.get("/").await;
    let (head, body) = page.split_once("\r\n\r\n").unwrap();
    assert!(head.contains("content-security-policy: default-src 'none'; style-src 'sha256-"), "{head}");
    assert!(!body.contains("<script") && !body.contains("src="), "{body}");
    assert!(body.contains("&lt;script&gt;") || body.contains("a&amp;b="), "{body}");
    assert!(body.contains("<svg") && body.contains("classical"));
    // The socket shows it, too.
    let mut stream = UnixStream::connect(&watched.socket).await.unwrap();
    assert_eq!(status(&raw(&mut stream, "GET / HTTP/1.1\r\nHost: x\r\n\r\n").await), "200");
}

#[tokio::test]
async fn counts_stay_when_the_settings_of_a_site_change() {
    let watched = watched("reload", false, Origin::simple(FRESH, "x").await).await;
    watched.world.get("/").await;
    let mut settings = in_front_of(&watched.world.origin, &[("timeout", "7s")]);
    settings.cache = in_front_of(&watched.world.origin, &[]).cache;
    watched.world.proxy.reload(&settings).unwrap();
    watched.world.get("/").await;
    let told = client::stats(&watched.socket).await.unwrap();
    assert_eq!((told.all.misses, told.all.hits), (1, 1));
}
