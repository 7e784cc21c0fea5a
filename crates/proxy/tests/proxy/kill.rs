//! The process is killed while it writes to the disk, again and again: no answer is ever wrong.

use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use bytes::Bytes;
use http::Request;
use http_body_util::{BodyExt as _, Full};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::net::TcpListener;
use tokio::process::{Child, Command};
use trueplane_proxy::{Proxy, Settings};

use super::disk::Temporary;
use super::origin::{Origin, whole};
use super::{in_time, until};

const ORIGIN: &str = "TRUEPLANE_KILL_ORIGIN";
const FOLDER: &str = "TRUEPLANE_KILL_FOLDER";
/// Number of times that the process is killed, if it is not 10.
const KILLS: &str = "TRUEPLANE_KILLS";
/// URLs that are asked for. Their bodies have three times as many bytes as the disk holds.
const URLS: u64 = 600;

/// The body of a path, of 100 B to 40 kB.
fn body_of(path: &str) -> String {
    let number: usize = path[1..].parse().unwrap();
    let bytes = 100 + number * 7919 % 40_000;
    path.chars().cycle().take(bytes).collect()
}

/// The process that is killed: a cache of 256 KiB in memory and 4 MiB on disk. By itself it does nothing.
#[tokio::test]
#[ignore = "a test runs it"]
async fn child() {
    let (Ok(origin), Ok(folder)) = (std::env::var(ORIGIN), std::env::var(FOLDER)) else { return };
    let mut settings = Settings::new(origin.parse().unwrap(), 256 << 10);
    settings.cache.disk = Some(folder.into());
    settings.cache.policy = "lru".parse().unwrap();
    settings.cache.disk_size = trueplane_units::Positive::new(trueplane_units::Bytes(4 << 20));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let proxy = Proxy::new(&settings).unwrap();
    println!("\nhttp://{}", listener.local_addr().unwrap());
    proxy.serve(listener, std::future::pending()).await;
}

/// Starts that process. Returns its address, too.
async fn start(origin: &Origin, folder: &Temporary) -> (Child, String) {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--ignored", "--exact", "kill::child", "--nocapture"])
        .env(ORIGIN, origin.url())
        .env(FOLDER, folder.path())
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    loop {
        let line = in_time(lines.next_line()).await.unwrap().expect("the cache begins");
        if line.starts_with("http://") {
            return (child, line);
        }
    }
}

#[derive(Default)]
struct Seen {
    whole: AtomicU64,
    from_disk: AtomicU64,
}

/// Asks for drawn URLs until the cache is gone.
async fn ask(address: String, mut draw: u64, seen: Arc<Seen>) {
    let client: Client<_, Full<Bytes>> = Client::builder(TokioExecutor::new()).build(HttpConnector::new());
    loop {
        draw = draw.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let path = format!("/{}", (draw >> 33) % URLS);
        let request = Request::get(format!("{address}{path}")).header("host", "a.test");
        let Ok(answer) = client.request(request.body(Full::default()).unwrap()).await else { return };
        let status = answer.headers().get("cache-status").map_or("", |field| field.to_str().unwrap());
        let is_from_disk = status.ends_with("detail=disk");
        let Ok(body) = answer.into_body().collect().await else { return };
        assert!(body.to_bytes() == body_of(&path), "a wrong body of {path}");
        seen.whole.fetch_add(1, Ordering::Relaxed);
        seen.from_disk.fetch_add(u64::from(is_from_disk), Ordering::Relaxed);
    }
}

#[tokio::test]
async fn no_body_is_wrong_after_kills_under_load() {
    let kills = std::env::var(KILLS).map_or(10, |text| text.parse().unwrap());
    let folder = Temporary::new();
    let origin = Origin::new(|seen| vec![whole("Cache-Control: max-age=600", &body_of(&seen.path))]).await;
    let seen = Arc::new(Seen::default());
    for kill in 0..kills {
        let (mut child, address) = start(&origin, &folder).await;
        let clients: Vec<_> = (0..4)
            .map(|client| tokio::spawn(ask(address.clone(), kill * 4 + client, Arc::clone(&seen))))
            .collect();
        // By answers, not by time: a machine with other work gives few in a tenth of a second.
        let enough = seen.whole.load(Ordering::Relaxed) + 40 + kill * 37 % 60;
        until(|| seen.whole.load(Ordering::Relaxed) >= enough).await;
        child.kill().await.unwrap();
        for client in clients {
            in_time(client).await.unwrap();
        }
        let files = std::fs::read_dir(folder.path()).unwrap();
        let bytes: u64 = files.map(|file| file.unwrap().metadata().unwrap().len()).sum();
        assert!(bytes <= 4 << 20, "{bytes} after kill {kill}");
    }
    let (whole, from_disk) = (seen.whole.load(Ordering::Relaxed), seen.from_disk.load(Ordering::Relaxed));
    println!("{kills} kills, {whole} answers, {from_disk} of them from the disk");
    assert!(from_disk > 0);
}

/// An answer that a POST has made out of date is on the disk alone when the process is killed.
#[tokio::test]
async fn what_was_removed_does_not_come_back_after_a_kill() {
    let folder = Temporary::new();
    let origin = Origin::new(|seen| match seen.path.as_str() {
        "/a" => vec![whole("Cache-Control: max-age=600", &seen.turn.to_string())],
        path => vec![whole("Cache-Control: max-age=600", &body_of(path))],
    });
    let origin = origin.await;
    let client: Client<_, Full<Bytes>> = Client::builder(TokioExecutor::new()).build(HttpConnector::new());
    let ask = async |method: &str, address: &str, path: &str| {
        let request =
            Request::builder().method(method).uri(format!("{address}{path}")).header("host", "a.test");
        let answer = in_time(client.request(request.body(Full::default()).unwrap())).await.unwrap();
        let status =
            answer.headers().get("cache-status").map_or("", |field| field.to_str().unwrap()).to_owned();
        let body = in_time(answer.into_body().collect()).await.unwrap().to_bytes();
        (String::from_utf8(body.to_vec()).unwrap(), status)
    };
    let (mut child, address) = start(&origin, &folder).await;
    assert_eq!(ask("GET", &address, "/a").await.0, "0");
    // So many others that it leaves the memory, and comes to the disk before some of them do.
    let mut number = 0;
    let mut is_on_disk = false;
    while !is_on_disk && number < URLS {
        for _ in 0..40 {
            ask("GET", &address, &format!("/{number}")).await;
            number += 1;
        }
        is_on_disk = ask("HEAD", &address, "/a").await.1.ends_with("detail=disk");
    }
    assert!(is_on_disk);
    ask("POST", &address, "/a").await;
    child.kill().await.unwrap();
    let (_child, address) = start(&origin, &folder).await;
    let (text, status) = ask("GET", &address, "/a").await;
    assert!(text != "0" && !status.starts_with("trueplane; hit"), "{text}: {status}");
}
