//! A shell that commands are typed into, one after the other.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

/// A `bash` that keeps what was done in it: its folder, its variables, its jobs.
pub(crate) struct Shell {
    child: Child,
    /// Closed first when it ends.
    input: Option<ChildStdin>,
    ends: BufReader<ChildStdout>,
    scratch: PathBuf,
}

/// What became of what was typed.
pub(crate) struct Typed {
    pub(crate) status: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Shell {
    /// Starts one with `command`, whose program runs the words behind it: `timeout`, say.
    ///
    /// It begins in the folder `begin`, finds commands that are built there, and keeps files of its own in `scratch`.
    pub(crate) fn start(mut command: Command, begin: &Path, scratch: &Path) -> Self {
        let names = std::env::vars_os().map(|(name, _)| name);
        // What cargo and make tell their children would not be there in a shell of somebody's own.
        let strangers = names.filter(|name| {
            let name = name.to_string_lossy();
            let prefixes = ["CARGO_MANIFEST", "CARGO_PKG_", "CARGO_BIN_", "CARGO_TARGET_", "MAKE", "MFLAGS"];
            prefixes.iter().any(|prefix| name.starts_with(prefix))
        });
        strangers.for_each(|name| _ = command.env_remove(name));
        // As if what is built in the folder were installed.
        let built = begin.join("target/release");
        let others = std::env::var_os("PATH").unwrap_or_default();
        let path = std::env::join_paths([built].into_iter().chain(std::env::split_paths(&others)));
        let mut child = command
            .args(["bash", "--norc", "--noprofile"])
            .current_dir(begin)
            .env("PATH", path.expect("folders of a path have no colon"))
            .env("TMPDIR", scratch)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::inherit())
            .spawn()
            .expect("a shell starts");
        let input = child.stdin.take();
        let ends = BufReader::new(child.stdout.take().expect("it is piped"));
        Self { child, input, ends, scratch: scratch.to_owned() }
    }

    /// Types commands and waits for their end. With `is_script` the first failure ends the shell.
    pub(crate) fn enter(&mut self, commands: &str, is_script: bool) -> Typed {
        let [step, stdout, stderr] = ["step", "stdout", "stderr"].map(|name| self.scratch.join(name));
        fs::write(&step, format!("{commands}\n")).expect("a file can be written");
        let [before, after] =
            if is_script { ["set -euo pipefail; ", "; set +euo pipefail"] } else { ["", ""] };
        let line = format!(
            "{before}source '{}' </dev/null >'{}' 2>'{}'{after}; echo $?\n",
            step.display(),
            stdout.display(),
            stderr.display()
        );
        // A shell that has ended does not read; what it printed tells why.
        let _ = self.input.as_mut().map(|input| input.write_all(line.as_bytes()));
        let mut end = String::new();
        self.ends.read_line(&mut end).expect("its output can be read");
        let text = |path: &Path| String::from_utf8_lossy(&fs::read(path).unwrap_or_default()).into_owned();
        // Without a line the shell is gone: a script failed, or it took too long.
        Typed { status: end.trim().parse().unwrap_or(-1), stdout: text(&stdout), stderr: text(&stderr) }
    }
}

impl Drop for Shell {
    fn drop(&mut self) {
        drop(self.input.take());
        let _ = self.child.wait();
    }
}
