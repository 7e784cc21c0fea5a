//! Several sites, and several servers behind one.

use std::sync::Arc;

use http::StatusCode;
use tokio::sync::Semaphore;
use trueplane_proxy::Config;

use super::origin::{Origin, Step, whole, with_status};
use super::{World, in_front_of, until};

const FRESH: &str = "Cache-Control: max-age=60";

/// A configuration with these sites and 1 MiB.
fn config(sites: &str) -> trueplane_proxy::Settings {
    Config::parse("test.toml".as_ref(), &format!("memory = \"1MiB\"\n{sites}")).unwrap().settings
}

#[tokio::test]
async fn each_host_has_its_site() {
    let (first, other) = (Origin::simple(FRESH, "first").await, Origin::simple(FRESH, "other").await);
    let sites = format!(
        "[[site]]\nhosts = [\"a.test\", \"*.b.test\"]\norigin = \"{}\"\n[[site]]\nhosts = \"c.test\"\norigin = \"{}\"",
        first.url(),
        other.url()
    );
    let world = World::with(first, config(&sites)).await;
    for (host, body) in
        [("a.test", "first"), ("A.TEST:80", "first"), ("x.y.b.test", "first"), ("c.test", "other")]
    {
        assert_eq!(world.ask("GET", "/", &[("host", host)]).await.text(), body);
    }
    for host in ["b.test", "127.0.0.1"] {
        let answer = world.ask("GET", "/", &[("host", host)]).await;
        assert_eq!(answer.status, StatusCode::MISDIRECTED_REQUEST);
    }
    // One host does not get what is stored for another one.
    assert_eq!((world.origin.fetches(), other.fetches()), (2, 1));
}

#[tokio::test]
async fn a_server_that_fails_is_left_out_while_another_answers() {
    let broken = Origin::new(|_| vec![Step::Close]).await;
    let works = Origin::simple("Cache-Control: no-store", "works").await;
    let both = format!("{},{}", broken.url(), works.url());
    let world = World::with(works, in_front_of(&broken, &[("origin", &both)])).await;
    for _ in 0..8 {
        assert_eq!(world.get("/").await.text(), "works");
    }
    assert_eq!((broken.fetches(), world.origin.fetches()), (1, 8));
    // If that fails, too, the first one is tried again.
    let gone = World::with(Origin::simple("", "").await, in_front_of(&broken, &[])).await;
    assert_eq!(gone.get("/").await.status, StatusCode::BAD_GATEWAY);
}

#[tokio::test]
async fn requests_are_shared_by_servers() {
    let slow = Arc::new(Semaphore::new(0));
    let gate = Arc::clone(&slow);
    let first = Origin::new(move |_| vec![Step::Wait(Arc::clone(&gate)), whole("", "")]).await;
    let second = Origin::simple("Cache-Control: no-store", "").await;
    let both = format!("{},{}", first.url(), second.url());
    let world = Arc::new(World::with(second, in_front_of(&first, &[("origin", &both)])).await);
    let waiting = tokio::spawn({
        let world = Arc::clone(&world);
        async move {
            // One of two goes to each, in turn.
            let both = [world.get("/1"), world.get("/2")];
            for asked in both {
                asked.await;
            }
        }
    });
    until(|| first.fetches() == 1).await;
    // While one waits there, the others go where none does.
    for turn in 0..4 {
        world.get(&format!("/other{turn}")).await;
    }
    assert_eq!(first.fetches(), 1);
    slow.add_permits(1);
    waiting.await.unwrap();
}

#[tokio::test]
async fn a_server_that_is_not_well_gets_no_requests() {
    let sick = Origin::new(|_| vec![with_status("503 Sick", "", "sick")]).await;
    let well = Origin::simple("Cache-Control: no-store", "well").await;
    let both = format!("{},{}", sick.url(), well.url());
    let parameters = [("origin", both.as_str()), ("health_path", "/health"), ("health_interval", "1s")];
    let world = World::with(well, in_front_of(&sick, &parameters)).await;
    // A second question comes after the answer to the first one.
    until(|| sick.fetches() > 1 && world.origin.fetches() > 1).await;
    for _ in 0..4 {
        assert_eq!(world.get("/").await.text(), "well");
    }
    assert!(sick.seen().iter().all(|seen| seen.path == "/health"));
}

#[tokio::test]
async fn other_sites_lose_no_request_and_nothing_that_is_stored() {
    let gate = Arc::new(Semaphore::new(0));
    let wait = Arc::clone(&gate);
    let before = Origin::new(move |seen| match seen.path.as_str() {
        "/slow" => vec![Step::Wait(Arc::clone(&wait)), whole(FRESH, "before")],
        _ => vec![whole(FRESH, "before")],
    })
    .await;
    let after = Origin::simple(FRESH, "after").await;
    let site = |origin: &Origin| config(&format!("[[site]]\norigin = \"{}\"", origin.url()));
    let settings = site(&before);
    let world = Arc::new(World::with(before, settings).await);
    world.get("/stored").await;
    let slow = tokio::spawn({
        let world = Arc::clone(&world);
        async move { world.get("/slow").await }
    });
    until(|| world.origin.fetches() == 2).await;
    assert_eq!(world.proxy.reload(&site(&after)), Ok(vec![]));
    // What is new comes from the new server; what was stored, or was on its way, from the one before.
    assert_eq!(world.get("/new").await.text(), "after");
    assert!(world.get("/stored").await.is_hit());
    gate.add_permits(1);
    assert_eq!(slow.await.unwrap().text(), "before");
    assert!(world.get("/slow").await.is_hit());
    // Sites that make no sense change nothing, and what sites share stays as it is.
    assert!(world.proxy.reload(&trueplane_proxy::Settings { sites: vec![], ..site(&after) }).is_err());
    let mut other = site(&after);
    other.cache.policy = "lru".parse().unwrap();
    assert_eq!(world.proxy.reload(&other), Ok(vec!["policy"]));
    assert_eq!((world.get("/newer").await.text(), after.fetches()), ("after", 2));
}
