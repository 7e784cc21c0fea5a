//! Sets of stored answers, as people name them on the command line.

use std::fmt;
use std::str::FromStr;

use trueplane_proxy::Pattern;
use trueplane_units::text_value;

/// A text that the function reads.
macro_rules! named {
    ($(#[$doc:meta])* $name:ident, $read:path, $expected:literal) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub(super) struct $name(pub(super) String);

        impl FromStr for $name {
            type Err = String;

            fn from_str(text: &str) -> Result<Self, String> {
                $read(text).map(|_| Self(text.to_owned()))
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        text_value!($name, $expected);
    };
}

named!(
    /// A URL.
    Url, Pattern::url, "a URL such as http://www.example.com/logo.png"
);
named!(
    /// A URL that others begin with.
    Prefix, Pattern::prefix, "a URL such as http://www.example.com/images/"
);
named!(
    /// A tag of answers.
    Tag, Pattern::tag, "a word in Surrogate-Key"
);
named!(
    /// A pattern for whole URLs.
    Glob, Pattern::glob, "a pattern for whole URLs such as http://www.example.com/*.css"
);
