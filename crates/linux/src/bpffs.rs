//! The file system on which the kernel keeps maps and programs by name, for as long as the machine runs.

use std::fs::{self, DirBuilder, File};
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::time::Duration;
use std::{io, thread};

use rustix::fs::{FlockOperation, flock, statfs};
use rustix::io::Errno;
use rustix::mount::MountFlags;
use rustix::process::geteuid;

use crate::clock;
use crate::error::Error;

const MOUNT_POINT: &str = "/sys/fs/bpf";
const BPF_FS_MAGIC: u64 = 0xcafe_4a11;

/// The folder of `trueplane`'s pins of a subsystem, such as `/sys/fs/bpf/trueplane/limit`; mounts the file system if it is not.
pub fn folder(subsystem: &str) -> Result<PathBuf, Error> {
    check()?;
    if !is_bpffs(Path::new(MOUNT_POINT)) {
        mount()?;
    }
    Ok(Path::new(MOUNT_POINT).join("trueplane").join(subsystem))
}

/// The same folder if it is there, without mounting or making anything.
pub fn existing_folder(subsystem: &str) -> Result<Option<PathBuf>, Error> {
    check()?;
    let folder = Path::new(MOUNT_POINT).join("trueplane").join(subsystem);
    Ok((is_bpffs(Path::new(MOUNT_POINT)) && folder.is_dir()).then_some(folder))
}

/// Time that another process may work on the pins before that is told.
const PATIENCE: Duration = Duration::from_secs(20);

/// Number of attempts to make a folder, which somebody else may take away meanwhile, as an empty one.
const TRIES: usize = 100;

/// Makes the folder of a subsystem's pins, and those above it, for nobody but this user; refuses one that is another's.
pub fn create(folder: &Path) -> Result<(), Error> {
    let refused = || Error::io(format!("create {}", folder.display()));
    let ours = || folder.ancestors().take_while(|folder| *folder != Path::new(MOUNT_POINT));
    let make = || {
        DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
        ours().map(|folder| Ok((folder, fs::metadata(folder)?.uid()))).collect::<io::Result<Vec<_>>>()
    };
    let mut made = make();
    for _ in 0..TRIES {
        match made {
            Err(error) if error.kind() == io::ErrorKind::NotFound => made = make(),
            _ => break,
        }
    }
    let user = geteuid().as_raw();
    for (folder, owner) in made.map_err(refused())? {
        if owner != user && owner != 0 {
            return Err(Error::Request(format!(
                "{} belongs to user {owner}, who could take it away",
                folder.display()
            )));
        }
    }
    Ok(())
}

/// Waits until nobody else works on the pins in `folder`, and keeps others waiting for as long as the file is open; `None` if the folder is gone then.
pub fn lock(folder: &Path) -> Result<Option<File>, Error> {
    let refused = || Error::io(format!("lock {}", folder.display()));
    let is_gone = |error: &io::Error| error.kind() == io::ErrorKind::NotFound;
    let file = match File::open(folder) {
        Err(error) if is_gone(&error) => return Ok(None),
        file => file.map_err(refused())?,
    };
    let until = clock::now() + PATIENCE;
    loop {
        let tried = flock(&file, FlockOperation::NonBlockingLockExclusive);
        if tried.is_ok() {
            let locked = file.metadata().map_err(refused())?.ino();
            return match fs::metadata(folder) {
                Err(error) if is_gone(&error) => Ok(None),
                found => Ok(Some(file).filter(|_| found.is_ok_and(|found| found.ino() == locked))),
            };
        }
        if let Err(error) = tried
            && error != Errno::WOULDBLOCK
        {
            return Err(refused()(error.into()));
        }
        if clock::now() > until {
            return Err(Error::Request(format!(
                "another process has been working on {} for long",
                folder.display()
            )));
        }
        thread::sleep(Duration::from_millis(5));
    }
}

/// Removes a folder of pins. The objects live on where something else holds them.
pub fn remove(folder: &Path) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        fs::remove_file(entry?.path())?;
    }
    fs::remove_dir(folder)
}

/// Removes the folder of a subsystem's pins, and ours above it, if nothing is in them.
pub fn remove_empty(folder: &Path) {
    for folder in folder.ancestors().take_while(|folder| *folder != Path::new(MOUNT_POINT)) {
        if fs::remove_dir(folder).is_err() {
            return;
        }
    }
}

fn is_bpffs(path: &Path) -> bool {
    statfs(path).is_ok_and(|found| found.f_type as u64 == BPF_FS_MAGIC)
}

/// Refuses to look for pins among mounts that are private to this process.
///
/// `ip netns exec` runs its command among mounts of its own: what is pinned there is gone when the command ends.
pub fn check() -> Result<(), Error> {
    let mounts = |process: &str| fs::read_to_string(format!("/proc/{process}/mountinfo"));
    // Whoever may not look at process 1 cannot be told more; the rest may not depend on being allowed to trace it.
    let (Ok(own), Ok(first)) = (mounts("self"), mounts("1")) else { return Ok(()) };
    if !are_private(&own, &first) {
        return Ok(());
    }
    Err(Error::Request(format!(
        "{MOUNT_POINT} is private to this process and its children (ip netns exec?), and what is pinned there vanishes with them: \
         expected to run outside of the namespace, which --netns names"
    )))
}

/// Whether a process with `own` mounts sees other pins than one with those of `first`, both as in proc(5)'s mountinfo.
fn are_private(own: &str, first: &str) -> bool {
    // A line begins with the mount's number, that of its parent, the device, the root on the device, the place.
    let last = |mounts: &str, place: &str, field: usize| {
        let mut lines = mounts.lines().map(|line| line.split(' ').collect::<Vec<_>>());
        lines.rfind(|fields| fields.get(4) == Some(&place)).map(|fields| fields[field].to_owned())
    };
    // Mounts have numbers of their own in each namespace of mounts.
    let is_same = last(own, "/", 0).is_some() && last(own, "/", 0) == last(first, "/", 0);
    // On top of /sys, another /sys hides what is mounted in it.
    let device = |mounts: &str| {
        let above = mounts.lines().rev().take_while(|line| line.split(' ').nth(4) != Some("/sys"));
        let shown = above.collect::<Vec<_>>().into_iter().rev().collect::<Vec<_>>().join("\n");
        last(&shown, MOUNT_POINT, 2)
    };
    !is_same && (device(own).is_none() || device(own) != device(first))
}

fn mount() -> Result<(), Error> {
    rustix::mount::mount("bpf", MOUNT_POINT, "bpf", MountFlags::empty(), None)
        .map_err(|error| Error::io(format!("mount the BPF file system at {MOUNT_POINT}"))(error.into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIRST: &str = "22 1 254:0 / / rw - ext4 /dev/vda rw\n\
        23 22 0:21 / /sys rw - sysfs sysfs rw\n\
        45 23 0:39 / /sys/fs/bpf rw - bpf bpf rw\n";

    #[test]
    fn mounts_of_ones_own_are_private_unless_they_show_the_same_pins() {
        assert!(!are_private(FIRST, FIRST));
        // Before anything is mounted there.
        let none = &FIRST[..FIRST.find("45 23").unwrap()];
        assert!(!are_private(none, none));
        // A copy, as `unshare --mount` makes it.
        let copy = FIRST.replace("22 1", "122 101").replace("45 23", "145 123").replace("23 22", "123 122");
        assert!(!are_private(&copy, FIRST));
        // `ip netns exec` puts another /sys on top.
        assert!(are_private(&format!("{copy}146 122 0:21 / /sys rw - sysfs blue rw\n"), FIRST));
        assert!(are_private(&copy.replace("0:39", "0:77"), FIRST));
    }
}
