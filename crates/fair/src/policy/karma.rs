//! Credits for what is lent.

use trueplane_units::Nanos;

use super::periodic::{Ledger, Periodic};
use crate::Cluster;

/// Karma: who lends to others what is its own earns credits, who borrows pays them, and who has most of them borrows first.
///
/// In the paper resources are slices of one kind, given anew in every quantum. With fair share f and a part α of it guaranteed, every
/// user receives (1 − α)·f credits for each quantum; it gets what it demands up to g = α·f; the rest of the guarantees (*donated*
/// slices) and the (1 − α)·f of everybody (*shared* slices) are lent slice by slice, each for one credit, to the borrower with the most
/// credits, donated slices before shared ones, and the credit for a donated slice goes to the donor with the fewest. With weights a
/// slice costs 1/(n·w) credits for a user whose part of all weights is w.
///
/// Tasks are not divisible, not preempted, and need several resources. Hence:
///
/// - What a user has is its dominant share, and all accounts are in shares over weights, as integers in units of
///   [`WHOLE`](crate::cluster::WHOLE): the price of 1/(n·w), but for a constant factor. A credit is one such unit for one quantum.
/// - Who has less than g goes before who has not; then whoever has the most credits after payment for what it has above g now, as in
///   the paper every slice that it gets makes it poorer before the next one is given.
/// - Quanta are settled by what is held at their end. A user pays for what it has above g; all that it has not of g is donated,
///   also when it waits for it, because it is with others who cannot be made to give it back.
/// - Donors earn no more than what is borrowed: those with the fewest credits first, each until it has as many as the next or has
///   been paid for all that it donates. What cannot be divided into equal whole parts among equals (less than a unit for each) is
///   nobody's. Dominant shares are of different resources and need not add up to the whole, so that there is no separate account of
///   shared slices.
/// - Running tasks are never stopped: credits may become negative, and who has none may still borrow what nobody else wants. All begin
///   with none, as only differences count.
///
/// Cost: that of [`Periodic`], and O(n log n) for n users in a quantum in which something happened. Quanta in which nothing did are
/// settled together for as long as all donors earn the same in each, which changes when the credits of one come up with those of
/// another: O(n) times in a span, however long.
///
/// Source: Vuppalapati et al., *Karma: Resource Allocation for Dynamic Demands*, OSDI 2023, §3.
pub type Karma = Periodic<Credits>;

/// The settings of [`Karma`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct KarmaOptions {
    /// The part α of a fair share that is guaranteed, from 0 to 1; the default is a half.
    pub guaranteed: f64,
    /// Quanta; a minute by default. The paper's slices are given anew every second; tasks are kept for minutes.
    pub quantum: Nanos,
}

impl Default for KarmaOptions {
    fn default() -> Self {
        Self { guaranteed: 0.5, quantum: Nanos(60_000_000_000) }
    }
}

/// Why there is no such policy.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum KarmaError {
    /// A part that is none.
    #[error("expected a guaranteed part from 0 to 1, found {0}")]
    Guaranteed(f64),
    /// There would be no end of quanta.
    #[error("expected a quantum longer than zero")]
    Quantum,
}

/// The accounts of [`Karma`].
#[derive(Clone, Debug)]
pub struct Credits {
    cluster: Cluster,
    /// g, and what everybody receives for a quantum: (1 − α)·f.
    guaranteed: i128,
    free: i128,
    ended: u64,
    accounts: Vec<Account>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Account {
    credits: i128,
    /// The dominant share.
    share: i128,
}

impl Karma {
    /// Credits for the users of `cluster`.
    ///
    /// # Errors
    ///
    /// The guaranteed part is not within 0 and 1, or the quantum is zero.
    pub fn new(cluster: &Cluster, options: KarmaOptions) -> Result<Self, KarmaError> {
        if !(0.0..=1.0).contains(&options.guaranteed) {
            return Err(KarmaError::Guaranteed(options.guaranteed));
        }
        if options.quantum.0 == 0 {
            return Err(KarmaError::Quantum);
        }
        let fair = cluster.fair_share();
        // Rounded once, as shares are: who holds exactly its guarantee holds exactly this.
        let (part, of) = fraction(options.guaranteed);
        let guaranteed = cluster.part_of_fair_share(part, of);
        let ledger = Credits {
            cluster: cluster.clone(),
            guaranteed: guaranteed.into(),
            free: (fair - guaranteed).into(),
            ended: 0,
            accounts: vec![Account::default(); cluster.users()],
        };
        Ok(Self::over(ledger, options.quantum, cluster.users()))
    }
}

impl Credits {
    /// The credits of `user` after the last quantum that was told to have ended.
    pub fn credits(&self, user: u32) -> i128 {
        self.accounts[user as usize].credits
    }

    /// Guaranteed share of every user, over its weight, in units of [`WHOLE`](crate::cluster::WHOLE).
    pub fn guaranteed(&self) -> u64 {
        self.guaranteed as u64
    }

    fn donors(&self) -> Vec<Donor> {
        let donor = |(user, account): (usize, &Account)| {
            let donated = self.guaranteed - account.share;
            let weight = self.cluster.weight_or_zero(user as u32).into();
            (donated > 0).then_some(Donor { user, weight, credits: account.credits, donated, earned: 0 })
        };
        self.accounts.iter().enumerate().filter_map(donor).collect()
    }

    /// Pays the donors for so many quanta, in each of which `lent` shares have been lent.
    fn pay(&mut self, lent: i128, mut quanta: i128) {
        let mut donors = self.donors();
        let donated: i128 = donors.iter().map(|donor| donor.weight * donor.donated).sum();
        while quanta > 0 && !donors.is_empty() {
            let alike = if donated <= lent {
                donors.iter_mut().for_each(|donor| donor.earned = donor.donated);
                quanta
            } else {
                let level = level(&donors, lent);
                donors
                    .iter_mut()
                    .for_each(|donor| donor.earned = (level - donor.credits).clamp(0, donor.donated));
                alike(&donors, level, quanta)
            };
            donors.iter_mut().for_each(|donor| donor.credits += donor.earned * alike);
            quanta -= alike;
        }
        for donor in donors {
            self.accounts[donor.user].credits = donor.credits;
        }
    }
}

impl Ledger for Credits {
    /// Whether it has its guarantee, and its debts after payment.
    type Key = (bool, i128);

    fn pass(&mut self, period: u64) {
        let quanta = i128::from(period - self.ended);
        self.ended = period;
        let (mut lent, guaranteed, free) = (0, self.guaranteed, self.free);
        for (user, account) in self.accounts.iter_mut().enumerate() {
            let borrowed = (account.share - guaranteed).max(0);
            account.credits += (free - borrowed) * quanta;
            lent += borrowed * i128::from(self.cluster.weight_or_zero(user as u32));
        }
        if lent > 0 {
            self.pay(lent, quanta);
        }
    }

    fn hold(&mut self, user: u32, held: &[u64], _now: Nanos) {
        self.accounts[user as usize].share = self.cluster.dominant_share_of_known(user, held).into();
    }

    fn key(&self, user: u32) -> (bool, i128) {
        let account = &self.accounts[user as usize];
        let borrowed = (account.share - self.guaranteed).max(0);
        (account.share >= self.guaranteed, borrowed - account.credits)
    }
}

/// The simplest fraction that `number`, from 0 to 1, is the nearest floating-point number to: 1/3 and 1/10 are none themselves. By its
/// continued fraction.
fn fraction(number: f64) -> (u64, u64) {
    const ONE: u64 = 1 << 53;
    // The last two fractions, and what is left of the number.
    let ((mut p0, mut q0), (mut p, mut q), mut rest) = ((1, 0), (0, 1), number);
    while p as f64 / q as f64 != number {
        rest = rest.recip();
        let whole = rest as u64;
        rest -= whole as f64;
        let next = |last: u64, before: u64| whole.checked_mul(last)?.checked_add(before);
        match (next(p, p0), next(q, q0)) {
            (Some(p1), Some(q1)) if q1 < ONE => ((p0, q0), (p, q)) = ((p, q), (p1, q1)),
            // There is none of numbers that floating point has: the number itself, to 2⁻⁵³.
            _ => return ((number * ONE as f64) as u64, ONE),
        }
    }
    (p, q)
}

/// A user who has less than its guarantee.
#[derive(Clone, Copy, Debug)]
struct Donor {
    user: usize,
    weight: i128,
    credits: i128,
    /// Part of the guaranteed share that the user does not use; more than zero.
    donated: i128,
    /// Credits earned in the quantum that is settled, at most `donated`.
    earned: i128,
}

/// The highest level to which all may be raised, each by what it has donated at most, with no more than `lent`, which is less than
/// all have donated together.
fn level(donors: &[Donor], lent: i128) -> i128 {
    let begin = donors.iter().map(|donor| (donor.credits, donor.weight));
    let end = donors.iter().map(|donor| (donor.credits + donor.donated, -donor.weight));
    let mut changes: Vec<_> = begin.chain(end).collect();
    changes.sort_unstable();
    let (mut level, mut slope, mut spent) = (changes[0].0, 0, 0);
    for (at, change) in changes {
        let all = spent + slope * (at - level);
        if all > lent {
            break;
        }
        (level, spent, slope) = (at, all, slope + change);
    }
    if slope > 0 { level + (lent - spent) / slope } else { level }
}

/// For how many of `quanta` everybody earns what it does in the first of them, in which it is raised to `level`.
///
/// Those who are raised to it rise together by the same. Those who are paid for all and stay below it, and those who are above it and
/// earn nothing, do so until they meet it.
fn alike(donors: &[Donor], level: i128, quanta: i128) -> i128 {
    let partly = |donor: &&Donor| donor.earned > 0 && donor.earned < donor.donated;
    let rise = donors.iter().find(partly).map_or(0, |donor| donor.earned);
    if donors.iter().filter(partly).any(|donor| donor.earned != rise) {
        return 1;
    }
    let more = |donor: &Donor| {
        if donor.earned == donor.donated {
            let gap = level - donor.credits - donor.donated;
            (donor.donated > rise).then(|| gap / (donor.donated - rise))
        } else if donor.earned == 0 {
            (rise > 0).then(|| (donor.credits - level) / rise)
        } else {
            None
        }
    };
    donors.iter().filter_map(more).min().map_or(quanta, |more| quanta.min(more + 1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Policy;
    use crate::cluster::{MOST_WEIGHT, WHOLE};

    const W: i128 = WHOLE as i128;

    /// Four users of one resource, of which there are 16.
    fn four() -> Karma {
        let cluster = Cluster::new(vec![16], vec![1; 4]).unwrap();
        Karma::new(&cluster, KarmaOptions { quantum: Nanos(10), ..KarmaOptions::default() }).unwrap()
    }

    fn credits(karma: &Karma) -> Vec<i128> {
        (0..4).map(|user| karma.ledger().credits(user)).collect()
    }

    #[test]
    fn who_borrows_pays_and_who_lends_earns() {
        let mut karma = four();
        assert_eq!(i128::from(karma.ledger().guaranteed()), W / 8);
        // Three eighths above what is guaranteed; nothing; what is guaranteed; half of it.
        for (user, held) in [(0, 8), (1, 0), (2, 2), (3, 1)] {
            karma.hold(user, &[held], Nanos(3));
        }
        karma.first(Nanos(9));
        assert_eq!(credits(&karma), [0; 4], "no quantum has ended");
        karma.first(Nanos(20));
        // Free credits of an eighth for each of two quanta. More is borrowed than donated: all donors are paid for all.
        assert_eq!(credits(&karma), [-W / 2, W / 2, W / 4, 3 * W / 8]);
    }

    #[test]
    fn the_poorest_donors_earn_first() {
        let mut karma = four();
        for (user, held) in [(0, 8), (1, 0), (2, 2), (3, 1)] {
            karma.hold(user, &[held], Nanos(0));
        }
        // From here on a sixteenth is borrowed in each quantum, and three eighths are donated.
        for (user, held) in [(0, 3), (2, 0), (3, 0)] {
            karma.hold(user, &[held], Nanos(20));
        }
        let mut slow = karma.clone();
        karma.first(Nanos(40));
        // User 2 has earned alone, and has caught up with user 3.
        assert_eq!(credits(&karma), [-3 * W / 8, 3 * W / 4, 5 * W / 8, 5 * W / 8]);
        karma.first(Nanos(80));
        assert_eq!(credits(&karma), [-W / 8, 5 * W / 4, 5 * W / 4, 5 * W / 4]);
        karma.first(Nanos(90));
        // A sixteenth among three, less the unit that cannot be divided.
        let each = 5 * W / 4 + W / 8 + W / 16 / 3;
        assert_eq!(credits(&karma), [-W / 16, each, each, each]);
        for now in 20..=90 {
            slow.first(Nanos(now));
        }
        assert_eq!(credits(&karma), credits(&slow));
        // Six hundred years of nanoseconds, each a quantum.
        let cluster = Cluster::new(vec![16], vec![1; 4]).unwrap();
        let mut long =
            Karma::new(&cluster, KarmaOptions { quantum: Nanos(1), ..KarmaOptions::default() }).unwrap();
        long.hold(0, &[3], Nanos(0));
        long.first(Nanos::MAX);
        assert_eq!(long.ledger().credits(1), i128::from(u64::MAX) * (W / 8 + W / 16 / 3));
    }

    #[test]
    fn guarantees_go_first_and_then_credits() {
        let mut karma = four();
        for (user, held) in [(0, 8), (1, 0), (2, 2), (3, 1)] {
            karma.hold(user, &[held], Nanos(0));
            karma.wait(user, 3 - u64::from(user), Nanos(0));
        }
        let order = |karma: &mut Karma, now| {
            let first = karma.first(now);
            std::iter::successors(first, |&user| karma.after(user)).collect::<Vec<_>>()
        };
        // 3 and 1 have less than their guarantee, and no credits, as nobody has: by ticket. 0 has borrowed.
        assert_eq!(order(&mut karma, Nanos(0)), [3, 1, 2, 0]);
        // 1 has lent more than 3.
        assert_eq!(order(&mut karma, Nanos(10)), [1, 3, 2, 0]);
        // What it takes above its guarantee is paid as it takes it: 1 is rich, but not after half of the cluster.
        karma.hold(1, &[2], Nanos(11));
        karma.hold(3, &[2], Nanos(11));
        assert_eq!(order(&mut karma, Nanos(11)), [1, 3, 2, 0]);
        karma.hold(1, &[3], Nanos(11));
        assert_eq!(order(&mut karma, Nanos(11)), [3, 1, 2, 0]);
    }

    #[test]
    fn a_heavier_user_pays_less_for_the_same() {
        // Parts of 1/4 and 3/4; nothing is guaranteed.
        let cluster = Cluster::new(vec![12], vec![1, 3]).unwrap();
        let options = KarmaOptions { guaranteed: 0.0, quantum: Nanos(1) };
        let mut karma = Karma::new(&cluster, options).unwrap();
        karma.hold(0, &[6], Nanos(0));
        karma.hold(1, &[6], Nanos(0));
        karma.first(Nanos(1));
        // Both have received a quarter, and paid a half and a third of it.
        assert_eq!(karma.ledger().credits(0), W / 4 - W / 2);
        let sixth = i128::from(cluster.share_of_known(1, 0, 6));
        assert_eq!(karma.ledger().credits(1), W / 4 - sixth);
    }

    #[test]
    fn a_part_is_the_fraction_that_was_meant() {
        for part in [(0, 1), (1, 1), (1, 2), (1, 3), (1, 10), (999, 1000), (123_457, 1_000_000), (1, 999_999)]
        {
            assert_eq!(fraction(part.0 as f64 / part.1 as f64), part);
        }
        for number in [1e-300, 5e-324, 1.0 - f64::EPSILON / 2.0, std::f64::consts::FRAC_1_PI] {
            let (part, of) = fraction(number);
            assert!((part as f64 / of as f64 - number).abs() <= f64::EPSILON / 2.0, "{number}");
        }
    }

    /// α of 1/n of n users: who holds exactly that is no donor, and not before others; who holds a unit less is both.
    #[test]
    fn who_holds_exactly_the_guarantee_is_not_below_it() {
        for (part, of) in [
            (1u32, 2u32),
            (1, 3),
            (2, 3),
            (1, 10),
            (3, 10),
            (7, 10),
            (999, 1000),
            (123_457, 1_000_000),
            (1, 1),
        ] {
            let options = KarmaOptions { guaranteed: f64::from(part) / f64::from(of), ..Default::default() };
            for users in 1..=1000u32 {
                let capacity = u64::from(users) * u64::from(of);
                let cluster = Cluster::new(vec![capacity, 3 * capacity], vec![1; users as usize]).unwrap();
                let mut karma = Karma::new(&cluster, options).unwrap();
                let exactly = u64::from(part);
                for held in [[exactly, 0], [0, 3 * exactly]] {
                    karma.hold(0, &held, Nanos(0));
                    assert_eq!(karma.ledger().key(0), (true, 0), "{part}/{of} of 1/{users}");
                }
                karma.hold(0, &[exactly - 1, 3 * exactly - 1], Nanos(0));
                assert!(!karma.ledger().key(0).0, "{part}/{of} of 1/{users}, less one");
            }
            for weight in (1..=700u32).chain([MOST_WEIGHT]) {
                let capacity = u64::from(of) * (u64::from(weight) + 8);
                let cluster = Cluster::new(vec![capacity], vec![weight, 8]).unwrap();
                let mut karma = Karma::new(&cluster, options).unwrap();
                for (user, weight) in [(0, weight), (1, 8)] {
                    karma.hold(user, &[u64::from(part) * u64::from(weight)], Nanos(0));
                    assert_eq!(karma.ledger().key(user), (true, 0), "{part}/{of}, weight {weight}");
                }
            }
        }
    }

    #[test]
    fn what_is_no_option_is_refused() {
        let cluster = Cluster::new(vec![1], vec![]).unwrap();
        let options = KarmaOptions::default();
        assert!(Karma::new(&cluster, options).is_ok());
        for guaranteed in [-0.1, 1.1, f64::NAN] {
            assert!(Karma::new(&cluster, KarmaOptions { guaranteed, ..options }).is_err());
        }
        assert_eq!(
            Karma::new(&cluster, KarmaOptions { quantum: Nanos(0), ..options }).unwrap_err(),
            KarmaError::Quantum
        );
    }
}
