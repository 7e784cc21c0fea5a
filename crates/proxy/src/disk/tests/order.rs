//! What was removed is neither written nor found, in whichever order things happen.

use std::fs;

use super::*;

#[test]
fn what_was_fetched_before_a_removal_is_not_written() {
    let folder = Temporary::new();
    let disk = open(&folder);
    let old = object(b"old", 1, disk.begin());
    disk.remove(b"a");
    disk.offer(b"a".to_vec(), 1, old, None, disk.last());
    disk.put("b", b"new", 1);
    assert_eq!((body(&disk, "a"), disk.stats().written), (None, 1));
}

/// The older one has left the memory, and waits, when the newer one is fetched.
#[test]
fn what_was_fetched_before_a_newer_answer_is_not_written() {
    let folder = Temporary::new();
    let disk = open(&folder);
    let old = object(b"old", 1, disk.begin());
    let number = disk.begin();
    let new = object(b"new", 1, number);
    disk.supersede(b"a", number);
    disk.offer(b"a".to_vec(), 1, new, None, disk.last());
    disk.offer(b"a".to_vec(), 1, old, None, disk.last());
    until(|| disk.stats().refused == 1);
    assert_eq!(body(&disk, "a").unwrap(), b"new");
}

#[test]
fn what_is_stored_under_another_name_is_as_old_as_its_fetch() {
    let folder = Temporary::new();
    let disk = open(&folder);
    let (before, old) = (disk.begin(), disk.begin());
    let renewed = disk.renew(b"a", b"a\nx", before);
    assert!(renewed > old, "what was fetched for the other name is older");
    disk.remove(b"a");
    assert_eq!(disk.renew(b"a", b"a\nx", before), before, "it stays older than the removal");
}

/// While a look reads the disk, the URL is removed, or all of a pattern: the look has found nothing.
#[test]
fn what_is_removed_while_it_is_read_is_not_found() {
    let removals: [fn(&Disk); 3] =
        [|disk| assert!(disk.remove(b"a").was_there), |disk| disk.clear_while(|| ()), |disk| disk.clear()];
    for remove in removals {
        let folder = Temporary::new();
        let disk = open(&folder);
        disk.put("a", b"here", 1);
        let hook = hook::of(&folder);
        hook.set_hanging(true);
        let number = disk.begin();
        let look = thread::spawn({
            let disk = Arc::clone(&disk);
            move || body_since(&disk, "a", number)
        });
        hook.wait_for_read();
        remove(&disk);
        hook.set_hanging(false);
        assert_eq!(look.join().unwrap(), None);
        assert!(!disk.if_not_removed(b"a", number, || unreachable!("it was removed")));
    }
}

/// As if the process were killed: the files are as they are when the removal is said to be done.
#[test]
fn what_was_removed_is_not_in_the_files() {
    let removals: [fn(&Disk); 3] = [
        |disk| assert!(disk.remove(b"a").was_there),
        |disk| disk.supersede(b"a", disk.begin()),
        |disk| disk.clear_while(|| ()),
    ];
    for remove in removals {
        let (folder, copy) = (Temporary::new(), Temporary::new());
        let disk = open(&folder);
        disk.put("a", b"here", 1);
        remove(&disk);
        assert!(wait(disk.all_settled()));
        fs::create_dir(&*copy).unwrap();
        for entry in fs::read_dir(&*folder).unwrap() {
            let entry = entry.unwrap();
            fs::copy(entry.path(), copy.join(entry.file_name())).unwrap();
        }
        let other = open(&copy);
        assert_eq!((body(&other, "a"), body(&disk, "a")), (None, None));
    }
}

/// What is removed before the folder is open is not found when it is.
#[test]
fn what_is_removed_before_the_folder_is_open_does_not_come_back() {
    let folder = Temporary::new();
    let disk = open(&folder);
    ["a", "b"].into_iter().for_each(|name| disk.put(name, b"here", 1));
    drop(disk);
    // The key cannot be read: a folder has its name.
    let (key, aside) = (folder.join("key"), folder.join("aside"));
    fs::rename(&key, &aside).unwrap();
    fs::create_dir(&key).unwrap();
    let disk = open(&folder);
    assert!(disk.news().unwrap().starts_with("the disk is left out, and tried again every"));
    assert!(!disk.stats().is_in_use);
    assert!(disk.remove(b"a").number.is_some() && !wait(disk.all_settled()));
    fs::remove_dir(&key).unwrap();
    fs::rename(&aside, &key).unwrap();
    until(|| disk.stats().is_in_use);
    assert_eq!(body(&disk, "a"), None);
    assert_eq!(disk.news().unwrap(), "the disk is used again");
}

#[test]
fn objects_that_were_read_are_written_again_when_their_segment_is_gone() {
    let folder = Temporary::new();
    let disk = open(&folder);
    disk.put("a", b"here", 1);
    let number = disk.begin();
    let found = wait(disk.find(b"a", 1, (number, &Arc::default()), |_| true));
    let Some(Hit::Object(_, object)) = found else { panic!("it is there") };
    disk.offer(b"a".to_vec(), 1, object.clone(), None, disk.last());
    until(|| disk.stats().refused == 1);
    disk.supersede(b"a", number);
    disk.offer(b"a".to_vec(), 1, object, None, disk.last());
    until(|| disk.stats().written == 2);
    assert_eq!(body(&disk, "a").unwrap(), b"here");
}

/// Objects that have long been in memory are written when they leave it, however many others have come and gone.
#[test]
fn what_has_long_been_in_memory_is_written() {
    let folder = Temporary::new();
    let disk = open(&folder);
    let old = object(b"here", 1, disk.begin());
    for number in 0..200_000 {
        disk.supersede(format!("{number}").as_bytes(), disk.begin());
    }
    disk.offer(b"a".to_vec(), 1, old, None, disk.last());
    until(|| disk.stats().written == 1);
    assert_eq!(body(&disk, "a").unwrap(), b"here");
}

/// As long as the disk is emptied for a pattern, everything that is removed is written. Then it is not.
#[test]
fn what_was_not_there_is_not_written_after_a_pattern_was_purged() {
    let folder = Temporary::new();
    let disk = open(&folder);
    disk.put("a", b"here", 1);
    disk.clear_while(|| {
        // The index is locked: these come while the writer is at it.
        let disk = Arc::clone(&disk);
        thread::spawn(move || disk.supersede(b"b", disk.begin()))
    })
    .join()
    .unwrap();
    assert!(wait(disk.all_settled()));
    until(|| !disk.shared.index().is_unsure);
    let before = disk.stats().written_bytes;
    for number in 0..1000 {
        disk.supersede(format!("{number}").as_bytes(), disk.begin());
    }
    assert!(wait(disk.all_settled()));
    assert_eq!(disk.stats().written_bytes, before);
}

/// What is removed while the folder is closed is removed, and the rest stays.
#[test]
fn what_is_removed_while_the_folder_is_closed_does_not_come_back_and_the_rest_does() {
    let folder = Temporary::new();
    let disk = open(&folder);
    (0..40).for_each(|number| disk.put(&number.to_string(), &numbered(number, 4000), 1));
    let hook = hook::of(&folder);
    hook.set_hanging_writes(true);
    let closing = thread::spawn({
        let disk = Arc::clone(&disk);
        move || disk.close(Duration::from_secs(60))
    });
    hook.wait_for_write();
    assert!(disk.remove(b"3").was_there);
    hook.set_hanging_writes(false);
    closing.join().unwrap();
    drop(disk);
    let disk = open(&folder);
    assert_eq!(["2", "3", "4"].map(|name| body(&disk, name).is_some()), [true, false, true]);
}

/// A segment that is missing may have said that what is in older ones was removed.
#[test]
fn what_is_older_than_a_missing_segment_is_not_found() {
    let folder = Temporary::new();
    let disk = open(&folder);
    (0..40).for_each(|number| disk.put(&number.to_string(), &numbered(number, 4000), 1));
    drop(disk);
    fs::remove_file(folder.join("00000002.segment")).unwrap();
    let disk = open(&folder);
    assert_eq!(["0", "39"].map(|name| body(&disk, name).is_some()), [false, true]);
    assert!(!folder.join("00000001.segment").exists());
}
