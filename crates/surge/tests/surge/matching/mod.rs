//! Full matching: rules, prefilter, engines, what they take, what is learnt from that, and the attack.

mod application;
mod attack;
mod engines;
#[cfg(feature = "pcre2")]
mod pcre2;
mod prefilter;
mod rules;
mod seeds;

use trueplane_surge::matching::Rules;
use trueplane_surge::matching::pattern::{Flags, Pattern};
use trueplane_surge::matching::rules::Place;

/// The rules that come with trueplane.
const EXAMPLE: &[u8] = include_bytes!("../../../../../examples/attack.rules");

fn example() -> Rules {
    Rules::parse("attack.rules", EXAMPLE).unwrap()
}

/// `source` as a pattern; what is wrong with it otherwise.
fn pattern(source: &str, flags: Flags) -> Result<Pattern, String> {
    Pattern::parse(source, flags, Place { line: 1, column: 1 })
        .map_err(|(at, problem)| format!("{at}: {problem}"))
}

/// Rules with these options and sids from 1 on.
fn rules<'a>(options: impl IntoIterator<Item = &'a str>) -> Rules {
    let line = |(options, sid): (&str, u32)| format!("alert tcp any any -> any any ({options} sid:{sid};)\n");
    let text: String = options.into_iter().zip(1..).map(line).collect();
    Rules::parse("t.rules", text.as_bytes()).unwrap()
}
