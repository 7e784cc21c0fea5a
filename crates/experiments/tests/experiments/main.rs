//! Experiments, made small.
#![cfg(target_os = "linux")]

mod dctcp;
mod limit;
mod spray;

/// An experiment may be tried so often: other work may take the cores away, and then it does not show its effect.
const TRIES: usize = 3;

/// Tries until what is found is as expected. Fails with what was wrong each time if it never is.
fn in_some_try(mut once: impl FnMut() -> Result<(), String>) {
    let mut wrong = Vec::new();
    while wrong.len() < TRIES {
        match once() {
            Ok(()) => return,
            Err(what) => wrong.push(what),
        }
    }
    panic!("{}", wrong.join("\n"));
}

fn check(holds: bool, what: impl FnOnce() -> String) -> Result<(), String> {
    if holds { Ok(()) } else { Err(what()) }
}
