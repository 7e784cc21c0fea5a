//! How old a response is, and how old it may be. (RFC 9111 §4.2)

use http::{HeaderMap, StatusCode, header};
use trueplane_units::Nanos;

use super::control::Control;
use super::fields::{MOST_SECONDS, date, only, seconds};

/// Share of the time since a response was last changed for which it is fresh if nothing else is said. (RFC 9111 §4.2.2)
const HEURISTIC_SHARE: u64 = 10;
/// The longest time for which a response is fresh if nothing is said.
const MOST_HEURISTIC: Nanos = Nanos(24 * 3600 * 1_000_000_000);

/// When a response was asked for, and when it came. Times are since 1970.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Times {
    /// When the request was sent.
    pub asked: Nanos,
    /// When the head of the response came.
    pub came: Nanos,
}

/// How old a response was when it came, and for how long it is good.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Freshness {
    came: Nanos,
    initial_age: Nanos,
    /// Age up to which it is fresh.
    pub lifetime: Nanos,
    /// Whether the origin said how long it is fresh.
    pub is_explicit: bool,
}

impl Freshness {
    /// The freshness of a response that has these directives and fields.
    pub fn of(status: StatusCode, headers: &HeaderMap, control: &Control, times: Times) -> Self {
        let date_says = date(headers, &header::DATE);
        let apparent = times.came.since(date_says.unwrap_or(times.came));
        let delayed = age(headers).after(times.came.since(times.asked));
        let explicit = explicit(headers, control, date_says.unwrap_or(times.came));
        let lifetime = explicit.unwrap_or_else(|| {
            let changed = date(headers, &header::LAST_MODIFIED);
            let since = changed.map(|changed| date_says.unwrap_or(times.came).since(changed));
            match since {
                Some(since) if is_heuristic(status) || control.is_public => {
                    Nanos(since.0 / HEURISTIC_SHARE).min(MOST_HEURISTIC)
                }
                _ => Nanos(0),
            }
        });
        let is_explicit = explicit.is_some();
        Self { came: times.came, initial_age: apparent.max(delayed), lifetime, is_explicit }
    }

    /// Age when it came.
    pub fn initial_age(&self) -> Nanos {
        self.initial_age
    }

    /// The freshness of the same response, had it been of this age when it came.
    pub fn aged(self, initial_age: Nanos) -> Self {
        Self { initial_age, ..self }
    }

    /// Age at a time. (RFC 9111 §4.2.3)
    pub fn age(&self, now: Nanos) -> Nanos {
        self.initial_age.after(now.since(self.came))
    }

    /// Whether it is fresh at a time.
    pub fn is_fresh(&self, now: Nanos) -> bool {
        self.age(now) < self.lifetime
    }

    /// Time for which it has been stale; 0 while it is fresh.
    pub fn staleness(&self, now: Nanos) -> Nanos {
        self.age(now).since(self.lifetime)
    }

    /// Whether it was fresh when it came.
    pub fn was_fresh(&self) -> bool {
        self.initial_age < self.lifetime
    }
}

/// What the origin says of the time for which a response is fresh.
fn explicit(headers: &HeaderMap, control: &Control, date_says: Nanos) -> Option<Nanos> {
    if let Some(age) = control.s_maxage.or(control.max_age) {
        return Some(Nanos::from_secs(age));
    }
    if control.is_targeted || !headers.contains_key(header::EXPIRES) {
        return None;
    }
    // A date that is wrong, such as 0, has passed. (RFC 9111 §5.3)
    let expires = date(headers, &header::EXPIRES).unwrap_or_default();
    Some(expires.since(date_says))
}

/// What `Age` says. If it is anything but one number, nobody knows how old the response is: it counts as very old.
fn age(headers: &HeaderMap) -> Nanos {
    if !headers.contains_key(header::AGE) {
        return Nanos(0);
    }
    Nanos::from_secs(only(headers, &header::AGE).and_then(seconds).unwrap_or(MOST_SECONDS))
}

/// Statuses whose responses may be reused for a while though nobody said for how long. (RFC 9110 §15.1)
pub(crate) fn is_heuristic(status: StatusCode) -> bool {
    matches!(status.as_u16(), 200 | 203 | 204 | 206 | 300 | 301 | 308 | 404 | 405 | 410 | 414 | 501)
}

#[cfg(test)]
mod tests {
    use super::super::fields::print_date;
    use super::*;

    const NOW: u64 = 1_000_000;

    fn of(status: u16, lines: &[(&'static str, String)]) -> Freshness {
        let mut headers = HeaderMap::new();
        for (name, value) in lines {
            headers.append(*name, value.parse().unwrap());
        }
        let times = Times { asked: Nanos::from_secs(NOW - 2), came: Nanos::from_secs(NOW) };
        Freshness::of(StatusCode::from_u16(status).unwrap(), &headers, &Control::of(&headers, "here"), times)
    }

    fn at(seconds: u64) -> String {
        print_date(Nanos::from_secs(seconds))
    }

    /// Asked for at second 10, it comes at 12 with an age of 30 and is fresh for 60: at 15 it is 30 + 2 + 3 = 35 seconds old, and at 40 it is stale.
    #[test]
    fn a_response_ages_by_hand() {
        let mut headers = HeaderMap::new();
        headers.append("age", "30".parse().unwrap());
        headers.append("cache-control", "max-age=60".parse().unwrap());
        let times = Times { asked: Nanos::from_secs(10), came: Nanos::from_secs(12) };
        let control = Control::of(&headers, "here");
        let freshness = Freshness::of(StatusCode::OK, &headers, &control, times);
        assert_eq!(freshness.age(Nanos::from_secs(15)), Nanos::from_secs(35));
        assert!(freshness.is_fresh(Nanos::from_secs(39)) && !freshness.is_fresh(Nanos::from_secs(40)));
        assert_eq!(freshness.staleness(Nanos::from_secs(50)), Nanos::from_secs(10));
    }

    #[test]
    fn lifetimes_have_an_order() {
        let lifetime = |lines: &[(&'static str, String)]| of(200, lines).lifetime.0 / 1_000_000_000;
        let control = |text: &str| ("cache-control", text.to_owned());
        let expires = |seconds| ("expires", at(seconds));
        assert_eq!(lifetime(&[control("max-age=60, s-maxage=10"), expires(NOW + 100)]), 10);
        assert_eq!(lifetime(&[control("max-age=60"), expires(NOW + 100)]), 60);
        assert_eq!(lifetime(&[expires(NOW + 100), ("date", at(NOW - 5))]), 105);
        assert_eq!(lifetime(&[("expires", "0".to_owned()), ("last-modified", at(NOW - 1000))]), 0);
        assert_eq!(lifetime(&[("last-modified", at(NOW - 1000))]), 100);
        assert_eq!(of(403, &[("last-modified", at(NOW - 1000))]).lifetime, Nanos(0));
        assert_eq!(
            of(599, &[("last-modified", at(NOW - 1000)), control("public")]).lifetime,
            Nanos::from_secs(100)
        );
        assert_eq!(lifetime(&[("last-modified", at(0))]), 24 * 3600);
    }

    #[test]
    fn an_age_that_is_no_number_is_old() {
        for ages in [&["0, 0"][..], &["0", "0"], &["-7200"], &["7200.0"], &["abc"], &["0;x=1"]] {
            let mut lines = vec![("cache-control", "max-age=3600".to_owned())];
            lines.extend(ages.iter().map(|age| ("age", (*age).to_owned())));
            assert!(!of(200, &lines).was_fresh(), "{ages:?}");
        }
        assert!(
            of(200, &[("cache-control", "max-age=3600".to_owned()), ("age", "10".to_owned())]).was_fresh()
        );
    }

    #[test]
    fn a_date_long_ago_makes_a_response_old() {
        let aged = of(200, &[("date", at(NOW - 100)), ("cache-control", "max-age=60".to_owned())]);
        assert_eq!(aged.age(Nanos::from_secs(NOW)), Nanos::from_secs(100));
        assert!(!aged.was_fresh());
    }
}
