//! What has to hold of classes, whoever made them.

use hashbrown::HashMap;
use ipnet::IpNet;

use super::{
    Class, Classes, ClassesFault, Count, MAX_CLASSES, MAX_EACH_IPV6, MAX_LIMITERS, Place, Quoted, Unchecked,
};
use crate::format::{RateWord, burst_units};
use crate::frame::address_bits;

type Checked = Result<(), ClassesFault>;

impl Classes {
    /// Classes that were made otherwise than by reading a file, or changed; checked in the same way.
    ///
    /// # Errors
    ///
    /// The classes break a rule of classes files.
    pub fn new(default: Option<String>, classes: Vec<Class>) -> Result<Self, ClassesFault> {
        let classes = Self { default, classes };
        check(&classes)?;
        Ok(classes)
    }
}

impl TryFrom<Unchecked> for Classes {
    type Error = ClassesFault;

    fn try_from(unchecked: Unchecked) -> Result<Self, ClassesFault> {
        Self::new(unchecked.default, unchecked.class)
    }
}

/// Checks everything that [`Classes`] promises.
fn check(classes: &Classes) -> Checked {
    let list = &classes.classes;
    if list.is_empty() {
        return Err(fault(classes, Place::top(""), None, "expected at least one [[class]]"));
    }
    if list.len() > MAX_CLASSES {
        let what = format!("expected at most {MAX_CLASSES} classes, got {}", list.len());
        return Err(fault(classes, Place::of(MAX_CLASSES, ""), None, &what));
    }
    for (index, class) in list.iter().enumerate() {
        let wrong = |key, item, what: String| fault(classes, Place::of(index, key).item(item), None, &what);
        check_limits(class).map_err(|(key, what)| wrong(key, 0, what))?;
        check_rules(class).map_err(|(key, item, what)| wrong(key, item, what))?;
        check_each(class).map_err(|(key, what)| wrong(key, 0, what))?;
    }
    let by_name = check_names(classes)?;
    check_relations(classes, &by_name)?;
    check_numbers(classes)?;
    check_overlaps(classes)?;
    check_total(classes)
}

/// Fault at a place, with the class's name before it.
fn fault(classes: &Classes, at: Place, other: Option<Place>, what: &str) -> ClassesFault {
    let class = at.class.map(|index| format!("class {}: ", Quoted(&classes.classes[index].name)));
    let key = if at.key.is_empty() { String::new() } else { format!("{}: ", at.key) };
    ClassesFault { what: format!("{}{key}{what}", class.unwrap_or_default()), at, other }
}

/// Name, rate, burst and threshold.
fn check_limits(class: &Class) -> Result<(), (&'static str, String)> {
    let is_allowed = |c: char| c.is_ascii_alphanumeric() || "_.:-".contains(c);
    if class.name.is_empty() || !class.name.chars().all(is_allowed) {
        let what = format!("expected letters, digits, '_', '.', ':' and '-', got {}", Quoted(&class.name));
        return Err(("name", what));
    }
    RateWord::new(class.rate, None).map_err(|error| ("rate", error.to_string()))?;
    burst_units(class.burst).map_err(|error| ("burst", error.to_string()))?;
    match class.mark {
        Some(mark) if mark.0 == 0 || mark >= class.burst => {
            let burst = class.burst.0;
            Err((
                "mark",
                format!("expected at least 1B and less than the burst of {burst}B, got {}B", mark.0),
            ))
        }
        _ => Ok(()),
    }
}

/// VLANs, marks and prefixes, each on its own.
fn check_rules(class: &Class) -> Result<(), (&'static str, usize, String)> {
    if let Some(item) = class.vlan.iter().position(|vlan| !(1..=4094).contains(vlan)) {
        // IEEE 802.1Q: 0 is a priority tag, of a frame that is in no VLAN; 4095 is reserved.
        return Err(("vlan", item, format!("expected an id from 1 to 4094, got {}", class.vlan[item])));
    }
    if let Some(item) = class.fwmark.iter().position(|&mark| mark == 0) {
        return Err(("fwmark", item, "expected a mark from 1 to 4294967295, got 0".to_owned()));
    }
    for (key, prefixes) in [("source", &class.source), ("destination", &class.destination)] {
        if let Some(item) = prefixes.iter().position(|prefix| *prefix != prefix.trunc()) {
            let (found, network) = (prefixes[item], prefixes[item].trunc());
            return Err((
                key,
                item,
                format!("{found} has bits set behind its prefix; the network is {network}"),
            ));
        }
    }
    Ok(())
}

/// Checks that `each` and `count` fit the class.
fn check_each(class: &Class) -> Result<(), (&'static str, String)> {
    let Some(each) = class.each else {
        let complaint = "only a class with `each` has several limiters to count for".to_owned();
        return if class.count == Count::Each { Err(("count", complaint)) } else { Ok(()) };
    };
    let prefixes: Vec<&IpNet> = class.source.iter().chain(&class.destination).collect();
    let [prefix] = prefixes[..] else {
        let what =
            format!("expected a class with one prefix, as source or destination, got {}", prefixes.len());
        return Err(("each", what));
    };
    for (key, count) in [("vlan", class.vlan.len()), ("fwmark", class.fwmark.len())] {
        if count > 0 {
            return Err((
                key,
                "a class with `each` has no other rule: an address selects its limiter".to_owned(),
            ));
        }
    }
    let longest = if prefix.addr().is_ipv4() { prefix.max_prefix_len() } else { MAX_EACH_IPV6 };
    let shortest = prefix.prefix_len();
    if !(shortest..=longest).contains(&each) {
        let range = if shortest <= longest {
            format!("a length from {shortest} to {longest}")
        } else {
            format!("a prefix of at most {longest} bits")
        };
        return Err(("each", format!("expected {range} for {prefix}, got {each}")));
    }
    let limiters = 1u64.checked_shl((each - shortest).into()).unwrap_or(u64::MAX);
    if limiters > MAX_LIMITERS {
        let bits = each - shortest;
        return Err((
            "each",
            format!("expected at most {MAX_LIMITERS} limiters, got 2^{bits} of /{each} in {prefix}"),
        ));
    }
    Ok(())
}

/// Names are unique; returns where each of them is.
fn check_names(classes: &Classes) -> Result<HashMap<&str, usize>, ClassesFault> {
    let mut by_name = HashMap::with_capacity(classes.classes.len());
    for (index, class) in classes.classes.iter().enumerate() {
        if let Some(first) = by_name.insert(class.name.as_str(), index) {
            let what = "there is a class of this name already";
            return Err(fault(classes, Place::of(index, "name"), Some(Place::of(first, "name")), what));
        }
    }
    Ok(by_name)
}

/// `default`, `inside`, and that every class can be reached.
fn check_relations(classes: &Classes, by_name: &HashMap<&str, usize>) -> Checked {
    let list = &classes.classes;
    let default = classes.default.as_deref();
    if let Some(name) = default {
        let Some(&index) = by_name.get(name) else {
            let what = format!("there is no class {}", Quoted(name));
            return Err(fault(classes, Place::top("default"), None, &what));
        };
        if list[index].each.is_some() {
            let what = format!("class {name} has `each`: no address selects a limiter for the other packets");
            return Err(fault(classes, Place::top("default"), Some(Place::of(index, "each")), &what));
        }
    }
    let mut is_parent = vec![false; list.len()];
    for (index, class) in list.iter().enumerate() {
        let Some(name) = class.inside.as_deref() else { continue };
        let at = Place::of(index, "inside");
        let Some(&parent) = by_name.get(name) else {
            return Err(fault(classes, at, None, &format!("there is no class {}", Quoted(name))));
        };
        let (key, what) = match &list[parent] {
            _ if parent == index => ("inside", "a class cannot be inside itself".to_owned()),
            Class { inside: Some(outer), .. } => (
                "inside",
                format!("class {name} is itself inside {}: one level is all there is", Quoted(outer)),
            ),
            Class { each: Some(_), .. } => {
                ("each", format!("class {name} has `each`: which limiter would it be?"))
            }
            _ => {
                is_parent[parent] = true;
                continue;
            }
        };
        return Err(fault(classes, at, Some(Place::of(parent, key)), &what));
    }
    let has_no_rule = |class: &Class| {
        let has_no_prefix = class.source.is_empty() && class.destination.is_empty();
        has_no_prefix && class.vlan.is_empty() && class.fwmark.is_empty()
    };
    let unused = list.iter().zip(is_parent).position(|(class, is_parent)| {
        has_no_rule(class) && !is_parent && default != Some(class.name.as_str())
    });
    match unused {
        Some(index) => {
            let what = "expected a rule (source, destination, vlan or fwmark): no packet would belong to it";
            Err(fault(classes, Place::of(index, ""), None, what))
        }
        None => Ok(()),
    }
}

/// No VLAN and no mark leads to two classes.
fn check_numbers(classes: &Classes) -> Checked {
    let mut vlans = HashMap::new();
    let mut fwmarks = HashMap::new();
    for (index, class) in classes.classes.iter().enumerate() {
        for (item, &vlan) in class.vlan.iter().enumerate() {
            let at = Place::of(index, "vlan").item(item);
            check_number(classes, &mut vlans, vlan.into(), at)?;
        }
        for (item, &fwmark) in class.fwmark.iter().enumerate() {
            let at = Place::of(index, "fwmark").item(item);
            check_number(classes, &mut fwmarks, fwmark, at)?;
        }
    }
    Ok(())
}

fn check_number(classes: &Classes, seen: &mut HashMap<u32, Place>, number: u32, at: Place) -> Checked {
    let Some(first) = seen.insert(number, at) else { return Ok(()) };
    let owner = &classes.classes[first.class.unwrap_or_default()].name;
    Err(fault(classes, at, Some(first), &format!("{number} belongs to class {} already", Quoted(owner))))
}

/// A prefix with its place in the file.
#[derive(Clone, Copy)]
struct Rule {
    prefix: IpNet,
    at: Place,
}

/// Prefixes of one direction are apart, or the narrower one's class is inside that of the wider one.
fn check_overlaps(classes: &Classes) -> Checked {
    let mut first: Option<(Rule, Rule)> = None;
    for key in ["source", "destination"] {
        let mut rules = rules_of(classes, key);
        // Whatever contains a prefix comes before it, and the last that does so is the narrowest.
        rules.sort_by_key(|Rule { prefix, at }| {
            (prefix.addr().is_ipv6(), address_bits(prefix.addr()), prefix.prefix_len(), *at)
        });
        let mut around: Vec<Rule> = Vec::new();
        for rule in rules {
            while around.last().is_some_and(|outer| !outer.prefix.contains(&rule.prefix)) {
                around.pop();
            }
            // The narrowest is enough: with one level of `inside`, what may lie in it can lie in no third one.
            if let Some(&outer) = around.last().filter(|outer| !may_contain(classes, outer, &rule)) {
                let pair = (rule, outer);
                if first.is_none_or(|(worst, other)| later(pair) < later((worst, other))) {
                    first = Some(pair);
                }
            }
            around.push(rule);
        }
    }
    first.map_or(Ok(()), |pair| Err(overlap(classes, pair)))
}

/// The prefixes of all classes in one direction.
fn rules_of(classes: &Classes, key: &'static str) -> Vec<Rule> {
    let mut rules = Vec::new();
    for (index, class) in classes.classes.iter().enumerate() {
        let prefixes = if key == "source" { &class.source } else { &class.destination };
        let at = Place::of(index, key);
        rules.extend(prefixes.iter().enumerate().map(|(item, &prefix)| Rule { prefix, at: at.item(item) }));
    }
    rules
}

/// Whether `inner`, which lies within `outer`, may do so.
fn may_contain(classes: &Classes, outer: &Rule, inner: &Rule) -> bool {
    let class_of = |rule: &Rule| &classes.classes[rule.at.class.unwrap_or_default()];
    outer.prefix != inner.prefix && class_of(inner).inside.as_ref() == Some(&class_of(outer).name)
}

/// The place of the one that stands later in the file: reading from the top, that is where it goes wrong.
fn later((a, b): (Rule, Rule)) -> Place {
    a.at.max(b.at)
}

/// Says of the later prefix how it lies to the earlier one.
fn overlap(classes: &Classes, (inner, outer): (Rule, Rule)) -> ClassesFault {
    let inner_is_later = inner.at > outer.at;
    let (found, before) = if inner_is_later { (inner, outer) } else { (outer, inner) };
    let owner = Quoted(&classes.classes[before.at.class.unwrap_or_default()].name);
    let (prefix, other) = (found.prefix, before.prefix);
    let what = if prefix == other {
        format!("{prefix} is also a prefix of class {owner}")
    } else {
        let relation = if inner_is_later { "lies within" } else { "contains" };
        let remedy = "; the narrower one's class has to be `inside` the other";
        let remedy = if found.at.class == before.at.class { "" } else { remedy };
        format!("{prefix} {relation} {other} of class {owner}{remedy}")
    };
    fault(classes, found.at, Some(before.at), &what)
}

/// Limiters of all classes together.
fn check_total(classes: &Classes) -> Checked {
    let mut total = 0;
    for (index, class) in classes.classes.iter().enumerate() {
        total += 1u64 << class.width();
        if total > MAX_LIMITERS {
            let key = if class.each.is_some() { "each" } else { "" };
            let what = format!(
                "expected at most {MAX_LIMITERS} limiters in all, got {total} with those of this class"
            );
            return Err(fault(classes, Place::of(index, key), None, &what));
        }
    }
    Ok(())
}
