//! Disks that are full, fixed, gone, or do not answer: nothing waits for them for long, and nothing comes back from them.

use std::fs;

use super::*;

#[test]
fn a_full_disk_makes_room_and_is_read_meanwhile() {
    let folder = Temporary::new();
    let disk = open(&folder);
    (0..40).for_each(|number| disk.put(&number.to_string(), &numbered(number, 4000), 1));
    hook::of(&folder).set_full(true);
    disk.put("c", b"no", 1);
    assert_eq!(disk.stats().dropped, 1);
    assert_eq!(
        disk.news().unwrap(),
        format!("nothing is written to the disk for 0 s: {}: no storage space", folder.display())
    );
    // The oldest segments have made room, which was not enough; what stands in the last one is there.
    assert_eq!((body(&disk, "0"), body(&disk, "39").unwrap()), (None, numbered(39, 4000)));
    hook::of(&folder).set_full(false);
    until(|| disk.stats().is_in_use);
    disk.put("c", b"yes", 1);
    assert_eq!(disk.news().unwrap(), "the disk is used again");
    drop(disk);
    let disk = open(&folder);
    assert_eq!(["0", "39", "c"].map(|name| body(&disk, name).is_some()), [false, true, true]);
}

#[test]
fn what_is_removed_while_the_disk_is_full_does_not_come_back() {
    let folder = Temporary::new();
    let disk = open(&folder);
    ["a", "b"].into_iter().for_each(|name| disk.put(name, b"here", 1));
    hook::of(&folder).set_full(true);
    let number = disk.remove(b"a").number.unwrap();
    // It cannot be written; so the files are removed.
    assert!(wait(disk.shared.queue.settled(number)));
    drop(disk);
    hook::of(&folder).set_full(false);
    let disk = open(&folder);
    assert_eq!(["a", "b"].map(|name| body(&disk, name)), [None, None]);
}

/// Where nothing can be written or removed, a purge says that it does not know, and nothing is served.
#[test]
fn what_cannot_be_removed_is_not_settled_and_goes_when_it_can() {
    let folder = Temporary::new();
    let disk = open_with(&folder, LIMITS, Patience { answer: Duration::from_millis(20), ..SHORT });
    ["a", "b"].into_iter().for_each(|name| disk.put(name, b"here", 1));
    let hook = hook::of(&folder);
    hook.set_full(true);
    hook.set_fixed(true);
    let removed = disk.remove(b"a");
    assert!(removed.was_there && !wait(disk.settled(removed.number.unwrap())));
    until(|| !disk.shared.is_open());
    assert_eq!(["a", "b"].map(|name| body(&disk, name)), [None, None]);
    hook.set_full(false);
    hook.set_fixed(false);
    until(|| disk.stats().is_in_use);
    assert!(wait(disk.all_settled()));
    drop(disk);
    let disk = open(&folder);
    assert_eq!(body(&disk, "a"), None);
}

#[test]
fn a_folder_that_is_gone_is_made_again() {
    let folder = Temporary::new();
    let disk = open(&folder);
    disk.put("a", b"here", 1);
    fs::remove_dir_all(&*folder).unwrap();
    assert_eq!(body(&disk, "a"), None);
    until(|| folder.join("key").exists() && disk.stats().is_in_use);
    disk.put("a", b"again", 1);
    assert_eq!(body(&disk, "a").unwrap(), b"again");
}

#[test]
fn a_disk_that_does_not_answer_is_left_out_and_left_behind() {
    let folder = Temporary::new();
    let patience = Patience { answer: Duration::from_millis(20), end: Duration::from_millis(20), ..SHORT };
    let disk = open_with(&folder, LIMITS, patience);
    disk.put("a", b"here", 1);
    let hook = hook::of(&folder);
    hook.set_hanging(true);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    let found = runtime.block_on(disk.find(b"a", 1, (disk.last(), &Arc::default()), |_| true));
    assert!(found.is_none());
    assert!(disk.news().unwrap().contains("it does not answer in time"));
    hook.set_hanging(false);
    until(|| disk.stats().is_in_use);
    until(|| body(&disk, "a").is_some());
}

/// A pipe that nobody reads makes whoever opens the lock wait.
#[test]
fn a_disk_that_hangs_at_the_start_stops_nobody() {
    let folder = Temporary::new();
    fs::create_dir(&*folder).unwrap();
    let made = std::process::Command::new("mkfifo").arg(folder.join("lock")).status().unwrap();
    assert!(made.success());
    let moment = Duration::from_millis(20);
    let disk = open_with(&folder, LIMITS, Patience { open: moment, end: moment, ..SHORT });
    assert!(disk.news().unwrap().starts_with("the disk is left out until it answers"));
    disk.offer(b"a".to_vec(), 1, object(b"here", 1, disk.begin()), None, disk.last());
    assert_eq!((body(&disk, "a"), disk.stats().dropped), (None, 1));
    disk.supersede(b"a", disk.begin());
    assert!(!wait(disk.settled(disk.remove(b"a").number.unwrap())));
    disk.close(moment);
    // It goes on, and ends at once.
    drop(fs::OpenOptions::new().read(true).open(folder.join("lock")).unwrap());
}

#[test]
fn what_waits_is_bounded_in_bytes() {
    let queue = Queue::new(10_000);
    let item = |name: &str| {
        let object = object(&[0; 3000], 1, 0);
        let (head, bytes) = (head_of(&object).unwrap(), weight(name.as_bytes(), &object));
        Item { name: name.into(), url: name.len(), head, object, variation: None, bytes, left: 0 }
    };
    assert!(["a", "b"].iter().all(|name| queue.offer(item(name))));
    assert!(!queue.offer(item("c")), "3000 bytes and what is around them, three times");
}

#[test]
fn a_writer_that_panics_keeps_nobody_waiting() {
    let folder = Temporary::new();
    let disk = open(&folder);
    disk.put("a", b"here", 1);
    hook::of(&folder).set_panicking();
    let removed = disk.remove(b"a").number.unwrap();
    assert!(!wait(disk.shared.queue.settled(removed)));
}

/// So many that they take all places of reads: the others do not wait for these for ever.
#[test]
fn reads_that_hang_keep_others_waiting_once() {
    let folder = Temporary::new();
    let patience = Patience {
        answer: Duration::from_millis(20),
        retry: Duration::from_secs(600),
        end: Duration::from_millis(20),
        ..SHORT
    };
    let disk = open_with(&folder, LIMITS, patience);
    disk.put("a", b"here", 1);
    let places = u32::try_from(disk.shared.reads.available_permits()).unwrap();
    let permits = Arc::clone(&disk.shared.reads);
    let _taken = wait(permits.acquire_many(places)).unwrap();
    assert!(disk.shared.reads());
    assert_eq!(body(&disk, "a"), None);
    assert!(!disk.shared.reads(), "nothing is read for ten minutes");
}

#[test]
fn a_disk_that_is_full_at_the_start_makes_room() {
    let folder = Temporary::new();
    let disk = open(&folder);
    (0..40).for_each(|number| disk.put(&number.to_string(), &numbered(number, 4000), 1));
    drop(disk);
    // The last segment has no room for another record.
    let limits = Limits { segment: 16 << 10, ..LIMITS };
    let hook = hook::of(&folder);
    hook.set_room_after_removals(1);
    let disk = open_with(&folder, limits, SHORT);
    until(|| disk.stats().is_in_use);
    assert_eq!((body(&disk, "0"), body(&disk, "39").unwrap()), (None, numbered(39, 4000)));
    assert_eq!(disk.news(), None);
}
