//! The parameters of a synthetic trace, and the four sets of them that have names.

use trueplane_units::{Bytes, Nanos, choices};

use super::Lengths;

choices! {
    /// A kind of load by name.
    pub enum ProfileName {
        /// For comparison: every request is drawn independently, without bursts.
        Zipf = "zipf",
        /// A busy proxy of a content delivery network.
        Cdn = "cdn",
        /// Packets of many short flows on one link.
        Network = "network",
        /// Block reads of a network file system.
        Storage = "storage",
    }
}

impl ProfileName {
    /// The parameters that the name stands for.
    pub fn profile(self) -> Profile {
        match self {
            Self::Zipf => Profile::zipf(),
            Self::Cdn => Profile::cdn(),
            Self::Network => Profile::network(),
            Self::Storage => Profile::storage(),
        }
    }
}

/// The parameters of a synthetic trace. The module documentation explains the model and lists the named profiles.
#[derive(Clone, Debug, PartialEq)]
pub struct Profile {
    /// Mean time between two requests of the whole trace.
    pub irt: Nanos,
    /// The objects that are asked for; `None`: every session is for an object of its own, which never returns.
    pub catalogue: Option<Catalogue>,
    /// The bursts; `None`: every request is independent of the others.
    pub sessions: Option<Sessions>,
    /// Sizes of the objects (or packets).
    pub sizes: Sizes,
}

/// The objects that can be asked for at one time, by popularity.
#[derive(Clone, Debug, PartialEq)]
pub struct Catalogue {
    /// Number of objects.
    pub objects: Objects,
    /// Zipf exponent: the object of rank r starts sessions and single requests in proportion to r^(−`alpha`).
    pub alpha: f64,
    /// New objects per request, 0 to 1. Each takes the rank of an old one, chosen uniformly, which is not asked for
    /// again once the sessions that it is in have ended.
    pub births: f64,
    /// Exchanges of rank between two objects, chosen uniformly, per request; 0 to 1.
    pub swaps: f64,
}

/// The size of a catalogue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Objects {
    /// This many, however long the trace is.
    Count(u64),
    /// One for every so many requests of the trace, rounded up.
    OnePer(u64),
}

/// Grouping of the requests for one object into sessions.
#[derive(Clone, Debug, PartialEq)]
pub struct Sessions {
    /// The share of all requests that belong to sessions, 0 to 1. The rest are single requests.
    pub share: f64,
    /// Requests per session.
    pub length: Lengths,
    /// Mean number of requests in a row before a pause (geometrically distributed); at least 1.
    pub burst: f64,
    /// Mean time between two requests of a burst (exponential).
    pub gap: Nanos,
    /// Mean time between the last request of a burst and the first of the next one in the session (exponential).
    pub pause: Nanos,
}

/// Distribution of the sizes of requests.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Sizes {
    /// Each object has one size for good, log-normal, rounded up to whole units.
    LogNormal {
        /// Half of the objects are smaller.
        median: Bytes,
        /// Standard deviation of the logarithm of the size; at least 0.
        sigma: f64,
        /// The largest size; rounded down to whole units.
        most: Bytes,
        /// Sizes are multiples of this; at least 1 B.
        unit: Bytes,
    },
    /// Each request is an Ethernet frame: 40% have 64 B, 40% have 1514 B, the rest anything between.
    Packets,
}

/// Reason why a profile cannot be generated.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum InvalidProfile {
    /// A parameter is outside its range.
    #[error("{parameter}: expected {expected}, got {found}")]
    OutOfRange {
        /// The parameter's name.
        parameter: &'static str,
        /// Its range, in words.
        expected: &'static str,
        /// Value that was given.
        found: f64,
    },
    /// The sessions are so slow, for the request rate, that those in progress would not fit in memory.
    #[error(
        "{count:.0} sessions would be in progress at a time, at most {most} fit: shorten the pauses or the sessions"
    )]
    TooManySessions {
        /// The mean number of sessions in progress.
        count: f64,
        /// The most that are supported.
        most: u32,
    },
}

/// More sessions at a time (32 B each) would take more than 2 GiB.
const MOST_SESSIONS: u32 = 1 << 26;

/// A larger catalogue (8 B per object) would take more than 8 GiB.
pub(super) const MOST_OBJECTS: u64 = 1 << 30;

/// The mean length of longer sessions would take too long to sum.
const LONGEST_SESSION: u32 = 1 << 20;

const fn micros(count: u64) -> Nanos {
    Nanos(count * 1_000)
}

impl Profile {
    /// The control: the independent reference model, under which every request is drawn alone.
    pub fn zipf() -> Profile {
        Profile {
            irt: micros(1),
            catalogue: Some(Catalogue { objects: Objects::OnePer(32), alpha: 0.9, births: 0.0, swaps: 0.0 }),
            sessions: None,
            sizes: Sizes::LogNormal {
                median: Bytes(64 << 10),
                sigma: 2.0,
                most: Bytes(1 << 30),
                unit: Bytes(1),
            },
        }
    }

    /// A busy proxy of a content distribution network.
    pub fn cdn() -> Profile {
        Profile {
            catalogue: Some(Catalogue {
                objects: Objects::OnePer(32),
                alpha: 0.9,
                births: 0.004,
                swaps: 0.01,
            }),
            sessions: Some(Sessions {
                share: 0.8,
                length: Lengths { tail: 1.3, least: 4, most: 4_000 },
                burst: 12.0,
                gap: micros(300),
                pause: micros(30_000),
            }),
            ..Self::zipf()
        }
    }

    /// Packets of many short flows on one link.
    pub fn network() -> Profile {
        Profile {
            irt: micros(3),
            catalogue: None,
            sessions: Some(Sessions {
                share: 0.95,
                length: Lengths { tail: 1.2, least: 2, most: 5_000 },
                burst: 8.0,
                gap: micros(100),
                pause: micros(20_000),
            }),
            sizes: Sizes::Packets,
        }
    }

    /// Block reads of a network file system: long-lived blocks, read again and again.
    pub fn storage() -> Profile {
        Profile {
            irt: micros(30),
            catalogue: Some(Catalogue {
                objects: Objects::OnePer(16),
                alpha: 0.7,
                births: 0.0005,
                swaps: 0.005,
            }),
            sessions: Some(Sessions {
                share: 0.7,
                length: Lengths { tail: 1.3, least: 4, most: 1_000 },
                burst: 6.0,
                gap: micros(1_000),
                pause: micros(400_000),
            }),
            sizes: Sizes::LogNormal {
                median: Bytes(16 << 10),
                sigma: 1.2,
                most: Bytes(4 << 20),
                unit: Bytes(512),
            },
        }
    }

    /// Checks every parameter against its range, and that what the profile needs fits in memory.
    pub(super) fn check(&self) -> Result<(), InvalidProfile> {
        ensure(self.irt.0 >= 1, "irt", "at least 1 ns", self.irt.0 as f64)?;
        if let Some(catalogue) = &self.catalogue {
            catalogue.check()?;
        }
        if let Some(sessions) = &self.sessions {
            sessions.check()?;
            let count = sessions.in_progress(self.irt);
            if count > f64::from(MOST_SESSIONS) {
                return Err(InvalidProfile::TooManySessions { count, most: MOST_SESSIONS });
            }
        }
        self.sizes.check()
    }
}

impl Catalogue {
    fn check(&self) -> Result<(), InvalidProfile> {
        let (Objects::Count(given) | Objects::OnePer(given)) = self.objects;
        ensure_objects(given)?;
        ensure((0.0..=16.0).contains(&self.alpha), "alpha", "0 to 16", self.alpha)?;
        ensure_share("births", self.births)?;
        ensure_share("swaps", self.swaps)
    }
}

impl Sessions {
    /// The mean time between two requests of a session, whether in a burst or across a pause, in ns.
    pub(super) fn mean_gap(&self) -> f64 {
        let pauses = self.pause_chance();
        (1.0 - pauses) * self.gap.0 as f64 + pauses * self.pause.0 as f64
    }

    /// The chance that a request is the last of its burst.
    pub(super) fn pause_chance(&self) -> f64 {
        1.0 / self.burst
    }

    /// The mean number of sessions between their first and last request, by Little's law: rate × mean duration.
    pub(super) fn in_progress(&self, irt: Nanos) -> f64 {
        let length = self.length.mean();
        let starts_per_nano = self.share / (length * irt.0 as f64);
        starts_per_nano * (length - 1.0) * self.mean_gap()
    }

    fn check(&self) -> Result<(), InvalidProfile> {
        ensure_share("share", self.share)?;
        ensure(self.burst >= 1.0 && self.burst.is_finite(), "burst", "at least 1 request", self.burst)?;
        let Lengths { tail, least, most } = self.length;
        ensure(tail > 0.0 && tail <= 16.0, "length.tail", "above 0, at most 16", tail)?;
        ensure(least >= 1, "length.least", "at least 1 request", f64::from(least))?;
        ensure(
            (least..=LONGEST_SESSION).contains(&most),
            "length.most",
            "length.least to 2^20",
            f64::from(most),
        )
    }
}

impl Sizes {
    fn check(&self) -> Result<(), InvalidProfile> {
        let Sizes::LogNormal { median, sigma, most, unit } = *self else { return Ok(()) };
        ensure(median.0 >= 1, "sizes.median", "at least 1 B", median.0 as f64)?;
        ensure((0.0..=16.0).contains(&sigma), "sizes.sigma", "0 to 16", sigma)?;
        ensure(unit.0 >= 1, "sizes.unit", "at least 1 B", unit.0 as f64)?;
        ensure(most >= unit, "sizes.most", "at least one unit", most.0 as f64)
    }
}

/// Refuses a number of objects that a catalogue cannot have; for the ratio to the requests the same bound is as good as any.
pub(super) fn ensure_objects(count: u64) -> Result<(), InvalidProfile> {
    ensure((1..=MOST_OBJECTS).contains(&count), "objects", "1 to 2^30", count as f64)
}

fn ensure_share(parameter: &'static str, found: f64) -> Result<(), InvalidProfile> {
    ensure((0.0..=1.0).contains(&found), parameter, "0 to 1", found)
}

/// A comparison with NaN does not hold, so NaN is refused everywhere.
fn ensure(
    holds: bool,
    parameter: &'static str,
    expected: &'static str,
    found: f64,
) -> Result<(), InvalidProfile> {
    if holds { Ok(()) } else { Err(InvalidProfile::OutOfRange { parameter, expected, found }) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_named_profile_is_valid() {
        for name in ProfileName::ALL {
            assert_eq!(name.profile().check(), Ok(()), "{name}");
        }
    }

    #[test]
    fn the_table_of_the_module_states_the_mean_lengths() {
        for (profile, mean) in [(Profile::cdn(), 15.0), (Profile::network(), 9.0), (Profile::storage(), 14.0)]
        {
            let length = profile.sessions.unwrap().length.mean();
            assert!((length - mean).abs() < 0.5, "{length}, not {mean}");
        }
    }

    #[test]
    fn parameters_outside_their_range_are_named() {
        let mut profile = Profile::cdn();
        profile.catalogue.as_mut().unwrap().alpha = f64::NAN;
        assert_eq!(profile.check().unwrap_err().to_string(), "alpha: expected 0 to 16, got NaN");

        let mut profile = Profile::cdn();
        profile.catalogue.as_mut().unwrap().objects = Objects::Count(0);
        assert_eq!(profile.check().unwrap_err().to_string(), "objects: expected 1 to 2^30, got 0");

        let mut profile = Profile::cdn();
        profile.sessions.as_mut().unwrap().length.most = 1;
        assert!(profile.check().unwrap_err().to_string().starts_with("length.most: expected"));

        let mut profile = Profile::cdn();
        profile.irt = Nanos(0);
        assert!(profile.check().is_err());
    }

    #[test]
    fn sessions_that_would_fill_the_memory_are_refused() {
        let mut profile = Profile::network();
        profile.sessions.as_mut().unwrap().pause = "1h".parse().unwrap();
        assert!(matches!(profile.check(), Err(InvalidProfile::TooManySessions { .. })));
    }
}
