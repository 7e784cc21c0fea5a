//! TLS and HTTP/2 on both sides, connections that become another protocol, and limits.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use http::StatusCode;
use rcgen::{CertifiedKey, generate_simple_self_signed};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::sync::Semaphore;
use tokio_rustls::TlsConnector;

use super::origin::{Origin, Step, whole};
use super::{World, in_front_of, in_time};

const FRESH: &str = "Cache-Control: max-age=60";

/// A certificate of `localhost` and its key, as files in a folder that goes with it.
struct Pair {
    folder: PathBuf,
}

impl Pair {
    fn new() -> Self {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let folder = std::env::temp_dir().join(format!("trueplane-tls-{}-{number}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let pair = Self { folder };
        pair.write();
        pair
    }

    /// Writes a new certificate and its key.
    fn write(&self) {
        let CertifiedKey { cert, signing_key } = generate_simple_self_signed(["localhost".into()]).unwrap();
        fs::write(self.certificate(), cert.pem()).unwrap();
        fs::write(self.key(), signing_key.serialize_pem()).unwrap();
    }

    fn certificate(&self) -> PathBuf {
        self.folder.join("certificate.pem")
    }

    fn key(&self) -> PathBuf {
        self.folder.join("key.pem")
    }

    /// A cache with this certificate.
    async fn world(&self, origin: Origin) -> World {
        let (certificate, key) = (self.certificate(), self.key());
        let parameters = [("certificate", text(&certificate)), ("certificate_key", text(&key))];
        let settings = in_front_of(&origin, &parameters);
        World::with(origin, settings).await
    }
}

impl Drop for Pair {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.folder);
    }
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// The certificate that a server shows to a client that trusts it.
async fn shown(address: std::net::SocketAddr, trusted: &Path) -> Option<CertificateDer<'static>> {
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_file(trusted).unwrap()).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
    let config = config.with_root_certificates(roots).with_no_client_auth();
    let stream = TcpStream::connect(address).await.unwrap();
    let name = ServerName::try_from("localhost").unwrap();
    let stream = in_time(TlsConnector::from(Arc::new(config)).connect(name, stream)).await.ok()?;
    Some(stream.get_ref().1.peer_certificates()?[0].clone())
}

#[tokio::test]
async fn tls_is_spoken_on_both_sides_in_both_versions() {
    let pair = Pair::new();
    let certificate = pair.certificate();
    let behind = pair.world(Origin::simple(FRESH, "hello").await).await;
    let url = format!("https://localhost:{}", behind.tls().await.port());
    for (turn, http2) in ["false", "true"].into_iter().enumerate() {
        let parameters =
            [("origin", url.as_str()), ("origin_ca", text(&certificate)), ("origin_http2", http2)];
        let world = World::with(Origin::simple("", "").await, in_front_of(&behind.origin, &parameters)).await;
        let answer = world.ask("GET", &format!("/{turn}"), &[("host", "site.test")]).await;
        assert_eq!((answer.status, answer.text()), (StatusCode::OK, "hello"));
        let version = if http2 == "true" { "2.0" } else { "1.1" };
        let seen = behind.origin.seen().pop().unwrap();
        // The server behind knows whom the client asked for; its cache, that it came by TLS.
        assert_eq!(
            (seen.headers["host"].as_str(), seen.headers["x-forwarded-proto"].as_str()),
            ("site.test", "https")
        );
        assert_eq!(answer.headers.get_all("via").iter().next().unwrap(), &format!("{version} trueplane"));
        // Many requests at once share what there is.
        let paths: Vec<String> = (0..20).map(|number| format!("/{turn}/{number}")).collect();
        for asked in paths.iter().map(|path| world.get(path)).collect::<Vec<_>>() {
            assert_eq!(asked.await.text(), "hello");
        }
        world.stop().await;
    }
    // Whoever is not signed by those who are trusted gets no request.
    let before = behind.origin.fetches();
    let other = Pair::new();
    let parameters = [("origin", url.as_str()), ("origin_ca", text(&other.certificate())), ("timeout", "5s")]
        .map(|(name, value)| (name, value.to_owned()));
    let parameters: Vec<(&str, &str)> =
        parameters.iter().map(|(name, value)| (*name, value.as_str())).collect();
    let world = World::with(Origin::simple("", "").await, in_front_of(&behind.origin, &parameters)).await;
    assert_eq!(world.get("/").await.status, StatusCode::BAD_GATEWAY);
    assert_eq!(behind.origin.fetches(), before);
}

#[tokio::test]
async fn http_2_without_tls_reaches_the_origin() {
    let behind = World::new(Origin::simple(FRESH, "hello").await).await;
    let url = behind.url("");
    let parameters = [("origin", url.as_str()), ("origin_http2", "true")];
    let world = World::with(Origin::simple("", "").await, in_front_of(&behind.origin, &parameters)).await;
    let answer = world.get("/").await;
    assert_eq!((answer.text(), answer.field("via")), ("hello", "2.0 trueplane"));
    // A connection that has ended is made anew.
    behind.stop().await;
    assert_eq!(world.get("/other").await.status, StatusCode::BAD_GATEWAY);
}

#[tokio::test]
async fn certificates_are_read_again_when_they_change() {
    let pair = Pair::new();
    let world = pair.world(Origin::simple(FRESH, "hello").await).await;
    let address = world.tls().await;
    let first = shown(address, &pair.certificate()).await.unwrap();
    assert_eq!(world.proxy.renew_certificates(), Ok(false));
    // The time of a file may be as coarse as the system's clock ticks.
    tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    pair.write();
    assert_eq!(world.proxy.renew_certificates(), Ok(true));
    let second = shown(address, &pair.certificate()).await.unwrap();
    assert_ne!(first, second);
    // What is none changes nothing.
    tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    let kept = fs::read(pair.certificate()).unwrap();
    for (broken, expected) in [
        ("", "certificate.pem: expected a certificate (PEM), got none"),
        ("-----BEGIN CERTIFICATE-----\n?", "certificate.pem: "),
    ] {
        fs::write(pair.certificate(), broken).unwrap();
        let error = world.proxy.renew_certificates().unwrap_err();
        assert!(error.contains(expected) && !error.contains('\n'), "{error}");
    }
    fs::write(pair.certificate(), kept).unwrap();
    assert_eq!(shown(address, &pair.certificate()).await, Some(second));
    // A key of another certificate is refused.
    let other = Pair::new();
    fs::copy(other.key(), pair.key()).unwrap();
    let error = world.proxy.renew_certificates().unwrap_err();
    assert!(error.contains("key.pem: ") && !error.contains('\n'), "{error}");
    assert_eq!(world.get("/").await.text(), "hello");
}

#[tokio::test]
async fn a_connection_becomes_a_websocket() {
    let origin = Origin::new(|seen| match seen.path.as_str() {
        "/chat" if seen.headers.get("upgrade").is_some_and(|to| to == "websocket") => {
            let head =
                "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\nfirst";
            vec![Step::Send(head.into())]
        }
        "/inside" => vec![Step::Send("second".into()), Step::Close],
        _ => vec![whole("", "no")],
    })
    .await;
    let world = World::new(origin).await;
    let connect = async |upgrade: &str| {
        let mut stream = TcpStream::connect(world.address).await.unwrap();
        let head =
            format!("GET /chat HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: {upgrade}\r\n\r\n");
        stream.write_all(head.as_bytes()).await.unwrap();
        stream
    };
    let mut stream = connect("websocket").await;
    let mut got = String::new();
    while !got.ends_with("first") {
        got.push(char::from(in_time(stream.read_u8()).await.unwrap()));
    }
    assert!(got.starts_with("HTTP/1.1 101 ") && got.to_lowercase().contains("upgrade: websocket"), "{got}");
    // From here on bytes pass, whatever they are; the origin of this test reads them as another request.
    stream.write_all(b"GET /inside HTTP/1.1\r\n\r\n").await.unwrap();
    let mut rest = String::new();
    in_time(stream.read_to_string(&mut rest)).await.unwrap();
    assert_eq!(rest, "second");
    // Other protocols could carry requests past the cache.
    let mut stream = connect("h2c, HTTP2-Settings").await;
    let mut head = [0; 12];
    in_time(stream.read_exact(&mut head)).await.unwrap();
    assert_eq!(&head, b"HTTP/1.1 200");
    let last = world.origin.seen().pop().unwrap();
    assert!(!last.headers.contains_key("upgrade") && !last.headers.contains_key("connection"), "{last:?}");
}

#[tokio::test]
async fn heads_and_bodies_have_limits() {
    let origin = Origin::simple(FRESH, "hello").await;
    let settings = in_front_of(&origin, &[("max_body", "10B"), ("max_head", "16KiB")]);
    let world = World::with(origin, settings).await;
    let answer = async |bytes: String| {
        let mut stream = TcpStream::connect(world.address).await.unwrap();
        let _ = stream.write_all(bytes.as_bytes()).await;
        let mut answer = Vec::new();
        let _ = in_time(stream.read_to_end(&mut answer)).await;
        String::from_utf8_lossy(&answer).into_owned()
    };
    let post = |fields: &str| format!("POST / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n{fields}");
    let fits = answer(post("Content-Length: 10\r\n\r\n0123456789")).await;
    assert!(fits.starts_with("HTTP/1.1 200 "), "{fits}");
    let large = answer(post("Content-Length: 11\r\n\r\n0123456789a")).await;
    assert!(large.starts_with("HTTP/1.1 413 "), "{large}");
    // The length of a body in chunks shows only at its end.
    let chunks = answer(post("Transfer-Encoding: chunked\r\n\r\nb\r\n0123456789a\r\n0\r\n\r\n")).await;
    assert!(!chunks.starts_with("HTTP/1.1 200 "), "{chunks}");
    let long = answer(format!("GET / HTTP/1.1\r\nHost: a\r\nX: {}\r\n\r\n", "x".repeat(17 << 10))).await;
    assert!(long.starts_with("HTTP/1.1 431 "), "{long}");
    assert_eq!(world.origin.seen().iter().filter(|seen| seen.method == "GET").count(), 0);
}

#[tokio::test]
async fn more_connections_wait_until_one_ends() {
    let origin = Origin::simple(FRESH, "hello").await;
    let settings = in_front_of(&origin, &[("max_connections", "1")]);
    let world = World::with(origin, settings).await;
    let mut first = TcpStream::connect(world.address).await.unwrap();
    first.write_all(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n").await.unwrap();
    let mut byte = [0];
    in_time(first.read_exact(&mut byte)).await.unwrap();
    let mut second = TcpStream::connect(world.address).await.unwrap();
    second.write_all(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n").await.unwrap();
    let wait = std::time::Duration::from_millis(50);
    assert!(tokio::time::timeout(wait, second.read_exact(&mut byte)).await.is_err());
    drop(first);
    in_time(second.read_exact(&mut byte)).await.unwrap();
}

/// A connection that has become a WebSocket is one of those that may be there at once, ends when nothing has come for too long, and when the cache stops.
#[tokio::test]
async fn a_websocket_has_the_limits_of_a_connection() {
    let head = "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n!";
    let origin =
        || Origin::new(move |_| vec![Step::Send(head.into()), Step::Wait(Arc::new(Semaphore::new(0)))]);
    let connect = async |world: &World| {
        let mut stream = TcpStream::connect(world.address).await.unwrap();
        let asked = "GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n";
        stream.write_all(asked.as_bytes()).await.unwrap();
        while in_time(stream.read_u8()).await.unwrap() != b'!' {}
        stream
    };
    // It takes the only place.
    let behind = origin().await;
    let settings = in_front_of(&behind, &[("max_connections", "1")]);
    let world = World::with(behind, settings).await;
    let first = connect(&world).await;
    let wait = std::time::Duration::from_millis(50);
    assert!(tokio::time::timeout(wait, connect(&world)).await.is_err());
    drop(first);
    let mut second = connect(&world).await;
    // The cache does not wait for it when it stops.
    let proxy = world.proxy.clone();
    world.stop().await;
    assert_eq!(proxy.connections(), 0);
    assert_eq!(in_time(second.read(&mut [0])).await.unwrap_or(0), 0);

    let behind = origin().await;
    let settings = in_front_of(&behind, &[("client_timeout", "100ms")]);
    let world = World::with(behind, settings).await;
    let mut idle = connect(&world).await;
    assert_eq!(in_time(idle.read(&mut [0])).await.unwrap_or(0), 0);
}
