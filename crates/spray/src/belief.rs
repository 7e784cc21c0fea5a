//! What is believed: that hashing spreads flows evenly, and that m cores do m times as much as one.

/// Flows up to which the busiest core's share is computed exactly.
const EXACT: u64 = 256;

/// The expected number of cores that have any of `flows` flows, if each goes to one of `cores` at random. O(1).
pub fn busy_cores(flows: u64, cores: usize) -> f64 {
    let cores = cores as f64;
    cores * (1.0 - (1.0 - 1.0 / cores).powf(flows as f64))
}

/// The expected share of `flows` flows that the core has which has most of them, at random: balls into bins. 1 / cores is what is believed.
///
/// Up to 256 flows exactly: the number of ways to put n flows into m cores with k in each at most is n! times the coefficient of xⁿ of
/// (1 + x + x²/2! + … + xᵏ/k!)ᵐ. Beyond that n/m + √(2 (n/m) ln m) (M. Raab and A. Steger, 1998), which is an upper estimate.
/// O(n³ log m) at worst.
pub fn busiest_share(flows: u64, cores: usize) -> f64 {
    if flows == 0 || cores <= 1 {
        return 1.0;
    }
    let (n, m) = (flows as f64, cores as f64);
    if flows > EXACT {
        return ((n / m + (2.0 * n / m * m.ln()).sqrt()) / n).min(1.0);
    }
    // E[max] = Σ P(max > k) over k ≥ 0.
    let expected: f64 = (0..flows).map(|most| 1.0 - at_most(flows as usize, cores, most as usize)).sum();
    expected / n
}

/// The probability that no core has more than `most` flows: cores one after the other, each with a binomial share of the flows that are left.
fn at_most(flows: usize, cores: usize, most: usize) -> f64 {
    if most * cores < flows {
        return 0.0;
    }
    // left[r]: no core so far has too many, and r flows are left.
    let mut left = vec![0.0; flows + 1];
    left[flows] = 1.0;
    for others in (1..cores).rev() {
        let share = 1.0 / (others + 1) as f64;
        let mut after = vec![0.0; flows + 1];
        for (remaining, &probability) in left.iter().enumerate().filter(|(_, of)| **of > 1e-18) {
            let mut term = (1.0 - share).powi(remaining as i32) * probability;
            for taken in 0..=most.min(remaining) {
                after[remaining - taken] += term;
                term *= (remaining - taken) as f64 / (taken + 1) as f64 * share / (1.0 - share);
            }
        }
        left = after;
    }
    left.iter().take(most + 1).sum::<f64>().min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Expected values by enumeration of all assignments of flows to cores.
    fn naive(flows: u32, cores: usize) -> (f64, f64) {
        let ways = cores.pow(flows);
        let (mut busy, mut most) = (0, 0);
        for mut way in 0..ways {
            let mut counts = vec![0; cores];
            for _ in 0..flows {
                counts[way % cores] += 1;
                way /= cores;
            }
            busy += counts.iter().filter(|&&count| count > 0).count();
            most += counts.iter().max().copied().unwrap_or(0);
        }
        (busy as f64 / ways as f64, most as f64 / ways as f64 / f64::from(flows))
    }

    #[test]
    fn expectations_are_those_of_all_ways() {
        for (flows, cores) in [(1, 4), (2, 2), (3, 4), (5, 3), (8, 4), (6, 5)] {
            let (busy, share) = naive(flows, cores);
            assert!((busy_cores(flows.into(), cores) - busy).abs() < 1e-9);
            assert!((busiest_share(flows.into(), cores) - share).abs() < 1e-9, "{flows} {cores}");
        }
    }

    #[test]
    fn the_share_falls_towards_the_belief() {
        let shares = [1, 2, 8, 64, 256, 257, 100_000].map(|flows| busiest_share(flows, 8));
        assert_eq!(shares[0], 1.0);
        assert!(shares.windows(2).all(|pair| pair[1] < pair[0] + 0.02), "{shares:?}");
        assert!(shares[6] > 0.125 && shares[6] < 0.13);
        assert_eq!(busiest_share(5, 1), 1.0);
    }
}
