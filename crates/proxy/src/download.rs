//! The body of a response that arrives. If it ends early, the rest is asked for.

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher as _, Hasher as _};
use std::sync::Arc;

use bytes::Bytes;
use http::uri::PathAndQuery;
use http::{HeaderMap, HeaderValue, Method, Response, StatusCode, header};
use http_body_util::BodyExt as _;
use hyper::body::{Body as _, Incoming};

use crate::clock::now;
use crate::head::Head;
use crate::origin::Failed;
use crate::rules::conditional::strong_tag;
use crate::rules::freshness::Times;
use crate::rules::range::first_of;
use crate::site::Site;
use crate::store::Name;

/// Times that a body that ended early is asked for again.
const RESUMPTIONS: usize = 3;
/// Bytes that are asked for a second time, at most, where the rest alone cannot be had.
const MOST_REPEATED: u64 = 64 << 20;

/// A response that is to be fetched.
pub(crate) struct Wanted {
    /// The URL, as the first part of names.
    pub(crate) url: Vec<u8>,
    /// The name under which the answer will be stored.
    pub(crate) name: Name,
    pub(crate) path: PathAndQuery,
    /// Fields of the request as it was asked, by which answers are chosen.
    pub(crate) asked: HeaderMap,
    /// The same as the origin gets them.
    pub(crate) headers: HeaderMap,
}

/// Asks the origin.
pub(crate) async fn ask(
    site: &Site,
    wanted: &Wanted,
    headers: HeaderMap,
) -> Result<(Response<Incoming>, Times), Failed> {
    let asked = now();
    let response = site.origin.ask(Method::GET, &wanted.path, headers).await?;
    Ok((response, Times { asked, came: now() }))
}

/// A body that arrives.
///
/// If it ends early, the rest is asked for as a range, if a strong entity tag says that it is of the same response. (RFC 9110 §13.1.5) Otherwise all of it is asked
/// for again, and goes on if it begins with the bytes that have come: clients then have a whole response, which is the new one.
pub(crate) struct Download {
    site: Arc<Site>,
    pub(crate) wanted: Wanted,
    head: Arc<Head>,
    incoming: Incoming,
    /// Bytes that have come, and those of all, once that is known.
    came: u64,
    whole: Option<u64>,
    digest: Digest,
    /// Bytes that came with others that had come before.
    ahead: Option<Bytes>,
    /// Times that the rest may be asked for.
    left: usize,
}

impl Download {
    pub(crate) fn new(site: Arc<Site>, wanted: Wanted, head: Arc<Head>, incoming: Incoming) -> Self {
        let (whole, digest) = (head.length, Digest::new());
        Self { site, wanted, head, incoming, came: 0, whole, digest, ahead: None, left: RESUMPTIONS }
    }

    /// The next bytes; none after the last ones.
    pub(crate) async fn next(&mut self) -> Option<Result<Bytes, Failed>> {
        loop {
            let error = match self.frame().await {
                Ok(Some(data)) => {
                    self.came += data.len() as u64;
                    self.digest.add(&data);
                    let is_too_much = self.whole.is_some_and(|whole| self.came > whole);
                    let error = || Failed::Truncated("more has come than was promised".to_owned());
                    return Some(if is_too_much { Err(error()) } else { Ok(data) });
                }
                // A part may be less than was asked for. (RFC 9110 §15.3.7)
                Ok(None) if self.whole.is_none_or(|whole| self.came == whole) => return None,
                Ok(None) => "less has come than was promised".to_owned(),
                Err(error) => error,
            };
            let may_go_on = self.left > 0;
            self.left = self.left.saturating_sub(1);
            if !(may_go_on && self.resume().await) {
                return Some(Err(Failed::Truncated(error)));
            }
        }
    }

    /// The next bytes of this answer; none after its last ones.
    async fn frame(&mut self) -> Result<Option<Bytes>, String> {
        if let Some(data) = self.ahead.take() {
            return Ok(Some(data));
        }
        loop {
            match tokio::time::timeout(self.site.origin.timeouts.body, self.incoming.frame()).await {
                // Trailers may be left out. (RFC 9110 §6.5.1)
                Ok(Some(Ok(frame))) => match frame.into_data() {
                    Ok(data) => return Ok(Some(data)),
                    Err(_) => continue,
                },
                Ok(None) => return Ok(None),
                Ok(Some(Err(error))) => return Err(error.to_string()),
                Err(_) => return Err("nothing has come for too long".to_owned()),
            }
        }
    }

    /// Asks for the rest. Returns whether it comes.
    async fn resume(&mut self) -> bool {
        if self.head.status != StatusCode::OK {
            return false;
        }
        let mut headers = self.wanted.headers.clone();
        let tag = strong_tag(&self.head.headers).cloned();
        match &tag {
            Some(tag) => {
                let Ok(range) = HeaderValue::from_str(&format!("bytes={}-", self.came)) else { return false };
                headers.insert(header::RANGE, range);
                headers.insert(header::IF_RANGE, tag.clone());
            }
            None if self.came > MOST_REPEATED => return false,
            None => {}
        }
        let Ok((response, _)) = ask(&self.site, &self.wanted, headers).await else { return false };
        match (response.status(), tag) {
            (StatusCode::PARTIAL_CONTENT, Some(tag)) => self.go_on(response, &tag),
            (StatusCode::OK, _) => self.begin_again(response).await,
            _ => false,
        }
    }

    /// Goes on with a part, if it is the rest.
    fn go_on(&mut self, response: Response<Incoming>, tag: &HeaderValue) -> bool {
        let Some((first, whole)) = first_of(response.headers()) else { return false };
        let is_rest = first == self.came
            && self.whole.is_none_or(|known| known == whole)
            && response.headers().get(header::ETAG).is_none_or(|other| other == tag);
        if is_rest {
            (self.incoming, self.whole) = (response.into_body(), Some(whole));
        }
        is_rest
    }

    /// Goes on with a whole response, if it is as the one that ended early, as far as that came.
    async fn begin_again(&mut self, response: Response<Incoming>) -> bool {
        let told = [header::ETAG, header::LAST_MODIFIED, header::CONTENT_TYPE, header::CONTENT_ENCODING];
        let is_same = told.iter().all(|name| response.headers().get(name) == self.head.headers.get(name));
        let length = response.body().size_hint().exact();
        let fits = self.whole.is_none_or(|whole| length == Some(whole));
        if !is_same || !fits || self.came > MOST_REPEATED {
            return false;
        }
        (self.incoming, self.whole) = (response.into_body(), length);
        let (mut digest, mut left) = (self.digest.anew(), self.came);
        while left > 0 {
            let Ok(Some(mut data)) = self.frame().await else { return false };
            let ahead = data.split_off(data.len().min(usize::try_from(left).unwrap_or(usize::MAX)));
            left -= data.len() as u64;
            digest.add(&data);
            self.ahead = Some(ahead).filter(|ahead| !ahead.is_empty());
        }
        digest.is(&self.digest)
    }
}

/// A digest of the bytes that came, with keys that nobody knows: 128 bits.
struct Digest {
    keys: [RandomState; 2],
    hashers: [<RandomState as std::hash::BuildHasher>::Hasher; 2],
}

impl Digest {
    fn new() -> Self {
        let keys = [RandomState::new(), RandomState::new()];
        Self { hashers: keys.each_ref().map(RandomState::build_hasher), keys }
    }

    /// One of no bytes, with the same keys.
    fn anew(&self) -> Self {
        Self { hashers: self.keys.each_ref().map(RandomState::build_hasher), keys: self.keys.clone() }
    }

    fn add(&mut self, data: &[u8]) {
        self.hashers.iter_mut().for_each(|hasher| hasher.write(data));
    }

    fn is(&self, other: &Self) -> bool {
        self.hashers.iter().zip(&other.hashers).all(|(one, other)| one.finish() == other.finish())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_digest_does_not_depend_on_where_parts_end() {
        let mut one = Digest::new();
        let mut other = one.anew();
        one.add(b"some bytes that came");
        for part in [&b"some"[..], b" bytes that ", b"", b"came"] {
            other.add(part);
        }
        assert!(one.is(&other));
        other.add(b"!");
        assert!(!one.is(&other));
    }
}
