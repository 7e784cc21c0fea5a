//! A progress bar for long work, on stderr and only when somebody is looking.

use std::fmt::Write as _;
use std::io::IsTerminal as _;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};

/// Time between two redraws of the bar; work is only counted in between.
const REDRAW: Duration = Duration::from_millis(125);
const TEMPLATE: &str = "{label} {bar:30} {percent:>3}%  {news}, {eta} left";

/// A bar that vanishes when it is dropped, so that nothing of it mixes with the output that follows.
///
/// Threads share it by reference. One report costs an atomic addition and a look at the clock: report a few thousand
/// units at a time, not each.
#[derive(Debug)]
pub(crate) struct Progress {
    bar: ProgressBar,
    /// Text that is shown instead of the rate, unless it is empty.
    news: Arc<Mutex<String>>,
}

impl Progress {
    /// A bar called `label` (`simulating`) for `total_units` of work; hidden unless stderr is a terminal.
    pub(crate) fn new(label: impl Into<String>, total_units: u64) -> Self {
        let visible = std::io::stderr().is_terminal();
        let target = if visible { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
        let bar = Self::onto(target, label.into(), total_units);
        if visible {
            bar.bar.enable_steady_tick(REDRAW);
        }
        bar
    }

    fn onto(target: ProgressDrawTarget, label: String, total_units: u64) -> Self {
        // The template is a constant that a test draws; a bar of the default style would still count.
        let style = ProgressStyle::with_template(TEMPLATE).unwrap_or_else(|_| ProgressStyle::default_bar());
        let news = Arc::new(Mutex::new(String::new()));
        let told = news.clone();
        let style = style
            .with_key("label", move |_: &ProgressState, out: &mut dyn std::fmt::Write| {
                // A bar that cannot be drawn is no reason to stop the work.
                let _ = out.write_str(&label);
            })
            .with_key("news", move |state: &ProgressState, out: &mut dyn std::fmt::Write| {
                let told = told.lock().unwrap_or_else(PoisonError::into_inner);
                let _ = if told.is_empty() {
                    out.write_str(&rate(state.per_sec()))
                } else {
                    out.write_str(&told)
                };
            })
            .progress_chars("━╸ ");
        Self { bar: ProgressBar::with_draw_target(Some(total_units), target).with_style(style), news }
    }

    /// `units` more are done. From any thread.
    pub(crate) fn inc(&self, units: u64) {
        self.bar.inc(units);
    }

    /// Shows what the work has come to instead of its rate. From any thread.
    pub(crate) fn tell(&self, news: &str) {
        news.clone_into(&mut self.news.lock().unwrap_or_else(PoisonError::into_inner));
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

/// `5.21 M/s`.
fn rate(per_second: f64) -> String {
    let (scale, unit) = match per_second {
        rate if rate >= 1e9 => (1e9, "G"),
        rate if rate >= 1e6 => (1e6, "M"),
        rate if rate >= 1e3 => (1e3, "K"),
        _ => (1.0, ""),
    };
    let mut text = String::new();
    // Writing to a `String` cannot fail.
    let _ = write!(text, "{:.2} {unit}/s", per_second / scale);
    text
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::sync::{Arc, Mutex};

    use indicatif::TermLike;

    use super::*;

    /// Keeps what is written; `\r` stands for an erased line.
    #[derive(Clone, Debug, Default)]
    struct Screen(Arc<Mutex<String>>);

    impl Screen {
        fn contents(&self) -> String {
            let written = self.0.lock().unwrap();
            written.rsplit('\r').next().unwrap_or_default().trim_end().to_owned()
        }
    }

    impl TermLike for Screen {
        fn width(&self) -> u16 {
            100
        }
        fn move_cursor_up(&self, _: usize) -> io::Result<()> {
            Ok(())
        }
        fn move_cursor_down(&self, _: usize) -> io::Result<()> {
            Ok(())
        }
        fn move_cursor_right(&self, _: usize) -> io::Result<()> {
            Ok(())
        }
        fn move_cursor_left(&self, _: usize) -> io::Result<()> {
            Ok(())
        }
        fn write_line(&self, text: &str) -> io::Result<()> {
            self.write_str(text)
        }
        fn write_str(&self, text: &str) -> io::Result<()> {
            self.0.lock().unwrap().push_str(text);
            Ok(())
        }
        fn clear_line(&self) -> io::Result<()> {
            self.write_str("\r")
        }
        fn flush(&self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn the_bar_counts_from_every_thread_and_vanishes() {
        let screen = Screen::default();
        let target = ProgressDrawTarget::term_like(Box::new(screen.clone()));
        let progress = Progress::onto(target, "simulating".into(), 1_000);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| (0..50).for_each(|_| progress.inc(5)));
            }
        });
        assert_eq!(progress.bar.position(), 1_000);
        progress.bar.force_draw();
        let drawn = screen.contents();
        assert!(drawn.starts_with("simulating ━━━") && drawn.contains("100%"), "{drawn}");
        assert!(drawn.contains("/s") && drawn.ends_with("left"), "{drawn}");
        progress.tell("gap 0.7%");
        progress.bar.force_draw();
        let drawn = screen.contents();
        assert!(drawn.contains("gap 0.7%") && !drawn.contains("/s"), "{drawn}");
        drop(progress);
        assert_eq!(screen.contents(), "");
    }

    #[test]
    fn rates_are_short() {
        assert_eq!(rate(5_214_000.0), "5.21 M/s");
        assert_eq!(rate(12.0), "12.00 /s");
        assert_eq!(rate(2.5e9), "2.50 G/s");
    }
}
