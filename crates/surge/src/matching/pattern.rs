//! Regular expressions of rules: the part of Perl's that all engines agree on.

use std::fmt;

use regex_syntax::ast::{self, Ast, parse::ParserBuilder};
use regex_syntax::hir::{Class, Hir, HirKind, Look, translate::TranslatorBuilder};

use super::rules::{Place, quoted};

/// Groups in groups, of which there are no more than so many in each other.
const DEEPEST: u32 = 100;

/// Flags of a pattern: the letters after the second slash.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Flags {
    /// `i`: ASCII letters in either case.
    pub case_insensitive: bool,
    /// `m`: `^` and `$` also at line feeds.
    pub multi_line: bool,
    /// `s`: `.` is a line feed too.
    pub dot_all: bool,
    /// `x`: white space and comments mean nothing.
    pub extended: bool,
}

/// A set of bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct ByteSet([u64; 4]);

impl ByteSet {
    /// The set of one.
    pub fn of(byte: u8) -> Self {
        let mut set = Self::default();
        set.insert(byte, byte);
        set
    }

    /// Adds the bytes from `from` to `to`, both included.
    pub fn insert(&mut self, from: u8, to: u8) {
        for byte in from..=to {
            self.0[usize::from(byte >> 6)] |= 1 << (byte & 63);
        }
    }

    /// Whether `byte` is in it.
    #[inline]
    pub fn contains(&self, byte: u8) -> bool {
        self.0[usize::from(byte >> 6)] >> (byte & 63) & 1 == 1
    }

    /// Its bytes, in their order.
    pub fn bytes(&self) -> impl Iterator<Item = u8> {
        (0..=u8::MAX).filter(|byte| self.contains(*byte))
    }

    /// Number of bytes in the set.
    pub fn len(&self) -> usize {
        self.0.iter().map(|word| word.count_ones() as usize).sum()
    }

    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.0 == [0; 4]
    }
}

/// Syntax tree of a regular expression, with alternatives in the order in which they are tried.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Node {
    /// One byte of these.
    Byte(ByteSet),
    /// No byte; what is around is so.
    Look(Look),
    /// One after the other; of none, no byte.
    Concat(Vec<Node>),
    /// The first of them with which all that follows matches.
    Alternate(Vec<Node>),
    /// A repetition.
    Repeat {
        /// Part that is repeated.
        node: Box<Node>,
        /// Smallest number of repetitions.
        min: u32,
        /// Largest number of repetitions; `None` for no limit.
        max: Option<u32>,
        /// Whether more is tried before less.
        greedy: bool,
    },
}

/// A regular expression over bytes with Perl's meaning: the leftmost match, alternatives in their order, greedy and
/// lazy repetition.
///
/// It is what Perl, PCRE2 and the `regex` crate all read in the same way: literals, classes, `.`, groups of every kind
/// that does not look around, `|`, `* + ? {m,n}` and their lazy forms, `^ $ \A \z \b \B`, and flags inside. Refused
/// are, in one line: look-around and back references, which no linear engine has; atomic groups and possessive
/// quantifiers; and what `regex` and PCRE2 read differently (`[a&&b]`, `[[a]b]`, `\<`, Unicode). One departure from
/// Perl remains: `$` is the end of the payload alone and not a line feed at its end either, as with PCRE's flag `E`.
///
/// Groups nest to a depth of 100. What is built from one takes O(length) time and memory, but for counted repetitions,
/// which engines may write out and then limit.
#[derive(Clone)]
pub struct Pattern {
    source: String,
    flags: Flags,
    node: Node,
    place: Place,
}

impl Pattern {
    /// Reads `source`, which stands at `place` of a file of rules.
    ///
    /// # Errors
    ///
    /// What is wrong, and the offset in `source`.
    pub fn parse(source: &str, flags: Flags, place: Place) -> Result<Self, (usize, String)> {
        let fault = |span: &ast::Span, what: &dyn fmt::Display| {
            let found = source.get(span.start.offset..span.end.offset).filter(|found| !found.is_empty());
            let found = found.map_or_else(|| "its end".into(), quoted);
            (
                span.start.offset,
                format!("expected a regular expression that all engines have, got {found}: {what}"),
            )
        };
        let ast =
            ParserBuilder::new().ignore_whitespace(flags.extended).nest_limit(DEEPEST).build().parse(source);
        let ast = ast.map_err(|error| fault(error.span(), error.kind()))?;
        let Flags { case_insensitive, multi_line, dot_all, .. } = flags;
        let context = Context { case_insensitive, multi_line, dot_all, swap_greed: false };
        let node = Reader { source, context }.read(&ast).map_err(|(span, what)| fault(&span, &what))?;
        Ok(Self { source: source.into(), flags, node, place })
    }

    /// Text of the pattern, as it stands between its slashes.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// The letters after it.
    pub fn flags(&self) -> Flags {
        self.flags
    }

    /// Syntax tree of the pattern, with its flags worked in.
    pub fn node(&self) -> &Node {
        &self.node
    }

    /// Place of the pattern in its file.
    pub fn place(&self) -> Place {
        self.place
    }
}

impl fmt::Debug for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "/{}/ {:?}", self.source, self.flags)
    }
}

/// Place of an error, and its description.
type Fault = (ast::Span, String);

/// The flags in force.
#[derive(Clone, Copy, Debug)]
struct Context {
    case_insensitive: bool,
    multi_line: bool,
    dot_all: bool,
    swap_greed: bool,
}

/// Turns syntax into nodes.
///
/// The syntax is kept as it is: the `regex` crate simplifies it (`a|b` to `[ab]`), and some of what blows up blows up
/// no more.
struct Reader<'a> {
    source: &'a str,
    context: Context,
}

impl Reader<'_> {
    fn read(&mut self, ast: &Ast) -> Result<Node, Fault> {
        Ok(match ast {
            Ast::Empty(_) => Node::Concat(Vec::new()),
            Ast::Flags(flags) => {
                self.set(&flags.flags)?;
                Node::Concat(Vec::new())
            }
            Ast::Group(group) => {
                let outside = self.context;
                if let ast::GroupKind::NonCapturing(flags) = &group.kind {
                    self.set(flags)?;
                }
                let node = self.read(&group.ast)?;
                self.context = outside;
                node
            }
            Ast::Concat(concat) => Node::Concat(self.read_all(&concat.asts)?),
            Ast::Alternation(alternation) => Node::Alternate(self.read_all(&alternation.asts)?),
            Ast::Repetition(repetition) => self.repeat(repetition)?,
            Ast::Assertion(assertion) => {
                self.agreed(assertion)?;
                self.leaf(ast)?
            }
            Ast::ClassBracketed(class) => {
                flat(&class.kind)?;
                self.leaf(ast)?
            }
            Ast::Literal(_) | Ast::Dot(_) | Ast::ClassUnicode(_) | Ast::ClassPerl(_) => self.leaf(ast)?,
        })
    }

    fn read_all(&mut self, asts: &[Ast]) -> Result<Vec<Node>, Fault> {
        asts.iter().map(|ast| self.read(ast)).collect()
    }

    fn repeat(&mut self, repetition: &ast::Repetition) -> Result<Node, Fault> {
        use ast::{RepetitionKind as Kind, RepetitionRange as Range};
        if let Ast::Repetition(_) = *repetition.ast {
            let problem = "a quantifier after a quantifier; possessive ones are not understood";
            return Err((repetition.op.span, problem.into()));
        }
        let (min, max) = match repetition.op.kind {
            Kind::ZeroOrOne => (0, Some(1)),
            Kind::ZeroOrMore => (0, None),
            Kind::OneOrMore => (1, None),
            Kind::Range(Range::Exactly(times)) => (times, Some(times)),
            Kind::Range(Range::AtLeast(min)) => (min, None),
            Kind::Range(Range::Bounded(min, max)) => (min, Some(max)),
        };
        let node = Box::new(self.read(&repetition.ast)?);
        Ok(Node::Repeat { node, min, max, greedy: repetition.greedy != self.context.swap_greed })
    }

    /// Sets flags to the end of the group.
    fn set(&mut self, flags: &ast::Flags) -> Result<(), Fault> {
        let mut on = true;
        for item in &flags.items {
            match item.kind {
                ast::FlagsItemKind::Negation => on = false,
                ast::FlagsItemKind::Flag(flag) => match flag {
                    ast::Flag::CaseInsensitive => self.context.case_insensitive = on,
                    ast::Flag::MultiLine => self.context.multi_line = on,
                    ast::Flag::DotMatchesNewLine => self.context.dot_all = on,
                    // The parser has seen to it.
                    ast::Flag::IgnoreWhitespace => {}
                    ast::Flag::SwapGreed => self.context.swap_greed = on,
                    ast::Flag::Unicode | ast::Flag::CRLF => {
                        return Err((item.span, "only the flags i, m, s, x and U are understood".into()));
                    }
                },
            }
        }
        Ok(())
    }

    /// Refuses what PCRE2 reads as something else.
    fn agreed(&self, assertion: &ast::Assertion) -> Result<(), Fault> {
        use ast::AssertionKind as Kind;
        match assertion.kind {
            Kind::StartLine | Kind::EndLine | Kind::StartText | Kind::EndText => Ok(()),
            Kind::WordBoundary | Kind::NotWordBoundary => Ok(()),
            _ => Err((assertion.span, "engines do not agree on what it is".into())),
        }
    }

    /// Node of an expression that has no parts.
    fn leaf(&self, ast: &Ast) -> Result<Node, Fault> {
        let mut translator = TranslatorBuilder::new()
            .utf8(false)
            .unicode(false)
            .case_insensitive(self.context.case_insensitive)
            .multi_line(self.context.multi_line)
            .dot_matches_new_line(self.context.dot_all)
            .build();
        let hir = translator
            .translate(self.source, ast)
            .map_err(|error| (*ast.span(), error.kind().to_string()))?;
        of_hir(&hir).ok_or_else(|| (*ast.span(), "it is not about bytes".into()))
    }
}

/// Refuses classes in classes and their intersections, which are literals to PCRE2.
fn flat(set: &ast::ClassSet) -> Result<(), Fault> {
    let refuse = |span: &ast::Span| Err((*span, "a class within a class".into()));
    let item = match set {
        ast::ClassSet::Item(item) => item,
        ast::ClassSet::BinaryOp(operation) => return refuse(&operation.span),
    };
    let items = match item {
        ast::ClassSetItem::Union(union) => union.items.as_slice(),
        one => std::slice::from_ref(one),
    };
    items.iter().try_for_each(|item| match item {
        ast::ClassSetItem::Bracketed(class) => refuse(&class.span),
        _ => Ok(()),
    })
}

/// The node of what has no parts, if it is about bytes.
fn of_hir(hir: &Hir) -> Option<Node> {
    match hir.kind() {
        HirKind::Empty => Some(Node::Concat(Vec::new())),
        HirKind::Literal(literal) => {
            let mut bytes: Vec<_> = literal.0.iter().map(|byte| Node::Byte(ByteSet::of(*byte))).collect();
            if bytes.len() == 1 { bytes.pop() } else { Some(Node::Concat(bytes)) }
        }
        HirKind::Class(Class::Bytes(class)) => {
            let mut set = ByteSet::default();
            class.iter().for_each(|range| set.insert(range.start(), range.end()));
            Some(Node::Byte(set))
        }
        HirKind::Look(look) => Some(Node::Look(*look)),
        _ => None,
    }
}
