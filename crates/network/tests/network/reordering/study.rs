//! The study, run as a whole.

use trueplane_network::reordering::{Found, Options, RecoveryName, Reordering, Row};
use trueplane_spray::dispatch::{DispatchName, PolicyName};
use trueplane_study::{Error, Study};
use trueplane_units::Parameters as _;

const RSS: PolicyName = PolicyName::Rss;
const SPRAY: PolicyName = PolicyName::Spray;

/// Runs that are short, and time-outs that are shorter.
const SMALL: [(&str, &str); 2] = [("duration", "40ms"), ("least_timeout", "5ms")];

fn run(more: &[(&str, &str)]) -> Result<Found, Error> {
    let given: Vec<(&str, &str)> = SMALL.iter().chain(more).copied().collect();
    Reordering::run(&Options::given(&given).map_err(Error::Parameters)?, &())
}

fn refusal(given: &[(&str, &str)]) -> String {
    let options = match Options::given(given) {
        Ok(options) => options,
        Err(message) => return message,
    };
    Reordering::run(&options, &()).expect_err("it is refused").to_string()
}

/// The row of a policy and a recovery in the only case.
fn row(found: &Found, policy: PolicyName, recovery: RecoveryName) -> &Row {
    found.row(found.cases()[0], DispatchName::of(policy), recovery).unwrap()
}

/// The maximum of figure 3.6b: one flow is on one core under hashing, and on all of them under spraying.
#[test]
fn spraying_uses_all_cores_for_one_flow() {
    let found = run(&[("flows", "1"), ("cycles", "7500"), ("policies", "rss,spray")]).unwrap();
    for recovery in [RecoveryName::NewReno, RecoveryName::Sack, RecoveryName::Rack] {
        let (hashed, sprayed) = (row(&found, RSS, recovery), row(&found, SPRAY, recovery));
        assert_eq!((hashed.cores_used.mean, sprayed.cores_used.mean), (1.0, 8.0));
        assert!(sprayed.busiest.mean < 0.14, "{}", sprayed.busiest.mean);
        assert!(sprayed.goodput.mean > 2.0 * hashed.goodput.mean, "{recovery}");
    }
    // Nothing is late on one core, so that it does what the classical model says, but for what its full ring drops.
    let ratio = row(&found, RSS, RecoveryName::Rack).ratio();
    assert!((0.9..1.02).contains(&ratio), "{ratio}");
    assert!(row(&found, SPRAY, RecoveryName::Rack).ratio() > 0.98);
}

#[test]
fn rack_waits_for_late_packets_and_newreno_sends_them_again() {
    let found = run(&[("flows", "1"), ("cycles", "7500"), ("policies", "spray")]).unwrap();
    let (newreno, rack) = (row(&found, SPRAY, RecoveryName::NewReno), row(&found, SPRAY, RecoveryName::Rack));
    assert!(newreno.counts.reordered_share() > 0.1 && rack.counts.reordered_share() > 0.1);
    assert!(rack.counts.spurious_share() < newreno.counts.spurious_share() / 5.0);
    assert!(rack.goodput.mean > 1.2 * newreno.goodput.mean);
    // Nothing was lost: all that was sent again had arrived or was on its way.
    assert_eq!((newreno.packets.dropped, rack.packets.dropped), (0, 0));
}

/// Cores drop here, and hashing keeps the order of what is left.
#[test]
fn hashing_never_reorders() {
    let found = run(&[("flows", "1,6"), ("policies", "rss,subset:1"), ("ring", "64")]).unwrap();
    assert!(found.rows.iter().any(|row| row.packets.dropped > 0 && row.counts.sent_again > 0));
    for row in &found.rows {
        let counts = row.counts;
        assert_eq!((counts.reordered, counts.extents, counts.most_extent), (0, 0, 0), "{}", row.recovery);
    }
}

/// Each segment that is late is acknowledged at once, and cores handle the acknowledgements.
#[test]
fn late_segments_make_more_acknowledgements() {
    let found = run(&[("flows", "4"), ("policies", "rss,spray"), ("recovery", "sack")]).unwrap();
    let acks = |policy| row(&found, policy, RecoveryName::Sack).counts.acks_per_segment();
    // Under hashing, those behind a loss alone.
    assert!((0.49..0.65).contains(&acks(RSS)), "{}", acks(RSS));
    assert!(acks(SPRAY) > acks(RSS) + 0.1, "{}", acks(SPRAY));
}

#[test]
fn books_balance_under_every_policy() {
    let found = run(&[("flows", "3"), ("policies", "all"), ("duration", "20ms"), ("ring", "128")]).unwrap();
    assert_eq!(found.rows.len(), 8 * 3);
    for row in &found.rows {
        let name = format!("{} {}", row.policy, row.recovery);
        let (packets, counts) = (row.packets, row.counts);
        assert_eq!(packets.sent, packets.delivered + packets.dropped + packets.on_their_way, "{name}");
        assert!(counts.arrived <= counts.sent && counts.sent + counts.acks <= packets.sent, "{name}");
        assert!(counts.spurious <= counts.sent_again, "{name}");
        assert!(counts.far <= counts.reordered && counts.reordered <= counts.arrived, "{name}");
        assert!(counts.extents >= counts.reordered && counts.most_extent <= counts.extents, "{name}");
        // A goodput is no more than what the line carries.
        assert!(row.goodput.mean <= 1.001 * 10e9 * 1_448.0 / 1_538.0, "{name}: {}", row.goodput.mean);
        assert!((1.0 / 3.0 - 1e-9..=1.0 + 1e-9).contains(&row.jain.mean), "{name}: {}", row.jain.mean);
    }
}

#[test]
fn the_number_of_threads_changes_nothing() {
    let on = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| run(&[("flows", "2,5"), ("duration", "10ms"), ("runs", "2")])).unwrap()
    };
    assert_eq!(on(1), on(3));
}

#[test]
fn runs_have_other_flows() {
    let found = run(&[
        ("flows", "4"),
        ("policies", "rss"),
        ("recovery", "rack"),
        ("duration", "10ms"),
        ("runs", "5"),
    ])
    .unwrap();
    let goodput = found.rows[0].goodput;
    assert!(goodput.min < goodput.mean && goodput.mean < goodput.max);
}

#[test]
fn the_page_says_it_in_a_few_sentences() {
    let given = [SMALL[0], SMALL[1], ("flows", "1,8"), ("cycles", "10000,7500")];
    let options = Options::given(&given).unwrap();
    let found = Reordering::run(&options, &()).unwrap();
    let sentences = Reordering::verdict(&options, &found);
    assert!((4..=5).contains(&sentences.len()), "{sentences:#?}");
    assert!(sentences[0].starts_with("With 1 flow and 10000 cycles, "), "{sentences:#?}");
    assert!(Reordering::advice(&options, &found).starts_with("Dispatch by "));
    let report = trueplane_study::study::report::<Reordering>(&options, &found);
    assert_eq!(report.plots[0].id, "goodput");
}

#[test]
fn what_cannot_be_is_refused_in_one_line() {
    let cases: [(&[(&str, &str)], &str); 9] = [
        (&[("policies", "fifo")], "rss, rss:default, spray"),
        (&[("recovery", "tahoe")], "newreno, sack, rack"),
        (&[("congestion_control", "bbr")], "expected one of cubic, reno, got \"bbr\""),
        (&[("flows", "0")], "got \"0\""),
        (&[("cores", "0")], "got \"0\""),
        (&[("gap", "10us")], "--gap is for --policies flowlet"),
        (&[("duration", "10h")], "expected a --duration so short"),
        (&[("flows", "1024"), ("receive_window", "1GB")], "packets on their way at once"),
        (&[("receive_window", "100B")], "got \"100B\""),
    ];
    for (given, expected) in cases {
        let message = refusal(given);
        assert!(message.contains(expected) && !message.contains('\n'), "{given:?}: {message}");
    }
}
