//! The sources of a crate: what each file is as a module, and what it names of others.

use std::collections::{BTreeSet, HashMap};
use std::fs;
use std::path::{Path, PathBuf};

use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};

/// A path through modules, such as `["trueplane_fair", "workload", "csv"]`.
pub(crate) type ModulePath = Vec<String>;

/// One file of Rust. What stands in its `#[cfg(test)]` modules does not count.
#[derive(Debug)]
pub(crate) struct Source {
    /// Where it is, from the root of the repository.
    pub(crate) file: PathBuf,
    /// The module that it is.
    pub(crate) module: ModulePath,
    /// Modules that it declares and that are files.
    pub(crate) modules: Vec<Declared>,
    /// What it names of its own crate and of our others, from the crate on. A `pub use` of what lies below it is not among them.
    pub(crate) imports: BTreeSet<ModulePath>,
    /// What it passes on: the name, and what it stands for.
    pub(crate) reexports: Vec<(String, ModulePath)>,
    /// Every other path that it names: of the standard library, of foreign crates, and of what it has itself.
    pub(crate) foreign: BTreeSet<ModulePath>,
    /// Whether it says `unsafe`.
    pub(crate) has_unsafe: bool,
}

impl Source {
    /// The modules that this one has for tests alone.
    fn tests(&self) -> Vec<ModulePath> {
        let tests = self.modules.iter().filter(|declared| declared.is_test);
        tests.map(|declared| [&self.module[..], std::slice::from_ref(&declared.name)].concat()).collect()
    }
}

/// A `mod name;`.
#[derive(Debug)]
pub(crate) struct Declared {
    pub(crate) name: String,
    /// The features without which it is not there.
    pub(crate) features: Vec<String>,
    /// Whether it is there for tests alone.
    pub(crate) is_test: bool,
}

/// All sources below `crates/<folder>/src` but those that are there for tests alone.
pub(crate) fn of_crate(root: &Path, folder: &str, name: &str) -> Vec<Source> {
    let start = Path::new("crates").join(folder).join("src");
    let mut files = Vec::new();
    collect(root, &start, &mut files);
    files.sort();
    let modules =
        files.iter().map(|file| module_of(file.strip_prefix(&start).unwrap(), name)).collect::<Vec<_>>();
    let known: BTreeSet<ModulePath> = modules.iter().cloned().collect();
    let mut sources: Vec<Source> =
        files.into_iter().zip(&modules).map(|(file, module)| read(root, file, module, &known)).collect();
    let tests: Vec<ModulePath> = sources.iter().flat_map(Source::tests).collect();
    sources.retain(|source| !tests.iter().any(|test| source.module.starts_with(test)));
    sources
}

fn collect(root: &Path, folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(root.join(folder)).unwrap() {
        let entry = entry.unwrap();
        let path = folder.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            collect(root, &path, files);
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            files.push(path);
        }
    }
}

/// `workload/csv.rs` is `NAME::workload::csv`; `mod.rs`, `lib.rs` and `main.rs` are the module of their folder.
fn module_of(file: &Path, name: &str) -> ModulePath {
    let mut module = vec![name.to_owned()];
    module.extend(file.with_extension("").iter().map(|part| part.to_str().unwrap().to_owned()));
    if ["mod", "lib", "main"].contains(&module.last().unwrap().as_str()) {
        module.pop();
    }
    module
}

fn read(root: &Path, file: PathBuf, module: &ModulePath, known: &BTreeSet<ModulePath>) -> Source {
    let text = fs::read_to_string(root.join(&file)).unwrap();
    let tokens: TokenStream = text.parse().unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    let mut source = Source {
        file,
        module: module.clone(),
        modules: Vec::new(),
        imports: BTreeSet::new(),
        reexports: Vec::new(),
        foreign: BTreeSet::new(),
        has_unsafe: false,
    };
    Reader { source: &mut source, known, names: HashMap::new() }.read(module, tokens);
    source
}

/// Goes through the tokens of a file.
struct Reader<'a> {
    source: &'a mut Source,
    /// The modules of the crate that are files.
    known: &'a BTreeSet<ModulePath>,
    /// What names stand for that a `use` has brought in so far.
    names: HashMap<String, ModulePath>,
}

impl Reader<'_> {
    fn read(&mut self, module: &ModulePath, tokens: TokenStream) {
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        // Attributes before the item that comes.
        let mut attributes = String::new();
        let mut at = 0;
        while at < tokens.len() {
            match &tokens[at] {
                // That of the whole file, as `#![forbid(…)]`, is nobody's in particular.
                TokenTree::Punct(mark) if mark.as_char() == '#' && is(tokens.get(at + 1), '!') => {
                    at += 3;
                }
                TokenTree::Punct(mark) if mark.as_char() == '#' => {
                    let attribute = match tokens.get(at + 1) {
                        Some(TokenTree::Group(group)) => group.stream().to_string().replace(' ', ""),
                        _ => String::new(),
                    };
                    // What a text says is no attribute.
                    if !attribute.starts_with("doc=") {
                        attributes += &attribute;
                    }
                    at += 2;
                }
                TokenTree::Ident(word) if word == "mod" => {
                    let (name, body) = (tokens[at + 1].to_string(), &tokens[at + 2]);
                    match body {
                        TokenTree::Group(body) if !is_for_tests(&attributes) => {
                            self.read(&[&module[..], &[name]].concat(), body.stream());
                        }
                        TokenTree::Group(_) => {}
                        _ => self.source.modules.push(Declared {
                            name,
                            features: features(&attributes),
                            is_test: is_for_tests(&attributes),
                        }),
                    }
                    attributes.clear();
                    at += 3;
                }
                TokenTree::Ident(word) if word == "use" && !is(tokens.get(at + 1), '<') => {
                    let end = at + tokens[at..].iter().position(|token| is(Some(token), ';')).unwrap();
                    let is_public = at > 0 && is_public(&tokens[..at]);
                    let mut leaves = Vec::new();
                    spread(&tokens[at + 1..end], &[], &mut leaves);
                    if !is_for_tests(&attributes) {
                        leaves.into_iter().for_each(|leaf| self.used(module, leaf, is_public));
                    }
                    attributes.clear();
                    at = end + 1;
                }
                TokenTree::Ident(word) => {
                    self.source.has_unsafe |= word == "unsafe";
                    let path = path_at(&tokens[at..]);
                    at += path.len() * 3 - 2;
                    if path.len() > 1 {
                        self.named(module, path);
                    }
                }
                TokenTree::Group(group) => {
                    attributes.clear();
                    if !is_restriction(&tokens[..at], group) {
                        self.read(module, group.stream());
                    }
                    at += 1;
                }
                TokenTree::Punct(mark) => {
                    if mark.as_char() == ';' {
                        attributes.clear();
                    }
                    at += 1;
                }
                TokenTree::Literal(_) => at += 1,
            }
        }
    }

    fn used(&mut self, module: &ModulePath, leaf: Leaf, is_public: bool) {
        let Leaf { path, name } = leaf;
        let below = [&module[..], &path[..1]].concat();
        let path = if self.known.contains(&below) { [&module[..], &path[..]].concat() } else { path };
        let path = self.absolute(module, path);
        self.names.insert(name.clone(), path.clone().unwrap_or_else(|foreign| foreign));
        match path {
            Ok(path) if is_public && path.starts_with(module) => self.source.reexports.push((name, path)),
            Ok(path) => {
                if is_public {
                    self.source.reexports.push((name, path.clone()));
                }
                self.source.imports.insert(path);
            }
            Err(foreign) => _ = self.source.foreign.insert(foreign),
        }
    }

    fn named(&mut self, module: &ModulePath, mut path: ModulePath) {
        let below = [&module[..], &path[..1]].concat();
        if let Some(meant) = self.names.get(&path[0]) {
            path = [&meant[..], &path[1..]].concat();
        } else if self.known.contains(&below) {
            path = [&module[..], &path[..]].concat();
        }
        match self.absolute(module, path) {
            Ok(path) => _ = self.source.imports.insert(path),
            Err(foreign) => _ = self.source.foreign.insert(foreign),
        }
    }

    /// The path from a crate of ours on; as it was if it is foreign or begins with a name of this file.
    fn absolute(&self, module: &ModulePath, path: ModulePath) -> Result<ModulePath, ModulePath> {
        let (from, rest) = match path[0].as_str() {
            "crate" => (&module[..1], &path[1..]),
            "self" => (&module[..], &path[1..]),
            "super" => {
                let up = path.iter().take_while(|part| *part == "super").count();
                (&module[..module.len() - up], &path[up..])
            }
            first if first.starts_with("trueplane") => (&module[..0], &path[..]),
            _ => return Err(path),
        };
        Ok([from, rest].concat())
    }
}

/// One name of a `use`.
struct Leaf {
    path: ModulePath,
    /// Name under which it is used here.
    name: String,
}

/// `a::{b, c::d as e}` is `a::b` and `a::c::d`.
fn spread(tokens: &[TokenTree], before: &[String], leaves: &mut Vec<Leaf>) {
    for one in tokens.split(|token| is(Some(token), ',')) {
        let mut path = before.to_vec();
        let mut name = None;
        let mut is_list = false;
        let mut parts = one.iter();
        while let Some(part) = parts.next() {
            match part {
                TokenTree::Ident(word) if word == "as" => name = parts.next().map(ToString::to_string),
                TokenTree::Ident(word) => path.push(word.to_string()),
                TokenTree::Group(list) => {
                    spread(&list.stream().into_iter().collect::<Vec<_>>(), &path, leaves);
                    is_list = true;
                }
                TokenTree::Punct(mark) if mark.as_char() == '*' => path.push("*".to_owned()),
                _ => {}
            }
        }
        if path.len() > 1 && path.last().unwrap() == "self" {
            path.pop();
        }
        if !is_list && !path.is_empty() && !one.is_empty() {
            let name = name.unwrap_or_else(|| path.last().unwrap().clone());
            leaves.push(Leaf { path, name });
        }
    }
}

/// The names that `tokens` begin with, as far as they are joined by `::`.
fn path_at(tokens: &[TokenTree]) -> ModulePath {
    let mut path = vec![tokens[0].to_string()];
    while let [one, two, TokenTree::Ident(word), ..] = &tokens[path.len() * 3 - 2..]
        && is(Some(one), ':')
        && is(Some(two), ':')
    {
        path.push(word.to_string());
    }
    path
}

/// The features that a `cfg` asks for; none if it says `not`.
fn features(attributes: &str) -> Vec<String> {
    let wanted = attributes.split("feature=\"").skip(1).filter_map(|rest| rest.split('"').next());
    if attributes.contains("cfg(not(") { Vec::new() } else { wanted.map(str::to_owned).collect() }
}

fn is_for_tests(attributes: &str) -> bool {
    attributes.contains("cfg(test)") || attributes.contains("cfg(all(test,")
}

/// Whether a token is this punctuation mark.
fn is(token: Option<&TokenTree>, mark: char) -> bool {
    matches!(token, Some(TokenTree::Punct(found)) if found.as_char() == mark)
}

/// Whether `pub` or `pub(…)` stands at the end.
fn is_public(tokens: &[TokenTree]) -> bool {
    match tokens {
        [.., TokenTree::Ident(word), TokenTree::Group(_)] | [.., TokenTree::Ident(word)] => word == "pub",
        _ => false,
    }
}

/// Whether `group` is that of `pub(in crate::limit)`, which names no import.
fn is_restriction(before: &[TokenTree], group: &Group) -> bool {
    group.delimiter() == Delimiter::Parenthesis
        && matches!(before, [.., TokenTree::Ident(word)] if word == "pub")
}

/// Where among `sources` each module is.
pub(crate) fn places(sources: &[Source]) -> HashMap<&[String], usize> {
    sources.iter().enumerate().map(|(place, source)| (&source.module[..], place)).collect()
}

/// The place among `sources` of the file in which what `path` names is written; `None` if it is another crate's.
pub(crate) fn home(path: &[String], sources: &[Source], places: &HashMap<&[String], usize>) -> Option<usize> {
    let (length, place) =
        (1..=path.len()).rev().find_map(|length| Some((length, *places.get(&path[..length])?)))?;
    let Some(name) = path.get(length) else { return Some(place) };
    match sources[place].reexports.iter().find(|(known, target)| known == name && target[..] != *path) {
        Some((_, target)) => home(target, sources, places).or(Some(place)),
        None => Some(place),
    }
}
