//! What HTTP asks of caches.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::Request;
use http_body_util::{BodyExt as _, Full};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::sync::Semaphore;
use tokio::time::Instant;

use super::origin::{Origin, Step, whole, with_status};
use super::{World, in_front_of, in_time, until};

/// The example of the documentation, by hand.
#[tokio::test]
async fn an_answer_says_what_the_cache_did() {
    let world =
        World::new(Origin::simple("Cache-Control: max-age=60\nConnection: x\nX: 1", "hello").await).await;
    let miss = world.get("/").await;
    let ttl = miss.ttl();
    assert_eq!(miss.field("cache-status"), format!("trueplane; fwd=miss; fwd-status=200; stored; ttl={ttl}"));
    assert!(world.ages(0).contains(&(60 - ttl)), "{miss:?}");
    let hit = world.get("/").await;
    let ttl = hit.ttl();
    assert_eq!(hit.field("cache-status"), format!("trueplane; hit; ttl={ttl}"));
    assert!(world.ages(0).contains(&(60 - ttl)) && world.ages(0).contains(&hit.age()), "{hit:?}");
    assert_eq!((hit.field("via"), hit.text()), ("1.1 trueplane", "hello"));
    assert!(!hit.field("date").is_empty() && hit.field("x").is_empty());
    let seen = world.origin.seen().remove(0);
    assert_eq!(seen.headers["host"], world.address.to_string());
    assert_eq!(seen.headers["x-forwarded-for"], "127.0.0.1");
    assert_eq!(seen.headers["via"], "1.1 trueplane");
}

#[tokio::test]
async fn variants_are_kept_apart() {
    let origin = Origin::new(|seen| {
        let language = seen.headers.get("accept-language").cloned().unwrap_or_default();
        vec![whole("Cache-Control: max-age=60\nVary: Accept-Language", &language)]
    })
    .await;
    let world = World::new(origin).await;
    for language in ["en", "de", "en", "de"] {
        assert_eq!(world.ask("GET", "/", &[("accept-language", language)]).await.text(), language);
    }
    assert_eq!(world.get("/").await.text(), "");
    assert!(world.ask("GET", "/", &[("accept-language", "DE")]).await.is_hit());
    assert!(!world.ask("GET", "/", &[("accept-language", "d e")]).await.is_hit());
    assert_eq!(world.origin.fetches(), 4);
    // What is changed is changed in all variants.
    world.ask("POST", "/", &[]).await;
    assert!(!world.ask("GET", "/", &[("accept-language", "de")]).await.is_hit());
    assert!(!world.ask("GET", "/", &[("accept-language", "en")]).await.is_hit());
}

#[tokio::test]
async fn unsafe_methods_invalidate_what_they_name() {
    let origin = Origin::new(|seen| match (seen.method.as_str(), seen.path.as_str()) {
        ("POST", "/fails") => vec![with_status("500 No", "X: y", "")],
        ("POST", _) => vec![whole("Location: /b\nContent-Location: http://elsewhere/c", "")],
        _ => vec![whole("Cache-Control: max-age=60", "hello")],
    })
    .await;
    let world = World::new(origin).await;
    for path in ["/a", "/b", "/c", "/fails"] {
        world.get(path).await;
        world.ask("POST", "/fails", &[]).await;
        assert!(world.get(path).await.is_hit(), "{path}");
    }
    world.ask("POST", "/a", &[]).await;
    assert!(!world.get("/a").await.is_hit() && !world.get("/b").await.is_hit());
    assert!(world.get("/c").await.is_hit());
}

#[tokio::test]
async fn conditions_are_answered_from_what_is_stored() {
    let fields = "Cache-Control: max-age=60\nETag: \"a\"\nContent-Type: text/plain";
    let world = World::new(Origin::simple(fields, "hello").await).await;
    // Also by the answer that is fetched for it.
    for _ in 0..2 {
        let answer = world.ask("GET", "/", &[("if-none-match", "\"a\"")]).await;
        assert_eq!((answer.status.as_u16(), answer.field("etag"), answer.text()), (304, "\"a\"", ""));
        assert_eq!((answer.field("content-type"), answer.field("content-length")), ("", ""));
    }
    assert_eq!(world.ask("GET", "/", &[("if-none-match", "\"b\"")]).await.text(), "hello");
    assert_eq!(world.origin.fetches(), 1);
    assert!(!world.origin.seen()[0].headers.contains_key("if-none-match"));
}

#[tokio::test]
async fn ranges_are_cut_out_of_what_is_stored_or_arrives() {
    let world =
        World::new(Origin::simple("Cache-Control: max-age=60\nETag: \"a\"", "0123456789").await).await;
    for _ in 0..2 {
        let part = world.ask("GET", "/", &[("range", "bytes=2-4")]).await;
        assert_eq!((part.status.as_u16(), part.text(), part.is_whole), (206, "234", true));
        assert_eq!((part.field("content-range"), part.field("content-length")), ("bytes 2-4/10", "3"));
    }
    let beyond = world.ask("GET", "/", &[("range", "bytes=10-")]).await;
    assert_eq!((beyond.status.as_u16(), beyond.field("content-range")), (416, "bytes */10"));
    let many = world.ask("GET", "/", &[("range", "bytes=0-0,2-2")]).await;
    assert_eq!((many.status.as_u16(), many.text()), (200, "0123456789"));
    let other = world.ask("GET", "/", &[("range", "bytes=0-0"), ("if-range", "\"b\"")]).await;
    assert_eq!(other.status, 200);
    assert_eq!(world.origin.fetches(), 1);
}

#[tokio::test]
async fn heads_are_answered_from_what_is_stored() {
    let origin = Origin::new(|seen| match seen.method.as_str() {
        "HEAD" => vec![Step::Send("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n".into())],
        _ => vec![whole("Cache-Control: max-age=60", "hello")],
    })
    .await;
    let world = World::new(origin).await;
    let before = world.ask("HEAD", "/", &[]).await;
    assert_eq!((before.is_hit(), before.field("content-length")), (false, "5"));
    world.get("/").await;
    let after = world.ask("HEAD", "/", &[]).await;
    assert_eq!((after.is_hit(), after.field("content-length"), after.text()), (true, "5", ""));
}

#[tokio::test]
async fn only_if_cached_asks_no_origin() {
    let world = World::new(Origin::simple("Cache-Control: max-age=60", "hello").await).await;
    let only = [("cache-control", "only-if-cached")];
    assert_eq!(world.ask("GET", "/", &only).await.status, 504);
    world.get("/").await;
    assert!(world.ask("GET", "/", &only).await.is_hit());
    assert_eq!(world.origin.fetches(), 1);
}

#[tokio::test]
async fn authorised_answers_are_shared_only_if_the_origin_says_so() {
    let secret = [("authorization", "Basic eA==")];
    for (control, is_shared) in [("max-age=60", false), ("max-age=60, public", true)] {
        let fields: &'static str = format!("Cache-Control: {control}").leak();
        let world = World::new(Origin::simple(fields, "hello").await).await;
        world.ask("GET", "/", &secret).await;
        assert_eq!(world.get("/").await.is_hit(), is_shared, "{control}");
    }
}

#[tokio::test]
async fn a_cookie_that_is_shared_is_not() {
    let world =
        World::new(Origin::simple("Cache-Control: public, max-age=60\nSet-Cookie: who=me", "hello").await)
            .await;
    world.get("/").await;
    let hit = world.get("/").await;
    assert!(hit.is_hit() && hit.field("set-cookie").is_empty());
}

#[tokio::test]
async fn every_request_has_a_line_in_the_log() {
    let origin = Origin::new(|seen| match seen.path.as_str() {
        "/private" => vec![whole("Cache-Control: private", "mine")],
        _ => vec![whole("Cache-Control: max-age=60", "hello")],
    })
    .await;
    let file = std::env::temp_dir().join(format!("trueplane-proxy-{}.log", std::process::id()));
    let settings = in_front_of(&origin, &[("log", file.to_str().unwrap())]);
    let world = World::with(origin, settings).await;
    for path in ["/a?b", "/a?b", "/private", "/private"] {
        world.get(path).await;
    }
    world.ask("GET", "/a?b", &[("range", "bytes=0-1")]).await;
    world.ask("POST", "/a?b", &[]).await;
    let proxy = world.proxy.clone();
    world.stop().await;
    assert_eq!(proxy.log_failure(), None);
    let log = std::fs::read_to_string(&file).unwrap();
    std::fs::remove_file(&file).unwrap();
    let lines: Vec<serde_json::Value> = log.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let told: Vec<_> = lines
        .iter()
        .map(|line| {
            let text = |name: &str| line[name].as_str().unwrap();
            // The origin was asked for what was no hit, and took some time.
            let took = text("upstream_response_time").parse::<f64>().ok();
            assert_eq!(took.is_some(), text("upstream_cache_status") != "HIT", "{line}");
            assert!(text("origin_time").parse::<f64>().is_ok(), "{line}");
            (
                text("request_method"),
                text("request_uri"),
                text("status"),
                text("body_bytes_sent"),
                text("upstream_cache_status"),
            )
        })
        .collect();
    let expected = [
        ("GET", "/a?b", "200", "5", "MISS"),
        ("GET", "/a?b", "200", "5", "HIT"),
        ("GET", "/private", "200", "4", "MISS"),
        ("GET", "/private", "200", "4", "BYPASS"),
        ("GET", "/a?b", "206", "2", "HIT"),
        ("POST", "/a?b", "200", "5", "BYPASS"),
    ];
    assert_eq!(told, expected);
}

#[tokio::test]
async fn a_url_that_varies_more_and_less_settles() {
    let origin = Origin::new(|seen| {
        let vary = if seen.headers.contains_key("origin") { "A, Origin" } else { "A" };
        vec![whole(&format!("Cache-Control: max-age=60\nVary: {vary}"), "hello")]
    })
    .await;
    let world = World::new(origin).await;
    for round in 0..3 {
        for fields in [&[][..], &[("origin", "here")]] {
            let answer = world.ask("GET", "/", fields).await;
            assert!(round < 2 || answer.is_hit(), "{round} {fields:?}");
        }
    }
}

#[tokio::test]
async fn a_field_that_the_cache_adds_may_choose_an_answer() {
    for (field, is_shared) in [("X-Forwarded-Proto", true), ("Via", true), ("X-Forwarded-For", false)] {
        let fields: &'static str = format!("Cache-Control: max-age=60\nVary: {field}").leak();
        let world = World::new(Origin::simple(fields, "hello").await).await;
        world.get("/").await;
        assert_eq!(world.get("/").await.is_hit(), is_shared, "{field}");
        assert_eq!(world.origin.fetches(), if is_shared { 1 } else { 2 }, "{field}");
    }
}

#[tokio::test]
async fn what_was_asked_for_before_a_change_is_not_kept() {
    for vary in ["X: y", "Vary: A"] {
        let gate = Arc::new(Semaphore::new(0));
        let waits = Step::Wait(Arc::clone(&gate));
        let origin = Origin::new(move |seen| match (seen.method.as_str(), seen.turn) {
            ("GET", 0) => vec![waits.clone(), whole(&format!("Cache-Control: max-age=60\n{vary}"), "old")],
            ("GET", _) => vec![whole(&format!("Cache-Control: max-age=60\n{vary}"), "new")],
            _ => vec![whole("", "")],
        })
        .await;
        let world = Arc::new(World::new(origin).await);
        let before = tokio::spawn({
            let world = Arc::clone(&world);
            async move { world.get("/").await }
        });
        until(|| world.origin.fetches() == 1).await;
        world.ask("POST", "/", &[]).await;
        gate.add_permits(1);
        assert_eq!(before.await.unwrap().text(), "old");
        until(|| world.proxy.stats().fetches > 0).await;
        assert_eq!(world.get("/").await.text(), "new", "{vary}");
    }
}

#[tokio::test]
async fn a_change_whose_client_leaves_is_a_change() {
    let gate = Arc::new(Semaphore::new(0));
    let waits = Step::Wait(Arc::clone(&gate));
    let origin = Origin::new(move |seen| match seen.method.as_str() {
        "POST" => vec![waits.clone(), whole("", "")],
        _ => vec![whole("Cache-Control: max-age=60", &seen.turn.to_string())],
    })
    .await;
    let world = Arc::new(World::new(origin).await);
    world.get("/").await;
    let changing = tokio::spawn({
        let world = Arc::clone(&world);
        async move { world.ask("POST", "/", &[]).await }
    });
    until(|| world.origin.fetches() == 2).await;
    changing.abort();
    let _ = changing.await;
    gate.add_permits(1);
    in_time(async {
        while world.get("/").await.is_hit() {
            tokio::task::yield_now().await;
        }
    })
    .await;
}

#[tokio::test]
async fn a_slow_upload_is_no_slow_origin() {
    const TIMEOUT: Duration = Duration::from_millis(100);
    let origin = Origin::new(|_| vec![whole("", "done")]).await;
    let settings = in_front_of(&origin, &[("timeout", "100ms")]);
    let world = World::with(origin, settings).await;
    in_time(async { while !uploads(world.address, TIMEOUT).await {} }).await;
}

/// Uploads a byte at a time, for longer than a timeout. Whether it shows anything: on a busy machine it may pause for longer than that. As bytes may
/// come late, a pause at the cache is as long as two here at most.
async fn uploads(to: SocketAddr, timeout: Duration) -> bool {
    let mut stream = TcpStream::connect(to).await.unwrap();
    let head = "POST / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: 8\r\n\r\n";
    let mut sent = stream.write_all(head.as_bytes()).await;
    let mut times = vec![Instant::now()];
    for _ in 0..8 {
        sent = sent.and(stream.write_all(b"x").await);
        tokio::time::sleep(Duration::from_millis(20)).await;
        times.push(Instant::now());
    }
    let mut answer = String::new();
    let read = stream.read_to_string(&mut answer).await;
    times.push(Instant::now());
    let is_steady = times.windows(3).all(|times| times[2] - times[0] < timeout);
    let is_done = sent.is_ok() && read.is_ok() && answer.ends_with("done");
    assert!(is_done || !is_steady, "{sent:?} {read:?} {answer}");
    is_steady
}

#[tokio::test]
async fn what_is_passed_on_may_not_pause_for_too_long() {
    let stalls = Step::Wait(Arc::new(Semaphore::new(0)));
    let origin = Origin::new(move |_| {
        let head = "HTTP/1.1 200 OK\r\nCache-Control: private\r\nContent-Length: 10\r\n\r\nfirst";
        vec![Step::Send(head.into()), stalls.clone()]
    })
    .await;
    let settings = in_front_of(&origin, &[("timeout", "100ms")]);
    let world = World::with(origin, settings).await;
    // On a busy machine the head, too, may take longer than the timeout.
    let answer = in_time(async {
        loop {
            let answer = world.get("/").await;
            if answer.status != 504 {
                break answer;
            }
        }
    })
    .await;
    assert_eq!((answer.text(), answer.is_whole), ("first", false));
}

#[tokio::test]
async fn http_2_is_spoken_and_its_cookies_are_joined() {
    let world = World::new(Origin::simple("Cache-Control: max-age=60", "hello").await).await;
    let client = Client::builder(TokioExecutor::new()).http2_only(true).build(HttpConnector::new());
    let request = Request::builder().uri(world.url("/")).header("cookie", "a=1").header("cookie", "b=2");
    let request = request.body(Full::<Bytes>::default()).unwrap();
    let response = in_time(client.request(request)).await.unwrap();
    assert_eq!(response.version(), http::Version::HTTP_2);
    assert_eq!(in_time(response.into_body().collect()).await.unwrap().to_bytes(), "hello");
    assert_eq!(world.origin.seen()[0].headers["cookie"], "a=1; b=2");
    assert!(world.get("/").await.is_hit());
}

#[tokio::test]
async fn proxies_that_are_trusted_say_how_they_were_asked() {
    let origin = Origin::simple("Cache-Control: max-age=60", "hello").await;
    let settings = in_front_of(&origin, &[("trust_forwarded", "true")]);
    let world = World::with(origin, settings).await;
    let secure = [("x-forwarded-proto", "https"), ("x-forwarded-for", "192.0.2.1")];
    world.ask("GET", "/", &secure).await;
    let seen = world.origin.seen().remove(0);
    assert_eq!(seen.headers["x-forwarded-proto"], "https");
    assert!(world.ask("GET", "/", &secure).await.is_hit());
    // The same path by another scheme is another URL.
    assert!(!world.get("/").await.is_hit());
}
