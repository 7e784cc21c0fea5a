//! The process is killed while it writes to the disk, again and again: no answer is ever wrong.

use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use bytes::Bytes;
use http::Request;
use http_body_util::{BodyExt as _, Full};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::net::TcpListener;
use tokio::process::Command;
use trueplane_proxy::{Proxy, Settings};

use super::disk::Temporary;
use super::in_time;
use super::origin::{Origin, whole};

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
    settings.cache.disk_size = trueplane_units::Positive::new(trueplane_units::Bytes(4 << 20));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let proxy = Proxy::new(&settings).unwrap();
    println!("\nhttp://{}", listener.local_addr().unwrap());
    proxy.serve(listener, std::future::pending()).await;
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
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--ignored", "--exact", "kill::child", "--nocapture"])
            .env(ORIGIN, origin.url())
            .env(FOLDER, folder.path())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let address = loop {
            let line = in_time(lines.next_line()).await.unwrap().expect("the cache begins");
            if line.starts_with("http://") {
                break line;
            }
        };
        let clients: Vec<_> = (0..4)
            .map(|client| tokio::spawn(ask(address.clone(), kill * 4 + client, Arc::clone(&seen))))
            .collect();
        tokio::time::sleep(Duration::from_millis(40 + kill * 37 % 60)).await;
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
