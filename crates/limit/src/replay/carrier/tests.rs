//! Two phases: first the link is hostile, then it has no faults, and soon nothing tells that it ever had.

use proptest::prelude::*;
use trueplane_link::Terms;
use trueplane_units::Bytes;

use super::*;
use crate::Verdict;
use crate::classes::Class;
use crate::classifier::Match;
use crate::drain::Drain;
use crate::limiter::{Kept, Settings, Visitor, with_limiter};
use crate::policy::PolicyName;
use crate::replay::limits::{Bank, Outcome};

/// Two classes of their own and one inside another. The slowest bucket takes 30 ms for its burst.
const CLASSES: &str = r#"
[[class]]
name = "slow"
rate = "800kbps"
burst = "3000B"
mark = "1000B"
source = "10.0.1.0/24"

[[class]]
name = "both"
rate = "8Mbps"
burst = "3000B"
source = "10.0.2.0/24"

[[class]]
name = "inner"
rate = "80Mbps"
burst = "30000B"
source = "10.0.3.0/24"
inside = "both"
"#;

const LARGEST_PACKET: u32 = 1500;

/// Limits that note what they say of each packet, and the level after it of the bucket that it met and of the one around that.
struct Watched<'a, L> {
    bank: Bank<L>,
    classifier: &'a Classifier,
    said: Vec<(Verdict, bool, [Option<Bytes>; 2])>,
}

impl<L: Kept> Limits for Watched<'_, L> {
    fn offer(&mut self, matched: Match, arrival: &Arrival, now: Nanos) -> Outcome {
        let outcome = self.bank.offer(matched, arrival, now);
        let met = [Some(matched.limiter), self.classifier.parent(matched.limiter)];
        let levels = met.map(|limiter| self.occupancy(limiter?));
        self.said.push((outcome.verdict, outcome.dropped_by_outer, levels));
        outcome
    }

    fn occupancy(&self, limiter: u32) -> Option<Bytes> {
        self.bank.occupancy(limiter)
    }
}

/// The packets of a phase: gap before each in microseconds, class, and bytes.
type Packets = [(u64, u32, u32)];

/// Sends the packets of a phase from `now` on.
fn send(carrier: &mut Carrier<'_>, now: &mut u64, packets: &Packets) {
    for &(micros, class, length) in packets {
        *now += micros * 1_000;
        let matched = Some(Match { class, limiter: class, counter: 0 });
        let arrival = Arrival { time: Nanos(*now), length, matched, flow: None, ecn_capable: true };
        carrier.send(&arrival).unwrap();
    }
}

/// Time in which a full bucket and the packet after that drain, at half of the rate: that is the committed rate of two.
fn forgets(class: &Class) -> u64 {
    let bits = 8 * (class.burst.0 + u64::from(LARGEST_PACKET));
    (2 * bits * 1_000_000_000).div_ceil(class.rate.0)
}

/// What the limits say in the second phase, after a hostile link and after one that was always quiet.
struct TwoPhases<'a> {
    terms: Terms,
    seed: u64,
    hostile: &'a Packets,
    quiet: &'a Packets,
}

impl Visitor for TwoPhases<'_> {
    type Output = ();

    fn visit<L: Kept>(self, make: impl Fn(&Settings) -> Result<L, Error>) -> Result<(), Error> {
        let classes = Classes::parse("classes.toml", CLASSES).unwrap();
        let classifier = Classifier::new(&classes);
        let silence = classes.classes().iter().map(forgets).max().unwrap();
        let options = Options::default();
        let said = [self.terms, Terms::default()].map(|terms| {
            let bank = Bank::new(&classes, &classifier, &make).unwrap();
            let mut watched = Watched { bank, classifier: &classifier, said: Vec::new() };
            let mut carrier = Carrier::new(&options, &classes, &classifier, &mut watched);
            carrier.link = Some(Link::new(terms, self.seed));
            // The pace is that of the first packet.
            let mut now = 0;
            carrier.first = Some(Nanos(now));
            send(&mut carrier, &mut now, self.hostile);
            carrier.link.as_mut().unwrap().set_terms(Terms::default());
            // What is on its way arrives, and then nothing does until every bucket is as at the start.
            now += self.terms.delay + self.terms.jitter;
            carrier.deliver(now).unwrap();
            now += silence;
            send(&mut carrier, &mut now, self.quiet);
            carrier.finish(&[]).unwrap();
            watched.said.split_off(watched.said.len() - self.quiet.len())
        });
        assert_eq!(said[0], said[1]);
        Ok(())
    }
}

fn terms() -> impl Strategy<Value = Terms> {
    let ppm = || prop_oneof![Just(0u32), 0..=900_000u32];
    let time = || prop_oneof![Just(0u64), 0..50_000_000u64];
    (time(), time(), ppm(), ppm(), ppm()).prop_map(|(delay, jitter, loss_ppm, reorder_ppm, duplicate_ppm)| {
        Terms { delay, jitter, loss_ppm, reorder_ppm, duplicate_ppm }
    })
}

fn packets() -> impl Strategy<Value = Vec<(u64, u32, u32)>> {
    let gap = prop_oneof![0..100u64, 0..10_000u64];
    prop::collection::vec((gap, 0..3u32, 64..=LARGEST_PACKET), 1..200)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// A bucket holds its burst at most and drains at its rate, and a packet is drained by the time before it as well. So after the time
    /// that both take ([`forgets`]) every verdict and every level is that of a run which never saw a fault, whatever the policy.
    #[test]
    fn a_bucket_forgets_faults_within_the_time_that_its_burst_takes(
        terms in terms(),
        seed: u64,
        hostile in packets(),
        quiet in packets(),
    ) {
        for &policy in PolicyName::ALL {
            let phases = TwoPhases { terms, seed, hostile: &hostile, quiet: &quiet };
            with_limiter(policy, Drain::Exact, phases).unwrap();
        }
    }
}
