//! `trueplane completions` and `trueplane man`: what shells and `man` know of the command, out of its declarations.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use clap::Command;
use clap_complete::Shell;
use trueplane_trace::without_code;
use trueplane_units::{Choice as _, choices};

use crate::failure::Failure;
use crate::output::print;
use crate::terminal::printed;

choices! {
    /// A shell that completes words.
    enum ShellName {
        /// Put it into ~/.local/share/bash-completion/completions/trueplane.
        Bash = "bash",
        /// Put it into a folder of $fpath, as _trueplane.
        Zsh = "zsh",
        /// Put it into ~/.config/fish/completions/trueplane.fish.
        Fish = "fish",
    }
}

/// Print a script that completes commands and flags in a shell: bash, zsh or fish.
///
/// Write the output to a file where the shell looks for it. For bash, this is ~/.local/share/bash-completion/completions/trueplane. For zsh, it
/// is _trueplane in a folder of $fpath. For fish, it is ~/.config/fish/completions/trueplane.fish.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  trueplane completions bash > trueplane.bash")]
pub(crate) struct Completions {
    /// The shell: bash, zsh, fish
    #[arg(value_name = "SHELL", value_parser = |text: &str| ShellName::from_name(text))]
    shell: ShellName,
}

impl Completions {
    pub(crate) fn run(self, mut root: Command) -> Result<(), Failure> {
        let shell = match self.shell {
            ShellName::Bash => Shell::Bash,
            ShellName::Zsh => Shell::Zsh,
            ShellName::Fish => Shell::Fish,
        };
        let mut text = Vec::new();
        clap_complete::generate(shell, &mut root, "trueplane", &mut text);
        print(&printed(&String::from_utf8_lossy(&text)))
    }
}

/// Write a manual page for every command.
///
/// `man -l man/trueplane.1` shows one page. If you put the pages into a folder of $MANPATH, `man trueplane-cache-compare` finds them.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  trueplane man --out man")]
pub(crate) struct Man {
    /// Folder for the pages, which is created if it does not exist
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
}

impl Man {
    pub(crate) fn run(self, mut root: Command) -> Result<(), Failure> {
        let refuse = |error: io::Error| {
            Failure::input(format!("--out {}: {}", self.out.display(), without_code(&error)))
        };
        fs::create_dir_all(&self.out).map_err(refuse)?;
        root.build();
        let pages = write_pages(&root, "trueplane", &self.out).map_err(refuse)?;
        print(&format!("{pages} manual pages are in {}.\n", self.out.display()))
    }
}

/// Writes the page of a command and those of the commands below it; how many there are.
pub(crate) fn write_pages(command: &Command, name: &str, folder: &Path) -> io::Result<usize> {
    let mut page = Vec::new();
    clap_mangen::Man::new(command.clone().name(name.to_owned())).render(&mut page)?;
    fs::write(folder.join(format!("{name}.1")), printed(&String::from_utf8_lossy(&page)))?;
    let below = command.get_subcommands().filter(|below| below.get_name() != "help");
    below
        .map(|below| write_pages(below, &format!("{name}-{}", below.get_name()), folder))
        .sum::<io::Result<usize>>()
        .map(|pages| pages + 1)
}
