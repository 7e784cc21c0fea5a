//! Usage that is cut to whole thousandths of a unit at every sample.

/// Usage and holdings of each user and resource, in thousandths of a unit.
///
/// Every sample makes ⌊q·used⌋ + ⌊A·held⌋ of it, resource by resource, as Kueue did until the fix of its issue 13596. Both cuts hide
/// usage: who holds less than 1/A thousandths of a resource gains nothing at a sample, ever; and whatever is there loses a thousandth
/// too much at each, so that steady usage comes to rest by as much as 2/A thousandths below what is held. With samples every five
/// minutes and a half-life of a week 1/A is 2909: two processors are invisible, and ten look like six.
#[derive(Clone, Debug)]
pub(super) struct Milli {
    resources: usize,
    kept: f64,
    lost: f64,
    /// Thousandths in one of the cluster's units, resource by resource.
    thousandths: Vec<f64>,
    used: Vec<u64>,
    held: Vec<u64>,
}

impl Milli {
    /// `lost` is A; `units` says how many units one of the cluster's is.
    pub(super) fn new(users: usize, units: &[f64], lost: f64) -> Self {
        let resources = units.len();
        let none = vec![0; users * resources];
        let thousandths = units.iter().map(|unit| unit * 1e3).collect();
        Self { resources, kept: 1.0 - lost, lost, thousandths, used: none.clone(), held: none }
    }

    /// Applies `samples` samples. O(1) for whatever does not change any more, else O(samples); what changes comes to rest after
    /// O(log(used)/A) of them.
    pub(super) fn pass(&mut self, samples: u64) {
        for (used, &held) in self.used.iter_mut().zip(&self.held) {
            let gain = part(held, self.lost);
            for _ in 0..samples {
                let next = part(*used, self.kept).saturating_add(gain);
                if next == *used {
                    break;
                }
                *used = next;
            }
        }
    }

    /// `user` holds `held`; if `penalty`, what has been added is charged as if a sample had seen it.
    pub(super) fn hold(&mut self, user: u32, held: &[u64], penalty: bool) {
        let first = user as usize * self.resources;
        for (resource, &amount) in held.iter().enumerate().take(self.resources) {
            let at = first + resource;
            let amount = part(amount, self.thousandths[resource]);
            if penalty {
                let more = part(amount.saturating_sub(self.held[at]), self.lost);
                self.used[at] = self.used[at].saturating_add(more);
            }
            self.held[at] = amount;
        }
    }

    /// Usage of `user`, in thousandths of each resource.
    pub(super) fn used(&self, user: u32) -> &[u64] {
        &self.used[user as usize * self.resources..][..self.resources]
    }
}

/// `part` of `amount`, cut to a whole number.
fn part(amount: u64, part: f64) -> u64 {
    (amount as f64 * part) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_usage_is_lost_and_large_usage_looks_smaller() {
        // Samples every five minutes, a half-life of a week.
        let lost = 1.0 - 0.5f64.powf(5.0 / (7.0 * 24.0 * 60.0));
        let mut milli = Milli::new(3, &[1.0], lost);
        for (user, processors) in [2, 3, 10].into_iter().enumerate() {
            milli.hold(user as u32, &[processors], true);
        }
        // Two processors are 0.69 thousandths at a time; three are 1.03, which is 1, and 1 loses all of itself at every sample.
        assert_eq!((milli.used(0), milli.used(1), milli.used(2)), (&[0][..], &[1][..], &[3][..]));
        milli.pass(1_000_000);
        assert_eq!((milli.used(0), milli.used(1)), (&[0][..], &[1][..]));
        // Ten gain 3 at a time, until what is there loses 3, which it does as soon as it is more than 2/A = 5817.96.
        assert_eq!(milli.used(2), &[5818]);
        milli.hold(2, &[0], true);
        milli.pass(1_000_000);
        assert_eq!(milli.used(2), &[0]);
    }

    #[test]
    fn ten_processors_for_a_day_are_gone_after_two() {
        let lost = 1.0 - 0.5f64.powf(5.0 / (7.0 * 24.0 * 60.0));
        let mut milli = Milli::new(1, &[1.0], lost);
        milli.hold(0, &[10], true);
        milli.pass(288);
        // 943 without the cuts: 3 at the start, and at every sample 3 more of which one is lost at the next.
        assert_eq!(milli.used(0), &[3 + 288 * 2]);
        milli.hold(0, &[0], true);
        milli.pass(578);
        assert_eq!(milli.used(0), &[1]);
        milli.pass(1);
        assert_eq!(milli.used(0), &[0]);
    }

    #[test]
    fn many_samples_at_once_are_many_samples() {
        let mut milli = Milli::new(1, &[0.5, 2.0], 0.25);
        milli.hold(0, &[40, 1], true);
        // 20000 and 2000 thousandths; a quarter is charged at once.
        assert_eq!(milli.used(0), &[5000, 500]);
        let mut other = milli.clone();
        milli.pass(2);
        other.pass(1);
        assert_eq!(other.used(0), &[3750 + 5000, 375 + 500]);
        other.pass(1);
        assert_eq!(milli.used(0), other.used(0));
        assert_eq!(milli.used(0), &[6562 + 5000, 656 + 500]);
    }
}
