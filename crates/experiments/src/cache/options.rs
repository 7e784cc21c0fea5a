//! The parameters of `cache experiment`.

use trueplane_cache::PolicyName;
use trueplane_cache::capacity::Capacity;
use trueplane_cache::source::Source;
use trueplane_study::Error;
use trueplane_units::{Bytes, Choices, Nanos, PerSecond, Positive, Within, choices, parameters};

choices! {
    /// The way in which an origin's latency depends on the object.
    pub enum OriginName {
        /// The latency is the same for all objects.
        Constant = "constant",
        /// Half of the latency is the same for all objects; the rest is proportional to the object's size in the trace.
        Size = "size",
        /// Each object draws its latency from a Pareto distribution of shape 1.5, up to 20 times the mean.
        Heavy = "heavy",
        /// Half of the objects are in a near region, at a quarter of the latency; the others are in a far one, at four times the latency.
        Regions = "regions",
    }
}

choices! {
    /// Another HTTP cache.
    pub enum RivalName {
        /// nginx: every request for an object that is not stored yet goes to the origin.
        Nginx = "nginx",
        /// nginx with `proxy_cache_lock on`: one request goes to the origin, and the others check every 500 ms whether the object has arrived.
        NginxLock = "nginx-lock",
        /// Varnish: one request goes to the origin, and the others wait for it.
        Varnish = "varnish",
        /// HAProxy with its small-object cache: every request for an object that is not stored yet goes to the origin.
        Haproxy = "haproxy",
        /// Apache Traffic Server.
        Ats = "ats",
    }
}

/// Heading of help texts for how requests are sent.
const REPLAY: &str = "The replay";

parameters! {
    /// Parameters of `cache experiment`.
    #[derive(Clone, Debug)]
    pub struct Options {
        /// Ways in which the origin's latency depends on the object.
        pub origins: Choices<OriginName> => { value: "LIST", default: "regions" },
        /// Mean latency of the origin, over all objects. With --origins regions, the near region has a quarter of it, and the far one four times
        /// as much.
        pub latency: Positive<Nanos> => { value: "LATENCY", default: "100ms" },
        /// Memory of each cache: objects (5000), a share (5%) or bytes (256MiB). Objects have the mean size. A share is one of the largest
        /// number of objects that are active at the same time.
        pub capacity: Capacity => { value: "SIZE", default: "5%" },
        /// Policies for trueplane cache serve. Policies that need to know the future (belady, belady-ad) are refused, so all is refused as well.
        pub policies: Choices<PolicyName> => { value: "LIST", default: "lru,s3-fifo,lru-mad" },
        /// Other caches to measure. Caches that are not installed are left out.
        pub rivals: Choices<RivalName, true> => { value: "LIST", default: "all" },
        /// Number of requests to replay, from the start of the trace.
        pub requests: Within<u64, 2, 10_000_000> => { value: "N", default: "20K" },
        /// Mean number of requests a second. The times of the trace are scaled to it.
        pub rate: Positive<PerSecond> => { value: "RATE", default: "2K" },
        /// Send requests at even intervals, and ignore their times in the trace. Use this if the trace has times in whole seconds, for example.
        pub even: bool => { heading: REPLAY },
        /// Maximum size of a body. Larger objects are cut to it.
        pub largest_body: Within<Bytes, 1, { 64 << 20 }> => { value: "SIZE", default: "64KiB", heading: REPLAY },
        /// Number of measurements of each cache. The caches take turns.
        pub rounds: Within<u32, 1, 100> => { value: "N", default: "1", heading: REPLAY },
        /// Seed for the random draws of latencies and policies.
        pub seed: u64 => { value: "SEED", default: "1", heading: REPLAY },
    }
    including {
        /// The trace.
        pub source: Source,
    }
}

impl Options {
    /// Refuses what cannot be measured.
    pub(super) fn check(&self) -> Result<(), Error> {
        if let Some(policy) = self.policies.iter().find(|policy| policy.properties().offline) {
            let why = format!("--policies: {policy} must know the future, which no server does");
            return Err(Error::Parameters(why));
        }
        if self.rate.0 > MOST_RATE {
            let why = format!("--rate: expected at most {}, got {}", PerSecond(MOST_RATE), *self.rate);
            return Err(Error::Parameters(why));
        }
        Ok(())
    }
}

/// The client sends no more requests a second.
const MOST_RATE: u64 = 1_000_000;
