//! The frames of `vectors/limit/classifier.json`, which `cargo xtask gen` writes, and which the program in the kernel is
//! held to as well.

use std::path::Path;

use serde::Deserialize;
use trueplane_limit::classes::Classes;
use trueplane_limit::classifier::Classifier;
use trueplane_limit::frame::Frame;

#[derive(Deserialize)]
struct Vectors {
    sets: Vec<Set>,
}

#[derive(Deserialize)]
struct Set {
    name: String,
    classes: String,
    limiters: u32,
    counters: u32,
    frames: Vec<Vector>,
}

#[derive(Deserialize)]
struct Vector {
    frame: String,
    fwmark: u32,
    limiter: Option<u32>,
    counter: Option<u32>,
}

fn bytes_of(hex: &str) -> Vec<u8> {
    assert!(hex.len().is_multiple_of(2), "{hex}");
    (0..hex.len()).step_by(2).map(|at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap()).collect()
}

#[test]
fn every_frame_meets_the_limiter_that_the_vectors_say() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../vectors/limit/classifier.json");
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let vectors: Vectors = serde_json::from_str(&text).unwrap();
    let (mut met, mut untouched) = (0, 0);
    for set in vectors.sets {
        let classifier = Classifier::new(&Classes::parse(&set.name, &set.classes).unwrap());
        assert_eq!((classifier.limiter_count(), classifier.counter_count()), (set.limiters, set.counters));
        for Vector { frame, fwmark, limiter, counter } in set.frames {
            let found = classifier.classify(&Frame::parse(&bytes_of(&frame)), fwmark);
            let indices = found.map(|at| (at.limiter, at.counter));
            assert_eq!(indices, limiter.zip(counter), "{}: {frame}, mark {fwmark}", set.name);
            if indices.is_some() {
                met += 1;
            } else {
                untouched += 1;
            }
        }
    }
    assert!(
        met >= 100 && untouched >= 100,
        "{met} limited, {untouched} untouched; are the vectors all there?"
    );
}
