//! Products of three 64-bit factors, compared and subtracted exactly.
//!
//! Ranks that are fractions are compared by cross-multiplication, which leaves the 128 bits of the language behind in
//! rare cases. The common case stays within them.

use std::cmp::Ordering;

/// A product of three factors: 192 bits, least significant limb first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Product([u64; 3]);

impl Product {
    /// The product of all factors, exactly.
    #[inline]
    pub fn of(factors: [u64; 3]) -> Self {
        let mut limbs = [1, 0, 0];
        for factor in factors {
            let mut carry = 0u64;
            for limb in &mut limbs {
                let wide = u128::from(*limb) * u128::from(factor) + u128::from(carry);
                *limb = wide as u64;
                carry = (wide >> 64) as u64;
            }
        }
        Self(limbs)
    }

    /// `self − other` as the nearest floating-point number, after an exact subtraction; zero if `other` is larger.
    #[inline]
    pub fn excess_over(self, other: Self) -> f64 {
        if self < other {
            return 0.0;
        }
        let mut borrow = false;
        let mut value = 0.0;
        let mut scale = 1.0;
        for (a, b) in self.0.into_iter().zip(other.0) {
            let (difference, first) = a.overflowing_sub(b);
            let (difference, second) = difference.overflowing_sub(u64::from(borrow));
            borrow = first || second;
            value += difference as f64 * scale;
            scale *= 2f64.powi(64);
        }
        value
    }
}

impl Ord for Product {
    #[inline]
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.iter().rev().cmp(other.0.iter().rev())
    }
}

impl PartialOrd for Product {
    #[inline]
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// The product in 128 bits, if the factors' lengths promise that it fits.
#[inline]
fn short(factors: [u64; 3]) -> Option<u128> {
    let bits: u32 = factors.iter().map(|factor| 64 - factor.leading_zeros()).sum();
    (bits <= 128).then(|| factors.into_iter().map(u128::from).product())
}

/// Compares the product of `a` with the product of `b`, exactly.
#[inline]
pub fn compare(a: [u64; 3], b: [u64; 3]) -> Ordering {
    match (short(a), short(b)) {
        (Some(a), Some(b)) => a.cmp(&b),
        _ => Product::of(a).cmp(&Product::of(b)),
    }
}

/// The product of `a` minus the product of `b`, exact before it is rounded, to within 2⁻⁵¹ of it; zero if `b`'s is larger.
#[inline]
pub fn excess(a: [u64; 3], b: [u64; 3]) -> f64 {
    match (short(a), short(b)) {
        (Some(a), Some(b)) => {
            let difference = a.saturating_sub(b);
            // The whole is converted by a function of many instructions, the halves by few.
            (difference >> 64) as u64 as f64 * 2f64.powi(64) + difference as u64 as f64
        }
        _ => Product::of(a).excess_over(Product::of(b)),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_largest_factors_do_not_overflow() {
        let top = [u64::MAX; 3];
        let almost = [u64::MAX, u64::MAX, u64::MAX - 1];
        assert_eq!(compare(top, almost), Ordering::Greater);
        assert_eq!(compare(top, top), Ordering::Equal);
        assert_eq!(excess(top, almost), (u64::MAX as f64).powi(2));
    }

    proptest! {
        #[test]
        fn long_and_short_products_agree(a: [u32; 3], b: [u32; 3]) {
            let wide = |factors: [u32; 3]| factors.map(u64::from);
            let exact = |factors: [u32; 3]| factors.iter().map(|&factor| u128::from(factor)).product::<u128>();
            prop_assert_eq!(compare(wide(a), wide(b)), exact(a).cmp(&exact(b)));
            prop_assert_eq!(Product::of(wide(a)).cmp(&Product::of(wide(b))), exact(a).cmp(&exact(b)));
            let difference = exact(a).saturating_sub(exact(b)) as f64;
            let error = (Product::of(wide(a)).excess_over(Product::of(wide(b))) - difference).abs();
            prop_assert!(error <= difference * 1e-15);
        }
    }
}
