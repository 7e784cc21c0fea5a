use trueplane_units::BitsPerSec;

use super::*;
use crate::frame::Addresses;

const CLASSES: &str = r#"
default = "rest"
[[class]]
name = "marked"
rate = "1Gbps"
fwmark = [7, 8]
[[class]]
name = "tenants"
rate = "100Mbps"
burst = "100kB"
source = "10.0.0.0/22"
each = 24
count = "each"
inside = "rest"
[[class]]
name = "vlan"
rate = "2Gbps"
vlan = 100
[[class]]
name = "homes"
rate = "50Mbps"
destination = "2001:db8::/61"
each = 64
[[class]]
name = "rest"
rate = "10Gbps"
source = "10.0.0.0/16"
[[class]]
name = "to"
rate = "20Gbps"
destination = "192.0.2.0/24"
"#;

fn classifier() -> Classifier {
    Classifier::new(&Classes::parse("classes.toml", CLASSES).unwrap())
}

fn frame(vlan: Option<u16>, source: &str, destination: &str) -> Frame {
    let addresses = Addresses { source: source.parse().unwrap(), destination: destination.parse().unwrap() };
    Frame { vlan, addresses: Some(addresses), ecn_capable: false }
}

#[test]
fn limiters_and_counters_are_numbered_class_by_class() {
    let classifier = classifier();
    let ranges: Vec<_> =
        (0..7).map(|class| (classifier.limiters_of(class), classifier.counters_of(class))).collect();
    let expected = [
        (0..1, 0..1),
        (1..5, 1..5),
        (5..6, 5..6),
        (6..14, 6..7),
        (14..15, 7..8),
        (15..16, 8..9),
        (0..0, 0..0),
    ];
    assert_eq!(ranges, expected);
    assert_eq!((classifier.limiter_count(), classifier.counter_count()), (16, 9));
    let rates: Vec<u64> = classifier
        .limiters()
        .map(|limiter| limiter.rate.bits_per_sec().round() as u64 / 10_000_000)
        .collect();
    assert_eq!(rates.len(), 16);
    assert!(rates[1..5].iter().all(|&rate| rate == 10 || rate == 9), "{rates:?}");
    assert_eq!(classifier.limiters().nth(4).unwrap().burst().0, 100_000);
    for limiter in 0..16 {
        let parent = (1..5).contains(&limiter).then_some(14);
        assert_eq!(classifier.parent(limiter), parent, "{limiter}");
    }
    assert_eq!(
        (classifier.parent(16), classifier.class_of_limiter(16), classifier.class_of_counter(9)),
        (None, None, None)
    );
}

#[test]
fn rules_come_in_the_order_that_is_documented() {
    let classifier = classifier();
    let found = |frame: &Frame, fwmark| {
        classifier.classify(frame, fwmark).map(|found| (found.class, found.limiter, found.counter))
    };
    let both = frame(Some(100), "10.0.2.9", "192.0.2.1");
    assert_eq!(found(&both, 8), Some((0, 0, 0)));
    assert_eq!(found(&both, 9), Some((2, 5, 5)));
    assert_eq!(found(&Frame { vlan: Some(0), ..both }, 0), Some((1, 3, 3)));
    assert_eq!(found(&frame(None, "10.0.4.0", "192.0.2.1"), 0), Some((4, 14, 7)));
    assert_eq!(found(&frame(None, "10.1.0.0", "192.0.2.1"), 0), Some((5, 15, 8)));
    assert_eq!(found(&frame(None, "10.1.0.0", "192.0.3.1"), 0), Some((4, 14, 7)));
    assert_eq!(found(&frame(None, "::", "2001:db8:0:5::1"), 0), Some((3, 11, 6)));
    assert_eq!(found(&Frame::default(), 0), Some((4, 14, 7)));
    assert_eq!(found(&Frame { vlan: Some(100), ..Frame::default() }, 0), Some((2, 5, 5)));
    let no_default = CLASSES.replace("default = \"rest\"", "");
    let without = Classifier::new(&Classes::parse("classes.toml", &no_default).unwrap());
    assert_eq!(without.classify(&Frame::default(), 0), None);
}

#[test]
fn names_lead_to_limiters_and_back() {
    let classifier = classifier();
    for limiter in 0..classifier.limiter_count() {
        let name = classifier.limiter_name(limiter).unwrap();
        assert_eq!(classifier.find(&name), Some(limiter..limiter + 1), "{name}");
    }
    let names = [0, 1, 4, 13].map(|limiter| classifier.limiter_name(limiter).unwrap());
    assert_eq!(names, ["marked", "tenants[10.0.0.0/24]", "tenants[10.0.3.0/24]", "homes[2001:db8:0:7::/64]"]);
    let names = [1, 4, 6, 8].map(|counter| classifier.counter_name(counter).unwrap());
    assert_eq!(names, ["tenants[10.0.0.0/24]", "tenants[10.0.3.0/24]", "homes", "to"]);
    assert_eq!((classifier.limiter_name(16), classifier.counter_name(9)), (None, None));
    assert_eq!(classifier.find("tenants"), Some(1..5));
    for nobody in [
        "",
        "nobody",
        "tenants[]",
        "tenants[10.0.4.0/24]",
        "tenants[10.0.3.1/24]",
        "tenants[10.0.3.0/25]",
        "tenants[10.0.0.0/22]",
        "tenants[::/24]",
        "marked[10.0.3.0/24]",
        "[",
        "]",
        "tenants]",
        "tenants[10.0.3.0/24",
    ] {
        assert_eq!(classifier.find(nobody), None, "{nobody}");
    }
}

#[test]
fn rules_are_what_a_loader_needs() {
    let classifier = classifier();
    let rules = classifier.rules();
    let target =
        |class, limiter, counter, width, count_each| Target { class, limiter, counter, width, count_each };
    assert_eq!(rules.fwmarks, [(7, target(0, 0, 0, 0, false)), (8, target(0, 0, 0, 0, false))]);
    assert_eq!(rules.vlans, [(100, target(2, 5, 5, 0, false))]);
    assert_eq!(rules.default, Some(target(4, 14, 7, 0, false)));
    let prefixes: Vec<_> =
        rules.prefixes.iter().map(|rule| (rule.direction, rule.prefix.to_string(), rule.target)).collect();
    let expected = [
        (Direction::Source, "10.0.0.0/22".to_owned(), target(1, 1, 1, 2, true)),
        (Direction::Destination, "2001:db8::/61".to_owned(), target(3, 6, 6, 3, false)),
        (Direction::Source, "10.0.0.0/16".to_owned(), target(4, 14, 7, 0, false)),
        (Direction::Destination, "192.0.2.0/24".to_owned(), target(5, 15, 8, 0, false)),
    ];
    assert_eq!(prefixes, expected);
}

#[test]
fn a_million_limiters_take_the_whole_of_a_prefix() {
    let text = "[[class]]\nname = \"t\"\nrate = \"1Mbps\"\nsource = \"0.0.0.0/0\"\neach = 20\n";
    let classifier = Classifier::new(&Classes::parse("classes.toml", text).unwrap());
    assert_eq!(classifier.limiter_count(), 1 << 20);
    let last = classifier.classify(&frame(None, "255.255.255.255", "0.0.0.0"), 0);
    assert_eq!(last, Some(Match { class: 0, limiter: (1 << 20) - 1, counter: 0 }));
    assert_eq!(classifier.limiter_name((1 << 20) - 1).unwrap(), "t[255.255.240.0/20]");
    let one = Classes::new(
        None,
        vec![Class {
            each: Some(0),
            source: vec!["::/0".parse().unwrap()],
            ..Class::new("t", BitsPerSec(1000))
        }],
    );
    let classifier = Classifier::new(&one.unwrap());
    assert_eq!(
        (classifier.limiter_name(0).unwrap(), classifier.find("t[::/0]")),
        ("t[::/0]".to_owned(), Some(0..1))
    );
}
