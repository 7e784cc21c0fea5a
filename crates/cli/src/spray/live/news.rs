//! What `trueplane spray run` says on stderr while it runs: news, and where somebody looks on, a line of counters under them.

use std::io::{IsTerminal as _, Write as _, stderr};

use terminal_size::{Width, terminal_size_of};
use trueplane_spray::live::run::Snapshot;
use trueplane_spray::live::run::control::Status;

/// Back to the beginning of the line, and away with what is there.
const CLEAR: &str = "\r\x1b[K";

/// The lines on stderr. Whoever has closed it does not want to know.
pub(super) struct News {
    is_terminal: bool,
    /// For each warning, whether it was printed.
    is_warned: [bool; 2],
}

impl News {
    pub(super) fn new() -> Self {
        Self { is_terminal: stderr().is_terminal(), is_warned: [false; 2] }
    }

    /// Something that happened, on a line of its own.
    pub(super) fn tell(&self, what: &str) {
        let clear = if self.is_terminal { CLEAR } else { "" };
        let _ = writeln!(stderr(), "{clear}{what}");
    }

    /// The line of counters, on a terminal. Before it, once, what keeps the run from what it is for.
    pub(super) fn draw(&mut self, status: &Status) {
        self.warn(status);
        if self.is_terminal {
            let width = terminal_size_of(stderr()).map_or(80, |(Width(width), _)| usize::from(width));
            let _ = write!(stderr(), "{CLEAR}{}", line(&status.counts, width));
        }
    }

    /// The run is over: no line of counters any more.
    pub(super) fn end(&mut self, status: &Status) {
        self.warn(status);
        if self.is_terminal {
            let _ = write!(stderr(), "{CLEAR}");
        }
    }

    fn warn(&mut self, status: &Status) {
        for (number, warning) in status.warnings().into_iter().enumerate() {
            if let Some(warning) = warning.filter(|_| !self.is_warned[number]) {
                self.is_warned[number] = true;
                self.tell(&format!("warning: {warning}"));
            }
        }
    }
}

/// The most important counters, as far as they fit: a line that is too long for the terminal cannot be cleared again.
fn line(counts: &Snapshot, width: usize) -> String {
    counts.in_brief().chars().take(width.saturating_sub(1)).collect()
}

#[cfg(test)]
mod tests {
    use trueplane_spray::live::run::CoreCounts;

    use super::*;

    #[test]
    fn the_line_is_of_all_cores_and_no_longer_than_the_terminal() {
        let core = CoreCounts {
            received: [7, 5],
            kernel_drops: [0, 2],
            forwarded: 8,
            transmitted: 1,
            flows: 3,
            ..CoreCounts::default()
        };
        let counts = Snapshot { cores: vec![core; 2], elapsed_ns: 61_900_000_000, ..Snapshot::default() };
        let whole = "61 s: 24 received, 18 forwarded, 0 dropped, 4 lost, 0 not sent, 6 flows";
        assert_eq!(line(&counts, 200), whole);
        assert_eq!(line(&counts, 21), whole[..20]);
        assert_eq!(line(&counts, 0), "");
    }
}
