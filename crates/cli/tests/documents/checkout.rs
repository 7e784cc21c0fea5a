//! A clean checkout of the working tree: what git has or would take, and nothing else.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{fs, io};

/// Brings the checkout up to date. Files that have not changed keep their times, so that what was built there is not built again.
///
/// The error is one line: there is no git, or this is no repository.
pub(crate) fn checkout(from: &Path) -> Result<PathBuf, String> {
    let to = Path::new(env!("CARGO_TARGET_TMPDIR")).join("checkout");
    let listed = Command::new("git")
        .args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"])
        .current_dir(from)
        .output()
        .map_err(|error| format!("cannot run git: {error}"))?;
    if !listed.status.success() {
        return Err(String::from_utf8_lossy(&listed.stderr).trim().to_owned());
    }
    let names = String::from_utf8_lossy(&listed.stdout).into_owned();
    // A file that was removed and not committed is still listed.
    let files: HashSet<PathBuf> =
        names.split_terminator('\0').map(PathBuf::from).filter(|file| from.join(file).is_file()).collect();
    let copied = update(from, &to, &files).and_then(|()| prune(&to, Path::new(""), &files));
    copied.map_err(|error| format!("cannot make {}: {error}", to.display()))?;
    Ok(to)
}

fn update(from: &Path, to: &Path, files: &HashSet<PathBuf>) -> io::Result<()> {
    for file in files {
        let (source, target) = (from.join(file), to.join(file));
        let contents = fs::read(&source)?;
        if fs::read(&target).is_ok_and(|there| there == contents) {
            continue;
        }
        if let Some(folder) = target.parent() {
            fs::create_dir_all(folder)?;
        }
        fs::copy(&source, &target)?;
    }
    Ok(())
}

/// Removes what does not belong to a clean checkout, but for the build.
fn prune(to: &Path, folder: &Path, files: &HashSet<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(to.join(folder))? {
        let entry = entry?;
        let name = folder.join(entry.file_name());
        if name == Path::new("target") {
            continue;
        }
        if entry.file_type()?.is_dir() {
            prune(to, &name, files)?;
            // Fails while something is left in it.
            let _ = fs::remove_dir(entry.path());
        } else if !files.contains(&name) {
            fs::remove_file(entry.path())?;
        }
    }
    Ok(())
}
