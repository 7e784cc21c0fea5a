//! The parameters of `cache generate`.

use trueplane_study::Error;
use trueplane_units::{Decimal, Nanos, Positive, Within, parameters};

use super::generator::Generator;
use super::profile::{Catalogue, MOST_OBJECTS, Objects, Profile, ProfileName};

/// More requests than these would take a year to write.
const MOST_REQUESTS: u64 = 100_000_000_000_000;

parameters! {
    /// A synthetic trace.
    #[derive(Clone, Debug)]
    pub struct Generate {
        /// Kind of load to generate.
        pub profile: ProfileName => { value: "NAME", default: "cdn" },
        /// Number of requests.
        pub requests: Within<u64, 1, MOST_REQUESTS> => { value: "N", default: "1M" },
        /// Seed of the random number generator. The same seed gives the same log.
        pub seed: u64 => { value: "SEED", default: "1" },
        /// Mean time between two requests, for any object.
        pub irt: Option<Positive<Nanos>> => { value: "TIME", default_words: "the profile's" },
        /// Number of objects that can be requested at the same time.
        pub objects: Option<Within<u64, 1, MOST_OBJECTS>> => { value: "N", default_words: "the profile's" },
        /// Exponent of Zipf's law for the popularity of objects.
        pub alpha: Option<Decimal<16>> => { value: "NUMBER", default_words: "the profile's" },
    }
}

impl Generate {
    /// The requests, the same for the same parameters.
    ///
    /// # Errors
    /// If the parameters do not fit each other.
    pub fn generator(&self) -> Result<Generator, Error> {
        let refuse = |message: String| Error::Parameters(message);
        Generator::new(&self.profile().map_err(refuse)?, *self.requests, self.seed)
            .map_err(|error| refuse(error.to_string()))
    }

    fn profile(&self) -> Result<Profile, String> {
        let mut profile = self.profile.profile();
        profile.irt = self.irt.map_or(profile.irt, |irt| *irt);
        match &mut profile.catalogue {
            Some(Catalogue { objects, alpha, .. }) => {
                *objects = self.objects.map_or(*objects, |count| Objects::Count(*count));
                *alpha = self.alpha.map_or(*alpha, Decimal::get);
            }
            None if self.objects.is_some() || self.alpha.is_some() => {
                return Err(format!(
                    "--objects and --alpha do not apply to {}: its flows never return",
                    self.profile
                ));
            }
            None => {}
        }
        Ok(profile)
    }
}
