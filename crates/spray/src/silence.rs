//! Silences of a capture that are too long to be traffic: its clock jumped, or several captures were joined.

use trueplane_units::{LongTime, Nanos};

/// No silence within traffic is longer.
const LONGEST: Nanos = Nanos(3_600_000_000_000);
/// What a longer one is taken for.
const SHORT: Nanos = Nanos(1_000_000_000);

/// Silences that were shortened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Silences {
    /// Number of silences.
    pub count: u64,
    /// Length of the longest.
    pub longest: Nanos,
}

impl Silences {
    /// Shortens every silence of more than an hour to a second. The times, of packets in their order, begin at zero from then on.
    pub(crate) fn shorten<'t>(times: impl IntoIterator<Item = &'t mut Nanos>) -> Self {
        let (mut silences, mut before, mut now) = (Self::default(), None, Nanos(0));
        for time in times {
            let silence = time.since(before.replace(*time).unwrap_or(*time));
            if silence > LONGEST {
                silences.count += 1;
                silences.longest = silences.longest.max(silence);
            }
            now = now.after(if silence > LONGEST { SHORT } else { silence });
            *time = now;
        }
        silences
    }

    /// The warning; none if there were no such silences.
    pub(crate) fn warning(self) -> Option<String> {
        let longest = LongTime(self.longest.0 as f64);
        let which = match self.count {
            0 => return None,
            1 => format!("a silence of {longest} in the capture counts as {SHORT}"),
            count => format!("{count} silences of up to {longest} in the capture count as {SHORT} each"),
        };
        Some(format!("Beware: {which}, because a clock jumped or captures were joined."))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_jump_of_years_is_a_second() {
        let year = 31_557_600_000_000_000;
        let mut times = [5, 7, year, year + 3].map(Nanos);
        let silences = Silences::shorten(&mut times);
        assert_eq!(times, [0, 2, 1_000_000_002, 1_000_000_005].map(Nanos));
        assert_eq!(silences, Silences { count: 1, longest: Nanos(year - 7) });
        assert!(silences.warning().is_some_and(|text| text.contains("365")), "{:?}", silences.warning());
        assert_eq!(Silences::shorten(&mut times).warning(), None);
    }
}
