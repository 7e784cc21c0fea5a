use super::*;
use crate::format::{MAX_RATE, MIN_RATE};

fn parse(text: &str) -> Result<Classes, ClassesError> {
    Classes::parse("classes.toml", text)
}

#[track_caller]
fn refused(text: &str) -> String {
    parse(text).expect_err(text).to_string()
}

/// Everything that a file can say.
const FULL: &str = r#"
default = "rest"

[[class]]
name = "gold"
rate = "1Gbps"
burst = "256KiB"
mark = "64KiB"
source = ["10.0.0.0/24", "2001:db8::/32"]
destination = "192.0.2.0/24"
vlan = [1_00, 0x65]
fwmark = 7
inside = "rest"

[[class]]
name = "tenants"
rate = "100Mbps"
source = "10.1.0.0/16"
each = 24
count = "each"

[[class]]
name = "rest"
rate = "2.5 Gbit/s"
"#;

#[test]
fn everything_that_a_file_can_say_is_read() {
    let classes = parse(FULL).unwrap();
    let gold = Class {
        burst: Bytes(256 << 10),
        mark: Some(Bytes(64 << 10)),
        source: vec!["10.0.0.0/24".parse().unwrap(), "2001:db8::/32".parse().unwrap()],
        destination: vec!["192.0.2.0/24".parse().unwrap()],
        vlan: vec![100, 101],
        fwmark: vec![7],
        inside: Some("rest".to_owned()),
        ..Class::new("gold", BitsPerSec(1_000_000_000))
    };
    let tenants = Class {
        source: vec!["10.1.0.0/16".parse().unwrap()],
        each: Some(24),
        count: Count::Each,
        ..Class::new("tenants", BitsPerSec(100_000_000))
    };
    let rest = Class::new("rest", BitsPerSec(2_500_000_000));
    assert_eq!(classes.default_class(), Some("rest"));
    assert_eq!(classes.classes(), [gold, tenants, rest]);
    assert_eq!(classes.classes()[1].width(), 8);
}

#[test]
fn classes_survive_json_which_is_checked_again() {
    let classes = parse(FULL).unwrap();
    let json = serde_json::to_string(&classes).unwrap();
    assert_eq!(serde_json::from_str::<Classes>(&json).unwrap(), classes);
    for (part, other) in [
        (r#""inside":"rest""#, r#""inside":"nobody""#),
        (r#""rate_bps":100000000"#, r#""rate_bps":0"#),
        (r#""10.1.0.0/16""#, r#""10.1.0.1/16""#),
        (r#""each":24"#, r#""each":8"#),
        (r#""default":"rest""#, r#""default":"nobody""#),
        (r#""default":"rest""#, r#""fallback":"rest""#),
        (r#""vlan":[100"#, r#""vlan":[5000"#),
    ] {
        assert!(json.contains(part), "{part}");
        assert!(serde_json::from_str::<Classes>(&json.replace(part, other)).is_err(), "{other}");
    }
}

#[test]
fn bursts_have_a_default_that_lets_the_largest_packet_pass() {
    assert_eq!(default_burst(MIN_RATE), Bytes(73_728));
    assert_eq!(default_burst(BitsPerSec(1_000_000_000)), Bytes(73_728 + 250_000));
    assert_eq!(default_burst(MAX_RATE), MAX_BURST);
}

/// A class that nothing is wrong with, on lines 1 to 4, and what follows it.
fn after_gold(text: &str) -> String {
    format!("[[class]]\nname = \"gold\"\nrate = \"1Gbps\"\nvlan = 5\n{text}")
}

#[test]
fn what_is_wrong_in_one_class_is_told_with_its_line() {
    // The text after the first class, the line, and the message behind it.
    for (text, line, what) in [
        (
            "colour = 3",
            5,
            r#"class "gold": unknown key "colour", expected one of name, rate, burst, mark, source, destination, vlan, fwmark, inside, each, count"#,
        ),
        ("burst = 3", 5, r#"class "gold": burst: expected a string, got an integer"#),
        (
            "burst = \"10 gallons\"",
            5,
            r#"class "gold": burst: expected a size such as 256MiB or 10GB (units: B, kB, MB, GB, TB, KiB, MiB, GiB, TiB), got "10 gallons""#,
        ),
        ("burst = \"0B\"", 5, r#"class "gold": burst: expected a burst from 1B to 67108863B, got 0B"#),
        (
            "burst = \"64MiB\"",
            5,
            r#"class "gold": burst: expected a burst from 1B to 67108863B, got 67108864B"#,
        ),
        (
            "burst = \"2kB\"\nmark = \"2kB\"",
            6,
            r#"class "gold": mark: expected at least 1B and less than the burst of 2000B, got 2000B"#,
        ),
        (
            "mark = \"0B\"",
            5,
            r#"class "gold": mark: expected at least 1B and less than the burst of 323728B, got 0B"#,
        ),
        ("source = 10", 5, r#"class "gold": source: expected a string, got an integer"#),
        (
            "source = [\n\"10.0.0.0/8\",\n  \"10.0.0/24\" ]",
            7,
            r#"class "gold": source: expected a prefix such as 10.0.0.0/24 or 2001:db8::/32, got "10.0.0/24""#,
        ),
        (
            "destination = \"10.0.0.0/33\"",
            5,
            r#"class "gold": destination: expected a prefix length from 0 to 32, got "10.0.0.0/33""#,
        ),
        (
            "destination = \"10.0.0.0/+8\"",
            5,
            r#"class "gold": destination: expected a prefix length from 0 to 32, got "10.0.0.0/+8""#,
        ),
        (
            "destination = \"2001:db8::/129\"",
            5,
            r#"class "gold": destination: expected a prefix length from 0 to 128, got "2001:db8::/129""#,
        ),
        (
            "source = [\n\"10.0.0.1/24\"\n]",
            6,
            r#"class "gold": source: 10.0.0.1/24 has bits set behind its prefix; the network is 10.0.0.0/24"#,
        ),
        (
            "destination = \"2001:db8::1/64\"",
            5,
            r#"class "gold": destination: 2001:db8::1/64 has bits set behind its prefix; the network is 2001:db8::/64"#,
        ),
        ("fwmark = 0", 5, r#"class "gold": fwmark: expected a mark from 1 to 4294967295, got 0"#),
        (
            "fwmark = [1,\n 4294967296]",
            6,
            r#"class "gold": fwmark: expected an integer from 0 to 4294967295, got 4294967296"#,
        ),
        ("fwmark = -1", 5, r#"class "gold": fwmark: expected an integer from 0 to 4294967295, got -1"#),
        ("fwmark = true", 5, r#"class "gold": fwmark: expected an integer, got a boolean"#),
        ("fwmark = 1.5", 5, r#"class "gold": fwmark: expected an integer, got a float"#),
        ("fwmark = 0x0", 5, r#"class "gold": fwmark: expected a mark from 1 to 4294967295, got 0"#),
        ("inside = \"silver\"", 5, r#"class "gold": inside: there is no class "silver""#),
        ("inside = \"gold\"", 5, r#"class "gold": inside: a class cannot be inside itself (line 5)"#),
        (
            "count = \"each\"",
            5,
            r#"class "gold": count: only a class with `each` has several limiters to count for"#,
        ),
        ("count = \"all\"", 5, r#"class "gold": count: expected "class" or "each", got "all""#),
        (
            "each = 24",
            5,
            r#"class "gold": each: expected a class with one prefix, as source or destination, got 0"#,
        ),
        (
            "source = \"10.0.0.0/8\"\neach = 16",
            4,
            r#"class "gold": vlan: a class with `each` has no other rule: an address selects its limiter"#,
        ),
        ("inside = \"a\\nb\"", 5, r#"class "gold": inside: there is no class "a\nb""#),
        (
            "burst = \"a\\nb\"",
            5,
            r#"class "gold": burst: expected a size such as 256MiB or 10GB (units: B, kB, MB, GB, TB, KiB, MiB, GiB, TiB), got "a\nb""#,
        ),
    ] {
        assert_eq!(refused(&after_gold(text)), format!("classes.toml:{line}: {what}"), "{text}");
    }
}

#[test]
fn what_is_not_toml_is_told_with_its_line() {
    for text in ["rate = \"1Gbps\"", "burst = ", "burst = 2kB", "= 3", "mark = \"\n", "[[class]\n\n", "\u{1}"]
    {
        let message = refused(&after_gold(text));
        assert!(message.starts_with("classes.toml:5: not TOML: "), "{message}");
        assert!(!message.contains('\n'), "{message}");
    }
}

#[test]
fn what_is_wrong_in_a_file_is_told_with_its_line() {
    for (text, line, what) in [
        ("", 1, "expected at least one [[class]]"),
        ("class = []", 1, "expected at least one [[class]]"),
        ("\n\nclass = 3", 3, "class: expected tables under [[class]], got an integer"),
        ("\n[class]\nname = \"gold\"", 2, "class: expected tables under [[class]], got a table"),
        ("class = [\n3]", 2, "class: expected tables under [[class]], got an integer"),
        ("\nclasses = 3", 2, "unknown key \"classes\", expected one of default, class"),
        ("[[class]]\n[[klass]]", 2, "unknown key \"klass\", expected one of default, class"),
        ("default = 3", 1, "default: expected a string, got an integer"),
        ("[[class]]", 1, "class 1: expected a name"),
        ("\n[[class]]\nrate = \"1Gbps\"", 2, "class 1: expected a name"),
        ("\n[[class]]\nname = 7", 3, "class 1: name: expected a string, got an integer"),
        ("\n[[class]]\nname = \"gold\"", 2, "class \"gold\": expected a rate"),
        (
            "[[class]]\nname = \"gold\"\nrate = \"10 GB\"",
            3,
            "class \"gold\": rate: expected a rate such as 10Gbps or 64kbit/s (units: bps, kbps, Mbps, Gbps, Tbps, in bits), got \"10 GB\"",
        ),
        (
            "[[class]]\nname = \"gold\"\nrate = \"0bps\"",
            3,
            "class \"gold\": rate: expected a rate from 1kbps to 400Gbps, got 0bps",
        ),
        (
            "[[class]]\nname = \"gold\"\nrate = \"401Gbps\"",
            3,
            "class \"gold\": rate: expected a rate from 1kbps to 400Gbps, got 401Gbps",
        ),
        (
            "[[class]]\nname = \"gold\"\nrate = \"999bps\"",
            3,
            "class \"gold\": rate: expected a rate from 1kbps to 400Gbps, got 999bps",
        ),
        (
            "[[class]]\nrate = \"1Gbps\"\nname = \"\"",
            3,
            "class \"\": name: expected letters, digits, '_', '.', ':' and '-', got \"\"",
        ),
        (
            "[[class]]\nrate = \"1Gbps\"\nname = \"a[b]\"",
            3,
            "class \"a[b]\": name: expected letters, digits, '_', '.', ':' and '-', got \"a[b]\"",
        ),
        (
            "[[class]]\nrate = \"1Gbps\"\nname = \"gold\"",
            1,
            "class \"gold\": expected a rule (source, destination, vlan or fwmark): no packet would belong to it",
        ),
        (
            "\ndefault = \"all\"\n[[class]]\nrate = \"1Gbps\"\nname = \"gold\"",
            2,
            "default: there is no class \"all\"",
        ),
        (
            "default = \"gold\"\n[[class]]\nrate = \"1Gbps\"\nname = \"gold\"\nsource = \"10.0.0.0/8\"\neach = 9",
            1,
            "default: class gold has `each`: no address selects a limiter for the other packets (line 6)",
        ),
    ] {
        assert_eq!(refused(text), format!("classes.toml:{line}: {what}"), "{text}");
    }
}

#[test]
fn ids_have_to_be_of_a_vlan() {
    for (vlan, what) in [
        ("0", "expected an id from 1 to 4094, got 0"),
        ("[1, 4095]", "expected an id from 1 to 4094, got 4095"),
        ("65536", "expected an integer from 0 to 65535, got 65536"),
        ("\"5\"", "expected an integer, got a string"),
    ] {
        let text = format!("[[class]]\nname = \"gold\"\nrate = \"1Gbps\"\nvlan = {vlan}");
        assert_eq!(refused(&text), format!("classes.toml:4: class \"gold\": vlan: {what}"));
    }
}

/// Classes of one rate by name, each with lines of its own; a class without has three lines.
fn classes(list: &[(&str, &str)]) -> String {
    let class =
        |(name, lines): &(&str, &str)| format!("[[class]]\nname = \"{name}\"\nrate = \"1Gbps\"\n{lines}\n");
    list.iter().map(class).collect()
}

#[test]
fn what_stands_between_classes_is_told_with_both_lines() {
    let silver = |lines| [("gold", "vlan = 1\nfwmark = 1"), ("silver", lines)];
    for (list, line, what) in [
        (
            [("gold", "vlan = 1"), ("gold", "vlan = 2")],
            6,
            "class \"gold\": name: there is a class of this name already (line 2)",
        ),
        (
            silver("vlan = [ 2,\n1 ]"),
            10,
            "class \"silver\": vlan: 1 belongs to class \"gold\" already (line 4)",
        ),
        (silver("fwmark = 1"), 9, "class \"silver\": fwmark: 1 belongs to class \"gold\" already (line 5)"),
        (
            silver("vlan = [3,\n3]"),
            10,
            "class \"silver\": vlan: 3 belongs to class \"silver\" already (line 9)",
        ),
        (
            [("a", "vlan = 1\ninside = \"b\""), ("b", "vlan = 2\ninside = \"a\"")],
            5,
            "class \"a\": inside: class b is itself inside \"a\": one level is all there is (line 10)",
        ),
        (
            [("a", "vlan = 1\ninside = \"b\""), ("b", "source = \"10.0.0.0/8\"\neach = 8")],
            5,
            "class \"a\": inside: class b has `each`: which limiter would it be? (line 10)",
        ),
    ] {
        assert_eq!(refused(&classes(&list)), format!("classes.toml:{line}: {what}"));
    }
    let deep = [("a", "vlan = 1\ninside = \"b\""), ("b", "inside = \"c\""), ("c", "")];
    let what = "class \"a\": inside: class b is itself inside \"c\": one level is all there is (line 9)";
    assert_eq!(refused(&classes(&deep)), format!("classes.toml:5: {what}"));
}

#[test]
fn prefixes_overlap_only_inside_the_class_of_the_wider() {
    for (wide, narrow) in [
        ("source = \"10.0.0.0/8\"", "source = \"10.0.0.0/8\""),
        ("source = \"10.0.0.0/8\"", "source = [\"9.0.0.0/8\", \"10.1.0.0/16\"]"),
        ("destination = \"0.0.0.0/0\"", "destination = \"255.255.255.255\""),
        ("destination = \"2001:db8::/32\"", "destination = \"2001:db8:1::/48\""),
        ("source = \"::/0\"", "source = \"2001:db8::/128\""),
    ] {
        for (first, second) in [(wide, narrow), (narrow, wide)] {
            let message = refused(&classes(&[("a", first), ("b", second)]));
            assert!(message.starts_with("classes.toml:8: class \"b\": "), "{message}");
            assert!(message.ends_with(" (line 4)"), "{message}");
        }
        let inside = format!("{narrow}\ninside = \"a\"");
        let nested = parse(&classes(&[("a", wide), ("b", &inside)]));
        assert_eq!(nested.is_ok(), wide != narrow, "{nested:?}");
        // The wider one inside the narrower is no way out.
        let inside = format!("{wide}\ninside = \"b\"");
        assert!(parse(&classes(&[("a", &inside), ("b", narrow)])).is_err());
    }
    for (a, b) in [
        ("source = \"10.0.0.0/8\"", "destination = \"10.0.0.0/8\""),
        ("source = \"10.0.0.0/9\"", "source = \"10.128.0.0/9\""),
        ("source = \"0.0.0.0/0\"", "source = \"::/0\""),
        ("source = \"10.0.0.0/32\"", "source = \"a00::/32\""),
    ] {
        assert!(parse(&classes(&[("a", a), ("b", b)])).is_ok(), "{a} and {b}");
    }
}

#[test]
fn overlaps_say_which_prefix_lies_where() {
    let [wide, narrow] = ["source = \"10.0.0.0/8\"", "source = [\n\"9.0.0.0/8\",\n\"10.1.0.0/16\"]"];
    for (list, message) in [
        (
            [("a", wide), ("b", narrow)],
            "classes.toml:10: class \"b\": source: 10.1.0.0/16 lies within 10.0.0.0/8 of class \"a\"; the narrower one's class has to be `inside` the other (line 4)",
        ),
        (
            [("b", narrow), ("a", wide)],
            "classes.toml:10: class \"a\": source: 10.0.0.0/8 contains 10.1.0.0/16 of class \"b\"; the narrower one's class has to be `inside` the other (line 6)",
        ),
        (
            [("a", wide), ("b", wide)],
            "classes.toml:8: class \"b\": source: 10.0.0.0/8 is also a prefix of class \"a\" (line 4)",
        ),
    ] {
        assert_eq!(refused(&classes(&list)), message);
    }
    let same = [("a", "source = [\"10.0.0.0/8\",\n\"10.1.0.0/16\"]")];
    let message =
        "classes.toml:5: class \"a\": source: 10.1.0.0/16 lies within 10.0.0.0/8 of class \"a\" (line 4)";
    assert_eq!(refused(&classes(&same)), message);
}

#[test]
fn brothers_inside_one_class_may_not_overlap() {
    let text = classes(&[
        ("all", "source = \"10.0.0.0/8\""),
        ("a", "source = \"10.1.0.0/16\"\ninside = \"all\""),
        ("b", "source = \"10.1.2.0/24\"\ninside = \"all\""),
    ]);
    let what = "10.1.2.0/24 lies within 10.1.0.0/16 of class \"a\"; the narrower one's class has to be `inside` the other";
    assert_eq!(refused(&text), format!("classes.toml:13: class \"b\": source: {what} (line 8)"));
}

#[test]
fn each_wants_one_prefix_and_a_length_within_it() {
    for (lines, line, what) in [
        (
            "source = [\"10.0.0.0/16\", \"11.0.0.0/16\"]\neach = 24",
            5,
            "expected a class with one prefix, as source or destination, got 2",
        ),
        (
            "source = \"10.0.0.0/16\"\ndestination = \"11.0.0.0/16\"\neach = 24",
            6,
            "expected a class with one prefix, as source or destination, got 2",
        ),
        ("source = \"10.0.0.0/16\"\neach = 15", 5, "expected a length from 16 to 32 for 10.0.0.0/16, got 15"),
        ("source = \"10.0.0.0/16\"\neach = 33", 5, "expected a length from 16 to 32 for 10.0.0.0/16, got 33"),
        (
            "source = \"2001:db8::/60\"\neach = 65",
            5,
            "expected a length from 60 to 64 for 2001:db8::/60, got 65",
        ),
        (
            "source = \"2001:db8::/80\"\neach = 80",
            5,
            "expected a prefix of at most 64 bits for 2001:db8::/80, got 80",
        ),
        (
            "source = \"10.0.0.0/8\"\neach = 29",
            5,
            "expected at most 1048576 limiters, got 2^21 of /29 in 10.0.0.0/8",
        ),
        ("source = \"::/0\"\neach = 64", 5, "expected at most 1048576 limiters, got 2^64 of /64 in ::/0"),
        ("source = \"10.0.0.0/8\"\neach = 256", 5, "expected an integer from 0 to 255, got 256"),
    ] {
        let text = classes(&[("t", lines)]);
        assert_eq!(refused(&text), format!("classes.toml:{line}: class \"t\": each: {what}"));
    }
    for (lines, width) in [
        ("source = \"10.0.0.0/8\"\neach = 28", 20),
        ("destination = \"10.0.0.0/8\"\neach = 8", 0),
        ("destination = \"2001:db8::/48\"\neach = 64", 16),
    ] {
        assert_eq!(parse(&classes(&[("t", lines)])).unwrap().classes()[0].width(), width);
    }
}

#[test]
fn all_limiters_together_are_at_most_a_million() {
    let text = classes(&[
        ("a", "source = \"10.0.0.0/8\"\neach = 27"),
        ("b", "source = \"11.0.0.0/8\"\neach = 27"),
        ("c", "vlan = 1"),
    ]);
    let what = "expected at most 1048576 limiters in all, got 1048577 with those of this class";
    assert_eq!(refused(&text), format!("classes.toml:11: class \"c\": {what}"));
    assert!(parse(&text[..text.find("[[class]]\nname = \"c\"").unwrap()]).is_ok());
}

/// In any notation, and before the classes themselves are looked at, whose first is none.
#[test]
fn too_many_classes_are_refused() {
    let most = "expected at most 65536 classes, got more";
    assert_eq!(refused(&"\n [[class]]\n".repeat(MAX_CLASSES + 1)), format!("classes.toml:131074: {most}"));
    let inline = format!("class = [\n{}]", "{},\n".repeat(MAX_CLASSES + 1));
    assert_eq!(refused(&inline), format!("classes.toml:65538: {most}"));
    let class = |index: usize| Class {
        fwmark: vec![index as u32 + 1],
        ..Class::new(&format!("c{index}"), BitsPerSec(1_000_000))
    };
    let made = |classes| Classes::new(None, (0..classes).map(class).collect());
    let error = made(MAX_CLASSES + 1).unwrap_err().to_string();
    assert_eq!(error, "class \"c65536\": expected at most 65536 classes, got 65537");
    assert_eq!(made(MAX_CLASSES).unwrap().classes().len(), MAX_CLASSES);
}
