//! A request of a client.

use std::net::IpAddr;
use std::sync::Arc;

use http::{HeaderMap, Method, Version, header};
use hyper::body::{Body as _, Incoming};

use trueplane_units::Nanos;

use crate::counted::{Counted, Ends};
use crate::download::Wanted;
use crate::rules::fields::elements;
use crate::rules::hop;
use crate::rules::status::Forwarded;
use crate::site::Site;
use crate::store::Name;
use crate::tally::Served;
use crate::target::Target;

/// A request without its body.
#[derive(Clone)]
pub(crate) struct Asked {
    pub(crate) method: Method,
    pub(crate) target: Target,
    pub(crate) version: Version,
    pub(crate) client: IpAddr,
    pub(crate) headers: HeaderMap,
}

impl Asked {
    /// Why no cache answers this request, if so.
    pub(crate) fn is_not_for_caches(&self, body: &Incoming) -> Option<Forwarded> {
        let is_known = matches!(self.method, Method::GET | Method::HEAD);
        let is_conditional = [header::IF_MATCH, header::IF_UNMODIFIED_SINCE]
            .iter()
            .any(|name| self.headers.contains_key(name));
        match () {
            () if !is_known => Some(Forwarded::Method),
            () if !body.is_end_stream() || is_conditional => Some(Forwarded::Bypass),
            () => None,
        }
    }

    /// What the origin is asked for.
    pub(crate) fn wanted(&self, site: &Site, name: &Name) -> Wanted {
        let mut headers = self.forwarded(site);
        hop::only_get(&mut headers);
        for name in [header::IF_NONE_MATCH, header::IF_MODIFIED_SINCE, header::RANGE, header::IF_RANGE] {
            headers.remove(name);
        }
        Wanted {
            url: self.target.url.clone(),
            name: name.clone(),
            path: self.target.path.clone(),
            asked: self.headers.clone(),
            headers,
        }
    }

    /// Its fields as the origin gets them.
    pub(crate) fn forwarded(&self, site: &Site) -> HeaderMap {
        let mut headers = self.headers.clone();
        site.identity.forward(&mut headers, self.version, self.client, self.target.scheme);
        headers
    }

    /// How the answer to it counts.
    pub(crate) fn counted(&self, site: &Site, served: Served, came: Nanos, ends: Ends) -> Counted {
        let top = site.top.as_ref().filter(|_| served != Served::Passed);
        let url = top.map(|top| (Arc::clone(top), self.target.url.as_slice().into()));
        Counted { tally: Arc::clone(&site.tally), served, url, came, ends, sent: 0 }
    }

    pub(crate) fn is_authorised(&self) -> bool {
        self.headers.contains_key(header::AUTHORIZATION)
    }

    pub(crate) fn is_only_if_cached(&self) -> bool {
        elements(&self.headers, &header::CACHE_CONTROL)
            .any(|directive| directive.eq_ignore_ascii_case(b"only-if-cached"))
    }
}
