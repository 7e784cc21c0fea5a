//! Whichever call that changes something fails: limits come whole, or everything is as it was before.

use std::fs;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use trueplane_limit::live::{Attached, Attachment, attach, detach};
use trueplane_linux::testnet::Host;
use trueplane_linux::{bpffs, clock, testnet};

use super::common::*;
use super::nth_call::failing;

/// Folders of pins that are not whole. Tests of other processes may pin meanwhile, so the list is made while they wait.
fn parts() -> Vec<PathBuf> {
    let _lock = bpffs::lock(Path::new(PINS)).unwrap();
    let folders = fs::read_dir(PINS).into_iter().flatten().flatten().map(|entry| entry.path());
    folders.filter(|folder| about(folder).is_none()).collect()
}

/// Time that the kernel may take to let go of a program.
const PATIENCE: Duration = Duration::from_secs(5);

type State = (Surroundings, Vec<PathBuf>);

/// The device with its program, disciplines, filters and pins, and pins that are not whole.
fn state(host: &Host) -> State {
    (surroundings(host), parts())
}

/// The state in which limits leave a device. What could not be removed with limits that were replaced goes with who comes next, once the kernel has let go
/// of their program, which takes a moment.
fn cleaned(host: &Host, clean: &State) -> State {
    let until = clock::now() + PATIENCE;
    loop {
        let found = state(host);
        if found == *clean || clock::now() > until {
            return found;
        }
        thread::sleep(Duration::from_millis(10));
        // It removes remains, whatever it says of the device.
        let _ = detach(&host.as_device());
    }
}

/// Attaches again and again, each time with the next call failing, until none does. `clean` is the device without limits, and `before`
/// makes what is to be there each time, if it is not; whether it did.
fn each_call_fails(host: &Host, attachment: &Attachment, clean: &State, before: impl Fn() -> bool) {
    let device = host.as_device();
    let mut found = state(host);
    for nth in 1.. {
        if before() {
            found = state(host);
        }
        let (attached, calls) = failing(nth, || attach(&device, attachment));
        let case = format!("{} {}, call {nth} of {calls}", attachment.mode, attachment.direction);
        match attached {
            Err(error) => {
                assert!(calls >= nth, "{case}: {error}, though no call failed");
                assert_eq!(state(host), found, "{case}: {error}");
            }
            // What can fail without harm, such as a look for a feature, or the removal of what is removed later.
            Ok(()) => {
                let runs = Attached::open(&device).unwrap_or_else(|error| panic!("{case}: {error}"));
                let place = (runs.about().mode, runs.about().direction);
                assert_eq!(place, (attachment.mode, attachment.direction), "{case}");
                detach(&device).unwrap_or_else(|error| panic!("{case}: {error}"));
                assert_eq!(cleaned(host, clean), *clean, "{case}");
            }
        }
        if calls < nth {
            assert!(nth > 20, "{case}: attaching takes more calls");
            return;
        }
    }
}

#[test]
fn whichever_call_fails_nothing_is_left_of_new_limits() {
    let _alone = testnet::alone();
    let Some(pair) = pair() else { return };
    let (host, device) = (&pair.left, pair.left.as_device());
    let clean = state(host);
    // Both kinds of place; the other direction of tc is the same calls.
    for (mode, direction) in [WAYS[0], WAYS[2]] {
        let attachment = attachment(mode, direction, SLOW);
        // What the library asks the kernel once for all is asked before anything fails.
        attach(&device, &attachment).unwrap();
        detach(&device).unwrap();
        each_call_fails(host, &attachment, &clean, || false);
    }
}

#[test]
fn whichever_call_fails_old_limits_go_on_or_new_ones_do() {
    let _alone = testnet::alone();
    let Some(pair) = pair() else { return };
    let (host, device) = (&pair.left, pair.left.as_device());
    let clean = state(host);
    // At the same place, and at another.
    for (from, to) in [(WAYS[0], WAYS[0]), (WAYS[2], WAYS[0])] {
        let old = attachment(from.0, from.1, SLOW);
        let old_runs = || {
            let is_gone = pins(&device).is_empty();
            if is_gone {
                attach(&device, &old).unwrap();
            }
            is_gone
        };
        each_call_fails(host, &forced(attachment(to.0, to.1, SLOW)), &clean, old_runs);
        old_runs();
        detach(&device).unwrap();
    }
}
