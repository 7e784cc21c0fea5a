//! Classifying against a linear scan of the rules, and the seeds of the fuzzer in `fuzz/`, each through what its target
//! does.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::path::Path;

use ipnet::IpNet;
use proptest::prelude::*;
use trueplane_limit::classes::{Class, Classes, Count};
use trueplane_limit::classifier::Classifier;
use trueplane_limit::frame::{Addresses, Frame};
use trueplane_units::BitsPerSec;

// The targets' own code; `cargo test` at the root does not build the fuzzer, which wants a nightly compiler.
#[path = "../../fuzz/classifier.rs"]
#[expect(unreachable_pub, reason = "of a library there, a module here")]
mod targets;

/// How many of the seeds in `folder` the target said yes to, and no.
fn replay(folder: &str, target: impl Fn(&[u8]) -> bool) -> (usize, usize) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/seeds").join(folder);
    let seeds = folder.read_dir().unwrap().map(|entry| std::fs::read(entry.unwrap().path()).unwrap());
    let (yes, no): (Vec<bool>, Vec<bool>) = seeds.map(|seed| target(&seed)).partition(|&answer| answer);
    (yes.len(), no.len())
}

#[test]
fn seeds_of_classes_are_read_and_refused() {
    let (read, refused) =
        replay("limit_classes", |seed| targets::read_classes(str::from_utf8(seed).unwrap()));
    assert!(read >= 4 && refused >= 4, "{read} read, {refused} refused; are the seeds all there?");
}

#[test]
fn seeds_of_frames_have_a_class_and_have_none() {
    let classes = Classes::parse("every_rule.toml", targets::CLASSES).unwrap();
    let classifier = Classifier::new(&classes);
    let (known, unknown) = replay("limit_frame", |seed| targets::classify_frame(&classes, &classifier, seed));
    assert!(known >= 4 && unknown >= 4, "{known} with a class, {unknown} without; are the seeds all there?");
}

/// Addresses that are close together, so that prefixes of all lengths meet and miss them.
fn address() -> impl Strategy<Value = IpAddr> {
    let v4 = prop::array::uniform4(prop_oneof![Just(0u8), Just(128), Just(255)])
        .prop_map(|a| Ipv4Addr::from(a).into());
    let v6 = prop::array::uniform8(prop_oneof![Just(0u16), Just(1), Just(0x8000), Just(0xffff)])
        .prop_map(|a| Ipv6Addr::from(a).into());
    prop_oneof![v4, v6]
}

fn prefix() -> impl Strategy<Value = IpNet> {
    (address(), 0u8..=128).prop_map(|(address, length)| {
        let longest = if address.is_ipv4() { 32 } else { 128 };
        IpNet::new(address, length % (longest + 1)).unwrap().trunc()
    })
}

/// What a class might be like, before what contradicts the classes before it is taken out.
#[derive(Clone, Debug)]
struct Draft {
    source: Vec<IpNet>,
    destination: Vec<IpNet>,
    vlan: Option<u16>,
    fwmark: Option<u32>,
    /// Bits of `each`, if the class can have it.
    width: Option<u8>,
    count: Count,
    is_inside: bool,
}

fn draft() -> impl Strategy<Value = Draft> {
    let count = prop_oneof![Just(Count::Class), Just(Count::Each)];
    let prefixes = || prop::collection::vec(prefix(), 0..3);
    let numbers = (prop::option::of(1u16..6), prop::option::of(1u32..6), prop::option::of(0u8..6));
    (prefixes(), prefixes(), numbers, count, any::<bool>()).prop_map(
        |(source, destination, (vlan, fwmark, width), count, is_inside)| Draft {
            source,
            destination,
            vlan,
            fwmark,
            width,
            count,
            is_inside,
        },
    )
}

/// The class that `draft` asks for, or what is closest to it and fits to `before`.
fn class_of(draft: &Draft, name: &str, before: &[Class], default: Option<&str>) -> Option<Class> {
    let whole = Class {
        source: draft.source.clone(),
        destination: draft.destination.clone(),
        vlan: draft.vlan.into_iter().collect(),
        fwmark: draft.fwmark.into_iter().collect(),
        inside: before.first().filter(|_| draft.is_inside).map(|class| class.name.clone()),
        ..Class::new(name, BitsPerSec(1_000_000))
    };
    let first = draft.source.first().map(IpNet::prefix_len);
    let with_each = Class {
        source: draft.source.iter().take(1).copied().collect(),
        destination: Vec::new(),
        vlan: Vec::new(),
        fwmark: Vec::new(),
        each: first.zip(draft.width).map(|(length, width)| length + width),
        count: draft.count,
        ..whole.clone()
    };
    let only_source =
        Class { destination: Vec::new(), vlan: Vec::new(), fwmark: Vec::new(), ..whole.clone() };
    let only_destination =
        Class { source: Vec::new(), vlan: Vec::new(), fwmark: Vec::new(), ..whole.clone() };
    let no_prefix = Class { source: Vec::new(), destination: Vec::new(), ..whole.clone() };
    [with_each, whole, only_source, only_destination, no_prefix].into_iter().find(|class| {
        let all = before.iter().chain([class]).cloned().collect();
        Classes::new(default.map(str::to_owned), all).is_ok()
    })
}

/// Classes that fit together, some inside the first.
fn classes() -> impl Strategy<Value = Classes> {
    (prop::collection::vec(draft(), 1..8), any::<bool>()).prop_map(|(drafts, has_default)| {
        let first = Class::new("c0", BitsPerSec(1_000_000));
        let default = has_default.then_some("c0");
        let draft = &drafts[0];
        let without_prefix = Class { vlan: vec![9], ..first };
        let with_prefix = Class { source: draft.source.iter().take(1).copied().collect(), ..without_prefix };
        let mut classes = vec![with_prefix];
        for (draft, index) in drafts.iter().zip(1..) {
            classes.extend(class_of(draft, &format!("c{index}"), &classes, default));
        }
        Classes::new(default.map(str::to_owned), classes).expect("every class was tried")
    })
}

fn frame() -> impl Strategy<Value = Frame> {
    (prop::option::of(0u16..7), prop::option::of((address(), address()))).prop_map(|(vlan, addresses)| {
        let addresses = addresses.map(|(source, destination)| Addresses { source, destination });
        Frame { vlan, addresses, ecn_capable: false }
    })
}

proptest! {
    #[test]
    fn prefixes_may_overlap_as_every_pair_of_them_may(
        outer in prefix(),
        inner in prop::collection::vec((prefix(), any::<bool>()), 1..6),
    ) {
        let named = |name: &str, prefix, inside: Option<&str>| Class {
            source: vec![prefix],
            inside: inside.map(str::to_owned),
            ..Class::new(name, BitsPerSec(1_000_000))
        };
        let mut classes = vec![named("outer", outer, None)];
        for (index, (prefix, is_inside)) in inner.into_iter().enumerate() {
            classes.push(named(&format!("c{index}"), prefix, is_inside.then_some("outer")));
        }
        let may = |wide: &Class, narrow: &Class| {
            let (wider, narrower) = (wide.source[0], narrow.source[0]);
            let is_nested = narrow.inside.as_ref() == Some(&wide.name) && wider != narrower;
            !wider.contains(&narrower) || is_nested
        };
        let fit = classes.iter().enumerate().all(|(index, class)| {
            classes[..index].iter().all(|other| may(class, other) && may(other, class))
        });
        let result = Classes::new(None, classes);
        prop_assert_eq!(result.is_ok(), fit, "{:?}", result);
    }

    #[test]
    fn a_linear_scan_comes_to_the_same_match(
        classes in classes(),
        frames in prop::collection::vec((frame(), 0u32..7), 50),
    ) {
        let classifier = Classifier::new(&classes);
        prop_assert_eq!(classifier.limiters().count(), classifier.limiter_count() as usize);
        for (frame, fwmark) in frames {
            let found = classifier.classify(&frame, fwmark);
            prop_assert_eq!(found, targets::classify(&classes, &frame, fwmark), "{:?}, mark {}", frame, fwmark);
            if let Some(found) = found {
                prop_assert_eq!(classifier.class_of_limiter(found.limiter), Some(found.class as usize));
                prop_assert_eq!(classifier.class_of_counter(found.counter), Some(found.class as usize));
                let outer = classes.classes()[found.class as usize].inside.as_deref();
                let parent = classifier.parent(found.limiter).and_then(|parent| classifier.limiter_name(parent));
                prop_assert_eq!(parent.as_deref(), outer);
            }
        }
    }

    #[test]
    fn counting_bytes_comes_to_the_same_frame(
        mut bytes in prop::collection::vec(any::<u8>(), 0..140),
        tags in prop::collection::vec(prop::sample::select(vec![0x8100u16, 0x88a8, 0x9100, 0x9200]), 0..4),
        ether_type in prop::sample::select(vec![0x0800u16, 0x86dd, 0x0806]),
        version in prop::sample::select(vec![0x45u8, 0x4f, 0x44, 0x60, 0x65]),
    ) {
        // Random bytes alone would hardly ever be more than an Ethernet header.
        for (index, kind) in tags.iter().chain([&ether_type]).enumerate() {
            if let Some(place) = bytes.get_mut(12 + 4 * index..14 + 4 * index) {
                place.copy_from_slice(&kind.to_be_bytes());
            }
        }
        if let Some(first) = bytes.get_mut(14 + 4 * tags.len()) {
            *first = version;
        }
        prop_assert_eq!(Frame::parse(&bytes), targets::parse(&bytes));
    }
}
