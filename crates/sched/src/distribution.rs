//! How often which rank comes: tables of whole weights, and draws from them.
//!
//! The table is all there is to know about a distribution: the packets of a run are drawn from it, and it is what the fixed and the
//! optimal bounds and the expected unpifoness are computed from.

use std::fmt;
use std::str::FromStr;

use rand::Rng as _;
use rand_xoshiro::Xoshiro256PlusPlus;
use trueplane_units::{Choice as _, choices};

/// The widest span of ranks whose distribution can be known: every rank is one of 0 to 2¹⁸ − 1.
pub const MOST_SPAN: u64 = 1 << 18;

/// Without another, a span has so many ranks.
const USUAL_SPAN: u64 = 100;

/// The weights of a distribution that is no even one sum to about this, so that the chances that they stand for are off by less
/// than 2⁻³⁰.
const RESOLUTION: f64 = (1u64 << 30) as f64;

choices! {
    /// The shape of a distribution over a span of ranks. The paper names them (§4.2.2) and gives no parameters: these are ours.
    pub enum Shape {
        /// Every rank as often as every other.
        Uniform = "uniform",
        /// e^(−4 r / span): exponential with a mean of a quarter of the span, cut off at its end.
        Exponential = "exponential",
        /// The mirror image of [`Shape::Exponential`].
        InverseExponential = "inverse-exponential",
        /// Poisson with a mean of half the span, cut off at its end.
        Poisson = "poisson",
        /// A parabola whose minimum, zero, is in the middle of the span.
        Convex = "convex",
    }
}

/// A shape over the ranks from 0 to below a span.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Distribution {
    shape: Shape,
    span: u64,
}

/// Not a distribution.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected a span of 1 to {MOST_SPAN} ranks such as {shape}:100, got \"{found}\"")]
pub struct ParseSpanError {
    shape: &'static str,
    found: String,
}

impl Distribution {
    /// `shape` over `span` ranks; `None` if the span is zero or wider than [`MOST_SPAN`].
    pub fn new(shape: Shape, span: u64) -> Option<Self> {
        (1..=MOST_SPAN).contains(&span).then_some(Self { shape, span })
    }

    /// `shape` over a hundred ranks, as in the paper (§4.2.1).
    pub fn usual(shape: Shape) -> Self {
        Self { shape, span: USUAL_SPAN }
    }

    /// The distribution that `text` names, `uniform` or `uniform:100`; `None` if it names no shape.
    pub fn parse(text: &str) -> Option<Result<Self, ParseSpanError>> {
        let (name, span) = match text.split_once(':') {
            Some((name, span)) => (name, Some(span)),
            None => (text, None),
        };
        let shape = Shape::from_name(name).ok()?;
        let Some(span) = span else { return Some(Ok(Self::usual(shape))) };
        let parsed = u64::from_str(span).ok().and_then(|span| Self::new(shape, span));
        Some(parsed.ok_or_else(|| ParseSpanError { shape: shape.name(), found: span.to_owned() }))
    }

    /// The shape.
    pub fn shape(self) -> Shape {
        self.shape
    }

    /// All ranks are below this.
    pub fn span(self) -> u64 {
        self.span
    }

    /// Weights of all ranks of the span, relative to each other: not all of them zero.
    pub fn weights(self) -> Vec<u64> {
        let span = self.span as f64;
        let mut weights: Vec<f64> = match self.shape {
            Shape::Uniform => return vec![1; self.span as usize],
            Shape::Exponential | Shape::InverseExponential => {
                (0..self.span).map(|rank| (-4.0 * rank as f64 / span).exp()).collect()
            }
            Shape::Poisson => poisson(self.span),
            // Twice the distance from the middle, so that an even span has whole numbers too.
            Shape::Convex => (0..self.span).map(|rank| (2.0 * rank as f64 - (span - 1.0)).powi(2)).collect(),
        };
        if self.shape == Shape::InverseExponential {
            weights.reverse();
        }
        let sum: f64 = weights.iter().sum();
        if sum == 0.0 {
            return vec![1; self.span as usize];
        }
        weights.iter().map(|weight| (weight / sum * RESOLUTION).round() as u64).collect()
    }
}

/// The chances of a Poisson distribution with the mean `span` / 2, relative to the largest of them.
fn poisson(span: u64) -> Vec<f64> {
    let mean = span as f64 / 2.0;
    // From the logarithm of one to that of the next: p(r) = p(r − 1) · mean / r.
    let mut logs = vec![0.0; span as usize];
    for rank in 1..logs.len() {
        logs[rank] = logs[rank - 1] + (mean / rank as f64).ln();
    }
    let most = logs.iter().copied().fold(f64::MIN, f64::max);
    logs.iter().map(|log| (log - most).exp()).collect()
}

impl fmt::Display for Distribution {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&format!("{}:{}", self.shape.name(), self.span))
    }
}

/// Draws ranks as often as their weights say, each in constant time.
///
/// Every rank has a column of one height; what its weight lacks is filled up with a part of another rank that has too much. A draw
/// is a column, and a place in it, from 64 random bits: chances are off by less than 2⁻³².
///
/// Source: Walker, *An efficient method for generating discrete random variables with general distributions*, ACM TOMS 1977; built
/// as in Vose, *A linear algorithm for generating random numbers with a given distribution*, IEEE TSE 1991, in whole numbers.
#[derive(Clone, Debug)]
pub struct AliasTable {
    /// The height of a column.
    total: u64,
    columns: Box<[Column]>,
}

#[derive(Clone, Copy, Debug)]
struct Column {
    /// Below this it is the column's own rank, from there on the other.
    own: u64,
    other: u32,
}

impl AliasTable {
    /// Draws from `weights`, which sum to 1 to 2³² and are at most 2³¹.
    ///
    /// # Panics
    /// If they do not.
    pub fn new(weights: &[u64]) -> Self {
        let total: u64 = weights.iter().sum();
        assert!((1..=1 << 32).contains(&total) && weights.len() < 1 << 31, "weights sum to 1 to 2^32");
        let count = weights.len() as u64;
        let mut columns: Box<[Column]> =
            (0..).zip(weights).map(|(rank, weight)| Column { own: weight * count, other: rank }).collect();
        let (mut small, mut large): (Vec<u32>, Vec<u32>) =
            (0..count as u32).partition(|&rank| columns[rank as usize].own < total);
        while let (Some(&poor), Some(&rich)) = (small.last(), large.last()) {
            small.pop();
            let lacks = total - columns[poor as usize].own;
            columns[poor as usize].other = rich;
            let left = &mut columns[rich as usize].own;
            *left -= lacks;
            if *left < total {
                large.pop();
                small.push(rich);
            }
        }
        Self { total, columns }
    }

    /// The next rank.
    #[inline]
    pub fn draw(&self, random: &mut Xoshiro256PlusPlus) -> u64 {
        let bits = random.next_u64();
        let index = ((bits >> 32) * self.columns.len() as u64) >> 32;
        let place = (u128::from(bits & 0xffff_ffff) * u128::from(self.total)) >> 32;
        let column = &self.columns[index as usize];
        if (place as u64) < column.own { index } else { column.other.into() }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rand::SeedableRng as _;

    use super::*;

    fn weights(text: &str) -> Vec<u64> {
        Distribution::parse(text).expect("a shape").expect("a span").weights()
    }

    #[test]
    fn distributions_have_a_shape_and_a_span() {
        assert_eq!(Distribution::parse("uniform").unwrap().unwrap().to_string(), "uniform:100");
        assert_eq!(Distribution::parse("convex:7").unwrap().unwrap().span(), 7);
        assert!(Distribution::parse("normal").is_none());
        for bad in ["uniform:0", "uniform:", "uniform:-1", "uniform:262145", "poisson:x", "convex:1.5"] {
            assert!(Distribution::parse(bad).unwrap().is_err(), "{bad}");
        }
    }

    #[test]
    fn shapes_are_what_they_are_called() {
        assert_eq!(weights("uniform:5"), [1; 5]);
        let exponential = weights("exponential:100");
        assert!(exponential.windows(2).all(|pair| pair[0] > pair[1]));
        // A quarter of the span further on, a rank is 1/e as frequent.
        assert!((exponential[25] as f64 * std::f64::consts::E / exponential[0] as f64 - 1.0).abs() < 1e-6);
        let mirrored: Vec<u64> = exponential.iter().rev().copied().collect();
        assert_eq!(weights("inverse-exponential:100"), mirrored);
        let poisson = weights("poisson:100");
        let (sum, mean) = (poisson.iter().sum::<u64>() as f64, 50.0);
        let found = (0u64..).zip(&poisson).map(|(rank, &weight)| (rank * weight) as f64).sum::<f64>() / sum;
        assert!((found - mean).abs() < 1e-3, "{found}");
        let convex = weights("convex:101");
        assert_eq!((convex[50], convex[0]), (0, convex[100]));
        assert_eq!((weights("convex:1"), weights("poisson:1").len()), (vec![1], 1));
        for name in Shape::ALL {
            for span in [1, 2, 3, 1000, MOST_SPAN] {
                let sum: u64 = weights(&format!("{name}:{span}")).iter().sum();
                assert!((1..=1 << 32).contains(&sum), "{name}:{span}: {sum}");
            }
        }
    }

    proptest! {
        /// Added up over its columns, every rank has exactly its weight.
        #[test]
        fn an_alias_table_is_its_weights(weights in prop::collection::vec(0u64..1000, 1..50)) {
            prop_assume!(weights.iter().any(|&weight| weight > 0));
            let table = AliasTable::new(&weights);
            let mut mass = vec![0; weights.len()];
            for (rank, column) in table.columns.iter().enumerate() {
                prop_assert!(column.own <= table.total);
                mass[rank] += column.own;
                mass[column.other as usize] += table.total - column.own;
            }
            let expected: Vec<u64> = weights.iter().map(|weight| weight * weights.len() as u64).collect();
            prop_assert_eq!(mass, expected);
        }
    }

    #[test]
    fn draws_come_as_often_as_they_weigh() {
        let table = AliasTable::new(&[1, 0, 3, 4]);
        let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
        let mut counts = [0u32; 4];
        (0..80_000).for_each(|_| counts[table.draw(&mut random) as usize] += 1);
        assert_eq!(counts[1], 0);
        for (count, expected) in counts.iter().zip([10_000.0, 0.0, 30_000.0, 40_000.0]) {
            assert!((f64::from(*count) - expected).abs() < 600.0, "{counts:?}");
        }
    }
}
