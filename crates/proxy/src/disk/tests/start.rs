//! The time that a start takes.

use std::time::Duration;

use trueplane_units::Nanos;

use super::super::folder::Folder;
use super::super::log::Log;
use super::super::segment::New;
use super::*;

/// All objects of a tier with a million are found, and it prints how long that takes.
#[test]
#[ignore = "writes 700 MB"]
fn a_million_objects() {
    let folder = Temporary::new();
    let limits = Limits::new(4 << 30);
    let open = |slots: &mut Slots| Log::open(Folder::open(&folder).unwrap(), limits, slots).unwrap();
    let mut log = open(&mut Slots::default());
    let body = [Bytes::from(vec![7; 500])];
    for number in 0..1_000_000_u32 {
        let name = format!("http://www.example.com/{number}");
        let digest = log.key().digest(name.as_bytes());
        let (head, took) = ([1; 60], Nanos(1_000_000));
        let new = New { kind: Kind::Object, digest, name: name.as_bytes(), head: &head, body: &body, took };
        if !log.has_room(1000) {
            log.turn().unwrap();
        }
        log.append(&new).unwrap();
    }
    let bytes = log.bytes();
    drop(log);
    let begun = now();
    let mut index = Slots::default();
    let log = open(&mut index);
    let took = Duration::from_nanos(now().since(begun).0);
    assert_eq!(index.len(), 1_000_000);
    println!("{} objects of {} MB in {took:?}", index.len(), bytes / 1_000_000);
    drop(log);
}
