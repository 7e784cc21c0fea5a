//! Many clients for one URL.

use std::sync::Arc;

use tokio::sync::Semaphore;

use super::origin::{Origin, Seen, Step, whole, with_status};
use super::{Answer, World, in_front_of, in_time, until};

const FRESH: &str = "Cache-Control: max-age=60";

fn gate() -> Arc<Semaphore> {
    Arc::new(Semaphore::new(0))
}

/// So many clients ask for a path at once; all have asked before anything is let go on.
async fn herd(
    world: &Arc<World>,
    path: &'static str,
    clients: usize,
) -> Vec<tokio::task::JoinHandle<Answer>> {
    let ask = |_| {
        let world = Arc::clone(world);
        tokio::spawn(async move { world.get(path).await })
    };
    (0..clients).map(ask).collect()
}

async fn answers(herd: Vec<tokio::task::JoinHandle<Answer>>) -> Vec<Answer> {
    let mut answers = Vec::new();
    for one in herd {
        answers.push(in_time(one).await.unwrap());
    }
    answers
}

#[tokio::test]
async fn all_who_ask_share_one_fetch() {
    let gate = gate();
    let waits = Step::Wait(Arc::clone(&gate));
    let origin = Origin::new(move |_| vec![waits.clone(), whole(FRESH, "hello")]).await;
    let world = Arc::new(World::new(origin).await);
    let herd = herd(&world, "/a", 50).await;
    until(|| world.proxy.stats().delayed_hits == 49).await;
    gate.add_permits(1);
    for answer in answers(herd).await {
        assert_eq!((answer.text(), answer.is_whole), ("hello", true));
        assert!(answer.field("cache-status").contains("fwd=miss; fwd-status=200; stored"));
    }
    assert!(world.get("/a").await.is_hit());
    assert_eq!(world.origin.fetches(), 1);
}

#[tokio::test]
async fn who_waits_reads_the_body_while_it_arrives() {
    let gate = gate();
    let waits = Step::Wait(Arc::clone(&gate));
    let origin = Origin::new(move |_| {
        let head = format!("HTTP/1.1 200 OK\r\n{FRESH}\r\nContent-Length: 10\r\n\r\nfirst");
        vec![Step::Send(head), waits.clone(), Step::Send("other".into())]
    })
    .await;
    let world = World::new(origin).await;
    let (first, mut answer) = world.begin("GET", "/", &[]).await;
    // The second one comes while half of it is here, and gets that at once.
    let (mut second, mut other) = world.begin("GET", "/", &[]).await;
    use http_body_util::BodyExt as _;
    let part = in_time(second.frame()).await.unwrap().unwrap().into_data().unwrap();
    assert_eq!(part, "first");
    gate.add_permits(1);
    answer.read(first).await;
    other.read(second).await;
    assert_eq!((answer.text(), other.text()), ("firstother", "other"));
    assert_eq!(world.origin.fetches(), 1);
}

#[tokio::test]
async fn a_fetch_goes_on_when_its_client_leaves() {
    let gate = gate();
    let waits = Step::Wait(Arc::clone(&gate));
    let origin = Origin::new(move |_| vec![waits.clone(), whole(FRESH, "hello")]).await;
    let world = Arc::new(World::new(origin).await);
    let client = herd(&world, "/", 1).await.remove(0);
    until(|| world.origin.fetches() == 1).await;
    client.abort();
    let _ = client.await;
    gate.add_permits(1);
    until(|| world.proxy.stats().fetches == 1).await;
    assert!(world.get("/").await.is_hit());
    assert_eq!(world.origin.fetches(), 1);
}

/// The first request gets half of the body, and then the connection is closed; a range gets the rest.
fn dies_within(tag: &'static str) -> impl Fn(&Seen) -> Vec<Step> {
    move |seen| match seen.headers.get("range").map(String::as_str) {
        Some("bytes=5-") if seen.headers.contains_key("if-range") => {
            let fields = format!("{FRESH}\r\n{tag}\r\nContent-Range: bytes 5-9/10");
            vec![with_status("206 Partial Content", &fields, "other")]
        }
        _ if seen.turn == 0 => {
            let head = format!("HTTP/1.1 200 OK\r\n{FRESH}\r\n{tag}\r\nContent-Length: 10\r\n\r\nfirst");
            vec![Step::Send(head), Step::Close]
        }
        _ => vec![whole(&format!("{FRESH}\n{tag}"), "firstother")],
    }
}

#[tokio::test]
async fn if_the_origin_dies_within_a_body_the_rest_is_asked_for() {
    let world = Arc::new(World::new(Origin::new(dies_within("ETag: \"a\"")).await).await);
    for answer in answers(herd(&world, "/", 10).await).await {
        assert_eq!((answer.text(), answer.is_whole), ("firstother", true));
    }
    assert_eq!(world.origin.fetches(), 2);
    assert!(world.get("/").await.is_hit());
}

#[tokio::test]
async fn a_part_may_be_less_than_was_asked_for_and_is_not_taken_for_all() {
    for (is_chunked, parts) in [(true, ["oth", "er"]), (false, ["oth", "er"]), (true, ["oth", ""])] {
        let origin = Origin::new(move |seen| {
            let part = |first: usize, text: &str| {
                let last = first + text.len() - 1;
                let fields = format!("{FRESH}\nETag: \"a\"\nContent-Range: bytes {first}-{last}/10");
                vec![with_status("206 Partial Content", &fields, text)]
            };
            match seen.headers.get("range").map(String::as_str) {
                Some("bytes=5-") => part(5, parts[0]),
                Some("bytes=8-") if !parts[1].is_empty() => part(8, parts[1]),
                Some(_) => vec![Step::Close],
                None => {
                    let length = if is_chunked {
                        "Transfer-Encoding: chunked\r\n\r\n5\r\nfirst\r\n"
                    } else {
                        "Content-Length: 10\r\n\r\nfirst"
                    };
                    vec![
                        Step::Send(format!("HTTP/1.1 200 OK\r\n{FRESH}\r\nETag: \"a\"\r\n{length}")),
                        Step::Close,
                    ]
                }
            }
        })
        .await;
        let world = World::new(origin).await;
        let is_all_there = !parts[1].is_empty();
        let answer = world.get("/").await;
        assert_eq!((answer.text().len(), answer.is_whole), (if is_all_there { 10 } else { 8 }, is_all_there));
        let again = world.get("/").await;
        assert_eq!((again.is_hit(), again.is_whole), (is_all_there, is_all_there));
    }
}

#[tokio::test]
async fn without_a_strong_tag_a_body_goes_on_if_it_begins_as_before() {
    for tag in ["X: y", "ETag: W/\"a\""] {
        let world = Arc::new(World::new(Origin::new(dies_within(tag)).await).await);
        for answer in answers(herd(&world, "/", 10).await).await {
            assert_eq!((answer.text(), answer.is_whole), ("firstother", true), "{tag}");
        }
        assert_eq!(world.origin.fetches(), 2);
        assert!(world.get("/").await.is_hit());
    }
}

#[tokio::test]
async fn a_body_that_begins_otherwise_is_seen_to_be_broken() {
    for (fields, body) in [
        ("", "fIrstother"),
        ("", "firstothers"),
        ("ETag: \"a\"", "firstother"),
        ("Last-Modified: Thu, 26 Nov 2026 00:00:00 GMT", "firstother"),
    ] {
        let origin = Origin::new(move |seen| match seen.turn {
            0 => {
                let head = format!("HTTP/1.1 200 OK\r\n{FRESH}\r\nContent-Length: 10\r\n\r\nfirst");
                vec![Step::Send(head), Step::Close]
            }
            _ => vec![whole(&format!("{FRESH}\n{fields}"), body)],
        })
        .await;
        let world = World::new(origin).await;
        let broken = world.get("/").await;
        assert_eq!((broken.text(), broken.is_whole), ("first", false), "{fields} {body}");
        // Nothing of it was kept.
        let next = world.get("/").await;
        assert_eq!((next.text(), next.is_whole, next.is_hit()), (body, true, false));
    }
}

#[tokio::test]
async fn what_the_origin_has_changed_meanwhile_is_not_joined_to_the_old_part() {
    let origin = Origin::new(|seen| match seen.turn {
        0 => {
            let head =
                format!("HTTP/1.1 200 OK\r\n{FRESH}\r\nETag: \"a\"\r\nContent-Length: 10\r\n\r\nfirst");
            vec![Step::Send(head), Step::Close]
        }
        // If-Range is for another tag: all of the new one comes.
        _ => vec![whole(&format!("{FRESH}\nETag: \"b\""), "another one")],
    })
    .await;
    let world = World::new(origin).await;
    let broken = world.get("/").await;
    assert_eq!((broken.text(), broken.is_whole), ("first", false));
    assert_eq!(world.get("/").await.text(), "another one");
}

#[tokio::test]
async fn if_the_origin_dies_before_it_answers_it_is_asked_once_more_for_all() {
    let origin = Origin::new(|seen| match seen.turn {
        0 => vec![Step::Close],
        _ => vec![whole(FRESH, "hello")],
    })
    .await;
    let world = Arc::new(World::new(origin).await);
    for answer in answers(herd(&world, "/", 10).await).await {
        assert_eq!(answer.text(), "hello");
    }
    assert_eq!(world.origin.fetches(), 2);
    let origin = Origin::new(|_| vec![Step::Close]).await;
    let world = World::new(origin).await;
    let answer = world.get("/").await;
    assert_eq!(answer.status, 502);
    assert!(answer.text().starts_with("trueplane: the origin does not answer"), "{}", answer.text());
}

#[tokio::test]
async fn private_answers_do_not_wait_for_each_other_and_nobody_gets_anothers() {
    for fields in ["Cache-Control: private", "Cache-Control: max-age=60\nSet-Cookie: who=me"] {
        let gate = gate();
        let waits = Step::Wait(Arc::clone(&gate));
        let origin = Origin::new(move |seen| {
            let number = seen.turn.to_string();
            vec![waits.clone(), whole(fields, &number)]
        })
        .await;
        let world = Arc::new(World::new(origin).await);
        let first = herd(&world, "/", 10).await;
        until(|| world.proxy.stats().delayed_hits == 9).await;
        gate.add_permits(1);
        // Once one answer is known to be private, all others ask at the same time.
        until(|| world.origin.fetches() == 10).await;
        gate.add_permits(9);
        let second = async {
            let second = herd(&world, "/", 10).await;
            until(|| world.origin.fetches() == 20).await;
            gate.add_permits(10);
            answers(second).await
        };
        let mut all = answers(first).await;
        all.extend(second.await);
        let mut texts: Vec<u64> = all.iter().map(|answer| answer.text().parse().unwrap()).collect();
        texts.sort_unstable();
        assert!(texts.into_iter().eq(0..20), "{fields}");
    }
}

#[tokio::test]
async fn an_error_is_shared_by_those_who_wait_and_not_kept() {
    let gate = gate();
    let waits = Step::Wait(Arc::clone(&gate));
    let origin = Origin::new(move |_| vec![waits.clone(), with_status("500 Oh", "X: y", "no")]).await;
    let world = Arc::new(World::new(origin).await);
    let herd = herd(&world, "/", 10).await;
    until(|| world.proxy.stats().delayed_hits == 9).await;
    gate.add_permits(2);
    for answer in answers(herd).await {
        assert_eq!((answer.status.as_u16(), answer.text()), (500, "no"));
    }
    assert_eq!(world.origin.fetches(), 1);
    assert_eq!(world.get("/").await.status, 500);
    assert_eq!(world.origin.fetches(), 2);
}

#[tokio::test]
async fn an_error_that_sets_a_cookie_is_for_one_alone() {
    let gate = gate();
    let waits = Step::Wait(Arc::clone(&gate));
    let origin = Origin::new(move |seen| {
        let fields = format!("Cache-Control: public, max-age=0\nSet-Cookie: who={}", seen.turn);
        vec![waits.clone(), with_status("503 No", &fields, "no")]
    })
    .await;
    let world = Arc::new(World::new(origin).await);
    let herd = herd(&world, "/", 5).await;
    until(|| world.proxy.stats().delayed_hits == 4).await;
    gate.add_permits(5);
    let mut cookies: Vec<String> =
        answers(herd).await.iter().map(|answer| answer.field("set-cookie").to_owned()).collect();
    cookies.sort();
    cookies.dedup();
    assert_eq!(cookies.len(), 5);
}

#[tokio::test]
async fn answers_that_must_be_validated_do_not_wait_for_each_other() {
    let gate = gate();
    let waits = Step::Wait(Arc::clone(&gate));
    let origin =
        Origin::new(move |_| vec![waits.clone(), whole("Cache-Control: no-cache\nETag: \"a\"", "hello")])
            .await;
    let world = Arc::new(World::new(origin).await);
    let herd = herd(&world, "/", 10).await;
    until(|| world.proxy.stats().delayed_hits == 9).await;
    gate.add_permits(1);
    until(|| world.origin.fetches() == 10).await;
    gate.add_permits(9);
    assert!(answers(herd).await.iter().all(|answer| answer.text() == "hello"));
}

#[tokio::test]
async fn what_is_too_large_to_be_kept_is_passed_on_all_the_same() {
    const SIZE: usize = 3 << 20;
    for has_length in [true, false] {
        let origin = Origin::new(move |_| {
            let body = "x".repeat(SIZE);
            if has_length {
                return vec![whole(FRESH, &body)];
            }
            let head = format!("HTTP/1.1 200 OK\r\n{FRESH}\r\nTransfer-Encoding: chunked\r\n\r\n");
            let chunk = format!("{:x}\r\n{}\r\n", SIZE / 3, &body[..SIZE / 3]);
            vec![Step::Send(head + &chunk.repeat(3) + "0\r\n\r\n")]
        })
        .await;
        let settings = in_front_of(&origin, &[]);
        let world = World::with(origin, settings).await;
        for _ in 0..2 {
            let answer = world.get("/").await;
            assert_eq!((answer.body.len(), answer.is_whole), (SIZE, true));
        }
        assert_eq!(world.origin.fetches(), 2);
    }
}

#[tokio::test]
async fn memory_is_bounded() {
    let origin = Origin::new(|_| vec![whole(FRESH, &"x".repeat(10_000))]).await;
    let settings = in_front_of(&origin, &[("policy", "lru")]);
    let world = World::with(origin, settings).await;
    for number in 0..200 {
        assert!(world.get(&format!("/{number}")).await.is_whole);
    }
    assert!(world.proxy.used() <= 1 << 20, "{}", world.proxy.used());
    assert!(world.proxy.used() > 900_000, "{}", world.proxy.used());
    assert!(world.get("/199").await.is_hit());
    assert!(!world.get("/0").await.is_hit());
    world.stop().await;
}
