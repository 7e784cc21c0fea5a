//! What is stored is too old.

use std::sync::Arc;

use tokio::sync::Semaphore;

use super::World;
use super::origin::{Origin, Seen, Step, whole, with_status};
use super::{in_time, until};

/// The answer is 100 seconds old when it comes, and fresh for so many seconds. Later turns do what `later` says.
fn aged(
    control: &'static str,
    later: impl Fn(&Seen) -> Vec<Step> + Send + Sync + 'static,
) -> impl Fn(&Seen) -> Vec<Step> {
    move |seen| match seen.turn {
        0 => vec![whole(&format!("Age: 100\nETag: \"a\"\nX: 1\nCache-Control: {control}"), "hello")],
        _ => later(seen),
    }
}

const NOT_MODIFIED: &str =
    "HTTP/1.1 304 Not Modified\r\nCache-Control: max-age=60\r\nETag: \"a\"\r\nX: 2\r\n\r\n";

#[tokio::test]
async fn a_herd_for_what_is_stale_validates_it_once() {
    let gate = Arc::new(Semaphore::new(0));
    let waits = Step::Wait(Arc::clone(&gate));
    let origin = Origin::new(aged("max-age=60", move |seen| {
        assert_eq!(seen.headers["if-none-match"], "\"a\"");
        vec![waits.clone(), Step::Send(NOT_MODIFIED.into())]
    }))
    .await;
    let world = Arc::new(World::new(origin).await);
    let first = world.get("/").await;
    assert!(world.ages(100).contains(&first.age()), "{first:?}");
    let herd: Vec<_> = (0..20)
        .map(|_| {
            let world = Arc::clone(&world);
            tokio::spawn(async move { world.get("/").await })
        })
        .collect();
    until(|| world.origin.fetches() == 2).await;
    gate.add_permits(1);
    for answer in herd {
        let answer = answer.await.unwrap();
        assert_eq!((answer.status.as_u16(), answer.text(), answer.field("x")), (200, "hello", "2"));
    }
    let hit = world.get("/").await;
    assert!(hit.is_hit() && world.ages(0).contains(&hit.age()), "{hit:?}");
    assert_eq!((hit.field("etag"), hit.text()), ("\"a\"", "hello"));
    assert_eq!(world.origin.fetches(), 2);
}

/// Of two answers, the first says when it was made. The second does not: it is from when it comes.
#[tokio::test]
async fn what_is_validated_without_a_date_is_fresh_again() {
    let origin = Origin::new(|seen| match seen.turn {
        0 => {
            let fields = "Date: Sun, 06 Nov 1994 08:49:37 GMT\nETag: \"a\"\nCache-Control: max-age=60";
            vec![whole(fields, "hello")]
        }
        _ => vec![Step::Send(NOT_MODIFIED.into())],
    })
    .await;
    let world = World::new(origin).await;
    assert!(world.get("/").await.age() > 60);
    assert_eq!(world.get("/").await.field("x"), "2");
    let hit = world.get("/").await;
    assert!(hit.is_hit() && world.ages(0).contains(&hit.age()), "{hit:?}");
    assert_eq!(world.origin.fetches(), 2);
}

#[tokio::test]
async fn what_may_be_stale_is_served_at_once_and_validated_meanwhile() {
    let control = "max-age=60, stale-while-revalidate=600";
    let origin = Origin::new(aged(control, |_| vec![Step::Send(NOT_MODIFIED.into())])).await;
    let world = World::new(origin).await;
    world.get("/").await;
    let stale = world.get("/").await;
    assert!(stale.is_hit() && world.ages(40).contains(&-stale.ttl()), "{stale:?}");
    until(|| world.proxy.stats().fetches == 2).await;
    assert_eq!(world.get("/").await.field("x"), "2");
    assert_eq!(world.origin.fetches(), 2);
}

#[tokio::test]
async fn a_new_answer_takes_the_place_of_the_old_one() {
    let origin = Origin::new(aged("max-age=60", |_| vec![whole("Cache-Control: max-age=60", "new")])).await;
    let world = World::new(origin).await;
    world.get("/").await;
    let new = world.get("/").await;
    assert_eq!(new.text(), "new");
    assert!(new.field("cache-status").contains("fwd=stale; fwd-status=200; stored"));
    assert!(world.get("/").await.is_hit());
}

#[tokio::test]
async fn an_answer_about_something_else_is_asked_for_again() {
    let origin = Origin::new(|seen| match (seen.turn, seen.headers.contains_key("if-modified-since")) {
        (0, _) => {
            let fields = "Age: 100\nCache-Control: max-age=60\nLast-Modified: Sun, 06 Nov 1994 08:49:37 GMT";
            vec![whole(fields, "old")]
        }
        (_, true) => vec![Step::Send(
            "HTTP/1.1 304 Not Modified\r\nLast-Modified: Sun, 06 Nov 1994 08:49:38 GMT\r\n\r\n".into(),
        )],
        (_, false) => vec![whole("Cache-Control: max-age=60", "new")],
    })
    .await;
    let world = World::new(origin).await;
    world.get("/").await;
    assert_eq!(world.get("/").await.text(), "new");
    assert_eq!(world.origin.fetches(), 3);
}

#[tokio::test]
async fn while_the_origin_is_gone_what_is_stale_is_served_where_it_may_be() {
    for (control, status) in [
        // It was stale when it came.
        ("max-age=60", 504),
        ("max-age=60, stale-if-error=600", 200),
        ("max-age=60, stale-if-error=10", 504),
        ("max-age=60, must-revalidate", 504),
        ("max-age=60, proxy-revalidate", 504),
        ("s-maxage=60", 504),
        ("no-cache, max-age=600", 504),
    ] {
        let world = World::new(Origin::new(aged(control, |_| vec![Step::Close])).await).await;
        world.get("/").await;
        let answer = world.get("/").await;
        assert_eq!(answer.status, status, "{control}");
        if status == 200 {
            assert!(answer.field("cache-status").contains("fwd=stale"), "{control}");
            assert_eq!(answer.text(), "hello");
        }
    }
}

#[tokio::test]
async fn what_all_could_have_is_served_while_the_origin_is_gone_though_it_does_not_say_so() {
    for (control, status) in [("max-age=60", 200), ("s-maxage=60", 504)] {
        let fresh = async || {
            let origin = Origin::new(move |seen| match seen.turn {
                0 => vec![whole(&format!("Age: 59\nCache-Control: {control}"), "hello")],
                _ => vec![Step::Close],
            })
            .await;
            let world = World::new(origin).await;
            let first = world.get("/").await;
            assert!(first.is_whole);
            (first.ttl() > 0).then_some(world)
        };
        // On a busy machine a second may pass before the answer comes: it is stale then.
        let world = in_time(async {
            loop {
                if let Some(world) = fresh().await {
                    break world;
                }
            }
        })
        .await;
        // It is fresh for one more second at most.
        let mut answer = world.get("/").await;
        while answer.is_hit() {
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
            answer = world.get("/").await;
        }
        assert_eq!(answer.status, status, "{control}");
    }
}

#[tokio::test]
async fn an_error_leaves_what_is_stored() {
    let origin = Origin::new(aged("max-age=60, stale-if-error=10", |seen| match seen.turn {
        1 => vec![with_status("500 Oh", "X: y", "no")],
        _ => vec![Step::Send(NOT_MODIFIED.into())],
    }))
    .await;
    let world = World::new(origin).await;
    world.get("/").await;
    assert_eq!(world.get("/").await.text(), "no");
    assert_eq!(world.get("/").await.text(), "hello");
}

#[tokio::test]
async fn what_becomes_private_is_no_longer_stored() {
    let origin = Origin::new(aged("max-age=60, stale-if-error=600", |seen| match seen.turn {
        1 => vec![whole("Cache-Control: private", "mine")],
        _ => vec![Step::Close],
    }))
    .await;
    let world = World::new(origin).await;
    world.get("/").await;
    assert_eq!(world.get("/").await.text(), "mine");
    assert_eq!(world.get("/").await.status, 502);
}

#[tokio::test]
async fn one_who_is_authorised_renews_nothing_for_others() {
    let control = "max-age=60, stale-while-revalidate=600";
    let origin = Origin::new(aged(control, |seen| match seen.headers.get("authorization") {
        Some(_) => vec![whole("Cache-Control: max-age=60", "secret")],
        None => vec![Step::Send(NOT_MODIFIED.into())],
    }))
    .await;
    let world = World::new(origin).await;
    world.get("/").await;
    assert_eq!(world.ask("GET", "/", &[("authorization", "x")]).await.text(), "secret");
    assert!(world.get("/").await.is_hit());
    until(|| world.proxy.stats().fetches == 2).await;
    assert_eq!(world.get("/").await.field("x"), "2");
}

#[tokio::test]
async fn while_the_origin_fails_what_is_stale_is_served_if_it_says_so() {
    for (control, status) in [("max-age=60", 503), ("max-age=60, stale-if-error=600", 200)] {
        let fails = |_: &Seen| vec![with_status("503 No", "X: y", "no")];
        let world = World::new(Origin::new(aged(control, fails)).await).await;
        world.get("/").await;
        assert_eq!(world.get("/").await.status, status, "{control}");
    }
}
