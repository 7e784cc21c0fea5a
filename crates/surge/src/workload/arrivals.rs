//! When packets come, so that they bring a given rate.

use std::sync::Arc;

use rand::SeedableRng as _;
use rand_distr::{Distribution as _, Exp1};
use rand_xoshiro::Xoshiro256PlusPlus;
use trueplane_study::Error;
use trueplane_units::{BitsPerSec, Nanos, choices};

use crate::traffic::Pace;

/// Runs are shorter than this, so that no time overflows: 146 years.
const LONGEST: Nanos = Nanos(1 << 62);

/// No attack has more packets than this.
const MOST_ARRIVALS: u128 = 1 << 34;

choices! {
    /// Arrival process of packets.
    pub enum Arrivals {
        /// At equal intervals, separately for users and attacker.
        Even = "even",
        /// As a Poisson process, separately for users and attacker.
        Poisson = "poisson",
        /// Users at the times of the trace, scaled to their rate; the attacker at equal intervals.
        Trace = "trace",
    }
}

/// Stream of random draws from a seed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stream {
    /// Arrival times of users.
    Innocent,
    /// Arrival times of the attacker.
    Attack,
}

impl Stream {
    /// Draws that have nothing to do with those of other streams, nor with the packets.
    fn of(self, seed: u64) -> Xoshiro256PlusPlus {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        for _ in 0..=u8::from(self == Stream::Attack) {
            random.jump();
        }
        random
    }
}

/// Arrivals of users' packets at a rate.
#[derive(Clone, Debug)]
pub struct Arriving {
    /// Times at which packets come.
    pub pace: Pace,
    /// Time for which they come: until there would be another one.
    pub end: Nanos,
}

/// Time in which `bits` arrive at `rate`.
///
/// # Errors
/// If that is no time at all, or years.
pub fn duration(bits: u64, rate: BitsPerSec) -> Result<Nanos, Error> {
    let nanos = u128::from(bits) * 1_000_000_000 / u128::from(rate.0.max(1));
    let nanos = u64::try_from(nanos).unwrap_or(u64::MAX);
    if !(1..LONGEST.0).contains(&nanos) {
        let what = if nanos == 0 { "less than a nanosecond" } else { "more than a hundred years" };
        return Err(Error::Parameters(format!("{bits} bits at {rate} take {what}: choose another rate")));
    }
    Ok(Nanos(nanos))
}

/// `count` packets of `bits` together, at `rate`. `times` are their own, from zero on; needed for [`Arrivals::Trace`].
///
/// # Errors
/// If there are no times where they are needed, or the rate makes no sense ([`duration`]).
pub fn of_users(
    arrivals: Arrivals,
    count: u64,
    bits: u64,
    times: Option<&[Nanos]>,
    rate: BitsPerSec,
    seed: u64,
) -> Result<Arriving, Error> {
    let end = duration(bits, rate)?;
    let pace = match arrivals {
        Arrivals::Even => {
            let packets = u128::from(count) * u128::from(rate.0);
            even(packets, u128::from(bits) * 1_000_000_000, count)
        }
        Arrivals::Poisson => Pace::At(poisson(count, end, seed, Stream::Innocent)),
        Arrivals::Trace => {
            let times = times.ok_or_else(|| {
                Error::Parameters(
                    "--arrivals trace needs a trace with times: this workload has none".to_owned(),
                )
            })?;
            Pace::At(stretched(times, end)?)
        }
    };
    Ok(Arriving { pace, end })
}

/// Packets of `bits` each at `rate` until `end`: when they come, and how many.
///
/// # Errors
/// If they are too many to simulate.
pub fn of_attack(
    arrivals: Arrivals,
    bits: u32,
    rate: BitsPerSec,
    end: Nanos,
    seed: u64,
) -> Result<(Pace, u64), Error> {
    let (packets, nanos) = (u128::from(rate.0), u128::from(bits) * 1_000_000_000);
    let count = (u128::from(end.0) * packets).div_ceil(nanos);
    let few = u64::try_from(count).ok().filter(|_| count <= MOST_ARRIVALS);
    let count = few.ok_or_else(|| {
        Error::Parameters(format!(
            "an attack of {rate} with packets of {bits} bits brings {count} packets within {end}, and more than 2^34 are not \
             simulated: choose a lower rate, larger packets or fewer packets of users"
        ))
    })?;
    match arrivals {
        Arrivals::Even | Arrivals::Trace => Ok((even(packets, nanos, count), count)),
        Arrivals::Poisson => Ok((Pace::At(poisson(count, end, seed, Stream::Attack)), count)),
    }
}

/// `packets` in `nanos`, of which `count` come: exactly, as long as no product overflows, else within a part in a billion.
fn even(packets: u128, nanos: u128, count: u64) -> Pace {
    let common = gcd(packets, nanos);
    let exact = (u64::try_from(packets / common).ok(), u64::try_from(nanos / common).ok());
    if let (Some(packets), Some(nanos)) = exact
        && count.checked_mul(nanos).is_some()
    {
        return Pace::Even { packets, nanos };
    }
    // The finest power of two for which the last product still fits; rounded up, so that whole nanoseconds stay what they are.
    let gap = nanos as f64 / packets as f64;
    let room = (u64::MAX as f64 / 4.0 / (gap.max(1.0) * count.max(1) as f64)).log2().floor().clamp(0.0, 62.0);
    let packets = 1u64 << room as u32;
    Pace::Even { packets, nanos: (gap * packets as f64).ceil() as u64 }
}

fn gcd(mut a: u128, mut b: u128) -> u128 {
    while b > 0 {
        (a, b) = (b, a % b);
    }
    a.max(1)
}

/// `count` arrivals of a Poisson process of which just so many come before `end`.
fn poisson(count: u64, end: Nanos, seed: u64, stream: Stream) -> Arc<[Nanos]> {
    let mut random = stream.of(seed);
    let mut sum = 0.0;
    let mut sums: Vec<f64> = Vec::with_capacity(usize::try_from(count).unwrap_or_default());
    for _ in 0..count {
        let gap: f64 = Exp1.sample(&mut random);
        sum += gap;
        sums.push(sum);
    }
    let last: f64 = Exp1.sample(&mut random);
    let scale = end.0 as f64 / (sum + last);
    sums.iter().map(|sum| Nanos(((sum * scale) as u64).min(end.0 - 1))).collect()
}

/// The times of a trace, of which the last is followed by a mean gap before `end`.
fn stretched(times: &[Nanos], end: Nanos) -> Result<Arc<[Nanos]>, Error> {
    let span = own_span(times)
        .ok_or_else(|| Error::Parameters("--arrivals trace: all packets come at one instant".to_owned()))?;
    let (from, to) = (u128::from(span.0), u128::from(end.0));
    let stretch = |time: &Nanos| {
        let at = u128::from(time.0) * to / from;
        Nanos(u64::try_from(at).unwrap_or(u64::MAX).min(end.0 - 1))
    };
    Ok(times.iter().map(stretch).collect())
}

/// Duration of arrivals at these times: from zero to the last, and a mean gap. `None` if that is no time at all.
pub fn own_span(times: &[Nanos]) -> Option<Nanos> {
    let last = u128::from(times.last()?.0);
    let count = times.len() as u128;
    let span = last * count / (count - 1).max(1);
    u64::try_from(span).ok().filter(|span| (1..LONGEST.0).contains(span)).map(Nanos)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::traffic::{Offered, Traffic};

    const GBPS: BitsPerSec = BitsPerSec(1_000_000_000);

    fn times(pace: Pace, count: u64) -> Vec<u64> {
        let traffic =
            Traffic::<()> { packets: Arc::from([] as [Offered<()>; 0]), pace, count, fresh_flows: false };
        (0..count).map(|number| traffic.at(number).expect("it comes").0).collect()
    }

    #[test]
    fn even_arrivals_bring_the_rate() {
        let users = of_users(Arrivals::Even, 3, 12_000, None, GBPS, 1).unwrap();
        assert_eq!((times(users.pace, 3), users.end), (vec![0, 4_000, 8_000], Nanos(12_000)));
        let (pace, count) = of_attack(Arrivals::Even, 512, BitsPerSec(300_000_000), Nanos(5_120), 1).unwrap();
        assert_eq!((times(pace, count), count), (vec![0, 1_706, 3_413], 3));
        // Numbers with no common divisor, over an hour.
        let (bits, rate) = (4_000_000_000_003, BitsPerSec(999_999_937));
        let users = of_users(Arrivals::Even, 1_000_000_007, bits, None, rate, 1).unwrap();
        let Pace::Even { packets, nanos } = users.pace else { panic!("they are even") };
        let last = u128::from(nanos) * 1_000_000_007 / u128::from(packets);
        assert!(last.abs_diff(u128::from(users.end.0)) <= 4_000, "{last} {}", users.end.0);
        assert!(1_000_000_007u64.checked_mul(nanos).is_some());
    }

    #[test]
    fn poisson_arrivals_bring_the_rate_by_chance_within_the_time() {
        let users = of_users(Arrivals::Poisson, 100_000, 400_000_000, None, GBPS, 1).unwrap();
        let times = times(users.pace, 100_000);
        assert!(times.is_sorted() && times[99_999] < users.end.0);
        let before_half = times.partition_point(|time| *time < users.end.0 / 2);
        assert!(before_half.abs_diff(50_000) < 1_000, "{before_half}");
        // One in e gaps is longer than the mean.
        let long = times.windows(2).filter(|pair| pair[1] - pair[0] > 4_000).count();
        assert!(long.abs_diff(36_788) < 1_000, "{long}");
        assert_ne!(poisson(9, Nanos(99), 1, Stream::Attack), poisson(9, Nanos(99), 1, Stream::Innocent));
    }

    #[test]
    fn times_of_a_trace_are_stretched() {
        let own = [0, 10, 10, 30].map(Nanos);
        let users = of_users(Arrivals::Trace, 4, 400, Some(&own), GBPS, 1).unwrap();
        assert_eq!((times(users.pace, 4), users.end), (vec![0, 100, 100, 300], Nanos(400)));
        let said = |times: Option<&[Nanos]>| {
            of_users(Arrivals::Trace, 4, 400, times, GBPS, 1).unwrap_err().to_string()
        };
        assert!(said(None).contains("needs a trace with times"));
        assert!(said(Some(&[Nanos(0); 4])).contains("all packets come at one instant"));
    }

    #[test]
    fn rates_that_make_no_sense_are_refused() {
        assert!(
            duration(1, BitsPerSec(u64::MAX)).unwrap_err().to_string().contains("less than a nanosecond")
        );
        assert!(
            duration(u64::MAX, BitsPerSec(1)).unwrap_err().to_string().contains("more than a hundred years")
        );
        let many = of_attack(Arrivals::Even, 1, BitsPerSec(u64::MAX), Nanos(1 << 40), 1).unwrap_err();
        assert!(many.to_string().contains("more than 2^34 are not simulated"), "{many}");
    }
}
