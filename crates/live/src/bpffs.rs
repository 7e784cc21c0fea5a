//! The file system on which the kernel keeps maps and programs by name, for as long as the machine runs.

use std::ffi::CString;
use std::fs::{self, File};
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::AsRawFd;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::error::Error;

const MOUNT_POINT: &str = "/sys/fs/bpf";
const BPF_FS_MAGIC: u64 = 0xcafe_4a11;

/// The folder of `trueplane`'s pins of a subsystem, such as `/sys/fs/bpf/trueplane/limit`; mounts the file system if it is not.
pub(crate) fn folder(subsystem: &str) -> Result<PathBuf, Error> {
    refuse_private_mounts()?;
    if !is_bpffs(Path::new(MOUNT_POINT)) {
        mount()?;
    }
    Ok(Path::new(MOUNT_POINT).join("trueplane").join(subsystem))
}

/// Whether there are pins to look at, without mounting anything.
pub(crate) fn existing_folder(subsystem: &str) -> Option<PathBuf> {
    let folder = Path::new(MOUNT_POINT).join("trueplane").join(subsystem);
    (is_bpffs(Path::new(MOUNT_POINT)) && folder.is_dir()).then_some(folder)
}

/// Waits until nobody else works on the pins in `folder`, and keeps others waiting for as long as the file is open.
pub(crate) fn lock(folder: &Path) -> Result<File, Error> {
    let refused = || Error::io(format!("lock {}", folder.display()));
    let file = File::open(folder).map_err(refused())?;
    // SAFETY: the descriptor is open for as long as the call lasts.
    match unsafe { libc::flock(file.as_raw_fd(), libc::LOCK_EX) } {
        0 => Ok(file),
        _ => Err(refused()(io::Error::last_os_error())),
    }
}

/// Removes a folder of pins. The objects live on where something else holds them.
pub(crate) fn remove(folder: &Path) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        fs::remove_file(entry?.path())?;
    }
    fs::remove_dir(folder)
}

fn is_bpffs(path: &Path) -> bool {
    let Ok(path) = CString::new(path.as_os_str().as_encoded_bytes()) else { return false };
    let mut buffer = MaybeUninit::<libc::statfs>::uninit();
    // SAFETY: the path is a C string and the buffer is of the type that statfs fills.
    let status = unsafe { libc::statfs(path.as_ptr(), buffer.as_mut_ptr()) };
    // SAFETY: statfs succeeded, so the buffer is filled.
    status == 0 && unsafe { buffer.assume_init() }.f_type as u64 == BPF_FS_MAGIC
}

/// `ip netns exec` runs its command among mounts of its own: what is pinned there is gone when the command ends.
fn refuse_private_mounts() -> Result<(), Error> {
    let namespace = |process: &str| fs::read_link(format!("/proc/{process}/ns/mnt")).ok();
    let file_system =
        |root: &str| fs::metadata(format!("{root}{MOUNT_POINT}")).ok().map(|folder| folder.dev());
    if namespace("self") == namespace("1") || file_system("") == file_system("/proc/1/root") {
        return Ok(());
    }
    Err(Error::Request(format!(
        "{MOUNT_POINT} is private to this process and its children (ip netns exec?), and what is pinned there vanishes with them; \
         run outside of the namespace and name it with --netns"
    )))
}

fn mount() -> Result<(), Error> {
    // SAFETY: all four are C strings, and the file system takes no data.
    let status = unsafe {
        libc::mount(c"bpf".as_ptr(), c"/sys/fs/bpf".as_ptr(), c"bpf".as_ptr(), 0, std::ptr::null())
    };
    if status == 0 {
        return Ok(());
    }
    Err(Error::io(format!("mount the BPF file system at {MOUNT_POINT}"))(io::Error::last_os_error()))
}
