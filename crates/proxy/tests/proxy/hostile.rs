//! Requests that mean harm.

use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::sync::Semaphore;

use super::origin::{Origin, Step, whole};
use super::{World, in_front_of, in_time, until};

const FRESH: &str = "Cache-Control: max-age=60";

/// What comes back for these bytes on one connection, until the cache closes it: they must make it do so.
async fn raw(world: &World, bytes: &str) -> String {
    let mut stream = TcpStream::connect(world.address).await.unwrap();
    stream.write_all(bytes.as_bytes()).await.unwrap();
    let mut answer = Vec::new();
    let _ = in_time(stream.read_to_end(&mut answer)).await;
    String::from_utf8_lossy(&answer).into_owned()
}

#[tokio::test]
async fn a_request_has_one_end() {
    let world = World::new(Origin::simple(FRESH, "hello").await).await;
    // Whatever comes of it, the origin never sees a request that is hidden within another one.
    let hidden = "GET /hidden HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
    for (number, fields) in [
        "Content-Length: 0\r\nContent-Length: 36\r\n",
        "Content-Length: 36\r\nTransfer-Encoding: chunked\r\n",
        "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n",
        "Transfer-Encoding : chunked\r\n",
        "Transfer-Encoding: xchunked\r\n",
        "Content-Length: +36\r\n",
        "Content-Length: 36, 36\r\n",
        "X: a\r\n Content-Length: 36\r\n",
        "X: a\rContent-Length: 36\r\n",
        "X: a\0b\r\n",
    ]
    .iter()
    .enumerate()
    {
        let answer =
            raw(&world, &format!("POST /{number} HTTP/1.1\r\nHost: a\r\n{fields}\r\n0\r\n\r\n{hidden}"))
                .await;
        let seen = world.origin.seen();
        // A request behind a whole one is no harm: the client sent it, and gets its answer.
        let answers = answer.matches("HTTP/1.1 ").count();
        let got = seen.iter().filter(|seen| seen.path == "/hidden").count();
        assert!(got <= answers, "{fields:?}: {answer}");
        for seen in &seen {
            let lengths =
                [seen.headers.contains_key("content-length"), seen.headers.contains_key("transfer-encoding")];
            assert!(lengths != [true, true], "{fields:?}: {seen:?}");
        }
    }
}

#[tokio::test]
async fn a_request_is_for_one_server() {
    let world = World::new(Origin::simple(FRESH, "hello").await).await;
    for head in
        ["GET / HTTP/1.1\r\n", "GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n", "GET / HTTP/1.1\r\nHost: a@b\r\n"]
    {
        let answer = raw(&world, &format!("{head}\r\n")).await;
        assert!(answer.starts_with("HTTP/1.1 400 "), "{head:?}: {answer}");
    }
    assert!(raw(&world, "CONNECT a:80 HTTP/1.1\r\nHost: a:80\r\n\r\n").await.starts_with("HTTP/1.1 400 "));
    assert_eq!(world.origin.fetches(), 0);
    // An absolute URL counts before Host, and is what is stored and asked for.
    raw(&world, "GET http://a/x HTTP/1.1\r\nHost: b\r\nConnection: close\r\n\r\n").await;
    assert_eq!(world.origin.seen()[0].headers["host"], "a");
    let other = raw(&world, "GET /x HTTP/1.1\r\nHost: b\r\nConnection: close\r\n\r\n").await;
    assert!(other.contains("fwd=miss"), "{other}");
}

#[tokio::test]
async fn fields_that_name_no_key_do_not_reach_the_origin() {
    let world = World::new(Origin::simple(FRESH, "hello").await).await;
    let evil = [("x-forwarded-host", "evil"), ("x-original-url", "/evil"), ("forwarded", "host=evil")];
    world.ask("GET", "/", &evil).await;
    let seen = world.origin.seen().remove(0);
    assert_eq!(seen.headers["x-forwarded-host"], world.address.to_string());
    assert!(!seen.headers.values().any(|value| value.contains("evil")), "{seen:?}");
}

#[tokio::test]
async fn fields_of_the_connection_end_here() {
    let world = World::new(Origin::simple(FRESH, "hello").await).await;
    let fields = [
        ("connection", "x-secret, host"),
        ("x-secret", "1"),
        ("te", "trailers"),
        ("proxy-authorization", "x"),
    ];
    world.ask("GET", "/", &fields).await;
    let seen = world.origin.seen().remove(0);
    for name in ["x-secret", "te", "proxy-authorization"] {
        assert!(!seen.headers.contains_key(name), "{name}");
    }
    assert!(seen.headers.contains_key("host"));
}

#[tokio::test]
async fn requests_do_not_go_round() {
    let world = World::new(Origin::simple(FRESH, "hello").await).await;
    world.get("/").await;
    let own = world.origin.seen()[0].headers["cdn-loop"].clone();
    assert_eq!(world.ask("GET", "/b", &[("cdn-loop", &own)]).await.status, 508);
    assert_eq!(world.ask("GET", "/b", &[("cdn-loop", "another")]).await.status, 200);
    assert_eq!(world.origin.fetches(), 2);
}

#[tokio::test]
async fn an_answer_has_one_length() {
    let origin = Origin::new(|_| {
        let head =
            format!("HTTP/1.1 200 OK\r\n{FRESH}\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n");
        vec![Step::Send(head + "a\r\n0123456789\r\n0\r\n\r\n")]
    })
    .await;
    let world = World::new(origin).await;
    for is_hit in [false, true] {
        let answer = world.get("/").await;
        assert_eq!((answer.text(), answer.is_whole, answer.is_hit()), ("0123456789", true, is_hit));
        assert_ne!(answer.field("content-length"), "5");
    }
}

#[tokio::test]
async fn an_answer_that_is_no_http_is_an_error() {
    for (number, junk) in
        ["junk\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello", "\0\0\0"]
            .into_iter()
            .enumerate()
    {
        let origin = Origin::new(move |_| vec![Step::Send(junk.into()), Step::Close]).await;
        let world = World::new(origin).await;
        let answer = world.get("/").await;
        assert_eq!(answer.status, 502, "{number}: {answer:?}");
    }
}

#[tokio::test]
async fn paths_are_told_apart_as_they_are_written() {
    let origin = Origin::new(|seen| vec![whole(FRESH, &seen.path)]).await;
    let world = World::new(origin).await;
    // An origin may take some of these for one another. The cache never does, so that what is stored is what was answered.
    for path in ["/a/../b", "/b", "/%62", "/a//b", "/a/b", "/a/b?", "/a/b;x", "/a/b%3Bx", "/a%2Fb"] {
        let answer =
            raw(&world, &format!("GET {path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")).await;
        assert!(answer.ends_with(&format!("\r\n\r\n{path}")), "{path}: {answer}");
        assert!(answer.contains("fwd=miss"), "{path}: {answer}");
    }
}

#[tokio::test]
async fn slow_heads_end() {
    let origin = Origin::simple(FRESH, "hello").await;
    let settings = in_front_of(&origin, &[("client_timeout", "100ms")]);
    let world = World::with(origin, settings).await;
    // A client that sends nothing, and one that stays away after an answer.
    for sent in ["", "GET / HTTP/1.1\r\nHost: a\r\n\r\n"] {
        raw(&world, sent).await;
    }
    // One that never ends its head: a byte now and then wins no time.
    let mut stream = TcpStream::connect(world.address).await.unwrap();
    stream.write_all(b"GET / HTTP/1.1\r\nHost: a\r\nX: ").await.unwrap();
    in_time(async {
        while stream.write_all(b"x").await.is_ok() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    })
    .await;
    assert_eq!(world.get("/").await.text(), "hello");
}

/// CVE-2023-44487: streams that are reset as soon as they are begun.
#[tokio::test]
async fn streams_that_are_reset_at_once_harm_nobody_else() {
    let world = World::new(Origin::simple(FRESH, "hello").await).await;
    let stream = TcpStream::connect(world.address).await.unwrap();
    let (mut client, connection) = h2::client::handshake(stream).await.unwrap();
    let connection = tokio::spawn(connection);
    let url = world.url("/reset");
    for _ in 0..20_000 {
        // The cache may end the connection.
        let Ok(ready) = in_time(client.ready()).await else { break };
        client = ready;
        let request = http::Request::get(&url).body(()).unwrap();
        let Ok((_, mut body)) = client.send_request(request, true) else { break };
        body.send_reset(h2::Reason::CANCEL);
    }
    assert_eq!(world.get("/other").await.text(), "hello");
    // All of them share one fetch.
    assert!(world.origin.fetches() <= 2, "{}", world.origin.fetches());
    connection.abort();
}

/// The same with requests that the origin must get: there are no more of them on their way than one connection may have at once.
#[tokio::test]
async fn changes_whose_streams_are_reset_are_limited() {
    const MOST: usize = 256;
    let world = World::new(Origin::new(|_| vec![never()]).await).await;
    let stream = TcpStream::connect(world.address).await.unwrap();
    let (mut client, connection) = h2::client::handshake(stream).await.unwrap();
    let connection = tokio::spawn(connection);
    let post = || http::Request::post(world.url("/change")).body(()).unwrap();
    let mut begun = 0;
    for number in 0..MOST + 10 {
        client = in_time(client.ready()).await.unwrap();
        let (answer, mut body) = client.send_request(post(), true).unwrap();
        if number < MOST {
            begun += 1;
            until(|| world.origin.fetches() == begun).await;
            body.send_reset(h2::Reason::CANCEL);
        } else {
            assert_eq!(in_time(answer).await.unwrap().status(), http::StatusCode::SERVICE_UNAVAILABLE);
        }
    }
    assert_eq!(world.origin.fetches(), MOST);
    // Another connection has its own.
    let other =
        tokio::spawn(world.client.request(
            http::Request::post(world.url("/change")).body(http_body_util::Full::default()).unwrap(),
        ));
    until(|| world.origin.fetches() == MOST + 1).await;
    other.abort();
    connection.abort();
}

/// A client of HTTP/2 that asks for a lot, and opens no window for it.
#[tokio::test]
async fn a_client_that_never_reads_its_answers_is_left() {
    let origin = Origin::new(|_| vec![whole(FRESH, &"x".repeat(1 << 19))]).await;
    let settings = in_front_of(&origin, &[("client_timeout", "100ms")]);
    let world = World::with(origin, settings).await;
    let stream = TcpStream::connect(world.address).await.unwrap();
    let mut builder = h2::client::Builder::new();
    builder.initial_window_size(1);
    let (client, connection) = builder.handshake::<_, bytes::Bytes>(stream).await.unwrap();
    // It answers all pings.
    let connection = tokio::spawn(connection);
    let mut client = in_time(client.ready()).await.unwrap();
    let mut answers = Vec::new();
    for _ in 0..3 {
        let request = http::Request::get(world.url("/")).body(()).unwrap();
        // The cache may have left already.
        let Ok((answer, _)) = client.send_request(request, true) else { break };
        let Ok(answer) = in_time(answer).await else { break };
        // None of it is given back, and so no window opens.
        answers.push(answer);
        let Ok(ready) = in_time(client.ready()).await else { break };
        client = ready;
    }
    assert!(!answers.is_empty());
    let _ = in_time(connection).await;
    until(|| world.proxy.connections() == 0).await;
}

/// A step that never ends.
fn never() -> Step {
    Step::Wait(Arc::new(Semaphore::new(0)))
}

#[tokio::test]
async fn fields_behind_the_body_of_a_request_end_here() {
    let world = World::new(Origin::simple("", "done").await).await;
    let head = "POST / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nTransfer-Encoding: chunked\r\nTrailer: X-Original-URL\r\n\r\n";
    let answer = raw(&world, &format!("{head}0\r\nX-Original-URL: /evil\r\n\r\n")).await;
    assert!(answer.ends_with("done"), "{answer}");
    let seen = world.origin.seen().remove(0);
    assert!(
        !seen.headers.contains_key("trailer") && !seen.headers.contains_key("x-original-url"),
        "{seen:?}"
    );
}

/// A server that takes a head, and then no more of the body.
#[tokio::test]
async fn an_upload_that_nobody_reads_ends() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    // Connections wait in the queue, and nothing reads what comes.
    let settings = in_front_of(&Origin::simple("", "").await, &[("origin", &url), ("timeout", "200ms")]);
    let world = World::with(Origin::simple("", "").await, settings).await;
    let mut stream = TcpStream::connect(world.address).await.unwrap();
    let head = "POST / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: 100000000\r\n\r\n";
    stream.write_all(head.as_bytes()).await.unwrap();
    let (mut reads, mut writes) = stream.into_split();
    let sending = tokio::spawn(async move { while writes.write_all(&[0; 65536]).await.is_ok() {} });
    let mut answer = vec![0; 12];
    in_time(reads.read_exact(&mut answer)).await.unwrap();
    assert_eq!(answer, b"HTTP/1.1 504");
    sending.abort();
    drop(listener);
}
