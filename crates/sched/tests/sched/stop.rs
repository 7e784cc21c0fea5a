//! Studies of order stop when they are told to, also where few packets make much work.

use std::sync::atomic::{AtomicU64, Ordering};

use trueplane_sched::bandwidth::{self, Bandwidth};
use trueplane_sched::inversions::{self, Inversions};
use trueplane_study::{Error, Observer, Study};
use trueplane_units::Parameters;

/// Says stop after having been asked so often.
struct After {
    asked: AtomicU64,
    patience: u64,
}

impl Observer for After {
    fn interrupted(&self) -> bool {
        self.asked.fetch_add(1, Ordering::Relaxed) >= self.patience
    }
}

/// How often a study asks; that it stops wherever it is told to.
fn questions<T>(study: impl Fn(&dyn Observer) -> Result<T, Error>) -> u64 {
    for patience in 0..1_000 {
        let observer = After { asked: AtomicU64::new(0), patience };
        match study(&observer) {
            Ok(_) => {
                assert_eq!(observer.asked.into_inner(), patience, "it was told to stop and went on");
                return patience;
            }
            Err(error) => assert_eq!(error.to_string(), "interrupted"),
        }
    }
    panic!("a thousand questions")
}

#[test]
fn a_study_of_few_packets_asks_before_and_after_every_run() {
    let given = [
        ("ranks", "uniform:500,class"),
        ("queues", "8,16"),
        ("load", "0.9,0.5"),
        ("policies", "fifo,optimal"),
        ("packets", "1000"),
    ];
    let options = inversions::Options::given(&given).unwrap();
    // Four scenarios of two runs, of which each asks at its beginning and its end; three optima, as the load changes none, and once
    // after them; once as classes are counted.
    assert_eq!(questions(|observer| Inversions::run(&options, observer)), 4 * 2 * 2 + 3 + 1 + 1);
}

#[test]
fn a_short_study_of_bandwidth_asks_before_and_after_every_run() {
    let given = [("policies", "fifo,pifo"), ("flows", "2"), ("step", "100us")];
    let options = bandwidth::Options::given(&given).unwrap();
    assert_eq!(questions(|observer| Bandwidth::run(&options, observer)), 4);
}
