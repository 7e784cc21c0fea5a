#![no_main]

use std::sync::{LazyLock, Mutex, PoisonError};

use libfuzzer_sys::fuzz_target;
use trueplane_fuzz::limit_bpf::{SETS, Twins, offer_all};

/// None, after one line that says why, where the process may not load programs.
static TWINS: LazyLock<Option<Mutex<Vec<Twins>>>> =
    LazyLock::new(|| match SETS.iter().map(|text| Twins::new(text)).collect() {
        Ok(twins) => Some(Mutex::new(twins)),
        Err(error) => {
            eprintln!("skipped: {error}");
            None
        }
    });

fuzz_target!(|bytes: &[u8]| {
    let Some(twins) = &*TWINS else { return };
    offer_all(&mut twins.lock().unwrap_or_else(PoisonError::into_inner), bytes);
});
