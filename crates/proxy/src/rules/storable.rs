//! Which responses may be kept, and which may be shared. (RFC 9111 §3)

use http::{HeaderMap, Method, StatusCode, header};

use super::control::Control;
use super::freshness::{Freshness, is_heuristic};
use super::vary;

/// What a cache may do with a response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Storable {
    /// Keep it, and give it to others.
    Kept,
    /// Give it to those who already wait for it, and do not keep it: an error of the server, which is the same for all of them.
    Shared,
    /// It is for one request alone.
    Private,
}

/// What a cache may do with the response to a GET.
pub fn storable(
    request: &HeaderMap,
    status: StatusCode,
    headers: &HeaderMap,
    control: &Control,
    freshness: &Freshness,
) -> Storable {
    let forbids =
        control.is_private || (control.no_store && !(control.must_understand && is_understood(status)));
    let is_unknown = control.must_understand && !is_understood(status);
    // Nobody can ask for the same variant again.
    let varies = vary::fields(headers).is_none();
    // Parts of a response, and answers to conditions, are no whole responses.
    let is_part =
        matches!(status, StatusCode::PARTIAL_CONTENT | StatusCode::NOT_MODIFIED) || status.is_informational();
    let is_authorised = request.contains_key(header::AUTHORIZATION) && !control.shares_authorised();
    // One client's cookie is not to come to another. Servers that mean to share the rest must say so.
    let sets_cookie = headers.contains_key(header::SET_COOKIE) && !control.speaks_to_shared();
    if forbids || is_unknown || varies || is_part || is_authorised || sets_cookie {
        return Storable::Private;
    }
    let can_validate = headers.contains_key(header::ETAG) || headers.contains_key(header::LAST_MODIFIED);
    let may_serve_stale = control.stale_while_revalidate.is_some() || control.stale_if_error.is_some();
    let may_reuse = freshness.is_explicit || control.is_public || is_heuristic(status);
    let is_useful = (freshness.was_fresh() && !control.no_cache) || can_validate || may_serve_stale;
    // A server may show in an error whose request it was.
    let is_personal = [header::COOKIE, header::AUTHORIZATION].iter().any(|name| request.contains_key(name))
        || headers.contains_key(header::SET_COOKIE);
    match may_reuse && is_useful {
        true => Storable::Kept,
        false if status.is_server_error() && !is_personal => Storable::Shared,
        false => Storable::Private,
    }
}

/// Statuses whose meaning for caches this one knows: those of RFC 9110, but for 206.
fn is_understood(status: StatusCode) -> bool {
    matches!(status.as_u16(), 200..=205 | 300..=305 | 307 | 308 | 400..=417 | 421 | 422 | 426 | 500..=505)
}

/// Whether a request with this method changes nothing at the server, so that it may be sent again. (RFC 9110 §9.2.1)
pub fn is_safe(method: &Method) -> bool {
    matches!(*method, Method::GET | Method::HEAD | Method::OPTIONS | Method::TRACE)
}

#[cfg(test)]
mod tests {
    use trueplane_units::Nanos;

    use super::super::fields::map;
    use super::super::freshness::Times;
    use super::*;

    fn of(status: u16, request: &[(&'static str, &str)], response: &[(&'static str, &str)]) -> Storable {
        let (request, headers) = (map(request), map(response));
        let status = StatusCode::from_u16(status).unwrap();
        let control = Control::of(&headers, "here");
        let times = Times { asked: Nanos::from_secs(1000), came: Nanos::from_secs(1000) };
        storable(&request, status, &headers, &control, &Freshness::of(status, &headers, &control, times))
    }

    #[test]
    fn what_may_be_kept() {
        let fresh = ("cache-control", "max-age=60");
        assert_eq!(of(200, &[], &[fresh]), Storable::Kept);
        assert_eq!(of(599, &[], &[fresh]), Storable::Kept);
        assert_eq!(of(200, &[], &[]), Storable::Private);
        assert_eq!(of(200, &[], &[("etag", "\"a\"")]), Storable::Kept);
        assert_eq!(of(206, &[], &[fresh]), Storable::Private);
        assert_eq!(of(500, &[], &[]), Storable::Shared);
        for control in ["no-store, max-age=60", "private, max-age=60", "max-age=0", "no-cache, max-age=60"] {
            assert_eq!(of(200, &[], &[("cache-control", control)]), Storable::Private, "{control}");
        }
        assert_eq!(of(500, &[], &[("cache-control", "private")]), Storable::Private);
        assert_eq!(of(500, &[("cookie", "a=1")], &[]), Storable::Private);
        assert_eq!(
            of(503, &[], &[("cache-control", "public, max-age=0"), ("set-cookie", "a=1")]),
            Storable::Private
        );
        assert_eq!(of(200, &[], &[fresh, ("vary", "a, *")]), Storable::Private);
    }

    #[test]
    fn statuses_that_must_be_understood() {
        assert_eq!(of(599, &[], &[("cache-control", "max-age=60, must-understand")]), Storable::Private);
        assert_eq!(
            of(200, &[], &[("cache-control", "max-age=60, must-understand, no-store")]),
            Storable::Kept
        );
    }

    #[test]
    fn authorised_responses_and_cookies_are_private_unless_servers_share_them() {
        let (authorised, cookie) = (("authorization", "Basic eA=="), ("set-cookie", "a=1"));
        for (control, with_authorisation, with_cookie) in [
            ("max-age=60", Storable::Private, Storable::Private),
            ("max-age=60, must-revalidate", Storable::Kept, Storable::Private),
            ("max-age=60, public", Storable::Kept, Storable::Kept),
            ("s-maxage=60", Storable::Kept, Storable::Kept),
        ] {
            let line = ("cache-control", control);
            assert_eq!(of(200, &[authorised], &[line]), with_authorisation, "{control}");
            assert_eq!(of(200, &[], &[line, cookie]), with_cookie, "{control}");
        }
    }
}
