//! No file imports a file that imports it, not even by way of others.
//!
//! What counts as an import is every path that is written out, and every `use`. What a module passes on (`pub use`) is the file's that has
//! it. A parent that uses a name of its own `pub use` without a path is not seen.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use crate::crates::crates;
use crate::root;
use crate::source::{Source, home, of_crate, places};

#[test]
fn no_files_import_each_other() {
    let found: Vec<String> = crates()
        .iter()
        .flat_map(|member| circles(&of_crate(root(), &member.folder, &member.module)))
        .collect();
    assert!(found.is_empty(), "files import each other:\n{}", found.join("\n"));
}

/// What ties the files of each circle, as text.
fn circles(sources: &[Source]) -> Vec<String> {
    let places = places(sources);
    // For every file those that it imports, with the names that it takes from them.
    let mut imports: Vec<BTreeMap<usize, BTreeSet<&str>>> = vec![BTreeMap::new(); sources.len()];
    for (place, source) in sources.iter().enumerate() {
        for path in &source.imports {
            if let Some(other) = home(path, sources, &places).filter(|&other| other != place) {
                imports[place].entry(other).or_default().insert(path.last().unwrap());
            }
        }
    }
    let reachable: Vec<BTreeSet<usize>> =
        (0..sources.len()).map(|start| reachable(start, &imports)).collect();
    let mut circles = BTreeSet::new();
    for (place, from_here) in reachable.iter().enumerate() {
        let circle: Vec<usize> =
            from_here.iter().copied().filter(|&other| reachable[other].contains(&place)).collect();
        if circle.len() > 1 {
            circles.insert(circle);
        }
    }
    let name = |place: usize| sources[place].file.display().to_string();
    let ties = |circle: &[usize]| {
        let mut text = String::new();
        for &from in circle {
            for (to, names) in imports[from].iter().filter(|(to, _)| circle.contains(to)) {
                let names = names.iter().copied().collect::<Vec<_>>().join(", ");
                writeln!(text, "  {} takes {names} from {}", name(from), name(*to)).unwrap();
            }
        }
        text
    };
    circles.iter().map(|circle| ties(circle)).collect()
}

/// Everything that `start` imports, and what that imports, and so on.
fn reachable(start: usize, imports: &[BTreeMap<usize, BTreeSet<&str>>]) -> BTreeSet<usize> {
    let mut seen = BTreeSet::new();
    let mut open = vec![start];
    while let Some(place) = open.pop() {
        open.extend(imports[place].keys().filter(|&&next| seen.insert(next)));
    }
    seen
}
