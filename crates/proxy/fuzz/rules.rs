//! What the fuzz target of the rules of HTTP does with an input: read it as the fields of a request, a response and the answer that nothing has
//! changed, and check what no input may break.
//!
//! `cargo test` does the same with the seeds (crates/proxy/tests/proxy/seeds.rs).

use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use trueplane_proxy::rules::conditional::{confirms, freshened, is_not_modified, strong_tag, validators};
use trueplane_proxy::rules::control::Control;
use trueplane_proxy::rules::freshness::{Freshness, Times};
use trueplane_proxy::rules::range::{Part, first_of, part};
use trueplane_proxy::rules::storable::{Storable, storable};
use trueplane_proxy::rules::{hop, vary};
use trueplane_units::Nanos;

/// The fields of a message: lines `name: value` up to an empty one. What is none is left out.
fn fields<'a>(lines: &mut impl Iterator<Item = &'a [u8]>) -> HeaderMap {
    let mut fields = HeaderMap::new();
    for line in lines.take_while(|line| !line.is_empty()) {
        let Some(colon) = line.iter().position(|&byte| byte == b':') else { continue };
        let (name, value) = (&line[..colon], line[colon + 1..].trim_ascii());
        if let (Ok(name), Ok(value)) = (HeaderName::from_bytes(name), HeaderValue::from_bytes(value)) {
            fields.append(name, value);
        }
    }
    fields
}

/// Applies all rules to `bytes`: a line with the status, the time and the length of the body, and three messages. Whether the response may be kept.
pub fn check(bytes: &[u8]) -> bool {
    let mut lines = bytes.split(|&byte| byte == b'\n');
    let first = String::from_utf8_lossy(lines.next().unwrap_or_default()).into_owned();
    let mut numbers = first.split(' ').map(|text| text.parse::<u64>().unwrap_or(0));
    let mut number = || numbers.next().unwrap_or(0);
    let status = StatusCode::from_u16(number() as u16).unwrap_or(StatusCode::OK);
    let (now, length) = (Nanos(number()), number());
    let (mut request, response) = (fields(&mut lines), fields(&mut lines));
    let not_modified = fields(&mut lines);

    let control = Control::of(&response, "here");
    let times = Times { asked: Nanos(now.0 / 2), came: now };
    let freshness = Freshness::of(status, &response, &control, times);
    let later = now.after(Nanos(1_000_000_000));
    assert!(freshness.age(now) <= freshness.age(later), "what is stored gets older");
    assert_eq!(freshness.is_fresh(later), freshness.age(later) < freshness.lifetime);
    assert!(!freshness.is_fresh(later) || freshness.is_fresh(now), "what is stale stays stale");
    assert!(!freshness.is_fresh(now) || freshness.staleness(now) == Nanos(0));

    let kept = storable(&request, status, &response, &control, &freshness);
    if kept == Storable::Kept {
        assert!(!control.is_private && (!control.no_store || control.must_understand));
        assert!(vary::fields(&response).is_some(), "whatever is kept can be found again");
    }
    if let Some(fields) = vary::fields(&response) {
        assert!(fields.is_sorted_by(|one, other| one.as_str() < other.as_str()));
        let selection = vary::selection(&fields, &request);
        let mut others = request.clone();
        others.insert("x-of-no-interest", HeaderValue::from_static("1"));
        let is_named = fields.iter().any(|field| field == "x-of-no-interest");
        assert!(is_named || vary::selection(&fields, &others) == selection, "only what is named selects");
    }

    match part(&request, &response, length) {
        Part::Bytes { first, last } => assert!(first <= last && last < length),
        Part::Whole | Part::OutOfRange => {}
    }
    let _ =
        (first_of(&response), is_not_modified(&request, &response, now), confirms(&not_modified, &response));
    let fresh = freshened(&response, &not_modified);
    assert_eq!(fresh.get("content-length"), response.get("content-length"), "the body stays as it is");
    assert_eq!(strong_tag(&fresh), strong_tag(&response));
    assert!(validators(&response).len() <= 2);

    let has_host = request.contains_key("host");
    hop::end(&mut request);
    assert!(!request.contains_key("connection") && !request.contains_key("transfer-encoding"));
    assert_eq!(request.contains_key("host"), has_host);
    kept == Storable::Kept
}
